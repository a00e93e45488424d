//! Mail: sent once, put off and given up, by a server with manners of every kind.

use context402::domain::keys::{MailKey, PaymentKey};
use context402::domain::mail::{MailKind, MailState, PAUSES};
use context402::domain::time::UnixSeconds;
use context402::store::{DueKind, Mail, MailAttachment, MailRecord, mail_key};
use sha2::{Digest, Sha256};

use crate::harness::process::run;
use crate::harness::{BASE_URL, Folder, Mailbox, Manner, PAY_TO, Rig};

const KEPT: u64 = 30 * 24 * 3600;

fn rig() -> (Rig, Mailbox) {
    let mailbox = Mailbox::start();
    let rig = Rig::with(|resolved| mailbox.configure(resolved));
    (rig, mailbox)
}

fn mail(about: &str) -> Mail {
    Mail {
        kind: MailKind::Delivery,
        about: about.to_owned(),
        to: "ada@sample-site.org".to_owned(),
        subject: "Your report is ready".to_owned(),
        text: "It is here.\n.\nAnd goes on.\n".to_owned(),
        html: "<p>It is here.</p>".to_owned(),
        message_id: format!("{about}.delivery"),
        attachment: None,
    }
}

fn key(about: &str) -> MailKey {
    mail_key(MailKind::Delivery, about, 0)
}

fn enqueue(rig: &Rig, mail: Mail) -> bool {
    let (key, now) = (key(&mail.about), rig.now());
    let written = rig
        .app()
        .store
        .write(move |tables| tables.enqueue_mail(key, mail, now));
    rig.wait(written).expect("is written")
}

fn record(rig: &Rig, about: &str) -> Option<MailRecord> {
    let key = key(about);
    let read = rig.app().store.read(move |snapshot| snapshot.mail(key));
    rig.wait(read).expect("is read")
}

fn state(rig: &Rig, about: &str) -> MailState {
    record(rig, about).expect("in the outbox").state
}

#[test]
fn a_mail_goes_out_once() {
    let (rig, mailbox) = rig();
    let file = b"%PDF-1.7 and so on".to_vec();
    let blob: [u8; 32] = Sha256::digest(&file).into();
    let put = rig.app().store.write(move |tables| {
        tables.put_blob(blob, &file, UnixSeconds(u64::MAX))?;
        Ok(())
    });
    rig.wait(put).expect("is written");
    let with_file = Mail {
        attachment: Some(MailAttachment {
            blob,
            name: "report.pdf".to_owned(),
            media_type: "application/pdf".to_owned(),
        }),
        ..mail("ord_1")
    };
    assert!(enqueue(&rig, with_file.clone()));
    assert!(!enqueue(&rig, with_file.clone()), "the same fact again");
    rig.work_off();
    rig.work_off();
    assert!(!enqueue(&rig, with_file), "and once more when it is sent");
    rig.pass(60);
    rig.work_off();

    let [received] = &mailbox.received()[..] else {
        panic!("{:?}", mailbox.received())
    };
    assert!(received.from.contains("reports@shop.example"));
    assert_eq!(received.to, ["<ada@sample-site.org>"]);
    assert_eq!(
        received.header("Message-ID"),
        "<ord_1.delivery@shop.example>"
    );
    assert_eq!(received.header("Subject"), "Your report is ready");
    assert_eq!(received.header("Auto-Submitted"), "auto-generated");
    for part in ["text/plain", "text/html", "application/pdf", "report.pdf"] {
        assert!(received.text.contains(part), "{part}: {}", received.text);
    }
    // A line that is a full stop ends no mail.
    assert!(received.text.contains("And goes on."), "{}", received.text);
    assert_eq!(state(&rig, "ord_1"), MailState::Sent);
}

/// Payments are looked at a bounded number at a time, in one commit each time, and mail has its turn after each.
#[test]
fn a_backlog_of_payments_does_not_hold_up_mail() {
    const PAYMENTS: u32 = 2_000;
    let (rig, mailbox) = rig();
    let now = rig.now();
    let backlog = rig.app().store.write(move |tables| {
        (0..PAYMENTS).try_for_each(|number| {
            let key: [u8; 32] = Sha256::digest(number.to_be_bytes()).into();
            tables.schedule_payment(now, PaymentKey(key))
        })
    });
    rig.wait(backlog).expect("is written");
    enqueue(&rig, mail("ord_1"));
    assert!(rig.pass_over_due_work(), "a backlog is left");
    assert_eq!(mailbox.received().len(), 1, "the mail had its turn");
    let mut passes = 1;
    while rig.pass_over_due_work() {
        passes += 1;
    }
    assert!(passes <= PAYMENTS.div_ceil(256), "{passes} passes");
    let left = rig
        .app()
        .store
        .read(move |snapshot| snapshot.due(DueKind::Payment, now, 1));
    assert_eq!(rig.wait(left).expect("is read"), []);
}

