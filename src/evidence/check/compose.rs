//! How the answer is put together: a label for each claim from what its sources say, citations, what to correct, the score.

use std::collections::HashMap;

use super::cut::{Statement, cut};
use super::judge::{Bench, Heard};
use super::{
    CLAIM_CITATIONS_MAX, CheckCitation, CheckCounts, CheckReport, CheckRequest, CheckSource,
    CheckedClaim, CheckedSource, Correction, Figure, SOURCE_BYTES_MAX, STATEMENTS_MAX, SourceRisk,
    SourceVerdict, TEXT_CHARACTERS_MAX,
};
use crate::evidence::bundle::decide::BundleLabel;
use crate::evidence::reading::language::Language;
use crate::evidence::reading::text::{URL_CHARS_MAX, bounded, head, plain};
use crate::evidence::report::action::AgentAction;
use crate::evidence::report::canonical::sha256;
use crate::evidence::report::citation::{citation, rounded, terms};
use crate::evidence::report::examine::Readable;
use crate::evidence::report::risks::{Risk, RiskDetail, of_instructions};
use crate::evidence::report::{Comparison, Success};
use crate::evidence::{Examiner, Finding, Label, Relation, Source, Stance};

/// Citations of one source for one claim.
const OF_SOURCE_MAX: usize = 2;
const COMPARISONS_MAX: usize = 8;
const VALUE_CHARS_MAX: usize = 200;
const READ_AS_CHARS_MAX: usize = 1_200;
const QUOTE_CHARS_MAX: usize = 400;
const TITLE_CHARS_MAX: usize = 300;
const ID_CHARS_MAX: usize = 64;
/// What a claim counts that is borne out in part.
const PART: f64 = 0.5;
/// The least that a contradiction is, however unsure the estimate.
const CONTRADICTION_MIN: f64 = 0.5;

pub(super) fn compose(request: &CheckRequest<'_>, sources: &[CheckSource<'_>]) -> CheckReport {
    let text = request.text;
    let read = text
        .char_indices()
        .nth(TEXT_CHARACTERS_MAX)
        .map_or(text.len(), |(end, _)| end);
    let (statements, is_cut) = cut(&text[..read], STATEMENTS_MAX);
    let readables: Vec<Readable<'_>> = sources.iter().map(readable).collect();
    let examiners: Vec<Examiner<'_>> = readables.iter().map(Readable::examiner).collect();
    let mut bench = Bench::new(&examiners, request.depth);
    let mut citations = Citations {
        sources,
        known: HashMap::new(),
        counts: vec![0; sources.len()],
    };
    let numbered = statements.iter().zip(1..);
    let claims: Vec<CheckedClaim> = numbered
        .map(|(statement, number)| {
            let claim = blank(text, statement, number);
            match statement.reason {
                Some(_) => claim,
                None => judged(claim, &bench.hear(&statement.read_as), &mut citations),
            }
        })
        .collect();
    let counts = counts(&claims);
    let corrections: Vec<Correction> = claims
        .iter()
        .filter_map(|claim| correction(text, claim))
        .collect();
    let risk_details = risks(sources, &readables, &examiners);
    let agent_action = action(&counts, &risk_details);
    let mut risks: Vec<String> = Vec::new();
    for risk in &risk_details {
        if !risks.iter().any(|code| *code == risk.risk.code) {
            risks.push(risk.risk.code.to_string());
        }
    }
    CheckReport {
        status: Success::Success,
        result_hash: String::new(),
        text_sha256: sha256(text.as_bytes()),
        created_at: request.now.0,
        depth: request.depth,
        text: text.to_owned(),
        truncated: is_cut || read < text.len(),
        summary: summary(&counts, sources.len()),
        score: score(&counts),
        counts,
        agent_action,
        corrections,
        sources: source_lines(sources, &examiners, &claims),
        claims,
        risks,
        risk_details,
        links: None,
    }
}

fn readable<'a>(source: &CheckSource<'a>) -> Readable<'a> {
    let seen = Source {
        title: source.title,
        language: source.language,
        text: head(source.text, SOURCE_BYTES_MAX),
    };
    Readable::of(seen, source.is_suspected)
}

