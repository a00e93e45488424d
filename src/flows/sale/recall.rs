//! Recorded payments: a used authorization, an earlier purchase under the same identifier, an unknown settlement. None of
//! these is worked on or settled again.

use tokio::time::Instant;

use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::keys::{Fingerprint, PayloadHash, PaymentKey};
use crate::domain::payment::{Event, Payment, State};
use crate::domain::refusal::{Refusal, With};
use crate::domain::time::REDELIVERY_SECONDS;
use crate::flows::sale::payments::{self, FreshCredit, redelivery_end};
use crate::flows::sale::refusals::{in_use, not_known, not_settled, replayed};
use crate::flows::sale::verified::Verified;
use crate::flows::sale::{response, settle};
use crate::state::in_flight::delivered::Delivered;
use crate::state::in_flight::{Reservation, ReservedIdentifier};

/// How many payments under one identifier get a stored answer that was received: each leaves a record, and costs its sender
/// nothing.
const ANSWERED_MAX: u8 = 20;
/// How often a stored answer is redelivered to the same payload.
const REDELIVERIES_MAX: u8 = 5;

/// The record of this authorization.
#[derive(Debug)]
pub enum Recalled {
    Nothing,
    Answer(Delivered),
    Unknown,
}

/// The presenter of an authorization, and the purchase.
#[derive(Clone, Copy, Debug)]
pub struct Presenter {
    /// SHA-256 of the payload's decoded bytes.
    pub payload_hash: PayloadHash,
    pub fingerprint: Fingerprint,
    /// Hash of the client's address ([`payments::origin`]).
    pub origin: Option<[u8; 16]>,
}

impl Presenter {
    /// Whether this request may get a stored answer. After settlement, nonce and signature are public on chain, so anybody
    /// can rebuild the payload: the request must come from the paying client address, or carry a payment-identifier,
    /// which is not on chain.
    fn may_receive(self, payment: &Payment) -> bool {
        let paid_from = payment.delivery.origin;
        payment.identifier.is_some() || paid_from.is_none() || paid_from == self.origin
    }
}

/// Looks up an authorization before any upstream call.
pub async fn recall(
    app: &Shared,
    key: PaymentKey,
    presenter: Presenter,
) -> Result<Recalled, Refusal> {
    let is_answered = app.in_flight.answers.has(key);
    let Some(payment) = payments::recorded(app, key)? else {
        return Ok(Recalled::Nothing);
    };
    let is_owed = payment.delivery.is_owed && !is_answered;
    // Only the exact verified bytes get the answer.
    if !payment.is_of(presenter.payload_hash, presenter.fingerprint) {
        let message = match payment.may_have_moved() {
            true => USED_FOR_ANOTHER,
            false => "This authorization was already used for another request.",
        };
        return Err(used(&payment, message));
    }
    let may_receive = presenter.may_receive(&payment);
    match &payment.state {
        State::Settled { .. } | State::Answered { .. } if !may_receive => {
            let message = match is_owed {
                true => OTHER_CLIENT_OWED,
                false => OTHER_CLIENT,
            };
            Err(used(&payment, message))
        }
        State::Kept | State::Unknown if !may_receive => Err(not_known(None)),
        State::Settled { .. } if payment.answer.is_none() => Err(response::expired()),
        State::Settled { at, .. } if is_owed || app.now() < redelivery_end(*at) => {
            redeliver(app, key, key, is_owed).await
        }
        State::Settled { .. } => Err(response::expired()),
        State::Answered { by, at } => recall_bound(app, key, *by, *at).await,
        State::Failed { reason } => Err(not_settled(&payment, reason)),
        State::Released => Err(replayed(
            "This authorization was voided when its retry credit expired.",
        )),
        State::New | State::Held => Ok(Recalled::Nothing),
        State::Kept | State::Unknown => Ok(Recalled::Unknown),
    }
}

const USED_FOR_ANOTHER: &str = "This authorization has paid for another request, and pays for no second one: sign a new one. \
    GET /v1/x402/purchases with the wallet's sign-in lists what the wallet has bought.";
const SENT_WITH_ANOTHER: &str = "This payment came with another request and was sent for settlement; its outcome is not known yet. \
    Do not sign again: repeat that request unchanged.";
