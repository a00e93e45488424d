//! Comparisons that the values of a table settle: "Growth costs more than Starter", "Growth is €8 dearer than Starter", "the
//! cheapest plan is Starter". Two rows or columns are named, or one and a superlative; the claim says nothing else.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::account::quantities::{Kind, Quantity, quantities};
use super::account::units::Dimension;
use super::ranked::Ranked;
use super::tabled::{TableRow, name_of};
use crate::evidence::reading::page::Page;
use crate::evidence::reading::text::{content, lower_words, negates, plain};
use crate::evidence::reading::words::known;

/// Found units that are looked at.
const LOOKED_AT: usize = 5;
/// Words that say only that somebody has, or costs, what is compared.
const OF_HAVING: &str = "cost price have has had offer include come get provide give charge less fewer least fewest weigh run \
                         draw consume need take last";
const PRICE: &str = "price cost fee rate fare charge rent";
/// A row of these is no row like the others.
const SUMS: &str = "total sum average mean median all overall";

/// What an adjective compares by.
struct Adjective {
    plain: &'static str,
    comparative: &'static str,
    superlative: &'static str,
    adverb: &'static str,
    is_more: bool,
    /// Words of the column's name.
    names: &'static str,
    /// What the column measures, whatever its name.
    measures: Option<Dimension>,
}

#[rustfmt::skip]
static ADJECTIVES: [Adjective; 19] = [
    Adjective { plain: "cheap", comparative: "cheaper", superlative: "cheapest", adverb: "cheaply", is_more: false, names: PRICE, measures: Some(Dimension::Money("")) },
    Adjective { plain: "expensive", comparative: "dearer", superlative: "dearest", adverb: "expensively", is_more: true, names: PRICE, measures: Some(Dimension::Money("")) },
    Adjective { plain: "long", comparative: "longer", superlative: "longest", adverb: "", is_more: true, names: "length duration", measures: Some(Dimension::Length) },
    Adjective { plain: "short", comparative: "shorter", superlative: "shortest", adverb: "", is_more: false, names: "length", measures: Some(Dimension::Length) },
    Adjective { plain: "heavy", comparative: "heavier", superlative: "heaviest", adverb: "", is_more: true, names: "weight mass", measures: Some(Dimension::Mass) },
    Adjective { plain: "light", comparative: "lighter", superlative: "lightest", adverb: "", is_more: false, names: "weight mass", measures: Some(Dimension::Mass) },
    Adjective { plain: "tall", comparative: "taller", superlative: "tallest", adverb: "", is_more: true, names: "height", measures: None },
    Adjective { plain: "deep", comparative: "deeper", superlative: "deepest", adverb: "deeply", is_more: true, names: "depth", measures: None },
    Adjective { plain: "wide", comparative: "wider", superlative: "widest", adverb: "widely", is_more: true, names: "width", measures: None },
    Adjective { plain: "high", comparative: "higher", superlative: "highest", adverb: "", is_more: true, names: "height elevation altitude", measures: None },
    Adjective { plain: "low", comparative: "lower", superlative: "lowest", adverb: "", is_more: false, names: "height elevation altitude", measures: None },
    Adjective { plain: "large", comparative: "larger", superlative: "largest", adverb: "", is_more: true, names: "", measures: None },
    Adjective { plain: "big", comparative: "bigger", superlative: "biggest", adverb: "", is_more: true, names: "", measures: None },
    Adjective { plain: "great", comparative: "greater", superlative: "greatest", adverb: "", is_more: true, names: "", measures: None },
    Adjective { plain: "quiet", comparative: "quieter", superlative: "quietest", adverb: "quietly", is_more: false, names: "noise loudness", measures: None },
    Adjective { plain: "loud", comparative: "louder", superlative: "loudest", adverb: "loudly", is_more: true, names: "noise loudness", measures: None },
    Adjective { plain: "fast", comparative: "faster", superlative: "fastest", adverb: "quickly", is_more: true, names: "speed", measures: None },
    Adjective { plain: "slow", comparative: "slower", superlative: "slowest", adverb: "slowly", is_more: false, names: "speed", measures: None },
    Adjective { plain: "small", comparative: "smaller", superlative: "smallest", adverb: "", is_more: false, names: "", measures: None },
];

/// How a claim compares.
struct Asked<'a> {
    adjective: Option<&'a Adjective>,
    is_more: bool,
    is_superlative: bool,
    /// By how much: "€8 dearer".
    by: Option<Quantity>,
}

