//! Settles a payment whose answer is stored. The call runs as its own task: the buyer gets a response in bounded time, and
//! a later result is still recorded. An unknown outcome is never treated as failed.

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::app::Shared;
use crate::domain::keys::PaymentKey;
use crate::domain::payment::{Event, State};
use crate::domain::refusal::{Refusal, RetryCredit};
use crate::flows::internal;
use crate::flows::sale::answer::Members;
use crate::flows::sale::payments::{self, Advanced, FreshCredit};
use crate::flows::sale::refusals::{not_known, not_settled};
use crate::flows::sale::stored::Stored;
use crate::flows::sale::{reconcile, response, verify_settlement};
use crate::outside::facilitator::{Attempt, PaymentRequest, SettleDoubt, Settlement};
use crate::state::in_flight::delivered::AnswerInFlight;
use crate::state::in_flight::{Outcome, Reservation};
use crate::state::unknown::is_looked_into;
use crate::store::StoreError;

/// Settles and delivers. Stops waiting at the buyer's deadline; the call goes on.
pub async fn settle(app: &Shared, stored: Stored) -> Outcome {
    settle_until(app, stored, waiting_ends(app))
        .await
        .map_err(Refusal::after_settlement)
}

fn waiting_ends(app: &Shared) -> Instant {
    Instant::now() + app.config.payment.settle_wait_max
}

async fn settle_until(app: &Shared, stored: Stored, end: Instant) -> Outcome {
    let (reservation, request, attempt, members) = stored.into_parts();
    let key = reservation.key();
    let outcome = send(app, reservation, end, request, attempt);
    // The answer counts as on its way until it is.
    let (mut advanced, _sending) = match tokio::time::timeout_at(end, outcome).await {
        Ok(Ok((Ok(Some(advanced)), sending))) => (advanced, sending),
        Ok(Ok((Ok(None), _))) => return Err(internal("a payment record is missing", &key)),
        // The record still says that settle may have been sent, so the next start resolves it.
        Ok(Ok((Err(error), _))) => {
            tracing::error!(error = %error, "settlement outcome could not be recorded");
            return Err(not_known(None));
        }
        Ok(Err(_)) => return Err(not_known(None)),
        // Where this cannot be written, the task that settles notes the payment as unfinished.
        Err(_) => match payments::record(app, key, Event::SettleUnknown).await? {
            Some(advanced) => (advanced, None),
            None => return Err(internal("a payment record is missing", &key)),
        },
    };
    if let Some(proven) = reconcile::ask_chain(app, key, &advanced.payment, end).await? {
        if attempt == Attempt::First {
            // Anyone who waits for this settlement is given the answer: that spends the credit it was bought with.
            forget_credit(app, key).await?;
        }
        advanced = proven;
    }
    conclude(app, key, advanced, members).await
}

async fn forget_credit(app: &Shared, key: PaymentKey) -> Result<(), StoreError> {
    let forgotten = app.store.write(move |tables| {
        let Some(mut payment) = tables.payment(key)? else {
            return Ok(());
        };
        payments::void_credit(tables, &mut payment)?;
        tables.put_payment(key, &payment)
    });
    forgotten.await
}

/// What became of the payment, and its answer, if it is settled.
type OutcomeReceiver =
    oneshot::Receiver<(Result<Option<Advanced>, StoreError>, Option<AnswerInFlight>)>;

/// Starts the call; it holds the reservation until the outcome is recorded.
fn send(
    app: &Shared,
    reservation: Reservation,
    end: Instant,
    request: PaymentRequest,
    attempt: Attempt,
) -> OutcomeReceiver {
    let (tell, outcome) = oneshot::channel();
    let app_in_task = app.clone();
    app.tasks.spawn(async move {
        let app = app_in_task;
        let settlement = app
            .outside
            .facilitator
            .settle(&request, attempt, app.now())
            .await;
        let settlement = match settlement {
            Settlement::Failed { reason } => confirmed(&app, reservation.key(), reason).await,
            settlement => settlement,
        };
        app.crash_point("settled");
        let event = match event(settlement) {
            Event::SettleSucceeded { transaction }
                if verify_settlement::is_before_delivery(&app) =>
            {
                verify_settlement::before_delivery(&app, reservation.key(), transaction, end).await
            }
            event => event,
        };
        let advanced = payments::record(&app, reservation.key(), event).await;
        let sending = match &advanced {
            Ok(Some(advanced)) if matches!(advanced.payment.state, State::Settled { .. }) => {
                reservation.supersede_others();
                // Before the next payment for this purchase has its turn: it must not take the answer for an owed one.
                let key = reservation.key();
                Some(AnswerInFlight::begin(
                    &app.in_flight,
                    &app.outside.clock,
                    key,
                ))
            }
            Ok(_) => None,
            Err(_) => {
                reservation.leave_unfinished();
                None
            }
        };
        app.crash_point("recorded");
        drop(reservation);
        // Nobody waits any more: the answer is owed.
        let _ = tell.send((advanced, sending));
    });
    outcome
}

