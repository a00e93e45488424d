//! A mail server on loopback that takes mail, or misbehaves in the way a test asks for.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use context402::config::Resolved;
use context402::domain::mail::MailKind;
use context402::store::{Mail, mail_key};

use crate::harness::Rig;

/// How the server treats a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    Takes,
    /// Answers RCPT with this code.
    Says(u16),
    /// Answers the whole text with this code.
    SaysInTheEnd(u16),
    /// Never answers the text.
    Stalls,
    /// Takes the text, and closes before it says so.
    Drops,
    /// Closes before it has greeted.
    HangsUp,
}

/// The server, and what it was given.
#[derive(Clone, Debug)]
pub(crate) struct Mailbox {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    manner: Manner,
    received: Vec<Received>,
    conversations: usize,
}

/// One mail as it came.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) from: String,
    pub(crate) to: Vec<String>,
    pub(crate) text: String,
}

impl Received {
    /// The one header of a name.
    pub(crate) fn header(&self, name: &str) -> &str {
        let head = self.text.split("\r\n\r\n").next().unwrap_or_default();
        let mut found = head.lines().filter_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        });
        match (found.next(), found.next()) {
            (Some(value), None) => value,
            _ => panic!("not exactly one {name} in {head}"),
        }
    }
}

impl Mailbox {
    pub(crate) fn start() -> Mailbox {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let mailbox = Mailbox {
            address: listener.local_addr().expect("bound"),
            state: Arc::new(Mutex::new(State {
                manner: Manner::Takes,
                received: Vec::new(),
                conversations: 0,
            })),
        };
        let server = mailbox.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = server.clone();
                thread::spawn(move || {
                    let manner = server.with(|state| {
                        state.conversations += 1;
                        state.manner
                    });
                    // A client that leaves in the middle is part of the stories.
                    let _ = server.converse(stream, manner);
                });
            }
        });
        mailbox
    }

    /// Has a service send through it.
    pub(crate) fn configure(&self, resolved: &mut Resolved) {
        resolved.set("mail.smtp_host", self.address.ip().to_string());
        resolved.set("mail.smtp_port", self.address.port().to_string());
        resolved.set("mail.tls", "none");
        resolved.set("mail.from", "Reports <reports@shop.example>");
        resolved.set("mail.seconds_max", "0.5");
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn behaves(&self, manner: Manner) {
        self.with(|state| state.manner = manner);
    }

    /// Every text that was taken, in order.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.with(|state| state.received.clone())
    }

    /// How often somebody has connected.
    pub(crate) fn conversations(&self) -> usize {
        self.with(|state| state.conversations)
    }

    fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn converse(&self, stream: TcpStream, manner: Manner) -> std::io::Result<()> {
        if manner == Manner::HangsUp {
            return Ok(());
        }
        let mut out = stream.try_clone()?;
        let mut lines = BufReader::new(stream).lines();
        writeln!(out, "220 mail.sample-site.org ready\r")?;
        let mut mail = Received {
            from: String::new(),
            to: Vec::new(),
            text: String::new(),
        };
        while let Some(line) = lines.next().transpose()? {
            let upper = line.to_ascii_uppercase();
            if upper.starts_with("EHLO") {
                writeln!(out, "250-mail.sample-site.org\r\n250 8BITMIME\r")?;
            } else if let Some(from) = upper.strip_prefix("MAIL FROM:") {
                mail.from = from.to_ascii_lowercase();
                writeln!(out, "250 sender noted\r")?;
            } else if let (true, Manner::Says(code)) = (upper.starts_with("RCPT"), manner) {
                writeln!(out, "{code} not for this one\r")?;
            } else if let Some(to) = upper.strip_prefix("RCPT TO:") {
                mail.to.push(to.to_ascii_lowercase());
                writeln!(out, "250 reader noted\r")?;
            } else if upper == "DATA" {
                writeln!(out, "354 go on\r")?;
                for line in lines.by_ref() {
                    let line = line?;
                    if line == "." {
                        break;
                    }
                    mail.text.push_str(&line);
                    mail.text.push_str("\r\n");
                }
                if !self.end(&mut out, manner, &mail)? {
                    return Ok(());
                }
            } else if upper == "QUIT" {
                writeln!(out, "221 bye\r")?;
                return Ok(());
            } else {
                writeln!(out, "250 as you like\r")?;
            }
        }
        Ok(())
    }

    /// Tells whether the conversation goes on.
    fn end(&self, out: &mut TcpStream, manner: Manner, mail: &Received) -> std::io::Result<bool> {
        match manner {
            Manner::SaysInTheEnd(code) => {
                writeln!(out, "{code} not this one\r")?;
                return Ok(true);
            }
            Manner::Stalls => {
                thread::sleep(Duration::from_secs(3));
                return Ok(false);
            }
            _ => self.with(|state| state.received.push(mail.clone())),
        }
        if manner == Manner::Drops {
            return Ok(false);
        }
        writeln!(out, "250 taken\r")?;
        Ok(true)
    }
}

/// A mail in the outbox of the service, about an order. Gives its key.
pub(crate) fn enqueue(rig: &Rig, about: &str, to: &str) -> String {
    let key = mail_key(MailKind::Delivery, about, 0);
    let mail = Mail {
        kind: MailKind::Delivery,
        about: about.to_owned(),
        to: to.to_owned(),
        subject: "Your report is ready".to_owned(),
        text: "It is here.".to_owned(),
        html: "<p>It is here.</p>".to_owned(),
        message_id: format!("{about}.delivery"),
        attachment: None,
    };
    let now = rig.now();
    let written = rig
        .app()
        .store
        .write(move |tables| tables.enqueue_mail(key, mail, now));
    assert!(rig.wait(written).expect("is written"));
    key.to_string()
}
