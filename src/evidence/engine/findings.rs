//! A judgement as a buyer reads it: findings with what they carry and lack, the label with its confidence, the parts of
//! a compound claim, what is missing and what is doubted.

use std::borrow::Cow;
use std::ops::Range;

use super::account::Compared;
use super::asked_value::asked_value;
use super::question::{Asked, Question};
use super::ranked::Ranked;
use super::reservations::{is_conditional, is_hedged, is_of_what_can_be, says_what_may_be_done};
use super::tabled::TableRow;
use super::verdict::Judgement;
use crate::evidence::reading::language::Language;
use crate::evidence::reading::page::Page;
use crate::evidence::reading::text::{cells, content, is_negation};
use crate::evidence::reading::words::{Asks, known};
use crate::evidence::{
    AnswerType, Check, Claim, Comparison, FINDINGS_MAX, Finding, Label, Match, Note, NoteKind,
    QuestionKind, Relation, Stance, Stats,
};
use crate::markdown::PassageKind;

/// Findings of a part of a compound claim.
const PART_FINDINGS: usize = 2;
/// The most that words alone can be trusted, and nearly the same words.
const CONFIDENCE_MAX: f64 = 0.95;
const CONFIDENCE_VERBATIM_MAX: f64 = 0.98;

pub(crate) fn check(
    page: &Page<'_>,
    question: &str,
    whole: &Judgement,
    parts: &[(String, Judgement)],
) -> Check {
    let mut check = Check {
        kind: kind(whole),
        label: whole.label,
        confidence: 0.0,
        support_score: whole.support,
        findings: Vec::new(),
        claims: Vec::new(),
        missing: Vec::new(),
        notes: Vec::new(),
        comparisons: Vec::new(),
        answer: None,
        depth: whole.depth,
        stats: Stats {
            units: page.units.len(),
            touched: whole.touched,
            candidates: whole.ranked.len(),
        },
    };
    combine(&mut check, parts);
    let room = FINDINGS_MAX - PART_FINDINGS * parts.len();
    let reserved = usize::from(whole.disputed_by.is_some());
    let mut units = add(&mut check, page, whole, room - reserved, Vec::new());
    if let Some(at) = whole.disputed_by
        && !units.contains(&whole.ranked[at].candidate.unit)
    {
        let unit = whole.ranked[at].candidate.unit;
        check.findings.push(finding(page, whole, at, check.label));
        units.push(unit);
    }
    let left = room.saturating_sub(units.len());
    let mut units = add(&mut check, page, whole, left, units);
    for (text, part) in parts {
        let known = units.len();
        units = add(&mut check, page, part, PART_FINDINGS, units);
        let mut indices: Vec<usize> = (known..units.len()).collect();
        let own = part
            .ranked
            .iter()
            .take(PART_FINDINGS)
            .map(|ranked| ranked.candidate.unit);
        indices
            .extend(own.filter_map(|unit| units[..known].iter().position(|other| *other == unit)));
        indices.sort_unstable();
        if let Some(best) = part.ranked.first()
            && let Some(at) = units.iter().position(|unit| *unit == best.candidate.unit)
            && check.findings[at].stance == Stance::Mentions
        {
            check.findings[at].stance = stance(page, part, 0, part.label);
        }
        check.claims.push(Claim {
            text: text.clone(),
            label: part.label,
            support_score: rounded(part.support),
            findings: indices,
        });
    }
    if parts.is_empty() {
        check.claims.push(Claim {
            text: question.trim().to_owned(),
            label: check.label,
            support_score: rounded(check.support_score),
            findings: (0..check.findings.len().min(3)).collect(),
        });
    }
    check.confidence = rounded(confidence(&check, whole.denial));
    check.comparisons = comparisons(page, whole, &units);
    check.answer = answer(page, question, whole);
    check.missing = missing(&check, whole, &units);
    check.support_score = rounded(check.support_score);
    add_notes(&mut check, page, (question, whole), &units);
    check
}

fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

pub(crate) fn kind(judgement: &Judgement) -> QuestionKind {
    if judgement.is_claim {
        return QuestionKind::Claim;
    }
    QuestionKind::Wh(match judgement.asked {
        Asked::Who => AnswerType::Person,
        Asked::When => AnswerType::Time,
        Asked::Number => AnswerType::Number,
        Asked::Where => AnswerType::Place,
        Asked::Why => AnswerType::Reason,
        Asked::How => AnswerType::Manner,
        Asked::What | Asked::WhatNoun | Asked::Claim => AnswerType::Thing,
        Asked::YesNo => return QuestionKind::YesNo,
    })
}

