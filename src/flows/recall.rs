//! What the records already say: an authorization that was used, a purchase that was paid before under the same
//! identifier, one whose settlement is not known. None of these is worked on or settled again.

use std::sync::Arc;

use crate::app::Shared;
use crate::domain::payment::{Event, KeptAnswer, Payment, PaymentKey, State};
use crate::domain::purchase::{Fingerprint, Purchase};
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::UnixSeconds;
use crate::flows::answer::{self, Body, Members};
use crate::flows::desk::{Claim, Outcome};
use crate::flows::internal;
use crate::flows::payments::{self, redelivery_end};
use crate::flows::reports;
use crate::flows::sale::{Delivered, Verified, in_use, not_settled, replayed};
use crate::flows::settle;
use crate::flows::source::{MEMORY_WAIT_MAX, STORING_FACTOR};
use crate::outside::memory::{MemoryFull, UNCOUNTED_BYTES};
use crate::x402::address::Address;

/// How often a kept answer is given again to the payload that bought it (decisions, Money 4).
const REDELIVERIES_MAX: u8 = 5;

/// Four characters ([`crate::flows::page::tokens`]) in UTF-8.
const TOKEN_BYTES_MAX: usize = 16;

/// What the records say of this authorization.
#[derive(Debug)]
pub enum Recalled {
    Nothing,
    Answer(Delivered),
    Unknown,
}

/// Looks an authorization up before anything is asked of anybody.
pub async fn recall(
    app: &Shared,
    key: PaymentKey,
    payload_hash: [u8; 32],
    fingerprint: Fingerprint,
) -> Result<Recalled, Refusal> {
    let Some(payment) = app
        .store
        .read(move |snapshot| snapshot.payment(key))
        .await?
    else {
        return Ok(Recalled::Nothing);
    };
    // After settlement nonce and signature are public on chain: only the very bytes that were verified get the answer.
    if !payment.is_of(payload_hash, fingerprint) {
        return Err(replayed(
            "This authorization was already used for another request.",
        ));
    }
    match &payment.state {
        State::Settled { at, .. } if app.now() < redelivery_end(*at) => redeliver(app, key).await,
        State::Settled { .. } => Err(no_longer_kept()),
        State::Failed { reason } => Err(not_settled(&payment, reason)),
        State::Released => Err(replayed(
            "This authorization was let go when its retry credit ran out.",
        )),
        State::New | State::Held => Ok(Recalled::Nothing),
        State::Kept | State::Unknown => Ok(Recalled::Unknown),
    }
}

/// Gives a kept answer out once more, and counts it.
async fn redeliver(app: &Shared, key: PaymentKey) -> Result<Recalled, Refusal> {
    let counted = app.store.write(move |tables| {
        let Some(mut payment) = tables.payment(key)? else {
            return Ok(None);
        };
        if payment.redelivered >= REDELIVERIES_MAX || payment.answer.is_none() {
            return Ok(None);
        }
        payment.redelivered += 1;
        tables.put_payment(key, &payment)?;
        Ok(Some(payment))
    });
    match counted.await? {
        Some(payment) => match delivered(app, key, &payment, None).await {
            Ok(delivered) => Ok(Recalled::Answer(Delivered {
                redelivery_of: Some(key),
                ..delivered
            })),
            Err(refusal) => {
                withheld(app.clone(), key).await;
                Err(refusal)
            }
        },
        None => Err(replayed(
            "This authorization was used, and its answer was given out often enough.",
        )),
    }
}

/// A redelivery was not made after all: it does not count.
pub async fn withheld(app: Shared, key: PaymentKey) {
    let uncounted = app.store.write(move |tables| {
        let Some(mut payment) = tables.payment(key)? else {
            return Ok(());
        };
        payment.redelivered = payment.redelivered.saturating_sub(1);
        tables.put_payment(key, &payment)
    });
    if let Err(error) = uncounted.await {
        tracing::error!(%error, "a redelivery that was not made counts as one");
    }
}

/// Two payments under one identifier must not be worked on at the same time.
pub fn claim_identifier(app: &Shared, verified: &Verified) -> Result<Option<Claim>, Refusal> {
    match verified.payment.identifier {
        None => Ok(None),
        Some(identifier) => Claim::take(app, identifier).map(Some).ok_or_else(in_use),
    }
}

