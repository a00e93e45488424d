//! Unknown settlements: how many may be open per payer, how long the background looks them up, and how the operator sets
//! their outcome.
//!
//! An unknown settlement never becomes a 402 without proof, because its buyer would pay twice. While it is open, its answer
//! stays stored, and the same payment or another authorization for the same purchase gets it. If neither the facilitator nor
//! the chain resolves it within [`ABANDON_SECONDS`] after the authorization's window, the background abandons it: it repeats
//! no settle and extends nothing. The answer is stored for one last period, in which presenting the payment triggers one
//! more check. Then the answer is deleted, the record stays unknown, and a new authorization for the same purchase is a new
//! purchase. The operator can set the outcome at any time, from the facilitator's or the payer's records.

use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::evm::TransactionHash;
use crate::domain::keys::PaymentKey;
use crate::domain::payment::{Event, Payment, State};
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::flows::sale::refusals::in_use;
use crate::flows::sale::{payments, reconcile, settle};
use crate::outside::chain::{ChainError, Fate};
use crate::state::in_flight::Reservation;
use crate::state::unknown::is_looked_into;
use crate::store::{StoreError, Tables};

/// How long after its window an unresolved authorization is looked up.
pub const ABANDON_SECONDS: u64 = 24 * 3600;
/// The same if a configured chain does not respond: it can resolve it as soon as it does.
pub const ABANDON_SILENT_SECONDS: u64 = 7 * 24 * 3600;
/// How long the answer of an abandoned settlement stays stored.
pub const LAST_PERIOD_SECONDS: u64 = 24 * 3600;
/// Tolerance at the end of an authorization's window, because clocks differ.
const WINDOW_MARGIN_SECONDS: u64 = 30;

/// Abandons a settlement that has been unknown for too long, after a failed lookup.
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
            // The match above leaves no other states.
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
        tables.schedule_payment(last_until(now), key)?;
        Ok(true)
    });
    if abandoned.await? {
        tracing::warn!(
            payment = %key,
            units = payment.amount_units,
            "unknown settlement abandoned: its outcome could not be found. Set it with \
             `context402 payments end`"
        );
    }
    Ok(())
}

/// Until when the answer of a settlement abandoned at `abandoned_at` is stored.
pub fn last_until(abandoned_at: UnixSeconds) -> UnixSeconds {
    abandoned_at.plus(LAST_PERIOD_SECONDS)
}

/// Deletes the answer of a settlement abandoned long ago. The record stays for the operator.
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

/// For the operator: looks up a settlement now. Returns the updated payment; `None` if there is no such payment.
pub async fn reconcile(app: &Shared, key: PaymentKey) -> Result<Option<Payment>, Refusal> {
    let stored = move || app.store.read(move |snapshot| snapshot.payment(key));
    if stored()
        .await?
        .is_some_and(|payment| payment.state.is_open())
    {
        let reservation = Reservation::take(&app.in_flight, key).ok_or_else(in_use)?;
        // The buyer's response is irrelevant here.
        let _ = settle::resolve(app, reservation).await;
    }
    let payment = stored().await?;
    if let Some(payment) = &payment {
        payments::note(app, key, payment);
    }
    Ok(payment)
}

/// The operator's outcome for an unknown settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// The money has arrived by this transaction.
    Settled { transaction: TransactionHash },
    /// The money has not moved and never will.
    Failed,
}

/// Sets the outcome of an unknown settlement for the operator; proof on chain takes precedence. Returns the updated
/// payment; `None` if there is no such payment.
///
/// # Errors
///
/// `conflict` if the payment has an outcome already, the chain disagrees, or the authorization can still be used;
/// `network_unavailable` if the configured chain does not respond.
pub async fn resolve(
    app: &Shared,
    key: PaymentKey,
    resolution: Resolution,
) -> Result<Option<Payment>, Refusal> {
    let reservation = Reservation::take(&app.in_flight, key).ok_or_else(in_use)?;
    // An answer stored when the process stopped counts as unknown.
    let Some(advanced) = payments::record(app, key, Event::Restarted).await? else {
        return Ok(None);
    };
    let payment = advanced.payment;
    if payment.state != State::Unknown {
        let name = payment.state.name();
        return Err(conflict(format!(
            "This payment is {name}; you can only set the outcome of an unknown settlement."
        )));
    }
    let event = match by_chain(app, &payment, resolution).await? {
        Some(event) => event,
        None => by_operator(app, &payment, resolution)?,
    };
    let is_operators = matches!(event, Event::OperatorSettled { .. } | Event::OperatorFailed);
    let ended = payments::record(app, key, event).await?;
    let Some(payment) = ended.map(|advanced| advanced.payment) else {
        return Ok(None);
    };
    drop(reservation);
    let state = payment.state.name();
    tracing::warn!(payment = %key, state, is_operators, "operator set the outcome of an unknown settlement");
    let is_as_asked = matches!(
        (resolution, &payment.state),
        (Resolution::Settled { .. }, State::Settled { .. })
            | (Resolution::Failed, State::Failed { .. })
    );
    match is_as_asked {
        true => Ok(Some(payment)),
        false => Err(conflict(format!(
            "The chain disagrees and takes precedence: the payment is now {state}."
        ))),
    }
}

/// Proof from a configured chain; `None` if it cannot tell and the operator decides.
async fn by_chain(
    app: &Shared,
    payment: &Payment,
    resolution: Resolution,
) -> Result<Option<Event>, Refusal> {
    let Some((chain, inquiry)) = reconcile::inquiry(app, payment) else {
        return Ok(None);
    };
    match chain.fate(inquiry, app.now()).await {
        Ok(Fate::Open) if matches!(resolution, Resolution::Settled { .. }) => Err(conflict(
            "The authorization is unused in confirmed blocks: it is not settled.".to_owned(),
        )),
        Ok(fate) => Ok(reconcile::event(fate)),
        Err(ChainError::Unclear(_) | ChainError::NoLog) => Ok(None),
        Err(error) => Err(Refusal::new(
            Code::NetworkUnavailable,
            format!("The chain did not give a valid response: {error}. Try again later."),
        )),
    }
}

fn by_operator(app: &Shared, payment: &Payment, resolution: Resolution) -> Result<Event, Refusal> {
    match resolution {
        Resolution::Settled { transaction } => Ok(Event::OperatorSettled {
            transaction: transaction.to_string(),
        }),
        Resolution::Failed => {
            let over = payment.valid_before().plus(WINDOW_MARGIN_SECONDS);
            match app.now() >= over {
                true => Ok(Event::OperatorFailed),
                false => Err(conflict(format!(
                    "The authorization is valid for another {} seconds, so the payment may still be settled. Set its outcome \
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
