//! Orders, stored until the operator deletes them; the payment provider's events of 35 days; the source results of orders
//! in progress; and the deliveries.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::email::comparable;
use crate::domain::ids::OrderId;
use crate::domain::order::Order;
use crate::domain::time::UnixSeconds;
use crate::store::lazy_table::Transaction;
use crate::store::record::{decode, encode};
use crate::store::tables::{Hash, Records, Snapshot, Tables};
use crate::store::unpaid::row_bytes;
use crate::store::{Due, DueKind, StoreError, Unpaid};

const TABLE: &str = "orders-1";
const EVENTS_TABLE: &str = "provider-events-1";
const SOURCES_TABLE: &str = "order-sources-1";
const REPORTS_TABLE: &str = "order-reports-1";
/// How long an event is known: the provider repeats one for three days.
const EVENT_SECONDS: u64 = 35 * 24 * 3600;
/// What belongs to an order has no age of its own.
const FOR_EVER: UnixSeconds = UnixSeconds(u64::MAX);

/// An event as the payment provider sent it, for the operator's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRecord {
    /// The provider's own identifier.
    pub id: String,
    pub kind: String,
    pub livemode: bool,
    pub order: Option<[u8; 16]>,
    /// What became of it, in a few words.
    pub outcome: String,
    /// The body as it was sent, as far as it is kept; empty once its order is deleted.
    pub raw: String,
    pub created_at: u64,
    pub received_at: u64,
}

/// What came of one source of an order, so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SourceRecord {
    /// An outage: it is asked again at `again_at`.
    Waiting {
        tries: u32,
        again_at: u64,
        code: String,
        message: String,
    },
    /// Read and examined. The blob is the JSON of its report and its text, and nobody else's.
    Read { fetched_at: u64, document: [u8; 32] },
    Unreachable {
        fetched_at: u64,
        code: String,
        message: String,
    },
}

impl SourceRecord {
    /// The word for operators.
    pub fn state(&self) -> &'static str {
        match self {
            SourceRecord::Waiting { .. } => "waiting",
            SourceRecord::Read { .. } => "read",
            SourceRecord::Unreachable { .. } => "unreachable",
        }
    }
}

/// What was delivered. Both blobs are this order's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderReport {
    /// SHA-256 of the report's JSON.
    pub document: [u8; 32],
    /// SHA-256 of the PDF, where one could be made.
    pub pdf: Option<[u8; 32]>,
    pub pdf_bytes: u64,
    /// Sources that could be read.
    pub sources_read: u32,
    pub created_at: u64,
}

/// A session is found by its hash: the identifier itself lets its holder read what was delivered.
pub fn session_key(session_id: &str) -> [u8; 32] {
    Sha256::digest(session_id).into()
}

/// The key of everything about an address: its hash, as it is compared.
pub fn email_key(address: &str) -> [u8; 32] {
    Sha256::digest(comparable(address)).into()
}

pub fn event_key(event_id: &str) -> [u8; 32] {
    Sha256::digest(event_id).into()
}

impl<T: Transaction> Records<T> {
    pub fn order(&self, id: OrderId) -> Result<Option<Order>, StoreError> {
        self.orders.record(id.0, TABLE)
    }

    pub fn order_of_session(
        &self,
        session_id: &str,
    ) -> Result<Option<(OrderId, Order)>, StoreError> {
        let id = self.orders_by_session.get(session_key(session_id))?;
        let Some(id) = id.map(|id| OrderId(id.value())) else {
            return Ok(None);
        };
        Ok(self.order(id)?.map(|order| (id, order)))
    }

    /// Whether the order is delivered by e-mail only.
    pub fn is_mail_only(&self, id: OrderId) -> Result<bool, StoreError> {
        Ok(self.mail_only_orders.get(id.0)?.is_some())
    }

    pub fn provider_event(&self, event_id: &str) -> Result<Option<EventRecord>, StoreError> {
        self.provider_events
            .record(event_key(event_id), EVENTS_TABLE)
    }

