//! What a list of findings is spared before it is cited: the same words twice, and the header of a table as a statement.

use crate::evidence::reading::page::Page;
use crate::evidence::reading::text::plain;
use crate::evidence::{Check, Finding, Stance};
use crate::markdown::PassageKind;

/// Leaves out findings that read like one before them, and lets no header of a table speak for or against anything: it
/// says what its rows are about, not how it is.
pub(crate) fn settle(check: &mut Check, page: &Page<'_>) {
    for finding in &mut check.findings {
        if is_header(finding, page) {
            finding.stance = Stance::Mentions;
        }
    }
    leave_out_echoes(check, page.text);
}

fn is_header(finding: &Finding, page: &Page<'_>) -> bool {
    let at = page
        .units
        .binary_search_by_key(&finding.range.start, |unit| unit.range.start);
    finding.kind == PassageKind::Row && at.is_ok_and(|unit| page.is_header(unit))
}

/// A row or an item says the same in words alone where it stands in the same table or list, under the same line.
fn is_echo(one: &Finding, other: &Finding, text: &str) -> bool {
    let said = |finding: &Finding| plain(&text[finding.range.clone()]);
    let led = |finding: &Finding| finding.context.clone().map(|range| plain(&text[range]));
    said(one) == said(other) && led(one) == led(other) && one.stance == other.stance
}

fn leave_out_echoes(check: &mut Check, text: &str) {
    let mut kept: Vec<Finding> = Vec::new();
    let mut places = Vec::new();
    for finding in check.findings.drain(..) {
        let known = kept.iter().position(|other| is_echo(other, &finding, text));
        places.push(known.unwrap_or(kept.len()));
        if known.is_none() {
            kept.push(finding);
        }
    }
    if kept.len() == places.len() {
        check.findings = kept;
        return;
    }
    check.findings = kept;
    let moved = |at: usize| places.get(at).copied();
    for claim in &mut check.claims {
        let mut seen = Vec::new();
        for at in claim.findings.iter().filter_map(|at| moved(*at)) {
            if !seen.contains(&at) {
                seen.push(at);
            }
        }
        claim.findings = seen;
    }
    for comparison in &mut check.comparisons {
        comparison.finding = comparison.finding.and_then(moved);
    }
    for note in &mut check.notes {
        note.finding = note.finding.and_then(moved);
    }
    let mut notes = Vec::new();
    for note in check.notes.drain(..) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    check.notes = notes;
}

#[cfg(test)]
mod tests {
    use crate::evidence::{Source, Stance, check};
    use crate::markdown::PassageKind;

    #[test]
    fn the_same_words_are_cited_once() {
        let said = "The plant closed in May 2024 after a fire.";
        let text = format!("# News\n\n{said}\n\nSomething else.\n\n# Again\n\n**{said}**\n");
        let found = check(&Source::of_text(&text), "The plant closed in May 2024.");
        let such = found
            .findings
            .iter()
            .filter(|finding| text[finding.range.clone()].contains("closed in May"));
        assert_eq!(such.count(), 1, "{:?}", found.findings);
        let known = found.findings.len();
        let claims = found.claims.iter().flat_map(|claim| &claim.findings);
        assert!(claims.copied().all(|at| at < known));
    }

    #[test]
    fn a_header_supports_nothing() {
        let text = "# Fields\n\n| Field name | Example | Required |\n|---|---|---|\n| Product name | Kettle | yes |\n";
        let found = check(&Source::of_text(text), "Is the field name required?");
        let header = found.findings.iter().find(|finding| {
            finding.kind == PassageKind::Row && text[finding.range.clone()].contains("Example")
        });
        assert!(header.is_some_and(|header| header.stance == Stance::Mentions));
    }
}
