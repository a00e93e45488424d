//! The step between the work and the settlement: the finished answer is written to disk. Only what is stored can be
//! settled, and `Stored` is its type.

use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::evm::TransactionHash;
use crate::domain::keys::PaymentKey;
use crate::domain::limit_reached::LimitReached;
use crate::domain::payment::{Event, Means, Payment, State};
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::flows::content::source::{SourcePage, Storing, held_page};
use crate::flows::internal;
use crate::flows::sale::answer::{self, Members, Sold, SoldReport};
use crate::flows::sale::deliver::Goods;
use crate::flows::sale::margin_guard::{self, Judged};
use crate::flows::sale::payments::{self, FreshCredit, stored_request};
use crate::flows::sale::refusals::{challenge, replayed};
use crate::flows::sale::verified::Verified;
use crate::outside::facilitator::{Attempt, PaymentRequest};
use crate::state::in_flight::Reservation;
use crate::store::{HeldPage, StoreError, Tables};

/// Time for a settlement on chain.
const SETTLE_SECONDS_MIN: u64 = 6;

/// An authorization whose answer is on disk: what may be settled.
#[derive(Debug)]
pub struct Stored {
    reservation: Reservation,
    request: PaymentRequest,
    attempt: Attempt,
    /// For answers made of a page, if memory allows.
    members: Option<Members>,
}

impl Stored {
    /// Writes the finished answer down, which from now on means: settle may have been sent.
    ///
    /// # Errors
    /// Nothing was stored, and nothing may be settled.
    pub async fn store(
        app: &Shared,
        reservation: Reservation,
        verified: Verified,
        goods: Goods,
        margin: Judged,
        request_id: &str,
    ) -> Result<Self, Refusal> {
        let (request, payment) = verified.into_parts();
        let key = reservation.key();
        let members = keep_answer(app, key, payment, goods, margin, request_id).await?;
        Ok(Stored {
            reservation,
            request,
            attempt: Attempt::First,
            members,
        })
    }

    /// An answer that was stored before, whose settlement has no known outcome.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn earlier(
        app: &Shared,
        reservation: Reservation,
        payment: &Payment,
    ) -> Result<Self, Refusal> {
        if !payment.state.is_open() {
            return Err(internal(
                "a payment has no open settlement",
                &reservation.key(),
            ));
        }
        Ok(Stored {
            request: stored_request(app, payment)?,
            reservation,
            attempt: Attempt::Repeated,
            members: None,
        })
    }

    pub(super) fn into_parts(self) -> (Reservation, PaymentRequest, Attempt, Option<Members>) {
        (self.reservation, self.request, self.attempt, self.members)
    }
}

/// The result of storing an answer.
enum Keeping {
    Done,
    /// Another request has used the same authorization.
    Used,
    /// The unsettled goods have reached their limit (`limits.unsettled_mib`).
    NoSpace,
}

