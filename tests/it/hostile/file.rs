//! One bit of the data file changed while nobody looked. The program may refuse the file or a part of it, or miss a part
//! until the whole file is checked; it never gives out, or counts, something else than what was written.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};

use crate::harness::{ARTICLE, Answer, Ask, FERRY, FERRY_CLAIM, Rig, Service, Wallet, operate};
use crate::random::Random;

const FLIPS: usize = 120;
/// What `kill -l` calls ABRT: the writer met a page that cannot be, and ended the program before it could write on.
const ABORTED: i32 = 6;

/// What was sold, and how one asks for it again.
struct Sold {
    report: String,
    bytes: Vec<u8>,
    page: Ask,
    page_bytes: Vec<u8>,
    book: serde_json::Value,
    socket: PathBuf,
}

/// What a damaged file made of the service.
#[derive(Debug, PartialEq)]
enum Seen {
    /// All it gave out was as it was written.
    AsWritten,
    /// In part, and what it did not answer, it refused.
    InPart,
    /// Something that was never written.
    Differs(&'static str),
}

impl Sold {
    fn sell(rig: &Rig) -> Sold {
        for number in 0..6 {
            let tier = ["fresh", "deep", "basic"][number % 3];
            rig.buy(&Wallet::new(), ARTICLE, tier).expect(200);
        }
        let report = rig
            .buy_report(&Wallet::new(), FERRY, "standard", FERRY_CLAIM)
            .expect(200);
        let id = report.json()["report_id"].clone();
        let payment = Wallet::new().sign(rig, "fresh");
        let page = rig.order(ARTICLE, "fresh").paid(&payment.header);
        let page_bytes = page.send().expect(200).body;
        let socket = rig.app().config.socket.clone();
        Sold {
            report: format!("/v1/proof-pack/reports/{}", id.as_str().expect("an id")),
            bytes: report.body,
            page,
            page_bytes,
            book: book(&socket).expect("it is whole"),
            socket,
        }
    }

    fn seen(&self, rig: &Rig, service: &Service, may_lose: bool) -> Seen {
        let is = |answer: &Answer, bytes: &[u8]| answer.status == 200 && answer.body == bytes;
        // No answer is that of a program that has ended.
        let refuses = |answer: &Option<Answer>| answer.as_ref().is_none_or(|a| a.status >= 500);
        let report = service.get(&self.report).try_send();
        let is_report = report
            .as_ref()
            .is_some_and(|answer| is(answer, &self.bytes));
        let lost = may_lose && report.as_ref().is_some_and(|answer| answer.status == 404);
        if !is_report && !refuses(&report) && !lost {
            return Seen::Differs("another report");
        }
        let book = book(&self.socket);
        if book
            .as_ref()
            .is_some_and(|book| !self.has_written(book, may_lose))
        {
            return Seen::Differs("another book");
        }
        let calls = rig.facilitator.settle_calls();
        let page = self.page.at(service.address).try_send();
        let settles_again = rig.facilitator.settle_calls() != calls;
        let is_page = page
            .as_ref()
            .is_some_and(|answer| is(answer, &self.page_bytes));
        // A payment of which nothing is known is for the facilitator and the chain to refuse.
        if may_lose && (settles_again || page.as_ref().is_some_and(|answer| answer.status != 200)) {
            return Seen::InPart;
        }
        if !is_page && !refuses(&page) {
            return Seen::Differs("another page");
        }
        if settles_again {
            return Seen::Differs("a payment used again");
        }
        match is_report && is_page && book == Some(self.book.clone()) {
            true => Seen::AsWritten,
            false => Seen::InPart,
        }
    }

