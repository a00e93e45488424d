//! Asking the chain what became of a settlement that nobody else can tell. What the chain proves is an event of the
//! payment like any other; what it does not prove leaves the payment as it is.

use tokio::time::Instant;

use crate::app::Shared;
use crate::config::FacilitatorAt;
use crate::domain::payment::{Event, Payment, PaymentKey, State};
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::flows::desk::Claim;
use crate::flows::payments::{self, Advanced};
use crate::flows::sale::in_use;
use crate::flows::settle::{self, Settling};
use crate::outside::chain::{Chain, ChainError, Fate, Inquiry};
use crate::store::StoreError;
use crate::x402::address::{Address, Nonce};
use crate::x402::onchain::Asked;

/// Carries out what the chain proves of an unknown settlement, if it does so before `end`. `None` when it proves
/// nothing, or is not asked.
pub async fn ask_chain(
    app: &Shared,
    key: PaymentKey,
    payment: &Payment,
    end: Instant,
) -> Result<Option<Advanced>, StoreError> {
    let Some((chain, inquiry)) = inquiry(app, payment).filter(|_| Instant::now() < end) else {
        return Ok(None);
    };
    let asked = tokio::time::timeout_at(end, chain.fate(inquiry, app.now())).await;
    let fate = match asked.unwrap_or(Err(ChainError::TimedOut)) {
        Ok(fate) => fate,
        Err(error) => {
            tracing::warn!(error = %error, payment = %hex::encode(key), "the chain could not tell a settlement's end");
            app.metrics.chain_inquiry("failed");
            return Ok(None);
        }
    };
    app.metrics.chain_inquiry(name(&fate));
    match event(fate) {
        Some(event) => settle::record(app, key, event).await,
        None => Ok(None),
    }
}

/// What to ask, where the chain of this payment's terms is there to be asked. Play money is on no chain.
fn inquiry<'app>(app: &'app Shared, payment: &Payment) -> Option<(&'app Chain, Inquiry)> {
    let chain = app.outside.chain.as_ref()?;
    if app.config.payment.facilitator == FacilitatorAt::Sandbox || payment.state != State::Unknown {
        return None;
    }
    // The terms that were signed, which need not be today's.
    let terms = Settling::stored(payment).ok()?.offer;
    let asked = Asked {
        network: terms.network,
        token: terms.asset,
        from: Address(payment.payer),
        nonce: Nonce(payment.nonce),
        pay_to: terms.pay_to,
        amount: terms.amount,
    };
    let inquiry = Inquiry {
        asked,
        since: UnixSeconds(payment.created_at),
        valid_before: UnixSeconds(payment.valid_before),
    };
    (asked.network == chain.network()).then_some((chain, inquiry))
}

fn event(fate: Fate) -> Option<Event> {
    match fate {
        Fate::Paid { transaction } => Some(Event::ChainUsed {
            transaction: transaction.to_string(),
        }),
        Fate::Canceled => Some(Event::ChainCanceled),
        Fate::Elsewhere => Some(Event::ChainUsedElsewhere),
        Fate::NeverUsed => Some(Event::ChainNeverUsed),
        Fate::Open => None,
    }
}

/// The word for metrics.
fn name(fate: &Fate) -> &'static str {
    match fate {
        Fate::Paid { .. } => "paid",
        Fate::Canceled => "canceled",
        Fate::Elsewhere => "elsewhere",
        Fate::NeverUsed => "never_used",
        Fate::Open => "open",
    }
}

/// For the operator: does now what the background does by and by. Gives the payment as it stands afterwards; `None`
/// when there is no such payment.
pub async fn reconcile(app: &Shared, key: PaymentKey) -> Result<Option<Payment>, Refusal> {
    let stored = move || app.store.read(move |snapshot| snapshot.payment(key));
    if stored()
        .await?
        .is_some_and(|payment| payment.state.is_open())
    {
        let claim = Claim::take(app, key).ok_or_else(in_use)?;
        // What a buyer would be told is not the operator's question.
        let _ = settle::resolve(app, claim).await;
    }
    let payment = stored().await?;
    if let Some(payment) = &payment {
        payments::note(app, key, payment);
    }
    Ok(payment)
}
