//! A claim that one cell of a table states: all its words are those of the cell and of the names of its row and column. "Business
//! travellers may take two cabin bags" beside "Business", "Cabin bag" and "2".

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::account::compare;
use super::ranked::Ranked;
use super::reservations::denies_as_heading;
use super::tabled::{TableRow, name_of, sign};
use crate::evidence::Relation;
use crate::evidence::reading::page::Page;
use crate::evidence::reading::text::{content, is_negation, lower_words, negates, plain};

/// Found units that are looked at.
const LOOKED_AT: usize = 5;
/// Words that say only that somebody has, gets or pays what the cell holds.
const OF_HAVING: &str = "cost costs price pay pays paid charge charged get gets take takes have has include included cover \
                         covered allow allowed permitted offer offered come comes provide provided receive receives give given \
                         customer customers user users traveller travellers passenger passengers people person buyer buyers";
/// A claim with one of these says more than a cell can.
const SAYS_MORE: [&str; 24] = [
    "than", "only", "most", "least", "more", "less", "fewer", "all", "every", "each", "will",
    "until", "before", "after", "except", "unless", "if", "was", "were", "should", "instead",
    "both", "always", "same",
];

/// The rank of the row, among those that were found, with a cell that states the claim.
pub(crate) fn stated_in_a_cell(page: &Page<'_>, claim: &str, ranked: &[Ranked]) -> Option<usize> {
    let mut found = ranked.iter().take(LOOKED_AT);
    found.position(|ranked| {
        let unit = ranked.candidate.unit;
        let headings = page.headings_over(unit);
        let denies = |heading: &Cow<'_, str>| denies_as_heading(&plain(heading));
        if headings.iter().any(denies) {
            return false;
        }
        let above = || {
            let headings = headings.iter();
            headings
                .flat_map(|heading| content(&plain(heading)))
                .chain(content(page.title_text.unwrap_or_default()))
                .collect()
        };
        TableRow::of(page, unit).is_some_and(|row| states(&row, claim, above))
    })
}

fn states(row: &TableRow<'_>, claim: &str, above: impl Fn() -> BTreeSet<String>) -> bool {
    let asked = content(claim);
    let [name, _, ..] = &row.cells[..] else {
        return false;
    };
    let column = match (row.cells.len(), &row.named(&asked)[..]) {
        (2, _) => 1,
        (_, [column]) => *column,
        _ => return false,
    };
    let at =
        |cells: &[Cow<'_, str>], at: usize| cells.get(at).map_or("", |cell| &**cell).to_owned();
    let header = plain(&at(&row.header, column));
    let cell = &*at(&row.cells, column);
    let (name, cell_text) = (plain(name), plain(cell));
    let own = name_of(&name);
    if says_more(claim)
        || own.is_empty()
        || !own.is_subset(&asked)
        || sign(cell).is_some()
        || negates(claim) != negates(&cell_text)
        || row.is_of_another(claim, true)
    {
        return false;
    }
    let compared = compare(claim, &[&cell_text, &name, &header]);
    let agree = |relation| matches!(relation, Relation::Same | Relation::Within);
    let is_here = |found: &Option<(usize, _)>| found.as_ref().is_some_and(|(at, _)| *at == 0);
    let value = content(&cell_text);
    let having = content(OF_HAVING);
    // "Not covered" says no more than that.
    let is_told =
        |word: &String| asked.contains(word) || having.contains(word) || is_negation(word);
    let is_stated = compared.iter().any(|one| is_here(&one.found))
        || !value.is_empty() && value.iter().all(is_told);
    if !is_stated || !compared.iter().all(|one| agree(one.relation)) {
        return false;
    }
    let mut known = value;
    let first = plain(&at(&row.header, 0));
    known.extend(having);
    for text in [&*name, &*header, &*first] {
        known.append(&mut content(text));
    }
    for one in &compared {
        known.append(&mut content(&one.written));
    }
    known.append(&mut above());
    let mut others = asked.difference(&known);
    others.all(|word| is_negation(word))
}

fn says_more(claim: &str) -> bool {
    let words = lower_words(claim);
    words.iter().any(|word| SAYS_MORE.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Source;

    #[test]
    fn a_cell_states_what_its_names_and_value_say() {
        let check = |table: &str, row: usize, claim: &str, expected: bool| {
            let page = Page::of(&Source::of_text(table), &[]);
            let rows = (0..page.units.len()).filter_map(|unit| TableRow::of(&page, unit));
            let row = rows.into_iter().nth(row).expect("a row");
            assert_eq!(states(&row, claim, BTreeSet::new), expected, "{claim}");
        };
        let bags = "| Fare | Small bag | Cabin bag (max. 8 kg) | Checked bags |\n|---|---|---|---|\n\
                    | Light | 1 | Not included; from €18 | None |\n| Business | 1 | 2 | 2 × 32 kg |";
        check(
            bags,
            1,
            "Business travellers may take two cabin bags with them.",
            true,
        );
        check(
            bags,
            1,
            "Business travellers may take three cabin bags.",
            false,
        );
        check(
            bags,
            1,
            "Business travellers may take two cabin bags to Oslo.",
            false,
        );
        check(
            bags,
            1,
            "All travellers may take two cabin bags in Business.",
            false,
        );
        check(bags, 0, "Light travellers may take two cabin bags.", false);
        check(bags, 0, "A Light fare includes a cabin bag.", false);
        let cover = "| | Essential | Plus |\n|---|---|---|\n| Accidental damage | Not covered | Covered |\n\
                     | Alternative accommodation | Up to 30 days | Up to 90 days |";
        check(
            cover,
            0,
            "Essential does not pay for accidental damage.",
            true,
        );
        check(cover, 0, "Essential covers accidental damage.", false);
        check(cover, 0, "Plus covers accidental damage.", true);
        check(
            cover,
            1,
            "Plus pays alternative accommodation for up to 90 days.",
            true,
        );
        check(
            cover,
            1,
            "Plus pays alternative accommodation for up to 30 days.",
            false,
        );
    }
}
