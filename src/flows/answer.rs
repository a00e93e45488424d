//! The JSON of a context answer (specification 2.7, bodies). It is put together from three runs of members: the
//! buyer's own, the page's (shared with the cache), and the payment, which is known last.

use serde::Serialize;
use serde_json::json;

use crate::app::Shared;
use crate::domain::amount::Amount;
use crate::domain::margin::GasPrice;
use crate::domain::payment::{KeptAnswer, Means, Payment};
use crate::domain::purchase::ContextPurchase;
use crate::domain::tier::CachePolicy;
use crate::domain::time::{PAGE_SECONDS, UnixSeconds};
use crate::flows::deliver::CacheFacts;
use crate::flows::guardian::Judged;
use crate::store::page_key;

/// What is this buyer's own in an answer.
#[derive(Clone, Copy, Debug)]
pub struct Own<'a> {
    pub purchase: &'a ContextPurchase,
    pub cache: &'a CacheFacts,
    pub margin: &'a Judged,
    pub now: UnixSeconds,
    pub request_id: &'a str,
}

#[derive(Serialize)]
struct OwnMembers<'a> {
    status: &'static str,
    target_url: &'a str,
    tier: &'a str,
    cache: CacheMembers,
    ueg_receipt: MarginMembers,
    /// A delivered answer owes nothing.
    retry_credit: Option<()>,
    request_id: &'a str,
}

#[derive(Serialize)]
struct CacheMembers {
    hit: bool,
    policy: &'static str,
    age_seconds: u64,
    ttl_seconds: u64,
    stored_at: u64,
    expires_at: u64,
    /// The start of the hash under which the page is kept.
    key: String,
    revalidated: bool,
    changed_since_last: Option<bool>,
}

#[derive(Serialize)]
struct MarginMembers {
    revenue_usdc: f64,
    gas_cost_usdc: f64,
    supplier_cost_usdc: f64,
    facilitator_fee_usdc: f64,
    total_cost_usdc: f64,
    projected_profit_usdc: f64,
    projected_margin: f64,
    /// The minimum profit as a share of the price.
    min_margin: f64,
    min_profit_usdc: f64,
    /// Known where the chain is asked.
    gas_price_gwei: Option<f64>,
    decision: &'static str,
    evaluated_at: u64,
}

/// The buyer's own members, without braces.
pub fn own(own: &Own<'_>) -> Result<String, serde_json::Error> {
    let stored_at = own.cache.stored_at;
    let members = serde_json::to_string(&OwnMembers {
        status: "success",
        target_url: &own.purchase.target_url,
        tier: &own.purchase.tier,
        cache: CacheMembers {
            hit: own.cache.hit,
            policy: own.purchase.tier().policy(),
            age_seconds: own.now.since(stored_at),
            ttl_seconds: match own.purchase.tier().cache() {
                CachePolicy::CacheOnly { .. } => PAGE_SECONDS,
                CachePolicy::UpTo { age_seconds } => age_seconds,
                CachePolicy::Bypass => 0,
            },
            stored_at: stored_at.0,
            expires_at: stored_at.plus(PAGE_SECONDS).0,
            key: cache_key(&own.purchase.target_url),
            revalidated: own.cache.revalidated,
            changed_since_last: own.cache.changed_since_last,
        },
        ueg_receipt: margin(own.margin),
        retry_credit: None,
        request_id: own.request_id,
    })?;
    Ok(members[1..members.len() - 1].to_owned())
}

fn cache_key(target_url: &str) -> String {
    hex::encode(&page_key(target_url)[..8])
}

fn margin(judged: &Judged) -> MarginMembers {
    let receipt = &judged.receipt;
    let usdc = |units: u64| Amount::from_units(units).as_usdc();
    let total = receipt.revenue - receipt.profit;
    MarginMembers {
        revenue_usdc: usdc(receipt.revenue),
        gas_cost_usdc: usdc(receipt.gas),
        supplier_cost_usdc: usdc(receipt.supplier),
        facilitator_fee_usdc: usdc(receipt.facilitator_fee),
        total_cost_usdc: usdc(total),
        projected_profit_usdc: usdc(receipt.profit),
        projected_margin: usdc(receipt.profit) / usdc(receipt.revenue),
        min_margin: usdc(receipt.minimum_profit) / usdc(receipt.revenue),
        min_profit_usdc: usdc(receipt.minimum_profit),
        gas_price_gwei: judged.gas_price.as_ref().map(GasPrice::gwei),
        decision: "accept",
        evaluated_at: receipt.evaluated_at,
    }
}

/// The whole answer. Everything in it is fixed once the payment is settled.
pub fn whole(
    app: &Shared,
    payment: &Payment,
    kept: &KeptAnswer,
    members: &[u8],
    transaction: &str,
    payer: &str,
) -> Result<Vec<u8>, serde_json::Error> {
    let terms = &app.config.payment;
    let paid = serde_json::to_string(&json!({
        "mode": match payment.means() {
            Means::Authorization => "x402",
            Means::Transfer => "transaction_hash",
        },
        "network": terms.network,
        "vault_address": terms.pay_to,
        "token_address": terms.asset,
        "amount_units": payment.amount_units.to_string(),
        "amount_usdc": Amount::from_units(payment.amount_units).as_usdc(),
        "payer": payer,
        "transaction": transaction,
        "settled": true,
    }))?;
    let mut body = Vec::with_capacity(kept.own.len() + members.len() + paid.len() + 16);
    body.push(b'{');
    body.extend_from_slice(kept.own.as_bytes());
    body.push(b',');
    body.extend_from_slice(members);
    body.extend_from_slice(b",\"payment\":");
    body.extend_from_slice(paid.as_bytes());
    body.push(b'}');
    Ok(body)
}
