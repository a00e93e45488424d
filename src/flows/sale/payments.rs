//! Payments in the store: every transition reads the record, applies the pure state rule, and writes the result with its
//! consequences in one write job.

use crate::app::{App, Shared};
use crate::domain::ids::CreditId;
use std::net::IpAddr;

use sha2::{Digest as _, Sha256};

use crate::domain::evm::{Address, Nonce};
use crate::domain::keccak::keccak256;
use crate::domain::keys::PaymentKey;
use crate::domain::payment::{Action, Credit, Delivery, Event, Means, Payment, State, next};
use crate::domain::refusal::{Refusal, RetryCredit};
use crate::domain::time::{CREDIT_SECONDS, REDELIVERY_SECONDS, UnixSeconds};
use crate::flows::internal;
use crate::flows::sale::verify_settlement;
use crate::outside::chance;
use crate::outside::facilitator::PaymentRequest;
use crate::state::in_flight::PaymentEnd;
use crate::state::unknown::is_looked_into;
use crate::store::{StoreError, Tables, credit_hash, identifier_key};
use crate::x402::proof::PaymentProof;
use crate::x402::wire::{PaymentRequirements, Token, WrittenRequirements};

/// Attempts of a retry credit.
const CREDIT_ATTEMPTS: u8 = 3;
/// A held authorization must still be valid this long when it is settled.
const CREDIT_MARGIN_SECONDS: u64 = 30;
/// How long a released or failed authorization stays on record after its end. No money moved.
const RELEASED_SECONDS: u64 = 7 * 86_400;
/// How long an authorization that got an earlier payment's goods stays on record after its end, so that a clock that is
/// set back does not make it valid again.
const ANSWERED_SECONDS: u64 = 86_400;
/// An answer sent within this time after settlement is not stored any longer.
const AT_ONCE_SECONDS: u64 = 60;
/// How long a settled payment's answer is stored for a buyer who has not received it.
pub const OWED_SECONDS: u64 = 7 * 86_400;
/// When a stored answer with an unfinished settlement is checked.
pub const KEPT_LOOK_SECONDS: u64 = 120;
/// First lookup of an unknown settlement; later ones follow at half its age.
pub const UNKNOWN_LOOK_SECONDS: u64 = 15;

/// The key of an authorization, which the chain executes only once.
pub fn payment_key((network, asset): Token, from: Address, nonce: Nonce) -> PaymentKey {
    PaymentKey(keccak256(&[
        b"context402 payment 1",
        &network.0.to_be_bytes(),
        &asset.0,
        &from.0,
        &nonce.0,
    ]))
}

/// The result of an event.
#[derive(Clone, Debug)]
pub struct Advanced {
    pub payment: Payment,
    /// Whether this step changed the state.
    pub has_moved: bool,
    /// The credit issued by this step; it is returned only once.
    pub credit: Option<RetryCredit>,
}

/// The record of an authorization that came with a request. Where it cannot be read, the refusal does not deny a charge: the
/// authorization may have been settled before.
pub fn recorded(app: &App, key: PaymentKey) -> Result<Option<Payment>, Refusal> {
    let read = app.store.look_up(|snapshot| snapshot.payment(key));
    read.map_err(|error| Refusal::from(error).after_settlement())
}

/// Applies an event to a stored payment. `None` if there is no such payment.
pub async fn advance(
    app: &Shared,
    key: PaymentKey,
    event: Event,
) -> Result<Option<Advanced>, StoreError> {
    let (now, fresh) = (app.now(), FreshCredit::draw());
    let network = verify_settlement::network(app);
    let advanced = app
        .store
        .write(move |tables| {
            let Some(mut payment) = tables.payment(key)? else {
                return Ok(None);
            };
            let before = payment.state.clone();
            let credit = apply(tables, key, &mut payment, &event, now, fresh)?;
            if payment.state != before {
                verify_settlement::enter(tables, key, &payment, &event, network)?;
                tables.drop_abandoned(key)?;
            }
            Ok(Some(Advanced {
                has_moved: payment.state != before,
                payment,
                credit,
            }))
        })
        .await?;
    if let Some(advanced) = &advanced {
        note(app, key, &advanced.payment);
    }
    Ok(advanced)
}