/// The same for any payment. Returns the page's members once all is durable, if they may stay in memory.
pub async fn keep_answer(
    app: &Shared,
    key: PaymentKey,
    mut payment: Payment,
    mut goods: Goods,
    margin: Judged,
    request_id: &str,
) -> Result<Option<Members>, Refusal> {
    let now = app.now();
    if payment.valid_before() < now.plus(SETTLE_SECONDS_MIN) {
        let message = "The authorization expired during the work; nothing was charged.".to_owned();
        let reason = "invalid_exact_evm_payload_authorization_valid_before";
        return Err(challenge(payment.purchase.line_item(), reason, message));
    }
    // Of several pages the permits last until the write is done, and the answer that they make has its own.
    let mut permit = match goods.pages.as_mut_slice() {
        [(_, source)] => source.permit.hand_over(),
        _ => goods.permit.hand_over(),
    };
    // If the work cost less than estimated, the receipt states the real margin.
    let means = payment.means;
    let margin = match goods.work(app, means) {
        took if took == margin.work => margin,
        took => margin_guard::judge(app, payment.purchase.price(), took).unwrap_or(margin),
    };
    let Sold {
        answer,
        members,
        pages,
        report,
    } = answer::sold(app, key, &payment, goods, &margin, request_id)
        .map_err(|error| internal("an answer could not be written as JSON", &error))?;
    let (blob, for_store, fresh) = (answer.page, members.clone(), FreshCredit::draw());
    let is_page = report.is_none() && pages.len() == 1;
    payment.answer = Some(answer);
    let durable = app.store.write(move |tables| {
        let stored = tables.payment(key)?;
        if (stored.as_ref()).is_some_and(|stored| !may_go_on(stored, &payment)) {
            return Ok(Keeping::Used);
        }
        // The buyer's credit stays valid until delivery.
        let held = stored.filter(|stored| stored.state == State::Held);
        payment.credit = held.and_then(|held| held.credit);
        let answer = (blob, for_store.as_slice());
        if let Err(LimitReached) = hold(tables, key, answer, &pages, report.as_ref(), now)? {
            return Ok(Keeping::NoSpace);
        }
        payments::apply(tables, key, &mut payment, &Event::GoodsKept, now, fresh)?;
        if means == Means::Transfer {
            // The money has arrived already: nothing to settle.
            let transaction = TransactionHash(payment.nonce.0).to_string();
            let settled = Event::ChainUsed { transaction };
            payments::apply(tables, key, &mut payment, &settled, now, fresh)?;
        }
        Ok(Keeping::Done)
    });
    match durable.await? {
        Keeping::Done => {}
        Keeping::Used => {
            return Err(replayed(
                "This authorization was already used for another request.",
            ));
        }
        Keeping::NoSpace => {
            let unused = means.unused();
            let message = format!(
                "Too many settlements are in progress. {unused}: repeat the same request later."
            );
            return Err(Refusal::new(Code::Overloaded, message));
        }
    }
    app.crash_point("kept");
    let stays = is_page && permit.rest(members.len());
    Ok(stays.then_some(Members {
        bytes: members,
        permit,
    }))
}

/// Whether the recorded payment may go on as this one.
fn may_go_on(stored: &Payment, payment: &Payment) -> bool {
    let is_same = stored.is_of(payment.payload_hash, payment.fingerprint);
    match stored.state {
        // A credit for another purchase may have been issued since the lookup.
        State::Held => is_same,
        // Unlike an authorization, a released transfer can be used again: the money has arrived.
        State::Released => payment.means == Means::Transfer,
        // The payment it was bound to has failed.
        State::Answered { .. } => is_same,
        // Another request has used the same authorization since the lookup.
        _ => false,
    }
}

/// Holds all that the answer is made of. The pages enter the cache when the sale settles; a failed sale leaves nothing
/// behind.
fn hold(
    tables: &mut Tables<'_>,
    key: PaymentKey,
    answer: ([u8; 32], &[u8]),
    pages: &[(String, SourcePage)],
    report: Option<&SoldReport>,
    now: UnixSeconds,
) -> Result<Result<(), LimitReached>, StoreError> {
    let mut blobs = vec![answer];
    let mut held = Vec::with_capacity(pages.len());
    for (target_url, source) in pages {
        if matches!(source.storing, Storing::Unshared) {
            // Independent of the sale's outcome: the site forbids selling an older copy.
            tables.forget_page(target_url, now)?;
        }
        let page = held_page(source);
        if let Some(HeldPage::Fetched(record)) = &page {
            blobs.push((record.blob, source.page.members.as_slice()));
        }
        held.extend(page.map(|page| (target_url.clone(), page)));
    }
    if let Some(report) = report {
        blobs.push((report.record.source, report.source_text.as_slice()));
        let png = report.screenshot.as_ref();
        blobs.extend(png.map(|png| (png.sha256, png.bytes.as_slice())));
    }
    if let Err(full) = tables.hold_goods(key, held, &blobs, now)? {
        return Ok(Err(full));
    }
    if let Some(report) = report {
        tables.put_report(report.id, &report.record)?;
        if let Some(png) = &report.screenshot {
            tables.put_screenshot(report.id, png.sha256)?;
        }
    }
    Ok(Ok(()))
}
