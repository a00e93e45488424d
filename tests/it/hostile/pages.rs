//! Bombs are pages like any other: whoever pays for one gets an answer, in time and within the memory of a fetch.

use std::net::SocketAddr;

use crate::harness::ask::raw_bytes;
use crate::harness::{ACCESS, Answer, Ask, Rig, Wallet, for_each, order};
use crate::hostile::bombs::BOMBS;
use crate::hostile::{MEMORY_MIB_MAX, as_shipped, number, tell};

/// Enough to show what grows faster than its page, little enough for a build without optimisation. With optimisation
/// they may be as long as pages may be (`CONTEXT402_BOMB_BYTES=5000000`).
const BOMB_BYTES: usize = 128 * 1024;
/// Buyers at once: as many as the program converts at once.
const AT_ONCE: usize = 16;
/// What may become of a bomb.
const ANSWERS: [(u16, &str); 7] = [
    (200, ""),
    (400, "content_too_large"),
    (400, "nothing_readable"),
    (400, "page_walled"),
    (400, "unsupported_content_type"),
    (400, "upstream_refused"),
    (503, "upstream_unavailable"),
];

/// Each has a deadline of the harness's, as every answer has.
#[test]
fn every_bomb_is_answered_within_its_memory() {
    assert!(BOMBS.len() >= 50, "{} bombs", BOMBS.len());
    let mut rig = Rig::today_with(|resolved| {
        resolved.set("fetch.seconds_max", "30");
        resolved.set("fetch.at_once_max", AT_ONCE.to_string());
        as_shipped(resolved);
    });
    let bytes = number("CONTEXT402_BOMB_BYTES", BOMB_BYTES);
    for bomb in BOMBS {
        rig.site.put(&path(bomb.name), bomb.page(bytes));
    }
    rig.in_process(&[], |rig, service| {
        let idle = service.memory_mib();
        for group in BOMBS.chunks(AT_ONCE) {
            for_each(group, |bomb| buy(rig, service.address, bomb.name));
        }
        let most = service.memory_mib_most();
        tell(&format!(
            "{most} MiB for {} bombs of {bytes} bytes",
            BOMBS.len()
        ));
        let used = most.saturating_sub(idle);
        assert!(used <= MEMORY_MIB_MAX, "{used} MiB were in use at once");
        service.get("/health").send().expect(200);
    });
}

fn buy(rig: &Rig, address: SocketAddr, name: &str) {
    let payment = Wallet::new().sign_at(address, "fresh", rig.now(), None);
    let host = [
        "news.sample-site.org",
        "www.second-site.org",
        "www.third-site.org",
    ][name.len() % 3];
    let target = format!("http://{host}{}", path(name));
    let ask = Ask::new(address, "POST", ACCESS).json(&order(&target, "fresh"));
    let bytes = raw_bytes(address, &ask.paid(&payment.header).bytes());
    assert!(!bytes.is_empty(), "{name}: no answer");
    let answer = Answer::parse(&bytes);
    let outcome = (answer.status, answer.code());
    assert!(
        ANSWERS
            .iter()
            .any(|(status, code)| outcome == (*status, (*code).to_owned())),
        "{name}: {outcome:?} {answer:?}"
    );
}

fn path(name: &str) -> String {
    format!("/bombs/{name}")
}
