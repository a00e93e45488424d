//! Stored reports with their sources and sharing. A report is written with its answer, becomes readable once the payment is
//! settled, is stored for 30 days, and known as expired for 30 more.

use serde::{Deserialize, Serialize};

use crate::domain::ids::{ReportId, ShareSlug};
use crate::domain::keys::PaymentKey;
use crate::domain::level::{Level, Product};
use crate::domain::time::{REPORT_SECONDS, UnixSeconds};
use crate::store::lazy_table::Transaction;
use crate::store::record::{decode, encode};
use crate::store::tables::{Hash, Records, Snapshot, Tables};
use crate::store::{Due, DueKind, StoreError};

const TABLE: &str = "reports-1";
/// The sum of REPORT_BYTES.
const REPORTS_BYTES: &str = "reports-bytes";
/// How long an expired report is still known as expired (410) before it is forgotten (404).
const TOMBSTONE_SECONDS: u64 = REPORT_SECONDS;

/// A retained report. Its bytes and its source's are blobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportRecord {
    pub payment: PaymentKey,
    pub target_url: String,
    pub question: String,
    /// The pack's name; for other products theirs before that of the level.
    pub pack: String,
    /// The decision's label.
    pub label: String,
    pub title: Option<String>,
    /// SHA-256 of the report's JSON, all of it but its payment.
    pub document: [u8; 32],
    /// SHA-256 of the source's markdown.
    pub source: [u8; 32],
    /// The payment's JSON members, all but the transaction.
    pub paid: String,
    /// Known once the payment is settled; before that nobody may read the report.
    pub transaction: Option<String>,
    pub shared: Option<PublicLink>,
    pub created_at: u64,
    pub expires_at: u64,
}

/// Under which name a report may be read by anyone who has the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublicLink {
    pub slug: [u8; 16],
    pub at: u64,
    /// Whether its buyer wants it in the library; it is there once the operator has approved it.
    pub is_listed: bool,
}

/// Whether the library names a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Its buyer does not want that.
    Unlisted,
    /// Its buyer wants it, and the operator has not said yes.
    AwaitingApproval,
    Listed,
}

impl Listing {
    fn of(report: &ReportRecord, is_approved: bool) -> Listing {
        match (report.shared, is_approved) {
            (Some(shared), true) if shared.is_listed => Listing::Listed,
            (Some(shared), false) if shared.is_listed => Listing::AwaitingApproval,
            _ => Listing::Unlisted,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Listing::Unlisted => "unlisted",
            Listing::AwaitingApproval => "awaiting_approval",
            Listing::Listed => "listed",
        }
    }
}

impl ReportRecord {
    /// What [`ReportRecord::pack`] holds: a pack's own name, and before those of other products the product's.
    pub fn pack_of(level: Level) -> String {
        match level.product() {
            Product::ProofPack => level.name().to_owned(),
            product => format!("{} {}", product.name(), level.name()),
        }
    }

    /// What was sold.
    pub fn product(&self) -> Product {
        let product = self.pack.split_once(' ').map(|(product, _)| product);
        product
            .and_then(Product::parse)
            .unwrap_or(Product::ProofPack)
    }

    pub fn is_expired(&self, now: UnixSeconds) -> bool {
        now.0 >= self.expires_at
    }

    /// The word for operators.
    pub fn state(&self, now: UnixSeconds) -> &'static str {
        match (&self.transaction, self.is_expired(now)) {
            (None, _) => "unsettled",
            (Some(_), false) => "retained",
            (Some(_), true) => "expired",
        }
    }
}

impl<T: Transaction> Records<T> {
    pub fn report(&self, id: ReportId) -> Result<Option<ReportRecord>, StoreError> {
        self.reports.record(id.0, TABLE)
    }

    pub fn report_of(
        &self,
        payment: PaymentKey,
    ) -> Result<Option<(ReportId, ReportRecord)>, StoreError> {
        let id = self.reports_of_payments.get(payment)?;
        let Some(id) = id.map(|id| ReportId(id.value())) else {
            return Ok(None);
        };
        Ok(self.report(id)?.map(|report| (id, report)))
    }

    pub fn listing(&self, report: &ReportRecord) -> Result<Listing, StoreError> {
        Ok(Listing::of(report, self.is_approved(report)?))
    }

