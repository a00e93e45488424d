//! Every table of the data file, one line each, and the two ways to them: `Tables` inside the writer's transaction,
//! `Snapshot` inside a reader's.

use redb::{ReadOnlyTable, ReadTransaction, Table, TableDefinition, WriteTransaction};

use crate::store::StoreError;

pub(in crate::store) type Hash = [u8; 32];

// name, key, value, lifetime
/// Facts about the file itself: schema version, whether it was closed cleanly, bytes of cached pages and of all blobs.
pub(in crate::store) const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta-1");
/// Payment key → record of a payment with its credit; kept as the operator's book.
pub(in crate::store) const PAYMENTS: TableDefinition<'_, Hash, &[u8]> =
    TableDefinition::new("payments-1");
/// SHA-256 of a credit → payment key; until the credit expires.
pub(in crate::store) const CREDITS: TableDefinition<'_, Hash, Hash> =
    TableDefinition::new("credits-1");
/// SHA-256 of (payer, payment-identifier) → payment key; as long as the kept answer.
pub(in crate::store) const IDENTIFIERS: TableDefinition<'_, Hash, Hash> =
    TableDefinition::new("identifiers-1");
/// SHA-256 of a canonical URL → record of a cached page; 24 hours.
pub(in crate::store) const PAGES: TableDefinition<'_, Hash, &[u8]> =
    TableDefinition::new("pages-1");
/// SHA-256 of the bytes → the bytes; shared by cache and answers, as long as BLOB_KEEP says.
pub(in crate::store) const BLOBS: TableDefinition<'_, Hash, &[u8]> =
    TableDefinition::new("blobs-1");
/// SHA-256 of a blob → Unix seconds until which somebody needs it.
pub(in crate::store) const BLOB_KEEP: TableDefinition<'_, Hash, u64> =
    TableDefinition::new("blob-keep-1");
/// Quote id → record of a quote receipt; 7 days, then a tombstone until it is swept.
pub(in crate::store) const QUOTES: TableDefinition<'_, [u8; 16], &[u8]> =
    TableDefinition::new("quotes-1");
/// Report id → record of a retained report; 30 days, then a tombstone for 30 more.
pub(in crate::store) const REPORTS: TableDefinition<'_, [u8; 16], &[u8]> =
    TableDefinition::new("reports-1");
/// Payment key → id of the report that it bought; as long as the report's record.
pub(in crate::store) const REPORTS_OF_PAYMENTS: TableDefinition<'_, Hash, [u8; 16]> =
    TableDefinition::new("reports-of-payments-1");
/// Slug → id of the report that its buyer shares; until it is taken back or the report expires.
pub(in crate::store) const SHARED_REPORTS: TableDefinition<'_, [u8; 16], [u8; 16]> =
    TableDefinition::new("shared-reports-1");
/// (Unix seconds, slug) → id of a shared report that the library lists; as long as it is shared.
pub(in crate::store) const LISTED_REPORTS: TableDefinition<'_, (u64, [u8; 16]), [u8; 16]> =
    TableDefinition::new("listed-reports-1");
/// Bundle quote id → record of a quote receipt; 7 days, then a tombstone until it is swept.
pub(in crate::store) const BUNDLE_QUOTES: TableDefinition<'_, [u8; 16], &[u8]> =
    TableDefinition::new("bundle-quotes-1");
/// Lead id → record of a lead; until the operator deletes it.
pub(in crate::store) const LEADS: TableDefinition<'_, [u8; 16], &[u8]> =
    TableDefinition::new("leads-1");
/// (SHA-256 of a contact, Unix seconds, lead id) → nothing: a person's leads; as long as the lead.
pub(in crate::store) const LEADS_BY_CONTACT: TableDefinition<'_, (Hash, u64, [u8; 16]), ()> =
    TableDefinition::new("leads-by-contact-1");
/// SHA-256 of (product, contact, targets) → id of the newest such lead; as long as the lead.
pub(in crate::store) const LEADS_BY_FORM: TableDefinition<'_, Hash, [u8; 16]> =
    TableDefinition::new("leads-by-form-1");
/// Lead id → record of a notice that is still to be sent; until it is, or is given up.
pub(in crate::store) const NOTICES: TableDefinition<'_, [u8; 16], &[u8]> =
    TableDefinition::new("notices-1");
