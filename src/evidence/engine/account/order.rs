//! Which of two quantities of one kind is the larger or the later one: "1.98 m" is more than "1.95 m".

use std::cmp::Ordering;

use super::quantities::{Kind, Quantity};
use crate::evidence::Order;

/// Two days without a year lie in the order of one year if they are at most so many months apart.
const MONTHS_APART: u32 = 6;

impl Quantity {
    /// How it stands to another of the same kind; None where they are equal, or their order is not known.
    pub(super) fn order(&self, other: &Quantity) -> Option<Order> {
        match (&self.kind, &other.kind) {
            (Kind::Date(one), Kind::Date(other)) => in_time(order_of_days(one, other)?),
            (Kind::Clock(one), Kind::Clock(other)) => in_time(one.cmp(other)),
            (Kind::Measured(_), Kind::Measured(_)) | (Kind::Count(_), Kind::Count(_))
                if self.is_like(other) && !self.is_per_another(other) =>
            {
                let (one, slack) = (self.value(), self.slack(other).max(1e-9));
                let is_range = other.low.is_finite() && other.high.is_finite() && !other.is_about();
                let (low, high) = match is_range {
                    true => (other.low, other.high),
                    false => (other.value(), other.value()),
                };
                if one < low - slack * low.abs() {
                    Some(Order::Less)
                } else if one > high + slack * high.abs() {
                    Some(Order::More)
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    /// Its range lies around the number that is written.
    fn is_about(&self) -> bool {
        self.low < self.value() && self.value() < self.high
    }
}

fn in_time(order: Ordering) -> Option<Order> {
    match order {
        Ordering::Less => Some(Order::Earlier),
        Ordering::Equal => None,
        Ordering::Greater => Some(Order::Later),
    }
}

/// By the parts that both have. Without both years only days of months near each other have an order.
fn order_of_days(one: &[u32; 3], other: &[u32; 3]) -> Option<Ordering> {
    let has = |at: usize| one[at] > 0 && other[at] > 0;
    let from = match (has(0), has(1)) {
        (true, _) => 0,
        (false, true) if one[1].abs_diff(other[1]) <= MONTHS_APART => 1,
        _ => return None,
    };
    let mut parts = (from..3).take_while(|at| has(*at));
    parts.find_map(|at| Some(one[at].cmp(&other[at])).filter(|order| order.is_ne()))
}

#[cfg(test)]
mod tests {
    use crate::evidence::engine::account::order::*;
    use crate::evidence::engine::account::quantities::quantities;

    #[track_caller]
    fn is(claim: &str, passage: &str, expected: Option<Order>) {
        let (one, other) = (quantities(claim), quantities(passage));
        assert_eq!(one[0].order(&other[0]), expected, "{claim} / {passage}");
    }

    #[test]
    fn measures_are_compared_in_one_unit() {
        let more = Some(Order::More);
        is("A 1.98 m tall van.", "A headroom of 1.95 m.", more);
        is(
            "A film of 100 minutes.",
            "Films of 2 hours.",
            Some(Order::Less),
        );
        is("A trip of 120 minutes.", "Trips of up to 2 hours.", None);
        is("A stay of 6 nights.", "Stays of 5 to 7 nights.", None);
        is("A stay of 9 nights.", "Stays of 5 to 7 nights.", more);
    }

    #[test]
    fn days_and_times_have_an_order() {
        let (earlier, later) = (Some(Order::Earlier), Some(Order::Later));
        is("Cancel at 17:00.", "Cancel until 18:00.", earlier);
        is("On 9 June.", "Until 10 June.", earlier);
        is("On 28 December.", "From 20 December.", later);
        is("On 28 December.", "Until 6 January.", None);
        is("It opened in 1994.", "It opened in 2001.", earlier);
        is("It opened in 1994.", "It opened in May 1994.", None);
    }

    #[test]
    fn what_is_of_another_kind_has_none() {
        is("It takes 3 hours.", "It weighs 4 kg.", None);
        is("$5 per month.", "It costs $60 a year.", None);
    }
}
