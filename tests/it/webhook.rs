//! The payment provider's events: whose they are, which count, and that each counts once.

use context402::signing::stamp;
use serde_json::{Value, json};

use crate::console::{SignedIn, TOKEN_GIVEN};
use crate::harness::provider::{
    BUYER, COMPLETED, Event, FAILED, SECRET, SUCCEEDED, WEBHOOK, lead, lead_request, order, orders,
    settle, shop, shop_today, shop_with,
};
use crate::harness::{Ask, FERRY, FERRY_CLAIM, Page, Rig, until};

fn ferry_lead(rig: &Rig) -> String {
    lead(rig, "builder", FERRY_CLAIM, &[FERRY])
}

fn lead_status(rig: &Rig, lead_id: &str) -> Value {
    rig.operator(&format!("/operator/leads/{lead_id}")).json()["status"].clone()
}

fn signed(rig: &Rig, body: &[u8], header: String) -> Ask {
    rig.post(WEBHOOK)
        .header("Stripe-Signature", header)
        .body(body)
}

#[test]
fn what_the_provider_did_not_sign_now_is_refused_without_a_trace() {
    let (rig, _) = shop();
    let body = Event::paid(&ferry_lead(&rig)).0.to_string().into_bytes();
    let now = rig.now().0;
    let good = stamp::sign(SECRET, now, &body);
    let digits = &good[good.find("v1=").expect("a signature") + 3..];
    let mut changed = body.clone();
    changed[body.len() / 2] ^= 1;
    let spaced = String::from_utf8(body.clone())
        .expect("UTF-8")
        .replace(":", ": ")
        .into_bytes();
    let with_break = [&body[..], b"\r\n"].concat();
    let wrong = stamp::sign("whsec_ffffffffffffffffffffffffffffffff", now, &body);
    for (what, ask) in [
        ("no header", rig.post(WEBHOOK).body(body.clone())),
        ("another secret", signed(&rig, &body, wrong)),
        (
            "301 s ago",
            signed(&rig, &body, stamp::sign(SECRET, now - 301, &body)),
        ),
        (
            "301 s ahead",
            signed(&rig, &body, stamp::sign(SECRET, now + 301, &body)),
        ),
        ("a changed byte", signed(&rig, &changed, good.clone())),
        ("other white space", signed(&rig, &spaced, good.clone())),
        ("a line break more", signed(&rig, &with_break, good.clone())),
        ("v0 alone", signed(&rig, &body, good.replace("v1=", "v0="))),
        (
            "another time",
            signed(&rig, &body, format!("t={},v1={digits}", now + 1)),
        ),
        (
            "two headers",
            signed(&rig, &body, good.clone()).header("Stripe-Signature", good.clone()),
        ),
        ("no body", signed(&rig, b"", good.clone())),
    ] {
        let answer = ask.send();
        assert_eq!(answer.code(), "invalid_signature", "{what}: {answer:?}");
        let answer = answer.refused(400, "invalid_signature");
        assert!(!answer.text().contains("whsec_"), "{what}");
    }
    assert_eq!(orders(&rig), Vec::<Value>::new());
    let events = rig.operator("/operator/events").json();
    assert_eq!(events["events"], json!([]));
    // And so it was only the signature.
    signed(&rig, &body, good).send().expect(200);
    assert_eq!(orders(&rig).len(), 1);
}

#[test]
fn without_a_secret_nothing_is_taken_and_the_provider_comes_again() {
    let rig = Rig::start();
    let event = Event::paid("lead_1");
    event
        .at(&rig)
        .send()
        .refused(503, "webhook_not_taken")
        .must("retry-after");
    assert_eq!(orders(&rig), Vec::<Value>::new());
}

