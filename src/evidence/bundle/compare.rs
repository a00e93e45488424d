//! Where independent sources agree, and where they do not: read from the matrix, and from the values in the passages
//! that answer one question. Nothing is settled here; both sides are shown in their own words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::closed_set::closed_set;
use crate::evidence::bundle::footnotes::Footnotes;
use crate::evidence::bundle::groups::Groups;
use crate::evidence::bundle::matrix::{Cell, Row, Verdict};
use crate::evidence::bundle::read::Submitted;
use crate::evidence::engine::values::{Value, Wanted, clash, shared, values};

/// Conflicts that are told; a reader who has seen so many will not trust the rest either.
const CONFLICTS_MAX: usize = 24;

/// A claim that at least two independent sources support.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Agreement {
    pub claim_id: String,
    pub statement: String,
    /// What all of them answer, where it is a value.
    pub value: Option<String>,
    /// Independent sources: mirrors count once.
    pub group_count: usize,
    pub publisher_count: usize,
    pub source_ids: Vec<String>,
    pub citation_ids: Vec<String>,
    /// Another source says otherwise.
    pub disputed: bool,
}

/// A claim on which independent sources differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conflict {
    /// `K1`, `K2` …
    pub id: String,
    pub claim_id: String,
    pub claim: String,
    pub kind: ConflictKind,
    pub certainty: Certainty,
    /// The newest first, as far as the sources are dated.
    pub sides: Vec<Side>,
}

closed_set! {
    /// What differs.
    pub enum ConflictKind {
        Number = "number",
        Date = "date",
        Statement = "statement",
    }
}

closed_set! {
    pub enum Certainty {
        Clear = "clear",
        /// A reader must see whether both speak of the same thing.
        Possible = "possible",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// What it says, where it is a value.
    pub value: Option<String>,
    pub source_ids: Vec<String>,
    pub citation_id: String,
    /// Verbatim.
    pub excerpt: String,
    /// As the source dates itself.
    pub dated: Option<String>,
}

/// What comparing needs of everything.
pub(super) struct Bench<'a> {
    pub(super) submitted: &'a [Submitted<'a>],
    pub(super) groups: &'a Groups,
    pub(super) rows: &'a [Row],
    pub(super) notes: &'a Footnotes,
    /// The question asks for something, so that two sources can answer it and still differ.
    pub(super) is_wh: bool,
}

/// A source's word on a row.
#[derive(Clone)]
struct Voice<'a> {
    source: usize,
    group: usize,
    cell: &'a Cell,
    citation_id: &'a str,
    excerpt: &'a str,
    /// Of the kind that is asked for.
    values: Vec<Value>,
}

pub(super) fn claim_id(row: usize) -> String {
    format!("C{}", row + 1)
}

impl<'a> Bench<'a> {
    pub(super) fn agreements(&self, conflicts: &[Conflict]) -> Vec<Agreement> {
        let rows = self.rows.iter().enumerate();
        let agreements = rows.filter_map(|(number, row)| {
            let agreeing = self.agreeing(row);
            let sources = || agreeing.iter().map(|voice| voice.source);
            let group_count = self.groups.count(sources());
            let claim_id = claim_id(number);
            let mut citation_ids: Vec<String> = Vec::new();
            for voice in &agreeing {
                citation_ids.extend(voice.cell.citation_ids.iter().cloned());
            }
            (group_count >= 2).then(|| Agreement {
                statement: row.text.clone(),
                value: row.is_asked.then(|| self.answer(&agreeing)).flatten(),
                group_count,
                publisher_count: self.groups.publishers(sources()),
                source_ids: sources().map(|at| self.submitted[at].id.clone()).collect(),
                citation_ids,
                disputed: row
                    .cells
                    .iter()
                    .any(|cell| cell.verdict == Verdict::Contradicts)
                    || conflicts
                        .iter()
                        .any(|conflict| conflict.claim_id == claim_id),
                claim_id,
            })
        });
        agreements.collect()
    }

