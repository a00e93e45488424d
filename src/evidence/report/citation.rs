//! A citation: a slice of the source, verbatim, with where it stands and why it was cited.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::engine::passage::{denied, goes_on};
use crate::evidence::engine::reservations::denies_as_heading;
use crate::evidence::engine::values::stated_date;
use crate::evidence::reading::json;
use crate::evidence::reading::text::{bounded, cells, head, plain, plain_unit, stem, words};
use crate::evidence::report::fragment::link;
use crate::evidence::report::speaker::speaker;
use crate::evidence::{Finding, Match, Stance};
use crate::markdown::PassageKind;

/// Longer slices are cut, and say so.
pub const EXCERPT_BYTES_MAX: usize = 2_000;
const CONTEXT_BYTES_MAX: usize = 600;
const HEADINGS_MAX: usize = 6;
const HEADING_CHARS_MAX: usize = 200;
const TERMS_MAX: usize = 24;
const TERM_CHARS_MAX: usize = 80;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Citation {
    /// `E1`, `E2` … in the report's order.
    pub id: String,
    pub url: String,
    /// Verbatim: bytes `start..end` of the source's text.
    pub excerpt: String,
    /// The excerpt as readers see it, without the marks of markdown. Speech that goes on beside the excerpt gets the
    /// quotation mark that would be missing. The hashes and offsets are the excerpt's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub quote: String,
    /// Where the excerpt begins in the source's markdown, in bytes of UTF-8.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// The slice goes on after what is shown.
    pub truncated: bool,
    #[serde(rename = "match")]
    pub matching: Match,
    pub stance: Stance,
    /// How well it fits beside the others.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub score: f64,
    pub matched_terms: Vec<String>,
    pub missing_terms: Vec<String>,
    /// What it is in the source.
    pub kind: PassageKind,
    /// The headings it stands under, outermost first.
    pub heading_path: Vec<String>,
    /// The line that leads a list in, the header of a table.
    pub context: Option<Context>,
    /// The sentence before it in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Context>,
    /// The sentence after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Context>,
    /// The passage on the page itself: the final URL with a text fragment, which browsers scroll to and highlight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Who says it, where the excerpt names them: "the utility" in "according to the utility".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// The one date that the excerpt states: `2026-03-01`, `2026-03` or `2026`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
}

impl Citation {
    /// What it says to a reader, in so many characters: a row as a statement, an item behind the line that leads it in.
    pub(crate) fn spoken(&self, characters: usize) -> String {
        let context = self
            .context
            .as_ref()
            .map(|context| context.excerpt.as_str());
        let spoken = match (self.kind, context) {
            (PassageKind::Row, Some(header)) => row(header, &self.excerpt, &self.matched_terms),
            (PassageKind::Item, Some(lead_in)) if lead_in.trim_end().ends_with([':', '：']) => {
                format!("{} {}", plain(lead_in), plain(&self.excerpt))
            }
            (PassageKind::Item | PassageKind::Paragraph, _) if self.denying_heading().is_some() => {
                denied(
                    self.denying_heading().unwrap_or_default(),
                    plain_unit(&self.excerpt),
                )
            }
            (PassageKind::Code, _) => json::passage_in_words(&self.excerpt)
                .unwrap_or_else(|| paired(plain(&self.excerpt))),
            (PassageKind::Paragraph, _) => paired(plain_unit(&self.excerpt)),
            _ => paired(plain(&self.excerpt)),
        };
        bounded(&spoken, characters)
    }

    /// The heading over it that denies it: "Do not take it" over "if you are pregnant".
    fn denying_heading(&self) -> Option<&str> {
        let heading = self
            .heading_path
            .last()
            .filter(|heading| denies_as_heading(heading))?;
        goes_on(self.kind, &self.excerpt).then_some(heading)
    }

    /// The same in quotation marks; a row's cells stand apart on the page, so they get none.
    pub(crate) fn quoted(&self, characters: usize) -> String {
        let spoken = self.spoken(characters);
        match self.kind {
            PassageKind::Row => spoken,
            _ => format!("“{spoken}”"),
        }
    }

    /// For readers; the excerpt in reports that were stored before there were quotes.
    pub fn quote(&self) -> &str {
        match self.quote.is_empty() {
            true => &self.excerpt,
            false => &self.quote,
        }
    }
}

