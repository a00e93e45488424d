//! Paid bundles: read, compared, delivered as page, document, PDF and mail; found again; and what the operator may do.

use context402::evidence::report::canonical::bundle_hash;
use serde_json::{Value, json};

use crate::harness::ask::raw_bytes;
use crate::harness::process::run;
use crate::harness::provider::{
    BUYER, DELIVERY, Event, FAILED, SECRET, WEBHOOK, configure, lead, order, orders, settle, shop,
    shop_today, shop_with,
};
use crate::harness::{BASE_URL, FERRY, FERRY_CLAIM, Folder, Mailbox, Page, Rig, for_each, until};

const RECOVER: &str = "/v1/proof-pack/bundle/recover";
const DAY: u64 = 24 * 3600;
const MIRRORS: [&str; 2] = [
    "http://www.second-site.org/ferry",
    "http://www.third-site.org/ferry",
];
const DOWN: &str = "http://down.sample-site.org/ferry";
const GONE: &str = "http://news.sample-site.org/gone";
const WORDS: &str =
    "Children under six travel free on the harbour ferry, as the harbour office says";

/// Ten sources: one, two mirrors of it, five of their own, one that is gone and one that is down.
fn ten(rig: &Rig) -> Vec<String> {
    for number in 0..5 {
        let text = format!(
            "{WORDS}. Note {number} adds that dogs cost {number} euros on the boat to pier {number}."
        );
        rig.site.put(
            &format!("/own{number}"),
            Page::html(&format!("Note {number}"), &text),
        );
    }
    rig.site.put("/gone", Page::Status(404));
    let own = (0..5).map(|number| format!("http://other.sample-site.org/own{number}"));
    let others = [FERRY, MIRRORS[0], MIRRORS[1], GONE, DOWN];
    others.into_iter().map(str::to_owned).chain(own).collect()
}

fn ferry(rig: &Rig) -> Event {
    Event::paid(&lead(rig, "builder", FERRY_CLAIM, &[FERRY]))
}

fn operate(rig: &Rig, what: &str) -> crate::harness::Answer {
    let id = order(rig)["order_id"].as_str().expect("an id").to_owned();
    rig.operate("POST", &format!("/operator/orders/{id}/{what}"))
}

/// The path and query of one of our addresses.
fn path(url: &Value) -> &str {
    let url = url.as_str().expect("an address");
    url.strip_prefix(BASE_URL).expect("an address of ours")
}

