//! What is written in hex on EVM chains (addresses, nonces, transaction hashes, signatures) and the names of networks.
//! Reading takes any case and one length; comparing is done on bytes, so that two spellings are never two things.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::domain::keccak::keccak256;

/// Longest signature that is read. Contract wallets wrap deployment data around theirs (EIP-6492).
const SIGNATURE_BYTES_MAX: usize = 8 * 1024;

/// An account or a contract. Shown with the checksum of EIP-55.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address(pub [u8; 20]);

/// The number, used once per payer, of an authorization (EIP-3009).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Nonce(pub [u8; 32]);

/// Hash of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TransactionHash(pub [u8; 32]);

/// A signature of any length: 65 bytes from a key, more from a contract wallet (EIP-1271, EIP-6492).
#[derive(Clone, PartialEq, Eq)]
pub struct Signature(pub Vec<u8>);

/// A network by its EVM chain id; written `eip155:8453` (CAIP-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Network(pub u64);

/// `0x` and exactly twice `N` hex digits in any case.
fn parse_fixed<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let digits = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))?;
    hex::decode_to_slice(digits, &mut bytes).ok()?;
    Some(bytes)
}

impl Address {
    /// `None` unless the text is `0x` and 40 hex digits. The case is free: a wrong checksum is still this address.
    pub fn parse(text: &str) -> Option<Self> {
        parse_fixed(text).map(Address)
    }

    /// Like [`Address::parse`], but an address in mixed case must carry its right checksum (EIP-55): for addresses that
    /// a person typed.
    pub fn parse_checksummed(text: &str) -> Option<Self> {
        let address = Address::parse(text)?;
        let digits = &text[2..];
        let one_case = !digits.bytes().any(|byte| byte.is_ascii_lowercase())
            || !digits.bytes().any(|byte| byte.is_ascii_uppercase());
        (one_case || address.to_string()[2..] == *digits).then_some(address)
    }
}

/// `0x` and 40 hex digits whose case is the checksum of EIP-55.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = *b"0x0000000000000000000000000000000000000000";
        let digits = &mut shown[2..];
        // The buffer is as long as it has to be, and hex is ASCII.
        hex::encode_to_slice(self.0, digits).map_err(|_| fmt::Error)?;
        let checksum = keccak256(&[digits]);
        for (position, digit) in digits.iter_mut().enumerate() {
            let byte = checksum[position / 2];
            let nibble = if position % 2 == 0 {
                byte >> 4
            } else {
                byte & 15
            };
            if nibble >= 8 {
                digit.make_ascii_uppercase();
            }
        }
        f.write_str(std::str::from_utf8(&shown).map_err(|_| fmt::Error)?)
    }
}

impl Nonce {
    /// `None` unless the text is `0x` and 64 hex digits.
    pub fn parse(text: &str) -> Option<Self> {
        parse_fixed(text).map(Nonce)
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(self.0))
    }
}

impl TransactionHash {
    /// `None` unless the text is `0x` and 64 hex digits.
    pub fn parse(text: &str) -> Option<Self> {
        parse_fixed(text).map(TransactionHash)
    }
}

impl fmt::Display for TransactionHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(self.0))
    }
}

impl Signature {
    /// `None` unless the text is `0x` and a whole, bounded, non-zero number of bytes in hex.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text
            .strip_prefix("0x")
            .or_else(|| text.strip_prefix("0X"))?;
        let fits = !digits.is_empty() && digits.len() <= 2 * SIGNATURE_BYTES_MAX;
        fits.then(|| hex::decode(digits).ok().map(Signature))?
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(&self.0))
    }
}

impl Network {
    /// `None` unless the text is `eip155:` and a canonical decimal chain id above zero.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("eip155:")?;
        let canonical =
            !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
        canonical.then(|| digits.parse().ok().map(Network))?
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "eip155:{}", self.0)
    }
}

