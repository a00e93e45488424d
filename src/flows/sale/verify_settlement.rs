//! Verifies the facilitator's reported settlements on chain. Each is listed in the transaction that records it, looked up in
//! batches soon after, and removed once the chain confirms it. Contradictions stay on record and show in /health, metrics,
//! ledger and log. Sales continue: pausing is the operator's decision, because a node can be wrong.

use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::app::Shared;
use crate::config::VerifySettlement;
use crate::domain::closed_set::closed_set;
use crate::domain::evm::{Network, TransactionHash};
use crate::domain::keys::PaymentKey;
use crate::domain::payment::{Event, Payment, State};
use crate::domain::time::UnixSeconds;
use crate::outside::chain::{
    Absence, CLAIMS_MAX, Chain, ChainError, ChainFinding, Claimed, Inquiry,
};
use crate::state::settlement_checks::Waiting;
use crate::store::{
    Difference, Discrepancy, SettlementClaim, SettlementSummary, StoreError, Tables,
    UnverifiedSettlement,
};
use crate::sync::lock;
use crate::x402::onchain::ExpectedPayment;
use crate::x402::wire::PaymentRequirements;

/// How often reported settlements are looked up.
const SWEEP_EVERY: Duration = Duration::from_secs(10);
/// How often while buyers wait.
const WAITING_SWEEP_EVERY: Duration = Duration::from_secs(2);
/// Delay of the first lookup, so that the block has enough confirmations.
const FIRST_LOOK_SECONDS: u64 = 10;
/// Later lookups follow at half its age, within these bounds.
const LOOK_SECONDS_MIN: u64 = 5;
const LOOK_SECONDS_MAX: u64 = 600;
/// Settlements of one lookup were reported within this time: a backlog is searched in pieces.
const GROUP_SECONDS: u64 = 3600;
/// Lookups per pass over a backlog.
const LOOKS_MAX: usize = 4;
/// Contradictions are checked again after this time: a block may be late.
const RECHECK_SECONDS: u64 = 600;
/// Contradictions per pass.
const RECHECKS_MAX: usize = 50;
/// How long a contradiction degrades /health and is checked again.
pub const LATELY_SECONDS: u64 = 24 * 3600;
/// A settlement unconfirmed for this long degrades /health.
pub const BEHIND_SECONDS: u64 = 300;
/// Rows per table for the summary.
const SUMMARY_ROWS_MAX: usize = 10_000;
/// The wait for the chain ends this long before the buyer's: a buyer that is asked to retry must not be refused because
/// the payment is still in progress.
const BEFORE_BUYER: Duration = Duration::from_millis(500);
/// The minimum wait for the chain, even if the facilitator used up the buyer's time.
const WAIT_MIN: Duration = Duration::from_secs(2);
/// Sales that may wait for the chain concurrently. Further ones count as unknown.
const WAITING_MAX: usize = 4096;

closed_set! {
    /// How reported settlements compare with the chain.
    pub enum Comparison {
        NotConfigured = "not_configured",
        Good = "ok",
        Behind = "behind",
        Contradicted = "contradicted",
    }
}

/// The status of reported settlements, for /health.
#[derive(Clone, Debug)]
pub struct SettlementStatus {
    pub status: Comparison,
    pub summary: SettlementSummary,
    /// Why the last lookup failed.
    pub trouble: Option<String>,
    pub checked_at: Option<UnixSeconds>,
}

impl SettlementStatus {
    pub fn is_good(&self) -> bool {
        matches!(self.status, Comparison::NotConfigured | Comparison::Good)
    }
}

/// The chain for verification; `None` if it is off.
fn chain(app: &Shared) -> Option<&Chain> {
    match app.config.payment.verify_settlement {
        VerifySettlement::Off => None,
        VerifySettlement::Background | VerifySettlement::BeforeDelivery => {
            app.outside.chain.as_ref()
        }
    }
}

/// The network for verification; `None` if it is off.
pub fn network(app: &Shared) -> Option<Network> {
    chain(app).map(Chain::network)
}