#[test]
fn secrets_are_changed_while_both_are_in_use() {
    let (rig, _) = shop_with(|resolved| {
        resolved.set(
            "bundles.webhook_secrets",
            format!("whsec_the_new_one_is_here\n{SECRET}"),
        );
    });
    Event::paid(&ferry_lead(&rig)).send(&rig);
    let other = Event::paid("lead_2").0.to_string();
    let now = rig.now().0;
    let (old, new) = (
        stamp::sign("whsec_an_older_one_that_is_gone", now, other.as_bytes()),
        stamp::sign("whsec_the_new_one_is_here", now, other.as_bytes()),
    );
    let both = format!("{old},{}", &new[new.find("v1=").expect("a signature")..]);
    signed(&rig, other.as_bytes(), both).send().expect(200);
    assert_eq!(orders(&rig).len(), 2);
}

#[test]
fn events_of_no_concern_are_received_and_large_ones_are_not_read() {
    let (rig, _) = shop();
    let mut other = Event::paid("lead_1");
    other.0["type"] = "charge.refunded".into();
    assert_eq!(other.send(&rig), json!({"received": true, "ignored": true}));
    assert_eq!(
        other.send(&rig),
        json!({"received": true, "repeated": true})
    );
    let log = rig.operator("/operator/events").json();
    assert_eq!(log["events"][0]["outcome"], "ignored");
    // 200 KB is an event with much metadata; the provider sends nothing near 256 KiB.
    let large = |bytes: usize| Event::paid("lead_1").with("metadata", "x".repeat(bytes));
    large(200_000).at(&rig).send().expect(200);
    let refused = large(300_000).at(&rig).send();
    let message = refused.refused(413, "body_too_large").json()["detail"].clone();
    assert_eq!(message, "The request body is larger than 256 KiB.");
    // Signed, but no event.
    for body in [
        "",
        "{}",
        "[]",
        "{\"id\":\"evt_1\",\"type\":\"checkout.session.completed\"}",
    ] {
        let header = stamp::sign(SECRET, rig.now().0, body.as_bytes());
        signed(&rig, body.as_bytes(), header)
            .send()
            .refused(400, "invalid_request");
    }
}

/// A test payment in live mode was counted as revenue.
#[test]
fn a_test_payment_is_no_revenue_of_a_live_shop() {
    let (rig, _) = shop_with(|resolved| {
        resolved.set("bundles.livemode", "true");
        resolved.set("operator.token", TOKEN_GIVEN);
    });
    let live = |event: Event| {
        let mut event = event.with("livemode", true);
        event.0["livemode"] = true.into();
        event
    };
    Event::paid(&ferry_lead(&rig)).send(&rig);
    settle(&rig);
    assert_eq!(orders(&rig)[0]["state"], "needs_review");
    let console = || SignedIn::open(&rig).get("/operator").text();
    let none = "<dt>Bundles today</dt><dd><span class=\"value\">0.00 <small>USD</small>";
    assert!(console().contains(none), "{}", console());
    live(Event::paid(&ferry_lead(&rig))).send(&rig);
    settle(&rig);
    let one = "<dt>Bundles today</dt><dd><span class=\"value\">7.00 <small>USD</small>";
    assert!(console().contains(one), "{}", console());
}

