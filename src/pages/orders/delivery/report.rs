//! The report of a delivered bundle as HTML: each claim beside its evidence, then the sources, each with its own
//! report.

use maud::{Markup, html};

use crate::domain::figures::named_by;
use crate::domain::time::UnixSeconds;
use crate::evidence::Stance;
use crate::evidence::bundle::compare::{Certainty, Conflict, ConflictKind, Side};
use crate::evidence::bundle::matrix::Verdict;
use crate::evidence::bundle::{BundleReport, CellLine, ClaimLine, SourceLine};
use crate::evidence::report::Report;
use crate::evidence::report::risks::Severity;
use crate::pages::orders::delivery::DeliveryView;
use crate::pages::parts;

pub(crate) fn body(view: &DeliveryView<'_>, report: &BundleReport) -> Markup {
    html! {
        p.kicker { "Evidence Bundle · " (report.bundle) }
        (parts::question(&report.question))
        (verdict(report))
        (downloads(view))
        (matrix(report))
        h2 #claims { "Claims and their evidence" }
        p.muted { "Every excerpt is quoted verbatim from its source. Copies of one text count as one source." }
        (claims(report))
        (conflicts(report))
        (gaps(report))
        (risks(report))
        h2 #sources { "Sources" }
        (sources(report))
        (single_reports(report))
        (hashes(view, report))
    }
}

/// `1 source`, `2 sources`.
fn count_of(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

fn verdict(report: &BundleReport) -> Markup {
    let label = report.decision.label.name();
    let coverage = &report.synthesis.coverage;
    html! {
        div class={ "verdict " (parts::tone(label)) } {
            .head {
                (parts::label(label)) " "
                span { (parts::share("Confidence in this label", report.confidence_score)) " confidence" }
            }
            p.answer dir="auto" { (with_references(&report.answer, report)) }
            dl.facts {
                dt { "What to do" } dd { (report.decision.recommended_agent_use) }
                dt { "For agents" } dd { code { (report.agent_action) } }
                dt { "Sources" }
                dd {
                    (coverage.read_count) " of " (coverage.source_count) " read, "
                    (coverage.independent_count) " independent"
                }
            }
        }
    }
}

/// Text in which `[S1.E1]` links to that passage.
fn with_references(answer: &str, report: &BundleReport) -> Markup {
    let pieces = answer.split_inclusive(']').map(|piece| {
        let cut = piece.rfind('[').filter(|_| piece.ends_with(']'));
        let (before, mark) = piece.split_at(cut.unwrap_or(piece.len()));
        let id = mark.trim_start_matches('[').trim_end_matches(']');
        let is_known = report.citation(id).is_some();
        html! { (before) @if is_known { a href={ "#" (id) } { (mark) } } @else { (mark) } }
    });
    html! { @for piece in pieces { (piece) } }
}

fn downloads(view: &DeliveryView<'_>) -> Markup {
    html! {
        .actions {
            @if let Some(url) = view.pdf_url { a.button href=(url) { "Download the PDF" } }
            @if let Some(url) = view.json_url { a.button.quiet href=(url) { "Download the JSON" } }
            @if let Some((url, _)) = &view.way_back { a.button.quiet href=(url) { "Link to this report" } }
        }
        @if let Some((_, end)) = &view.way_back {
            p.small.muted {
                "The link is valid until " (parts::time(*end)) ". Anyone who has it can read the report."
            }
        }
    }
}

/// What each source says to each claim, at a glance.
fn matrix(report: &BundleReport) -> Markup {
    let claims = &report.matrix.claims;
    let table = html! {
        table.matrix {
            thead { tr {
                th scope="col" { "Claim" }
                @for source in &report.sources {
                    th scope="col" {
                        a href={ "#" (source.id) } title=(source.title.as_ref().unwrap_or(&source.target_url)) { (source.id) }
                        @if let Some(first) = first_of_copies(report, source) { small { "= " (first) } }
                    }
                }
            } }
            tbody { @for claim in claims { tr {
                th scope="row" dir="auto" { (claim.text) }
                @for source in &report.sources { td { (matrix_cell(claim, source)) } }
            } } }
        }
    };
    html! {
        @if !claims.is_empty() {
            h2 #matrix { "Claims by source" }
            (parts::scrolling("Claims by source", &table))
            p.legend aria-hidden="true" {
                @for verdict in [
                    Verdict::Supports, Verdict::Partial, Verdict::Contradicts, Verdict::MayContradict, Verdict::Silent,
                    Verdict::Unreachable,
                ] { span { (sign(verdict)) " " (cell_words(verdict)) } " " }
            }
        }
    }
}

/// The sign of a verdict; it leads to the first passage behind it.
fn matrix_cell(claim: &ClaimLine, source: &SourceLine) -> Markup {
    let cell = claim.cells.iter().find(|cell| cell.source_id == source.id);
    let verdict = cell.map_or(Verdict::Silent, |cell| cell.verdict);
    let passage = cell.and_then(|cell| cell.citation_ids.first());
    html! {
        @match passage {
            Some(id) => a href={ "#" (id) } aria-label=(cell_words(verdict)) title=(cell_words(verdict)) { (sign(verdict)) },
            None => { (sign(verdict)) span.away { (cell_words(verdict)) } },
        }
    }
}

fn sign(verdict: Verdict) -> Markup {
    html! { span class={ "mark " (verdict.name().replace('_', "-")) } aria-hidden="true" {} }
}

fn cell_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Silent => "no evidence",
        Verdict::Unreachable => "could not fetch",
        other => stance_words(other),
    }
}

