//! Claims beside their excerpts. A table row is shown under its table's header.

use maud::{Markup, html};

use crate::evidence::report::citation::Citation;
use crate::evidence::report::risks::{RiskDetail, RiskExcerpt, Severity};
use crate::evidence::report::{Comparison, Origin, Report};
use crate::evidence::{PassageKind, Relation, Stance, plain};
use crate::pages::buyer::report::source::anchor as place;
use crate::pages::parts;

/// Each claim with its excerpts, then the excerpts that no claim cites. `source` is the text that stands
/// beside them.
pub(crate) fn claims(report: &Report, source: Option<&str>) -> Markup {
    let is_cited = |id: &String| {
        report
            .key_claims
            .iter()
            .any(|claim| claim.citation_ids.contains(id))
    };
    let others = report
        .citations
        .iter()
        .filter(|citation| !is_cited(&citation.id));
    let (against, others): (Vec<_>, Vec<_>) =
        others.partition(|citation| citation.stance == Stance::Contradicts);
    html! {
        @if report.citations.is_empty() {
            p { @if left_out(report).is_some() { "The rest of the source says nothing about the question." }
                @else { "The source says nothing about the question." } }
        }
        @if left_out(report).is_some() {
            .note.warn { p { "One passage was left out because it reads like instructions to an AI system. The source text shows which." } }
        }
        ul.claims {
            @for (index, claim) in report.key_claims.iter().enumerate() {
                li {
                    div {
                        h3 { "Claim " (index + 1) }
                        p.claim dir="auto" { (claim.claim) }
                        p.small.muted {
                            (parts::share("How well the evidence supports this claim", claim.confidence)) " support · "
                            @match claim.origin {
                                Origin::Deterministic => "found by the evidence check",
                                Origin::Llm => "written by a language model, then checked",
                            }
                        }
                    }
                    div {
                        h3 { "Evidence" }
                        @for citation in report.citations.iter().filter(|found| claim.citation_ids.contains(&found.id)) {
                            @let first = report.key_claims[..index].iter().all(|other| !other.citation_ids.contains(&citation.id));
                            (cited(citation, first.then_some(&citation.id), source))
                        }
                    }
                }
            }
            (uncited("Against it", "Passages that contradict what was asked.", &against, source))
            (uncited("Also found", "Related passages that no claim relies on.", &others, source))
        }
    }
}

/// Excerpts that no claim cites.
fn uncited(title: &str, what: &str, citations: &[&Citation], source: Option<&str>) -> Markup {
    html! {
        @if !citations.is_empty() {
            li {
                div { h3 { (title) } p { (what) } }
                div { @for citation in citations { (cited(citation, Some(&citation.id), source)) } }
            }
        }
    }
}

/// The passage that no finding rests on, because it reads like instructions to an AI system.
pub(super) fn left_out(report: &Report) -> Option<&RiskExcerpt> {
    let mut risks = report.risk_details.iter();
    let found = risks.find(|risk| risk.code == "embedded_agent_instructions");
    found.and_then(|risk| risk.excerpt.as_ref())
}

/// One excerpt. `anchor` is its place on the page.
pub(crate) fn figure(citation: &Citation, anchor: Option<&String>) -> Markup {
    cited(citation, anchor, None)
}

/// One excerpt with the name of its source, where there are several.
pub(crate) fn figure_from(citation: &Citation, name: &Markup) -> Markup {
    captioned(citation, None, None, Some(name))
}

/// One excerpt beside the source's text, into which it leads.
fn cited(citation: &Citation, anchor: Option<&String>, source: Option<&str>) -> Markup {
    captioned(citation, anchor, source, None)
}

fn captioned(
    citation: &Citation,
    anchor: Option<&String>,
    source: Option<&str>,
    name: Option<&Markup>,
) -> Markup {
    html! {
        figure class={ "evidence " (citation.stance) } id=[anchor] {
            blockquote dir="auto" {
                @if citation.heading_path.len() > 1 {
                    div.path { (citation.heading_path[1..].join(" › ")) }
                }
                @match row(citation) {
                    Some((head, cells)) => table.labelled {
                        thead { tr { @for cell in &head { th { (cell) } } } }
                        tbody { tr {
                            @for (label, cell) in head.iter().zip(&cells) {
                                td data-label=(label) { span { (highlight(cell, &citation.matched_terms)) } }
                            }
                        } }
                    },
                    None => {
                        @if let Some(before) = &citation.before { div.path { (plain(&before.excerpt)) } }
                        (highlight(citation.quote(), &citation.matched_terms))
                        @if let Some(after) = &citation.after { div.path { (plain(&after.excerpt)) } }
                    },
                }
            }
            figcaption {
                strong { (citation.id) } " " (stance_words(citation.stance))
                @if let Some(name) = name { " · " bdi { (name) } }
                @if let Some(speaker) = &citation.speaker { " · attributed to " bdi { (speaker) } }
                @if let Some(date) = &citation.date { " · date: " (date) }
                @if is_in(source, citation) && anchor.is_some() { span.screen { " · " a href={ "#" (place(&citation.id)) } { "Show in the text" } } }
                @if let Some(href) = citation.link.as_deref().and_then(parts::safe_href) {
                    span.screen { " · " a href=(href) rel="nofollow noopener noreferrer" { "Show on the page" } }
                }
            }
        }
    }
}

