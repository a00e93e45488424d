//! Requests that cannot be served as they are, each with the answer that says so. None of them costs anybody anything:
//! no call to the facilitator, no fetch.

use context402::domain::time::UnixSeconds;
use context402::x402::encoding;
use serde_json::{Value, json};

use crate::harness::buyer::Payment;
use crate::harness::{
    ACCESS, ARTICLE, Answer, Ask, BASE_URL, FETCH_SECONDS, FRESH, Rig, Says, VERIFY_SECONDS,
    Wallet, Wish, amount, order,
};

/// A rig at whose end nobody must have been called.
struct Quiet {
    rig: Rig,
    wallet: Wallet,
}

impl Quiet {
    fn start() -> Quiet {
        Quiet {
            rig: Rig::start(),
            wallet: Wallet::new(),
        }
    }

    fn payment(&self) -> Payment {
        self.wallet.sign(&self.rig, "fresh")
    }

    fn order(&self) -> Ask {
        self.rig.order(ARTICLE, "fresh")
    }

    /// Sends the header as the payment of an otherwise good request.
    fn pay(&self, header: &str) -> Answer {
        self.order().paid(header).send()
    }

    /// Pays with a good payment that was changed after signing.
    fn altered(&self, change: impl FnOnce(&mut Value)) -> Answer {
        self.pay(&self.payment().altered(change).header)
    }

    /// Pays with exactly this JSON.
    fn pay_text(&self, text: impl AsRef<[u8]>) -> Answer {
        self.pay(&encoding::encode(text.as_ref()))
    }

    /// A good payment with another body.
    fn body(&self, body: &str) -> Answer {
        let ask = self
            .rig
            .post(ACCESS)
            .header("Content-Type", "application/json");
        ask.body(body).paid(&self.payment().header).send()
    }

    fn nobody_was_called(&self) {
        assert_eq!(self.rig.facilitator.verify_calls(), 0);
        assert_eq!(self.rig.facilitator.settle_calls(), 0);
        assert_eq!(self.rig.site.requests().len(), 0);
    }
}

#[test]
fn a_header_that_is_no_base64_is_an_invalid_payment() {
    let quiet = Quiet::start();
    let good = quiet.payment().header;
    for header in [
        "%%%",
        "eyJ4NDAy*",
        "=",
        "AA=A",
        "",
        " ",
        &format!("{good}!"),
        &good[..good.len() - 3],
    ] {
        let answer = quiet.pay(header).refused(400, "invalid_payment");
        // What to sign instead stands beside it (x402, 4.3).
        let challenge = answer.challenge();
        assert_eq!(challenge["error"], "invalid_payload");
        assert_eq!(challenge["accepts"][0]["amount"], amount(FRESH));
        assert_eq!(answer.must("x-service-payment-tier"), "fresh");
    }
    quiet.nobody_was_called();
}

#[test]
fn a_payment_that_is_no_json_object_is_invalid() {
    let quiet = Quiet::start();
    let good = quiet.payment().payload.to_string();
    let doubled = good.replacen('{', "{\"x402Version\":2,", 1);
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let deep_inside = good.replacen('{', &format!("{{\"deep\":{deep},"), 1);
    for text in [
        "",
        "nonsense",
        "{",
        "null",
        "[]",
        "\"text\"",
        "2",
        "{}{}",
        &good[1..],
        &doubled,
        &deep,
        &deep_inside,
        &good.replace("\"x402Version\":2", "\"x402Version\":NaN"),
        &format!("\u{feff}{good}"),
    ] {
        quiet.pay_text(text).refused(400, "invalid_payment");
    }
    quiet
        .pay_text(b"{\"a\":\"\xff\"}")
        .refused(400, "invalid_payment");
    quiet.nobody_was_called();
}

#[test]
fn a_payment_of_another_version_is_invalid() {
    let quiet = Quiet::start();
    for version in [
        json!(1),
        json!(3),
        json!("2"),
        json!(2.5),
        json!(null),
        json!(-2),
    ] {
        let answer = quiet.altered(|payload| payload["x402Version"] = version.clone());
        answer.refused(400, "invalid_payment");
    }
    quiet.nobody_was_called();
}

