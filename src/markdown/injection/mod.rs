//! Text on a page that is addressed to an AI system and not to its readers, told by phrases in several languages. What
//! stands in quotes or code, or on a page about such attacks, counts less, what is hidden counts more. Knows nothing
//! of what a model would make of it.

mod english;
mod tongues;

mod hashes;
mod unseen;

mod anchors;
mod marks;

mod instructions;
mod page;

#[cfg(test)]
mod tests;

pub use instructions::instructions;
pub(super) use page::{Unshown, is_suspected, may_address_models};

use marks::marks_of;
use unseen::has_tag_text;

/// Marks of a page add up; from here on it is suspected.
const SUSPECTED: u32 = 4;
/// One pattern in visible text is enough, unless it is quoted or the page is about such patterns.
const STRONG: u32 = 4;
const WEAK: u32 = 2;

/// Blocks looked at closely; a page with more that pass the first look is about something else.
const BLOCKS_MAX: usize = 2_000;

/// Steps in this order, each any one of its words, with at most `gap` other words between two of them. A word of more
/// than one word is not possible: the steps say it. Words are compared in lower case.
struct Pattern {
    steps: &'static [&'static [&'static str]],
    gap: usize,
    marks: u32,
}

const fn strong(steps: &'static [&'static [&'static str]], gap: usize) -> Pattern {
    Pattern {
        steps,
        gap,
        marks: STRONG,
    }
}

const fn weak(steps: &'static [&'static [&'static str]], gap: usize) -> Pattern {
    Pattern {
        steps,
        gap,
        marks: WEAK,
    }
}

/// Words of a page that is about such attacks.
const TOPIC: [&str; 10] = [
    "prompt injection",
    "prompt-injection",
    "jailbreak",
    "system prompt",
    "prompt engineering",
    "red team",
    "adversarial prompt",
    "owasp",
    "llm security",
    "ai safety",
];
/// So often they make it the topic.
const TOPIC_MIN: usize = 2;

/// Whether a text by itself is addressed to an AI system beyond doubt, outside of quotes.
pub fn plainly_addresses_models(text: &str) -> bool {
    marks_of(text) >= STRONG
}

/// Whether a text by itself may be such an instruction, even if mildly: for what need not be there.
pub fn addresses_models(text: &str) -> bool {
    has_tag_text(text) || marks_of(text) >= WEAK
}

/// Of the marks of visible text, what counts: on a page about such attacks they are mostly examples.
fn marks_about(text: &str, marks: u32) -> u32 {
    let lower = text.to_lowercase();
    let mentions = TOPIC
        .iter()
        .map(|topic| lower.matches(topic).take(TOPIC_MIN).count());
    if mentions.sum::<usize>() >= TOPIC_MIN {
        marks / 4
    } else {
        marks
    }
}

/// In either case of its letters. `beginnings` are ASCII.
fn begins_with(text: &str, beginnings: &[&str]) -> bool {
    let text = text.as_bytes();
    beginnings.iter().any(|beginning| {
        text.get(..beginning.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(beginning.as_bytes()))
    })
}
