//! The operator over the network: the token, the console with its forms, what nobody else may, and the pause of sales.

use std::collections::BTreeSet;

use context402::config::Config;
use context402::domain::lead::LeadStatus;
use context402::domain::mail::MailState;
use context402::signing::session::SESSION_SECONDS;
use serde_json::{Value, json};

use crate::harness::mailbox::enqueue;
use crate::harness::{
    ARTICLE, Answer, Ask, BASE_URL, FERRY, FERRY_CLAIM, FRESH, Folder, Mailbox, Manner, Rig,
    Wallet, Wish, amount, until,
};

const TOKEN: &str = "a token that nobody guesses, of 0123456789 characters";
pub(crate) const TOKEN_GIVEN: &str = "a-token-that-nobody-guesses-of-0123456789-characters";
const VIEWS: [&str; 13] = [
    "/operator",
    "/operator/console/leads",
    "/operator/console/orders",
    "/operator/console/payments",
    "/operator/console/reports",
    "/operator/console/outbox",
    "/operator/console/events",
    "/operator/console/ledger",
    "/operator/console/data",
    "/operator/console/limits",
    "/operator/console/health",
    "/operator/console/config",
    "/operator/console/changes",
];

fn rig() -> Rig {
    Rig::with(|resolved| resolved.set("operator.token", TOKEN_GIVEN))
}

/// A form as a browser posts it from a page of ours.
fn form(rig: &Rig, path: &str, fields: &[(&str, &str)]) -> Ask {
    let mut body = url::form_urlencoded::Serializer::new(String::new());
    body.extend_pairs(fields);
    rig.post(path)
        .header("Content-Type", "application/x-www-form-urlencoded")
        .header("Origin", BASE_URL)
        .header("Accept", "text/html")
        .body(body.finish())
}

/// Somebody who is signed in.
pub(crate) struct SignedIn<'rig> {
    rig: &'rig Rig,
    cookie: String,
}

