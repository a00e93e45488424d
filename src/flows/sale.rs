//! The paid pipeline, in the order of the specification (4.1 rule 2) and of `decisions` "Money": look up the payment,
//! verify it, check the margin, do the work, store the answer, settle, deliver. Each step takes the result of the step
//! before it, so that none can be skipped.

pub mod answer;
pub mod deliver;
pub mod margin_guard;
pub mod payments;
pub mod purchases;
pub mod recall;
pub mod reconcile;
pub mod refusals;
pub mod retry;
pub mod sent;
pub mod settle;
pub mod stored;
pub mod transfer;
pub mod unknown;
pub mod verified;
pub mod verify_settlement;

use std::net::IpAddr;
use std::sync::Weak;

use tokio::sync::watch;

use crate::app::Shared;
use crate::domain::keys::PaymentKey;
use crate::domain::level::LineItem;
use crate::domain::payment::{Event, Means, Payment, State};
use crate::domain::purchase::Purchase;
use crate::domain::rate::RateClass;
use crate::domain::refusal::{Code, FailedSettlement, Refusal, With};
use crate::flows::content::source::{self, Trouble};
use crate::flows::content::{rendering, screenshot};
use crate::flows::sale::deliver::Goods;
use crate::flows::sale::margin_guard::{Judged, Unsold, Work};
use crate::flows::sale::payments::{FreshCredit, payment_key};
use crate::flows::sale::recall::{Asker, Recalled, earlier_purchase, recall, reserve_identifier};
use crate::flows::sale::stored::Stored;
use crate::flows::sale::verified::Verified;
use crate::state::delivered::Delivered;
use crate::state::in_flight::{Clients, End, Joined, Outcome, Reservation};
use crate::x402::proof::PaymentProof;
use crate::x402::wire::PaymentRequirements;

/// A paid request that has passed validation.
#[derive(Clone, Debug)]
pub struct PaidRequest {
    pub purchase: Purchase,
    pub attribution: Option<String>,
    /// The client's address for rate limits.
    pub client: Option<IpAddr>,
    pub request_id: String,
    /// Alive while the client waits. `None`: there is no client that could disconnect.
    pub waiting: Option<Weak<()>>,
}

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
            let outcome = lead(app, request, proof, run.clients()).await;
            run.finish(&outcome);
            outcome
        }
        Joined::Waits(landed) => match follow(landed).await {
            Some(outcome) => outcome,
            // The first request's task panicked. The client can repeat the request.
            None => Err(worked_on(app, &request.purchase, &proof, Code::Internal)),
        },
        Joined::Other => Err(replayed("This payment is being used for another purchase.")),
        Joined::Full => Err(worked_on(app, &request.purchase, &proof, Code::Conflict)),
        Joined::TooMany => Err(Refusal::new(
            Code::RateLimited,
            "Too many of your payments are in progress. This one was not used: repeat the same request later.",
        )),
    }
}

