//! Settlements whose end nobody can tell: how many of one payer may be open, for how long the background looks for
//! their end, and how the operator ends one.
//!
//! The rules, money first. An unknown settlement never becomes a 402 without proof, because its buyer would pay twice.
//! While it is open its answer is kept, and the same payment or another authorization for the same purchase leads to it.
//! Once the authorization has been out of its window for [`ABANDON_SECONDS`] and neither the facilitator nor the chain
//! could tell what became of it, the background stops: it repeats no settle and extends nothing any more. The answer is
//! kept one last period; anyone who presents the payment in that time has the facilitator and the chain asked once more.
//! After that the answer is dropped, the record stays unknown, and a new authorization for the same purchase is a new
//! purchase. The operator can end it at any time, by what the facilitator's or the payer's records say.

use crate::app::Shared;
use crate::domain::keys::PaymentKey;
use crate::domain::payment::{Event, Payment, State};
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::UnixSeconds;
use crate::flows::sale::{in_use, payments, reconcile, settle};
use crate::outside::chain::{ChainError, Fate};
use crate::state::in_flight::Reservation;
use crate::state::unknown::is_looked_into;
use crate::store::{Due, StoreError, Tables};
use crate::x402::address::TransactionHash;

/// How long after the end of its window an authorization is looked into whose end nobody can tell.
pub const ABANDON_SECONDS: u64 = 24 * 3600;
/// The same where a chain is configured that does not answer: it can tell as soon as it does.
pub const ABANDON_SILENT_SECONDS: u64 = 7 * 24 * 3600;
/// How long the answer of a settlement that was given up is still kept.
pub const LAST_PERIOD_SECONDS: u64 = 24 * 3600;
/// An authorization can be used until its window ends; clocks differ.
const WINDOW_MARGIN_SECONDS: u64 = 30;

/// Gives up a settlement that has been unknown for too long, after a look that did not find its end.
pub async fn abandon_if_old(app: &Shared, key: PaymentKey) -> Result<(), StoreError> {
    let stored = app.store.read(move |snapshot| snapshot.payment(key));
    let Some(payment) = stored.await? else {
        return Ok(());
    };
    let now = app.now();
    let age = now.since(payment.valid_before());
    if payment.state != State::Unknown || age < ABANDON_SECONDS {
        return Ok(());
    }
    let is_over = match reconcile::inquiry(app, &payment) {
        None => true,
        Some((chain, inquiry)) => match chain.fate(inquiry, now).await {
            // It has no other answer than these.
            Err(ChainError::Unclear(_) | ChainError::NoLog) => true,
            Err(_) | Ok(Fate::Open) => age >= ABANDON_SILENT_SECONDS,
            // The next look takes it up.
            Ok(_) => false,
        },
    };
    if !is_over {
        return Ok(());
    }
    let abandoned = app.store.write(move |tables| {
        let still = tables.payment(key)?.filter(is_looked_into);
        if still.is_none() || tables.abandoned_at(key)?.is_some() {
            return Ok(false);
        }
        tables.abandon(key, now)?;
        tables.schedule(Due::payment(last_until(now), key))?;
        Ok(true)
    });
    if abandoned.await? {
        tracing::warn!(
            payment = %key,
            units = payment.amount_units,
            "the end of a settlement could not be found for too long; the background stops looking. End it with \
             `context402 payments end`"
        );
    }
    Ok(())
}

/// Until when the answer of a settlement that was given up at `abandoned_at` is kept.
pub fn last_until(abandoned_at: UnixSeconds) -> UnixSeconds {
    abandoned_at.plus(LAST_PERIOD_SECONDS)
}

/// Drops the answer of a settlement that was given up long ago. The record stays, for the operator to end.
pub fn drop_answer(
    tables: &mut Tables<'_>,
    key: PaymentKey,
    payment: &mut Payment,
    now: UnixSeconds,
) -> Result<(), StoreError> {
    payments::void_credit(tables, payment)?;
    payments::drop_identifier(tables, payment)?;
    tables.drop_report_of(key)?;
    tables.drop_goods(key, now)?;
    payment.answer = None;
    tables.put_payment(key, payment)
}

