//! A name server on loopback, over UDP and TCP: answers what a test tells it to, or not at all.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const A: u16 = 1;
const CNAME: u16 = 5;
const CAA: u16 = 257;

/// What is answered for a name.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    /// These IPv4 addresses, and that there are none of the other kind.
    Addresses(Vec<Ipv4Addr>),
    /// The same, but nothing at all for IPv6.
    AddressesButSilence(Vec<Ipv4Addr>),
    /// The same after a while.
    Late(Duration, Vec<Ipv4Addr>),
    /// The name stands for another, which has the address.
    Alias(&'static str, Ipv4Addr),
    /// Cut short over UDP, whole over TCP.
    Long(Vec<Ipv4Addr>),
    /// CAA records: flags, tag and value. No addresses.
    Caa(Vec<(u8, &'static str, &'static str)>),
    /// There is no such name.
    NoSuchName,
    /// The server cannot tell: SERVFAIL.
    Failure,
    /// An answer with a false identifier, then the true one.
    Forged(Ipv4Addr),
    /// Bytes that are no message.
    Garbage,
    Silence,
}

/// Runs as long as the test's process.
#[derive(Clone, Debug)]
pub(crate) struct NameServer {
    pub(crate) address: SocketAddr,
    names: Arc<Mutex<HashMap<String, Told>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl NameServer {
    pub(crate) fn start() -> NameServer {
        // UDP and TCP at the same port.
        let (udp, tcp) = (0..20)
            .find_map(|_| {
                let udp = UdpSocket::bind("127.0.0.1:0").expect("a free port");
                let tcp = TcpListener::bind(udp.local_addr().expect("an address")).ok()?;
                Some((udp, tcp))
            })
            .expect("a port that is free for both");
        let server = NameServer {
            address: udp.local_addr().expect("an address"),
            names: Arc::default(),
            asked: Arc::default(),
        };
        let (over_udp, over_tcp) = (server.clone(), server.clone());
        std::thread::spawn(move || over_udp.serve_udp(&udp));
        std::thread::spawn(move || {
            for stream in tcp.incoming().flatten() {
                // A test's question that ends early is the test's business.
                let _ = over_tcp.serve_tcp(stream);
            }
        });
        server
    }

    pub(crate) fn put(&self, name: &str, told: Told) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.insert(name.to_owned(), told);
    }

    /// The names that were asked for IPv4 addresses, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.clone()
    }

    fn serve_udp(&self, socket: &UdpSocket) {
        let mut buffer = [0; 2048];
        while let Ok((length, client)) = socket.recv_from(&mut buffer) {
            let query = buffer[..length].to_vec();
            let (told, kind) = self.told(&query);
            let send = |answer: Vec<u8>| {
                socket.send_to(&answer, client).expect("it can be sent");
            };
            match told {
                Told::Silence => {}
                Told::AddressesButSilence(_) if kind != A => {}
                Told::Late(wait, addresses) => {
                    let socket = socket.try_clone().expect("a second handle");
                    std::thread::spawn(move || {
                        std::thread::sleep(wait);
                        let answer = answer(&query, kind, &Told::Addresses(addresses));
                        socket.send_to(&answer, client).expect("it can be sent");
                    });
                }
                Told::Long(_) => {
                    let mut cut = answer(&query, kind, &Told::Addresses(Vec::new()));
                    cut[2] |= 0b10;
                    send(cut);
                }
                Told::Forged(address) => {
                    let false_address = Told::Addresses(vec![Ipv4Addr::new(93, 184, 216, 1)]);
                    let mut forged = answer(&query, kind, &false_address);
                    forged[0] = !forged[0];
                    send(forged);
                    send(answer(&query, kind, &Told::Addresses(vec![address])));
                }
                Told::Garbage => send(vec![7; 5]),
                told => send(answer(&query, kind, &told)),
            }
        }
    }

    fn serve_tcp(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut length = [0; 2];
        stream.read_exact(&mut length)?;
        let mut query = vec![0; usize::from(u16::from_be_bytes(length))];
        stream.read_exact(&mut query)?;
        let (told, kind) = self.told(&query);
        let answer = answer(&query, kind, &told);
        let length = u16::try_from(answer.len()).expect("a short answer");
        stream.write_all(&[&length.to_be_bytes()[..], &answer].concat())
    }

    fn told(&self, query: &[u8]) -> (Told, u16) {
        let (name, kind) = question(query);
        if kind == A {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.push(name.clone());
        }
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let told = names.get(&name).cloned();
        (told.unwrap_or(Told::NoSuchName), kind)
    }
}

/// Name and type of the one question.
fn question(query: &[u8]) -> (String, u16) {
    let (mut labels, mut at) = (Vec::new(), 12);
    while query[at] != 0 {
        let end = at + 1 + usize::from(query[at]);
        labels.push(String::from_utf8_lossy(&query[at + 1..end]).into_owned());
        at = end;
    }
    let kind = u16::from_be_bytes([query[at + 1], query[at + 2]]);
    (labels.join("."), kind)
}

fn wire_name(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for label in name.split('.') {
        bytes.push(u8::try_from(label.len()).expect("a short label"));
        bytes.extend_from_slice(label.as_bytes());
    }
    bytes.push(0);
    bytes
}

fn record(owner: &[u8], kind: u16, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).expect("short data");
    let fixed = [
        &kind.to_be_bytes()[..],
        &[0, 1, 0, 0, 0, 60],
        &length.to_be_bytes(),
    ]
    .concat();
    [owner, &fixed, data].concat()
}

fn answer(query: &[u8], kind: u16, told: &Told) -> Vec<u8> {
    /// A pointer to the name in the question.
    const ASKED: [u8; 2] = [0xc0, 12];
    let (code, records): (u8, Vec<Vec<u8>>) = match told {
        Told::NoSuchName => (3, Vec::new()),
        Told::Failure => (2, Vec::new()),
        Told::Alias(other, address) => {
            let other = wire_name(other);
            let mut records = vec![record(&ASKED, CNAME, &other)];
            if kind == A {
                records.push(record(&other, A, &address.octets()));
            }
            (0, records)
        }
        Told::Addresses(addresses)
        | Told::AddressesButSilence(addresses)
        | Told::Long(addresses)
            if kind == A =>
        {
            let records = addresses.iter();
            (
                0,
                records
                    .map(|one| record(&ASKED, A, &one.octets()))
                    .collect(),
            )
        }
        Told::Caa(records) if kind == CAA => {
            let data = |(flags, tag, value): &(u8, &str, &str)| {
                let length = u8::try_from(tag.len()).expect("a short tag");
                [&[*flags, length], tag.as_bytes(), value.as_bytes()].concat()
            };
            let records = records.iter();
            (
                0,
                records.map(|one| record(&ASKED, CAA, &data(one))).collect(),
            )
        }
        _ => (0, Vec::new()),
    };
    let mut answer = query.to_vec();
    // A response, with recursion.
    (answer[2], answer[3]) = (0x81, 0x80 | code);
    let count = u16::try_from(records.len()).expect("few records");
    answer[6..8].copy_from_slice(&count.to_be_bytes());
    answer.extend(records.concat());
    answer
}
