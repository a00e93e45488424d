//! The answers of purchases of several sources: pages side by side, and reports on all of them.

use std::sync::Arc;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{CacheMembers, Finished, MarginMembers, Sold, cache, cost, members_of, sold_report};
use crate::app::Shared;
use crate::domain::keys::PaymentKey;
use crate::domain::payment::{KeptAnswer, Payment};
use crate::domain::purchase::PagesPurchase;
use crate::domain::refusal::UnreadSource;
use crate::domain::time::UnixSeconds;
use crate::evidence::report::Links;
use crate::flows::content::source::SourcePage;
use crate::flows::content::{bundle, check, reports};
use crate::flows::sale::margin_guard::Judged;

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
    now: UnixSeconds,
    request_id: &str,
) -> Result<Sold, serde_json::Error> {
    let tier = bought.tier;
    let mut members = members_of(&PagesHead {
        status: "success",
        tier: tier.name(),
    })?
    .into_bytes();
    members.extend_from_slice(b",\"pages\":[");
    for (position, (target_url, source)) in pages.iter().enumerate() {
        let head = members_of(&PageHead {
            target_url,
            cache: cache(tier.cache(), tier.policy(), target_url, &source.cache, now),
        })?;
        members.extend_from_slice(if position == 0 { b"{" } else { b",{" });
        members.extend_from_slice(head.as_bytes());
        members.push(b',');
        members.extend_from_slice(&source.goods().members);
        members.push(b'}');
    }
    members.extend_from_slice(b"],");
    let hashes = pages
        .iter()
        .map(|(_, source)| source.goods().content_sha256.as_str());
    let content_sha256 = hash_of_pages(hashes);
    let unread = unread.iter().map(|unread| UnreadMembers {
        target_url: &unread.source,
        code: unread.code.text(),
        message: &unread.message,
    });
    let tail = members_of(&PagesTail {
        content_sha256: &content_sha256,
        unread: unread.collect(),
        ueg_receipt: cost(margin),
        retry_credit: None,
        request_id,
    })?;
    members.extend_from_slice(tail.as_bytes());
    Ok(Sold {
        answer: KeptAnswer {
            page: Sha256::digest(&members).into(),
            own: String::new(),
            content_sha256,
            tokens: pages.iter().map(|(_, source)| source.goods().tokens).sum(),
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

/// The report of an Evidence Bundle.
pub(super) fn bundle(
    app: &Shared,
    key: PaymentKey,
    payment: &Payment,
    mut draft: bundle::Draft,
    pages: Vec<(String, SourcePage)>,
    margin: &Judged,
) -> Result<Sold, serde_json::Error> {
    let id = draft.id.to_string();
    let links = reports::links(app, &id, &draft.report.result_hash, draft.created_at);
    let expires_at = links.expires_at;
    draft.report.links = Some(Links {
        pdf_url: Some(format!("{}/pdf", links.report_url)),
        ..links
    });
    let report = &draft.report;
    let finished = Finished {
        id: draft.id,
        report,
        result_hash: &report.result_hash,
        about: (report.question.clone(), report.decision.label.to_string()),
        title: None,
        cache: None,
        source_text: serde_json::to_vec(&draft.texts)?,
        screenshot: None,
        created_at: draft.created_at,
        expires_at,
    };
    sold_report(app, key, payment, finished, pages, margin)
}

/// A checked text.
pub(super) fn check(
    app: &Shared,
    key: PaymentKey,
    payment: &Payment,
    mut draft: check::Draft,
    pages: Vec<(String, SourcePage)>,
    margin: &Judged,
) -> Result<Sold, serde_json::Error> {
    let id = draft.id.to_string();
    let links = reports::links(app, &id, &draft.report.result_hash, draft.created_at);
    let expires_at = links.expires_at;
    draft.report.links = Some(links);
    let report = &draft.report;
    let finished = Finished {
        id: draft.id,
        report,
        result_hash: &report.result_hash,
        about: (
            report.text.chars().take(TEXT_LISTED_MAX).collect(),
            report.agent_action.to_string(),
        ),
        title: None,
        cache: None,
        source_text: serde_json::to_vec(&draft.texts)?,
        screenshot: None,
        created_at: draft.created_at,
        expires_at,
    };
    sold_report(app, key, payment, finished, pages, margin)
}

/// Characters of a checked text that the operator's lists show.
const TEXT_LISTED_MAX: usize = 200;
