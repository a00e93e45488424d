//! Redeems retry credits. A credit on a held authorization does the work and settles it; one on
//! a settled or unknown payment never charges again.

use std::net::IpAddr;

use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::excerpt::Excerpt;
use crate::domain::ids::CreditId;
use crate::domain::keys::{CreditHash, Fingerprint, PaymentKey};
use crate::domain::level::Level;
use crate::domain::payment::{Means, Payment, State};
use crate::domain::purchase::Purchase;
use crate::domain::rate::RateClass;
use crate::domain::refusal::{Refusal, RetryCredit, With};
use crate::domain::render::Render;
use crate::domain::time::UnixSeconds;
use crate::flows::content::rendering;
use crate::flows::content::source::Trouble;
use crate::flows::sale::refusals::{self, PaidAttempt};
use crate::flows::sale::settle;
use crate::flows::sale::stored::Stored;
use crate::flows::sale::verified::Verified;
use crate::flows::sale::{deliver, margin_guard, payments, recall, response, transfer};
use crate::state::in_flight::{Clients, Outcome, Reservation};
use crate::store::credit_hash;

/// The purchase as stated in the request.
#[derive(Clone, Debug)]
pub enum Stated {
    /// Of one page; missing parts come from the credit.
    OnePage {
        target_url: String,
        level: Option<Level>,
        question: Option<String>,
        force_refresh: Option<bool>,
        render: Option<Render>,
        include_comments: Option<bool>,
        screenshot: Option<bool>,
        /// All of it, if any of it is stated.
        excerpt: Option<Box<Excerpt>>,
    },
    /// Of several sources: the request that was paid for.
    Several(Fingerprint),
}

/// A request with a credit.
#[derive(Clone, Copy, Debug)]
pub struct Redeemer<'a> {
    /// The client's address for rate limits.
    pub client: Option<IpAddr>,
    pub request_id: &'a str,
}

/// Redeems a credit once, under any concurrency. A refusal returns the credit while it is valid.
pub async fn redeem(
    app: &Shared,
    credit: CreditId,
    stated: Stated,
    redeemer: Redeemer<'_>,
    seen: &mut PaidAttempt,
) -> Outcome {
    let refusal = match attempt(app, credit, stated, redeemer, seen).await {
        Err(refusal)
            if refusal.with != With::Charged
                && matches!(
                    refusal.code,
                    Code::SettlementUnknown
                        | Code::UpstreamUnavailable
                        | Code::NetworkUnavailable
                        | Code::Overloaded
                ) =>
        {
            refusal
        }
        outcome => {
            match &outcome {
                Ok(_) => app.metrics.credits.count(["redeemed"]),
                Err(refusal) if refusal.code == Code::RetryCreditInvalid => {
                    app.metrics.credits.count(["refused"]);
                }
                Err(_) => {}
            }
            return outcome;
        }
    };
    let hash = credit_hash(credit);
    let standing = app
        .store
        .read(move |snapshot| match snapshot.payment_by_credit(hash)? {
            Some(key) => Ok(snapshot.payment(key)?.and_then(|payment| payment.credit)),
            None => Ok(None),
        });
    Err(match standing.await? {
        Some(standing) if standing.hash == hash && standing.attempts_left > 0 => refusal
            .with_credit(Some(RetryCredit {
                id: credit,
                expires_at: UnixSeconds(standing.expires_at),
                attempts_left: standing.attempts_left,
            })),
        _ => refusal,
    })
}

/// Rate-limits guesses, and work for unsettled payments. Rate limits never block delivery of what is, or may be, paid.
async fn attempt(
    app: &Shared,
    credit: CreditId,
    stated: Stated,
    redeemer: Redeemer<'_>,
    seen: &mut PaidAttempt,
) -> Outcome {
    let count = || app.admit(RateClass::Credit, redeemer.client);
    let hash = credit_hash(credit);
    let found = app
        .store
        .read(move |snapshot| snapshot.payment_by_credit(hash));
    let Some(key) = found.await? else {
        count()?;
        return Err(invalid());
    };
    let reservation = Reservation::take(&app.in_flight, key);
    // Read again: the reservation may be free because the credit has just been spent.
    let payment = app
        .store
        .read(move |snapshot| snapshot.payment(key))
        .await?
        .ok_or_else(invalid)?;
    seen.payer = Some(payment.payer);
    seen.note_purchase(&payment.purchase);
    if payment
        .credit
        .as_ref()
        .is_none_or(|credit| credit.hash != hash)
        || !covers(&payment, &stated)
    {
        count()?;
        return Err(invalid());
    }
    let alive = payment
        .credit
        .as_ref()
        .is_some_and(|credit| app.now() < UnixSeconds(credit.expires_at));
    let Some(mut reservation) = reservation else {
        return Err(match payment.state.is_open() {
            // Its settlement is under way: the payment may be charged already.
            true => refusals::not_known(None),
            false => Refusal::new(
                Code::Conflict,
                "This retry credit is being redeemed by another request.",
            ),
        });
    };
    match payment.state {
        State::Held if alive => {
            count()?;
            app.health
                .check_can_sell_product(payment.purchase.product())?;
            if payment.means.is_settled_later() {
                reservation.queue(payment.payer, &app.outside.clock).await?;
            }
            work_off(app, reservation, &payment, redeemer.request_id).await
        }
        State::Settled { .. } if alive => {
            let delivered = response::respond(app, key, &payment, None).await?;
            spend(app, key, hash).await?;
            Ok(delivered)
        }
        // Its lifetime starts when the settlement is known.
        State::Kept | State::Unknown => resolve(app, reservation, hash).await,
        _ => {
            count()?;
            Err(invalid())
        }
    }
}