impl<'rig> SignedIn<'rig> {
    pub(crate) fn open(rig: &'rig Rig) -> SignedIn<'rig> {
        let answer = form(rig, "/operator/login", &[("token", TOKEN_GIVEN)])
            .send()
            .expect(303);
        let cookie = answer.must("set-cookie").split(';').next();
        SignedIn {
            rig,
            cookie: cookie.expect("a cookie").to_owned(),
        }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        let ask = self
            .rig
            .ask("GET", path)
            .header("Cookie", self.cookie.as_str());
        ask.header("Accept", "text/html").send()
    }

    /// What the console's own forms carry.
    fn form_token(&self) -> String {
        let page = self.get("/operator").expect(200).text();
        let (_, rest) = page
            .split_once("name=\"form_token\" value=\"")
            .expect("a form");
        rest.split('"').next().expect("a value").to_owned()
    }

    pub(crate) fn act(&self, name: &str, fields: &[(&str, &str)]) -> Answer {
        let token = self.form_token();
        let mut all = vec![("form_token", token.as_str())];
        all.extend_from_slice(fields);
        form(self.rig, &format!("/operator/console/{name}"), &all)
            .header("Cookie", self.cookie.as_str())
            .send()
    }
}

fn bearer(rig: &Rig, method: &str, path: &str) -> Answer {
    rig.ask(method, path)
        .header("Authorization", format!("Bearer {TOKEN_GIVEN}"))
        .send()
}

fn lead(rig: &Rig, contact: &str, notes: &str) -> String {
    let body = json!({"contact": contact, "target_urls": ["https://example.com/a"], "question": "Is it free?",
        "bundle": "scout", "notes": notes});
    let answer = rig.post("/v1/proof-pack/bundle/leads").json(&body).send();
    answer.expect(202).json()["lead_id"]
        .as_str()
        .expect("a lead")
        .to_owned()
}

fn mail_state(rig: &Rig, key: &str) -> Value {
    rig.operator(&format!("/operator/mails/{key}")).json()["state"].clone()
}

#[test]
fn without_a_token_the_console_says_so_and_stays_closed() {
    let rig = Rig::start();
    // The page itself is there.
    let page = rig.get("/operator").expect(200);
    assert!(page.must("content-type").starts_with("text/html"));
    assert!(page.text().contains("operator.token"), "{page:?}");
    rig.get("/operator/console/payments").expect(404);
    form(&rig, "/operator/login", &[("token", "")])
        .send()
        .expect(404);
    for token in ["", "null", "None", TOKEN_GIVEN] {
        let asked = rig
            .ask("GET", "/operator/payments")
            .header("Authorization", format!("Bearer {token}"));
        asked.send().refused(404, "not_found");
    }
}

#[test]
fn a_token_that_could_be_guessed_is_refused_at_the_start() {
    use context402::config::Config;
    let rig = Rig::start();
    for token in ["", "short", "thirty-one-characters-and-no-mo", TOKEN] {
        let mut resolved = rig.resolved().clone();
        resolved.set("operator.token", token);
        let error = Config::from_resolved(&resolved)
            .expect_err(token)
            .to_string();
        assert!(error.contains("operator.token"), "{error}");
        assert!(token.is_empty() || !error.contains(token), "{error}");
    }
}

#[test]
fn whoever_has_the_token_signs_in_for_half_a_day() {
    let mut rig = rig();
    let page = rig.get("/operator").expect(200);
    assert!(page.text().contains("type=\"password\""), "{page:?}");
    for wrong in ["", "wrong", &TOKEN_GIVEN[1..], &TOKEN_GIVEN.to_uppercase()] {
        let answer = form(&rig, "/operator/login", &[("token", wrong)]).send();
        assert_eq!(answer.header("set-cookie"), None, "{answer:?}");
        answer.expect(401);
    }
    let answer = form(&rig, "/operator/login", &[("token", TOKEN_GIVEN)])
        .send()
        .expect(303);
    let cookie = answer.must("set-cookie");
    for part in [
        "Path=/operator",
        "HttpOnly",
        "SameSite=Strict",
        "Max-Age=43200",
    ] {
        assert!(cookie.contains(part), "{part}: {cookie}");
    }
    assert!(!cookie.contains(TOKEN_GIVEN), "{cookie}");

    let cookie = SignedIn::open(&rig).cookie;
    rig.restart();
    let console = SignedIn { rig: &rig, cookie };
    assert!(console.get("/operator").text().contains("Sign out"));
    rig.pass(SESSION_SECONDS);
    assert!(!console.get("/operator").text().contains("Sign out"));
    console.get("/operator/console/payments").expect(303);
}

/// A cookie that was copied before is worth nothing once its session was signed out.
#[test]
fn signing_out_ends_the_session_and_no_other() {
    let mut rig = rig();
    let (console, other) = (SignedIn::open(&rig), SignedIn::open(&rig));
    let token = console.form_token();
    let sign_out = |fields: &[(&str, &str)], origin: Option<&str>| {
        let ask = form(&rig, "/operator/logout", fields)
            .without("Origin")
            .header("Cookie", console.cookie.as_str());
        match origin {
            Some(origin) => ask.header("Origin", origin).send(),
            None => ask.send(),
        }
    };
    let good = [("form_token", token.as_str())];
    let others = other.form_token();
    for (fields, origin) in [
        (&good[..], Some("https://evil.example")),
        (&good, Some("null")),
        (&good, None),
        (&[], Some(BASE_URL)),
        (&[("form_token", others.as_str())], Some(BASE_URL)),
    ] {
        let answer = sign_out(fields, origin).expect(400);
        assert_eq!(answer.header("set-cookie"), None, "{origin:?} {fields:?}");
        console.get("/operator/console/payments").expect(200);
    }
    let answer = sign_out(&good, Some(BASE_URL)).expect(303);
    let taken_back = answer.must("set-cookie").to_owned();
    assert!(taken_back.contains("Max-Age=0"), "{taken_back}");
    console.get("/operator/console/payments").expect(303);
    let act = [("form_token", token.as_str()), ("confirm", "yes")];
    form(&rig, "/operator/console/pause", &act)
        .header("Cookie", console.cookie.as_str())
        .send()
        .expect(303);
    assert_eq!(
        rig.operator("/operator/today").json()["paused_since"],
        Value::Null
    );
    other.get("/operator/console/payments").expect(200);
    // Nor after a restart.
    let (ended, open) = (console.cookie, other.cookie);
    rig.restart();
    let again = |cookie: String| {
        let console = SignedIn { rig: &rig, cookie };
        console.get("/operator/console/payments").status
    };
    assert_eq!((again(ended), again(open)), (303, 200));
    // Who is not signed in is simply out.
    form(&rig, "/operator/logout", &[]).send().expect(303);
}

#[test]
fn a_new_token_ends_every_session() {
    let mut rig = rig();
    let cookie = SignedIn::open(&rig).cookie;
    rig.reconfigure(|resolved| {
        resolved.set("operator.token", "another-token-of-enough-characters")
    });
    let console = SignedIn { rig: &rig, cookie };
    assert!(!console.get("/operator").text().contains("Sign out"));
}

/// Who is asked to sign in is led on to the view that was asked for, and nowhere else.
#[test]
fn signing_in_leads_on_to_the_view_that_was_asked_for() {
    let rig = rig();
    let asked = "/operator/console/orders?id=ord_1&state=failed";
    let ask = rig.ask("GET", asked).header("Accept", "text/html").send();
    let place = ask.expect(303).must("location").to_owned();
    let shown = rig.ask("GET", &place).header("Accept", "text/html").send();
    let page = shown.expect(200).text();
    let field = r#"name="back" value="/operator/console/orders?id=ord_1&amp;state=failed""#;
    assert!(page.contains(field), "{place}: {page}");
    for (back, expected) in [
        (asked, asked),
        ("https://evil.example/", "/operator"),
        ("/operator/console/nothing", "/operator"),
    ] {
        let fields = [("token", TOKEN_GIVEN), ("back", back)];
        let answer = form(&rig, "/operator/login", &fields).send().expect(303);
        assert_eq!(answer.must("location"), expected, "{back}");
    }
    let wrong = form(
        &rig,
        "/operator/login",
        &[("token", "wrong"), ("back", asked)],
    )
    .send();
    assert!(wrong.expect(401).text().contains(field));
}

/// Story: sales were paused, and every page still offered to sell; a buyer learned it by signing.
#[test]
fn while_sales_are_paused_no_page_offers_to_sell() {
    let rig = rig();
    let quote = "/quote?target_url=https%3A%2F%2Fexample.com%2F";
    let buy = "/buy?target_url=https%3A%2F%2Fexample.com%2F";
    let page = |path: &str| {
        rig.ask("GET", path)
            .header("Accept", "text/html")
            .send()
            .text()
    };
    for path in ["/", "/pricing", quote, buy] {
        assert!(!page(path).contains("Sales are paused."), "{path}");
    }
    assert!(page(buy).contains("id=\"wallet-pay\""));
    let console = SignedIn::open(&rig);
    console.act("pause", &[("confirm", "yes")]).expect(303);
    for path in ["/", "/pricing", quote, buy] {
        let page = page(path);
        assert!(page.contains("Sales are paused."), "{path}: {page}");
        assert!(!page.contains("can deliver"), "{path}");
        assert!(!page.contains("id=\"wallet-pay\""), "{path}");
        assert!(!page.contains("Pay with a browser wallet"), "{path}");
    }
    let json = rig.get("/v1/x402/quote").expect(200).json();
    assert_eq!(json["tiers"][0]["deliverable_now"], false);
    assert_eq!(json["tiers"][0]["reason"], "Sales are paused.");
    let today = console.get("/operator").text();
    assert!(
        !today.contains("context402 resume"),
        "the button is there: {today}"
    );
    console.act("resume", &[]).expect(303);
    assert!(!page("/").contains("Sales are paused."));
}

/// A link from the command line signs one browser in, once; what only opens it uses nothing up.
#[test]
fn a_link_signs_in_once() {
    let rig = rig();
    let made = rig
        .operate("POST", "/operator/sign-in-link")
        .expect(200)
        .json();
    let url = made["url"].as_str().expect("an address").to_owned();
    let path = url.strip_prefix(BASE_URL).expect("our address").to_owned();
    let code = path
        .strip_prefix("/operator?link=")
        .expect("a code")
        .to_owned();
    let opened = |path: &str| {
        let ask = rig.ask("GET", path).header("Accept", "text/html");
        ask.send().expect(200).text()
    };
    for _ in 0..2 {
        assert!(opened(&path).contains(&code), "the link's page");
    }
    let sign_in = |code: &str| form(&rig, "/operator/login", &[("link", code)]).send();
    sign_in(&code[1..]).expect(401);
    let answer = sign_in(&code).expect(303);
    let cookie = answer
        .must("set-cookie")
        .split(';')
        .next()
        .expect("a cookie");
    let today = rig.ask("GET", "/operator").header("Cookie", cookie);
    assert!(today.send().expect(200).text().contains("Sales today"));
    assert!(
        sign_in(&code)
            .expect(401)
            .text()
            .contains("used before or has expired")
    );
    // Ten minutes, and nobody but the operator gets one.
    let late = rig
        .operate("POST", "/operator/sign-in-link")
        .expect(200)
        .json();
    rig.pass(601);
    let late = late["url"].as_str().expect("an address").rsplit('=').next();
    sign_in(late.expect("a code")).expect(401);
    rig.post("/operator/sign-in-link").send().expect(404);
}

#[test]
fn tries_to_sign_in_are_counted() {
    let rig = Rig::with(|resolved| {
        resolved.set("operator.token", TOKEN_GIVEN);
        resolved.set("limits.logins_per_minute", "3");
    });
    for _ in 0..3 {
        form(&rig, "/operator/login", &[("token", "wrong")])
            .send()
            .expect(401);
    }
    form(&rig, "/operator/login", &[("token", TOKEN_GIVEN)])
        .send()
        .expect(429);
    // Who is in stays in, and programs with the token are not kept waiting.
    bearer(&rig, "GET", "/operator/payments").expect(200);
    rig.pass(60);
    SignedIn::open(&rig);
}

#[test]
fn programs_bring_the_token_as_bearer() {
    let rig = rig();
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    let payments = bearer(&rig, "GET", "/operator/payments").expect(200).json();
    assert_eq!(payments, rig.operator("/operator/payments").json());
    assert_eq!(
        bearer(&rig, "GET", "/metrics").json()["revenue_units"],
        amount(FRESH)
    );
    for wrong in [
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        format!("Basic {TOKEN_GIVEN}"),
        format!("Bearer {TOKEN_GIVEN}x"),
        format!("Bearer {}", &TOKEN_GIVEN[1..]),
    ] {
        let ask = rig
            .ask("GET", "/operator/payments")
            .header("Authorization", wrong.as_str());
        ask.send().refused(404, "not_found");
        let ask = rig
            .ask("GET", "/metrics")
            .header("Authorization", wrong.as_str());
        assert!(ask.send().json().get("revenue_units").is_none(), "{wrong}");
    }
    // A cookie is for the console's own pages.
    let ask = rig
        .ask("GET", "/operator/payments")
        .header("Cookie", SignedIn::open(&rig).cookie);
    ask.send().refused(404, "not_found");
}

#[test]
fn nothing_changes_but_from_a_page_of_ours() {
    let rig = rig();
    let console = SignedIn::open(&rig);
    let token = console.form_token();
    let path = "/operator/console/pause";
    let good = [("form_token", token.as_str()), ("confirm", "yes")];
    let with_cookie = |ask: Ask| ask.header("Cookie", console.cookie.as_str());
    let other = SignedIn::open(&rig).form_token();
    let attempts = [
        ("no cookie", form(&rig, path, &good)),
        (
            "no token",
            with_cookie(form(&rig, path, &[("confirm", "yes")])),
        ),
        (
            "another session's token",
            with_cookie(form(
                &rig,
                path,
                &[("form_token", &other), ("confirm", "yes")],
            )),
        ),
        (
            "no origin",
            with_cookie(form(&rig, path, &good).without("Origin")),
        ),
        (
            "another origin",
            with_cookie(
                form(&rig, path, &good)
                    .without("Origin")
                    .header("Origin", "https://evil.example"),
            ),
        ),
        (
            "a hidden origin",
            with_cookie(
                form(&rig, path, &good)
                    .without("Origin")
                    .header("Origin", "null"),
            ),
        ),
        ("no box ticked", with_cookie(form(&rig, path, &good[..1]))),
        (
            "a link",
            with_cookie(rig.ask("GET", &format!("{path}?form_token={token}&confirm=yes"))),
        ),
    ];
    for (what, attempt) in attempts {
        let answer = attempt.send();
        assert_ne!(answer.status, 200, "{what}");
        assert_eq!(
            rig.operator("/operator/today").json()["paused_since"],
            Value::Null,
            "{what}"
        );
    }
    console.act("pause", &[("confirm", "yes")]).expect(303);
    assert!(rig.operator("/operator/today").json()["paused_since"].is_u64());
    // A page that somebody else wrote cannot sign anybody in, either.
    let foreign = form(&rig, "/operator/login", &[("token", TOKEN_GIVEN)]).without("Origin");
    let answer = foreign
        .header("Origin", "https://evil.example")
        .send()
        .expect(400);
    assert_eq!(answer.header("set-cookie"), None);
}

#[test]
fn a_form_leads_back_to_the_console_and_nowhere_else() {
    let rig = rig();
    let console = SignedIn::open(&rig);
    for (back, expected) in [
        ("/operator", "/operator?done=resume"),
        (
            "/operator/console/leads?state=new",
            "/operator/console/leads?state=new&done=resume",
        ),
        ("https://evil.example/", "/operator?done=resume"),
        ("//evil.example/", "/operator?done=resume"),
        ("/operator/console/../../x", "/operator?done=resume"),
        ("/operatorx", "/operator?done=resume"),
        ("", "/operator?done=resume"),
    ] {
        let answer = console.act("resume", &[("back", back)]).expect(303);
        assert_eq!(answer.must("location"), expected, "{back}");
    }
    let page = console.get("/operator?done=resume").expect(200);
    assert!(page.text().contains("Sales resumed."), "{page:?}");
    let page = console.get("/operator?done=%3Cb%3Eowned").expect(200);
    assert!(!page.text().contains("owned"), "{page:?}");
    console.act("nothing", &[]).expect(404);
}

#[test]
fn every_view_is_a_page_for_nobody_else() {
    let rig = rig();
    rig.buy_report(&Wallet::new(), FERRY, "standard", FERRY_CLAIM)
        .expect(200);
    lead(&rig, "ada@example.org", "<script>alert(1)</script>");
    enqueue(&rig, "ord_1", "<script>alert(2)</script>@example.org");
    let console = SignedIn::open(&rig);
    let mut titles = BTreeSet::new();
    for path in VIEWS {
        let page = console.get(path).expect(200);
        assert_eq!(page.must("cache-control"), "no-store", "{path}");
        assert_eq!(page.must("x-robots-tag"), "noindex", "{path}");
        assert!(
            page.must("content-security-policy")
                .contains("default-src 'none'"),
            "{path}"
        );
        let text = page.text();
        assert!(!text.contains("<script>alert"), "{path}: {text}");
        assert!(text.contains("aria-current=\"page\""), "{path}: {text}");
        let title = text
            .split("<h1>")
            .nth(1)
            .and_then(|rest| rest.split('<').next());
        titles.insert(title.expect("a heading").to_owned());
        let stranger = rig.ask("GET", path).header("Accept", "text/html").send();
        assert!(!stranger.text().contains("Sign out"), "{path}");
    }
    assert_eq!(titles.len(), VIEWS.len(), "{titles:?}");
    let missing = console.get("/operator/console/nothing").expect(404).text();
    assert!(missing.contains("Sign out") && !missing.contains("site-nav"));
    // One thing of each kind.
    let list = |path: &str, list: &str, id: &str| {
        let answer = rig.operator(path).json();
        answer[list][0][id]
            .as_str()
            .expect("one is there")
            .to_owned()
    };
    for (view, id) in [
        ("payments", list("/operator/payments", "payments", "key")),
        ("reports", list("/operator/reports", "reports", "report_id")),
        ("leads", list("/operator/leads", "leads", "lead_id")),
        ("outbox", list("/operator/mails", "mails", "key")),
    ] {
        let page = console
            .get(&format!("/operator/console/{view}?id={id}"))
            .expect(200);
        assert!(!page.text().contains("<script>alert"), "{view}");
        console
            .get(&format!("/operator/console/{view}?id=nothing"))
            .expect(404);
    }
}

/// Experience, points 10 to 13: figures first, charts with their tables, and nothing of the shop around them.
#[test]
fn the_console_shows_figures_charts_and_a_funnel() {
    let rig = rig();
    rig.order(ARTICLE, "fresh").send().expect(402);
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    rig.pay(&payment, ARTICLE, "fresh").expect(200);
    rig.order(ARTICLE, "fresh")
        .paid("no payment")
        .send()
        .refused(400, "invalid_payment");
    let console = SignedIn::open(&rig);
    let page = console.get("/operator").text();
    for shown in [
        "<dt>Revenue today</dt><dd><span class=\"value\">0.03 <small>USDC</small>",
        "yesterday 0.00 · 7 days 0.03",
        "<dt>Bundles today</dt><dd><span class=\"value\">0.00 <small>USD</small>",
        "Revenue by day: 0.03 USDC in 30 days",
        "<td class=\"num\">0.03 USDC</td>",
        "With a payment",
        "<th scope=\"row\">Refused</th><td class=\"num\">1</td>",
        "1 settled and 1 refused after ",
        "POST /v1/x402/access",
        "aria-label=\"Console\"",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    for shop in ["site-foot", "site-nav", "/quickstart"] {
        assert!(!page.contains(shop), "{shop}: {page}");
    }
    rig.pass(86_400);
    let page = SignedIn::open(&rig).get("/operator").text();
    assert!(page.contains("yesterday 0.03 · 7 days 0.03"), "{page}");
}

/// Every list is searched as the payments are, and shown in parts.
#[test]
fn leads_orders_reports_and_emails_are_found_by_their_words() {
    let rig = rig();
    lead(&rig, "ada@example.org", "");
    lead(&rig, "bob@example.org", "");
    rig.buy_report(&Wallet::new(), FERRY, "standard", FERRY_CLAIM)
        .expect(200);
    for number in 1..=51 {
        enqueue(&rig, &format!("ord_{number}"), "ada@example.org");
    }
    let console = SignedIn::open(&rig);
    let page = |path: &str| {
        console
            .get(&format!("/operator/console/{path}"))
            .expect(200)
            .text()
    };
    for (view, words, found) in [
        // No name alone: an id is searched too, and its digits can spell "ada".
        ("leads", "ADA%40example", "1–1 of 1"),
        ("leads", "example.com%2Fa", "1–2 of 2"),
        ("leads", "is+it+free", "1–2 of 2"),
        ("leads", "carol", "No such leads."),
        ("reports", "ferry", "1–1 of 1"),
        ("reports", "nothing", "No such reports."),
        ("orders", "ada", "No such orders."),
        ("outbox", "ada%40EXAMPLE.org", "1–50 of 51"),
        ("outbox", "ord_51", "1–1 of 1"),
        ("outbox", "bob", "No such e-mails."),
    ] {
        let text = page(&format!("{view}?q={words}"));
        assert!(text.contains(found), "{view} {words}: {found}: {text}");
        assert!(text.contains("role=\"search\""), "{view}");
    }
    let second = page("outbox?q=ada&page=2");
    assert!(second.contains("51–51 of 51"), "{second}");
    assert!(
        second.contains("href=\"/operator/console/outbox?q=ada&amp;page=1\" rel=\"prev\""),
        "{second}"
    );
    let waiting = page("outbox?state=sent&q=ada");
    assert!(waiting.contains("No such e-mails."), "{waiting}");
}

/// Durations, log lines and settings as people read them.
#[test]
fn health_and_configuration_are_for_people() {
    let rig = rig();
    let console = SignedIn::open(&rig);
    let health = console.get("/operator/console/health").text();
    let (_, uptime) = health
        .split_once("<dt>Uptime</dt><dd>")
        .expect("the uptime");
    let uptime = uptime.split('<').next().expect("a text");
    assert!(
        uptime.contains("second") || uptime.contains("minute"),
        "{uptime}"
    );
    let set = console.get("/operator/console/config").text();
    assert!(
        set.contains("operator.token") && !set.contains(TOKEN_GIVEN),
        "{set}"
    );
    assert!(!set.contains("bundles.font_dir"), "a default: {set}");
    let all = console.get("/operator/console/config?show=all").text();
    assert!(all.contains("bundles.font_dir"), "{all}");
    assert!(all.matches("<tr>").count() > set.matches("<tr>").count());
    let today = console.get("/operator").text();
    assert!(today.contains("<span class=\"bar\">"), "{today}");
}

#[test]
fn payments_are_found_by_payer_transaction_and_target() {
    let rig = rig();
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    rig.pay(&payment, ARTICLE, "fresh").expect(200);
    let console = SignedIn::open(&rig);
    let list = rig.operator("/operator/payments").json();
    let sold = &list["payments"][0];
    let text = |name: &str| sold[name].as_str().expect(name).to_owned();
    let (payer, transaction) = (text("payer"), text("transaction"));
    let found = |words: &str| {
        let path = format!("/operator/console/payments?q={words}");
        let page = console.get(&path).text();
        page.contains("context fresh") && page.contains("1–1 of 1")
    };
    for words in [
        &payer,
        &payer.to_uppercase()[2..],
        &transaction,
        "news.sample",
        &text("key")[..12],
    ] {
        assert!(found(words), "{words}");
    }
    let page = console.get("/operator/console/payments?state=answered");
    let page = page.expect(200).text();
    assert!(
        page.contains(
            "Answered: not charged; answered by an earlier payment for the same purchase."
        ),
        "{page}"
    );
    let none = console.get("/operator/console/payments?q=nobody").text();
    assert!(none.contains("No such payments."), "{none}");
    assert!(none.contains("No such refusal since"), "{none}");
    let page = console.get("/operator/console/payments").text();
    let short = format!("{}…{}", &payer[..6], &payer[payer.len() - 6..]);
    assert!(page.contains(&short), "{page}");
    let far = console
        .get("/operator/console/payments?page=99999999999999999999")
        .text();
    assert!(far.contains("1–1 of 1"), "{far}");
}

/// With a buyer's request id the operator finds why a payment was refused.
#[test]
fn the_payments_show_what_was_refused() {
    let rig = rig();
    let console = SignedIn::open(&rig);
    let payments = "/operator/console/payments";
    let empty = "No payment has been refused since the service started.";
    assert!(console.get(payments).text().contains(empty));
    let wallet = Wallet::new();
    let other = wallet.sign(&rig, "basic");
    let refused = rig.pay(&other, ARTICLE, "fresh");
    let refused = refused.expect(402);
    let page = console.get(payments).text();
    let payer = wallet.address().to_string();
    for part in ["payment_required", refused.must("x-request-id"), &payer] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains(empty) && !page.contains(&other.header));
    // By the request that the buyer names, in every filter, and with the payment itself.
    let request = refused.must("x-request-id");
    for path in [
        format!("{payments}?q={request}"),
        format!("{payments}?state=released&q={}", payer.to_uppercase()),
    ] {
        let page = console.get(&path).text();
        assert!(page.contains(request), "{path}: {page}");
    }
    let page = console.get(&format!("{payments}?q=req_nothing")).text();
    assert!(!page.contains(request) && page.contains("No such refusal since"));
}

#[test]
fn secrets_are_not_shown() {
    let rig = Rig::with(|resolved| {
        resolved.set("operator.token", TOKEN_GIVEN);
        resolved.set("signing.key", "0123456789abcdef".repeat(4));
    });
    let console = SignedIn::open(&rig);
    let page = console.get("/operator/console/config").expect(200).text();
    assert!(
        page.contains("payment.pay_to") && page.contains("***"),
        "{page}"
    );
    assert!(
        !page.contains(TOKEN_GIVEN) && !page.contains("0123456789abcdef0123"),
        "{page}"
    );
}

/// Facilitator, mail and notices are tried from the console, where they are configured.
#[test]
fn neighbours_can_be_tried_out() {
    let folder = Folder::new();
    let place = folder.path("mails").display().to_string();
    std::fs::create_dir(folder.path("mails")).expect("a folder");
    let rig = Rig::with(|resolved| {
        resolved.set("operator.token", TOKEN_GIVEN);
        resolved.set("mail.folder", place);
        resolved.set("mail.from", "reports@example.com");
        resolved.set("bundles.notify_url", "http://127.0.0.1:9/");
    });
    let console = SignedIn::open(&rig);
    let page = console.get("/operator/console/health").expect(200).text();
    for part in [
        "All tiers and packs are available.",
        "chain.rpc_url is not set",
        "(API 1.2.0)",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let today = console.get("/operator").expect(200).text();
    assert!(today.contains("chain.rpc_url is not set"), "{today}");
    for button in [
        "Test the facilitator",
        "Send a test notice",
        "Send a test e-mail",
    ] {
        assert!(page.contains(button), "{button}: {page}");
    }
    for figure in [
        "Pages read since start",
        "0 from the cache, 0 fetched",
        "Rate-limited since start",
    ] {
        assert!(page.contains(figure), "{figure}: {page}");
    }
    let answer = console.act("try-facilitator", &[]).expect(303);
    assert!(answer.must("location").ends_with("done=try-facilitator"));
    let answer = console.act("try-mail", &[("email", "me@example.com")]);
    let done = answer.expect(303).must("location").to_owned();
    let path = done.strip_prefix(BASE_URL).unwrap_or(&done);
    let said = console.get(path).expect(200).text();
    assert!(
        said.contains(
            "Nothing was sent: mail.folder is set, and the e-mail is written to that folder."
        ),
        "{done}: {said}"
    );
    let mails = std::fs::read_dir(folder.path("mails"))
        .expect("a folder")
        .count();
    assert_eq!(mails, 1);
    for (act, fields, told) in [
        (
            "try-mail",
            &[("email", "nobody")][..],
            "The e-mail was not sent: ",
        ),
        ("try-notice", &[], "The webhook did not accept the notice: "),
    ] {
        let answer = console.act(act, fields).expect(503).text();
        assert!(answer.contains(told), "{act}: {answer}");
    }
    // What is not configured is not offered, and fails when it is asked for all the same.
    let bare = self::rig();
    let console = SignedIn::open(&bare);
    let page = console.get("/operator/console/health").expect(200).text();
    assert!(!page.contains("Send a test"), "{page}");
    console
        .act("try-mail", &[("email", "me@example.com")])
        .expect(503);
    console.act("try-notice", &[]).expect(503);
}

/// What only the operator may see is kept nowhere on the way, and a state that there is not is no empty list.
#[test]
fn lists_are_kept_nowhere_and_know_their_states() {
    let rig = rig();
    for (path, filter) in [
        ("/operator/payments", "state"),
        ("/operator/reports", "state"),
        ("/operator/orders", "state"),
        ("/operator/mails", "state"),
        ("/operator/leads", "status"),
    ] {
        let listed = bearer(&rig, "GET", path).expect(200);
        assert_eq!(listed.must("cache-control"), "no-store", "{path}");
        let wrong = bearer(&rig, "GET", &format!("{path}?{filter}=nonsense"));
        let told = wrong.refused(400, "invalid_request").json()["detail"].clone();
        assert!(
            told.as_str()
                .is_some_and(|told| told.contains("use one of")),
            "{path}: {told}"
        );
    }
    bearer(&rig, "GET", "/operator/payments?state=credit").expect(200);
}

#[test]
fn today_tells_what_was_sold_and_from_where() {
    let rig = rig();
    rig.order(ARTICLE, "fresh").send().expect(402);
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let sold = rig.order(ARTICLE, "fresh").paid(&payment.header);
    sold.header("X-Service-Source", "bazaar").send().expect(200);
    let today = bearer(&rig, "GET", "/operator/today").expect(200).json();
    let ledger = &today["ledger"];
    assert_eq!(ledger["sales"], 1, "{today}");
    assert_eq!(ledger["revenue_usdc"], "0.03", "{today}");
    assert_eq!(ledger["facilitator_fee_usdc"], "0.001", "{today}");
    assert_eq!(ledger["supplier_usdc"], "0.0005", "{today}");
    assert_eq!(ledger["profit_usdc"], "0.0285", "{today}");
    assert_eq!(
        ledger["sources"],
        json!([{"name": "bazaar", "sales": 1, "usdc": "0.03"}]),
        "{today}"
    );
    assert_eq!(today["since_start"][0]["paid"], 1, "{today}");
    assert!(
        today["since_start"][0]["challenges"].as_u64() >= Some(1),
        "{today}"
    );
    let page = SignedIn::open(&rig).get("/operator").expect(200).text();
    for said in ["0.03 USDC", "0.0285 USDC", "bazaar", "context fresh"] {
        assert!(page.contains(said), "{said}: {page}");
    }
    // The same answer again is no second sale, and the next day begins anew.
    rig.pay(&payment, ARTICLE, "fresh").expect(200);
    assert_eq!(rig.operator("/operator/today").json()["ledger"]["sales"], 1);
    rig.pass(86_400);
    assert_eq!(rig.operator("/operator/today").json()["ledger"]["sales"], 0);
    let days = rig.operator("/operator/ledger").json();
    assert_eq!(days["days"][0]["ledger"]["sales"], 1, "{days}");
}

#[test]
fn a_paused_service_charges_nobody_until_it_goes_on() {
    let mut rig = rig();
    let wallet = Wallet::new();
    let earlier = wallet.sign(&rig, "fresh");
    let sold = rig.pay(&earlier, ARTICLE, "fresh").expect(200);
    let payment = wallet.sign(&rig, "fresh");
    SignedIn::open(&rig)
        .act("pause", &[("confirm", "yes")])
        .expect(303);
    rig.restart();
    let calls = rig.facilitator.verify_calls();

    let answer = rig.pay(&payment, ARTICLE, "fresh");
    assert_eq!(answer.must("retry-after"), "300");
    assert_eq!(answer.header("x-service-retry-credit"), None);
    answer.refused(503, "paused");
    // Nobody is asked to sign for what is not sold.
    rig.order(ARTICLE, "fresh").send().refused(503, "paused");
    rig.ask_report(FERRY, "quick", FERRY_CLAIM)
        .send()
        .refused(503, "paused");
    rig.post("/v1/access")
        .json(&json!({}))
        .send()
        .refused(503, "paused");
    assert_eq!(
        rig.facilitator.verify_calls(),
        calls,
        "nobody was asked about a payment"
    );
    // What is paid already is given again, and everything free goes on.
    let again = rig.pay(&earlier, ARTICLE, "fresh").expect(200);
    assert_eq!(again.json()["markdown"], sold.json()["markdown"]);
    rig.get("/health").expect(200);
    assert_eq!(rig.get("/health").json()["paid_enabled"], false);
    rig.get("/docs").expect(200);
    let page = SignedIn::open(&rig).get("/operator").expect(200).text();
    assert!(page.contains("Sales are paused"), "{page}");

    bearer(&rig, "POST", "/operator/resume").expect(200);
    rig.pay(&payment, ARTICLE, "fresh").expect(200);
}

#[test]
fn leads_move_as_the_pipeline_allows() {
    let rig = rig();
    let id = lead(&rig, "ada@example.org", "");
    let console = SignedIn::open(&rig);
    let path = format!("/operator/console/leads?id={id}");
    let status = || {
        let lead = rig.operator(&format!("/operator/leads/{id}")).json();
        lead["status"].as_str().and_then(LeadStatus::parse)
    };
    let page = console.get(&path).text();
    assert!(
        page.contains("Mark as contacted") && page.contains("Mark as lost"),
        "{page}"
    );
    assert!(
        !page.contains("Mark as fulfilled") && !page.contains("Mark as new"),
        "{page}"
    );
    let step = |to: &str| {
        console.act(
            "move-lead",
            &[
                ("lead_id", &id),
                ("to", to),
                ("note", "by phone"),
                ("back", &path),
            ],
        )
    };
    step("fulfilled").expect(400);
    assert_eq!(status(), Some(LeadStatus::New));
    for (to, expected) in [
        ("contacted", LeadStatus::Contacted),
        ("paid", LeadStatus::Paid),
        ("fulfilled", LeadStatus::Fulfilled),
        ("lost", LeadStatus::Lost),
        ("contacted", LeadStatus::Contacted),
    ] {
        step(to).expect(303);
        assert_eq!(status(), Some(expected));
    }
    console
        .act(
            "move-lead",
            &[("lead_id", &id), ("to", ""), ("note", "wants an invoice")],
        )
        .expect(303);
    let page = console.get(&path).text();
    for said in ["new → contacted: by phone", "wants an invoice", "operator"] {
        assert!(page.contains(said), "{said}: {page}");
    }
    console.act("delete-lead", &[("lead_id", &id)]).expect(400);
    console
        .act("delete-lead", &[("lead_id", &id), ("confirm", "yes")])
        .expect(303);
    assert_eq!(status(), None);
}

#[test]
fn a_mail_that_was_given_up_is_tried_again() {
    let mailbox = Mailbox::start();
    let rig = Rig::with(|resolved| {
        mailbox.configure(resolved);
        resolved.set("operator.token", TOKEN_GIVEN);
    });
    mailbox.behaves(Manner::Says(550));
    let key = enqueue(&rig, "ord_1", "ada@example.org");
    rig.work_off();
    assert_eq!(mail_state(&rig, &key), MailState::Failed.name());
    let console = SignedIn::open(&rig);
    let page = console.get("/operator/console/outbox?state=failed").text();
    assert!(
        page.contains("ada@example.org") && page.contains("not for this one"),
        "{page}"
    );
    let today = console.get("/operator").text();
    assert!(today.contains("1 e-mail could not be sent"), "{today}");
    assert!(
        today.contains("href=\"/operator/console/outbox?state=failed\""),
        "{today}"
    );

    mailbox.behaves(Manner::Takes);
    console.act("retry-mail", &[("key", &key)]).expect(303);
    rig.work_off();
    assert_eq!(mail_state(&rig, &key), "sent");
    console.act("retry-mail", &[("key", &key)]).expect(404);
    console.act("delete-mail", &[("key", &key)]).expect(400);
    console
        .act("delete-mail", &[("key", &key), ("confirm", "yes")])
        .expect(303);
    assert_eq!(mail_state(&rig, &key), Value::Null);
    assert_eq!(mailbox.received().len(), 1);
}

#[test]
fn exports_are_whole_and_run_nothing_in_a_spreadsheet() {
    let rig = rig();
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    lead(
        &rig,
        "ada@example.org",
        "=HYPERLINK(\"https://evil.example\")",
    );
    for what in [
        "payments", "reports", "leads", "orders", "mails", "events", "ledger",
    ] {
        let csv = rig
            .operator(&format!("/operator/export/{what}?format=csv"))
            .expect(200);
        assert_eq!(
            csv.must("content-type"),
            "text/csv; charset=utf-8",
            "{what}"
        );
        assert!(
            csv.must("content-disposition")
                .contains(&format!("{what}.csv")),
            "{csv:?}"
        );
        let columns = csv
            .text()
            .lines()
            .next()
            .map(|line| line.matches("\",\"").count());
        assert!(columns >= Some(5), "{csv:?}");
        let all = rig
            .operator(&format!("/operator/export/{what}"))
            .expect(200)
            .json();
        assert!(all[what].is_array() && all["is_complete"] == true, "{all}");
    }
    let csv = rig.operator("/operator/export/leads?format=csv").text();
    assert!(csv.contains("\"'=HYPERLINK("), "{csv}");
    let payments = rig.operator("/operator/export/payments").json();
    assert_eq!(
        payments["payments"][0]["amount_units"],
        amount(FRESH),
        "{payments}"
    );
    // Figures also as people read them, behind the columns that programs know.
    let sold = &payments["payments"][0];
    assert_eq!(
        (&sold["amount_usdc"], &sold["status"]),
        (&json!(0.03), &json!("settled"))
    );
    let sheet = rig.operator("/operator/export/payments?format=csv").text();
    let head = sheet.lines().next().expect("a head");
    assert!(
        head.ends_with("\"amount_usdc\",\"status\",\"created\",\"changed\""),
        "{head}"
    );
    assert!(
        sheet.contains("0.03") && sheet.contains("\"settled\",\"20"),
        "{sheet}"
    );
    rig.operator("/operator/export/nothing")
        .refused(404, "not_found");
    rig.operator("/operator/export/leads?format=xls")
        .refused(400, "invalid_request");

    let path = "/operator/console/export?what=leads&format=csv";
    assert_eq!(SignedIn::open(&rig).get(path).expect(200).text(), csv);
    rig.get(path).expect(303);
}

#[test]
fn what_is_known_of_a_person_is_shown_and_forgotten() {
    let rig = rig();
    let mine = lead(&rig, "Ada@Example.org", "");
    let other = lead(&rig, "bob@example.org", "");
    enqueue(&rig, "ord_1", "ada@example.org");
    let kept = enqueue(&rig, "ord_2", "bob@example.org");
    let console = SignedIn::open(&rig);
    let found = console
        .act("look-up", &[("email", "ada@example.org")])
        .expect(303);
    let page = console.get(found.must("location")).expect(200).text();
    assert!(page.contains(&mine) && page.contains("ord_1"), "{page}");
    assert!(!page.contains(&other) && !page.contains("ord_2"), "{page}");

    console
        .act("forget", &[("email", "ada@example.org")])
        .expect(400);
    console
        .act(
            "forget",
            &[("email", "ada@example.org"), ("confirm", "yes")],
        )
        .expect(303);
    let known = rig
        .operator("/operator/person?email=ada@example.org")
        .json();
    assert_eq!(known["leads"], json!([]), "{known}");
    assert_eq!(known["mails"], json!([]), "{known}");
    rig.operator(&format!("/operator/leads/{mine}"))
        .refused(404, "not_found");
    rig.operator(&format!("/operator/leads/{other}"))
        .expect(200);
    assert_eq!(mail_state(&rig, &kept), "waiting");
    let gone = bearer(&rig, "POST", "/operator/forget?email=BOB@example.org")
        .expect(200)
        .json();
    assert_eq!(
        gone["deleted"],
        json!({"leads": 1, "orders": 0, "mails": 1}),
        "{gone}"
    );
    // Payments are accounting records: nothing is deleted by the address of a payer, and it is not reported as done.
    let payer = Wallet::new().address();
    let path = format!("/operator/forget?email={payer}");
    let refused = bearer(&rig, "POST", &path).refused(400, "invalid_request");
    let detail = refused.json()["detail"].clone();
    assert!(
        detail
            .as_str()
            .is_some_and(|text| text.contains("accounting records")),
        "{detail}"
    );
    let words = [("email", payer.to_string()), ("confirm", "yes".to_owned())];
    let words: Vec<(&str, &str)> = words.iter().map(|(name, text)| (*name, &**text)).collect();
    console.act("forget", &words).expect(400);
}

/// What a payer's address has bought is handed out, and nothing of anybody else.
#[test]
fn a_payers_purchases_are_known_by_its_address() {
    let rig = rig();
    let (wallet, other) = (Wallet::new(), Wallet::new());
    for wish in Wish::all(ARTICLE) {
        let payment = wish.sign(rig.address, &wallet, rig.now(), None);
        let ask = wish.ask(rig.address).paid(&payment.header);
        ask.send().expect(200);
    }
    rig.buy(&other, FERRY, "fresh").expect(200);
    let person = |address: String| {
        let path = format!("/operator/person?email={address}");
        rig.operator(&path).expect(200).json()
    };
    let known = person(wallet.address().to_string().to_lowercase());
    let payments = known["payments"].as_array().expect("payments");
    assert_eq!(payments.len(), Wish::all(ARTICLE).len());
    assert_eq!(known["payments_total"], payments.len());
    assert_eq!(
        (&known["reports_total"], &known["is_complete"]),
        (&json!(3), &json!(true))
    );
    for payment in payments {
        assert_eq!(payment["payer"], wallet.address().to_string());
        assert_eq!(payment["target_urls"][0], ARTICLE, "{payment}");
    }
    // A report, a bundle and a check.
    assert_eq!(known["reports"].as_array().map(Vec::len), Some(3));
    let known = person(other.address().to_string());
    assert_eq!(known["payments"].as_array().map(Vec::len), Some(1));
    assert_eq!(known["reports"], json!([]));
    let nobody = person(Wallet::new().address().to_string());
    assert_eq!(nobody["payments"], json!([]));
}

/// Blocked hosts and payment links change without a restart; what does not is named, and what is wrong changes nothing.
#[test]
fn blocked_hosts_and_payment_links_are_read_again() {
    let rig = rig();
    let quote = || rig.get("/v1/proof-pack/bundle/quote?target_urls=a.example.com%20b.example.org");
    let pay = || rig.get("/proof-pack/bundle/pay?bundle=builder").expect(303);
    let reload = || rig.operate("POST", "/operator/reload");
    reload().refused(409, "conflict");
    let resolved = std::sync::Arc::new(std::sync::Mutex::new(rig.resolved().clone()));
    let shared = resolved.clone();
    let read = move || Config::from_resolved(&shared.lock().expect("no panic before"));
    assert!(rig.app().read_config.set(Box::new(read)).is_ok());
    let set =
        |key: &'static str, value: &str| resolved.lock().expect("no panic before").set(key, value);
    assert_eq!(
        reload().expect(200).json(),
        json!({"status": "success", "changed": [], "waiting_for_restart": [], "overridden_in_console": []})
    );
    assert_eq!(quote().expect(200).json()["source_count"], 2);
    assert!(pay().must("location").contains("/proof-pack/request"));

    let block = |host: &str| {
        let mut resolved = resolved.lock().expect("no panic before");
        resolved.set_list("fetch.blocklist", vec![host.to_owned()]);
    };
    block("example.org");
    set("bundles.builder_link", "https://buy.sample-shop.org/b");
    set("service_name", "another");
    assert_eq!(
        reload().expect(200).json(),
        json!({
            "status": "success", "changed": ["fetch.blocklist", "bundles.builder_link"],
            "waiting_for_restart": ["service_name"], "overridden_in_console": [],
        })
    );
    let quoted = quote().expect(200).json();
    assert_eq!(quoted["rejected_urls"][0]["code"], "target_blocked");
    assert_eq!(quoted["checkout"]["configured"], true);
    assert_eq!(pay().must("location"), "https://buy.sample-shop.org/b");
    let bought = rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    assert_eq!(bought.json()["status"], "success");

    set("bundles.builder_link", "ftp://nowhere");
    block("sample-site.org");
    let refused = reload().refused(409, "conflict").json()["detail"].clone();
    let refused = refused.as_str().expect("a sentence");
    assert!(refused.contains("bundles.builder_link"), "{refused}");
    assert_eq!(pay().must("location"), "https://buy.sample-shop.org/b");
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);

    // In the console: what holds, and the button.
    set("bundles.builder_link", "https://buy.sample-shop.org/other");
    let console = SignedIn::open(&rig);
    let page = console.get("/operator/console/limits").expect(200).text();
    for shown in [
        "example.org",
        "https://buy.sample-shop.org/b",
        "Cached pages",
        "of 512 MiB",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    console.act("reload", &[]).expect(303);
    rig.buy(&Wallet::new(), ARTICLE, "fresh")
        .refused(400, "target_blocked");
    let page = console.get("/operator/console/limits").expect(200).text();
    assert!(
        page.contains("sample-site.org") && page.contains("https://buy.sample-shop.org/other"),
        "{page}"
    );
    let page = console.get("/operator/console/config").expect(200).text();
    assert!(
        page.contains("sample-site.org") && !page.contains(">another<"),
        "{page}"
    );
}

/// A value of the console goes before the configuration's until it is taken back. It outlives a reload and a restart, a
/// wrong one changes nothing, and every change is recorded.
#[test]
fn blocked_hosts_and_payment_links_are_changed_in_the_console() {
    let mut rig = Rig::with(|resolved| {
        resolved.set("operator.token", TOKEN_GIVEN);
        resolved.set_list("fetch.blocklist", vec!["a.example.org".to_owned()]);
    });
    let console = SignedIn::open(&rig);
    let set =
        |key: &str, value: &str| console.act("set-setting", &[("key", key), ("value", value)]);
    let changes = || console.get("/operator/console/changes").expect(200).text();
    let limits = || console.get("/operator/console/limits").expect(200).text();
    assert!(changes().contains("No setting has been changed."));
    assert!(limits().contains("a.example.org") && !limits().contains("Use the configured value"));

    set("fetch.blocklist", "Sample-Site.org\r\nb.example.net").expect(303);
    rig.buy(&Wallet::new(), ARTICLE, "fresh")
        .refused(400, "target_blocked");
    for (key, value) in [
        ("fetch.blocklist", "https://a.example.org/"),
        ("bundles.builder_link", "ftp://nowhere"),
        ("service_name", "another"),
        ("", ""),
    ] {
        set(key, value).expect(400);
    }
    // The operator stays in the console: the reason stands beside the field, which keeps what was typed.
    let refused = console
        .act(
            "set-setting",
            &[
                ("key", "bundles.builder_link"),
                ("value", "ftp://<nowhere>"),
                ("back", "/operator/console/limits"),
            ],
        )
        .expect(400)
        .text();
    for shown in [
        "<h1>Limits</h1>",
        "aria-invalid=\"true\">ftp://&lt;nowhere&gt;</textarea><strong class=\"trouble\">Nothing has changed",
        "class=\"note bad\" role=\"alert\"><p>Nothing has changed",
        "aria-label=\"Console\"",
    ] {
        assert!(refused.contains(shown), "{shown}: {refused}");
    }
    assert!(!refused.contains("well-formed HTTP"), "{refused}");
    let long = "a.example.org ".repeat(1_500);
    set("fetch.blocklist", &long).expect(400);
    // Nor from a page that is not ours.
    form(
        &rig,
        "/operator/console/set-setting",
        &[("key", "fetch.blocklist"), ("value", "")],
    )
    .header("Cookie", console.cookie.as_str())
    .send()
    .expect(400);
    let page = limits();
    for shown in [
        "sample-site.org\nb.example.net",
        "the console",
        "a.example.org (",
        "Use the configured value",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    set("bundles.builder_link", "https://buy.sample-shop.org/b").expect(303);
    let pay = |rig: &Rig| {
        let answer = rig.get("/proof-pack/bundle/pay?bundle=builder").expect(303);
        answer.must("location").to_owned()
    };
    assert_eq!(pay(&rig), "https://buy.sample-shop.org/b");
    let page = changes();
    for shown in [
        "data-label=\"Old value\">a.example.org</td>",
        "data-label=\"New value\"><span title=\"sample-site.org, b.example.net\">",
        "bundles.builder_link",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert_eq!(
        page.matches("data-label=\"Change\">set</td>").count(),
        2,
        "{page}"
    );
    let config = console.get("/operator/console/config").text();
    assert!(config.contains("the console"), "{config}");

    // A reload brings the configuration's other values; the console's stay.
    let mut resolved = rig.resolved().clone();
    resolved.set_list("fetch.blocklist", vec!["c.example.org".to_owned()]);
    resolved.set("bundles.scout_link", "https://buy.sample-shop.org/s");
    let read = move || Config::from_resolved(&resolved);
    assert!(rig.app().read_config.set(Box::new(read)).is_ok());
    let reloaded = rig.operate("POST", "/operator/reload").expect(200).json();
    assert_eq!(reloaded["changed"], json!(["bundles.scout_link"]));
    // What the file says of these has no effect.
    assert_eq!(
        reloaded["overridden_in_console"],
        json!(["fetch.blocklist"])
    );
    rig.buy(&Wallet::new(), ARTICLE, "fresh")
        .refused(400, "target_blocked");
    assert!(limits().contains("c.example.org ("), "{}", limits());
    assert!(changes().contains("data-label=\"Change\">reload</td>"));

    let cookie = console.cookie.clone();
    rig.restart();
    let console = SignedIn { rig: &rig, cookie };
    assert_eq!(pay(&rig), "https://buy.sample-shop.org/b");
    rig.buy(&Wallet::new(), ARTICLE, "fresh")
        .refused(400, "target_blocked");
    let unset = |key: &str| console.act("unset-setting", &[("key", key)]);
    unset("fetch.blocklist").expect(303);
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    let page = console.get("/operator/console/changes").text();
    assert!(page.contains("data-label=\"Change\">unset</td>"), "{page}");
    unset("bundles.builder_link").expect(303);
    assert!(pay(&rig).starts_with(BASE_URL));
}

/// Limits on free requests are changed in the console, within their range, and by a reload; a limit that could turn buyers
/// away or open the sign-in needs a restart.
#[test]
fn limits_on_free_requests_are_changed_in_the_console() {
    let mut rig = rig();
    let console = SignedIn::open(&rig);
    let set =
        |key: &str, value: &str| console.act("set-setting", &[("key", key), ("value", value)]);
    let quote =
        |rig: &Rig| rig.get("/v1/x402/quote?target_url=http://news.sample-site.org/article");
    let quotes = "limits.quotes_per_minute";
    set(quotes, "2").expect(303);
    for left in ["1", "0"] {
        assert_eq!(quote(&rig).expect(200).must("ratelimit-remaining"), left);
    }
    quote(&rig).refused(429, "rate_limited");
    for (key, value) in [
        (quotes, "-1"),
        (quotes, "1000001"),
        (quotes, "many"),
        (quotes, ""),
        ("limits.logins_per_minute", "5"),
        ("limits.sales_per_minute", "5"),
    ] {
        set(key, value).expect(400);
    }
    // Another change does not give the quota back.
    set("limits.leads_per_minute", "7").expect(303);
    quote(&rig).refused(429, "rate_limited");
    let page = console.get("/operator/console/limits").expect(200).text();
    for shown in ["name=\"value\" value=\"2\"", "300 (default)"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    set(quotes, "4").expect(303);
    assert_eq!(quote(&rig).expect(200).must("ratelimit-limit"), "4");

    // Free previews: none, unless the page is cached.
    let preview = |rig: &Rig, page: &str| {
        rig.get(&format!(
            "/try?target_url=http://news.sample-site.org/{page}"
        ))
    };
    set("limits.free_fetches_per_day", "0").expect(303);
    preview(&rig, "article").expect(429);
    console
        .act("unset-setting", &[("key", "limits.free_fetches_per_day")])
        .expect(303);
    preview(&rig, "article").expect(200);

    let mut resolved = rig.resolved().clone();
    resolved.set(quotes, "9");
    resolved.set("limits.quotes_of_domain_per_minute", "8");
    resolved.set("limits.sales_per_minute", "1");
    let read = move || Config::from_resolved(&resolved);
    assert!(rig.app().read_config.set(Box::new(read)).is_ok());
    assert_eq!(
        rig.operate("POST", "/operator/reload").expect(200).json(),
        json!({
            "status": "success", "changed": ["limits.quotes_of_domain_per_minute"],
            "waiting_for_restart": ["limits.sales_per_minute"], "overridden_in_console": ["limits.quotes_per_minute"],
        })
    );
    assert_eq!(quote(&rig).expect(200).must("ratelimit-limit"), "4");
    for _ in 0..2 {
        rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    }
    let page = console.get("/operator/console/changes").text();
    let change = "data-label=\"Old value\">2</td><td class=\"\" data-label=\"New value\">4</td>";
    assert!(page.contains(change), "{page}");

    let cookie = console.cookie.clone();
    rig.restart();
    assert_eq!(quote(&rig).expect(200).must("ratelimit-limit"), "4");
    let console = SignedIn { rig: &rig, cookie };
    console.act("unset-setting", &[("key", quotes)]).expect(303);
    assert_eq!(quote(&rig).expect(200).must("ratelimit-limit"), "300");
}

/// The contact and the legal details are changed in the console: every page, document and e-mail says them at once,
/// although they are made once.
#[test]
fn contact_and_legal_details_are_changed_in_the_console() {
    let rig = Rig::with(|resolved| {
        resolved.set("operator.token", TOKEN_GIVEN);
        resolved.set("contact", "old@example.org");
    });
    let console = SignedIn::open(&rig);
    let set =
        |key: &str, value: &str| console.act("set-setting", &[("key", key), ("value", value)]);
    let markdown = |path: &str| {
        let asked = rig.ask("GET", path).header("Accept", "text/markdown");
        asked.send().expect(200).text()
    };
    let says = |text: &str| {
        let shown = |(path, page): (&str, String)| page.contains(text).then(|| path.to_owned());
        let pages = [
            ("/about", rig.get("/about").expect(200).text()),
            ("/terms", rig.get("/terms").expect(200).text()),
            ("/terms as markdown", markdown("/terms")),
            ("/openapi.json", rig.get("/openapi.json").expect(200).text()),
            ("trust", rig.get("/v1/agent/trust").expect(200).text()),
        ];
        pages.into_iter().filter_map(shown).collect::<Vec<_>>()
    };
    let everywhere = [
        "/about",
        "/terms",
        "/terms as markdown",
        "/openapi.json",
        "trust",
    ];
    assert_eq!(says("old@example.org"), everywhere);
    set("contact", "new@example.org").expect(303);
    assert_eq!(says("new@example.org"), everywhere);
    assert_eq!(says("old@example.org"), [""; 0]);

    set("legal.email", "law@example.org").expect(303);
    assert_eq!(says("law@example.org"), ["/terms", "/terms as markdown"]);
    // Where buyers get the program: without an address no page has a command that nobody can run.
    let page = |path: &str| {
        let ask = rig.ask("GET", path).header("Accept", "text/html");
        ask.send().expect(200).text()
    };
    let quickstart = || page("/quickstart");
    let command = "context402 buy ";
    for path in [
        "/",
        "/quickstart",
        "/buy?target_url=https%3A%2F%2Fexample.com",
    ] {
        assert!(!page(path).contains(command), "{path}");
    }
    set("download_url", "https://releases.example.org/context402/").expect(303);
    assert!(quickstart().contains("<a href=\"https://releases.example.org/context402/\">Download"));
    assert!(quickstart().contains(command) && page("/").contains(command));
    assert!(
        rig.get("/buy?target_url=https%3A%2F%2Fexample.com")
            .text()
            .contains("releases.example.org")
    );
    for wrong in ["http://releases.example.org/", "javascript:alert(1)", "a"] {
        set("download_url", wrong).expect(400);
    }
    set("legal.address", "1 Example Street, Oslo\r\nNorway").expect(303);
    set("legal.name", "<b>Example & Sons</b>").expect(303);
    let page = rig.get("/terms").text();
    for shown in [
        "1 Example Street, Oslo\nNorway",
        "&lt;b&gt;Example &amp; Sons&lt;/b&gt;",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    for value in ["a\u{7}b", &"x".repeat(501)] {
        set("legal.name", value).expect(400);
    }
    set("service_name", "another").expect(400);
    let page = console.get("/operator/console/config").expect(200).text();
    for shown in [
        ">1 Example Street, Oslo\nNorway</textarea>",
        "old@example.org (",
        "Use the configured value",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    // Nothing is a value too, and the configuration's comes back.
    set("contact", "").expect(303);
    assert_eq!(says("new@example.org"), [""; 0]);
    console
        .act("unset-setting", &[("key", "contact")])
        .expect(303);
    assert_eq!(
        says("old@example.org"),
        ["/about", "/openapi.json", "trust"]
    );
    let page = console.get("/operator/console/changes").text();
    for shown in [
        "new@example.org</td><td class=\"\" data-label=\"New value\">(not set)</td>",
        "legal.address",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
}

/// `systemctl reload`: the file is read again, and one that is wrong changes nothing and ends nothing.
#[test]
fn a_hangup_has_the_configuration_read_again() {
    let mut rig = Rig::start();
    let file = rig.folder.path("more.toml");
    let write = |text: &str| std::fs::write(&file, text).expect("written");
    write("");
    let config = file.display().to_string();
    rig.in_process(&[("config", &config)], |_, service| {
        let leads_to = |beginning: &str| {
            let answer = service.get("/proof-pack/bundle/pay?bundle=builder").send();
            answer.expect(303).must("location").starts_with(beginning)
        };
        assert!(leads_to(&format!("{BASE_URL}/proof-pack/request")));
        write("[bundles]\nbuilder_link = \"https://buy.sample-shop.org/b\"\n");
        service.hang_up();
        until("the link is known", || {
            leads_to("https://buy.sample-shop.org/b")
        });
        write("[bundles]\nbuilder_link = \"nowhere\"\n");
        service.hang_up();
        write("[bundles]\nscout_link = \"https://buy.sample-shop.org/s\"\n");
        service.hang_up();
        until("the link is gone", || {
            leads_to(&format!("{BASE_URL}/proof-pack/request"))
        });
    });
}
