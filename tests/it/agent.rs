//! What agents find: the card, the free messages that it claims, and help before they pay.

use serde_json::{Value, json};

use crate::harness::{ACCESS, ARTICLE, Ask, BASE_URL, FERRY, PAY_TO, Rig, Wallet};

const DIAGNOSE: &str = "/v1/agent/diagnose";

#[test]
fn the_card_says_what_both_versions_of_the_protocol_want() {
    let rig = Rig::start();
    let card = rig.get("/.well-known/agent-card.json").expect(200);
    assert_eq!(
        card.body,
        rig.get("/.well-known/agent.json").expect(200).body
    );
    let card = card.json();
    for member in [
        "name",
        "description",
        "url",
        "version",
        "protocolVersion",
        "preferredTransport",
    ] {
        assert!(
            card[member].as_str().is_some_and(|text| !text.is_empty()),
            "{member}"
        );
    }
    assert_eq!(card["url"], format!("{BASE_URL}/a2a"));
    let interfaces = card["supportedInterfaces"].as_array().expect("interfaces");
    for interface in interfaces {
        assert_eq!(interface["url"], card["url"]);
        for member in ["protocolBinding", "protocolVersion"] {
            assert!(interface[member].is_string(), "{interface}");
        }
    }
    let skills = card["skills"].as_array().expect("skills");
    for skill in skills {
        for member in ["id", "name", "description"] {
            assert!(
                skill[member].as_str().is_some_and(|text| !text.is_empty()),
                "{skill}"
            );
        }
        for member in ["tags", "examples"] {
            assert!(
                skill[member]
                    .as_array()
                    .is_some_and(|list| !list.is_empty()),
                "{skill}"
            );
        }
    }
    for id in [
        "web-to-markdown",
        "proof-pack",
        "quote",
        "bundle-quote",
        "verify-report",
    ] {
        assert!(skills.iter().any(|skill| skill["id"] == id), "{id}");
    }
}

fn rpc(rig: &Rig, method: &str, message: &Value) -> Value {
    let body =
        json!({"jsonrpc": "2.0", "id": "m", "method": method, "params": {"message": message}});
    rig.post("/a2a").json(&body).send().expect(200).json()
}

fn old(text: &str) -> Value {
    json!({"kind": "message", "role": "user", "messageId": "m1", "parts": [{"kind": "text", "text": text}]})
}

fn new(text: &str) -> Value {
    json!({"role": "ROLE_USER", "messageId": "m1", "contextId": "c1", "parts": [{"text": text}]})
}

/// The data of an answer: the brief of `/`, and requests that can be sent.
fn check_offer(data: &Value) {
    assert_eq!(
        data["tiers"][3],
        json!({"tier": "fresh", "amount": "30000", "price_usdc": 0.03, "cache_policy": "bypass cache"})
    );
    assert_eq!(data["requests"][0]["url"], format!("{BASE_URL}{ACCESS}"));
    for (position, member, value) in [
        (0, "target_url", json!(ARTICLE)),
        (1, "target_url", json!(ARTICLE)),
        (2, "target_urls", json!([ARTICLE, FERRY])),
        (3, "sources", json!([ARTICLE, FERRY])),
    ] {
        assert_eq!(data["requests"][position]["body"][member], value, "{data}");
    }
}