#[test]
fn the_same_event_fifty_times_at_once_is_one_order_and_one_mail() {
    let (rig, mailbox) = shop();
    let lead_id = ferry_lead(&rig);
    let event = Event::paid(&lead_id);
    let answers = event.at(&rig).send_at_once(50);
    assert!(answers.iter().all(|answer| answer.status == 200));
    let first = |answer: &&crate::harness::Answer| answer.json() == json!({"received": true});
    assert_eq!(answers.iter().filter(first).count(), 1);
    // The same checkout told by other events, at once and later.
    let others: Vec<Ask> = (0..10)
        .map(|number| event.then([COMPLETED, SUCCEEDED][number % 2]).at(&rig))
        .collect();
    for answer in crate::harness::ask::at_once(others) {
        answer.expect(200);
    }
    settle(&rig);
    event.send(&rig);
    settle(&rig);
    let order = order(&rig);
    assert_eq!(order["state"], "fulfilled", "{order:#}");
    assert_eq!(order["events"].as_array().map(Vec::len), Some(11));
    assert_eq!(mailbox.received().len(), 1);
    assert_eq!(rig.site.hits("/ferry"), 1);
    assert_eq!(lead_status(&rig, &lead_id), "fulfilled");
    let figures = rig.operator("/metrics").json();
    assert_eq!(
        figures["webhook_events"]["checkout.session.completed queued"],
        1
    );
    assert_eq!(
        figures["webhook_events"]["checkout.session.completed repeated"],
        50
    );
    let public = rig.get("/metrics").json();
    assert_eq!(
        public.get("webhook_events"),
        None,
        "sales are the operator's affair"
    );
}

#[test]
fn events_arrive_in_any_order() {
    for (kinds, state) in [
        (&[SUCCEEDED][..], "fulfilled"),
        (&[COMPLETED, SUCCEEDED], "fulfilled"),
        (&[SUCCEEDED, COMPLETED], "fulfilled"),
        (&[FAILED, SUCCEEDED], "fulfilled"),
        (&[SUCCEEDED, FAILED], "fulfilled"),
        (&[COMPLETED, FAILED], "payment_failed"),
        (&[FAILED, COMPLETED], "payment_failed"),
        (&[COMPLETED], "awaiting_payment"),
    ] {
        let (rig, mailbox) = shop();
        let first = Event::paid(&ferry_lead(&rig));
        for kind in kinds {
            let status = if *kind == SUCCEEDED { "paid" } else { "unpaid" };
            first.then(kind).with("payment_status", status).send(&rig);
        }
        settle(&rig);
        assert_eq!(order(&rig)["state"], state, "{kinds:?}");
        let answer = rig.get(&first.delivery());
        let expected = match state {
            "fulfilled" => (200, "fulfilled"),
            "payment_failed" => (200, "payment_failed"),
            _ => (202, "pending"),
        };
        assert_eq!(
            (answer.status, answer.json()["status"].as_str()),
            (expected.0, Some(expected.1))
        );
        let fulfilled = mailbox
            .received()
            .iter()
            .filter(|mail| mail.text.contains("Bundle is ready"))
            .count();
        assert_eq!(fulfilled, usize::from(state == "fulfilled"), "{kinds:?}");
    }
}

