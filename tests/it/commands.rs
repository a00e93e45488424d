//! The operator's commands for outbox, ledger, data and pause: the same whether the service runs or is stopped.

use serde_json::{Value, json};

use crate::harness::mailbox::enqueue;
use crate::harness::process::{Finished, on_a_terminal, run};
use crate::harness::{ARTICLE, BASE_URL, PAY_TO, Rig, Wallet};

/// The configuration by which a command finds a rig's service, or its file.
fn config(rig: &Rig) -> String {
    let path = rig.folder.path("commands.toml");
    let data_file = rig.folder.path("data.redb").display().to_string();
    let text = format!(
        "base_url = \"{BASE_URL}\"\ndata_file = \"{data_file}\"\n[payment]\npay_to = \"{PAY_TO}\"\n"
    );
    std::fs::write(&path, text).expect("written");
    path.display().to_string()
}

fn command(rig: &Rig, arguments: &[&str]) -> Finished {
    let config = config(rig);
    run(&[arguments, &["--config", &config]].concat())
}

/// What a command prints while the service runs, and what once it is stopped.
fn running_and_stopped(rig: &mut Rig, arguments: &[&str]) -> [String; 2] {
    let running = command(rig, arguments).expect(0).out;
    assert!(rig.stop(), "the service stops in order");
    let stopped = command(rig, arguments).expect(0).out;
    rig.run();
    [running, stopped]
}

fn lead(rig: &Rig, contact: &str) {
    let body =
        json!({"contact": contact, "target_urls": ["https://example.com/a"], "bundle": "scout"});
    let asked = rig.post("/v1/proof-pack/bundle/leads").json(&body);
    asked.send().expect(202);
}

#[test]
fn sales_are_paused_and_resumed_from_the_command_line() {
    let mut rig = Rig::start();
    let said = command(&rig, &["pause"]).expect(0);
    assert!(said.out.contains("paused"), "{said:?}");
    rig.order(ARTICLE, "fresh").send().refused(503, "paused");
    assert!(rig.stop());
    command(&rig, &["resume"]).expect(0);
    rig.run();
    rig.order(ARTICLE, "fresh").send().expect(402);
    assert!(rig.stop());
    command(&rig, &["pause"]).expect(0);
    rig.run();
    rig.order(ARTICLE, "fresh").send().refused(503, "paused");
}

#[test]
fn exports_are_the_same_running_and_stopped() {
    let mut rig = Rig::start();
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    lead(&rig, "=1+1@example.org");
    for what in ["payments", "leads", "ledger"] {
        for more in [&[][..], &["--json"], &["--csv"]] {
            let arguments = [&["export", what][..], more].concat();
            let [running, stopped] = running_and_stopped(&mut rig, &arguments);
            assert_eq!(running, stopped, "{arguments:?}");
            assert!(running.len() > 50, "{running}");
        }
    }
    let csv = command(&rig, &["export", "leads", "--csv"]).expect(0).out;
    assert!(csv.contains("\"'=1+1@example.org\""), "{csv}");
    let line = command(&rig, &["export", "everything"]).failed(2);
    assert!(line.contains("payments, reports, leads"), "{line}");
}

/// What is no identifier finds nothing, and never becomes another request to the running service.
#[test]
fn what_is_no_identifier_finds_nothing() {
    let mut rig = Rig::start();
    for runs in [true, false] {
        for (arguments, expected) in [
            (["payments", "show"], "No such payment"),
            (["orders", "show"], "No such order"),
            (["orders", "delete"], "No such order"),
            (["reports", "show"], "No such report"),
            (["leads", "show"], "No such lead"),
            (["mail", "show"], "No such e-mail"),
        ] {
            for id in ["a b", "", "../pause", "x HTTP/1.1\r\nA: b"] {
                let line = command(&rig, &[&arguments[..], &[id]].concat()).failed(1);
                assert!(line.contains(expected), "{arguments:?} {id:?}: {line}");
            }
        }
        if runs {
            assert!(rig.stop());
        }
    }
}

