//! Parses a body into its members, in order, or an error if it is not a JSON object.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Value, json};

use super::ValidationError;

/// The byte order mark in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// JSON without the byte order mark that some editors and shells put in front; a parser may ignore it (RFC 8259, 8.1).
pub fn without_mark(body: &[u8]) -> &[u8] {
    body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body)
}

pub(super) fn parse_members(body: &[u8]) -> Result<Vec<(String, Value)>, Vec<ValidationError>> {
    let body = without_mark(body);
    if body.is_empty() {
        return Err(vec![ValidationError::new(
            &["body"],
            "missing",
            "Field required",
            Some(Value::Null),
        )]);
    }
    match serde_json::from_slice::<Members>(body) {
        Ok(Members(members)) => Ok(members),
        Err(error) if error.is_data() => Err(vec![ValidationError::new(
            &["body"],
            "model_attributes_type",
            "Input should be a valid dictionary or object to extract fields from",
            serde_json::from_slice(body).ok(),
        )]),
        Err(error) => {
            let mut invalid = ValidationError::new(
                &["body"],
                "json_invalid",
                "JSON decode error",
                Some(json!({})),
            );
            invalid.loc.push(error.column().into());
            Err(vec![invalid.ctx(json!({"error": error.to_string()}))])
        }
    }
}

/// The members of an object in order, repetitions included.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}