macro_rules! shown_when_debugged {
    ($($name:ident),*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}
shown_when_debugged!(Address, Nonce, TransactionHash);

/// A signature is not printed: until it is settled it is money.
impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({} bytes)", self.0.len())
    }
}

macro_rules! string_on_the_wire {
    ($($name:ident, $expected:literal);*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                $name::parse(&text).ok_or_else(|| de::Error::custom(concat!("expected ", $expected)))
            }
        }
    )*};
}
string_on_the_wire!(
    Address, "0x and 40 hex digits";
    Nonce, "0x and 64 hex digits";
    TransactionHash, "0x and 64 hex digits";
    Signature, "0x and hex digits";
    Network, "a network eip155:N"
);

/// As the bare bytes, which is how records hold them: for `#[serde(with = "evm::bytes")]`.
pub mod bytes {
    use serde::de::DeserializeOwned;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Address, Nonce};

    /// What is a fixed number of bytes.
    pub trait Fixed: Copy {
        type Bytes: Serialize + DeserializeOwned;

        fn bytes(self) -> Self::Bytes;
        fn of(bytes: Self::Bytes) -> Self;
    }

    macro_rules! fixed {
        ($($name:ident: $length:literal),*) => {$(
            impl Fixed for $name {
                type Bytes = [u8; $length];

                fn bytes(self) -> Self::Bytes {
                    self.0
                }

                fn of(bytes: Self::Bytes) -> Self {
                    $name(bytes)
                }
            }
        )*};
    }
    fixed!(Address: 20, Nonce: 32);

    pub fn serialize<T: Fixed, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        value.bytes().serialize(serializer)
    }

    pub fn deserialize<'de, T: Fixed, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        T::Bytes::deserialize(deserializer).map(T::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of EIP-55.
    #[test]
    fn addresses_are_shown_with_their_checksum_and_read_in_any_case() {
        for shown in [
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
            "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
            "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
        ] {
            for spelling in [shown.to_owned(), shown.to_lowercase(), shown.to_uppercase()] {
                let address = Address::parse(&spelling).expect(&spelling);
                assert_eq!(address.to_string(), shown);
            }
        }
    }

    #[test]
    fn the_length_of_hex_is_exact() {
        let digits = "ab".repeat(20);
        for refused in [
            String::new(),
            "0x".to_owned(),
            digits.clone(),
            format!("0x{}", &digits[1..]),
            format!("0x{digits}0"),
            format!("0x{digits}00"),
            format!(" 0x{digits}"),
            format!("0x{}", "ａｂ".repeat(20)),
            format!("0x{}", "ag".repeat(20)),
        ] {
            assert_eq!(Address::parse(&refused), None, "{refused:?}");
        }
        assert_eq!(Nonce::parse(&format!("0x{digits}")), None);
        assert_eq!(
            Nonce::parse(&format!("0x{}", "AB".repeat(32))),
            Nonce::parse(&format!("0x{}", "ab".repeat(32)))
        );
    }

    #[test]
    fn signatures_have_any_length_within_the_bound() {
        for (text, bytes) in [("0x00", Some(1)), ("0x", None), ("0x0", None), ("00", None)] {
            assert_eq!(
                Signature::parse(text).map(|read| read.0.len()),
                bytes,
                "{text}"
            );
        }
        let longest = format!("0x{}", "00".repeat(SIGNATURE_BYTES_MAX));
        assert!(Signature::parse(&longest).is_some());
        assert!(Signature::parse(&format!("{longest}00")).is_none());
    }

    #[test]
    fn networks_have_one_spelling() {
        assert_eq!(Network::parse("eip155:8453"), Some(Network(8453)));
        assert_eq!(Network(8453).to_string(), "eip155:8453");
        for refused in [
            "base",
            "eip155:",
            "eip155:0",
            "eip155:08453",
            "eip155:+1",
            "EIP155:1",
            "eip155:18446744073709551616",
            "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
        ] {
            assert_eq!(Network::parse(refused), None, "{refused}");
        }
    }
}