/// The first source with the same text, if it is another one.
fn first_of_copies<'a>(report: &'a BundleReport, source: &SourceLine) -> Option<&'a str> {
    let mut groups = report.groups.iter();
    let group = groups.find(|group| source.group_id.as_ref() == Some(&group.id))?;
    let first = group.source_ids.first()?;
    (*first != source.id).then_some(first)
}

fn claims(report: &BundleReport) -> Markup {
    let claims = &report.matrix.claims;
    html! {
        @if claims.is_empty() { p { "The sources say nothing about the question." } }
        ul.claims {
            @for (index, claim) in claims.iter().enumerate() {
                li {
                    div {
                        h3 { "Claim " (index + 1) }
                        p.claim dir="auto" { (claim.text) }
                        p.small.muted { (standing(claim)) }
                    }
                    div {
                        h3 { "Evidence" }
                        @for (cell, id) in evidence_of_claim(claim) {
                            @let is_first = !claims[..index].iter().flat_map(evidence_of_claim).any(|(_, other)| other == id);
                            @match earlier_copy(report, claim, id) {
                                Some(other) => p.small.muted id=[is_first.then_some(id)] {
                                    strong { (id) } " has the same words as " a href={ "#" (other) } { (other) }
                                },
                                None => (passage(report, id, cell.verdict, is_first)),
                            }
                        }
                        (without_evidence(claim))
                    }
                }
            }
        }
    }
}

/// The evidence of a claim: a source's verdict with each passage behind it.
fn evidence_of_claim(claim: &ClaimLine) -> impl Iterator<Item = (&CellLine, &String)> {
    let cells = claim.cells.iter();
    cells.flat_map(|cell| cell.citation_ids.iter().map(move |id| (cell, id)))
}

/// A passage of the claim that stands before this one and says the same, word for word.
fn earlier_copy<'a>(report: &BundleReport, claim: &'a ClaimLine, id: &str) -> Option<&'a str> {
    let quote = |id: &str| report.citation(id).map(|passage| passage.quote());
    let mut earlier = evidence_of_claim(claim)
        .map(|(_, id)| id)
        .take_while(|other| *other != id);
    earlier
        .find(|other| quote(other).is_some() && quote(other) == quote(id))
        .map(String::as_str)
}

fn standing(claim: &ClaimLine) -> String {
    let support = match claim.supporting_groups {
        0 => "No source supports it".to_owned(),
        count => format!(
            "Supported by {}",
            count_of(count, "independent source", "independent sources")
        ),
    };
    match claim.opposing_groups {
        0 => format!("{support}."),
        count => format!("{support}; contradicted by {count}."),
    }
}

/// The sources without evidence on a claim, and those that could not be fetched.
fn without_evidence(claim: &ClaimLine) -> Markup {
    let of = |verdict: Verdict| {
        let cells = claim.cells.iter();
        let found = cells.filter(|cell| cell.verdict == verdict);
        found.map(|cell| &cell.source_id).collect::<Vec<_>>()
    };
    html! {
        @for (words, ids) in [("No evidence: ", of(Verdict::Silent)), ("Could not fetch: ", of(Verdict::Unreachable))] {
            @if !ids.is_empty() { p.small.muted { (words) (links(ids.into_iter())) } }
        }
    }
}

/// Names of sources, each linked to its row.
fn links<'a>(ids: impl Iterator<Item = &'a String>) -> Markup {
    html! {
        @for (index, id) in ids.enumerate() {
            @if index > 0 { ", " }
            a href={ "#" (id) } { (id) }
        }
    }
}

