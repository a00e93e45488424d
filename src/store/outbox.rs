//! The outbox: e-mails with their states. An e-mail is written in the transaction of the fact that it reports, under a key
//! derived from that fact, so that it is sent once.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::email::comparable;
use crate::domain::keys::MailKey;
use crate::domain::mail::{MailKind, MailState, after_failure};
use crate::domain::time::UnixSeconds;
use crate::store::lazy_table::Transaction;
use crate::store::record::{decode, encode};
use crate::store::tables::{Records, Snapshot, Tables};
use crate::store::{Due, DueKind, StoreError};

const TABLE: &str = "outbox-1";
/// How long a mail is kept once it is sent, so that a second one for the same fact is not.
const SENT_SECONDS: u64 = 30 * 24 * 3600;
/// How long a mail is kept that leads back to an order: anyone who asks for one causes it, and asks again when it is
/// lost.
const RECOVERY_SECONDS: u64 = 24 * 3600;
/// How long an attachment stays for a mail that could not be sent yet.
const ATTACHMENT_SECONDS: u64 = 30 * 24 * 3600;

/// The key of the `number`th mail of a kind about one thing, such as an order.
pub fn mail_key(kind: MailKind, about: &str, number: u32) -> MailKey {
    let mut hash = Sha256::new();
    hash.update(kind.name());
    hash.update([0]);
    hash.update(about);
    hash.update([0]);
    hash.update(number.to_be_bytes());
    MailKey(hash.finalize().into())
}

/// A mail as it is handed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mail {
    pub kind: MailKind,
    /// The identifier of the order or lead that it is about.
    pub about: String,
    pub to: String,
    pub subject: String,
    pub text: String,
    pub html: String,
    /// The left half of its Message-ID, such as `ord_….delivery`; the same at every try.
    pub message_id: String,
    pub attachment: Option<MailAttachment>,
}

/// A file that goes along: a blob by its hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailAttachment {
    pub blob: [u8; 32],
    pub name: String,
    pub media_type: String,
}

/// A mail with what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailRecord {
    pub mail: Mail,
    pub state: MailState,
    pub tries: u32,
    /// Why the last try failed.
    pub problem: Option<String>,
    pub created_at: u64,
    pub changed_at: u64,
}

/// What a try has brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailOutcome {
    Sent,
    Failed { why: String, is_permanent: bool },
}

impl<T: Transaction> Records<T> {
    pub fn mail(&self, key: MailKey) -> Result<Option<MailRecord>, StoreError> {
        self.outbox.record(key, TABLE)
    }
}

