//! Payments in the store: every transition reads the record again, asks the pure rule what follows, and writes the
//! result with everything that hangs on it, in one job of the writer.

use crate::app::Shared;
use crate::domain::ids::CreditId;
use std::net::IpAddr;

use sha2::{Digest as _, Sha256};

use crate::domain::keys::PaymentKey;
use crate::domain::payment::{Action, Credit, Delivery, Event, Means, Payment, State, next};
use crate::domain::refusal::RetryCredit;
use crate::domain::time::{CREDIT_SECONDS, REDELIVERY_SECONDS, UnixSeconds};
use crate::flows::sale::verify_settlement;
use crate::outside::chance;
use crate::state::unknown::is_looked_into;
use crate::store::{Due, StoreError, Tables, credit_hash, identifier_key};
use crate::x402::address::{Address, Nonce};
use crate::x402::keccak::keccak256;
use crate::x402::proof::PaymentProof;
use crate::x402::wire::PaymentRequirements;

/// Attempts of a retry credit (decisions, Retry credits).
const CREDIT_ATTEMPTS: u8 = 3;
/// A held authorization must still be valid this long when it is settled.
const CREDIT_MARGIN_SECONDS: u64 = 30;
/// How long the operator's book tells of an authorization that was let go, from its end on. Nothing moved.
const RELEASED_SECONDS: u64 = 7 * 86_400;
/// How long an authorization that was answered with an earlier payment's goods is remembered after its end, so that a
/// clock that is set back does not make it good again.
const ANSWERED_SECONDS: u64 = 86_400;
/// An answer that is sent within this time after its settlement is kept no longer for it.
const AT_ONCE_SECONDS: u64 = 60;
/// How long a settled payment's answer is kept for a buyer who has not received it.
pub const OWED_SECONDS: u64 = 7 * 86_400;
/// When a kept answer whose settle has not ended is looked at.
pub const KEPT_LOOK_SECONDS: u64 = 120;
/// First look at an unknown settlement; later ones come at half its age.
pub const UNKNOWN_LOOK_SECONDS: u64 = 15;

/// The key of an authorization: what the chain lets happen once.
pub fn payment_key(offer: &PaymentRequirements, from: Address, nonce: Nonce) -> PaymentKey {
    PaymentKey(keccak256(&[
        b"context402 payment 1",
        &offer.network.0.to_be_bytes(),
        &offer.asset.0,
        &from.0,
        &nonce.0,
    ]))
}

/// What carrying an event out has led to.
#[derive(Clone, Debug)]
pub struct Advanced {
    pub payment: Payment,
    /// Whether this very step has led to where the payment stands.
    pub has_moved: bool,
    /// The credit that was issued by this very step; it is never told again.
    pub credit: Option<RetryCredit>,
}

/// Carries an event out on a stored payment. `None` when there is no such payment.
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

/// Keeps the index of unfinished payments in step with what was just written. A held transfer is none of them:
/// its money is here, so that no new payment takes its place.
pub fn note(app: &Shared, key: PaymentKey, payment: &Payment) {
    let is_authorization = payment.means.is_settled_later();
    let is_held = is_authorization && payment.state == State::Held;
    let is_unfinished =
        is_held || is_authorization && (is_looked_into(payment) || payment.delivery.is_owed);
    app.in_flight.unknown.note(key, payment);
    let purchase = (payment.payer, payment.fingerprint);
    app.in_flight.note(purchase, key, is_unfinished, is_held);
}

/// Counts where a payment has come to stand.
pub fn count(app: &Shared, payment: &Payment) {
    let level = payment.purchase.level();
    app.metrics
        .payment(level.product().name(), level.name(), payment.state.name());
    match payment.state {
        State::Settled { .. } => app.metrics.revenue(payment.amount_units),
        State::Held | State::Unknown if payment.credit.is_some() => app.metrics.credit("issued"),
        _ => {}
    }
}

/// Random bytes for a credit, drawn before the writer's job so that the job stays a pure change.
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

