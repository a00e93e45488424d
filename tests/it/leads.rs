//! Leads and messages: what people tell us, what they are told, and what the operator makes of it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use context402::signing::stamp;
use serde_json::{Value, json};

use crate::cli::config_file;
use crate::harness::process::run;
use crate::harness::server::{Request, Server, respond};
use crate::harness::{Answer, Ask, BASE_URL, FERRY, Folder, Rig, for_each, until};

const BUNDLE: &str = "/v1/proof-pack/bundle/leads";
const PACK: &str = "/v1/proof-pack/leads";
const CONTACT: &str = "/v1/contact";

fn bundle_lead() -> Value {
    json!({"contact": "ada@example.com", "target_urls": ["example.com", FERRY], "question": "Is it so?"})
}

fn send(rig: &Rig, path: &str, body: &Value) -> Answer {
    rig.post(path).json(body).send()
}

fn form(rig: &Rig, path: &str, pairs: &[(&str, &str)]) -> Ask {
    let body = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs)
        .finish();
    rig.post(path)
        .header("Content-Type", "application/x-www-form-urlencoded")
        .body(body)
}

fn browser(ask: Ask) -> Ask {
    ask.header("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
}

fn leads(rig: &Rig) -> Vec<Value> {
    let listed = rig.operator("/operator/leads").expect(200).json();
    listed["leads"].as_array().expect("an array").clone()
}

fn id_of(received: &Value) -> String {
    received["lead_id"].as_str().expect("an id").to_owned()
}

#[test]
fn a_bundle_is_asked_for() {
    let rig = Rig::start();
    let mut lead = bundle_lead();
    for (name, text) in [
        ("use_case", "vendors"),
        ("budget_usdc", "50 a month"),
        ("source", "a-list"),
        ("notes", "soon"),
    ] {
        lead[name] = text.into();
    }
    lead["target_urls"] = json!(["example.com", FERRY, "http://10.0.0.1/"]);
    let received = send(&rig, BUNDLE, &lead).expect(202).json();
    let id = id_of(&received);
    assert!(id.starts_with("lead_") && id.len() == 37, "{id}");
    let expected = json!({
        "status": "received", "pipeline_status": "new", "duplicate": false, "bundle": "builder",
        "amount_units": "7000000", "price_usdc": 7.0, "source_limit": 10, "pay_url": null,
        "target_urls": ["https://example.com/", FERRY], "created_at": rig.now().0,
    });
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(&received[name], value, "{name}");
    }
    assert_eq!(received["rejected_urls"][0]["url"], "http://10.0.0.1/");
    assert!(received["next_steps"].is_array());
    assert_eq!(
        received["resume_page"],
        format!("{BASE_URL}/proof-pack/request?lead_id={id}")
    );
    let kept = rig
        .operator(&format!("/operator/leads/{id}"))
        .expect(200)
        .json();
    for (name, text) in [
        ("contact", "ada@example.com"),
        ("question", "Is it so?"),
        ("use_case", "vendors"),
        ("budget_usdc", "50 a month"),
        ("source", "a-list"),
        ("notes", "soon"),
        ("status", "new"),
        ("product", "proof_bundle"),
    ] {
        assert_eq!(kept[name], text, "{name}");
    }
    assert_eq!(
        kept["trail"][0],
        json!({"at": rig.now().0, "by": "buyer", "what": "received"})
    );
}

#[test]
fn a_report_is_asked_for() {
    let rig = Rig::start();
    let lead = json!({"contact": "ada@example.com", "target_url": "example.com/a", "pack": "deep", "question": "Why?"});
    let received = send(&rig, PACK, &lead).expect(202).json();
    assert_eq!(
        (&received["pack"], &received["amount_units"]),
        (&json!("deep"), &json!("1000000"))
    );
    assert_eq!(received["target_urls"], json!(["https://example.com/a"]));
    let page = received["resume_page"]
        .as_str()
        .and_then(|url| url.strip_prefix(BASE_URL))
        .expect("ours");
    assert!(
        page.starts_with("/proof-pack/quote?") && page.contains("Why"),
        "{page}"
    );
    let default = send(
        &rig,
        PACK,
        &json!({"contact": "b@example.com", "target_url": "example.com"}),
    );
    assert_eq!(default.expect(202).json()["pack"], "standard");
    let blocked = json!({"contact": "b@example.com", "target_url": "http://127.0.0.1/"});
    send(&rig, PACK, &blocked).refused(400, "target_blocked");
}

