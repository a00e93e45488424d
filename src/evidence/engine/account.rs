//! Compares what a claim states with what a passage states: quantities, roles and qualifiers. Pure functions of text; knows
//! no page and no label.

pub(crate) mod addresses;
pub(crate) mod change;
pub(crate) mod conjuncts;
mod derived;
mod durations;
pub(crate) mod duties;
pub(crate) mod nearest;
pub(crate) mod nearly;
mod order;
pub(crate) mod other_unit;
pub(crate) mod owners;
pub(crate) mod permissions;
pub(crate) mod places;
pub(crate) mod qualifiers;
pub(crate) mod quantities;
mod relation;
pub(crate) mod roles;
pub(crate) mod spans;
pub(crate) mod units;

use crate::evidence::reading::text::{is_negation, lower_words};
use crate::evidence::reading::words::known;
use crate::evidence::{Order, Relation};
use derived::derived;
use durations::{is_age_beside_time, is_case_within};
use nearest::{Passage, said_of};
use quantities::{Kind, Quantity, quantities};
use spans::{span_around, tells_an_end};

/// A quantity of a claim and what stands in its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Compared {
    /// As the claim writes it.
    pub(crate) written: String,
    pub(crate) asked: Quantity,
    /// The passage, by its number, and the quantity in it.
    pub(crate) found: Option<(usize, Quantity)>,
    pub(crate) relation: Relation,
    /// A difference between values of the passage; which of them is the greater one in the claim is not known.
    pub(crate) is_computed: bool,
    /// A case that a limit of the passage covers.
    pub(crate) is_case: bool,
}

impl Compared {
    /// How the asked one stands to the one that it differs from.
    pub(crate) fn order(&self) -> Option<Order> {
        let (_, found) = self.found.as_ref()?;
        let order = self.asked.order(found);
        order.filter(|_| self.relation == Relation::Differs)
    }
}