const OTHER_CLIENT_OWED: &str = "This authorization was used. Its response is delivered again only to the client address that \
    sent it, or with the payment-identifier that it was signed with. It was not received yet: sign a new authorization for the \
    same purchase, and you get the answer while the new authorization is not charged.";
const OTHER_CLIENT: &str = "This authorization was used, and its response was sent. The response is delivered again only to the \
    client address that sent the request, or with the payment-identifier that it was signed with. If it did not reach you, \
    GET /v1/x402/purchases with the wallet's sign-in lists what the wallet has bought. A new authorization is charged.";

/// A refusal of a recorded authorization, which says whether its money has moved.
fn used(payment: &Payment, message: &str) -> Refusal {
    match payment.may_have_moved() {
        true => replayed(message).with(With::Charged),
        false => replayed(message),
    }
}

/// The refusal of a payment whose money has moved, or may have, for another request.
pub fn used_for_another(payment: &Payment) -> Option<Refusal> {
    let is_settled = matches!(payment.state, State::Settled { .. });
    payment.may_have_moved().then(|| match is_settled {
        true => used(payment, USED_FOR_ANOTHER),
        false => Refusal::new(Code::SettlementUnknown, SENT_WITH_ANOTHER),
    })
}

/// Looks up the payment that another one was bound to.
async fn recall_bound(
    app: &Shared,
    key: PaymentKey,
    by: PaymentKey,
    bound_at: u64,
) -> Result<Recalled, Refusal> {
    let is_answered = app.in_flight.answers.has(by);
    let earlier = app.store.look_up(|snapshot| snapshot.payment(by))?;
    let Some(earlier) = earlier else {
        return Ok(Recalled::Nothing);
    };
    match &earlier.state {
        State::Settled { at, .. } => {
            let is_kept = app.now() < redelivery_end(bound_at.max(*at));
            let is_owed = earlier.delivery.is_owed && !is_answered;
            if is_kept || is_owed {
                return redeliver(app, key, by, is_owed).await;
            }
            Err(replayed(
                "This authorization was not charged: its request got the response of an earlier payment, which is no longer \
                 kept. Sign a new authorization for a new purchase.",
            ))
        }
        State::Kept | State::Unknown => {
            let settled = settled_now(app, Reservation::take(&app.in_flight, by)).await?;
            Ok(settled.map_or(Recalled::Nothing, Recalled::Answer))
        }
        // It has failed for good, so this payment makes the purchase.
        _ => Ok(Recalled::Nothing),
    }
}

/// Whether a refusal means that a settlement has failed for good.
fn is_failure(refusal: &Refusal) -> bool {
    matches!(refusal.with, With::Challenge { .. })
}

/// Redelivers the stored answer of `goods` to the payment `key`, and counts it there. An owed answer is redelivered
/// without limit.
async fn redeliver(
    app: &Shared,
    key: PaymentKey,
    goods: PaymentKey,
    is_owed: bool,
) -> Result<Recalled, Refusal> {
    let counted = app.store.write(move |tables| {
        let (Some(mut payment), Some(source)) = (tables.payment(key)?, tables.payment(goods)?)
        else {
            return Ok(None);
        };
        let is_spent = payment.redelivered >= REDELIVERIES_MAX && !is_owed;
        if is_spent || source.answer.is_none() {
            return Ok(None);
        }
        payment.redelivered = payment.redelivered.saturating_add(1);
        tables.put_payment(key, &payment)?;
        tables.payment(goods)
    });
    let counted = counted.await.map_err(|error| {
        let refusal = Refusal::from(error);
        match key == goods {
            true => refusal.after_settlement(),
            false => refusal,
        }
    })?;
    match counted {
        Some(payment) => match response::respond(app, goods, &payment, None).await {
            Ok(delivered) => Ok(Recalled::Answer(Delivered {
                redelivery_of: Some(key),
                ..delivered
            })),
            Err(refusal) => {
                withheld(app.clone(), key).await;
                Err(refusal)
            }
        },
        None if key == goods => Err(replayed(
            "This authorization was used, and its response has reached the redelivery limit.",
        )
        .with(With::Charged)),
        None => Err(replayed(
            "This authorization was not charged: its request got the response of an earlier payment, which has reached \
            the redelivery limit.",
        )),
    }
}

