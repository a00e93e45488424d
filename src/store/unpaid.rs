//! Free records. Each kind has a limit in bytes; at the limit the oldest are deleted, or, if somebody waits for a reply, new
//! ones are refused. The totals are stored and change in the records' transactions.

use crate::domain::lead::{Lead, LeadStatus};
use crate::domain::order::{Order, OrderState};
use crate::domain::time::UnixSeconds;
use crate::store::disk_space::Allowed;
use crate::store::lazy_table::Transaction;
use crate::store::record::encode;
use crate::store::tables::{Records, Snapshot, Tables};
use crate::store::{DueKind, StoreError};

/// What a row takes beside its value: its key, the rows of its indexes, and what its pages leave empty.
pub(in crate::store) const ROW_BYTES: u64 = 256;
/// Rows that leave in one transaction, so that nobody waits long behind it.
const EVICTED_ROWS_MAX: usize = 1_000;
/// Unpaid orders leave together, down to this part of their bound: the oldest are found by looking at all.
const ORDERS_LEFT: (u64, u64) = (7, 8);

/// A kind of record that costs its sender nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unpaid {
    /// Quotes for pages and reports, tombstones included.
    Quotes,
    /// Quotes for bundles that no order was paid for, tombstones included.
    BundleQuotes,
    /// Leads that are neither paid nor fulfilled, with somebody to answer to.
    Leads,
    /// The same without a contact: of anyone who went to a payment link.
    AnonymousLeads,
    /// What the payment provider has sent.
    ProviderEvents,
    /// Orders whose payment is awaited or has failed.
    Orders,
}

impl Unpaid {
    pub const ALL: [Unpaid; 6] = [
        Unpaid::Quotes,
        Unpaid::BundleQuotes,
        Unpaid::Leads,
        Unpaid::AnonymousLeads,
        Unpaid::ProviderEvents,
        Unpaid::Orders,
    ];

    /// The name in metrics.
    pub fn name(self) -> &'static str {
        match self {
            Unpaid::Quotes => "quotes",
            Unpaid::BundleQuotes => "bundle_quotes",
            Unpaid::Leads => "leads",
            Unpaid::AnonymousLeads => "anonymous_leads",
            Unpaid::ProviderEvents => "provider_events",
            Unpaid::Orders => "orders",
        }
    }

    /// The fact that holds the sum.
    fn fact(self) -> &'static str {
        match self {
            Unpaid::Quotes => "unpaid-quotes-bytes",
            Unpaid::BundleQuotes => "unpaid-bundle-quotes-bytes",
            Unpaid::Leads => "unpaid-leads-bytes",
            Unpaid::AnonymousLeads => "unpaid-anonymous-leads-bytes",
            Unpaid::ProviderEvents => "unpaid-provider-events-bytes",
            Unpaid::Orders => "unpaid-orders-bytes",
        }
    }

    /// The bound as the disk stands now. What the provider has sent is no stranger's to multiply: it does not give way
    /// to sales.
    fn bytes_max(self, allowed: &Allowed) -> u64 {
        match self {
            Unpaid::ProviderEvents | Unpaid::Orders => allowed.provider,
            _ => allowed.unpaid,
        }
    }

    pub(in crate::store) fn of_lead(lead: &Lead) -> Option<Unpaid> {
        match lead.status {
            LeadStatus::Paid | LeadStatus::Fulfilled => None,
            _ if lead.contact.trim().is_empty() => Some(Unpaid::AnonymousLeads),
            _ => Some(Unpaid::Leads),
        }
    }

    pub(in crate::store) fn of_order(order: &Order) -> Option<Unpaid> {
        match order.state {
            OrderState::AwaitingPayment | OrderState::PaymentFailed => Some(Unpaid::Orders),
            _ => None,
        }
    }
}

/// What a record of so many bytes counts.
pub(in crate::store) fn row_bytes(value: usize) -> u64 {
    value as u64 + ROW_BYTES
}

impl<T: Transaction> Records<T> {
    /// Bytes of the records of a kind that cost their sender nothing.
    pub fn unpaid_bytes(&self, kind: Unpaid) -> Result<u64, StoreError> {
        self.fact(kind.fact())
    }
}