#[test]
fn ten_sources_are_read_compared_and_delivered() {
    let (rig, mailbox) = shop();
    let sources = ten(&rig);
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let event = Event::paid(&lead(&rig, "builder", FERRY_CLAIM, &sources));
    event.send(&rig);
    settle(&rig);
    let answer = rig.get(&event.delivery()).expect(200);
    assert_eq!(answer.must("cache-control"), "private, no-store");
    assert_eq!(answer.must("x-robots-tag"), "noindex");
    assert_eq!(answer.must("referrer-policy"), "no-referrer");
    let body = answer.json();
    assert_eq!(
        (&body["status"], &body["bundle"]),
        (&"fulfilled".into(), &"builder".into())
    );
    assert_eq!(body["question"], FERRY_CLAIM);
    let coverage = &body["synthesis"]["coverage"];
    assert_eq!(
        (
            &coverage["source_count"],
            &coverage["read_count"],
            &coverage["unreachable_count"]
        ),
        (&10.into(), &8.into(), &2.into())
    );
    let unreachable: Vec<_> = body["unreachable"]
        .as_array()
        .expect("a list")
        .iter()
        .collect();
    let why = |url: &str| {
        let found = unreachable.iter().find(|one| one["target_url"] == url);
        found.map(|one| one["code"].clone())
    };
    assert_eq!(why(GONE), Some("upstream_refused".into()));
    assert_eq!(why(DOWN), Some("upstream_unavailable".into()));
    // The two mirrors speak with one voice.
    let group_of = |url: &str| {
        let found = body["sources"]
            .as_array()
            .expect("a list")
            .iter()
            .find(|one| one["target_url"] == url);
        found.map(|one| one["group_id"].clone())
    };
    assert_eq!(group_of(FERRY), group_of(MIRRORS[0]));
    assert_eq!(group_of(FERRY), group_of(MIRRORS[1]));
    assert_eq!(body["reports"].as_array().map(Vec::len), Some(8));
    assert_eq!(body["source_hashes"].as_array().map(Vec::len), Some(8));
    assert_eq!(
        body["email"],
        json!({"sent": true, "state": "sent", "to_masked": "a***@example.com"})
    );
    let Value::Object(members) = &body else {
        panic!("{body}")
    };
    assert_eq!(body["result_hash"], bundle_hash(members));

    // As files.
    let json_file = rig.get(path(&body["download"]["json_url"])).expect(200);
    assert!(json_file.must("content-disposition").contains("attachment"));
    let report: Value = json_file.json();
    assert_eq!(report["result_hash"], body["result_hash"]);
    assert_eq!(
        report.get("email"),
        None,
        "what stands around it is not in the file"
    );
    let pdf = rig.get(path(&body["download"]["pdf_url"])).expect(200);
    assert_eq!(pdf.must("content-type"), "application/pdf");
    assert!(pdf.body.starts_with(b"%PDF-"), "{pdf:?}");

    // As a page.
    let page = rig.get(path(&body["download"]["html_url"])).expect(200);
    assert!(page.must("content-type").starts_with("text/html"));
    assert_eq!(page.header("refresh"), None);
    for shown in [
        FERRY_CLAIM,
        GONE,
        DOWN,
        "Download the PDF",
        "Verify this report",
    ] {
        assert!(page.text().contains(shown), "{shown}: {}", page.text());
    }
    // Each excerpt leads to its source, each source to its own report, and copies are said to speak as one.
    for shown in [
        "id=\"S1.E1\"",
        "href=\"#S1\"",
        "id=\"S1\"",
        "same text as S2, S3",
    ] {
        assert!(page.text().contains(shown), "{shown}: {}", page.text());
    }
    assert_eq!(
        page.text().matches("<details>").count(),
        8,
        "{}",
        page.text()
    );

    // As a mail.
    let mails = mailbox.received();
    assert_eq!(mails.len(), 1);
    assert!(mails[0].to[0].contains(BUYER), "{:?}", mails[0].to);
    let order_id = body["order_id"].as_str().expect("an id");
    assert!(
        mails[0]
            .header("message-id")
            .contains(&format!("{order_id}.delivery"))
    );
    assert!(mails[0].text.contains("application/pdf"));
    assert!(mails[0].text.contains("8 of 10 sources"));
    assert!(
        !mails[0].text.contains(event.session()),
        "the session stays the buyer's secret"
    );

    // And for the operator.
    let seen = order(&rig);
    let trail: Vec<_> = seen["trail"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|step| &step["what"])
        .collect();
    assert_eq!(trail, ["paid", "processing started", "fulfilled"]);
    assert_eq!(
        (&seen["report"]["sources_read"], &seen["mail"]["state"]),
        (&8.into(), &"sent".into())
    );
    assert_eq!(seen["sources"], json!([]), "nothing is kept of the work");
    // One page each: what is down was asked three times.
    assert_eq!(rig.site.hits("/own3"), 1);
    assert_eq!(rig.site.hits("/gone"), 1);
}

/// The race between the redirect and the webhook, and what is seen while it runs.
#[test]
fn a_buyer_sees_what_becomes_of_the_order() {
    let (rig, _) = shop();
    let event = Event::paid(&lead(&rig, "builder", FERRY_CLAIM, &[FERRY, DOWN]));
    let page = format!("/proof-pack/bundle/delivery?session_id={}", event.session());
    // Before the news.
    let early = rig.get(&event.delivery()).expect(202);
    assert_eq!(early.must("retry-after"), "3");
    assert_eq!(early.json()["status"], "pending");
    let early = rig.get(&page).expect(202);
    assert!(
        early
            .must("refresh")
            .starts_with("3; url=/proof-pack/bundle/delivery?")
    );
    let later = rig.get(&format!("{page}&look=20")).expect(202);
    assert!(later.must("refresh").starts_with("23; "));
    let late = rig.get(&format!("{page}&look=33")).expect(202);
    assert_eq!(late.header("refresh"), None);
    assert!(late.text().contains("/proof-pack/bundle/recover"));
    // While it runs: one source is read, one is waited for.
    event.send(&rig);
    until("one source is done", || {
        rig.work_off();
        rig.get(&event.delivery()).json()["progress"] == json!({"done": 1, "total": 2})
    });
    let running = rig.get(&event.delivery()).expect(202).json();
    assert_eq!(running["status"], "processing");
    assert!(rig.get(&page).expect(202).text().contains("1 of 2"));
    let order_id = running["order_id"].as_str().expect("an id");
    let seen = rig.operator(&format!("/operator/orders/{order_id}")).json();
    assert_eq!(seen["sources"][1]["state"], "waiting");
    for format in ["json", "pdf"] {
        let file = rig.get(&format!("{}&format={format}", event.delivery()));
        assert_eq!(file.expect(202).json(), running, "{format}");
    }
    // The source comes back before it is given up.
    rig.site.raise();
    settle(&rig);
    let done = rig.get(&event.delivery()).expect(200).json();
    assert_eq!(done["synthesis"]["coverage"]["read_count"], 2);
    rig.get(&page).expect(200);
    rig.get(&format!("{}&format=xml", event.delivery()))
        .expect(404);
}