/// A header with the rows under it; or with the columns beside it, where the table names what it compares there.
struct Grid<'a> {
    header: Vec<Cow<'a, str>>,
    rows: Vec<Vec<Cow<'a, str>>>,
}

/// The rank of a row, among those that were found, whose table settles what a claim compares, and how.
pub(crate) fn settled_by_rows(
    page: &Page<'_>,
    claim: &str,
    ranked: &[Ranked],
) -> Option<(usize, bool)> {
    let asked = comparison_of(claim)?;
    let mut found = ranked.iter().take(LOOKED_AT).enumerate();
    found.find_map(|(at, ranked)| {
        let unit = ranked.candidate.unit;
        let row = TableRow::of(page, unit)?;
        let mut above = content(page.title_text.unwrap_or_default());
        for heading in page.headings_over(unit) {
            above.append(&mut content(&plain(&heading)));
        }
        Some((at, truth_by_table(&row, claim, &asked, &above)?))
    })
}

fn truth_by_table(
    row: &TableRow<'_>,
    claim: &str,
    asked: &Asked<'_>,
    above: &BTreeSet<String>,
) -> Option<bool> {
    let grid = Grid {
        header: row.header.clone(),
        rows: row.all_rows()?,
    };
    grid.settles(claim, asked, above)
        .or_else(|| grid.turned()?.settles(claim, asked, above))
}

/// How a claim compares, if it does so once and denies nothing.
fn comparison_of(claim: &str) -> Option<Asked<'static>> {
    if negates(claim) {
        return None;
    }
    let words = lower_words(claim);
    let than = words.iter().position(|word| word == "than");
    let told = &words[..than.unwrap_or(words.len())];
    // "More power on its highest setting than": what is the highest is no part of the comparison.
    let mut found = (0..told.len())
        .filter_map(|at| comparison_at(told, at))
        .filter(|one| one.is_superlative == than.is_none());
    let mut asked = found.next()?;
    if found.next().is_some() {
        return None;
    }
    asked.by = difference(claim);
    Some(asked)
}

/// How the word at a place compares.
fn comparison_at(told: &[String], at: usize) -> Option<Asked<'static>> {
    let of = |is_it: fn(&Adjective, &str) -> bool, word: &str| {
        ADJECTIVES.iter().find(|one| is_it(one, word))
    };
    let word = &*told[at];
    let (is_much, is_superlative) = match word {
        "more" => (true, false),
        "most" => (true, true),
        "less" | "fewer" => (false, false),
        "least" | "fewest" => (false, true),
        _ => {
            let comparative = of(|one, word| one.comparative == word, word);
            let superlative = of(|one, word| one.superlative == word, word);
            let adjective = comparative.or(superlative)?;
            return Some(Asked {
                adjective: Some(adjective),
                is_more: adjective.is_more,
                is_superlative: superlative.is_some(),
                by: None,
            });
        }
    };
    // "More expensive", "more quietly", "costs more", "more storage".
    let next = told.get(at + 1).map_or("", |word| word);
    let costs = told.iter().any(|word| matches!(&**word, "cost" | "costs"));
    let adjective = of(|one, word| one.plain == word || one.adverb == word, next)
        .filter(|_| !next.is_empty())
        .or_else(|| of(|one, _| one.plain == "expensive", "").filter(|_| costs));
    let is_up = adjective.is_none_or(|one| one.is_more);
    Some(Asked {
        adjective,
        is_more: is_much == is_up,
        is_superlative,
        by: None,
    })
}

/// By how much a claim says that one is more than the other: "€8 dearer", "1.2 kg more".
fn difference(claim: &str) -> Option<Quantity> {
    let is_compared = |one: &Quantity| {
        let next = lower_words(claim.get(one.range.end..).unwrap_or_default());
        let next: Vec<String> = next.into_iter().take(1).collect();
        !next.is_empty() && comparison_at(&next, 0).is_some_and(|asked| !asked.is_superlative)
    };
    quantities(claim).into_iter().find(is_compared)
}

