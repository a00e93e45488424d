//! Which column of a row is asked for, and whether what is claimed stands in another one.

use std::collections::BTreeSet;

use super::{TableRow, sign};
use crate::evidence::engine::account::quantities::{Quantity, quantities};
use crate::evidence::engine::account::spans::span_around;
use crate::evidence::reading::text::{content, lower_words, negates, number, plain, stem, words};

impl TableRow<'_> {
    /// A number or name of what is asked stands in this row, and not in the column that is asked for.
    pub(super) fn is_another_column(&self, question: &str, asked: &BTreeSet<String>) -> bool {
        let named = self.named_in_words_or_spans(question, asked);
        let telling = self.telling();
        let labels: BTreeSet<String> = (self.header.iter())
            .chain(self.cells.first())
            .flat_map(|name| content(&plain(name)))
            .collect();
        let cells: Vec<BTreeSet<String>> = self
            .cells
            .iter()
            .map(|cell| content(&plain(cell)))
            .collect();
        // A unit stands in every cell.
        let is_of_all = |value: &String| cells[1..].iter().all(|cell| cell.contains(value));
        let mut values = values_of(question);
        // A sign says yes to what only words say in other columns.
        let says_yes = |column: &usize| {
            let cell = self.cells.get(*column);
            cell.is_none_or(|cell| cell.is_empty() || sign(cell) == Some(true))
        };
        if !negates(question) && !named.iter().any(says_yes) {
            values.extend(content(question));
        }
        values.retain(|value| !labels.contains(value) && !is_of_all(value));
        let has = |column: usize| {
            let cell = cells.get(column);
            cell.is_some_and(|cell| values.iter().any(|value| cell.contains(value)))
        };
        // "Amber glasses" are named, "clear glasses" are not.
        let of_named = |word: &&String| named.iter().any(|at| telling[*at].contains(*word));
        let is_unnamed = |column: usize| {
            let own = telling.get(column);
            let mut own = own.into_iter().flatten().filter(|word| !of_named(word));
            !named.contains(&column) && !own.any(|word| asked.contains(word))
        };
        !named.is_empty()
            && !named.iter().any(|column| has(*column))
            && (1..self.cells.len()).any(|column| is_unnamed(column) && has(column))
    }

    /// The cell that is asked for has "only" with one of two words that are claimed together: "reading and writing" beside
    /// "Read only".
    pub(super) fn is_beyond_only(&self, question: &str, asked: &BTreeSet<String>) -> bool {
        let [column] = self.named(asked)[..] else {
            return false;
        };
        let cell = plain(self.cells.get(column).map_or("", |cell| &**cell));
        let is_only = |text: &str| lower_words(text).iter().any(|word| word == "only");
        let own = content(&cell);
        let said = lower_words(question);
        let joined = said
            .windows(3)
            .filter(|words| matches!(&*words[1], "and" | "or"));
        let mut joined = joined.map(|words| (stem(&words[0]), stem(&words[2])));
        is_only(&cell)
            && !is_only(question)
            && !negates(question)
            && joined.any(|(one, other)| own.contains(&one) != own.contains(&other))
    }

    /// The columns that a question names, in words or by a month or number in a span: "in November" beside "October – March".
    fn named_in_words_or_spans(&self, question: &str, asked: &BTreeSet<String>) -> Vec<usize> {
        let named = self.named(asked);
        if !named.is_empty() || self.header.len() < 3 {
            return named;
        }
        let claimed = quantities(question);
        let has_one = |name: &str| {
            let found = quantities(name);
            claimed.iter().any(|one| {
                span_around(one, &found, name).is_some()
                    || found.iter().any(|range| is_in_range(one, range))
            })
        };
        (1..self.header.len())
            .filter(|at| has_one(&plain(&self.header[*at])))
            .collect()
    }
}

/// Whether a number lies between the ends of a range of its kind.
fn is_in_range(one: &Quantity, range: &Quantity) -> bool {
    one.is_like(range)
        && one.low == one.high
        && range.low < range.high
        && range.high.is_finite()
        && range.low.is_finite()
        && range.low <= one.low
        && one.high <= range.high
}

/// Numbers, and words with a capital that do not begin the text.
fn values_of(question: &str) -> Vec<String> {
    let words = words(question);
    let values = words.iter().enumerate().filter_map(|(at, word)| {
        let is_name = at > 0 && word.text.starts_with(char::is_uppercase);
        number(word.text).or_else(|| is_name.then(|| stem(word.text)))
    });
    values.collect()
}

#[cfg(test)]
mod tests {
    use crate::evidence::engine::tabled::tests::is_of_another;

    #[test]
    fn words_and_spans_are_of_their_columns() {
        let check = |table: &str, row, question: &str, expected| {
            assert_eq!(is_of_another(table, row, question), expected, "{question}");
        };
        let plans = "| | Free | Team | Business |\n|---|---|---|---|\n| Backups | – | Weekly | Daily |\n\
            | Support | Forum | Email | Phone |\n| API access | Read only | ✓ | ✓ |";
        check(plans, 0, "The Team plan has daily backups.", true);
        check(plans, 0, "The Team plan has weekly backups.", false);
        check(plans, 0, "The Team plan has no daily backups.", false);
        check(plans, 1, "Free users get support by email.", true);
        check(plans, 1, "Business customers get phone support.", false);
        check(plans, 1, "Some customers get support by phone.", false);
        check(
            plans,
            2,
            "The Free plan has API access for reading and writing.",
            true,
        );
        check(
            plans,
            2,
            "The Free plan has API access for reading only.",
            false,
        );
        check(
            plans,
            2,
            "The Team plan has API access for reading and writing.",
            false,
        );
        let trial = "| Outcome | Amber glasses | Clear glasses | p |\n|---|---|---|---|\n| Sleep | 402 | 385 | 0.03 |";
        check(trial, 0, "Sleep was 385 minutes with amber glasses.", true);
        check(trial, 0, "Sleep was 402 minutes with amber glasses.", false);
        let hours = "| Day | April – September | October – March |\n|---|---|---|\n| Friday | 10 am – 9 pm | 10 am – 8 pm |";
        check(
            hours,
            0,
            "On Fridays in November it is open until 9 pm.",
            true,
        );
        check(
            hours,
            0,
            "On Fridays in November it is open until 8 pm.",
            false,
        );
        check(hours, 0, "On Fridays in July it closes at 8 pm.", true);
        check(hours, 0, "On Fridays in July it closes at 9 pm.", false);
        check(hours, 0, "On Fridays it closes at 9 pm.", false);
        let rates = "| | 1–9 users | 10–49 users |\n|---|---|---|\n| Price | £6 | £5 |";
        check(rates, 0, "The price for 12 users is £6.", true);
        check(rates, 0, "The price for 12 users is £5.", false);
    }
}
