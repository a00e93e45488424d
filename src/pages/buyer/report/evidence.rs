//! Claims beside their excerpts. A table row is shown under its table's header.

use maud::{Markup, html};

use crate::pages::buyer::report::{Citation, ReportView, Risk};
use crate::pages::parts;

/// Each claim with its excerpts, then the excerpts that no claim cites.
pub(crate) fn claims(view: &ReportView<'_>) -> Markup {
    let cited = |id: &str| {
        view.claims
            .iter()
            .any(|claim| claim.citation_ids.contains(&id))
    };
    let others: Vec<_> = view
        .citations
        .iter()
        .filter(|citation| !cited(citation.id))
        .collect();
    html! {
        @if view.citations.is_empty() { p { "The source says nothing about the question." } }
        ul.claims {
            @for (index, claim) in view.claims.iter().enumerate() {
                li {
                    div {
                        h3 { "Claim " (index + 1) }
                        p.claim { (claim.text) }
                        p.small.muted {
                            (parts::share("How well the evidence supports this claim", claim.confidence)) " support, "
                            @if claim.origin == "deterministic" { "found by the evidence check" }
                            @else { "written by a language model, then checked" }
                        }
                    }
                    div {
                        h3 { "Evidence" }
                        @for citation in view.citations.iter().filter(|found| claim.citation_ids.contains(&found.id)) {
                            @let first = view.claims[..index].iter().all(|other| !other.citation_ids.contains(&citation.id));
                            (figure(citation, first.then_some(citation.id)))
                        }
                    }
                }
            }
            @if !others.is_empty() {
                li {
                    div {
                        h3 { "Also found" }
                        p { "Related passages that no claim relies on." }
                    }
                    div { @for citation in others { (figure(citation, Some(citation.id))) } }
                }
            }
        }
    }
}

/// One excerpt. `anchor` is its place on the page.
pub(crate) fn figure(citation: &Citation<'_>, anchor: Option<&str>) -> Markup {
    html! {
        figure class={ "evidence " (stance(citation.stance)) } id=[anchor] {
            blockquote {
                @if citation.headings.len() > 1 {
                    span.path { (citation.headings[1..].join(" › ")) }
                }
                @match row(citation) {
                    Some((head, cells)) => table.labelled {
                        thead { tr { @for cell in &head { th { (cell) } } } }
                        tbody { tr {
                            @for (label, cell) in head.iter().zip(&cells) {
                                td data-label=(label) { span { (marked(cell, &citation.terms)) } }
                            }
                        } }
                    },
                    None => (marked(citation.excerpt, &citation.terms)),
                }
            }
            figcaption { strong { (citation.id) } " " (stance_words(citation.stance)) }
        }
    }
}

fn stance(name: &str) -> &'static str {
    match name {
        "supports" => "supports",
        "contradicts" => "contradicts",
        _ => "mentions",
    }
}

fn stance_words(name: &str) -> &'static str {
    match name {
        "supports" => "supports",
        "contradicts" => "contradicts",
        "mentions" => "mentions",
        _ => "",
    }
}

/// The cells of a table row and of its header, if their numbers match.
fn row<'a>(citation: &Citation<'a>) -> Option<(Vec<String>, Vec<String>)> {
    let head = cells(citation.head.filter(|_| citation.kind == "row")?);
    let found = cells(citation.excerpt);
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
fn marked(text: &str, terms: &[&str]) -> Markup {
    html! {
        @for (word, is_marked) in runs(text, terms) {
            @if is_marked { mark { (word) } } @else { (word) }
        }
    }
}

/// `text` in pieces; the flag tells which are words that begin with a term.
fn runs<'a>(text: &'a str, terms: &[&str]) -> Vec<(&'a str, bool)> {
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

fn begins_with_term(word: &str, terms: &[&str]) -> bool {
    let word = word.to_lowercase();
    terms.iter().any(|term| {
        let term = term.to_lowercase();
        word == term || (term.chars().count() > 3 && word.starts_with(&term))
    })
}

/// Text in which `[E1]` links to that excerpt.
pub(crate) fn with_references(text: &str, citations: &[Citation<'_>]) -> Markup {
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

pub(crate) fn gaps(gaps: &[&str]) -> Markup {
    html! {
        @if !gaps.is_empty() {
            h2 #gaps { "Gaps" }
            ul { @for gap in gaps { li { (gap) } } }
        }
    }
}

pub(crate) fn risks(risks: &[Risk<'_>]) -> Markup {
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

fn severity(name: &str) -> &'static str {
    match name {
        "high" | "critical" => "fail",
        _ => "warn",
    }
}

#[cfg(test)]
mod tests {
    use crate::pages::buyer::report::evidence::*;

    #[test]
    fn a_row_is_shown_under_its_head() {
        let citation = Citation {
            kind: "row",
            excerpt: r"| Pro \| Team | 12 |",
            head: Some("| Plan | Price |"),
            ..Citation::default()
        };
        let expected = (
            vec!["Plan".to_owned(), "Price".to_owned()],
            vec!["Pro | Team".to_owned(), "12".to_owned()],
        );
        assert_eq!(row(&citation), Some(expected));
        let other = Citation {
            excerpt: "| one |",
            ..citation.clone()
        };
        assert_eq!(row(&other), None, "it does not fit the head");
        let text = Citation {
            excerpt: "no row",
            ..citation
        };
        assert_eq!(row(&text), None);
    }

    /// On a narrow screen the head is not shown, and each cell stands beside its label.
    #[test]
    fn each_cell_of_a_row_has_its_label() {
        let citation = Citation {
            kind: "row",
            excerpt: "| Team | 12 |",
            head: Some("| Plan | Price |"),
            terms: vec!["12"],
            ..Citation::default()
        };
        let shown = figure(&citation, None).into_string();
        for cell in [
            r#"<td data-label="Plan"><span>Team</span></td>"#,
            r#"<td data-label="Price"><span><mark>12</mark></span></td>"#,
        ] {
            assert!(shown.contains(cell), "{shown}");
        }
    }

    #[test]
    fn words_that_begin_with_a_term_are_marked() {
        let text = "It delivered 4.1 GWh, delivers.";
        let marked: Vec<_> = runs(text, &["deliver", "4.1", "it"])
            .into_iter()
            .filter_map(|(word, is_marked)| is_marked.then_some(word))
            .collect();
        assert_eq!(marked, ["It", "delivered", "4.1", "delivers"]);
        let whole: String = runs(text, &["deliver"]).iter().map(|run| run.0).collect();
        assert_eq!(whole, text, "nothing is lost");
    }

    #[test]
    fn only_known_references_lead_somewhere() {
        let citations = [Citation {
            id: "E1",
            ..Citation::default()
        }];
        let shown = with_references("a [E1] b [E2] <c> [", &citations).into_string();
        assert_eq!(shown, r##"a <a href="#E1">[E1]</a> b [E2] &lt;c&gt; ["##);
    }
}
