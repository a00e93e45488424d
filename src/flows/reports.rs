//! Retained reports: reading them again, and how their buyers share them. A report is private to whoever knows its
//! identifier; before its payment is settled nobody does.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::app::Shared;
use crate::domain::ids::{ReportId, ShareSlug};
use crate::domain::payment::PaymentKey;
use crate::domain::refusal::{Code, Refusal};
use crate::flows::answer;
use crate::outside::chance;
use crate::store::{self, ReportRecord, Snapshot, StoreError};

/// The identifier of the built-in sample report (decisions, Addresses and samples).
pub const SAMPLE_ID: &str = "ppr_sample";
/// The most reports that the library names.
const LIBRARY_MAX: usize = 100;

/// A stored report that may be read now.
#[derive(Clone, Debug)]
pub struct Retained {
    pub id: ReportId,
    pub record: ReportRecord,
}

/// Writes a report's addresses and its hash into it. Gives the hash.
pub fn address(app: &Shared, id: &str, report: &mut Map<String, Value>) -> String {
    let api = app.url(&format!("/v1/proof-pack/reports/{id}"));
    let result_hash = hex::encode(Sha256::digest(Value::Object(report.clone()).to_string()));
    let members = [
        ("verify_url", format!("{api}/verify")),
        ("follow_up_url", format!("{api}/follow-up")),
        ("refresh_url", format!("{api}/refresh")),
        ("report_url", api),
        ("report_page", app.url(&format!("/proof-pack/reports/{id}"))),
        ("result_hash", result_hash.clone()),
    ];
    for (name, value) in members {
        report.insert(name.to_owned(), value.into());
    }
    result_hash
}

/// A report by its identifier. Unknown and expired are told apart as long as the tombstone lasts.
pub async fn find(app: &Shared, id: &str) -> Result<Retained, Refusal> {
    let id = ReportId::parse(id).ok_or_else(not_found)?;
    let found = app.store.read(move |snapshot| snapshot.report(id)).await?;
    let record = found
        .filter(|record| record.transaction.is_some())
        .ok_or_else(not_found)?;
    if record.is_expired(app.now()) {
        return Err(Refusal::of(Code::ReportExpired));
    }
    Ok(Retained { id, record })
}

fn not_found() -> Refusal {
    Refusal::of(Code::ReportNotFound)
}

/// The bytes that were sold, and are served ever after.
pub async fn body(app: &Shared, retained: &Retained) -> Result<Vec<u8>, Refusal> {
    let record = retained.record.clone();
    let found = app.store.read(move |snapshot| whole(snapshot, &record));
    found.await?.ok_or_else(not_found)
}

/// The same by the payment that bought it. `None` when the report is gone.
pub async fn sold_body(app: &Shared, payment: PaymentKey) -> Result<Option<Vec<u8>>, Refusal> {
    let found = app
        .store
        .read(move |snapshot| match snapshot.report_of(payment)? {
            Some((_, record)) => whole(snapshot, &record),
            None => Ok(None),
        });
    Ok(found.await?)
}

fn whole(snapshot: &Snapshot, record: &ReportRecord) -> Result<Option<Vec<u8>>, StoreError> {
    let Some(transaction) = &record.transaction else {
        return Ok(None);
    };
    let members = snapshot.blob(record.members)?;
    Ok(members.map(|members| answer::whole(&[&members], &record.paid, transaction)))
}

/// Shares a report under a name that says nothing of its identifier; the same name as long as it is shared.
pub async fn share(app: &Shared, id: ReportId, is_listed: bool) -> Result<store::Shared, Refusal> {
    let (fresh, now) = (ShareSlug(chance::bytes()), app.now());
    let shared = app
        .store
        .write(move |tables| tables.share_report(id, fresh, is_listed, now));
    shared.await?.ok_or_else(not_found)
}

/// Takes the name back.
pub async fn unshare(app: &Shared, id: ReportId) -> Result<Option<store::Shared>, Refusal> {
    let now = app.now();
    let taken = app
        .store
        .write(move |tables| tables.unshare_report(id, now));
    taken.await?.ok_or_else(not_found)
}

/// A shared report by its name.
pub async fn by_slug(app: &Shared, slug: &str) -> Result<Retained, Refusal> {
    let slug = ShareSlug::parse(slug).ok_or_else(not_found)?;
    let id = app
        .store
        .read(move |snapshot| snapshot.report_by_slug(slug))
        .await?
        .ok_or_else(not_found)?;
    find(app, &id.to_string()).await
}

/// What the library names, newest first.
pub async fn library(app: &Shared) -> Result<Vec<ReportRecord>, Refusal> {
    let now = app.now();
    let mut listed = app
        .store
        .read(|snapshot| snapshot.listed_reports(LIBRARY_MAX))
        .await?;
    listed.retain(|record| !record.is_expired(now));
    Ok(listed)
}
