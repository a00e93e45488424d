//! Stored reports: read, verify, follow-up questions and sharing, all free and without upstream calls. Only clients that
//! know a report's identifier can read it, and nobody gets the identifier before the payment is settled.

use serde::Deserialize;
use serde_json::json;

use crate::app::{App, Shared};
use crate::domain::answer;
use crate::domain::code::Code;
use crate::domain::ids::{ReportId, ShareSlug};
use crate::domain::keys::PaymentKey;
use crate::domain::level::Product;
use crate::domain::limit_reached::LimitReached;
use crate::domain::refusal::Refusal;
use crate::domain::time::{REPORT_DAYS, REPORT_SECONDS, UnixSeconds};
use crate::evidence::Depth;
use crate::evidence::bundle::BundleReport;
use crate::evidence::check::CheckReport;
use crate::evidence::report::canonical::{self, canonical};
use crate::evidence::report::follow_up::{FollowUp, follow_up};
use crate::evidence::report::sample::REPORT_ID as SAMPLE_ID;
use crate::evidence::report::verify::{Check, Kept, Receipt, verify, verify_several};
use crate::evidence::report::{Access, Links, Report, Signature};
use crate::flows::content::MEMORY_WAIT_MAX;
use crate::flows::internal;
use crate::outside::call::Permit;
use crate::outside::chance;
use crate::outside::memory::MemoryPermit;
use crate::signing::{self, Signer};
use crate::store::{self, Listing, ReportRecord, Snapshot, StoreError};

/// Members excluded from a report's hash.
pub const UNHASHED: &[&str] = &canonical::UNHASHED;
/// Maximum number of reports in the library.
const LIBRARY_MAX: usize = 100;

/// A readable report.
#[derive(Clone, Debug)]
pub enum Retained {
    /// The built-in sample, which never expires.
    Sample,
    Stored {
        id: ReportId,
        record: Box<ReportRecord>,
    },
}

impl Retained {
    /// What was sold.
    pub fn product(&self) -> Product {
        match self {
            Retained::Sample => Product::ProofPack,
            Retained::Stored { record, .. } => record.product(),
        }
    }

    pub fn id(&self) -> String {
        match self {
            Retained::Sample => SAMPLE_ID.to_owned(),
            Retained::Stored { id, .. } => id.to_string(),
        }
    }
}

/// Adds signature and links to a report.
pub fn put_around(app: &App, id: &str, report: &mut Report) {
    put_around_with(&app.config.base_url, app.signer.as_ref(), id, report);
}

/// The same before there is an app.
pub fn put_around_with(base_url: &str, signer: Option<&Signer>, id: &str, report: &mut Report) {
    let api = format!("{base_url}/v1/proof-pack/reports/{id}");
    let screenshot = report.screenshot.as_ref();
    let has_image = screenshot.is_some_and(|screenshot| screenshot.image.is_some());
    report.access = Some(Access {
        screenshot_url: has_image.then(|| format!("{api}/screenshot")),
        signature: signer.map(|signer| signature(signer, report)),
        verify_url: format!("{api}/verify"),
        follow_up_url: format!("{api}/follow-up"),
        source_text_url: Some(format!("{api}/source")),
        refresh_url: format!("{api}/refresh"),
        report_page: format!("{base_url}/proof-pack/reports/{id}"),
        report_url: api,
    });
}

/// The signature and the addresses of a report on several sources.
pub fn links(app: &App, id: &str, result_hash: &str, created_at: UnixSeconds) -> Links {
    let base_url = &app.config.base_url;
    let api = format!("{base_url}/v1/proof-pack/reports/{id}");
    let expires_at = created_at.plus(REPORT_SECONDS).0;
    let statement = statement_of_several(id, result_hash, created_at.0, expires_at);
    Links {
        report_id: id.to_owned(),
        expires_at,
        retention_days: REPORT_DAYS,
        signature: app.signer.as_ref().map(|signer| signed(signer, &statement)),
        verify_url: format!("{api}/verify"),
        source_text_url: format!("{api}/source"),
        pdf_url: None,
        report_page: format!("{base_url}/proof-pack/reports/{id}"),
        report_url: api,
    }
}