/// Whether a passage is marked in the text beside it.
fn is_in(source: Option<&str>, citation: &Citation) -> bool {
    source.is_some_and(|text| citation.start < citation.end && citation.end <= text.len())
}

pub(crate) fn stance_words(stance: Stance) -> &'static str {
    match stance {
        Stance::Supports => "supports",
        Stance::Contradicts => "contradicts",
        Stance::Mentions => "mentions",
    }
}

/// The cells of a table row and of its header, if their numbers match.
fn row(citation: &Citation) -> Option<(Vec<String>, Vec<String>)> {
    let head = citation.context.as_ref();
    let head = head.filter(|_| citation.kind == PassageKind::Row)?;
    let (head, found) = (cells(&head.excerpt), cells(&citation.excerpt));
    (!found.is_empty() && head.len() == found.len()).then_some((head, found))
}

/// The cells of a row of a markdown table.
fn cells(row: &str) -> Vec<String> {
    let Some(inner) = row
        .trim()
        .strip_prefix('|')
        .and_then(|row| row.strip_suffix('|'))
    else {
        return Vec::new();
    };
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut characters = inner.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.peek() == Some(&'|') => cell.extend(characters.next()),
            '|' => cells.push(std::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    cells.push(cell);
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// Text with the words that begin with one of `terms` highlighted.
fn highlight(text: &str, terms: &[String]) -> Markup {
    html! {
        @for (word, is_marked) in runs(text, terms) {
            @if is_marked { mark { (word) } } @else { (word) }
        }
    }
}

/// `text` in pieces; the flag tells which are words that begin with a term.
fn runs<'a>(text: &'a str, terms: &[String]) -> Vec<(&'a str, bool)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '.' || c == ',' || c == '\'' || c == '’';
    let mut runs: Vec<(&str, bool)> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let in_word = rest.starts_with(is_word);
        let end = rest.find(|c| is_word(c) != in_word).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        let whole = piece.trim_end_matches(['.', ',', '\'', '’']);
        if in_word && begins_with_term(whole, terms) {
            runs.push((whole, true));
            runs.push((&piece[whole.len()..], false));
        } else {
            runs.push((piece, false));
        }
        rest = after;
    }
    runs
}

fn begins_with_term(word: &str, terms: &[String]) -> bool {
    let word = word.to_lowercase();
    terms.iter().any(|term| {
        let term = term.to_lowercase();
        word == term || (term.chars().count() > 3 && word.starts_with(&term))
    })
}

/// Text in which `[E1]` links to that excerpt.
pub(crate) fn with_references(text: &str, citations: &[Citation]) -> Markup {
    let known = |id: &str| citations.iter().any(|citation| citation.id == id);
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('[') {
        let Some(length) = rest[start..].find(']') else {
            break;
        };
        let (before, id) = (&rest[..start], &rest[start + 1..start + length]);
        let after = &rest[start + length + 1..];
        if known(id) {
            pieces.push(html! { (before) a href={ "#" (id) } { "[" (id) "]" } });
        } else {
            pieces.push(html! { (&rest[..rest.len() - after.len()]) });
        }
        rest = after;
    }
    html! { @for piece in pieces { (piece) } (rest) }
}

/// The quantities of the question beside those of the source.
pub(crate) fn comparisons(comparisons: &[Comparison]) -> Markup {
    let is_first = |(at, compared): &(usize, &Comparison)| !comparisons[..*at].contains(*compared);
    let rows = || comparisons.iter().enumerate().filter(is_first);
    let table = html! {
        table {
            thead { tr { th { "Asked" } th { "In the source" } th { "Result" } } }
            tbody { @for (_, compared) in rows() {
                tr {
                    th scope="row" { (compared.asked) }
                    td {
                        (compared.found.as_deref().unwrap_or("none"))
                        @if let Some(id) = &compared.citation_id { " " a href={ "#" (id) } { "[" (id) "]" } }
                    }
                    td { span class={ "tag " (relation_tone(compared.relation)) } { (compared.result()) } }
                }
            } }
        }
    };
    html! {
        @if !comparisons.is_empty() {
            h2 #comparisons { "Figures compared" }
            (parts::scrolling("Figures compared", &table))
        }
    }
}

