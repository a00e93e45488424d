//! What a settlement has come to, whatever the reply says.

use super::*;

/// Success only with every field right; what is not certain is unknown.
#[tokio::test]
async fn settlements_are_believed_field_by_field() {
    let good =
        json!({"success": true, "payer": payer(), "transaction": hash(), "network": "eip155:8453"});
    let with = |key: &str, value: Value| {
        let mut body = good.clone();
        body[key] = value;
        body
    };
    for body in [
        good.clone(),
        with("amount", json!("12000")),
        with("payer", Value::Null),
        with("errorReason", json!("")),
        with("requirements", json!({})),
    ] {
        let server = always(reply(200, &body));
        let expected = Settlement::Success {
            transaction: transaction().expect("a hash"),
        };
        assert_eq!(settle(&server, Attempt::First).await, expected, "{body}");
        assert_eq!(settle(&server, Attempt::Repeated).await, expected, "{body}");
    }
    for (status, body, lie) in [
        (
            200,
            with("payer", json!(OTHER)),
            "a settlement of another payer",
        ),
        (
            200,
            with("network", json!("eip155:84532")),
            "a settlement on another network",
        ),
        (
            200,
            with("network", json!("base")),
            "a settlement on another network",
        ),
        (
            200,
            with("network", Value::Null),
            "a settlement on another network",
        ),
        (
            200,
            with("amount", json!("1")),
            "success with another amount",
        ),
        (
            200,
            with("errorReason", json!("x")),
            "success with an errorReason",
        ),
        (500, good.clone(), "success under a failing status"),
        (
            200,
            with("transaction", json!("")),
            "success without a transaction",
        ),
        (
            200,
            with("transaction", json!("0x12")),
            "success without a transaction",
        ),
        (
            200,
            with("transaction", json!(format!("0x{}", "0".repeat(64)))),
            "success without a transaction",
        ),
        (
            200,
            with("transaction", Value::Null),
            "success without a transaction",
        ),
    ] {
        let hint = TransactionHash::parse(body["transaction"].as_str().unwrap_or(""));
        let hint = hint.filter(|hash| *hash != TransactionHash([0; 32]));
        let server = always(reply(status, &body));
        assert_eq!(
            settle(&server, Attempt::First).await,
            Settlement::Unknown {
                why: SettleDoubt::Call(CallError::Contradiction(lie)),
                transaction: hint
            },
            "{body}"
        );
    }
}

fn failed(reason: &str) -> Value {
    json!({"success": false, "errorReason": reason, "payer": payer(), "transaction": "", "network": "eip155:8453"})
}

#[tokio::test]
async fn a_failure_is_definite_only_when_nothing_is_left_open() {
    for (status, body, reason) in [
        (200, failed("insufficient_funds"), "insufficient_funds"),
        (
            400,
            failed("invalid_exact_evm_payload_authorization_valid_before"),
            "invalid_exact_evm_payload_authorization_valid_before",
        ),
        (
            402,
            json!({"success": false, "errorReason": "invalid_scheme"}),
            "invalid_scheme",
        ),
    ] {
        let server = always(reply(status, &body));
        let definite = Settlement::Failed {
            reason: reason.to_owned(),
        };
        assert_eq!(settle(&server, Attempt::First).await, definite, "{body}");
        let open = Settlement::Unknown {
            why: SettleDoubt::Indefinite {
                status,
                reason: reason.to_owned(),
            },
            transaction: None,
        };
        assert_eq!(settle(&server, Attempt::Repeated).await, open, "{body}");
    }
    for reason in [
        "invalid_exact_evm_nonce_already_used",
        "invalid_exact_evm_transaction_failed",
        "invalid_exact_evm_transaction_simulation_failed",
        "invalid_transaction_state",
        "settlement_pending",
        "unexpected_settle_error",
        "failed_to_execute_transfer",
        // Nobody has seen these: an unknown reason proves nothing.
        "settlement_timeout",
        "settle_exact_node_failure",
        "insufficient_funds_for_gas",
        "connect ECONNREFUSED 10.0.0.1:8545",
        "",
    ] {
        let outcome = settle(&always(reply(200, &failed(reason))), Attempt::First).await;
        assert!(
            matches!(
                outcome,
                Settlement::Unknown {
                    why: SettleDoubt::Indefinite { .. },
                    ..
                }
            ),
            "{reason}: {outcome:?}"
        );
    }
    let mut with_transaction = failed("insufficient_funds");
    with_transaction["transaction"] = json!(hash());
    let outcome = settle(&always(reply(200, &with_transaction)), Attempt::First).await;
    assert!(
        matches!(outcome, Settlement::Unknown { transaction: hint, .. } if hint == transaction()),
        "{outcome:?}"
    );
    for (status, body) in [
        (500, failed("insufficient_funds")),
        (401, failed("insufficient_funds")),
        (
            200,
            json!({"success": false, "errorReason": "insufficient_funds", "network": "eip155:1"}),
        ),
        (
            200,
            json!({"success": false, "errorReason": "insufficient_funds", "payer": OTHER}),
        ),
        (
            200,
            json!({"isValid": false, "invalidReason": "insufficient_funds"}),
        ),
        (307, json!({})),
        (504, json!("upstream timed out")),
    ] {
        let outcome = settle(&always(reply(status, &body)), Attempt::First).await;
        assert!(
            matches!(outcome, Settlement::Unknown { .. }),
            "{status} {body}: {outcome:?}"
        );
    }
}

