//! Which statements of a text a source has to bear out, told by their words and marks: a question, a greeting, an opinion,
//! an instruction and a transition claim nothing. Knows English for all but questions and code, and no source.

use crate::domain::closed_set::closed_set;
use crate::domain::words::is_unspaced;
use crate::evidence::engine::claims::{is_content, is_verb};
use crate::evidence::reading::text::words;
use crate::evidence::reading::words::{does, known};
use crate::markdown::PassageKind;

closed_set! {
    /// Why a statement needs no source.
    pub enum NoGrounding {
        /// It asks.
        Question = "question",
        /// It greets, thanks, agrees or takes its leave.
        Greeting = "greeting",
        /// It says what its writer thinks of something.
        Opinion = "opinion",
        /// It tells the reader what to do.
        Instruction = "instruction",
        /// It leads from one part of the text to the next.
        Transition = "transition",
        /// A heading, or the header of a table.
        Heading = "heading",
        Code = "code",
        /// Too few words to claim anything.
        Fragment = "fragment",
    }
}

impl NoGrounding {
    /// For a reader.
    pub fn words(self) -> &'static str {
        match self {
            NoGrounding::Question => "a question",
            NoGrounding::Greeting => "a greeting or courtesy",
            NoGrounding::Opinion => "an opinion",
            NoGrounding::Instruction => "an instruction",
            NoGrounding::Transition => "a transition",
            NoGrounding::Heading => "a heading",
            NoGrounding::Code => "code",
            NoGrounding::Fragment => "too short to claim anything",
        }
    }
}

/// Statements with more words say more than their first ones.
const COURTESY_WORDS_MAX: usize = 12;
const TRANSITION_WORDS_MAX: usize = 9;
/// Words at the beginning among which a verb makes an imperative a statement: "Open source software is free".
const IMPERATIVE_REACH: usize = 5;

/// What may stand before a claim: what follows it decides.
const INTERJECTIONS: [&str; 12] = [
    "sure",
    "certainly",
    "of course",
    "absolutely",
    "yes",
    "no",
    "okay",
    "ok",
    "right",
    "indeed",
    "great",
    "exactly",
];
const COURTESIES: [&str; 17] = [
    "hello",
    "hi",
    "hey",
    "dear",
    "good morning",
    "good afternoon",
    "good evening",
    "thanks",
    "thank you",
    "you're welcome",
    "you are welcome",
    "great question",
    "good question",
    "best regards",
    "kind regards",
    "sincerely",
    "welcome to",
];
const COURTEOUS: [&str; 9] = [
    "let me know",
    "feel free to",
    "hope this helps",
    "hope that helps",
    "happy to help",
    "glad to help",
    "if you have any questions",
    "if you need anything",
    "don't hesitate",
];
const OPINIONS: [&str; 23] = [
    "i think",
    "i believe",
    "i feel",
    "i guess",
    "i suppose",
    "i would say",
    "i'd say",
    "i love",
    "i like",
    "i prefer",
    "i hope",
    "i recommend",
    "i'd recommend",
    "i would recommend",
    "i suggest",
    "we think",
    "we believe",
    "we feel",
    "it seems to me",
    "if you ask me",
    "personally",
    "in my opinion",
    "in my view",
];
const OPINION_ENDS: [&str; 3] = ["in my opinion", "in my view", "if you ask me"];
/// What is only valued is not claimed: "It is a wonderful place."
const VALUES: [&str; 26] = [
    "amazing",
    "awesome",
    "beautiful",
    "best",
    "boring",
    "brilliant",
    "charming",
    "cool",
    "delightful",
    "excellent",
    "fantastic",
    "fascinating",
    "fun",
    "good",
    "great",
    "interesting",
    "lovely",
    "nice",
    "perfect",
    "pleasant",
    "remarkable",
    "superb",
    "terrible",
    "ugly",
    "wonderful",
    "worthwhile",
];
const VALUED: [&str; 18] = [
    "choice",
    "city",
    "company",
    "country",
    "example",
    "experience",
    "game",
    "idea",
    "move",
    "option",
    "person",
    "place",
    "product",
    "read",
    "thing",
    "time",
    "tool",
    "way",
];
const IMPERATIVES: [&str; 33] = [
    "add", "ask", "avoid", "call", "check", "choose", "click", "consider", "contact", "copy",
    "download", "enter", "follow", "go", "imagine", "install", "keep", "look", "make", "open",
    "paste", "press", "read", "remember", "replace", "run", "see", "select", "set", "try", "type",
    "use", "visit",
];
const ADVICE: [&str; 6] = [
    "please",
    "you should",
    "you may want",
    "you might want",
    "make sure",
    "be sure",
];
const TRANSITIONS: [&str; 14] = [
    "here is",
    "here are",
    "here's",
    "in summary",
    "to summarize",
    "to summarise",
    "in conclusion",
    "to conclude",
    "let's",
    "let us",
    "let me",
    "first of all",
    "below is",
    "below are",
];

