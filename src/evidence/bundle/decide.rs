//! What the sources together allow to be said: a label that two independent sources must carry, how sure it is, and what
//! to do with it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::closed_set::closed_set;
use crate::evidence::Label;
use crate::evidence::bundle::compare::{Agreement, Certainty, Conflict};
use crate::evidence::bundle::groups::{Groups, ratio};
use crate::evidence::bundle::matrix::{Row, Verdict};
use crate::evidence::bundle::read::Submitted;
use crate::evidence::report::action::AgentAction;
use crate::evidence::report::citation::rounded;
use crate::evidence::report::risks::Severity;

/// Independent sources that a `supported` needs.
const SUPPORTS_MIN: usize = 2;
/// However many sources agree, words alone can be trusted only so far.
const CONFIDENCE_MAX: f64 = 0.95;
/// What one source's support is worth beside others: the engine that reads them all errs the same way.
const WORTH: f64 = 0.85;

closed_set! {
    /// What the sources together do to the question.
    pub enum BundleLabel {
        Supported = "supported",
        PartiallySupported = "partially_supported",
        Weak = "weak",
        Unsupported = "unsupported",
        Contradicted = "contradicted",
        /// Independent sources contradict each other.
        Contested = "contested",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    pub label: BundleLabel,
    /// Independent sources say different things about it.
    pub disputed: bool,
    pub summary: String,
    pub recommended_agent_use: String,
}

/// A decision, and how sure it is.
pub(super) struct Decided {
    pub(super) decision: Decision,
    pub(super) action: AgentAction,
    pub(super) confidence: f64,
    pub(super) support: f64,
}

/// What is decided by.
pub(super) struct Grounds<'a> {
    pub(super) submitted: &'a [Submitted<'a>],
    pub(super) groups: &'a Groups,
    pub(super) rows: &'a [Row],
    pub(super) agreements: &'a [Agreement],
    pub(super) conflicts: &'a [Conflict],
    pub(super) is_wh: bool,
    pub(super) is_yes_no: bool,
}

/// How the independent sources stand to a part of the question.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PartCounts {
    pub(super) supporting: usize,
    pub(super) partial: usize,
    pub(super) opposing: usize,
    /// Of those that support it, or a part of it, together.
    support: f64,
}