#[test]
fn addresses_that_are_no_pass_open_nothing() {
    let (rig, _) = shop();
    for query in [
        "",
        "?session_id=",
        "?session_id=cs_test_short",
        "?session_id=cs_else_0123456789abcdef",
        "?session_id=cs_live_0123456789/../..",
        "?session_id=cs_test_%00123456789",
        "?session_id=cs_test_0123456789&recovery=x",
    ] {
        rig.get(&format!("{DELIVERY}{query}"))
            .refused(404, "session_not_found");
        rig.get(&format!("/proof-pack/bundle/delivery{query}"))
            .expect(404);
    }
    let nobody = format!("ord_{}", "0".repeat(32));
    for token in [
        "",
        "x",
        &nobody,
        &format!("{nobody}.1."),
        &format!("{nobody}.9999999999.{}", "0".repeat(64)),
    ] {
        rig.get(&format!("{DELIVERY}?recovery={token}"))
            .refused(410, "link_expired");
    }
}

#[test]
fn a_link_leads_back_for_thirty_days_and_to_one_order() {
    let (rig, _) = shop();
    let event = ferry(&rig);
    event.send(&rig);
    settle(&rig);
    let body = rig.get(&event.delivery()).expect(200).json();
    let link = path(&body["recovery_url"]).to_owned();
    let api = link.replace("/proof-pack/", "/v1/proof-pack/");
    rig.get(&link).expect(200);
    let again = rig.get(&api).expect(200).json();
    assert_eq!(again["result_hash"], body["result_hash"]);
    assert_eq!(
        again["recovery_url"], body["recovery_url"],
        "looking makes no longer life"
    );
    assert!(!again.to_string().contains(event.session()));
    rig.get(&format!("{api}&format=pdf")).expect(200);
    // Nobody makes one by changing another.
    let last = if api.ends_with('0') { "1" } else { "0" };
    rig.get(&format!("{}{last}", &api[..api.len() - 1]))
        .refused(410, "link_expired");
    let expires_at = body["expires_at"].as_u64().expect("a time");
    let longer = api.replace(&format!(".{expires_at}."), &format!(".{}.", expires_at + 1));
    assert_ne!(longer, api);
    rig.get(&longer).refused(410, "link_expired");
    rig.pass(30 * DAY - 1);
    rig.get(&api).expect(200);
    rig.pass(1);
    rig.get(&api).refused(410, "link_expired");
    rig.get(&link).expect(410);
    // The order itself is kept.
    rig.get(&event.delivery()).expect(200);
}