/// Lists a reported settlement, inside the write job that records it.
pub fn enter(
    tables: &mut Tables<'_>,
    key: PaymentKey,
    payment: &Payment,
    event: &Event,
    network: Option<Network>,
) -> Result<(), StoreError> {
    let (Some(network), Event::SettleSucceeded { .. }, State::Settled { transaction, at }) =
        (network, event, &payment.state)
    else {
        return Ok(());
    };
    match claim(payment, transaction, UnixSeconds(*at)) {
        Some(claim) if network == Network(claim.network) => {
            tables.put_unverified(&UnverifiedSettlement {
                next_look: claim.reported_at.saturating_add(FIRST_LOOK_SECONDS),
                key,
                claim,
            })
        }
        _ => Ok(()),
    }
}

/// The lookup for a payment, by the signed terms.
fn claim(
    payment: &Payment,
    transaction: &str,
    reported_at: UnixSeconds,
) -> Option<SettlementClaim> {
    let terms: PaymentRequirements = serde_json::from_slice(&payment.requirements)
        .inspect_err(|error| {
            tracing::error!(%error, "settlement cannot be verified: its terms are unreadable");
        })
        .ok()?;
    Some(SettlementClaim {
        network: terms.network.0,
        token: terms.asset,
        pay_to: terms.pay_to,
        payer: payment.payer,
        nonce: payment.nonce,
        amount_units: terms.amount.units(),
        valid_before: payment.valid_before().0,
        since: payment.created_at,
        transaction: transaction.to_owned(),
        reported_at: reported_at.0,
    })
}

fn claimed(claim: &SettlementClaim) -> Claimed {
    Claimed {
        inquiry: Inquiry {
            asked: ExpectedPayment {
                network: Network(claim.network),
                token: claim.token,
                from: claim.payer,
                nonce: claim.nonce,
                pay_to: claim.pay_to,
                amount: crate::domain::amount::Amount::from_units(claim.amount_units),
            },
            since: UnixSeconds(claim.since),
            valid_before: UnixSeconds(claim.valid_before),
        },
        // An unreadable one is treated as missing.
        transaction: TransactionHash::parse(&claim.transaction).unwrap_or(TransactionHash([0; 32])),
        reported_at: UnixSeconds(claim.reported_at),
    }
}

/// Why a verdict contradicts the facilitator, as a code for operators; `None` if it does not.
fn contradiction(verdict: ChainFinding) -> Option<&'static str> {
    match verdict {
        ChainFinding::Absent(Absence::NoTransaction) => Some("transaction_not_found"),
        ChainFinding::Absent(Absence::TransactionFailed) => Some("transaction_failed"),
        ChainFinding::Absent(Absence::OtherTransaction) => Some("transaction_of_something_else"),
        ChainFinding::Canceled => Some("authorization_canceled"),
        ChainFinding::Elsewhere => Some("authorization_used_elsewhere"),
        ChainFinding::Paid { .. } | ChainFinding::Shallow | ChainFinding::Open => None,
    }
}

// --- In the background

/// Verifies reported settlements periodically.
pub async fn watch(app: Shared) {
    if chain(&app).is_none() {
        return;
    }
    loop {
        if let Err(error) = sweep(&app).await {
            tracing::error!(error = %error, "settlement verification failed");
        }
        tokio::time::sleep(SWEEP_EVERY).await;
    }
}

/// One pass over the due settlements.
pub async fn sweep(app: &Shared) -> Result<(), StoreError> {
    let Some(chain) = chain(app) else {
        return Ok(());
    };
    for _ in 0..LOOKS_MAX {
        let now = app.now();
        let rows = app
            .store
            .read(move |snapshot| snapshot.unverified(now, CLAIMS_MAX))
            .await?;
        let is_full = rows.len() >= CLAIMS_MAX;
        let rows = one_group(rows);
        if rows.is_empty() {
            break;
        }
        let claims = rows.iter().map(|row| claimed(&row.claim)).collect();
        let Some(verdicts) = ask(app, chain, claims).await else {
            break;
        };
        app.store
            .write(move |tables| {
                rows.into_iter()
                    .zip(verdicts)
                    .try_for_each(|(row, verdict)| settle_row(tables, row, verdict, now))
            })
            .await?;
        if !is_full {
            break;
        }
    }
    recheck(app, chain).await?;
    refresh(app).await
}