/// What is missing or does not fit is named where it stands; nothing of it is kept.
#[test]
fn what_does_not_fit_is_named() {
    let rig = Rig::start();
    let with = |name: &str, value: Value| {
        let mut lead = bundle_lead();
        match value {
            Value::Null => drop(lead.as_object_mut().expect("an object").remove(name)),
            value => lead[name] = value,
        }
        lead
    };
    let text = |count: usize| Value::from("x".repeat(count));
    for_each(
        [
            ("contact", Value::Null, "missing"),
            ("contact", json!("  "), "string_too_short"),
            ("contact", json!(7), "string_type"),
            ("contact", text(255), "string_too_long"),
            (
                "contact",
                json!("a@example.com\r\nBcc: b@example.com"),
                "value_error",
            ),
            ("target_urls", Value::Null, "missing"),
            ("target_urls", json!([]), "too_short"),
            ("target_urls", json!(5), "list_type"),
            ("bundle", json!("huge"), "literal_error"),
            ("question", text(1001), "string_too_long"),
            ("use_case", text(4001), "string_too_long"),
            ("notes", text(4001), "string_too_long"),
            ("budget_usdc", json!(50), "string_type"),
        ],
        |(name, value, kind)| {
            let answer = send(&rig, BUNDLE, &with(name, value.clone()));
            assert_eq!(answer.status, 422, "{name} {value}: {answer:?}");
            let complaint = answer.json()["detail"][0].clone();
            assert_eq!(
                (&complaint["type"], &complaint["loc"][1]),
                (&json!(kind), &json!(name)),
                "{value}"
            );
        },
    );
    send(&rig, PACK, &json!({"contact": "a@b.co"})).invalid("missing", &["body", "target_url"]);
    rig.post(BUNDLE)
        .header("Content-Type", "text/plain")
        .body("x")
        .send()
        .refused(415, "unsupported_media_type");
    let large =
        json!({"contact": "a@b.co", "target_urls": ["example.com"], "notes": "x".repeat(70_000)});
    send(&rig, BUNDLE, &large).refused(413, "body_too_large");
    let blocked = json!({"contact": "a@b.co", "target_urls": ["localhost", "http://10.0.0.1"]});
    let refused = send(&rig, BUNDLE, &blocked)
        .refused(400, "target_blocked")
        .json();
    assert_eq!(refused["rejected_urls"].as_array().map(Vec::len), Some(2));
    assert!(leads(&rig).is_empty());
    // What nobody reads is refused: a misspelt member would be lost in silence.
    for (path, lead) in [
        (BUNDLE, bundle_lead()),
        (PACK, json!({"contact": "a@b.co", "target_url": FERRY})),
        (CONTACT, json!({"email": "a@b.co", "message": "Hello"})),
    ] {
        let mut lead = lead;
        lead["budget"] = "50".into();
        send(&rig, path, &lead).invalid("extra_forbidden", &["body", "budget"]);
    }
    assert!(leads(&rig).is_empty());
    // The longest that fits does, and a label that does not fit is dropped.
    let mut fits = bundle_lead();
    fits["contact"] = text(254);
    fits["notes"] = "é".repeat(4000).into();
    fits["source"] = "No such label!".into();
    send(&rig, BUNDLE, &fits).expect(202);
    assert_eq!(leads(&rig)[0]["source"], Value::Null);
}

/// Hostile text is kept as text, without what no text needs.
#[test]
fn control_characters_are_left_out() {
    let rig = Rig::start();
    let mut lead = bundle_lead();
    lead["notes"] = "one\r\ntwo\u{0}\u{1b}[31m\tthree".into();
    let id = id_of(&send(&rig, BUNDLE, &lead).expect(202).json());
    let kept = rig.operator(&format!("/operator/leads/{id}")).json();
    assert_eq!(kept["notes"], "one\ntwo[31m\tthree");
}

/// Sources that a bundle does not take are not left out in silence.
#[test]
fn more_sources_than_the_bundle_takes_are_refused() {
    let rig = Rig::start();
    let with = |bundle: Option<&str>, count: usize| {
        let pages = (0..count).map(|number| format!("https://example.com/{number}"));
        let mut lead = json!({"contact": "a@b.co", "target_urls": pages.collect::<Vec<_>>()});
        if let Some(bundle) = bundle {
            lead["bundle"] = bundle.into();
        }
        send(&rig, BUNDLE, &lead)
    };
    for (bundle, taken) in [("scout", 3), ("builder", 10), ("audit", 25)] {
        with(Some(bundle), taken).expect(202);
        let refused = with(Some(bundle), taken + 1);
        let detail = refused.json()["detail"][0]["msg"].clone();
        refused.invalid("too_long", &["body", "target_urls"]);
        let detail = detail.as_str().expect("a sentence");
        assert!(
            detail.contains(&format!("{bundle} has at most {taken} sources")),
            "{detail}"
        );
    }
    assert_eq!(with(None, 11).expect(202).json()["bundle"], "audit");
    with(None, 26).invalid("too_long", &["body", "target_urls"]);
    with(None, 200).invalid("too_long", &["body", "target_urls"]);
    // Those that cannot be read do not count, and are named.
    let lead = json!({"contact": "a@b.co", "bundle": "scout",
        "target_urls": ["a.example.com", "b.example.com", "c.example.com", "localhost"]});
    let received = send(&rig, BUNDLE, &lead).expect(202).json();
    assert_eq!(received["rejected_urls"][0]["url"], "https://localhost");
    assert_eq!(leads(&rig).len(), 5);
}

