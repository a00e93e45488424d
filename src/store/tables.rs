//! Every table of the data file, one line each, and the ways to them: `Records` inside a transaction, which is `Tables`
//! for the writer and `Snapshot` for a reader, and `each_table` for what is done with all of them alike.

use std::cell::Cell;
use std::cmp::Ordering;
use std::rc::Rc;

use redb::{ReadTransaction, TableDefinition, WriteTransaction};

use crate::domain::keys::{CreditHash, IdentifierKey, MailKey, PaymentKey};
use crate::store::StoreError;
use crate::store::disk_space::{Allowed, is_full};
use crate::store::lazy_table::{LazyTable, Transaction};

pub(in crate::store) type Hash = [u8; 32];

/// Facts of [`META`]: the version of the tables, and whether the file was closed.
pub(in crate::store) const SCHEMA: &str = "schema";
pub(in crate::store) const CLEAN: &str = "clean";

/// Keys of tables as the bare bytes, under the bytes' own name of a type: the file does not tell the types apart.
macro_rules! bare_keys {
    ($($name:ident),*) => {$(
        impl redb::Value for $name {
            type SelfType<'a> = $name;
            type AsBytes<'a> = &'a Hash;

            fn fixed_width() -> Option<usize> {
                Hash::fixed_width()
            }

            fn from_bytes<'a>(data: &'a [u8]) -> $name
            where
                Self: 'a,
            {
                $name(Hash::from_bytes(data))
            }

            fn as_bytes<'a, 'b: 'a>(value: &'a $name) -> &'a Hash
            where
                Self: 'b,
            {
                &value.0
            }

            fn type_name() -> redb::TypeName {
                Hash::type_name()
            }
        }

        impl redb::Key for $name {
            fn compare(one: &[u8], other: &[u8]) -> Ordering {
                Hash::compare(one, other)
            }
        }
    )*};
}
bare_keys!(PaymentKey, CreditHash, IdentifierKey, MailKey);

