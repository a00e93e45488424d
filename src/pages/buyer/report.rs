//! `/proof-pack/reports/{report_id}` and similar pages: a report as HTML, each claim beside its evidence. The report
//! arrives in the view.

mod evidence;

use maud::{Markup, PreEscaped, html};

use crate::domain::time::UnixSeconds;
use crate::pages::assets::VERIFY_SCRIPT;
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::{NAME, Site};

#[derive(Clone, Debug)]
pub struct ReportView<'a> {
    pub site: Site<'a>,
    /// The canonical path, beginning with a slash, encoded.
    pub path: &'a str,
    pub noindex: bool,
    pub question: &'a str,
    pub pack: &'a str,
    pub source: Source<'a>,
    /// The decision's label and its sentence.
    pub label: &'a str,
    pub decision: &'a str,
    /// How to use the decision, as a sentence.
    pub advice: &'a str,
    pub answer: &'a str,
    pub summary: &'a str,
    /// 0 to 1.
    pub confidence: f64,
    pub agent_action: &'a str,
    pub claims: Vec<Claim<'a>>,
    pub citations: Vec<Citation<'a>>,
    pub gaps: Vec<&'a str>,
    pub risks: Vec<Risk<'a>>,
    pub result_hash: &'a str,
    pub created_at: UnixSeconds,
    /// `None` for the sample, which never expires.
    pub expires_at: Option<UnixSeconds>,
    /// Links for programs; `None` if this reader may not know the report's address.
    pub api: Option<Api<'a>>,
    pub follow_up: Option<FollowUp<'a>>,
    /// The result of a check, if the reader requested one.
    pub checks: Option<Vec<(&'a str, bool)>>,
}

/// The page that the report cites.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    pub target_url: &'a str,
    pub title: Option<&'a str>,
    pub publisher: Option<&'a str>,
    pub author: Option<&'a str>,
    /// As stated on the page.
    pub dated: Option<&'a str>,
    /// 0 to 1.
    pub quality: f64,
    /// SHA-256 of the text that the excerpts are slices of.
    pub hash: &'a str,
}

#[derive(Clone, Copy, Debug)]
pub struct Api<'a> {
    /// The path of the report as JSON.
    pub path: &'a str,
    /// Names of the members that are not hashed, separated by spaces.
    pub unhashed: &'a str,
    /// The path of the report as PDF, if there is one.
    pub pdf: Option<&'a str>,
}

#[derive(Clone, Debug)]
pub struct Claim<'a> {
    pub text: &'a str,
    pub citation_ids: Vec<&'a str>,
    pub confidence: f64,
    /// `deterministic`, or the language model's.
    pub origin: &'a str,
}

#[derive(Clone, Debug, Default)]
pub struct Citation<'a> {
    pub id: &'a str,
    pub excerpt: &'a str,
    /// How the excerpt relates to the question: `supports`, `contradicts`, `mentions`.
    pub stance: &'a str,
    /// The kind of block in the source: `paragraph`, `row`, …
    pub kind: &'a str,
    /// The headings above it, outermost first.
    pub headings: Vec<&'a str>,
    /// The header row of its table.
    pub head: Option<&'a str>,
    /// The words of the question that occur in it.
    pub terms: Vec<&'a str>,
}

#[derive(Clone, Copy, Debug)]
pub struct Risk<'a> {
    pub code: &'a str,
    pub severity: &'a str,
    pub text: &'a str,
}

/// A short form of a report, for pages that show an example.
#[derive(Clone, Debug)]
pub struct Brief<'a> {
    pub question: &'a str,
    pub label: &'a str,
    pub answer: &'a str,
    pub confidence: f64,
    pub agent_action: &'a str,
    pub citations: Vec<Citation<'a>>,
}

/// A follow-up question asked on this page.
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
            title: "Proof Pack",
            description: "Whether a public source supports a claim, with the excerpts that show it.",
            path: view.path,
            noindex: view.noindex,
        },
        html! {
            p.kicker { "Proof Pack · " (view.pack) }
            h1 { (view.question) }
            (verdict(view))
            h2 #evidence { "Claims and their evidence" }
            p.muted { "Every excerpt is quoted verbatim from the source. Words of the question are highlighted." }
            (evidence::claims(view))
            (evidence::gaps(&view.gaps))
            (evidence::risks(&view.risks))
            (about(view))
            (hashes(view))
            @if let Some(api) = &view.api { (follow_up(view, api)) }
            (citing(view))
        },
    )
}

fn verdict(view: &ReportView<'_>) -> Markup {
    html! {
        div class={ "verdict " (parts::tone(view.label)) } {
            .head {
                (parts::label(view.label)) " "
                span { (parts::share("Confidence in this label", view.confidence)) " confidence" }
            }
            p.answer { (evidence::with_references(view.answer, &view.citations)) }
            dl.facts {
                dt { "Decision" } dd { (view.decision) }
                @if !view.advice.is_empty() { dt { "What to do" } dd { (view.advice) } }
                dt { "For agents" } dd { code { (view.agent_action) } }
                dt { "Source" } dd { (parts::foreign_link(view.source.target_url)) }
            }
        }
    }
}

