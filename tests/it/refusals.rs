//! What the operator can find out about a payment that was refused: the log, the counters, the list and the console.

use std::cell::RefCell;

use context402::outside::clock::Clock;
use serde_json::{Value, json};

use crate::cli::config_file;
use crate::harness::process::run;
use crate::harness::{
    ARTICLE, Answer, Ask, FERRY, Move, PROOF_PACK, Page, Rig, Says, Sent, Wallet, order, until,
};

const FLAKY: &str = "http://news.sample-site.org/flaky";
const LEGACY: &str = "/v1/access";
const HASH: &str = "X-Service-Payment-Hash";

/// The refusals that the operator is shown, newest first.
fn refusals(rig: &Rig) -> Vec<Value> {
    let listed = rig.operator("/operator/payments/refused").expect(200);
    let listed = listed.json()["refusals"].clone();
    listed.as_array().cloned().expect("a list")
}

/// Insists that the newest refusal is the one that was answered, and gives it.
#[track_caller]
fn newest(rig: &Rig, answer: &Answer, count: usize) -> Value {
    let refusals = refusals(rig);
    assert_eq!(refusals.len(), count, "{refusals:#?}");
    let newest = refusals[0].clone();
    assert_eq!(newest["request_id"], answer.must("x-request-id"));
    assert_eq!(newest["at"], rig.now().0);
    assert!(newest["reason"].as_str().is_some_and(|why| !why.is_empty()));
    newest
}

fn what(refused: &Value) -> [&Value; 4] {
    ["code", "product", "level", "payer"].map(|name| &refused[name])
}

fn figures(rig: &Rig) -> String {
    let figures = rig.operator("/metrics?format=prometheus").expect(200);
    figures.text()
}

#[test]
fn each_refused_payment_is_listed_with_its_reason_and_counted() {
    let rig = Rig::start();
    let (wallet, buyer) = (Wallet::new(), Wallet::new());
    let (payer, nobody) = (json!(wallet.address()), Value::Null);
    // Asking for the price is no payment.
    rig.order(ARTICLE, "fresh").send().expect(402);
    rig.post("/v1/x402/retry")
        .send()
        .refused(402, "retry_credit_required");
    rig.post(LEGACY).send().expect(402);
    assert_eq!(refusals(&rig), Vec::<Value>::new());

    let count = RefCell::new(0);
    let newest = |answer: &Answer| {
        *count.borrow_mut() += 1;
        newest(&rig, answer, *count.borrow())
    };
    let unreadable = rig.order(ARTICLE, "deep").paid("nonsense").send();
    let unreadable = unreadable.refused(400, "invalid_payment");
    let refused = newest(&unreadable);
    let expected = json!(["invalid_payment", "context", "deep", nobody]);
    assert_eq!(json!(what(&refused)), expected);

    let other = wallet.sign(&rig, "basic");
    let unfit = rig.pay(&other, ARTICLE, "fresh");
    let refused = newest(&unfit.expect(402));
    let expected = json!(["payment_required", "context", "fresh", payer]);
    assert_eq!(json!(what(&refused)), expected);

    rig.facilitator.verifies(Says::No("insufficient_funds"));
    let poor = newest(&rig.buy(&wallet, ARTICLE, "fresh").expect(402));
    assert!(poor["reason"].to_string().contains("insufficient_funds"));
    rig.facilitator.verifies(Says::Honest);

    let pack = wallet.sign_pack(&rig, "quick");
    let malformed = rig
        .post(PROOF_PACK)
        .json(&json!({}))
        .paid(&pack.header)
        .send();
    let refused = newest(&malformed.invalid("missing", &["body", "target_url"]));
    assert_eq!(
        refused["reason"],
        "The request is invalid. body.target_url: Field required."
    );
    assert_eq!(refused["product"], "proof_pack");
    assert_eq!(refused["payer"], payer);

    let long = rig
        .post(PROOF_PACK)
        .body("x".repeat(70_000))
        .paid(&pack.header);
    let refused = newest(&long.send().refused(413, "body_too_large"));
    assert_eq!(refused["product"], "proof_pack");

    rig.site.put("/flaky", Page::Status(503));
    let outage = rig.buy(&buyer, FLAKY, "fresh");
    let outage = outage.refused(503, "upstream_unavailable");
    newest(&outage);
    let credit = outage.credit();
    let misused = rig.retry(&credit, ARTICLE, "fresh").send();
    let refused = newest(&misused.refused(400, "retry_credit_invalid"));
    let expected = json!(["retry_credit_invalid", "context", "fresh", buyer.address()]);
    assert_eq!(json!(what(&refused)), expected);

    let figures = figures(&rig);
    for (code, count) in [
        ("invalid_payment", 1),
        ("payment_required", 2),
        ("validation_failed", 1),
        ("body_too_large", 1),
        ("upstream_unavailable", 1),
        ("retry_credit_invalid", 1),
    ] {
        let line = format!("context402_refusals_total{{code=\"{code}\"}} {count}\n");
        assert!(figures.contains(&line), "{line}{figures}");
    }
    // No secret stands in the list.
    let listed = json!(refusals(&rig)).to_string();
    assert!(!listed.contains(&credit) && !listed.contains(&other.header));
    // It is the operator's alone.
    rig.get("/operator/payments/refused").expect(404);
    let public = rig.get("/metrics?format=prometheus").expect(200);
    assert!(!public.text().contains("refusals"), "{public:?}");
}