#[test]
fn a_payment_of_the_wrong_shape_is_invalid() {
    let quiet = Quiet::start();
    let authorization = "/payload/authorization";
    for (pointer, value) in [
        ("/payload", json!(null)),
        ("/payload", json!("0x")),
        ("/payload/signature", json!(null)),
        ("/payload/signature", json!("0xzz")),
        ("/payload/signature", json!("not hex")),
        ("/payload/signature", json!(7)),
        ("/payload/authorization", json!([])),
        ("/payload/authorization/from", json!("0x12")),
        ("/payload/authorization/from", json!("12".repeat(21))),
        (
            "/payload/authorization/nonce",
            json!(format!("0x{}", "ab".repeat(31))),
        ),
        (
            "/payload/authorization/nonce",
            json!(format!("0x{}", "ab".repeat(33))),
        ),
        (
            "/payload/authorization/nonce",
            json!(format!("0x{}zz", "ab".repeat(31))),
        ),
        ("/payload/authorization/nonce", json!(1)),
        ("/payload/authorization/value", json!(30_000)),
        ("/payload/authorization/value", json!("3e4")),
        ("/payload/authorization/value", json!("-30000")),
        ("/payload/authorization/value", json!("30000.0")),
        ("/payload/authorization/value", json!("0x7530")),
        ("/payload/authorization/value", json!(" 30000")),
        ("/payload/authorization/value", json!("")),
        ("/payload/authorization/validBefore", json!(1_795_248_300)),
        ("/payload/authorization/validAfter", json!("soon")),
        ("/accepted", json!([])),
        ("/accepted", json!("fresh")),
        ("/resource", json!("https://example.com/")),
        ("/extensions", json!([])),
        ("/extensions/payment-identifier/info/id", json!("short")),
        ("/extensions/payment-identifier/info/id", json!(7)),
        (
            "/extensions/payment-identifier/info/id",
            json!("with spaces and more"),
        ),
        (
            "/extensions/payment-identifier/info/id",
            json!("x".repeat(129)),
        ),
    ] {
        let answer = quiet.altered(|payload| put(payload, pointer, value.clone()));
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "invalid_payment"),
            "{pointer} = {value}: {answer:?}"
        );
    }
    for member in ["from", "to", "value", "validAfter", "validBefore", "nonce"] {
        let answer = quiet.altered(|payload| {
            let object = payload
                .pointer_mut(authorization)
                .and_then(Value::as_object_mut);
            object.expect("an authorization").shift_remove(member);
        });
        answer.refused(400, "invalid_payment");
    }
    quiet.nobody_was_called();
}

/// Puts a value where a JSON pointer leads, making the last member if it is not there.
fn put(payload: &mut Value, pointer: &str, value: Value) {
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    let parent = payload.pointer_mut(parent).expect(pointer);
    parent[name] = value;
}

/// Every member of the copied offer counts.
#[test]
fn an_altered_offer_is_answered_with_a_fresh_challenge() {
    let quiet = Quiet::start();
    for (pointer, value) in [
        ("/accepted/scheme", json!("upto")),
        ("/accepted/network", json!("eip155:84532")),
        ("/accepted/network", json!("base")),
        ("/accepted/amount", json!("1")),
        ("/accepted/amount", json!("30001")),
        ("/accepted/amount", json!("0")),
        ("/accepted/amount", json!("-30000")),
        ("/accepted/amount", json!("030000")),
        ("/accepted/amount", json!("3e4")),
        ("/accepted/amount", json!(30_000)),
        (
            "/accepted/amount",
            json!("115792089237316195423570985008687907853269984665640564039457584007913129639936"),
        ),
        (
            "/accepted/asset",
            json!("0x036CbD53842c5426634e7929541eC2318f3dCF7e"),
        ),
        (
            "/accepted/payTo",
            json!("0x00000000000000000000000000000000DeaDBeef"),
        ),
        (
            "/accepted/payTo",
            json!("4020402040204020402040204020402040204020"),
        ),
        ("/accepted/maxTimeoutSeconds", json!(301)),
        ("/accepted/maxTimeoutSeconds", json!("300")),
        ("/accepted/extra", json!({})),
        ("/accepted/extra", json!(null)),
        ("/accepted/extra/name", json!("USDC")),
        ("/accepted/extra/version", json!("1")),
        ("/accepted/extra/version", json!(2)),
        ("/accepted/tier", json!("deep")),
        ("/accepted", json!(null)),
        ("/accepted", json!({})),
    ] {
        let answer = quiet.altered(|payload| put(payload, pointer, value.clone()));
        assert_eq!(answer.status, 402, "{pointer} = {value}: {answer:?}");
        assert_eq!(
            answer.challenge()["error"],
            "No matching payment requirements",
            "{pointer} = {value}"
        );
        assert_eq!(answer.challenge()["accepts"][0]["amount"], amount(FRESH));
    }
    for member in [
        "scheme",
        "network",
        "amount",
        "asset",
        "payTo",
        "maxTimeoutSeconds",
        "extra",
    ] {
        let answer = quiet.altered(|payload| {
            payload["accepted"]
                .as_object_mut()
                .expect("an offer")
                .shift_remove(member);
        });
        assert_eq!(
            answer.expect(402).challenge()["error"],
            "No matching payment requirements"
        );
    }
    let answer = quiet.altered(|payload| {
        payload
            .as_object_mut()
            .expect("an object")
            .shift_remove("accepted");
    });
    assert_eq!(
        answer.expect(402).challenge()["error"],
        "No matching payment requirements"
    );
    quiet.nobody_was_called();
}