/// Uncounts a redelivery that was not made.
pub async fn withheld(app: Shared, key: PaymentKey) {
    let uncounted = app.store.write(move |tables| {
        let Some(mut payment) = tables.payment(key)? else {
            return Ok(());
        };
        payment.redelivered = payment.redelivered.saturating_sub(1);
        tables.put_payment(key, &payment)
    });
    if let Err(error) = uncounted.await {
        tracing::error!(%error, "failed redelivery could not be uncounted");
    }
}

/// Two payments under one identifier must not be worked on at the same time.
pub fn reserve_identifier(
    app: &Shared,
    verified: &Verified,
) -> Result<Option<ReservedIdentifier>, Refusal> {
    match verified.payment().identifier {
        None => Ok(None),
        Some(identifier) => ReservedIdentifier::take(&app.in_flight, identifier)
            .map(Some)
            .ok_or_else(in_use),
    }
}

/// What becomes of an earlier payment that a retry credit holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Wait for a redemption of the credit to end, then replace it.
    IsAwaited,
    /// A new payment for the same purchase replaces it. Who redeems its credit cannot settle it: the turn is taken.
    IsReplaced,
    /// It stays: another credit is redeemed.
    Stays,
}

/// Waits until no other payment of the same purchase is being settled, and gives what an earlier one has bought meanwhile, as
/// its answer may be lost. `None`: it is this payment's turn to be settled, as long as the reservation lives.
pub async fn take_turn(
    app: &Shared,
    reservation: &Reservation,
    verified: &Verified,
    identifier: Option<&ReservedIdentifier>,
    held: Held,
) -> Result<Option<Delivered>, Refusal> {
    let end = Instant::now() + app.config.payment.settle_wait_max;
    let (is_next, held) = match reservation.wait_for_turn(end).await {
        true => (true, held),
        false => (false, Held::IsAwaited),
    };
    let payment = verified.payment();
    let purchase = (payment.payer, payment.fingerprint);
    // Not those that are under way for clients that have left: they may be waiting for their turn.
    let earlier = app.in_flight.unfinished.of(purchase);
    let own = reservation.key();
    match earlier_purchase(app, verified, identifier, own, earlier, end, held).await? {
        None if !is_next => Err(in_use()),
        earlier => Ok(earlier),
    }
}

/// The buyer has proven control of `from`. If one of the `earlier` payments of the same payer, or that under the same
/// payment-identifier, made the same purchase and its goods are still deliverable (owed, or of unknown settlement), this
/// payment gets them and is never settled. `None`: this payment is a new purchase.
pub async fn earlier_purchase(
    app: &Shared,
    verified: &Verified,
    identifier: Option<&ReservedIdentifier>,
    own: PaymentKey,
    mut earlier: Vec<PaymentKey>,
    end: Instant,
    held: Held,
) -> Result<Option<Delivered>, Refusal> {
    let (payer, fingerprint) = (verified.payment().payer, verified.payment().fingerprint);
    let mut identified = None;
    if let Some(identifier) = identifier.map(ReservedIdentifier::key) {
        let known = app
            .store
            .look_up(|snapshot| snapshot.payment_by_identifier(identifier))?;
        identified = known.filter(|key| *key != own);
        earlier.retain(|key| Some(*key) != identified);
        earlier.extend(identified);
    }
    for key in earlier.into_iter().filter(|key| *key != own) {
        let is_identified = identified == Some(key);
        if held != Held::IsAwaited {
            let stored = app.store.look_up(|snapshot| snapshot.payment(key))?;
            if stored.is_some_and(|payment| payment.state == State::Held) {
                if held == Held::IsReplaced {
                    payments::advance(app, key, Event::CreditExpired).await?;
                }
                continue;
            }
        }
        let reservation = Reservation::wait(&app.in_flight, key, end).await;
        // An answer on its way may still be lost, and is owed then: only one that was sent, as the record will say, lets this
        // payment buy again.
        let is_answered = match app.in_flight.answers.was_sent(key, end).await {
            None if !is_identified => return Err(in_use()),
            was_sent => was_sent == Some(true),
        };
        let stored = app.store.look_up(|snapshot| snapshot.payment(key))?;
        if reservation.is_none()
            && stored
                .as_ref()
                .is_none_or(|payment| !payment.state.is_open())
        {
            return Err(in_use());
        }
        let Some(payment) = stored.filter(|payment| payment.payer == payer) else {
            continue;
        };
        if payment.fingerprint != fingerprint {
            match is_identified {
                true => return Err(Refusal::of(Code::PaymentIdentifierUsed)),
                false => continue,
            }
        }
        let bought = match &payment.state {
            State::Held => {
                payments::advance(app, key, Event::CreditExpired).await?;
                Ok(None)
            }
            State::Kept | State::Unknown => settled_now(app, reservation).await,
            State::Settled { .. } if payment.answer.is_some() => {
                let is_owed = payment.delivery.is_owed && !is_answered;
                match is_identified || is_owed {
                    true => answer_again(app, key, &payment, is_owed).await,
                    false => Ok(None),
                }
            }
            _ => Ok(None),
        };
        // Also to one whose settlement has no known outcome.
        if matches!(bought, Ok(Some(_))) || bought.is_err() && payment.state.is_open() {
            bind(app, own, verified.payment().clone(), key).await?;
        }
        if let Some(delivered) = bought? {
            return Ok(Some(delivered));
        }
    }
    Ok(None)
}

