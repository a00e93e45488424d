//! A whole text against sources: each kind of statement, hostile texts, and one example kept as it was answered.

use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::evidence::report::canonical::{bundle_hash, sha256};
use crate::evidence::{Relation, Stance};

pub(crate) const NOW: UnixSeconds = UnixSeconds(1_772_323_200);

const UTILITY: &str = include_str!("../../../tests/evidence/check/utility.md");
const NEWSPAPER: &str = include_str!("../../../tests/evidence/check/newspaper.md");
const ANSWER: &str = include_str!("../../../tests/evidence/check/answer.md");

fn source<'a>(id: &'a str, text: &'a str) -> CheckSource<'a> {
    CheckSource {
        id,
        url: None,
        title: None,
        language: None,
        text,
        is_suspected: false,
    }
}

fn checked(text: &str, sources: &[&str], depth: Depth) -> CheckReport {
    let ids: Vec<String> = (1..=sources.len())
        .map(|number| format!("S{number}"))
        .collect();
    let sources = ids.iter().zip(sources);
    let sources: Vec<CheckSource<'_>> = sources.map(|(id, text)| source(id, text)).collect();
    let request = CheckRequest {
        text,
        depth,
        now: NOW,
    };
    check_report(&request, &sources)
}

/// The example that pages and commands are tested with.
pub(crate) fn example() -> CheckReport {
    let page = CheckSource {
        url: Some("https://utility.example.com/plant"),
        title: Some("The harbour plant"),
        language: Some("en"),
        ..source("S1", UTILITY)
    };
    let request = CheckRequest {
        text: ANSWER,
        depth: Depth::Standard,
        now: NOW,
    };
    check_report(&request, &[page, source("S2", NEWSPAPER)])
}

fn labels(report: &CheckReport) -> Vec<(&str, &str)> {
    let said = report.claims.iter().map(|claim| {
        let label = claim.label.map(BundleLabel::name);
        let reason = claim.no_grounding_reason.map(NoGrounding::name);
        (claim.text.as_str(), label.or(reason).unwrap_or_default())
    });
    said.collect()
}

/// At both depths.
fn check(text: &str, sources: &[&str], expected: &[(&str, &str)]) {
    for depth in [Depth::Quick, Depth::Standard] {
        let report = checked(text, sources, depth);
        assert_eq!(labels(&report), expected, "{depth}");
        bears_out(&report, sources);
    }
}

/// Spans stand in order and are slices of the text, citations are slices of their sources, and the counts add up.
fn bears_out(report: &CheckReport, sources: &[&str]) {
    let mut end = 0;
    for claim in &report.claims {
        assert!(claim.start >= end && claim.start < claim.end, "{claim:?}");
        assert_eq!(
            report.text.get(claim.start..claim.end),
            Some(claim.text.as_str())
        );
        end = claim.end;
        assert_eq!(claim.needs_grounding, claim.no_grounding_reason.is_none());
        assert_eq!(claim.needs_grounding, claim.label.is_some());
        assert!(claim.citations.len() <= CLAIM_CITATIONS_MAX);
        for cited in &claim.citations {
            let at = sources
                .iter()
                .zip(1..)
                .find(|(_, number)| format!("S{number}") == cited.source_id);
            let (text, _): (&&str, usize) = at.expect("a source");
            let citation = &cited.citation;
            assert_eq!(
                text.get(citation.start..citation.end),
                Some(citation.excerpt.as_str())
            );
            assert_eq!(cited.excerpt_sha256, sha256(citation.excerpt.as_bytes()));
            assert_ne!(citation.stance, Stance::Mentions);
        }
    }
    for correction in &report.corrections {
        let claim = report
            .claims
            .iter()
            .find(|claim| claim.id == correction.claim_id)
            .expect("a claim");
        assert_eq!((claim.start, claim.end), (correction.start, correction.end));
        assert!(
            claim
                .citations
                .iter()
                .any(|cited| cited.citation.id == correction.citation_id)
        );
        for figure in &correction.figures {
            assert_eq!(
                report.text.get(figure.start..figure.end),
                Some(figure.written.as_str())
            );
        }
    }
    let counts = &report.counts;
    let labelled = counts.supported
        + counts.partially_supported
        + counts.weak
        + counts.unsupported
        + counts.contradicted
        + counts.contested;
    assert_eq!(labelled, counts.need_grounding);
    assert_eq!(report.score.is_some(), counts.need_grounding > 0);
    assert_eq!(report.text_sha256, sha256(report.text.as_bytes()));
    assert_eq!(report.result_hash, bundle_hash(&report.members()));
}

#[test]
fn what_a_source_says_is_supported() {
    let text = "The harbour plant employs forty people in three shifts.";
    check(text, &[UTILITY], &[(text, "supported")]);
}