/// Why a statement needs no source; `None` where it claims something. `plain` is a sentence or a row as it reads.
pub(super) fn needs_none(plain: &str, kind: PassageKind) -> Option<NoGrounding> {
    let lower = plain.trim().to_lowercase().replace('’', "'");
    let marks = [
        '"', '\'', '”', '»', '」', '』', ')', '）', ']', '*', '_', ' ',
    ];
    let bare = lower.trim_end_matches(marks);
    let has_digit = lower.contains(|c: char| c.is_ascii_digit());
    let count = words(&lower).len();
    match kind {
        PassageKind::Heading => return Some(NoGrounding::Heading),
        PassageKind::Code => return Some(NoGrounding::Code),
        _ if bare.ends_with(['?', '？', '؟']) => return Some(NoGrounding::Question),
        PassageKind::Row => return None,
        _ => {}
    }
    if is_courtesy(&lower, count, has_digit) {
        return Some(NoGrounding::Greeting);
    }
    if is_opinion(&lower) {
        return Some(NoGrounding::Opinion);
    }
    if is_instruction(&lower) {
        return Some(NoGrounding::Instruction);
    }
    let leads_in = bare.ends_with([':', '：']) && !has_digit;
    let announces =
        count <= TRANSITION_WORDS_MAX && !has_digit && begins(&lower, &TRANSITIONS).is_some();
    if leads_in || announces {
        return Some(NoGrounding::Transition);
    }
    (!has_digit && is_fragment(plain)).then_some(NoGrounding::Fragment)
}

/// What is left behind the first of these phrases that a text begins with.
fn begins<'t>(lower: &'t str, phrases: &[&str]) -> Option<&'t str> {
    let mut rests = phrases
        .iter()
        .filter_map(|phrase| lower.strip_prefix(phrase));
    rests.find(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '\'')))
}

fn content(text: &str) -> usize {
    text.split_whitespace()
        .filter(|word| is_content(word))
        .count()
}

fn is_courtesy(lower: &str, count: usize, has_digit: bool) -> bool {
    let is_short = count <= COURTESY_WORDS_MAX && !has_digit;
    let is_interjection = begins(lower, &INTERJECTIONS).is_some_and(|rest| content(rest) <= 1);
    let is_courteous = COURTEOUS.iter().any(|phrase| lower.contains(phrase));
    is_short && (is_interjection || begins(lower, &COURTESIES).is_some())
        || is_courteous && !has_digit
}

fn is_opinion(lower: &str) -> bool {
    let end = lower.trim_end_matches(|c: char| !c.is_alphanumeric());
    begins(lower, &OPINIONS).is_some()
        || OPINION_ENDS.iter().any(|phrase| end.ends_with(phrase))
        || is_valued(lower)
}