/// With the quotation mark that a sentence of a longer speech lacks, at its end or its beginning. Texts with more than
/// one mark too many stay as they are.
fn paired(quote: String) -> String {
    if let (Some(lone), false) = (lone_straight(&quote), quote.contains(['“', '”', '„'])) {
        return match lone {
            Side::Open => format!("{quote}\""),
            Side::Close => format!("\"{quote}"),
        };
    }
    let (mut open, mut lost) = (0_usize, 0_usize);
    // In German this mark closes.
    for c in quote.chars().filter(|_| !quote.contains('„')) {
        match c {
            '“' => open += 1,
            '”' if open > 0 => open -= 1,
            '”' => lost += 1,
            _ => {}
        }
    }
    match (open, lost) {
        (1, 0) => format!("{quote}”"),
        (0, 1) => format!("“{quote}"),
        _ => quote,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Open,
    Close,
}

/// On which side of a speech the one straight mark without a partner stands, if there is one. Behind a digit it is an
/// inch.
fn lone_straight(quote: &str) -> Option<Side> {
    let marks = quote.match_indices('"').map(|(at, _)| at);
    let marks: Vec<(Option<char>, Option<char>)> = marks
        .map(|at| {
            let after = quote[at + 1..].chars().next();
            (quote[..at].chars().next_back(), after)
        })
        .filter(|(before, _)| !before.is_some_and(|c| c.is_ascii_digit()))
        .collect();
    let is_open = |c: Option<char>| c.is_none_or(|c| c.is_whitespace() || "([—–-".contains(c));
    let sides = marks.iter().map(|(before, after)| {
        match (is_open(*before), after.is_none_or(|c| c.is_whitespace())) {
            (true, true) => None,
            (true, false) => Some(Side::Open),
            (false, _) => Some(Side::Close),
        }
    });
    let sides: Vec<Side> = sides.collect::<Option<_>>()?;
    let opening = sides.iter().filter(|side| **side == Side::Open).count();
    let closing = sides.len() - opening;
    if opening == closing + 1 {
        Some(Side::Open)
    } else if closing == opening + 1 {
        Some(Side::Close)
    } else {
        None
    }
}

/// Of so many columns those with numbers are told as well, where no other has one.
const COLUMNS_TOLD_MAX: usize = 4;

/// `Pro · Price: $9; Seats: 5`: what the row is about stands in its first cell. The columns that the question has words of
/// are told.
pub(in crate::evidence) fn row(header: &str, row: &str, terms: &[String]) -> String {
    let (names, values) = (cells(header), cells(row));
    let subject = values
        .first()
        .map_or_else(String::new, |first| plain(first));
    if names.len() != values.len() || names.len() < 2 || subject.is_empty() {
        return plain(row);
    }
    let columns = names.iter().zip(&values).skip(1);
    let columns: Vec<(String, String)> = columns
        .map(|(name, value)| (plain(name), plain(value)))
        .filter(|(_, value)| !value.is_empty())
        .collect();
    let stems =
        |text: &str| -> Vec<String> { words(text).iter().map(|word| stem(word.text)).collect() };
    let terms: Vec<String> = terms.iter().flat_map(|term| stems(term)).collect();
    let is_asked = |(name, value): &&(String, String)| {
        let own = stems(name).into_iter().chain(stems(value));
        own.into_iter().any(|word| terms.contains(&word))
    };
    let mut told: Vec<&(String, String)> = columns.iter().filter(is_asked).collect();
    let has_number = |(_, value): &(String, String)| value.contains(|c: char| c.is_ascii_digit());
    if told.is_empty() {
        told = columns.iter().collect();
    } else if columns.len() <= COLUMNS_TOLD_MAX && !told.iter().any(|column| has_number(column)) {
        // "How much does the desk cost?" has the word of its name alone.
        let is_told = |column: &&(String, String)| is_asked(column) || has_number(column);
        told = columns.iter().filter(is_told).collect();
    }
    let said = |(name, value): &(String, String)| match name.is_empty() {
        true => value.clone(),
        false => format!("{name}: {value}"),
    };
    match told.is_empty() {
        true => subject,
        false => {
            let told: Vec<String> = told.into_iter().map(said).collect();
            format!("{subject} · {}", told.join("; "))
        }
    }
}

/// A further slice of the source beside the excerpt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Context {
    pub excerpt: String,
    pub start: usize,
    pub end: usize,
}

