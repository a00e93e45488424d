//! Evidence Bundles before they are paid: quotes, their receipts, and the way to the payment link.

use context402::store::Unpaid;
use serde_json::{Value, json};

use crate::harness::{ARTICLE, Answer, Ask, BASE_URL, FERRY, Rig, for_each};

const QUOTE: &str = "/v1/proof-pack/bundle/quote";
const PAY: &str = "/proof-pack/bundle/pay";
const LEADS: &str = "/v1/proof-pack/bundle/leads";
const LINK: &str = "https://buy.sample-shop.org/builder?locale=en";

/// A service with payment links for builder and audit, and none for scout.
fn with_links() -> Rig {
    Rig::with(|resolved| {
        resolved.set("bundles.builder_link", LINK);
        resolved.set("bundles.audit_link", "https://buy.sample-shop.org/audit");
    })
}

fn query(pairs: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs)
        .finish()
}

fn ask(rig: &Rig, pairs: &[(&str, &str)]) -> Answer {
    rig.get(&format!("{QUOTE}?{}", query(pairs)))
}

fn pay(rig: &Rig, pairs: &[(&str, &str)]) -> Answer {
    rig.get(&format!("{PAY}?{}", query(pairs)))
}

fn browser(ask: Ask) -> Ask {
    ask.header("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
}

/// Addresses of so many pages.
fn pages(count: usize) -> String {
    let pages = (0..count).map(|number| format!("https://example.com/{number}"));
    pages.collect::<Vec<_>>().join("\n")
}

fn texts(value: &Value) -> Vec<&str> {
    let items = value.as_array().expect("an array").iter();
    items.map(|item| item.as_str().expect("a text")).collect()
}

/// The parameters of an address.
fn parameter(address: &str, name: &str) -> Option<String> {
    let url = url::Url::parse(address).expect("an address");
    let found = url.query_pairs().find(|(key, _)| key == name);
    found.map(|(_, value)| value.into_owned())
}

/// Lists between lines, commas and spaces, bare domains by https.
#[test]
fn a_quote_says_what_is_taken_and_what_it_costs() {
    let rig = with_links();
    let list = format!(
        "{ARTICLE}, example.com\nexample.com ftp://example.org/ http://10.0.0.1/ news.example:8080"
    );
    let answer = ask(&rig, &[("target_urls", &list), ("question", "Is it so?")]).expect(200);
    assert_eq!(answer.must("cache-control"), "no-store");
    let quote = answer.json();
    assert_eq!(quote["status"], "success");
    let id = quote["quote_id"].as_str().expect("an id");
    assert!(id.starts_with("bq_") && id.len() == 35, "{id}");
    assert_eq!(quote["supplier_spend"], 0);
    assert_eq!(
        texts(&quote["target_urls"]),
        [ARTICLE, "https://example.com/"]
    );
    let rejected = quote["rejected_urls"].as_array().expect("an array");
    let codes: Vec<(&str, &str)> = rejected
        .iter()
        .map(|one| {
            assert!(
                one["reason"]
                    .as_str()
                    .is_some_and(|reason| reason.ends_with('.')),
                "{one}"
            );
            (
                one["url"].as_str().unwrap_or_default(),
                one["code"].as_str().unwrap_or_default(),
            )
        })
        .collect();
    assert_eq!(
        codes,
        [
            ("https://example.com", "duplicate"),
            ("ftp://example.org/", "invalid_target"),
            ("http://10.0.0.1/", "target_blocked"),
            ("https://news.example:8080", "port_not_allowed"),
        ]
    );
    assert_eq!(
        (&quote["source_count"], &quote["source_limit"]),
        (&json!(2), &json!(10))
    );
    assert_eq!(
        (&quote["bundle"], &quote["recommended_bundle"]),
        (&json!("builder"), &json!("scout"))
    );
    assert_eq!(
        (&quote["amount_units"], &quote["price_usdc"]),
        (&json!("7000000"), &json!(7.0))
    );
    assert_eq!(quote["question"], "Is it so?");
    let prices: Vec<&str> = quote["bundles"]
        .as_array()
        .expect("an array")
        .iter()
        .map(|bundle| bundle["amount_units"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(prices, ["2000000", "7000000", "20000000"]);
    assert_eq!(quote["checkout"]["configured"], true);
    let pay_url = quote["checkout"]["pay_url"].as_str().expect("an address");
    assert!(
        pay_url.starts_with(&format!("{BASE_URL}{PAY}?")),
        "{pay_url}"
    );
    for step in quote["next_steps"].as_array().expect("an array") {
        for member in ["action", "method", "url", "description"] {
            assert!(step[member].is_string(), "{step}");
        }
    }
    // An agent buys it over x402; the default bundle goes without saying, and a smaller one is named.
    let buy = &quote["next_steps"][0];
    assert_eq!(buy["url"], format!("{BASE_URL}/v1/x402/proof-bundle"));
    assert_eq!(buy["accepts"][0]["amount"], "7000000");
    let told = buy["description"].as_str().expect("a text");
    assert!(
        told.contains("smallest") && told.contains("scout, for 2.00 USDC"),
        "{told}"
    );
    let asked = rig.post("/v1/x402/proof-bundle").json(&buy["body"]).send();
    let asked = asked.expect(402).challenge();
    assert_eq!(asked["accepts"], buy["accepts"]);
    assert_eq!(asked["error"], "PAYMENT-SIGNATURE header is required");
    assert_eq!(quote["bundles"][0]["accepts"][0]["amount"], "2000000");
    assert_eq!(quote["bundles"][0]["endpoint"], "/v1/x402/proof-bundle");
    // A bundle of one source is not sold, so the quote leads to a Proof Pack.
    let single = ask(&rig, &[("target_urls", "example.com")])
        .expect(200)
        .json();
    let buy = &single["next_steps"][0];
    assert_eq!(buy["url"], format!("{BASE_URL}/v1/x402/proof-pack"));
    assert_eq!(buy["body"]["target_url"], "https://example.com/");
    assert_eq!(quote["resume_page"], format!("{BASE_URL}/checkout/{id}"));
    assert_eq!(quote["receipt_url"], format!("{BASE_URL}/v1/quotes/{id}"));
    assert_eq!(quote["created_at"], rig.now().0);
    assert_eq!(quote["expires_at"], rig.now().0 + 7 * 24 * 3600);
    assert_eq!(
        rig.site.requests().len(),
        0,
        "nothing is fetched for a quote"
    );
}

#[test]
fn the_bundle_follows_the_count_unless_it_is_chosen() {
    let rig = Rig::start();
    let cases = [
        (1, None, "builder", "scout", 1, 0),
        (10, None, "builder", "builder", 10, 0),
        (11, None, "audit", "audit", 11, 0),
        (25, None, "audit", "audit", 25, 0),
        (30, None, "audit", "audit", 25, 5),
        (3, Some("scout"), "scout", "scout", 3, 0),
        (5, Some("scout"), "scout", "builder", 3, 2),
        (2, Some("audit"), "audit", "scout", 2, 0),
    ];
    for (count, chosen, bundle, recommended, taken, left) in cases {
        let list = pages(count);
        let mut pairs = vec![("target_urls", list.as_str())];
        pairs.extend(chosen.map(|bundle| ("bundle", bundle)));
        let quote = ask(&rig, &pairs).expect(200).json();
        assert_eq!(quote["bundle"], bundle, "{count} {chosen:?}");
        assert_eq!(
            quote["recommended_bundle"], recommended,
            "{count} {chosen:?}"
        );
        assert_eq!(quote["target_urls"].as_array().map(Vec::len), Some(taken));
        assert_eq!(quote["rejected_urls"].as_array().map(Vec::len), Some(left));
    }
    let unknown = ask(&rig, &[("target_urls", "example.com"), ("bundle", "huge")]);
    unknown.refused(400, "invalid_bundle");
}

/// The form says "by the number of sources": one source is a scout, and the cheaper bundle is the main button.
#[test]
fn a_form_without_a_choice_gets_the_smallest_bundle() {
    let rig = Rig::start();
    let quoted = |count: usize, bundle: &str| {
        let list = pages(count).replace(',', "\n");
        let fields = [
            ("target_urls", list.as_str()),
            ("question", ""),
            ("bundle", bundle),
        ];
        let body = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        rig.post("/proof-pack/bundle/quote")
            .header("Content-Type", "application/x-www-form-urlencoded")
            .body(body)
            .send()
            .expect(200)
            .text()
    };
    for (count, expected) in [
        (1, "scout, 2.00 USD"),
        (3, "scout, 2.00 USD"),
        (4, "builder, 7.00 USD"),
        (11, "audit, 20.00 USD"),
    ] {
        let page = quoted(count, "");
        assert!(
            page.contains(&format!("Continue with {expected}")),
            "{count}: {page}"
        );
        assert!(!page.contains("Switch to"), "{count}: {page}");
    }
    let dearer = quoted(1, "builder");
    let main = dearer
        .find("<button type=\"submit\">Switch to scout, 2.00 USD")
        .expect("the main button");
    let other = dearer
        .find("Continue with builder, 7.00 USD")
        .expect("the choice");
    assert!(main < other, "{dearer}");
    assert!(
        dearer[..other].ends_with("\">") && dearer.contains("class=\"button quiet\""),
        "{dearer}"
    );
}

/// Nothing is too odd to be answered, and no list is too long to be bounded.
#[test]
fn odd_lists_are_answered() {
    let rig = Rig::start();
    rig.get(QUOTE).invalid("missing", &["query", "target_urls"]);
    ask(&rig, &[("target_urls", " , \n")]).invalid("too_short", &["query", "target_urls"]);
    let refused = ask(
        &rig,
        &[("target_urls", "http://127.0.0.1/ localhost a.local")],
    );
    let body = refused.refused(400, "target_blocked").json();
    assert_eq!(
        body["rejected_urls"].as_array().map(Vec::len),
        Some(3),
        "{body}"
    );
    let own = ask(&rig, &[("target_urls", &format!("{BASE_URL}/docs"))]);
    assert_eq!(own.status, 400, "{own:?}");
    let many = "a.example.com ".repeat(500);
    let body = ask(&rig, &[("target_urls", &many)]).expect(200).json();
    let rejected = body["rejected_urls"].as_array().expect("an array");
    assert_eq!(rejected.len(), 100, "{}", rejected.len());
    assert_eq!(rejected[99]["url"], "400 more");
    let long = format!("https://example.com/{}", "a".repeat(3000));
    let body = ask(&rig, &[("target_urls", &long)])
        .refused(400, "invalid_target")
        .json();
    let shown = body["rejected_urls"][0]["url"].as_str().expect("a text");
    assert_eq!(shown.len(), 200);
    ask(
        &rig,
        &[
            ("target_urls", "example.com"),
            ("question", &"q".repeat(1001)),
        ],
    )
    .invalid("string_too_long", &["query", "question"]);
}

/// Lists too long for a GET are 414, naming POST /v1/quotes.
#[test]
fn a_list_too_long_for_an_address_is_posted() {
    let rig = Rig::start();
    let addresses: Vec<String> = (0..25)
        .map(|number| format!("https://example.com/{number}/{}", "a".repeat(400)))
        .collect();
    let list = addresses.join(" ");
    let refused = ask(&rig, &[("target_urls", &list)]).refused(414, "uri_too_long");
    let next_step = refused.json()["error"]["next_step"].clone();
    assert!(
        next_step
            .as_str()
            .is_some_and(|text| text.contains("POST /v1/quotes")),
        "{next_step}"
    );
    let asked = json!({"product": "proof_bundle", "target_urls": addresses, "question": "q", "source": "a-list"});
    let created = rig.post("/v1/quotes").json(&asked).send().expect(201);
    let receipt = created.json();
    let id = receipt["quote_id"].as_str().expect("an id");
    assert_eq!(
        created.must("location"),
        format!("{BASE_URL}/v1/quotes/{id}")
    );
    assert_eq!(receipt["product"], "proof_bundle");
    assert_eq!(receipt["state"], "open");
    assert_eq!(
        receipt["request"]["target_urls"].as_array().map(Vec::len),
        Some(25)
    );
    assert_eq!(receipt["request"]["bundle"], "audit");
    assert_eq!(receipt["amount_units"], "20000000");
    let again = rig.get(&format!("/v1/quotes/{id}")).expect(200).json();
    assert_eq!(again, receipt);
}

#[test]
fn a_body_that_asks_for_a_quote_belongs_to_one_product() {
    let rig = Rig::start();
    let post = |body: Value| rig.post("/v1/quotes").json(&body).send();
    post(json!({"product": "proof_bundle"})).invalid("missing", &["body", "target_urls"]);
    post(json!({"product": "context"})).invalid("missing", &["body", "target_url"]);
    let sources = json!(["example.com"]);
    for (name, value) in [
        ("target_url", json!(ARTICLE)),
        ("tier", json!("fresh")),
        ("pack", json!("quick")),
    ] {
        let mut body = json!({"product": "proof_bundle", "target_urls": sources});
        body[name] = value;
        post(body).invalid("value_error", &["body", name]);
    }
    for (name, value) in [("target_urls", sources.clone()), ("bundle", json!("scout"))] {
        let mut body = json!({"product": "proof_pack", "target_url": ARTICLE});
        body[name] = value;
        post(body).invalid("value_error", &["body", name]);
    }
    let bundle = json!({"product": "proof_bundle", "target_urls": [1]});
    post(bundle).invalid("string_type", &["body", "target_urls", "0"]);
    let text = json!({"product": "proof_bundle", "target_urls": "example.com, example.org"});
    let receipt = post(text).expect(201).json();
    assert_eq!(
        receipt["request"]["target_urls"].as_array().map(Vec::len),
        Some(2)
    );
    // An array's text is one address, whatever stands in it.
    let comma = json!({"product": "proof_bundle", "target_urls": ["https://example.com/a,b"]});
    let receipt = post(comma).expect(201).json();
    assert_eq!(
        texts(&receipt["request"]["target_urls"]),
        ["https://example.com/a,b"]
    );
}

#[test]
fn a_receipt_is_kept_for_seven_days() {
    let mut rig = Rig::start();
    let quote = ask(&rig, &[("target_urls", FERRY)]).expect(200).json();
    let id = quote["quote_id"].as_str().expect("an id").to_owned();
    let receipt = |rig: &Rig| rig.get(&format!("/v1/quotes/{id}"));
    let page = |rig: &Rig| rig.get(&format!("/checkout/{id}"));
    rig.pass(7 * 24 * 3600 - 1);
    rig.restart();
    let kept = receipt(&rig).expect(200).json();
    assert_eq!(
        (&kept["state"], &kept["request"]["target_urls"][0]),
        (&json!("open"), &json!(FERRY))
    );
    let shown = page(&rig).expect(200);
    assert_eq!(shown.must("x-robots-tag"), "noindex");
    assert!(
        shown.text().contains(FERRY) && shown.text().contains("7.00 USD"),
        "{shown:?}"
    );
    rig.pass(1);
    receipt(&rig).refused(410, "quote_expired");
    let shown = page(&rig).expect(410);
    assert!(
        shown.text().contains("expired") && !shown.text().contains(FERRY),
        "{shown:?}"
    );
    rig.work_off();
    receipt(&rig).refused(410, "quote_expired");
    page(&rig).expect(410);
    rig.pass(7 * 24 * 3600);
    rig.work_off();
    receipt(&rig).refused(404, "quote_not_found");
    page(&rig).expect(404);
    rig.get("/v1/quotes/bq_0").refused(404, "quote_not_found");
}

/// Commerce: 303 to the configured link with the lead as client reference.
#[test]
fn a_lead_is_led_to_its_payment_link() {
    let rig = with_links();
    let lead = json!({"contact": "ada+1@example.com", "target_urls": [FERRY, ARTICLE], "bundle": "builder"});
    let received = rig.post(LEADS).json(&lead).send().expect(202).json();
    let id = received["lead_id"].as_str().expect("an id");
    let pay_url = received["pay_url"].as_str().expect("an address");
    let path = pay_url.strip_prefix(BASE_URL).expect("ours");
    let answer = rig.get(path).expect(303);
    assert_eq!(answer.must("cache-control"), "no-store");
    let location = answer.must("location");
    assert!(
        location.starts_with("https://buy.sample-shop.org/builder?locale=en&"),
        "{location}"
    );
    let reference = parameter(location, "client_reference_id").expect("a reference");
    assert_eq!(reference, id);
    assert!(
        reference.len() <= 200
            && reference
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    );
    assert_eq!(
        parameter(location, "prefilled_email").as_deref(),
        Some("ada+1@example.com")
    );
    // It may be called again, and is written down once.
    rig.get(path).expect(303);
    // The bundle stays what it was when the payment was led to, or the payment would be for something else.
    let answer = pay(&rig, &[("bundle", "audit"), ("lead_id", id)]).expect(303);
    let location = answer.must("location");
    assert!(
        location.starts_with(&format!("{BASE_URL}/proof-pack/request?bundle=audit")),
        "another bundle is another request: {location}"
    );
    let shown = rig
        .operator(&format!("/operator/leads/{id}"))
        .expect(200)
        .json();
    let steps: Vec<&str> = shown["trail"]
        .as_array()
        .expect("a trail")
        .iter()
        .map(|step| step["what"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(steps, ["received", "checkout started: builder"]);
    assert_eq!(
        (&shown["level"], &shown["status"]),
        (&json!("builder"), &json!("new"))
    );
    let figures = rig.operator("/metrics").json();
    assert_eq!(figures["leads"]["proof_bundle checkout_started"], 2);
}

/// Whoever looks at a bundle that has no link, and then pays for the one that was asked for, gets that.
#[test]
fn a_bundle_without_a_link_changes_no_lead() {
    let rig = Rig::with(|resolved| {
        resolved.set("bundles.scout_link", "https://buy.sample-shop.org/scout")
    });
    let lead = json!({"contact": "ada@example.com", "target_urls": pages(2), "bundle": "scout"});
    let received = rig.post(LEADS).json(&lead).send().expect(202).json();
    let id = received["lead_id"].as_str().expect("an id");
    let answer = pay(&rig, &[("bundle", "builder"), ("lead_id", id)]).expect(303);
    let location = answer.must("location");
    assert!(
        location.contains("/proof-pack/request?bundle=builder&lead_id="),
        "{location}"
    );
    let path = format!("/operator/leads/{id}");
    let shown = rig.operator(&path).expect(200).json();
    assert_eq!(shown["level"], "scout", "{shown}");
    assert_eq!(shown["trail"].as_array().map(Vec::len), Some(1), "{shown}");
    assert!(rig.operator("/metrics").json()["leads"]["proof_bundle checkout_started"].is_null());
}

/// A bundle that does not take the lead's sources is not sold for them.
#[test]
fn too_small_a_bundle_is_not_paid_for() {
    let rig = Rig::with(|resolved| {
        resolved.set("bundles.scout_link", "https://buy.sample-shop.org/scout");
        resolved.set("bundles.builder_link", LINK);
    });
    let lead = json!({"contact": "ada@example.com", "target_urls": pages(4)});
    let received = rig.post(LEADS).json(&lead).send().expect(202).json();
    let id = received["lead_id"].as_str().expect("an id");
    let answer = pay(&rig, &[("bundle", "scout"), ("lead_id", id)]).expect(303);
    assert!(
        answer
            .must("location")
            .starts_with(&format!("{BASE_URL}/proof-pack/request?")),
        "{answer:?}"
    );
    let quote = ask(&rig, &[("target_urls", &pages(4))]).expect(200).json();
    let quote_id = quote["quote_id"].as_str().expect("an id");
    let answer = pay(&rig, &[("bundle", "scout"), ("quote_id", quote_id)]).expect(303);
    assert!(
        answer
            .must("location")
            .starts_with("https://buy.sample-shop.org/builder"),
        "{answer:?}"
    );
}

/// Who goes to pay for a quote names it to the payment, and nothing is kept for that. A list that nobody has
/// quoted goes to the request form, and nothing is kept either.
#[test]
fn going_to_pay_keeps_nothing() {
    let rig = with_links();
    let quote = ask(&rig, &[("target_urls", FERRY), ("question", "Is it so?")])
        .expect(200)
        .json();
    let quote_id = quote["quote_id"].as_str().expect("an id");
    let path = quote["checkout"]["pay_url"]
        .as_str()
        .and_then(|url| url.strip_prefix(BASE_URL))
        .expect("ours")
        .to_owned();
    let stored = |rig: &Rig| {
        rig.wait(rig.app().store.read(|snapshot| {
            let leads = snapshot.leads_after(None, 100)?.len();
            Ok((leads, snapshot.unpaid_bytes(Unpaid::BundleQuotes)?))
        }))
        .expect("reads")
    };
    let before = stored(&rig);
    for _ in 0..3 {
        let answer = rig.get(&path).expect(303);
        let location = answer.must("location");
        assert!(location.starts_with(LINK), "{location}");
        assert_eq!(
            parameter(location, "client_reference_id").as_deref(),
            Some(quote_id)
        );
        assert_eq!(parameter(location, "prefilled_email"), None);
        let listed = [
            ("bundle", "builder"),
            ("target_urls", FERRY),
            ("question", "Why?"),
        ];
        let answer = pay(&rig, &listed).expect(303);
        let location = answer.must("location");
        assert!(
            location.starts_with(&format!("{BASE_URL}/proof-pack/request?")),
            "{location}"
        );
        assert_eq!(parameter(location, "target_urls").as_deref(), Some(FERRY));
        assert_eq!(parameter(location, "question").as_deref(), Some("Why?"));
    }
    assert!(before.0 == 0 && before.1 > 0, "{before:?}");
    assert_eq!(stored(&rig), before);
    // Another size is another link, and the payment tells which was meant.
    let audit = [("bundle", "audit"), ("quote_id", quote_id)];
    let answer = pay(&rig, &audit).expect(303);
    let location = answer.must("location");
    assert!(
        location.starts_with("https://buy.sample-shop.org/audit?client_reference_id=bq_"),
        "{location}"
    );
    // What has expired is not paid for any more.
    rig.pass(7 * 24 * 3600);
    rig.get(&path).refused(410, "quote_expired");
}

/// Without a link: the request form with everything kept. No address of a stranger is ever led to.
#[test]
fn without_a_link_the_request_form_keeps_everything() {
    let rig = with_links();
    let details = [
        ("bundle", "scout"),
        ("target_urls", "example.com\nexample.org"),
        ("question", "Is it \"so\"? & <b>"),
        ("use_case", "vendors"),
        ("source", "a-list"),
    ];
    let answer = pay(&rig, &details).expect(303);
    let location = answer.must("location").to_owned();
    let path = location.strip_prefix(BASE_URL).expect("ours");
    assert!(path.starts_with("/proof-pack/request?"), "{path}");
    let form = rig.get(path).expect(200).text();
    for kept in [
        "example.com\nexample.org",
        "Is it &quot;so&quot;? &amp; &lt;b&gt;",
        "vendors",
        "a-list",
    ] {
        assert!(form.contains(kept), "{kept}: {form}");
    }
    assert!(form.contains("<option value=\"scout\" selected>"), "{form}");
    let lead = json!({
        "contact": "ada@example.com", "target_urls": [FERRY], "bundle": "scout", "question": "Why?", "notes": "soon",
    });
    let received = rig.post(LEADS).json(&lead).send().expect(202).json();
    assert_eq!(received["pay_url"], Value::Null);
    let id = received["lead_id"].as_str().expect("an id");
    let answer = pay(&rig, &[("bundle", "scout"), ("lead_id", id)]).expect(303);
    let path = answer
        .must("location")
        .strip_prefix(BASE_URL)
        .expect("ours")
        .to_owned();
    let form = rig.get(&path).expect(200).text();
    assert!(form.contains(id), "{form}");
    for hidden in [FERRY, "Why?", "soon", "@example.com"] {
        assert!(!form.contains(hidden), "{hidden}: {form}");
    }
}

#[test]
fn the_payment_page_is_no_open_redirect() {
    let rig = with_links();
    for_each(
        [
            ("bundle", "//evil.example"),
            ("bundle", "https://evil.example"),
            ("lead_id", "https://evil.example"),
            ("lead_id", "lead_00000000000000000000000000000000"),
            ("quote_id", "https://evil.example/\r\nX: y"),
            ("target_urls", "http://10.0.0.1/"),
            ("url", "https://evil.example"),
            ("link", "//evil.example"),
        ],
        |(name, value)| {
            let answer = pay(&rig, &[(name, value)]);
            if name == "bundle" {
                answer.refused(400, "invalid_bundle");
                return;
            }
            let location = answer.expect(303).must("location").to_owned();
            let ours = location.starts_with(&format!("{BASE_URL}/proof-pack/request"));
            assert!(ours || location == LINK, "{name}={value}: {location}");
        },
    );
    let chosen = pay(&rig, &[("bundle", "builder")]).expect(303);
    assert_eq!(
        chosen.must("location"),
        LINK,
        "nothing but the configured link"
    );
}

/// A bundle that is paid is not paid again.
#[test]
fn what_is_paid_is_not_paid_twice() {
    let rig = with_links();
    let lead = json!({"contact": "ada@example.com", "target_urls": [FERRY]});
    let received = rig.post(LEADS).json(&lead).send().expect(202).json();
    let id = received["lead_id"].as_str().expect("an id");
    rig.operate("POST", &format!("/operator/leads/{id}/move?to=paid"))
        .expect(200);
    pay(&rig, &[("lead_id", id)]).refused(409, "already_paid");
    let page = browser(rig.ask("GET", &format!("{PAY}?lead_id={id}")))
        .send()
        .expect(409);
    assert!(
        page.text().contains("/proof-pack/bundle/recover"),
        "{page:?}"
    );
    let quote = ask(&rig, &[("target_urls", FERRY)]).expect(200).json();
    let quote_id = quote["quote_id"].as_str().expect("an id").to_owned();
    let lead = json!({"contact": "ada@example.com", "target_urls": [FERRY], "quote_id": quote_id.as_str()});
    let of_quote = rig.post(LEADS).json(&lead).send().expect(202).json();
    let of_quote = of_quote["lead_id"].as_str().expect("an id");
    pay(&rig, &[("quote_id", &quote_id)]).expect(303);
    rig.operate("POST", &format!("/operator/leads/{of_quote}/move?to=paid"))
        .expect(200);
    pay(&rig, &[("quote_id", &quote_id)]).refused(409, "already_paid");
    rig.pass(8 * 24 * 3600);
    let receipt = rig
        .get(&format!("/v1/quotes/{quote_id}"))
        .expect(200)
        .json();
    assert_eq!(receipt["state"], "paid", "what is paid does not expire");
    let page = rig.get(&format!("/checkout/{quote_id}")).expect(200).text();
    assert!(page.contains("is paid") && !page.contains(PAY), "{page}");
}

/// The pages work as forms, without script: quote, go on, request.
#[test]
fn people_find_their_way_by_forms_alone() {
    let rig = with_links();
    let about = rig.get("/proof-pack/bundle").expect(200).text();
    for bundle in [
        "scout",
        "builder",
        "audit",
        "2.00 USD",
        "7.00 USD",
        "20.00 USD",
    ] {
        assert!(about.contains(bundle), "{bundle}");
    }
    let form = |path: &str, pairs: &[(&str, &str)]| {
        let ask = rig
            .post(path)
            .header("Content-Type", "application/x-www-form-urlencoded");
        browser(ask.body(query(pairs))).send()
    };
    let list = format!("{FERRY}\nhttp://10.0.0.1/\n{}", pages(8));
    let quoted = form(
        "/proof-pack/bundle/quote",
        &[("target_urls", &list), ("question", "Why?")],
    );
    let quoted = quoted.expect(200).text();
    assert!(
        quoted.contains("http://10.0.0.1/") && quoted.contains("private"),
        "{quoted}"
    );
    assert!(!quoted.contains("also fits these sources"), "{quoted}");
    let few = form(
        "/proof-pack/bundle/quote",
        &[("target_urls", "example.com")],
    );
    assert!(
        few.expect(200)
            .text()
            .contains("Continue with scout, 2.00 USD")
    );
    let scout = [("target_urls", "example.com"), ("bundle", "scout")];
    let scout = form("/proof-pack/bundle/quote", &scout).expect(200).text();
    assert!(
        scout.contains("1 of at most 3") && !scout.contains("Switch to "),
        "{scout}"
    );
    let (_, rest) = quoted.split_once("href=\"/checkout/").expect("a way on");
    let id = rest.split('"').next().unwrap_or_default();
    let checkout = rig.get(&format!("/checkout/{id}")).expect(200).text();
    assert!(
        checkout.contains("Pay 7.00 USD") && checkout.contains(FERRY),
        "{checkout}"
    );
    let refused = form(
        "/proof-pack/bundle/quote",
        &[("target_urls", "localhost"), ("question", "")],
    );
    let refused = refused.expect(400).text();
    assert!(
        refused.contains("No") || refused.contains("cannot be read"),
        "{refused}"
    );
    let empty = rig.get("/proof-pack/bundle/quote").expect(200).text();
    assert!(empty.contains("textarea"), "{empty}");
    let on = rig.get(&format!(
        "/proof-pack/bundle/checkout?{}",
        query(&[("target_urls", FERRY)])
    ));
    let on = on.expect(303);
    assert!(
        on.must("location")
            .starts_with(&format!("{BASE_URL}/checkout/bq_")),
        "{on:?}"
    );
    let on = rig
        .get("/proof-pack/bundle/checkout?bundle=audit")
        .expect(303);
    assert_eq!(
        on.must("location"),
        format!("{BASE_URL}/proof-pack/request?bundle=audit")
    );
}

#[test]
fn confidence_says_what_is_in_place_for_a_bundle() {
    let rig = with_links();
    let judged = |more: &str| {
        let path = format!("/v1/checkout/confidence?product=proof_bundle{more}");
        rig.get(&path).expect(200).json()
    };
    let whole = judged("&bundle=builder&target_urls=example.com,example.org");
    assert_eq!(
        (&whole["product"], &whole["bundle"]),
        (&json!("proof_bundle"), &json!("builder"))
    );
    assert_eq!(
        (&whole["ready"], &whole["score"]),
        (&json!(true), &json!(1.0))
    );
    assert_eq!(whole["price"]["amount_cents"], 700);
    assert_eq!(whole["payment_methods"], json!(["x402", "payment_link"]));
    for member in ["refund_policy", "sample_url", "support_url", "checkout_url"] {
        assert!(whole[member].is_string(), "{member}");
    }
    let single = judged(&format!("&bundle=scout&target_url={ARTICLE}"));
    assert_eq!(texts(&single["target_urls"]), [ARTICLE]);
    assert_eq!(single["payment_methods"], json!(["x402", "on_request"]));
    assert_eq!(
        (&single["ready"], &single["score"]),
        (&json!(false), &json!(0.5))
    );
    let four =
        judged("&bundle=scout&target_urls=a.example.com,b.example.com,c.example.com,d.example.com");
    assert_eq!(four["ready"], false, "{four}");
    assert!(
        four["checks"][0]["detail"]
            .to_string()
            .contains("scout has at most 3"),
        "{four}"
    );
    let unnamed = judged("");
    assert_eq!(unnamed["ready"], true, "{unnamed}");
    assert_eq!(unnamed["checks"][0]["status"], "warn");
    assert_eq!(
        single["delivery"]["channels"],
        json!(["browser", "json", "pdf"])
    );
    let none = judged("&target_url=http://10.0.0.1/");
    assert_eq!(none["ready"], false);
    assert_eq!(none["checks"][0]["status"], "fail");
    let page = rig
        .get("/checkout/confidence?product=proof_bundle&bundle=audit")
        .expect(200);
    assert!(page.text().contains("20.00 USD (bundle audit)"), "{page:?}");
    rig.get("/v1/checkout/confidence?product=bundle")
        .refused(400, "invalid_product");
}

/// The last resource, with nothing to accept.
#[test]
fn directories_find_the_quote() {
    let rig = Rig::start();
    let listing = rig.get("/discovery/resources").expect(200).json();
    assert_eq!(listing["pagination"]["total"], 5);
    let item = &listing["items"][4];
    assert_eq!(item["resource"], format!("{BASE_URL}{QUOTE}"));
    assert_eq!(
        (&item["method"], &item["accepts"]),
        (&json!("GET"), &json!([]))
    );
    for member in [
        "type",
        "x402Version",
        "lastUpdated",
        "metadata",
        "inputSchema",
        "outputSchema",
        "discoverable",
    ] {
        assert!(!item[member].is_null(), "{member}");
    }
    assert!(item["inputSchema"]["properties"]["target_urls"].is_object());
    let answer = ask(&rig, &[("target_urls", FERRY)]).expect(200).json();
    for member in texts(&item["outputSchema"]["required"]) {
        assert!(!answer[member].is_null(), "{member}");
    }
    let known = rig.get("/.well-known/x402").expect(200).json();
    assert_eq!(known["bundles"].as_array().map(Vec::len), Some(3));
    let llms = rig.get("/llms.txt").expect(200).text();
    assert!(
        llms.contains(QUOTE) && llms.contains("- builder: 7.00 (Up to 10 sources. "),
        "{llms}"
    );
}

/// People were promised a payment link where there is none, and then shown a form without a word.
#[test]
fn only_a_configured_payment_link_is_promised() {
    let page = |rig: &Rig, path: &str| browser(rig.ask("GET", path)).send().expect(200).text();
    let (linked, without) = (with_links(), Rig::start());
    for path in ["/", "/pricing", "/proof-pack/bundle", "/terms", "/llms.txt"] {
        let [linked, without] = [&linked, &without].map(|rig| page(rig, path));
        assert!(
            linked.contains("through a payment link"),
            "{path}: {linked}"
        );
        assert!(!without.contains("a payment link"), "{path}: {without}");
        assert!(without.contains("on request"), "{path}: {without}");
    }
    let form = page(&without, "/proof-pack/request?bundle=scout");
    assert!(form.contains("This service has no payment link."), "{form}");
}

/// A bundle of one source was quoted as if it could be bought like any other.
#[test]
fn the_quote_of_one_source_leads_to_a_proof_pack() {
    let rig = Rig::start();
    let quoted = |listed: &str| {
        let ask = rig
            .post("/proof-pack/bundle/quote")
            .header("Content-Type", "application/x-www-form-urlencoded")
            .body(query(&[("target_urls", listed)]));
        browser(ask).send().expect(200).text()
    };
    const ADVICE: &str = "Over x402 a bundle has at least 2 sources.";
    let one = quoted(ARTICLE);
    assert!(
        one.contains(ADVICE) && one.contains("/proof-pack/quote?target_url="),
        "{one}"
    );
    assert!(!quoted(&pages(2)).contains(ADVICE));
}
