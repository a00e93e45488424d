//! What a list of findings is spared before it is cited: the same words twice, the header of a table as a statement, and
//! in other languages than English a denial as support.

use super::abroad::{denies, says_less_abroad};
use crate::evidence::reading::language::Language;
use crate::evidence::reading::page::Page;
use crate::evidence::reading::text::plain;
use crate::evidence::{Check, Finding, Label, Note, NoteKind, QuestionKind, Stance};
use crate::markdown::PassageKind;

/// Leaves out findings that read like one before them, and lets no header of a table speak for or against anything: it
/// says what its rows are about, not how it is.
pub(crate) fn settle(check: &mut Check, page: &Page<'_>, question: &str) {
    if is_denied_abroad(check, page, question) {
        doubt(check);
    }
    if check.label == Label::Supported && says_less_abroad(check, page, question) {
        check.label = Label::PartiallySupported;
        if let [claim] = &mut check.claims[..] {
            claim.label = Label::PartiallySupported;
        }
    }
    for finding in &mut check.findings {
        if is_header(finding, page) {
            finding.stance = Stance::Mentions;
        }
    }
    leave_out_echoes(check, page.text);
}

/// Whether one of a statement and its best finding has a negation that the other lacks, in a language that the fitted
/// decisions have not seen: they take "Hunde sind nicht erlaubt" for a yes.
fn is_denied_abroad(check: &Check, page: &Page<'_>, question: &str) -> bool {
    let is_statement = matches!(check.kind, QuestionKind::Claim | QuestionKind::YesNo);
    let is_carried = matches!(check.label, Label::Supported | Label::PartiallySupported);
    let Some(best) = check.findings.first() else {
        return false;
    };
    page.language != Language::English
        && is_statement
        && is_carried
        && denies(page, question) != denies(page, &page.text[best.range.clone()])
}

fn doubt(check: &mut Check) {
    check.label = Label::Weak;
    check.confidence = 1.0 - check.support_score;
    if let [claim] = &mut check.claims[..] {
        claim.label = Label::Weak;
    }
    for finding in &mut check.findings {
        if finding.stance == Stance::Supports {
            finding.stance = Stance::Mentions;
        }
    }
    if let Some(best) = check.findings.first_mut() {
        best.stance = Stance::Contradicts;
    }
    let note = Note {
        kind: NoteKind::PossibleContradiction,
        finding: Some(0),
    };
    if !check.notes.contains(&note) {
        check.notes.push(note);
    }
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
    use crate::evidence::{Label, QuestionKind, Source, Stance, check};
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
    fn a_denial_in_another_language_is_no_yes() {
        let text = "Das Freibad in Neuhausen liegt am See und ist für alle da. Hunde sind nicht erlaubt. Das Bad öffnet \
                    am 15. Mai und schließt im September, und die Karten gelten auch im Hallenbad.";
        let said = |question: &str| {
            let found = check(&Source::of_text(text), question);
            let stance = found.findings.first().map(|best| best.stance);
            (found.kind, found.label, stance)
        };
        let doubted = (Label::Weak, Some(Stance::Contradicts));
        let (kind, label, stance) = said("Sind Hunde erlaubt?");
        assert_eq!(kind, QuestionKind::YesNo);
        assert_eq!((label, stance), doubted);
        assert_eq!(said("Hunde sind nicht erlaubt.").1, Label::Supported);
    }

    #[test]
    fn nor_is_one_in_a_language_of_which_only_negations_are_known() {
        for (text, stated, denied) in [
            (
                "Färjan går från maj till september. Rederiet har köpt en elektrisk färja från Norge. \
                 Hundar får åka med på övre däck.",
                "Rederiet har köpt en elektrisk färja från Norge.",
                "Rederiet har inte köpt en elektrisk färja från Norge.",
            ),
            (
                "松岭步道重新开放。游客可以在北门停车场免费停车。步道夜间关闭，冬季开放时间为上午八点到下午四点。",
                "游客可以在北门停车场免费停车。",
                "游客不可以在北门停车场免费停车。",
            ),
        ] {
            let label = |claim: &str| check(&Source::of_text(text), claim).label;
            assert_eq!(label(stated), Label::Supported, "{stated}");
            let label = label(denied);
            assert!(
                !matches!(label, Label::Supported | Label::PartiallySupported),
                "{denied}: {label:?}"
            );
        }
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