/// Used, wrong, expired and unknown credits get the same response, which reveals nothing.
fn invalid() -> Refusal {
    Refusal::of(Code::RetryCreditInvalid)
}

/// Only stated members are compared.
fn covers(payment: &Payment, stated: &Stated) -> bool {
    let purchase = &payment.purchase;
    match stated {
        Stated::Several(fingerprint) => payment.fingerprint == *fingerprint,
        Stated::OnePage {
            target_url,
            level,
            question,
            force_refresh,
            render,
            include_comments,
            screenshot,
            excerpt,
        } => {
            matches!(purchase, Purchase::Context(_) | Purchase::ProofPack(_))
                && target_url == purchase.target_url()
                && level.is_none_or(|level| level == purchase.level())
                && (question.as_deref()).is_none_or(|asked| Some(asked) == purchase.question())
                && force_refresh.is_none_or(|refresh| refresh == purchase.reading().refresh)
                && render.is_none_or(|render| render == purchase.render())
                && include_comments.is_none_or(|stated| stated == purchase.extent().comments)
                && screenshot.is_none_or(|screenshot| screenshot == purchase.has_screenshot())
                && (excerpt.as_deref()).is_none_or(|excerpt| Some(excerpt) == purchase.excerpt())
        }
    }
}

/// A held authorization: spends an attempt, does the work, and settles like a first payment. What this service cannot do
/// now spends none.
async fn work_off(
    app: &Shared,
    mut reservation: Reservation,
    held: &Payment,
    request_id: &str,
) -> Outcome {
    let (key, means) = (reservation.key(), held.means);
    rendering::check_still_available(app, &held.purchase)?;
    let margin = margin_guard::check(app, &held.purchase, means)?;
    let payment = spend_attempt(app, key).await?;
    app.crash_point("redeeming");
    let delivered = deliver::deliver(app, &payment).await;
    let goods = delivered.map_err(Trouble::into_refusal)?;
    if means == Means::Transfer {
        return transfer::deliver(app, key, payment, goods, margin, request_id).await;
    }
    reservation.enter(held.payer, held.fingerprint, Clients::of(None));
    let stored = match Verified::held(app, payment) {
        Ok(verified) => {
            // The credit may have been issued beside a settlement that was not known.
            let turn = recall::take_turn(app, &reservation, &verified, None, recall::Held::Stays);
            if let Some(earlier) = turn.await? {
                return Ok(earlier);
            }
            Stored::store(app, reservation, verified, goods, margin, request_id).await
        }
        Err(refusal) => Err(refusal),
    };
    let stored = match stored {
        // Authorization or credit expired during the work. The response must be neither a 402 nor "already used".
        Err(refusal) if refusal.code == Code::PaymentReplayed || asks_for_money(&refusal) => {
            return Err(invalid());
        }
        stored => stored?,
    };
    match settle::settle(app, stored).await {
        Err(refusal) if asks_for_money(&refusal) => Err(invalid()),
        outcome => outcome,
    }
}

/// A 402 would make a client pay at this endpoint.
fn asks_for_money(refusal: &Refusal) -> bool {
    matches!(refusal.with, With::Challenge { .. })
}

async fn spend_attempt(app: &Shared, key: PaymentKey) -> Result<Payment, Refusal> {
    let spent = app.store.write(move |tables| {
        let Some(mut payment) = tables.payment(key)? else {
            return Ok(None);
        };
        let Some(credit) = payment
            .credit
            .as_mut()
            .filter(|credit| credit.attempts_left > 0)
        else {
            return Ok(None);
        };
        credit.attempts_left -= 1;
        tables.put_payment(key, &payment)?;
        Ok(Some(payment))
    });
    spent
        .await?
        .ok_or_else(|| Refusal::of(Code::RetryCreditInvalid))
}

/// Repeats the settle: success delivers, a proven failure voids the credit, still unknown spends no attempt.
async fn resolve(app: &Shared, reservation: Reservation, hash: CreditHash) -> Outcome {
    let key = reservation.key();
    match settle::resolve(app, reservation).await {
        Ok(delivered) => {
            spend(app, key, hash).await?;
            Ok(delivered)
        }
        Err(refusal) if asks_for_money(&refusal) => Err(invalid()),
        Err(refusal) => Err(refusal),
    }
}

/// Spends the credit, once: of several that came this far, only the first delivers.
async fn spend(app: &Shared, key: PaymentKey, hash: CreditHash) -> Result<(), Refusal> {
    let spent = app.store.write(move |tables| {
        let Some(mut payment) = tables.payment(key)? else {
            return Ok(false);
        };
        if payment
            .credit
            .as_ref()
            .is_none_or(|credit| credit.hash != hash)
        {
            return Ok(false);
        }
        payments::void_credit(tables, &mut payment)?;
        tables.put_payment(key, &payment)?;
        Ok(true)
    });
    // The payment of a spent credit is settled, even if the store is busy now.
    match spent.await {
        Ok(true) => Ok(()),
        Ok(false) => Err(invalid()),
        Err(error) => Err(Refusal::from(error).after_settlement()),
    }
}
