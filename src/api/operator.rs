//! The operator's API, over the Unix socket or with the token: payments and reports; submodules add the outbox, the
//! ledger and personal data.

pub mod console;
pub mod leads;

pub mod data;
pub mod export;
pub mod ledger;
pub mod mails;
pub mod orders;

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use crate::api::failure;
use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::evm::TransactionHash;
use crate::domain::ids::{ReportId, ShareSlug};
use crate::domain::keys::PaymentKey;
use crate::domain::level::{Level, Product};
use crate::domain::payment::{Payment, State};
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::flows::operations::{backup, reload};
use crate::flows::sale::payments;
use crate::flows::sale::unknown::{self, Resolution, reconcile};
use crate::http::{Call, Reply};
use crate::store::{
    Difference, Discrepancy, Listing, Overpayment, ReportRecord, Snapshot, Store, StoreError,
};

/// Maximum number of records in a list.
pub(in crate::api) const LIST_MAX: usize = 1000;

/// The newest of many; holds at most twice the shown number in memory.
#[derive(Debug)]
pub struct Newest<R> {
    found: Vec<(u64, R)>,
    /// How many were added.
    pub total: usize,
}

impl<R> Newest<R> {
    pub fn none() -> Newest<R> {
        Newest {
            found: Vec::new(),
            total: 0,
        }
    }

    pub fn add(&mut self, created_at: u64, record: R) {
        self.total += 1;
        self.found.push((created_at, record));
        if self.found.len() >= 2 * LIST_MAX {
            self.sort();
        }
    }

    pub fn records(mut self) -> Vec<R> {
        self.sort();
        self.found.into_iter().map(|(_, record)| record).collect()
    }

    fn sort(&mut self) {
        (self.found).sort_by_key(|(created_at, _)| std::cmp::Reverse(*created_at));
        self.found.truncate(LIST_MAX);
    }
}

/// Whether one of the texts that a record is found by has the words, which are in lower case.
pub(in crate::api) fn is_named<'a>(
    words: &str,
    texts: impl IntoIterator<Item = Option<&'a str>>,
) -> bool {
    let mut texts = texts.into_iter().flatten();
    words.is_empty() || texts.any(|text| text.to_lowercase().contains(words))
}

/// What of a list is asked for.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// Only records in this state.
    pub state: Option<String>,
    /// Only records that have these words in one of the members that they are found by; empty for all.
    pub words: String,
}

impl Search {
    /// Every record, or every one in a state.
    pub fn of_state(state: Option<String>) -> Search {
        let words = String::new();
        Search { state, words }
    }
}

/// The response to an operation.
fn answered(app: &Shared, call: &Call, outcome: Result<Value, Refusal>) -> Reply {
    match outcome {
        Ok(answer) => Reply::json(200, answer.to_string()),
        Err(refusal) => failure::reply(app, &refusal, call),
    }
}

/// The requested state, which must be one of these.
fn state_asked(call: &Call, states: &[&str]) -> Result<Option<String>, Refusal> {
    let Some(state) = call.query.get("state") else {
        return Ok(None);
    };
    if states.contains(&&*state) {
        return Ok(Some(state.into_owned()));
    }
    let message = format!("No such state; use one of {}.", states.join(", "));
    Err(Refusal::new(Code::InvalidRequest, message))
}

/// GET /operator/payments: the newest, optionally by state.
pub async fn payments(app: Shared, call: Call) -> Reply {
    let listed = async {
        let state = state_asked(&call, &PAYMENT_STATES)?;
        list(&app.store, Search::of_state(state)).await
    };
    answered(&app, &call, listed.await)
}