#[test]
fn who_asks_for_a_lost_delivery_learns_nothing_and_the_buyer_gets_a_mail() {
    let (rig, mailbox) = shop();
    let event = ferry(&rig);
    event.send(&rig);
    settle(&rig);
    let ask = |email: &str, target_url: &str| {
        rig.post(RECOVER)
            .json(&json!({"email": email, "target_url": target_url}))
            .send()
            .expect(202)
    };
    let mailed = |count: usize| {
        settle(&rig);
        assert_eq!(mailbox.received().len(), count);
    };
    let right = ask(BUYER, FERRY);
    for (email, target_url) in [
        ("bob@example.com", FERRY),
        (BUYER, "http://news.sample-site.org/other"),
        (BUYER, "nonsense"),
        ("nonsense", "nonsense"),
    ] {
        let wrong = ask(email, target_url);
        assert_eq!(wrong.body, right.body);
        let names = |answer: &crate::harness::Answer| {
            answer
                .headers
                .iter()
                .map(|(name, _)| name.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&wrong), names(&right));
    }
    mailed(2);
    // Spelt as people do, and over and over: one mail in ten minutes.
    ask(" ANN@example.com ", "http://NEWS.sample-site.org/ferry");
    mailed(2);
    rig.pass(600);
    let form = rig
        .post("/proof-pack/bundle/recover")
        .header("Content-Type", "application/x-www-form-urlencoded")
        .body(format!("email={BUYER}&target_url={FERRY}"))
        .send()
        .expect(202);
    assert!(form.text().contains("If an order matches"));
    mailed(3);
    rig.pass(600);
    rig.get(&format!("{RECOVER}?email={BUYER}&target_url={FERRY}"))
        .expect(202);
    mailed(4);
    let mail = mailbox.received().pop().expect("a mail");
    let text = mail.text.replace("=\r\n", "").replace("=3D", "=");
    let start = text
        .find("/proof-pack/bundle/delivery?recovery=")
        .expect("a link");
    let link = text[start..]
        .split(['"', '\r', ' ', '<'])
        .next()
        .expect("a link");
    rig.get(link).expect(200);
    // What is missing is said, for that tells nothing.
    rig.post(RECOVER)
        .json(&json!({"email": BUYER}))
        .send()
        .invalid("missing", &["body", "target_url"]);
    assert!(
        rig.get("/proof-pack/bundle/recover")
            .expect(200)
            .text()
            .contains("<form")
    );
}

/// A link is given to the buyer's mailbox alone; address and source of another can be guessed.
#[test]
fn without_mail_nobody_is_given_a_link() {
    let rig = Rig::with(configure);
    let event = ferry(&rig);
    event.send(&rig);
    let as_page = |path: &str| {
        rig.ask("GET", path)
            .header("Accept", "text/html")
            .send()
            .text()
    };
    let waiting = as_page(&event.delivery().replace("/v1/", "/"));
    assert!(
        waiting.contains("the only way back to your report"),
        "{waiting}"
    );
    assert!(!waiting.contains("with your e-mail address"), "{waiting}");
    settle(&rig);
    let delivered = rig.get(&event.delivery()).expect(200).json();
    assert_eq!(delivered["email"]["sent"], false);
    let ask = |email: &str, target_url: &str| {
        let body = json!({"email": email, "target_url": target_url});
        rig.post(RECOVER).json(&body).send()
    };
    for answer in [
        ask(BUYER, FERRY),
        ask("bob@example.com", FERRY),
        rig.get(&format!("{RECOVER}?email={BUYER}&target_url={FERRY}")),
    ] {
        let refused = answer.refused(409, "no_mail");
        assert!(!refused.text().contains("recovery="), "{refused:?}");
    }
    // What is missing is named where it was looked for.
    rig.get(RECOVER).invalid("missing", &["query", "email"]);
    let posted = rig.post(RECOVER).send();
    posted.invalid("missing", &["body", "email"]);
    let page = rig.get("/proof-pack/bundle/recover").expect(200).text();
    assert!(
        page.contains("sends no e-mail") && !page.contains("<form class=\"ask\""),
        "{page}"
    );
}

#[test]
fn a_lost_delivery_is_asked_for_a_few_times_a_minute() {
    let (rig, _) = shop_with(|resolved| resolved.set("limits.recoveries_per_minute", "3"));
    let ask = rig
        .post(RECOVER)
        .json(&json!({"email": BUYER, "target_url": FERRY}));
    for _ in 0..3 {
        ask.send().expect(202);
    }
    ask.send().expect(429);
}

/// The sources of an order are compared side by side, so that each may have its share of the memory for it.
#[test]
fn a_source_with_more_text_than_its_share_is_out_of_reach() {
    let (rig, _) = shop();
    let mut sources: Vec<String> = (0..24)
        .map(|number| format!("http://other.sample-site.org/own{number}"))
        .collect();
    for number in 0..24 {
        let page = Page::html(&format!("Note {number}"), &format!("{WORDS}, {number}."));
        rig.site.put(&format!("/own{number}"), page);
    }
    let timetable = "The ferry leaves at noon, and again in the evening.\n".repeat(22_000);
    rig.site
        .put("/timetable", Page::of("text/plain", timetable));
    sources.push("http://other.sample-site.org/timetable".to_owned());
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let event = Event::paid(&lead(&rig, "audit", FERRY_CLAIM, &sources));
    let event = event.with("amount_total", 2000);
    event.send(&rig);
    settle(&rig);
    let body = rig.get(&event.delivery()).expect(200).json();
    assert_eq!(body["synthesis"]["coverage"]["read_count"], 24);
    let unreachable = &body["unreachable"][0];
    assert_eq!(unreachable["target_url"], sources[24]);
    assert_eq!(unreachable["code"], "content_too_large");
}

