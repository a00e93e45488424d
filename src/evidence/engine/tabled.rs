//! What the cells of a table's row say by the names of their row and column: whether they are another's than what is asked
//! about, and what a sign says ("✓", "–").

mod columns;

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::evidence::reading::json::Row;
use crate::evidence::reading::page::{Page, Unit};
use crate::evidence::reading::text::{cells, content, negates, number, plain, words};
use crate::markdown::PassageKind;

/// Rows of one table that are looked at, and the bytes of each: a page may be one table of long rows.
const ROWS_MAX: usize = 200;
const ROW_BYTES_MAX: usize = 2_000;
/// What is longer names no row.
const NAME_BYTES_MAX: usize = 120;
const YES: [&str; 8] = ["✓", "✔", "✔️", "✅", "☑", "☑️", "●", "•"];
const NO: [&str; 10] = ["–", "—", "-", "✗", "✘", "✕", "✖", "✖️", "×", "❌"];

/// What a sign in a cell says. A dash says no where other cells say yes, else nothing.
pub(crate) fn sign(cell: &str) -> Option<bool> {
    let cell = cell.trim();
    if YES.contains(&cell) {
        return Some(true);
    }
    NO.contains(&cell).then_some(false)
}

fn cells_of(row: &str) -> Vec<Cow<'_, str>> {
    cells(row).into_iter().map(Cow::Borrowed).collect()
}

/// A row of a table with a header, or a member or short object of a JSON document.
pub(crate) struct TableRow<'a> {
    page: &'a Page<'a>,
    unit: usize,
    pub(crate) header: Vec<Cow<'a, str>>,
    pub(crate) cells: Vec<Cow<'a, str>>,
}