/// Order id → record of an order; until the operator deletes it.
pub(in crate::store) const ORDERS: TableDefinition<'_, [u8; 16], &[u8]> =
    TableDefinition::new("orders-1");
/// SHA-256 of a checkout session's id → order id; as long as the order.
pub(in crate::store) const ORDERS_BY_SESSION: TableDefinition<'_, Hash, [u8; 16]> =
    TableDefinition::new("orders-by-session-1");
/// (SHA-256 of an e-mail address, order id) → nothing: a person's orders; as long as the order.
pub(in crate::store) const ORDERS_BY_EMAIL: TableDefinition<'_, (Hash, [u8; 16]), ()> =
    TableDefinition::new("orders-by-email-1");
/// SHA-256 of a payment provider's event id → record of the event; 35 days.
pub(in crate::store) const PROVIDER_EVENTS: TableDefinition<'_, Hash, &[u8]> =
    TableDefinition::new("provider-events-1");
/// (order id, place of the source) → record of what came of it; until the order is done.
pub(in crate::store) const ORDER_SOURCES: TableDefinition<'_, ([u8; 16], u32), &[u8]> =
    TableDefinition::new("order-sources-1");
/// Order id → record of what was delivered; as long as the order.
pub(in crate::store) const ORDER_REPORTS: TableDefinition<'_, [u8; 16], &[u8]> =
    TableDefinition::new("order-reports-1");
/// (kind, Unix seconds, key) → nothing: what is due when. Worked off by one loop.
pub(in crate::store) const DUE: TableDefinition<'_, (u8, u64, Hash), ()> =
    TableDefinition::new("due-1");

/// Payment terms as JSON → Unix seconds at which they were last offered; ten minutes.
pub(in crate::store) const TERMS: TableDefinition<'_, &str, u64> = TableDefinition::new("terms-1");

/// Mail key → record of a mail with what became of it; 30 days from when it was sent, else until the operator deletes it.
pub(in crate::store) const OUTBOX: TableDefinition<'_, Hash, &[u8]> =
    TableDefinition::new("outbox-1");

/// Day since 1970 → what it has earned on chain; kept as the operator's book.
pub(in crate::store) const LEDGER: TableDefinition<'_, u64, &[u8]> =
    TableDefinition::new("ledger-1");
/// Day since 1970 → its ledger held against the vault; kept beside it.
pub(in crate::store) const RECKONINGS: TableDefinition<'_, u64, &[u8]> =
    TableDefinition::new("reckonings-1");

/// All tables, open in the writer's transaction.
pub struct Tables<'txn> {
    pub(in crate::store) meta: Table<'txn, &'static str, u64>,
    pub(in crate::store) payments: Table<'txn, Hash, &'static [u8]>,
    pub(in crate::store) credits: Table<'txn, Hash, Hash>,
    pub(in crate::store) identifiers: Table<'txn, Hash, Hash>,
    pub(in crate::store) pages: Table<'txn, Hash, &'static [u8]>,
    pub(in crate::store) blobs: Table<'txn, Hash, &'static [u8]>,
    pub(in crate::store) blob_keep: Table<'txn, Hash, u64>,
    pub(in crate::store) quotes: Table<'txn, [u8; 16], &'static [u8]>,
    pub(in crate::store) reports: Table<'txn, [u8; 16], &'static [u8]>,
    pub(in crate::store) reports_of_payments: Table<'txn, Hash, [u8; 16]>,
    pub(in crate::store) shared_reports: Table<'txn, [u8; 16], [u8; 16]>,
    pub(in crate::store) listed_reports: Table<'txn, (u64, [u8; 16]), [u8; 16]>,
    pub(in crate::store) bundle_quotes: Table<'txn, [u8; 16], &'static [u8]>,
    pub(in crate::store) leads: Table<'txn, [u8; 16], &'static [u8]>,
    pub(in crate::store) leads_by_contact: Table<'txn, (Hash, u64, [u8; 16]), ()>,
    pub(in crate::store) leads_by_form: Table<'txn, Hash, [u8; 16]>,
    pub(in crate::store) notices: Table<'txn, [u8; 16], &'static [u8]>,
    pub(in crate::store) orders: Table<'txn, [u8; 16], &'static [u8]>,
    pub(in crate::store) orders_by_session: Table<'txn, Hash, [u8; 16]>,
    pub(in crate::store) orders_by_email: Table<'txn, (Hash, [u8; 16]), ()>,
    pub(in crate::store) provider_events: Table<'txn, Hash, &'static [u8]>,
    pub(in crate::store) order_sources: Table<'txn, ([u8; 16], u32), &'static [u8]>,
    pub(in crate::store) order_reports: Table<'txn, [u8; 16], &'static [u8]>,
    pub(in crate::store) due: Table<'txn, (u8, u64, Hash), ()>,
    pub(in crate::store) terms: Table<'txn, &'static str, u64>,
    pub(in crate::store) outbox: Table<'txn, Hash, &'static [u8]>,
    pub(in crate::store) ledger: Table<'txn, u64, &'static [u8]>,
    pub(in crate::store) reckonings: Table<'txn, u64, &'static [u8]>,
    pub(in crate::store) pages_bytes_max: u64,
}