fn signature(signer: &Signer, report: &Report) -> Signature {
    signed(signer, &statement(report))
}

fn signed(signer: &Signer, statement: &[u8]) -> Signature {
    Signature {
        alg: "EdDSA".into(),
        kid: signer.kid().to_owned(),
        jws: signer.sign(statement),
    }
}

/// The same as [`statement`] of a report on several sources, whose hashes the result hash covers.
fn statement_of_several(id: &str, result_hash: &str, created_at: u64, expires_at: u64) -> Vec<u8> {
    let signed = json!({
        "report_id": id,
        "result_hash": result_hash,
        "created_at": created_at,
        "expires_at": expires_at,
    });
    canonical(&signed).unwrap_or_default()
}

/// The signed payload in canonical form, which identifies the report.
fn statement(report: &Report) -> Vec<u8> {
    let retention = report.retention.as_ref();
    let signed = json!({
        "report_id": report.id(),
        "target_url": report.target_url,
        "result_hash": report.result_hash,
        "source_hash": report.source_hash,
        "created_at": report.created_at,
        "expires_at": retention.map(|retention| retention.expires_at),
    });
    canonical(&signed).unwrap_or_default()
}

/// A report by its identifier. Expired differs from unknown while the tombstone lasts.
pub async fn find(app: &Shared, id: &str) -> Result<Retained, Refusal> {
    if id == SAMPLE_ID {
        return Ok(Retained::Sample);
    }
    let id = ReportId::parse(id).ok_or_else(not_found)?;
    let found = app.store.read(move |snapshot| snapshot.report(id)).await?;
    let record = found
        .filter(|record| record.transaction.is_some())
        .ok_or_else(not_found)?;
    if record.is_expired(app.now()) {
        return Err(Refusal::of(Code::ReportExpired));
    }
    let record = Box::new(record);
    Ok(Retained::Stored { id, record })
}

fn not_found() -> Refusal {
    Refusal::of(Code::ReportNotFound)
}

/// The bytes as sold.
pub async fn body(app: &Shared, retained: &Retained) -> Result<Vec<u8>, Refusal> {
    let record = match retained {
        Retained::Sample => return Ok(app.sample.report.body.clone()),
        Retained::Stored { record, .. } => record.clone(),
    };
    let found = app.store.read(move |snapshot| whole(snapshot, &record));
    found.await?.ok_or_else(not_found)
}

/// The same as the views read it.
pub async fn read(app: &Shared, retained: &Retained) -> Result<Report, Refusal> {
    let body = body(app, retained).await?;
    Report::parse(&body).map_err(|error| internal("a retained report cannot be read", &error))
}

/// The report of an Evidence Bundle as the views read it.
pub async fn read_bundle(app: &Shared, retained: &Retained) -> Result<BundleReport, Refusal> {
    let body = body(app, retained).await?;
    serde_json::from_slice(&body)
        .map_err(|error| internal("a retained report cannot be read", &error))
}

/// The report of a checked text as the views read it.
pub async fn read_check(app: &Shared, retained: &Retained) -> Result<CheckReport, Refusal> {
    let body = body(app, retained).await?;
    CheckReport::parse(&body).map_err(|error| internal("a retained report cannot be read", &error))
}

/// Refuses what only the report on one source offers.
pub fn only_one_source(retained: &Retained) -> Result<(), Refusal> {
    let what = match retained.product() {
        Product::ProofPack => return Ok(()),
        Product::Check => "a checked text",
        _ => "several sources",
    };
    let message = format!(
        "This report is on {what}: it can be read and verified, but not asked, refreshed or shared."
    );
    Err(Refusal::new(Code::NotOfferedForReport, message))
}

/// The bytes by the payment. `None` if the report is gone.
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
    let document = snapshot.blob(record.document)?;
    Ok(document.map(|document| answer::whole_report(&document, &record.paid, transaction)))
}