/// Whatever does not fit is set aside for the operator: nothing is made of it, nothing is lost.
#[test]
fn a_payment_that_does_not_fit_is_set_aside() {
    let (rig, mailbox) = shop_with(|resolved| resolved.set("contact", "operator@shop.example"));
    let sources = |number: usize| format!("http://news.sample-site.org/ferry?{number}");
    let lead_of =
        |number: usize, bundle: &str| lead(&rig, bundle, FERRY_CLAIM, &[&sources(number)]);
    let good = |number: usize| Event::paid(&lead_of(number, "builder"));
    let live = {
        let mut event = good(4).with("livemode", true);
        event.0["livemode"] = true.into();
        event
    };
    let pack = rig
        .post("/v1/proof-pack/leads")
        .json(&json!({"contact": BUYER, "pack": "standard", "target_url": FERRY}))
        .send();
    let pack = pack.json()["lead_id"].as_str().expect("an id").to_owned();
    rig.site.put("/ferry?6", Page::html("Ferry", FERRY_CLAIM));
    let cases = [
        (good(0).with("amount_total", 699), "amount"),
        (good(1).with("amount_total", 70_000), "amount"),
        (good(2).with("amount_total", Value::Null), "amount"),
        (Event::paid(&lead_of(3, "scout")), "amount"),
        (good(5).with("currency", "jpy"), "currency"),
        (live, "mode"),
        (Event::paid(&format!("lead_{}", "0".repeat(32))), "no_lead"),
        (
            Event::paid("something else").with("client_reference_id", "'; drop"),
            "no_lead",
        ),
        (Event::paid(&pack), "not_a_bundle"),
    ];
    let paid_twice = good(6);
    paid_twice.send(&rig);
    settle(&rig);
    for (event, doubt) in &cases {
        event.send(&rig);
        settle(&rig);
        let listed = rig.operator("/operator/orders?state=needs_review").json();
        let found = listed["orders"]
            .as_array()
            .expect("a list")
            .iter()
            .find(|order| {
                let id = order["order_id"].as_str().expect("an id");
                rig.operator(&format!("/operator/orders/{id}")).json()["session_id"]
                    == event.session()
            });
        assert_eq!(
            found.map(|order| order["doubt"].clone()),
            Some((*doubt).into()),
            "{event:?}"
        );
        let answer = rig.get(&event.delivery()).expect(202).json();
        assert_eq!(answer["status"], "pending", "{doubt}");
    }
    let mut again = paid_twice.clone();
    again.0["id"] = "evt_another".into();
    let again = again.with("id", "cs_test_00000another");
    again.send(&rig);
    let doubts: Vec<Value> = orders(&rig)
        .iter()
        .map(|order| order["doubt"].clone())
        .collect();
    assert!(doubts.contains(&"lead_paid".into()), "{doubts:?}");
    settle(&rig);
    let mails = mailbox.received();
    let told: Vec<_> = mails
        .iter()
        .filter(|mail| mail.to[0].contains("operator@shop.example"))
        .collect();
    assert!(
        told.iter().all(|mail| !mail.text.contains("your order")
            && mail
                .text
                .contains("This is an automatic message to the operator.")),
        "{told:#?}"
    );
    let about: Vec<_> = told.iter().map(|mail| mail.header("message-id")).collect();
    assert_eq!(
        told.len(),
        cases.len() + 1,
        "the operator is told of each: {about:#?}"
    );
    assert_eq!(
        mails.len() - told.len(),
        1,
        "the buyer of the one that fits"
    );
}

/// A link that leads to the payment, as the buyer of a lead follows it.
fn begin_checkout(rig: &Rig, lead_id: &str) {
    rig.get(&format!("/proof-pack/bundle/pay?lead_id={lead_id}"))
        .expect(303);
}

fn without_reference() -> Event {
    Event::paid("").with("client_reference_id", Value::Null)
}

fn shop_with_link() -> (Rig, crate::harness::Mailbox) {
    shop_with(|resolved| {
        resolved.set("bundles.builder_link", "https://buy.sample-shop.org/b");
        resolved.set("bundles.audit_link", "https://buy.sample-shop.org/a");
    })
}

/// The address alone says neither who asked nor who pays. The delivery goes to the address, and who has the
/// checkout session sees none of it.
#[test]
fn a_payment_without_a_reference_is_delivered_to_the_address_alone() {
    let (rig, mailbox) = shop_with_link();
    let lead_id = ferry_lead(&rig);
    begin_checkout(&rig, &lead_id);
    let event = without_reference();
    event.send(&rig);
    let page = event.delivery().replace("/v1/", "/");
    let looks = |status: u16| {
        let seen = rig.get(&event.delivery()).expect(status).text();
        let page = rig.get(&page).expect(status).text();
        for hidden in [
            FERRY,
            FERRY_CLAIM,
            "recovery=",
            "a***@example.com",
            "progress",
        ] {
            assert!(!seen.contains(hidden), "{hidden}: {seen}");
            assert!(!page.contains(hidden), "{hidden}: {page}");
        }
        seen
    };
    looks(202);
    settle(&rig);
    let seen = order(&rig);
    assert_eq!(
        (&seen["state"], &seen["lead_id"]),
        (&"fulfilled".into(), &lead_id.as_str().into())
    );
    let told = looks(200);
    assert!(told.contains("e-mail address you used"), "{told}");
    for format in ["json", "pdf"] {
        rig.get(&format!("{}&format={format}", event.delivery()))
            .refused(404, "not_found");
    }
    let mails = mailbox.received();
    assert_eq!(mails.len(), 1);
    assert!(mails[0].to[0].contains(BUYER), "{mails:?}");
    let text = mails[0].text.replace("=\r\n", "").replace("=3D", "=");
    assert!(
        !text.contains("Your question"),
        "the words may be a stranger's: {text}"
    );
    assert!(text.contains("The answer: "), "{text}");
    let link = text
        .split_whitespace()
        .find_map(|word| word.split_once("/proof-pack/bundle/delivery?recovery="))
        .expect("a link");
    let seen = rig
        .get(&format!(
            "/v1/proof-pack/bundle/delivery?recovery={}",
            link.1
        ))
        .expect(200)
        .json();
    assert_eq!(seen["question"], FERRY_CLAIM);
}