/// From one list: a definition for each table, `Records` with a field for each, and `each_table`. A table that is added
/// to the list is created at start, counted and backed up; none of these can forget it.
macro_rules! tables {
    ($($(#[$doc:meta])* $definition:ident $field:ident $name:literal: $key:ty => $value:ty;)*) => {
        $($(#[$doc])* pub(in crate::store) const $definition: TableDefinition<'static, $key, $value> =
            TableDefinition::new($name);)*

        /// All tables in a transaction, each opened when it is first used. What only reads is defined once, for both
        /// kinds of transaction.
        pub struct Records<T: Transaction> {
            $(pub(in crate::store) $field: LazyTable<T, $key, $value>,)*
            /// How much the writer may store.
            pub(in crate::store) allowed: Allowed,
            /// The payment whose place was asked for last: a job asks for one several times.
            pub(in crate::store) placed: Cell<Option<(PaymentKey, u64)>>,
        }

        impl<T: Transaction + Clone> Records<T> {
            /// All tables of a file that has each of them.
            pub(in crate::store) fn new(transaction: T, allowed: Allowed) -> Self {
                Records {
                    $($field: LazyTable::new(transaction.clone(), $definition),)*
                    allowed,
                    placed: Cell::new(None),
                }
            }
        }

        impl<'txn> Tables<'txn> {
            /// All tables of a file that may lack some: creates those.
            pub(in crate::store) fn create(
                transaction: &'txn WriteTransaction,
                allowed: Allowed,
            ) -> Result<Self, redb::TableError> {
                $(transaction.open_table($definition)?;)*
                Ok(Tables::new(transaction, allowed))
            }
        }

        /// Visits every table.
        pub(in crate::store) fn each_table(visitor: &mut impl VisitTable) -> Result<(), StoreError> {
            $(visitor.visit($name, $definition)?;)*
            Ok(())
        }

        /// The names of all tables.
        pub(crate) const NAMES: &[&str] = &[$($name),*];

        /// Whether this program has a table of that name.
        pub(in crate::store) fn is_known(name: &str) -> bool {
            NAMES.contains(&name)
        }
    };
}

/// What is done with every table alike.
pub(in crate::store) trait VisitTable {
    fn visit<K: redb::Key + 'static, V: redb::Value + 'static>(
        &mut self,
        name: &'static str,
        definition: TableDefinition<'static, K, V>,
    ) -> Result<(), StoreError>;
}

tables! {
    // definition, field, name: key => value; the comment says what it holds and for how long. A value of bytes is a
    // record with its checksum (record.rs); only in BLOBS it is anything, under its own SHA-256.
    /// Facts about the file itself: schema version, whether it was closed cleanly, and the counters of bytes.
    META meta "meta-1": &'static str => u64;
    /// Payment key → its place in the order of arrival, by which its record and its due rows lie, with a checksum; as long
    /// as the record.
    PAYMENT_PLACES payment_places "payment-places-1": PaymentKey => u64;
    /// Place → record of a payment with its credit, while its payload may be needed again.
    OPEN_PAYMENTS open_payments "open-payments-1": u64 => &'static [u8];
    /// Place → record of a payment that has ended, while its answer may be given again.
    ANSWERED_PAYMENTS answered_payments "answered-payments-1": u64 => &'static [u8];
    /// Place → record of a payment of which nothing but the record is needed; kept as an accounting record.
    ENDED_PAYMENTS ended_payments "ended-payments-1": u64 => &'static [u8];
    /// Payment key → record of a payment: of a file of schema 1. Since then empty.
    KEYED_PAYMENTS keyed_payments "payments-1": PaymentKey => &'static [u8];
    /// SHA-256 of a credit → payment key; until the credit expires.
    CREDITS credits "credits-1": CreditHash => PaymentKey;
    /// SHA-256 of (payer, payment-identifier) → payment key; as long as the kept answer.
    IDENTIFIERS identifiers "identifiers-1": IdentifierKey => PaymentKey;
    /// SHA-256 of a canonical URL → record of a cached page; 24 hours.
    PAGES pages "pages-1": Hash => &'static [u8];
    /// SHA-256 of the bytes → the bytes; shared by cache and answers, as long as BLOB_KEEP or BLOB_HOLDS says.
    BLOBS blobs "blobs-1": Hash => &'static [u8];
    /// SHA-256 of a blob → Unix seconds until which somebody needs it.
    BLOB_KEEP blob_keep "blob-keep-1": Hash => u64;
    /// (SHA-256 of a blob, place of a payment) → nothing: the sale needs the blob; until its payment fails or its answer
    /// is not given again.
    BLOB_HOLDS blob_holds "blob-holds-2": (Hash, u64) => ();
    /// (SHA-256 of a blob, payment key) → nothing: the same of a file of schema 1. Since then empty.
    KEYED_BLOB_HOLDS keyed_blob_holds "blob-holds-1": (Hash, PaymentKey) => ();
    /// Payment key → record of the goods of an unsettled sale; until its payment settles or fails.
    SALE_GOODS sale_goods "sale-goods-1": PaymentKey => &'static [u8];
    /// Quote id → record of a quote receipt; 7 days, then a tombstone for 7 more.
    QUOTES quotes "quotes-1": [u8; 16] => &'static [u8];
    /// Report id → record of a retained report; 30 days, then a tombstone for 30 more.
    REPORTS reports "reports-1": [u8; 16] => &'static [u8];
    /// Payment key → id of the report that it bought; as long as the report's record.
    REPORTS_OF_PAYMENTS reports_of_payments "reports-of-payments-1": PaymentKey => [u8; 16];
    /// Report id → bytes of the report and its source; as long as they are retained.
    REPORT_BYTES report_bytes "report-bytes-1": [u8; 16] => u64;
    /// Report id → SHA-256 of the picture of its page, where it has one; as long as the report's bytes.
    REPORT_SCREENSHOTS report_screenshots "report-screenshots-1": [u8; 16] => Hash;
    /// Slug → id of the report that its buyer shares; until it is taken back or the report expires.
    SHARED_REPORTS shared_reports "shared-reports-1": [u8; 16] => [u8; 16];
    /// (Unix seconds, slug) → id of a shared report that its buyer wants in the library; as long as that.
    LISTED_REPORTS listed_reports "listed-reports-1": (u64, [u8; 16]) => [u8; 16];
    /// (Unix seconds, slug) → id of such a report that the operator has approved, which the library shows; as long as
    /// the row of the same key above.
    APPROVED_REPORTS approved_reports "approved-reports-1": (u64, [u8; 16]) => [u8; 16];
    /// Bundle quote id → record of a quote receipt; 7 days, then a tombstone for 7 more.
    BUNDLE_QUOTES bundle_quotes "bundle-quotes-1": [u8; 16] => &'static [u8];
    /// Lead id → record of a lead; until the operator deletes it. Unpaid ones without a contact leave for newer ones.
    LEADS leads "leads-1": [u8; 16] => &'static [u8];
    /// (SHA-256 of a contact, Unix seconds, lead id) → nothing: a person's leads; as long as the lead.
    LEADS_BY_CONTACT leads_by_contact "leads-by-contact-1": (Hash, u64, [u8; 16]) => ();
    /// SHA-256 of (product, contact, targets) → id of the newest such lead; as long as the lead.
    LEADS_BY_FORM leads_by_form "leads-by-form-1": Hash => [u8; 16];
    /// (Unix seconds, lead id) → nothing: unpaid leads without a contact, oldest first; as long as the lead.
    ANONYMOUS_LEADS anonymous_leads "anonymous-leads-1": (u64, [u8; 16]) => ();
    /// Lead id → record of a notice that is still to be sent; until it is, or is given up.
    NOTICES notices "notices-1": [u8; 16] => &'static [u8];
    /// Order id → record of an order; until the operator deletes it.
    ORDERS orders "orders-1": [u8; 16] => &'static [u8];
    /// SHA-256 of a checkout session's id → order id; as long as the order.
    ORDERS_BY_SESSION orders_by_session "orders-by-session-1": Hash => [u8; 16];
    /// (SHA-256 of an e-mail address, order id) → nothing: a person's orders; as long as the order.
    ORDERS_BY_EMAIL orders_by_email "orders-by-email-1": (Hash, [u8; 16]) => ();
    /// Order id → nothing: its lead was found by the payer's address alone, so that it is delivered by e-mail only; as
    /// long as the order.
    MAIL_ONLY_ORDERS mail_only_orders "mail-only-orders-1": [u8; 16] => ();
    /// SHA-256 of a payment provider's event id → record of the event; 35 days.
    PROVIDER_EVENTS provider_events "provider-events-1": Hash => &'static [u8];
    /// (order id, place of the source) → record of what came of it; until the order is done.
    ORDER_SOURCES order_sources "order-sources-1": ([u8; 16], u32) => &'static [u8];
    /// Order id → record of what was delivered; as long as the order.
    ORDER_REPORTS order_reports "order-reports-1": [u8; 16] => &'static [u8];
    /// Mail key → record of a mail with what became of it; 30 days from when it was sent, else until the operator
    /// deletes it.
    OUTBOX outbox "outbox-1": MailKey => &'static [u8];
    /// Day since 1970 → what it has earned on chain; kept as an accounting record.
    LEDGER ledger "ledger-1": u64 => &'static [u8];
    /// Day since 1970 → its ledger compared with what the receiving address got on chain; kept beside it.
    LEDGER_CHECKS ledger_checks "reckonings-1": u64 => &'static [u8];
    /// (payer's address, purchase id) → payment key of a settled payment; 30 days.
    PURCHASES purchases "purchases-1": ([u8; 20], [u8; 16]) => PaymentKey;
    /// (Unix seconds of the next look, payment key) → record of what the facilitator has said of a settlement; until the
    /// chain has confirmed or contradicted it.
    UNVERIFIED_SETTLEMENTS unverified_settlements "unverified-settlements-1": (u64, PaymentKey) => &'static [u8];
    /// Payment key → record of how the chain contradicts what the facilitator has said of it; kept as an
    /// accounting record.
    DISCREPANCIES discrepancies "settlement-discrepancies-1": PaymentKey => &'static [u8];
    /// Payment key → Unix seconds at which the background gave up an unknown settlement; until its end is known.
    ABANDONED abandoned "abandoned-settlements-1": PaymentKey => u64;
    /// Payment key of a transfer → record of what it brought beyond the price; kept as an accounting record.
    OVERPAYMENTS overpayments "overpayments-1": PaymentKey => &'static [u8];
    /// (kind, Unix seconds, key, or a payment's place in its last eight bytes) → nothing: what is due when. Worked off by
    /// one loop.
    DUE due "due-1": (u8, u64, Hash) => ();
    /// Random part of a console session that was signed out → Unix seconds at which its cookie would have expired; until
    /// a day after that. Written by the one who holds the session alone.
    ENDED_SESSIONS ended_sessions "ended-sessions-1": [u8; 16] => u64;
    /// Setting → record of its value of the console, in place of the configuration's; until the operator takes it back.
    OVERRIDES overrides "overrides-1": &'static str => &'static [u8];
    /// Number → record of a change by the operator; the latest 1,000.
    CHANGES changes "changes-1": u64 => &'static [u8];
    /// Payment terms as JSON → Unix seconds at which they were last offered; for 12 days.
    TERMS terms "terms-1": &'static str => u64;
}

/// All tables in the writer's transaction.
pub type Tables<'txn> = Records<&'txn WriteTransaction>;

/// A consistent view of the file.
pub type Snapshot = Records<Rc<ReadTransaction>>;

impl Snapshot {
    pub(in crate::store) fn of(transaction: ReadTransaction) -> Self {
        Records::new(Rc::new(transaction), Allowed::default())
    }
}

/// Every failure of redb is a failure of the file or its disk: none of them is about the data asked for.
macro_rules! file_failures {
    ($($error:ty),*) => {
        $(impl From<$error> for StoreError {
            fn from(error: $error) -> Self {
                let text = error.to_string();
                match redb::Error::from(error) {
                    redb::Error::Io(error) if is_full(&error) => StoreError::NoRoom,
                    _ => StoreError::File(text),
                }
            }
        })*
    };
}

file_failures!(
    redb::StorageError,
    redb::DatabaseError,
    redb::CompactionError,
    redb::TableError,
    redb::TransactionError,
    redb::CommitError
);

impl<T: Transaction> std::fmt::Debug for Records<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Records")
    }
}
