//! Daily figures, reconciliation of the ledger with the receiving address, and pause and resume.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::api::failure;
use crate::api::operator::answered;
use crate::app::Shared;
use crate::domain::amount::Amount;
use crate::domain::code::Code;
use crate::domain::level::Product;
use crate::domain::mail::MailState;
use crate::domain::order::{Order, OrderState};
use crate::domain::payment::State;
use crate::domain::refusal::Refusal;
use crate::domain::time::{self, UnixSeconds};
use crate::flows::operations::{ledger_check, pause};
use crate::http::{Call, Reply};
use crate::store::{LedgerCheck, LedgerDay, Snapshot, StoreError};

/// Days in a list.
const DAYS_MAX: usize = 62;

/// The figures of today.
#[derive(Clone, Debug, Default)]
pub struct Today {
    pub ledger: LedgerDay,
    /// Payments by state, only states that may need attention.
    pub open_payments: BTreeMap<&'static str, u64>,
    pub credits: u64,
    pub mails_waiting: u64,
    pub mails_failed: u64,
    pub leads: BTreeMap<&'static str, u64>,
    pub orders: BTreeMap<&'static str, u64>,
    /// Reports that await the operator's approval for the library.
    pub listings_waiting: u64,
    /// The newest reconciled day.
    pub ledger_check: Option<(u64, LedgerCheck)>,
    /// 402 responses and paid requests since start.
    pub funnel: Vec<Funnel>,
    /// The last [`CHARTED_DAYS`] days with today, oldest first.
    pub days: Vec<DayFigures>,
}

/// What a day has brought.
#[derive(Clone, Copy, Debug, Default)]
pub struct DayFigures {
    pub day: u64,
    pub sales: u64,
    /// In USDC units.
    pub revenue: u64,
    /// Paid orders of bundles, and their dollars in cents.
    pub orders: u64,
    pub cents: u64,
}

/// Days that the charts show.
pub const CHARTED_DAYS: usize = 30;

/// 402 responses and paid requests of a product since start.
#[derive(Clone, Copy, Debug)]
pub struct Funnel {
    pub product: &'static str,
    pub challenges: u64,
    pub paid: u64,
}

/// GET /operator/today.
pub async fn today(app: Shared, call: Call) -> Reply {
    let found = look(&app).await.map(|today| today_json(&app, &today));
    answered(&app, &call, found.map_err(Refusal::from))
}

/// GET /operator/ledger: the days with their reconciliation.
pub async fn ledger(app: Shared, call: Call) -> Reply {
    let days = app.store.read(days).await;
    answered(
        &app,
        &call,
        days.map(|days| days_json(&days)).map_err(Refusal::from),
    )
}

/// The newest days as JSON.
pub fn days_json(days: &[CheckedDay]) -> Value {
    let sum = |(payments, units): (u64, u64)| json!({"payments": payments, "usdc": usdc(units)});
    let days = days.iter().map(|day| {
        json!({
            "day": date(day.day),
            "ledger": ledger_json(&day.ledger),
            "contradicted": sum(day.contradicted),
            "overpaid": sum(day.overpaid),
            "ledger_check": day.ledger_check.as_ref().map(check_json),
        })
    });
    json!({"status": "success", "days": days.collect::<Vec<_>>()})
}

