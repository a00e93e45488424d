//! `/proof-pack/reports/{report_id}` and similar pages: a report as HTML, each claim beside its evidence. The report
//! arrives in the view.

pub(super) mod evidence;
mod source;

use maud::{Markup, PreEscaped, html};

use crate::domain::figures::grouped;
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
    /// The text that the citations are slices of, if it is stored and this reader may see it.
    pub source: Option<&'a str>,
    /// The built-in sample: public, and it never expires.
    pub is_sample: bool,
    /// Links for programs; `None` if this reader may not know the report's address.
    pub api: Option<Api<'a>>,
    pub follow_up: Option<&'a FollowUp>,
    /// The result of a check, if the reader requested one.
    pub checks: Option<Vec<(&'a str, bool)>>,
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

pub fn page(view: &ReportView<'_>) -> String {
    layout(
        Layout {
            site: view.site,
            title: &title(view.report),
            description: "Whether a public source supports a claim, with the excerpts that show it.",
            path: view.path,
            noindex: !view.is_sample,
        },
        html! {
            p.kicker { "Proof Pack · " (view.report.pack) }
            (parts::question(&view.report.question))
            @match (view.source, &view.api) {
                (Some(text), Some(api)) => .beside {
                    div { (findings(view, Some(text))) }
                    (source::pane(view.report, text, &format!("{}/source", api.path)))
                },
                _ => (findings(view, None)),
            }
            (about(view))
            (hashes(view))
            @if let Some(api) = &view.api { (follow_up(view, api)) }
            (citing(view))
        },
    )
}

/// The question, as a browser's tab and its history show it.
fn title(report: &Report) -> String {
    const CHARACTERS_MAX: usize = 80;
    let question = report.question.trim();
    match question.char_indices().nth(CHARACTERS_MAX) {
        _ if question.is_empty() => "Proof Pack".to_owned(),
        Some((end, _)) => format!("{}…", question[..end].trim_end()),
        None => question.to_owned(),
    }
}

/// What the report says: the verdict, and what it rests on.
fn findings(view: &ReportView<'_>, source: Option<&str>) -> Markup {
    let report = view.report;
    html! {
        (verdict(report))
        (evidence::comparisons(&report.comparisons))
        h2 #evidence { "Claims and their evidence" }
        p.muted { "Every excerpt is quoted verbatim from the source. Words of the question are highlighted." }
        (screenshot(view))
        (evidence::claims(report, source))
        (evidence::gaps(&report.gaps))
        (evidence::risks(&report.risk_details))
    }
}

/// The picture of the page, where the report was bought with one and this reader may know its address.
fn screenshot(view: &ReportView<'_>) -> Markup {
    let (Some(screenshot), Some(api)) = (&view.report.screenshot, &view.api) else {
        return html! {};
    };
    let path = format!("{}/screenshot", api.path);
    html! {
        @if let Some(image) = &screenshot.image {
            figure.screenshot #screenshot {
                a href=(path) {
                    img src=(path) width=(image.width) height=(image.height) loading="lazy"
                        alt={ "Screenshot of " (image.final_url) };
                }
                figcaption {
                    "The page in a browser on " (parts::time(UnixSeconds(image.captured_at)))
                    @if let Some(id) = &image.citation_id {
                        "; the passage of " a href={ "#" (id) } { (id) } " is highlighted"
                    }
                    ". SHA-256 " span.hash { (image.sha256) }
                }
            }
        }
        @if let Some(warning) = &screenshot.warning { p.small.muted { (warning.message) } }
    }
}

fn verdict(report: &Report) -> Markup {
    let decision = &report.decision;
    html! {
        div class={ "verdict " (parts::tone(decision.label.name())) } {
            .head {
                (parts::label(decision.label.name())) " "
                span { (parts::share("Confidence in this label", report.confidence_score)) " confidence" }
            }
            @if let Some(value) = headline(report) { p.answer dir="auto" { strong { (value) } } }
            p.answer dir="auto" { (evidence::with_references(&report.answer, &report.citations)) }
            dl.facts {
                dt { "Decision" } dd { (decision.summary) }
                dt { "What to do" } dd { (decision.recommended_agent_use) }
                dt { "For agents" } dd { code { (report.agent_action) } }
                @if let Some(measured) = &decision.reliability {
                    dt { "Reliability" }
                    dd {
                        "In tests, this label was right in " (format!("{:.0}", measured.right_share * 100.0)) " % of "
                        (grouped(u64::from(measured.rows))) " such questions (measured " (parts::day(&measured.measured_on)) "). That is an "
                        "average over many pages; the confidence above is the engine’s estimate for this page alone."
                    }
                }
                @if let Some(depth) = report.analysis.depth {
                    dt { "Depth" } dd { (depth) ": " (depth.reads()) }
                }
                dt { "Source" } dd { (parts::foreign_link(&report.target_url)) }
            }
        }
    }
}

