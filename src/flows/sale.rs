//! The paid pipeline, in its order: look up the payment, verify it, check the margin, do the work, store the answer,
//! settle, deliver. Each step takes the result of the step before it, so that none can be skipped.

pub mod answer;
pub mod deliver;
pub mod margin_guard;
pub mod payments;
pub mod purchases;
pub mod recall;
pub mod reconcile;
pub mod refusals;
pub mod request;
pub mod response;
pub mod retry;
pub mod sent;
pub mod settle;
pub mod stored;
pub mod transfer;
pub mod unknown;
pub mod verified;
pub mod verify_settlement;

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::app::{App, Shared};
use crate::domain::code::Code;
use crate::domain::keys::PaymentKey;
use crate::domain::level::Product;
use crate::domain::purchase::Purchase;
use crate::domain::rate::RateClass;
use crate::domain::refusal::Refusal;
use crate::flows::content::rendering;
use crate::flows::content::source::Trouble;
use crate::flows::sale::payments::payment_key;
use crate::flows::sale::recall::{
    Held, Presenter, Recalled, earlier_purchase, recall, reserve_identifier, used_for_another,
};
use crate::flows::sale::refusals::{in_use, not_known, replayed};
use crate::flows::sale::request::PaidRequest;
use crate::flows::sale::stored::Stored;
use crate::flows::sale::verified::Verified;
use crate::state::in_flight::delivered::Delivered;
use crate::state::in_flight::{Arrival, Clients, Joined, Outcome, PaymentEnd, Reservation};
use crate::x402::proof::PaymentProof;
use crate::x402::wire::WrittenRequirements;

/// How long a client that has got the same purchase by another payment may take to leave this one.
const LEAVING_MAX: Duration = Duration::from_millis(if cfg!(test) { 30 } else { 1_000 });

/// Sells one page or report. Identical concurrent requests share one sale and one settlement.
pub async fn sell(app: &Shared, request: PaidRequest, proof: PaymentProof) -> Outcome {
    let fingerprint = request.purchase.fingerprint();
    match app.in_flight.payloads.join(
        proof.payload_hash(),
        fingerprint,
        request.client,
        request.waiting.clone(),
    ) {
        Joined::First(run) => {
            let outcome = run_pipeline(app, request, proof, run.clients()).await;
            run.finish(&outcome);
            outcome
        }
        Joined::Waits(landed) => match follow(landed).await {
            Some(outcome) => outcome,
            // The first request's task panicked. The client can repeat the request.
            None => Err(worked_on(
                app,
                &request.purchase,
                &proof,
                Refusal::of(Code::Internal).after_settlement(),
            )),
        },
        Joined::Other => {
            let other = replayed("This payment is being used for another purchase.");
            Err(worked_on(app, &request.purchase, &proof, other))
        }
        Joined::Full => Err(worked_on(app, &request.purchase, &proof, in_use())),
        Joined::TooMany => {
            let limited = Refusal::new(
                Code::RateLimited,
                "Too many of your payments are in progress. This one was not used: repeat the same request later.",
            );
            Err(worked_on(app, &request.purchase, &proof, limited))
        }
    }
}

async fn run_pipeline(
    app: &Shared,
    request: PaidRequest,
    proof: PaymentProof,
    clients: Clients,
) -> Outcome {
    let terms = verified::check_terms(app, &request.purchase, &proof);
    let key = key_of(app, &request.purchase, &proof, &terms);
    // First, even before the time window: a payment with an unknown settlement must never get a 402.
    let presenter = Presenter {
        payload_hash: proof.payload_hash(),
        fingerprint: request.purchase.fingerprint(),
        origin: payments::origin(proof.nonce(), request.client),
    };
    let recalled = recall(app, key, presenter);
    let count = || app.admit(RateClass::Sale, request.client);
    match recalled.await {
        // Rate limits never block delivery of what is, or may be, paid: nobody loses money to others behind the same
        // address. Redelivery is limited by its own count.
        Ok(Recalled::Answer(delivered)) => return Ok(delivered),
        Ok(Recalled::Unknown) => {
            return settle::resolve_unless_busy(app, Reservation::take(&app.in_flight, key)).await;
        }
        // A credit may hold it; presented again, it counts as a new request.
        Ok(Recalled::Nothing) => count()?,
        // Nothing hides that a payment was, or may have been, charged.
        Err(refusal) => {
            let limited = count().err().filter(|_| !refusal.may_be_charged());
            return Err(limited.unwrap_or(refusal));
        }
    }
    let offer = match terms {
        Ok(offer) => offer,
        Err(refusal) => {
            return turned_down(app, key, presenter, refusal).await;
        }
    };
    app.health
        .check_can_sell_product(request.purchase.product())?;
    let arrival = Arrival::enter(&app.in_flight, (proof.from(), presenter.fingerprint));
    let verified = match Verified::verify(app, proof, offer, &request).await {
        Ok(verified) => verified,
        Err(refusal) => {
            return turned_down(app, key, presenter, refusal).await;
        }
    };
    let Some(mut reservation) = Reservation::take(&app.in_flight, key) else {
        return turned_down(app, key, presenter, in_use()).await;
    };
    let payer = verified.payment().payer;
    let identifier = reserve_identifier(app, &verified)?;
    let (identifier, purchase) = (identifier.as_ref(), (payer, presenter.fingerprint));
    let end = Instant::now() + app.config.payment.settle_wait_max;
    let known = app.in_flight.earlier(purchase);
    if let Some(earlier) =
        earlier_purchase(app, &verified, identifier, key, known, end, Held::IsAwaited).await?
    {
        return Ok(earlier);
    }
    // After that: what was sold while there was a browser is given out without one.
    rendering::check_available(app, &request.purchase, verified.payment().means)?;
    reservation.enter(payer, presenter.fingerprint, clients.clone());
    app.in_flight.unfinished.check_held(payer)?;
    reservation.queue(payer, &app.outside.clock).await?;
    let margin = margin_guard::check(app, &request.purchase, verified.payment().means)?;
    let goods = match deliver::deliver(app, verified.payment()).await {
        Ok(goods) => goods,
        Err(Trouble::Refused(refusal)) => return Err(refusal),
        Err(Trouble::Outage(refusal)) => {
            app.in_flight
                .failing
                .note_end(payer, PaymentEnd::Outage, app.now());
            if app.in_flight.unfinished.is_full() {
                return Err(refusal);
            }
            return Err(payments::hold(app, key, verified.into_payment(), refusal).await);
        }
    };
    app.crash_point("fetched");
    let turn = recall::take_turn(app, &reservation, &verified, identifier, Held::IsReplaced);
    if let Some(earlier) = turn.await? {
        return Ok(earlier);
    }
    // A client that sent two requests for one purchase may be about to close this one: it has just received the other's answer.
    if arrival.is_superseded() {
        clients.leave_within(LEAVING_MAX).await;
    }
    if reservation.yields(&arrival) {
        return Err(in_use());
    }
    match Stored::store(
        app,
        reservation,
        verified,
        goods,
        margin,
        &request.request_id,
    )
    .await
    {
        Ok(stored) => settle::settle(app, stored).await,
        // A credit was redeemed for it after the lookup: deliver that purchase.
        Err(refusal) if refusal.code == Code::PaymentReplayed => {
            turned_down(app, key, presenter, refusal).await
        }
        Err(refusal) => Err(refusal),
    }
}