/// A claim that no source was asked about.
fn blank(text: &str, statement: &Statement, number: usize) -> CheckedClaim {
    CheckedClaim {
        id: format!("C{number}"),
        start: statement.range.start,
        end: statement.range.end,
        text: text[statement.range.clone()].to_owned(),
        read_as: statement
            .is_completed
            .then(|| bounded(&statement.read_as, READ_AS_CHARS_MAX)),
        needs_grounding: statement.reason.is_none(),
        no_grounding_reason: statement.reason,
        label: None,
        support_score: None,
        contradiction_score: None,
        citations: Vec::new(),
        comparisons: Vec::new(),
        missing_terms: Vec::new(),
        by_source: Vec::new(),
    }
}

/// The claim with what its sources say.
fn judged(claim: CheckedClaim, heard: &[Heard], known: &mut Citations<'_>) -> CheckedClaim {
    let label = label(heard);
    let most = |value: fn(&Heard) -> f64| rounded(heard.iter().map(value).fold(0.0, f64::max));
    let mut ordered: Vec<&Heard> = heard.iter().collect();
    ordered.sort_by(|one, other| {
        weight(other, label)
            .total_cmp(&weight(one, label))
            .then(one.source.cmp(&other.source))
    });
    let citations = known.of_claim(&ordered, label);
    let deciding = ordered.first();
    let mut by_source: Vec<SourceVerdict> = heard
        .iter()
        .map(|heard| SourceVerdict {
            source_id: known.id(heard.source),
            label: heard.check.label,
            support_score: rounded(heard.check.support_score),
            contradiction_score: rounded(contradiction(heard)),
        })
        .collect();
    // S2 before S10.
    by_source.sort_by(|one, other| {
        let (one, other) = (&one.source_id, &other.source_id);
        one.len().cmp(&other.len()).then_with(|| one.cmp(other))
    });
    CheckedClaim {
        label: Some(label),
        support_score: Some(most(|heard| heard.check.support_score)),
        contradiction_score: Some(most(contradiction)),
        comparisons: deciding.map_or_else(Vec::new, |heard| known.comparisons(heard, &citations)),
        missing_terms: deciding.map_or_else(Vec::new, |heard| terms(&heard.check.missing)),
        citations,
        by_source,
        ..claim
    }
}

fn contradiction(heard: &Heard) -> f64 {
    match heard.check.label {
        Label::Contradicted => heard.denial.max(CONTRADICTION_MIN),
        _ => heard.denial,
    }
}

/// How much a source has to do with a label.
fn weight(heard: &Heard, label: BundleLabel) -> f64 {
    let speaks_against = heard.check.label == Label::Contradicted;
    match label {
        BundleLabel::Contradicted | BundleLabel::Contested if speaks_against => {
            1.0 + contradiction(heard)
        }
        _ => heard.check.support_score,
    }
}

/// The label of a claim from all sources: one supporting source is enough, and a contradicting one is always reported.
fn label(heard: &[Heard]) -> BundleLabel {
    let has = |label: Label| heard.iter().any(|heard| heard.check.label == label);
    let of = |label: Label| heard.iter().filter(move |heard| heard.check.label == label);
    let against = of(Label::Contradicted)
        .map(contradiction)
        .fold(0.0, f64::max);
    let in_part = of(Label::PartiallySupported)
        .map(|heard| heard.check.support_score)
        .fold(0.0, f64::max);
    if has(Label::Contradicted) {
        match has(Label::Supported) || in_part >= against {
            true => BundleLabel::Contested,
            false => BundleLabel::Contradicted,
        }
    } else if has(Label::Supported) {
        BundleLabel::Supported
    } else if has(Label::PartiallySupported) {
        BundleLabel::PartiallySupported
    } else if has(Label::Weak) {
        BundleLabel::Weak
    } else {
        BundleLabel::Unsupported
    }
}

/// The passages that are cited, each under one name: `S2.E1`.
struct Citations<'a> {
    sources: &'a [CheckSource<'a>],
    /// By source and first byte.
    known: HashMap<(usize, usize), String>,
    /// Of each source.
    counts: Vec<usize>,
}

