//! A seller's error in one line. The response may be anything.

use serde_json::Value;

use crate::api::failure::PAYMENT_ERROR;
use crate::outside::buyer::SellerReply;

/// Characters shown of a response in an unknown format.
const SHOWN_CHARACTERS_MAX: usize = 200;
/// The same for a response with a message.
const EXPLAINED_CHARACTERS_MAX: usize = 400;

/// What happened and what to do next, in the seller's words if available.
pub(in crate::cli) fn of(reply: &SellerReply) -> String {
    let body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    let error = &body["error"];
    let known = [&error["message"], &body["detail"][0]["msg"], error];
    // A 402's body has only a code for programs.
    let explained = reply.header(PAYMENT_ERROR);
    let text = match explained.or_else(|| known.into_iter().find_map(Value::as_str)) {
        Some(message) => [message, error["next_step"].as_str().unwrap_or_default()].join(" "),
        None => String::from_utf8_lossy(&reply.body).into_owned(),
    };
    let mut told = format!("the seller returned {}", reply.status);
    if let Some(code) = error["code"].as_str() {
        told.push_str(&format!(" ({code})"));
    }
    let words: Vec<_> = text.split_whitespace().collect();
    let characters_max = match explained {
        Some(_) => EXPLAINED_CHARACTERS_MAX,
        None => SHOWN_CHARACTERS_MAX,
    };
    let shown: String = words.join(" ").chars().take(characters_max).collect();
    if !shown.is_empty() {
        told.push_str(&format!(": {shown}"));
    }
    if error["charged"] == false {
        told.push_str(" Nothing was charged.");
    }
    if let Some(credit) = reply.header("x-service-retry-credit") {
        told.push_str(&format!(" Retry credit: {credit}"));
    }
    told
}

#[cfg(test)]
mod tests {
    use crate::cli::buyer::complaint::*;

    fn check(body: &str, expected: &str) {
        let reply = SellerReply {
            status: 400,
            headers: Vec::new(),
            body: body.as_bytes().to_vec(),
        };
        assert_eq!(of(&reply), expected, "{body}");
    }

    #[test]
    fn a_refusal_is_told_in_one_line() {
        check("", "the seller returned 400");
        check(
            r#"{"error":{"code":"no","message":"No.","next_step":"Ask\nagain.","charged":false}}"#,
            "the seller returned 400 (no): No. Ask again. Nothing was charged.",
        );
        check(
            r#"{"detail":[{"msg":"Input should be a valid URL"}]}"#,
            "the seller returned 400: Input should be a valid URL",
        );
        check(
            r#"{"x402Version":2,"error":"insufficient_funds"}"#,
            "the seller returned 400: insufficient_funds",
        );
        check(
            "<p>\n  Sorry\n</p>\n",
            "the seller returned 400: <p> Sorry </p>",
        );
        let explained = SellerReply {
            status: 402,
            headers: vec![(
                PAYMENT_ERROR.to_owned(),
                "The signature is not good.".to_owned(),
            )],
            body: br#"{"x402Version":2,"error":"invalid_exact_evm_signature"}"#.to_vec(),
        };
        let expected = "the seller returned 402: The signature is not good.";
        assert_eq!(of(&explained), expected);
        let long = "ab ".repeat(1000);
        check(&long, &format!("the seller returned 400: {}", &long[..200]));
    }
}
