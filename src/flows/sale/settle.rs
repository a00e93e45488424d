//! Settles a payment whose answer is stored. The call runs as its own task: the buyer gets a response in bounded time, and
//! a later result is still recorded. An unknown outcome is never treated as failed.

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::app::Shared;
use crate::domain::keys::PaymentKey;
use crate::domain::payment::{Event, Payment, State};
use crate::domain::refusal::{Code, Refusal, RetryCredit, With};
use crate::flows::internal;
use crate::flows::sale;
use crate::flows::sale::answer::Members;
use crate::flows::sale::payments::{self, Advanced, FreshCredit};
use crate::flows::sale::stored::Stored;
use crate::flows::sale::{recall, reconcile, verify_settlement};
use crate::outside::facilitator::{Attempt, PaymentRequest, SettleDoubt, Settlement};
use crate::state::in_flight::{End, Outcome, Reservation};
use crate::state::unknown::is_looked_into;
use crate::store::StoreError;
use crate::x402::proof::PaymentProof;
use crate::x402::wire::PaymentRequirements;

/// The settle request of a record, to repeat the identical settle.
pub fn stored_request(app: &Shared, payment: &Payment) -> Result<PaymentRequest, Refusal> {
    let proof = PaymentProof::from_json(&payment.payload)
        .map_err(|error| internal("a stored payment cannot be read", &error))?;
    let offer =
        signed_terms(payment).map_err(|error| internal("a stored offer cannot be read", &error))?;
    Ok(app.outside.facilitator.request(&proof, &offer))
}

/// The terms that the buyer signed, which may differ from the current ones.
pub fn signed_terms(payment: &Payment) -> Result<PaymentRequirements, serde_json::Error> {
    serde_json::from_slice(&payment.requirements)
}

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
    let told = send(app, (reservation, end), request, attempt);
    let mut advanced = match tokio::time::timeout_at(end, told).await {
        Ok(Ok(Ok(Some(advanced)))) => advanced,
        Ok(Ok(Ok(None))) => return Err(internal("a payment record is missing", &key)),
        // The record still says that settle may have been sent, so the next start resolves it.
        Ok(Ok(Err(error))) => {
            tracing::error!(error = %error, "settlement outcome could not be recorded");
            return Err(not_known(None));
        }
        Ok(Err(_)) => return Err(not_known(None)),
        Err(_) => match record(app, key, Event::SettleUnknown).await? {
            Some(advanced) => advanced,
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

/// Applies an event and counts the result.
pub async fn record(
    app: &Shared,
    key: PaymentKey,
    event: Event,
) -> Result<Option<Advanced>, StoreError> {
    let is_payers_doing = !matches!(event, Event::ChainNeverUsed | Event::OperatorFailed);
    let advanced = payments::advance(app, key, event).await?;
    if let Some(advanced) = advanced.as_ref().filter(|advanced| advanced.has_moved) {
        payments::count(app, &advanced.payment);
        let (payer, now) = (advanced.payment.payer, app.now());
        match &advanced.payment.state {
            State::Settled { .. } => app.in_flight.failing.note_end(payer, End::Settled, now),
            State::Failed { .. } if is_payers_doing => {
                app.in_flight.failing.note_end(payer, End::Failed, now)
            }
            _ => {}
        }
    }
    Ok(advanced)
}

type OutcomeReceiver = oneshot::Receiver<Result<Option<Advanced>, StoreError>>;

/// Starts the call; it holds the reservation until the outcome is recorded.
fn send(
    app: &Shared,
    (reservation, end): (Reservation, Instant),
    request: PaymentRequest,
    attempt: Attempt,
) -> OutcomeReceiver {
    let (tell, told) = oneshot::channel();
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
            told => told,
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
        let advanced = record(&app, reservation.key(), event).await;
        app.crash_point("recorded");
        drop(reservation);
        let _ = tell.send(advanced);
    });
    told
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

async fn look_into(app: &Shared, reservation: Reservation) -> Outcome {
    let (key, end) = (reservation.key(), waiting_ends(app));
    let advanced = record(app, key, Event::Restarted).await?;
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
        State::Settled { .. } => recall::delivered(app, key, &payment, members).await,
        State::Failed { reason } => Err(sale::not_settled(&payment, reason)),
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

/// Never a 402: a buyer would sign again and pay twice.
pub fn not_known(credit: Option<RetryCredit>) -> Refusal {
    let refusal = Refusal::new(
        Code::SettlementUnknown,
        "The payment was sent for settlement and its outcome is not known yet. Do not sign again: repeat this request \
        unchanged, or use the retry credit from the first such response.",
    );
    match credit {
        Some(credit) => refusal.with(With::Credit(credit)),
        None => refusal,
    }
}
