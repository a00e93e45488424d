//! The day's figures for the operator, the ledger held against the vault, and the brake.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::api::failure;
use crate::api::operator::answered;
use crate::app::Shared;
use crate::domain::amount::Amount;
use crate::domain::level::Product;
use crate::domain::mail::MailState;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::UnixSeconds;
use crate::flows::{pause, reckoning};
use crate::http::{Call, Reply};
use crate::store::{LedgerDay, Reckoning, Snapshot, StoreError, day};

/// Days that a list shows.
const DAYS_MAX: usize = 62;

/// What a look at today finds.
#[derive(Clone, Debug, Default)]
pub struct Today {
    pub ledger: LedgerDay,
    /// Payments by state, those that somebody may have to see to.
    pub open_payments: BTreeMap<&'static str, u64>,
    pub credits: u64,
    pub mails_waiting: u64,
    pub mails_failed: u64,
    pub leads: BTreeMap<&'static str, u64>,
    pub orders: BTreeMap<&'static str, u64>,
    /// The newest day that was held against the vault.
    pub reckoning: Option<(u64, Reckoning)>,
    /// Asked for a price and paid, since the process began.
    pub funnel: Vec<Funnel>,
}

/// How many who asked for a price have paid, since the process began.
#[derive(Clone, Copy, Debug)]
pub struct Funnel {
    pub product: &'static str,
    pub challenges: u64,
    pub paid: u64,
}

/// GET /operator/today.
pub async fn today(app: Shared, call: Call) -> Reply {
    let found = look(&app).await.map(|today| today_json(&app, &today));
    answered(&app, &call, found)
}

/// GET /operator/ledger: each day's book, and how it compares with the vault.
pub async fn ledger(app: Shared, call: Call) -> Reply {
    let days = app.store.read(days).await;
    answered(&app, &call, days.map(|days| days_json(&days)))
}

/// The newest days as an answer tells them.
pub fn days_json(days: &[(u64, LedgerDay, Option<Reckoning>)]) -> Value {
    let days = days.iter().map(|(day, ledger, reckoning)| {
        json!({"day": date(*day), "ledger": ledger_json(ledger), "reckoning": reckoning.as_ref().map(reckoning_json)})
    });
    json!({"status": "success", "days": days.collect::<Vec<_>>()})
}

