//! A seller's error in one line. The response may be anything.

use serde_json::Value;

use crate::api::failure::PAYMENT_ERROR;
use crate::domain::code::Code;
use crate::outside::buyer::SellerReply;

/// Characters shown of a response in an unknown format.
const SHOWN_CHARACTERS_MAX: usize = 200;
/// The same for a response with a message.
const EXPLAINED_CHARACTERS_MAX: usize = 1_000;
/// Replaces the seller's advice to repeat the same payment, because `buy` creates a new signature on each run. While the
/// outcome of an earlier payment is unknown, the seller does not settle another one from the same payer for the same purchase.
/// It answers with what the earlier one bought.
const MAY_BE_CHARGED: &str = "You may have been charged. Run the same command again within a day: you are not charged twice.";

/// What happened and what to do next, in the seller's words if available.
pub(in crate::cli) fn of(reply: &SellerReply) -> String {
    let body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    let error = &body["error"];
    // A 402's body has only a code for programs.
    let explained = reply.header(PAYMENT_ERROR);
    let mistakes = mistakes(&body["detail"]);
    let message = [&error["message"], error]
        .into_iter()
        .find_map(Value::as_str);
    let is_unknown = error["code"] == Code::SettlementUnknown.text();
    let characters_max = match (explained, &mistakes, message) {
        (None, None, None) => SHOWN_CHARACTERS_MAX,
        _ => EXPLAINED_CHARACTERS_MAX,
    };
    let text = match (explained, &mistakes, message) {
        _ if is_unknown => MAY_BE_CHARGED.to_owned(),
        // The general message of a 422 only says that there are mistakes.
        (None, Some(mistakes), _) => mistakes.clone(),
        (Some(message), ..) | (None, None, Some(message)) => {
            [message, error["next_step"].as_str().unwrap_or_default()].join(" ")
        }
        (None, None, None) => String::from_utf8_lossy(&reply.body).into_owned(),
    };
    let mut line = format!("the seller returned {}", reply.status);
    if let Some(code) = error["code"].as_str() {
        line.push_str(&format!(" ({code})"));
    }
    let shown = shortened(&text, characters_max);
    if !shown.is_empty() {
        line.push_str(&format!(": {shown}"));
    }
    // Most messages do not say it, and some do.
    let said = shown.to_lowercase();
    let says_so = said.contains("nothing was charged") || said.contains("was not used");
    if !is_unknown && error["charged"] == false && !says_so {
        // A list of mistakes ends without a full stop.
        if mistakes.is_some() {
            line.push('.');
        }
        line.push_str(" Nothing was charged.");
    }
    if let Some(credit) = reply.header("x-service-retry-credit") {
        line.push_str(&format!(" Retry credit: {credit}"));
    }
    line
}

/// The text in one line, with whole words only.
fn shortened(text: &str, characters_max: usize) -> String {
    let mut shown = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        count += word.chars().count() + 1;
        if count > characters_max {
            shown.push('…');
            break;
        }
        if !shown.is_empty() {
            shown.push(' ');
        }
        shown.push_str(word);
    }
    shown
}

/// What is wrong with which part of the request, as a 422 lists it.
fn mistakes(detail: &Value) -> Option<String> {
    let mistakes = detail.as_array()?.iter().filter_map(|mistake| {
        let message = mistake["msg"].as_str()?;
        let message = message.strip_prefix("Value error, ").unwrap_or(message);
        let place = mistake["loc"].as_array().into_iter().flatten();
        let place: Vec<String> = place
            .map(|part| match part {
                Value::String(name) => name.clone(),
                part => part.to_string(),
            })
            .collect();
        Some(match place.is_empty() {
            true => message.to_owned(),
            false => format!("{}: {message}", place.join(".")),
        })
    });
    let mistakes: Vec<String> = mistakes.collect();
    (!mistakes.is_empty()).then(|| mistakes.join("; "))
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
            r#"{"detail":[{"msg":"Value error, write it once"}]}"#,
            "the seller returned 400: write it once",
        );
        check(
            r#"{"error":{"message":"It was not used.","next_step":"Try again.","charged":false}}"#,
            "the seller returned 400: It was not used. Try again.",
        );
        check(
            r#"{"error":{"code":"validation_failed","message":"The request is invalid.",
                "next_step":"Correct what `detail` names.","charged":false},
                "detail":[{"loc":["body","target_urls",1],"msg":"Input should be a valid URL"},
                    {"loc":["body","tier"],"msg":"Input should be a string"}]}"#,
            "the seller returned 400 (validation_failed): body.target_urls.1: Input should be a valid URL; \
             body.tier: Input should be a string. Nothing was charged.",
        );
        // Once is enough.
        check(
            r#"{"error":{"message":"Paused. Nothing was charged and no payment was used.","charged":false}}"#,
            "the seller returned 400: Paused. Nothing was charged and no payment was used.",
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
        let shown = format!("{}…", "ab ".repeat(66).trim_end());
        check(&long, &format!("the seller returned 400: {shown}"));
    }

    /// `buy` creates a new signature on each run, so the advice to repeat the same payment cannot be followed.
    #[test]
    fn an_unknown_settlement_says_what_to_run() {
        let advice = "Do not sign again: repeat this request unchanged. ".repeat(9);
        let reply = SellerReply {
            status: 503,
            headers: vec![("x-service-retry-credit".to_owned(), "rc_1".to_owned())],
            body: serde_json::json!({"error": {"code": "settlement_unknown", "message": advice, "charged": true}})
                .to_string()
                .into_bytes(),
        };
        assert_eq!(
            of(&reply),
            "the seller returned 503 (settlement_unknown): You may have been charged. Run the same command again within a \
             day: you are not charged twice. Retry credit: rc_1"
        );
    }
}