/// A refusal of a recorded payment. If its credit has been or is being redeemed meanwhile, it is charged, and the refusal
/// must say so.
async fn turned_down(
    app: &Shared,
    key: PaymentKey,
    presenter: Presenter,
    refusal: Refusal,
) -> Outcome {
    // Only recorded payments are verified: a forged one reserves nothing.
    if payments::recorded(app, key)?.is_none() {
        return Err(refusal);
    }
    let reservation = Reservation::take(&app.in_flight, key);
    match recall(app, key, presenter).await? {
        Recalled::Answer(delivered) => Ok(delivered),
        Recalled::Unknown => settle::resolve_unless_busy(app, reservation).await,
        Recalled::Nothing if reservation.is_none() => Err(in_use()),
        Recalled::Nothing => Err(refusal),
    }
}

/// The outcome of the request that works on the same payment; none if it ended without one.
async fn follow(mut landed: watch::Receiver<Option<Outcome>>) -> Option<Outcome> {
    let outcome = landed.wait_for(Option::is_some).await.ok()?.clone()?;
    // Requests that waited for it do not count as redeliveries.
    Some(outcome.map(|delivered| Delivered {
        redelivery_of: None,
        ..delivered
    }))
}

/// The refusal of a payment that is not looked up, unless its money may have moved already.
fn worked_on(app: &Shared, purchase: &Purchase, proof: &PaymentProof, refusal: Refusal) -> Refusal {
    let terms = verified::check_terms(app, purchase, proof);
    let key = key_of(app, purchase, proof, &terms);
    match payments::recorded(app, key) {
        Ok(Some(payment)) if payment.may_have_moved() => not_known(None),
        Ok(_) => refusal,
        Err(unread) => unread,
    }
}

/// The refusal of a payment whose money has moved, or may have, for an earlier request, whatever this one is. None if there
/// is no such payment.
pub fn used_before(app: &App, product: Product, proof: &PaymentProof) -> Option<Refusal> {
    let offered = app
        .offers
        .level(product.default_level())
        .requirements
        .token();
    let token = proof.token().unwrap_or(offered);
    let key = payment_key(token, proof.from(), proof.nonce());
    match payments::recorded(app, key) {
        Ok(payment) => used_for_another(&payment?),
        Err(unread) => Some(unread),
    }
}

/// Whether a payment whose request is not read has moved money, or may have.
pub fn is_used(app: &App, product: Product, payment: &str) -> bool {
    let proof = PaymentProof::decode(payment).ok();
    proof.is_some_and(|proof| used_before(app, product, &proof).is_some())
}

/// By the token of the offer that was accepted. One that is offered no more may still have been charged for, so it is looked up by
/// what the payment itself says.
fn key_of(
    app: &Shared,
    purchase: &Purchase,
    proof: &PaymentProof,
    terms: &Result<WrittenRequirements, Refusal>,
) -> PaymentKey {
    let offered = || app.offers.of(purchase).requirements.token();
    let token = match terms {
        Ok(terms) => terms.token(),
        Err(_) => proof.token().unwrap_or_else(offered),
    };
    payment_key(token, proof.from(), proof.nonce())
}
