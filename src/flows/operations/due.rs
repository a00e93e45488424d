//! The loop over due rows: reconciles payments, expires credits, deletes answers, pages, blobs and quotes. A pass takes a
//! bounded number of rows of every kind, and those of one kind in one transaction: neither sales nor e-mails wait for a
//! backlog of another kind.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use crate::app::Shared;
use crate::domain::keys::PaymentKey;
use crate::domain::payment::{Event, Payment, State};
use crate::domain::refusal::With;
use crate::domain::time::{UNKNOWN_LOOK_SECONDS_MAX, UnixSeconds};
use crate::flows::operations::mail;
use crate::flows::orders::{fulfil, lead_webhook};
use crate::flows::quotes::offers;
use crate::flows::sale::payments::{self, KEPT_LOOK_SECONDS, UNKNOWN_LOOK_SECONDS, redelivery_end};
use crate::flows::sale::{sent, settle, unknown};
use crate::state::in_flight::Reservation;
use crate::store::{Due, DueKind, StoreError, Tables};

const TICK: Duration = Duration::from_secs(1);
const NOTE_TERMS_EVERY: Duration = Duration::from_secs(60);
/// Unless space is short, there is only something to trim after a limit was lowered.
const TRIM_EVERY: Duration = Duration::from_secs(60);
/// A clock that gains more than this at once was set forward.
const AHEAD_SECONDS: u64 = 60;
/// How long it is doubted then.
const DOUBT_SECONDS: u64 = 3600;
/// Rows of one kind per pass.
const ROWS_MAX: usize = 256;
/// Settlements that the background looks up concurrently.
const RECONCILIATIONS_MAX: usize = 4;

/// Runs forever.
pub async fn work(app: Shared) {
    let places = Arc::new(Semaphore::new(RECONCILIATIONS_MAX));
    let mut terms_noted = Instant::now();
    let mut trim_at = Instant::now();
    let mut is_more = false;
    let started = app.outside.clock.stopwatch();
    let mut pace = Pace::new(app.now());
    loop {
        if !is_more {
            tokio::time::sleep(TICK).await;
        }
        is_more = false;
        // Nothing starts that cannot be recorded: an e-mail sent without a record would be sent again each second.
        if !app.store.has_room() {
            continue;
        }
        let is_ahead = pace.is_ahead(app.now(), started.elapsed().as_secs());
        let mut outcome = pass(&app, &places, is_ahead)
            .await
            .map(|left| is_more = left);
        if app.store.is_short() || Instant::now() >= trim_at {
            let trimmed = app.store.trim(app.now()).await;
            if !matches!(trimmed, Ok(true)) {
                trim_at = Instant::now() + TRIM_EVERY;
            }
            outcome = outcome.and(trimmed.map(drop));
        }
        if terms_noted.elapsed() >= NOTE_TERMS_EVERY {
            terms_noted = Instant::now();
            outcome = outcome.and(offers::note_terms(&app).await);
        }
        if let Err(error) = outcome {
            tracing::error!(error = %error, "due work failed");
        }
    }
}

/// The clock beside the time that has passed. What is kept until a time must outlive a clock that is far ahead for a while.
#[derive(Debug)]
struct Pace {
    /// What the clock showed, or would have shown, at the start.
    start: UnixSeconds,
    /// When the clock was first seen ahead, in seconds since the start.
    ahead_since: Option<u64>,
}

impl Pace {
    fn new(start: UnixSeconds) -> Pace {
        Pace {
            start,
            ahead_since: None,
        }
    }

    /// Whether the clock has been set forward, and not long ago.
    fn is_ahead(&mut self, now: UnixSeconds, passed: u64) -> bool {
        let start = UnixSeconds(now.0.saturating_sub(passed));
        if start > self.start.plus(AHEAD_SECONDS) {
            if self.ahead_since.is_none() {
                let seconds = start.since(self.start);
                tracing::warn!(
                    seconds,
                    "the clock was set forward; nothing is deleted for an hour"
                );
            }
            let since = *self.ahead_since.get_or_insert(passed);
            if passed.saturating_sub(since) < DOUBT_SECONDS {
                return true;
            }
        }
        *self = Pace::new(start);
        false
    }
}

/// One pass over everything that is due now. Tells whether a backlog is left, for the next pass.
pub async fn work_off(app: &Shared, places: &Arc<Semaphore>) -> Result<bool, StoreError> {
    pass(app, places, false).await
}

