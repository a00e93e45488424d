//! Views of what a buyer of a bundle gets.

use serde_json::{Map, Value, json};

use super::views::Texts;
use crate::domain::time::UnixSeconds;
use crate::pages::orders::delivery::{self, DeliveryView, RecoverView, Stage};

/// What is one buyer's, and for no search engine.
pub(super) const HIDDEN: [&str; 4] = [
    "delivery",
    "delivery-under-way",
    "recover",
    "recover-without-mail",
];

pub(super) fn pages(texts: Texts) -> Vec<(&'static str, String)> {
    let Value::Object(report) = report(texts) else {
        unreachable!("it is an object")
    };
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
        ("delivery", delivered(texts, Stage::Delivered, &report)),
        (
            "delivery-under-way",
            delivered(texts, Stage::UnderWay, &Map::new()),
        ),
        ("recover", delivery::recover_page(&recover)),
        (
            "recover-without-mail",
            delivery::recover_page(&without_mail),
        ),
    ]
}

fn delivered(texts: Texts, stage: Stage, report: &Map<String, Value>) -> String {
    delivery::page(&DeliveryView {
        site: texts.site(),
        stage,
        message: texts.pick("We are reading and comparing your sources."),
        order_id: Some(texts.pick("ord_1")),
        progress: Some((1, 2)),
        email: Some(texts.pick("a***@example.com")),
        report,
        json_url: Some("/v1/proof-pack/bundle/delivery?session_id=cs_test_1&format=json"),
        pdf_url: None,
        way_back: Some((
            "/proof-pack/bundle/delivery?recovery=abc".to_owned(),
            UnixSeconds(1_795_000_000),
        )),
    })
}

fn report(texts: Texts) -> Value {
    let url = texts.pick("https://example.com/");
    let said = texts.pick("The guarantee lasts two years.");
    let short = texts.pick("supported");
    json!({
        "order_id": "ord_1", "bundle": texts.pick("builder"), "question": said, "answer": format!("{said} [S1.E1] [S9]"),
        "decision": {"label": short, "recommended_agent_use": said}, "agent_action": short, "confidence_score": 0.7,
        "result_hash": short,
        "synthesis": {
            "coverage": {"read_count": 1, "source_count": 2, "independent_count": 1},
            "conflicts": [{"claim": said, "kind": "date", "certainty": "possible", "sides": [
                {"value": said, "excerpt": said, "source_ids": ["S1"], "dated": said},
            ]}],
            "gaps": [said],
        },
        "risk_notes": [{"severity": "high", "text": said, "source_ids": ["S1"]}],
        "groups": [{"id": "G1", "source_ids": ["S1", "S3"]}],
        "matrix": {"claims": [{"text": said, "supporting_groups": 1, "opposing_groups": 1, "cells": [
            {"source_id": "S1", "verdict": "supports", "citation_ids": ["S1.E1"]},
            {"source_id": "S2", "verdict": "unreachable", "citation_ids": []},
        ]}]},
        "citations": [{"id": "S1.E1", "source_id": "S1", "excerpt": said}],
        "sources": [
            {"id": "S1", "status": "read", "target_url": url, "title": said, "dated": said, "label": short, "group_id": "G1"},
            {"id": "S2", "status": "unreachable", "target_url": url},
        ],
        "unreachable": [{"source_id": "S2", "message": said}],
        "reports": [{"decision": {"label": short, "summary": said}, "answer": said, "source_quality_score": 0.5,
            "citations": [{"id": "E1", "excerpt": said, "stance": short}], "gaps": [said]}],
        "source_hashes": [{"source_id": "S1", "sha256": short, "fetched_at": 1_795_000_000}],
    })
}