/// Compares each quantity of a claim with those of the passages, the most important passage first.
pub(crate) fn compare(claim: &str, passages: &[&str]) -> Vec<Compared> {
    let of_passage = |passage: &&str| {
        let mut found = quantities(passage);
        found.retain(|one| !is_former(claim, passage, one));
        found
    };
    let found: Vec<Vec<Quantity>> = passages.iter().map(of_passage).collect();
    let all = || {
        found
            .iter()
            .enumerate()
            .flat_map(|(at, list)| list.iter().map(move |one| (at, one)))
    };
    let asked = quantities(claim);
    let agreeing: Vec<Option<(usize, &Quantity)>> = asked
        .iter()
        .map(|asked| all().find(|(_, one)| agrees(asked, one)))
        .collect();
    // The claim's value stands in the passage, but another of its kind is said of the claim's words.
    let of_others = asked.iter().zip(&agreeing).map(|(asked, agreeing)| {
        let (at, one) = (*agreeing)?;
        let other = said_instead(claim, asked, (passages[at], &found[at]), one)?;
        Some((at, other))
    });
    let of_others: Vec<Option<(usize, &Quantity)>> = of_others.collect();
    // What agrees with one quantity of the claim does not stand in another's place.
    let is_free = |at: usize, one: &Quantity| {
        let mut taken = agreeing.iter().flatten();
        !taken.any(|(other, taken)| *other == at && taken.range == one.range)
    };
    // Where another date of the claim agrees, one elsewhere that is said of nothing alike does not stand in its place.
    let is_elsewhere = |asked: &Quantity, at: usize, one: &Quantity| {
        let mut taken = agreeing.iter().flatten();
        let is_date = matches!(asked.kind, Kind::Date(_));
        is_date
            && shared(asked, one) == 0
            && taken.any(|(other, taken)| *other != at && taken.is_like(asked))
    };
    let within = |asked: &Quantity| {
        let of = |at: usize| {
            let ends = span_around(asked, &found[at], passages[at])?;
            // Beside one of the ends the claim gives the other one, or it gives an end alone.
            let is_free = ends.iter().all(|end| is_free(at, end)) && !tells_an_end(claim, asked);
            ends.first().filter(|_| is_free).map(|one| (at, one))
        };
        let (at, one) = (0..passages.len()).find_map(of)?;
        Some((at, one, Relation::Within))
    };
    let case = |asked: &Quantity| {
        let mut free = all().filter(|(at, one)| is_free(*at, one));
        let (at, one) =
            free.find(|(at, one)| is_case_within((claim, asked), (passages[*at], one)))?;
        Some((at, one, Relation::Within))
    };
    let nearest = |asked: &Quantity| {
        let like = all().filter(|(at, one)| asked.is_like(one) && is_free(*at, one));
        let like = like.filter(|(at, one)| {
            !is_elsewhere(asked, *at, one)
                && !is_age_beside_time((claim, asked), (passages[*at], one))
        });
        let near = like.max_by_key(|(at, one)| (shared(asked, one), std::cmp::Reverse(*at)));
        near.map(|(at, one)| (at, one, asked.relation(one)))
    };
    // The same number of something else: another unit, another thing.
    let other_unit = |asked: &Quantity| {
        let (at, one) = all().find(|(at, one)| {
            one.written == asked.written
                && is_number(one)
                && is_number(asked)
                && !asked.is_like(one)
                && is_free(*at, one)
                && !is_other_name(asked, one, passages[*at])
        })?;
        Some((at, one, Relation::Differs))
    };
    let both = agreeing.iter().zip(&of_others);
    let compared = asked.iter().zip(both).map(|(asked, (agreeing, of_other))| {
        let agreeing = of_other.or(*agreeing);
        let computed = || {
            let of = |at: usize| Some((at, derived(claim, asked, (passages[at], &found[at]))?));
            (0..passages.len()).find_map(of)
        };
        if agreeing.is_none()
            && let Some((at, (one, relation))) = computed()
        {
            return Compared {
                written: claim[asked.range.clone()].to_owned(),
                relation,
                is_computed: one.is_none(),
                found: one.map(|one| (at, one)),
                asked: asked.clone(),
                is_case: false,
            };
        }
        let found = agreeing.map(|(at, one)| (at, one, asked.relation(one)));
        let found = found.or_else(|| within(asked));
        let covering = found.is_none().then(|| case(asked)).flatten();
        let found = found
            .or(covering)
            .or_else(|| nearest(asked))
            .or_else(|| other_unit(asked));
        Compared {
            written: claim[asked.range.clone()].to_owned(),
            relation: found.map_or(Relation::NotFound, |(_, _, relation)| relation),
            found: found.map(|(at, one, _)| (at, one.clone())),
            asked: asked.clone(),
            is_computed: false,
            is_case: covering.is_some(),
        }
    });
    compared.collect()
}

/// The value of the same kind that a passage says of a claim's words, where the one that agrees is said of others: "50 cents
/// in colour" for a claim of colour, beside "10 cents in black and white".
fn said_instead<'a>(
    claim: &str,
    asked: &Quantity,
    (passage, found): (&str, &'a [Quantity]),
    agreeing: &Quantity,
) -> Option<&'a Quantity> {
    // A change or a comparison has both values; a row's cells are told apart by their columns.
    let compares = |word: &String| {
        is_negation(word)
            || matches!(
                &**word,
                "than" | "instead" | "between" | "from" | "rather" | "each"
            )
    };
    if !is_number(asked) || passage.contains('|') || lower_words(claim).iter().any(compares) {
        return None;
    }
    // "Every 10 minutes, 18 minutes from the station".
    if is_rate(claim, asked) && !is_rate(passage, agreeing) {
        let mut rates = found.iter().filter(|one| is_rate(passage, one));
        return rates.find(|one| asked.is_like(one) && asked.relation(one) == Relation::Differs);
    }
    let alike = || {
        let alike = found
            .iter()
            .filter(|one| agreeing.is_like(one) || asked.is_like(one));
        alike.filter(|one| !agreeing.is_per_another(one))
    };
    if alike().count() < 2 || alike().count() > ALIKE_MAX {
        return None;
    }
    let passage = Passage::new(passage, said_of(claim, &asked.range));
    let ranges: Vec<_> = alike().map(|one| one.range.clone()).collect();
    let chosen = passage.said_most_of(&ranges)?;
    let other = alike().find(|one| one.range == chosen)?;
    (other.range != agreeing.range && asked.relation(other) == Relation::Differs).then_some(other)
}

