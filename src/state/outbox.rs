//! The e-mails being sent.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use crate::domain::keys::MailKey;

/// The mails that are being sent.
#[derive(Debug, Default)]
pub struct Outbox {
    under_way: Mutex<HashSet<MailKey>>,
}

impl Outbox {
    pub fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<MailKey>> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