#[test]
fn an_authorization_for_something_else_is_answered_with_a_fresh_challenge() {
    let quiet = Quiet::start();
    for (pointer, value, error) in [
        (
            "/payload/authorization/to",
            json!("0x00000000000000000000000000000000DeaDBeef"),
            "invalid_exact_evm_recipient_mismatch",
        ),
        (
            "/payload/authorization/value",
            json!("29999"),
            "invalid_exact_evm_payload_authorization_value_mismatch",
        ),
        (
            "/payload/authorization/value",
            json!("30001"),
            "invalid_exact_evm_payload_authorization_value_mismatch",
        ),
        (
            "/payload/authorization/value",
            json!("0"),
            "invalid_exact_evm_payload_authorization_value_mismatch",
        ),
        (
            "/resource/url",
            json!("https://other.example.com/v1/x402/access"),
            "invalid_resource",
        ),
        (
            "/resource/url",
            json!("http://127.0.0.1:4020/v1/x402/proof-pack"),
            "invalid_resource",
        ),
    ] {
        let answer = quiet.altered(|payload| put(payload, pointer, value.clone()));
        assert_eq!(answer.status, 402, "{pointer} = {value}: {answer:?}");
        assert_eq!(answer.challenge()["error"], error, "{pointer} = {value}");
    }
    quiet.nobody_was_called();
}

/// validBefore ≥ now + work budget + 30 s, and no later than the offer allows, with some skew.
#[test]
fn the_authorization_s_window_must_leave_time_for_the_work() {
    let quiet = Quiet::start();
    let rig = &quiet.rig;
    // A buyer signs for 300 s from its own time on, of which the settlement needs 30.
    let latest = (300 - FETCH_SECONDS - VERIFY_SECONDS - 30).cast_signed();
    let pay = |offset: i64| {
        let now = rig.now().0.checked_add_signed(offset).expect("a time");
        let payment = quiet.wallet.sign_as(rig, "fresh", UnixSeconds(now), None);
        quiet.pay(&payment.header)
    };
    let error = "invalid_exact_evm_payload_authorization_valid_before";
    for offset in [-100_000, -301, -300, -299, -270, -latest - 1] {
        assert_eq!(
            pay(offset).expect(402).challenge()["error"],
            error,
            "{offset}"
        );
    }
    for offset in [61, 3_600, 100_000_000] {
        assert_eq!(
            pay(offset).expect(402).challenge()["error"],
            error,
            "{offset}"
        );
    }
    let late = |value: String| {
        quiet.altered(|payload| put(payload, "/payload/authorization/validAfter", json!(value)))
    };
    let answer = late((rig.now().0 + 1).to_string()).expect(402);
    assert_eq!(
        answer.challenge()["error"],
        "invalid_exact_evm_payload_authorization_valid_after"
    );
    quiet.nobody_was_called();
    pay(-latest).expect(200);
    pay(60).expect(200);
}