#[test]
fn the_outbox_is_listed_and_cleared() {
    let mut rig = Rig::start();
    let key = enqueue(&rig, "ord_1", "ada@example.org");
    let [running, stopped] = running_and_stopped(&mut rig, &["mail", "list"]);
    assert_eq!(running, stopped);
    assert!(
        running.contains("waiting") && running.contains(&key),
        "{running}"
    );
    let none = command(&rig, &["mail", "list", "--state", "failed"]).expect(0);
    assert_eq!(
        (none.out.as_str(), none.err.as_str()),
        ("", "There are no e-mails to list.\n")
    );
    // A person is told so.
    let path = config(&rig);
    let none = on_a_terminal(&format!("mail list --state failed --config {path}"));
    assert_eq!(none.trim_end(), "There are no e-mails to list.");
    let [running, stopped] = running_and_stopped(&mut rig, &["mail", "show", &key]);
    assert_eq!(running, stopped);
    let shown: Value = serde_json::from_str(&running).expect("JSON");
    assert_eq!(shown["text"], "It is here.", "{shown}");

    command(&rig, &["mail", "retry", &key]).expect(0);
    assert!(rig.stop());
    command(&rig, &["mail", "retry", &key]).expect(0);
    command(&rig, &["mail", "delete", &key]).expect(0);
    command(&rig, &["mail", "delete", &key]).failed(1);
    command(&rig, &["mail", "show", "nothing"]).failed(1);
    rig.run();
    let line = command(&rig, &["mail", "retry", &key]).failed(1);
    assert!(line.contains("No such e-mail"), "{line}");
}

#[test]
fn a_person_s_data_are_shown_and_forgotten() {
    let mut rig = Rig::start();
    lead(&rig, "ada@example.org");
    lead(&rig, "bob@example.org");
    enqueue(&rig, "ord_1", "ada@example.org");
    let [running, stopped] = running_and_stopped(&mut rig, &["person", "show", "ADA@example.org"]);
    assert_eq!(running, stopped);
    let shown: Value = serde_json::from_str(&running).expect("JSON");
    assert_eq!(shown["leads"].as_array().map(Vec::len), Some(1), "{shown}");
    assert_eq!(shown["mails"].as_array().map(Vec::len), Some(1), "{shown}");
    let said = command(&rig, &["person", "forget", "ada@example.org"]).expect(0);
    assert!(
        said.out.contains("1 leads, 0 orders, 1 e-mails"),
        "{said:?}"
    );
    assert!(rig.stop());
    let said = command(&rig, &["person", "forget", "bob@example.org"]).expect(0);
    assert!(
        said.out.contains("1 leads, 0 orders, 0 e-mails"),
        "{said:?}"
    );
    let nothing = command(&rig, &["person", "show", "bob@example.org"]).expect(0);
    assert!(!nothing.out.contains("lead_"), "{nothing:?}");
    let line = command(&rig, &["person", "show", "not an address"]).failed(1);
    assert!(line.contains("neither an e-mail address nor"), "{line}");
    let line = command(&rig, &["person", "forget", PAY_TO]).failed(2);
    assert!(line.contains("accounting records"), "{line}");
}

#[test]
fn the_ledger_is_listed_and_only_a_running_service_asks_the_chain() {
    let mut rig = Rig::start();
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    let [running, stopped] = running_and_stopped(&mut rig, &["ledger", "list"]);
    assert_eq!(running, stopped);
    assert!(
        running.starts_with("DAY") && running.contains(" 0.03 "),
        "{running}"
    );
    let row = running.lines().nth(1).expect("a row");
    let day = row.split(' ').next().expect("a day").to_owned();
    let days = command(&rig, &["ledger", "list", "--json"]).expect(0).out;
    let days: Value = serde_json::from_str(&days).expect("JSON");
    assert_eq!(days[0]["day"], day);
    let line = command(&rig, &["ledger", "check", &day]).failed(1);
    assert!(line.contains("chain.rpc_url"), "{line}");
    assert!(rig.stop());
    let line = command(&rig, &["ledger", "check", &day]).failed(1);
    assert!(line.contains("not running"), "{line}");
}
