//! The one spelling of a JSON value (RFC 8785), so that whoever holds a report can hash it whatever its white space,
//! escapes and order of members have become on the way.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Members that the hash of a report leaves out: what stands around the findings and may differ between two readings.
pub const UNHASHED: [&str; 10] = [
    "result_hash",
    "signature",
    "report_url",
    "report_page",
    "verify_url",
    "follow_up_url",
    "refresh_url",
    "payment",
    "ueg_receipt",
    "cache",
];

/// The canonical text; nothing for what is no JSON of its kind, such as an infinite number.
pub fn canonical(value: &Value) -> Option<Vec<u8>> {
    serde_json_canonicalizer::to_vec(value).ok()
}

/// Hex SHA-256 over the canonical form of a report without the members of [`UNHASHED`]. A report that is no object
/// hashes as the empty one.
pub fn result_hash(report: &Value) -> String {
    let mut hashed = report.as_object().cloned().unwrap_or_default();
    hashed.retain(|name, _| !UNHASHED.contains(&name.as_str()));
    sha256(&canonical(&Value::Object(hashed)).unwrap_or_default())
}

/// Lower-case hex.
pub fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
