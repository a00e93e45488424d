//! The bytes of a sold answer: its members, as they were kept before the payment was settled, with the payment.

use serde_json::Value;

/// The whole answer of a report: its document with the payment.
pub fn whole_report(document: &[u8], paid: &str, transaction: &str) -> Vec<u8> {
    let members = document
        .strip_prefix(b"{")
        .and_then(|rest| rest.strip_suffix(b"}"));
    whole(&[members.unwrap_or_default()], paid, transaction)
}

/// The whole answer; constant once the payment is settled.
pub fn whole(members: &[&[u8]], paid: &str, transaction: &str) -> Vec<u8> {
    let length: usize = members.iter().map(|members| members.len()).sum();
    let mut body = Vec::with_capacity(length + paid.len() + 160);
    let mut next = b'{';
    for members in members.iter().filter(|members| !members.is_empty()) {
        body.push(next);
        body.extend_from_slice(members);
        next = b',';
    }
    body.extend_from_slice(b",\"payment\":{");
    body.extend_from_slice(paid.as_bytes());
    let transaction = Value::from(transaction);
    body.extend_from_slice(
        format!(",\"transaction\":{transaction},\"settled\":true}}}}").as_bytes(),
    );
    body
}
