//! Answers on their way to their buyers.

use std::collections::HashMap;
use std::sync::Mutex;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::domain::keys::PaymentKey;
use crate::domain::time::UnixSeconds;
use crate::sync::lock;

/// The answers that are being sent, and those that were and are not written down as sent yet.
#[derive(Debug, Default)]
pub struct Answers {
    sending: Mutex<Deliveries>,
    /// Notified when the last copy of an answer was sent or given up.
    ended: Notify,
}

#[derive(Debug, Default)]
struct Deliveries {
    /// How many copies of a payment's answer are being sent.
    being_sent: HashMap<PaymentKey, usize>,
    /// Payments whose answer was sent, and when, which is not written down yet.
    sent: HashMap<PaymentKey, UnixSeconds>,
}

impl Answers {
    /// An answer sets out to its buyer.
    pub fn begin(&self, payment: PaymentKey) {
        *lock(&self.sending).being_sent.entry(payment).or_default() += 1;
    }

    /// An answer has been sent at this time, or its connection has ended before.
    pub fn end(&self, payment: PaymentKey, sent_at: Option<UnixSeconds>) {
        let mut answers = lock(&self.sending);
        if let Some(at) = sent_at {
            answers.sent.entry(payment).or_insert(at);
        }
        if let Some(copies) = answers.being_sent.get_mut(&payment) {
            *copies -= 1;
            if *copies == 0 {
                answers.being_sent.remove(&payment);
                self.ended.notify_waiters();
            }
        }
    }

    /// Whether a payment's answer is being sent to its buyer, or was and that is not written down yet. To be asked
    /// before the record is read: in between it may be written down.
    pub fn has(&self, payment: PaymentKey) -> bool {
        let answers = lock(&self.sending);
        answers.being_sent.contains_key(&payment) || answers.sent.contains_key(&payment)
    }

    /// Whether a payment's answer was sent and that is not written down yet, once none is on its way; `None` if one still is
    /// at `end`.
    pub async fn was_sent(&self, payment: PaymentKey, end: Instant) -> Option<bool> {
        loop {
            // Made before the look, so that no end is missed.
            let ended = self.ended.notified();
            {
                let answers = lock(&self.sending);
                if !answers.being_sent.contains_key(&payment) {
                    return Some(answers.sent.contains_key(&payment));
                }
            }
            timeout_at(end, ended).await.ok()?;
        }
    }

    /// Payments whose answer was sent, and when, which is still to be written down; so many at most.
    pub fn sent(&self, payments_max: usize) -> Vec<(PaymentKey, UnixSeconds)> {
        let answers = lock(&self.sending);
        let sent = answers.sent.iter().take(payments_max);
        sent.map(|(payment, at)| (*payment, *at)).collect()
    }

    /// That these answers were sent is written down.
    pub fn forget_sent(&self, payments: &[(PaymentKey, UnixSeconds)]) {
        let mut answers = lock(&self.sending);
        for (payment, _) in payments {
            answers.sent.remove(payment);
        }
    }
}
