//! The JSON of a paid answer, composed of runs of members: the buyer's, the page's (shared with the
//! cache) or the report's, and the payment's, which come last.

mod several;

pub use several::hash_of_pages;

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::app::Shared;
use crate::domain::amount::Amount;
use crate::domain::cache::CachePolicy;
use crate::domain::ids::ReportId;
use crate::domain::keys::PaymentKey;
use crate::domain::margin::GasPrice;
use crate::domain::payment::{KeptAnswer, Payment};
use crate::domain::purchase::{ContextPurchase, Purchase};
use crate::domain::time::{PAGE_SECONDS, UnixSeconds};
use crate::flows::content::report::Draft;
use crate::flows::content::reports;
use crate::flows::content::screenshot::Png;
use crate::flows::content::source::{CacheFacts, SourcePage};
use crate::flows::sale::deliver::{Goods, Made};
use crate::flows::sale::margin_guard::Judged;
use crate::outside::memory::MemoryPermit;
use crate::store::{ReportRecord, page_key};

/// A finished answer and the data stored with it.
#[derive(Debug)]
pub struct Sold {
    pub answer: KeptAnswer,
    /// The bytes stored under [`KeptAnswer::page`].
    pub members: Arc<Vec<u8>>,
    /// The pages that were read, each under its canonical address.
    pub pages: Vec<(String, SourcePage)>,
    pub report: Option<SoldReport>,
}

/// A report as stored.
#[derive(Debug)]
pub struct SoldReport {
    pub id: ReportId,
    pub record: ReportRecord,
    pub source_text: Vec<u8>,
    /// The picture of the page, where it is part of the report.
    pub screenshot: Option<Png>,
}

/// The parts of a stored answer, held during settlement to avoid reading it again.
#[derive(Debug)]
pub struct Members {
    pub bytes: Arc<Vec<u8>>,
    pub permit: MemoryPermit,
}

/// Serializes the goods as the answer to deliver after settlement.
pub fn sold(
    app: &Shared,
    key: PaymentKey,
    payment: &Payment,
    goods: Goods,
    margin: &Judged,
    request_id: &str,
) -> Result<Sold, serde_json::Error> {
    let Goods {
        mut pages, made, ..
    } = goods;
    match (&payment.purchase, made) {
        (Purchase::Context(context), Made::Page) if pages.len() == 1 => {
            let (_, source) = pages.remove(0);
            sold_page(context, source, margin, app.now(), request_id)
        }
        (Purchase::ProofPack(_), Made::Report(id, draft)) if pages.len() == 1 => {
            let (_, source) = pages.remove(0);
            proof_pack(app, key, payment, source, id, draft, margin)
        }
        (Purchase::Pages(bought), Made::Pages(unread)) => {
            several::pages(bought, pages, &unread, margin, app.now(), request_id)
        }
        (Purchase::ProofBundle(_), Made::Bundle(draft)) => {
            several::bundle(app, key, payment, draft, pages, margin)
        }
        (Purchase::Check(_), Made::Check(draft)) => {
            several::check(app, key, payment, draft, pages, margin)
        }
        _ => Err(serde::ser::Error::custom("goods of another product")),
    }
}

fn sold_page(
    context: &ContextPurchase,
    source: SourcePage,
    margin: &Judged,
    now: UnixSeconds,
    request_id: &str,
) -> Result<Sold, serde_json::Error> {
    let own = members_of(&OwnMembers {
        status: "success",
        target_url: &context.target_url,
        tier: context.tier.name(),
        cache: cache(
            context.tier.cache(),
            context.tier.policy(),
            &context.target_url,
            &source.cache,
            now,
        ),
        ueg_receipt: cost(margin),
        retry_credit: None,
        request_id,
    })?;
    let goods = source.goods();
    Ok(Sold {
        answer: KeptAnswer {
            page: goods.blob,
            own,
            content_sha256: goods.content_sha256.clone(),
            tokens: goods.tokens,
            cache_hit: source.cache.hit,
            margin: margin.receipt,
        },
        members: Arc::clone(&goods.members),
        pages: vec![(context.target_url.clone(), source)],
        report: None,
    })
}