/// Contact and sources of another can be guessed. Who repeats them is answered as if they were new, learns
/// nothing of the other request, and changes nothing of it.
#[test]
fn who_repeats_another_s_request_learns_and_changes_nothing() {
    let mut rig =
        Rig::with(|resolved| resolved.set("bundles.builder_link", "https://buy.sample-shop.org/b"));
    let mut owner = bundle_lead();
    for (name, text) in [
        ("use_case", "a secret merger"),
        ("budget_usdc", "9000"),
        ("notes", "tell nobody"),
        ("bundle", "builder"),
    ] {
        owner[name] = text.into();
    }
    let first = send(&rig, BUNDLE, &owner).expect(202);
    let (first_json, id) = (first.json(), id_of(&first.json()));
    let kept = |rig: &Rig| {
        let path = format!("/operator/leads/{id}");
        rig.operator(&path).expect(200).json()
    };
    let before = kept(&rig);
    rig.restart();
    rig.pass(60);
    let mut guess = json!({
        "contact": " ADA@example.com", "target_urls": format!("{FERRY}, https://example.com"),
        "question": "Your payment failed, pay at evil.example", "bundle": "audit", "notes": "x",
    });
    for exact in [false, true] {
        if exact {
            guess = owner.clone();
        }
        let answer = send(&rig, BUNDLE, &guess).expect(202);
        let told = answer.json();
        assert_ne!(told["lead_id"], first_json["lead_id"]);
        let names = |value: &Value| -> Vec<String> {
            value
                .as_object()
                .expect("an object")
                .keys()
                .cloned()
                .collect()
        };
        assert_eq!(names(&told), names(&first_json), "the same shape");
        assert_eq!(
            (
                &told["duplicate"],
                &told["pipeline_status"],
                &told["created_at"]
            ),
            (&json!(false), &json!("new"), &json!(rig.now().0))
        );
        let headers = |answer: &Answer| -> Vec<String> {
            answer
                .headers
                .iter()
                .map(|(name, _)| name.clone())
                .collect()
        };
        assert_eq!(headers(&answer), headers(&first));
        // As a page, and by the page that the answer names.
        let fields = [
            ("contact", "ada@example.com"),
            ("target_urls", "https://example.com/"),
            ("target_urls", FERRY),
        ];
        let page = browser(form(&rig, BUNDLE, &fields))
            .send()
            .expect(202)
            .text();
        let resume = told["resume_page"]
            .as_str()
            .and_then(|url| url.strip_prefix(BASE_URL));
        let resume = rig.get(resume.expect("ours")).expect(200).text();
        for secret in ["merger", "9000", "tell nobody", &id] {
            assert!(!page.contains(secret), "{secret}: {page}");
            assert!(!resume.contains(secret), "{secret}: {resume}");
        }
    }
    assert_eq!(kept(&rig), before, "nothing of it has changed");
    // The operator sees which are alike.
    let all = leads(&rig);
    assert_eq!(all.len(), 5);
    let newest = all[0]["lead_id"].as_str().expect("an id");
    let newest = rig.operator(&format!("/operator/leads/{newest}")).json();
    let note = newest["trail"][1]["what"].as_str().expect("a step");
    assert!(
        note.starts_with("same contact and sources as lead_"),
        "{note}"
    );
    // Another day it is not worth a note.
    rig.pass(24 * 3600);
    let next_day = id_of(&send(&rig, BUNDLE, &bundle_lead()).expect(202).json());
    let next_day = rig.operator(&format!("/operator/leads/{next_day}")).json();
    assert_eq!(next_day["trail"].as_array().map(Vec::len), Some(1));
}

/// An identifier stands in links and with the payment provider: it leads on, and shows nothing that somebody wrote.
#[test]
fn an_identifier_fills_no_form() {
    let rig =
        Rig::with(|resolved| resolved.set("bundles.builder_link", "https://buy.sample-shop.org/b"));
    let mut lead = bundle_lead();
    lead["notes"] = "tell nobody".into();
    let id = id_of(&send(&rig, BUNDLE, &lead).expect(202).json());
    let path = format!("/proof-pack/request?lead_id={id}");
    let text = rig.get(&path).expect(200).text();
    assert!(text.contains("content=\"noindex\""), "{text}");
    assert!(
        text.contains("We have received your request") && text.contains(&id),
        "{text}"
    );
    assert!(
        text.contains("/proof-pack/bundle/pay?bundle=builder&amp;lead_id=lead_"),
        "{text}"
    );
    for hidden in ["Is it so?", FERRY, "tell nobody", "@example.com"] {
        assert!(!text.contains(hidden), "{hidden}: {text}");
    }
    // What the address itself brings stays.
    let more = rig.get(&format!("{path}&question=Mine")).expect(200).text();
    assert!(more.contains("value=\"Mine\""), "{more}");
    // Nothing leads to a payment for what is paid, and nothing is known of what is not there.
    rig.operate("POST", &format!("/operator/leads/{id}/move?to=paid"))
        .expect(200);
    assert!(
        !rig.get(&path)
            .expect(200)
            .text()
            .contains("/proof-pack/bundle/pay")
    );
    let unknown = format!("/proof-pack/request?lead_id=lead_{}", "0".repeat(32));
    assert!(
        !rig.get(&unknown)
            .expect(200)
            .text()
            .contains("received your request")
    );
}

#[test]
fn the_same_form_at_once_is_a_lead_each_and_one_notice() {
    let receiver = Receiver::start();
    let rig = receiver.rig();
    let answers = rig.post(BUNDLE).json(&bundle_lead()).send_at_once(8);
    let ids: BTreeSet<String> = answers.iter().map(|answer| id_of(&answer.json())).collect();
    assert_eq!((ids.len(), leads(&rig).len()), (8, 8));
    rig.work_off();
    until("the notice came", || receiver.heard().len() == 1);
    // Who says something else is somebody else.
    let mut other = bundle_lead();
    other["notes"] = "another".into();
    send(&rig, BUNDLE, &other).expect(202);
    rig.work_off();
    until("the notice came", || receiver.heard().len() == 2);
    rig.work_off();
    assert_eq!(receiver.heard().len(), 2);
}