/// Wherever it is not certain whom the address stands for, the operator decides.
#[test]
fn an_address_that_fits_more_than_one_lead_or_none_is_looked_at() {
    let needs_review = |rig: &Rig, event: &Event| {
        event.send(rig);
        settle(rig);
        let listed = rig.operator("/operator/orders?state=needs_review").json();
        assert_eq!(listed["orders"][0]["doubt"], "no_lead", "{listed}");
        assert!(listed["orders"][0]["lead_id"].is_null(), "{listed}");
    };
    // Nobody was led to the payment link.
    let (rig, _) = shop_with_link();
    ferry_lead(&rig);
    needs_review(&rig, &without_reference());
    // Two are open, however alike: anybody may have left either.
    let (rig, _) = shop_with_link();
    begin_checkout(&rig, &ferry_lead(&rig));
    ferry_lead(&rig);
    needs_review(&rig, &without_reference());
    let (rig, _) = shop_with_link();
    let other = lead(
        &rig,
        "builder",
        "Is it dear?",
        &["http://news.sample-site.org/article"],
    );
    begin_checkout(&rig, &ferry_lead(&rig));
    begin_checkout(&rig, &other);
    needs_review(&rig, &without_reference());
    // Somebody else has no lead here.
    let (rig, _) = shop_with_link();
    begin_checkout(&rig, &ferry_lead(&rig));
    let bob = json!({"email": "bob@example.com"});
    needs_review(&rig, &without_reference().with("customer_details", bob));
    // Without mail there is no way to whoever has the address.
    let rig = Rig::with(|resolved| {
        crate::harness::provider::configure(resolved);
        resolved.set("bundles.builder_link", "https://buy.sample-shop.org/b");
    });
    begin_checkout(&rig, &ferry_lead(&rig));
    needs_review(&rig, &without_reference());
}

