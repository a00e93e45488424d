//! A yes or no that the page gives in so many words: under the same question, as an FAQ does, or as the value of what is
//! asked about, as a table of features does ("Hot swappable: No").

use std::borrow::Cow;

use super::passage::without_number;
use super::question::{Asked, Question};
use super::ranked::Ranked;
use super::reservations::is_conditional;
use super::tabled::{TableRow, sign};
use crate::evidence::reading::page::Page;
use crate::evidence::reading::text::{
    cells, content, is_negation, is_stop, lower_words, number, plain, plain_unit, stem,
};
use crate::evidence::reading::words::does;
use crate::markdown::PassageKind;

const YES: [&str; 14] = [
    "yes", "true", "ja", "oui", "sí", "si", "sì", "sim", "tak", "kyllä", "ano", "evet", "да", "jo",
];
const NO: [&str; 13] = [
    "no", "false", "nein", "non", "não", "nee", "nej", "nei", "nie", "ei", "ne", "hayır", "нет",
];
/// Found units that are looked at.
const LOOKED_AT: usize = 8;
const LABEL_BYTES_MAX: usize = 60;
/// What is said of a feature in a table, beside its name and that of the column.
const OF_FEATURES: &str = "plan tier edition version model package include included contain come offer support available feature \
                           provide part";

/// Which of the units that were found says yes or no to a claim or to a question for either, and what it says.
pub(crate) fn plain_answer(
    page: &Page<'_>,
    question: &str,
    ranked: &[Ranked],
) -> Option<(usize, bool)> {
    let mut found = ranked.iter().take(LOOKED_AT).enumerate();
    found.find_map(|(at, ranked)| {
        let unit = ranked.candidate.unit;
        let said = beneath_the_question(page, question, unit)
            .or_else(|| as_a_value(page, question, unit))?;
        Some((at, said))
    })
}

/// The rank of a line "Label: value" whose label is all that a question asks for, beside the names of what the page is about:
/// "General chair: Ada King" for "Who is the general chair of the workshop?" A question for somebody needs a name there, one
/// for a time or a number a figure.
pub(crate) fn labelled_answer(
    page: &Page<'_>,
    question: &str,
    asked: Asked,
    ranked: &[Ranked],
) -> Option<usize> {
    let wanted = content(question);
    let mut found = ranked.iter().take(LOOKED_AT);
    found.position(|ranked| {
        let unit = ranked.candidate.unit;
        if matches!(
            page.block(unit).kind,
            PassageKind::Heading | PassageKind::Row
        ) {
            return false;
        }
        let text = plain_unit(page.unit_text(unit));
        let Some((label, value)) = text.split_once(':') else {
            return false;
        };
        let own = content(label);
        let mut above = content(page.title_text.unwrap_or_default());
        for heading in page.headings_over(unit) {
            above.append(&mut content(&plain(&heading)));
        }
        let fits = match asked {
            Asked::Who => value
                .split_whitespace()
                .any(|word| word.starts_with(char::is_uppercase)),
            Asked::When | Asked::Number => value.contains(|c: char| c.is_ascii_digit()),
            Asked::What | Asked::Where => !value.trim().is_empty(),
            _ => false,
        };
        fits && label.len() <= LABEL_BYTES_MAX
            && !own.is_empty()
            && own.is_subset(&wanted)
            && wanted
                .iter()
                .all(|word| own.contains(word) || above.contains(word))
    })
}

/// What the first words under the same question say.
fn beneath_the_question(page: &Page<'_>, question: &str, unit: usize) -> Option<bool> {
    let (asked, said) = answered_question(page, unit)?;
    let asked = without_number(&asked);
    let is_same =
        in_order(question) == in_order(asked) && negates(page, question) == negates(page, asked);
    said.filter(|_| is_same)
}

/// Whether a unit says no to a question that holds most of a claim, or yes to one that the claim denies: "You must go into
/// single-user mode." beside "Must I go into single-user mode to upgrade? No."
pub(crate) fn is_answered_otherwise(page: &Page<'_>, claim: &str, unit: usize) -> bool {
    let Some((asked, Some(said))) = answered_question(page, unit) else {
        return false;
    };
    let (own, asked_for) = (content(claim), content(&asked));
    let shared = own.intersection(&asked_for).count();
    let is_about_it = shared * 3 >= own.len() * 2 && shared > 0;
    is_about_it && said == (negates(page, claim) != negates(page, &asked))
}