/// The same of every kind of purchase, each with its own time for the work.
#[test]
fn the_window_of_every_kind_must_leave_time_for_its_work() {
    let quiet = Quiet::start();
    let rig = &quiet.rig;
    let wishes = Wish::all(ARTICLE);
    // Seconds that may have passed of the 300: several pages take 90 s.
    let latest = |wish: &Wish| match wish.body["target_url"].is_string() {
        true => 300 - FETCH_SECONDS - VERIFY_SECONDS - 30,
        false => 300 - 90 - VERIFY_SECONDS - 30,
    };
    let pay = |wish: &Wish, passed: u64| {
        let signed_at = UnixSeconds(rig.now().0 - passed);
        let payment = wish.sign(rig.address, &Wallet::new(), signed_at, None);
        wish.ask(rig.address).paid(&payment.header).send()
    };
    for wish in &wishes {
        for passed in [latest(wish) + 1, 299, 301] {
            let refused = pay(wish, passed).expect(402).challenge();
            let error = "invalid_exact_evm_payload_authorization_valid_before";
            assert_eq!(refused["error"], error, "{wish:?} {passed}");
        }
    }
    quiet.nobody_was_called();
    for wish in &wishes {
        pay(wish, latest(wish)).expect(200);
    }
}

/// A payment of a kind that we do not offer is well-formed: the buyer is told what is offered.
#[test]
fn a_payment_by_permit2_is_asked_for_an_authorization() {
    let quiet = Quiet::start();
    let answer = quiet.altered(|payload| {
        payload["payload"] = json!({"signature": "0x00", "permit2Authorization": {"from": "0x00"}});
    });
    assert_eq!(
        answer.expect(402).challenge()["error"],
        "unsupported_payload_type"
    );
    quiet.nobody_was_called();
}

/// What may differ without harm.
#[test]
fn spelling_does_not_matter_where_it_cannot() {
    let quiet = Quiet::start();
    let lower = |text: &Value| json!(text.as_str().expect("text").to_lowercase());
    quiet
        .altered(|payload| {
            for name in ["asset", "payTo"] {
                payload["accepted"][name] = lower(&payload["accepted"][name]);
            }
        })
        .expect(200);
    quiet
        .altered(|payload| {
            for name in ["from", "to", "nonce"] {
                let spelled = &mut payload["payload"]["authorization"][name];
                *spelled = lower(spelled);
            }
        })
        .expect(200);
    quiet
        .altered(|payload| put(payload, "/accepted/extra/more", json!([1])))
        .expect(200);
    quiet
        .altered(|payload| put(payload, "/resource", json!(null)))
        .expect(200);
    quiet
        .altered(|payload| put(payload, "/extensions", json!(null)))
        .expect(200);
    quiet
        .altered(|payload| {
            put(
                payload,
                "/resource/url",
                json!("http://127.0.0.1:4020/from/x/v1/x402/access?tier=fresh"),
            )
        })
        .expect(200);
    // Base64 in its other forms.
    let header = quiet.payment().header;
    quiet.pay(header.trim_end_matches('=')).expect(200);
    let header = quiet.payment().header;
    quiet
        .pay(&header.replace('+', "-").replace('/', "_"))
        .expect(200);
}

/// More than one payment leaves open which is meant.
#[test]
fn two_payments_in_one_request_are_refused() {
    let quiet = Quiet::start();
    let (one, other) = (quiet.payment().header, quiet.payment().header);
    quiet
        .order()
        .paid(&one)
        .paid(&other)
        .send()
        .refused(400, "invalid_payment");
    quiet
        .order()
        .paid(&one)
        .paid(&one)
        .send()
        .refused(400, "invalid_payment");
    quiet
        .order()
        .paid(&format!("{one}, {other}"))
        .send()
        .refused(400, "invalid_payment");
    quiet
        .order()
        .paid(&one)
        .header("X-PAYMENT", &*other)
        .send()
        .refused(400, "invalid_payment");
    quiet
        .order()
        .header("x-payment", "AAAA")
        .paid(&one)
        .send()
        .refused(400, "invalid_payment");
    quiet.nobody_was_called();
}

