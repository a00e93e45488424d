//! What each source says to each claim. The claims are the parts of the question and the key statements of the sources;
//! each statement is put to every other source by the engine that made the reports.

use std::cmp::Reverse;
use std::collections::HashSet;

use crate::domain::closed_set::closed_set;
use crate::evidence::bundle::footnotes::Footnotes;
use crate::evidence::bundle::groups::Groups;
use crate::evidence::bundle::read::{Read, Submitted};
use crate::evidence::reading::text::{is_stop, number, stem, words};
use crate::evidence::report::QuestionForm;
use crate::evidence::report::examine::Readable;
use crate::evidence::{Check, Depth, Examiner, Label, NoteKind, Reading, Source, Stance};

/// Rows beside those of the question.
const STATEMENTS_MAX: usize = 18;
/// Citations of a cell.
const CITED_MAX: usize = 2;
/// Statements with so much in common, and the same numbers, say the same.
const SAME_WORDS_MIN: f64 = 0.75;

closed_set! {
    /// What a source says to a claim.
    pub enum Verdict {
        Supports = "supports",
        /// A part of it, or not beyond doubt.
        Partial = "partial",
        /// It says otherwise nearly in the claim's words.
        Contradicts = "contradicts",
        /// It has another number or the opposite word; whether of the same thing, a reader must see.
        MayContradict = "may_contradict",
        Silent = "silent",
        Unreachable = "unreachable",
    }
}

impl Verdict {
    pub(super) fn opposes(self) -> bool {
        matches!(self, Verdict::Contradicts | Verdict::MayContradict)
    }

    fn of_label(label: Label) -> Verdict {
        match label {
            Label::Supported => Verdict::Supports,
            Label::PartiallySupported => Verdict::Partial,
            Label::Contradicted => Verdict::Contradicts,
            Label::Weak | Label::Unsupported => Verdict::Silent,
        }
    }
}

/// A claim, and what each source says to it.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) text: String,
    /// It is a part of the question; else a source's own statement.
    pub(super) is_asked: bool,
    /// The sources that make the statement, by index.
    pub(super) made_by: Vec<usize>,
    /// In the order of the sources.
    pub(super) cells: Vec<Cell>,
}

