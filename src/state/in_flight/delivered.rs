//! A finished sale, and whether its answer has been sent.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::domain::keys::PaymentKey;
use crate::domain::level::LineItem;
use crate::domain::payment::Means;
use crate::domain::time::UnixSeconds;
use crate::outside::clock::Clock;
use crate::outside::memory::MemoryPermit;
use crate::state::in_flight::InFlight;
use crate::sync::lock;

/// A finished sale.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivered {
    /// The whole JSON answer.
    pub body: Arc<Body>,
    pub transaction: String,
    pub settled_at: UnixSeconds,
    pub means: Means,
    /// Checksummed address.
    pub payer: String,
    pub item: LineItem,
    /// Hex SHA-256 of what was sold: a page's markdown, or a report.
    pub content_sha256: String,
    /// Of a page's markdown.
    pub tokens: u64,
    pub cache_hit: bool,
    /// The payment whose redelivery this is, if it counts as one.
    pub redelivery_of: Option<PaymentKey>,
    /// Tells whether the answer is sent.
    pub sending: AnswerInFlight,
}

/// An answer that several requests may be given at once.
#[derive(Debug)]
pub struct Body {
    bytes: Vec<u8>,
    permit: Mutex<Option<MemoryPermit>>,
}

impl Body {
    pub fn new(bytes: Vec<u8>, mut permit: MemoryPermit) -> Body {
        permit.shrink(bytes.len());
        Body {
            bytes,
            permit: Mutex::new(Some(permit)),
        }
    }

    /// What is to be dropped once the answer is counted among those that wait to be read.
    pub fn permit(&self) -> Option<MemoryPermit> {
        let mut permit = lock(&self.permit);
        permit.take()
    }
}

impl AsRef<[u8]> for Body {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl PartialEq for Body {
    fn eq(&self, other: &Body) -> bool {
        self.bytes == other.bytes
    }
}

/// An answer on its way, shared by all requests that get it. While it lives nobody else is given the answer as one that
/// is owed. Dropped without having been sent, the answer stays owed.
#[derive(Clone, Debug)]
pub struct AnswerInFlight(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    table: Arc<InFlight>,
    clock: Clock,
    payment: PaymentKey,
    /// Unix seconds; 0 as long as it is not sent.
    sent_at: AtomicU64,
}

impl AnswerInFlight {
    pub fn begin(table: &Arc<InFlight>, clock: &Clock, payment: PaymentKey) -> AnswerInFlight {
        table.answers.begin(payment);
        AnswerInFlight(Arc::new(Inner {
            table: table.clone(),
            clock: clock.clone(),
            payment,
            sent_at: AtomicU64::new(0),
        }))
    }

    /// The whole answer was handed over to a connection.
    pub fn sent(&self) {
        self.0
            .sent_at
            .store(self.0.clock.now().0, Ordering::Release);
    }
}

/// Two answers are the same whatever becomes of them on their way.
impl PartialEq for AnswerInFlight {
    fn eq(&self, other: &Self) -> bool {
        self.0.payment == other.0.payment
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let sent_at = Some(self.sent_at.load(Ordering::Acquire)).filter(|at| *at > 0);
        self.table
            .answers
            .end(self.payment, sent_at.map(UnixSeconds));
    }
}