impl<'a> TableRow<'a> {
    pub(crate) fn of(page: &'a Page<'_>, unit: usize) -> Option<TableRow<'a>> {
        let block = page.block(unit);
        if let Some(json) = &page.blocks.json {
            let Unit {
                range, block: own, ..
            } = &page.units[unit];
            let is_whole = *range == block.range && range.len() <= ROW_BYTES_MAX;
            return is_whole.then(|| {
                let Row { header, cells } = json.row(page.text, *own);
                TableRow {
                    page,
                    unit,
                    header,
                    cells,
                }
            });
        }
        let header = page.context_unit(block)?;
        let (names, text) = (page.unit_text(header), page.unit_text(unit));
        let is_short = names.len() <= ROW_BYTES_MAX && text.len() <= ROW_BYTES_MAX;
        let is_row = block.kind == PassageKind::Row && page.is_header(header);
        (is_row && is_short).then(|| TableRow {
            page,
            unit,
            header: cells_of(names),
            cells: cells_of(text),
        })
    }

    /// The rows of the table, the own one among them.
    fn rows(&self) -> Vec<Vec<Cow<'a, str>>> {
        let (page, own) = (self.page, self.page.units[self.unit].block);
        let blocks = &page.blocks.blocks;
        let is_short = |block: &usize| blocks[*block].range.len() <= ROW_BYTES_MAX;
        if let Some(json) = &page.blocks.json {
            let rows = json.beside(own).take(ROWS_MAX).filter(is_short);
            return rows.map(|block| json.row(page.text, block).cells).collect();
        }
        let Some(header) = blocks[own].context else {
            return Vec::new();
        };
        let is_of_table = |block: &usize| {
            blocks[*block].kind == PassageKind::Row && blocks[*block].context == Some(header)
        };
        let rows = (header + 1..blocks.len()).take_while(is_of_table);
        let rows = rows.take(ROWS_MAX).filter(is_short);
        rows.map(|block| cells_of(&page.text[blocks[block].range.clone()]))
            .collect()
    }

    /// The rows, unless some of the table are left out or have other columns.
    pub(crate) fn all_rows(&self) -> Option<Vec<Vec<Cow<'a, str>>>> {
        let rows = self.rows();
        if rows.len() >= ROWS_MAX {
            return None;
        }
        if let Some(json) = &self.page.blocks.json {
            let own = self.page.units[self.unit].block;
            let mut beside = json.beside(own);
            let is_alike = |block| json.row(self.page.text, block).header == self.header;
            if !beside.all(is_alike) {
                return None;
            }
        }
        Some(rows)
    }

    /// Whether its signs are signs: one cell of the table says yes.
    pub(crate) fn has_signs(&self) -> bool {
        let mut all = self.rows().into_iter().flatten();
        all.any(|cell| sign(&cell) == Some(true) || cell.eq_ignore_ascii_case("yes"))
    }

    /// The columns behind the first whose own words, which not all columns have, are all asked for.
    pub(crate) fn named(&self, asked: &BTreeSet<String>) -> Vec<usize> {
        let telling = self.telling();
        let columns = || telling.iter().enumerate().skip(1);
        let named: Vec<usize> = columns()
            .filter(|(_, words)| !words.is_empty() && words.is_subset(asked))
            .map(|(at, _)| at)
            .collect();
        if !named.is_empty() {
            return named;
        }
        // "Kestrel 14" beside "Kestrel 14 Plus" has no word of its own.
        let is_meant = |at: usize| {
            let name = name_of(&self.header[at]);
            !name.is_empty() && name.is_subset(asked)
        };
        let plain = columns().filter(|(at, words)| words.is_empty() && is_meant(*at));
        plain.map(|(at, _)| at).collect()
    }

    /// The words of each column's name that not all columns behind the first have.
    fn telling(&self) -> Vec<BTreeSet<String>> {
        let names: Vec<BTreeSet<String>> = self.header.iter().map(|name| name_of(name)).collect();
        let is_of_all =
            |word: &String| names.len() > 2 && names[1..].iter().all(|name| name.contains(word));
        let telling = names.iter().map(|name| {
            let own = name.iter().filter(|word| !is_of_all(word));
            own.cloned().collect()
        });
        telling.collect()
    }

    /// What is asked names another row of the table and not this one, or another column than the one with what is asked.
    pub(crate) fn is_of_another(&self, question: &str, as_claim: bool) -> bool {
        let asked = named_in(question);
        // What a question for a value names is seldom that value.
        self.is_another_row(&asked)
            || as_claim && self.is_another_column(question, &asked)
            || as_claim && self.is_value_of_another_row(question, &asked)
            || as_claim && self.is_beyond_only(question, &asked)
            || self.is_denied(question, &asked)
            || !as_claim && self.has_it_as_what_is_asked(question, &asked)
    }

    /// A number of the question stands in this row as the value that is asked for, and nowhere else: "What does item 777 cost?"
    /// beside item 12, which costs 777.
    fn has_it_as_what_is_asked(&self, question: &str, asked: &BTreeSet<String>) -> bool {
        let [column] = self.named(asked)[..] else {
            return false;
        };
        let cells: Vec<BTreeSet<String>> = self
            .cells
            .iter()
            .map(|cell| content(&plain(cell)))
            .collect();
        let numbers = words(question)
            .into_iter()
            .filter_map(|word| number(word.text));
        numbers.into_iter().any(|number| {
            let has: Vec<usize> = (0..cells.len())
                .filter(|at| cells[*at].contains(&number))
                .collect();
            has == [column]
        })
    }

    /// It is said of this row what another row has in the same column: "eu-west is under maintenance", where us-east is.
    fn is_value_of_another_row(&self, question: &str, asked: &BTreeSet<String>) -> bool {
        let own = named_in(first(&self.cells));
        if own.is_empty() || !own.is_subset(asked) || negates(question) {
            return false;
        }
        let here = named_in(&plain(&self.page.unit_said(self.unit)));
        let claimed: BTreeSet<String> = asked.difference(&own).cloned().collect();
        (1..self.cells.len()).any(|column| {
            let value = content(&plain(&self.cells[column]));
            let is_own = value.is_empty() || !value.is_disjoint(&claimed);
            let mut others = self.rows().into_iter();
            !is_own
                && others.any(|cells| {
                    let other = cells.get(column).map_or("", |cell| &**cell);
                    let other = content(&plain(other));
                    let is_text = other.iter().any(|word| word.contains(char::is_alphabetic));
                    is_text && other.is_subset(&claimed) && other.is_disjoint(&here)
                })
        })
    }

    fn is_another_row(&self, asked: &BTreeSet<String>) -> bool {
        let own = name_of(first(&self.cells));
        if own.is_empty() {
            return false;
        }
        let of_own: BTreeSet<&String> = own.intersection(asked).collect();
        let here = named_in(&plain(&self.page.unit_said(self.unit)));
        let mut others = self.rows().into_iter();
        others.any(|cells| {
            let other = name_of(first(&cells));
            let more: Vec<&String> = other.difference(&own).collect();
            let has_own = of_own.iter().all(|word| other.contains(*word));
            !more.is_empty()
                && has_own
                && other.is_subset(asked)
                && (of_own.is_empty() || more.iter().all(|word| !here.contains(*word)))
        })
    }

    /// The sign in the only column that is asked for says no.
    fn is_denied(&self, question: &str, asked: &BTreeSet<String>) -> bool {
        let [column] = self.named(asked)[..] else {
            return false;
        };
        let cell = self.cells.get(column).map_or("", |cell| &**cell);
        sign(cell) == Some(false) && !negates(question) && self.has_signs()
    }
}