async fn lead(
    app: &Shared,
    request: PaidRequest,
    proof: PaymentProof,
    clients: Clients,
) -> Outcome {
    let terms = verified::check_terms(app, &request.purchase, &proof);
    let key = key_of(app, &request.purchase, &proof, &terms);
    // First, even before the time window: a payment with an unknown settlement must never get a 402.
    let asker = Asker {
        payload_hash: proof.payload_hash(),
        fingerprint: request.purchase.fingerprint(),
        origin: payments::origin(proof.nonce(), request.client),
    };
    let recalled = recall(app, key, asker);
    let count = || app.admit(RateClass::Sale, request.client);
    match recalled.await {
        // Rate limits never block delivery of what is, or may be, paid: nobody loses money to others behind the same
        // address. Redelivery is limited by its own count.
        Ok(Recalled::Answer(delivered)) => return Ok(delivered),
        Ok(Recalled::Unknown) => {
            return resolve(app, Reservation::take(&app.in_flight, key)).await;
        }
        // A credit may hold it; presented again, it counts as a new request.
        Ok(Recalled::Nothing) => count()?,
        Err(refusal) => {
            count()?;
            return Err(refusal);
        }
    }
    let offer = match terms {
        Ok(offer) => offer,
        Err(refusal) => {
            return turned_down(app, key, asker, refusal).await;
        }
    };
    app.health
        .check_can_sell_product(request.purchase.product())?;
    let verified = match Verified::verify(app, proof, offer, &request).await {
        Ok(verified) => verified,
        Err(refusal) => {
            return turned_down(app, key, asker, refusal).await;
        }
    };
    let Some(mut reservation) = Reservation::take(&app.in_flight, key) else {
        return turned_down(app, key, asker, in_use()).await;
    };
    let payer = verified.payment().payer;
    let identifier = reserve_identifier(app, &verified)?;
    if let Some(earlier) = earlier_purchase(app, &verified, identifier.as_ref(), key).await? {
        return Ok(earlier);
    }
    // After that: what was sold while there was a browser is given out without one.
    rendering::check_available(app, &request.purchase, verified.payment().means)?;
    reservation.enter(payer, asker.fingerprint, clients);
    app.in_flight.unfinished.check_held(payer)?;
    reservation.queue(payer, &app.outside.clock).await?;
    let margin = check_margin(app, &request.purchase, verified.payment().means)?;
    let goods = match deliver_goods(app, verified.payment()).await {
        Ok(goods) => goods,
        Err(Trouble::Refused(refusal)) => return Err(refusal),
        Err(Trouble::Outage(refusal)) => {
            app.in_flight
                .failing
                .note_end(payer, End::Outage, app.now());
            return Err(hold(app, key, verified.into_payment(), refusal).await);
        }
    };
    app.crash_point("fetched");
    // An earlier payment may have been settled meanwhile for a client that has disconnected.
    if let Some(earlier) = earlier_purchase(app, &verified, identifier.as_ref(), key).await? {
        return Ok(earlier);
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
            turned_down(app, key, asker, refusal).await
        }
        Err(refusal) => Err(refusal),
    }
}

/// A refusal of a recorded payment. If its credit has been or is being redeemed meanwhile, it is charged, and the refusal
/// must say so.
async fn turned_down(app: &Shared, key: PaymentKey, asker: Asker, refusal: Refusal) -> Outcome {
    // Only recorded payments are verified: a forged one reserves nothing.
    let stored = app.store.look_up(|snapshot| snapshot.payment(key))?;
    if stored.is_none() {
        return Err(refusal);
    }
    let reservation = Reservation::take(&app.in_flight, key);
    match recall(app, key, asker).await? {
        Recalled::Answer(delivered) => Ok(delivered),
        Recalled::Unknown => resolve(app, reservation).await,
        Recalled::Nothing if reservation.is_none() => Err(in_use()),
        Recalled::Nothing => Err(refusal),
    }
}

/// The outcome of a settlement that is not known. Without a reservation it is under way, or being looked into: its buyer
/// may be charged already, and must not read that nothing was.
pub async fn resolve(app: &Shared, reservation: Option<Reservation>) -> Outcome {
    match reservation {
        Some(reservation) => settle::resolve(app, reservation).await,
        None => Err(settle::not_known(None)),
    }
}

/// A 402: the payment was rejected, with a new challenge to sign.
pub fn challenge(item: LineItem, error: &str, message: String) -> Refusal {
    let with = With::Challenge {
        item,
        error: error.to_owned(),
        settlement: None,
    };
    Refusal::new(Code::PaymentRequired, message).with(with)
}

/// The authorization has been used already.
pub fn replayed(message: &str) -> Refusal {
    Refusal::new(Code::PaymentReplayed, message)
}