/// Nothing could be read: the operator has it done again once the sources are back.
#[test]
fn an_order_without_a_readable_source_fails_and_is_done_anew() {
    let (rig, mailbox) = shop_with(|resolved| resolved.set("contact", "operator@shop.example"));
    let event = Event::paid(&lead(&rig, "builder", FERRY_CLAIM, &[DOWN]));
    event.send(&rig);
    settle(&rig);
    let seen = order(&rig);
    assert_eq!(seen["state"], "failed", "{seen:#}");
    let told = rig.get(&event.delivery()).expect(200).json();
    assert_eq!(told["status"], "failed");
    // The page says what was ordered, why it failed and what happens next.
    let page = format!("/proof-pack/bundle/delivery?session_id={}", event.session());
    let page = rig.get(&page).expect(200).text();
    for shown in [
        "7.00 USD",
        DOWN,
        FERRY_CLAIM,
        "Why it could not be read",
        "the report or the refund, and an e-mail in either case",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    // The operator is told, and so is the buyer, once each.
    let mails = mailbox.received();
    assert_eq!(mails.len(), 2, "{mails:#?}");
    let to_buyer = mails
        .iter()
        .filter(|mail| mail.header("to").contains(BUYER));
    let to_buyer: Vec<_> = to_buyer.collect();
    assert_eq!(to_buyer.len(), 1);
    assert!(to_buyer[0].text.contains("We will try again or refund you"));
    rig.site.raise();
    operate(&rig, "refulfil").expect(200);
    settle(&rig);
    assert_eq!(
        rig.get(&event.delivery()).expect(200).json()["status"],
        "fulfilled"
    );
    assert_eq!(mailbox.received().len(), 3);
    // And once more: another report, another mail.
    let first = rig.get(&event.delivery()).json()["created_at"].clone();
    rig.pass(10);
    operate(&rig, "refulfil").expect(200);
    settle(&rig);
    assert_ne!(rig.get(&event.delivery()).json()["created_at"], first);
    assert_eq!(mailbox.received().len(), 4);
    operate(&rig, "resend").expect(200);
    settle(&rig);
    let mails = mailbox.received();
    assert_eq!(mails.len(), 5);
    let mut ids: Vec<_> = mails
        .iter()
        .map(|mail| mail.header("message-id").to_owned())
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 5, "each is a mail of its own");
}

/// What needs the operator is a click away: nobody types an id.
#[test]
fn mails_to_the_operator_link_to_the_order_in_the_console() {
    let (rig, mailbox) = shop_with(|resolved| resolved.set("contact", "operator@shop.example"));
    for (event, subject) in [
        (
            Event::paid(&lead(&rig, "builder", FERRY_CLAIM, &[DOWN])),
            "An order could not be fulfilled",
        ),
        (Event::paid("no-lead"), "A payment needs review"),
    ] {
        event.send(&rig);
        settle(&rig);
        let id = order(&rig)["order_id"].as_str().expect("an id").to_owned();
        let mails = mailbox.received();
        let mut mails = mails.iter();
        let mail = mails.find(|mail| mail.header("subject") == subject);
        let text = &mail.expect("a mail to the operator").text;
        let link = format!("Console: {BASE_URL}/operator/console/orders?id={id}");
        let read = text.replace("=\r\n", "").replace("=3D", "=");
        assert!(read.contains(&link), "{text}");
        operate(&rig, "delete").expect(200);
    }
}

