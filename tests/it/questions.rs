//! A short run of the evidence fuzzer in tests/fuzz: the same texts and questions every time. A long one is started
//! there.

use std::path::Path;

#[path = "../fuzz/src/question.rs"]
mod question;
#[path = "../fuzz/src/texts.rs"]
mod texts;

use crate::random::{self, Random};
use texts::{corpus, input};

const EXECUTIONS: usize = 300;

#[test]
fn any_text_and_question_end_in_an_answer() {
    let pages = corpus(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/evidence/pages"));
    assert!(!pages.is_empty(), "no pages to begin from");
    let mut random = Random::new(402);
    for _ in 0..EXECUTIONS {
        question::question(&input(&mut random, &pages));
    }
}