/// The parts of a compound question against the whole of it: it is not more than its weaker half.
fn combine(check: &mut Check, parts: &[(String, Judgement)]) {
    if parts.is_empty() {
        return;
    }
    let labels = || parts.iter().map(|(_, part)| part.label);
    let is_carried = |label: Label| matches!(label, Label::Supported | Label::PartiallySupported);
    let is_whole = check.label == Label::Supported;
    if labels().all(|label| label == Label::Supported) {
        check.label = Label::Supported;
    } else if labels().any(|label| label == Label::Contradicted) && !is_whole {
        check.label = Label::Contradicted;
    } else if labels().all(is_carried) && is_whole {
        return;
    } else if labels().any(is_carried) || is_whole {
        check.label = Label::PartiallySupported;
    }
    let least = parts
        .iter()
        .map(|(_, part)| part.support)
        .fold(1.0, f64::min);
    check.support_score = check
        .support_score
        .min(least.max(0.5 * check.support_score));
}

/// Adds findings of units that are not there yet; gives the units of all.
fn add(
    check: &mut Check,
    page: &Page<'_>,
    judgement: &Judgement,
    room: usize,
    mut units: Vec<usize>,
) -> Vec<usize> {
    let full = (units.len() + room).min(FINDINGS_MAX);
    for (at, ranked) in judgement.ranked.iter().enumerate() {
        let f = &ranked.candidate.features;
        let unit = ranked.candidate.unit;
        if units.len() >= full {
            break;
        }
        if f.cov_w <= 0.0 || units.contains(&unit) {
            continue;
        }
        check
            .findings
            .push(finding(page, judgement, at, check.label));
        units.push(unit);
    }
    units
}

fn finding(page: &Page<'_>, judgement: &Judgement, at: usize, label: Label) -> Finding {
    let ranked = &judgement.ranked[at];
    let unit = ranked.candidate.unit;
    let block = page.block(unit);
    let headings = page.headings_over(unit).into_iter();
    let (mut matched, mut missing) = (Vec::new(), Vec::new());
    for (number, (written, _)) in judgement.terms.iter().enumerate() {
        let list = if ranked.candidate.has(number) {
            &mut matched
        } else {
            &mut missing
        };
        list.push(written.clone());
    }
    Finding {
        range: page.units[unit].range.clone(),
        kind: block.kind,
        heading_path: headings.map(Cow::into_owned).collect(),
        context: page
            .context_unit(block)
            .map(|unit| page.units[unit].range.clone()),
        before: page.unit_before(unit),
        after: page.unit_after(unit),
        matching: matching(judgement, ranked),
        matched,
        missing,
        stance: stance(page, judgement, at, label),
        score: rounded(
            judgement.support * (ranked.score - judgement.ranked[0].score).min(0.0).exp(),
        ),
    }
}

/// Whether it carries as much of what was claimed as the best one does, or something that the best one lacks.
fn tells_as_much(judgement: &Judgement, ranked: &Ranked, best: &Ranked) -> bool {
    let terms = judgement.terms.iter().enumerate();
    let telling = terms.filter(|(_, (_, tells))| *tells);
    let (mut lost, mut added) = (0, 0);
    for (term, _) in telling {
        let has = |ranked: &Ranked| ranked.candidate.has(term);
        match (has(best), has(ranked)) {
            (true, false) => lost += 1,
            (false, true) => added += 1,
            _ => {}
        }
    }
    added > 0 || lost == 0
}

fn matching(judgement: &Judgement, ranked: &Ranked) -> Match {
    let f = &ranked.candidate.features;
    let asks_number = matches!(judgement.asked, Asked::Number | Asked::When);
    if f.cov_r >= 0.85 && f.lcs_r >= 0.6 && !ranked.doubts.is_hard() {
        Match::Exact
    } else if f.cov_t >= 0.5
        && ((f.nnum > 0.0 && f.numcov >= 1.0) || (asks_number && f.hasans > 0.0))
    {
        Match::Numeric
    } else if f.cov_t >= 0.6 {
        Match::Paraphrase
    } else {
        Match::Partial
    }
}

/// Whether a unit states something: headings, headers of tables and questions do not.
fn states(page: &Page<'_>, unit: usize) -> bool {
    page.block(unit).kind != PassageKind::Heading
        && !page.is_header(unit)
        && !page.unit_text(unit).trim_end().ends_with(['?', '？'])
}

/// Whether a denial is more than the entailment model's doubt: the model is sure, or words or values differ. Where all values
/// of the claim are the same, a denial needs a word for it.
fn denies_for_a_reason(judgement: &Judgement, ranked: &Ranked) -> bool {
    let doubts = &ranked.doubts;
    let compared = &judgement.account.compared;
    let agree = !compared.is_empty() && compared.iter().all(|one| one.relation == Relation::Same);
    let differs = judgement.account.signals.q_differs > 0.0 || doubts.number || doubts.ordinal;
    let is_sure = ranked.surely_denies();
    doubts.antonym || doubts.negation || doubts.direction || !agree && (differs || is_sure)
}