/// The name of the finding with this index.
pub(crate) fn citation_id(finding: usize) -> String {
    format!("E{}", finding.saturating_add(1))
}

/// What a finding is cited as. `text` is the source's.
pub(crate) fn citation(index: usize, finding: &Finding, text: &str, url: &str) -> Citation {
    let whole = text.get(finding.range.clone()).unwrap_or_default();
    let excerpt = head(whole, EXCERPT_BYTES_MAX);
    let start = finding.range.start;
    let is_prose = !matches!(
        finding.kind,
        PassageKind::Row | PassageKind::Code | PassageKind::Heading
    );
    let quote = paired(match finding.kind {
        PassageKind::Paragraph => plain_unit(excerpt),
        _ => plain(excerpt),
    });
    Citation {
        id: citation_id(index),
        url: url.to_owned(),
        excerpt: excerpt.to_owned(),
        link: link(url, finding.kind, whole),
        speaker: is_prose.then(|| speaker(excerpt)).flatten(),
        date: stated_date(&quote),
        quote,
        start,
        end: start + excerpt.len(),
        truncated: excerpt.len() < whole.len(),
        matching: finding.matching,
        stance: finding.stance,
        score: rounded(finding.score),
        matched_terms: terms(&finding.matched),
        missing_terms: terms(&finding.missing),
        kind: finding.kind,
        heading_path: finding
            .heading_path
            .iter()
            .rev()
            .take(HEADINGS_MAX)
            .rev()
            .map(|heading| bounded(heading, HEADING_CHARS_MAX))
            .collect(),
        context: slice(text, finding.context.as_ref()),
        before: slice(text, finding.before.as_ref()),
        after: slice(text, finding.after.as_ref()),
    }
}

fn slice(text: &str, range: Option<&Range<usize>>) -> Option<Context> {
    let range = range?;
    let excerpt = head(text.get(range.clone())?, CONTEXT_BYTES_MAX);
    Some(Context {
        excerpt: excerpt.to_owned(),
        start: range.start,
        end: range.start + excerpt.len(),
    })
}

pub(crate) fn terms(terms: &[String]) -> Vec<String> {
    let kept = terms.iter().take(TERMS_MAX);
    kept.map(|term| bounded(term, TERM_CHARS_MAX)).collect()
}