impl Row {
    /// The indices of the sources whose verdict is so.
    pub(super) fn sources_with(&self, has: fn(Verdict) -> bool) -> impl Iterator<Item = usize> {
        let cells = self.cells.iter().enumerate();
        cells
            .filter(move |(_, cell)| has(cell.verdict))
            .map(|(at, _)| at)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cell {
    pub(super) verdict: Verdict,
    /// P(the source establishes it).
    pub(super) support: f64,
    /// Names of the bundle's citations.
    pub(super) citation_ids: Vec<String>,
}

impl Cell {
    const SILENT: Cell = Cell {
        verdict: Verdict::Silent,
        support: 0.0,
        citation_ids: Vec::new(),
    };
}

/// The rows, question first.
pub(super) fn rows(
    submitted: &[Submitted<'_>],
    groups: &Groups,
    notes: &mut Footnotes,
) -> Vec<Row> {
    let mut rows = parts_of_question(submitted, notes);
    if let [row] = &mut rows[..] {
        answer_otherwise(row, submitted, groups, notes);
    }
    let mut said = statements(submitted, &rows, notes);
    for (at, source) in submitted.iter().enumerate() {
        if let Some(read) = &source.read {
            cross_examine(at, source, read, &mut said, notes);
        }
    }
    let repeated = repeated(&said);
    let kept = said.into_iter().enumerate();
    rows.extend(
        kept.filter(|(at, _)| !repeated.contains(at))
            .map(|(_, row)| row),
    );
    rows
}

fn blank(submitted: &[Submitted<'_>]) -> Vec<Cell> {
    let cells = submitted.iter().map(|source| match source.read {
        Some(_) => Cell::SILENT,
        None => Cell {
            verdict: Verdict::Unreachable,
            ..Cell::SILENT
        },
    });
    cells.collect()
}

/// The parts of the question, as each report has judged them. An open question has none.
fn parts_of_question(submitted: &[Submitted<'_>], notes: &mut Footnotes) -> Vec<Row> {
    let first = submitted.iter().find_map(|source| source.read.as_ref());
    let Some(first) = first.filter(|read| read.report.analysis.question_kind != QuestionForm::Open)
    else {
        return Vec::new();
    };
    let parts = &first.report.analysis.parts;
    let rows = parts.iter().map(|part| {
        let mut cells = blank(submitted);
        for (source, cell) in submitted.iter().zip(&mut cells) {
            if let Some(read) = &source.read {
                *cell = judged(source, read, &part.text, notes);
            }
        }
        Row {
            text: part.text.clone(),
            is_asked: true,
            made_by: Vec::new(),
            cells,
        }
    });
    rows.collect()
}

/// A copy that says something else in the very passage is not silent.
fn answer_otherwise(
    row: &mut Row,
    submitted: &[Submitted<'_>],
    groups: &Groups,
    notes: &mut Footnotes,
) {
    let pairs = groups.altered.iter();
    for (at, other) in pairs.flat_map(|(one, other)| [(*one, *other), (*other, *one)]) {
        let is_said = matches!(
            row.cells[other].verdict,
            Verdict::Supports | Verdict::Partial
        );
        let source = &submitted[at];
        if row.cells[at].verdict != Verdict::Silent || !is_said {
            continue;
        }
        if let Some(read) = &source.read
            && let Some(best) = read.report.citations.first()
        {
            row.cells[at].verdict = Verdict::MayContradict;
            row.cells[at].citation_ids = notes.of_report(source, read, &[&best.id]);
        }
    }
}

/// What a report says of a part of the question; of the whole, its decision.
fn judged(source: &Submitted<'_>, read: &Read<'_>, text: &str, notes: &mut Footnotes) -> Cell {
    let parts = &read.report.analysis.parts;
    let Some(part) = parts.iter().find(|part| part.text == text) else {
        return Cell::SILENT;
    };
    let label = match parts.len() {
        1 => read.report.decision.label,
        _ => part.label,
    };
    let verdict = Verdict::of_label(label);
    let stance = match verdict {
        Verdict::Supports | Verdict::Partial => Stance::Supports,
        _ => Stance::Contradicts,
    };
    let ids = part.citation_ids.iter();
    let of_part: Vec<&str> = ids.map(String::as_str).collect();
    let cited = read.report.citations.iter();
    let of_stance = cited.filter(|cited| cited.stance == stance);
    let mut cited: Vec<&str> = of_stance
        .map(|cited| cited.id.as_str())
        .filter(|id| parts.len() == 1 || of_part.contains(id))
        .collect();
    let opposes = verdict == Verdict::Silent && !cited.is_empty();
    if cited.is_empty() && verdict != Verdict::Silent {
        cited = of_part;
    }
    if parts.len() > 1 {
        // What is cited for a part stands in the order of the text; its own words come first here.
        let words = Words::of(text);
        cited.sort_by_key(|id| {
            Reverse(
                read.cited(id)
                    .map_or(0, |cited| words.shared(&cited.excerpt)),
            )
        });
    }
    cited.truncate(CITED_MAX);
    Cell {
        verdict: if opposes {
            Verdict::MayContradict
        } else {
            verdict
        },
        support: part.support_score,
        citation_ids: notes.of_report(source, read, &cited),
    }
}

/// The sources' own statements, a turn for each source; those that repeat another are told with it.
fn statements(submitted: &[Submitted<'_>], asked: &[Row], notes: &mut Footnotes) -> Vec<Row> {
    let mut rows: Vec<(Words, Row)> = Vec::new();
    let known: Vec<Words> = asked.iter().map(|row| Words::of(&row.text)).collect();
    let turns = submitted.iter().filter_map(|source| source.read.as_ref());
    let turns = turns.map(|read| read.report.key_claims.len()).max();
    for turn in 0..turns.unwrap_or_default() {
        for (at, source) in submitted.iter().enumerate() {
            let Some(read) = &source.read else { continue };
            let Some(claim) = read.report.key_claims.get(turn) else {
                continue;
            };
            let words = Words::of(&claim.claim);
            if known.iter().any(|other| words.same_as(other)) {
                continue;
            }
            let ids: Vec<&str> = claim.citation_ids.iter().map(String::as_str).collect();
            let cell = Cell {
                verdict: Verdict::Supports,
                support: 1.0,
                citation_ids: notes.of_report(source, read, &ids[..ids.len().min(CITED_MAX)]),
            };
            if cell.citation_ids.is_empty() {
                continue;
            }
            if let Some((_, row)) = rows.iter_mut().find(|(other, _)| words.same_as(other)) {
                row.cells[at] = cell;
                row.made_by.push(at);
            } else if rows.len() < STATEMENTS_MAX {
                let mut cells = blank(submitted);
                cells[at] = cell;
                let row = Row {
                    text: claim.claim.clone(),
                    is_asked: false,
                    made_by: vec![at],
                    cells,
                };
                rows.push((words, row));
            }
        }
    }
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Puts every statement that a source has not made itself to it.
fn cross_examine(
    at: usize,
    source: &Submitted<'_>,
    read: &Read<'_>,
    rows: &mut [Row],
    notes: &mut Footnotes,
) {
    let profile = &read.report.source_profile;
    let is_suspected = profile
        .warnings
        .iter()
        .any(|code| code == "prompt_injection_suspected");
    let readable = Readable::of(
        Source {
            title: profile.title.as_deref(),
            language: profile.language.as_deref(),
            text: read.text,
        },
        is_suspected,
    );
    // Every statement is put to every source: deeper would take too long.
    let depth = read.report.depth().min(Depth::Standard);
    let examiner = readable.examiner().at(depth);
    for row in rows {
        if row.cells[at].verdict == Verdict::Silent {
            row.cells[at] = answer(source, read, &examiner, &row.text, notes);
        }
    }
}

fn answer(
    source: &Submitted<'_>,
    read: &Read<'_>,
    examiner: &Examiner<'_>,
    claim: &str,
    notes: &mut Footnotes,
) -> Cell {
    let check = examiner.check(claim, Reading::Claim);
    let doubted = doubted(&check);
    let verdict = match (Verdict::of_label(check.label), doubted) {
        (Verdict::Partial | Verdict::Silent, Some(_)) => Verdict::MayContradict,
        (verdict, _) => verdict,
    };
    let stance = match verdict {
        Verdict::Silent | Verdict::Unreachable => return Cell::SILENT,
        Verdict::Contradicts | Verdict::MayContradict => Stance::Contradicts,
        Verdict::Supports | Verdict::Partial => Stance::Supports,
    };
    let findings = check
        .findings
        .iter()
        .filter(|finding| finding.stance == stance);
    let mut findings: Vec<_> = findings.take(CITED_MAX).collect();
    if findings.is_empty() {
        let nearest = doubted.filter(|_| verdict.opposes()).unwrap_or(0);
        findings.extend(check.findings.get(nearest));
    }
    let citation_ids = notes.of_findings(source, read, &findings);
    if citation_ids.is_empty() {
        return Cell::SILENT;
    }
    Cell {
        verdict,
        support: check.support_score,
        citation_ids,
    }
}

/// The finding that has another number than the claim, or says the opposite by its words.
fn doubted(check: &Check) -> Option<usize> {
    let doubts = [NoteKind::NumberMismatch, NoteKind::PossibleContradiction];
    let note = check
        .notes
        .iter()
        .find(|note| doubts.contains(&note.kind))?;
    note.finding
}

/// Rows whose own words an earlier row is supported by: the earlier one says it.
fn repeated(rows: &[Row]) -> HashSet<usize> {
    let mut repeated = HashSet::new();
    for (later, row) in rows.iter().enumerate() {
        let own = row.made_by.iter().map(|at| &row.cells[*at]);
        let made: Vec<&String> = own.flat_map(|cell| &cell.citation_ids).collect();
        let earlier = rows[..later].iter().enumerate();
        let mut earlier = earlier.filter(|(at, _)| !repeated.contains(at));
        let is_said = earlier.any(|(_, other)| {
            let supports = other
                .cells
                .iter()
                .filter(|cell| cell.verdict == Verdict::Supports);
            let mut ids = supports.flat_map(|cell| &cell.citation_ids);
            ids.any(|id| made.contains(&id))
        });
        if is_said {
            repeated.insert(later);
        }
    }
    repeated
}

/// What two statements are told apart by.
struct Words {
    stems: HashSet<String>,
    numbers: HashSet<String>,
}

impl Words {
    fn of(text: &str) -> Words {
        let words = words(text);
        let lower = words.iter().map(|word| word.text.to_lowercase());
        Words {
            stems: lower
                .filter(|word| !is_stop(word))
                .map(|word| stem(&word))
                .collect(),
            numbers: words.iter().filter_map(|word| number(word.text)).collect(),
        }
    }

    /// How many of its words a passage has.
    fn shared(&self, passage: &str) -> usize {
        let passage = Words::of(passage);
        self.stems.intersection(&passage.stems).count()
    }

    #[expect(clippy::cast_precision_loss, reason = "a statement has few words")]
    fn same_as(&self, other: &Words) -> bool {
        let shared = self.stems.intersection(&other.stems).count();
        let all = self.stems.union(&other.stems).count().max(1);
        self.numbers == other.numbers && shared as f64 / all as f64 >= SAME_WORDS_MIN
    }
}