async fn pass(
    app: &Shared,
    places: &Arc<Semaphore>,
    is_clock_ahead: bool,
) -> Result<bool, StoreError> {
    // First, so that the check of a payment sees that its answer was sent.
    sent::write_down(app).await?;
    let now = app.now();
    let mut is_more = false;
    for kind in DueKind::ALL {
        let rows = app
            .store
            .read(move |snapshot| snapshot.due(kind, now, ROWS_MAX));
        let rows = rows.await?;
        if rows.is_empty() {
            continue;
        }
        let is_full = rows.len() == ROWS_MAX;
        match kind {
            DueKind::Payment => look_at_payments(app, rows, places, now, is_clock_ahead).await?,
            DueKind::Mail => mail::work_off(app, rows).await?,
            DueKind::Order => fulfil::work_off(app, rows).await?,
            DueKind::Notice => lead_webhook::work_off(app, rows, now).await?,
            // They stay due.
            _ if is_clock_ahead => continue,
            _ => {
                let swept = app.store.write(move |tables| {
                    rows.into_iter().try_for_each(|due| sweep(tables, due, now))
                });
                swept.await?;
            }
        }
        // E-mails, orders and notices that found no place stay due, and are tried again a second later.
        is_more |= is_full && !matches!(kind, DueKind::Mail | DueKind::Order | DueKind::Notice);
    }
    Ok(is_more)
}

fn sweep(tables: &mut Tables<'_>, due: Due, now: UnixSeconds) -> Result<(), StoreError> {
    match due.kind {
        DueKind::Blob => tables.sweep_blob(due, now),
        DueKind::Page => tables.sweep_page(due, now),
        DueKind::Quote | DueKind::BundleQuote => tables.sweep_quote(due, now),
        DueKind::Report => tables.sweep_report(due, now),
        DueKind::ProviderEvent => tables.sweep_provider_event(due),
        DueKind::Purchase => tables.sweep_purchase(due),
        // Each is handled separately.
        DueKind::Payment | DueKind::Notice | DueKind::Order | DueKind::Mail => Ok(()),
    }
}

/// What a payment's record requires now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DueAction {
    /// Nothing any more.
    Nothing,
    /// Not yet: check again then.
    LookAt(UnixSeconds),
    ExpireCredit,
    Reconcile,
    DropAnswer,
    /// The grace period of an abandoned settlement is over.
    DropUnknown,
    Forget,
}

fn due_action(payment: &Payment, abandoned_at: Option<UnixSeconds>, now: UnixSeconds) -> DueAction {
    if let (State::Unknown, Some(at)) = (&payment.state, abandoned_at) {
        return match unknown::last_until(at) {
            _ if payment.answer.is_none() => DueAction::Nothing,
            end if now < end => DueAction::LookAt(end),
            _ => DueAction::DropUnknown,
        };
    }
    let credit_end = payment
        .credit
        .as_ref()
        .map(|credit| UnixSeconds(credit.expires_at));
    match &payment.state {
        State::Held => match credit_end {
            Some(end) if now < end => DueAction::LookAt(end),
            _ => DueAction::ExpireCredit,
        },
        State::Kept if now.since(UnixSeconds(payment.changed_at)) < KEPT_LOOK_SECONDS => {
            DueAction::LookAt(UnixSeconds(payment.changed_at).plus(KEPT_LOOK_SECONDS))
        }
        State::Unknown if now < next_look(payment, now) => {
            DueAction::LookAt(next_look(payment, now))
        }
        State::Kept | State::Unknown => DueAction::Reconcile,
        State::Settled { at, .. } => {
            let end = payments::answer_end(payment, *at);
            if payment.answer.is_none() && payment.credit.is_none() {
                DueAction::Nothing
            } else if now < redelivery_end(*at) {
                DueAction::LookAt(redelivery_end(*at))
            } else if now < end {
                DueAction::LookAt(end)
            } else {
                DueAction::DropAnswer
            }
        }
        State::Released | State::Failed { .. } | State::Answered { .. } => {
            match payments::forgotten_at(payment) {
                Some(end) if now >= end => DueAction::Forget,
                Some(end) => DueAction::LookAt(end),
                None => DueAction::Nothing,
            }
        }
        State::New => DueAction::Nothing,
    }
}

/// When an unknown settlement is looked up again: at growing intervals, half its age, up to an hour. Several rows of one
/// payment lead to the same lookup.
fn next_look(payment: &Payment, now: UnixSeconds) -> UnixSeconds {
    let tried = UnixSeconds(payment.changed_at);
    let age = tried.since(UnixSeconds(payment.created_at));
    let pause = (age / 2).clamp(UNKNOWN_LOOK_SECONDS, UNKNOWN_LOOK_SECONDS_MAX);
    // A clock that was set back must not delay it.
    match tried > now {
        true => now,
        false => tried.plus(pause),
    }
}