/// Four decimals are all that a score can promise. What is no number is 0.
pub(crate) fn rounded(score: f64) -> f64 {
    match score.is_finite() {
        true => (score.clamp(0.0, 1.0) * 10_000.0).round() / 10_000.0,
        false => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::report::citation::*;
    use crate::evidence::{Match, Stance};

    fn spoken(kind: PassageKind, context: &str, text: &str) -> String {
        about(&[], kind, context, text)
    }

    fn about(terms: &[&str], kind: PassageKind, context: &str, text: &str) -> String {
        let whole = format!("{context}\n{text}");
        let finding = Finding {
            range: context.len() + 1..whole.len(),
            kind,
            heading_path: Vec::new(),
            context: (!context.is_empty()).then_some(0..context.len()),
            before: None,
            after: None,
            matching: Match::Exact,
            matched: terms.iter().map(|term| (*term).to_owned()).collect(),
            missing: Vec::new(),
            stance: Stance::Supports,
            score: 1.0,
        };
        citation(0, &finding, &whole, "https://x.test/").spoken(60)
    }

    #[test]
    fn what_is_cited_is_spoken_with_what_it_needs() {
        let header = "| Plan | **Price** | |";
        assert_eq!(
            spoken(PassageKind::Row, header, "| Pro | $9 | x |"),
            "Pro · Price: $9; x"
        );
        assert_eq!(
            spoken(PassageKind::Row, header, "| Pro |  | x |"),
            "Pro · x"
        );
        let plans = "| Plan | Price a month | Storage |";
        assert_eq!(
            about(
                &["months", "Basalt"],
                PassageKind::Row,
                plans,
                "| **Basalt** | €9.20 | 5 GB |"
            ),
            "Basalt · Price a month: €9.20"
        );
        let parties = "| Party | Knows | Does |";
        assert_eq!(
            about(
                &["settle"],
                PassageKind::Row,
                parties,
                "| Bank | All | Settles it |"
            ),
            "Bank · Does: Settles it"
        );
        assert_eq!(spoken(PassageKind::Row, header, "| Pro | $9 |"), "Pro · $9");
        assert_eq!(spoken(PassageKind::Row, "", "| Pro | $9 |"), "Pro · $9");
        assert_eq!(
            spoken(PassageKind::Item, "We offer:", "*tea*"),
            "We offer: tea"
        );
        assert_eq!(spoken(PassageKind::Item, "We offer.", "tea"), "tea");
        assert_eq!(
            spoken(PassageKind::Paragraph, "", "Hot swappable\n\nNo"),
            "Hot swappable: No"
        );
        assert_eq!(
            spoken(PassageKind::Paragraph, "", &"a ".repeat(100))
                .chars()
                .count(),
            60
        );
    }

    #[test]
    fn a_citation_shows_what_stands_around_it() {
        let text = "The plant opened. It gave **4 GWh** in May 2026, said Anna Berg. More follows.";
        let finding = Finding {
            range: 18..64,
            kind: PassageKind::Paragraph,
            heading_path: Vec::new(),
            context: None,
            before: Some(0..17),
            after: Some(65..78),
            matching: Match::Exact,
            matched: Vec::new(),
            missing: Vec::new(),
            stance: Stance::Supports,
            score: 1.0,
        };
        let citation = citation(0, &finding, text, "https://x.test/a");
        assert_eq!(
            citation.excerpt,
            "It gave **4 GWh** in May 2026, said Anna Berg."
        );
        assert_eq!(citation.quote, "It gave 4 GWh in May 2026, said Anna Berg.");
        let around =
            [&citation.before, &citation.after].map(|slice| slice.as_ref().expect("a sentence"));
        assert_eq!(
            around.map(|slice| slice.excerpt.as_str()),
            ["The plant opened.", "More follows."]
        );
        assert_eq!(citation.speaker.as_deref(), Some("Anna Berg"));
        assert_eq!(citation.date.as_deref(), Some("2026-05"));
        let link = "https://x.test/a#:~:text=It%20gave%204%20GWh%20in%20May%202026%2C%20said%20Anna%20Berg.";
        assert_eq!(citation.link.as_deref(), Some(link));
    }

    #[test]
    fn a_sentence_of_a_longer_speech_keeps_its_marks_in_pairs() {
        let check = |text: &str, expected: &str| assert_eq!(paired(text.to_owned()), expected);
        check("\"I did not.", "\"I did not.\"");
        check("It was late,\" she said.", "\"It was late,\" she said.");
        check("\"One,\" he said, \"two.", "\"One,\" he said, \"two.\"");
        check("“I did not.", "“I did not.”");
        check("It was late,” she said.", "“It was late,” she said.");
        check("“One,” he said.", "“One,” he said.");
        check("„Eins“, sagte er.", "„Eins“, sagte er.");
        check("A 5\" screen", "A 5\" screen");
        check("a \" b", "a \" b");
        check("“One, “two, “three", "“One, “two, “three");
    }

    #[test]
    fn a_long_slice_is_cut_between_characters_and_says_so() {
        let text = "é".repeat(EXCERPT_BYTES_MAX);
        let finding = Finding {
            range: 0..text.len(),
            kind: PassageKind::Code,
            heading_path: vec!["deep".to_owned(); 20],
            context: None,
            before: None,
            after: None,
            matching: Match::Partial,
            matched: vec!["term".repeat(100); 50],
            missing: Vec::new(),
            stance: Stance::Mentions,
            score: f64::NAN,
        };
        let citation = citation(4, &finding, &text, "https://x.test/");
        assert!(citation.truncated);
        assert_eq!(citation.excerpt, text[citation.start..citation.end]);
        assert_eq!((citation.id.as_str(), citation.score), ("E5", 0.0));
        assert_eq!(
            (citation.heading_path.len(), citation.matched_terms.len()),
            (HEADINGS_MAX, TERMS_MAX)
        );
    }
}
