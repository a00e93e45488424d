//! What accepted claims do to a report's label, which they may lower, and raise by a step where they answer.

use super::ModelClaim;
use super::support::answers;
use crate::evidence::report::examine::Examined;
use crate::evidence::{Label, NoteKind};

pub(super) fn rank(label: Label) -> u8 {
    match label {
        Label::Supported => 4,
        Label::PartiallySupported => 3,
        Label::Weak => 2,
        Label::Unsupported => 1,
        Label::Contradicted => 0,
    }
}

/// The engine's label, lowered as far as the model says or raised by one step, where that is allowed at all: never on
/// a page that addresses models, never over a contradiction, and upwards only when what was cited answers the question.
pub(super) fn label(
    examined: &Examined<'_>,
    decision: Option<&str>,
    claims: &[ModelClaim],
) -> Label {
    let own = examined.check.label;
    let Some(stated) = decision.and_then(Label::parse) else {
        return own;
    };
    if !examined.instructions.is_empty() || own == Label::Contradicted {
        return own;
    }
    // To call the source's word the opposite is the engine's alone.
    let stated = match stated {
        Label::Contradicted => Label::Unsupported,
        stated => stated,
    };
    if rank(stated) <= rank(own) {
        return stated;
    }
    let is_doubted = examined.check.notes.iter().any(|note| {
        matches!(
            note.kind,
            NoteKind::NumberMismatch
                | NoteKind::PossibleContradiction
                | NoteKind::Inconsistent
                | NoteKind::AgentInstructions
        )
    });
    let is_answered = claims.iter().any(|claim| answers(examined, claim));
    match own {
        _ if is_doubted || !is_answered => own,
        Label::PartiallySupported => Label::Supported,
        Label::Weak => Label::PartiallySupported,
        _ => Label::Weak,
    }
}