impl<'a> Grid<'a> {
    /// With columns for rows.
    fn turned(&self) -> Option<Grid<'a>> {
        let count = self.header.len();
        let is_full = self.rows.iter().all(|row| row.len() == count);
        (is_full && count > 1).then(|| {
            let column = |at: usize| {
                let cells = self.rows.iter().map(move |row| row[at].clone());
                std::iter::once(self.header[at].clone()).chain(cells)
            };
            Grid {
                header: column(0).collect(),
                rows: (1..count).map(|at| column(at).collect()).collect(),
            }
        })
    }

    fn settles(&self, claim: &str, asked: &Asked<'_>, above: &BTreeSet<String>) -> Option<bool> {
        let said = content(claim);
        let (left, right) = match asked.is_superlative {
            true => (self.row_named(&said)?, None),
            false => {
                let (left, right) = claim.split_once(" than ")?;
                let right = self.row_named(&content(right))?;
                (self.row_named(&content(left))?, Some(right))
            }
        };
        if Some(left) == right {
            return None;
        }
        let mut rest = said;
        if let Some(by) = &asked.by {
            let written = content(claim.get(by.range.clone())?);
            rest.retain(|word| !written.contains(word));
        }
        if asked.is_superlative {
            // "Of the three plans".
            rest.remove(&self.rows.len().to_string());
        }
        let mut named = name_of(self.rows[left].first()?);
        if let Some(right) = right {
            named.append(&mut name_of(self.rows[right].first()?));
        }
        rest.retain(|word| !named.contains(word));
        let column = self.column(asked, claim, &rest)?;
        let mut told = content(OF_HAVING);
        told.extend(above.iter().cloned());
        for at in [0, column] {
            told.append(&mut named_by(&self.header[at], claim));
        }
        if let Some(adjective) = asked.adjective {
            for word in [
                adjective.plain,
                adjective.comparative,
                adjective.superlative,
            ] {
                told.append(&mut content(word));
            }
            told.append(&mut content(adjective.names));
        }
        if !rest.is_subset(&told) {
            return None;
        }
        let own = value(self.rows[left].get(column)?)?;
        let is_ahead = |other: &Value| {
            (other.kind == own.kind).then_some(match asked.is_more {
                true => own.amount > other.amount,
                false => own.amount < other.amount,
            })
        };
        match right {
            Some(right) => {
                let other = value(self.rows[right].get(column)?)?;
                match (&asked.by, is_ahead(&other)?) {
                    (Some(by), true) => own.is_apart_by(&other, by),
                    (_, is_so) => Some(is_so),
                }
            }
            None if asked.by.is_some() => None,
            None => {
                let sums = content(SUMS);
                let mut is_first = true;
                for (at, row) in self.rows.iter().enumerate().filter(|(at, _)| *at != left) {
                    let other = value(row.get(column)?)?;
                    let is_sum = !name_of(&self.rows[at][0]).is_disjoint(&sums);
                    if is_sum || other.kind == own.kind && other.amount == own.amount {
                        return None;
                    }
                    is_first &= is_ahead(&other)?;
                }
                (self.rows.len() > 1).then_some(is_first)
            }
        }
    }

    /// The row whose name is said, with the most words of all such.
    fn row_named(&self, said: &BTreeSet<String>) -> Option<usize> {
        let names: Vec<BTreeSet<String>> = self
            .rows
            .iter()
            .map(|row| row.first().map(|cell| name_of(cell)).unwrap_or_default())
            .collect();
        let is_said = |at: &usize| !names[*at].is_empty() && names[*at].is_subset(said);
        let said: Vec<usize> = (0..names.len()).filter(is_said).collect();
        let longest = *said.iter().max_by_key(|at| names[**at].len())?;
        let is_part = |at: &usize| *at == longest || names[*at].is_subset(&names[longest]);
        let same = said.iter().filter(|at| names[**at] == names[longest]);
        (said.iter().all(is_part) && same.count() == 1).then_some(longest)
    }

    /// The only column of numbers that an adjective is about, or that the claim names.
    fn column(&self, asked: &Asked<'_>, claim: &str, said: &BTreeSet<String>) -> Option<usize> {
        let values = |at: usize| self.rows.iter().filter_map(move |row| value(row.get(at)?));
        let has_values = |at: &usize| values(*at).count() > 1;
        let columns: Vec<usize> = (1..self.header.len()).filter(has_values).collect();
        let name = |at: usize| content(&plain(&self.header[at]));
        let named = |among: &[usize]| -> Vec<usize> {
            let shared = |at: usize| name(at).intersection(said).count();
            let most = among.iter().map(|at| shared(*at)).max().unwrap_or_default();
            let has_most = among.iter().filter(|at| most > 0 && shared(**at) == most);
            has_most.copied().collect()
        };
        // "The longest guarantee" is no length.
        let is_of_time = asked
            .adjective
            .is_some_and(|one| matches!(one.plain, "long" | "short"));
        let is_said_time = |at: &&usize| {
            let is_time = |value: Value| value.kind == Some(Kind::Measured(Dimension::Duration));
            !named_by(&self.header[**at], claim).is_disjoint(said) && values(**at).all(is_time)
        };
        let mut said_times = columns.iter().filter(|_| is_of_time).filter(is_said_time);
        if let Some(at) = said_times.next() {
            return said_times.next().is_none().then_some(*at);
        }
        let fitting: Vec<usize> = match asked.adjective {
            None => Vec::new(),
            Some(adjective) => {
                let names = content(adjective.names);
                let measures = |at: usize| {
                    adjective.measures.is_some_and(|asked| {
                        values(at).all(|value| match (asked, value.kind) {
                            (Dimension::Money(_), Some(Kind::Measured(Dimension::Money(_)))) => {
                                true
                            }
                            (asked, Some(Kind::Measured(own))) => asked == own,
                            _ => false,
                        })
                    })
                };
                let is_called = |at: &&usize| !name(**at).is_disjoint(&names);
                let called: Vec<usize> = columns.iter().filter(is_called).copied().collect();
                match called.is_empty() {
                    true => columns.iter().copied().filter(|at| measures(*at)).collect(),
                    false => called,
                }
            }
        };
        let is_bound = asked.adjective.is_some_and(|one| one.measures.is_some());
        let chosen = match (is_bound, &fitting[..]) {
            (true, [one]) => vec![*one],
            (true, _) => named(&fitting),
            (false, _) => match &named(&columns)[..] {
                [] => fitting,
                named => named.to_vec(),
            },
        };
        match chosen[..] {
            [one] => Some(one),
            _ => None,
        }
    }
}

