//! Whether a source establishes what is asked or claimed, and where it says so. Pure: markdown text and a question in,
//! a labelled answer with verbatim findings out; the same input gives the same answer. Knows no page around the text
//! (addresses, dates, authors) and no shop.

pub mod bundle;
pub mod check;
mod engine;
pub mod excerpt;
mod reading;
pub mod report;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::domain::closed_set::closed_set;
use crate::markdown;

use engine::verdict::Judge;
use engine::{claims, echoes, features, findings, open_question, summary};
use reading::page::Page;

pub(crate) use engine::model::Model;

pub(crate) use reading::text::{cells, plain};

pub use crate::domain::depth::Depth;
pub use crate::markdown::PassageKind;

/// The most findings of an answer.
pub const FINDINGS_MAX: usize = 12;
/// The most parts that a compound claim is split into.
pub const CLAIMS_MAX: usize = 5;
/// Characters of a question that are read.
pub const QUESTION_CHARS_MAX: usize = 1_000;

/// How good the answers are on questions with known answers, as `data/evidence/train.py` measured and wrote it: JSON.
pub const FIGURES: &str = include_str!("../../data/evidence/figures.json");

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
    pub fn of_page(page: &'a markdown::Page) -> Source<'a> {
        Source {
            title: page.metadata.title.as_deref(),
            language: page.metadata.language.as_deref(),
            text: &page.markdown,
        }
    }

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

closed_set! {
    /// What a source does to a question or claim.
    pub enum Label {
        Supported = "supported",
        PartiallySupported = "partially_supported",
        Weak = "weak",
        Unsupported = "unsupported",
        Contradicted = "contradicted",
    }
}

closed_set! {
    /// How a quantity of the source stands to the one that is asked about.
    pub enum Relation {
        /// The same value, perhaps in another unit or precision.
        Same = "same",
        /// The asked bound or precision includes the value that was found, or a span of the source the asked day or time.
        Within = "within",
        /// Another value: the claim's own, or one that cannot be true together with it.
        Differs = "differs",
        /// No cited passage has a quantity of this kind.
        NotFound = "not_found",
    }
}

closed_set! {
    /// How a quantity that is asked about stands to the one of the source that it differs from.
    pub enum Order {
        Less = "less",
        More = "more",
        Earlier = "earlier",
        Later = "later",
    }
}

closed_set! {
    /// How a finding carries the question.
    pub enum Match {
        /// Nearly word for word.
        Exact = "exact",
        /// With the question's numbers, or with a number that was asked for.
        Numeric = "numeric",
        Paraphrase = "paraphrase",
        Partial = "partial",
    }
}

closed_set! {
    /// What an excerpt does to the question.
    pub enum Stance {
        Supports = "supports",
        Contradicts = "contradicts",
        Mentions = "mentions",
    }
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
    /// The quantities of the question beside those of the findings.
    pub comparisons: Vec<Comparison>,
    /// The words of the first finding that answer a wh-question, as bytes of [`Source::text`].
    pub answer: Option<Range<usize>>,
    /// What was read: less than asked for where the model is switched off.
    pub depth: Depth,
    pub stats: Stats,
}

/// A quantity of the question and the one that the source has in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// As the question writes it: "4.1 megawatt hours".
    pub asked: String,
    /// As the source writes it; bytes of [`Source::text`].
    pub found: Option<Range<usize>>,
    pub relation: Relation,
    /// Where they differ, if one is known.
    pub order: Option<Order>,
    /// An index into [`Check::findings`].
    pub finding: Option<usize>,
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
    /// The sentences of the same block, or of its neighbours, around it.
    pub before: Option<Range<usize>>,
    pub after: Option<Range<usize>>,
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
    /// The text tells AI systems what to do ([`Examiner::instructions`]).
    AgentInstructions,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub units: usize,
    /// Units that share a term with the question.
    pub touched: usize,
    /// Units that were compared with it in full.
    pub candidates: usize,
}

/// How a question is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// As it looks.
    #[default]
    Guess,
    Question,
    Claim,
}

/// Checks a source against a question or claim.
pub fn check(source: &Source<'_>, question: &str) -> Check {
    Examiner::new(source).check(question, Reading::Guess)
}

/// The names of what the decision and the ranking are made by, in order.
pub(crate) fn feature_names() -> (Vec<&'static str>, &'static [&'static str]) {
    (summary::names().collect(), features::Features::NAMES)
}

/// The names of what the decisions are fitted to, in order.
pub(crate) fn signal_names() -> Vec<String> {
    engine::signals::names()
}

/// A source that is read and can be asked.
#[derive(Debug)]
pub struct Examiner<'a> {
    page: Page<'a>,
    model: &'a Model,
    depth: Depth,
}

