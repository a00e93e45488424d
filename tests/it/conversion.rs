//! A short run of the fuzzer in tests/fuzz: the same pages every time. A long one is started there.

use std::path::Path;

#[path = "../fuzz/src/grammar.rs"]
mod grammar;
#[path = "../fuzz/src/page.rs"]
mod page;

use crate::random::{self, Random};
use grammar::{corpus, input};

const EXECUTIONS: usize = 2_000;

#[test]
fn hostile_pages_end_in_an_answer() {
    let pages = corpus(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages"));
    assert!(!pages.is_empty(), "no pages to begin from");
    let mut random = Random::new(402);
    for _ in 0..EXECUTIONS {
        page::page(&input(&mut random, &pages));
    }
}