/// What an earlier payment has bought, once its settlement has a known outcome. `None`: it has failed for good, so this
/// payment makes the purchase.
async fn settled_now(
    app: &Shared,
    reservation: Option<Reservation>,
) -> Result<Option<Delivered>, Refusal> {
    match settle::resolve_unless_busy(app, reservation).await {
        Ok(delivered) => Ok(Some(delivered)),
        Err(refusal) if is_failure(&refusal) => Ok(None),
        Err(refusal) => Err(earlier_unknown(refusal)),
    }
}

/// The stored answer of an earlier payment. `None`: its report was purged, so this payment makes the purchase.
async fn answer_again(
    app: &Shared,
    key: PaymentKey,
    payment: &Payment,
    is_owed: bool,
) -> Result<Option<Delivered>, Refusal> {
    if !is_owed && payment.redelivered >= ANSWERED_MAX {
        return Err(replayed(
            "The response under this payment-identifier has reached its delivery limit. This authorization was not \
            used: sign one under another identifier for a new purchase.",
        ));
    }
    match response::respond(app, key, payment, None).await {
        Ok(delivered) => Ok(Some(delivered)),
        Err(refusal) if refusal.code == Code::PaymentReplayed => Ok(None),
        Err(refusal) => Err(earlier_unknown(refusal)),
    }
}

/// Records that a payment gets the goods of an earlier one, before it is delivered: the same bytes get them again, and are
/// not settled unless the earlier payment fails.
async fn bind(
    app: &Shared,
    own: PaymentKey,
    mut payment: Payment,
    by: PaymentKey,
) -> Result<(), Refusal> {
    let (now, fresh) = (app.now(), FreshCredit::draw());
    let noted = app.store.write(move |tables| {
        if let Some(stored) = tables.payment(own)? {
            let is_same = stored.is_of(payment.payload_hash, payment.fingerprint);
            match stored.state {
                State::Held if is_same => payment = stored,
                // It was bound to a payment that has failed since.
                State::Answered { .. } if is_same => {}
                _ => return Ok(None),
            }
        }
        let event = Event::AnsweredBy { payment: by };
        payments::apply(tables, own, &mut payment, &event, now, fresh)?;
        if let Some(mut earlier) = tables.payment(by)? {
            let until = now.plus(REDELIVERY_SECONDS);
            earlier.redelivered = earlier.redelivered.saturating_add(1);
            payments::keep_answer_until(tables, by, &mut earlier, until)?;
            tables.put_payment(by, &earlier)?;
        }
        Ok(Some(payment))
    });
    match noted.await? {
        Some(payment) => {
            payments::note(app, own, &payment);
            payments::count(app, &payment);
            Ok(())
        }
        None => Err(replayed(
            "This authorization was already used for another request.",
        )),
    }
}

/// An earlier payment blocks this one, which was not used.
fn earlier_unknown(refusal: Refusal) -> Refusal {
    Refusal::new(
        Code::SettlementUnknown,
        "Your earlier payment for the same purchase was sent for settlement, and its outcome is not known yet. This \
         payment was not used and is not charged. Repeat this request unchanged in a few seconds: if the earlier payment \
         was settled, you get what it bought and this payment stays uncharged; if it failed, this payment buys.",
    )
    .with(With::Earlier)
    .with_credit(refusal.credit.map(|credit| *credit))
}
