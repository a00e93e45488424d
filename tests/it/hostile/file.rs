//! One bit of the data file changed while nobody looked. The program may refuse the file or a part of it, or miss a part
//! until the whole file is checked; it never gives out, or counts, something else than what was written.

use std::path::PathBuf;

use crate::harness::{ARTICLE, Answer, FERRY, FERRY_CLAIM, Rig, Wallet};
use crate::random::Random;

const FLIPS: usize = 120;

/// What was sold, and how one asks for it again.
struct Sold {
    report: String,
    bytes: Vec<u8>,
    page: crate::harness::Ask,
    page_bytes: Vec<u8>,
    book: serde_json::Value,
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
        Sold {
            report: format!("/v1/proof-pack/reports/{}", id.as_str().expect("an id")),
            bytes: report.body,
            page,
            page_bytes,
            book: book(rig).expect("it is whole"),
        }
    }

    /// What does not come back as it was, in a word.
    fn differs(&self, rig: &Rig, may_lose: bool) -> Option<&'static str> {
        let is = |answer: &Answer, bytes: &[u8]| answer.status == 200 && answer.body == bytes;
        let refuses = |answer: &Answer| answer.status >= 500;
        let report = rig.get(&self.report);
        let lost = may_lose && report.status == 404;
        if !is(&report, &self.bytes) && !refuses(&report) && !lost {
            return Some("another report");
        }
        if book(rig).is_some_and(|book| !self.has_written(&book, may_lose)) {
            return Some("another book");
        }
        let calls = rig.facilitator.settle_calls();
        let page = self.page.at(rig.address).send();
        let settles_again = rig.facilitator.settle_calls() != calls;
        // A payment of which nothing is known is for the facilitator and the chain to refuse.
        if may_lose && (page.status != 200 || settles_again) {
            return None;
        }
        if !is(&page, &self.page_bytes) && !refuses(&page) {
            return Some("another page");
        }
        settles_again.then_some("a payment used again")
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
fn book(rig: &Rig) -> Option<serde_json::Value> {
    let answer = rig.operator("/operator/payments?limit=1000");
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

fn flipped(check: bool) -> Vec<(usize, &'static str)> {
    let mut rig = Rig::with(|resolved| resolved.set("limits.free_per_minute", "0"));
    let sold = Sold::sell(&rig);
    assert!(rig.stop());
    let path = rig.resolved_data_file();
    let whole = std::fs::read(&path).expect("it is there");
    let copy = Copy { path, whole };
    let (mut random, mut wrong, mut refused) = (Random::new(402), Vec::new(), 0);
    for flip in 0..FLIPS {
        copy.flip(&mut random);
        match rig.try_run(check) {
            Ok(()) => {
                wrong.extend(sold.differs(&rig, !check).map(|what| (flip, what)));
                // A file that fails later may not close in order.
                rig.stop();
            }
            Err(error) => {
                let line = error.to_string();
                assert!(
                    !line.contains('\n') && line.to_lowercase().contains("restore a backup"),
                    "{line}"
                );
                refused += 1;
            }
        }
    }
    assert!(
        refused > 0 && refused < FLIPS,
        "{refused} of {FLIPS} were refused"
    );
    copy.put(&copy.whole);
    rig.try_run(check).expect("the whole file is good");
    assert_eq!(sold.differs(&rig, false), None);
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
