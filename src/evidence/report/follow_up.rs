//! A further question to the kept source of a report, answered without any spend.

use serde::Serialize;

use crate::domain::time::UnixSeconds;
use crate::evidence::report::action::{AgentAction, NextCall};
use crate::evidence::report::citation::Citation;
use crate::evidence::report::examine::examine_page;
use crate::evidence::report::facts::Facts;
use crate::evidence::report::risks::RiskDetail;
use crate::evidence::report::{Comparison, Decision, Report, Request, Success, report};
use crate::evidence::{Depth, Label, Source};

/// The answer of `/follow-up`.
#[derive(Clone, Debug, Serialize)]
pub struct FollowUp {
    pub status: Success,
    pub report_id: String,
    pub question: String,
    pub answer: String,
    pub answered_from: &'static str,
    pub supported: bool,
    pub decision: Decision,
    pub citation_ids: Vec<String>,
    pub citations: Vec<Citation>,
    pub confidence: f64,
    pub gaps: Vec<String>,
    pub comparisons: Vec<Comparison>,
    pub risks: Vec<String>,
    pub risk_details: Vec<RiskDetail>,
    pub agent_action: AgentAction,
    /// Of the text that was asked, as in the report.
    pub source_hash: String,
    pub supplier_spend: u64,
    pub recommended_next_call: NextCall,
}

/// Answers from the stored text alone; what the report knew of its source is taken from it.
pub fn follow_up(
    stored: &Report,
    text: &str,
    question: &str,
    depth: Depth,
    now: UnixSeconds,
) -> FollowUp {
    let source = Source {
        title: stored.source_profile.title.as_deref(),
        language: stored.source_profile.language.as_deref(),
        text,
    };
    let facts = Facts::of_report(stored);
    let request = Request {
        target_url: &stored.target_url,
        pack: &stored.pack,
        report_id: stored.id(),
        now,
    };
    let examined = examine_page(source, question, &facts, depth);
    let label = examined.check.label;
    let report = report(&request, &examined, &facts, None);
    let supported = matches!(label, Label::Supported | Label::PartiallySupported);
    // Another report of the same text could say no more; a fresh one of the page might.
    let next = match supported {
        true => AgentAction::UseWithCitation,
        false => AgentAction::RefreshSource,
    };
    FollowUp {
        status: Success::Success,
        question: report.question,
        answer: report.answer,
        answered_from: "retained_report",
        supported,
        decision: report.decision,
        citation_ids: report
            .citations
            .iter()
            .map(|citation| citation.id.clone())
            .collect(),
        citations: report.citations,
        confidence: report.confidence_score,
        gaps: report.gaps,
        comparisons: report.comparisons,
        risks: report.risks,
        risk_details: report.risk_details,
        agent_action: report.agent_action,
        source_hash: report.source_hash,
        supplier_spend: 0,
        recommended_next_call: next.next_call(stored.id()),
        report_id: stored.id().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::report::follow_up::*;
    use crate::evidence::report::tests::{NOW, PAGE, facts, typed};

    fn asked(question: &str) -> FollowUp {
        let report = typed(PAGE, "Are gift cards refunded?", &facts());
        follow_up(&report, PAGE, question, report.depth(), NOW)
    }

    #[test]
    fn a_question_is_answered_from_the_kept_text() {
        let answer = asked("Are orders refunded within 30 days of delivery?");
        assert!(answer.supported, "{}", answer.decision.label);
        assert_eq!(answer.citation_ids[0], "E1");
        let cited = &answer.citations[0];
        assert_eq!(cited.excerpt, PAGE[cited.start..cited.end]);
        assert!(cited.excerpt.contains("within 30 days"));
        assert_eq!(cited.url, "https://shop.example.com/refunds");
        assert_eq!(
            (answer.answered_from, answer.supplier_spend),
            ("retained_report", 0)
        );
        assert_eq!(answer.recommended_next_call.action, "verify_report");
    }

    #[test]
    fn what_the_text_does_not_say_stays_unsaid() {
        let answer = asked("Who founded the shop in Oslo?");
        assert!(!answer.supported);
        assert_eq!(answer.recommended_next_call.action, "refresh_report");
        assert!(!answer.gaps.is_empty());
    }

    #[test]
    fn what_the_report_knew_of_its_source_is_known_again() {
        let report = typed(PAGE, "Are gift cards refunded?", &facts());
        let known = Facts::of_report(&report);
        let mut expected = facts();
        // Links are not in a report; and the page is a kept one now.
        expected.links.clear();
        expected.cache_hit = true;
        assert_eq!(known, expected);
    }
}
