//! Amounts of USDC. Atomic units (6 decimals) are the only form that is added, compared or stored.

use std::fmt;

/// Decimals of USDC: one USDC is 1,000,000 units.
pub const DECIMALS: u32 = 6;
const UNITS_PER_USDC: u64 = 10u64.pow(DECIMALS);

/// An amount of USDC in atomic units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(u64);

impl Amount {
    pub const ZERO: Amount = Amount(0);

    pub const fn from_units(units: u64) -> Self {
        Amount(units)
    }

    pub const fn units(self) -> u64 {
        self.0
    }

    /// The wire form of x402: decimal digits, no sign, no leading zero, no exponent.
    pub fn parse_units(text: &str) -> Option<Self> {
        let canonical = !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_digit())
            && (text.len() == 1 || !text.starts_with('0'));
        if !canonical {
            return None;
        }
        text.parse().ok().map(Amount)
    }

    /// A decimal number of USDC such as `0.03`, with at most six decimals.
    pub fn parse_usdc(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty()
            || !digits(whole)
            || !digits(fraction)
            || fraction.len() > DECIMALS as usize
        {
            return None;
        }
        let whole: u64 = whole.parse().ok()?;
        let fraction: u64 = format!("{fraction:0<6}").parse().ok()?;
        whole
            .checked_mul(UNITS_PER_USDC)?
            .checked_add(fraction)
            .map(Amount)
    }

    /// The number that bodies show beside the units (`price_usdc`). For display: never computed with.
    #[expect(
        clippy::cast_precision_loss,
        reason = "prices stay far below 2^53 units"
    )]
    pub fn as_usdc(self) -> f64 {
        self.0 as f64 / UNITS_PER_USDC as f64
    }

    /// What part of `whole` this is, to six decimals. For display.
    pub fn share_of(self, whole: Amount) -> f64 {
        (self.as_usdc() / whole.as_usdc() * 1e6).round() / 1e6
    }

    /// As many times; too much for any sale where it overflows.
    pub fn times(self, count: usize) -> Amount {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        Amount(self.0.saturating_mul(count))
    }

    pub fn checked_add(self, other: Amount) -> Option<Amount> {
        self.0.checked_add(other.0).map(Amount)
    }

    pub fn checked_sub(self, other: Amount) -> Option<Amount> {
        self.0.checked_sub(other.0).map(Amount)
    }
}

/// Decimal USDC without trailing zeros: `0.03`, `7`, `0.000001`.
impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.0 / UNITS_PER_USDC, self.0 % UNITS_PER_USDC);
        if fraction == 0 {
            return write!(f, "{whole}");
        }
        let digits = format!("{fraction:06}");
        write!(f, "{whole}.{}", digits.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_canonical_decimal_digits() {
        assert_eq!(Amount::parse_units("30000"), Some(Amount(30_000)));
        assert_eq!(Amount::parse_units("0"), Some(Amount(0)));
        for refused in [
            "",
            "030000",
            "+1",
            "-1",
            "1e4",
            "1.0",
            " 1",
            "0x10",
            "18446744073709551616",
            "３",
        ] {
            assert_eq!(Amount::parse_units(refused), None, "{refused:?}");
        }
    }

    #[test]
    fn usdc_reads_and_shows_the_same_number() {
        for (text, units) in [
            ("0.03", 30_000),
            ("7", 7_000_000),
            ("0.000001", 1),
            ("0.012", 12_000),
            ("20.00", 20_000_000),
        ] {
            assert_eq!(Amount::parse_usdc(text), Some(Amount(units)), "{text}");
        }
        assert_eq!(Amount(30_000).to_string(), "0.03");
        assert_eq!(Amount(7_000_000).to_string(), "7");
        for refused in [
            "",
            ".",
            ".5",
            "1.0000001",
            "1,5",
            "-1",
            "1e3",
            "99999999999999999999",
        ] {
            assert_eq!(Amount::parse_usdc(refused), None, "{refused:?}");
        }
    }
}