/// Who pays straight from a quote has left no lead: it is made when the payment arrives, of what was paid for.
#[test]
fn a_quote_that_is_paid_for_becomes_a_lead() {
    let (rig, mailbox) = shop_with_link();
    let quoted = |question: &str| {
        let query = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs([("target_urls", FERRY), ("question", question)])
            .finish();
        let path = format!("/v1/proof-pack/bundle/quote?{query}");
        let id = rig.get(&path).expect(200).json()["quote_id"].clone();
        id.as_str().expect("an id").to_owned()
    };
    let quote = quoted(FERRY_CLAIM);
    let event = Event::paid(&quote);
    event.send(&rig);
    settle(&rig);
    let seen = order(&rig);
    assert_eq!(seen["state"], "fulfilled", "{seen:#}");
    let lead_id = seen["lead_id"].as_str().expect("a lead");
    let kept = rig.operator(&format!("/operator/leads/{lead_id}")).json();
    for (name, expected) in [
        ("contact", json!(BUYER)),
        ("quote_id", json!(quote)),
        ("status", json!("fulfilled")),
        ("level", json!("builder")),
        ("question", json!(FERRY_CLAIM)),
    ] {
        assert_eq!(kept[name], expected, "{name}");
    }
    let delivered = rig.get(&event.delivery()).expect(200).json();
    assert_eq!(delivered["question"], FERRY_CLAIM);
    assert_eq!(mailbox.received().len(), 1);
    let receipt = rig.get(&format!("/v1/quotes/{quote}")).expect(200).json();
    assert_eq!(receipt["state"], "paid");
    // A second payment for it is set aside.
    Event::paid(&quote).send(&rig);
    settle(&rig);
    let listed = rig.operator("/operator/orders?state=needs_review").json();
    assert_eq!(listed["orders"][0]["doubt"], "lead_paid", "{listed}");
    // The bundle is the one whose price was paid; no price of a bundle's is set aside.
    let event = Event::paid(&quoted("Is it dear?")).with("amount_total", 2000);
    event.send(&rig);
    settle(&rig);
    assert_eq!(
        rig.get(&event.delivery()).expect(200).json()["bundle"],
        "audit"
    );
    let event = Event::paid(&quoted("Is it far?")).with("amount_total", 1);
    event.send(&rig);
    settle(&rig);
    let told = rig.get(&event.delivery()).expect(202).json();
    assert_eq!(told["status"], "pending");
}

/// Our mail is trusted: it quotes what its payer asked, and leads nowhere that the words want to lead.
#[test]
fn a_mail_leads_nowhere_but_to_us() {
    let (rig, mailbox) = shop();
    let question = "Your payment failed, pay again at https://evil.example/pay or evil.example now";
    Event::paid(&lead(&rig, "builder", question, &[FERRY])).send(&rig);
    settle(&rig);
    let mail = mailbox.received().pop().expect("a mail");
    assert!(mail.text.contains("Your question"), "{}", mail.text);
    assert!(!mail.text.contains("evil.example"), "{}", mail.text);
    assert!(mail.text.contains("The answer: "), "{}", mail.text);
}

#[test]
fn the_operator_attaches_a_payment_to_its_lead() {
    let (rig, mailbox) = shop();
    let event = Event::paid("").with("client_reference_id", "unknown");
    event.send(&rig);
    let order_id = order(&rig)["order_id"].as_str().expect("an id").to_owned();
    let attach = |lead_id: &str| {
        rig.operate(
            "POST",
            &format!("/operator/orders/{order_id}/attach?lead_id={lead_id}"),
        )
    };
    attach("nonsense").refused(400, "invalid_request");
    attach(&format!("lead_{}", "0".repeat(32))).refused(409, "conflict");
    rig.operate("POST", &format!("/operator/orders/{order_id}/refulfil"))
        .refused(409, "conflict");
    let asked = rig.post("/v1/proof-pack/bundle/leads");
    let request = lead_request("builder", FERRY_CLAIM, &[FERRY]);
    let lead_id = crate::harness::provider::lead_id(&asked.json(&request).send());
    attach(&lead_id).expect(200);
    attach(&lead_id).refused(409, "conflict");
    settle(&rig);
    assert_eq!(order(&rig)["state"], "fulfilled");
    assert_eq!(lead_status(&rig, &lead_id), "fulfilled");
    assert_eq!(mailbox.received().len(), 1);
    // The payment did not name the lead: who has its checkout session need not be who left the lead.
    let seen = rig.get(&event.delivery()).expect(200).text();
    assert!(!seen.contains(FERRY_CLAIM), "{seen}");
}