impl Citations<'_> {
    fn id(&self, source: usize) -> String {
        bounded(self.sources[source].id, ID_CHARS_MAX)
    }

    /// Those that carry the label first; then those of the other side.
    fn of_claim(&mut self, ordered: &[&Heard], label: BundleLabel) -> Vec<CheckCitation> {
        let first = match label {
            BundleLabel::Contradicted | BundleLabel::Contested => Stance::Contradicts,
            _ => Stance::Supports,
        };
        let mut found = Vec::new();
        for stance in [first, opposite(first)] {
            for heard in ordered {
                let findings = heard.check.findings.iter();
                let such = findings.filter(|finding| finding.stance == stance);
                for finding in such.take(OF_SOURCE_MAX) {
                    if found.len() < CLAIM_CITATIONS_MAX {
                        found.push(self.cite(heard.source, finding));
                    }
                }
            }
        }
        found
    }

    fn cite(&mut self, source: usize, finding: &Finding) -> CheckCitation {
        let (own, start) = (&self.sources[source], finding.range.start);
        let id = self.id(source);
        let count = &mut self.counts[source];
        let name = self.known.entry((source, start)).or_insert_with(|| {
            *count += 1;
            format!("{id}.E{count}")
        });
        let mut cited = citation(
            0,
            finding,
            own.text,
            &bounded(own.url.unwrap_or_default(), URL_CHARS_MAX),
        );
        cited.id = name.clone();
        CheckCitation {
            source_id: id,
            excerpt_sha256: sha256(cited.excerpt.as_bytes()),
            citation: cited,
        }
    }

    /// The quantities of a claim beside those of a source, whose passages are cited or not.
    fn comparisons(&self, heard: &Heard, cited: &[CheckCitation]) -> Vec<Comparison> {
        let text = self.sources[heard.source].text;
        let compared = heard.check.comparisons.iter().take(COMPARISONS_MAX);
        let compared = compared.map(|compared| {
            let found = compared.found.clone().and_then(|range| text.get(range));
            let start = compared
                .finding
                .and_then(|finding| heard.check.findings.get(finding));
            let id = start.and_then(|finding| self.known.get(&(heard.source, finding.range.start)));
            Comparison {
                asked: bounded(&compared.asked, VALUE_CHARS_MAX),
                found: found.map(|words| bounded(&plain(words), VALUE_CHARS_MAX)),
                relation: compared.relation,
                order: compared.order,
                citation_id: id
                    .filter(|id| cited.iter().any(|cited| cited.citation.id == **id))
                    .cloned(),
            }
        });
        compared.collect()
    }
}

fn opposite(stance: Stance) -> Stance {
    match stance {
        Stance::Supports => Stance::Contradicts,
        _ => Stance::Supports,
    }
}

fn counts(claims: &[CheckedClaim]) -> CheckCounts {
    let with = |label: BundleLabel| {
        claims
            .iter()
            .filter(|claim| claim.label == Some(label))
            .count()
    };
    CheckCounts {
        claims: claims.len(),
        need_grounding: claims.iter().filter(|claim| claim.needs_grounding).count(),
        supported: with(BundleLabel::Supported),
        partially_supported: with(BundleLabel::PartiallySupported),
        weak: with(BundleLabel::Weak),
        unsupported: with(BundleLabel::Unsupported),
        contradicted: with(BundleLabel::Contradicted),
        contested: with(BundleLabel::Contested),
    }
}

/// As [`super::SCORE_DEFINITION`] says.
#[expect(clippy::cast_precision_loss, reason = "a text has few claims")]
fn score(counts: &CheckCounts) -> Option<f64> {
    let all = counts.need_grounding;
    let credit = counts.supported as f64 + PART * counts.partially_supported as f64;
    (all > 0).then(|| rounded(credit / all as f64))
}

/// For a claim that the sources contradict, where a passage shows it. Where they disagree, the text may be right.
fn correction(text: &str, claim: &CheckedClaim) -> Option<Correction> {
    let label = claim
        .label
        .filter(|label| *label == BundleLabel::Contradicted)?;
    let mut against = claim
        .citations
        .iter()
        .filter(|cited| cited.citation.stance == Stance::Contradicts);
    let cited = against.next()?;
    Some(Correction {
        claim_id: claim.id.clone(),
        start: claim.start,
        end: claim.end,
        text: claim.text.clone(),
        label,
        citation_id: cited.citation.id.clone(),
        source_id: cited.source_id.clone(),
        quote: cited.citation.spoken(QUOTE_CHARS_MAX),
        figures: figures(text, claim),
    })
}