    pub fn order_report(&self, id: OrderId) -> Result<Option<OrderReport>, StoreError> {
        self.order_reports.record(id.0, REPORTS_TABLE)
    }
}

impl Tables<'_> {
    /// Writes an order, new or changed.
    pub fn put_order(&mut self, id: OrderId, order: &Order) -> Result<(), StoreError> {
        let bytes = encode(order)?;
        // Making room may delete this very order.
        let is_mail_only = self.is_mail_only(id)?;
        if let Some(kind) = Unpaid::of_order(order) {
            self.make_room(kind, bytes.len())?;
        }
        self.unlist_order(id)?;
        if is_mail_only {
            self.set_mail_only(id)?;
        }
        self.orders_by_session
            .insert(session_key(&order.session_id), id.0)?;
        if let Some(email) = &order.email {
            self.orders_by_email.insert((email_key(email), id.0), ())?;
        }
        if let Some(kind) = Unpaid::of_order(order) {
            self.add_unpaid(kind, bytes.len())?;
        }
        self.orders.insert(id.0, bytes.as_slice())?;
        Ok(())
    }

    /// Has an order delivered by e-mail only: who has its checkout session is shown nothing of it.
    pub fn set_mail_only(&mut self, id: OrderId) -> Result<(), StoreError> {
        self.mail_only_orders.insert(id.0, ())?;
        Ok(())
    }

    fn unlist_order(&mut self, id: OrderId) -> Result<(), StoreError> {
        let stored = self.orders.get(id.0)?;
        let stored =
            stored.map(|bytes| (bytes.value().len(), decode::<Order>(bytes.value(), TABLE)));
        let Some((value, order)) = stored else {
            return Ok(());
        };
        let order = order?;
        if let Some(kind) = Unpaid::of_order(&order) {
            self.take_unpaid(kind, value)?;
        }
        self.orders_by_session
            .remove(session_key(&order.session_id))?;
        if let Some(email) = &order.email {
            self.orders_by_email.remove((email_key(email), id.0))?;
        }
        Ok(())
    }

    /// Forgets an order, what was delivered, and what the provider said of the buyer. Its events stay known by their
    /// identifiers, so that none makes a new order. Tells whether it was there.
    pub fn delete_order(&mut self, id: OrderId) -> Result<bool, StoreError> {
        self.drop_order_sources(id)?;
        self.drop_order_report(id)?;
        self.unlist_order(id)?;
        self.mail_only_orders.remove(id.0)?;
        let mut events = Vec::new();
        for row in self.provider_events.iter()? {
            let (key, bytes) = row?;
            let event: EventRecord = decode(bytes.value(), EVENTS_TABLE)?;
            if event.order == Some(id.0) {
                events.push((key.value(), event));
            }
        }
        for (key, mut event) in events {
            event.raw = String::new();
            self.write_provider_event(key, &event)?;
        }
        Ok(self.orders.remove(id.0)?.is_some())
    }

    /// Forgets every order of an address. Tells how many there were.
    pub fn delete_orders_of(&mut self, address: &str) -> Result<usize, StoreError> {
        let rows = self.orders_by_email.range(of_email(address))?;
        let ids: Vec<_> = rows
            .map(|row| Ok::<_, StoreError>(row?.0.value().1))
            .collect::<Result<_, _>>()?;
        for id in &ids {
            self.delete_order(OrderId(*id))?;
        }
        Ok(ids.len())
    }

    /// Deletes the oldest orders whose payment is awaited or has failed, until so many bytes of them are left. If the
    /// payment arrives later, the provider's event creates the order again. Returns whether any was deleted.
    pub(in crate::store) fn evict_unpaid_orders(
        &mut self,
        left_max: u64,
    ) -> Result<bool, StoreError> {
        let mut unpaid = Vec::new();
        for row in self.orders.iter()? {
            let (id, value) = row?;
            let order: Order = decode(value.value(), TABLE)?;
            if Unpaid::of_order(&order).is_some() {
                unpaid.push((order.created_at, OrderId(id.value())));
            }
        }
        unpaid.sort_unstable_by_key(|(at, id)| (*at, id.0));
        let mut gone = 0;
        for (_, id) in unpaid {
            if self.unpaid_bytes(Unpaid::Orders)? <= left_max {
                break;
            }
            self.unlist_order(id)?;
            self.mail_only_orders.remove(id.0)?;
            self.orders.remove(id.0)?;
            gone += 1;
        }
        Ok(gone > 0)
    }

    pub(in crate::store) fn count_unpaid_orders(&self) -> Result<u64, StoreError> {
        let mut bytes = 0;
        for row in self.orders.iter()? {
            let (_, value) = row?;
            let order: Order = decode(value.value(), TABLE)?;
            if Unpaid::of_order(&order).is_some() {
                bytes += row_bytes(value.value().len());
            }
        }
        Ok(bytes)
    }

    /// Has an order looked at, then.
    pub fn schedule_order(&mut self, id: OrderId, at: UnixSeconds) -> Result<(), StoreError> {
        self.schedule(Due::of_id(DueKind::Order, id.0, at))
    }

    /// Every row of an order that is due at any time.
    pub fn orders_due(&self) -> Result<Vec<Due>, StoreError> {
        self.all_due(DueKind::Order)
    }

    pub fn put_provider_event(&mut self, event: &EventRecord) -> Result<(), StoreError> {
        let key = event_key(&event.id);
        self.make_room(Unpaid::ProviderEvents, encode(event)?.len())?;
        self.write_provider_event(key, event)?;
        self.schedule(Due {
            at: UnixSeconds(event.received_at).plus(EVENT_SECONDS),
            kind: DueKind::ProviderEvent,
            key,
        })
    }

    fn write_provider_event(&mut self, key: Hash, event: &EventRecord) -> Result<(), StoreError> {
        let bytes = encode(event)?;
        let before = self.provider_events.insert(key, bytes.as_slice())?;
        let before = before.map(|before| before.value().len());
        if let Some(before) = before {
            self.take_unpaid(Unpaid::ProviderEvents, before)?;
        }
        self.add_unpaid(Unpaid::ProviderEvents, bytes.len())
    }

    /// Works off a due row.
    pub fn sweep_provider_event(&mut self, due: Due) -> Result<(), StoreError> {
        self.unschedule(due)?;
        let removed = self.provider_events.remove(due.key)?;
        let removed = removed.map(|bytes| bytes.value().len());
        match removed {
            Some(value) => self.take_unpaid(Unpaid::ProviderEvents, value),
            None => Ok(()),
        }
    }

    /// Writes what came of a source; `document` are the bytes of the blob that it names.
    pub fn put_order_source(
        &mut self,
        id: OrderId,
        place: u32,
        source: &SourceRecord,
        document: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        if let (SourceRecord::Read { document: key, .. }, Some(bytes)) = (source, document) {
            self.put_blob(*key, bytes, FOR_EVER)?;
        }
        self.order_sources
            .insert((id.0, place), encode(source)?.as_slice())?;
        Ok(())
    }

    /// How many of an order's sources have an outcome that will not change.
    pub fn order_sources_done(&self, id: OrderId) -> Result<u32, StoreError> {
        let mut done = 0;
        for row in self.order_sources.range(sources_of(id))? {
            let source: SourceRecord = decode(row?.1.value(), SOURCES_TABLE)?;
            done += u32::from(!matches!(source, SourceRecord::Waiting { .. }));
        }
        Ok(done)
    }

    pub fn drop_order_sources(&mut self, id: OrderId) -> Result<(), StoreError> {
        let mut places = Vec::new();
        for row in self.order_sources.range(sources_of(id))? {
            let (key, bytes) = row?;
            let source: SourceRecord = decode(bytes.value(), SOURCES_TABLE)?;
            places.push((key.value(), source));
        }
        for (key, source) in places {
            self.order_sources.remove(key)?;
            if let SourceRecord::Read { document, .. } = source {
                self.drop_blob(document)?;
            }
        }
        Ok(())
    }

    /// Writes what is delivered, in place of what was before.
    pub fn put_order_report(
        &mut self,
        id: OrderId,
        report: &OrderReport,
        document: &[u8],
        pdf: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        self.drop_order_report(id)?;
        self.put_blob(report.document, document, FOR_EVER)?;
        if let (Some(key), Some(bytes)) = (report.pdf, pdf) {
            self.put_blob(key, bytes, FOR_EVER)?;
        }
        self.order_reports
            .insert(id.0, encode(report)?.as_slice())?;
        Ok(())
    }

    fn drop_order_report(&mut self, id: OrderId) -> Result<(), StoreError> {
        let Some(report) = self.order_report(id)? else {
            return Ok(());
        };
        self.drop_blob(report.document)?;
        if let Some(pdf) = report.pdf {
            self.drop_blob(pdf)?;
        }
        self.order_reports.remove(id.0)?;
        Ok(())
    }
}

