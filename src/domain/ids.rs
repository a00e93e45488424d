//! Identifiers: a prefix for the kind, and 128 random bits in lowercase hex.

use std::fmt;

/// Random bytes in an identifier.
const RANDOM_BYTES: usize = 16;

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(pub [u8; RANDOM_BYTES]);

        impl $name {
            pub const PREFIX: &'static str = $prefix;

            /// `None` unless the text is exactly the prefix and 32 lowercase hex digits.
            pub fn parse(text: &str) -> Option<Self> {
                let digits = text.strip_prefix($prefix)?;
                let canonical = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
                let mut bytes = [0; RANDOM_BYTES];
                (canonical && hex::decode_to_slice(digits, &mut bytes).is_ok()).then_some($name(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut digits = [0; RANDOM_BYTES * 2];
                hex::encode_to_slice(self.0, &mut digits).map_err(|_| fmt::Error)?;
                f.write_str($prefix)?;
                f.write_str(std::str::from_utf8(&digits).map_err(|_| fmt::Error)?)
            }
        }
    };
}

identifier!(/// One HTTP request, in `X-Request-Id`, errors and the log.
    RequestId, "req_");
identifier!(/// A quote receipt for a page or a Proof Pack.
    QuoteId, "qt_");
identifier!(/// A quote for an Evidence Bundle.
    BundleQuoteId, "bq_");
identifier!(/// A lead; the payment link takes it along as reference.
    LeadId, "lead_");
identifier!(/// A notice to the operator, the same at every attempt.
    EventId, "evt_");
identifier!(/// A bundle that was bought through the payment link.
    OrderId, "ord_");
identifier!(/// A retained report: who knows it may read the report.
    ReportId, "ppr_");
identifier!(/// A report as its buyer shares it; says nothing of the report's own identifier.
    ShareSlug, "share_");
identifier!(/// A settled payment as its payer sees it: the time of settlement and a hash, so that identifiers sort by time.
    PurchaseId, "pur_");
identifier!(/// A retry credit: a bearer secret, stored only as its SHA-256.
    CreditId, "rc_");
identifier!(/// A task of the simulated brokerage; nothing is kept under it.
    JobId, "job_");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_reads_back_and_has_one_spelling() {
        let id = QuoteId([0xab; 16]);
        assert_eq!(QuoteId::parse(&id.to_string()), Some(id));
        for refused in [
            "qt_",
            "qt_AB",
            &id.to_string().to_uppercase(),
            &id.to_string()[1..],
            "rc_abababababababababababababababab",
        ] {
            assert_eq!(QuoteId::parse(refused), None, "{refused}");
        }
    }
}