/// How the operator ends an unknown settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The money is here, by this transaction.
    Settled { transaction: TransactionHash },
    /// The money has not moved and never will.
    Failed,
}

/// Ends an unknown settlement on the operator's word. Where a chain can tell, it decides. Gives the payment as it stands
/// afterwards; `None` when there is no such payment.
///
/// # Errors
///
/// `conflict` when the payment has an end already, when the chain says otherwise, or when the authorization can still be
/// used; `network_unavailable` when the configured chain does not answer.
pub async fn end(app: &Shared, key: PaymentKey, end: End) -> Result<Option<Payment>, Refusal> {
    let reservation = Reservation::take(&app.in_flight, key).ok_or_else(in_use)?;
    // An answer that was kept when the process stopped counts as unknown.
    let Some(advanced) = settle::record(app, key, Event::Restarted).await? else {
        return Ok(None);
    };
    let payment = advanced.payment;
    if payment.state != State::Unknown {
        let name = payment.state.name();
        return Err(conflict(format!(
            "This payment is {name}; only a payment whose settlement is unknown can be ended."
        )));
    }
    let event = match by_chain(app, &payment, end).await? {
        Some(event) => event,
        None => by_operator(app, &payment, end)?,
    };
    let is_operators = matches!(event, Event::OperatorSettled { .. } | Event::OperatorFailed);
    let ended = settle::record(app, key, event).await?;
    let Some(payment) = ended.map(|advanced| advanced.payment) else {
        return Ok(None);
    };
    drop(reservation);
    let state = payment.state.name();
    tracing::warn!(payment = %key, state, is_operators, "the operator has ended an unknown settlement");
    let is_as_asked = matches!(
        (end, &payment.state),
        (End::Settled { .. }, State::Settled { .. }) | (End::Failed, State::Failed { .. })
    );
    match is_as_asked {
        true => Ok(Some(payment)),
        false => Err(conflict(format!(
            "The chain says otherwise, and decides: the payment is {state} now."
        ))),
    }
}

/// What the chain proves, where one is configured; `None` when it cannot tell and the operator's word counts.
async fn by_chain(app: &Shared, payment: &Payment, end: End) -> Result<Option<Event>, Refusal> {
    let Some((chain, inquiry)) = reconcile::inquiry(app, payment) else {
        return Ok(None);
    };
    match chain.fate(inquiry, app.now()).await {
        Ok(Fate::Open) if matches!(end, End::Settled { .. }) => Err(conflict(
            "The chain does not know the authorization as used, in blocks that are deep enough: it is not settled."
                .to_owned(),
        )),
        Ok(fate) => Ok(reconcile::event(fate)),
        Err(ChainError::Unclear(_) | ChainError::NoLog) => Ok(None),
        Err(error) => Err(Refusal::new(
            Code::NetworkUnavailable,
            format!("The chain gives no answer that counts: {error}. Ask again when it does."),
        )),
    }
}

fn by_operator(app: &Shared, payment: &Payment, end: End) -> Result<Event, Refusal> {
    match end {
        End::Settled { transaction } => Ok(Event::OperatorSettled {
            transaction: transaction.to_string(),
        }),
        End::Failed => {
            let over = payment.valid_before().plus(WINDOW_MARGIN_SECONDS);
            match app.now() >= over {
                true => Ok(Event::OperatorFailed),
                false => Err(conflict(format!(
                    "The authorization can still be used for {} seconds, so the payment may still be settled. End it \
                     after that.",
                    over.since(app.now())
                ))),
            }
        }
    }
}

fn conflict(message: String) -> Refusal {
    Refusal::new(Code::Conflict, message)
}