/// Each of the four requests is priced, and sold for exactly that price.
#[test]
fn every_request_that_is_offered_can_be_bought() {
    let rig = Rig::start();
    let offered = |text: &str| {
        let answer = rpc(&rig, "message/send", &old(text));
        let requests = answer["result"]["parts"][1]["data"]["requests"].clone();
        let requests = requests.as_array().expect("requests").clone();
        assert_eq!(requests.len(), 4);
        requests
            .into_iter()
            .map(|request| {
                let url = request["url"].as_str().expect("an address");
                let path = url.strip_prefix(BASE_URL).expect("one of ours");
                (
                    Ask::new(rig.address, "POST", path).json(&request["body"]),
                    request,
                )
            })
            .collect::<Vec<_>>()
    };
    for (ask, _) in offered("What do you sell?") {
        ask.send().expect(402);
    }
    for text in [
        format!("Read {ARTICLE} and <{FERRY}>"),
        format!("Read {ARTICLE}"),
    ] {
        for (ask, request) in offered(&text) {
            let wallet = Wallet::new();
            let priced = ask.send().expect(402);
            let payment = wallet.sign_answer(&priced, rig.now(), None);
            let answer = ask.paid(&payment.header).send();
            // Beside one page of the message stands an example, which is not there in tests: nothing to compare it with.
            if request.to_string().contains("example.org") {
                answer.refused(400, "sources_unread");
                assert_eq!(rig.facilitator.spent(wallet.address()), 0);
                continue;
            }
            assert_eq!(answer.status, 200, "{request} {answer:?}");
            assert_eq!(
                priced.challenge()["accepts"][0]["amount"],
                rig.facilitator.spent(wallet.address()).to_string()
            );
        }
    }
}

#[test]
fn whoever_says_something_is_told_what_there_is() {
    let rig = Rig::start();
    let text =
        format!("Please read <{ARTICLE}> for me, and {FERRY}. The first ({ARTICLE}) is new!");
    let answer = rpc(&rig, "message/send", &old(&text));
    let said = &answer["result"];
    assert_eq!(
        (&said["kind"], &said["role"]),
        (&json!("message"), &json!("agent"))
    );
    assert!(said["messageId"].is_string() && said["contextId"].is_string());
    assert_eq!(
        (&said["parts"][0]["kind"], &said["parts"][1]["kind"]),
        (&json!("text"), &json!("data"))
    );
    check_offer(&said["parts"][1]["data"]);

    let answer = rpc(&rig, "SendMessage", &new(&text));
    let said = &answer["result"]["message"];
    assert_eq!(
        (&said["role"], &said["contextId"]),
        (&json!("ROLE_AGENT"), &json!("c1"))
    );
    check_offer(&said["parts"][1]["data"]);

    let answer = send(&rig, &json!({"message": new(&text)}))
        .send()
        .expect(200);
    assert_eq!(answer.must("content-type"), "application/json");
    check_offer(&answer.json()["message"]["parts"][1]["data"]);
}

fn send(rig: &Rig, body: &Value) -> Ask {
    rig.post("/a2a/message:send").json(body)
}

#[test]
fn what_is_no_message_is_told_why() {
    let rig = Rig::start();
    let with = |change: fn(&mut Value)| {
        let mut message = old("hello");
        change(&mut message);
        rpc(&rig, "message/send", &message)["error"]["code"].clone()
    };
    assert_eq!(with(|message| message["role"] = "agent".into()), -32602);
    assert_eq!(with(|message| message["messageId"] = "".into()), -32602);
    assert_eq!(with(|message| message["parts"] = json!([])), -32602);
    assert_eq!(
        with(|message| message["parts"] = json!(vec![json!({}); 33])),
        -32602
    );
    assert_eq!(with(|message| message["parts"] = json!(["a"])), -32602);
    for (method, code) in [
        ("tasks/get", -32001),
        ("message/stream", -32004),
        ("tasks", -32601),
    ] {
        assert_eq!(
            rpc(&rig, method, &old("hello"))["error"]["code"],
            code,
            "{method}"
        );
    }
    let hello = json!({"message": new("hello")});
    for (version, status) in [("1.0", 200), ("0.3.0", 200), ("", 200), ("9", 400)] {
        let answer = send(&rig, &hello).header("A2A-Version", version).send();
        assert_eq!(answer.status, status, "{version}: {answer:?}");
    }
    for body in [json!({}), json!([]), json!({"message": old("hello")})] {
        let problem = send(&rig, &body).send().expect(400);
        assert_eq!(problem.must("content-type"), "application/problem+json");
        assert!(problem.json()["detail"].is_string());
    }
    rig.post("/a2a")
        .header("Content-Type", "application/json")
        .body("{")
        .send()
        .expect(400);
}