pub(crate) fn brief(found: &Brief<'_>) -> Markup {
    html! {
        div class={ "verdict " (parts::tone(found.label)) } {
            .head {
                (parts::label(found.label)) " "
                span { (parts::share("Confidence in this label", found.confidence)) " confidence" } " "
                code { (found.agent_action) }
            }
            p.answer { strong { (found.question) } }
            p { (evidence::with_references(found.answer, &found.citations)) }
            @for citation in &found.citations { (evidence::figure(citation, Some(citation.id))) }
        }
    }
}

fn about(view: &ReportView<'_>) -> Markup {
    let source = &view.source;
    let said = [
        ("Title", source.title),
        ("Publisher", source.publisher),
        ("Author", source.author),
        ("Dated", source.dated),
    ];
    html! {
        h2 #source { "The source" }
        dl.facts {
            @for (label, text) in said {
                @if let Some(text) = text { dt { (label) } dd { (text) } }
            }
            dt { "Quality" } dd { (parts::share("Quality of the source", source.quality)) }
            dt { "Examined" } dd { (parts::time(view.created_at)) }
            @if let Some(end) = view.expires_at { dt { "Stored until" } dd { (parts::time(end)) } }
        }
        details { summary { "Full summary" } p { (view.summary) } }
    }
}

fn hashes(view: &ReportView<'_>) -> Markup {
    html! {
        h2 #verify { "Verify this report" }
        p {
            "The source hash is SHA-256 of the text that the excerpts come from. The result hash is SHA-256 of the report as "
            "canonical JSON (RFC 8785). You can compute both yourself."
        }
        dl.facts {
            dt { "Result hash" } dd { span.hash #result-hash { (view.result_hash) } }
            dt { "Source hash" } dd { span.hash { (view.source.hash) } }
        }
        @if let Some(api) = &view.api { (checking(view, api)) }
    }
}

/// The link works without script; the button verifies in the browser.
fn checking(view: &ReportView<'_>, api: &Api<'_>) -> Markup {
    html! {
        .actions {
            button #recompute type="button" hidden { "Verify in this browser" }
            a.button.quiet href={ (view.path) "?check=1#verify" } { "Verify on the server" }
            a.button.quiet href=(api.path) { "JSON" }
            a.button.quiet href={ (view.path) "?format=markdown" } { "Markdown" }
            @if let Some(pdf) = api.pdf { a.button.quiet href=(pdf) { "PDF" } }
        }
        output #recomputed {}
        @if let Some(checks) = &view.checks {
            ul.checks {
                @for (id, passes) in checks {
                    li class=(if *passes { "pass" } else { "fail" }) {
                        code { (id) } @if *passes { " passes" } @else { " fails" }
                    }
                }
            }
        }
        script data-report=(api.path) data-unhashed=(api.unhashed) { (PreEscaped(VERIFY_SCRIPT)) }
    }
}

/// The form reloads this page with the answer, so it works without script. Follow-up questions are free.
fn follow_up(view: &ReportView<'_>, api: &Api<'_>) -> Markup {
    let typed = view.follow_up.as_ref().map_or("", |asked| asked.question);
    html! {
        h2 #follow-up { "Ask a follow-up question" }
        form.ask action={ (view.path) "#follow-up" } method="get" {
            label for="question" { "Your question, answered from the stored source for free" }
            .row {
                input #question name="question" type="text" maxlength="1000" required autocomplete="off" value=(typed);
                button type="submit" { "Ask" }
            }
        }
        @if let Some(asked) = &view.follow_up {
            .panel {
                p { (asked.answer) }
                @for citation in &asked.citations { (evidence::figure(citation, None)) }
            }
        }
        p.small.muted { "Programs: POST to " code { (api.path) "/follow-up" } "." }
    }
}

fn citing(view: &ReportView<'_>) -> Markup {
    let source = &view.source;
    let title = source.title.unwrap_or(source.target_url);
    let excerpt = view.citations.first().map_or("", |first| first.excerpt);
    let text = format!(
        "{}“{title}”, {}. Decision of {NAME} on “{}”: {}. {}. Source SHA-256 {}, result SHA-256 {}.",
        if excerpt.is_empty() {
            String::new()
        } else {
            format!("“{excerpt}” ")
        },
        source.target_url,
        view.question,
        view.label.replace('_', " "),
        view.site.url(view.path),
        source.hash,
        view.result_hash,
    );
    html! {
        h2 #cite { "Cite it" }
        (parts::folded_code("Citation", &text))
    }
}
