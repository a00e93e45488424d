//! The answer to an open question, "what does this source establish?": the sentences that say most of what the page is
//! about. Such an answer is never more than partial, since nothing was claimed.

use std::collections::HashMap;

use crate::markdown::PassageKind;

use crate::evidence::reading::language::Language;
use crate::evidence::reading::page::Page;
use crate::evidence::reading::words::does;
use crate::evidence::{
    Check, Claim, Depth, Finding, Label, Match, Note, NoteKind, QuestionKind, Stance, Stats,
};

const KEY_FINDINGS: usize = 5;
/// Shorter sentences say little by themselves.
const CONTENT_MIN: usize = 4;

/// Whether a question names nothing of its own.
pub(crate) fn is_open(question: &str) -> bool {
    const GENERIC: &[&str] = &[
        "a",
        "about",
        "and",
        "are",
        "article",
        "can",
        "claim",
        "claims",
        "content",
        "describe",
        "describes",
        "do",
        "document",
        "does",
        "establish",
        "establishes",
        "evidence",
        "explain",
        "facts",
        "fact",
        "find",
        "findings",
        "from",
        "give",
        "here",
        "i",
        "in",
        "is",
        "it",
        "key",
        "learn",
        "list",
        "main",
        "me",
        "of",
        "on",
        "page",
        "please",
        "point",
        "points",
        "provide",
        "say",
        "says",
        "short",
        "show",
        "site",
        "source",
        "state",
        "states",
        "summarise",
        "summarize",
        "summary",
        "support",
        "supports",
        "takeaways",
        "tell",
        "text",
        "that",
        "the",
        "this",
        "to",
        "topic",
        "us",
        "url",
        "web",
        "webpage",
        "website",
        "what",
        "what's",
        "which",
    ];
    let mut words = question
        .split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’')
        .filter(|word| !word.is_empty())
        .map(|word| word.to_lowercase().replace('’', "'"))
        .peekable();
    words.peek().is_some() && words.all(|word| GENERIC.contains(&word.as_str()))
}

pub(crate) fn check(page: &Page<'_>, question: &str) -> Check {
    let counts = counts(page);
    let mut scored: Vec<(usize, f64)> = (0..page.units.len())
        .filter_map(|unit| Some((unit, score(page, unit, &counts)?)))
        .collect();
    scored.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    scored.truncate(KEY_FINDINGS);
    let best = scored.first().map_or(1.0, |(_, score)| *score);
    let findings: Vec<Finding> = scored
        .iter()
        .map(|(unit, score)| finding(page, *unit, score / best))
        .collect();
    let label = match findings.len() {
        0 => Label::Unsupported,
        1 => Label::Weak,
        _ => Label::PartiallySupported,
    };
    let support = if label == Label::PartiallySupported {
        0.5
    } else {
        0.1
    };
    let note = |kind| Note {
        kind,
        finding: None,
    };
    let mut notes = Vec::new();
    if page.language != Language::English {
        notes.push(note(NoteKind::WeakLanguage));
    }
    if page.is_cut {
        notes.push(note(NoteKind::Truncated));
    }
    if !page.instructions.is_empty() {
        notes.push(note(NoteKind::AgentInstructions));
    }
    Check {
        kind: QuestionKind::Open,
        label,
        confidence: 0.6,
        support_score: support,
        claims: vec![Claim {
            text: question.trim().to_owned(),
            label,
            support_score: support,
            findings: (0..findings.len()).collect(),
        }],
        missing: Vec::new(),
        notes,
        comparisons: Vec::new(),
        answer: None,
        depth: Depth::Quick,
        stats: Stats {
            units: page.units.len(),
            touched: page.units.len(),
            candidates: scored.len(),
        },
        findings,
    }
}

/// In how many units each stem stands.
fn counts(page: &Page<'_>) -> Vec<u32> {
    let mut counts = vec![0; page.lexicon.stems.len()];
    let mut last = vec![usize::MAX; page.lexicon.stems.len()];
    for unit in 0..page.units.len() {
        for &token in page.unit_tokens(unit) {
            let form = page.lexicon.form(token);
            let stem = form.stem as usize;
            if !form.is_stop() && last[stem] != unit {
                last[stem] = unit;
                counts[stem] += 1;
            }
        }
    }
    counts
}

/// How much a unit says of what the page is about.
fn score(page: &Page<'_>, unit: usize, counts: &[u32]) -> Option<f64> {
    let kind = page.block(unit).kind;
    let is_prose = matches!(
        kind,
        PassageKind::Paragraph | PassageKind::Item | PassageKind::Quote
    );
    if !is_prose || page.units[unit].content < CONTENT_MIN || page.unit_text(unit).ends_with('?') {
        return None;
    }
    let title: Vec<u32> = page
        .title
        .iter()
        .map(|token| page.lexicon.form(*token).stem)
        .collect();
    let mut stems: HashMap<u32, f64> = HashMap::new();
    let mut facts = 0.0_f64;
    for &token in page.unit_tokens(unit) {
        let form = page.lexicon.form(token);
        if form.is_stop() {
            continue;
        }
        if form.number.is_some() || (form.is(does::CAPITAL) && page.is_name(form.stem)) {
            facts += 1.0;
        }
        let weight = f64::from(counts[form.stem as usize]).ln_1p();
        let titled = if title.contains(&form.stem) { 2.0 } else { 1.0 };
        stems.insert(form.stem, weight * titled);
    }
    let mut weights: Vec<f64> = stems.into_values().collect();
    // Summed in one order: sums of the same numbers in another one may differ.
    weights.sort_by(f64::total_cmp);
    let total: f64 = weights.iter().sum();
    let early = 1.0 + 1.0 / (1.0 + unit as f64);
    Some(total / (weights.len() as f64 + 4.0).sqrt() * (1.0 + 0.1 * facts.min(4.0)) * early)
}

fn finding(page: &Page<'_>, unit: usize, score: f64) -> Finding {
    let block = page.block(unit);
    Finding {
        range: page.units[unit].range.clone(),
        kind: block.kind,
        heading_path: page
            .heading_units(block)
            .map(|unit| page.unit_text(unit).to_owned())
            .collect(),
        context: page
            .context_unit(block)
            .map(|unit| page.units[unit].range.clone()),
        before: page.unit_before(unit),
        after: page.unit_after(unit),
        matching: Match::Partial,
        matched: Vec::new(),
        missing: Vec::new(),
        stance: Stance::Mentions,
        score: (score * 1e6).round() / 1e6,
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::engine::open_question::*;

    #[test]
    fn open_questions_name_nothing() {
        assert!(is_open("What does this source establish?"));
        assert!(is_open("Summarise this page"));
        assert!(!is_open("What does this page say about refunds?"));
        assert!(!is_open(""));
    }
}