/// How often something is: "every 10 minutes".
fn is_rate(text: &str, one: &Quantity) -> bool {
    let before = text.get(..one.range.start).unwrap_or_default();
    let last = before
        .split_whitespace()
        .rev()
        .take(2)
        .map(str::to_lowercase);
    let last: Vec<String> = last.collect();
    match last.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["les", "toutes" | "tous"] => true,
        [word, ..] => matches!(word, "every" | "alle" | "cada" | "ogni"),
        [] => false,
    }
}

/// Whether a question asks for a rate per another unit than all rates of a passage: "per hour" beside "100 per minute".
pub(crate) fn is_per_another(question: &str, passage: &str) -> bool {
    let words = lower_words(question);
    let asked = words.windows(2).find_map(|words| match &*words[0] {
        "per" | "each" | "every" | "a" | "an" => units::period(&words[1]),
        _ => None,
    });
    let stated: Vec<&str> = quantities(passage)
        .iter()
        .filter_map(|one| one.per)
        .collect();
    asked.is_some_and(|asked| !stated.is_empty() && !stated.contains(&asked))
}

/// Values of one kind in a passage that are told apart.
const ALIKE_MAX: usize = 4;

/// "£20 (was £18)": what no longer holds, beside a claim of the present.
fn is_former(claim: &str, passage: &str, one: &Quantity) -> bool {
    const FORMER: [&str; 6] = [
        "(was",
        "(were",
        "(previously",
        "(formerly",
        "(originally",
        "(instead of",
    ];
    /// As many as the longest of them has.
    const BEFORE_CHARS: usize = 12;
    let before = passage.get(..one.range.start).unwrap_or_default();
    let before = before.trim_end_matches(|c: char| c.is_whitespace() || "£$€¥".contains(c));
    let tail: String = before.chars().rev().take(BEFORE_CHARS).collect();
    let lower: String = tail.chars().rev().collect::<String>().to_lowercase();
    let mut said = claim.split(|c: char| !c.is_alphanumeric());
    FORMER.iter().any(|words| lower.ends_with(words))
        && !said.any(|word| {
            matches!(
                &*word.to_lowercase(),
                "was"
                    | "were"
                    | "previously"
                    | "formerly"
                    | "originally"
                    | "instead"
                    | "from"
                    | "before"
            )
        })
}

fn agrees(asked: &Quantity, one: &Quantity) -> bool {
    let is_like =
        asked.is_like(one) || is_bare(asked) && is_number(one) || is_bare(one) && is_number(asked);
    is_like && matches!(asked.relation(one), Relation::Same | Relation::Within)
}

/// Things that the passage, which lacks the claim's word for them, may call by another: "47 patients" beside "47 subjects".
fn is_other_name(asked: &Quantity, one: &Quantity, passage: &str) -> bool {
    let (Kind::Count(things), Kind::Count(_)) = (&asked.kind, &one.kind) else {
        return false;
    };
    let mut words = passage.split(|c: char| !c.is_alphanumeric());
    !words.any(|word| things.contains(&known().stem(&word.to_lowercase())))
}

fn is_number(one: &Quantity) -> bool {
    matches!(one.kind, Kind::Measured(_) | Kind::Count(_))
}

/// A number with nothing behind it.
fn is_bare(one: &Quantity) -> bool {
    matches!(&one.kind, Kind::Count(things) if things.is_empty())
}

