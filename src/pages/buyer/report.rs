//! `/proof-pack/reports/{report_id}` and its kin: a report for people, each claim beside the evidence that it stands on.
//! What the report says arrives in the view.

mod evidence;

use maud::{Markup, PreEscaped, html};

use crate::domain::time::UnixSeconds;
use crate::evidence::report::Report;
use crate::evidence::report::follow_up::FollowUp;
use crate::pages::assets::VERIFY_SCRIPT;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::{NAME, Site};

#[derive(Clone, Debug)]
pub struct ReportView<'a> {
    pub site: Site<'a>,
    /// The canonical path, beginning with a slash, encoded.
    pub path: &'a str,
    pub report: &'a Report,
    /// The built-in sample: public, and it never expires.
    pub is_sample: bool,
    /// Where programs read it; `None` where the address is not this reader's to know.
    pub api: Option<Api<'a>>,
    pub follow_up: Option<&'a FollowUp>,
    /// What a check of the report has found, when the reader has asked for one.
    pub checks: Option<Vec<(&'a str, bool)>>,
}

#[derive(Clone, Copy, Debug)]
pub struct Api<'a> {
    /// The path of the report as JSON.
    pub path: &'a str,
    /// Names of the members that its hash leaves out, with blanks between them.
    pub unhashed: &'a str,
    /// The path of the report as PDF, where one is made.
    pub pdf: Option<&'a str>,
}

pub fn page(view: &ReportView<'_>) -> String {
    layout(
        Layout {
            site: view.site,
            title: "Source report",
            description: "Whether a public source supports a claim, with the excerpts that say so.",
            path: view.path,
            noindex: !view.is_sample,
        },
        html! {
            p.kicker { "Source report · " (view.report.pack) " pack" }
            h1 { (view.report.question) }
            (verdict(view.report))
            h2 #evidence { "Claims and their evidence" }
            p.muted { "Every excerpt is a verbatim slice of the source. Words of the question are marked." }
            (evidence::claims(view.report))
            (evidence::gaps(&view.report.gaps))
            (evidence::risks(&view.report.risk_details))
            (about(view))
            (hashes(view))
            @if let Some(api) = &view.api { (follow_up(view, api)) }
            (citing(view))
        },
    )
}

fn verdict(report: &Report) -> Markup {
    let decision = &report.decision;
    html! {
        div class={ "verdict " (parts::tone(decision.label.name())) } {
            .head {
                (parts::label(decision.label.name())) " "
                span { (parts::share("Confidence in this label", report.confidence_score)) " confidence" }
            }
            p.answer { (evidence::with_references(&report.answer, &report.citations)) }
            dl.facts {
                dt { "Decision" } dd { (decision.summary) }
                dt { "What to do" } dd { (decision.recommended_agent_use) }
                dt { "For agents" } dd { code { (report.agent_action) } }
                dt { "Source" } dd { (parts::foreign_link(&report.target_url)) }
            }
        }
    }
}

/// The heart of a report, for pages that show one as an example.
pub(crate) fn brief(report: &Report) -> Markup {
    let label = report.decision.label.name();
    html! {
        div class={ "verdict " (parts::tone(label)) } {
            .head {
                (parts::label(label)) " "
                span { (parts::share("Confidence in this label", report.confidence_score)) " confidence" } " "
                code { (report.agent_action) }
            }
            p.answer { strong { (report.question) } }
            p { (evidence::with_references(&report.answer, &report.citations)) }
            @for citation in &report.citations { (evidence::figure(citation, Some(&citation.id))) }
        }
    }
}

