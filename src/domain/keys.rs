//! Keys and hashes of 32 bytes, a type each, so that none can stand in another's place. Written as 64 hex digits; in
//! records and in the data file they are the bare bytes.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct $name(pub [u8; 32]);

        impl $name {
            /// The first of all in order.
            pub const LEAST: $name = $name([0; 32]);
            /// The last.
            pub const GREATEST: $name = $name([u8::MAX; 32]);

            /// `None` unless the text is 64 hex digits.
            pub fn parse(text: &str) -> Option<Self> {
                let mut bytes = [0; 32];
                hex::decode_to_slice(text, &mut bytes).ok()?;
                Some($name(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&hex::encode(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}

keys! {
    /// Keccak-256 of network, asset, payer and nonce: what the chain lets happen once.
    PaymentKey;
    /// SHA-256 of the decoded PAYMENT-SIGNATURE bytes: tells one signed payload from another.
    PayloadHash;
    /// Hash of a purchase. Two requests with equal fingerprints ask for the same thing.
    Fingerprint;
    /// Hash of a retry credit, whose identifier its holder alone knows.
    CreditHash;
    /// Hash of a payer and its own `payment-identifier`, so that nobody else's identifier is ever met.
    IdentifierKey;
    /// Hash of a mail's kind, subject and number: each mail is sent once.
    MailKey;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_written_and_read_as_64_hex_digits() {
        let key = PaymentKey([0xab; 32]);
        assert_eq!(key.to_string(), "ab".repeat(32));
        assert_eq!(PaymentKey::parse(&key.to_string()), Some(key));
        assert_eq!(PaymentKey::parse(&"AB".repeat(32)), Some(key));
        for text in [
            String::new(),
            "ab".repeat(31),
            "ab".repeat(33),
            "xy".repeat(32),
        ] {
            assert_eq!(PaymentKey::parse(&text), None, "{text}");
        }
    }
}
