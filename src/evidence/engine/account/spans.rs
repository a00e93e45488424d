//! Spans of days and times that a passage gives by their ends: "20 December to 6 January", "9:00–17:00", "Monday to
//! Friday". What lies within one is what the passage speaks of.

use super::quantities::{Kind, Quantity};

/// Words before a day or time that make it an end of a span.
const BEFORE_AN_END: &[&str] = &[
    "until", "till", "to", "through", "from", "since", "by", "before", "after", "opens", "closes",
    "starts", "begins", "ends", "finishes", "opened", "closed", "started", "began", "ended",
    "finished",
];
/// As near to it.
const WORDS_BEFORE: usize = 3;

/// The ends of a span of the passage in which the asked one lies, the ends included.
pub(crate) fn span_around<'a>(
    asked: &Quantity,
    found: &'a [Quantity],
    passage: &str,
) -> Option<&'a [Quantity]> {
    found.windows(2).find(|ends| {
        joins(passage, &ends[0], &ends[1])
            && lies_between(&asked.kind, &ends[0].kind, &ends[1].kind)
    })
}

/// Whether the claim says when something begins or ends: "until 5 May", "closes at 16:00".
pub(crate) fn tells_an_end(claim: &str, asked: &Quantity) -> bool {
    let words = claim[..asked.range.start].split_whitespace().rev();
    let mut near = words.take(WORDS_BEFORE).map(str::to_lowercase);
    near.any(|word| BEFORE_AN_END.contains(&word.as_str()))
}

/// Whether what stands between two quantities makes them the ends of a span.
fn joins(passage: &str, first: &Quantity, last: &Quantity) -> bool {
    let between = passage.get(first.range.end..last.range.start);
    match between.map(str::trim) {
        Some("to" | "-" | "–" | "—" | "till" | "until" | "through") => true,
        Some("and") => {
            let before = passage[..first.range.start].trim_end();
            before.ends_with("between") || before.ends_with("Between")
        }
        _ => false,
    }
}

fn lies_between(asked: &Kind, first: &Kind, last: &Kind) -> bool {
    match (asked, first, last) {
        (Kind::Date(asked), Kind::Date(first), Kind::Date(last)) => are_days(asked, first, last),
        (Kind::Clock(asked), Kind::Clock(first), Kind::Clock(last))
        | (Kind::Weekday(asked), Kind::Weekday(first), Kind::Weekday(last)) => {
            goes_round(asked, first, last)
        }
        _ => false,
    }
}

/// A span whose end is before its beginning goes over midnight, the week's or the year's end.
fn goes_round<T: PartialOrd>(asked: &T, first: &T, last: &T) -> bool {
    match first <= last {
        true => first <= asked && asked <= last,
        false => first <= asked || asked <= last,
    }
}

/// By year where all have one, else by month and day, in the year of the span if it has one.
fn are_days(asked: &[u32; 3], first: &[u32; 3], last: &[u32; 3]) -> bool {
    let dates = [asked, first, last];
    let all_have = |at: usize| dates.iter().all(|date| date[at] > 0);
    let none_has = |at: usize| dates.iter().all(|date| date[at] == 0);
    // A month is within two days only where all three are as exact.
    let are_as_exact = (1..3).all(|at| all_have(at) || none_has(at));
    if !are_as_exact {
        // A year lies between two days whose years it is not before or behind.
        let is_year = all_have(0) && asked[1] == 0;
        return is_year && (first[0]..=last[0]).contains(&asked[0]);
    }
    if all_have(0) {
        return first <= asked && asked <= last;
    }
    let is_of_the_year = asked[0] == 0 || first[0] == 0 && (last[0] == 0 || last[0] == asked[0]);
    let of_year = |date: &[u32; 3]| [date[1], date[2]];
    all_have(1) && is_of_the_year && goes_round(&of_year(asked), &of_year(first), &of_year(last))
}

#[cfg(test)]
mod tests {
    use crate::evidence::engine::account::quantities::quantities;
    use crate::evidence::engine::account::spans::*;

    #[track_caller]
    fn lies(claim: &str, passage: &str, expected: bool) {
        let (asked, found) = (quantities(claim), quantities(passage));
        let asked = asked.first().expect("a quantity");
        let is_within = span_around(asked, &found, passage).is_some();
        assert_eq!(is_within, expected, "{claim} / {passage}");
    }

    #[test]
    fn days_lie_within_a_span() {
        let high = "From 20 December to 6 January prices are higher.";
        lies("We arrive on 28 December.", high, true);
        lies("We arrive on 3 January.", high, true);
        lies("We arrive on 7 January.", high, false);
        lies("We arrive in December.", high, false);
        let closed = "It is closed between 3 March and 5 May 2025.";
        lies("We come on 4 April 2025.", closed, true);
        lies("We come on 4 April 2026.", closed, false);
        lies("We come on 4 April.", closed, true);
        lies("She ruled in 2003.", "He ruled 2001–2005.", true);
        lies("She ruled in 2006.", "He ruled 2001–2005.", false);
    }

    #[test]
    fn times_and_weekdays_lie_within_a_span() {
        lies("Call at 10:00.", "Open 9:00–17:00.", true);
        lies("Call at 18:00.", "Open 9:00–17:00.", false);
        lies("Call at 1 am.", "The bar is open 20:00 to 02:00.", true);
        lies("Come on Wednesday.", "Open Monday to Friday.", true);
        lies("Come on Sunday.", "Open Monday to Friday.", false);
    }

    #[test]
    fn a_claim_may_tell_an_end() {
        let tells = |claim: &str| tells_an_end(claim, &quantities(claim)[0]);
        assert!(tells("It is open until 5 May."));
        assert!(tells("It closes at 16:00."));
        assert!(!tells("It is open at 16:00."));
    }

    #[test]
    fn two_days_alone_are_no_span() {
        lies("Come on 4 May.", "Come on 3 May and 5 May.", false);
        lies("Come on 4 May.", "Moved from 3 May, not to 5 May.", false);
    }
}