fn passage(report: &BundleReport, id: &str, verdict: Verdict, is_first: bool) -> Markup {
    let Some(passage) = report.citation(id) else {
        return html! {};
    };
    let source = report.source(&passage.source_id);
    let title = source.and_then(|source| source.title.as_deref());
    html! {
        figure class={ "evidence " (stance(verdict)) } id=[is_first.then_some(id)] {
            blockquote dir="auto" { (passage.quote()) }
            figcaption {
                strong { (id) } " " (stance_words(verdict)) " · "
                a href={ "#" (passage.source_id) } { bdi { (title.unwrap_or(&passage.source_id)) } }
                @if let Some(href) = passage.link.as_deref().and_then(parts::safe_href) {
                    span.screen { " · " a href=(href) rel="nofollow noopener noreferrer" { "Show on the page" } }
                }
            }
        }
    }
}

/// The class of the stylesheet.
fn stance(verdict: Verdict) -> Stance {
    match verdict {
        Verdict::Supports | Verdict::Partial => Stance::Supports,
        Verdict::Contradicts | Verdict::MayContradict => Stance::Contradicts,
        Verdict::Silent | Verdict::Unreachable => Stance::Mentions,
    }
}

fn stance_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Supports => "supports",
        Verdict::Partial => "supports in part",
        Verdict::Contradicts => "contradicts",
        Verdict::MayContradict => "may contradict",
        Verdict::Silent | Verdict::Unreachable => "mentions",
    }
}

fn conflicts(report: &BundleReport) -> Markup {
    let conflicts = &report.synthesis.conflicts;
    html! {
        @if !conflicts.is_empty() {
            h2 #conflicts { "Conflicts" }
            @for conflict in conflicts {
                .panel {
                    p dir="auto" { strong { (conflict.claim) } }
                    p.small.muted { (kind_words(conflict)) }
                    .pair { @for side in &conflict.sides { (side_of(side)) } }
                }
            }
        }
    }
}

fn kind_words(conflict: &Conflict) -> String {
    let kind = match conflict.kind {
        ConflictKind::Number => "The numbers differ",
        ConflictKind::Date => "The dates differ",
        ConflictKind::Statement => "The statements differ",
    };
    match conflict.certainty {
        Certainty::Clear => format!("{kind}."),
        Certainty::Possible => format!("{kind}, if both refer to the same thing. Please check."),
    }
}

fn side_of(side: &Side) -> Markup {
    html! {
        figure.evidence {
            @if let Some(value) = &side.value { p { strong { bdi { (value) } } } }
            blockquote dir="auto" { (side.excerpt) }
            figcaption {
                (links(side.source_ids.iter()))
                @if let Some(dated) = &side.dated { " · dated " (parts::day(dated)) }
            }
        }
    }
}

fn gaps(report: &BundleReport) -> Markup {
    let gaps = &report.synthesis.gaps;
    html! {
        @if !gaps.is_empty() {
            h2 #gaps { "Gaps" }
            ul { @for gap in gaps { li { (gap) } } }
        }
    }
}

fn risks(report: &BundleReport) -> Markup {
    let risks = &report.risk_notes;
    html! {
        @if !risks.is_empty() {
            h2 #risks { "Risks" }
            ul.checks {
                @for risk in risks {
                    li class=(if risk.severity == Severity::High { "fail" } else { "warn" }) {
                        (risk.text)
                        p { (risk.severity) " · " (links(risk.source_ids.iter())) }
                    }
                }
            }
        }
    }
}

fn sources(report: &BundleReport) -> Markup {
    let table = html! {
        table.stack {
            thead { tr { th { "Name" } th { "Source" } th { "Decision" } th { "Independent" } } }
            tbody { @for source in &report.sources { (source_row(report, source)) } }
        }
    };
    parts::scrolling("Sources and what they say", &table)
}

fn source_row(report: &BundleReport, source: &SourceLine) -> Markup {
    html! {
        tr id=(source.id) {
            th scope="row" { (source.id) }
            td.long {
                @if let Some(title) = &source.title { bdi { (title) } br; }
                (parts::foreign_link(&source.target_url))
                @if let Some(dated) = &source.dated { br; span.muted { "dated " (parts::day(dated)) } }
                @if source.label.is_none() { br; span.muted { "Could not fetch. " (report.why_unread(&source.id)) } }
            }
            @match source.label {
                Some(label) => { td { (parts::label(label.name())) } td.muted data-label="Independent" { (voice(report, source)) } }
                None => { td { span.tag { "could not fetch" } } td.muted data-label="Independent" { "–" } }
            }
        }
    }
}

