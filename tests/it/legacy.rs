//! Endpoints that remain from before x402 version 2.

use serde_json::{Value, json};

use crate::harness::{Ask, Rig};

const COMPUTE: &str = "/v1/broker/compute";

fn rig() -> Rig {
    Rig::on_chain(|resolved| resolved.set("legacy.access", "true"))
}

/// Whatever is sent.
#[test]
fn switched_off_the_brokerage_says_so() {
    let rig = Rig::start();
    for sent in [rig.post(COMPUTE), ask(&rig, &task(0.015))] {
        let refused = sent.send().refused(503, "transfers_not_taken");
        assert_eq!(refused.json()["error"]["charged"], false);
        assert_eq!(refused.json()["error"]["retryable"], false);
    }
}

fn task(offered_fee: impl Into<Value>) -> Value {
    json!({"agent_id": "agent-1", "task_payload": {"kind": "sum"}, "offered_fee": offered_fee.into()})
}

fn ask(rig: &Rig, task: &Value) -> Ask {
    rig.post(COMPUTE).header("x402-token", "any").json(task)
}

/// By the costs of the defaults: 0.001 for the facilitator, 0.0005 for a fetch.
#[test]
fn the_brokerage_says_what_would_be() {
    let rig = rig();
    let body = ask(&rig, &task(0.015)).send().expect(200).json();
    let job = body["job_id"].as_str().expect("an id");
    assert!(job.starts_with("job_") && job.len() == 36, "{job}");
    assert_eq!(body["status"], "simulated");
    assert_eq!(body["simulated"], true);
    assert_eq!(body["agent_id"], "agent-1");
    assert_eq!(body["accepted"], true);
    assert_eq!(body["offered_fee"], 0.015);
    assert_eq!(body["estimated_cost"], 0.0015);
    assert_eq!(body["projected_margin"], 0.9);
    for refused in [json!(0.003), json!(0), json!(-1), json!(1e300)] {
        let body = ask(&rig, &task(refused.clone())).send().expect(200).json();
        assert_eq!(body["accepted"], false, "{refused}");
    }
    let nothing = ask(&rig, &task(0)).send().expect(200).json();
    assert_eq!(nothing["projected_margin"], Value::Null);
    // What is not known is ignored, and the answer says so.
    assert_eq!(body.get("ignored_fields"), None);
    let mut more = task(0.015);
    more["priority"] = "high".into();
    let more = ask(&rig, &more).send().expect(200).json();
    assert_eq!(more["ignored_fields"], json!(["priority"]));
    let other = ask(&rig, &task(0.015)).send().expect(200).json();
    assert_ne!(other["job_id"], body["job_id"]);
}

/// It is simulated: nobody is called, nothing is charged.
#[test]
fn the_brokerage_runs_and_takes_nothing() {
    let rig = rig();
    ask(&rig, &task(20)).send().expect(200);
    assert_eq!(rig.facilitator.verify_calls(), 0);
    assert!(rig.site.requests().is_empty());
    let payments = rig.operator("/operator/payments").json();
    assert_eq!(payments["payments"], json!([]));
}

#[test]
fn what_is_missing_is_named_all_at_once() {
    let rig = rig();
    rig.post(COMPUTE)
        .json(&task(1))
        .send()
        .invalid("missing", &["header", "x402-token"]);
    let complaints = rig.post(COMPUTE).json(&json!({})).send().expect(422).json();
    let places: Vec<&Value> = complaints["detail"]
        .as_array()
        .expect("complaints")
        .iter()
        .map(|complaint| &complaint["loc"])
        .collect();
    assert_eq!(
        places,
        [
            &json!(["header", "x402-token"]),
            &json!(["body", "agent_id"]),
            &json!(["body", "task_payload"]),
            &json!(["body", "offered_fee"]),
        ]
    );
    let wrong = |member: &str, value: Value| {
        let mut body = task(1);
        body[member] = value;
        ask(&rig, &body).send()
    };
    wrong("agent_id", json!(5)).invalid("string_type", &["body", "agent_id"]);
    wrong("agent_id", json!("a".repeat(257))).invalid("string_too_long", &["body", "agent_id"]);
    wrong("task_payload", json!([])).invalid("dict_type", &["body", "task_payload"]);
    wrong("offered_fee", json!("1")).invalid("float_type", &["body", "offered_fee"]);
    // Other members are allowed here.
    wrong("priority", json!("high")).expect(200);
    ask(&rig, &task(1))
        .without("Content-Type")
        .header("Content-Type", "text/plain")
        .send()
        .refused(415, "unsupported_media_type");
}