fn of_email(address: &str) -> std::ops::RangeInclusive<([u8; 32], [u8; 16])> {
    let key = email_key(address);
    (key, [0; 16])..=(key, [u8::MAX; 16])
}

fn sources_of(id: OrderId) -> std::ops::RangeInclusive<([u8; 16], u32)> {
    (id.0, 0)..=(id.0, u32::MAX)
}

impl Snapshot {
    /// A person's orders by their e-mail address, at most `rows_max`.
    pub fn orders_of_email(
        &self,
        email: &str,
        rows_max: usize,
    ) -> Result<Vec<(OrderId, Order)>, StoreError> {
        let mut found = Vec::new();
        let rows = self.orders_by_email.range(of_email(email))?;
        for row in rows.take(rows_max) {
            let id = OrderId(row?.0.value().1);
            found.extend(self.order(id)?.map(|order| (id, order)));
        }
        Ok(found)
    }

    /// The orders after one, in the order of their identifiers.
    pub fn orders_after(
        &self,
        after: Option<OrderId>,
        rows_max: usize,
    ) -> Result<Vec<(OrderId, Order)>, StoreError> {
        let found = self
            .orders
            .records_after(TABLE, after.map(|id| id.0), rows_max)?;
        let order = |(id, order)| (OrderId(id), order);
        Ok(found.into_iter().map(order).collect())
    }

