//! Cost estimates for numbers of pages, reports and bundles.

use crate::domain::amount::Amount;
use crate::domain::bundle::Bundle;
use crate::domain::check::CheckDepth;
use crate::domain::pack::Pack;
use crate::domain::tier::Tier;

/// Of each kind at most.
pub const COUNT_MAX: u64 = 1_000_000;

/// How many of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    pub pages: (u64, Tier),
    pub reports: (u64, Pack),
    pub bundles: (u64, Bundle),
    /// Sources of checked texts.
    pub checks: (u64, CheckDepth),
}

/// What one kind comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    pub count: u64,
    pub price: Amount,
    pub sum: Amount,
}

impl Estimate {
    pub fn pages(&self) -> Line {
        Line::of(self.pages.0, self.pages.1.price())
    }

    pub fn reports(&self) -> Line {
        Line::of(self.reports.0, self.reports.1.price())
    }

    pub fn bundles(&self) -> Line {
        Line::of(self.bundles.0, self.bundles.1.price())
    }

    pub fn checks(&self) -> Line {
        Line::of(self.checks.0, self.checks.1.price())
    }

    /// Everything together, in USDC.
    pub fn total(&self) -> Amount {
        let lines = [self.pages(), self.reports(), self.bundles(), self.checks()];
        let units = lines.map(|line| line.sum.units()).into_iter();
        Amount::from_units(units.fold(0, u64::saturating_add))
    }
}

impl Line {
    /// No count beyond [`COUNT_MAX`] is read, so nothing saturates.
    fn of(count: u64, price: Amount) -> Line {
        let sum = Amount::from_units(price.units().saturating_mul(count));
        Line { count, price, sum }
    }
}

/// A count as it is typed: nothing is none.
pub fn count(typed: &str) -> Option<u64> {
    let digits: String = typed
        .chars()
        .filter(|c| !" ,_\u{a0}".contains(*c))
        .collect();
    match digits.as_str() {
        "" => Some(0),
        digits if digits.len() <= 7 && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            let count: u64 = digits.parse().ok()?;
            (count <= COUNT_MAX).then_some(count)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_multiplied_out() {
        let estimate = Estimate {
            pages: (1_000, Tier::Fresh),
            reports: (20, Pack::Standard),
            bundles: (COUNT_MAX, Bundle::Audit),
            checks: (3, CheckDepth::Quick),
        };
        assert_eq!(estimate.pages().sum.to_string(), "30");
        assert_eq!(estimate.reports().sum.to_string(), "5");
        assert_eq!(estimate.bundles().sum.to_string(), "20000000");
        assert_eq!(estimate.checks().sum.to_string(), "0.3");
        assert_eq!(estimate.total().to_string(), "20000035.3");
    }

    #[test]
    fn a_count_is_read_as_people_write_it() {
        for (typed, expected) in [
            ("", Some(0)),
            ("0", Some(0)),
            ("1,000", Some(1_000)),
            ("1 000 000", Some(COUNT_MAX)),
            ("1000001", None),
            ("99999999999999999999999", None),
            ("-1", None),
            ("1.5", None),
            ("١", None),
        ] {
            assert_eq!(count(typed), expected, "{typed:?}");
        }
    }
}
