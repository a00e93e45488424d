//! `/proof-pack/reports/{report_id}` and its kin: a report for people, with the excerpts it stands on. What the report
//! says arrives in the view.

use maud::{Markup, html};

use crate::domain::time::UnixSeconds;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::Site;

#[derive(Clone, Debug)]
pub struct ReportView<'a> {
    pub site: Site<'a>,
    /// The canonical path, beginning with a slash, encoded.
    pub path: &'a str,
    pub noindex: bool,
    pub question: &'a str,
    pub target_url: &'a str,
    /// The decision's label and its sentence.
    pub label: &'a str,
    pub decision: &'a str,
    pub answer: &'a str,
    pub summary: &'a str,
    /// 0 to 1.
    pub confidence: f64,
    pub agent_action: &'a str,
    pub citations: Vec<Citation<'a>>,
    pub gaps: Vec<&'a str>,
    pub risks: Vec<&'a str>,
    pub result_hash: &'a str,
    pub source_hash: &'a str,
    pub created_at: UnixSeconds,
    /// `None` for the sample, which never expires.
    pub expires_at: Option<UnixSeconds>,
    /// The address of the same as JSON; `None` where it is not this reader's to know.
    pub api: Option<&'a str>,
    pub follow_up: Option<FollowUp<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub struct Citation<'a> {
    pub id: &'a str,
    pub excerpt: &'a str,
}

/// A further question, asked on this page.
#[derive(Clone, Debug)]
pub struct FollowUp<'a> {
    pub question: &'a str,
    pub answer: &'a str,
    pub citations: Vec<Citation<'a>>,
}

pub fn page(view: &ReportView<'_>) -> String {
    layout(
        Layout {
            site: view.site,
            title: "Source report",
            description: "Whether a public source supports a claim, with the excerpts that say so.",
            path: view.path,
            noindex: view.noindex,
            markdown: None,
        },
        html! {
            p.kicker { "Decision: " strong { (view.label.replace('_', " ")) } }
            h1 { (view.question) }
            p.lead { (view.answer) }
            p { (view.summary) }
            (facts(view))
            h2 #citations { "What the source says" }
            (excerpts(&view.citations))
            (listed("Gaps", "gaps", &view.gaps))
            (listed("Risks", "risks", &view.risks))
            (hashes(view))
            @if let Some(api) = view.api { (follow_up(view, api)) }
        },
    )
}

fn facts(view: &ReportView<'_>) -> Markup {
    html! {
        dl.facts {
            dt { "Source" } dd { (parts::foreign_link(view.target_url)) }
            dt { "Decision" } dd { (view.decision) }
            dt { "Confidence" } dd { (format!("{:.2}", view.confidence)) }
            dt { "For agents" } dd { code { (view.agent_action) } }
            dt { "Made" } dd { (parts::time(view.created_at)) }
            @if let Some(end) = view.expires_at { dt { "Kept until" } dd { (parts::time(end)) } }
        }
    }
}

fn excerpts(citations: &[Citation<'_>]) -> Markup {
    html! {
        @if citations.is_empty() { p.muted { "Nothing in the source bears on the question." } }
        @for citation in citations {
            figure.code.fold {
                figcaption { (citation.id) }
                pre tabindex="0" { code { (citation.excerpt) } }
            }
        }
    }
}

fn listed(heading: &str, anchor: &str, items: &[&str]) -> Markup {
    html! {
        @if !items.is_empty() {
            h2 id=(anchor) { (heading) }
            ul { @for item in items { li { (item) } } }
        }
    }
}

fn hashes(view: &ReportView<'_>) -> Markup {
    html! {
        h2 #verify { "Check it" }
        p {
            "Each excerpt is a verbatim slice of the source as it was read. The source hash is SHA-256 of that text; the "
            "result hash is SHA-256 of the report in the form of RFC 8785."
        }
        dl.facts {
            dt { "Result hash" } dd { code { (view.result_hash) } }
            dt { "Source hash" } dd { code { (view.source_hash) } }
        }
        @if let Some(api) = view.api {
            p {
                a href={ (api) "/verify" } { "Recompute both now" } " · " a href=(api) { "The report as JSON" }
            }
        }
    }
}

/// The form asks this very page, so that it works without script, and leads back to its answer, which costs nothing.
fn follow_up(view: &ReportView<'_>, api: &str) -> Markup {
    let typed = view.follow_up.as_ref().map_or("", |asked| asked.question);
    html! {
        h2 #follow-up { "Ask the same source something else" }
        form.ask action={ (view.path) "#follow-up" } method="get" {
            label for="question" { "Your question; it is answered from the kept source and costs nothing" }
            .row {
                input #question name="question" type="text" maxlength="1000" required autocomplete="off" value=(typed);
                button type="submit" { "Ask" }
            }
        }
        @if let Some(asked) = &view.follow_up {
            p { (asked.answer) }
            (excerpts(&asked.citations))
        }
        p.small.muted { "Agents POST to " code { (api) "/follow-up" } "." }
    }
}