/// A report and its source, as bytes.
struct Bytes {
    document: Vec<u8>,
    source: Vec<u8>,
    /// SHA-256 of the document, as it was recorded.
    recorded: Option<String>,
    /// Memory for the findings, too.
    _permit: MemoryPermit,
}

/// A place for free work on a report. Taken before the report is read: waiting requests hold no memory.
pub(super) async fn place(app: &Shared, retained: &Retained) -> Result<Permit, Refusal> {
    let places = match retained {
        Retained::Stored { .. } => &app.outside.report_checks,
        Retained::Sample => &app.outside.free_checks,
    };
    let place = places.enter().await;
    place.map_err(|LimitReached| Refusal::of(Code::Overloaded))
}

/// Maximum memory per byte of a source: its units and index.
const LOOKING_FACTOR: usize = 6;

/// Whether the bytes are compared with their hash.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BlobCheck {
    /// Damaged bytes are an error.
    Hash,
    /// For a verification, which compares them itself; missing bytes are empty.
    Skip,
}

async fn bytes(app: &Shared, retained: &Retained, check: BlobCheck) -> Result<Bytes, Refusal> {
    let mut permit = app.outside.memory.nothing();
    let record = match retained {
        Retained::Sample => {
            return Ok(Bytes {
                _permit: permit,
                document: app.sample.report.body.clone(),
                source: app.sample.report.source_text.clone().into_bytes(),
                recorded: None,
            });
        }
        Retained::Stored { record, .. } => record,
    };
    let (document, source) = (record.document, record.source);
    let length = app.store.read(move |snapshot| snapshot.blob_length(source));
    let permitted = permit.resized(LOOKING_FACTOR * length.await?, MEMORY_WAIT_MAX);
    permitted
        .await
        .map_err(|LimitReached| Refusal::of(Code::Overloaded))?;
    let found = app.store.read(move |snapshot| {
        let read = |key| match check {
            BlobCheck::Hash => snapshot.blob(key),
            BlobCheck::Skip => snapshot.blob_unchecked(key),
        };
        Ok((read(document)?, read(source)?))
    });
    let (document, source) = found.await?;
    Ok(Bytes {
        document: document.unwrap_or_default(),
        source: source.unwrap_or_default(),
        recorded: Some(hex::encode(record.document)),
        _permit: permit,
    })
}

/// Verifies a report's hashes, citations and signature.
pub async fn check(app: &Shared, retained: &Retained) -> Result<Receipt, Refusal> {
    let place = place(app, retained).await?;
    let bytes = bytes(app, retained, BlobCheck::Skip).await?;
    let (is_sample, now) = (matches!(retained, Retained::Sample), app.now());
    let (id, product) = (retained.id(), retained.product());
    let signer = app.signer.as_ref();
    let keys: Vec<_> = signer.into_iter().flat_map(Signer::keys).collect();
    let checked = place.run(move || {
        let kept = Kept {
            report: &bytes.document,
            report_sha256: bytes.recorded.as_deref(),
            source: &bytes.source,
            is_sample,
        };
        let mut receipt = match product {
            Product::ProofPack => verify(&kept, now),
            _ => verify_several(&kept, now),
        };
        receipt.report_id = id;
        let signature = signature_check(&bytes.document, product, &keys);
        receipt.checks.extend(signature);
        receipt.valid = receipt.checks.iter().all(|check| check.matches);
        receipt
    });
    checked.await.map_err(|_| Refusal::of(Code::Overloaded))
}

/// Whether the report's signature by one of our current or former keys is valid. `None` without such a signature.
fn signature_check(
    document: &[u8],
    product: Product,
    keys: &[(String, signing::PublicKey)],
) -> Option<Check> {
    let (signature, expected) = match product {
        Product::ProofPack => {
            let report = Report::parse(document).ok()?;
            let expected = statement(&report);
            (report.access?.signature?, expected)
        }
        _ => signed_of_several(document)?,
    };
    let (_, key) = keys.iter().find(|(kid, _)| signature.kid == *kid)?;
    let matches = signing::verified(&signature.jws, key).is_ok_and(|signed| signed == expected);
    Some(Check {
        id: "signature",
        expected: json!(true),
        actual: json!(matches),
        matches,
    })
}