    fn is_approved(&self, report: &ReportRecord) -> Result<bool, StoreError> {
        match report.shared {
            Some(shared) => Ok(self
                .approved_reports
                .get((shared.at, shared.slug))?
                .is_some()),
            None => Ok(false),
        }
    }
}

impl Tables<'_> {
    /// Writes a report. Its blobs are among the goods of its sale until a settlement keeps them for the report's life.
    pub fn put_report(&mut self, id: ReportId, report: &ReportRecord) -> Result<(), StoreError> {
        // A sale that is taken up again makes a report of its own.
        self.drop_report_of(report.payment)?;
        self.reports_of_payments.insert(report.payment, id.0)?;
        self.write_report(id, report)
    }

    /// Notes the picture of a report's page. Its bytes are among the goods of the sale, as the report's own.
    pub fn put_screenshot(&mut self, id: ReportId, png: Hash) -> Result<(), StoreError> {
        self.report_screenshots.insert(id.0, png)?;
        Ok(())
    }

    fn screenshot(&self, id: ReportId) -> Result<Option<Hash>, StoreError> {
        Ok(self.report_screenshots.get(id.0)?.map(|png| png.value()))
    }

    fn write_report(&mut self, id: ReportId, report: &ReportRecord) -> Result<(), StoreError> {
        self.reports.insert(id.0, encode(report)?.as_slice())?;
        Ok(())
    }

    /// The report's payment is settled: from now on it may be read, until it expires. Its bytes stay until `answer_end`
    /// in any case: anyone who paid is given them, however late the settlement came.
    pub fn release_report(
        &mut self,
        payment: PaymentKey,
        transaction: &str,
        answer_end: UnixSeconds,
    ) -> Result<(), StoreError> {
        let Some((id, mut report)) = self.report_of(payment)? else {
            return Ok(());
        };
        report.transaction = Some(transaction.to_owned());
        let end = UnixSeconds(report.expires_at).max(answer_end);
        self.keep_blob(report.document, end)?;
        self.keep_blob(report.source, end)?;
        let mut length = self.blob_length(report.document)? + self.blob_length(report.source)?;
        if let Some(png) = self.screenshot(id)? {
            self.keep_blob(png, end)?;
            length += self.blob_length(png)?;
        }
        self.count_report(id, Some(length as u64))?;
        self.schedule(due(id, end))?;
        self.write_report(id, &report)
    }

    /// Forgets the report of a payment that was never taken.
    pub fn drop_report_of(&mut self, payment: PaymentKey) -> Result<(), StoreError> {
        match self.report_of(payment)? {
            None => Ok(()),
            Some((id, report)) => self.drop_report(id, &report),
        }
    }

    fn drop_report(&mut self, id: ReportId, report: &ReportRecord) -> Result<(), StoreError> {
        self.unshare(report)?;
        self.count_report(id, None)?;
        self.report_screenshots.remove(id.0)?;
        self.reports_of_payments.remove(report.payment)?;
        self.reports.remove(id.0)?;
        Ok(())
    }

    /// Gives a report a name under which others may read it, or changes whether the library lists it. `None` when
    /// there is no report to be shared.
    pub fn share_report(
        &mut self,
        id: ReportId,
        fresh: ShareSlug,
        is_listed: bool,
        now: UnixSeconds,
    ) -> Result<Option<PublicLink>, StoreError> {
        let Some(mut report) = self.report(id)?.filter(|report| is_readable(report, now)) else {
            return Ok(None);
        };
        let earlier = report.shared;
        let is_approved = self.is_approved(&report)?;
        self.unshare(&report)?;
        let shared = PublicLink {
            slug: earlier.map_or(fresh.0, |shared| shared.slug),
            at: earlier.map_or(now.0, |shared| shared.at),
            is_listed,
        };
        self.shared_reports.insert(shared.slug, id.0)?;
        if is_listed {
            self.listed_reports.insert((shared.at, shared.slug), id.0)?;
        }
        // A repeated request for an approved report changes nothing; one after a withdrawal waits for the operator again.
        if is_listed && is_approved {
            self.approved_reports
                .insert((shared.at, shared.slug), id.0)?;
        }
        report.shared = Some(shared);
        self.write_report(id, &report)?;
        Ok(Some(shared))
    }

    /// Takes the name back; its address leads nowhere from now on. Tells whether there is such a report.
    pub fn unshare_report(&mut self, id: ReportId, now: UnixSeconds) -> Result<bool, StoreError> {
        let Some(mut report) = self.report(id)?.filter(|report| is_readable(report, now)) else {
            return Ok(false);
        };
        self.unshare(&report)?;
        report.shared = None;
        self.write_report(id, &report)?;
        Ok(true)
    }

    fn unshare(&mut self, report: &ReportRecord) -> Result<(), StoreError> {
        if let Some(shared) = report.shared {
            self.shared_reports.remove(shared.slug)?;
            self.listed_reports.remove((shared.at, shared.slug))?;
            self.approved_reports.remove((shared.at, shared.slug))?;
        }
        Ok(())
    }

    /// Lists a report in the library, or takes it out again. Tells whether its buyer requests a listing: where there is
    /// no such request, or no such report, nothing changes.
    pub fn approve_report(
        &mut self,
        id: ReportId,
        is_approved: bool,
        now: UnixSeconds,
    ) -> Result<bool, StoreError> {
        let report = self.report(id)?.filter(|report| is_readable(report, now));
        let shared = report.and_then(|report| report.shared);
        let Some(shared) = shared.filter(|shared| shared.is_listed) else {
            return Ok(false);
        };
        let key = (shared.at, shared.slug);
        match is_approved {
            true => drop(self.approved_reports.insert(key, id.0)?),
            false => drop(self.approved_reports.remove(key)?),
        }
        Ok(true)
    }

    /// Notes how many bytes a retained report takes; `None` when it is retained no longer.
    fn count_report(&mut self, id: ReportId, bytes: Option<u64>) -> Result<(), StoreError> {
        let before = match bytes {
            Some(bytes) => self.report_bytes.insert(id.0, bytes)?,
            None => self.report_bytes.remove(id.0)?,
        };
        let before = before.map_or(0, |before| before.value());
        let sum = self.fact(REPORTS_BYTES)?.saturating_sub(before);
        self.set_fact(REPORTS_BYTES, sum + bytes.unwrap_or_default())
    }

    /// Counts the reports of a file from before they were counted.
    pub(in crate::store) fn count_reports(&mut self) -> Result<(), StoreError> {
        if self.meta.get(REPORTS_BYTES)?.is_some() {
            return Ok(());
        }
        let mut retained = Vec::new();
        for row in self.reports.iter()? {
            let (id, bytes) = row?;
            let report: ReportRecord = decode(bytes.value(), TABLE)?;
            if report.transaction.is_some() {
                retained.push((ReportId(id.value()), report.document, report.source));
            }
        }
        self.set_fact(REPORTS_BYTES, 0)?;
        for (id, document, source) in retained {
            // Nothing is left of the blobs of an expired one.
            let length = self.blob_length(document)? + self.blob_length(source)?;
            if length > 0 {
                self.count_report(id, Some(length as u64))?;
            }
        }
        Ok(())
    }

    /// The blob of the source that a payment's report was made from.
    pub(in crate::store) fn source_of(
        &self,
        payment: PaymentKey,
    ) -> Result<Option<Hash>, StoreError> {
        Ok(self.report_of(payment)?.map(|(_, report)| report.source))
    }

    /// Works off a due row: an expired report loses everything but the knowledge that it was there; later that too.
    pub fn sweep_report(&mut self, due_row: Due, now: UnixSeconds) -> Result<(), StoreError> {
        self.unschedule(due_row)?;
        let id = ReportId(due_row.id());
        let Some(report) = self.report(id)? else {
            return Ok(());
        };
        let gone_at = UnixSeconds(report.expires_at).plus(TOMBSTONE_SECONDS);
        if now >= gone_at {
            return self.drop_report(id, &report);
        }
        if !report.is_expired(now) {
            return self.schedule(due(id, UnixSeconds(report.expires_at)));
        }
        self.unshare(&report)?;
        self.count_report(id, None)?;
        self.report_screenshots.remove(id.0)?;
        self.schedule(due(id, gone_at))?;
        self.write_report(id, &tombstone(report))
    }

    /// Deletes a report and its blobs. The source and the screenshot stay while another report uses them. Returns whether it
    /// was there. One whose payment has no end yet stays: it may be settled for at any moment.
    pub fn purge_report(&mut self, id: ReportId) -> Result<bool, StoreError> {
        let report = self.report(id)?;
        let Some(report) = report.filter(|report| report.transaction.is_some()) else {
            return Ok(false);
        };
        let screenshot = self.screenshot(id)?;
        self.drop_report(id, &report)?;
        self.drop_blob(report.document)?;
        if let Some(png) = screenshot
            && !self.is_screenshot(png)?
        {
            self.drop_blob(png)?;
        }
        let mut is_shared = false;
        for row in self.reports.iter()? {
            let other: ReportRecord = decode(row?.1.value(), TABLE)?;
            is_shared |= other.source == report.source;
        }
        if !is_shared {
            self.drop_blob(report.source)?;
        }
        Ok(true)
    }
}