/// The words of a column's name, and those of a claim that have the same sense.
fn named_by(header: &str, claim: &str) -> BTreeSet<String> {
    let header = plain(header);
    let mut named = content(&header);
    for stem in lower_words(&header).iter().map(|word| known().stem(word)) {
        for word in lower_words(claim) {
            let own = known().stem(&word);
            if known().synonyms(&stem).any(|other| other == own) {
                named.append(&mut content(&word));
            }
        }
    }
    named
}

/// The amount of a cell, and of what; a number alone is of nothing.
struct Value {
    kind: Option<Kind>,
    amount: f64,
}

impl Value {
    /// Whether the values differ by this amount; `None` if their unit is not known to be that of the amount.
    fn is_apart_by(&self, other: &Value, by: &Quantity) -> Option<bool> {
        let gap = (self.amount - other.amount).abs();
        let is_gap =
            |amount: f64| (gap - amount).abs() <= 1e-6 * self.amount.abs().max(other.amount.abs());
        match (&self.kind, &by.kind) {
            // The header may give the unit, and another one than the claim.
            (None, Kind::Measured(_)) => is_gap(by.written).then_some(true),
            (own, kind) if own.as_ref() == Some(kind) && by.low == by.high => Some(is_gap(by.low)),
            _ => None,
        }
    }
}

