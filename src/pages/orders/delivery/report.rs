//! The report of a delivered bundle as HTML: each claim beside its evidence, then the sources, each with its own
//! report. The report arrives as the members of its JSON document.

use maud::{Markup, html};
use serde_json::{Map, Value};

use crate::domain::time::UnixSeconds;
use crate::pages::orders::delivery::DeliveryView;
use crate::pages::parts;

pub(crate) fn delivered(view: &DeliveryView<'_>) -> Markup {
    let report = Document(view.report);
    html! {
        p.kicker { "Evidence Bundle · " (text(report.get("bundle"))) }
        h1 { (text(report.get("question"))) }
        (verdict(report))
        (downloads(view))
        h2 #claims { "Claims and their evidence" }
        p.muted { "Every excerpt is quoted verbatim from its source. Copies of one text count as one source." }
        (claims(report))
        (conflicts(report))
        (gaps(report))
        (risks(report))
        h2 #sources { "Sources" }
        (sources(report))
        (single_reports(report))
        (hashes(report))
    }
}

#[derive(Clone, Copy)]
struct Document<'a>(&'a Map<String, Value>);

impl<'a> Document<'a> {
    fn get(self, name: &str) -> &'a Value {
        self.0.get(name).unwrap_or(&Value::Null)
    }

    fn list(self, name: &str) -> &'a [Value] {
        items(self.get(name))
    }

    fn passage(self, id: &Value) -> Option<&'a Value> {
        self.list("citations")
            .iter()
            .find(|passage| passage["id"] == *id)
    }

    fn source(self, id: &Value) -> Option<&'a Value> {
        self.list("sources")
            .iter()
            .find(|source| source["id"] == *id)
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