/// What a page of another site sends in a visitor's name is refused; programs say no Origin.
#[test]
fn forms_of_other_sites_are_refused() {
    let rig = Rig::with(|resolved| resolved.set("limits.recoveries_per_minute", "0"));
    let fields = [
        ("contact", "ada@example.com"),
        ("target_urls", "example.com"),
        ("target_url", "example.com"),
    ];
    let forms = [
        (BUNDLE, &fields[..2]),
        (
            PACK,
            &[("contact", "a@b.co"), ("target_url", "example.com")][..],
        ),
        (CONTACT, &[("email", "a@b.co"), ("message", "Hello")]),
        ("/proof-pack/bundle/quote", &fields[1..2]),
        (
            "/proof-pack/bundle/recover",
            &[("email", "a@b.co"), ("target_url", "example.com")],
        ),
        (
            "/v1/proof-pack/bundle/recover",
            &[("email", "a@b.co"), ("target_url", "example.com")],
        ),
        (
            "/v1/quotes",
            &[("product", "proof_bundle"), ("target_urls", "example.com")],
        ),
    ];
    let foreign: [&[(&str, &str)]; 5] = [
        &[("Origin", "https://evil.example")],
        &[("Origin", "null")],
        &[("Sec-Fetch-Site", "cross-site")],
        &[("Sec-Fetch-Site", "same-site"), ("Origin", BASE_URL)],
        &[("Origin", BASE_URL), ("Origin", "https://evil.example")],
    ];
    let with = |ask: Ask, headers: &[(&str, &str)]| {
        let headers = headers.iter();
        headers.fold(ask, |ask, (name, value)| ask.header(name, *value))
    };
    for (path, fields) in forms {
        for headers in foreign {
            let answer = with(form(&rig, path, fields), headers).send();
            assert_eq!(answer.status, 403, "{path} {headers:?}: {answer:?}");
        }
    }
    let refused = with(form(&rig, CONTACT, forms[2].1), foreign[0]).send();
    refused.refused(403, "foreign_origin");
    // JSON in a visitor's name is no better for what people are written to about.
    let message = json!({"email": "a@b.co", "message": "Hello"});
    let json = with(rig.post(CONTACT).json(&message), foreign[0]).send();
    json.refused(403, "foreign_origin");
    assert!(leads(&rig).is_empty());
    // From our own page, and from programs.
    let ours: [&[(&str, &str)]; 4] = [
        &[("Origin", BASE_URL)],
        &[("Origin", BASE_URL), ("Sec-Fetch-Site", "same-origin")],
        &[("Sec-Fetch-Site", "none")],
        &[],
    ];
    for headers in ours {
        with(form(&rig, BUNDLE, &fields[..2]), headers)
            .send()
            .expect(202);
        with(rig.post(CONTACT).json(&message), headers)
            .send()
            .expect(202);
    }
    // A browser says where a form stands only as long as its page lets it.
    for page in [
        "/contact",
        "/proof-pack/request",
        "/proof-pack/bundle/recover",
        "/proof-pack/bundle/quote",
    ] {
        let policy = rig.get(page).expect(200).must("referrer-policy").to_owned();
        assert_ne!(policy, "no-referrer", "{page}");
    }
}

/// A lead that is paid or lost is over: the same form is a new one.
#[test]
fn what_is_over_does_not_come_back() {
    let rig = Rig::start();
    let first = id_of(&send(&rig, BUNDLE, &bundle_lead()).expect(202).json());
    rig.operate("POST", &format!("/operator/leads/{first}/move?to=lost"))
        .expect(200);
    let second = id_of(&send(&rig, BUNDLE, &bundle_lead()).expect(202).json());
    assert_ne!(first, second);
}

/// Who fills in what people do not see is told the same as everybody, and forgotten.
#[test]
fn a_robot_is_forgotten() {
    let rig = Rig::start();
    let mut lead = bundle_lead();
    lead["website"] = "https://spam.example".into();
    let received = send(&rig, BUNDLE, &lead).expect(202).json();
    assert!(received["lead_id"].is_string() && received["duplicate"] == false);
    let message = json!({"email": "a@example.com", "message": "buy", "website": "x"});
    send(&rig, CONTACT, &message).expect(202);
    assert!(leads(&rig).is_empty());
    assert_eq!(
        rig.operator("/metrics").json()["leads"]["proof_bundle robot"],
        1
    );
}

#[test]
fn a_message_reaches_the_operator() {
    let rig = Rig::start();
    let message = json!({"name": "Ada", "email": "ada@example.com", "message": "Do you read\nPDF?", "source": "faq"});
    let received = send(&rig, CONTACT, &message).expect(202).json();
    assert_eq!(received["status"], "received");
    let id = received["ticket_id"].as_str().expect("an id");
    let kept = rig
        .operator(&format!("/operator/leads/{id}"))
        .expect(200)
        .json();
    assert_eq!(
        (&kept["product"], &kept["name"]),
        (&json!("contact"), &json!("Ada"))
    );
    assert_eq!(kept["notes"], "Do you read\nPDF?");
    send(&rig, CONTACT, &message).expect(202);
    let other = json!({"email": "ada@example.com", "message": "And scans?"});
    send(&rig, CONTACT, &other).expect(202);
    send(&rig, CONTACT, &json!({"email": "ada", "message": "x"}))
        .invalid("value_error", &["body", "email"]);
    send(&rig, CONTACT, &json!({"email": "a@b.co"})).invalid("missing", &["body", "message"]);
    send(&rig, CONTACT, &json!({"email": "a@b.co", "message": " "}))
        .invalid("string_too_short", &["body", "message"]);
}