/// The type of the body matters once it is looked at, which is when a payment is there.
#[test]
fn a_paid_body_must_be_json() {
    let quiet = Quiet::start();
    let body = order(ARTICLE, "fresh").to_string();
    let sent_as = |content_type: &str| {
        let ask = quiet.rig.post(ACCESS).header("Content-Type", content_type);
        ask.body(&*body)
    };
    for content_type in [
        "text/plain",
        "text/html",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "application/octet-stream",
        "",
    ] {
        let unpaid = sent_as(content_type);
        unpaid.send().expect(402);
        unpaid
            .paid(&quiet.payment().header)
            .send()
            .refused(415, "unsupported_media_type");
    }
    quiet.nobody_was_called();
    for content_type in [
        "application/json; charset=utf-8",
        "Application/JSON",
        "application/problem+json",
    ] {
        sent_as(content_type)
            .paid(&quiet.payment().header)
            .send()
            .expect(200);
    }
}

/// A body that is packed is not taken for bad JSON, and nothing is unpacked.
#[test]
fn a_packed_body_is_told_to_come_as_it_is() {
    let quiet = Quiet::start();
    let body = order(ARTICLE, "fresh").to_string();
    let packed = |coding: &str| {
        let ask = quiet.rig.post(ACCESS).header("Content-Encoding", coding);
        let ask = ask.header("Content-Type", "application/json").body(&*body);
        ask.paid(&quiet.payment().header).send()
    };
    for coding in ["gzip", "br", "identity, gzip"] {
        let answer = packed(coding).refused(415, "unsupported_media_type");
        assert!(answer.text().contains("without Content-Encoding"));
    }
    let form = quiet
        .rig
        .post("/v1/quotes")
        .header("Content-Encoding", "gzip");
    let form = form.header("Content-Type", "application/x-www-form-urlencoded");
    form.body("product=context")
        .send()
        .refused(415, "unsupported_media_type");
    quiet.nobody_was_called();
    packed("identity").expect(200);
}