/// GET /operator/payments/refused: the latest refused requests that carried a payment, newest first. They are only in
/// memory: a stopped service has none.
pub async fn refused_payments(app: Shared, _: Call) -> Reply {
    let refusals = app.refusals.newest();
    let refusals = refusals.iter().map(|refused| {
        json!({
            "at": refused.at.0,
            "code": refused.code.text(),
            "reason": refused.reason,
            "request_id": refused.request_id,
            "payer": refused.payer.map(|payer| payer.to_string()),
            "product": refused.product.map(Product::name),
            "level": refused.level.map(Level::name),
        })
    });
    let answer = json!({"status": "success", "refusals": refusals.collect::<Vec<_>>()});
    Reply::json(200, answer.to_string())
}

/// GET /operator/payments/{key}.
pub async fn payment(app: Shared, call: Call) -> Reply {
    let shown = show(&app.store, call.param("key").unwrap_or_default()).await;
    answered(&app, &call, shown)
}

/// POST /operator/payments/{key}/reconcile: looks up the outcome of an unknown settlement now.
pub async fn reconcile_payment(app: Shared, call: Call) -> Reply {
    changed(&app, &call, async |key| reconcile(&app, key).await).await
}

/// POST /operator/payments/{key}/end?as=settled&transaction=0x…, or ?as=failed: sets the outcome of an unknown settlement
/// by hand.
pub async fn end_payment(app: Shared, call: Call) -> Reply {
    let resolution = match (
        call.query.get("as").as_deref(),
        call.query.get("transaction"),
    ) {
        (Some("settled"), Some(text)) => {
            TransactionHash::parse(&text).map(|transaction| Resolution::Settled { transaction })
        }
        (Some("failed"), None) => Some(Resolution::Failed),
        _ => None,
    };
    let Some(resolution) = resolution else {
        let refusal = Refusal::new(Code::InvalidRequest, NO_END);
        return failure::reply(&app, &refusal, &call);
    };
    changed(&app, &call, async |key| {
        unknown::resolve(&app, key, resolution).await
    })
    .await
}

/// The payment that the path names, after a change.
async fn changed(
    app: &Shared,
    call: &Call,
    change: impl AsyncFnOnce(PaymentKey) -> Result<Option<Payment>, Refusal>,
) -> Reply {
    let changed = async {
        let key = payment_key(call.param("key").unwrap_or_default())?;
        let payment = change(key).await?.ok_or_else(no_payment)?;
        Ok(payment_json(key, &payment))
    };
    answered(app, call, changed.await)
}

