//! The one spelling of a JSON value (RFC 8785), so that anyone who has a report can hash it whatever its white space,
//! escapes and order of members have become on the way.

use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// Members that the hash of a report leaves out: what stands around the findings and may differ between two readings.
pub const UNHASHED: [&str; 12] = [
    "result_hash",
    "signature",
    "report_url",
    "report_page",
    "verify_url",
    "follow_up_url",
    "source_text_url",
    "screenshot_url",
    "refresh_url",
    "payment",
    "ueg_receipt",
    "cache",
];

/// A report's members as JSON.
pub(in crate::evidence) fn members(report: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(report) {
        Ok(Value::Object(members)) => members,
        // Plain structs of text and finite numbers: there is no other outcome.
        _ => Map::new(),
    }
}

/// The canonical text; nothing for what is no JSON of its kind, such as an infinite number.
pub fn canonical(value: &Value) -> Option<Vec<u8>> {
    serde_json_canonicalizer::to_vec(value).ok()
}

/// Hex SHA-256 over the canonical form of a report without the members of [`UNHASHED`]. A report that is no object
/// hashes as the empty one.
pub fn result_hash(report: &Value) -> String {
    match report.as_object() {
        Some(report) => sha256(&report_text(report)),
        None => sha256(&report_text(&Map::new())),
    }
}

/// The canonical text of what [`result_hash`] covers, whose plain SHA-256 it is.
pub fn report_text(report: &Map<String, Value>) -> Vec<u8> {
    without(report, &UNHASHED)
}

/// Members that the hash of a bundle's report leaves out.
pub const UNHASHED_OF_BUNDLE: [&str; 17] = [
    "result_hash",
    "signature",
    "download",
    "recovery_url",
    "email",
    "expires_at",
    "progress",
    "report_id",
    "retention_days",
    "report_url",
    "report_page",
    "pdf_url",
    "verify_url",
    "source_text_url",
    "payment",
    "ueg_receipt",
    "cache",
];

/// The canonical text of what [`bundle_hash`] covers, whose plain SHA-256 it is.
pub fn bundle_text(report: &Map<String, Value>) -> Vec<u8> {
    without(report, &UNHASHED_OF_BUNDLE)
}

fn without(report: &Map<String, Value>, names: &[&str]) -> Vec<u8> {
    let mut hashed = report.clone();
    hashed.retain(|name, _| !names.contains(&name.as_str()));
    canonical(&Value::Object(hashed)).unwrap_or_default()
}

/// Hex SHA-256 over the canonical form of a bundle's report without the members of [`UNHASHED_OF_BUNDLE`].
pub fn bundle_hash(report: &Map<String, Value>) -> String {
    sha256(&bundle_text(report))
}

/// Lower-case hex.
pub fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use crate::evidence::report::canonical::*;

    fn check(json: &str, expected: &str) {
        let value: Value = serde_json::from_str(json).expect("JSON");
        let bytes = canonical(&value).expect("a canonical form");
        assert_eq!(String::from_utf8_lossy(&bytes), expected);
    }

    /// RFC 8785, 3.2.2 to 3.2.4.
    #[test]
    fn the_examples_of_the_rfc() {
        check(
            r#"{
                "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
                "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
                "literals": [null, true, false]
            }"#,
            r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#,
        );
        // Sorted by UTF-16: a character outside of the first plane stands before U+FB33.
        check(
            r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",
                "\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#,
            "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}",
        );
    }

    /// RFC 8785, appendix B: the bits of a number and its text.
    #[test]
    fn the_numbers_of_the_rfc() {
        let vectors: [(u64, &str); 19] = [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
        ];
        for (bits, expected) in vectors {
            let bytes = canonical(&json!(f64::from_bits(bits))).expect("a number");
            assert_eq!(String::from_utf8_lossy(&bytes), expected, "{bits:x}");
        }
    }

    #[test]
    fn what_stands_around_a_report_does_not_change_its_hash() {
        let report = json!({"answer": "yes", "score": 0.5});
        let mut dressed = report.clone();
        for name in UNHASHED {
            dressed[name] = json!({"any": 1});
        }
        assert_eq!(result_hash(&report), result_hash(&dressed));
        assert_ne!(
            result_hash(&report),
            result_hash(&json!({"answer": "no", "score": 0.5}))
        );
        assert_eq!(result_hash(&json!({})), sha256(b"{}"));
        assert_eq!(
            sha256(b""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<u32>().prop_map(Value::from),
            (0u32..10_000).prop_map(|number| json!(f64::from(number) / 10_000.0)),
            "\\PC{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec(("\\PC{0,6}", inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// Every object's members from last to first.
    fn turned(value: &Value) -> Value {
        match value {
            Value::Object(members) => {
                let members = members
                    .iter()
                    .rev()
                    .map(|(name, value)| (name.clone(), turned(value)));
                Value::Object(members.collect::<Map<_, _>>())
            }
            Value::Array(items) => items.iter().map(turned).collect(),
            other => other.clone(),
        }
    }

    proptest! {
        #[test]
        fn the_order_of_members_and_the_spelling_do_not_matter(value in any_json()) {
            let other = serde_json::to_string_pretty(&turned(&value)).expect("JSON");
            let other: Value = serde_json::from_str(&other).expect("JSON");
            prop_assert_eq!(canonical(&value), canonical(&other));
            prop_assert_eq!(result_hash(&value), result_hash(&other));
        }

        #[test]
        fn the_canonical_form_says_the_same(value in any_json()) {
            let bytes = canonical(&value).expect("a canonical form");
            let again: Value = serde_json::from_slice(&bytes).expect("JSON");
            prop_assert_eq!(canonical(&again), Some(bytes));
        }
    }
}