/// Looks at all of them in one job of the writer: each on its own would be a durable commit.
async fn look_at_payments(
    app: &Shared,
    rows: Vec<Due>,
    places: &Arc<Semaphore>,
    now: UnixSeconds,
    is_clock_ahead: bool,
) -> Result<(), StoreError> {
    let looked = app.store.write(move |tables| {
        let mut looked = Vec::with_capacity(rows.len());
        for due in rows {
            tables.unschedule(due)?;
            let Some((key, payment)) = tables.payment_of(due)? else {
                continue;
            };
            let is_unknown = look_at_payment(tables, key, payment, now, is_clock_ahead)?;
            looked.push((key, is_unknown, tables.payment(key)?));
        }
        Ok(looked)
    });
    for (key, is_unknown, payment) in looked.await? {
        if is_unknown {
            spawn_reconciliation(app, key, places);
        }
        if let Some(payment) = payment {
            payments::note(app, key, &payment);
        }
    }
    Ok(())
}

/// Does what a payment's record requires. Tells whether its settlement is to be looked up.
fn look_at_payment(
    tables: &mut Tables<'_>,
    key: PaymentKey,
    mut payment: Payment,
    now: UnixSeconds,
    is_clock_ahead: bool,
) -> Result<bool, StoreError> {
    match due_action(&payment, tables.abandoned_at(key)?, now) {
        DueAction::Nothing => {}
        DueAction::DropAnswer | DueAction::DropUnknown | DueAction::Forget if is_clock_ahead => {
            tables.schedule_payment(now.plus(AHEAD_SECONDS), key)?;
        }
        DueAction::LookAt(at) => tables.schedule_payment(at, key)?,
        DueAction::ExpireCredit => {
            let fresh = payments::FreshCredit::draw();
            payments::apply(tables, key, &mut payment, &Event::CreditExpired, now, fresh)?;
        }
        DueAction::Forget => forget(tables, key, &payment)?,
        DueAction::DropUnknown => unknown::drop_answer(tables, key, &mut payment, now)?,
        DueAction::DropAnswer => {
            payments::drop_answer(tables, key, payment, now)?;
        }
        DueAction::Reconcile => {
            payment.changed_at = now.0;
            let next = next_look(&payment, now);
            tables.schedule_payment(next, key)?;
            return Ok(true);
        }
    }
    Ok(false)
}

/// Deletes a payment that was never settled.
fn forget(tables: &mut Tables<'_>, key: PaymentKey, payment: &Payment) -> Result<(), StoreError> {
    if let State::Answered { by, .. } = payment.state {
        // Unless the identifier is that of the payment which it leads to.
        let earlier = tables.payment(by)?;
        if earlier.is_none_or(|earlier| earlier.identifier != payment.identifier) {
            payments::drop_identifier(tables, payment)?;
        }
    }
    tables.drop_payment(key)
}

/// Looks up the outcome, unless it is already being looked up or enough others are; the next attempt follows anyway.
fn spawn_reconciliation(app: &Shared, key: PaymentKey, places: &Arc<Semaphore>) {
    let (Ok(place), Some(reservation)) = (
        places.clone().try_acquire_owned(),
        Reservation::take(&app.in_flight, key),
    ) else {
        return;
    };
    let app_in_task = app.clone();
    app.tasks.spawn(async move {
        let _place = place;
        let payment = key.to_string();
        match settle::resolve(&app_in_task, reservation).await {
            Ok(_) => tracing::info!(payment, "unknown settlement resolved: settled"),
            Err(refusal) if matches!(refusal.with, With::Challenge { .. }) => {
                tracing::info!(payment, "unknown settlement resolved: not settled");
            }
            Err(refusal) => {
                tracing::info!(
                    payment,
                    code = refusal.code.text(),
                    "unknown settlement not resolved yet"
                );
                if let Err(error) = unknown::abandon_if_old(&app_in_task, key).await {
                    tracing::error!(%error, payment, "unknown settlement could not be abandoned");
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_set_forward_is_doubted_for_an_hour() {
        let start = UnixSeconds(1_000_000);
        let mut pace = Pace::new(start);
        let mut check = |passed: u64, ahead: u64, expected: bool| {
            let is_ahead = pace.is_ahead(start.plus(passed + ahead), passed);
            assert_eq!(is_ahead, expected, "{passed} {ahead}");
        };
        check(0, 0, false);
        check(10, 40, false);
        // It gains a little all the time.
        check(20, 90, false);
        check(30, 800_000, true);
        check(40, 90, false);
        check(50, 800_000, true);
        check(3_649, 800_000, true);
        check(3_650, 800_000, false);
        check(3_660, 800_000, false);
        // Set back.
        check(3_670, 0, false);
        check(3_680, 100, true);
    }
}
