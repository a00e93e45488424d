//! The operator over the network: the token, the console with its forms, what nobody else may, and the brake.

use std::collections::BTreeSet;

use context402::domain::lead::LeadStatus;
use context402::domain::mail::MailState;
use context402::signing::session::SESSION_SECONDS;
use serde_json::{Value, json};

use crate::harness::mailbox::enqueue;
use crate::harness::{
    ARTICLE, Answer, Ask, BASE_URL, FERRY, FERRY_CLAIM, Folder, Mailbox, Manner, Rig, Wallet,
};

const TOKEN: &str = "a token that nobody guesses, of 0123456789 characters";
const TOKEN_GIVEN: &str = "a-token-that-nobody-guesses-of-0123456789-characters";
const VIEWS: [&str; 11] = [
    "/operator",
    "/operator/console/leads",
    "/operator/console/orders",
    "/operator/console/payments",
    "/operator/console/reports",
    "/operator/console/outbox",
    "/operator/console/events",
    "/operator/console/books",
    "/operator/console/data",
    "/operator/console/health",
    "/operator/console/config",
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
struct Desk<'rig> {
    rig: &'rig Rig,
    cookie: String,
}

impl<'rig> Desk<'rig> {
    fn open(rig: &'rig Rig) -> Desk<'rig> {
        let answer = form(rig, "/operator/login", &[("token", TOKEN_GIVEN)])
            .send()
            .expect(303);
        let cookie = answer.must("set-cookie").split(';').next();
        Desk {
            rig,
            cookie: cookie.expect("a cookie").to_owned(),
        }
    }

    fn get(&self, path: &str) -> Answer {
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

    fn act(&self, name: &str, fields: &[(&str, &str)]) -> Answer {
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
    // The page itself is there (specification 4.5).
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

    let cookie = Desk::open(&rig).cookie;
    rig.restart();
    let desk = Desk { rig: &rig, cookie };
    assert!(desk.get("/operator").text().contains("Sign out"));
    rig.pass(SESSION_SECONDS);
    assert!(!desk.get("/operator").text().contains("Sign out"));
    desk.get("/operator/console/payments").expect(303);
}

#[test]
fn signing_out_takes_the_cookie_back_and_a_new_token_ends_every_session() {
    let mut rig = rig();
    let answer = form(&rig, "/operator/logout", &[]).send().expect(303);
    assert!(
        answer.must("set-cookie").contains("Max-Age=0"),
        "{answer:?}"
    );
    let cookie = Desk::open(&rig).cookie;
    rig.reconfigure(|resolved| {
        resolved.set("operator.token", "another-token-of-enough-characters")
    });
    let desk = Desk { rig: &rig, cookie };
    assert!(!desk.get("/operator").text().contains("Sign out"));
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
    Desk::open(&rig);
}

#[test]
fn programs_bring_the_token_as_bearer() {
    let rig = rig();
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    let payments = bearer(&rig, "GET", "/operator/payments").expect(200).json();
    assert_eq!(payments, rig.operator("/operator/payments").json());
    assert_eq!(
        bearer(&rig, "GET", "/metrics").json()["revenue_units"],
        "30000"
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
        .header("Cookie", Desk::open(&rig).cookie);
    ask.send().refused(404, "not_found");
}

#[test]
fn nothing_changes_but_from_a_page_of_ours() {
    let rig = rig();
    let desk = Desk::open(&rig);
    let token = desk.form_token();
    let path = "/operator/console/pause";
    let good = [("form_token", token.as_str()), ("confirm", "yes")];
    let with_cookie = |ask: Ask| ask.header("Cookie", desk.cookie.as_str());
    let other = Desk::open(&rig).form_token();
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
    desk.act("pause", &[("confirm", "yes")]).expect(303);
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
    let desk = Desk::open(&rig);
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
        let answer = desk.act("resume", &[("back", back)]).expect(303);
        assert_eq!(answer.must("location"), expected, "{back}");
    }
    let page = desk.get("/operator?done=resume").expect(200);
    assert!(page.text().contains("Sales go on."), "{page:?}");
    let page = desk.get("/operator?done=%3Cb%3Eowned").expect(200);
    assert!(!page.text().contains("owned"), "{page:?}");
    desk.act("nothing", &[]).expect(404);
}

#[test]
fn every_view_is_a_page_for_nobody_else() {
    let rig = rig();
    rig.buy_report(&Wallet::new(), FERRY, "standard", FERRY_CLAIM)
        .expect(200);
    lead(&rig, "ada@example.org", "<script>alert(1)</script>");
    enqueue(&rig, "ord_1", "<script>alert(2)</script>@example.org");
    let desk = Desk::open(&rig);
    let mut titles = BTreeSet::new();
    for path in VIEWS {
        let page = desk.get(path).expect(200);
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
    desk.get("/operator/console/nothing").expect(404);
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
        let page = desk
            .get(&format!("/operator/console/{view}?id={id}"))
            .expect(200);
        assert!(!page.text().contains("<script>alert"), "{view}");
        desk.get(&format!("/operator/console/{view}?id=nothing"))
            .expect(404);
    }
}

#[test]
fn secrets_are_not_shown() {
    let rig = Rig::with(|resolved| {
        resolved.set("operator.token", TOKEN_GIVEN);
        resolved.set("signing.key", "0123456789abcdef".repeat(4));
    });
    let desk = Desk::open(&rig);
    let page = desk.get("/operator/console/config").expect(200).text();
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
    let desk = Desk::open(&rig);
    let page = desk.get("/operator/console/health").expect(200).text();
    for button in [
        "Ask the facilitator",
        "Send a test notice",
        "Send a test mail",
    ] {
        assert!(page.contains(button), "{button}: {page}");
    }
    for figure in [
        "0 from the cache, 0 fetched",
        "Beyond a limit since the start",
    ] {
        assert!(page.contains(figure), "{figure}: {page}");
    }
    let answer = desk.act("try-facilitator", &[]).expect(303);
    assert!(answer.must("location").ends_with("done=try-facilitator"));
    desk.act("try-mail", &[("email", "me@example.com")])
        .expect(303);
    let mails = std::fs::read_dir(folder.path("mails"))
        .expect("a folder")
        .count();
    assert_eq!(mails, 1);
    for (act, fields, told) in [
        (
            "try-mail",
            &[("email", "nobody")][..],
            "The mail was not sent: ",
        ),
        ("try-notice", &[], "The notice was not taken: "),
    ] {
        let answer = desk.act(act, fields).expect(503).text();
        assert!(answer.contains(told), "{act}: {answer}");
    }
    // What is not configured is not offered, and fails when it is asked for all the same.
    let bare = self::rig();
    let desk = Desk::open(&bare);
    let page = desk.get("/operator/console/health").expect(200).text();
    assert!(!page.contains("Send a test"), "{page}");
    desk.act("try-mail", &[("email", "me@example.com")])
        .expect(503);
    desk.act("try-notice", &[]).expect(503);
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
                .is_some_and(|told| told.contains("take one of")),
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
    let page = Desk::open(&rig).get("/operator").expect(200).text();
    for said in ["0.03 USDC", "0.0285 USDC", "bazaar", "context fresh"] {
        assert!(page.contains(said), "{said}: {page}");
    }
    // The same answer again is no second sale, and the next day begins anew.
    rig.order(ARTICLE, "fresh")
        .paid(&payment.header)
        .send()
        .expect(200);
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
    let sold = rig
        .order(ARTICLE, "fresh")
        .paid(&earlier.header)
        .send()
        .expect(200);
    let payment = wallet.sign(&rig, "fresh");
    Desk::open(&rig)
        .act("pause", &[("confirm", "yes")])
        .expect(303);
    rig.restart();
    let calls = rig.facilitator.verify_calls();

    let answer = rig.order(ARTICLE, "fresh").paid(&payment.header).send();
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
    let again = rig
        .order(ARTICLE, "fresh")
        .paid(&earlier.header)
        .send()
        .expect(200);
    assert_eq!(again.json()["markdown"], sold.json()["markdown"]);
    rig.get("/health").expect(200);
    assert_eq!(rig.get("/health").json()["paid_enabled"], false);
    rig.get("/docs").expect(200);
    let page = Desk::open(&rig).get("/operator").expect(200).text();
    assert!(page.contains("Sales are paused"), "{page}");

    bearer(&rig, "POST", "/operator/resume").expect(200);
    rig.order(ARTICLE, "fresh")
        .paid(&payment.header)
        .send()
        .expect(200);
}

#[test]
fn leads_move_as_the_pipeline_allows() {
    let rig = rig();
    let id = lead(&rig, "ada@example.org", "");
    let desk = Desk::open(&rig);
    let path = format!("/operator/console/leads?id={id}");
    let status = || {
        let lead = rig.operator(&format!("/operator/leads/{id}")).json();
        lead["status"].as_str().and_then(LeadStatus::parse)
    };
    let page = desk.get(&path).text();
    assert!(
        page.contains("To contacted") && page.contains("To lost"),
        "{page}"
    );
    assert!(
        !page.contains("To fulfilled") && !page.contains("To new"),
        "{page}"
    );
    let step = |to: &str| {
        desk.act(
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
    desk.act(
        "note-lead",
        &[("lead_id", &id), ("note", "wants an invoice")],
    )
    .expect(303);
    let page = desk.get(&path).text();
    for said in ["new → contacted: by phone", "wants an invoice", "operator"] {
        assert!(page.contains(said), "{said}: {page}");
    }
    desk.act("delete-lead", &[("lead_id", &id)]).expect(400);
    desk.act("delete-lead", &[("lead_id", &id), ("confirm", "yes")])
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
    let desk = Desk::open(&rig);
    let page = desk.get("/operator/console/outbox?state=failed").text();
    assert!(
        page.contains("ada@example.org") && page.contains("not for this one"),
        "{page}"
    );
    assert!(
        desk.get("/operator")
            .text()
            .contains("1 mail could not be sent")
    );

    mailbox.behaves(Manner::Takes);
    desk.act("retry-mail", &[("key", &key)]).expect(303);
    rig.work_off();
    assert_eq!(mail_state(&rig, &key), "sent");
    desk.act("retry-mail", &[("key", &key)]).expect(404);
    desk.act("delete-mail", &[("key", &key)]).expect(400);
    desk.act("delete-mail", &[("key", &key), ("confirm", "yes")])
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
        payments["payments"][0]["amount_units"], "30000",
        "{payments}"
    );
    rig.operator("/operator/export/nothing")
        .refused(404, "not_found");
    rig.operator("/operator/export/leads?format=xls")
        .refused(400, "invalid_request");

    let path = "/operator/console/export?what=leads&format=csv";
    assert_eq!(Desk::open(&rig).get(path).expect(200).text(), csv);
    rig.get(path).expect(303);
}

#[test]
fn what_is_known_of_a_person_is_shown_and_forgotten() {
    let rig = rig();
    let mine = lead(&rig, "Ada@Example.org", "");
    let other = lead(&rig, "bob@example.org", "");
    enqueue(&rig, "ord_1", "ada@example.org");
    let kept = enqueue(&rig, "ord_2", "bob@example.org");
    let desk = Desk::open(&rig);
    let found = desk
        .act("look-up", &[("email", "ada@example.org")])
        .expect(303);
    let page = desk.get(found.must("location")).expect(200).text();
    assert!(page.contains(&mine) && page.contains("ord_1"), "{page}");
    assert!(!page.contains(&other) && !page.contains("ord_2"), "{page}");

    desk.act("forget", &[("email", "ada@example.org")])
        .expect(400);
    desk.act(
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
}