impl Tables<'_> {
    /// Counts a record that comes.
    pub(in crate::store) fn add_unpaid(
        &mut self,
        kind: Unpaid,
        value: usize,
    ) -> Result<(), StoreError> {
        let bytes = self.unpaid_bytes(kind)?.saturating_add(row_bytes(value));
        self.set_fact(kind.fact(), bytes)
    }

    /// Counts a record that goes.
    pub(in crate::store) fn take_unpaid(
        &mut self,
        kind: Unpaid,
        value: usize,
    ) -> Result<(), StoreError> {
        let bytes = self.unpaid_bytes(kind)?.saturating_sub(row_bytes(value));
        self.set_fact(kind.fact(), bytes)
    }

    /// Makes room for a record of so many bytes: the oldest leave. Tells whether it fits now.
    pub(in crate::store) fn make_room(
        &mut self,
        kind: Unpaid,
        value: usize,
    ) -> Result<bool, StoreError> {
        let bytes_max = kind.bytes_max(&self.allowed);
        match bytes_max.checked_sub(row_bytes(value)) {
            Some(left_max) => Ok(!self.evict(kind, left_max, EVICTED_ROWS_MAX)?),
            None => Ok(false),
        }
    }

    /// Whether a lead may be taken in. Those without a contact make room for each other; of the others none leaves but
    /// by the operator, so that what was acknowledged is never lost.
    pub fn admits_lead(&mut self, lead: &Lead) -> Result<bool, StoreError> {
        let value = encode(lead)?.len();
        match Unpaid::of_lead(lead) {
            Some(kind) => self.make_room(kind, value),
            None => Ok(true),
        }
    }

    /// Removes cached pages and unpaid records beyond their bounds, a part at a time. Tells whether more are left.
    pub(in crate::store) fn trim(&mut self, now: UnixSeconds) -> Result<bool, StoreError> {
        let mut is_more = self.shrink_pages(now, EVICTED_ROWS_MAX)?;
        for kind in Unpaid::ALL
            .into_iter()
            .filter(|kind| *kind != Unpaid::Leads)
        {
            is_more |= self.evict(kind, kind.bytes_max(&self.allowed), EVICTED_ROWS_MAX)?;
        }
        Ok(is_more)
    }

    /// Lets the oldest of a kind go until so many bytes are left. Tells whether more are left.
    fn evict(&mut self, kind: Unpaid, left_max: u64, rows_max: usize) -> Result<bool, StoreError> {
        for _ in 0..rows_max {
            if self.unpaid_bytes(kind)? <= left_max {
                return Ok(false);
            }
            let is_gone = match kind {
                Unpaid::Quotes => self.evict_quote(DueKind::Quote)?,
                Unpaid::BundleQuotes => self.evict_quote(DueKind::BundleQuote)?,
                Unpaid::Leads => false,
                Unpaid::AnonymousLeads => self.evict_anonymous_lead()?,
                Unpaid::ProviderEvents => self.evict_provider_event()?,
                Unpaid::Orders => {
                    let (part, whole) = ORDERS_LEFT;
                    self.evict_unpaid_orders(left_max / whole * part)?
                }
            };
            if !is_gone {
                break;
            }
        }
        Ok(self.unpaid_bytes(kind)? > left_max)
    }

    fn evict_provider_event(&mut self) -> Result<bool, StoreError> {
        match self.first_due(DueKind::ProviderEvent)? {
            Some(due) => self.sweep_provider_event(due).map(|()| true),
            None => Ok(false),
        }
    }

    /// Counts the records of a file from before they were counted.
    pub(in crate::store) fn count_unpaid(&mut self) -> Result<(), StoreError> {
        for kind in Unpaid::ALL {
            if self.meta.get(kind.fact())?.is_some() {
                continue;
            }
            let bytes = match kind {
                Unpaid::Quotes => self.count_quotes(DueKind::Quote)?,
                Unpaid::BundleQuotes => self.count_quotes(DueKind::BundleQuote)?,
                Unpaid::Leads | Unpaid::AnonymousLeads => self.count_leads(kind)?,
                Unpaid::ProviderEvents => {
                    let rows = self.provider_events.iter()?;
                    rows.map(|row| Ok(row_bytes(row?.1.value().len())))
                        .sum::<Result<u64, StoreError>>()?
                }
                Unpaid::Orders => self.count_unpaid_orders()?,
            };
            self.set_fact(kind.fact(), bytes)?;
        }
        Ok(())
    }
}

impl Snapshot {
    /// Whether there is something to trim.
    pub(in crate::store) fn is_over(&self, allowed: &Allowed) -> Result<bool, StoreError> {
        for kind in Unpaid::ALL
            .into_iter()
            .filter(|kind| *kind != Unpaid::Leads)
        {
            if self.unpaid_bytes(kind)? > kind.bytes_max(allowed) {
                return Ok(true);
            }
        }
        self.has_pages_beyond(allowed.pages)
    }
}