/// The only amount that a cell has, if it leaves nothing open.
fn value(cell: &str) -> Option<Value> {
    let cell = plain(cell);
    let digits = cell.replace(',', "");
    if let Ok(amount) = digits.trim().parse::<f64>() {
        return amount.is_finite().then_some(Value { kind: None, amount });
    }
    let found = quantities(&cell);
    let [one] = &found[..] else {
        return None;
    };
    let is_amount = matches!(one.kind, Kind::Measured(_) | Kind::Count(_));
    // "From €5", "€5 for two".
    let begins = cell[..one.range.start].trim().is_empty();
    (is_amount && begins && one.low == one.high).then(|| Value {
        kind: Some(one.kind.clone()),
        amount: one.low,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Source;

    fn check(table: &str, cases: &[(&str, Option<bool>)]) {
        let page = Page::of(&Source::of_text(table), &[]);
        let mut rows = (0..page.units.len()).filter_map(|unit| TableRow::of(&page, unit));
        let row = rows.nth(1).expect("a row");
        for (claim, expected) in cases {
            let found = comparison_of(claim)
                .and_then(|asked| truth_by_table(&row, claim, &asked, &BTreeSet::new()));
            assert_eq!(found, *expected, "{claim}");
        }
    }

    #[test]
    fn rows_settle_what_is_compared() {
        check(
            "| Plan | Price per month | Storage | Sites |\n|---|---|---|---|\n| Starter | €4 | 10 GB | 1 |\n\
             | Growth | €12 | 50 GB | 10 |\n| Scale | €39 | 200 GB | 100 |",
            &[
                ("Growth costs more than Starter.", Some(true)),
                ("Starter costs more than Growth.", Some(false)),
                ("Growth is less expensive than Scale.", Some(true)),
                ("Scale is cheaper than Growth.", Some(false)),
                ("The cheapest plan is Starter.", Some(true)),
                ("The cheapest plan is Growth.", Some(false)),
                ("Scale is the most expensive plan.", Some(true)),
                ("Growth has less storage than Scale.", Some(true)),
                ("Growth has the most storage.", Some(false)),
                ("Growth is €8 dearer than Starter.", Some(true)),
                ("Growth is €9 dearer than Starter.", Some(false)),
                ("Starter is €8 dearer than Growth.", Some(false)),
                ("Starter is €8 cheaper than Growth.", Some(true)),
                ("Growth has 40 GB more storage than Starter.", Some(true)),
                ("Growth is 50 % cheaper than Scale.", None),
                ("Starter is the cheapest of the three plans.", Some(true)),
                // More is claimed than the table compares.
                ("The cheapest plan with backups is Starter.", None),
                ("Growth is not cheaper than Starter.", None),
                ("Growth costs twice more than Starter.", None),
                ("Growth has more than 20 GB.", None),
                ("Growth is larger than Starter.", None),
                ("Growth is one of the cheapest plans.", None),
            ],
        );
    }

    #[test]
    fn a_number_without_its_unit_denies_no_difference() {
        check(
            "| Model | Weight (g) |\n|---|---|\n| Wren | 1200 |\n| Kite | 1400 |",
            &[
                ("The Kite is 200 g heavier than the Wren.", Some(true)),
                ("The Kite is 0.2 kg heavier than the Wren.", None),
                ("The Wren is 200 g heavier than the Kite.", Some(false)),
            ],
        );
    }

    #[test]
    fn what_a_table_leaves_open_is_not_settled() {
        check(
            "| Room | Price | Beds |\n|---|---|---|\n| Attic | from €40 | 2 |\n| Garden | €60 | 2 |\n| Tower | €75 | 3 |",
            &[
                ("Garden is cheaper than Tower.", Some(true)),
                ("Attic is cheaper than Tower.", None),
                ("Garden is the cheapest room.", None),
                ("Tower has the most beds.", Some(true)),
                ("Garden has the fewest beds.", None),
            ],
        );
    }

    #[test]
    fn the_name_of_a_column_says_what_it_is_compared_by() {
        check(
            "| River | Length | Basin | Source |\n|---|---|---|---|\n| Orla | 112 km | 1,940 km² | 870 m |\n\
             | Tessin | 248 km | 6,500 km² | 2,480 m |\n| Vara | 65 km | 580 km² | 1,200 m |",
            &[
                ("The Vara is the shortest river.", Some(true)),
                ("The Orla is the shortest river.", Some(false)),
                ("The Vara has a larger basin than the Orla.", Some(false)),
                ("The Tessin is the most beautiful river.", None),
            ],
        );
    }

    #[test]
    fn columns_are_compared_as_rows_are() {
        check(
            "| | Kestrel 14 | Kestrel 14 Plus |\n|---|---|---|\n| Weight | 1.2 kg | 1.4 kg |\n| Battery | 56 Wh | 72 Wh |\n\
             | Power draw, highest setting | 30 W | 45 W |\n| Noise level | 36 dB | 38 dB |\n| Warranty | 2 years | 3 years |",
            &[
                (
                    "The Kestrel 14 Plus draws more power on its highest setting than the Kestrel 14.",
                    Some(true),
                ),
                (
                    "The Kestrel 14 runs more quietly than the Kestrel 14 Plus.",
                    Some(true),
                ),
                (
                    "The Kestrel 14 Plus runs more quietly than the Kestrel 14.",
                    Some(false),
                ),
                (
                    "The Kestrel 14 Plus is 0.2 kg heavier than the Kestrel 14.",
                    Some(true),
                ),
                (
                    "The Kestrel 14 Plus is 200 g heavier than the Kestrel 14.",
                    Some(true),
                ),
                (
                    "The Kestrel 14 Plus comes with the longest guarantee.",
                    Some(true),
                ),
                (
                    "The Kestrel 14 Plus is heavier than the Kestrel 14.",
                    Some(true),
                ),
                (
                    "The Kestrel 14 is heavier than the Kestrel 14 Plus.",
                    Some(false),
                ),
                (
                    "The Kestrel 14 has a larger battery than the Kestrel 14 Plus.",
                    Some(false),
                ),
            ],
        );
    }
}