/// Applies an event and counts the result.
pub async fn record(
    app: &Shared,
    key: PaymentKey,
    event: Event,
) -> Result<Option<Advanced>, StoreError> {
    let is_payers_doing = !matches!(event, Event::ChainNeverUsed | Event::OperatorFailed);
    let advanced = advance(app, key, event).await?;
    if let Some(advanced) = advanced.as_ref().filter(|advanced| advanced.has_moved) {
        count(app, &advanced.payment);
        let (payer, now) = (advanced.payment.payer, app.now());
        match &advanced.payment.state {
            State::Settled { .. } => {
                app.in_flight
                    .failing
                    .note_end(payer, PaymentEnd::Settled, now)
            }
            State::Failed { .. } if is_payers_doing => {
                app.in_flight
                    .failing
                    .note_end(payer, PaymentEnd::Failed, now)
            }
            _ => {}
        }
    }
    Ok(advanced)
}

/// Updates the index of unfinished payments. Held transfers are not in it: their money has arrived, so no new payment
/// replaces them.
pub fn note(app: &Shared, key: PaymentKey, payment: &Payment) {
    let is_authorization = payment.means.is_settled_later();
    let is_held = is_authorization && payment.state == State::Held;
    let is_unfinished =
        is_held || is_authorization && (is_looked_into(payment) || payment.delivery.is_owed);
    app.in_flight.unknown.note(key, payment);
    let purchase = (payment.payer, payment.fingerprint);
    app.in_flight
        .unfinished
        .note(purchase, key, is_unfinished, is_held);
}

/// Counts a payment's new state.
pub fn count(app: &Shared, payment: &Payment) {
    let level = payment.purchase.level();
    app.metrics
        .payment(level.product().name(), level.name(), payment.state.name());
    match payment.state {
        State::Settled { .. } => app.metrics.revenue_units.add([], payment.amount_units),
        State::Held | State::Unknown if payment.credit.is_some() => {
            app.metrics.credits.count(["issued"])
        }
        _ => {}
    }
}

/// Random bytes for a credit, drawn before the write job so that the job is deterministic.
#[derive(Clone, Copy, Debug)]
pub struct FreshCredit(CreditId);

impl FreshCredit {
    pub fn draw() -> Self {
        FreshCredit(CreditId(chance::bytes()))
    }

    pub fn id(self) -> CreditId {
        self.0
    }
}

