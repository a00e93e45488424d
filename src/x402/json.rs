//! JSON from strangers: bounded in depth, refused when an object names a key twice. serde alone keeps the last of two
//! equal keys, so two readers of one text could see two different payments.
//! It does not bound the length; the caller has done that before decoding.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Nesting of arrays and objects that a payment may have. One that echoes our Bazaar block has up to 16, and inside an MCP
/// call three more.
pub const DEPTH_MAX: usize = 24;

/// Why a text is not JSON that we read, in serde's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError(pub String);

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Invalid JSON: {}", self.0)
    }
}

impl std::error::Error for JsonError {}

/// Reads one JSON text and nothing after it, at most [`DEPTH_MAX`] deep and without duplicate keys.
pub fn parse(text: &[u8]) -> Result<Value, JsonError> {
    check(text)?;
    serde_json::from_slice(text).map_err(|failure| JsonError(failure.to_string()))
}

/// Refuses what [`parse`] refuses and makes nothing of it: for a text that is then read into a type of its own.
pub fn check(text: &[u8]) -> Result<(), JsonError> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let strict = Strict {
        depth_left: DEPTH_MAX,
    };
    strict
        .deserialize(&mut deserializer)
        .and_then(|()| deserializer.end())
        .map_err(|failure| JsonError(failure.to_string()))
}

#[derive(Clone, Copy)]
struct Strict {
    depth_left: usize,
}

impl Strict {
    fn deeper<E: de::Error>(self) -> Result<Strict, E> {
        match self.depth_left.checked_sub(1) {
            Some(depth_left) => Ok(Strict { depth_left }),
            None => Err(E::custom("nested too deeply")),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// A key, borrowed where it has no escapes.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Visitor<'de> for Strict {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let seed = self.deeper()?;
        while items.next_element_seed(seed)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let seed = self.deeper()?;
        let mut names = Vec::new();
        while let Some(name) = entries.next_key::<Name<'de>>()? {
            entries.next_value_seed(seed)?;
            names.push(name);
        }
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(de::Error::custom("an object names one key twice"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_texts_read_as_serde_reads_them() {
        for text in [
            "{}",
            "[1,-2,2.5,true,null,\"\\u00e9\"]",
            "{\"a\":{\"b\":[[]]},\"c\":\"\"}",
            " 1 ",
        ] {
            let ours = parse(text.as_bytes()).expect(text);
            let theirs: Value = serde_json::from_str(text).expect(text);
            assert_eq!(ours, theirs, "{text}");
        }
    }

    #[test]
    fn duplicate_keys_are_refused_however_they_are_spelled() {
        for text in [
            "{\"a\":1,\"a\":1}",
            "{\"a\":1,\"\\u0061\":2}",
            "[{\"b\":{\"c\":1,\"d\":2,\"c\":3}}]",
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(nested(DEPTH_MAX).as_bytes()).is_ok());
        assert!(parse(nested(DEPTH_MAX + 1).as_bytes()).is_err());
        assert!(parse("[".repeat(100_000).as_bytes()).is_err());
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in [
            &b""[..],
            b"{",
            b"{} {}",
            b"NaN",
            b"1e999",
            b"\xef\xbb\xbf{}",
            b"\"\xff\"",
            b"{'a':1}",
            b"01",
        ] {
            assert!(parse(text).is_err(), "{}", String::from_utf8_lossy(text));
        }
    }
}