#[tokio::test]
async fn a_broken_connection_is_tried_once_more() {
    let valid = reply(200, &json!({"isValid": true, "payer": payer()}));
    let server = scripted(vec![Step::Last(Vec::new()), Step::Last(valid.clone())]);
    assert!(matches!(
        verify(&server).await,
        Ok(Verification::Valid { .. })
    ));
    assert_eq!(server.requests().len(), 2);

    let half = valid[..valid.len() - 5].to_vec();
    let server = scripted(vec![Step::Last(half.clone()), Step::Last(half)]);
    let outcome = verify(&server).await;
    assert!(matches!(outcome, Err(CallError::Cut(_))), "{outcome:?}");
    assert_eq!(server.requests().len(), 2);
}

/// The repetition is not a first settle: whatever it refuses may be what the first one caused.
#[tokio::test]
async fn a_settle_is_repeated_once_and_then_never_definite() {
    let success =
        json!({"success": true, "payer": payer(), "transaction": hash(), "network": "eip155:8453"});
    let server = scripted(vec![
        Step::Last(Vec::new()),
        Step::Last(reply(200, &success)),
    ]);
    assert!(matches!(
        settle(&server, Attempt::First).await,
        Settlement::Success { .. }
    ));
    let bodies: Vec<Vec<u8>> = server
        .requests()
        .into_iter()
        .map(|seen| seen.body)
        .collect();
    assert_eq!(bodies.len(), 2);
    assert_eq!(bodies[0], bodies[1]);

    let refused = reply(200, &failed("insufficient_funds"));
    let server = scripted(vec![Step::Last(Vec::new()), Step::Last(refused)]);
    let outcome = settle(&server, Attempt::First).await;
    assert!(
        matches!(
            outcome,
            Settlement::Unknown {
                why: SettleDoubt::Indefinite { .. },
                ..
            }
        ),
        "{outcome:?}"
    );

    let mut pending = failed("settlement_pending");
    pending["transaction"] = json!(hash());
    let server = scripted(vec![
        Step::Reply(reply(500, &pending)),
        Step::Last(reply(200, &success)),
    ]);
    assert!(matches!(
        settle(&server, Attempt::First).await,
        Settlement::Success { .. }
    ));

    // Pending, then lost: the transaction that was named is kept.
    let server = scripted(vec![
        Step::Reply(reply(500, &pending)),
        Step::Last(Vec::new()),
    ]);
    let outcome = settle(&server, Attempt::First).await;
    assert!(
        matches!(outcome, Settlement::Unknown { transaction: hint, .. } if hint == transaction()),
        "{outcome:?}"
    );
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn what_was_never_sent_is_told_apart() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    drop(listener);
    let failure = client(&url)
        .verify(&request(&client(&url)), NOW)
        .await
        .expect_err("refused");
    assert!(matches!(failure, CallError::Unreachable(_)), "{failure:?}");
    assert!(failure.is_retryable() && !failure.was_sent());
    let outcome = client(&url)
        .settle(&request(&client(&url)), Attempt::First, NOW)
        .await;
    assert!(
        matches!(&outcome, Settlement::Unknown { why, .. } if !why.was_sent()),
        "{outcome:?}"
    );
}
