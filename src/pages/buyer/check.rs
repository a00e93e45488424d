//! The page of an answer check: what to correct, the text with its claims marked by their labels, and each claim beside its
//! evidence. The report arrives in the view. It needs no script.

use maud::{Markup, html};

use crate::domain::time::UnixSeconds;
use crate::evidence::Stance;
use crate::evidence::bundle::decide::BundleLabel;
use crate::evidence::check::{
    CheckCitation, CheckCounts, CheckReport, CheckedClaim, Correction, SCORE_DEFINITION,
};
use crate::pages::buyer::report::evidence::{figure_from, relation_tone, severity};
use crate::pages::layout::{Layout, layout};
use crate::pages::parts;
use crate::pages::site::Site;

#[derive(Clone, Copy, Debug)]
pub struct CheckView<'a> {
    pub site: Site<'a>,
    /// The canonical path, beginning with a slash, encoded.
    pub path: &'a str,
    pub report: &'a CheckReport,
    /// The path of the report as JSON, if this reader may know it.
    pub json: Option<&'a str>,
    /// The result of a verification, if the reader requested one.
    pub checks: Option<&'a [(&'static str, bool)]>,
}

pub fn page(view: &CheckView<'_>) -> String {
    let report = view.report;
    layout(
        Layout {
            site: view.site,
            title: "Checked text",
            description: "Which claims of a text its sources support, and what to correct.",
            path: view.path,
            noindex: true,
        },
        html! {
            p.kicker { "Check of a text · " (report.depth) }
            h1 { "Checked text" }
            (verdict(report))
            (corrections(report))
            (disagreements(report))
            (text(report))
            (claims(report))
            (sources(report))
            (risks(report))
            (hashes(view))
        },
    )
}

/// How many claims the sources support, in words: a mean reads like a share of the claims and is none.
fn tally(counts: &CheckCounts) -> String {
    let (supported, all) = (counts.supported, counts.need_grounding);
    let partly = counts.partially_supported;
    match (all, partly) {
        (0, _) => "No claim needs a source".to_owned(),
        (1, 0) => format!("{supported} of 1 claim supported"),
        (1, _) => "1 claim partly supported".to_owned(),
        (_, 0) => format!("{supported} of {all} claims supported"),
        _ => format!("{supported} of {all} claims supported, {partly} partly"),
    }
}

/// The colour of the whole: that of the worst label.
fn tone(report: &CheckReport) -> &'static str {
    let counts = &report.counts;
    match counts {
        counts if counts.contradicted > 0 => "bad",
        counts if counts.contested > 0 => "split",
        counts if counts.need_grounding == 0 => "none",
        counts if counts.supported == counts.need_grounding => "good",
        _ => "part",
    }
}

fn verdict(report: &CheckReport) -> Markup {
    let counts = &report.counts;
    let by_label = [
        ("supported", counts.supported),
        ("partially_supported", counts.partially_supported),
        ("weak", counts.weak),
        ("unsupported", counts.unsupported),
        ("contradicted", counts.contradicted),
        ("contested", counts.contested),
    ];
    html! {
        div class={ "verdict " (tone(report)) } {
            .head {
                span { strong { (tally(counts)) } }
            }
            p.answer { (report.summary) }
            @if report.truncated { p { "The text was not checked to its end." } }
            dl.facts {
                dt { "Claims" }
                dd.tally {
                    @for (name, count) in by_label.iter().filter(|(_, count)| *count > 0) {
                        span.nowrap { (count) " " (parts::label(name)) } " "
                    }
                    @let others = counts.claims - counts.need_grounding;
                    @if others > 0 { span { (others) @if others == 1 { " needs" } @else { " need" } " no source" } }
                }
                dt { "For agents" } dd { code { (report.agent_action) } }
                dt { "Score" }
                dd {
                    @if let Some(score) = report.score { (parts::share("Score of the text", score)) ". " } @else { "No score. " }
                    (SCORE_DEFINITION.replace("partially_supported", &parts::label_words("partially_supported")))
                }
                dt { "Depth" } dd { (report.depth) ": " (report.depth.reads()) }
                dt { "Checked" } dd { (parts::time(UnixSeconds(report.created_at))) }
                @if let Some(links) = &report.links {
                    dt { "Stored until" } dd { (parts::time(UnixSeconds(links.expires_at))) }
                }
            }
        }
    }
}