#[test]
fn another_number_is_contradicted_and_corrected() {
    let text =
        "In its first year the harbour plant delivered 4.6 gigawatt hours of power to the city.";
    check(text, &[UTILITY], &[(text, "contradicted")]);
    let report = checked(text, &[UTILITY], Depth::Standard);
    let [correction] = &report.corrections[..] else {
        panic!("{:?}", report.corrections);
    };
    assert!(
        correction.quote.contains("4.1 gigawatt"),
        "{}",
        correction.quote
    );
    let [figure] = &correction.figures[..] else {
        panic!("{:?}", correction.figures);
    };
    assert_eq!(&text[figure.start..figure.end], figure.written);
    assert!(
        figure.written.starts_with("4.6") && figure.found.starts_with("4.1"),
        "{figure:?}"
    );
    assert_eq!(
        (report.score, report.agent_action),
        (Some(0.0), AgentAction::DoNotUse)
    );
    assert_eq!(report.claims[0].comparisons[0].relation, Relation::Differs);
}

#[test]
fn what_a_source_denies_is_contradicted() {
    let text = "A private firm operates the harbour plant.";
    let report = checked(text, &[UTILITY], Depth::Standard);
    assert_eq!(labels(&report), [(text, "contradicted")]);
    assert!(
        report.corrections[0]
            .quote
            .contains("no private firm operates it")
    );
}

#[test]
fn what_no_source_says_is_unsupported() {
    let text = "Cats sleep sixteen hours a day.";
    check(text, &[UTILITY, NEWSPAPER], &[(text, "unsupported")]);
    check(text, &["", " \n"], &[(text, "unsupported")]);
    check(text, &[], &[(text, "unsupported")]);
}

#[test]
fn sources_that_contradict_each_other_make_a_claim_contested() {
    let text = "The harbour plant employs forty people in three shifts.";
    let other = "The harbour plant employs ninety people in three shifts.";
    check(text, &[UTILITY, other], &[(text, "contested")]);
    let report = checked(text, &[UTILITY, other], Depth::Standard);
    let claim = &report.claims[0];
    let stances: Vec<_> = claim
        .citations
        .iter()
        .map(|cited| (cited.source_id.as_str(), cited.citation.stance))
        .collect();
    assert_eq!(stances[0], ("S2", Stance::Contradicts));
    assert!(stances.contains(&("S1", Stance::Supports)), "{stances:?}");
    // The text may be right: there is nothing to correct before somebody decides.
    assert!(report.corrections.is_empty());
    assert_eq!(report.agent_action, AgentAction::AskHuman);
}

#[test]
fn what_claims_nothing_is_put_to_no_source() {
    check(
        "Hello! Does the plant employ forty people? I think so. See the page below.",
        &[UTILITY],
        &[
            ("Hello!", "greeting"),
            ("Does the plant employ forty people?", "question"),
            ("I think so.", "opinion"),
            ("See the page below.", "instruction"),
        ],
    );
    let report = checked("Hello!", &[UTILITY], Depth::Quick);
    assert_eq!((report.score, report.counts.need_grounding), (None, 0));
}

#[test]
fn a_pronoun_is_read_as_its_subject() {
    let text = "The harbour plant is owned by the city. It employs forty people in three shifts.";
    for depth in [Depth::Quick, Depth::Standard] {
        let report = checked(text, &[UTILITY], depth);
        let claim = &report.claims[1];
        assert_eq!(claim.text, "It employs forty people in three shifts.");
        assert_eq!(
            claim.read_as.as_deref(),
            Some("The harbour plant employs forty people in three shifts.")
        );
        assert_eq!(claim.label, Some(BundleLabel::Supported), "{depth}");
    }
}

#[test]
fn items_and_markdown_are_read_as_their_readers_see_them() {
    let text = "- The **harbour plant** [employs](https://x.test/a) forty people in three shifts.\n- The city owns the `harbour plant`.";
    check(
        text,
        &[UTILITY],
        &[
            (
                "The **harbour plant** [employs](https://x.test/a) forty people in three shifts.",
                "supported",
            ),
            ("The city owns the `harbour plant`.", "supported"),
        ],
    );
}

#[test]
fn scripts_without_spaces_are_cut_and_checked() {
    let source = "# 料金\n\n送料は全国無料です。価格は千円です。";
    check(
        "送料は全国無料です。本当ですか？",
        &[source],
        &[
            ("送料は全国無料です。", "supported"),
            ("本当ですか？", "question"),
        ],
    );
}

#[test]
fn what_a_source_tells_machines_is_no_evidence_and_a_risk() {
    let report = checked(
        "The plant was paid for by a national lottery.",
        &[NEWSPAPER],
        Depth::Standard,
    );
    assert!(
        !matches!(labels(&report)[0].1, "supported" | "partially_supported"),
        "{:?}",
        labels(&report)
    );
    assert_eq!(report.risks, ["embedded_agent_instructions"]);
    assert_eq!(report.risk_details[0].source_id, "S1");
    let suspected = CheckSource {
        is_suspected: true,
        ..source("S1", UTILITY)
    };
    let request = CheckRequest {
        text: "The city owns the harbour plant.",
        depth: Depth::Quick,
        now: NOW,
    };
    let report = check_report(&request, &[suspected]);
    assert_eq!(report.risks, ["embedded_agent_instructions"]);
    assert_eq!(report.agent_action, AgentAction::NeedsSecondSource);
}