/// The question that a unit stands under, and the yes or no that it begins with.
fn answered_question(page: &Page<'_>, unit: usize) -> Option<(String, Option<bool>)> {
    let asked = plain(page.unit_text(unit.checked_sub(1)?));
    let is_heading = page.block(unit - 1).kind == PassageKind::Heading;
    let is_question = asked.trim_end().ends_with(['?', '？']);
    if !(is_question || is_heading) || page.block(unit).kind == PassageKind::Heading {
        return None;
    }
    let next = page.unit_after(unit).map(|range| plain(&page.text[range]));
    let answer = plain(page.unit_text(unit));
    let said = said_at_first(&answer, next.as_deref().unwrap_or_default());
    Some((asked, said))
}

/// The content words of a text, in order.
fn in_order(text: &str) -> Vec<String> {
    let words = lower_words(text);
    let own = words.iter().filter(|word| !is_stop(word));
    own.map(|word| number(word).unwrap_or_else(|| stem(word)))
        .collect()
}

/// Whether an answer says yes or no before anything else, and neither it nor the next sentence limits a yes.
fn said_at_first(answer: &str, next: &str) -> Option<bool> {
    const LIMITS: [&str; 7] = [
        "but", "only", "however", "until", "when", "whenever", "although",
    ];
    const NOES: [&str; 8] = [
        "no longer",
        "not yet",
        "not anymore",
        "not any more",
        "not at the moment",
        "unfortunately not",
        "unfortunately no",
        "sadly not",
    ];
    let words = lower_words(answer);
    let begins = words.iter().take(4).cloned().collect::<Vec<_>>().join(" ");
    if NOES
        .iter()
        .any(|no| format!("{begins} ").starts_with(&format!("{no} ")))
    {
        return Some(false);
    }
    let first = words.first()?;
    let rest = answer.trim_start().get(first.len()..)?.trim_start();
    let is_apart = rest.is_empty() || rest.starts_with([',', '.', ';', ':', '!', '–', '—']);
    let said = yes_or_no(first).filter(|_| is_apart)?;
    let both = [words, lower_words(next)].concat();
    let limits = |word: &String| LIMITS.contains(&word.as_str());
    let is_limited = is_conditional(answer) || said && both.iter().any(limits);
    (!is_limited).then_some(said)
}

/// What "Label: Yes" says of what has the label: the label and the headings above it hold all of the question.
fn as_a_value(page: &Page<'_>, question: &str, unit: usize) -> Option<bool> {
    let text = page.unit_text(unit);
    let mut above = content(page.title_text.unwrap_or_default());
    let row = TableRow::of(page, unit);
    let (label, value) = match page.block(unit).kind {
        PassageKind::Heading => return None,
        kind if kind == PassageKind::Row || row.is_some() => {
            let (cells, column) = match &row {
                Some(row) if row.cells.len() > 2 => {
                    let [column] = row.named(&content(question))[..] else {
                        return None;
                    };
                    above.append(&mut content(&plain(row.header.get(column)?)));
                    above.append(&mut content(OF_FEATURES));
                    (row.cells.clone(), column)
                }
                Some(row) => (row.cells.clone(), 1),
                None => (cells(text).into_iter().map(Cow::Borrowed).collect(), 1),
            };
            let [label, ..] = &cells[..] else { return None };
            let value = &**cells
                .get(column)
                .filter(|_| row.is_some() || cells.len() == 2)?;
            let said = sign(value).filter(|_| row.is_some_and(|row| row.has_signs()));
            let value = match said {
                Some(true) => "yes".to_owned(),
                Some(false) => "no".to_owned(),
                None => plain(value),
            };
            (plain(label), value)
        }
        _ => {
            let text = plain_unit(text);
            let (label, value) = text.split_once(':')?;
            (label.to_owned(), value.to_owned())
        }
    };
    let said = yes_or_no(value.trim().trim_end_matches('.'))?;
    let label = label.trim();
    if label.len() > LABEL_BYTES_MAX || negates(page, label) {
        return None;
    }
    let (own, asked) = (content(label), content(question));
    for heading in page.headings_over(unit) {
        above.append(&mut content(&plain(&heading)));
    }
    let is_all = !own.is_empty()
        && own.iter().all(|word| asked.contains(word))
        && asked
            .iter()
            .all(|word| own.contains(word) || above.contains(word) || is_negation(word));
    is_all.then_some(said != negates(page, question))
}

fn negates(page: &Page<'_>, text: &str) -> bool {
    Question::new(text, true, page.language).has(does::NEGATION)
}

fn yes_or_no(word: &str) -> Option<bool> {
    let lower = word.to_lowercase();
    if YES.contains(&&*lower) {
        return Some(true);
    }
    NO.contains(&&*lower).then_some(false)
}