/// How many words beside it both have.
fn shared(one: &Quantity, other: &Quantity) -> usize {
    let of =
        |one: &[String], other: &[String]| one.iter().filter(|stem| other.contains(stem)).count();
    of(&one.before, &other.before) + of(&one.after, &other.after)
}

#[cfg(test)]
mod tests {
    use crate::evidence::engine::account::*;

    #[test]
    fn a_rate_is_per_what_is_asked() {
        let limits = "The limit is 100 requests per minute and 5,000 a day.";
        assert!(is_per_another(
            "How many requests are allowed per hour?",
            limits
        ));
        assert!(!is_per_another(
            "How many requests are allowed per day?",
            limits
        ));
        assert!(!is_per_another("How many requests are allowed?", limits));
    }

    #[test]
    fn quantities_in_another_form_are_the_same() {
        let check = |claim: &str, passage: &str, expected: Relation| {
            let compared = compare(claim, &[passage]);
            assert_eq!(compared[0].relation, expected, "{claim} / {passage}");
        };
        use Relation::{Differs, NotFound, Same, Within};
        for (claim, passage, expected) in [
            ("It fell to 5 °C.", "It fell to -5 °C.", Differs),
            ("It fell to −5 °C.", "It fell to minus 5 °C.", Same),
            ("The dose is 5 mg.", "The dose is .5 mg.", Differs),
            ("The dose is 0.5 mg.", "The dose is .5 mg.", Same),
            ("It takes 1 cup.", "It takes 1½ cups.", Differs),
            ("It takes 1.5 cups.", "It takes 1 1/2 cups.", Same),
            ("The ratio is 1:3.", "The ratio is 3:1.", Differs),
            ("They won 1-3.", "They won 3-1.", Differs),
            ("It costs $100.", "It costs C$100.", Differs),
            ("It costs HK$100.", "It costs HK$100.", Same),
            ("It sends 100 MB/s.", "It sends 100 Mb/s.", Differs),
            ("It was 20 °C.", "It was 68 °F.", Same),
            (
                "It takes 150 minutes.",
                "It takes 2 hours and 30 minutes.",
                Same,
            ),
            (
                "It takes 2 hours.",
                "It takes 2 hours and 30 minutes.",
                Differs,
            ),
            ("It draws 5 milliwatts.", "It draws 5 mW.", Same),
            (
                "25 people died.",
                "Between 20 and 30 people died.",
                NotFound,
            ),
            (
                "She was mayor in 2003.",
                "She was mayor from March 2001 to May 2005.",
                Within,
            ),
            (
                "It came out in 1985.",
                "It came out in the 1980s.",
                NotFound,
            ),
            ("It runs at 3500 MHz.", "It runs at 3.5 GHz.", Same),
            ("A loss of €5 million.", "A loss of −€5 million.", Differs),
        ] {
            check(claim, passage, expected);
        }
    }

    #[test]
    fn a_quantity_stands_beside_the_one_of_the_same_words() {
        let claim = "Thirty-six percent of voters agree.";
        let passage = "Sixty-three percent of voters agree with a plan that 91 percent know.";
        let compared = compare(claim, &[passage]);
        let (_, found) = compared[0].found.clone().expect("another share");
        assert_eq!(&passage[found.range], "Sixty-three percent");
    }