/// Agents pay in `_meta`; what is refused there is refused like anything else.
#[test]
fn a_payment_that_is_refused_to_a_tool_is_listed() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "basic").payload;
    let call = |tool: &str| {
        let params = json!({
            "name": tool,
            "arguments": {"target_url": ARTICLE, "tier": "fresh"},
            "_meta": {"x402/payment": payment},
        });
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        let ask = rig.post("/mcp").json(&body);
        ask.without("Accept")
            .header("Accept", "application/json, text/event-stream")
            .send()
    };
    let answer = call("web_to_markdown").expect(200);
    assert_eq!(answer.json()["result"]["isError"], true);
    let refused = newest(&rig, &answer, 1);
    let expected = json!(["payment_required", "context", "fresh", wallet.address()]);
    assert_eq!(json!(what(&refused)), expected);
    let refused = newest(&rig, &call("no_such_tool"), 2);
    assert_eq!(refused["code"], "invalid_request");
}

#[test]
fn a_refused_transfer_is_listed_with_its_sender() {
    let rig = Rig::on_chain(|resolved| resolved.set("legacy.access", "true"));
    let sender = Wallet::new();
    let hash = rig.chain.send(Sent::of(vec![Move {
        from: sender.address().to_string(),
        ..Move::to_us(50_000)
    }]));
    rig.pass(20);
    let ask = |url: &str| -> Ask {
        let ask = rig.post(LEGACY).json(&order(url, "fresh"));
        ask.header(HASH, &*hash)
    };
    let unsigned = ask(ARTICLE).send().refused(400, "payment_proof_required");
    let refused = newest(&rig, &unsigned, 1);
    let expected = json!(["payment_proof_required", "context", "fresh", null]);
    assert_eq!(json!(what(&refused)), expected);
    let signed = |url: &str| {
        let text = ask(url).send().json()["payment_proof"]["text"].clone();
        let signature = sender.sign_text(text.as_str().expect("a text"));
        ask(url).header("X-Service-Payment-Proof", signature).send()
    };
    signed(ARTICLE).expect(200);
    let again = signed(FERRY).refused_charged(400, "payment_hash_replayed");
    // Both asked for their text first.
    let refused = newest(&rig, &again, 4);
    assert_eq!(refused["payer"], json!(sender.address()));
}

#[test]
fn a_refusal_is_logged_and_listed_by_the_command() {
    let mut rig = Rig::today();
    let wallet = Wallet::new();
    let config = config_file(&rig.folder, "");
    let listed = ["payments", "refused", "--config", &config];
    rig.in_process(&[], |_, service| {
        assert_eq!(run(&listed).expect(0).out, "");
        let payment = wallet.sign_at(service.address, "basic", Clock::System.now(), None);
        let wrong = service.order(ARTICLE, "fresh").paid(&payment.header);
        let answer = wrong.send().expect(402);
        let id = answer.must("x-request-id");
        let payer = wallet.address().to_string();
        let out = run(&listed).expect(0).out;
        assert_eq!(out.lines().count(), 2, "a heading and a row: {out}");
        for part in ["payment_required", "context", "fresh", &payer, id] {
            assert!(out.contains(part), "{part}: {out}");
        }
        let log = RefCell::new(Vec::new());
        let is_refusal = |line: &&String| line.contains("paid request refused");
        until("the refusal is logged", || {
            log.borrow_mut().extend(service.log());
            log.borrow().iter().any(|line| is_refusal(&line))
        });
        let log = log.borrow();
        let lines: Vec<&String> = log.iter().filter(is_refusal).collect();
        let [line] = &*lines else {
            panic!("one line: {lines:#?}");
        };
        let line: Value = serde_json::from_str(line).expect("JSON");
        for (name, value) in [
            ("level", "INFO"),
            ("target", "refusals"),
            ("code", "payment_required"),
            ("request.id", id),
            ("payer", &payer),
            ("purchase.product", "context"),
            ("purchase.level", "fresh"),
        ] {
            assert_eq!(line[name], value, "{line}");
        }
        let signature = payment.payload["payload"]["signature"].as_str();
        let signature = signature.expect("a signature");
        let text = log.join("\n");
        assert!(!text.contains(signature) && !text.contains(&payment.header));
    });
    assert!(rig.stop());
    let line = run(&listed).failed(1);
    assert!(line.contains("log"), "{line}");
}
