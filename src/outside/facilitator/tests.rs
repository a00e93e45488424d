use std::net::TcpListener;
use std::sync::Mutex;

use serde_json::{Value, json};

use super::*;
use crate::outside::loopback::{Server, Step, response};
use crate::sandbox::ledger::Ledger;
use crate::x402::address::{Address, Network, TransactionHash};
use crate::x402::proof::PaymentProof;
use crate::x402::vectors;

const NOW: UnixSeconds = UnixSeconds(1_795_248_000);
const OTHER: &str = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

/// The first vector: 12000 units from 0x7099…79C8 on Base.
fn payment() -> (PaymentProof, PaymentRequirements) {
    let vector = &vectors::all().payments[0];
    let proof = PaymentProof::decode(&vector.payment_signature_header).expect("a payment");
    let offer = serde_json::from_value(vector.payment_payload["accepted"].clone());
    (proof, offer.expect("requirements"))
}

fn payer() -> Address {
    payment().0.from()
}

fn hash() -> String {
    format!("0x{}", "5a".repeat(32))
}

fn transaction() -> Option<TransactionHash> {
    TransactionHash::parse(&hash())
}

fn settings(base_url: &str) -> FacilitatorSettings {
    FacilitatorSettings {
        base_url: base_url.to_owned(),
        auth: FacilitatorAuth::None,
        connect_timeout: Duration::from_secs(2),
        verify_timeout: Duration::from_secs(5),
        settle_timeout: Duration::from_secs(5),
        calls_max: 4,
        passes_on: PassesOn::Everything,
        ca_pem: None,
    }
}

fn client(base_url: &str) -> Facilitator {
    Facilitator::new(settings(base_url)).expect("settings")
}

/// A server that answers every request with these bytes.
fn always(bytes: Vec<u8>) -> Server {
    Server::start(move |_| Step::Last(bytes.clone()))
}

fn reply(status: u16, body: &Value) -> Vec<u8> {
    response(
        status,
        &[("Content-Type", "application/json")],
        body.to_string().as_bytes(),
    )
}

async fn verify(server: &Server) -> Result<Verdict, CallError> {
    let (proof, offer) = payment();
    client(&server.url).verify(&proof, &offer, NOW).await
}

async fn settle(server: &Server, first: bool) -> Settlement {
    let (proof, offer) = payment();
    client(&server.url).settle(&proof, &offer, first, NOW).await
}

fn invalid(reason: &str) -> Result<Verdict, CallError> {
    Ok(Verdict::Invalid {
        reason: reason.to_owned(),
    })
}

/// A12, verify: a verdict only from a reply of the protocol that agrees with what we asked.
#[tokio::test]
async fn verdicts_are_taken_from_true_replies_alone() {
    let valid = Ok(Verdict::Valid { payer: payer() });
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
        let outcome = settle(&server, true).await;
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

/// A12, settle: success only with every field right; what is not certain is unknown.
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
        assert_eq!(settle(&server, true).await, expected, "{body}");
        assert_eq!(settle(&server, false).await, expected, "{body}");
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
            with("transaction", Value::Null),
            "success without a transaction",
        ),
    ] {
        let hint = TransactionHash::parse(body["transaction"].as_str().unwrap_or(""));
        let server = always(reply(status, &body));
        assert_eq!(
            settle(&server, true).await,
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
        assert_eq!(settle(&server, true).await, definite, "{body}");
        let open = Settlement::Unknown {
            why: SettleDoubt::Indefinite {
                status,
                reason: reason.to_owned(),
            },
            transaction: None,
        };
        assert_eq!(settle(&server, false).await, open, "{body}");
    }
    for reason in [
        "invalid_exact_evm_nonce_already_used",
        "invalid_exact_evm_transaction_failed",
        "invalid_exact_evm_transaction_simulation_failed",
        "invalid_transaction_state",
        "settlement_pending",
        "unexpected_settle_error",
        "failed_to_execute_transfer",
        "connect ECONNREFUSED 10.0.0.1:8545",
        "",
    ] {
        let outcome = settle(&always(reply(200, &failed(reason))), true).await;
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
    let outcome = settle(&always(reply(200, &with_transaction)), true).await;
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
        let outcome = settle(&always(reply(status, &body)), true).await;
        assert!(
            matches!(outcome, Settlement::Unknown { .. }),
            "{status} {body}: {outcome:?}"
        );
    }
}

/// Answers request by request from a script, then closes.
fn scripted(steps: Vec<Step>) -> Server {
    let steps = Mutex::new(steps.into_iter());
    Server::start(move |_| {
        let next = steps.lock().expect("no panic before").next();
        next.unwrap_or(Step::Last(Vec::new()))
    })
}