impl Tables<'_> {
    /// Whether any report has this picture.
    fn is_screenshot(&self, png: Hash) -> Result<bool, StoreError> {
        for row in self.report_screenshots.iter()? {
            if row?.1.value() == png {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn is_readable(report: &ReportRecord, now: UnixSeconds) -> bool {
    report.transaction.is_some() && !report.is_expired(now)
}

fn tombstone(report: ReportRecord) -> ReportRecord {
    ReportRecord {
        payment: report.payment,
        target_url: String::new(),
        question: String::new(),
        pack: report.pack,
        label: String::new(),
        title: None,
        document: [0; 32],
        source: [0; 32],
        paid: String::new(),
        transaction: report.transaction.map(|_| String::new()),
        shared: None,
        created_at: report.created_at,
        expires_at: report.expires_at,
    }
}

fn due(id: ReportId, at: UnixSeconds) -> Due {
    Due::of_id(DueKind::Report, id.0, at)
}

impl Snapshot {
    /// Bytes of the retained reports with their sources.
    pub fn reports_bytes(&self) -> Result<u64, StoreError> {
        self.fact(REPORTS_BYTES)
    }

    /// The picture of a report's page: PNG.
    pub fn screenshot(&self, id: ReportId) -> Result<Option<Vec<u8>>, StoreError> {
        let png = self.report_screenshots.get(id.0)?;
        match png.map(|png| png.value()) {
            Some(png) => self.blob(png),
            None => Ok(None),
        }
    }

    pub fn report_by_slug(&self, slug: ShareSlug) -> Result<Option<ReportId>, StoreError> {
        let id = self.shared_reports.get(slug.0)?;
        Ok(id.map(|id| ReportId(id.value())))
    }

    /// How many reports wait for the operator's word on whether the library shows them.
    pub fn listings_waiting(&self) -> Result<u64, StoreError> {
        let listed = self.listed_reports.len()?;
        Ok(listed.saturating_sub(self.approved_reports.len()?))
    }

    /// The reports that the library shows, newest first.
    pub fn approved_reports(&self, rows_max: usize) -> Result<Vec<ReportRecord>, StoreError> {
        let mut found = Vec::new();
        for row in self.approved_reports.iter()?.rev().take(rows_max) {
            let id = ReportId(row?.1.value());
            found.extend(self.report(id)?);
        }
        Ok(found)
    }

    /// The reports after one, in the order of their identifiers.
    pub fn reports_after(
        &self,
        after: Option<ReportId>,
        rows_max: usize,
    ) -> Result<Vec<(ReportId, ReportRecord)>, StoreError> {
        let found = self
            .reports
            .records_after(TABLE, after.map(|id| id.0), rows_max)?;
        let report = |(id, report)| (ReportId(id), report);
        Ok(found.into_iter().map(report).collect())
    }

    /// Every report, in the order of their identifiers, for the operator's list.
    pub fn reports(
        &self,
        mut each: impl FnMut(ReportId, ReportRecord) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        for row in self.reports.iter()? {
            let (id, bytes) = row?;
            each(ReportId(id.value()), decode(bytes.value(), TABLE)?)?;
        }
        Ok(())
    }
}