fn first<'a>(cells: &'a [Cow<'_, str>]) -> &'a str {
    cells.first().map_or("", |cell| &**cell)
}

/// The words of a name, without what stands in brackets behind it.
pub(crate) fn name_of(cell: &str) -> BTreeSet<String> {
    if cell.len() > NAME_BYTES_MAX {
        return BTreeSet::new();
    }
    let cell = plain(cell);
    let name = cell.split(['(', '[']).next().unwrap_or_default();
    named_in(if name.trim().is_empty() { &cell } else { name })
}

/// What tells rows apart: "very common" is no "common".
fn named_in(text: &str) -> BTreeSet<String> {
    const VERY: &str = "very";
    let mut named = content(text);
    if words(text)
        .iter()
        .any(|word| word.text.eq_ignore_ascii_case(VERY))
    {
        named.insert(VERY.to_owned());
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Source;

    pub(super) fn is_of_another(table: &str, row: usize, question: &str) -> bool {
        let page = Page::of(&Source::of_text(table), &[]);
        let rows = (0..page.units.len()).filter_map(|unit| TableRow::of(&page, unit));
        let row = rows.into_iter().nth(row).expect("a row");
        row.is_of_another(question, !question.starts_with("Wh"))
    }

    #[test]
    fn a_sign_is_of_its_column() {
        let plans = "| Feature | Free | Team | Business |\n|---|---|---|---|\n| SSO | – | – | ✓ |\n| Export | ✓ | ✓ | ✓ |";
        let check = |row, question: &str, expected| {
            assert_eq!(is_of_another(plans, row, question), expected, "{question}");
        };
        check(0, "The Team plan includes SSO.", true);
        check(0, "The Team plan does not include SSO.", false);
        check(0, "The Business plan includes SSO.", false);
        check(1, "The Team plan includes export.", false);
        check(0, "Which plans have SSO?", false);
        let blank = "| Year | Gold | Silver |\n|---|---|---|\n| 1990 | – | 2 |";
        assert!(!is_of_another(blank, 0, "It had gold in 1990."));
    }

    #[test]
    fn a_value_is_of_its_column() {
        let check = |table: &str, question: &str, expected| {
            assert_eq!(is_of_another(table, 0, question), expected, "{question}");
        };
        let armies = "| | Allied army | Royal army |\n|---|---|---|\n| Commander | Renn | Duval |\n| Men | 12,000 | 8,700 |";
        check(armies, "Count Renn commanded the Royal army.", true);
        check(armies, "Count Renn commanded the Allied army.", false);
        check(armies, "Who commanded the Royal army?", false);
        let prices = "| Ticket | Online | Door |\n|---|---|---|\n| Family | £31.00 | £34.00 |";
        check(prices, "A family pays £31.00 at the door.", true);
        check(prices, "A family pays £34.00 at the door.", false);
        check(prices, "A family pays £31.00.", false);
        let laptops =
            "| | Kestrel 14 | Kestrel 14 Plus |\n|---|---|---|\n| Battery | 56 Wh | 72 Wh |";
        check(laptops, "The Kestrel 14 has a 72 Wh battery.", true);
        check(laptops, "The Kestrel 14 Plus has a 56 Wh battery.", true);
        check(laptops, "The Kestrel 14 has a 56 Wh battery.", false);
        check(laptops, "The Kestrel 14 Plus has a 72 Wh battery.", false);
        let limits = "| Name | Default | Maximum |\n|---|---|---|\n| timeout | 5000 | 30000 |";
        check(limits, "The default timeout is 30000.", true);
        check(
            limits,
            "The timeout is 5000 by default and 30000 at maximum.",
            false,
        );
    }

    #[test]
    fn what_is_asked_for_is_not_what_the_question_names() {
        let items =
            "| Item | Price | Stock |\n|---|---|---|\n| 12 | 777 | 3 |\n| 777 | 337 | 777 |";
        let question = "What is the price of item 777?";
        assert!(is_of_another(items, 0, question));
        assert!(!is_of_another(items, 1, question));
        assert!(!is_of_another(items, 0, "The price of item 12 is 777."));
    }

    #[test]
    fn a_value_is_of_its_row() {
        let check = |table: &str, row, question: &str, expected| {
            assert_eq!(is_of_another(table, row, question), expected, "{question}");
        };
        let parts = "| Component | State |\n|---|---|\n| Storage (eu-west) | Operational |\n| Storage (us-east) | Under maintenance |";
        check(parts, 0, "Storage in eu-west is under maintenance.", true);
        check(parts, 1, "Storage in us-east is under maintenance.", false);
        check(parts, 0, "Storage in eu-west is operational.", false);
        check(
            parts,
            0,
            "Storage in eu-west is not under maintenance.",
            false,
        );
        let towns = "| Town | Bikes |\n|---|---|\n| Ghent | 450 |\n| Leuven | 200 |";
        check(towns, 0, "Leuven has 450 bikes.", true);
        check(towns, 0, "Ghent has 450 bikes.", false);
        check(towns, 0, "One of the towns has 450 bikes.", false);
        check(towns, 0, "Ghent has more bikes than Leuven.", false);
        let roads = "| Road | From, to | State |\n|---|---|---|\n| Canal Street | Mill Lane to Lock Road | closed |\n| Lock Road | all of it | open |";
        check(roads, 0, "Lock Road is closed.", true);
        check(roads, 0, "Canal Street is closed from Lock Road.", false);
        let effects = "| How often | What |\n|---|---|\n| Very common (more than 1 in 10) | nausea |\n| Common (up to 1 in 10) | dry mouth |";
        check(effects, 1, "Dry mouth is very common.", true);
        check(effects, 1, "Dry mouth is common.", false);
        check(effects, 0, "Nausea is very common.", false);
        check(effects, 0, "Nausea is common.", false);
    }
}
