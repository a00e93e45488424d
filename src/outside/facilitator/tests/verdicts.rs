//! Which replies to a verification are believed.

use super::*;

/// A verdict only from a reply of the protocol that agrees with what we asked.
#[tokio::test]
async fn verdicts_are_taken_from_true_replies_alone() {
    let valid = Ok(Verification::Valid { payer: payer() });
    let lower = payer().to_string().to_lowercase();
    for (status, body, expected) in [
        (
            200,
            json!({"isValid": true, "payer": payer()}),
            valid.clone(),
        ),
        (
            200,
            json!({"isValid": true, "payer": lower, "extra": {"a": [1]}}),
            valid.clone(),
        ),
        (
            200,
            json!({"isValid": true, "payer": null, "invalidReason": null}),
            valid.clone(),
        ),
        (
            200,
            json!({"isValid": false, "invalidReason": "insufficient_funds", "payer": payer()}),
            invalid("insufficient_funds"),
        ),
        (
            400,
            json!({"isValid": false, "invalidReason": "invalid_payload"}),
            invalid("invalid_payload"),
        ),
        (
            500,
            json!({"isValid": false, "invalidReason": "invalid_exact_evm_signature"}),
            invalid("invalid_exact_evm_signature"),
        ),
        (200, json!({"isValid": false}), invalid("payment_invalid")),
        (
            200,
            json!({"isValid": false, "invalidReason": "HTTP request failed: https://node.example/KEY"}),
            invalid("payment_invalid"),
        ),
        (
            200,
            json!({"isValid": false, "invalidReason": "a".repeat(81)}),
            invalid("payment_invalid"),
        ),
        (
            200,
            json!({"isValid": false, "invalidReason": "unexpected_verify_error"}),
            Err(CallError::Faulty("unexpected_verify_error".to_owned())),
        ),
        (
            200,
            json!({"isValid": true, "payer": OTHER}),
            Err(CallError::Contradiction("isValid for another payer")),
        ),
        (
            200,
            json!({"isValid": true, "payer": "me"}),
            Err(CallError::Contradiction("isValid for another payer")),
        ),
        (
            200,
            json!({"isValid": true, "payer": payer(), "invalidReason": "expired"}),
            Err(CallError::Contradiction("isValid with an invalidReason")),
        ),
        (
            500,
            json!({"isValid": true, "payer": payer()}),
            Err(CallError::Contradiction("isValid under a failing status")),
        ),
        (
            401,
            json!({"isValid": false, "invalidReason": "unauthorized"}),
            Err(CallError::Denied(401)),
        ),
        (403, json!({}), Err(CallError::Denied(403))),
        (429, json!({}), Err(CallError::Busy)),
        (
            302,
            json!({"isValid": true}),
            Err(CallError::Redirected(302)),
        ),
        (500, json!({"error": "boom"}), Err(CallError::Status(500))),
        (503, json!({"isValid": false}), Err(CallError::Status(503))),
        (404, json!("not found"), Err(CallError::Status(404))),
    ] {
        let server = always(reply(status, &body));
        assert_eq!(verify(&server).await, expected, "{status} {body}");
    }
}

#[tokio::test]
async fn replies_that_are_none_are_garbled() {
    let deep = format!("{{\"isValid\":{}", "[".repeat(60_000));
    let huge = format!("{{\"isValid\":true,\"pad\":\"{}\"}}", "x".repeat(70_000));
    for (body, note) in [
        ("<html>It works!</html>", "HTML"),
        ("", "empty"),
        ("null", "null"),
        ("[]", "a list"),
        ("{}", "no verdict"),
        ("{\"isValid\":\"true\"}", "text for a boolean"),
        ("{\"isValid\":true,\"isValid\":false}", "said twice"),
        ("{\"isValid\":true", "half"),
        (&deep, "deep"),
        (&huge, "huge"),
    ] {
        let server = always(response(200, &[], body.as_bytes()));
        let outcome = verify(&server).await;
        assert!(
            matches!(outcome, Err(CallError::Garbled(_))),
            "{note}: {outcome:?}"
        );
        let Err(failure) = outcome else { continue };
        assert!(!failure.is_retryable() && failure.was_sent(), "{note}");
        let outcome = settle(&server, Attempt::First).await;
        assert!(
            matches!(
                &outcome,
                Settlement::Unknown {
                    why: SettleDoubt::Call(CallError::Garbled(_)),
                    transaction: None
                }
            ),
            "{note}: {outcome:?}"
        );
    }
    let server = always(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec());
    assert!(matches!(verify(&server).await, Err(CallError::Garbled(_))));
}

/// Compressed to nothing on the wire, megabytes when unpacked.
#[tokio::test]
async fn the_limit_counts_unpacked_bytes() {
    let mut gzip = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    // Stored blocks of zeros: the simplest deflate stream there is.
    for _ in 0..3 {
        gzip.extend_from_slice(&[0, 0xff, 0xff, 0, 0]);
        gzip.extend_from_slice(&[b' '; 65_535]);
    }
    let server = always(response(200, &[("Content-Encoding", "gzip")], &gzip));
    assert!(matches!(verify(&server).await, Err(CallError::Garbled(_))));
}