/// Another request is using it right now.
pub fn in_use() -> Refusal {
    Refusal::of(Code::Conflict)
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

/// The refusal of a payment that another request works on: `code`, unless its money may have moved already.
fn worked_on(app: &Shared, purchase: &Purchase, proof: &PaymentProof, code: Code) -> Refusal {
    let terms = verified::check_terms(app, purchase, proof);
    let key = key_of(app, purchase, proof, &terms);
    match app.store.look_up(|snapshot| snapshot.payment(key)) {
        Ok(Some(payment)) if payment.may_have_moved() => settle::not_known(None),
        Ok(_) => Refusal::of(code),
        Err(error) => error.into(),
    }
}

fn key_of(
    app: &Shared,
    purchase: &Purchase,
    proof: &PaymentProof,
    terms: &Result<PaymentRequirements, Refusal>,
) -> PaymentKey {
    let offered = &app.offers.of(purchase).requirements;
    let offered = terms.as_ref().unwrap_or(offered);
    payment_key(offered, proof.from(), proof.nonce())
}

/// A settlement has definitely failed: no money moved, nothing is delivered.
pub fn not_settled(payment: &Payment, reason: &str) -> Refusal {
    let settlement = FailedSettlement {
        reason: reason.to_owned(),
        payer: payment.payer.to_string(),
    };
    let message = format!("The payment could not be settled ({reason}); nothing was charged.");
    Refusal::new(Code::PaymentRequired, message).with(With::Challenge {
        item: payment.purchase.line_item(),
        error: reason.to_owned(),
        settlement: Some(settlement),
    })
}

/// The Unit Economic Guardian, before any work.
pub fn check_margin(app: &Shared, purchase: &Purchase, means: Means) -> Result<Judged, Refusal> {
    let reading = purchase.reading();
    let pages = purchase.target_urls();
    let fetched = pages.filter(|url| source::may_fetch(reading, url, &app.sample.url));
    let fetches = fetched.count();
    let renders = rendering::may_render(app, reading.render);
    let work = Work {
        fetches,
        renders: if renders { fetches } else { 0 }
            + usize::from(screenshot::may_take(app, purchase)),
        asks_model: app.outside.llm.is_some() && purchase.level().may_synthesize(),
        settles: means.is_settled_later(),
    };
    let price = purchase.price();
    margin_guard::judge(app, price, work).map_err(|unsold| {
        let reason = match unsold {
            Unsold::TooThin(_) => "too_thin",
            Unsold::GasUnknown => "gas_unknown",
        };
        app.metrics.margin_rejections.count([reason]);
        let message = match unsold {
            Unsold::TooThin(rejected) => format!(
                "At {price} USDC this sale would not cover its costs ({} USDC). {}.",
                rejected.needed,
                means.unused()
            ),
            Unsold::GasUnknown => format!(
                "The settlement cost is currently unknown, so sales are stopped. {}: try again in a minute.",
                means.unused()
            ),
        };
        Refusal::new(Code::MarginRejected, message)
    })
}

/// Target safety, then the work.
pub async fn deliver_goods(app: &Shared, payment: &Payment) -> Result<Goods, Trouble> {
    deliver::deliver(app, &payment.purchase, &hex::encode(payment.payer.0)).await
}

/// A transient outage after verification: a retry credit holds the payment (decisions, Retry credits).
pub async fn hold(
    app: &Shared,
    key: PaymentKey,
    mut payment: Payment,
    refusal: Refusal,
) -> Refusal {
    let (now, fresh) = (app.now(), FreshCredit::draw());
    let is_transfer = payment.means == Means::Transfer;
    let lets_go = move |stored: &Payment| match stored.state {
        State::Released => is_transfer,
        // The payment it was bound to has failed.
        State::Answered { .. } => true,
        _ => false,
    };
    let written = app.store.write(move |tables| match tables.payment(key)? {
        stored if stored.as_ref().is_none_or(lets_go) => {
            let credit = payments::apply(tables, key, &mut payment, &Event::Outage, now, fresh)?;
            Ok((payment, credit, true))
        }
        // Presented again while a credit holds it: the credit is unchanged.
        stored => Ok((stored.unwrap_or(payment), None, false)),
    });
    match written.await {
        Ok((payment, credit, has_moved)) => {
            app.crash_point("held");
            payments::note(app, key, &payment);
            if has_moved {
                payments::count(app, &payment);
            }
            credit.map_or(refusal.clone(), |credit| refusal.with(With::Credit(credit)))
        }
        Err(error) => error.into(),
    }
}