/// Settlements reported within an hour of the first.
fn one_group(mut rows: Vec<UnverifiedSettlement>) -> Vec<UnverifiedSettlement> {
    let first = rows.iter().map(|row| row.claim.reported_at).min();
    let until = first.unwrap_or(0).saturating_add(GROUP_SECONDS);
    rows.retain(|row| row.claim.reported_at <= until);
    rows
}

/// The chain's verdicts; `None` on failure, which is recorded.
async fn ask(app: &Shared, chain: &Chain, claims: Vec<Claimed>) -> Option<Vec<ChainFinding>> {
    let asked = chain.settlements(claims, app.now()).await;
    let mut found = lock(&app.settlement_checks.found);
    found.checked_at = Some(app.now());
    let was_in_trouble = found.trouble.is_some();
    found.trouble = asked.as_ref().err().map(ChainError::to_string);
    drop(found);
    match asked {
        Ok(verdicts) => {
            for verdict in &verdicts {
                app.metrics.settlement_checks.count([match verdict {
                    ChainFinding::Paid { .. } => "verified",
                    ChainFinding::Shallow | ChainFinding::Open => "undecided",
                    ChainFinding::Absent(_) | ChainFinding::Canceled | ChainFinding::Elsewhere => {
                        "contradicted"
                    }
                }]);
            }
            Some(verdicts)
        }
        Err(error) => {
            app.metrics.settlement_checks.count(["failed"]);
            if !was_in_trouble {
                tracing::warn!(error = %error, "chain unavailable for settlement verification");
            }
            None
        }
    }
}

/// Applies the verdict on one settlement.
fn settle_row(
    tables: &mut Tables<'_>,
    row: UnverifiedSettlement,
    verdict: ChainFinding,
    now: UnixSeconds,
) -> Result<(), StoreError> {
    tables.drop_unverified(&row)?;
    if matches!(verdict, ChainFinding::Shallow | ChainFinding::Open) {
        let age = now.since(UnixSeconds(row.claim.reported_at));
        let pause = (age / 2).clamp(LOOK_SECONDS_MIN, LOOK_SECONDS_MAX);
        return tables.put_unverified(&UnverifiedSettlement {
            next_look: now.plus(pause).0,
            ..row
        });
    }
    conclude(tables, row.key, row.claim, verdict, now)
}

/// Records or clears a contradiction.
fn conclude(
    tables: &mut Tables<'_>,
    key: PaymentKey,
    claim: SettlementClaim,
    verdict: ChainFinding,
    now: UnixSeconds,
) -> Result<(), StoreError> {
    let known = tables.discrepancy(key)?;
    let difference = match verdict {
        ChainFinding::Paid { transaction } if transaction == claimed(&claim).transaction => {
            if known.is_some() {
                tracing::info!(payment = %key, "settlement confirmed late on chain");
                tables.drop_discrepancy(key)?;
            }
            return Ok(());
        }
        ChainFinding::Paid { transaction } => Difference::OtherTransaction {
            transaction: transaction.to_string(),
        },
        ChainFinding::Shallow | ChainFinding::Open => return Ok(()),
        other => Difference::NotOnChain {
            reason: contradiction(other).unwrap_or("unknown").to_owned(),
        },
    };
    let is_new = known
        .as_ref()
        .is_none_or(|known| known.difference != difference);
    if is_new {
        tell(key, &claim, &difference);
    }
    let found_at = known.map_or(now.0, |known| known.found_at);
    tables.put_discrepancy(
        key,
        &Discrepancy {
            claim,
            difference,
            found_at,
            looked_at: now.0,
        },
    )
}

