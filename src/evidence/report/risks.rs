//! What speaks against trusting a source or a finding: one table of codes with their texts, and the rules that find
//! them. A code never changes its meaning; what it rests on is shown beside it.

mod table;

use std::borrow::Cow;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::time::UnixSeconds;
use crate::domain::words::folded;
use crate::evidence::reading::text::{bounded, head, words};
use crate::evidence::reading::tongues;
use crate::evidence::report::age;
use crate::evidence::report::citation::{Citation, citation_id};
use crate::evidence::report::examine::Examined;
use crate::evidence::report::facts::Facts;
use crate::evidence::report::text_stats::{FIRST_PERSON, TextStats};
use crate::evidence::{Label, NoteKind, QuestionKind, Stance};

use table::TABLE;
pub use table::{Risk, Severity};

/// A risk with what it rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RiskDetail {
    pub code: Cow<'static, str>,
    pub severity: Severity,
    pub text: String,
    /// What was measured or read, if there is more to say than the code says.
    pub detail: Option<String>,
    pub evidence_ids: Vec<String>,
    /// Text of the source that no citation holds. Data, never an instruction.
    pub excerpt: Option<RiskExcerpt>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RiskExcerpt {
    pub excerpt: String,
    pub start: usize,
    pub end: usize,
}

impl RiskDetail {
    pub(crate) fn of(risk: Risk) -> RiskDetail {
        RiskDetail {
            code: risk.code().into(),
            severity: risk.severity(),
            text: risk.text().to_owned(),
            detail: None,
            evidence_ids: Vec::new(),
            excerpt: None,
        }
    }

    /// Risks that share a code differ by their text.
    pub(crate) fn is(&self, risk: Risk) -> bool {
        self.code == risk.code() && self.text == risk.text()
    }

    /// Its place in the table of risks.
    fn place(&self) -> usize {
        let place = TABLE.iter().position(|row| self.is(row.0));
        place.unwrap_or(TABLE.len())
    }

    pub(crate) fn detail(mut self, detail: impl Into<String>) -> RiskDetail {
        self.detail = Some(bounded(&detail.into(), DETAIL_CHARS_MAX));
        self
    }

    /// What is not cited is not named.
    fn with_evidence(mut self, citations: &[Citation], findings: Vec<usize>) -> RiskDetail {
        let ids: Vec<String> = findings.into_iter().map(citation_id).collect();
        let is_cited = |citation: &&Citation| ids.contains(&citation.id);
        let cited = citations.iter().filter(is_cited);
        self.evidence_ids = cited.map(|citation| citation.id.clone()).collect();
        self
    }

    /// As it stands in `risks`.
    pub fn line(&self) -> String {
        match &self.detail {
            Some(detail) => format!("{}: {} ({detail})", self.code, self.text),
            None => format!("{}: {}", self.code, self.text),
        }
    }
}

const DETAIL_CHARS_MAX: usize = 200;
const EXCERPT_BYTES_MAX: usize = 300;
/// Older than this a source is stale, by its own newest date.
const STALE_DAYS: i64 = 730;
/// Praise so dense, and so many words of it, is advertising.
const PRAISE_PER_THOUSAND: f64 = 12.0;
const PRAISE_MIN: u64 = 3;
const LINK_SHARE_MAX: f64 = 0.6;
const LINK_WORDS_MIN: u64 = 100;
/// A kept page so old may well have changed.
const CACHE_SECONDS: u64 = 3_600;

/// Everything that the risks of a report are judged from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grounds<'a> {
    pub(crate) examined: &'a Examined<'a>,
    pub(crate) facts: &'a Facts,
    pub(crate) text_stats: &'a TextStats,
    pub(crate) citations: &'a [Citation],
    pub(crate) now: UnixSeconds,
}

/// The risks of a report, gravest first.
pub(crate) fn risks(grounds: &Grounds<'_>) -> Vec<RiskDetail> {
    let mut found = grounds.of_findings();
    found.extend(grounds.of_content());
    found.extend(grounds.of_origin());
    found.extend(grounds.of_dates());
    found.extend(grounds.of_instructions());
    // The table's order among equals.
    found.sort_by_key(|detail| (std::cmp::Reverse(detail.severity), detail.place()));
    found
}