fn corrections(report: &CheckReport) -> Markup {
    // Reports from before 2026-12 also list what the sources disagree about.
    let is_clear = |correction: &&Correction| correction.label == BundleLabel::Contradicted;
    let clear: Vec<_> = report.corrections.iter().filter(is_clear).collect();
    html! {
        @if !clear.is_empty() {
            h2 #corrections { "What to correct" }
            ul.claims { @for correction in clear { (correction_item(report, correction)) } }
        }
    }
}

/// What one source supports and another contradicts: both sides, and no word on which is right.
fn disagreements(report: &CheckReport) -> Markup {
    let is_contested = |claim: &&CheckedClaim| claim.label == Some(BundleLabel::Contested);
    let contested: Vec<_> = report.claims.iter().filter(is_contested).collect();
    let side = |claim: &CheckedClaim, stance: Stance| {
        let mut cited = claim.citations.iter();
        let found = cited.find(|cited| cited.citation.stance == stance);
        found.map(|cited| evidence(report, cited))
    };
    html! {
        @if !contested.is_empty() {
            h2 #disagreements { "Where the sources disagree" }
            p.muted { "Some sources support these claims and others contradict them. Decide which source to trust before you change the text." }
            ul.claims { @for claim in contested {
                li {
                    div {
                        h3 { "The text says" }
                        p.claim dir="auto" { (claim.text) }
                        p { (parts::label(BundleLabel::Contested.name())) " " a href={ "#" (claim.id) } { (claim.id) } }
                    }
                    div {
                        h3 { "The sources say" }
                        @for stance in [Stance::Supports, Stance::Contradicts] { @if let Some(side) = side(claim, stance) { (side) } }
                    }
                }
            } }
        }
    }
}

fn correction_item(report: &CheckReport, correction: &Correction) -> Markup {
    html! {
        li {
            div {
                h3 { "The text says" }
                p.claim dir="auto" { (correction.text) }
                p { (parts::label(correction.label.name())) " " a href={ "#" (correction.claim_id) } { (correction.claim_id) } }
            }
            div {
                h3 { "The source says" }
                figure.evidence.contradicts {
                    blockquote dir="auto" { (correction.quote) }
                    figcaption { strong { (correction.citation_id) } " · " (source_name(report, &correction.source_id)) }
                }
                @for figure in &correction.figures {
                    p { bdi { (figure.written) } " → " strong { bdi { (figure.found) } } }
                }
            }
        }
    }
}

/// The whole text with its claims marked. What needs no source is left as it is.
fn text(report: &CheckReport) -> Markup {
    html! {
        h2 #text { "The text" }
        p.muted { "Each claim that needs a source is marked and leads to its evidence." }
        .reading {
            .source-text.checked dir="auto" tabindex="0" role="region" aria-label="The checked text" {
                @for (piece, claim) in runs(report) {
                    @match claim {
                        Some((claim, label)) => {
                            mark class=(parts::tone(label)) { (piece) }
                            sup { a href={ "#" (claim.id) } { (claim.id) span.away { ": " (parts::label_words(label)) } } }
                        },
                        None => (piece),
                    }
                }
            }
        }
    }
}