/// A finished report, with what else is stored of it.
struct Finished<'a, R> {
    id: ReportId,
    report: &'a R,
    result_hash: &'a str,
    /// In the words of the operator's lists.
    about: (String, String),
    title: Option<String>,
    /// Where it is on one source.
    cache: Option<CacheMembers>,
    source_text: Vec<u8>,
    screenshot: Option<Png>,
    created_at: UnixSeconds,
    expires_at: u64,
}

fn proof_pack(
    app: &Shared,
    key: PaymentKey,
    payment: &Payment,
    source: SourcePage,
    id: ReportId,
    mut draft: Draft,
    margin: &Judged,
) -> Result<Sold, serde_json::Error> {
    let (purchase, level) = (&payment.purchase, payment.purchase.level());
    reports::put_around(app, &id.to_string(), &mut draft.report);
    let report = &*draft.report;
    let target_url = purchase.target_url();
    let now = draft.created_at;
    let finished = Finished {
        id,
        report,
        result_hash: &report.result_hash,
        about: (
            purchase.question().unwrap_or_default().to_owned(),
            report.decision.label.to_string(),
        ),
        title: report.source_profile.title.clone(),
        cache: Some(cache(
            level.cache(),
            level.policy(),
            target_url,
            &source.cache,
            now,
        )),
        source_text: draft.source_text.into_bytes(),
        screenshot: draft.screenshot,
        created_at: now,
        // The buyer's copy is authoritative.
        expires_at: (report.retention.as_ref()).map_or(0, |retention| retention.expires_at),
    };
    let pages = vec![(target_url.to_owned(), source)];
    sold_report(app, key, payment, finished, pages, margin)
}

fn sold_report<R: Serialize>(
    app: &Shared,
    key: PaymentKey,
    payment: &Payment,
    finished: Finished<'_, R>,
    pages: Vec<(String, SourcePage)>,
    margin: &Judged,
) -> Result<Sold, serde_json::Error> {
    let document = serde_json::to_vec(&ReportDocument {
        report: finished.report,
        cache: finished.cache,
        ueg_receipt: cost(margin),
    })?;
    let purchase = &payment.purchase;
    let (question, label) = finished.about;
    let record = ReportRecord {
        payment: key,
        target_url: purchase.target_url().to_owned(),
        question,
        pack: ReportRecord::pack_of(purchase.level()),
        label,
        title: finished.title,
        document: Sha256::digest(&document).into(),
        source: Sha256::digest(&finished.source_text).into(),
        paid: paid(app, payment)?,
        transaction: None,
        shared: None,
        created_at: finished.created_at.0,
        expires_at: finished.expires_at,
    };
    Ok(Sold {
        answer: KeptAnswer {
            page: record.document,
            // Stored with the report.
            own: String::new(),
            content_sha256: finished.result_hash.to_owned(),
            tokens: pages.iter().map(|(_, source)| source.page.tokens).sum(),
            cache_hit: pages.iter().all(|(_, source)| source.cache.hit),
            margin: margin.receipt,
        },
        members: Arc::new(document),
        pages,
        report: Some(SoldReport {
            id: finished.id,
            record,
            source_text: finished.source_text,
            screenshot: finished.screenshot,
        }),
    })
}

#[derive(Serialize)]
struct OwnMembers<'a> {
    status: &'static str,
    target_url: &'a str,
    tier: &'a str,
    cache: CacheMembers,
    ueg_receipt: MarginMembers,
    /// A delivered answer is no longer owed.
    retry_credit: Option<()>,
    request_id: &'a str,
}

/// A report as it is stored; the payment is put behind it once it is settled.
#[derive(Serialize)]
struct ReportDocument<'a, R> {
    #[serde(flatten)]
    report: &'a R,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache: Option<CacheMembers>,
    ueg_receipt: MarginMembers,
}

#[derive(Serialize)]
struct CacheMembers {
    hit: bool,
    policy: &'static str,
    age_seconds: u64,
    ttl_seconds: u64,
    stored_at: u64,
    expires_at: u64,
    /// The start of the page's blob hash.
    key: String,
    revalidated: bool,
    changed_since_last: Option<bool>,
    /// Whether this copy may be sold to others; false if the site's Cache-Control forbids it.
    shared: bool,
}