/// Applies an event to a payment inside a write job, with its consequences.
pub fn apply(
    tables: &mut Tables<'_>,
    key: PaymentKey,
    payment: &mut Payment,
    event: &Event,
    now: UnixSeconds,
    fresh: FreshCredit,
) -> Result<Option<RetryCredit>, StoreError> {
    let (state, actions) = next(&payment.state, event, now.0);
    if state == payment.state && actions.is_empty() {
        // A late event must not touch a finished payment's credit, or an identifier that belongs to a newer one by now.
        return Ok(None);
    }
    let kept_at = (payment.state == State::Kept).then_some(UnixSeconds(payment.changed_at));
    let was_unknown = payment.state == State::Unknown;
    payment.state = state;
    payment.changed_at = now.0;
    if let Some(kept_at) = kept_at {
        tables.unschedule_payment(kept_at.plus(KEPT_LOOK_SECONDS), key)?;
    }
    for action in &actions {
        match action {
            Action::IssueCredit => issue_credit(tables, key, payment, now, fresh)?,
            Action::VoidCredit => void_credit(tables, payment)?,
            Action::Withhold => payment.answer = None,
            // The lookup has scheduled the next one.
            Action::Reconcile if was_unknown => {}
            Action::Reconcile => {
                let at = now.plus(UNKNOWN_LOOK_SECONDS);
                tables.schedule_payment(at, key)?;
            }
        }
    }
    match &payment.state {
        State::Settled { transaction, .. } => {
            tables.add_to_ledger(payment, now)?;
            tables.list_purchase(key, payment)?;
            let answer_end = now.plus(REDELIVERY_SECONDS.max(CREDIT_SECONDS));
            payment.delivery.is_owed = true;
            payment.delivery.answer_until = now.plus(OWED_SECONDS).0;
            tables.schedule_payment(redelivery_end(now.0), key)?;
            // Now the buyer may read it.
            tables.release_report(key, transaction, answer_end)?;
            let answer = payment.answer.as_ref().map(|answer| answer.page);
            tables.settle_goods(key, payment.purchase.target_url(), answer, now)?;
            // The data for repeating work and settle is no longer needed. The terms stay as long as the answer.
            payment.purchase.forget_sources();
            payment.payload = Vec::new();
            if kept_at.is_some() {
                // A request that waits for this settlement gets the answer, which spends the credit.
                void_credit(tables, payment)?;
            } else if let Some(credit) = &mut payment.credit {
                credit.expires_at = now.plus(CREDIT_SECONDS).0;
            }
        }
        State::Failed { .. } | State::Released => {
            payment.payload = Vec::new();
            payment.requirements = Vec::new();
            payment.answer = None;
            tables.drop_report_of(key)?;
            tables.drop_goods(key, now)?;
            drop_identifier(tables, payment)?;
            // It cost its sender nothing, so only key, state, level and fingerprint stay.
            payment.purchase.forget_text();
            payment.attribution = None;
            if let Some(at) = forgotten_at(payment) {
                tables.schedule_payment(at, key)?;
            }
        }
        State::Answered { by, .. } => {
            let by = *by;
            payment.payload = Vec::new();
            payment.requirements = Vec::new();
            // It cost its sender nothing either, and the earlier payment names the purchase.
            payment.purchase.forget_text();
            payment.attribution = None;
            // The identifier refers to the goods.
            if let Some(identifier) = payment.identifier {
                tables.put_identifier(identifier, by)?;
            }
            if let Some(at) = forgotten_at(payment) {
                tables.schedule_payment(at, key)?;
            }
        }
        State::Held | State::Kept => {
            if payment.state == State::Kept {
                tables.schedule_payment(now.plus(KEPT_LOOK_SECONDS), key)?;
            }
            if let Some(identifier) = payment.identifier {
                tables.put_identifier(identifier, key)?;
            }
        }
        State::New | State::Unknown => {}
    }
    tables.put_payment(key, payment)?;
    Ok(as_retry_credit(payment, fresh))
}

/// Issues a credit on a payment that has none, inside a write job.
pub fn owe_credit(
    tables: &mut Tables<'_>,
    key: PaymentKey,
    payment: &mut Payment,
    now: UnixSeconds,
    fresh: FreshCredit,
) -> Result<Option<RetryCredit>, StoreError> {
    if payment.credit.is_some() {
        return Ok(None);
    }
    issue_credit(tables, key, payment, now, fresh)?;
    tables.put_payment(key, payment)?;
    Ok(as_retry_credit(payment, fresh))
}

/// An existing credit stays: it may be all that the buyer has.
fn issue_credit(
    tables: &mut Tables<'_>,
    key: PaymentKey,
    payment: &mut Payment,
    now: UnixSeconds,
    fresh: FreshCredit,
) -> Result<(), StoreError> {
    let latest = now.plus(CREDIT_SECONDS).0;
    let expires_at = match payment.state {
        // The authorization must still be valid when the credit is redeemed.
        State::Held => latest.min(
            payment
                .valid_before()
                .0
                .saturating_sub(CREDIT_MARGIN_SECONDS),
        ),
        _ => latest,
    };
    tables.schedule_payment(UnixSeconds(expires_at), key)?;
    match &mut payment.credit {
        Some(credit) => credit.expires_at = expires_at,
        None => {
            let hash = credit_hash(fresh.id());
            tables.put_credit(hash, key)?;
            payment.credit = Some(Credit {
                hash,
                attempts_left: CREDIT_ATTEMPTS,
                expires_at,
            });
        }
    }
    Ok(())
}