/// Applies an event to a payment inside a write job, and writes what follows.
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
        // An event that comes late changes nothing, least of all what hangs on an ended payment: its credit's end, or an
        // identifier that stands for a newer one by now.
        return Ok(None);
    }
    let was_kept = payment.state == State::Kept;
    let was_unknown = payment.state == State::Unknown;
    payment.state = state;
    payment.changed_at = now.0;
    for action in &actions {
        match action {
            Action::IssueCredit => issue_credit(tables, key, payment, now, fresh)?,
            Action::VoidCredit => void_credit(tables, payment)?,
            Action::Withhold => payment.answer = None,
            // The look that led here has arranged for the next one.
            Action::Reconcile if was_unknown => {}
            Action::Reconcile => {
                let at = now.plus(UNKNOWN_LOOK_SECONDS);
                tables.schedule(Due::payment(at, key))?;
            }
            Action::Settle { .. } | Action::Deliver => {}
        }
    }
    match &payment.state {
        State::Settled { transaction, .. } => {
            tables.book(payment, now)?;
            let answer_end = now.plus(REDELIVERY_SECONDS.max(CREDIT_SECONDS));
            payment.delivery.is_owed = true;
            payment.delivery.answer_until = now.plus(OWED_SECONDS).0;
            // Now it is the buyer's to read.
            tables.release_report(key, transaction, answer_end)?;
            let answer = payment.answer.as_ref().map(|answer| answer.page);
            tables.settle_goods(key, payment.purchase.target_url(), answer, now)?;
            // What was needed to repeat the settle is needed no more. The terms are told as long as the answer is.
            payment.payload = Vec::new();
            if was_kept {
                // Anyone who waits for this settlement is given the answer: that spends the credit it was bought with.
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
            if let Some(at) = forgotten_at(payment) {
                // Anyone who lets payments be released pays nothing for them: only the key, the state and what tells one
                // request from another stay.
                payment.purchase.forget_text();
                payment.attribution = None;
                tables.schedule(Due::payment(at, key))?;
            }
        }
        State::Answered { by, .. } => {
            let by = *by;
            payment.payload = Vec::new();
            payment.requirements = Vec::new();
            // The identifier leads to the goods.
            if let Some(identifier) = payment.identifier {
                tables.put_identifier(identifier, by)?;
            }
            if let Some(at) = forgotten_at(payment) {
                tables.schedule(Due::payment(at, key))?;
            }
        }
        State::Held | State::Kept => {
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

/// A credit that the buyer already holds stays the one: it may be all that the buyer has.
fn issue_credit(
    tables: &mut Tables<'_>,
    key: PaymentKey,
    payment: &mut Payment,
    now: UnixSeconds,
    fresh: FreshCredit,
) -> Result<(), StoreError> {
    let latest = now.plus(CREDIT_SECONDS).0;
    let expires_at = match payment.state {
        // The authorization must still settle when the credit is redeemed.
        State::Held => latest.min(
            payment
                .valid_before()
                .0
                .saturating_sub(CREDIT_MARGIN_SECONDS),
        ),
        _ => latest,
    };
    tables.schedule(Due::payment(UnixSeconds(expires_at), key))?;
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

/// Frees the buyer's identifier: what it stood for is over.
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

/// The credit as the buyer gets it: told once, when it is issued.
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

/// A payment as it stands after verification; `client` has sent it.
pub fn verified(
    proof: &PaymentProof,
    offer: &PaymentRequirements,
    purchase: crate::domain::purchase::Purchase,
    (attribution, client): (Option<String>, Option<IpAddr>),
    now: UnixSeconds,
) -> Result<Payment, serde_json::Error> {
    Ok(Payment {
        payer: proof.from(),
        nonce: proof.nonce(),
        amount_units: offer.amount.units(),
        means: Means::Authorization {
            valid_before: proof.valid_before().0,
        },
        payload_hash: proof.payload_hash(),
        payload: proof.raw().get().as_bytes().to_vec(),
        requirements: serde_json::to_vec(offer)?,
        fingerprint: purchase.fingerprint(),
        purchase,
        identifier: proof
            .payment_identifier()
            .map(|id| identifier_key(proof.from(), id)),
        attribution,
        state: State::New,
        answer: None,
        credit: None,
        redelivered: 0,
        created_at: now.0,
        changed_at: now.0,
        delivery: Delivery {
            origin: origin(proof.nonce(), client),
            ..Delivery::default()
        },
    })
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

/// When a payment that was let go, or answered with an earlier one's goods, leaves the book: its authorization can never
/// be used again. A transfer that was let go can be, and stays.
pub fn forgotten_at(payment: &Payment) -> Option<UnixSeconds> {
    if payment.means == Means::Transfer {
        return None;
    }
    let end = payment.valid_before();
    match payment.state {
        State::Released => Some(end.plus(RELEASED_SECONDS)),
        State::Answered { at, .. } => Some(end.plus(ANSWERED_SECONDS).max(redelivery_end(at))),
        _ => None,
    }
}

/// Until when a settled payment's answer is kept.
pub fn answer_end(payment: &Payment, settled_at: u64) -> UnixSeconds {
    let credit_end = payment
        .credit
        .as_ref()
        .map_or(0, |credit| credit.expires_at);
    let end = redelivery_end(settled_at).0;
    UnixSeconds(end.max(credit_end).max(payment.delivery.answer_until))
}

/// Makes sure that a settled payment's answer is kept until then, inside a write job.
pub fn keep_answer_until(
    tables: &mut Tables<'_>,
    key: PaymentKey,
    payment: &mut Payment,
    until: UnixSeconds,
) -> Result<(), StoreError> {
    let delivery = &mut payment.delivery;
    delivery.answer_until = delivery.answer_until.max(until.0);
    tables.schedule(Due::payment(until, key))
}

/// The answer of a settled payment was sent to its buyer at `sent_at`: it is owed no more. Inside a write job.
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
        // What is sent at once is kept from its settlement on, and a look at its end is due anyway.
        if sent_at >= UnixSeconds(*at).plus(AT_ONCE_SECONDS) {
            keep_answer_until(tables, key, &mut payment, sent_at.plus(REDELIVERY_SECONDS))?;
        }
        tables.put_payment(key, &payment)?;
    }
    Ok(Some(payment))
}

/// Until when a settled payment's answer is given again.
pub fn redelivery_end(settled_at: u64) -> UnixSeconds {
    UnixSeconds(settled_at).plus(REDELIVERY_SECONDS)
}
