//! JSON of which little is needed, without a tree of all that it holds: small values in a tree take eighty times their text.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an array, at most so many, and how many there are. `None` when it is none.
pub(super) fn pieces(array: &RawValue, most: usize) -> Option<(Vec<&RawValue>, usize)> {
    serde_json::Deserializer::from_str(array.get())
        .deserialize_seq(Pieces(most))
        .ok()
}

struct Pieces(usize);

impl<'de> Visitor<'de> for Pieces {
    type Value = (Vec<&'de RawValue>, usize);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut pieces = Vec::new();
        while pieces.len() < self.0
            && let Some(piece) = array.next_element()?
        {
            pieces.push(piece);
        }
        let mut count = pieces.len();
        while array.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok((pieces, count))
    }
}

/// A text, or the lines of one. A value of another type is an empty text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text(pub(super) String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text, D::Error> {
        deserializer.deserialize_any(Lines)
    }
}

struct Lines;

impl<'de> Visitor<'de> for Lines {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or lines")
    }

    fn visit_str<E>(self, text: &str) -> Result<Text, E> {
        Ok(Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut lines: A) -> Result<Text, A::Error> {
        let mut all = String::new();
        while let Some(Text(line)) = lines.next_element()? {
            all.push_str(&line);
        }
        Ok(Text(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Text::default())
    }

    fn visit_unit<E>(self) -> Result<Text, E> {
        Ok(Text::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Text, E> {
        Ok(Text::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Text, E> {
        Ok(Text::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Text, E> {
        Ok(Text::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Text, E> {
        Ok(Text::default())
    }
}