impl<'txn> Tables<'txn> {
    /// Opens every table, creating those that are not there.
    pub(in crate::store) fn open(
        transaction: &'txn WriteTransaction,
        pages_bytes_max: u64,
    ) -> Result<Self, redb::TableError> {
        Ok(Tables {
            meta: transaction.open_table(META)?,
            payments: transaction.open_table(PAYMENTS)?,
            credits: transaction.open_table(CREDITS)?,
            identifiers: transaction.open_table(IDENTIFIERS)?,
            pages: transaction.open_table(PAGES)?,
            blobs: transaction.open_table(BLOBS)?,
            blob_keep: transaction.open_table(BLOB_KEEP)?,
            quotes: transaction.open_table(QUOTES)?,
            reports: transaction.open_table(REPORTS)?,
            reports_of_payments: transaction.open_table(REPORTS_OF_PAYMENTS)?,
            shared_reports: transaction.open_table(SHARED_REPORTS)?,
            listed_reports: transaction.open_table(LISTED_REPORTS)?,
            bundle_quotes: transaction.open_table(BUNDLE_QUOTES)?,
            leads: transaction.open_table(LEADS)?,
            leads_by_contact: transaction.open_table(LEADS_BY_CONTACT)?,
            leads_by_form: transaction.open_table(LEADS_BY_FORM)?,
            notices: transaction.open_table(NOTICES)?,
            orders: transaction.open_table(ORDERS)?,
            orders_by_session: transaction.open_table(ORDERS_BY_SESSION)?,
            orders_by_email: transaction.open_table(ORDERS_BY_EMAIL)?,
            provider_events: transaction.open_table(PROVIDER_EVENTS)?,
            order_sources: transaction.open_table(ORDER_SOURCES)?,
            order_reports: transaction.open_table(ORDER_REPORTS)?,
            due: transaction.open_table(DUE)?,
            terms: transaction.open_table(TERMS)?,
            outbox: transaction.open_table(OUTBOX)?,
            ledger: transaction.open_table(LEDGER)?,
            reckonings: transaction.open_table(RECKONINGS)?,
            pages_bytes_max,
        })
    }
}

/// A consistent view of the file.
pub struct Snapshot {
    transaction: ReadTransaction,
}

impl Snapshot {
    pub(in crate::store) fn new(transaction: ReadTransaction) -> Self {
        Snapshot { transaction }
    }

    pub(in crate::store) fn table<K: redb::Key + 'static, V: redb::Value + 'static>(
        &self,
        definition: TableDefinition<'_, K, V>,
    ) -> Result<ReadOnlyTable<K, V>, StoreError> {
        Ok(self.transaction.open_table(definition)?)
    }
}

/// Every failure of redb is a failure of the file: none of them is about the data asked for.
macro_rules! file_failures {
    ($($error:ty),*) => {
        $(impl From<$error> for StoreError {
            fn from(error: $error) -> Self {
                StoreError::File(error.to_string())
            }
        })*
    };
}

file_failures!(
    redb::StorageError,
    redb::TableError,
    redb::TransactionError,
    redb::CommitError
);

impl std::fmt::Debug for Tables<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tables")
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Snapshot")
    }
}
