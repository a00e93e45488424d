//! Converts a report's JSON to the view of its page.

use serde_json::Value;

use crate::api::site;
use crate::app::App;
use crate::domain::time::UnixSeconds;
use crate::flows::content::reports::UNHASHED;
use crate::http::Reply;
use crate::pages::buyer::library::Listed;
use crate::pages::buyer::report::{
    self, Api, Brief, Citation, Claim, FollowUp, ReportView, Risk, Source,
};
use crate::pages::layout::REPORT_CSP;

/// Options of a report's page.
#[derive(Clone, Debug, Default)]
pub struct Asked<'a> {
    pub path: String,
    /// The path of its JSON, unless private.
    pub api: Option<String>,
    /// The answer to a follow-up question, as JSON.
    pub answer: Option<&'a Value>,
    /// The result of a check, if requested.
    pub checks: Option<Vec<(&'static str, bool)>>,
}

pub fn is_sample(report: &Value) -> bool {
    report["payment"]["mode"] == "sample"
}

pub fn page(app: &App, report: &Value, asked: &Asked<'_>) -> Reply {
    let texts = site::Texts::of(app);
    let unhashed = UNHASHED.join(" ");
    let pdf = asked.api.as_ref().map(|path| format!("{path}/pdf"));
    let api = asked.api.as_deref().map(|path| Api {
        path,
        unhashed: &unhashed,
        pdf: pdf.as_deref(),
    });
    let view = ReportView {
        follow_up: asked.answer.map(|answer| FollowUp {
            question: text(answer, "question"),
            answer: text(answer, "answer"),
            citations: list(answer, "citations", citation),
        }),
        checks: asked.checks.clone(),
        ..view(site::site(app, &texts), report, &asked.path, api)
    };
    let reply = site::with_page_headers(Reply::html(200, report::page(&view)));
    reply
        .fixed("content-security-policy", REPORT_CSP)
        .fixed("referrer-policy", "no-referrer")
}

fn view<'a>(
    site: crate::pages::site::Site<'a>,
    report: &'a Value,
    path: &'a str,
    api: Option<Api<'a>>,
) -> ReportView<'a> {
    let decision = &report["decision"];
    let is_sample = is_sample(report);
    let seconds = |name: &str| report[name].as_u64().map(UnixSeconds);
    ReportView {
        site,
        path,
        noindex: !is_sample,
        question: text(report, "question"),
        pack: text(report, "pack"),
        source: source(report),
        label: text(decision, "label"),
        decision: text(decision, "summary"),
        advice: text(decision, "recommended_agent_use"),
        answer: text(report, "answer"),
        summary: text(report, "executive_summary"),
        confidence: number(report, "confidence_score"),
        agent_action: text(report, "agent_action"),
        claims: list(report, "key_claims", claim),
        citations: list(report, "citations", citation),
        gaps: strings(report, "gaps"),
        risks: list(report, "risk_details", risk),
        result_hash: text(report, "result_hash"),
        created_at: seconds("created_at").unwrap_or(UnixSeconds(0)),
        expires_at: seconds("expires_at").filter(|_| !is_sample),
        api,
        follow_up: None,
        checks: None,
    }
}

/// A short form of the report.
pub fn brief(report: &Value) -> Brief<'_> {
    Brief {
        question: text(report, "question"),
        label: text(&report["decision"], "label"),
        answer: text(report, "answer"),
        confidence: number(report, "confidence_score"),
        agent_action: text(report, "agent_action"),
        citations: list(report, "citations", citation),
    }
}

/// The report's entry in the library.
pub fn listed<'a>(report: &'a Value, path: &str) -> Listed<'a> {
    Listed {
        path: path.to_owned(),
        question: text(report, "question"),
        target_url: text(report, "target_url"),
        label: text(&report["decision"], "label"),
        created_at: UnixSeconds(report["created_at"].as_u64().unwrap_or_default()),
    }
}

fn source(report: &Value) -> Source<'_> {
    let profile = &report["source_profile"];
    let said = |name: &str| profile[name].as_str().filter(|text| !text.is_empty());
    Source {
        target_url: text(report, "target_url"),
        title: said("title"),
        publisher: said("site_name"),
        author: said("author"),
        dated: said("modified_at").or_else(|| said("published_at")),
        quality: number(report, "source_quality_score"),
        hash: text(report, "source_hash"),
    }
}

fn claim(claim: &Value) -> Claim<'_> {
    Claim {
        text: text(claim, "claim"),
        citation_ids: strings(claim, "citation_ids"),
        confidence: number(claim, "confidence"),
        origin: text(claim, "origin"),
    }
}

fn citation(citation: &Value) -> Citation<'_> {
    Citation {
        id: text(citation, "id"),
        excerpt: text(citation, "excerpt"),
        stance: text(citation, "stance"),
        kind: text(citation, "kind"),
        headings: strings(citation, "heading_path"),
        head: citation["context"]["excerpt"].as_str(),
        terms: strings(citation, "matched_terms"),
    }
}

fn risk(risk: &Value) -> Risk<'_> {
    Risk {
        code: text(risk, "code"),
        severity: text(risk, "severity"),
        text: text(risk, "text"),
    }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn number(value: &Value, name: &str) -> f64 {
    value[name].as_f64().unwrap_or_default()
}

fn strings<'a>(value: &'a Value, name: &str) -> Vec<&'a str> {
    let all = value[name].as_array().into_iter().flatten();
    all.filter_map(Value::as_str).collect()
}

fn list<'a, T>(value: &'a Value, name: &str, read: fn(&'a Value) -> T) -> Vec<T> {
    let all = value[name].as_array().into_iter().flatten();
    all.map(read).collect()
}
