//! Whether a passage speaks of something else than what is asked: it stands under another heading or day, in another row or
//! column, or tells of what is no more, is only planned, is excepted, or is less often.

mod another_time;
mod headed;
mod limited;
mod tense;

pub(crate) use limited::follows_from_exception;

use super::tabled::TableRow;
use crate::evidence::reading::page::Page;
use crate::evidence::reading::text::content;

/// Whether a unit, whose statement is `own`, speaks of something else than what is asked. `as_claim`: what is asked is a claim,
/// or a question for yes or no.
pub(crate) fn is_elsewhere(
    page: &Page<'_>,
    question: &str,
    (unit, own): (usize, &str),
    as_claim: bool,
) -> bool {
    headed::is_of_another(page, question, unit)
        || headed::is_of_another_day(page, question, unit)
        || is_in_another_cell(page, question, unit, as_claim)
        || limited::is_less_often(question, own)
        || is_of_another_time(question, own)
        || as_claim
            && (limited::is_excepted(question, own)
                || limited::is_narrowed(question, own)
                || limited::is_sold_apart(question, own)
                || is_priced_there(page, question, unit)
                || limited::is_unlike(question, own))
}

/// Whether a claim says to be free what has a price in the very cell that is asked for.
fn is_priced_there(page: &Page<'_>, question: &str, unit: usize) -> bool {
    let cell = TableRow::of(page, unit).and_then(|row| {
        let [column] = row.named(&content(question))[..] else {
            return None;
        };
        row.cells.get(column).map(|cell| cell.clone().into_owned())
    });
    cell.is_some_and(|cell| limited::is_priced(question, &cell))
}

/// Whether a statement carries at most a part of a claim: it tells of another time by its verbs, of all only under a condition,
/// or of a price.
pub(crate) fn says_less(claim: &str, own: &str) -> bool {
    tense::is_only_of_the_past(claim, own)
        || tense::is_yet_to_be(claim, own)
        || limited::is_under_a_condition(claim, own)
        || limited::is_without_its_condition(claim, own)
        || limited::is_of_some(claim, own)
        || limited::is_priced(claim, own)
}

/// Whether what is asked is of now, and a statement of what was, or is only planned.
pub(crate) fn is_of_another_time(question: &str, own: &str) -> bool {
    another_time::is_of_the_past(question, own) || another_time::is_of_the_future(question, own)
}

/// Whether a unit is a row of a table, and what is asked is of another row or column of it.
pub(crate) fn is_in_another_cell(
    page: &Page<'_>,
    question: &str,
    unit: usize,
    as_claim: bool,
) -> bool {
    TableRow::of(page, unit).is_some_and(|row| row.is_of_another(question, as_claim))
}
