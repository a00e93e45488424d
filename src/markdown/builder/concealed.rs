//! Elements that are hidden, and which of them a button or a link shows.

use super::Builder;
use super::classes::hash_of;
use crate::markdown::attributes::{self, Attributes};
use crate::markdown::outline::Role;

/// Ids that are remembered.
const CONTROLLED_MAX: usize = 4_096;

/// Of an element that is hidden and does not say what would show it: the hash of its id.
pub(super) fn of(role: Role, attributes: &Attributes<'_>) -> Option<Option<u64>> {
    (role == Role::Hidden && attributes::is_concealed(attributes))
        .then(|| attributes.raw("id").map(|id| hash_of(id.trim().as_bytes())))
}

impl Builder {
    pub(super) fn note_control(&mut self, attributes: &Attributes<'_>) {
        for id in attributes::controlled(attributes) {
            if self.outline.controlled.len() < CONTROLLED_MAX {
                self.outline.controlled.insert(hash_of(id.as_bytes()));
            }
        }
    }
}