/// Story: one click delivered a bundle of 7 dollars for a payment of one cent.
#[test]
fn the_console_says_what_is_delivered_for_what_before_it_attaches_a_payment() {
    let (rig, _mailbox) = shop_with(|resolved| resolved.set("operator.token", TOKEN_GIVEN));
    let lead_id = ferry_lead(&rig);
    let event = Event::paid(&lead_id).with("amount_total", 1);
    event.send(&rig);
    let order_id = order(&rig)["order_id"].as_str().expect("an id").to_owned();
    let console = SignedIn::open(&rig);
    let path = format!("/operator/console/orders?id={order_id}");
    let page = console.get(&path).expect(200).text();
    for part in [
        "Yes, deliver builder (7.00 USD) for 0.01 USD",
        &format!("name=\"lead_id\" type=\"text\" value=\"{lead_id}\""),
        &format!("<code>{order_id}</code>"),
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let attach = |lead: &str, confirm: &str| {
        let fields = [
            ("order_id", &*order_id),
            ("lead_id", lead),
            ("confirm", confirm),
        ];
        console.act("attach-order", &fields)
    };
    attach(&lead_id, "").expect(400);
    attach("lead_zz", "yes").expect(400);
    assert_eq!(order(&rig)["state"], "needs_review");
    attach(&lead_id[..12], "yes").expect(303);
    settle(&rig);
    assert_eq!(order(&rig)["state"], "fulfilled");
    let page = console.get(&path).expect(200).text();
    assert!(page.contains("Open as the buyer sees it"), "{page}");
    let lead = console.get(&format!("/operator/console/leads?id={lead_id}"));
    let lead = lead.expect(200).text();
    assert!(lead.contains(&format!("orders?id={order_id}")), "{lead}");
    assert_eq!(lead.matches("name=\"note\"").count(), 1, "{lead}");
}

/// An event is known for five weeks; its checkout for as long as the order.
#[test]
fn what_is_forgotten_of_an_event_makes_no_second_order() {
    let (rig, mailbox) = shop();
    let event = Event::paid(&ferry_lead(&rig));
    event.send(&rig);
    settle(&rig);
    rig.pass(35 * 24 * 3600 + 1);
    rig.work_off();
    assert_eq!(rig.operator("/operator/events").json()["events"], json!([]));
    assert_eq!(event.send(&rig), json!({"received": true}));
    settle(&rig);
    assert_eq!(order(&rig)["round"], 0);
    assert_eq!(mailbox.received().len(), 1);
}

/// Anybody could push real warnings out of the console with unsigned events.
#[test]
fn events_without_a_signature_of_ours_do_not_fill_the_log_with_warnings() {
    let (mut rig, _) = shop_today();
    rig.in_process(&[("bundles.webhook_secrets", SECRET)], |rig, service| {
        let now = rig.now().0;
        let wrong = || stamp::sign("whsec_ffffffffffffffffffffffffffffffff", now, b"{}");
        let (stale, unreadable) = (stamp::sign(SECRET, now - 4_000, b"{}"), "t=".to_owned());
        for header in [unreadable, stale, wrong(), wrong(), wrong()] {
            let ask = service.post(WEBHOOK).header("Stripe-Signature", header);
            ask.body(b"{}").send().refused(400, "invalid_signature");
        }
        service
            .post(WEBHOOK)
            .body(b"{}")
            .send()
            .refused(400, "invalid_signature");
        let log = std::cell::RefCell::new(Vec::new());
        let lines = |words: [&str; 2]| -> Vec<String> {
            log.borrow_mut().extend(service.log());
            let all: Vec<String> = log.borrow().clone();
            let fits = |line: &String| words.iter().all(|word| line.contains(word));
            all.into_iter().filter(fits).collect()
        };
        until("all are logged", || {
            lines(["\"answered\"", WEBHOOK]).len() == 6
        });
        // A wrong secret of ours is worth one warning.
        let warnings = lines(["WARN", "webhook event refused"]);
        assert_eq!(warnings.len(), 1, "{warnings:#?}");
        assert!(
            warnings[0].contains("correct bundles.webhook_secrets"),
            "{warnings:#?}"
        );
    });
}