/// The body's complaints are those of FastAPI's HTTPValidationError.
#[test]
fn a_body_of_the_wrong_shape_is_complained_about_member_by_member() {
    let quiet = Quiet::start();
    for (body, kind, loc) in [
        ("", "missing", &["body"][..]),
        ("{}", "missing", &["body", "target_url"]),
        ("[]", "model_attributes_type", &["body"]),
        ("\"text\"", "model_attributes_type", &["body"]),
        (
            r#"{"target_url": 7}"#,
            "string_type",
            &["body", "target_url"],
        ),
        (
            r#"{"target_url": null}"#,
            "string_type",
            &["body", "target_url"],
        ),
        (
            r#"{"target_url": "not a url"}"#,
            "url_parsing",
            &["body", "target_url"],
        ),
        (
            r#"{"target_url": ""}"#,
            "url_parsing",
            &["body", "target_url"],
        ),
        (
            r#"{"target_url": "//no.scheme/"}"#,
            "url_parsing",
            &["body", "target_url"],
        ),
        (
            r#"{"target_url": "http://"}"#,
            "url_parsing",
            &["body", "target_url"],
        ),
        (
            r#"{"target_url": "http://a.sample-site.org/", "tier": "golden"}"#,
            "literal_error",
            &["body", "tier"],
        ),
        (
            r#"{"target_url": "http://a.sample-site.org/", "tier": null}"#,
            "literal_error",
            &["body", "tier"],
        ),
        (
            r#"{"target_url": "http://a.sample-site.org/", "force_refresh": "yes"}"#,
            "bool_type",
            &["body", "force_refresh"],
        ),
        (
            r#"{"target_url": "http://a.sample-site.org/", "force_refresh": 1}"#,
            "bool_type",
            &["body", "force_refresh"],
        ),
        (
            r#"{"target_url": "http://a.sample-site.org/", "force_refresh": null}"#,
            "bool_type",
            &["body", "force_refresh"],
        ),
        (
            r#"{"target_url": "http://a.sample-site.org/", "depth": 3}"#,
            "extra_forbidden",
            &["body", "depth"],
        ),
        (
            r#"{"target_url": "http://a.sample-site.org/", "target_url": "http://b.sample-site.org/"}"#,
            "extra_forbidden",
            &["body", "target_url"],
        ),
    ] {
        let answer = quiet.body(body);
        assert_eq!(answer.status, 422, "{body}: {answer:?}");
        answer.invalid(kind, loc);
    }
    let answer = quiet.body("{\"target_url\": ");
    assert_eq!(answer.status, 422, "{answer:?}");
    let complaint = &answer.json()["detail"][0];
    assert_eq!(complaint["type"], "json_invalid");
    assert!(complaint["loc"][0] == "body" && complaint["loc"][1].is_u64());
    let long = format!("http://news.sample-site.org/{}", "a".repeat(2_048));
    let answer = quiet.body(&order(&long, "fresh").to_string());
    answer.invalid("string_too_long", &["body", "target_url"]);
    // Two things wrong are two complaints.
    let answer = quiet.body(r#"{"tier": "golden", "odd": 1}"#).expect(422);
    assert_eq!(answer.json()["detail"].as_array().map(Vec::len), Some(3));
    quiet.nobody_was_called();
}

/// Editors and shells put a byte order mark before JSON; it is no part of it (RFC 8259, 8.1).
#[test]
fn a_byte_order_mark_is_passed_over() {
    let rig = Rig::start();
    let json = |path: &str, body: String| {
        let ask = rig.post(path).body(body);
        ask.header("Content-Type", "application/json")
    };
    let marked = format!("\u{feff}{}", order(ARTICLE, "deep"));
    let challenge = json(ACCESS, marked.clone()).send().expect(402);
    assert_eq!(challenge.must("x-service-payment-tier"), "deep");
    let payment = Wallet::new().sign(&rig, "deep");
    let paid = json(ACCESS, marked).paid(&payment.header);
    paid.send().expect(200);
    let list = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";
    let tools = json("/mcp", list.to_owned()).send().expect(200).json();
    assert!(tools["result"]["tools"].is_array(), "{tools}");
}

/// A 422 of a paid route has the body of HTTPValidationError and nothing less.
#[test]
fn a_complaint_about_a_choice_names_the_choices() {
    let quiet = Quiet::start();
    let answer = quiet
        .body(&order(ARTICLE, "golden").to_string())
        .expect(422);
    let complaint = &answer.json()["detail"][0];
    assert_eq!(complaint["input"], "golden");
    let expected = complaint["ctx"]["expected"].as_str().expect("the choices");
    for tier in ["starter", "cached", "basic", "fresh", "deep"] {
        assert!(expected.contains(tier), "{expected}");
    }
}

/// Everything wrong with the payment comes before everything wrong with the body, so that a buyer never has to guess.
#[test]
fn an_unreadable_payment_is_told_before_an_unreadable_body() {
    let quiet = Quiet::start();
    let ask = quiet
        .rig
        .post(ACCESS)
        .header("Content-Type", "text/html")
        .body("nonsense");
    ask.paid("%%%").send().refused(400, "invalid_payment");
    quiet.nobody_was_called();
}

/// Targets that the policy refuses are 400, after the payment was looked at and before anything was fetched.
#[test]
fn targets_that_policy_refuses_are_not_fetched_and_not_charged() {
    let rig = Rig::start();
    for (target, code) in [
        // Text that is no http or https address at all is a complaint about the body.
        ("ftp://news.sample-site.org/", ""),
        ("javascript:alert(1)", ""),
        ("file:///etc/passwd", ""),
        ("http://127.0.0.1/", "target_blocked"),
        ("http://localhost/", "target_blocked"),
        ("http://10.0.0.1/", "target_blocked"),
        ("http://169.254.169.254/latest/meta-data/", "target_blocked"),
        ("http://[::1]/", "target_blocked"),
        ("http://[::ffff:10.0.0.1]/", "target_blocked"),
        ("http://inside.sample-site.org/", "target_blocked"),
        ("http://metadata.sample-site.org/", "target_blocked"),
        ("http://intranet/", "target_blocked"),
        ("http://news.sample-site.org:8080/", "port_not_allowed"),
        ("http://news.sample-site.org:22/", "port_not_allowed"),
        ("https://news.sample-site.org:80443/", ""),
    ] {
        let wallet = Wallet::new();
        let answer = rig.buy(&wallet, target, "fresh");
        if code.is_empty() {
            answer.invalid("url_parsing", &["body", "target_url"]);
            continue;
        }
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, code),
            "{target}: {answer:?}"
        );
        let answer = answer.refused(400, code);
        assert_eq!(answer.header("x-service-retry-credit"), None);
    }
    for target in [
        "http://user:secret@news.sample-site.org/",
        "http://news.sample-site.org\\@evil.example/",
    ] {
        let answer = rig.buy(&Wallet::new(), target, "fresh");
        assert_eq!(answer.status, 400, "{target}: {answer:?}");
    }
    assert_eq!(rig.facilitator.settle_calls(), 0);
    assert_eq!(rig.site.requests().len(), 0);
}

