//! The parts that both kinds of document are made of: the decision, quoted passages, risks, what stays open, and how to
//! check it all.

use crate::domain::figures::{capitalized, label_words};
use crate::evidence::Match;
use crate::evidence::report::action::AgentAction;
use crate::evidence::report::risks::Severity;
use crate::pdf::block::{Block, Column, Kind, Span, Style, Table, Tone};
use crate::pdf::words::{bounded, percent, spoken, when};

/// Characters of a passage that are shown; the attached JSON has all of it.
const EXCERPT_CHARS_MAX: usize = 700;

pub(super) fn column(name: &str, share: f32) -> Column {
    Column {
        name: name.to_owned(),
        share,
    }
}

pub(super) fn cell(text: impl Into<String>) -> Vec<Span> {
    vec![Span::new(text, Style::SMALL)]
}

/// Names and values, a row each.
pub(super) fn facts(summary: &str, rows: Vec<(&str, Vec<Span>)>) -> Block {
    let rows = rows.into_iter().map(|(name, value)| {
        let name = vec![Span::new(name, Style::SMALL.toned(Tone::Muted))];
        vec![name, value]
    });
    Block::Table(Table {
        summary: summary.to_owned(),
        columns: vec![column("", 1.0), column("", 4.2)],
        rows: rows.collect(),
        after: 10.0,
    })
}

/// The line above the title.
fn kicker(text: String) -> Block {
    Block::Text {
        kind: Kind::Paragraph,
        spans: vec![Span::new(text, Style::SMALL.bold().toned(Tone::Accent))],
        after: 4.0,
    }
}

/// A longer question does not fit a title whole, and follows it.
const TITLE_CHARS_MAX: usize = 140;

/// What every document opens with: what it is and at which level, the question, the decision, and the answer in short.
pub(super) struct Opening<'a> {
    pub(super) product: &'a str,
    pub(super) level: &'a str,
    pub(super) question: &'a str,
    pub(super) label: &'a str,
    pub(super) disputed: bool,
    /// The engine's estimates that the label is right, and that the evidence establishes what was asked.
    pub(super) shares: (f64, f64),
    pub(super) summary: &'a str,
    pub(super) advice: &'a str,
    pub(super) action: AgentAction,
    /// The answer in a word or two, if there is one.
    pub(super) value: Option<&'a str>,
    pub(super) answer: &'a str,
}

impl Opening<'_> {
    pub(super) fn blocks(&self) -> Vec<Block> {
        let level = self.level.to_uppercase();
        let mut blocks = vec![
            kicker(format!("{} · {level}", self.product)),
            Block::heading(0, bounded(self.question, TITLE_CHARS_MAX), "title"),
        ];
        if self.question.chars().count() > TITLE_CHARS_MAX {
            blocks.push(Block::text(self.question));
        }
        blocks.push(self.decision());
        blocks.push(Block::heading(3, "In short", "short"));
        if let Some(value) = self.value {
            blocks.push(Block::paragraph(vec![Span::new(value, Style::BODY.bold())]));
        }
        blocks.push(Block::paragraph(cited(self.answer, "", Style::BODY)));
        blocks
    }

    fn decision(&self) -> Block {
        let disputed = if self.disputed { " – disputed" } else { "" };
        let label = capitalized(&label_words(self.label));
        let figures = format!(
            "Engine’s estimates: {} for this label, {} that the evidence establishes what was asked · {}",
            percent(self.shares.0),
            percent(self.shares.1),
            spoken(self.action.name()),
        );
        Block::Panel(vec![
            vec![Span::new(
                format!("{label}{disputed}"),
                Style::BODY.sized(14.0).bold(),
            )],
            vec![Span::new(self.summary, Style::BODY)],
            vec![Span::new(self.advice, Style::BODY.bold())],
            vec![Span::new(figures, Style::NOTE)],
        ])
    }
}

/// A quoted passage.
pub(super) struct Passage<'a> {
    /// Its name, by which the text refers to it.
    pub(super) id: &'a str,
    /// What it does to the question, or to a claim.
    pub(super) stance: &'a str,
    pub(super) excerpt: &'a str,
    /// The sentences before and after it.
    pub(super) around: [String; 2],
    /// Who says it, and the date that it states.
    pub(super) said: (Option<&'a str>, Option<&'a str>),
    /// The passage on the page.
    pub(super) link: Option<&'a str>,
    pub(super) truncated: bool,
    pub(super) matching: Match,
    pub(super) bytes: (usize, usize),
    pub(super) heading_path: &'a [String],
    /// The title or address of its source, and when that was read.
    pub(super) source: &'a str,
    pub(super) read_at: u64,
}