/// The answer of a settled payment is given no more.
pub fn drop_answer(
    tables: &mut Tables<'_>,
    key: PaymentKey,
    mut payment: Payment,
    now: UnixSeconds,
) -> Result<(), StoreError> {
    void_credit(tables, &mut payment)?;
    drop_identifier(tables, &payment)?;
    let answer = payment.answer.take().map(|answer| answer.page);
    payment.delivery.is_owed = false;
    payment.requirements = Vec::new();
    tables.drop_settled_answer(key, answer, now)?;
    tables.put_payment(key, &payment)
}

/// Frees the buyer's identifier.
pub fn drop_identifier(tables: &mut Tables<'_>, payment: &Payment) -> Result<(), StoreError> {
    match payment.identifier {
        Some(identifier) => tables.drop_identifier(identifier),
        None => Ok(()),
    }
}

pub fn void_credit(tables: &mut Tables<'_>, payment: &mut Payment) -> Result<(), StoreError> {
    match payment.credit.take() {
        Some(credit) => tables.drop_credit(credit.hash),
        None => Ok(()),
    }
}

/// The credit for the buyer, returned only when issued.
fn as_retry_credit(payment: &Payment, fresh: FreshCredit) -> Option<RetryCredit> {
    let credit = payment
        .credit
        .as_ref()
        .filter(|credit| credit.hash == credit_hash(fresh.id()))?;
    Some(RetryCredit {
        id: fresh.id(),
        expires_at: UnixSeconds(credit.expires_at),
        attempts_left: credit.attempts_left,
    })
}

/// A verified payment, sent by `client`.
pub fn verified(
    proof: &PaymentProof,
    offer: &WrittenRequirements,
    purchase: crate::domain::purchase::Purchase,
    attribution: Option<String>,
    client: Option<IpAddr>,
    now: UnixSeconds,
) -> Payment {
    let (payer, nonce) = (proof.from(), proof.nonce());
    let means = Means::Authorization {
        valid_before: proof.valid_before().0,
    };
    Payment {
        amount_units: offer.amount.units(),
        payload: proof.raw().as_bytes().to_vec(),
        requirements: offer.json().as_bytes().to_vec(),
        identifier: proof
            .payment_identifier()
            .map(|id| identifier_key(payer, id)),
        attribution,
        delivery: Delivery {
            origin: origin(nonce, client),
            ..Delivery::default()
        },
        ..Payment::new(payer, nonce, means, proof.payload_hash(), purchase, now)
    }
}

/// The hash of the client address that sent an authorization. `None` for the operator.
pub fn origin(nonce: Nonce, client: Option<IpAddr>) -> Option<[u8; 16]> {
    let mut hash = Sha256::new();
    hash.update(b"context402 origin 1");
    hash.update(nonce.0);
    hash.update(client?.to_string());
    let hash: [u8; 32] = hash.finalize().into();
    hash[..16].try_into().ok()
}

/// When a payment that moved no money is deleted: released, failed, or given an earlier one's goods. Its authorization can never
/// be used again. A released transfer can be, and stays.
pub fn forgotten_at(payment: &Payment) -> Option<UnixSeconds> {
    if payment.means == Means::Transfer {
        return None;
    }
    let end = payment.valid_before();
    match payment.state {
        State::Released | State::Failed { .. } => Some(end.plus(RELEASED_SECONDS)),
        State::Answered { at, .. } => Some(end.plus(ANSWERED_SECONDS).max(redelivery_end(at))),
        _ => None,
    }
}