    #[test]
    fn a_value_is_of_the_words_beside_it() {
        let relations = |claim: &str, passage: &str| {
            let compared = compare(claim, &[passage]);
            compared.iter().map(|one| one.relation).collect::<Vec<_>>()
        };
        use Relation::{Differs, Same};
        let printing = "Printing costs 10 cents in black and white and 50 cents in colour.";
        assert_eq!(
            relations("Colour printing costs 10 cents.", printing),
            [Differs]
        );
        assert_eq!(
            relations("Colour printing costs 50 cents.", printing),
            [Same]
        );
        assert_eq!(relations("Printing costs 10 cents.", printing), [Same]);
        let lines = "Velmira has two tram lines and 34 bus lines.";
        let turned = "Velmira has 34 tram lines and two bus lines.";
        assert_eq!(relations(turned, lines), [Differs, Differs]);
        assert_eq!(relations(lines, lines), [Same, Same]);
        let loans = "Books are lent for three weeks, DVDs for two weeks.";
        assert_eq!(
            relations("DVDs are lent for three weeks.", loans),
            [Differs]
        );
        let line = "Line 6 runs every 10 minutes, 18 minutes from the station.";
        assert_eq!(
            relations("Line 6 runs every 18 minutes.", line),
            [Same, Differs]
        );
        assert_eq!(
            relations("Line 6 runs every 10 minutes.", line),
            [Same, Same]
        );
        let price = "A day ticket costs £20 (was £18).";
        assert_eq!(relations("A day ticket costs £18.", price), [Differs]);
        assert_eq!(relations("A day ticket was £18.", price), [Same]);
    }

    #[test]
    fn a_day_within_a_span_is_found_there() {
        let relation = |claim: &str| {
            let passage = "High season is 20 December to 6 January.";
            let compared = compare(claim, &[passage]);
            compared.iter().map(|one| one.relation).collect::<Vec<_>>()
        };
        assert_eq!(
            relation("28 December is in high season."),
            [Relation::Within]
        );
        assert_eq!(
            relation("8 January is in high season."),
            [Relation::Differs]
        );
        assert_eq!(
            relation("High season ends on 5 January."),
            [Relation::Differs]
        );
        assert_eq!(
            relation("It lasts from 20 December to 5 January."),
            [Relation::Same, Relation::Differs]
        );
    }

    #[test]
    fn a_date_elsewhere_does_not_stand_in_the_place_of_another() {
        let claim = "Fewer crashes happened in 2007 than in 2006.";
        let passages = [
            "It had 136 crashes in 2007.",
            "The toll is the lowest since 1963.",
        ];
        let found: Vec<Relation> = compare(claim, &passages)
            .iter()
            .map(|one| one.relation)
            .collect();
        assert_eq!(found, [Relation::Same, Relation::NotFound]);
    }