fn about(view: &ReportView<'_>) -> Markup {
    let (report, source) = (view.report, &view.report.source_profile);
    let said = [
        ("Title", source.title.as_deref()),
        ("Publisher", source.site_name.as_deref()),
        ("Author", source.author.as_deref()),
        ("Dated", report.dated()),
    ];
    let retention = report.retention.as_ref().filter(|_| !view.is_sample);
    let ends = retention.map(|retention| UnixSeconds(retention.expires_at));
    html! {
        h2 #source { "The source" }
        dl.facts {
            @for (label, text) in said {
                @if let Some(text) = text { dt { (label) } dd { (text) } }
            }
            dt { "Quality" } dd { (parts::share("Quality of the source", report.source_quality_score)) }
            dt { "Examined" } dd { (parts::time(UnixSeconds(report.created_at))) }
            @if let Some(end) = ends { dt { "Kept until" } dd { (parts::time(end)) } }
        }
        details { summary { "The whole summary" } p { (report.executive_summary) } }
    }
}

fn hashes(view: &ReportView<'_>) -> Markup {
    html! {
        h2 #verify { "Check it" }
        p {
            "The source hash is SHA-256 of the text that the excerpts are slices of; the result hash is SHA-256 of the "
            "report in the form of RFC 8785. Neither needs our word."
        }
        dl.facts {
            dt { "Result hash" } dd { span.hash #result-hash { (view.report.result_hash) } }
            dt { "Source hash" } dd { span.hash { (view.report.source_hash) } }
        }
        @if let Some(api) = &view.api { (checking(view, api)) }
    }
}

/// The link works without script; the button computes in the reader's own browser.
fn checking(view: &ReportView<'_>, api: &Api<'_>) -> Markup {
    html! {
        .actions {
            button #recompute type="button" hidden { "Check in this browser" }
            a.button.quiet href={ (view.path) "?check=1#verify" } { "Let the service check" }
            a.button.quiet href=(api.path) { "JSON" }
            a.button.quiet href={ (view.path) "?format=markdown" } { "Markdown" }
            @if let Some(pdf) = api.pdf { a.button.quiet href=(pdf) { "PDF" } }
        }
        output #recomputed {}
        @if let Some(checks) = &view.checks {
            ul.checks {
                @for (id, passes) in checks {
                    li class=(if *passes { "pass" } else { "fail" }) {
                        code { (id) } @if *passes { " holds" } @else { " does not hold" }
                    }
                }
            }
        }
        script data-report=(api.path) data-unhashed=(api.unhashed) { (PreEscaped(VERIFY_SCRIPT)) }
    }
}

/// The form asks this very page, so that it works without script, and leads back to its answer, which costs nothing.
fn follow_up(view: &ReportView<'_>, api: &Api<'_>) -> Markup {
    let typed = view.follow_up.map_or("", |asked| &asked.question);
    html! {
        h2 #follow-up { "Ask the same source something else" }
        form.ask action={ (view.path) "#follow-up" } method="get" {
            label for="question" { "Your question; it is answered from the kept source and costs nothing" }
            .row {
                input #question name="question" type="text" maxlength="1000" required autocomplete="off" value=(typed);
                button type="submit" { "Ask" }
            }
        }
        @if let Some(asked) = view.follow_up {
            .panel {
                p { (asked.answer) }
                @for citation in &asked.citations { (evidence::figure(citation, None)) }
            }
        }
        p.small.muted { "Agents POST to " code { (api.path) "/follow-up" } "." }
    }
}

fn citing(view: &ReportView<'_>) -> Markup {
    let report = view.report;
    let title = report.source_profile.title.as_deref();
    let title = title.unwrap_or(&report.target_url);
    let excerpt = report.citations.first().map_or("", |first| &first.excerpt);
    let text = format!(
        "{}“{title}”, {}. Decision of {NAME} on “{}”: {}. {}. Source SHA-256 {}, result SHA-256 {}.",
        if excerpt.is_empty() {
            String::new()
        } else {
            format!("“{excerpt}” ")
        },
        report.target_url,
        report.question,
        report.decision.label.name().replace('_', " "),
        view.site.url(view.path),
        report.source_hash,
        report.result_hash,
    );
    html! {
        h2 #cite { "Cite it" }
        (parts::folded_code("Citation", &text))
    }
}
