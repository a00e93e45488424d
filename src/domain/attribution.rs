//! A buyer's referral source (wire name: `source`): a label for statistics, never a credential.

/// A checked attribution label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribution(String);

/// Longest label.
const ATTRIBUTION_BYTES_MAX: usize = 64;

impl Attribution {
    /// `None` for anything outside `[a-z0-9_.-]{1,64}`: a label that does not fit is dropped, not refused.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = (1..=ATTRIBUTION_BYTES_MAX).contains(&text.len())
            && text
                .bytes()
                .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b'-'));
        fits.then(|| Attribution(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_that_does_not_fit_is_dropped() {
        for kept in ["x402scan", "a.b-c_9", &"a".repeat(64)] {
            assert_eq!(
                Attribution::parse(kept).map(|label| label.as_str().to_owned()),
                Some(kept.to_owned())
            );
        }
        for dropped in [
            "",
            "Ads",
            "a b",
            "<script>",
            "=1+1",
            "a\r\nb",
            "é",
            &"a".repeat(65),
        ] {
            assert_eq!(Attribution::parse(dropped), None, "{dropped:?}");
        }
    }
}
