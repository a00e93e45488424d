//! Compares what a claim states with what a passage states: quantities, roles and qualifiers. Pure functions of text; knows
//! no page and no label.

pub(crate) mod qualifiers;
pub(crate) mod quantities;
mod relation;
pub(crate) mod roles;
mod units;

use crate::evidence::Relation;
use quantities::{Kind, Quantity, quantities};

/// A quantity of a claim and what stands in its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Compared {
    /// As the claim writes it.
    pub(crate) written: String,
    pub(crate) asked: Quantity,
    /// The passage, by its number, and the quantity in it.
    pub(crate) found: Option<(usize, Quantity)>,
    pub(crate) relation: Relation,
}

/// Compares each quantity of a claim with those of the passages, the most important passage first.
pub(crate) fn compare(claim: &str, passages: &[&str]) -> Vec<Compared> {
    let found: Vec<Vec<Quantity>> = passages.iter().map(|passage| quantities(passage)).collect();
    let all = || {
        found
            .iter()
            .enumerate()
            .flat_map(|(at, list)| list.iter().map(move |one| (at, one)))
    };
    let compared = quantities(claim).into_iter().map(|asked| {
        let written = claim[asked.range.clone()].to_owned();
        let agrees = |(_, one): &(usize, &Quantity)| {
            let is_like = asked.is_like(one)
                || is_bare(&asked) && is_number(one)
                || is_bare(one) && is_number(&asked);
            is_like && matches!(asked.relation(one), Relation::Same | Relation::Within)
        };
        if let Some((at, one)) = all().find(agrees) {
            let relation = asked.relation(one);
            return Compared {
                written,
                found: Some((at, one.clone())),
                relation,
                asked,
            };
        }
        let like = all().filter(|(_, one)| asked.is_like(one));
        let nearest = like.max_by_key(|(at, one)| (shared(&asked, one), std::cmp::Reverse(*at)));
        // The same number of something else: another unit, another thing.
        let other_unit = || {
            all().find(|(_, one)| {
                one.written == asked.written
                    && is_number(one)
                    && is_number(&asked)
                    && !asked.is_like(one)
            })
        };
        match nearest.or_else(other_unit) {
            Some((at, one)) => {
                let relation = match asked.is_like(one) {
                    true => asked.relation(one),
                    false => Relation::Differs,
                };
                Compared {
                    written,
                    found: Some((at, one.clone())),
                    relation,
                    asked,
                }
            }
            None => Compared {
                written,
                found: None,
                relation: Relation::NotFound,
                asked,
            },
        }
    });
    compared.collect()
}

fn is_number(one: &Quantity) -> bool {
    matches!(one.kind, Kind::Measured(_) | Kind::Count(_))
}

/// A number with nothing behind it.
fn is_bare(one: &Quantity) -> bool {
    matches!(&one.kind, Kind::Count(things) if things.is_empty())
}

fn shared(one: &Quantity, other: &Quantity) -> usize {
    one.before
        .iter()
        .filter(|stem| other.before.contains(stem))
        .count()
}

#[cfg(test)]
mod tests {
    use crate::evidence::engine::account::*;

    #[test]
    fn quantities_are_compared_by_value_unit_and_bound() {
        let check = |claim: &str, passage: &str, expected: &[Relation]| {
            let found: Vec<Relation> = compare(claim, &[passage])
                .iter()
                .map(|one| one.relation)
                .collect();
            assert_eq!(found, expected, "{claim} / {passage}");
        };
        use Relation::{Differs, NotFound, Same, Within};
        check(
            "It made 4.1 megawatt hours.",
            "It made 4.1 gigawatt hours.",
            &[Differs],
        );
        check("It made 4,100 MWh.", "It made 4.1 gigawatt hours.", &[Same]);
        check(
            "More than 1,000 people came.",
            "In all 1,250 people came.",
            &[Within],
        );
        check(
            "Fewer than 60 schools converted.",
            "Over 60 schools converted.",
            &[Differs],
        );
        check("No more than 60 came.", "60 came.", &[Within]);
        check("It opens at 5:30 pm.", "It opens at 17:30.", &[Same]);
        check("It has 2048 MB.", "It has 2 GB of memory.", &[Same]);
        check("Two weeks.", "Within 14 days.", &[Same]);
        check("It lasts 26 days.", "It lasts 26 hours.", &[Differs]);
        check("It costs €71 a week.", "It costs €71 a month.", &[Differs]);
        check(
            "There are at least ten days and three walks.",
            "At least three days and ten walks.",
            &[Differs, Differs],
        );
        check(
            "It began in March 2021.",
            "It began on 4 March 2021.",
            &[Within],
        );
        check(
            "It began on 5 March 2021.",
            "It began on 4 March 2021.",
            &[Differs],
        );
        check("It began in 2019.", "It began on 4 March 2021.", &[Differs]);
        check("Twenty-six members voted.", "26 members voted.", &[Same]);
        check("The rate is 40 %.", "The rate is 40 percent.", &[Same]);
        check("It has 900 houses.", "It has 900 flats.", &[Differs]);
        check(
            "On Friday it is closed.",
            "It is closed on Mondays.",
            &[Differs],
        );
        check("It weighs 5 kg.", "It is red.", &[NotFound]);
        check("3 million euros were paid.", "They paid €3m.", &[Same]);
    }
}