/// What training reads of a question: see `data/evidence/train.py`.
#[derive(Debug)]
pub(crate) struct TrainingRow {
    /// The candidates, by number of their unit.
    pub(crate) units: Vec<usize>,
    /// Their features, a row each.
    pub(crate) features: Vec<f64>,
    /// What each of the models decides by.
    pub(crate) decisive: Vec<Vec<f64>>,
    /// How much of the question the page may carry at all.
    pub(crate) gate: f64,
}

impl<'a> Examiner<'a> {
    pub fn new(source: &Source<'a>) -> Examiner<'a> {
        Examiner::around(source, &[])
    }

    /// With parts of the text blanked, which stand in order: no finding reaches across one.
    pub(crate) fn around(source: &Source<'a>, blanks: &[Range<usize>]) -> Examiner<'a> {
        Examiner {
            page: Page::of(source, blanks),
            model: Model::shipped(),
            depth: Depth::Quick,
        }
    }

    /// With the sentences of the text known already, as its slices in order.
    pub fn of_sentences(source: &Source<'a>, sentences: &[Range<usize>]) -> Examiner<'a> {
        Examiner {
            page: Page::of_sentences(source, sentences),
            model: Model::shipped(),
            depth: Depth::Quick,
        }
    }

    /// Reads as deeply as this; [`Depth::Quick`] by default.
    #[must_use]
    pub fn at(mut self, depth: Depth) -> Examiner<'a> {
        self.depth = depth;
        self
    }

    /// What a finding can be, in the order of the text.
    pub fn units(&self) -> impl Iterator<Item = Range<usize>> {
        self.page.units.iter().map(|unit| unit.range.clone())
    }

    /// Sentences of the text that tell AI systems what to do. They are never findings.
    pub fn instructions(&self) -> &[Range<usize>] {
        &self.page.instructions
    }

    /// Judges by another model than the one that is compiled in.
    pub(crate) fn set_model(&mut self, model: &'a Model) {
        self.model = model;
    }

    pub fn check(&self, question: &str, reading: Reading) -> Check {
        let question = cut(question);
        let (judge, is_claim) = (self.judge(), is_claim(question, reading));
        if !is_claim && open_question::is_open(question) {
            return open_question::check(&self.page, question);
        }
        let asked = claims::without_asking_back(question);
        let whole = judge.judge(&asked, is_claim);
        let parts = match claims::parts(&asked) {
            parts if parts.len() > 1 => parts
                .into_iter()
                .map(|part| {
                    let judgement = judge.judge(&part, is_claim && !claims::is_question(&part));
                    (part, judgement)
                })
                .collect(),
            _ => Vec::new(),
        };
        let mut check = findings::check(&self.page, question, &whole, &parts);
        echoes::settle(&mut check, &self.page, question);
        check
    }

    /// What could answer a question, best first: the units that are compared with it in full, then those that share a word
    /// with it. Nothing for an open question, and for one of which the text has no word.
    pub fn ranking(&self, question: &str, reading: Reading) -> Vec<Range<usize>> {
        let question = cut(question);
        if open_question::is_open(question) {
            return Vec::new();
        }
        let asked = claims::without_asking_back(question);
        let units = self.judge().ranking(&asked, is_claim(question, reading));
        units
            .into_iter()
            .map(|unit| self.page.units[unit].range.clone())
            .collect()
    }

    /// The signals that the decisions are fitted to, in the order of [`signal_names`].
    pub(crate) fn signals(&self, question: &str, reading: Reading) -> Vec<f64> {
        let asked = claims::without_asking_back(cut(question));
        self.judge().signals(&asked, reading == Reading::Claim)
    }

    /// The features that the model is fitted to.
    pub(crate) fn training_row(
        &self,
        question: &str,
        reading: Reading,
        models: &[Model],
    ) -> TrainingRow {
        let asked = claims::without_asking_back(cut(question));
        self.judge()
            .training_row(&asked, reading == Reading::Claim, models)
    }

    fn judge(&self) -> Judge<'_> {
        Judge {
            page: &self.page,
            model: self.model,
            depth: self.depth,
        }
    }
}

fn is_claim(question: &str, reading: Reading) -> bool {
    match reading {
        Reading::Guess => !claims::is_question(question),
        reading => reading == Reading::Claim,
    }
}

fn cut(question: &str) -> &str {
    let end = question.char_indices().nth(QUESTION_CHARS_MAX);
    end.map_or(question, |(end, _)| &question[..end])
}