/// The signature of a report on several sources, and what it should be over.
fn signed_of_several(document: &[u8]) -> Option<(Signature, Vec<u8>)> {
    #[derive(Deserialize)]
    struct Signed {
        result_hash: String,
        created_at: u64,
        #[serde(flatten)]
        links: Links,
    }
    let report: Signed = serde_json::from_slice(document).ok()?;
    let (id, expires_at) = (&report.links.report_id, report.links.expires_at);
    let expected = statement_of_several(id, &report.result_hash, report.created_at, expires_at);
    Some((report.links.signature?, expected))
}

/// The text that a report's citations are slices of.
pub async fn source_text(app: &Shared, retained: &Retained) -> Result<Vec<u8>, Refusal> {
    let bytes = bytes(app, retained, BlobCheck::Hash).await?;
    if bytes.source.is_empty() {
        let message = "The source text of this report was not stored.";
        return Err(Refusal::new(Code::NotOfferedForReport, message));
    }
    Ok(bytes.source)
}

/// The picture of the page that a report was bought with.
pub async fn screenshot(app: &Shared, retained: &Retained) -> Result<Vec<u8>, Refusal> {
    let message = "This report has no screenshot.";
    let missing = || Refusal::new(Code::NotOfferedForReport, message);
    let Retained::Stored { id, .. } = retained else {
        return Err(missing());
    };
    let id = *id;
    let found = app.store.read(move |snapshot| snapshot.screenshot(id));
    found.await?.ok_or_else(missing)
}

/// Answers a follow-up question from the stored source.
pub async fn ask(app: &Shared, retained: &Retained, question: &str) -> Result<FollowUp, Refusal> {
    let place = place(app, retained).await?;
    let bytes = bytes(app, retained, BlobCheck::Hash).await?;
    let (question, now) = (question.to_owned(), app.now());
    let has_model = app.config.entailment_model;
    let asked = place.run(move || {
        let report = Report::parse(&bytes.document).ok()?;
        let text = std::str::from_utf8(&bytes.source).ok()?;
        let depth = match has_model {
            true => report.depth(),
            false => Depth::Quick,
        };
        Some(follow_up(&report, text, &question, depth, now))
    });
    let answered = asked.await.map_err(|_| Refusal::of(Code::Overloaded))?;
    answered.ok_or_else(|| internal("a retained report cannot be read", &retained.id()))
}

/// Shares a report under a name that does not reveal its identifier; the name is stable while it is shared. A requested
/// listing in the library needs the operator's approval, because it shows a buyer's text on our page.
pub async fn share(
    app: &Shared,
    id: ReportId,
    is_listed: bool,
) -> Result<(store::PublicLink, Listing), Refusal> {
    let (fresh, now) = (ShareSlug(chance::bytes()), app.now());
    let shared = app.store.write(move |tables| {
        let shared = tables.share_report(id, fresh, is_listed, now)?;
        let report = tables.report(id)?;
        let listing = report.map(|report| tables.listing(&report)).transpose()?;
        Ok(shared.zip(listing))
    });
    shared.await?.ok_or_else(not_found)
}

/// Ends the sharing.
pub async fn unshare(app: &Shared, id: ReportId) -> Result<(), Refusal> {
    let now = app.now();
    let found = app
        .store
        .write(move |tables| tables.unshare_report(id, now));
    match found.await? {
        true => Ok(()),
        false => Err(not_found()),
    }
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

/// The listed reports, newest first.
pub async fn library(app: &Shared) -> Result<Vec<ReportRecord>, Refusal> {
    let now = app.now();
    let mut listed = app
        .store
        .read(|snapshot| snapshot.approved_reports(LIBRARY_MAX))
        .await?;
    listed.retain(|record| !record.is_expired(now));
    Ok(listed)
}
