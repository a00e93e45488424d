//! Short runs of the fuzzers of the wire in tests/fuzz: the same inputs every time. Long ones are started there.

use std::path::Path;

#[path = "../fuzz/src/forwarded.rs"]
mod forwarded;
#[path = "../fuzz/src/mutation.rs"]
mod mutation;
#[path = "../fuzz/src/payment.rs"]
mod payment;
#[path = "../fuzz/src/records.rs"]
mod records;
#[path = "../fuzz/src/request.rs"]
mod request;
#[path = "../fuzz/src/target.rs"]
mod target;
#[path = "../fuzz/src/webhook.rs"]
mod webhook;

use crate::random::{self, Random};

const EXECUTIONS: usize = 3_000;

type Corpus = fn(&Path) -> Vec<Vec<u8>>;
type Input = fn(&mut Random, &[Vec<u8>]) -> Vec<u8>;

fn run(corpus: Corpus, input: Input, body: fn(&[u8])) {
    let seeds = corpus(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"));
    assert!(!seeds.is_empty(), "nothing to begin from");
    let mut random = Random::new(402);
    for _ in 0..EXECUTIONS {
        body(&input(&mut random, &seeds));
    }
}

#[test]
fn any_payment_header_is_read_or_refused() {
    run(payment::corpus, payment::input, payment::body);
}

#[test]
fn any_text_is_a_public_target_or_none() {
    run(target::corpus, target::input, target::body);
}

#[test]
fn any_request_finds_its_row_or_none() {
    run(request::corpus, request::input, request::body);
}

#[test]
fn any_header_of_proxies_names_a_client() {
    run(forwarded::corpus, forwarded::input, forwarded::body);
}

#[test]
fn any_bytes_are_a_record_or_damaged() {
    run(records::corpus, records::input, records::body);
}

#[test]
fn any_webhook_is_taken_only_with_its_signature() {
    run(webhook::corpus, webhook::input, webhook::body);
}