#[derive(Serialize)]
struct MarginMembers {
    revenue_usdc: f64,
    gas_cost_usdc: f64,
    supplier_cost_usdc: f64,
    /// The maximum, if a language model was called.
    llm_cost_usdc: f64,
    facilitator_fee_usdc: f64,
    total_cost_usdc: f64,
    projected_profit_usdc: f64,
    projected_margin: f64,
    /// The minimum profit as a share of the price.
    min_margin: f64,
    min_profit_usdc: f64,
    /// Known if chain.rpc_url is set.
    gas_price_gwei: Option<f64>,
    decision: &'static str,
    evaluated_at: u64,
}

fn cache(
    reads: CachePolicy,
    policy: &'static str,
    target_url: &str,
    facts: &CacheFacts,
    now: UnixSeconds,
) -> CacheMembers {
    let stored_at = facts.stored_at;
    CacheMembers {
        hit: facts.hit,
        policy,
        age_seconds: now.since(stored_at),
        ttl_seconds: match reads {
            CachePolicy::CacheOnly { .. } => PAGE_SECONDS,
            CachePolicy::UpTo { age_seconds } => age_seconds,
            CachePolicy::Bypass => 0,
        },
        stored_at: stored_at.0,
        expires_at: match facts.is_shared {
            true => stored_at.plus(PAGE_SECONDS).0,
            false => stored_at.0,
        },
        key: cache_key(target_url),
        revalidated: facts.revalidated,
        changed_since_last: facts.changed_since_last,
        shared: facts.is_shared,
    }
}

fn cache_key(target_url: &str) -> String {
    hex::encode(&page_key(target_url)[..8])
}

fn cost(judged: &Judged) -> MarginMembers {
    let receipt = &judged.receipt;
    let usdc = |units: u64| Amount::from_units(units).as_usdc();
    let share = |part: u64| Amount::from_units(part).share_of(Amount::from_units(receipt.revenue));
    let total = receipt.revenue - receipt.profit;
    MarginMembers {
        revenue_usdc: usdc(receipt.revenue),
        gas_cost_usdc: usdc(receipt.gas),
        supplier_cost_usdc: usdc(receipt.supplier.saturating_sub(judged.llm.units())),
        llm_cost_usdc: judged.llm.as_usdc(),
        facilitator_fee_usdc: usdc(receipt.facilitator_fee),
        total_cost_usdc: usdc(total),
        projected_profit_usdc: usdc(receipt.profit),
        projected_margin: share(receipt.profit),
        min_margin: share(receipt.minimum_profit),
        min_profit_usdc: usdc(receipt.minimum_profit),
        gas_price_gwei: judged.gas_price.as_ref().map(GasPrice::gwei),
        decision: "accept",
        evaluated_at: receipt.evaluated_at,
    }
}

/// The payment's members without braces and without the settlement's. By the signed terms, if they are still stored, else
/// by the current ones.
pub fn paid(app: &Shared, payment: &Payment) -> Result<String, serde_json::Error> {
    let terms = match serde_json::from_slice(&payment.requirements) {
        Ok(signed) => signed,
        Err(_) => {
            let offer = app.offers.of(&payment.purchase);
            serde_json::from_str(offer.requirements.json())?
        }
    };
    let PaidTo {
        network,
        pay_to,
        asset,
    } = terms;
    members_of(&PaidMembers {
        mode: payment.means.name(),
        network,
        vault_address: pay_to,
        token_address: asset,
        amount_units: payment.amount_units.to_string(),
        amount_usdc: Amount::from_units(payment.amount_units).as_usdc(),
        payer: payment.payer.to_string(),
    })
}

/// The members of an object without its braces.
fn members_of(object: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut json = serde_json::to_string(object)?;
    json.pop();
    json.remove(0);
    Ok(json)
}

/// What the answer repeats of the terms, as they write it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PaidTo<'a> {
    network: Cow<'a, str>,
    pay_to: Cow<'a, str>,
    asset: Cow<'a, str>,
}

#[derive(Serialize)]
struct PaidMembers<'a> {
    mode: &'static str,
    network: Cow<'a, str>,
    vault_address: Cow<'a, str>,
    token_address: Cow<'a, str>,
    amount_units: String,
    amount_usdc: f64,
    payer: String,
}