#[test]
fn one_passage_has_one_name() {
    let text = "The plant employs forty people. The plant employs forty people in three shifts.";
    let report = checked(text, &[UTILITY], Depth::Quick);
    let names: Vec<_> = report
        .claims
        .iter()
        .map(|claim| claim.citations[0].citation.id.as_str())
        .collect();
    assert_eq!(names, ["S1.E1", "S1.E1"]);
}

#[test]
fn what_is_too_long_is_cut_and_says_so() {
    let long = "The plant employs forty people in three shifts. ".repeat(200);
    let report = checked(&long, &[UTILITY], Depth::Quick);
    assert!(report.truncated && report.claims.len() <= STATEMENTS_MAX);
    assert!(report.claims.last().expect("a claim").end <= TEXT_CHARACTERS_MAX);
    let many = "Ten cats sat. ".repeat(400);
    let report = checked(&many, &[UTILITY], Depth::Quick);
    assert_eq!(
        (report.truncated, report.claims.len()),
        (true, STATEMENTS_MAX)
    );
    let source = format!(
        "{}\n\nThe quay is long and grey.",
        "é ".repeat(SOURCE_BYTES_MAX / 2)
    );
    let report = checked("The quay is long and grey.", &[&source], Depth::Quick);
    assert_eq!(labels(&report)[0].1, "unsupported");
    assert!(report.risks.contains(&"truncated_source".to_owned()));
    let sources = vec![UTILITY; SOURCES_MAX + 3];
    assert_eq!(
        checked("Cats sleep.", &sources, Depth::Quick).sources.len(),
        SOURCES_MAX
    );
}

#[test]
fn a_report_is_read_back_as_it_was_written() {
    let report = example();
    let json = serde_json::to_vec(&report).expect("JSON");
    assert_eq!(CheckReport::parse(&json).expect("a report"), report);
    let schema = serde_json::to_string(&schemars::schema_for!(CheckReport)).expect("JSON");
    assert!(schema.contains("needs_grounding") && schema.contains("excerpt_sha256"));
}

/// Many checks at once must not depend on the order of a map or on the time.
#[test]
fn the_same_input_gives_the_same_bytes() {
    assert_eq!(
        serde_json::to_vec(&example()).ok(),
        serde_json::to_vec(&example()).ok()
    );
}

/// `tests/evidence/check/expected.json`; `UPDATE_GOLDEN=1` rewrites it. Review the difference.
#[test]
fn the_example_is_answered_as_before() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/evidence/check/expected.json");
    let report = example();
    bears_out(&report, &[UTILITY, NEWSPAPER]);
    let mut now = serde_json::to_string_pretty(&report).expect("JSON");
    now.push('\n');
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &now).expect("the file can be written");
    }
    let before = std::fs::read_to_string(&path).expect("the example");
    assert_eq!(
        now, before,
        "run with UPDATE_GOLDEN=1 and read the difference"
    );
}

#[test]
fn hostile_texts_are_bounded() {
    let words = [
        "a",
        " ",
        "a ",
        "a. ",
        ".",
        "!",
        "`",
        "[1]",
        "](",
        "|",
        "| a |\n",
        "- ",
        "- a\n",
        "# a\n",
        "> ",
        "\\",
        "é\u{301}",
        "中",
        "。",
        "it ",
        "it is; ",
        "1 ",
        "9",
        "\u{200b}",
        "\0",
        "and ",
        "is and ",
        "word",
    ];
    for word in words {
        let text: String = word
            .repeat(TEXT_CHARACTERS_MAX)
            .chars()
            .take(TEXT_CHARACTERS_MAX)
            .collect();
        for sources in [&[UTILITY][..], &[text.as_str(), UTILITY]] {
            let report = checked(&text, sources, Depth::Quick);
            assert!(report.claims.len() <= STATEMENTS_MAX, "{word}");
            bears_out(&report, sources);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_against_any_source(
        text in "(\\PC{0,20}|[a-zA-Z0-9.;:!?|#*>`\\[\\]() \n-]{0,60}|(It|The plant|Acme) (is|costs|opened in) [0-9]{1,4}[.!?;] ){0,8}",
        source in "(\\PC{0,20}|[a-zA-Z0-9.;:!?|#*>`\\[\\]() \n-]{0,60}|The plant (is|costs|opened in) [0-9]{1,4}[.] ){0,8}",
    ) {
        let report = checked(&text, &[&source, UTILITY], Depth::Quick);
        bears_out(&report, &[&source, UTILITY]);
    }

    #[test]
    fn statements_are_slices_in_order(text in "[a-zA-Zé中。.;:!?|#*>`\\[\\]() \n-]{0,300}", most in 0_usize..20) {
        let (statements, _) = cut::cut(&text, most);
        let mut end = 0;
        prop_assert!(statements.len() <= most);
        for statement in statements {
            prop_assert!(statement.range.start >= end && !statement.range.is_empty());
            prop_assert!(text.get(statement.range.clone()).is_some());
            end = statement.range.end;
        }
    }
}