/// The figures of a claim that differ from the source's, where they stand in it once.
fn figures(text: &str, claim: &CheckedClaim) -> Vec<Figure> {
    let own = &text[claim.start..claim.end];
    let differing = claim
        .comparisons
        .iter()
        .filter(|compared| compared.relation == Relation::Differs);
    let figures = differing.filter_map(|compared| {
        let found = compared.found.clone()?;
        let mut places = own.match_indices(compared.asked.as_str());
        let (at, written) = places.next().filter(|_| places.next().is_none())?;
        Some(Figure {
            start: claim.start + at,
            end: claim.start + at + written.len(),
            written: written.to_owned(),
            found,
        })
    });
    figures.collect()
}

fn risks(
    sources: &[CheckSource<'_>],
    readables: &[Readable<'_>],
    examiners: &[Examiner<'_>],
) -> Vec<SourceRisk> {
    let mut found = Vec::new();
    for ((source, readable), examiner) in sources.iter().zip(readables).zip(examiners) {
        let instructions = readable.instructions(examiner);
        let told = of_instructions(source.text, &instructions, source.is_suspected);
        let is_weak = examiner.page.language != Language::English;
        let is_cut = examiner.page.is_cut || source.text.len() > SOURCE_BYTES_MAX;
        let others = [
            (Risk::TruncatedSource, is_cut),
            (Risk::WeakLanguageSupport, is_weak),
        ];
        let others = others.into_iter().filter(|(_, applies)| *applies);
        let risks = told
            .into_iter()
            .chain(others.map(|(risk, _)| RiskDetail::of(risk)));
        found.extend(risks.map(|risk| SourceRisk {
            source_id: bounded(source.id, ID_CHARS_MAX),
            risk,
        }));
    }
    found.sort_by_key(|risk| std::cmp::Reverse(risk.risk.severity));
    found
}

fn source_lines(
    sources: &[CheckSource<'_>],
    examiners: &[Examiner<'_>],
    claims: &[CheckedClaim],
) -> Vec<CheckedSource> {
    let lines = sources.iter().zip(examiners).map(|(source, examiner)| {
        let id = bounded(source.id, ID_CHARS_MAX);
        let verdicts = || {
            claims
                .iter()
                .flat_map(|claim| &claim.by_source)
                .filter(|verdict| verdict.source_id == id)
        };
        let is_carried =
            |label: Label| matches!(label, Label::Supported | Label::PartiallySupported);
        CheckedSource {
            url: source.url.map(|url| bounded(url, URL_CHARS_MAX)),
            title: source.title.map(|title| bounded(title, TITLE_CHARS_MAX)),
            language: source
                .language
                .map(|language| bounded(language, ID_CHARS_MAX)),
            content_sha256: sha256(source.text.as_bytes()),
            characters: source.text.chars().count(),
            units_examined: examiner.page.units.len(),
            supports: verdicts()
                .filter(|verdict| is_carried(verdict.label))
                .count(),
            contradicts: verdicts()
                .filter(|verdict| verdict.label == Label::Contradicted)
                .count(),
            id,
        }
    });
    lines.collect()
}

fn action(counts: &CheckCounts, risks: &[SourceRisk]) -> AgentAction {
    let is_hidden = risks
        .iter()
        .any(|risk| risk.risk.is(Risk::EmbeddedInstructionsHidden));
    match counts {
        counts if counts.contradicted > 0 => AgentAction::DoNotUse,
        counts if counts.contested > 0 => AgentAction::AskHuman,
        counts if counts.supported < counts.need_grounding || is_hidden => {
            AgentAction::NeedsSecondSource
        }
        counts if counts.need_grounding == 0 || !risks.is_empty() => AgentAction::UseWithCaution,
        _ => AgentAction::UseWithCitation,
    }
}

fn summary(counts: &CheckCounts, sources: usize) -> String {
    let all = counts.need_grounding;
    if all == 0 {
        return "Nothing in the text needs a source.".to_owned();
    }
    let are = |count: usize| match count {
        1 => "is",
        _ => "are",
    };
    let mut sentences = vec![format!(
        "{} of {all} claims that need a source {} supported by the {sources} given.",
        counts.supported,
        are(counts.supported)
    )];
    let told = [
        (counts.contradicted, "contradicted"),
        (counts.contested, "contested between the sources"),
        (counts.partially_supported, "partly supported"),
        (
            counts.weak + counts.unsupported,
            "not established by any source",
        ),
    ];
    let told = told.into_iter().filter(|(count, _)| *count > 0);
    sentences.extend(told.map(|(count, what)| format!("{count} {} {what}.", are(count))));
    sentences.join(" ")
}