fn tell(key: PaymentKey, claim: &SettlementClaim, difference: &Difference) {
    let payment = key.to_string();
    match difference {
        Difference::NotOnChain { reason } => tracing::error!(
            payment,
            reason,
            transaction = claim.transaction,
            units = claim.amount_units,
            "reported settlement contradicted by the chain"
        ),
        Difference::OtherTransaction { transaction } => tracing::warn!(
            payment,
            reported = claim.transaction,
            transaction,
            "payment settled by another transaction than reported"
        ),
    }
}

/// Checks contradictions of the last day again: the money may be late.
async fn recheck(app: &Shared, chain: &Chain) -> Result<(), StoreError> {
    let now = app.now();
    {
        let mut found = lock(&app.settlement_checks.found);
        let is_due = now.since(found.rechecked_at) >= LOOK_SECONDS_MAX / 10;
        if found.summary.missing_lately == 0 || !is_due {
            return Ok(());
        }
        found.rechecked_at = now;
    }
    let rows = app.store.read(move |snapshot| {
        let mut rows = snapshot.discrepancies(SUMMARY_ROWS_MAX)?;
        rows.retain(|(_, discrepancy)| {
            discrepancy.is_missing()
                && now.since(UnixSeconds(discrepancy.found_at)) < LATELY_SECONDS
                && now.since(UnixSeconds(discrepancy.looked_at)) >= RECHECK_SECONDS
        });
        rows.truncate(RECHECKS_MAX);
        Ok(rows)
    });
    for (key, discrepancy) in rows.await? {
        let Some(verdicts) = ask(app, chain, vec![claimed(&discrepancy.claim)]).await else {
            return Ok(());
        };
        let verdict = verdicts.first().copied().unwrap_or(ChainFinding::Open);
        app.store
            .write(move |tables| {
                if matches!(verdict, ChainFinding::Shallow | ChainFinding::Open) {
                    let looked_at = now.0;
                    return tables.put_discrepancy(
                        key,
                        &Discrepancy {
                            looked_at,
                            ..discrepancy
                        },
                    );
                }
                conclude(tables, key, discrepancy.claim, verdict, now)
            })
            .await?;
    }
    Ok(())
}

/// Reads the status of reported settlements, at start and after each pass.
pub async fn refresh(app: &Shared) -> Result<(), StoreError> {
    let lately = UnixSeconds(app.now().0.saturating_sub(LATELY_SECONDS));
    let summary = app
        .store
        .read(move |snapshot| snapshot.settlement_summary(lately, SUMMARY_ROWS_MAX))
        .await?;
    lock(&app.settlement_checks.found).summary = summary;
    Ok(())
}

/// The status of reported settlements.
pub fn status(app: &Shared) -> SettlementStatus {
    let found = lock(&app.settlement_checks.found);
    let summary = found.summary;
    let age = |reported_at| app.now().since(UnixSeconds(reported_at));
    let status = match () {
        () if chain(app).is_none() => Comparison::NotConfigured,
        () if summary.missing_lately > 0 => Comparison::Contradicted,
        () if summary
            .oldest_reported_at
            .is_some_and(|at| age(at) > BEHIND_SECONDS) =>
        {
            Comparison::Behind
        }
        () => Comparison::Good,
    };
    SettlementStatus {
        status,
        summary,
        trouble: found.trouble.clone(),
        checked_at: found.checked_at,
    }
}

// --- Before the delivery

/// Whether delivery waits for the chain's confirmation.
pub fn is_before_delivery(app: &Shared) -> bool {
    app.config.payment.verify_settlement == VerifySettlement::BeforeDelivery && chain(app).is_some()
}

