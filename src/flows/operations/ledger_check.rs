//! Reconciles a day's ledger with the transfers to the receiving address, and to former ones, in the chain's logs: every settled payment must
//! have arrived. Runs daily, and on the operator's request.

use std::collections::HashMap;
use std::time::Duration;

use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::evm::TransactionHash;
use crate::domain::keys::PaymentKey;
use crate::domain::payment::State;
use crate::domain::refusal::Refusal;
use crate::domain::time::{DAY_SECONDS, UnixSeconds};
use crate::outside::chain::{Chain, ChainError, Income, Span, Written};
use crate::store::{Difference, LedgerCheck, Snapshot, StoreError};
use crate::x402::onchain::paid_in;

const LOOK_EVERY: Duration = Duration::from_secs(600);
/// Time after a day's end for its blocks to become final and its last settlements to be recorded.
const AFTER_SECONDS: u64 = 1800;
/// Past days that are reconciled after a stop.
const DAYS_BACK: usize = 7;
/// Payments that arrived on another day than recorded are looked up one by one: as many as this. Beyond it the transfers of the
/// day before are read first, since an outcome may be learned long after its block.
const LOOKUPS_MAX: usize = 200;
/// As many as may be left then. Further ones count as missing.
const LOOKUPS_ALL_MAX: usize = 10_000;
/// Payments recorded this long before or after a day may have arrived on it.
const NEAR_SECONDS: u64 = 2 * DAY_SECONDS;
const NAMED_MAX: usize = 20;
/// Maximum number of contradictions between facilitator and chain to read.
const DISCREPANCIES_MAX: usize = 10_000;

/// A settled payment in the ledger.
struct Settled {
    key: PaymentKey,
    transaction: String,
    units: u64,
    at: UnixSeconds,
}

/// Periodically checks for days to reconcile.
pub async fn watch(app: Shared) {
    if app.outside.chain.is_none() {
        return;
    }
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        if let Err(refusal) = catch_up(&app).await {
            tracing::warn!(error = %refusal.message, "day not reconciled yet");
        }
    }
}

/// Reconciles all finished days that are still open.
pub async fn catch_up(app: &Shared) -> Result<(), Refusal> {
    let today = UnixSeconds(app.now().0.saturating_sub(AFTER_SECONDS)).day_number();
    let open = app.store.read(move |snapshot| open_days(snapshot, today));
    for day in open.await? {
        check(app, day).await?;
    }
    Ok(())
}

/// The days before `today` with sales that are not reconciled.
fn open_days(snapshot: &Snapshot, today: u64) -> Result<Vec<u64>, StoreError> {
    let mut open = Vec::new();
    for (day, _) in snapshot.ledger(DAYS_BACK + 1)? {
        if day < today && snapshot.ledger_check(day)?.is_none() {
            open.push(day);
        }
    }
    Ok(open)
}

/// Reconciles one day and stores the result.
pub async fn check(app: &Shared, day: u64) -> Result<LedgerCheck, Refusal> {
    let chain = app.outside.chain.as_ref().ok_or_else(|| {
        Refusal::new(
            Code::NetworkUnavailable,
            "Reconciliation needs the chain: set chain.rpc_url.",
        )
    })?;
    let (from, to) = (
        UnixSeconds::of_day(day),
        UnixSeconds::of_day(day.saturating_add(1)),
    );
    let mut incomes = Vec::new();
    // Today's address comes first.
    for (token, pay_to) in app.offers.receivers(from) {
        let span = Span {
            token,
            pay_to,
            from,
            to,
        };
        let income = chain.income(span, app.now()).await.map_err(unavailable)?;
        let income = income.ok_or_else(|| {
            Refusal::new(
                Code::NetworkUnavailable,
                "That day is not final on chain yet.",
            )
        })?;
        incomes.push((span, income));
    }
    let settled = app
        .store
        .read(move |snapshot| settled_near(snapshot, from, to));
    let settled = settled.await?;
    let ledger_check = compare(app, chain, &incomes, &settled).await?;
    let kept = ledger_check.clone();
    app.store
        .write(move |tables| tables.put_ledger_check(day, &kept))
        .await?;
    tell(app, day, &ledger_check);
    Ok(ledger_check)
}

fn unavailable(error: ChainError) -> Refusal {
    Refusal::new(
        Code::NetworkUnavailable,
        format!("The chain did not give a valid response: {error}."),
    )
}

fn tell(app: &Shared, day: u64, ledger_check: &LedgerCheck) {
    app.metrics
        .ledger_check(ledger_check.is_balanced(), ledger_check.missing_units);
    if ledger_check.is_balanced() {
        tracing::info!(
            day,
            payments = ledger_check.ledger_payments,
            "ledger day reconciled: balanced"
        );
    } else {
        tracing::error!(
            day,
            payments = ledger_check.missing_payments,
            units = ledger_check.missing_units,
            "settled payments did not reach the receiving address"
        );
    }
}