impl Tables<'_> {
    /// Puts a mail into the outbox. One that lies there under the same key stays as it is. Tells whether it is new.
    pub fn enqueue_mail(
        &mut self,
        key: MailKey,
        mail: Mail,
        now: UnixSeconds,
    ) -> Result<bool, StoreError> {
        if self.outbox.get(key)?.is_some() {
            return Ok(false);
        }
        let record = MailRecord {
            mail,
            state: MailState::Waiting { at: now.0 },
            tries: 0,
            problem: None,
            created_at: now.0,
            changed_at: now.0,
        };
        self.write_mail(key, &record, now)?;
        Ok(true)
    }

    /// Notes what a try has brought. Nothing, if the mail has meanwhile been deleted or is no longer waiting.
    pub fn note_mail(
        &mut self,
        key: MailKey,
        outcome: MailOutcome,
        now: UnixSeconds,
    ) -> Result<Option<MailState>, StoreError> {
        let Some(mut record) = self.waiting_mail(key)? else {
            return Ok(None);
        };
        self.unschedule_mail(key, &record)?;
        record.tries += 1;
        record.changed_at = now.0;
        (record.state, record.problem) = match outcome {
            MailOutcome::Sent => (MailState::Sent, None),
            MailOutcome::Failed { why, is_permanent } => {
                let state = after_failure(record.tries, is_permanent, now.0);
                (state, Some(why))
            }
        };
        self.write_mail(key, &record, now)?;
        Ok(Some(record.state))
    }

    fn waiting_mail(&self, key: MailKey) -> Result<Option<MailRecord>, StoreError> {
        let is_waiting = |record: &MailRecord| matches!(record.state, MailState::Waiting { .. });
        Ok(self.mail(key)?.filter(is_waiting))
    }

    /// Makes a mail that was not sent due again now. `None` when there is none.
    pub fn retry_mail(
        &mut self,
        key: MailKey,
        now: UnixSeconds,
    ) -> Result<Option<MailRecord>, StoreError> {
        let is_open = |record: &MailRecord| record.state != MailState::Sent;
        let Some(mut record) = self.mail(key)?.filter(is_open) else {
            return Ok(None);
        };
        self.unschedule_mail(key, &record)?;
        record.state = MailState::Waiting { at: now.0 };
        record.tries = 0;
        record.changed_at = now.0;
        self.write_mail(key, &record, now)?;
        Ok(Some(record))
    }

    /// Forgets a mail, sent or not. Tells whether it was there.
    pub fn delete_mail(&mut self, key: MailKey) -> Result<bool, StoreError> {
        let Some(record) = self.mail(key)? else {
            return Ok(false);
        };
        self.unschedule_mail(key, &record)?;
        self.outbox.remove(key)?;
        Ok(true)
    }

    /// Works off the due row of a mail that was sent long ago.
    pub fn sweep_mail(&mut self, due: Due) -> Result<(), StoreError> {
        self.unschedule(due)?;
        let is_over = |record: &MailRecord| match record.state {
            MailState::Sent => true,
            MailState::Failed => record.mail.kind == MailKind::Recovery,
            MailState::Waiting { .. } => false,
        };
        let key = MailKey(due.key);
        if self.mail(key)?.is_some_and(|record| is_over(&record)) {
            self.outbox.remove(key)?;
        }
        Ok(())
    }

    /// Forgets every mail to an address. Tells how many there were.
    pub fn delete_mails_to(&mut self, address: &str) -> Result<usize, StoreError> {
        let address = comparable(address);
        self.delete_mails(|mail| comparable(&mail.to) == address)
    }

    /// Forgets every mail about one thing. Tells how many there were.
    pub fn delete_mails_about(&mut self, about: &str) -> Result<usize, StoreError> {
        self.delete_mails(|mail| mail.about == about)
    }

    fn delete_mails(&mut self, is_meant: impl Fn(&Mail) -> bool) -> Result<usize, StoreError> {
        let mut keys = Vec::new();
        for row in self.outbox.iter()? {
            let (key, bytes) = row?;
            let record: MailRecord = decode(bytes.value(), TABLE)?;
            if is_meant(&record.mail) {
                keys.push(key.value());
            }
        }
        for key in &keys {
            self.delete_mail(*key)?;
        }
        Ok(keys.len())
    }

    fn write_mail(
        &mut self,
        key: MailKey,
        record: &MailRecord,
        now: UnixSeconds,
    ) -> Result<(), StoreError> {
        if let (Some(attachment), false) =
            (&record.mail.attachment, record.state == MailState::Sent)
        {
            self.keep_blob(attachment.blob, now.plus(ATTACHMENT_SECONDS))?;
        }
        if let Some(due) = due(key, record) {
            self.schedule(due)?;
        }
        self.outbox.insert(key, encode(record)?.as_slice())?;
        Ok(())
    }

    fn unschedule_mail(&mut self, key: MailKey, record: &MailRecord) -> Result<(), StoreError> {
        match due(key, record) {
            Some(due) => self.unschedule(due),
            None => Ok(()),
        }
    }
}

/// When a mail is looked at again: to be tried, or to be forgotten. What was sent before recovery mails had a shorter
/// life has its due row where it was written.
fn due(key: MailKey, record: &MailRecord) -> Option<Due> {
    let at = match record.state {
        MailState::Waiting { at } => UnixSeconds(at),
        MailState::Sent | MailState::Failed if record.mail.kind == MailKind::Recovery => {
            UnixSeconds(record.changed_at).plus(RECOVERY_SECONDS)
        }
        MailState::Sent => UnixSeconds(record.changed_at).plus(SENT_SECONDS),
        MailState::Failed => return None,
    };
    Some(Due {
        at,
        kind: DueKind::Mail,
        key: key.0,
    })
}

impl Snapshot {
    /// The mails after one, in the order of their keys.
    pub fn mails_after(
        &self,
        after: Option<MailKey>,
        rows_max: usize,
    ) -> Result<Vec<(MailKey, MailRecord)>, StoreError> {
        self.outbox.records_after(TABLE, after, rows_max)
    }

    /// Every mail, in the order of their keys, for the operator's list.
    pub fn mails(
        &self,
        mut each: impl FnMut(MailKey, MailRecord) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        for row in self.outbox.iter()? {
            let (key, bytes) = row?;
            each(key.value(), decode(bytes.value(), TABLE)?)?;
        }
        Ok(())
    }
}