/// Waits for the chain to confirm a reported settlement, up to the buyer's deadline. Without confirmation the outcome is
/// unknown, as if the facilitator had not responded.
pub async fn before_delivery(
    app: &Shared,
    key: PaymentKey,
    transaction: String,
    buyer_leaves: Instant,
) -> Event {
    let end = (Instant::now() + WAIT_MIN).max(buyer_leaves - BEFORE_BUYER);
    let stored = app.store.read(move |snapshot| snapshot.payment(key)).await;
    let stored = stored.ok().flatten();
    let claim = stored.and_then(|payment| claim(&payment, &transaction, app.now()));
    let Some(claim) = claim.filter(|claim| network(app) == Some(Network(claim.network))) else {
        return Event::SettleUnknown;
    };
    let Some(verdict) = wait(app, key, claim) else {
        tracing::warn!("too many sales wait for the chain; settlement counts as unknown");
        return Event::SettleUnknown;
    };
    let verdict = tokio::time::timeout_at(end, verdict).await;
    lock(&app.settlement_checks.waiting).remove(&key);
    match verdict {
        Ok(Ok(ChainFinding::Paid { transaction })) => Event::ChainUsed {
            transaction: transaction.to_string(),
        },
        Ok(Ok(ChainFinding::Canceled)) => Event::ChainCanceled,
        Ok(Ok(ChainFinding::Elsewhere)) => Event::ChainUsedElsewhere,
        Ok(Ok(ChainFinding::Absent(_) | ChainFinding::Shallow | ChainFinding::Open))
        | Ok(Err(_))
        | Err(_) => {
            tracing::warn!(
                payment = %key,
                "chain did not confirm a reported settlement in time; it counts as unknown"
            );
            Event::SettleUnknown
        }
    }
}

fn wait(
    app: &Shared,
    key: PaymentKey,
    claim: SettlementClaim,
) -> Option<oneshot::Receiver<ChainFinding>> {
    let (tell, receiver) = oneshot::channel();
    let mut waiting = lock(&app.settlement_checks.waiting);
    if waiting.len() >= WAITING_MAX {
        return None;
    }
    waiting.insert(key, Waiting { claim, tell });
    drop(waiting);
    app.settlement_checks.woken.notify_one();
    Some(receiver)
}

/// Verifies the settlements that buyers wait for, periodically.
pub async fn watch_waiting(app: Shared) {
    if !is_before_delivery(&app) {
        return;
    }
    loop {
        app.settlement_checks.woken.notified().await;
        while !lock(&app.settlement_checks.waiting).is_empty() {
            if let Err(error) = sweep_waiting(&app).await {
                tracing::error!(error = %error, "chain verdict on a settlement could not be recorded");
            }
            tokio::time::sleep(WAITING_SWEEP_EVERY).await;
        }
    }
}

/// One lookup for all waiting buyers.
async fn sweep_waiting(app: &Shared) -> Result<(), StoreError> {
    let Some(chain) = chain(app) else {
        return Ok(());
    };
    let mut claims: Vec<(PaymentKey, SettlementClaim)> = lock(&app.settlement_checks.waiting)
        .iter()
        .map(|(key, waiting)| (*key, waiting.claim.clone()))
        .collect();
    claims.sort_by_key(|(_, claim)| claim.reported_at);
    claims.truncate(CLAIMS_MAX);
    let asked = claims.iter().map(|(_, claim)| claimed(claim)).collect();
    let Some(verdicts) = ask(app, chain, asked).await else {
        return Ok(());
    };
    let now = app.now();
    let decided: Vec<_> = claims
        .into_iter()
        .zip(verdicts)
        .filter(|(_, verdict)| !matches!(verdict, ChainFinding::Shallow | ChainFinding::Open))
        .collect();
    for ((key, _), verdict) in &decided {
        // An absent one may still appear: its buyer keeps waiting.
        if !matches!(verdict, ChainFinding::Absent(_))
            && let Some(waiting) = lock(&app.settlement_checks.waiting).remove(key)
        {
            let _ = waiting.tell.send(*verdict);
        }
    }
    // The sale is recorded with a transaction that replaced the reported one.
    let contradicted: Vec<_> = decided
        .into_iter()
        .filter(|(_, verdict)| contradiction(*verdict).is_some())
        .collect();
    if contradicted.is_empty() {
        return Ok(());
    }
    app.store
        .write(move |tables| {
            contradicted
                .into_iter()
                .try_for_each(|((key, claim), verdict)| conclude(tables, key, claim, verdict, now))
        })
        .await?;
    refresh(app).await
}