fn diagnose(rig: &Rig, header: &str) -> Value {
    rig.post(DIAGNOSE)
        .json(&json!({"header": header}))
        .send()
        .expect(200)
        .json()
}

/// Whether it is good, and the code and status of each finding.
fn judged(diagnosis: &Value) -> (bool, Vec<(String, String)>) {
    let findings = diagnosis["findings"].as_array().expect("findings");
    let pair = |found: &Value| {
        let text = |name: &str| found[name].as_str().unwrap_or_default().to_owned();
        assert!(text("message").ends_with('.'), "{found}");
        (text("code"), text("status"))
    };
    (
        diagnosis["valid"] == true,
        findings.iter().map(pair).collect(),
    )
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected
        .iter()
        .map(|(code, status)| ((*code).to_owned(), (*status).to_owned()))
        .collect()
}

#[test]
fn a_good_payment_is_called_good_and_stays_unused() {
    let rig = Rig::start();
    let payment = Wallet::new().sign(&rig, "deep");
    for pasted in [
        payment.header.clone(),
        format!("payment-signature: {}", payment.header),
        payment.payload.to_string(),
    ] {
        let diagnosis = diagnose(&rig, &pasted);
        assert_eq!(diagnosis["kind"], "payment_signature");
        assert_eq!(
            judged(&diagnosis),
            (true, pairs(&[("terms", "pass"), ("signature", "pass")]))
        );
        assert_eq!(diagnosis["decoded"], payment.payload);
    }
    assert_eq!(
        (
            rig.facilitator.verify_calls(),
            rig.facilitator.settle_calls()
        ),
        (0, 0)
    );
    let order = json!({"target_url": ARTICLE, "tier": "deep"});
    rig.post(ACCESS)
        .json(&order)
        .paid(&payment.header)
        .send()
        .expect(200);
}

/// Also for several pages, whose challenge is another than that of one, and after the receiving address has changed.
#[test]
fn payments_of_every_offer_are_called_good() {
    let mut rig = Rig::start();
    let wallet = Wallet::new();
    let body =
        json!({"target_urls": [ARTICLE, "http://news.sample-site.org/second"], "tier": "fresh"});
    let probe = rig.post(ACCESS).json(&body).send().expect(402);
    let challenge = diagnose(&rig, probe.header("payment-required").expect("a challenge"));
    assert_eq!(
        judged(&challenge).1[0],
        pairs(&[("terms", "pass")])[0],
        "{challenge}"
    );
    let payment = wallet.sign_answer(&probe, rig.now(), None);
    let good = (true, pairs(&[("terms", "pass"), ("signature", "pass")]));
    let found = diagnose(&rig, &payment.header);
    assert_eq!(judged(&found), good, "{found}");
    assert!(
        found.to_string().contains("2 pages of the tier fresh"),
        "{found}"
    );
    rig.reconfigure(|resolved| {
        resolved.set(
            "payment.pay_to",
            "0x4021402140214021402140214021402140214021",
        )
    });
    assert_eq!(judged(&diagnose(&rig, &payment.header)), good);
}

