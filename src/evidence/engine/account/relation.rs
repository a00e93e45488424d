//! Whether one quantity agrees with another: of the same kind, and with values that the other leaves open.

use super::quantities::{Kind, Quantity};
use super::units::{offset, unit};
use crate::evidence::Relation;

impl Quantity {
    /// Whether both are of the same kind, so that they can be compared at all.
    pub(crate) fn is_like(&self, other: &Quantity) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Measured(one), Kind::Measured(other)) => one == other,
            (Kind::Count(one), Kind::Count(other)) => one.iter().any(|stem| other.contains(stem)),
            (Kind::Date(one), Kind::Date(other)) => one
                .iter()
                .zip(other)
                .any(|(one, other)| *one > 0 && *other > 0),
            (Kind::Clock(_), Kind::Clock(_))
            | (Kind::Weekday(_), Kind::Weekday(_))
            | (Kind::Version(_), Kind::Version(_)) => true,
            _ => false,
        }
    }

    /// How a claimed quantity stands to one that was found; both alike.
    pub(crate) fn relation(&self, found: &Quantity) -> Relation {
        let same = |is_same: bool| {
            if is_same {
                Relation::Same
            } else {
                Relation::Differs
            }
        };
        match (&self.kind, &found.kind) {
            (Kind::Date(one), Kind::Date(other)) => {
                let both = one
                    .iter()
                    .zip(other)
                    .filter(|(one, other)| **one > 0 && **other > 0);
                let is_same = both.clone().all(|(one, other)| one == other);
                let is_less = one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| *one == 0 || *other > 0);
                match (is_same, is_less) {
                    (true, true) if one == other => Relation::Same,
                    (true, true) => Relation::Within,
                    (true, false) => Relation::NotFound,
                    _ => Relation::Differs,
                }
            }
            (Kind::Version(one), Kind::Version(other)) => same(one == other),
            (Kind::Clock(one), Kind::Clock(other)) => match self.zone.zip(found.zone) {
                Some((own, its)) => {
                    let utc = |minutes: u32, zone: i32| {
                        (i32::try_from(minutes).unwrap_or_default() - zone).rem_euclid(24 * 60)
                    };
                    let mut pairs = own.iter().flat_map(|own| its.map(|its| (*own, its)));
                    same(pairs.any(|(own, its)| utc(*one, own) == utc(*other, its)))
                }
                None => same(one == other),
            },
            (Kind::Weekday(one), Kind::Weekday(other)) => same(one == other),
            _ if self.is_per_another(found) => Relation::Differs,
            _ if (self.is_span || found.is_span) && self.has_value_of(found) => Relation::Same,
            _ => {
                let slack = |value: f64| {
                    if value.is_finite() {
                        self.slack(found) * value.abs() + 1e-9
                    } else {
                        0.0
                    }
                };
                let (low, high) = (self.low - slack(self.low), self.high + slack(self.high));
                let is_exact = self.low == self.high && found.low == found.high;
                // "Up to 600" is not the limit that "up to 60" sets.
                let is_other_most =
                    self.low.is_infinite() && found.low.is_infinite() && !self.has_value_of(found);
                if is_other_most {
                    Relation::Differs
                } else if found.low >= low && found.high <= high {
                    if is_exact || (self.low == found.low && self.high == found.high) {
                        Relation::Same
                    } else {
                        Relation::Within
                    }
                } else if found.high >= low && found.low <= high && self.is_near(found) {
                    // "40 GB" beside "up to 40 GB", "204 °F" beside "about 204 °F".
                    Relation::Within
                } else if found.high < low
                    || found.low > high
                    || is_exact
                    || self.is_open_like(found)
                {
                    Relation::Differs
                } else {
                    // They overlap: the source leaves more open than the claim.
                    Relation::NotFound
                }
            }
        }
    }

    /// One is a month's and the other a year's.
    pub(super) fn is_per_another(&self, other: &Quantity) -> bool {
        self.per.is_some() && other.per.is_some() && self.per != other.per
    }

    /// The same amount, whatever the words around it leave open.
    fn has_value_of(&self, other: &Quantity) -> bool {
        let slack = self.slack_of_months(other).max(1e-9);
        let (one, other) = (self.value(), other.value());
        (one - other).abs() <= slack * one.abs().max(other.abs())
    }

    pub(super) fn value(&self) -> f64 {
        self.written * self.factor + offset(&self.kind, self.factor)
    }

    /// The same amount, where neither is a range from it on, and not a least beside a most.
    fn is_near(&self, other: &Quantity) -> bool {
        let open = |one: &Quantity| (one.low.is_infinite(), one.high.is_infinite());
        let is_opposite = matches!(
            (open(self), open(other)),
            ((true, false), (false, true)) | ((false, true), (true, false))
        );
        let is_range =
            |one: &Quantity| one.low == one.value() && one.high > one.low && one.high.is_finite();
        self.has_value_of(other) && !is_opposite && !is_range(self) && !is_range(other)
    }

    /// Both give only a least, or only a most: another one is another statement.
    fn is_open_like(&self, other: &Quantity) -> bool {
        let open = |one: &Quantity| (one.low.is_infinite(), one.high.is_infinite());
        open(self) == open(other) && open(self) != (false, false)
    }

    /// Units that convert unevenly, and values that are rounded, agree within one in fifty.
    pub(super) fn slack(&self, found: &Quantity) -> f64 {
        let is_converted = matches!(
            (&self.kind, &found.kind),
            (Kind::Measured(_), Kind::Measured(_))
        ) && self.written != found.written;
        if is_converted && self.low != found.low && self.scale() != found.scale() {
            self.slack_of_months(found).max(0.02)
        } else {
            0.0
        }
    }

    /// Eight weeks are called two months.
    fn slack_of_months(&self, other: &Quantity) -> f64 {
        let is_in = |one: &Quantity, name| {
            let of_name = unit(name).map(|(dimension, factor)| (Kind::Measured(dimension), factor));
            of_name == Some((one.kind.clone(), one.factor))
        };
        let are = |one, other| is_in(one, "week") && is_in(other, "month");
        match are(self, other) || are(other, self) {
            true => 0.09,
            false => 0.0,
        }
    }

    /// How much of the base unit its unit is.
    fn scale(&self) -> i64 {
        let value = if self.low.is_finite() {
            self.low
        } else {
            self.high
        };
        #[expect(
            clippy::cast_possible_truncation,
            reason = "compared, not computed with"
        )]
        let scale = (value / self.written * 1e6).round() as i64;
        scale
    }
}