/// POST /operator/backup: copies the data file to a file beside it.
pub async fn backup(app: Shared, call: Call) -> Reply {
    match backup::snapshot(&app).await {
        Ok(snapshot) => {
            let answer = json!({
                "status": "success", "path": snapshot.path, "bytes": snapshot.bytes, "taken_at": snapshot.taken_at.0,
            });
            Reply::json(200, answer.to_string())
        }
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}

/// POST /operator/reload: reads the configuration again.
pub async fn reload(app: Shared, call: Call) -> Reply {
    match reload::reload(&app).await {
        Ok(found) => {
            let answer = json!({
                "status": "success", "changed": found.changed, "waiting_for_restart": found.waiting,
                "overridden_in_console": found.overridden,
            });
            Reply::json(200, answer.to_string())
        }
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}

/// GET /operator/reports: the newest, optionally by state.
pub async fn reports(app: Shared, call: Call) -> Reply {
    let listed = async {
        let state = state_asked(&call, &REPORT_STATES)?;
        list_reports(&app.store, Search::of_state(state), app.now()).await
    };
    answered(&app, &call, listed.await)
}

/// GET /operator/reports/{report_id}.
pub async fn report(app: Shared, call: Call) -> Reply {
    let id = call.param("report_id").unwrap_or_default();
    answered(&app, &call, show_report(&app.store, id, app.now()).await)
}

/// POST /operator/reports/{report_id}/purge: deletes a report with its text.
pub async fn purge_report(app: Shared, call: Call) -> Reply {
    let id = call.param("report_id").unwrap_or_default();
    answered(&app, &call, purge(&app.store, id, app.now()).await)
}

/// POST /operator/reports/{report_id}/approve: lists a report in the library at its buyer's request.
pub async fn approve_report(app: Shared, call: Call) -> Reply {
    listing_reply(&app, &call, true).await
}

/// POST /operator/reports/{report_id}/unlist: removes it from the library. It can be approved again while its buyer
/// requests a listing.
pub async fn unlist_report(app: Shared, call: Call) -> Reply {
    listing_reply(&app, &call, false).await
}

async fn listing_reply(app: &Shared, call: &Call, is_approved: bool) -> Reply {
    let id = call.param("report_id").unwrap_or_default();
    let listed = approve(&app.store, id, is_approved, app.now()).await;
    answered(app, call, listed)
}

/// Lists or unlists a report.
///
/// # Errors
/// There is none of this identifier, or its buyer does not request a listing.
pub async fn approve(
    store: &Store,
    id: &str,
    is_approved: bool,
    now: UnixSeconds,
) -> Result<Value, Refusal> {
    let refused = || Refusal::new(Code::ReportNotFound, NOT_WANTED);
    let id = ReportId::parse(id).ok_or_else(refused)?;
    let done = store.write(move |tables| tables.approve_report(id, is_approved, now));
    match done.await? {
        true => {
            Ok(json!({"status": "success", "report_id": id.to_string(), "listed": is_approved}))
        }
        false => Err(refused()),
    }
}

/// A report, and whether the library names it.
#[derive(Debug)]
pub struct FoundReport {
    pub id: ReportId,
    pub record: ReportRecord,
    pub listing: Listing,
}

impl FoundReport {
    fn is_named(&self, words: &str) -> bool {
        let (id, payment) = (self.id.to_string(), self.record.payment.to_string());
        let ReportRecord {
            target_url,
            question,
            title,
            ..
        } = &self.record;
        let texts = [&id, target_url, question, &payment].map(|text| Some(text.as_str()));
        is_named(words, texts.into_iter().chain([title.as_deref()]))
    }

    fn json(&self, now: UnixSeconds) -> Value {
        report_json(self.id, &self.record, self.listing, now)
    }
}

/// The newest reports, from a running service or from the file of a stopped one.
///
/// # Errors
/// The store does not answer.
pub async fn list_reports(
    store: &Store,
    search: Search,
    now: UnixSeconds,
) -> Result<Value, Refusal> {
    let found = newest_reports(store, search, now).await?;
    let reports = found.iter().map(|found| found.json(now));
    Ok(json!({"status": "success", "reports": reports.collect::<Vec<_>>()}))
}

/// The same as records.
pub async fn newest_reports(
    store: &Store,
    search: Search,
    now: UnixSeconds,
) -> Result<Vec<FoundReport>, StoreError> {
    let (state, words) = (search.state, search.words.to_lowercase());
    let found = store.read(move |snapshot| {
        let mut newest = Newest::none();
        snapshot.reports(|id, record| {
            let listing = snapshot.listing(&record)?;
            let fits = |state: &String| match state.as_str() {
                AWAITING_APPROVAL => listing == Listing::AwaitingApproval,
                state => state == record.state(now),
            };
            if !state.as_ref().is_none_or(fits) {
                return Ok(());
            }
            let found = FoundReport {
                id,
                record,
                listing,
            };
            if found.is_named(&words) {
                newest.add(found.record.created_at, found);
            }
            Ok(())
        })?;
        Ok(newest.records())
    });
    found.await
}

/// One report with the stored document.
///
/// # Errors
/// There is none of this identifier.
pub async fn show_report(store: &Store, id: &str, now: UnixSeconds) -> Result<Value, Refusal> {
    let (found, document) = one_report(store, id).await?;
    let mut answer = found.json(now);
    answer["report"] = document;
    Ok(answer)
}

/// The same as records: the document is JSON, or null where it is gone.
pub async fn one_report(store: &Store, id: &str) -> Result<(FoundReport, Value), Refusal> {
    let missing = || Refusal::new(Code::ReportNotFound, NO_REPORT);
    let id = ReportId::parse(id).ok_or_else(missing)?;
    let found = store.read(move |snapshot| {
        let Some(record) = snapshot.report(id)? else {
            return Ok(None);
        };
        let document = snapshot.blob_unchecked(record.document)?;
        let listing = snapshot.listing(&record)?;
        let found = FoundReport {
            id,
            record,
            listing,
        };
        Ok(Some((found, document)))
    });
    let (found, document) = found.await?.ok_or_else(missing)?;
    let document = document.and_then(|document| serde_json::from_slice(&document).ok());
    Ok((found, document.unwrap_or(Value::Null)))
}

/// Deletes a report.
///
/// # Errors
/// There is none of this identifier, or the outcome of its settlement is unknown.
pub async fn purge(store: &Store, id: &str, now: UnixSeconds) -> Result<Value, Refusal> {
    let refused = || Refusal::new(Code::ReportNotFound, NOT_PURGED);
    let id = ReportId::parse(id).ok_or_else(refused)?;
    let purged = store.write(move |tables| {
        let report = tables.report(id)?;
        let was_there = tables.purge_report(id)?;
        // Its buyer's answer is the same text.
        if let Some(report) = report.filter(|_| was_there)
            && let Some(payment) = tables.payment(report.payment)?
        {
            payments::drop_answer(tables, report.payment, payment, now)?;
        }
        Ok(was_there)
    });
    let was_there = purged.await?;
    let answer = json!({"status": "success", "report_id": id.to_string()});
    was_there.then_some(answer).ok_or_else(refused)
}

pub fn report_json(
    id: ReportId,
    report: &ReportRecord,
    listing: Listing,
    now: UnixSeconds,
) -> Value {
    json!({
        "report_id": id.to_string(),
        "state": report.state(now),
        "pack": report.pack,
        "decision": report.label,
        "target_url": report.target_url,
        "question": report.question,
        "title": report.title,
        "payment": report.payment.to_string(),
        "shared": report.shared.map(|shared| ShareSlug(shared.slug).to_string()),
        "listed": listing == Listing::Listed,
        "listing": listing.name(),
        "created_at": report.created_at,
        "expires_at": report.expires_at,
    })
}

/// A filter beside the states: payments that hold a retry credit.
const CREDIT: &str = "credit";

/// Filters for payments, those that may need attention first.
pub const PAYMENT_STATES: [&str; 10] = [
    "unknown",
    "kept",
    "held",
    "settled",
    "failed",
    "released",
    "answered",
    CREDIT,
    CONTRADICTED,
    ABANDONED,
];
/// A filter: payments that the facilitator reported as settled and the chain contradicts.
const CONTRADICTED: &str = "contradicted";
/// A filter: unknown settlements that the service no longer looks up.
const ABANDONED: &str = "abandoned";

/// A filter: reports whose buyers requested a listing that the operator has not approved yet.
pub const AWAITING_APPROVAL: &str = "awaiting_approval";

/// Filters for reports.
pub const REPORT_STATES: [&str; 4] = ["retained", "unsettled", "expired", AWAITING_APPROVAL];

const NOT_WANTED: &str = "No such report, or its buyer has not requested a listing: see `context402 reports list --state awaiting_approval`.";
const NO_REPORT: &str = "No such report: `context402 reports list` shows the identifiers.";
const NOT_PURGED: &str = "No such report, or its settlement outcome is unknown; then it is owed to its buyer and cannot be purged.";
const NO_END: &str = "State the outcome: as=settled with the paying transaction (0x and 64 hex digits), or as=failed.";
const NO_PAYMENT: &str = "No such payment: `context402 payments list` shows the keys.";

/// A payment with what other tables know of it.
#[derive(Debug)]
pub struct FoundPayment {
    pub key: PaymentKey,
    pub payment: Payment,
    pub check: Option<SettlementCheck>,
    /// Since when an unknown settlement is no longer looked up.
    abandoned_at: Option<u64>,
    overpaid: Option<Overpayment>,
}

/// What the chain says of a settlement that the facilitator has reported.
#[derive(Debug)]
pub enum SettlementCheck {
    Pending,
    Differs {
        difference: Difference,
        found_at: u64,
    },
}

impl SettlementCheck {
    pub fn result(&self) -> &'static str {
        match self {
            SettlementCheck::Pending => "pending",
            SettlementCheck::Differs { difference, .. } => match difference {
                Difference::NotOnChain { .. } => CONTRADICTED,
                Difference::OtherTransaction { .. } => "other_transaction",
            },
        }
    }

    /// What contradicts it.
    pub fn reason(&self) -> Option<&str> {
        match self {
            SettlementCheck::Differs {
                difference: Difference::NotOnChain { reason },
                ..
            } => Some(reason),
            _ => None,
        }
    }

    fn json(&self) -> Value {
        let result = self.result();
        let SettlementCheck::Differs {
            difference,
            found_at,
        } = self
        else {
            return json!({"result": result});
        };
        match difference {
            Difference::NotOnChain { reason } => {
                json!({"result": result, "reason": reason, "found_at": found_at})
            }
            Difference::OtherTransaction { transaction } => {
                json!({"result": result, "transaction": transaction, "found_at": found_at})
            }
        }
    }
}

impl FoundPayment {
    fn is_named(&self, words: &str) -> bool {
        let (key, payer) = (self.key.to_string(), self.payment.payer.to_string());
        let target_url = self.payment.purchase.target_url();
        let transaction = self.payment.state.transaction();
        is_named(
            words,
            [Some(&*payer), transaction, Some(target_url), Some(&*key)],
        )
    }

    fn json(&self) -> Value {
        let mut answer = payment_json(self.key, &self.payment);
        answer["settlement_check"] = self.check.as_ref().map(SettlementCheck::json).into();
        if let Some(at) = self.abandoned_at {
            answer["abandoned_at"] = at.into();
        }
        if let Some(overpayment) = &self.overpaid {
            answer["overpaid_units"] = overpayment.units.to_string().into();
        }
        answer
    }
}

/// The newest payments, from a running service or from the file of a stopped one.
///
/// # Errors
/// The store does not answer.
pub async fn list(store: &Store, search: Search) -> Result<Value, Refusal> {
    let found = newest_payments(store, search).await?;
    let payments = found.iter().map(FoundPayment::json);
    Ok(json!({"status": "success", "payments": payments.collect::<Vec<_>>()}))
}

/// The same as records.
pub async fn newest_payments(
    store: &Store,
    search: Search,
) -> Result<Vec<FoundPayment>, StoreError> {
    let (state, words) = (search.state, search.words.to_lowercase());
    let found = store.read(move |snapshot| {
        let mut newest = Newest::none();
        let related = RelatedRecords::read(snapshot)?;
        snapshot.payments(|key, payment| {
            let fits = |state: &String| match state.as_str() {
                CREDIT => payment.credit.is_some(),
                CONTRADICTED => related.is_contradicted(key),
                ABANDONED => related.is_abandoned(key, &payment),
                state => state == payment.state.name(),
            };
            if !state.as_ref().is_none_or(fits) {
                return Ok(());
            }
            let found = related.of(key, payment);
            if found.is_named(&words) {
                newest.add(found.payment.created_at, found);
            }
            Ok(())
        })?;
        Ok(newest.records())
    });
    found.await
}

/// One payment by the hex digits of its key.
///
/// # Errors
/// There is none of this key.
pub async fn show(store: &Store, key: &str) -> Result<Value, Refusal> {
    Ok(one_payment(store, key).await?.json())
}

/// The same as a record.
pub async fn one_payment(store: &Store, key: &str) -> Result<FoundPayment, Refusal> {
    let key = payment_key(key)?;
    let found = store.read(move |snapshot| {
        let Some(payment) = snapshot.payment(key)? else {
            return Ok(None);
        };
        Ok(Some(RelatedRecords::read(snapshot)?.of(key, payment)))
    });
    found.await?.ok_or_else(no_payment)
}

/// Facts about payments from other tables.
#[derive(Debug, Default)]
struct RelatedRecords {
    unverified: HashSet<PaymentKey>,
    discrepancies: HashMap<PaymentKey, Discrepancy>,
    abandoned: HashMap<PaymentKey, u64>,
    overpayments: HashMap<PaymentKey, Overpayment>,
}

impl RelatedRecords {
    /// At most [`RELATED_ROWS_MAX`] rows of each table; further rows are only counted.
    fn read(snapshot: &Snapshot) -> Result<RelatedRecords, StoreError> {
        Ok(RelatedRecords {
            unverified: snapshot
                .unverified_keys(RELATED_ROWS_MAX)?
                .into_iter()
                .collect(),
            discrepancies: snapshot
                .discrepancies(RELATED_ROWS_MAX)?
                .into_iter()
                .collect(),
            abandoned: snapshot.abandoned(RELATED_ROWS_MAX)?.into_iter().collect(),
            overpayments: snapshot
                .overpayments(RELATED_ROWS_MAX)?
                .into_iter()
                .collect(),
        })
    }

    fn is_contradicted(&self, key: PaymentKey) -> bool {
        let found = self.discrepancies.get(&key);
        found.is_some_and(Discrepancy::is_missing)
    }

    fn is_abandoned(&self, key: PaymentKey, payment: &Payment) -> bool {
        payment.state == State::Unknown && self.abandoned.contains_key(&key)
    }

    fn of(&self, key: PaymentKey, payment: Payment) -> FoundPayment {
        let differs = |found: &Discrepancy| SettlementCheck::Differs {
            difference: found.difference.clone(),
            found_at: found.found_at,
        };
        let check = match self.unverified.contains(&key) {
            true => Some(SettlementCheck::Pending),
            false => self.discrepancies.get(&key).map(differs),
        };
        let is_abandoned = self.is_abandoned(key, &payment);
        let abandoned_at = self.abandoned.get(&key).filter(|_| is_abandoned);
        FoundPayment {
            key,
            check,
            abandoned_at: abandoned_at.copied(),
            overpaid: self.overpayments.get(&key).copied(),
            payment,
        }
    }
}

/// Rows that a list reads from each table besides the payments.
const RELATED_ROWS_MAX: usize = 10_000;

/// The key in hex digits.
fn payment_key(text: &str) -> Result<PaymentKey, Refusal> {
    PaymentKey::parse(text).ok_or_else(no_payment)
}

fn no_payment() -> Refusal {
    Refusal::new(Code::NotFound, NO_PAYMENT)
}

pub fn payment_json(key: PaymentKey, payment: &Payment) -> Value {
    json!({
        "key": key.to_string(),
        "state": payment.state.name(),
        "means": payment.means.name(),
        "payer": payment.payer.to_string(),
        "nonce": payment.nonce.to_string(),
        "amount_units": payment.amount_units.to_string(),
        "product": payment.purchase.product().name(),
        "level": payment.purchase.level().name(),
        "target_url": payment.purchase.target_url(),
        "source": payment.attribution,
        "transaction": payment.state.transaction(),
        "reason": payment.state.reason(),
        "credit": payment.credit.as_ref().map(|credit| json!({"attempts_left": credit.attempts_left, "expires_at": credit.expires_at})),
        "created_at": payment.created_at,
        "changed_at": payment.changed_at,
    })
}