/// The answer in a word, where its sentence does not begin with it.
fn headline(report: &Report) -> Option<&str> {
    let value = report.decision.answer_value.as_deref()?;
    let begins = report.answer.get(..value.len());
    (!begins.is_some_and(|begin| begin.eq_ignore_ascii_case(value))).then_some(value)
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
            p.answer dir="auto" { strong { (report.question) } }
            p dir="auto" { (evidence::with_references(&report.answer, &report.citations)) }
            @for citation in &report.citations { (evidence::figure(citation, Some(&citation.id))) }
        }
    }
}

/// Markdown as it reads.
pub(crate) fn source_text(markdown: &str) -> Markup {
    source::source_section(markdown)
}

fn about(view: &ReportView<'_>) -> Markup {
    let (report, source) = (view.report, &view.report.source_profile);
    let said = [
        ("Title", source.title.as_deref()),
        ("Publisher", source.site_name.as_deref()),
        ("Author", source.author.as_deref()),
    ];
    let retention = report.retention.as_ref().filter(|_| !view.is_sample);
    let ends = retention.map(|retention| UnixSeconds(retention.expires_at));
    html! {
        h2 #source { "The source" }
        dl.facts {
            @for (label, text) in said {
                @if let Some(text) = text { dt { (label) } dd dir="auto" { (text) } }
            }
            @if let Some(text) = report.dated() { dt { "Dated" } dd { (parts::day(text)) } }
            dt { "Quality" } dd { (parts::share("Quality of the source", report.source_quality_score)) }
            dt { "Read" } dd { (parts::time(UnixSeconds(source.retrieved_at))) }
            dt { "Examined" } dd { (parts::time(UnixSeconds(report.created_at))) }
            @if let Some(end) = ends { dt { "Stored until" } dd { (parts::time(end)) } }
        }
        details { summary { "Full summary" } p dir="auto" { (report.executive_summary) } }
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
            dt { "Result hash" } dd { span.hash #result-hash { (view.report.result_hash) } }
            dt { "Source hash" } dd { span.hash { (view.report.source_hash) } }
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
            a.button.quiet href={ (api.path) "/source" } { "Source text" }
            a.button.quiet href={ (view.path) "?format=markdown" } { "Markdown" }
            @if let Some(pdf) = api.pdf { a.button.quiet href=(pdf) { "PDF" } }
        }
        output #recomputed {}
        @if let Some(checks) = &view.checks { (parts::passed_checks(checks)) }
        script data-report=(api.path) data-unhashed=(api.unhashed) { (PreEscaped(VERIFY_SCRIPT)) }
    }
}

/// The form reloads this page with the answer, so it works without script. Follow-up questions are free.
fn follow_up(view: &ReportView<'_>, api: &Api<'_>) -> Markup {
    let typed = view.follow_up.map_or("", |asked| &asked.question);
    html! {
        // Without an answer there is nothing here to print.
        h2 #follow-up.screen[view.follow_up.is_none()] { "Ask a follow-up question" }
        form.ask action={ (view.path) "#follow-up" } method="get" {
            label for="question" { "Your question, answered from the stored source for free" }
            .row {
                input #question name="question" type="text" maxlength="1000" required autocomplete="off" value=(typed);
                button type="submit" { "Ask" }
            }
        }
        @if let Some(asked) = view.follow_up {
            .panel {
                p dir="auto" { (parts::label(asked.decision.label.name())) " " (asked.answer) }
                @for citation in &asked.citations { (evidence::figure(citation, None)) }
            }
        }
        p.small.muted.screen { "Programs: POST to " code { (api.path) "/follow-up" } "." }
    }
}

fn citing(view: &ReportView<'_>) -> Markup {
    let report = view.report;
    let title = report.source_profile.title.as_deref();
    let title = title.unwrap_or(&report.target_url);
    let excerpt = report.citations.first().map_or("", |first| first.quote());
    let text = format!(
        "{}In: “{title}”, {}. Decision of {NAME} on “{}”: {}. {}. Source SHA-256 {}, result SHA-256 {}.",
        if excerpt.is_empty() {
            String::new()
        } else {
            format!("“{excerpt}” ")
        },
        report.target_url,
        report.question,
        parts::label_words(report.decision.label.name()),
        view.site.url(view.path),
        report.source_hash,
        report.result_hash,
    );
    html! {
        h2 #cite { "Cite it" }
        (parts::folded_code("Citation", &text))
    }
}
