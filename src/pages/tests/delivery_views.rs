//! Views of what a buyer of a bundle gets.

use serde_json::Value;

use super::views::{Texts, poison};
use crate::domain::time::UnixSeconds;
use crate::evidence::bundle::tests::{made, read};
use crate::evidence::bundle::{
    BundleReport, BundleRequest, BundleSource, Unreachable, bundle_report,
};
use crate::pages::orders::delivery::{self, DeliveryView, Ordered, RecoverView, Stage};

/// What is one buyer's, and for no search engine.
pub(super) const HIDDEN: [&str; 4] = [
    "delivery",
    "delivery-under-way",
    "recover",
    "recover-without-mail",
];

pub(super) fn pages(texts: Texts) -> Vec<(&'static str, String)> {
    let report = report(texts);
    let recover = RecoverView {
        site: texts.site(),
        message: Some(texts.pick("If an order matches, we e-mailed a link.")),
        is_mailed: true,
    };
    let without_mail = RecoverView {
        message: None,
        is_mailed: false,
        ..recover.clone()
    };
    vec![
        (
            "delivery",
            delivered(texts, Stage::Delivered, Some(&report)),
        ),
        (
            "delivery-under-way",
            delivered(texts, Stage::UnderWay, None),
        ),
        ("recover", delivery::recover_page(&recover)),
        (
            "recover-without-mail",
            delivery::recover_page(&without_mail),
        ),
    ]
}

fn delivered(texts: Texts, stage: Stage, report: Option<&BundleReport>) -> String {
    delivery::page(&DeliveryView {
        site: texts.site(),
        stage,
        message: texts.pick("We are reading and comparing your sources."),
        order_id: Some(texts.pick("ord_1")),
        ordered: Some(Ordered {
            question: texts.pick("Is it free?"),
            paid: Some(texts.pick("7.00 USD").to_owned()),
            sources: vec![
                (texts.pick("https://one.example.com/"), None),
                (
                    "https://two.example.org/",
                    Some(texts.pick("The target did not answer.")),
                ),
            ],
        }),
        pay_again: Some("/proof-pack/bundle".to_owned()),
        next: texts.pick("The operator retries, or refunds you."),
        progress: Some((1, 2)),
        email: Some(texts.pick("a***@example.com")),
        report,
        report_path: report.map(|_| "/proof-pack/reports/ppr_1"),
        checks: Some(&[("result_hash", true)]),
        json_url: Some("/v1/proof-pack/bundle/delivery?session_id=cs_test_1&format=json"),
        pdf_url: None,
        is_mailed: true,
        way_back: Some((
            "/proof-pack/bundle/delivery?recovery=abc".to_owned(),
            UnixSeconds(1_795_000_000),
        )),
    })
}

/// A bundle of two sources that differ, their mirror, and one that could not be read.
fn report(texts: Texts) -> BundleReport {
    let question = "When did the Harbour Bridge open to traffic?";
    let html = |year: &str| {
        format!(
            "<html lang=en><head><title>Bridge</title></head><body><main><h1>Bridge</h1>\
             <p>The Harbour Bridge opened to traffic in {year}.</p></main></body></html>"
        )
    };
    let made = [
        made("https://one.example.com/", &html("1932"), question),
        made("https://two.example.org/", &html("1932"), question),
        made("https://three.example.net/", &html("1934"), question),
    ];
    let mut sources: Vec<BundleSource<'_>> = made.iter().map(read).collect();
    sources.push(BundleSource {
        target_url: "https://four.example.com/",
        outcome: Err(Unreachable {
            code: "upstream_unavailable".to_owned(),
            message: "The target did not answer.".to_owned(),
        }),
        fetched_at: UnixSeconds(1_795_000_000),
    });
    let request = BundleRequest {
        order_id: "ord_1",
        bundle: "builder",
        question,
        created_at: UnixSeconds(1_795_000_000),
    };
    let report = bundle_report(&request, &sources);
    assert!(!report.synthesis.conflicts.is_empty(), "{report:#?}");
    let mut members = Value::Object(report.members());
    if texts.is_hostile() {
        poison(&mut members);
    }
    serde_json::from_value(members).expect("a report")
}