    /// Every order, in the order of their identifiers.
    pub fn orders(
        &self,
        mut each: impl FnMut(OrderId, Order) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        for row in self.orders.iter()? {
            let (id, bytes) = row?;
            each(OrderId(id.value()), decode(bytes.value(), TABLE)?)?;
        }
        Ok(())
    }

    /// The events of the payment provider after one, by the hashes of their identifiers.
    pub fn provider_events_after(
        &self,
        after: Option<[u8; 32]>,
        rows_max: usize,
    ) -> Result<Vec<([u8; 32], EventRecord)>, StoreError> {
        self.provider_events
            .records_after(EVENTS_TABLE, after, rows_max)
    }

    /// Every event of the payment provider that is known, in no order that means anything.
    pub fn provider_events(
        &self,
        mut each: impl FnMut(EventRecord) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        for row in self.provider_events.iter()? {
            each(decode(row?.1.value(), EVENTS_TABLE)?)?;
        }
        Ok(())
    }

    /// What came of an order's sources so far, by their places.
    pub fn order_sources(&self, id: OrderId) -> Result<Vec<(u32, SourceRecord)>, StoreError> {
        let rows = self.order_sources.range(sources_of(id))?;
        rows.map(|row| {
            let (key, bytes) = row?;
            Ok((key.value().1, decode(bytes.value(), SOURCES_TABLE)?))
        })
        .collect()
    }
}