fn stance(page: &Page<'_>, judgement: &Judgement, at: usize, label: Label) -> Stance {
    let ranked = &judgement.ranked[at];
    let denies = ranked.denies()
        && states(page, ranked.candidate.unit)
        && (label != Label::Weak || denies_for_a_reason(judgement, ranked));
    let f = &ranked.candidate.features;
    let is_claim = judgement.is_claim || judgement.asked == Asked::YesNo;
    match label {
        Label::Contradicted if at == 0 => return Stance::Contradicts,
        Label::Supported | Label::PartiallySupported if at == 0 => return Stance::Supports,
        _ if is_claim && denies && f.cov_r >= 0.5 => return Stance::Contradicts,
        _ => {}
    }
    let best = &judgement.ranked[0];
    let carries = match is_claim {
        // What only its headings say, every row under them would say.
        true => {
            let says_it_itself = at == 0 || f.cov_r >= 0.5;
            f.cov_t >= 0.6 && says_it_itself && tells_as_much(judgement, ranked, best)
        }
        // Another row of the same table is about something else.
        false => {
            ranked.score >= best.score - 1.0 && (best.doubts.is_soft() || !ranked.doubts.is_soft())
        }
    };
    match label {
        Label::Supported | Label::PartiallySupported if carries => Stance::Supports,
        _ => Stance::Mentions,
    }
}

/// What none of the findings carries. A number is carried by its value, and the noun that is asked for by the answer.
fn missing(check: &Check, judgement: &Judgement, units: &[usize]) -> Vec<String> {
    let cited = || {
        let all = judgement.ranked.iter().map(|ranked| &ranked.candidate);
        all.filter(|candidate| units.contains(&candidate.unit))
    };
    let asks = match judgement.asked {
        Asked::When => Some(Asks::Time),
        Asked::Number => Some(Asks::Number),
        _ => None,
    };
    let is_asked_for = |written: &str| {
        let stem = known().stem(&written.to_lowercase());
        check.answer.is_some() && asks.is_some() && known().asks(&stem) == asks
    };
    let agrees = |one: &&Comparison| {
        one.finding.is_some() && matches!(one.relation, Relation::Same | Relation::Within)
    };
    let is_of_number = |written: &str| {
        let mut agreeing = check.comparisons.iter().filter(agrees);
        agreeing.any(|one| {
            let mut words = one.asked.split(|c: char| !c.is_alphanumeric());
            words.any(|word| word.eq_ignore_ascii_case(written))
        })
    };
    let compared = &check.comparisons;
    let all_agree = !compared.is_empty() && compared.iter().all(|one| agrees(&one));
    // "No passage mentions “doesn't”" tells a reader nothing.
    let is_small = |written: &str| {
        let low = written.to_lowercase();
        is_negation(&low)
            || matches!(
                &*low,
                "still" | "longer" | "yet" | "already" | "also" | "ever" | "even"
            )
            // "At most 2,000" beside "up to 2,000".
            || matches!(&*low, "maximum" | "minimum" | "max" | "min") && all_agree
            // Two letters of Japanese with the ending of one word are no word.
            || low.chars().any(|c| matches!(c, '\u{3041}'..='\u{309f}'))
    };
    // What is supported is said in other words, unless these words are a name or a number.
    let is_in_other_words = |written: &str| {
        let is_value = written.contains(|c: char| c.is_uppercase() || c.is_ascii_digit());
        check.label == Label::Supported && !is_value
    };
    let is_carried = |term: usize| cited().any(|candidate| candidate.has(term));
    let terms = judgement.terms.iter().enumerate();
    terms
        .filter(|(number, (written, tells))| {
            *tells
                && !is_small(written)
                && !is_in_other_words(written)
                && !is_carried(*number)
                && !is_asked_for(written)
                && !is_of_number(written)
        })
        .map(|(_, (written, _))| written.clone())
        .collect()
}

fn confidence(check: &Check, denial: f64) -> f64 {
    let is_verbatim = check
        .findings
        .first()
        .is_some_and(|best| best.matching == Match::Exact);
    let most = if is_verbatim {
        CONFIDENCE_VERBATIM_MAX
    } else {
        CONFIDENCE_MAX
    };
    match check.label {
        Label::Supported | Label::PartiallySupported => check.support_score,
        Label::Weak | Label::Unsupported => 1.0 - check.support_score,
        Label::Contradicted => denial.max(0.5),
    }
    .min(most)
}