#[tokio::test]
async fn a_broken_connection_is_tried_once_more() {
    let valid = reply(200, &json!({"isValid": true, "payer": payer()}));
    let server = scripted(vec![Step::Last(Vec::new()), Step::Last(valid.clone())]);
    assert!(matches!(verify(&server).await, Ok(Verdict::Valid { .. })));
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
        settle(&server, true).await,
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
    let outcome = settle(&server, true).await;
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
        settle(&server, true).await,
        Settlement::Success { .. }
    ));

    // Pending, then lost: the transaction that was named is kept.
    let server = scripted(vec![
        Step::Reply(reply(500, &pending)),
        Step::Last(Vec::new()),
    ]);
    let outcome = settle(&server, true).await;
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
    let (proof, offer) = payment();
    let failure = client(&url)
        .verify(&proof, &offer, NOW)
        .await
        .expect_err("refused");
    assert!(matches!(failure, CallError::Unreachable(_)), "{failure:?}");
    assert!(failure.is_retryable() && !failure.was_sent());
    let outcome = client(&url).settle(&proof, &offer, true, NOW).await;
    assert!(
        matches!(&outcome, Settlement::Unknown { why, .. } if !why.was_sent()),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn a_slow_facilitator_is_cut_off() {
    let server = Server::start(|_| Step::Hang(Duration::from_secs(30)));
    let mut settings = settings(&server.url);
    settings.verify_timeout = Duration::from_millis(200);
    settings.settle_timeout = Duration::from_millis(200);
    let client = Facilitator::new(settings).expect("settings");
    let (proof, offer) = payment();
    assert_eq!(
        client.verify(&proof, &offer, NOW).await,
        Err(CallError::TimedOut)
    );
    let outcome = client.settle(&proof, &offer, true, NOW).await;
    assert_eq!(outcome, unknown(CallError::TimedOut));
    assert_eq!(server.requests().len(), 2, "a timeout is not repeated");
}

#[tokio::test]
async fn the_request_is_the_buyer_s_payment_and_our_offer() {
    let server = always(reply(200, &json!({"isValid": true})));
    let mut settings = settings(&format!("{}/facilitator/", server.url));
    settings.auth = FacilitatorAuth::Bearer("token-1".to_owned());
    let (proof, offer) = payment();
    let client = Facilitator::new(settings).expect("settings");
    client.verify(&proof, &offer, NOW).await.expect("a verdict");
    let request = &server.requests()[0];
    assert_eq!(
        (request.method.as_str(), request.path.as_str()),
        ("POST", "/facilitator/verify")
    );
    assert_eq!(request.header("authorization"), Some("Bearer token-1"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    let text = String::from_utf8(request.body.clone()).expect("UTF-8");
    let offered = serde_json::to_string(&offer).expect("JSON");
    assert_eq!(
        text,
        format!(
            "{{\"x402Version\":2,\"paymentPayload\":{},\"paymentRequirements\":{offered}}}",
            proof.raw().get()
        )
    );
}

/// Some facilitators refuse members that the protocol has: then they are given what settlement needs.
#[tokio::test]
async fn a_bare_payment_is_what_settlement_needs() {
    let server = always(reply(200, &json!({"isValid": true})));
    let mut settings = settings(&server.url);
    settings.passes_on = PassesOn::Payment;
    let (proof, offer) = payment();
    let mut whole: Value = serde_json::from_str(proof.raw().get()).expect("JSON");
    whole["resource"] = json!({"url": "https://api.example.com/v1/x402/access"});
    whole["extensions"] = json!({"bazaar": {"info": {}}});
    whole["more"] = json!(1);
    let proof = PaymentProof::from_json(whole.to_string().as_bytes()).expect("a payment");
    let client = Facilitator::new(settings).expect("settings");
    client.verify(&proof, &offer, NOW).await.expect("a verdict");
    let body: Value = serde_json::from_slice(&server.requests()[0].body).expect("JSON");
    let expected =
        json!({"x402Version": 2, "accepted": whole["accepted"], "payload": whole["payload"]});
    assert_eq!(body["paymentPayload"], expected);
}

/// A signed token is bound to the method, host and path that are really asked.
#[tokio::test]
async fn a_signed_token_names_its_own_request() {
    let seed = [3; 32];
    let pair = ring::signature::Ed25519KeyPair::from_seed_unchecked(&seed).expect("a key");
    let public = ring::signature::KeyPair::public_key(&pair).as_ref();
    let server = always(reply(200, &json!({"isValid": true})));
    let mut settings = settings(&format!("{}/platform/v2/x402", server.url));
    settings.auth = FacilitatorAuth::Cdp {
        key_id: "key-1".to_owned(),
        secret: crate::x402::encoding::encode(&[&seed[..], public].concat()),
    };
    let (proof, offer) = payment();
    let client = Facilitator::new(settings).expect("settings");
    client.verify(&proof, &offer, NOW).await.expect("a verdict");
    let request = &server.requests()[0];
    let token = request
        .header("authorization")
        .and_then(|value| value.strip_prefix("Bearer "))
        .expect("a token");
    let claims = token.split('.').nth(1).expect("three parts");
    let claims = crate::x402::encoding::decode(claims).expect("base64url");
    let claims: Value = serde_json::from_slice(&claims).expect("JSON");
    let host = server.url.trim_start_matches("http://");
    assert_eq!(
        claims["uris"],
        json!([format!("POST {host}/platform/v2/x402/verify")])
    );
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let target = always(reply(200, &json!({"isValid": true})));
    let location = format!("{}/verify", target.url);
    for status in [301, 302, 307, 308] {
        let server = always(response(status, &[("Location", &location)], b""));
        assert_eq!(verify(&server).await, Err(CallError::Redirected(status)));
    }
    assert!(target.requests().is_empty());
}

/// A connection that the facilitator closed while it lay idle is not noticed by the buyer.
#[tokio::test]
async fn connections_are_reused_and_stale_ones_replaced() {
    let valid = reply(200, &json!({"isValid": true}));
    let server = scripted(vec![
        Step::Reply(valid.clone()),
        Step::Last(valid.clone()),
        Step::Reply(valid),
    ]);
    let client = client(&server.url);
    let (proof, offer) = payment();
    for _ in 0..3 {
        client.verify(&proof, &offer, NOW).await.expect("a verdict");
    }
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn supported_is_read_and_its_failures_told() {
    let body = json!({"kinds": [{"x402Version": 2, "scheme": "exact", "network": "eip155:8453", "extra": {}},
        {"x402Version": 1, "scheme": "exact", "network": "base"}], "extensions": ["bazaar"],
        "signers": {"eip155:*": [OTHER]}});
    let server = always(reply(200, &body));
    let supported = client(&server.url).supported(NOW).await.expect("a list");
    assert!(supported.takes_exact_on(Network(8453)));
    assert!(!supported.takes_exact_on(Network(84_532)));
    assert_eq!(server.requests()[0].method, "GET");
    for (status, body, expected) in [
        (401, json!({}), CallError::Denied(401)),
        (500, body, CallError::Status(500)),
        (302, json!({}), CallError::Redirected(302)),
    ] {
        let server = always(reply(status, &body));
        assert_eq!(client(&server.url).supported(NOW).await, Err(expected));
    }
}

/// The embedded facilitator through the real client.
#[tokio::test]
async fn the_sandbox_settles_the_vectors() {
    let mut ledger = Ledger::new(Network(8453));
    // Inside the vectors' window.
    let now = UnixSeconds(4_102_444_700);
    let server = Server::start(move |request| {
        let answer = ledger.answer(&request.method, &request.path, &request.body, now);
        Step::Reply(response(answer.status, &[], &answer.json))
    });
    let client = client(&server.url);
    let (proof, offer) = payment();
    assert!(
        client
            .supported(now)
            .await
            .expect("a list")
            .takes_exact_on(offer.network)
    );
    let valid = Verdict::Valid { payer: payer() };
    assert_eq!(client.verify(&proof, &offer, now).await, Ok(valid));
    let settled = client.settle(&proof, &offer, true, now).await;
    assert!(matches!(settled, Settlement::Success { .. }), "{settled:?}");
    assert_eq!(client.settle(&proof, &offer, false, now).await, settled);
    assert_eq!(
        client.verify(&proof, &offer, now).await,
        invalid("invalid_exact_evm_nonce_already_used")
    );
}

#[tokio::test]
async fn calls_beyond_the_limit_wait_and_are_then_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let mut settings = settings(&url);
    settings.calls_max = 1;
    settings.verify_timeout = Duration::from_secs(4);
    let client = Facilitator::new(settings).expect("settings");
    let (proof, offer) = payment();
    let (first, second) = tokio::join!(
        client.verify(&proof, &offer, NOW),
        client.verify(&proof, &offer, NOW)
    );
    let mut outcomes = [first, second];
    outcomes.sort_by_key(|outcome| *outcome == Err(CallError::LaneFull));
    assert_eq!(
        outcomes,
        [Err(CallError::TimedOut), Err(CallError::LaneFull)]
    );
}

#[test]
fn settings_that_cannot_work_are_refused_and_secrets_not_printed() {
    let refused = |change: fn(&mut FacilitatorSettings)| {
        let mut settings = settings("https://facilitator.example");
        change(&mut settings);
        Facilitator::new(settings).err()
    };
    assert_eq!(refused(|_| {}), None);
    for text in [
        "",
        "facilitator.example",
        "ftp://a.example",
        "https://me:pw@a.example",
        "https://a.example/?k=v",
    ] {
        let outcome = Facilitator::new(settings(text)).err();
        assert_eq!(outcome, Some(SettingsError::BaseUrl(text.to_owned())));
    }
    assert_eq!(
        refused(|settings| settings.auth = FacilitatorAuth::Bearer("a\r\nb".to_owned())),
        Some(SettingsError::Token)
    );
    assert_eq!(
        refused(|settings| settings.ca_pem = Some(b"nothing".to_vec())),
        Some(SettingsError::TrustRoots)
    );
    assert!(matches!(
        refused(|settings| settings.auth = FacilitatorAuth::Cdp {
            key_id: "k".to_owned(),
            secret: "x".to_owned()
        }),
        Some(SettingsError::CdpKey(_))
    ));
    let bearer = FacilitatorAuth::Bearer("token-1".to_owned());
    assert_eq!(format!("{bearer:?}"), "Bearer(***)");
}