/// By the last mail that was due.
#[test]
fn health_says_whether_mail_goes_out() {
    let (rig, mailbox) = rig();
    let smtp = || rig.get("/health").expect(200).json()["checks"]["smtp"].clone();
    assert_eq!(smtp()["status"], "unknown");
    mailbox.behaves(Manner::HangsUp);
    enqueue(&rig, mail("ord_1"));
    rig.work_off();
    assert_eq!(smtp()["status"], "down");
    mailbox.behaves(Manner::Takes);
    rig.pass(PAUSES[0]);
    rig.work_off();
    assert_eq!(smtp()["status"], "ok");
    assert_eq!(smtp()["checked_at"], rig.now().0);
}

#[test]
fn a_server_that_is_busy_is_asked_again_after_longer_and_longer_pauses() {
    for manner in [
        Manner::Says(451),
        Manner::SaysInTheEnd(452),
        Manner::Stalls,
        Manner::HangsUp,
        // Not about the mail but about us: the operator can mend it.
        Manner::Says(530),
    ] {
        let (rig, mailbox) = rig();
        mailbox.behaves(manner);
        enqueue(&rig, mail("ord_1"));
        for pause in PAUSES {
            rig.work_off();
            let at = rig.now().plus(pause).0;
            assert_eq!(
                state(&rig, "ord_1"),
                MailState::Waiting { at },
                "{manner:?}"
            );
            rig.pass(pause - 1);
            let before = mailbox.conversations();
            rig.work_off();
            assert_eq!(mailbox.conversations(), before, "{manner:?}");
            rig.pass(1);
        }
        mailbox.behaves(Manner::Takes);
        rig.work_off();
        assert_eq!(state(&rig, "ord_1"), MailState::Sent, "{manner:?}");
        assert_eq!(mailbox.received().len(), 1, "{manner:?}");
    }
}

#[test]
fn a_server_that_stays_away_is_given_up_and_the_mail_kept() {
    let (rig, mailbox) = rig();
    mailbox.behaves(Manner::Says(451));
    enqueue(&rig, mail("ord_1"));
    for pause in PAUSES.into_iter().chain([1]) {
        rig.work_off();
        rig.pass(pause);
    }
    let record = record(&rig, "ord_1").expect("kept");
    assert_eq!((record.state, record.tries), (MailState::Failed, 6));
    assert!(
        record
            .problem
            .expect("a reason")
            .contains("not for this one")
    );
    rig.pass(KEPT);
    rig.work_off();
    assert_eq!(state(&rig, "ord_1"), MailState::Failed);
}

#[test]
fn what_a_server_refuses_for_good_is_kept_for_the_operator() {
    for manner in [Manner::Says(550), Manner::SaysInTheEnd(554)] {
        let (rig, mailbox) = rig();
        mailbox.behaves(manner);
        enqueue(&rig, mail("ord_1"));
        rig.work_off();
        assert_eq!(state(&rig, "ord_1"), MailState::Failed, "{manner:?}");
        rig.pass(86_400);
        rig.work_off();
        assert_eq!(mailbox.conversations(), 1, "{manner:?}");
    }
}

#[test]
fn an_address_that_is_none_reaches_no_server() {
    let (rig, mailbox) = rig();
    enqueue(
        &rig,
        Mail {
            to: "ada@sample-site.org\r\nBcc: eve@sample-site.org".to_owned(),
            ..mail("ord_1")
        },
    );
    rig.work_off();
    assert_eq!(state(&rig, "ord_1"), MailState::Failed);
    assert_eq!(mailbox.conversations(), 0);
}

/// Nobody can tell whether the server has it. It goes again, and its reader's mail program sees one.
#[test]
fn a_mail_whose_end_is_unknown_goes_again_under_the_same_identifier() {
    let (rig, mailbox) = rig();
    mailbox.behaves(Manner::Drops);
    enqueue(&rig, mail("ord_1"));
    rig.work_off();
    mailbox.behaves(Manner::Takes);
    rig.pass(PAUSES[0]);
    rig.work_off();
    let received = mailbox.received();
    let ids: Vec<_> = received
        .iter()
        .map(|mail| mail.header("Message-ID"))
        .collect();
    assert_eq!(ids, ["<ord_1.delivery@shop.example>"; 2]);
}