impl Passage<'_> {
    /// Its name and where it stands, and its words.
    pub(super) fn blocks(&self) -> Vec<Block> {
        let excerpt = self.excerpt.trim();
        let shown = bounded(excerpt, EXCERPT_CHARS_MAX);
        let is_cut = shown.chars().count() < excerpt.chars().count() || self.truncated;
        let mut place = format!(
            "  {} · {} match · bytes {}–{}",
            self.stance, self.matching, self.bytes.0, self.bytes.1,
        );
        if is_cut {
            place.push_str(" · cut here, whole in the attached JSON");
        }
        let [before, after] = self
            .around
            .each_ref()
            .map(|sentence| bounded(sentence, 200));
        let muted = Style::SMALL.toned(Tone::Muted);
        let mut spans = vec![Span::new(shown, Style::BODY)];
        if !before.is_empty() {
            spans.insert(0, Span::new(format!("{before} "), muted));
        }
        if !after.is_empty() {
            spans.push(Span::new(format!(" {after}"), muted));
        }
        if let Some(speaker) = self.said.0 {
            place.push_str(&format!(" · said by {}", bounded(speaker, 60)));
        }
        if let Some(date) = self.said.1 {
            place.push_str(&format!(" · date: {date}"));
        }
        let path = self.heading_path.join(" › ");
        let mut origin = vec![Span::new(
            format!("{} · read {}", bounded(self.source, 70), when(self.read_at)),
            Style::NOTE,
        )];
        if !path.is_empty() && path != self.source {
            origin.push(Span::new(
                format!(" · under “{}”", bounded(&path, 70)),
                Style::NOTE,
            ));
        }
        if let Some(link) = self.link {
            origin.push(Span::new(" · ", Style::NOTE));
            origin.push(Span::leading("on the page", link, Style::NOTE));
        }
        vec![
            Block::Anchor(self.id.to_owned()),
            Block::lead(vec![
                Span::new(self.id, Style::SMALL.bold()),
                Span::new(place, Style::NOTE),
            ]),
            Block::Text {
                kind: Kind::Quote,
                spans,
                after: 1.5,
            },
            Block::Text {
                kind: Kind::Paragraph,
                spans: origin,
                after: 9.0,
            },
        ]
    }
}

/// A text whose `[S1.E2]` lead to the passages; in a report of one source, `of` is what stands before `E2` elsewhere.
pub(super) fn cited(text: &str, of: &str, style: Style) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('[') {
        let inside = &rest[start + 1..];
        let end = inside.find(']').unwrap_or_default();
        let (before, id) = (&rest[..start + 1], &inside[..end]);
        spans.push(Span::new(before, style));
        if is_id(id) {
            spans.push(Span::place(id, format!("{of}{id}"), style));
            rest = &inside[end..];
        } else {
            rest = inside;
        }
    }
    spans.push(Span::new(rest, style));
    spans
}

/// `E1`, `S2.E1`, `S2.X1`.
fn is_id(text: &str) -> bool {
    let numbered = |text: &str, letters: &[char]| {
        let number = text.strip_prefix(letters).unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    match text.split_once('.') {
        Some((source, passage)) => numbered(source, &['S']) && numbered(passage, &['E', 'X']),
        None => numbered(text, &['E']),
    }
}

/// Severity, code, text and where each was found.
pub(super) fn risks<'a>(
    risks: impl Iterator<Item = (Severity, &'a str, &'a str, &'a [String])>,
    where_named: &str,
) -> Block {
    let rows = risks.map(|(severity, code, text, found)| {
        vec![
            vec![Span::new(severity.name(), Style::SMALL.bold())],
            vec![
                Span::new(format!("{}: ", spoken(code)), Style::SMALL.bold()),
                Span::new(text, Style::SMALL),
            ],
            cell(match found {
                [] => "–".to_owned(),
                found => bounded(&found.join(", "), 120),
            }),
        ]
    });
    Block::Table(Table {
        summary: "Risks, the gravest first".to_owned(),
        columns: vec![
            column("Severity", 0.9),
            column("Risk", 6.0),
            column(where_named, 1.5),
        ],
        rows: rows.collect(),
        after: 8.0,
    })
}

pub(super) fn items<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<Block> {
    let items = texts.map(|text| Block::item(vec![Span::new(text, Style::BODY)]));
    items.collect()
}

/// A long hash, in the letters that hashes are set in.
pub(super) fn hash(text: &str) -> Vec<Span> {
    vec![Span::new(
        if text.is_empty() { "–" } else { text },
        Style::CODE,
    )]
}

/// A command that a reader may run.
pub(super) fn command(text: String) -> Block {
    Block::Panel(vec![vec![Span::new(text, Style::CODE)]])
}

/// What is said where characters had no glyph.
pub(super) fn missing(count: usize, kinds: &[char]) -> Block {
    let named: Vec<String> = kinds
        .iter()
        .take(8)
        .map(|c| format!("U+{:04X}", u32::from(*c)))
        .collect();
    let (are, them) = if count == 1 {
        ("character is", "it")
    } else {
        ("characters are", "them")
    };
    Block::paragraph(vec![Span::new(
        format!(
            "{count} {are} shown as boxes, because no font for {them} was installed where this document was made ({}{}). \
             The attached JSON has {them} in full.",
            named.join(", "),
            if kinds.len() > named.len() {
                " …"
            } else {
                ""
            }
        ),
        Style::SMALL.bold(),
    )])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::block::Link;

    #[test]
    fn names_of_passages_lead_to_them() {
        let check = |text: &str, expected: &[&str]| {
            let spans = cited(text, "", Style::BODY);
            let whole: String = spans.iter().map(|span| span.text.as_str()).collect();
            assert_eq!(whole, text);
            let links = spans.iter().filter_map(|span| match &span.link {
                Some(Link::Place(place)) => Some(place.as_str()),
                _ => None,
            });
            assert_eq!(links.collect::<Vec<_>>(), expected, "{text}");
        };
        check("“so” [S1.E2] “and” [S12.X1]", &["S1.E2", "S12.X1"]);
        check("“so” [E1]", &["E1"]);
        check("[sic] [S1] [E] [[E3]] [é", &["E3"]);
        check("", &[]);
    }
}
