//! The payment provider: the events of its checkouts, signed as it signs them, and the leads that they are about.

use std::sync::atomic::{AtomicUsize, Ordering};

use context402::config::Resolved;
use context402::signing::stamp;
use serde_json::{Value, json};

use crate::harness::{Answer, Ask, Mailbox, Rig};

pub(crate) const SECRET: &str = "whsec_0123456789abcdef0123456789abcdef";
pub(crate) const WEBHOOK: &str = "/v1/webhooks/stripe";
pub(crate) const BUYER: &str = "ann@example.com";
pub(crate) const DELIVERY: &str = "/v1/proof-pack/bundle/delivery";
pub(crate) const COMPLETED: &str = "checkout.session.completed";
pub(crate) const SUCCEEDED: &str = "checkout.session.async_payment_succeeded";
pub(crate) const FAILED: &str = "checkout.session.async_payment_failed";

/// A service that takes test payments, and the mailbox of its buyers.
pub(crate) fn shop() -> (Rig, Mailbox) {
    shop_with(|_| {})
}

pub(crate) fn shop_with(change: impl FnOnce(&mut Resolved)) -> (Rig, Mailbox) {
    let mailbox = Mailbox::start();
    let rig = Rig::with(|resolved| {
        mailbox.configure(resolved);
        configure(resolved);
        change(resolved);
    });
    (rig, mailbox)
}

/// With a clock that begins now, so that commands agree with it for a while.
pub(crate) fn shop_today() -> (Rig, Mailbox) {
    let mailbox = Mailbox::start();
    let rig = Rig::today_with(|resolved| {
        mailbox.configure(resolved);
        configure(resolved);
    });
    (rig, mailbox)
}

pub(crate) fn configure(resolved: &mut Resolved) {
    resolved.set("bundles.webhook_secrets", SECRET);
    resolved.set("bundles.livemode", "false");
    resolved.set("bundles.source_pause_seconds", "1");
}

/// An event of the provider.
#[derive(Clone, Debug)]
pub(crate) struct Event(pub(crate) Value);

fn fresh(prefix: &str) -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{prefix}{:020}", number)
}

impl Event {
    /// A checkout of the bundle builder that was paid at once, for a lead.
    pub(crate) fn paid(lead_id: &str) -> Event {
        Event(json!({
            "id": fresh("evt_"), "object": "event", "api_version": "2026-01-28", "created": 1_795_248_000_u64,
            "livemode": false, "pending_webhooks": 1, "request": {"id": null}, "type": COMPLETED,
            "data": {"object": {
                "id": fresh("cs_test_"), "object": "checkout.session", "mode": "payment", "status": "complete",
                "payment_status": "paid", "amount_total": 700, "currency": "usd", "client_reference_id": lead_id,
                "customer_email": null, "customer_details": {"email": BUYER, "name": "Ann"}, "livemode": false,
                "payment_link": "plink_1", "payment_intent": "pi_1", "metadata": {}, "custom_fields": [],
            }},
        }))
    }

    /// Another event about the same checkout.
    pub(crate) fn then(&self, kind: &str) -> Event {
        let mut event = self.clone();
        event.0["id"] = fresh("evt_").into();
        event.0["type"] = kind.into();
        event
    }

    /// With another member of the session.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Event {
        self.0["data"]["object"][name] = value.into();
        self
    }

    pub(crate) fn session(&self) -> &str {
        self.0["data"]["object"]["id"].as_str().expect("an id")
    }

    pub(crate) fn delivery(&self) -> String {
        format!("{DELIVERY}?session_id={}", self.session())
    }

    /// The event on its way to an address that takes it, signed now.
    pub(crate) fn ask(&self, webhook: Ask, now: u64) -> Ask {
        let body = self.0.to_string();
        let signature = stamp::sign(SECRET, now, body.as_bytes());
        webhook.header("Stripe-Signature", signature).body(body)
    }

    pub(crate) fn at(&self, rig: &Rig) -> Ask {
        self.ask(rig.post(WEBHOOK), rig.now().0)
    }

    #[track_caller]
    pub(crate) fn send(&self, rig: &Rig) -> Value {
        let answer: Answer = self.at(rig).send();
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    }
}

/// What a buyer asks for before paying: the lead's identifier.
#[track_caller]
pub(crate) fn lead(rig: &Rig, bundle: &str, question: &str, target_urls: &[&str]) -> String {
    let asked =
        rig.post("/v1/proof-pack/bundle/leads")
            .json(&lead_request(bundle, question, target_urls));
    lead_id(&asked.send())
}

pub(crate) fn lead_request(bundle: &str, question: &str, target_urls: &[&str]) -> Value {
    json!({"contact": BUYER, "bundle": bundle, "question": question, "target_urls": target_urls})
}

#[track_caller]
pub(crate) fn lead_id(answer: &Answer) -> String {
    assert_eq!(answer.status, 202, "{answer:?}");
    let id = answer.json()["lead_id"].as_str().map(str::to_owned);
    id.expect("a lead's identifier")
}

/// Works until no order is open and every mail has left, letting pauses go by.
#[track_caller]
pub(crate) fn settle(rig: &Rig) {
    for _ in 0..100 {
        rig.work_off();
        let open = ["queued", "processing"].iter().any(|state| {
            let listed = rig
                .operator(&format!("/operator/orders?state={state}"))
                .json();
            listed["orders"]
                .as_array()
                .is_some_and(|orders| !orders.is_empty())
        });
        if !open {
            rig.work_off();
            return;
        }
        rig.pass(2);
    }
    panic!(
        "the orders come to no end: {:?}",
        rig.operator("/operator/orders")
    );
}

/// The orders as the operator sees them.
pub(crate) fn orders(rig: &Rig) -> Vec<Value> {
    let listed = rig.operator("/operator/orders").json();
    listed["orders"].as_array().cloned().expect("a list")
}

/// The one order that there is, with everything that is known of it.
#[track_caller]
pub(crate) fn order(rig: &Rig) -> Value {
    let all = orders(rig);
    assert_eq!(all.len(), 1, "{all:#?}");
    let id = all[0]["order_id"].as_str().expect("an id");
    rig.operator(&format!("/operator/orders/{id}")).json()
}