pub(crate) fn relation_tone(relation: Relation) -> &'static str {
    match relation {
        Relation::Same | Relation::Within => "good",
        Relation::Differs => "bad",
        Relation::NotFound => "",
    }
}

pub(crate) fn gaps(gaps: &[String]) -> Markup {
    html! {
        @if !gaps.is_empty() {
            h2 #gaps { "Gaps" }
            ul { @for gap in gaps { li dir="auto" { (gap) } } }
        }
    }
}

pub(crate) fn risks(risks: &[RiskDetail]) -> Markup {
    html! {
        @if !risks.is_empty() {
            h2 #risks { "Risks" }
            ul.checks {
                @for risk in risks {
                    li class=(severity(risk.severity)) { (risk.text) p { code { (risk.code) } } }
                }
            }
        }
    }
}

pub(crate) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::High => "fail",
        _ => "warn",
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::report::citation::Context;
    use crate::evidence::report::sample::outcomes;
    use crate::evidence::{Label, Match};
    use crate::pages::buyer::report::evidence::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    /// The row of a table of plans.
    fn cited(excerpt: &str, terms: &[&str]) -> Citation {
        Citation {
            id: "E1".to_owned(),
            url: String::new(),
            excerpt: excerpt.to_owned(),
            quote: String::new(),
            start: 0,
            end: excerpt.len(),
            truncated: false,
            matching: Match::Partial,
            stance: Stance::Mentions,
            score: 1.0,
            matched_terms: texts(terms),
            missing_terms: Vec::new(),
            kind: PassageKind::Row,
            heading_path: Vec::new(),
            context: Some(Context {
                excerpt: "| Plan | Price |".to_owned(),
                start: 0,
                end: 16,
            }),
            before: None,
            after: None,
            link: None,
            speaker: None,
            date: None,
        }
    }

    #[test]
    fn a_row_is_shown_under_its_head() {
        let citation = cited(r"| Pro \| Team | 12 |", &[]);
        let expected = (
            vec!["Plan".to_owned(), "Price".to_owned()],
            vec!["Pro | Team".to_owned(), "12".to_owned()],
        );
        assert_eq!(row(&citation), Some(expected));
        let other = Citation {
            excerpt: "| one |".to_owned(),
            ..citation.clone()
        };
        assert_eq!(row(&other), None, "it does not fit the head");
        let text = Citation {
            excerpt: "no row".to_owned(),
            ..citation
        };
        assert_eq!(row(&text), None);
    }

    /// On a narrow screen the head is not shown, and each cell stands beside its label.
    #[test]
    fn each_cell_of_a_row_has_its_label() {
        let citation = cited("| Team | 12 |", &["12"]);
        let shown = figure(&citation, None).into_string();
        for cell in [
            r#"<td data-label="Plan"><span>Team</span></td>"#,
            r#"<td data-label="Price"><span><mark>12</mark></span></td>"#,
        ] {
            assert!(shown.contains(cell), "{shown}");
        }
    }

    /// The passage that decides a contradicted report was filed as one that nothing relies on.
    #[test]
    fn passages_that_contradict_are_shown_as_such() {
        let outcomes = outcomes().expect("the reports");
        let contradicted = outcomes
            .iter()
            .find(|report| report.decision.label == Label::Contradicted);
        let shown = claims(contradicted.expect("one is contradicted"), None).into_string();
        assert!(
            shown.contains("Passages that contradict what was asked."),
            "{shown}"
        );
        assert!(!shown.contains("no claim relies on"), "{shown}");
    }

    #[test]
    fn a_figure_is_compared_in_one_row() {
        let compared = Comparison {
            asked: "1833".to_owned(),
            found: Some("1833".to_owned()),
            relation: Relation::Same,
            order: None,
            citation_id: None,
        };
        let shown = comparisons(&[compared.clone(), compared]).into_string();
        assert_eq!(shown.matches("<th scope=\"row\">").count(), 1, "{shown}");
    }

    #[test]
    fn words_that_begin_with_a_term_are_marked() {
        let text = "It delivered 4.1 GWh, delivers.";
        let marked: Vec<_> = runs(text, &texts(&["deliver", "4.1", "it"]))
            .into_iter()
            .filter_map(|(word, is_marked)| is_marked.then_some(word))
            .collect();
        assert_eq!(marked, ["It", "delivered", "4.1", "delivers"]);
        let whole: String = runs(text, &texts(&["deliver"]))
            .iter()
            .map(|run| run.0)
            .collect();
        assert_eq!(whole, text, "nothing is lost");
    }

    #[test]
    fn only_known_references_lead_somewhere() {
        let citations = [cited("a", &[])];
        let shown = with_references("a [E1] b [E2] <c> [", &citations).into_string();
        assert_eq!(shown, r##"a <a href="#E1">[E1]</a> b [E2] &lt;c&gt; ["##);
    }
}