/// Directories list us by what the buyer sends back: it may be added to and left out, and not be altered.
#[test]
fn an_altered_extension_is_answered_with_a_fresh_challenge() {
    let rig = Rig::start();
    let wallet = Wallet::new();
    let echo = |change: &dyn Fn(&mut Value)| {
        let payment = wallet
            .sign(&rig, "fresh")
            .altered(|payload| change(payload));
        rig.pay(&payment, ARTICLE, "fresh")
    };
    let body = "/extensions/bazaar/info/input/body";
    let refused = echo(&|payload| {
        put(
            payload,
            body,
            json!({"target_url": "https://evil.example/"}),
        )
    });
    let refused = refused.expect(402);
    assert_eq!(refused.challenge()["error"], "extension_echo_mismatch");
    assert_eq!(rig.facilitator.verify_calls(), 0);
    assert_eq!(rig.site.hits("/article"), 0);
    echo(&|payload| put(payload, "/extensions/bazaar/info/more", json!(1))).expect(200);
    echo(&|payload| put(payload, "/extensions", json!({}))).expect(200);
}

/// The body's `error` is x402's word for programs; the sentence and the way on stand in headers, so that the body stays
/// what the header encodes.
#[test]
fn a_payment_that_was_not_taken_is_explained_in_a_sentence() {
    let rig = Rig::start();
    let diagnose = format!("{BASE_URL}/v1/agent/diagnose");
    let explained = |answer: &Answer| {
        assert_eq!(answer.must("link"), format!("<{diagnose}>; rel=\"help\""));
        let sentence = answer.must("x-service-payment-error").to_owned();
        assert!(sentence.contains(&diagnose), "{sentence}");
        assert!(sentence.contains("nothing was charged"), "{sentence}");
        assert!(answer.body.len() <= 2_900, "{answer:?}");
        assert_eq!(
            encoding::decode(answer.must("payment-required")).as_deref(),
            Some(&answer.body[..])
        );
        sentence
    };
    // What was not paid has nothing to explain.
    let unpaid = rig.order(ARTICLE, "fresh").send().expect(402);
    assert_eq!(unpaid.header("x-service-payment-error"), None);
    assert_eq!(unpaid.header("link"), None);
    // Our own checks.
    let cheap = Wallet::new().sign(&rig, "starter");
    let answer = rig.pay(&cheap, ARTICLE, "fresh");
    assert_eq!(
        answer.expect(402).challenge()["error"],
        "No matching payment requirements"
    );
    let answer = rig.pay(&cheap, ARTICLE, "fresh");
    assert!(explained(&answer).starts_with("The payment accepts an offer that we did not make"));
    // The facilitator's.
    let reason = "invalid_exact_evm_insufficient_balance";
    rig.facilitator.verifies(Says::No(reason));
    let answer = rig.buy(&Wallet::new(), ARTICLE, "fresh");
    assert_eq!(answer.challenge()["error"], reason);
    assert!(explained(&answer).contains(reason));
    rig.facilitator.verifies(Says::Honest);
    // The settlement's.
    rig.facilitator.settles(Says::No("insufficient_funds"));
    let answer = rig.buy(&Wallet::new(), ARTICLE, "fresh");
    assert_eq!(answer.challenge()["error"], "insufficient_funds");
    assert!(explained(&answer).contains("insufficient_funds"));
    // One that cannot be read.
    let answer = rig.order(ARTICLE, "fresh").paid("not base64").send();
    let answer = answer.refused(400, "invalid_payment");
    assert_eq!(answer.must("link"), format!("<{diagnose}>; rel=\"help\""));
}