/// The form routes take what browsers send without script, and answer with pages.
#[test]
fn forms_work_without_script() {
    let rig =
        Rig::with(|resolved| resolved.set("bundles.scout_link", "https://buy.sample-shop.org/b"));
    let fields = [
        ("contact", "ada@example.com"),
        (
            "target_urls",
            "example.com\r\nhttp://10.0.0.1/\r\nexample.org",
        ),
        ("question", "Is it <so>?"),
        ("bundle", ""),
        ("use_case", ""),
        ("website", ""),
    ];
    let page = browser(form(&rig, BUNDLE, &fields)).send().expect(202);
    assert!(page.must("content-type").starts_with("text/html"));
    assert!(page.header("content-security-policy").is_some());
    let text = page.text();
    for shown in [
        "a***@example.com",
        "https://example.org/",
        "http://10.0.0.1/",
        "/proof-pack/bundle/pay?bundle=scout&amp;lead_id=lead_",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    assert!(!text.contains("ada@example.com"), "never in full: {text}");
    // Without a browser the same form is answered as JSON.
    let known = form(&rig, BUNDLE, &fields).send().expect(202).json();
    assert_eq!(known["status"], "received");
    // What is wrong is said over the form, with everything still in it.
    let wrong = [
        ("contact", "ada@example.com"),
        ("target_urls", "localhost"),
        ("question", "Is it <so>?"),
    ];
    let page = browser(form(&rig, BUNDLE, &wrong))
        .send()
        .expect(400)
        .text();
    for shown in [
        "role=\"alert\"",
        "localhost",
        "Is it &lt;so&gt;?",
        "value=\"ada@example.com\"",
        "Nothing was saved",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let page = browser(form(
        &rig,
        CONTACT,
        &[("email", "ada@example.com"), ("message", "Hello")],
    ));
    assert!(page.send().expect(202).text().contains("Message received"));
    let page = browser(form(
        &rig,
        CONTACT,
        &[("email", ""), ("message", "Hello there")],
    ));
    let page = page.send().expect(422).text();
    assert!(
        page.contains("Hello there") && page.contains("Enter your e-mail address."),
        "{page}"
    );
    // The form asks for an address that mail reaches.
    let mut unreachable = fields;
    unreachable[0].1 = "a@b";
    let page = browser(form(&rig, BUNDLE, &unreachable)).send().expect(422);
    let page = page.text();
    assert!(page.contains("This is not an e-mail address"), "{page}");
    for path in [
        "/contact",
        "/proof-pack/request",
        "/proof-pack/request?product=proof_pack",
    ] {
        let page = rig.get(path).expect(200);
        assert!(page.text().contains("name=\"website\""), "{path}");
        assert_eq!(page.must("cache-control"), "no-store");
    }
    let pack = rig
        .get("/proof-pack/request?pack=deep&target_url=example.com")
        .expect(200)
        .text();
    assert!(
        pack.contains("<option value=\"deep\" selected>") && pack.contains("example.com"),
        "{pack}"
    );
}

/// A limit of its own, and a bound on what is kept.
#[test]
fn leads_are_bounded() {
    let rig = Rig::with(|resolved| {
        resolved.set("limits.leads_per_minute", "3");
        resolved.set("bundles.leads_max", "2");
    });
    let lead = |number: usize| json!({"contact": format!("a{number}@example.com"), "target_urls": ["example.com"]});
    send(&rig, BUNDLE, &lead(1)).expect(202);
    send(&rig, BUNDLE, &lead(2)).expect(202);
    let full = send(&rig, BUNDLE, &lead(3)).refused(503, "overloaded");
    assert!(full.header("retry-after").is_some());
    let limited = send(&rig, BUNDLE, &lead(1)).refused(429, "rate_limited");
    assert!(limited.header("retry-after").is_some());
    rig.get("/proof-pack/bundle/pay?bundle=scout")
        .refused(429, "rate_limited");
    rig.get("/v1/proof-pack/bundle/quote?target_urls=example.com")
        .expect(200);
    assert_eq!(leads(&rig).len(), 2);
}

/// By where they stand now, and for the operator alone.
#[test]
fn the_operator_s_figures_say_where_leads_stand() {
    let rig = Rig::start();
    let first = id_of(&send(&rig, BUNDLE, &bundle_lead()).expect(202).json());
    let mut other = bundle_lead();
    other["contact"] = json!("bob@example.com");
    send(&rig, BUNDLE, &other).expect(202);
    let contacted = format!("/operator/leads/{first}/move?to=contacted");
    rig.operate("POST", &contacted).expect(200);
    let text = rig.operator("/metrics?format=prometheus").text();
    for line in [
        "# TYPE context402_leads gauge",
        "context402_leads{status=\"new\"} 1",
        "context402_leads{status=\"contacted\"} 1",
        "context402_leads{status=\"paid\"} 0",
        "context402_leads{status=\"fulfilled\"} 0",
        "context402_leads{status=\"lost\"} 0",
    ] {
        assert!(text.lines().any(|there| there == line), "{line}: {text}");
    }
    let figures = rig.operator("/metrics").json();
    assert_eq!(
        figures["leads_by_status"],
        json!({"new": 1, "contacted": 1, "paid": 0, "fulfilled": 0, "lost": 0})
    );
    let public = rig.get("/metrics?format=prometheus").text();
    assert!(!public.contains("context402_leads"), "{public}");
    assert!(rig.get("/metrics").json()["leads_by_status"].is_null());
}

/// Stages: new → contacted → paid → fulfilled, any → lost, lost → contacted, with a trail.
#[test]
fn the_operator_moves_leads_on() {
    let mut rig = Rig::start();
    let id = id_of(&send(&rig, BUNDLE, &bundle_lead()).expect(202).json());
    let advance = |rig: &Rig, to: &str| {
        rig.operate(
            "POST",
            &format!("/operator/leads/{id}/move?to={to}&note=because"),
        )
    };
    let refused = advance(&rig, "fulfilled")
        .refused(400, "invalid_request")
        .json();
    assert_eq!(refused["detail"], "A lead that is new cannot be fulfilled.");
    for (to, expected) in [
        ("contacted", 200),
        ("contacted", 400),
        ("lost", 200),
        ("new", 400),
        ("contacted", 200),
        ("paid", 200),
        ("fulfilled", 200),
        ("lost", 200),
    ] {
        rig.pass(60);
        let answer = advance(&rig, to);
        assert_eq!(answer.status, expected, "{to}: {answer:?}");
    }
    rig.operate(
        "POST",
        &format!("/operator/leads/{id}/note?text=called%20twice"),
    )
    .expect(200);
    rig.restart();
    let kept = rig
        .operator(&format!("/operator/leads/{id}"))
        .expect(200)
        .json();
    assert_eq!(kept["status"], "lost");
    let trail: Vec<&str> = kept["trail"]
        .as_array()
        .expect("a trail")
        .iter()
        .map(|step| step["what"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(
        trail,
        [
            "received",
            "new → contacted: because",
            "contacted → lost: because",
            "lost → contacted: because",
            "contacted → paid: because",
            "paid → fulfilled: because",
            "fulfilled → lost: because",
            "called twice",
        ]
    );
    assert_eq!(kept["changed_at"], rig.now().0);
    let listed = |query: &str| {
        let answer = rig
            .operator(&format!("/operator/leads?{query}"))
            .expect(200)
            .json();
        answer["leads"].as_array().map(Vec::len)
    };
    assert_eq!(
        (
            listed("status=lost"),
            listed("status=new"),
            listed("product=contact")
        ),
        (Some(1), Some(0), Some(0))
    );
    rig.operator("/operator/leads?status=odd")
        .refused(400, "invalid_request");
    rig.operator("/operator/leads/lead_0")
        .refused(404, "not_found");
    rig.get("/operator/leads").expect(404);
}

#[test]
fn a_person_is_forgotten() {
    let rig = Rig::start();
    let first = id_of(&send(&rig, BUNDLE, &bundle_lead()).expect(202).json());
    send(
        &rig,
        PACK,
        &json!({"contact": "Ada@Example.com", "target_url": "example.com"}),
    )
    .expect(202);
    let other = json!({"contact": "bob@example.com", "target_urls": ["example.com"]});
    let other = id_of(&send(&rig, BUNDLE, &other).expect(202).json());
    let deleted = rig
        .operate("POST", "/operator/leads/delete?contact=ada@example.com")
        .expect(200)
        .json();
    assert_eq!(deleted["deleted"], 2);
    rig.operator(&format!("/operator/leads/{first}"))
        .refused(404, "not_found");
    let bob = format!("/operator/leads/{other}/delete");
    rig.operate("POST", &bob).expect(200);
    rig.operate("POST", &bob).refused(404, "not_found");
    assert!(leads(&rig).is_empty());
    // Nothing is known of the form either.
    send(&rig, BUNDLE, &bundle_lead()).expect(202);
}

/// From the running service and from the file of a stopped one, without a difference.
#[test]
fn leads_are_handled_from_the_command_line() {
    let mut rig = Rig::start();
    let config = config_file(&rig.folder, "");
    let command = |more: &[&str]| run(&[&["leads"], more, &["--config", &config]].concat());
    for runs in [true, false] {
        let mut lead = bundle_lead();
        lead["notes"] = "=HYPERLINK(\"https://evil.example\")\nand \"more\"".into();
        lead["budget_usdc"] = "+50".into();
        let id = id_of(&send(&rig, BUNDLE, &lead).expect(202).json());
        let other = json!({"contact": "bob@example.com", "target_urls": ["example.com"]});
        send(&rig, BUNDLE, &other).expect(202);
        if !runs {
            assert!(rig.stop());
        }
        let listed = command(&["list", "--status", "new"]).expect(0).out;
        assert_eq!(listed.lines().count(), 3, "{listed}");
        for shown in [&*id, "ada@example.com", "builder", "proof_bundle"] {
            assert!(listed.contains(shown), "{shown}: {listed}");
        }
        let moved = command(&["move", &id, "contacted", "--note", "by phone"])
            .expect(0)
            .out;
        assert!(
            moved.contains("contacted") && moved.contains(&id),
            "{moved}"
        );
        command(&["note", &id, "a note & more"]).expect(0);
        let shown = command(&["show", &id]).expect(0).out;
        let shown: Value = serde_json::from_str(&shown).expect("JSON");
        assert_eq!(shown["trail"][1]["what"], "new → contacted: by phone");
        assert_eq!(shown["trail"][2]["what"], "a note & more");
        let line = command(&["move", &id, "fulfilled"]).failed(1);
        assert!(
            line.contains("A lead that is contacted cannot be fulfilled."),
            "{line}"
        );
        for unknown in ["lead_none", "../payments", ""] {
            let line = command(&["show", unknown]).failed(1);
            assert!(line.contains("No such lead"), "{unknown}: {line}");
        }
        command(&["list", "--status", "odd"]).failed(2);
        command(&["set", "lead_none", "lost"]).failed(1);
        let csv = command(&["export"]).expect(0).out;
        assert!(csv.starts_with("\"lead_id\",\"product\""), "{csv}");
        for cell in [
            "\"'=HYPERLINK(\"\"https://evil.example\"\")\nand \"\"more\"\"\"",
            "\"'+50\"",
            "\"2026-",
        ] {
            assert!(csv.contains(cell), "{cell}: {csv}");
        }
        let lines = command(&["export", "--format", "jsonl"]).expect(0).out;
        let contacts = lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["contact"].clone());
        let mut contacts: Vec<Value> = contacts.collect();
        contacts.sort_by_key(Value::to_string);
        assert_eq!(
            contacts,
            [json!("ada@example.com"), json!("bob@example.com")]
        );
        let deleted = command(&["delete", "--contact", "bob@example.com"])
            .expect(0)
            .out;
        assert!(deleted.starts_with("Leads deleted: 1."), "{deleted}");
        command(&["delete", &id]).expect(0);
        command(&["delete", &id]).failed(1);
        assert_eq!(command(&["delete"]).code, Some(2));
        assert_eq!(command(&["list"]).expect(0).out, "");
    }
}

/// An export is in parts, and none of its leads is missing or there twice.
#[test]
fn an_export_has_every_lead_once() {
    let rig = Rig::with(|resolved| resolved.set("limits.leads_per_minute", "0"));
    for number in 0..401 {
        let lead =
            json!({"contact": format!("a{number}@example.com"), "target_urls": ["example.com"]});
        send(&rig, BUNDLE, &lead).expect(202);
    }
    let config = config_file(&rig.folder, "");
    let lines = run(&["leads", "export", "--format", "jsonl", "--config", &config])
        .expect(0)
        .out;
    let ids: BTreeSet<String> = lines
        .lines()
        .map(|line| id_of(&serde_json::from_str(line).expect("JSON")))
        .collect();
    assert_eq!((ids.len(), lines.lines().count()), (401, 401));

    // The same by the operator's address, which sends part after part.
    let answer = rig.operator("/operator/export/leads").expect(200);
    assert_eq!(answer.must("transfer-encoding"), "chunked");
    let whole = answer.json();
    let leads = whole["leads"].as_array().expect("a list").iter();
    let told: BTreeSet<String> = leads.map(id_of).collect();
    assert_eq!((told, &whole["is_complete"]), (ids, &true.into()));
    let csv = rig.operator("/operator/export/leads?format=csv").text();
    assert_eq!(csv.matches("@example.com\"").count(), 401);
    assert_eq!(csv.matches("\"lead_id\"").count(), 1, "one head");
}

/// An address that hears of leads: what it was sent, and what it answers.
struct Receiver {
    server: Server,
    status: Arc<Mutex<u16>>,
}

impl Receiver {
    fn start() -> Receiver {
        Receiver::that_takes(Duration::ZERO)
    }

    fn that_takes(time: Duration) -> Receiver {
        let status = Arc::new(Mutex::new(204));
        let answer = status.clone();
        let server = Server::with(move |_, stream| {
            std::thread::sleep(time);
            let status = *answer.lock().expect("no panic before");
            respond(stream, status, &[], b"")
        });
        Receiver { server, status }
    }

    fn rig(&self) -> Rig {
        let url = format!("{}/hook", self.server.url);
        Rig::with(|resolved| {
            resolved.set("bundles.notify_url", url);
            resolved.set("bundles.notify_secret", "whsec_1");
        })
    }

    fn heard(&self) -> Vec<Request> {
        self.server.requests()
    }

    /// The notices that came, each once.
    fn heard_ids(&self) -> BTreeSet<String> {
        let id = |request: &Request| {
            let told: Value = serde_json::from_slice(&request.body).expect("JSON");
            told["id"].as_str().expect("an identifier").to_owned()
        };
        self.heard().iter().map(id).collect()
    }

    fn answers(&self, status: u16) {
        *self.status.lock().expect("no panic before") = status;
    }
}

#[test]
fn a_new_lead_is_announced_once() {
    let receiver = Receiver::start();
    let rig = receiver.rig();
    let mut lead = bundle_lead();
    lead["budget_usdc"] = "50".into();
    lead["source"] = "a-list".into();
    let id = id_of(&send(&rig, BUNDLE, &lead).expect(202).json());
    rig.work_off();
    until("the notice came", || receiver.heard().len() == 1);
    let request = receiver.heard()[0].clone();
    assert_eq!(
        (request.method.as_str(), request.path.as_str()),
        ("POST", "/hook")
    );
    assert_eq!(request.header("x-service-event"), Some("lead.created"));
    let header = request.header("x-service-signature").expect("a signature");
    assert_eq!(
        stamp::check(header, ["whsec_1"], &request.body, rig.now().0),
        Ok(())
    );
    let told: Value = serde_json::from_slice(&request.body).expect("JSON");
    assert_eq!(told["type"], "lead.created");
    assert!(
        told["id"].as_str().is_some_and(|id| id.starts_with("evt_")),
        "{told}"
    );
    assert_eq!(
        told["data"],
        json!({"lead_id": id, "product": "proof_bundle", "bundle": "builder", "source": "a-list", "budget_usdc": "50", "target_count": 2})
    );
    assert!(
        told["text"].as_str().is_some_and(|text| text.contains(&id))
            && told["content"] == told["text"]
    );
    assert!(
        !String::from_utf8_lossy(&request.body).contains("ada@"),
        "who it is stays here"
    );
    rig.pass(3600);
    rig.work_off();
    assert_eq!(receiver.heard().len(), 1);
}

/// Three tries with pauses, over a restart, under one identifier; then it is written down that nobody heard.
#[test]
fn a_notice_is_tried_three_times() {
    let receiver = Receiver::start();
    receiver.answers(500);
    let mut rig = receiver.rig();
    let id = id_of(&send(&rig, BUNDLE, &bundle_lead()).expect(202).json());
    let tries = |rig: &Rig, count: usize| {
        rig.work_off();
        until("the notice was tried", || receiver.heard().len() == count);
        rig.work_off();
        assert_eq!(receiver.heard().len(), count, "not before its time");
    };
    tries(&rig, 1);
    rig.pass(29);
    tries(&rig, 1);
    rig.restart();
    rig.pass(1);
    tries(&rig, 2);
    rig.pass(299);
    tries(&rig, 2);
    rig.pass(1);
    tries(&rig, 3);
    rig.pass(60);
    tries(&rig, 3);
    rig.pass(24 * 3600);
    tries(&rig, 3);
    let ids: Vec<Value> = receiver
        .heard()
        .iter()
        .map(|request| serde_json::from_slice::<Value>(&request.body).expect("JSON")["id"].clone())
        .collect();
    assert!(ids[0] == ids[1] && ids[1] == ids[2], "{ids:?}");
    let kept = rig.operator(&format!("/operator/leads/{id}")).json();
    assert_eq!(kept["trail"][1]["what"], "webhook notice failed");
    // The next lead is announced again, and a second try that succeeds is the last.
    let other = json!({"contact": "b@example.com", "target_urls": ["example.com"]});
    send(&rig, BUNDLE, &other).expect(202);
    tries(&rig, 4);
    receiver.answers(200);
    rig.pass(30);
    tries(&rig, 5);
    rig.pass(24 * 3600);
    tries(&rig, 5);
}

/// More leads at once than the webhook has places for: each is announced, and none loses an attempt by waiting.
#[test]
fn a_burst_of_leads_is_announced() {
    let receiver = Receiver::that_takes(Duration::from_millis(20));
    let rig = receiver.rig();
    for number in 0..24 {
        let mut lead = bundle_lead();
        lead["contact"] = format!("ada{number}@example.com").into();
        send(&rig, BUNDLE, &lead).expect(202);
    }
    // The clock stands still, so these are first attempts. If the machine does too, for longer than an attempt may take, the
    // next attempt comes under the same identifier.
    until("all notices came", || {
        rig.work_off();
        receiver.heard_ids().len() == 24
    });
    rig.pass(3600);
    rig.work_off();
    assert_eq!(receiver.heard_ids().len(), 24);
}

/// A lead that is deleted before it was announced is not announced any more.
#[test]
fn what_is_deleted_is_not_announced() {
    let receiver = Receiver::start();
    receiver.answers(503);
    let rig = receiver.rig();
    let id = id_of(&send(&rig, BUNDLE, &bundle_lead()).expect(202).json());
    rig.work_off();
    until("the notice was tried", || receiver.heard().len() == 1);
    rig.operate("POST", &format!("/operator/leads/{id}/delete"))
        .expect(200);
    rig.pass(3600);
    rig.work_off();
    assert_eq!(receiver.heard().len(), 1);
}

/// The address for notices is tried out from the command line, without a lead.
#[test]
fn a_notice_can_be_tried_out() {
    let receiver = Receiver::start();
    let folder = Folder::new();
    let config = |more: &str| config_file(&folder, more);
    let bundles = format!(
        "[bundles]\nnotify_url = \"http://{}/hook\"\n",
        receiver.server.address
    );
    let test = |config: &str| run(&["webhook", "test", "--config", config]);
    test(&config(&bundles)).expect(0);
    let request = receiver.heard()[0].clone();
    assert_eq!(request.header("x-service-event"), Some("notice.test"));
    let told: Value = serde_json::from_slice(&request.body).expect("JSON");
    assert_eq!(
        (&told["type"], &told["data"]),
        (&json!("notice.test"), &json!({}))
    );
    receiver.answers(500);
    let line = test(&config(&bundles)).failed(1);
    assert!(line.contains("did not accept"), "{line}");
    let line = test(&config("")).failed(78);
    assert!(line.contains("bundles.notify_url"), "{line}");
}
