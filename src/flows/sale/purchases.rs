//! What a payer has bought in the last 30 days, for the payer who has signed in: the list, and one answer again. Nothing
//! is charged, and the answer's limit of redeliveries does not apply, because the payer has proven who it is.

use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::evm::Address;
use crate::domain::ids::{PurchaseId, ReportId};
use crate::domain::limit_reached::LimitReached;
use crate::domain::payment::{Payment, State};
use crate::domain::refusal::Refusal;
use crate::domain::time::{PURCHASE_SECONDS, UnixSeconds};
use crate::flows::content::reports;
use crate::flows::sale::response;
use crate::outside::chance;
use crate::state::in_flight::delivered::Delivered;
use crate::store::BoughtPayment;
use crate::x402::sign_in::{self, Service, SignInError, SignedIn};

/// Where purchases are listed, and what a statement has to be signed for.
pub const PATH: &str = "/v1/x402/purchases";
/// Rows of an answer.
pub const LIMIT_MAX: usize = 100;
pub const LIMIT_DEFAULT: usize = 20;

/// A purchase in its payer's list.
#[derive(Clone, Debug)]
pub struct Bought {
    pub id: PurchaseId,
    pub payment: Payment,
    pub transaction: String,
    pub settled_at: UnixSeconds,
    /// Its report, while it can be read.
    pub report: Option<(ReportId, UnixSeconds)>,
    /// Whether the answer can be read again now.
    pub is_kept: bool,
    /// Whether the answer was never sent completely.
    pub is_owed: bool,
}

/// A part of the list.
#[derive(Clone, Debug)]
pub struct Page {
    pub purchases: Vec<Bought>,
    pub is_more: bool,
}

/// The answer of one purchase.
#[derive(Debug)]
pub enum Again {
    Kept(Box<Delivered>),
    /// The bytes of a retained report, whose sale keeps no answer any longer.
    Report(Vec<u8>),
}

/// Why nobody is signed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotSignedIn {
    Statement(SignInError),
    Full,
}

fn service(app: &Shared) -> Service<'_> {
    Service {
        base_url: &app.config.base_url,
        path: PATH,
        network: app.config.payment.network,
    }
}

/// The extension of a challenge to sign in, with a fresh nonce.
pub fn extension(app: &Shared) -> serde_json::Value {
    let now = app.now();
    let nonce = app.sign_in_nonces.issue(chance::bytes(), now);
    service(app).extension(&nonce, now)
}

/// The address that has signed a header, whose nonce is used up by this.
pub fn sign_in(app: &Shared, header: &str) -> Result<Address, NotSignedIn> {
    let now = app.now();
    let read = sign_in::read(header, &service(app), now);
    let SignedIn { address, nonce } = read.map_err(NotSignedIn::Statement)?;
    match app.sign_in_nonces.spend(&nonce, now) {
        Ok(Ok(())) => Ok(address),
        Ok(Err(error)) => Err(NotSignedIn::Statement(error)),
        Err(LimitReached) => Err(NotSignedIn::Full),
    }
}

/// Everything settled later than this is listed.
fn since(app: &Shared) -> UnixSeconds {
    UnixSeconds(app.now().0.saturating_sub(PURCHASE_SECONDS))
}

/// A payer's purchases, newest first.
pub async fn list(
    app: &Shared,
    payer: Address,
    before: Option<PurchaseId>,
    limit: usize,
) -> Result<Page, Refusal> {
    let (now, since) = (app.now(), since(app));
    let found = app.store.read(move |snapshot| {
        let rows = snapshot.purchases(payer, before, since, limit + 1)?;
        let rows = rows.into_iter().map(|bought| {
            let report = snapshot.report_of(bought.key)?;
            let report = report
                .filter(|(_, record)| record.transaction.is_some() && !record.is_expired(now));
            let report = report.map(|(id, record)| (id, UnixSeconds(record.expires_at)));
            Ok((bought, report))
        });
        rows.collect::<Result<Vec<_>, _>>()
    });
    let mut found = found.await?;
    let is_more = found.len() > limit;
    found.truncate(limit);
    let purchases = found
        .into_iter()
        .filter_map(|(bought, report)| described(app, bought, report))
        .collect();
    Ok(Page { purchases, is_more })
}

fn described(
    app: &Shared,
    bought: BoughtPayment,
    report: Option<(ReportId, UnixSeconds)>,
) -> Option<Bought> {
    let BoughtPayment { id, key, payment } = bought;
    let State::Settled { transaction, at } = payment.state.clone() else {
        return None;
    };
    let is_owed = payment.delivery.is_owed && !app.in_flight.answers.has(key);
    Some(Bought {
        id,
        transaction,
        settled_at: UnixSeconds(at),
        is_kept: payment.answer.is_some() || report.is_some(),
        report,
        is_owed,
        payment,
    })
}

/// The answer of one of the payer's purchases again. Whatever was owed for it is given by this.
pub async fn again(app: &Shared, payer: Address, id: &str) -> Result<Again, Refusal> {
    let not_found = || Refusal::of(Code::PurchaseNotFound);
    let id = PurchaseId::parse(id).ok_or_else(not_found)?;
    let since = since(app);
    let found = app
        .store
        .read(move |snapshot| snapshot.purchase(payer, id, since));
    let BoughtPayment { key, payment, .. } = found.await?.ok_or_else(not_found)?;
    if payment.answer.is_some() {
        let delivered = response::respond(app, key, &payment, None).await;
        // Nothing was paid by this request, so nothing of it is charged.
        let delivered = delivered.map_err(|refusal| Refusal::new(refusal.code, refusal.message))?;
        return Ok(Again::Kept(Box::new(delivered)));
    }
    match reports::sold_body(app, key).await? {
        Some(body) => Ok(Again::Report(body)),
        None => Err(Refusal::of(Code::AnswerExpired)),
    }
}
