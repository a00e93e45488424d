//! Whether what a claim cites carries it: its numbers, names and words, its negations, hedges and conditions.

use std::collections::BTreeSet;

use super::{Dropped, ModelClaim, unit};
use crate::evidence::reading::text::{content, is_negation, is_stop, number, plain, stem, words};
use crate::evidence::report::examine::Examined;
use crate::evidence::{Examiner, Label, NoteKind, Reading, Source};

/// So much of a claim's own words must stand in what it cites.
const CARRIED_MIN: f64 = 0.6;
/// So much of the question must stand in what a claim cites before it can raise a label.
const ANSWERED_MIN: f64 = 0.6;

/// What a claim cites: the units with their contexts, and what they are made of.
pub(super) struct Support {
    text: String,
    stems: BTreeSet<String>,
    numbers: BTreeSet<String>,
}

/// Signs that give a number its meaning.
const SIGNS: [char; 6] = ['$', '€', '£', '¥', '%', '₹'];

impl Support {
    pub(super) fn of(examined: &Examined<'_>, findings: &[usize]) -> Support {
        let mut text = String::new();
        for index in findings {
            let finding = &examined.check.findings[*index];
            for heading in &finding.heading_path {
                text.push_str(&format!("# {heading}\n\n"));
            }
            let context = finding.context.clone();
            let context = context.and_then(|range| examined.source.text.get(range));
            text.extend(context.iter().flat_map(|context| [*context, "\n\n"]));
            text.push_str(unit(examined, *index));
            text.push_str("\n\n");
        }
        let seen = plain(&text);
        let words = words(&seen);
        Support {
            stems: words.iter().map(|word| stem(word.text)).collect(),
            numbers: words.iter().filter_map(|word| number(word.text)).collect(),
            text,
        }
    }

    pub(super) fn carry(&self, claim: &str) -> Result<(), Dropped> {
        if SIGNS
            .iter()
            .any(|sign| claim.contains(*sign) && !self.text.contains(*sign))
        {
            return Err(Dropped::NumberAbsent);
        }
        let (mut own, mut carried) = (0, 0);
        for word in words(claim) {
            let lower = word.text.to_lowercase();
            if let Some(number) = number(word.text) {
                if !self.numbers.contains(&number) {
                    return Err(Dropped::NumberAbsent);
                }
                own += 1;
                carried += 1;
                continue;
            }
            if is_stop(&lower) || is_negation(&lower) {
                continue;
            }
            own += 1;
            let is_carried = self.stems.contains(&stem(word.text));
            if !is_carried && is_name(word.text) {
                return Err(Dropped::NameAbsent);
            }
            carried += usize::from(is_carried);
        }
        match own > 0 && share(carried, own) >= CARRIED_MIN {
            true => Ok(()),
            false => Err(Dropped::NotCarried),
        }
    }
}

/// Written with a capital or with digits. The first word of a sentence is taken for one too: a claim that begins with
/// something that nobody wrote is no loss.
fn is_name(word: &str) -> bool {
    word.chars().any(|c| c.is_uppercase() || c.is_ascii_digit())
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of the words of a sentence"
)]
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

const HEDGES: [&str; 20] = [
    "may",
    "might",
    "could",
    "possibly",
    "perhaps",
    "maybe",
    "allegedly",
    "reportedly",
    "apparently",
    "likely",
    "expected",
    "expects",
    "plans",
    "planned",
    "intends",
    "aims",
    "suggests",
    "rumored",
    "rumoured",
    "probably",
];

const CONDITIONS: [&str; 7] = [
    "if",
    "unless",
    "only",
    "except",
    "provided",
    "until",
    "excluding",
];

/// What turns a sentence round, weakens it or binds it must be in both or in neither.
pub(super) fn keeps_its_turns(claim: &str, unit: &str) -> Result<(), Dropped> {
    let (claim, unit) = (claim.to_lowercase(), plain(unit).to_lowercase());
    let (claim, unit) = (words(&claim), words(&unit));
    let says = |text: &[crate::evidence::reading::text::Word<'_>], listed: &[&str]| {
        text.iter().any(|word| listed.contains(&word.text))
    };
    let negates = |text: &[crate::evidence::reading::text::Word<'_>]| {
        text.iter().filter(|word| is_negation(word.text)).count() % 2 == 1
    };
    if negates(&claim) != negates(&unit) {
        return Err(Dropped::NegationDiffers);
    }
    if says(&unit, &HEDGES) && !says(&claim, &HEDGES) {
        return Err(Dropped::HedgeLost);
    }
    if says(&unit, &CONDITIONS) && !says(&claim, &CONDITIONS) {
        return Err(Dropped::ConditionLost);
    }
    Ok(())
}

pub(super) fn touches(question: &str, claim: &str) -> bool {
    let asked = content(question);
    asked.is_empty() || content(claim).iter().any(|word| asked.contains(word))
}

/// The engine's own view of the claim against what it cites: how sure it is, or its veto.
pub(super) fn vetted(support: &Support, claim: &str) -> Result<f64, Dropped> {
    let check = Examiner::new(&Source::of_text(&support.text)).check(claim, Reading::Guess);
    let vetoes = |kind| {
        matches!(
            kind,
            NoteKind::NumberMismatch | NoteKind::PossibleContradiction
        )
    };
    if check.label == Label::Contradicted || check.notes.iter().any(|note| vetoes(note.kind)) {
        return Err(Dropped::Vetoed);
    }
    match check.label {
        Label::Unsupported => Err(Dropped::NotCarried),
        _ => Ok(check.support_score),
    }
}

/// Whether what a claim cites holds the numbers and names of the question and most of its words.
pub(super) fn answers(examined: &Examined<'_>, claim: &ModelClaim) -> bool {
    let support = Support::of(examined, &claim.findings);
    let asked = words(examined.question);
    let is_given = |word: &str| {
        let number = number(word);
        number.map_or_else(
            || support.stems.contains(&stem(word)),
            |number| support.numbers.contains(&number),
        )
    };
    let own: Vec<_> = asked
        .iter()
        .filter(|word| !is_stop(&word.text.to_lowercase()))
        .collect();
    let given = own.iter().filter(|word| is_given(word.text)).count();
    let is_key = |word: &str| number(word).is_some() || is_name(word);
    let keys = own.iter().filter(|word| !word.begins && is_key(word.text));
    !own.is_empty()
        && share(given, own.len()) >= ANSWERED_MIN
        && keys.into_iter().all(|word| is_given(word.text))
}