/// `1 source`, `2 sources`.
fn counted(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

fn verdict(report: Document<'_>) -> Markup {
    let decision = report.get("decision");
    let label = text(&decision["label"]);
    let coverage = &report.get("synthesis")["coverage"];
    let confidence = report.get("confidence_score").as_f64().unwrap_or_default();
    html! {
        div class={ "verdict " (parts::tone(label)) } {
            .head {
                (parts::label(label)) " "
                span { (parts::share("Confidence in this label", confidence)) " confidence" }
            }
            p.answer { (with_references(text(report.get("answer")), report)) }
            dl.facts {
                dt { "What to do" } dd { (text(&decision["recommended_agent_use"])) }
                dt { "For agents" } dd { code { (text(report.get("agent_action"))) } }
                dt { "Sources" }
                dd {
                    (number(&coverage["read_count"])) " of " (number(&coverage["source_count"])) " read, "
                    (number(&coverage["independent_count"])) " independent"
                }
            }
        }
    }
}

/// Text in which `[S1.E1]` links to that passage.
fn with_references(answer: &str, report: Document<'_>) -> Markup {
    let pieces = answer.split_inclusive(']').map(|piece| {
        let cut = piece.rfind('[').filter(|_| piece.ends_with(']'));
        let (before, mark) = piece.split_at(cut.unwrap_or(piece.len()));
        let id = mark.trim_start_matches('[').trim_end_matches(']');
        let is_known = report.passage(&Value::from(id)).is_some();
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

fn claims(report: Document<'_>) -> Markup {
    let claims = items(&report.get("matrix")["claims"]);
    html! {
        @if claims.is_empty() { p { "The sources say nothing about the question." } }
        ul.claims {
            @for (index, claim) in claims.iter().enumerate() {
                li {
                    div {
                        h3 { "Claim " (index + 1) }
                        p.claim { (text(&claim["text"])) }
                        p.small.muted { (standing(claim)) }
                    }
                    div {
                        h3 { "Evidence" }
                        @for (cell, id) in cited(claim) {
                            @let is_first = !claims[..index].iter().flat_map(cited).any(|(_, other)| other == id);
                            (passage(report, id, text(&cell["verdict"]), is_first))
                        }
                        (without_evidence(claim))
                    }
                }
            }
        }
    }
}

/// The evidence of a claim: a source's verdict with each passage behind it.
fn cited(claim: &Value) -> impl Iterator<Item = (&Value, &Value)> {
    let cells = items(&claim["cells"]).iter();
    cells.flat_map(|cell| {
        items(&cell["citation_ids"])
            .iter()
            .map(move |id| (cell, id))
    })
}

fn standing(claim: &Value) -> String {
    let (for_it, against) = (
        number(&claim["supporting_groups"]),
        number(&claim["opposing_groups"]),
    );
    let support = match for_it {
        0 => "No source supports it".to_owned(),
        count => format!(
            "Supported by {}",
            counted(count, "independent source", "independent sources")
        ),
    };
    match against {
        0 => format!("{support}."),
        count => format!("{support}; contradicted by {count}."),
    }
}

/// The sources without evidence on a claim, and those that could not be fetched.
fn without_evidence(claim: &Value) -> Markup {
    let of = |verdict: &str| {
        let cells = items(&claim["cells"]).iter();
        let found = cells.filter(|cell| cell["verdict"] == verdict);
        found
            .map(|cell| text(&cell["source_id"]))
            .collect::<Vec<_>>()
    };
    html! {
        @for (words, ids) in [("No evidence: ", of("silent")), ("Could not fetch: ", of("unreachable"))] {
            @if !ids.is_empty() { p.small.muted { (words) (links(&ids)) } }
        }
    }
}

/// Names of sources, each linked to its row.
fn links(ids: &[&str]) -> Markup {
    html! {
        @for (index, id) in ids.iter().enumerate() {
            @if index > 0 { ", " }
            a href={ "#" (id) } { (id) }
        }
    }
}

fn ids(value: &Value) -> Vec<&str> {
    items(value).iter().filter_map(Value::as_str).collect()
}

fn passage(report: Document<'_>, id: &Value, verdict: &str, is_first: bool) -> Markup {
    let Some(passage) = report.passage(id) else {
        return html! {};
    };
    let source = report.source(&passage["source_id"]);
    let title = source.map(|source| text(&source["title"]));
    html! {
        figure class={ "evidence " (stance(verdict)) } id=[is_first.then_some(text(id))] {
            blockquote { (text(&passage["excerpt"])) }
            figcaption {
                strong { (text(id)) } " " (stance_words(verdict)) " · "
                a href={ "#" (text(&passage["source_id"])) } {
                    (title.filter(|title| !title.is_empty()).unwrap_or(text(&passage["source_id"])))
                }
            }
        }
    }
}

fn stance(verdict: &str) -> &'static str {
    match verdict {
        "supports" | "partial" => "supports",
        "contradicts" | "may_contradict" => "contradicts",
        _ => "mentions",
    }
}

fn stance_words(verdict: &str) -> &'static str {
    match verdict {
        "supports" => "supports",
        "partial" => "supports in part",
        "contradicts" => "contradicts",
        "may_contradict" => "may contradict",
        _ => "mentions",
    }
}

fn conflicts(report: Document<'_>) -> Markup {
    let conflicts = items(&report.get("synthesis")["conflicts"]);
    html! {
        @if !conflicts.is_empty() {
            h2 #conflicts { "Conflicts" }
            @for conflict in conflicts {
                .panel {
                    p { strong { (text(&conflict["claim"])) } }
                    p.small.muted { (kind_words(conflict)) }
                    .pair { @for side in items(&conflict["sides"]) { (side_of(side)) } }
                }
            }
        }
    }
}

fn kind_words(conflict: &Value) -> String {
    let kind = match text(&conflict["kind"]) {
        "number" => "The numbers differ",
        "date" => "The dates differ",
        _ => "The statements differ",
    };
    match text(&conflict["certainty"]) {
        "clear" => format!("{kind}."),
        _ => format!("{kind}, if both refer to the same thing. Please check."),
    }
}

fn side_of(side: &Value) -> Markup {
    html! {
        figure.evidence {
            @if let Some(value) = side["value"].as_str() { p { strong { (value) } } }
            blockquote { (text(&side["excerpt"])) }
            figcaption {
                (links(&ids(&side["source_ids"])))
                @if let Some(dated) = side["dated"].as_str() { " · dated " (dated) }
            }
        }
    }
}

fn gaps(report: Document<'_>) -> Markup {
    let gaps = items(&report.get("synthesis")["gaps"]);
    html! {
        @if !gaps.is_empty() {
            h2 #gaps { "Gaps" }
            ul { @for gap in gaps { li { (text(gap)) } } }
        }
    }
}

fn risks(report: Document<'_>) -> Markup {
    let risks = report.list("risk_notes");
    html! {
        @if !risks.is_empty() {
            h2 #risks { "Risks" }
            ul.checks {
                @for risk in risks {
                    li class=(if text(&risk["severity"]) == "high" { "fail" } else { "warn" }) {
                        (text(&risk["text"]))
                        p { (text(&risk["severity"])) " · " (links(&ids(&risk["source_ids"]))) }
                    }
                }
            }
        }
    }
}

fn sources(report: Document<'_>) -> Markup {
    let table = html! {
        table.stack {
            thead { tr { th { "Name" } th { "Source" } th { "Decision" } th { "Independent" } } }
            tbody { @for source in report.list("sources") { (source_row(report, source)) } }
        }
    };
    parts::scrolling("Sources and what they say", &table)
}

fn source_row(report: Document<'_>, source: &Value) -> Markup {
    let is_read = source["status"] == "read";
    html! {
        tr id=(text(&source["id"])) {
            th scope="row" { (text(&source["id"])) }
            td.long {
                @if let Some(title) = source["title"].as_str() { (title) br; }
                (parts::foreign_link(text(&source["target_url"])))
                @if let Some(dated) = source["dated"].as_str() { br; span.muted { "dated " (dated) } }
                @if !is_read { br; span.muted { "Could not fetch. " (why_not(report, source)) } }
            }
            td { @if is_read { (parts::label(text(&source["label"]))) } @else { span.tag { "could not fetch" } } }
            td.muted { @if is_read { (voice(report, source)) } @else { "–" } }
        }
    }
}

fn why_not<'a>(report: Document<'a>, source: &Value) -> &'a str {
    let mut unread = report.list("unreachable").iter();
    let found = unread.find(|other| other["source_id"] == source["id"]);
    found.map_or("", |found| text(&found["message"]))
}