/// The buyer has proven control of `from`. If the same purchase was paid before under this identifier, or its
/// settlement is not known, that one is answered and this payment is not settled.
pub async fn known_purchase(
    app: &Shared,
    verified: &Verified,
    identifier: Option<&Claim>,
    own: PaymentKey,
) -> Result<Option<Outcome>, Refusal> {
    let fingerprint = verified.payment.fingerprint;
    if let Some(identifier) = identifier.map(Claim::key) {
        let earlier =
            app.store.read(
                move |snapshot| match snapshot.payment_by_identifier(identifier)? {
                    Some(key) => Ok(snapshot.payment(key)?.map(|payment| (key, payment))),
                    None => Ok(None),
                },
            );
        match earlier.await? {
            Some((_, payment)) if payment.fingerprint != fingerprint => {
                return Err(Refusal::of(Code::PaymentIdentifierUsed));
            }
            Some((key, payment)) if key != own && payment.state.is_open() => {
                return Ok(Some(
                    settle::resolve(app, Claim::take(app, key).ok_or_else(in_use)?).await,
                ));
            }
            Some((key, payment)) if key != own && payment.answer.is_some() => {
                return Ok(Some(delivered(app, key, &payment, None).await));
            }
            _ => {}
        }
    }
    let Some(key) = app
        .desk
        .unfinished(verified.payment.payer, fingerprint)
        .filter(|key| *key != own)
    else {
        return Ok(None);
    };
    let claim = Claim::take(app, key).ok_or_else(in_use)?;
    let stored = app.store.read(move |snapshot| snapshot.payment(key));
    let Some(payment) = stored
        .await?
        .filter(|payment| payment.fingerprint == fingerprint)
    else {
        return Ok(None);
    };
    if payment.state == State::Held {
        // A new payment for the same purchase takes the held one's place.
        payments::advance(app, key, Event::CreditExpired).await?;
        return Ok(None);
    }
    Ok(Some(settle::resolve(app, claim).await))
}

/// Puts the answer of a settled payment together: the same bytes every time.
pub async fn delivered(
    app: &Shared,
    key: PaymentKey,
    payment: &Payment,
    members: Option<Members>,
) -> Outcome {
    let (State::Settled { transaction, at }, Some(kept)) = (&payment.state, &payment.answer) else {
        return Err(no_longer_kept());
    };
    let body = match &payment.purchase {
        Purchase::Context(_) => context_body(app, payment, kept, members).await,
        // The retained report is the answer, to the byte.
        Purchase::ProofPack(_) => reports::sold_body(app, key)
            .await
            .and_then(|body| body.ok_or_else(no_longer_kept))
            .map(|body| Body::new(body, app.outside.memory.nothing())),
    };
    let body = body.map_err(Refusal::after_settlement)?;
    Ok(Delivered {
        body: Arc::new(body),
        transaction: transaction.clone(),
        settled_at: UnixSeconds(*at),
        means: payment.means(),
        payer: Address(payment.payer).to_string(),
        level: payment.purchase.level(),
        content_sha256: kept.content_sha256.clone(),
        tokens: kept.tokens,
        cache_hit: kept.cache_hit,
        redelivery_of: None,
    })
}

fn no_longer_kept() -> Refusal {
    replayed("This authorization was used, and its answer is no longer kept.")
}

async fn context_body(
    app: &Shared,
    payment: &Payment,
    kept: &KeptAnswer,
    members: Option<Members>,
) -> Result<Body, Refusal> {
    let paid = answer::paid(app, payment)
        .map_err(|error| internal("an answer could not be written as JSON", &error))?;
    let transaction = match &payment.state {
        State::Settled { transaction, .. } => transaction.clone(),
        _ => String::new(),
    };
    let (page, own) = (kept.page, kept.own.clone());
    let whole =
        move |members: &[u8]| answer::whole(&[own.as_bytes(), members], &paid, &transaction);
    let full = |MemoryFull| Refusal::of(Code::Overloaded);
    if let Some(Members {
        bytes,
        mut allotment,
    }) = members
    {
        let allotted = allotment.resized(2 * bytes.len(), MEMORY_WAIT_MAX).await;
        allotted.map_err(full)?;
        return Ok(Body::new(whole(&bytes), allotment));
    }
    let mut allotment = app.outside.memory.nothing();
    let bytes = page_bytes(app, payment, kept).await?;
    let allotted = allotment
        .resized(bytes.saturating_mul(STORING_FACTOR), MEMORY_WAIT_MAX)
        .await;
    allotted.map_err(full)?;
    let read = app
        .store
        .read(move |snapshot| snapshot.blob_with(page, whole));
    let body = read
        .await?
        .ok_or_else(|| internal("a kept answer has lost its page", &hex::encode(page)))?;
    Ok(Body::new(body, allotment))
}

/// How long a page's members are at most: the cache knows of those that it still has.
async fn page_bytes(app: &Shared, payment: &Payment, kept: &KeptAnswer) -> Result<usize, Refusal> {
    let tokens = usize::try_from(kept.tokens).unwrap_or(usize::MAX);
    let at_most = tokens.saturating_mul(TOKEN_BYTES_MAX);
    if at_most <= UNCOUNTED_BYTES / STORING_FACTOR {
        return Ok(at_most);
    }
    let (page, target_url) = (kept.page, payment.purchase.target_url().to_owned());
    let cached = app
        .store
        .read(move |snapshot| snapshot.page(&target_url))
        .await?;
    let exactly = cached
        .filter(|cached| cached.blob == page)
        .and_then(|cached| usize::try_from(cached.blob_bytes).ok());
    Ok(exactly.unwrap_or(at_most))
}