    /// Whether a book says what was written, or a part of it.
    fn has_written(&self, book: &serde_json::Value, may_lose: bool) -> bool {
        let rows = |book: &serde_json::Value| {
            let mut rows = book.as_array().cloned().unwrap_or_default();
            for row in rows.iter_mut().filter_map(|row| row.as_object_mut()) {
                row.remove("key");
            }
            rows
        };
        let written = rows(&self.book);
        match may_lose {
            false => *book == self.book,
            true => rows(book).iter().all(|row| written.contains(row)),
        }
    }
}

/// The operator's list of payments, if it can be read.
fn book(socket: &Path) -> Option<serde_json::Value> {
    let answer = operate(socket, "GET", "/operator/payments?limit=1000")?;
    (answer.status == 200).then(|| answer.json()["payments"].clone())
}

struct Copy {
    path: PathBuf,
    whole: Vec<u8>,
}

impl Copy {
    /// With one bit turned over in a byte that says something.
    fn flip(&self, random: &mut Random) {
        let mut bytes = self.whole.clone();
        let position = loop {
            let position = random.below(bytes.len());
            if bytes[position] != 0 {
                break position;
            }
        };
        bytes[position] ^= 1 << random.below(8);
        self.put(&bytes);
    }

    /// In place of the file, and not into it: who had it open may still be closing it.
    fn put(&self, bytes: &[u8]) {
        let beside = self.path.with_extension("beside");
        std::fs::write(&beside, bytes).expect("it is ours");
        std::fs::rename(&beside, &self.path).expect("it is ours");
    }
}

/// Insists that a program that did not start said why, and what to do.
#[track_caller]
fn refuses(lines: &[String]) {
    let last = lines.last().map(String::as_str).unwrap_or_default();
    assert!(
        last.to_lowercase().contains("restore a backup"),
        "{lines:#?}"
    );
}

/// Serves from a damaged file in a process of its own, for the writer ends the one in which it meets a page that cannot be.
fn serve(rig: &Rig, sold: &Sold, check: bool) -> Result<Seen, Vec<String>> {
    let mut service = Service::try_start(rig.resolved(), check)?;
    let seen = sold.seen(rig, &service, !check);
    service.terminate();
    // A file that fails later may not close in order.
    let ended = service.end();
    if ended.signal() == Some(ABORTED) {
        // The next start looks at all of the file, as after each end out of order.
        match Service::try_start(rig.resolved(), false) {
            Err(lines) => refuses(&lines),
            Ok(service) => assert!(!matches!(sold.seen(rig, &service, true), Seen::Differs(_))),
        }
    }
    Ok(seen)
}

fn flipped(check: bool) -> Vec<(usize, &'static str)> {
    let mut rig = Rig::today_with(|resolved| resolved.set("limits.free_per_minute", "0"));
    let sold = Sold::sell(&rig);
    assert!(rig.stop());
    let path = rig.resolved_data_file();
    let whole = std::fs::read(&path).expect("it is there");
    let copy = Copy { path, whole };
    let (mut random, mut wrong, mut refused) = (Random::new(402), Vec::new(), 0);
    for flip in 0..FLIPS {
        copy.flip(&mut random);
        match serve(&rig, &sold, check) {
            Ok(Seen::Differs(what)) => wrong.push((flip, what)),
            Ok(Seen::AsWritten | Seen::InPart) => {}
            Err(lines) => {
                refuses(&lines);
                refused += 1;
            }
        }
    }
    assert!(
        refused > 0 && refused < FLIPS,
        "{refused} of {FLIPS} were refused"
    );
    copy.put(&copy.whole);
    assert_eq!(
        serve(&rig, &sold, true),
        Ok(Seen::AsWritten),
        "the whole file is good"
    );
    wrong
}

/// `serve --check` and every start after the machine went down look at all of the file.
#[test]
fn a_flipped_bit_is_found_by_the_check() {
    assert_eq!(flipped(true), []);
}

/// Without it each record is checked when it is read. One that is no longer where it is looked for is not found.
#[test]
fn a_flipped_bit_never_becomes_another_answer() {
    assert_eq!(flipped(false), []);
}