/// "… is a truly wonderful place": the predicate values, and says nothing else.
fn is_valued(lower: &str) -> bool {
    let is_be = |word: &str| matches!(word, "is" | "are" | "was" | "were" | "it's");
    let mut words = lower
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\''));
    if !words.any(is_be) {
        return false;
    }
    let said: Vec<&str> = words
        .filter(|word| is_content(word) && !matches!(*word, "really" | "truly" | "quite"))
        .collect();
    let is_value = |word: &&str| VALUES.contains(word);
    said.iter().any(is_value)
        && said
            .iter()
            .all(|word| is_value(word) || VALUED.contains(word))
}

fn is_instruction(lower: &str) -> bool {
    if begins(lower, &ADVICE).is_some() {
        return true;
    }
    let mut words = lower.split_whitespace();
    let first = words.next().unwrap_or_default();
    let next: Vec<&str> = words.take(IMPERATIVE_REACH - 1).collect();
    let is_noun = next
        .first()
        .is_some_and(|word| matches!(*word, "of" | "and" | "or" | "that"));
    IMPERATIVES.contains(&first) && !is_noun && !next.iter().any(|word| is_verb(word))
}

/// Fewer than two words that mean something; of scripts without spaces, fewer than four characters.
fn is_fragment(plain: &str) -> bool {
    let unspaced = plain.chars().filter(|c| is_unspaced(*c)).count();
    let words = words(plain);
    let meaning = words.iter().filter(|word| {
        let lower = word.text.to_lowercase();
        known().flags(&lower) & (does::STOP | does::QUESTION) == 0
    });
    match unspaced {
        0 => meaning.count() < 2,
        count => count < 4 && meaning.count() < 4,
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::check::grounding::*;

    fn check(expected: Option<NoGrounding>, texts: &[&str]) {
        for text in texts {
            assert_eq!(needs_none(text, PassageKind::Paragraph), expected, "{text}");
        }
    }

    #[test]
    fn what_claims_nothing_needs_no_source() {
        check(
            Some(NoGrounding::Question),
            &[
                "What does it cost?",
                "本当？",
                "“Is it free?”",
                "(Why not?)",
            ],
        );
        check(
            Some(NoGrounding::Greeting),
            &[
                "Hello!",
                "Thanks for asking about the plans.",
                "Sure!",
                "Let me know if you need more.",
                "I hope this helps.",
                "Hi Anna,",
                "Of course.",
            ],
        );
        check(
            Some(NoGrounding::Opinion),
            &[
                "I think the Pro plan suits you better.",
                "In my opinion, 40 euros are too much.",
                "Lisbon is a truly wonderful city.",
                "It is too much, if you ask me.",
            ],
        );
        check(
            Some(NoGrounding::Instruction),
            &[
                "Please visit the shop.",
                "Click the button below.",
                "You should ask a lawyer.",
                "See the terms for details.",
            ],
        );
        check(
            Some(NoGrounding::Transition),
            &[
                "Here is a short summary.",
                "The plans differ in:",
                "Let's look at the prices.",
                "In summary:",
            ],
        );
        check(
            Some(NoGrounding::Fragment),
            &["Paris.", "And so on.", "はい"],
        );
        assert_eq!(
            needs_none("The plant opened in 2021", PassageKind::Heading),
            Some(NoGrounding::Heading)
        );
        assert_eq!(
            needs_none("let x = 1;", PassageKind::Code),
            Some(NoGrounding::Code)
        );
    }

    #[test]
    fn what_claims_something_needs_one() {
        check(
            None,
            &[
                "The plant opened in 2021.",
                "Open source software is free.",
                "Use of the API is free.",
                "Sure, the Pro plan costs 20 dollars.",
                "Hi-fi systems cost more than radios.",
                "The following costs 20 dollars: the Pro plan.",
                "Lisbon is a wonderful city with 500,000 inhabitants.",
                "Let's Encrypt issues certificates for 90 days.",
                "Free shipping.",
                "価格は千円です。",
                "When the plant opened, it employed forty people.",
                "It costs 20 dollars:",
            ],
        );
    }
}
