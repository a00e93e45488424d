//! Whether a source establishes what is asked or claimed, and where it says so. Pure: markdown text and a question in,
//! a labelled answer with verbatim findings out; the same input gives the same answer. Knows no page around the text
//! (addresses, dates, authors) and no shop.

mod blocks;
mod sentences;

pub mod action;
mod age;
pub mod canonical;
pub mod citation;
pub mod examine;
pub mod facts;
pub mod follow_up;
mod language;
pub mod measure;
pub mod profile;
pub mod quality;
pub mod report;
pub mod risks;
pub mod synthesis;
mod text;
pub mod verify;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::markdown::PassageKind;

use blocks::Blocks;
use sentences::sentences;

/// The most findings of an answer.
pub const FINDINGS_MAX: usize = 12;
/// The most parts that a compound claim is split into.
pub const CLAIMS_MAX: usize = 5;
/// Characters of a question that are read.
pub const QUESTION_CHARS_MAX: usize = 1_000;

/// What is examined.
#[derive(Clone, Copy, Debug, Default)]
pub struct Source<'a> {
    pub title: Option<&'a str>,
    /// BCP 47, if known.
    pub language: Option<&'a str>,
    /// The markdown that every offset points into. Its headings, lists and tables are found in it anew, so that kept
    /// text gives the same answer as the page it was kept from.
    pub text: &'a str,
}

impl<'a> Source<'a> {
    /// Text alone, as it is kept.
    pub fn of_text(text: &'a str) -> Source<'a> {
        Source {
            text,
            ..Source::default()
        }
    }
}

/// What kind of question it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionKind {
    Claim,
    Wh(AnswerType),
    YesNo,
    /// What the source says at all.
    Open,
}

/// What must stand in an answer to a wh-question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerType {
    Person,
    Time,
    Number,
    Place,
    Reason,
    Manner,
    Thing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    Supported,
    PartiallySupported,
    Weak,
    Unsupported,
    Contradicted,
}

/// How a finding carries the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// Nearly word for word.
    Exact,
    /// With the question's numbers, or with a number that was asked for.
    Numeric,
    Paraphrase,
    Partial,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stance {
    Supports,
    Contradicts,
    Mentions,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    pub kind: QuestionKind,
    pub label: Label,
    /// P(the label is right).
    pub confidence: f64,
    /// P(the source establishes it).
    pub support_score: f64,
    /// Best first, at most [`FINDINGS_MAX`].
    pub findings: Vec<Finding>,
    /// The parts of a compound question, at most [`CLAIMS_MAX`]; a simple one is its only part.
    pub claims: Vec<Claim>,
    /// Terms, names and numbers of the question that no finding carries, in the question's words.
    pub missing: Vec<String>,
    pub notes: Vec<Note>,
    pub stats: Stats,
}

/// A verbatim slice of the source that bears on the question.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Bytes of [`Source::text`].
    pub range: Range<usize>,
    pub kind: PassageKind,
    /// The headings it stands under, outermost first.
    pub heading_path: Vec<String>,
    /// An item's lead-in, a row's header.
    pub context: Option<Range<usize>>,
    pub matching: Match,
    /// In the question's words.
    pub matched: Vec<String>,
    pub missing: Vec<String>,
    pub stance: Stance,
    /// 0 to 1: how well it fits beside the others.
    pub score: f64,
}

/// A part of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    pub text: String,
    pub label: Label,
    pub support_score: f64,
    /// Indices into [`Check::findings`].
    pub findings: Vec<usize>,
}

/// What the engine doubts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    pub kind: NoteKind,
    /// An index into [`Check::findings`].
    pub finding: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// The finding has another number where the question has one.
    NumberMismatch,
    /// The finding says the opposite, by its words.
    PossibleContradiction,
    /// Two findings say different things.
    Inconsistent,
    /// The finding only says that it may be so.
    Hedged,
    /// The finding says it under a condition.
    Conditional,
    /// The text is in a language whose words the engine cannot fold, or in another one than the question.
    WeakLanguage,
    /// The text has more units than were examined.
    Truncated,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub units: usize,
    /// Units that share a term with the question.
    pub touched: usize,
    /// Units that were compared with it in full.
    pub candidates: usize,
}

/// Checks a source against a question or claim.
pub fn check(source: &Source<'_>, question: &str) -> Check {
    let blocks = Blocks::of(source.text);
    let mut units = Vec::new();
    for (number, block) in blocks.blocks.iter().enumerate() {
        match block.kind {
            PassageKind::Heading | PassageKind::Code | PassageKind::Row => {
                units.push((number, block.range.clone()));
            }
            _ => units.extend(
                sentences(source.text, block.range.clone())
                    .into_iter()
                    .map(|range| (number, range)),
            ),
        }
    }
    let terms = words(question);
    let total = terms.len().max(1) as f64;
    let mut found: HashMap<usize, HashSet<String>> = HashMap::new();
    for (number, (_, range)) in units.iter().enumerate() {
        let matched: HashSet<String> = words(&source.text[range.clone()])
            .intersection(&terms)
            .cloned()
            .collect();
        if !matched.is_empty() {
            found.insert(number, matched);
        }
    }
    let mut ranked: Vec<(usize, f64)> = found
        .iter()
        .map(|(number, matched)| (*number, matched.len() as f64 / total))
        .collect();
    ranked.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    ranked.truncate(FINDINGS_MAX);
    let findings: Vec<Finding> = ranked
        .iter()
        .map(|(number, score)| {
            let (block, range) = &units[*number];
            let block = &blocks.blocks[*block];
            let mut matched: Vec<String> = found[number].iter().cloned().collect();
            matched.sort();
            let mut missing: Vec<String> = terms.difference(&found[number]).cloned().collect();
            missing.sort();
            Finding {
                range: range.clone(),
                kind: block.kind,
                heading_path: blocks
                    .path(block)
                    .into_iter()
                    .map(|heading| source.text[blocks.headings[heading].range.clone()].to_owned())
                    .collect(),
                context: block.context.clone(),
                matching: Match::Partial,
                matched,
                missing,
                stance: Stance::Mentions,
                score: *score,
            }
        })
        .collect();
    let best = findings.first().map_or(0.0, |finding| finding.score);
    let label = match best {
        best if best >= 0.8 => Label::PartiallySupported,
        best if best >= 0.35 => Label::Weak,
        _ => Label::Unsupported,
    };
    Check {
        kind: QuestionKind::Claim,
        label,
        confidence: 0.5,
        support_score: best * 0.6,
        missing: findings
            .first()
            .map_or_else(Vec::new, |finding| finding.missing.clone()),
        claims: vec![Claim {
            text: question.to_owned(),
            label,
            support_score: best * 0.6,
            findings: (0..findings.len().min(3)).collect(),
        }],
        stats: Stats {
            units: units.len(),
            touched: found.len(),
            candidates: findings.len(),
        },
        findings,
        notes: Vec::new(),
    }
}

fn words(text: &str) -> HashSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() > 2)
        .map(str::to_lowercase)
        .collect()
}