/// The text in pieces, those that have a label with their claim.
fn runs(report: &CheckReport) -> Vec<(&str, Option<(&CheckedClaim, &'static str)>)> {
    let mut runs = Vec::new();
    let mut at = 0;
    for claim in &report.claims {
        let Some(label) = claim.label else { continue };
        // A stored report is read as it is: what is no slice of its text is not marked.
        let (Some(before), Some(own)) = (
            report.text.get(at..claim.start),
            report.text.get(claim.start..claim.end),
        ) else {
            continue;
        };
        runs.push((before, None));
        runs.push((own, Some((claim, label.name()))));
        at = claim.end;
    }
    runs.push((report.text.get(at..).unwrap_or_default(), None));
    runs
}

fn claims(report: &CheckReport) -> Markup {
    let (grounded, others): (Vec<_>, Vec<_>) = report
        .claims
        .iter()
        .partition(|claim| claim.needs_grounding);
    html! {
        @if !grounded.is_empty() {
            h2 #evidence { "Claims and their evidence" }
            p.muted { "Every excerpt is quoted verbatim from its source." }
            ul.claims { @for claim in grounded { (claim_item(report, claim)) } }
        }
        @if !others.is_empty() {
            details {
                summary { "What needs no source (" (others.len()) ")" }
                ul { @for claim in others {
                    li {
                        (claim.text)
                        @if let Some(reason) = claim.no_grounding_reason { " " span.muted { "(" (reason.words()) ")" } }
                    }
                } }
            }
        }
    }
}

fn claim_item(report: &CheckReport, claim: &CheckedClaim) -> Markup {
    html! {
        li id=(claim.id) {
            div {
                h3 { "Claim " (claim.id) }
                p.claim dir="auto" { (claim.text) }
                @if let Some(read_as) = &claim.read_as { p.small.muted { "Read as: " (read_as) } }
                @if let Some(label) = claim.label { p { (parts::label(label.name())) } }
                @if let Some(score) = claim.support_score {
                    p.small.muted { (parts::share("That a source establishes it", score)) " support" }
                }
                @if let Some(score) = claim.contradiction_score {
                    p.small.muted { (parts::share_against("That a source says the opposite", score)) " contradiction" }
                }
                @for compared in &claim.comparisons {
                    p.small {
                        "The text has " bdi { (compared.asked) } ", "
                        @match &compared.found {
                            Some(found) => { "the source has " bdi { (found) } " " },
                            None => "the source has no such figure ",
                        }
                        span class={ "tag " (relation_tone(compared.relation)) } { (compared.result()) }
                    }
                }
            }
            div {
                h3 { "Evidence" }
                @if claim.citations.is_empty() { p { "No passage supports or contradicts it." } }
                @for cited in &claim.citations { (evidence(report, cited)) }
            }
        }
    }
}

fn evidence(report: &CheckReport, cited: &CheckCitation) -> Markup {
    figure_from(&cited.citation, &source_name(report, &cited.source_id))
}

/// A source as a reader knows it: its title, else its address, else its identifier.
fn source_name(report: &CheckReport, id: &str) -> Markup {
    let source = report.source(id);
    let title = source.and_then(|source| source.title.as_deref());
    let url = source.and_then(|source| source.url.as_deref());
    html! {
        @match (title, url.and_then(parts::safe_href)) {
            (Some(title), Some(href)) => a href=(href) rel="nofollow noopener noreferrer" { (title) },
            (Some(title), None) => (title),
            (None, _) => @match url { Some(url) => (parts::foreign_link(url)), None => { "Source " (id) } },
        }
    }
}

fn sources(report: &CheckReport) -> Markup {
    let table = html! {
        table.labelled {
            thead { tr { th { "Source" } th.num { "Supports" } th.num { "Contradicts" } th { "Text" } } }
            tbody { @for source in &report.sources {
                tr {
                    th scope="row" { (source.id) }
                    td.num data-label="Supports" { (source.supports) }
                    td.num data-label="Contradicts" { (source.contradicts) }
                    td.long data-label="Text" { (source_name(report, &source.id)) " " span.muted { "(" (source.characters) " characters)" } }
                }
            } }
        }
    };
    html! {
        @if !report.sources.is_empty() {
            h2 #sources { "Sources" }
            (parts::scrolling("Sources", &table))
        }
    }
}

fn risks(report: &CheckReport) -> Markup {
    html! {
        @if !report.risk_details.is_empty() {
            h2 #risks { "Risks" }
            ul.checks {
                @for found in &report.risk_details {
                    li class=(severity(found.risk.severity)) {
                        (found.source_id) ": " (found.risk.text) p { code { (found.risk.code) } }
                    }
                }
            }
        }
    }
}

fn hashes(view: &CheckView<'_>) -> Markup {
    let report = view.report;
    html! {
        h2 #verify { "Verify this report" }
        p {
            "The result hash is SHA-256 of the report as canonical JSON (RFC 8785). The other hashes are SHA-256 of the texts "
            "that positions and excerpts refer to."
        }
        dl.facts {
            dt { "Result hash" } dd { span.hash { (report.result_hash) } }
            dt { "Checked text" } dd { span.hash { (report.text_sha256) } }
            @for source in &report.sources { dt { "Source " (source.id) } dd { span.hash { (source.content_sha256) } } }
        }
        @if let Some(path) = view.json {
            .actions {
                a.button.quiet href={ (view.path) "?check=1#verify" } { "Verify on the server" }
                a.button.quiet href=(path) { "JSON" }
            }
        }
        @if let Some(checks) = view.checks { (parts::passed_checks(checks)) }
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::check::tests::example;
    use crate::pages::buyer::check::*;
    use crate::pages::tests::views::site;

    fn rendered_page(report: &CheckReport) -> String {
        page(&CheckView {
            site: site(),
            path: "/check/ppr_x",
            report,
            json: Some("/v1/check/ppr_x"),
            checks: None,
        })
    }

    #[test]
    fn corrections_stand_above_the_text_and_claims_are_marked_by_their_label() {
        let report = example();
        let page = rendered_page(&report);
        let at = |part: &str| page.find(part).unwrap_or_else(|| panic!("{part}: {page}"));
        assert!(at(r#"id="corrections""#) < at(r#"id="text""#));
        assert!(at(r#"id="text""#) < at(r#"id="evidence""#));
        at(r#"<div class="verdict bad">"#);
        at(
            r##"<mark class="bad">a private firm operates it.</mark><sup><a href="#C8">C8<span class="away">: contradicted"##,
        );
        at(r#"<mark class="good">The harbour plant opened on 4 March 2021.</mark>"#);
        at("Read as: The harbour plant employs forty people.");
        at(r#"<li id="C8">"#);
        at("Shall I look for opening hours? <span class=\"muted\">(a question)</span>");
        at(&report.result_hash);
        at("embedded_agent_instructions");
    }

    /// Story: two of three sources supported 1774, and the page told its reader to write 1792.
    #[test]
    fn what_the_sources_disagree_about_is_shown_with_both_sides_and_is_no_correction() {
        let mut report = example();
        let id = report.corrections[0].claim_id.clone();
        let claim = report.claims.iter_mut().find(|claim| claim.id == id);
        let claim = claim.expect("the corrected claim");
        claim.label = Some(BundleLabel::Contested);
        let mut other = claim.citations[0].clone();
        other.citation.stance = Stance::Supports;
        other.citation.id = "S9.E9".to_owned();
        claim.citations.push(other);
        report
            .corrections
            .retain(|correction| correction.claim_id == id);
        report.corrections[0].label = BundleLabel::Contested;
        let page = rendered_page(&report);
        assert!(!page.contains("What to correct"), "{page}");
        let (_, after) = page
            .split_once("Where the sources disagree")
            .expect("the group");
        let (group, _) = after.split_once("<h2").expect("the next heading");
        assert!(group.contains("S9.E9") && !group.contains('→'), "{group}");
        assert!(group.contains("evidence contradicts") && group.contains("evidence supports"));
    }

    #[test]
    fn nothing_of_the_text_is_lost_or_marked_twice() {
        let report = example();
        let whole: String = runs(&report).into_iter().map(|(piece, _)| piece).collect();
        assert_eq!(whole, report.text);
    }

    #[test]
    fn the_head_counts_claims_in_words() {
        for (supported, partly, all, expected) in [
            (0, 0, 0, "No claim needs a source"),
            (1, 0, 1, "1 of 1 claim supported"),
            (0, 1, 1, "1 claim partly supported"),
            (0, 1, 2, "0 of 2 claims supported, 1 partly"),
            (3, 0, 5, "3 of 5 claims supported"),
        ] {
            let counts = CheckCounts {
                supported,
                partially_supported: partly,
                need_grounding: all,
                ..CheckCounts::default()
            };
            assert_eq!(tally(&counts), expected);
        }
    }

    #[test]
    fn a_report_whose_spans_are_no_slices_is_shown_without_marks() {
        let mut report = example();
        for claim in &mut report.claims {
            (claim.start, claim.end) = (usize::MAX, 3);
        }
        assert_eq!(runs(&report), [(report.text.as_str(), None)]);
        report.score = None;
        report.sources.clear();
        assert!(rendered_page(&report).contains("No score"));
    }
}
