//! Builds the response of a settled payment from its stored answer.

use std::sync::Arc;

use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::keys::PaymentKey;
use crate::domain::limit_reached::LimitReached;
use crate::domain::payment::{KeptAnswer, Payment, State};
use crate::domain::purchase::Purchase;
use crate::domain::refusal::{Refusal, With};
use crate::domain::time::UnixSeconds;
use crate::flows::content::MEMORY_WAIT_MAX;
use crate::flows::content::reports;
use crate::flows::content::source::STORING_FACTOR;
use crate::flows::internal;
use crate::flows::sale::answer::{self, Members};
use crate::flows::sale::refusals::replayed;
use crate::outside::memory::UNCOUNTED_BYTES;
use crate::state::in_flight::Outcome;
use crate::state::in_flight::delivered::{AnswerInFlight, Body, Delivered};

/// Four characters ([`crate::state::page::tokens`]) in UTF-8.
const TOKEN_BYTES_MAX: usize = 16;

/// Builds the answer of a settled payment, always the same bytes.
pub async fn respond(
    app: &Shared,
    key: PaymentKey,
    payment: &Payment,
    members: Option<Members>,
) -> Outcome {
    let (State::Settled { transaction, at }, Some(kept)) = (&payment.state, &payment.answer) else {
        return Err(expired());
    };
    let sending = AnswerInFlight::begin(&app.in_flight, &app.outside.clock, key);
    let body = match &payment.purchase {
        Purchase::Context(_) | Purchase::Pages(_) => {
            context_body(app, payment, kept, members).await
        }
        // The stored report is the answer, byte for byte.
        Purchase::ProofPack(_) | Purchase::ProofBundle(_) | Purchase::Check(_) => {
            reports::sold_body(app, key)
                .await
                .and_then(|body| body.ok_or_else(expired))
                .map(|body| Body::new(body, app.outside.memory.nothing()))
        }
    };
    let body = body.map_err(Refusal::after_settlement)?;
    Ok(Delivered {
        body: Arc::new(body),
        transaction: transaction.clone(),
        settled_at: UnixSeconds(*at),
        means: payment.means,
        payer: payment.payer.to_string(),
        item: payment.purchase.line_item(),
        content_sha256: kept.content_sha256.clone(),
        tokens: kept.tokens,
        cache_hit: kept.cache_hit,
        redelivery_of: None,
        sending,
    })
}

/// The response of a used authorization is no longer stored.
pub fn expired() -> Refusal {
    replayed("This authorization was used, and its response has expired.").with(With::Charged)
}

async fn context_body(
    app: &Shared,
    payment: &Payment,
    kept: &KeptAnswer,
    members: Option<Members>,
) -> Result<Body, Refusal> {
    let paid = answer::paid(app, payment)
        .map_err(|error| internal("an answer could not be written as JSON", &error))?;
    let transaction = payment.state.transaction().unwrap_or_default().to_owned();
    let (page, own) = (kept.page, kept.own.clone());
    let whole = move |members: &[u8]| {
        crate::domain::answer::whole(&[own.as_bytes(), members], &paid, &transaction)
    };
    let full = |LimitReached| Refusal::of(Code::Overloaded);
    if let Some(Members { bytes, mut permit }) = members {
        let permitted = permit.resized(2 * bytes.len(), MEMORY_WAIT_MAX).await;
        permitted.map_err(full)?;
        return Ok(Body::new(whole(&bytes), permit));
    }
    let mut permit = app.outside.memory.nothing();
    let bytes = page_bytes(app, payment, kept).await?;
    let permitted = permit
        .resized(bytes.saturating_mul(STORING_FACTOR), MEMORY_WAIT_MAX)
        .await;
    permitted.map_err(full)?;
    let read = app
        .store
        .read(move |snapshot| snapshot.blob_with(page, whole));
    let body = read
        .await?
        .ok_or_else(|| internal("the page of a stored answer is missing", &hex::encode(page)))?;
    Ok(Body::new(body, permit))
}

/// Maximum size of a page's members, from the cache if it still has the page; the size of several pages' own.
async fn page_bytes(app: &Shared, payment: &Payment, kept: &KeptAnswer) -> Result<usize, Refusal> {
    if let Purchase::Pages(_) = payment.purchase {
        let page = kept.page;
        let length = app.store.look_up(|snapshot| snapshot.blob_length(page))?;
        return Ok(length);
    }
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