/// POST /operator/ledger/{day}/reckon: holds a day against the vault, now.
pub async fn reckon(app: Shared, call: Call) -> Reply {
    match reckon_day(&app, call.param("day").unwrap_or_default()).await {
        Ok(reckoning) => Reply::json(200, reckoning_json(&reckoning).to_string()),
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}

/// POST /operator/pause.
pub async fn pause(app: Shared, call: Call) -> Reply {
    brake(&app, &call, true).await
}

/// POST /operator/resume.
pub async fn resume(app: Shared, call: Call) -> Reply {
    brake(&app, &call, false).await
}

async fn brake(app: &Shared, call: &Call, is_paused: bool) -> Reply {
    let since = pause::set(app, is_paused).await;
    let since =
        since.map(|since| json!({"status": "success", "paused_since": since.map(|since| since.0)}));
    answered(app, call, since)
}

/// Holds a day, written as 2026-11-21, against the vault.
pub async fn reckon_day(app: &Shared, text: &str) -> Result<Reckoning, Refusal> {
    let day = parse_date(text).ok_or_else(|| {
        Refusal::new(
            Code::NotFound,
            "There is no such day: write it as 2026-11-21.",
        )
    })?;
    reckoning::reckon(app, day).await
}

/// What today has brought, and what waits for somebody.
pub async fn look(app: &Shared) -> Result<Today, StoreError> {
    let today = day(app.now());
    let mut found = app
        .store
        .read(move |snapshot| counted(snapshot, today))
        .await?;
    found.funnel = funnel(app);
    Ok(found)
}

fn counted(snapshot: &Snapshot, today: u64) -> Result<Today, StoreError> {
    let mut found = Today {
        reckoning: snapshot.reckonings(1)?.pop(),
        ..Today::default()
    };
    for (day, ledger) in snapshot.ledger(1)? {
        if day == today {
            found.ledger = ledger;
        }
    }
    snapshot.payments(|_, payment| {
        if payment.state.is_open() || payment.state.name() == "held" {
            *found.open_payments.entry(payment.state.name()).or_default() += 1;
        }
        found.credits += u64::from(payment.credit.is_some());
        Ok(())
    })?;
    snapshot.mails(|_, record| {
        match record.state {
            MailState::Waiting { .. } => found.mails_waiting += 1,
            MailState::Failed => found.mails_failed += 1,
            MailState::Sent => {}
        }
        Ok(())
    })?;
    snapshot.leads(&Default::default(), |_, lead| {
        *found.leads.entry(lead.status.name()).or_default() += 1;
        Ok(())
    })?;
    snapshot.orders(|_, order| {
        *found.orders.entry(order.state.name()).or_default() += 1;
        Ok(())
    })?;
    Ok(found)
}

/// As far as the metrics know: they begin with the process.
fn funnel(app: &Shared) -> Vec<Funnel> {
    let figures = app.metrics.snapshot();
    let of = |product: Product| {
        let answered = |wanted: u16| {
            let requests = figures
                .requests
                .iter()
                .filter(|((pattern, method, status), _)| {
                    *pattern == product.path() && *method == "POST" && *status == wanted
                });
            requests.map(|(_, requests)| requests.count).sum()
        };
        Funnel {
            product: product.name(),
            challenges: answered(402),
            paid: answered(200),
        }
    };
    [Product::Context, Product::ProofPack].map(of).to_vec()
}

/// The newest days with their reckonings.
pub fn days(snapshot: &Snapshot) -> Result<Vec<(u64, LedgerDay, Option<Reckoning>)>, StoreError> {
    let mut reckonings: BTreeMap<u64, Reckoning> =
        snapshot.reckonings(DAYS_MAX)?.into_iter().collect();
    let mut days: BTreeMap<u64, (LedgerDay, Option<Reckoning>)> = BTreeMap::new();
    for (day, ledger) in snapshot.ledger(DAYS_MAX)? {
        days.insert(day, (ledger, reckonings.remove(&day)));
    }
    for (day, reckoning) in reckonings {
        days.insert(day, (LedgerDay::default(), Some(reckoning)));
    }
    let days = days.into_iter().rev().take(DAYS_MAX);
    Ok(days
        .map(|(day, (ledger, reckoning))| (day, ledger, reckoning))
        .collect())
}

/// A day as people write it.
pub fn date(day: u64) -> String {
    let at = i64::try_from(day.saturating_mul(86_400)).unwrap_or(i64::MAX);
    jiff::Timestamp::from_second(at).map_or_else(
        |_| day.to_string(),
        |at| at.strftime("%Y-%m-%d").to_string(),
    )
}

fn parse_date(text: &str) -> Option<u64> {
    let date: jiff::civil::Date = text.parse().ok()?;
    let start = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    let seconds = u64::try_from(start.timestamp().as_second()).ok()?;
    Some(day(UnixSeconds(seconds)))
}

fn usdc(units: u64) -> String {
    Amount::from_units(units).to_string()
}

fn today_json(app: &Shared, today: &Today) -> Value {
    json!({
        "status": "success",
        "day": date(day(app.now())),
        "paused_since": app.health.paused_since().map(|since| since.0),
        "ledger": ledger_json(&today.ledger),
        "open_payments": today.open_payments,
        "credits": today.credits,
        "mails": {"waiting": today.mails_waiting, "failed": today.mails_failed},
        "leads": today.leads,
        "orders": today.orders,
        "since_start": today.funnel.iter().map(|line| json!({
            "product": line.product, "challenges": line.challenges, "paid": line.paid,
        })).collect::<Vec<_>>(),
        "last_reckoning": today.reckoning.as_ref()
            .map(|(day, reckoning)| json!({"day": date(*day), "reckoning": reckoning_json(reckoning)})),
    })
}

pub fn ledger_json(ledger: &LedgerDay) -> Value {
    let lines = |lines: &[(String, u64, u64)]| -> Vec<Value> {
        let line = |(name, sales, units): &(String, u64, u64)| json!({"name": name, "sales": sales, "usdc": usdc(*units)});
        lines.iter().map(line).collect()
    };
    json!({
        "sales": ledger.sales,
        "revenue_usdc": usdc(ledger.revenue),
        "gas_usdc": usdc(ledger.gas),
        "facilitator_fee_usdc": usdc(ledger.facilitator_fee),
        "supplier_usdc": usdc(ledger.supplier),
        "profit_usdc": usdc(ledger.profit),
        "levels": lines(&ledger.levels),
        "sources": lines(&ledger.sources),
    })
}

pub fn reckoning_json(reckoning: &Reckoning) -> Value {
    json!({
        "status": if reckoning.is_balanced() { "balanced" } else { "missing" },
        "at": reckoning.at,
        "ledger": {"payments": reckoning.ledger_payments, "usdc": usdc(reckoning.ledger_units)},
        "vault": {"transfers": reckoning.vault_transfers, "usdc": usdc(reckoning.vault_units)},
        "missing": {"payments": reckoning.missing_payments, "usdc": usdc(reckoning.missing_units), "keys": reckoning.missing},
        "foreign": {"transfers": reckoning.foreign_transfers, "usdc": usdc(reckoning.foreign_units)},
        "balance_units": reckoning.balance_units.to_string(),
    })
}