/// Whether a source is independent, or a copy of others.
fn voice(report: &BundleReport, source: &SourceLine) -> String {
    let mut groups = report.groups.iter();
    let group = groups.find(|group| source.group_id.as_ref() == Some(&group.id));
    let others: Vec<&str> = group
        .into_iter()
        .flat_map(|group| &group.source_ids)
        .filter(|id| **id != source.id)
        .map(String::as_str)
        .collect();
    match others.is_empty() {
        true => "yes".to_owned(),
        false => format!("same text as {}", others.join(", ")),
    }
}

/// The report of each fetched source, folded.
fn single_reports(report: &BundleReport) -> Markup {
    html! {
        h2 #reports { "Reports by source" }
        .questions {
            @for (source, single) in report.read() {
                details {
                    summary {
                        h3 { (source.id) " · " (source.title.as_ref().unwrap_or(&source.target_url)) }
                    }
                    (single_report(single))
                }
            }
        }
    }
}

fn single_report(single: &Report) -> Markup {
    html! {
        p dir="auto" { (parts::label(single.decision.label.name())) " " (single.answer) }
        @for cited in &single.citations {
            figure class={ "evidence " (cited.stance) } {
                blockquote dir="auto" { (cited.quote()) }
                figcaption { strong { (cited.id) } }
            }
        }
        dl.facts {
            dt { "Decision" } dd { (single.decision.summary) }
            dt { "Quality" } dd { (parts::share("Quality of the source", single.source_quality_score)) }
            @for gap in &single.gaps { dt { "Gap" } dd { (gap) } }
        }
    }
}

fn hashes(view: &DeliveryView<'_>, report: &BundleReport) -> Markup {
    html! {
        h2 #verify { "Verify this report" }
        p {
            "A source hash is SHA-256 of the text that the excerpts come from. The result hash is SHA-256 of the report as "
            "canonical JSON (RFC 8785). The JSON download contains everything they cover."
        }
        dl.facts {
            dt { "Result hash" } dd { span.hash { (report.result_hash) } }
            dt { (named_by(&report.order_id)) } dd { span.hash { (report.order_id) } }
            @for hash in &report.source_hashes {
                dt { (hash.source_id) }
                dd {
                    span.hash { (hash.sha256) }
                    br; span.small.muted { "fetched " (parts::time(UnixSeconds(hash.fetched_at))) }
                }
            }
        }
        @if let Some(path) = view.report_path {
            .actions {
                a.button.quiet href={ (path) "?check=1#verify" } { "Verify on the server" }
                a.button.quiet href={ (path) "?format=markdown" } { "Markdown" }
            }
        }
        @if let Some(checks) = view.checks { (parts::passed_checks(checks)) }
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::bundle::tests::{made, read};
    use crate::evidence::bundle::{BundleRequest, BundleSource, bundle_report};
    use crate::pages::orders::delivery::report::*;

    /// Two mirrors of one text, and a source that says the same by itself.
    fn report() -> BundleReport {
        let claim = "The Harbour Bridge opened to traffic in 1932.";
        let html = |more: &str| format!("<html><body><p>{claim}</p><p>{more}</p></body></html>");
        let long = "Visitors may walk over the eastern side at any hour, and the lookout keeps its own times.";
        let made = [
            made("https://one.example.com/", &html(long), claim),
            made(
                "https://two.example.org/",
                &html("Trams ran over it as well."),
                claim,
            ),
            made("https://three.example.net/", &html(long), claim),
        ];
        let sources: Vec<BundleSource<'_>> = made.iter().map(read).collect();
        let request = BundleRequest {
            order_id: "ord_1",
            bundle: "scout",
            question: claim,
            created_at: UnixSeconds(0),
        };
        bundle_report(&request, &sources)
    }

    #[test]
    fn references_lead_to_passages_that_are_there() {
        let shown = with_references("a [S1.E1] b [S9.E1] <c> ] [", &report());
        assert_eq!(
            shown.into_string(),
            r##"a <a href="#S1.E1">[S1.E1]</a> b [S9.E1] &lt;c&gt; ] ["##
        );
    }

    #[test]
    fn copies_are_said_to_speak_as_one() {
        let report = report();
        assert_eq!(voice(&report, &report.sources[0]), "same text as S3");
        assert_eq!(voice(&report, &report.sources[1]), "yes");
    }

    #[test]
    fn a_claim_says_who_is_for_and_against_it() {
        let mut claim = report().matrix.claims.remove(0);
        for (for_it, against, said) in [
            (0, 0, "No source supports it."),
            (1, 0, "Supported by 1 independent source."),
            (
                2,
                1,
                "Supported by 2 independent sources; contradicted by 1.",
            ),
        ] {
            (claim.supporting_groups, claim.opposing_groups) = (for_it, against);
            assert_eq!(standing(&claim), said);
        }
    }
}