#[test]
fn what_is_refunded_is_not_delivered_and_not_done_again() {
    let (rig, mailbox) = shop();
    let event = ferry(&rig);
    event.send(&rig);
    settle(&rig);
    operate(&rig, "refund").expect(200);
    settle(&rig);
    let told = rig.get(&event.delivery()).expect(200).json();
    assert_eq!(told["status"], "refunded");
    assert_eq!(told.get("reports"), None);
    let page = format!("/proof-pack/bundle/delivery?session_id={}", event.session());
    let page = rig.get(&page).expect(200).text();
    for shown in ["<dd>7.00 USD</dd>", FERRY, "Nothing more will be delivered"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    for what in ["refund", "refulfil", "resend"] {
        operate(&rig, what).refused(409, "conflict");
    }
    settle(&rig);
    // The delivery, and the refund, which is told once.
    let mails = mailbox.received();
    assert_eq!(mails.len(), 2, "{mails:#?}");
    let refund = &mails[1];
    assert!(refund.header("to").contains(BUYER), "{refund:#?}");
    assert!(
        refund.text.contains("We have refunded 7.00 USD"),
        "{}",
        refund.text
    );
}

/// A payment that fails after the checkout leads back to a place to pay.
#[test]
fn a_failed_payment_leads_back_to_the_payment() {
    let (rig, mailbox) = shop();
    let event = ferry(&rig);
    for _ in 0..2 {
        let failed = event.then(FAILED).with("payment_status", "unpaid");
        failed.send(&rig);
    }
    settle(&rig);
    let mails = mailbox.received();
    assert_eq!(mails.len(), 1, "{mails:#?}");
    let at = mails[0].text.find("/proof-pack/bundle/pay?lead_id=");
    let at = at.expect("a link to pay again");
    let path = mails[0].text[at..]
        .split_whitespace()
        .next()
        .expect("a link");
    rig.ask("GET", path).send().expect(303);
    let page = format!("/proof-pack/bundle/delivery?session_id={}", event.session());
    let page = rig.get(&page).expect(200).text();
    let link = "href=\"/proof-pack/bundle/pay?lead_id=lead_";
    assert!(
        page.contains(link) && !page.contains("<dt>Paid</dt>"),
        "{page}"
    );
}

#[test]
fn a_deleted_order_leaves_nothing_of_its_buyer() {
    let (rig, mailbox) = shop();
    let event = ferry(&rig);
    event.send(&rig);
    settle(&rig);
    let body = rig.get(&event.delivery()).expect(200).json();
    let link = path(&body["recovery_url"]).to_owned();
    operate(&rig, "delete").expect(200);
    assert_eq!(orders(&rig), Vec::<Value>::new());
    rig.get(&link).expect(410);
    rig.get(&event.delivery()).expect(202);
    let events = rig.operator("/operator/events").json();
    assert!(!events.to_string().contains(BUYER), "{events}");
    // The event itself is still known: it makes no second order.
    event.send(&rig);
    settle(&rig);
    assert_eq!(orders(&rig), Vec::<Value>::new());
    assert_eq!(mailbox.received().len(), 1);
}

/// A stop in order lets go of the work at the next source, and the next start goes on with it.
#[test]
fn an_order_goes_on_after_a_restart() {
    let (mut rig, mailbox) = shop();
    for number in 0..6 {
        let page = Page::html(&format!("Note {number}"), WORDS);
        rig.site.put(
            &format!("/slow{number}"),
            page.slow(std::time::Duration::from_millis(300)),
        );
    }
    let sources: Vec<String> = (0..6)
        .map(|number| format!("http://other.sample-site.org/slow{number}"))
        .collect();
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let event = Event::paid(&lead(&rig, "builder", FERRY_CLAIM, &sources));
    event.send(&rig);
    until("the first sources are done", || {
        rig.get(&event.delivery()).json()["progress"]["done"].as_u64() >= Some(1)
    });
    rig.restart();
    assert_ne!(order(&rig)["state"], "fulfilled", "it was not done yet");
    settle(&rig);
    let body = rig.get(&event.delivery()).expect(200).json();
    assert_eq!(body["synthesis"]["coverage"]["read_count"], 6);
    for number in 0..6 {
        assert_eq!(
            rig.site.hits(&format!("/slow{number}")),
            1,
            "read once: {number}"
        );
    }
    assert_eq!(mailbox.received().len(), 1);
}

#[test]
fn the_command_line_says_the_same_with_and_without_the_service() {
    let folder = Folder::new();
    let (mut rig, mailbox) = shop_today();
    let event = ferry(&rig);
    event.send(&rig);
    settle(&rig);
    let config = folder.path("config.toml");
    let data = rig.folder.path("data.redb");
    let text = format!(
        "base_url = \"{BASE_URL}\"\ndata_file = \"{}\"\n[payment]\npay_to = \"{}\"\n[mail]\nsmtp_host = \
         \"127.0.0.1\"\nsmtp_port = {}\ntls = \"none\"\nfrom = \"reports@shop.example\"\n",
        data.display(),
        crate::harness::PAY_TO,
        mailbox.port()
    );
    std::fs::write(&config, text).expect("written");
    let config = config.display().to_string();
    let id = order(&rig)["order_id"].as_str().expect("an id").to_owned();
    let command = |words: &[&str]| run(&[&["orders"], words, &["--config", &config]].concat());
    let running = command(&["list"]).expect(0).out;
    assert!(
        running.contains(&id) && running.contains("fulfilled") && running.contains("7.00"),
        "{running}"
    );
    assert!(rig.stop(), "the service stops in order");
    assert_eq!(command(&["list"]).expect(0).out, running);
    assert_eq!(command(&["list", "--state", "failed"]).expect(0).out, "");
    let shown: Value = serde_json::from_str(&command(&["show", &id]).expect(0).out).expect("JSON");
    assert_eq!(shown["email"], BUYER);
    assert!(
        command(&["show", "ord_none"])
            .failed(1)
            .contains("No such order")
    );
    assert!(
        command(&["attach", &id, "lead_none"])
            .failed(1)
            .contains("No such lead")
    );
    // The lead is found by the beginning of its id; nothing can be attached to a delivered order.
    let lead = shown["lead_id"].as_str().expect("a lead");
    let refused = command(&["attach", &id, &lead[..12]]).failed(1);
    assert!(!refused.contains("No such lead"), "{refused}");
    command(&["resend", &id]).expect(0);
    rig.run();
    // The command went by the real clock, which has gone on.
    rig.pass(600);
    settle(&rig);
    assert_eq!(mailbox.received().len(), 2);
    assert!(command(&["refund", &id]).expect(0).out.contains("refunded"));
    assert!(command(&["refund", &id]).failed(1).contains("refunded"));
    command(&["delete", &id]).expect(0);
    assert_eq!(orders(&rig), Vec::<Value>::new());
}

/// A debug build takes its time over a PDF while others build theirs.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(90);

/// Where the program can be made to end while it works on an order.
const POINTS: [&str; 6] = [
    "event_taken",
    "order_taken",
    "source_kept",
    "sources_done",
    "order_written",
    "order_delivered",
];

/// The program dies at every step: there is one order, one report and one mail in the end.
#[test]
fn a_crash_at_any_step_ends_in_one_report_and_one_mail() {
    for_each(POINTS, |point| {
        let mailbox = Mailbox::start();
        let mut rig = Rig::today_with(|resolved| {
            mailbox.configure(resolved);
            configure(resolved);
        });
        let sources = ten(&rig);
        let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
        let event = Event::paid(&lead(&rig, "builder", FERRY_CLAIM, &sources));
        let more = [("lab.crash_at", point), ("bundles.webhook_secrets", SECRET)];
        // Each start gets one step further, or to the same one again.
        for start in 0..2 {
            rig.in_process(&more, |rig, mut service| {
                if start == 0 || point == "event_taken" {
                    let ask = event.ask(service.post(WEBHOOK), rig.now().0);
                    raw_bytes(service.address, &ask.bytes());
                }
                let ends = point != "event_taken" || start == 0;
                match (ends, start) {
                    (true, 0) => assert!(!service.end_within(PATIENCE).success(), "{point}"),
                    _ => {
                        // Later starts may have nothing left to do.
                        std::thread::sleep(std::time::Duration::from_millis(1500));
                        service.kill();
                    }
                }
            });
            assert!(orders(&rig).len() == 1, "{point}");
        }
        event.send(&rig);
        settle(&rig);
        let seen = order(&rig);
        assert_eq!(seen["state"], "fulfilled", "{point}: {seen:#}");
        let body = rig.get(&event.delivery()).expect(200).json();
        assert_eq!(body["reports"].as_array().map(Vec::len), Some(8), "{point}");
        let mails = mailbox.received();
        assert_eq!(mails.len(), 1, "{point}: {mails:#?}");
        let delivered = seen["trail"].as_array().into_iter().flatten();
        let delivered = delivered.filter(|step| step["what"] == "fulfilled").count();
        assert_eq!(delivered, 1, "{point}");
    });
}