impl Grounds<'_> {
    fn of_findings(&self) -> Vec<RiskDetail> {
        let check = &self.examined.check;
        let of_note = |kind: NoteKind| {
            let notes = check.notes.iter().filter(move |note| note.kind == kind);
            let cited = notes.clone().filter_map(|note| note.finding);
            let cited: Vec<usize> = cited.collect();
            (notes.count() > 0).then_some(cited)
        };
        let noted = [
            (NoteKind::NumberMismatch, Risk::NumberMismatch),
            (NoteKind::PossibleContradiction, Risk::PossibleContradiction),
            (NoteKind::Inconsistent, Risk::InconsistentSource),
            (NoteKind::Hedged, Risk::HedgedEvidence),
            (NoteKind::Conditional, Risk::ConditionalStatement),
            (NoteKind::WeakLanguage, Risk::WeakLanguageSupport),
            (NoteKind::Truncated, Risk::TruncatedSource),
        ];
        let mut found: Vec<RiskDetail> = noted
            .into_iter()
            .filter_map(|(kind, risk)| {
                let findings = of_note(kind)?;
                let is_of_findings = !findings.is_empty();
                let detail = RiskDetail::of(risk).with_evidence(self.citations, findings);
                // What no citation shows would be a doubt without a reason.
                (!is_of_findings || !detail.evidence_ids.is_empty()).then_some(detail)
            })
            .collect();
        // That the source says otherwise is the answer "no" itself.
        if check.kind == QuestionKind::YesNo && check.label == Label::Contradicted {
            found.retain(|detail| !detail.is(Risk::PossibleContradiction));
            return found;
        }
        let against: Vec<usize> = indices(check, Stance::Contradicts);
        let is_told = found.iter().any(|detail| {
            detail.is(Risk::PossibleContradiction) || detail.is(Risk::NumberMismatch)
        });
        if !against.is_empty() && !is_told {
            found.push(
                RiskDetail::of(Risk::PossibleContradiction).with_evidence(self.citations, against),
            );
        }
        found
    }

    fn of_content(&self) -> Vec<RiskDetail> {
        let (facts, text_stats) = (self.facts, self.text_stats);
        let walls: Vec<&str> = ["paywall", "login_wall", "captcha"]
            .into_iter()
            .filter(|code| facts.warns(code))
            .collect();
        let mut found = Vec::new();
        if !walls.is_empty() {
            found.push(RiskDetail::of(Risk::PaywallOrLogin).detail(walls.join(", ")));
        }
        if text_stats.praise >= PRAISE_MIN
            && text_stats.praise_per_thousand() >= PRAISE_PER_THOUSAND
        {
            let detail = format!(
                "{} words of praise in {}",
                text_stats.praise, text_stats.words
            );
            found.push(RiskDetail::of(Risk::MarketingLanguage).detail(detail));
        }
        if facts.content_source.ends_with("_fallback") {
            found.push(RiskDetail::of(Risk::FallbackContent).detail(&*facts.content_source));
        }
        let is_listing =
            text_stats.link_words >= LINK_WORDS_MIN && text_stats.link_share() >= LINK_SHARE_MAX;
        let plain = [
            (Risk::ScriptRenderedShell, facts.warns("js_required")),
            (
                Risk::ThinContent,
                facts.warns("thin_content") || text_stats.words < 50,
            ),
            (Risk::BoilerplateHeavy, is_listing),
            (Risk::CharsetGuessed, facts.warns("charset_guessed")),
            (Risk::UsageRestricted, facts.warns("noai_signal")),
            (Risk::UserGeneratedContent, self.is_user_generated()),
        ];
        found.extend(applying(plain));
        let is_told = self
            .examined
            .check
            .notes
            .iter()
            .any(|note| note.kind == NoteKind::Truncated);
        if facts.warns("truncated") && !is_told {
            found.push(RiskDetail::of(Risk::TruncatedSource));
        }
        found
    }

    fn is_user_generated(&self) -> bool {
        const TYPES: [&str; 6] = [
            "DiscussionForumPosting",
            "QAPage",
            "Question",
            "Review",
            "UserReview",
            "SocialMediaPosting",
        ];
        let metadata = &self.facts.metadata;
        let mut told = metadata.json_ld_types.iter().chain(&metadata.kind);
        told.any(|kind| TYPES.contains(&kind.as_str()))
    }

    fn of_origin(&self) -> Vec<RiskDetail> {
        let facts = self.facts;
        let home = Facts::domain(&facts.final_url);
        let asked = Facts::domain(&facts.target_url);
        let canonical = facts
            .metadata
            .canonical_url
            .as_deref()
            .and_then(Facts::domain);
        let mut found = Vec::new();
        if let (Some(home), Some(asked)) = (&home, &asked)
            && home != asked
        {
            found.push(RiskDetail::of(Risk::RedirectedHost).detail(format!("{asked} to {home}")));
        }
        if let (Some(home), Some(canonical)) = (&home, &canonical)
            && home != canonical
        {
            found.push(RiskDetail::of(Risk::CanonicalElsewhere).detail(&**canonical));
        }
        if facts.http_status >= 400 {
            found.push(
                RiskDetail::of(Risk::HttpError).detail(format!("status {}", facts.http_status)),
            );
        }
        if let Some(subject) = self.own_subject(home.as_deref()) {
            found.push(RiskDetail::of(Risk::SelfPublishedClaim).detail(subject));
        }
        let age = self.now.since(facts.fetched_at);
        if facts.cache_hit && age >= CACHE_SECONDS {
            let detail = format!("{} minutes ago", age / 60);
            found.push(RiskDetail::of(Risk::CacheAge).detail(detail));
        }
        if let Some((asked, read)) = self.languages() {
            let detail = format!("question {asked}, source {read}");
            found.push(RiskDetail::of(Risk::LanguageMismatch).detail(detail));
        }
        if facts.metadata.author.is_none() {
            found.push(RiskDetail::of(Risk::NoAuthor));
        }
        found
    }

    /// The question's and the source's languages, if they are known and differ.
    fn languages(&self) -> Option<(&'static str, &'static str)> {
        let is_told = self.examined.check.kind == QuestionKind::Open;
        let asked = tongues::of_question(self.examined.question).filter(|_| !is_told)?;
        let read = tongues::of_source(self.examined.source.language, self.examined.source.text)?;
        (asked != read).then_some((asked, read))
    }

    /// How the source is known to speak about itself: its site's name in the question, or "we" in what supports it.
    fn own_subject(&self, domain: Option<&str>) -> Option<String> {
        const NAME_CHARS_MIN: usize = 3;
        let question = folded(self.examined.question).to_lowercase();
        let asked: Vec<&str> = words(&question).iter().map(|word| word.text).collect();
        let label = domain
            .and_then(|domain| domain.split('.').next())
            .unwrap_or_default();
        if label.len() >= NAME_CHARS_MIN
            && asked
                .iter()
                .any(|word| word.trim_end_matches("'s") == label)
        {
            return Some(format!("the question names {label}, whose site this is"));
        }
        let site = self.facts.metadata.site_name.as_deref().unwrap_or_default();
        let site = folded(site).to_lowercase();
        let name: Vec<&str> = words(&site).iter().map(|word| word.text).collect();
        let is_named = site.chars().count() >= NAME_CHARS_MIN
            && !name.is_empty()
            && asked.windows(name.len()).any(|part| part == name);
        if is_named {
            return Some(format!("the question names {site}, whose site this is"));
        }
        let speaks = self.citations.iter().find(|citation| {
            let is_own = citation.speaker.is_none() && speaks_of_itself(&citation.excerpt);
            citation.stance == Stance::Supports && is_own
        })?;
        Some(format!("{} speaks as its publisher", speaks.id))
    }

    fn of_dates(&self) -> Vec<RiskDetail> {
        let metadata = &self.facts.metadata;
        let stated = [&metadata.modified_at, &metadata.published_at];
        let ages = stated
            .into_iter()
            .flatten()
            .filter_map(|date| age::days(date, self.now));
        match ages.min() {
            None => vec![RiskDetail::of(Risk::UndatedSource)],
            Some(days) if days < -1 => vec![RiskDetail::of(Risk::FutureDated)],
            Some(days) if days > STALE_DAYS => {
                vec![RiskDetail::of(Risk::StaleSource).detail(format!("{days} days"))]
            }
            Some(_) => Vec::new(),
        }
    }

    fn of_instructions(&self) -> Option<RiskDetail> {
        let is_suspected = self.facts.warns("prompt_injection_suspected");
        of_instructions(
            self.examined.source.text,
            &self.examined.instructions,
            is_suspected,
        )
    }
}