/// POST /operator/ledger/{day}/check: reconciles a day now.
pub async fn check(app: Shared, call: Call) -> Reply {
    match check_day(&app, call.param("day").unwrap_or_default()).await {
        Ok(ledger_check) => Reply::json(200, check_json(&ledger_check).to_string()),
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}

/// POST /operator/pause.
pub async fn pause(app: Shared, call: Call) -> Reply {
    set_paused(&app, &call, true).await
}

/// POST /operator/resume.
pub async fn resume(app: Shared, call: Call) -> Reply {
    set_paused(&app, &call, false).await
}

async fn set_paused(app: &Shared, call: &Call, is_paused: bool) -> Reply {
    let since = pause::set(app, is_paused).await;
    let since =
        since.map(|since| json!({"status": "success", "paused_since": since.map(|since| since.0)}));
    answered(app, call, since.map_err(Refusal::from))
}

/// Reconciles a day, written as 2026-11-21.
pub async fn check_day(app: &Shared, text: &str) -> Result<LedgerCheck, Refusal> {
    let day = parse_date(text)
        .ok_or_else(|| Refusal::new(Code::NotFound, "Invalid day: write it as 2026-11-21."))?;
    ledger_check::check(app, day).await
}

/// Today's figures, and what awaits the operator.
pub async fn look(app: &Shared) -> Result<Today, StoreError> {
    let today = app.now().day_number();
    let is_live = app.config.orders.is_live;
    let mut found = app
        .store
        .read(move |snapshot| counted(snapshot, today, is_live))
        .await?;
    found.funnel = funnel(app);
    Ok(found)
}

fn counted(snapshot: &Snapshot, today: u64, is_live: bool) -> Result<Today, StoreError> {
    let mut found = Today {
        ledger_check: snapshot.ledger_checks(1)?.pop(),
        listings_waiting: snapshot.listings_waiting()?,
        ..Today::default()
    };
    let first = today.saturating_sub(CHARTED_DAYS as u64 - 1);
    let empty = |day| DayFigures {
        day,
        ..DayFigures::default()
    };
    let mut days: Vec<DayFigures> = (first..=today).map(empty).collect();
    let of_day = |day: u64| usize::try_from(day.checked_sub(first)?).ok();
    for (day, ledger) in snapshot.ledger(CHARTED_DAYS)? {
        if let Some(entry) = of_day(day).and_then(|at| days.get_mut(at)) {
            (entry.sales, entry.revenue) = (ledger.sales, ledger.revenue);
        }
        if day == today {
            found.ledger = ledger;
        }
    }
    snapshot.payments(|_, payment| {
        if payment.state.is_open() || payment.state == State::Held {
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
        let day = UnixSeconds(order.created_at).day_number();
        if let Some(cents) = earned(&order, is_live)
            && let Some(entry) = of_day(day).and_then(|at| days.get_mut(at))
        {
            entry.orders += 1;
            entry.cents = entry.cents.saturating_add(cents);
        }
        Ok(())
    })?;
    found.days = days;
    Ok(found)
}

/// What an order has brought in cents of a dollar; nothing before it is paid and after a refund. A test payment brings
/// nothing in live mode.
fn earned(order: &Order, is_live: bool) -> Option<u64> {
    let is_paid = !matches!(
        order.state,
        OrderState::AwaitingPayment | OrderState::PaymentFailed | OrderState::Refunded
    );
    order
        .amount_total
        .filter(|_| is_paid && (order.livemode || !is_live))
        .filter(|_| order.currency.eq_ignore_ascii_case("usd"))
}

/// From the metrics, which start with the process.
fn funnel(app: &Shared) -> Vec<Funnel> {
    let of = |product: Product| Funnel {
        product: product.name(),
        challenges: challenges(app, product),
        paid: responses(app, product, 200),
    };
    Product::ALL.map(of).to_vec()
}

/// How often a product's price was told since start.
pub fn challenges(app: &Shared, product: Product) -> u64 {
    responses(app, product, 402)
}

fn responses(app: &Shared, product: Product, wanted: u16) -> u64 {
    let requests = app.metrics.requests();
    let requests = requests.iter().filter(|((pattern, method, status), _)| {
        *pattern == product.path() && *method == "POST" && *status == wanted
    });
    requests.map(|(_, requests)| requests.count).sum()
}

/// A day of the ledger with its reconciliation.
#[derive(Clone, Debug, Default)]
pub struct CheckedDay {
    pub day: u64,
    pub ledger: LedgerDay,
    /// Settlements of that day that the facilitator reported and the chain contradicts: number and units.
    pub contradicted: (u64, u64),
    /// Overpayments by transfers of that day, which are not revenue: number and units.
    pub overpaid: (u64, u64),
    pub ledger_check: Option<LedgerCheck>,
}

/// Rows that the figures of a day read from each table besides the ledger.
const RELATED_ROWS_MAX: usize = 10_000;

/// The newest days with their reconciliation.
pub fn days(snapshot: &Snapshot) -> Result<Vec<CheckedDay>, StoreError> {
    let mut days: BTreeMap<u64, CheckedDay> = BTreeMap::new();
    let new = |day| CheckedDay {
        day,
        ..CheckedDay::default()
    };
    for (day, ledger) in snapshot.ledger(DAYS_MAX)? {
        days.entry(day).or_insert_with(|| new(day)).ledger = ledger;
    }
    for (day, ledger_check) in snapshot.ledger_checks(DAYS_MAX)? {
        days.entry(day).or_insert_with(|| new(day)).ledger_check = Some(ledger_check);
    }
    let add = |sum: &mut (u64, u64), units: u64| {
        *sum = (sum.0 + 1, sum.1.saturating_add(units));
    };
    for (_, discrepancy) in snapshot.discrepancies(RELATED_ROWS_MAX)? {
        let claim = &discrepancy.claim;
        if let Some(day) = days.get_mut(&UnixSeconds(claim.reported_at).day_number())
            && discrepancy.is_missing()
        {
            add(&mut day.contradicted, claim.amount_units);
        }
    }
    for (key, overpayment) in snapshot.overpayments(RELATED_ROWS_MAX)? {
        // Recorded before the sale, which may have been refused.
        let payment = snapshot.payment(key)?;
        if let Some(day) = days.get_mut(&UnixSeconds(overpayment.at).day_number())
            && payment.is_some_and(|payment| matches!(payment.state, State::Settled { .. }))
        {
            add(&mut day.overpaid, overpayment.units);
        }
    }
    Ok(days.into_values().rev().take(DAYS_MAX).collect())
}

/// A day as an ISO date.
pub fn date(day: u64) -> String {
    time::day(UnixSeconds::of_day(day))
}

fn parse_date(text: &str) -> Option<u64> {
    UnixSeconds::of_date(text.parse().ok()?).map(UnixSeconds::day_number)
}

fn usdc(units: u64) -> String {
    Amount::from_units(units).to_string()
}

fn today_json(app: &Shared, today: &Today) -> Value {
    json!({
        "status": "success",
        "day": date(app.now().day_number()),
        "paused_since": app.health.paused_since().map(|since| since.0),
        "ledger": ledger_json(&today.ledger),
        "open_payments": today.open_payments,
        "credits": today.credits,
        "mails": {"waiting": today.mails_waiting, "failed": today.mails_failed},
        "leads": today.leads,
        "orders": today.orders,
        "listings_awaiting_approval": today.listings_waiting,
        "since_start": today.funnel.iter().map(|line| json!({
            "product": line.product, "challenges": line.challenges, "paid": line.paid,
        })).collect::<Vec<_>>(),
        "last_check": today.ledger_check.as_ref()
            .map(|(day, ledger_check)| json!({"day": date(*day), "ledger_check": check_json(ledger_check)})),
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

pub fn check_json(ledger_check: &LedgerCheck) -> Value {
    json!({
        "status": if ledger_check.is_balanced() { "balanced" } else { "missing" },
        "at": ledger_check.at,
        "ledger": {"payments": ledger_check.ledger_payments, "usdc": usdc(ledger_check.ledger_units)},
        "vault": {"transfers": ledger_check.received_transfers, "usdc": usdc(ledger_check.received_units)},
        "missing": {"payments": ledger_check.missing_payments, "usdc": usdc(ledger_check.missing_units), "keys": ledger_check.missing},
        "foreign": {"transfers": ledger_check.foreign_transfers, "usdc": usdc(ledger_check.foreign_units)},
        "balance_units": ledger_check.balance_units.to_string(),
    })
}