/// A definite refusal, checked on chain if configured: a facilitator may refuse for lack of funds although its own
/// transaction has moved the money.
async fn confirmed(app: &Shared, key: PaymentKey, reason: String) -> Settlement {
    let stored = app.store.read(move |snapshot| snapshot.payment(key)).await;
    let payment = stored.ok().flatten();
    match payment {
        Some(payment) if reconcile::was_used(app, &payment).await => Settlement::Unknown {
            why: SettleDoubt::UsedOnChain { reason },
            transaction: None,
        },
        _ => Settlement::Failed { reason },
    }
}

fn event(settlement: Settlement) -> Event {
    match settlement {
        Settlement::Success { transaction, .. } => Event::SettleSucceeded {
            transaction: transaction.to_string(),
        },
        Settlement::Failed { reason } => Event::SettleFailed { reason },
        Settlement::Unknown { why, transaction } => {
            tracing::warn!(
                why = %why,
                transaction = transaction.map(tracing::field::display),
                "settlement outcome unknown; it will be reconciled"
            );
            Event::SettleUnknown
        }
    }
}

/// Resolves an unknown settlement and delivers if it succeeded. A configured chain is checked first, because that resends
/// nothing; then the identical settle is repeated.
pub async fn resolve(app: &Shared, reservation: Reservation) -> Outcome {
    look_into(app, reservation)
        .await
        .map_err(Refusal::after_settlement)
}

/// The outcome of a settlement that is not known. Without a reservation it is under way, or being looked into: its buyer
/// may be charged already, and must not read that nothing was.
pub async fn resolve_unless_busy(app: &Shared, reservation: Option<Reservation>) -> Outcome {
    match reservation {
        Some(reservation) => resolve(app, reservation).await,
        None => Err(not_known(None)),
    }
}

async fn look_into(app: &Shared, reservation: Reservation) -> Outcome {
    let (key, end) = (reservation.key(), waiting_ends(app));
    let advanced = payments::record(app, key, Event::Restarted).await?;
    let Some(advanced) = advanced else {
        return Err(internal("a payment record is missing", &key));
    };
    if advanced.payment.state != State::Unknown {
        // It was resolved just now.
        return conclude(app, key, advanced, None).await;
    }
    if let Some(proven) = reconcile::ask_chain(app, key, &advanced.payment, end).await? {
        return conclude(app, key, proven, None).await;
    }
    let stored = Stored::earlier(app, reservation, &advanced.payment)?;
    settle_until(app, stored, end).await
}

/// The buyer's response for the recorded state.
async fn conclude(
    app: &Shared,
    key: PaymentKey,
    advanced: Advanced,
    members: Option<Members>,
) -> Outcome {
    let Advanced {
        payment, credit, ..
    } = advanced;
    match &payment.state {
        State::Settled { .. } => response::respond(app, key, &payment, members).await,
        State::Failed { reason } => Err(not_settled(&payment, reason)),
        State::Unknown if credit.is_none() => Err(not_known(owe(app, key).await?)),
        State::New
        | State::Held
        | State::Kept
        | State::Unknown
        | State::Released
        | State::Answered { .. } => Err(not_known(credit)),
    }
}

/// Issues the missing credit after the process stopped before it could.
async fn owe(app: &Shared, key: PaymentKey) -> Result<Option<RetryCredit>, Refusal> {
    let (now, fresh) = (app.now(), FreshCredit::draw());
    let owed = app.store.write(move |tables| match tables.payment(key)? {
        Some(mut payment) if is_looked_into(&payment) => {
            payments::owe_credit(tables, key, &mut payment, now, fresh)
        }
        _ => Ok(None),
    });
    Ok(owed.await?)
}
