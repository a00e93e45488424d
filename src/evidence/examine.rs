//! The engine's answer for a page that may be addressed to machines: what reads like instructions to an AI system is
//! blanked before the engine sees the text, so that it can be evidence for nothing. Offsets stay what they are.

use std::borrow::Cow;
use std::ops::Range;

use crate::evidence::citation::{Citation, citation};
use crate::evidence::{Check, FINDINGS_MAX, Source, check};

/// A text, what is asked of it, and what the engine found.
#[derive(Clone, Debug)]
pub struct Examined<'a> {
    pub source: Source<'a>,
    pub question: &'a str,
    pub check: Check,
    /// Text that is addressed to an AI system, in order.
    pub instructions: Vec<Range<usize>>,
}

/// Checks a source against a question or claim, as reports do.
pub fn examine<'a>(source: Source<'a>, question: &'a str) -> Examined<'a> {
    let instructions = Vec::new();
    let text = blanked(source.text, &instructions);
    let check = check(
        &Source {
            text: &text,
            ..source
        },
        question,
    );
    Examined {
        source,
        question,
        check,
        instructions,
    }
}

impl Examined<'_> {
    /// The findings as a report cites them, in their order. `url` is the source's.
    pub fn citations(&self, url: &str) -> Vec<Citation> {
        let findings = self.check.findings.iter().take(FINDINGS_MAX).enumerate();
        findings
            .map(|(index, finding)| citation(index, finding, self.source.text, url))
            .collect()
    }
}

/// The text with spaces in place of these ranges.
fn blanked<'a>(text: &'a str, ranges: &[Range<usize>]) -> Cow<'a, str> {
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut blanked = String::with_capacity(text.len());
    let mut at = 0;
    for range in ranges {
        blanked.push_str(&text[at..range.start]);
        blanked.extend(std::iter::repeat_n(' ', range.len()));
        at = range.end;
    }
    blanked.push_str(&text[at..]);
    Cow::Owned(blanked)
}