#[test]
fn a_bad_payment_is_told_what_is_wrong_with_it() {
    let rig = Rig::start();
    let payment = Wallet::new().sign(&rig, "fresh");
    let with = |change: fn(&mut Value)| judged(&diagnose(&rig, &payment.altered(change).header));
    let dear = with(|payload| payload["accepted"]["amount"] = "1".into());
    assert_eq!(
        dear,
        (
            false,
            pairs(&[("No matching payment requirements", "fail")])
        )
    );
    let authorization = |payload: &mut Value, name: &str, value: &str| {
        payload["payload"]["authorization"][name] = value.into();
    };
    let cheap = payment.altered(|payload| authorization(payload, "value", "29999"));
    assert_eq!(
        judged(&diagnose(&rig, &cheap.header)),
        (
            false,
            pairs(&[
                (
                    "invalid_exact_evm_payload_authorization_value_mismatch",
                    "fail"
                ),
                ("invalid_exact_evm_signature", "fail"),
            ])
        )
    );
    let old = payment.altered(|payload| authorization(payload, "validBefore", "1000"));
    assert_eq!(
        judged(&diagnose(&rig, &old.header)).1[0].0,
        "invalid_exact_evm_payload_authorization_valid_before"
    );
    let contract = with(|payload| payload["payload"]["signature"] = "0x1234".into());
    assert_eq!(
        contract,
        (true, pairs(&[("terms", "pass"), ("signature", "warn")]))
    );
    let named = diagnose(
        &rig,
        &payment
            .altered(|payload| payload["accepted"]["payTo"] = ARTICLE.into())
            .header,
    );
    assert!(
        named["findings"][0]["message"]
            .as_str()
            .is_some_and(|text| text.contains("differs in payTo")),
        "{named}"
    );
    for nonsense in ["hello", "{", "e30=", "[]", "eyJ4NDAyVmVyc2lvbiI6MX0="] {
        assert!(!judged(&diagnose(&rig, nonsense)).0, "{nonsense}");
    }
}

#[test]
fn challenges_and_settlements_are_read_too() {
    let rig = Rig::start();
    let unpaid = rig.post(&format!("{ACCESS}?tier=basic")).send().expect(402);
    for pasted in [unpaid.must("payment-required").to_owned(), unpaid.text()] {
        let diagnosis = diagnose(&rig, &pasted);
        assert_eq!(diagnosis["kind"], "payment_required");
        assert_eq!(
            judged(&diagnosis),
            (true, pairs(&[("terms", "pass"), ("error", "warn")]))
        );
    }
    let foreign = unpaid
        .text()
        .replace(PAY_TO, "0x0000000000000000000000000000000000000001");
    assert_eq!(
        judged(&diagnose(&rig, &foreign)).1[0],
        ("terms".to_owned(), "warn".to_owned())
    );

    let sold = rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    let settled = diagnose(&rig, sold.must("payment-response"));
    assert_eq!(settled["kind"], "payment_response");
    assert_eq!(judged(&settled), (true, pairs(&[("settled", "pass")])));
    let failed = r#"{"success":false,"errorReason":"insufficient_funds","transaction":"","network":"eip155:8453"}"#;
    assert_eq!(
        judged(&diagnose(&rig, failed)),
        (false, pairs(&[("not_settled", "fail")]))
    );
    rig.post(DIAGNOSE)
        .json(&json!({}))
        .send()
        .invalid("missing", &["body", "header"]);
}

#[test]
fn an_agent_learns_whom_it_would_trust() {
    let rig = Rig::start();
    let trust = rig.get("/v1/agent/trust").expect(200).json();
    assert_eq!(trust["identity"]["pay_to"], PAY_TO);
    assert_eq!(
        trust["receipts"],
        json!({"signed": false, "kid": null, "jwks": null})
    );
    for member in ["settlement_policy", "refund_policy"] {
        assert!(
            trust[member].as_str().is_some_and(|text| text.len() > 40),
            "{member}"
        );
    }
    assert!(trust["uptime"]["seconds"].is_u64() && trust["limits"]["requests"]["quote"].is_u64());
    let signed = Rig::with(|resolved| {
        resolved.set("signing.key", "0123456789abcdef".repeat(4));
    });
    let receipts = signed.get("/v1/agent/trust").expect(200).json()["receipts"].clone();
    assert_eq!(receipts["signed"], true);
    let jwks = receipts["jwks"]
        .as_str()
        .and_then(|url| url.strip_prefix(BASE_URL));
    let keys = signed
        .get(jwks.expect("an address of ours"))
        .expect(200)
        .json();
    assert_eq!(keys["keys"][0]["kid"], receipts["kid"]);
}