    /// The sources that support a row. To a question that asks for something, those that give the same value.
    fn agreeing(&self, row: &'a Row) -> Vec<Voice<'a>> {
        let supporting = self.voices(row, |verdict| verdict == Verdict::Supports);
        if !(row.is_asked && self.is_wh) {
            return supporting;
        }
        let sides = supporting.iter().map(|one| {
            let same = supporting.iter().filter(|other| {
                other.source == one.source || shared(&one.values, &other.values).is_some()
            });
            same.cloned().collect::<Vec<_>>()
        });
        let count =
            |side: &Vec<Voice<'_>>| self.groups.count(side.iter().map(|voice| voice.source));
        // The first of the largest.
        sides.rev().max_by_key(count).unwrap_or_default()
    }

    /// The value that the first of them gives, if it is what they agree by.
    fn answer(&self, agreeing: &[Voice<'_>]) -> Option<String> {
        let (first, others) = agreeing.split_first().filter(|_| self.is_wh)?;
        let other = others.iter().find(|other| other.group != first.group)?;
        shared(&first.values, &other.values).map(|value| value.text.clone())
    }

    pub(super) fn conflicts(&self) -> Vec<Conflict> {
        let mut conflicts: Vec<Conflict> = Vec::new();
        for (number, row) in self.rows.iter().enumerate() {
            let found = self.altered(row).or_else(|| self.opposed(row));
            let found = found.or_else(|| self.differing(row));
            let Some((kind, certainty, mut sides)) = found else {
                continue;
            };
            sides.sort_by(|one, other| other.dated.cmp(&one.dated));
            let is_known = conflicts
                .iter()
                .any(|known| same_sides(&known.sides, &sides));
            if !is_known && conflicts.len() < CONFLICTS_MAX {
                conflicts.push(Conflict {
                    id: format!("K{}", conflicts.len() + 1),
                    claim_id: claim_id(number),
                    claim: row.text.clone(),
                    kind,
                    certainty,
                    sides,
                });
            }
        }
        conflicts
    }

    /// One independent source supports what another speaks against.
    fn opposed(&self, row: &'a Row) -> Option<(ConflictKind, Certainty, Vec<Side>)> {
        let for_it = self.voices(row, |verdict| verdict == Verdict::Supports);
        let against = self.voices(row, Verdict::opposes);
        let is_other = |voice: &Voice<'_>| for_it.iter().all(|other| other.group != voice.group);
        let against: Vec<Voice<'_>> = against.into_iter().filter(is_other).collect();
        let (first, other) = (for_it.first()?, against.first()?);
        let is_clear = against
            .iter()
            .any(|voice| voice.cell.verdict == Verdict::Contradicts);
        let clashing = clash(&first.values, &other.values);
        let kind = clashing.map_or(ConflictKind::Statement, |(one, _)| kind(one));
        let value = |of: fn((&Value, &Value)) -> String| clashing.map(of);
        let sides = vec![
            self.side(&for_it, value(|(one, _)| one.text.clone())),
            self.side(&against, value(|(_, other)| other.text.clone())),
        ];
        Some((kind, certainty(is_clear), sides))
    }

    /// Independent sources answer one question with different values.
    fn differing(&self, row: &'a Row) -> Option<(ConflictKind, Certainty, Vec<Side>)> {
        if !(row.is_asked && self.is_wh) {
            return None;
        }
        let answers = |verdict| matches!(verdict, Verdict::Supports | Verdict::Partial);
        let voices = self.voices(row, answers);
        let pairs = voices.iter().enumerate();
        let mut pairs =
            pairs.flat_map(|(at, one)| voices[at + 1..].iter().map(move |other| (one, other)));
        let (one, other, values) = pairs.find_map(|(one, other)| {
            let values = clash(&one.values, &other.values)?;
            (one.group != other.group).then_some((one, other, values))
        })?;
        let with = |value: &Value| {
            let has =
                |voice: &&Voice<'_>| shared(std::slice::from_ref(value), &voice.values).is_some();
            voices.iter().filter(has).cloned().collect::<Vec<_>>()
        };
        let is_clear = [one, other]
            .iter()
            .all(|voice| voice.cell.verdict == Verdict::Supports);
        let sides = vec![
            self.side(&with(values.0), Some(values.0.text.clone())),
            self.side(&with(values.1), Some(values.1.text.clone())),
        ];
        Some((kind(values.0), certainty(is_clear), sides))
    }

    /// Two sources have the same text but for what is asked.
    fn altered(&self, row: &'a Row) -> Option<(ConflictKind, Certainty, Vec<Side>)> {
        if !row.is_asked {
            return None;
        }
        let voices = self.voices(row, |verdict| {
            !matches!(verdict, Verdict::Silent | Verdict::Unreachable)
        });
        let of = |source: usize| voices.iter().find(|voice| voice.source == source);
        let mut pairs = self.groups.altered.iter();
        let (one, other) = pairs.find_map(|(one, other)| Some((of(*one)?, of(*other)?)))?;
        let clashing = clash(&one.values, &other.values);
        let sides = vec![
            self.side(
                std::slice::from_ref(one),
                clashing.map(|values| values.0.text.clone()),
            ),
            self.side(
                std::slice::from_ref(other),
                clashing.map(|values| values.1.text.clone()),
            ),
        ];
        let kind = clashing.map_or(ConflictKind::Statement, |values| kind(values.0));
        Some((kind, Certainty::Clear, sides))
    }

    /// What the sources with such a verdict say, by their first citation.
    fn voices(&self, row: &'a Row, has: impl Fn(Verdict) -> bool) -> Vec<Voice<'a>> {
        let cells = row.cells.iter().enumerate();
        let cells = cells.filter(|(_, cell)| has(cell.verdict));
        let wanted = Wanted::of(&row.text).filter(|_| row.is_asked && self.is_wh);
        let takes = |value: &Value| wanted.as_ref().is_none_or(|wanted| wanted.takes(value));
        let voices = cells.filter_map(|(source, cell)| {
            let note = self.notes.get(cell.citation_ids.first()?)?;
            Some(Voice {
                source,
                group: self.groups.of_source(source)?,
                cell,
                citation_id: &note.id,
                excerpt: &note.excerpt,
                values: values(&note.excerpt).into_iter().filter(takes).collect(),
            })
        });
        voices.collect()
    }

    fn side(&self, voices: &[Voice<'_>], value: Option<String>) -> Side {
        let read = |voice: &Voice<'_>| self.submitted[voice.source].read.as_ref();
        let dated = |voice: &Voice<'_>| {
            read(voice)
                .and_then(|read| read.report.dated())
                .map(str::to_owned)
        };
        // The first speaks for all of them.
        let first = voices.first();
        Side {
            value,
            source_ids: voices
                .iter()
                .map(|voice| self.submitted[voice.source].id.clone())
                .collect(),
            citation_id: first.map_or_else(String::new, |voice| voice.citation_id.to_owned()),
            excerpt: first.map_or_else(String::new, |voice| voice.excerpt.to_owned()),
            dated: first.and_then(dated),
        }
    }
}

fn kind(value: &Value) -> ConflictKind {
    match value.is_date() {
        true => ConflictKind::Date,
        false => ConflictKind::Number,
    }
}

fn certainty(is_clear: bool) -> Certainty {
    match is_clear {
        true => Certainty::Clear,
        false => Certainty::Possible,
    }
}

/// The same passages against each other, whichever of them was put to the other.
fn same_sides(ones: &[Side], others: &[Side]) -> bool {
    let is_there = |side: &Side| {
        others
            .iter()
            .any(|other| other.citation_id == side.citation_id)
    };
    ones.iter().all(is_there)
}
