//! The answers of purchases of several sources: pages side by side, and reports on all of them.

use std::sync::Arc;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{CacheMembers, MarginMembers, Sold, SoldReport, cache, cost, paid};
use crate::app::Shared;
use crate::domain::keys::PaymentKey;
use crate::domain::payment::{KeptAnswer, Payment};
use crate::domain::purchase::PagesPurchase;
use crate::domain::refusal::UnreadSource;
use crate::domain::time::UnixSeconds;
use crate::evidence::bundle::BundleReport;
use crate::flows::content::bundle::Draft;
use crate::flows::content::reports;
use crate::flows::content::source::SourcePage;
use crate::flows::sale::margin_guard::Judged;
use crate::store::ReportRecord;

/// What stands before the pages.
#[derive(Serialize)]
struct PagesHead<'a> {
    status: &'static str,
    tier: &'a str,
}

/// What a page's own members do not say.
#[derive(Serialize)]
struct PageHead<'a> {
    target_url: &'a str,
    cache: CacheMembers,
}

/// What stands behind the pages.
#[derive(Serialize)]
struct PagesTail<'a> {
    content_sha256: &'a str,
    unread: Vec<UnreadMembers<'a>>,
    ueg_receipt: MarginMembers,
    /// A delivered answer is no longer owed.
    retry_credit: Option<()>,
    request_id: &'a str,
}

#[derive(Serialize)]
struct UnreadMembers<'a> {
    target_url: &'a str,
    code: &'static str,
    message: &'a str,
}

/// The answer that holds several pages, in the order of the request.
pub(super) fn pages(
    bought: &PagesPurchase,
    pages: Vec<(String, SourcePage)>,
    unread: &[UnreadSource],
    margin: &Judged,
    (now, request_id): (UnixSeconds, &str),
) -> Result<Sold, serde_json::Error> {
    let tier = bought.tier();
    let mut members = bare(&PagesHead {
        status: "success",
        tier: tier.name(),
    })?;
    members.extend_from_slice(b",\"pages\":[");
    for (position, (target_url, source)) in pages.iter().enumerate() {
        let about = (tier.cache(), tier.policy());
        let head = bare(&PageHead {
            target_url,
            cache: cache(about.0, about.1, target_url, &source.cache, now),
        })?;
        members.extend_from_slice(if position == 0 { b"{" } else { b",{" });
        members.extend_from_slice(&head);
        members.push(b',');
        members.extend_from_slice(&source.page.members);
        members.push(b'}');
    }
    members.extend_from_slice(b"],");
    let hashes = pages
        .iter()
        .map(|(_, source)| source.page.content_sha256.as_str());
    let content_sha256 = hash_of_pages(hashes);
    let unread = unread.iter().map(|unread| UnreadMembers {
        target_url: &unread.source,
        code: unread.code.text(),
        message: &unread.message,
    });
    members.extend(bare(&PagesTail {
        content_sha256: &content_sha256,
        unread: unread.collect(),
        ueg_receipt: cost(margin),
        retry_credit: None,
        request_id,
    })?);
    Ok(Sold {
        answer: KeptAnswer {
            page: Sha256::digest(&members).into(),
            own: String::new(),
            content_sha256,
            tokens: pages.iter().map(|(_, source)| source.page.tokens).sum(),
            cache_hit: pages.iter().all(|(_, source)| source.cache.hit),
            margin: margin.receipt,
        },
        members: Arc::new(members),
        pages,
        report: None,
    })
}

/// The hash of several pages together, in hex: SHA-256 over their own in their order, a line each.
pub fn hash_of_pages<'a>(hashes: impl Iterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for line in hashes {
        hash.update(line);
        hash.update("\n");
    }
    hex::encode(hash.finalize())
}

/// The members of an object without its braces.
fn bare(object: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = serde_json::to_vec(object)?;
    bytes.pop();
    bytes.remove(0);
    Ok(bytes)
}

/// A report on several sources as it is stored; the payment is put behind it once it is settled.
#[derive(Serialize)]
struct SeveralDocument<'a, R> {
    #[serde(flatten)]
    report: &'a R,
    ueg_receipt: MarginMembers,
}

/// The report of an Evidence Bundle.
pub(super) fn bundle(
    app: &Shared,
    key: PaymentKey,
    payment: &Payment,
    (draft, pages): (Draft, Vec<(String, SourcePage)>),
    margin: &Judged,
) -> Result<Sold, serde_json::Error> {
    let mut report: Box<BundleReport> = draft.report;
    let id = draft.id.to_string();
    let links = reports::links(app, &id, &report.result_hash, draft.created_at);
    let expires_at = links.expires_at;
    report.links = Some(links);
    let document = serde_json::to_vec(&SeveralDocument {
        report: &report,
        ueg_receipt: cost(margin),
    })?;
    let source_text = serde_json::to_vec(&draft.texts)?;
    let purchase = &payment.purchase;
    let record = ReportRecord {
        payment: key,
        target_url: purchase.target_url().to_owned(),
        question: report.question.clone(),
        pack: ReportRecord::pack_of(purchase.level()),
        label: report.decision.label.to_string(),
        title: None,
        document: Sha256::digest(&document).into(),
        source: Sha256::digest(&source_text).into(),
        paid: paid(app, payment)?,
        transaction: None,
        shared: None,
        created_at: draft.created_at.0,
        expires_at,
    };
    Ok(Sold {
        answer: KeptAnswer {
            page: record.document,
            // Stored with the report.
            own: String::new(),
            content_sha256: report.result_hash.clone(),
            tokens: pages.iter().map(|(_, source)| source.page.tokens).sum(),
            cache_hit: pages.iter().all(|(_, source)| source.cache.hit),
            margin: margin.receipt,
        },
        members: Arc::new(document),
        pages,
        report: Some(SoldReport {
            id: draft.id,
            record,
            source_text,
        }),
    })
}