/// The quantities of the question beside those of the units that are findings.
fn comparisons(page: &Page<'_>, whole: &Judgement, units: &[usize]) -> Vec<Comparison> {
    let account = &whole.account;
    // A question for something claims no other quantity than the ones that the page has.
    let is_claim = whole.is_claim || whole.asked == Asked::YesNo;
    let agrees = |one: &&Compared| matches!(one.relation, Relation::Same | Relation::Within);
    let compared = account
        .compared
        .iter()
        .filter(|one| is_claim || agrees(one));
    let compared = compared.map(|one| {
        let found = one.found.as_ref();
        let unit = found.map(|(at, _)| account.units[*at]);
        let range = found.zip(unit).map(|((_, quantity), unit)| {
            let start = page.units[unit].range.start;
            start + quantity.range.start..start + quantity.range.end
        });
        Comparison {
            asked: one.written.clone(),
            found: range,
            relation: one.relation,
            order: one.order(),
            finding: unit.and_then(|unit| units.iter().position(|other| *other == unit)),
        }
    });
    compared.collect()
}

/// The date or amount of the best finding that a question asks for.
fn answer(page: &Page<'_>, question: &str, whole: &Judgement) -> Option<Range<usize>> {
    if whole.is_claim || !matches!(whole.label, Label::Supported | Label::PartiallySupported) {
        return None;
    }
    let unit = whole.ranked.first()?.candidate.unit;
    let asked = Question::new(question, false, page.language);
    let text = page.unit_text(unit);
    let one = match asked_cell(page, question, unit) {
        Some(cell) => {
            let found = asked_value(&asked, question, text);
            let is_here = |one: &Range<usize>| cell.start <= one.start && one.end <= cell.end;
            found.filter(is_here).or_else(|| {
                let own = asked_value(&asked, question, &text[cell.clone()])?;
                Some(cell.start + own.start..cell.start + own.end)
            })?
        }
        None => asked_value(&asked, question, text)?,
    };
    let start = page.units[unit].range.start;
    Some(start + one.start..start + one.end)
}

/// The cell of a table's row, as bytes of it, in the one column that a question names.
fn asked_cell(page: &Page<'_>, question: &str, unit: usize) -> Option<Range<usize>> {
    if page.blocks.json.is_some() {
        return None;
    }
    let row = TableRow::of(page, unit)?;
    let [column] = row.named(&content(question))[..] else {
        return None;
    };
    let text = page.unit_text(unit);
    let cell = *cells(text).get(column)?;
    let start = cell.as_ptr().addr() - text.as_ptr().addr();
    Some(start..start + cell.len())
}

fn add_notes(
    check: &mut Check,
    page: &Page<'_>,
    (question, whole): (&str, &Judgement),
    units: &[usize],
) {
    let text = |range: &Range<usize>| &page.text[range.clone()];
    let mut notes = Vec::new();
    let mut note = |kind: NoteKind, finding: Option<usize>| notes.push(Note { kind, finding });
    for ranked in whole.ranked.iter().take(3) {
        let f = &ranked.candidate.features;
        let Some(number) = units.iter().position(|unit| *unit == ranked.candidate.unit) else {
            continue;
        };
        if f.cov_r < 0.5 {
            continue;
        }
        // What the passages have of the claim's quantities is compared more closely than by words.
        let mut compared = whole.account.compared.iter();
        let agree = !whole.account.compared.is_empty()
            && compared.all(|one| matches!(one.relation, Relation::Same | Relation::Within));
        if ranked.doubts.number && !agree {
            note(NoteKind::NumberMismatch, Some(number));
        }
        let is_for = check.findings[number].stance == Stance::Supports;
        let denies = ranked.denies() && !ranked.doubts.number && !is_for;
        let denies = denies && (check.label != Label::Weak || denies_for_a_reason(whole, ranked));
        if denies && states(page, ranked.candidate.unit) {
            note(NoteKind::PossibleContradiction, Some(number));
        }
    }
    if let Some(at) = whole.disputed_by {
        let unit = whole.ranked[at].candidate.unit;
        note(
            NoteKind::Inconsistent,
            units.iter().position(|other| *other == unit),
        );
    }
    if let Some(best) = check.findings.first() {
        // A claim of what may be is not in doubt for a "may".
        let is_alike = is_of_what_can_be(question) && says_what_may_be_done(text(&best.range));
        let is_verbatim = whole.account.signals.verbatim > 0.0;
        if is_hedged(text(&best.range), &whole.terms) && !is_alike && !is_verbatim {
            note(NoteKind::Hedged, Some(0));
        }
        if is_conditional(text(&best.range)) {
            note(NoteKind::Conditional, Some(0));
        }
    }
    if page.language != Language::English {
        note(NoteKind::WeakLanguage, None);
    }
    if page.is_cut {
        note(NoteKind::Truncated, None);
    }
    if !page.instructions.is_empty() {
        note(NoteKind::AgentInstructions, None);
    }
    check.notes = notes;
}