#[test]
fn mails_wait_for_a_server_and_outlive_the_process() {
    let mut rig = Rig::start();
    enqueue(&rig, mail("ord_1"));
    rig.work_off();
    assert_eq!(state(&rig, "ord_1"), MailState::Waiting { at: rig.now().0 });
    let mailbox = Mailbox::start();
    rig.pass(86_400);
    rig.reconfigure(|resolved| mailbox.configure(resolved));
    rig.work_off();
    assert_eq!(mailbox.received().len(), 1);
    assert_eq!(state(&rig, "ord_1"), MailState::Sent);
}

#[test]
fn a_mail_that_is_sent_is_forgotten_after_a_month() {
    let (rig, _mailbox) = rig();
    enqueue(&rig, mail("ord_1"));
    rig.work_off();
    rig.pass(KEPT - 1);
    rig.work_off();
    assert!(record(&rig, "ord_1").is_some());
    rig.pass(1);
    rig.work_off();
    assert!(record(&rig, "ord_1").is_none());
}

#[test]
fn for_trying_out_mails_are_files() {
    let folder = Folder::new();
    let path = folder.path("mails");
    std::fs::create_dir(&path).expect("a folder");
    let rig = Rig::with(|resolved| {
        resolved.set("mail.folder", path.display().to_string());
        resolved.set("mail.from", "reports@shop.example");
    });
    enqueue(&rig, mail("ord_1"));
    rig.work_off();
    let text = std::fs::read_to_string(path.join("ord_1.delivery.eml")).expect("written");
    assert!(text.contains("Subject: Your report is ready\r\n"), "{text}");
}

fn config_file(folder: &Folder, mail: &str) -> String {
    let path = folder.path("config.toml");
    let text = format!(
        "base_url = \"{BASE_URL}\"\ndata_file = \"/nowhere/data.redb\"\n[payment]\npay_to = \"{PAY_TO}\"\n{mail}"
    );
    std::fs::write(&path, text).expect("written");
    path.display().to_string()
}

#[test]
fn mail_test_sends_one_mail() {
    let (folder, mailbox) = (Folder::new(), Mailbox::start());
    let config = config_file(
        &folder,
        &format!(
            "[mail]\nsmtp_host = \"127.0.0.1\"\nsmtp_port = {}\ntls = \"none\"\nfrom = \"reports@shop.example\"\n",
            mailbox.port()
        ),
    );
    let test = ["mail", "test", "--config", &config, "ada@sample-site.org"];
    let finished = run(&test).expect(0);
    assert!(finished.out.contains("accepted an e-mail"), "{finished:?}");
    assert_eq!(mailbox.received()[0].to, ["<ada@sample-site.org>"]);

    mailbox.behaves(Manner::Says(550));
    let line = run(&test).failed(1);
    assert!(
        line.contains("550") || line.contains("not for this one"),
        "{line}"
    );

    // To a folder nothing is sent.
    let place = folder.path("mails").display().to_string();
    std::fs::create_dir(&place).expect("a folder");
    let section = format!("[mail]\nfolder = \"{place}\"\nfrom = \"reports@shop.example\"\n");
    let into_folder = config_file(&folder, &section);
    let said = run(&[
        "mail",
        "test",
        "--config",
        &into_folder,
        "ada@sample-site.org",
    ])
    .expect(0);
    assert!(
        said.out.contains(&format!(
            "written to the folder {place}, which mail.folder names. Nothing is sent."
        )),
        "{said:?}"
    );
}

#[test]
fn a_certificate_that_cannot_be_read_is_named_by_its_setting() {
    let folder = Folder::new();
    let section = "[mail]\nsmtp_host = \"smtp.shop.example\"\nfrom = \"a@b.example\"\nca_file = \"/nowhere/ca.pem\"\n";
    let config = config_file(&folder, section);
    let line = run(&["mail", "test", "--config", &config, "a@b.example"]).failed(1);
    assert!(line.contains("mail.ca_file = /nowhere/ca.pem"), "{line}");
}

#[test]
fn mail_needs_a_server_and_keeps_its_secrets_off_the_wire() {
    let folder = Folder::new();
    for (section, expected) in [
        ("", "mail.smtp_host"),
        (
            "[mail]\nsmtp_host = \"smtp.shop.example\"\ntls = \"none\"\nfrom = \"a@b.example\"\n",
            "mail.tls",
        ),
        ("[mail]\nsmtp_host = \"smtp.shop.example\"\n", "mail.from"),
        (
            "[mail]\nsmtp_host = \"smtp.shop.example\"\nfrom = \"a@b.example\"\nusername = \"a\"\n",
            "mail.password",
        ),
    ] {
        let config = config_file(&folder, section);
        let line = run(&["mail", "test", "--config", &config, "a@b.example"]).failed(78);
        assert!(line.contains(expected), "{section}: {line}");
    }
}