    #[test]
    fn one_day_is_a_length() {
        let relation = |claim: &str, passage: &str| {
            let compared = compare(claim, &[passage]);
            compared.first().map(|one| one.relation)
        };
        let same = Some(Relation::Same);
        let hours = "You will have an answer in 24 hours.";
        assert_eq!(relation("They answer within a day.", hours), same);
        assert_eq!(
            relation("The effect lasts a whole day.", "It lasts 24 hours."),
            same
        );
        assert_eq!(
            relation("It holds for a year.", "It holds for 12 months."),
            same
        );
        assert_eq!(
            relation("It holds for one year.", "It holds for 6 months."),
            Some(Relation::Differs)
        );
        assert_eq!(
            relation("Il dure un an, soit 12 mois.", "Il dure 365 jours."),
            same
        );
        assert_eq!(relation("It has 312 calories.", "Energy: 312 kcal"), same);
        let games = relation("Tove won 3 games.", "Tove 3 won, 2 lost");
        assert_ne!(games, Some(Relation::Differs));
        // No length: what something is counted per, and a ticket.
        assert_eq!(
            relation("It costs a day of work.", "It costs 24 hours."),
            None
        );
        assert_eq!(
            relation("It is meant for a day ticket.", "Open 24 hours."),
            None
        );
    }

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
        check(
            "It starts at 11:00 CET.",
            "It starts at 10:00 UTC.",
            &[Same],
        );
        check(
            "It starts at 10:00 CET.",
            "It starts at 10:00 UTC.",
            &[Differs],
        );
        check(
            "It closes at 6:59 pm New York time.",
            "It closes at 23:59 UTC.",
            &[Same],
        );
        check(
            "It allows up to 600 payouts.",
            "It allows up to 60 payouts.",
            &[Differs],
        );
        check(
            "Los grupos de 20 personas reservan antes.",
            "Los grupos de más de 15 personas reservan antes.",
            &[NotFound],
        );
        check("It has 2048 MB.", "It has 2 GB of memory.", &[Same]);
        check("Two weeks.", "Within 14 days.", &[Same]);
        check(
            "It may be no larger than 25 MB.",
            "It is up to 40 MB.",
            &[Differs],
        );
        check(
            "It takes a year and a half.",
            "It takes 18 months.",
            &[Same],
        );
        check(
            "It takes two and a half hours.",
            "It takes 150 minutes.",
            &[Same],
        );
        check(
            "It takes a year and a half.",
            "It takes a year.",
            &[Differs],
        );
        check("It lasts 26 days.", "It lasts 26 hours.", &[Differs]);
        check("It takes two months.", "It takes eight weeks.", &[Same]);
        check(
            "It can be two months.",
            "It takes up to eight weeks.",
            &[Within],
        );
        check("It takes two months.", "It takes six weeks.", &[Differs]);
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
        check("It has 900 houses.", "It has 900 flats.", &[NotFound]);
        check(
            "It has 900 houses.",
            "It has 900 flats and 20 houses.",
            &[Differs],
        );
        check(
            "It has 900 houses.",
            "It has 900 flats but no house.",
            &[Differs],
        );
        check("It has 900 km of road.", "It has 900 bridges.", &[Differs]);
        check(
            "On Friday it is closed.",
            "It is closed on Mondays.",
            &[Differs],
        );
        check("It weighs 5 kg.", "It is red.", &[NotFound]);
        check("3 million euros were paid.", "They paid €3m.", &[Same]);
        check(
            "It opened on Sept. 5, 2019.",
            "It opened on Sept. 3, 2019.",
            &[Differs],
        );
        check(
            "It opened on 3 September 2019.",
            "It opened on Sept. 3, 2019.",
            &[Same],
        );
        check(
            "It opened on 12 September 2024.",
            "It [opened](/a/2024-09-12-opening.pdf) then.",
            &[NotFound],
        );
        check(
            "Incomes rose 45% in three years.",
            "Incomes rose 45% over three years.",
            &[Same, Same],
        );
        check(
            "It took three years.",
            "It took over three years.",
            &[Differs],
        );
        check(
            "It ran in five years.",
            "It grew 45% over three years.",
            &[Differs],
        );
        check(
            "It takes six weeks.",
            "It takes six consecutive weeks.",
            &[Same],
        );
        check(
            "It takes 600 minutes.",
            "It takes 600 walking minutes.",
            &[Same],
        );
        check(
            "Twelve models were used.",
            "They used 12 state-of-the-art models of 240.",
            &[Same],
        );
        check("It has up to 40GB.", "It reaches 40GB.", &[Within]);
        check("It reaches 40GB.", "It has 12GB, or up to 40GB.", &[Within]);
        check("It has at least 60.", "It has up to 60.", &[NotFound]);
        check("It weighs 5 kg.", "It weighs 5 to 7 kg.", &[NotFound]);
        check("It reads 204°F.", "It reads about 204°F.", &[Within]);
        check(
            "It has 2 acres.",
            "It has a little over 2 acres.",
            &[Within],
        );
        check(
            "It is a little over 2 square feet.",
            "It has a little over 2 acres.",
            &[Differs],
        );
        check(
            "Nearly all voters over 50 agree.",
            "Most voters age 50 plus agree.",
            &[Within],
        );
        check("Voters over 50.", "Voters 50 or older.", &[Within]);
        check(
            "Fewer crashes happened in 2007 than in 2006.",
            "It had 136 crashes in 2007.",
            &[Same, NotFound],
        );
        check(
            "It rose from 5 kg to 7 kg.",
            "It rose from 5 kg to 9 kg.",
            &[Same, Differs],
        );
    }
}
