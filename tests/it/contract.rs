//! The endpoints: method, path, status without further input, content type.

use context402::evidence::report::action::AgentAction;
use context402::http::Method;
use context402::http::call::Peer;
use context402::http::router::{Found, Router};
use context402::routes::ROUTES;
use serde_json::json;

use crate::harness::provider;
use crate::harness::{ARTICLE, BASE_URL, Rig, Wallet};

#[rustfmt::skip]
const ENDPOINTS: &[(&str, &str, u16, &str)] = &[
    // 4.1 Paid x402 operations
    ("POST", "/v1/x402/access",                                402, "application/json"),
    ("GET",  "/v1/x402/access",                                200, "application/json"),
    ("HEAD", "/v1/x402/access",                                200, "application/json"),
    ("POST", "/from/a-list/v1/x402/access",                    402, "application/json"),
    ("GET",  "/from/a-list/v1/x402/access",                    200, "application/json"),
    ("GET",  "/from/a-list",                                   200, "text/html"),
    ("POST", "/v1/x402/proof-pack",                            402, "application/json"),
    ("GET",  "/v1/x402/proof-pack",                            200, "application/json"),
    ("HEAD", "/v1/x402/proof-pack",                            200, "application/json"),
    ("POST", "/from/a-list/v1/x402/proof-pack",                402, "application/json"),
    ("GET",  "/from/a-list/v1/x402/proof-pack",                200, "application/json"),
    ("POST", "/v1/x402/retry",                                 402, "application/json"),
    ("POST", "/v1/access",                                     402, "application/json"),
    // Switched off by default.
    ("POST", "/v1/broker/compute",                             503, "application/json"),
    // 4.2 Quotes and previews
    ("GET",  "/v1/x402/quote",                                 200, "application/json"),
    ("GET",  "/quote",                                         200, "text/html"),
    ("GET",  "/v1/quotes/qt_00000000000000000000000000000000", 404, "application/json"),
    ("GET",  "/checkout/qt_00000000000000000000000000000000",  404, "text/html"),
    ("GET",  "/v1/proof-pack/quote",                           200, "application/json"),
    ("GET",  "/proof-pack/quote",                              200, "text/html"),
    ("GET",  "/v1/proof-pack/preview",                         200, "application/json"),
    ("GET",  "/proof-pack/preview",                            200, "text/html"),
    ("GET",  "/v1/proof-pack/sample",                          200, "application/json"),
    ("GET",  "/v1/checkout/confidence",                        200, "application/json"),
    ("GET",  "/checkout/confidence",                           200, "text/html"),
    ("POST", "/v1/quotes",                                     422, "application/json"),
    // 4.3 Retained reports
    ("GET",  "/v1/proof-pack/reports/ppr_sample",              200, "application/json"),
    ("GET",  "/v1/proof-pack/reports/ppr_sample/verify",       200, "application/json"),
    ("GET",  "/v1/proof-pack/reports/ppr_sample/pdf",          200, "application/pdf"),
    ("POST", "/v1/proof-pack/reports/ppr_sample/follow-up",    422, "application/json"),
    ("POST", "/v1/proof-pack/reports/ppr_sample/refresh",      200, "application/json"),
    ("GET",  "/proof-pack/reports/ppr_sample",                 200, "text/html"),
    ("GET",  "/v1/proof-pack/benchmarks",                      200, "application/json"),
    ("GET",  "/proof-pack/library",                            200, "text/html"),
    // 4.4 Bundles and leads
    ("POST", "/v1/proof-pack/leads",                           422, "application/json"),
    ("POST", "/v1/proof-pack/bundle/leads",                    422, "application/json"),
    ("GET",  "/v1/proof-pack/bundle/quote",                    422, "application/json"),
    ("GET",  "/v1/quotes/bq_00000000000000000000000000000000", 404, "application/json"),
    ("GET",  "/checkout/bq_00000000000000000000000000000000",  404, "text/html"),
    ("POST", "/v1/contact",                                    422, "application/json"),
    ("GET",  "/contact",                                       200, "text/html"),
    ("GET",  "/proof-pack/bundle",                             200, "text/html"),
    ("GET",  "/proof-pack/bundle/quote",                       200, "text/html"),
    ("GET",  "/proof-pack/request",                            200, "text/html"),
    ("GET",  "/v1/proof-pack/bundle/delivery",                 404, "application/json"),
    ("GET",  "/proof-pack/bundle/delivery",                    404, "text/html"),
    ("GET",  "/v1/proof-pack/bundle/recover",                  422, "application/json"),
    ("POST", "/v1/proof-pack/bundle/recover",                  422, "application/json"),
    ("GET",  "/proof-pack/bundle/recover",                     200, "text/html"),
    ("POST", "/proof-pack/bundle/recover",                     200, "text/html"),
    ("GET",  "/proof-pack/share/share_00",                     404, "text/html"),
    // 4.5 Discovery and operations
    ("GET",  "/llms.txt",                                      200, "text/plain"),
    ("GET",  "/robots.txt",                                    200, "text/plain"),
    ("GET",  "/docs",                                          200, "text/html"),
    ("GET",  "/quickstart",                                    200, "text/html"),
    ("GET",  "/paid-test",                                     200, "text/html"),
    ("GET",  "/proof-pack",                                    200, "text/html"),
    ("GET",  "/proof-pack/sample",                             200, "text/html"),
    ("GET",  "/operator",                                      200, "text/html"),
    ("GET",  "/demo",                                          200, "text/html"),
    ("GET",  "/",                                              200, "application/json"),
    ("GET",  "/health",                                        200, "application/json"),
    ("GET",  "/metrics",                                       200, "application/json"),
    ("GET",  "/openapi.json",                                  200, "application/json"),
    ("GET",  "/discovery/resources",                           200, "application/json"),
    ("GET",  "/.well-known/x402",                              200, "application/json"),
    ("GET",  "/.well-known/x402.json",                         200, "application/json"),
    ("GET",  "/about",                                         200, "text/html"),
    ("GET",  "/swagger",                                       200, "text/html"),
    ("GET",  "/faq",                                           200, "text/html"),
    ("GET",  "/notices",                                       200, "text/html"),
    ("GET",  "/sitemap.xml",                                   200, "application/xml"),
    ("GET",  "/manifest.json",                                 200, "application/json"),
    ("GET",  "/.well-known/agent.json",                        200, "application/json"),
    ("GET",  "/.well-known/agent-card.json",                   200, "application/json"),
    ("GET",  "/v1/agent/trust",                                200, "application/json"),
    ("POST", "/v1/agent/diagnose",                             422, "application/json"),
];