/// Until when a settled payment's answer is stored.
pub fn answer_end(payment: &Payment, settled_at: u64) -> UnixSeconds {
    let credit_end = payment
        .credit
        .as_ref()
        .map_or(0, |credit| credit.expires_at);
    let end = redelivery_end(settled_at).0;
    UnixSeconds(end.max(credit_end).max(payment.delivery.answer_until))
}

/// Extends the storage of a settled payment's answer, inside a write job.
pub fn keep_answer_until(
    tables: &mut Tables<'_>,
    key: PaymentKey,
    payment: &mut Payment,
    until: UnixSeconds,
) -> Result<(), StoreError> {
    let delivery = &mut payment.delivery;
    delivery.answer_until = delivery.answer_until.max(until.0);
    tables.schedule_payment(until, key)
}

/// Records that a settled payment's answer was sent at `sent_at` and is no longer owed, inside a write job.
pub fn note_sent(
    tables: &mut Tables<'_>,
    key: PaymentKey,
    sent_at: UnixSeconds,
) -> Result<Option<Payment>, StoreError> {
    let Some(mut payment) = tables.payment(key)? else {
        return Ok(None);
    };
    if let (State::Settled { at, .. }, true) = (&payment.state, payment.delivery.is_owed) {
        payment.delivery.is_owed = false;
        payment.delivery.answer_until = 0;
        // Answers sent at once are stored from settlement on, and their expiry is due anyway.
        if sent_at >= UnixSeconds(*at).plus(AT_ONCE_SECONDS) {
            keep_answer_until(tables, key, &mut payment, sent_at.plus(REDELIVERY_SECONDS))?;
        }
        tables.put_payment(key, &payment)?;
    }
    Ok(Some(payment))
}

/// Until when a settled payment's answer is redelivered.
pub fn redelivery_end(settled_at: u64) -> UnixSeconds {
    UnixSeconds(settled_at).plus(REDELIVERY_SECONDS)
}

/// The settle request of a record, to repeat the identical settle.
pub fn stored_request(app: &Shared, payment: &Payment) -> Result<PaymentRequest, Refusal> {
    let proof = PaymentProof::from_json(&payment.payload)
        .map_err(|error| internal("a stored payment cannot be read", &error))?;
    let offer =
        signed_terms(payment).map_err(|error| internal("a stored offer cannot be read", &error))?;
    Ok(app.outside.facilitator.request(&proof, &offer.into()))
}

/// The terms that the buyer signed, which may differ from the current ones.
pub fn signed_terms(payment: &Payment) -> Result<PaymentRequirements, serde_json::Error> {
    serde_json::from_slice(&payment.requirements)
}

/// A transient outage after verification: a retry credit holds the payment.
pub async fn hold(
    app: &Shared,
    key: PaymentKey,
    mut payment: Payment,
    refusal: Refusal,
) -> Refusal {
    let (now, fresh) = (app.now(), FreshCredit::draw());
    let is_transfer = payment.means == Means::Transfer;
    let may_be_replaced = move |stored: &Payment| match stored.state {
        State::Released => is_transfer,
        // The payment it was bound to has failed.
        State::Answered { .. } => true,
        _ => false,
    };
    let written = app.store.write(move |tables| match tables.payment(key)? {
        stored if stored.as_ref().is_none_or(may_be_replaced) => {
            let credit = apply(tables, key, &mut payment, &Event::Outage, now, fresh)?;
            Ok((payment, credit, true))
        }
        // Presented again while a credit holds it: the credit is unchanged.
        stored => Ok((stored.unwrap_or(payment), None, false)),
    });
    match written.await {
        Ok((payment, credit, has_moved)) => {
            app.crash_point("held");
            note(app, key, &payment);
            if has_moved {
                count(app, &payment);
            }
            refusal.with_credit(credit)
        }
        Err(error) => error.into(),
    }
}
