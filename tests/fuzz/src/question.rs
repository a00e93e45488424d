//! Any text and any question through the evidence engine, and what must hold whatever they were. The one body of every
//! driver.

use context402::domain::time::UnixSeconds;
use context402::evidence::report::examine::{Examined, examine_page};
use context402::evidence::report::facts::Facts;
use context402::evidence::report::synthesis::{Synthesis, checked, prompt};
use context402::evidence::report::verify::{Kept, verify};
use context402::evidence::report::{Report, Request, report};
use context402::evidence::{CLAIMS_MAX, Check, Depth, FINDINGS_MAX, Source};

const PROMPT_BYTES_MAX: usize = 16_000;
const NOW: UnixSeconds = UnixSeconds(1_772_323_200);

/// The first byte is the mode, the second the length of the question; the rest is the question, and then the text. Both
/// are read as a page is: what is no UTF-8 is replaced.
pub(crate) fn question(data: &[u8]) {
    let [mode, length, rest @ ..] = data else {
        return;
    };
    let (question, text) = rest.split_at(rest.len().min(usize::from(*length)));
    let (question, text) = (
        String::from_utf8_lossy(question),
        String::from_utf8_lossy(text),
    );
    let mut facts = Facts::default();
    if mode & 1 == 1 {
        facts.warnings = vec!["prompt_injection_suspected".to_owned()];
    }
    let source = Source {
        title: (mode & 2 == 2).then_some(&question),
        language: [None, Some("en"), Some("de"), Some("zz-\u{301}")][usize::from(mode >> 2 & 3)],
        text: &text,
    };
    let examined = examine_page(source, &question, &facts, Depth::Quick);
    check(&examined.check, &text);
    instructions(&examined, &text);
    let synthesis = (mode & 16 == 16).then(|| hears(&examined, &text));
    reports(&examined, &facts, synthesis.as_ref(), &text);
    if mode & 32 == 32 {
        let again = examine_page(source, &question, &facts, Depth::Quick);
        assert_eq!(again.check, examined.check, "it was answered otherwise");
    }
}

fn check(check: &Check, text: &str) {
    assert!(check.findings.len() <= FINDINGS_MAX, "too many findings");
    assert!(check.claims.len() <= CLAIMS_MAX, "too many parts");
    assert!(!check.claims.is_empty(), "nothing was judged");
    let is_share = |value: f64| (0.0..=1.0).contains(&value);
    assert!(is_share(check.confidence) && is_share(check.support_score));
    let is_slice = |range: &std::ops::Range<usize>| {
        text.get(range.clone())
            .is_some_and(|slice| !slice.is_empty())
    };
    for finding in &check.findings {
        assert!(is_slice(&finding.range), "{:?}", finding.range);
        assert!(finding.context.as_ref().is_none_or(is_slice));
        assert!(is_share(finding.score), "{}", finding.score);
    }
    for claim in &check.claims {
        assert!(is_share(claim.support_score), "{}", claim.support_score);
        let mut findings = claim.findings.iter();
        assert!(findings.all(|index| *index < check.findings.len()));
    }
    let mut named = check.notes.iter().filter_map(|note| note.finding);
    assert!(named.all(|index| index < check.findings.len()));
}

/// They stand in order, and are evidence for nothing.
fn instructions(examined: &Examined<'_>, text: &str) {
    let mut end = 0;
    for range in &examined.instructions {
        assert!(range.start >= end && text.get(range.clone()).is_some());
        end = range.end;
        for finding in &examined.check.findings {
            let found = &finding.range;
            let apart = found.end <= range.start || range.end <= found.start;
            assert!(apart, "{found:?} is an instruction: {range:?}");
        }
    }
}

/// A model that answers with the text.
fn hears(examined: &Examined<'_>, text: &str) -> Synthesis {
    if let Some(prompt) = prompt(examined, PROMPT_BYTES_MAX) {
        let length = prompt.system.len() + prompt.user.len();
        assert!(length <= PROMPT_BYTES_MAX, "a prompt of {length} bytes");
    }
    let sentence: String = text.chars().take(200).collect();
    let claim = serde_json::json!({"text": sentence, "evidence_ids": ["E1"], "quote": sentence});
    let answer = serde_json::json!({"decision": "supported", "claims": [claim, text]});
    checked(examined, &answer.to_string(), "small")
}

fn reports(examined: &Examined<'_>, facts: &Facts, synthesis: Option<&Synthesis>, text: &str) {
    let request = Request {
        target_url: "https://example.org/page",
        pack: "standard",
        report_id: "ppr_00",
        now: NOW,
    };
    let report = report(&request, examined, facts, synthesis);
    is_cited(&report, text);
    let bytes = serde_json::to_vec(&report).expect("a report is JSON");
    let kept = Kept {
        report: &bytes,
        report_sha256: None,
        source: text.as_bytes(),
        is_sample: false,
    };
    let receipt = verify(&kept, NOW);
    assert!(receipt.valid, "{:?}", receipt.checks);
}

fn is_cited(report: &Report, text: &str) {
    for citation in &report.citations {
        let slice = text.get(citation.start..citation.end);
        assert_eq!(slice, Some(citation.excerpt.as_str()), "{}", citation.id);
    }
    for claim in &report.key_claims {
        let is_known = |id: &String| report.citations.iter().any(|citation| citation.id == *id);
        assert!(!claim.citation_ids.is_empty() && claim.citation_ids.iter().all(is_known));
    }
}