#[test]
fn every_endpoint_answers_as_the_specification_says() {
    let rig = Rig::start();
    for (method, path, status, content_type) in ENDPOINTS {
        let answer = rig.ask(method, path).send();
        assert_eq!(answer.status, *status, "{method} {path}: {answer:?}");
        let found = answer.must("content-type").split(';').next();
        assert_eq!(found, Some(*content_type), "{method} {path}");
    }
    // What leads on: to the request form, where no payment link is configured and no source named.
    for path in ["/proof-pack/bundle/pay", "/proof-pack/bundle/checkout"] {
        let answer = rig.get(path).expect(303);
        let form = format!("{BASE_URL}/proof-pack/request");
        assert_eq!(answer.must("location"), form, "{path}");
    }
}

/// Spec 2.7: the required members of the context response; 4.1: what a sale answers with.
#[test]
fn the_paid_operation_gives_a_context_response() {
    let rig = Rig::start();
    for path in ["/v1/x402/access", "/from/a-list/v1/x402/access"] {
        let payment = Wallet::new().sign(&rig, "fresh");
        let ask = rig
            .post(path)
            .json(&json!({"target_url": ARTICLE}))
            .paid(&payment.header);
        let body = ask.send().expect(200).json();
        for member in [
            "status",
            "target_url",
            "tier",
            "markdown",
            "cache",
            "payment",
            "ueg_receipt",
        ] {
            assert!(body.get(member).is_some(), "{path}: {member}");
        }
    }
}

/// Every row of the table answers something, and nothing answers that is not a row.
#[test]
fn the_table_is_what_answers() {
    let rig = Rig::on_chain(|resolved| {
        provider::configure(resolved);
        resolved.set("legacy.access", "true");
    });
    for row in ROUTES {
        let path = row
            .path
            .replace("{source}", "a")
            .replace("{quote_id}", "qt_00")
            .replace("{report_id}", "ppr_00")
            .replace("{order_id}", "ord_00")
            .replace("{slug}", "share_00")
            .replace("{lead_id}", "lead_00")
            .replace("{key}", "00");
        let answer = rig.ask(row.method.name(), &path).send();
        assert_ne!(answer.status, 405, "{} {}", row.method.name(), row.path);
        assert!(
            answer.status < 500,
            "{} {}: {answer:?}",
            row.method.name(),
            row.path
        );
    }
}

/// Where a report sends an agent next there is something for everyone to call.
#[test]
fn recommended_calls_are_rows_of_the_table() {
    let router = Router::new(ROUTES);
    let anyone = Peer::Network(([203, 0, 113, 7], 4021).into());
    for action in AgentAction::ALL {
        let call = action.next_call("ppr_0123");
        let method = match &*call.method {
            "GET" => Method::Get,
            "POST" => Method::Post,
            other => panic!("{other} is not a method that reports recommend"),
        };
        let found = router.find(method, &call.endpoint, anyone);
        assert!(matches!(found, Found::Row(..)), "{call:?}");
    }
}