impl Grounds<'_> {
    pub(super) fn decided(&self) -> Decided {
        let standings = self.standings();
        let disputed = self.disputed();
        let label = self.label(&standings, disputed);
        let support = standings
            .iter()
            .map(|standing| standing.support)
            .fold(1.0, f64::min);
        let support = if standings.is_empty() {
            self.open_support()
        } else {
            support
        };
        let support = if disputed { support * 0.5 } else { support };
        let confidence = self.confidence(label, support, disputed, &standings);
        let action = self.action(label, disputed, confidence);
        let decision = Decision {
            label,
            disputed,
            summary: self.summary(label, disputed, &standings),
            recommended_agent_use: advice(action).to_owned(),
        };
        Decided {
            decision,
            action,
            confidence: rounded(confidence),
            support: rounded(support),
        }
    }

    /// For each part of the question.
    pub(super) fn standings(&self) -> Vec<PartCounts> {
        let asked = self.rows.iter().enumerate().filter(|(_, row)| row.is_asked);
        asked
            .map(|(number, row)| self.standing(number, row))
            .collect()
    }

    fn standing(&self, number: usize, row: &Row) -> PartCounts {
        let mut best = vec![0.0_f64; self.groups.groups.len()];
        for at in
            row.sources_with(|verdict| matches!(verdict, Verdict::Supports | Verdict::Partial))
        {
            if let Some(group) = self.groups.of_source(at) {
                best[group] = best[group].max(row.cells[at].support);
            }
        }
        let doubt = best
            .iter()
            .fold(1.0, |doubt, support| doubt * (1.0 - WORTH * support));
        let supporting = self
            .groups
            .count(row.sources_with(|verdict| verdict == Verdict::Supports));
        PartCounts {
            supporting: match self.is_wh {
                true => supporting.min(self.answered_alike(number).max(1)),
                false => supporting,
            },
            partial: self
                .groups
                .count(row.sources_with(|verdict| verdict == Verdict::Partial)),
            opposing: self
                .groups
                .count(row.sources_with(|verdict| verdict == Verdict::Contradicts)),
            support: (1.0 - doubt).min(CONFIDENCE_MAX),
        }
    }

    /// How many independent sources give one and the same answer: the same value, or a statement that both support.
    fn answered_alike(&self, number: usize) -> usize {
        let claim_id = crate::evidence::bundle::compare::claim_id(number);
        let is_answer = |agreement: &&Agreement| {
            agreement.claim_id == claim_id || self.is_statement(&agreement.claim_id)
        };
        let answers = self.agreements.iter().filter(is_answer);
        answers
            .map(|agreement| agreement.group_count)
            .max()
            .unwrap_or_default()
    }

    fn is_statement(&self, claim_id: &str) -> bool {
        let number = claim_id.trim_start_matches('C').parse::<usize>();
        let row = number
            .ok()
            .and_then(|number| self.rows.get(number.checked_sub(1)?));
        row.is_some_and(|row| !row.is_asked)
    }

    /// On a part of the question, or, when something is asked for, on what answers it.
    fn disputed(&self) -> bool {
        self.conflicts.iter().any(|conflict| {
            conflict.certainty == Certainty::Clear
                && (self.is_wh || !self.is_statement(&conflict.claim_id))
        })
    }

    fn label(&self, standings: &[PartCounts], disputed: bool) -> BundleLabel {
        let all = |has: fn(&PartCounts) -> bool| standings.iter().all(has);
        let any = |has: fn(&PartCounts) -> bool| standings.iter().any(has);
        let reads = || {
            self.submitted
                .iter()
                .filter_map(|source| source.read.as_ref())
        };
        if standings.is_empty() {
            let says_something = reads().any(|read| !read.report.key_claims.is_empty());
            return if says_something {
                BundleLabel::PartiallySupported
            } else {
                BundleLabel::Unsupported
            };
        }
        if disputed && any(|standing| standing.supporting + standing.partial > 0) {
            BundleLabel::Contested
        } else if any(|standing| standing.opposing > 0 && standing.supporting == 0) {
            BundleLabel::Contradicted
        } else if all(|standing| standing.supporting >= SUPPORTS_MIN) {
            BundleLabel::Supported
        } else if any(|standing| standing.supporting + standing.partial > 0) {
            BundleLabel::PartiallySupported
        } else if reads().any(|read| read.report.decision.label == Label::Weak) {
            BundleLabel::Weak
        } else {
            BundleLabel::Unsupported
        }
    }

    fn open_support(&self) -> f64 {
        if self.agreements.is_empty() { 0.1 } else { 0.5 }
    }

    fn confidence(
        &self,
        label: BundleLabel,
        support: f64,
        disputed: bool,
        standings: &[PartCounts],
    ) -> f64 {
        let opposing = standings.iter().map(|standing| standing.opposing).max();
        let confidence = match label {
            _ if self.groups.groups.is_empty() => 0.5,
            _ if disputed => 0.7,
            BundleLabel::Supported => support.max(0.6),
            BundleLabel::PartiallySupported => 0.35 + 0.4 * support,
            BundleLabel::Contested => 0.7,
            BundleLabel::Weak => 0.75 - 0.4 * support,
            BundleLabel::Unsupported => 0.85 - support,
            BundleLabel::Contradicted if opposing.unwrap_or_default() >= SUPPORTS_MIN => 0.85,
            BundleLabel::Contradicted => 0.7,
        };
        // What could not be read might have said otherwise; least so where others already carry it.
        let unread = self.submitted.len()
            - self
                .submitted
                .iter()
                .filter(|source| source.read.is_some())
                .count();
        let share = ratio(unread, self.submitted.len());
        let penalty = if label == BundleLabel::Supported {
            0.1
        } else {
            0.3
        };
        (confidence * (1.0 - penalty * share)).clamp(0.0, CONFIDENCE_MAX)
    }

    fn action(&self, label: BundleLabel, disputed: bool, confidence: f64) -> AgentAction {
        let read = self
            .submitted
            .iter()
            .filter(|source| source.read.is_some())
            .count();
        match label {
            _ if read * 2 < self.submitted.len() => AgentAction::RefreshSource,
            _ if disputed => AgentAction::AskHuman,
            BundleLabel::Contested => AgentAction::AskHuman,
            BundleLabel::Supported
                if confidence < 0.6 || self.has_grave_risk() || !self.conflicts.is_empty() =>
            {
                AgentAction::UseWithCaution
            }
            BundleLabel::Supported => AgentAction::UseWithCitation,
            BundleLabel::Contradicted if self.is_yes_no => AgentAction::UseWithCaution,
            BundleLabel::PartiallySupported => AgentAction::NeedsSecondSource,
            BundleLabel::Weak | BundleLabel::Unsupported | BundleLabel::Contradicted => {
                AgentAction::DoNotUse
            }
        }
    }

    fn has_grave_risk(&self) -> bool {
        let reads = self
            .submitted
            .iter()
            .filter_map(|source| source.read.as_ref());
        let carrying = reads.filter(|read| read.report.decision.label == Label::Supported);
        let mut risks = carrying.flat_map(|read| &read.report.risk_details);
        risks.any(|risk| risk.severity == Severity::High)
    }

    fn summary(&self, label: BundleLabel, disputed: bool, standings: &[PartCounts]) -> String {
        let least =
            |of: fn(&PartCounts) -> usize| standings.iter().map(of).min().unwrap_or_default();
        let most =
            |of: fn(&PartCounts) -> usize| standings.iter().map(of).max().unwrap_or_default();
        let supporting = most(|standing| standing.supporting);
        let lone = supporting < SUPPORTS_MIN;
        match label {
            _ if self.groups.groups.is_empty() => {
                "None of the sources could be read, so nothing was decided.".to_owned()
            }
            _ if disputed => CONTESTED.to_owned(),
            BundleLabel::Contested => CONTESTED.to_owned(),
            BundleLabel::Supported => format!(
                "{} independent sources establish this.",
                least(|standing| standing.supporting)
            ),
            BundleLabel::PartiallySupported if standings.is_empty() => {
                "The question names nothing to be decided; these are the sources' key statements, set beside each other."
                    .to_owned()
            }
            BundleLabel::PartiallySupported if supporting == 0 => {
                "No source establishes this beyond doubt; some carry a part of it.".to_owned()
            }
            BundleLabel::PartiallySupported if lone => {
                "One source establishes this; no second, independent one says the same.".to_owned()
            }
            BundleLabel::PartiallySupported => {
                "Independent sources establish a part of this; the rest lacks a second source or any.".to_owned()
            }
            BundleLabel::Weak => "The sources touch on this without establishing it.".to_owned(),
            BundleLabel::Unsupported => "None of the sources that were read establishes this.".to_owned(),
            BundleLabel::Contradicted => format!(
                "No source supports this, and {} independent of each other say otherwise.",
                most(|standing| standing.opposing)
            ),
        }
    }
}

const CONTESTED: &str = "Independent sources contradict each other; both sides are shown.";

fn advice(action: AgentAction) -> &'static str {
    match action {
        AgentAction::UseWithCitation => "Use the finding, and cite the excerpts by their IDs.",
        AgentAction::UseWithCaution => {
            "Use the finding with its excerpts, and say what the risks are."
        }
        AgentAction::AskHuman => {
            "Show both sides to a person, or say that the sources differ; do not choose one silently."
        }
        AgentAction::NeedsSecondSource => {
            "Do not state this as established; what is missing is listed under the gaps."
        }
        AgentAction::RefreshSource => {
            "Most sources could not be read; have them read again before you decide."
        }
        AgentAction::DoNotUse => "Do not state this on the strength of these sources.",
    }
}
