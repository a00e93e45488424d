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
    // A 402's body has only a code for programs.
    let explained = reply.header(PAYMENT_ERROR);
    let mistakes = mistakes(&body["detail"]);
    let message = [&error["message"], error]
        .into_iter()
        .find_map(Value::as_str);
    let text = match (explained, &mistakes, message) {
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
    let words: Vec<_> = text.split_whitespace().collect();
    let characters_max = match explained.is_some() || mistakes.is_some() {
        true => EXPLAINED_CHARACTERS_MAX,
        false => SHOWN_CHARACTERS_MAX,
    };
    let shown: String = words.join(" ").chars().take(characters_max).collect();
    if !shown.is_empty() {
        line.push_str(&format!(": {shown}"));
    }
    // Most messages do not say it, and some do.
    if error["charged"] == false && !shown.to_lowercase().contains("nothing was charged") {
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

/// What is wrong with which part of the request, as a 422 lists it.
fn mistakes(detail: &Value) -> Option<String> {
    let mistakes = detail.as_array()?.iter().filter_map(|mistake| {
        let message = mistake["msg"].as_str()?;
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
            r#"{"detail":[{"msg":"Input should be a valid URL"}]}"#,
            "the seller returned 400: Input should be a valid URL",
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
        check(&long, &format!("the seller returned 400: {}", &long[..200]));
    }
}