/// Of the instructions that stand in a text the first is shown; what the converter suspected and the text does not hold
/// is hidden from readers.
pub(in crate::evidence) fn of_instructions(
    text: &str,
    instructions: &[Range<usize>],
    is_suspected: bool,
) -> Option<RiskDetail> {
    let Some(range) = instructions.first() else {
        return is_suspected.then(|| RiskDetail::of(Risk::EmbeddedInstructionsHidden));
    };
    let excerpt = head(text.get(range.clone())?, EXCERPT_BYTES_MAX);
    let mut detail = RiskDetail::of(Risk::EmbeddedInstructionsVisible)
        .detail(format!("passages in the text: {}", instructions.len()));
    detail.excerpt = Some(RiskExcerpt {
        excerpt: excerpt.to_owned(),
        start: range.start,
        end: range.start + excerpt.len(),
    });
    Some(detail)
}

/// "We offer", "our plans"; but not "we tested", "our reporter": that is what others are written about by. What it quotes
/// others as saying is theirs.
fn speaks_of_itself(text: &str) -> bool {
    const REPORTING: [&str; 26] = [
        "analysed",
        "analysis",
        "analyzed",
        "asked",
        "compared",
        "correspondent",
        "data",
        "editors",
        "found",
        "interview",
        "journalist",
        "know",
        "learned",
        "measured",
        "measurements",
        "report",
        "reporter",
        "results",
        "review",
        "reviewed",
        "spoke",
        "study",
        "survey",
        "test",
        "tested",
        "tests",
    ];
    let lower = unquoted(text).to_lowercase();
    let words: Vec<&str> = words(&lower).iter().map(|word| word.text).collect();
    words.iter().enumerate().any(|(at, word)| {
        let follows = words.iter().skip(at + 1).take(2);
        FIRST_PERSON.contains(word) && !follows.into_iter().any(|next| REPORTING.contains(next))
    })
}

/// Without what stands between quotation marks. A mark that nothing closes quotes to the end.
fn unquoted(text: &str) -> String {
    let mut own = String::with_capacity(text.len());
    let mut closing = None;
    for c in text.chars() {
        match (closing, c) {
            (Some(end), c) if c == end => closing = None,
            (Some(_), _) => {}
            (None, '"') => closing = Some('"'),
            (None, '“') => closing = Some('”'),
            (None, '„') => closing = Some('“'),
            (None, '«') => closing = Some('»'),
            (None, c) => own.push(c),
        }
    }
    own
}

fn applying(judged: impl IntoIterator<Item = (Risk, bool)>) -> impl Iterator<Item = RiskDetail> {
    let applying = judged.into_iter().filter(|(_, applies)| *applies);
    applying.map(|(risk, _)| RiskDetail::of(risk))
}

fn indices(check: &crate::evidence::Check, stance: Stance) -> Vec<usize> {
    let findings = check.findings.iter().enumerate();
    let such = findings.filter(|(_, finding)| finding.stance == stance);
    such.map(|(index, _)| index).collect()
}

#[cfg(test)]
mod tests;