/// Whether a source is independent, or a copy of others.
fn voice(report: Document<'_>, source: &Value) -> String {
    let mut groups = report.list("groups").iter();
    let group = groups.find(|group| group["id"] == source["group_id"]);
    let others: Vec<&str> = ids(&group.unwrap_or(&Value::Null)["source_ids"])
        .into_iter()
        .filter(|id| source["id"] != *id)
        .collect();
    match others.is_empty() {
        true => "yes".to_owned(),
        false => format!("same text as {}", others.join(", ")),
    }
}

/// The report of each fetched source, folded.
fn single_reports(report: Document<'_>) -> Markup {
    let read = report.list("sources").iter();
    let read = read.filter(|source| source["status"] == "read");
    html! {
        h2 #reports { "Reports by source" }
        .questions {
            @for (source, single) in read.zip(report.list("reports")) {
                details {
                    summary {
                        h3 { (text(&source["id"])) " · " (source["title"].as_str().unwrap_or(text(&source["target_url"]))) }
                    }
                    (single_report(single))
                }
            }
        }
    }
}

fn single_report(single: &Value) -> Markup {
    let decision = &single["decision"];
    let quality = single["source_quality_score"].as_f64().unwrap_or_default();
    html! {
        p { (parts::label(text(&decision["label"]))) " " (text(&single["answer"])) }
        @for cited in items(&single["citations"]) {
            figure class={ "evidence " (stance(text(&cited["stance"]))) } {
                blockquote { (text(&cited["excerpt"])) }
                figcaption { strong { (text(&cited["id"])) } }
            }
        }
        dl.facts {
            dt { "Decision" } dd { (text(&decision["summary"])) }
            dt { "Quality" } dd { (parts::share("Quality of the source", quality)) }
            @for gap in items(&single["gaps"]) { dt { "Gap" } dd { (text(gap)) } }
        }
    }
}

fn hashes(report: Document<'_>) -> Markup {
    html! {
        h2 #verify { "Verify this report" }
        p {
            "A source hash is SHA-256 of the text that the excerpts come from. The result hash is SHA-256 of the report as "
            "canonical JSON (RFC 8785). The JSON download contains everything they cover."
        }
        dl.facts {
            dt { "Result hash" } dd { span.hash { (text(report.get("result_hash"))) } }
            dt { "Order" } dd { span.hash { (text(report.get("order_id"))) } }
            @for hash in report.list("source_hashes") {
                dt { (text(&hash["source_id"])) }
                dd {
                    span.hash { (text(&hash["sha256"])) }
                    @if let Some(at) = hash["fetched_at"].as_u64() {
                        br; span.small.muted { "fetched " (parts::time(UnixSeconds(at))) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::pages::orders::delivery::report::*;

    #[test]
    fn references_lead_to_passages_that_are_there() {
        let Value::Object(report) = json!({"citations": [{"id": "S1.E1"}]}) else {
            panic!("an object")
        };
        let shown = with_references("a [S1.E1] b [S2.E1] <c> ] [", Document(&report));
        assert_eq!(
            shown.into_string(),
            r##"a <a href="#S1.E1">[S1.E1]</a> b [S2.E1] &lt;c&gt; ] ["##
        );
    }

    #[test]
    fn copies_are_said_to_speak_as_one() {
        let Value::Object(report) = json!({"groups": [
            {"id": "G1", "source_ids": ["S1", "S3"]}, {"id": "G2", "source_ids": ["S2"]},
        ]}) else {
            panic!("an object")
        };
        let of =
            |id: &str, group: &str| voice(Document(&report), &json!({"id": id, "group_id": group}));
        assert_eq!(of("S1", "G1"), "same text as S3");
        assert_eq!(of("S2", "G2"), "yes");
    }

    #[test]
    fn a_claim_says_who_is_for_and_against_it() {
        for (for_it, against, said) in [
            (0, 0, "No source supports it."),
            (1, 0, "Supported by 1 independent source."),
            (
                2,
                1,
                "Supported by 2 independent sources; contradicted by 1.",
            ),
        ] {
            let claim = json!({"supporting_groups": for_it, "opposing_groups": against});
            assert_eq!(standing(&claim), said);
        }
    }
}
