//! What an agent should do with a report, in the closed sets of words that agents branch on.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::closed_set::closed_set;
use crate::evidence::Label;
use crate::evidence::report::risks::{Risk, RiskDetail, Severity};

closed_set! {
    /// What to do with the source for this question.
    pub enum AgentAction {
        UseWithCitation = "use_with_citation",
        UseWithCaution = "use_with_caution",
        NeedsSecondSource = "needs_second_source",
        DoNotUse = "do_not_use",
        AskHuman = "ask_human",
        RefreshSource = "refresh_source",
    }
}

/// The call that follows most naturally.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NextCall {
    pub action: Cow<'static, str>,
    pub method: Cow<'static, str>,
    /// A path below the service's address.
    pub endpoint: String,
    pub reason: Cow<'static, str>,
}

/// A `supported` that is less sure than this is not used without care.
const SURE: f64 = 0.6;

impl AgentAction {
    /// How to use the source (`decision.recommended_agent_use`).
    pub fn advice(self, label: Label) -> &'static str {
        match self {
            AgentAction::DoNotUse if label == Label::Contradicted => {
                "Do not state this: the source says otherwise."
            }
            AgentAction::UseWithCitation => "Use the finding, and cite the excerpts by their IDs.",
            AgentAction::UseWithCaution => {
                "Use the finding with its excerpts, and say what the risks are; do not build on it alone where it matters."
            }
            AgentAction::NeedsSecondSource => {
                "Do not state this as established; look for a second, independent source first."
            }
            AgentAction::DoNotUse => "Do not use this source for this question.",
            AgentAction::AskHuman => {
                "Ask a person: the source could not be read as its readers see it."
            }
            AgentAction::RefreshSource => {
                "Have the source read again before you decide; this report read a cached copy."
            }
        }
    }

    /// A plain no to a question that asks for yes or no is an answer, though a guarded one.
    pub(crate) fn of(
        label: Label,
        is_yes_no: bool,
        confidence: f64,
        risks: &[RiskDetail],
    ) -> AgentAction {
        let has = |risk: Risk| risks.iter().any(|detail| detail.is(risk));
        let doubts = [
            Risk::PossibleContradiction,
            Risk::NumberMismatch,
            Risk::InconsistentSource,
        ];
        let is_grave = risks
            .iter()
            .any(|detail| detail.severity >= Severity::Medium);
        match label {
            Label::Contradicted if is_yes_no && !has(Risk::EmbeddedInstructionsHidden) => {
                AgentAction::UseWithCaution
            }
            Label::Contradicted => AgentAction::DoNotUse,
            Label::Supported | Label::PartiallySupported
                if has(Risk::EmbeddedInstructionsHidden) =>
            {
                AgentAction::NeedsSecondSource
            }
            Label::Supported if doubts.into_iter().any(has) => AgentAction::NeedsSecondSource,
            Label::Supported if is_grave || confidence < SURE => AgentAction::UseWithCaution,
            Label::Supported => AgentAction::UseWithCitation,
            Label::PartiallySupported => AgentAction::NeedsSecondSource,
            Label::Weak | Label::Unsupported
                if has(Risk::PaywallOrLogin) || has(Risk::ScriptRenderedShell) =>
            {
                AgentAction::AskHuman
            }
            Label::Weak | Label::Unsupported if has(Risk::CacheAge) => AgentAction::RefreshSource,
            Label::Weak => AgentAction::NeedsSecondSource,
            Label::Unsupported => AgentAction::DoNotUse,
        }
    }

    pub fn next_call(self, report_id: &str) -> NextCall {
        let of_report = |part: &str| format!("/v1/proof-pack/reports/{report_id}{part}");
        let (action, method, endpoint, reason) = match self {
            AgentAction::UseWithCitation => (
                "verify_report",
                "GET",
                of_report("/verify"),
                "Anyone who relies on the finding can check its hashes and excerpts, free of charge.",
            ),
            AgentAction::UseWithCaution => (
                "follow_up",
                "POST",
                of_report("/follow-up"),
                "Ask the stored source about what is in doubt, free of charge.",
            ),
            AgentAction::NeedsSecondSource => (
                "quote_bundle",
                "GET",
                "/v1/proof-pack/bundle/quote".to_owned(),
                "Ask several independent sources the same question at once.",
            ),
            AgentAction::DoNotUse => (
                "quote_other_source",
                "GET",
                "/v1/proof-pack/quote".to_owned(),
                "Ask another source the same question.",
            ),
            AgentAction::AskHuman => (
                "show_report",
                "GET",
                format!("/proof-pack/reports/{report_id}"),
                "The report as a page for people.",
            ),
            AgentAction::RefreshSource => (
                "refresh_report",
                "POST",
                of_report("/refresh"),
                "The source as it is now may say more than the cached copy.",
            ),
        };
        NextCall {
            action: action.into(),
            method: method.into(),
            endpoint,
            reason: reason.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::report::action::*;

    fn check(label: Label, confidence: f64, risks: &[Risk], expected: &str) {
        let risks: Vec<RiskDetail> = risks.iter().copied().map(RiskDetail::of).collect();
        let action = AgentAction::of(label, false, confidence, &risks);
        assert_eq!(action.name(), expected, "{label:?} {confidence} {risks:?}");
    }

    #[test]
    fn each_label_and_risk_has_its_action() {
        use Label::{Contradicted, PartiallySupported, Supported, Unsupported, Weak};
        check(Supported, 0.8, &[], "use_with_citation");
        check(Supported, 0.8, &[Risk::NoAuthor], "use_with_citation");
        check(Supported, 0.5, &[], "use_with_caution");
        check(Supported, 0.8, &[Risk::StaleSource], "use_with_caution");
        check(
            Supported,
            0.8,
            &[Risk::EmbeddedInstructionsVisible],
            "use_with_caution",
        );
        check(
            Supported,
            0.8,
            &[Risk::EmbeddedInstructionsHidden],
            "needs_second_source",
        );
        check(
            Supported,
            0.8,
            &[Risk::NumberMismatch],
            "needs_second_source",
        );
        check(PartiallySupported, 0.8, &[], "needs_second_source");
        check(Weak, 0.8, &[], "needs_second_source");
        check(Weak, 0.8, &[Risk::PaywallOrLogin], "ask_human");
        check(Unsupported, 0.8, &[], "do_not_use");
        check(Unsupported, 0.8, &[Risk::ScriptRenderedShell], "ask_human");
        check(Unsupported, 0.8, &[Risk::CacheAge], "refresh_source");
        check(Contradicted, 0.8, &[Risk::CacheAge], "do_not_use");
        assert_eq!(
            AgentAction::of(Contradicted, true, 0.8, &[]),
            AgentAction::UseWithCaution
        );
    }

    #[test]
    fn advice_and_reasons_are_sentences() {
        for action in AgentAction::ALL {
            let call = action.next_call("ppr_sample");
            assert!(
                action.advice(Label::Contradicted).ends_with('.') && call.reason.ends_with('.')
            );
        }
    }
}