fn settled_near(
    snapshot: &Snapshot,
    from: UnixSeconds,
    to: UnixSeconds,
) -> Result<Vec<Settled>, StoreError> {
    let near = from.0.saturating_sub(NEAR_SECONDS)..to.plus(NEAR_SECONDS).0;
    let mut found = Vec::new();
    let others = other_transactions(snapshot)?;
    snapshot.payments(|key, payment| {
        if let State::Settled { transaction, at } = payment.state
            && near.contains(&at)
        {
            found.push(Settled {
                key,
                transaction: others
                    .get(&key)
                    .map_or_else(|| transaction.to_lowercase(), Clone::clone),
                units: payment.amount_units,
                at: UnixSeconds(at),
            });
        }
        Ok(())
    })?;
    Ok(found)
}

/// Payments settled by another transaction than the facilitator reported.
fn other_transactions(snapshot: &Snapshot) -> Result<HashMap<PaymentKey, String>, StoreError> {
    let found = snapshot.discrepancies(DISCREPANCIES_MAX)?.into_iter();
    let others = found.filter_map(|(key, discrepancy)| match discrepancy.difference {
        Difference::OtherTransaction { transaction } => Some((key, transaction.to_lowercase())),
        Difference::NotOnChain { .. } => None,
    });
    Ok(others.collect())
}

async fn compare(
    app: &Shared,
    chain: &Chain,
    incomes: &[(Span, Income)],
    settled: &[Settled],
) -> Result<LedgerCheck, Refusal> {
    // By transaction: facilitators may settle several payments in one.
    let mut received: HashMap<String, u64> = HashMap::new();
    let transfers = || incomes.iter().flat_map(|(_, income)| &income.transfers);
    for (transaction, units) in transfers() {
        let sum = received.entry(transaction.to_string()).or_default();
        *sum = sum.saturating_add(*units);
    }
    let mut owed: HashMap<&str, u64> = HashMap::new();
    for payment in settled {
        let sum = owed.entry(payment.transaction.as_str()).or_default();
        *sum = sum.saturating_add(payment.units);
    }
    let foreign = received.iter().filter_map(|(transaction, units)| {
        let beyond = units.saturating_sub(owed.get(transaction.as_str()).copied().unwrap_or(0));
        (beyond > 0).then_some(beyond)
    });
    let foreign: Vec<u64> = foreign.collect();
    let mut ledger_check = LedgerCheck {
        at: app.now().0,
        received_transfers: transfers().count() as u64,
        received_units: transfers().map(|(_, units)| units).sum(),
        foreign_transfers: foreign.len() as u64,
        foreign_units: foreign.iter().sum(),
        balance_units: incomes.first().map_or(0, |(_, income)| income.balance),
        ..LedgerCheck::default()
    };
    let of_the_day = settled.iter().filter(|payment| {
        let mut spans = incomes.iter().map(|(span, _)| span.from..span.to);
        spans.any(|span| span.contains(&payment.at))
    });
    let of_the_day: Vec<&Settled> = of_the_day.collect();
    let absent = |received: &HashMap<String, u64>| {
        let mut absent: Vec<&str> = of_the_day.iter().map(|one| &*one.transaction).collect();
        absent.retain(|transaction| !received.contains_key(*transaction));
        absent.sort_unstable();
        absent.dedup();
        absent
    };
    if absent(&received).len() > LOOKUPS_MAX {
        for (span, _) in incomes {
            let before = Span {
                from: UnixSeconds(span.from.0.saturating_sub(DAY_SECONDS)),
                to: span.from,
                ..*span
            };
            let income = chain.income(before, app.now()).await;
            for (transaction, units) in income.map_err(unavailable)?.unwrap_or_default().transfers {
                let sum = received.entry(transaction.to_string()).or_default();
                *sum = sum.saturating_add(units);
            }
        }
    }
    for transaction in absent(&received).into_iter().take(LOOKUPS_ALL_MAX) {
        let units = arrived(app, chain, incomes, transaction).await?;
        received.insert(transaction.to_owned(), units);
    }
    for payment in of_the_day {
        ledger_check.ledger_payments += 1;
        ledger_check.ledger_units = ledger_check.ledger_units.saturating_add(payment.units);
        let transaction = payment.transaction.as_str();
        let has_arrived = received.get(transaction) >= owed.get(transaction);
        if !has_arrived {
            ledger_check.missing_payments += 1;
            ledger_check.missing_units = ledger_check.missing_units.saturating_add(payment.units);
            if ledger_check.missing.len() < NAMED_MAX {
                ledger_check.missing.push(payment.key.to_string());
            }
        }
    }
    Ok(ledger_check)
}

/// The transfers of one transaction to the receiving addresses.
async fn arrived(
    app: &Shared,
    chain: &Chain,
    incomes: &[(Span, Income)],
    transaction: &str,
) -> Result<u64, Refusal> {
    let Some(hash) = TransactionHash::parse(transaction) else {
        return Ok(0);
    };
    match chain.written(hash, app.now()).await.map_err(unavailable)? {
        Written::Deep { logs, .. } => Ok(logs
            .iter()
            .filter_map(|log| {
                let mut amounts = incomes
                    .iter()
                    .filter_map(|(span, _)| paid_in(log, span.token, span.pay_to));
                amounts.next()
            })
            .map(|amount| amount.units())
            .sum()),
        Written::Missing | Written::Failed | Written::Shallow { .. } => Ok(0),
    }
}
