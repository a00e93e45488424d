//! The e-mails being sent.

use std::collections::HashSet;
use std::sync::Mutex;

use crate::domain::keys::MailKey;
use crate::sync::lock;

/// The mails that are being sent.
#[derive(Debug, Default)]
pub struct Outbox {
    under_way: Mutex<HashSet<MailKey>>,
}

impl Outbox {
    pub fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<MailKey>> {
        lock(&self.under_way)
    }
}
