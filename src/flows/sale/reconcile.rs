//! Looks up unknown settlements on chain. Proof from the chain is an event of the payment; without proof the payment is
//! unchanged.

use std::time::Duration;

use tokio::time::Instant;

use crate::app::Shared;
use crate::config::FacilitatorAt;
use crate::domain::keys::PaymentKey;
use crate::domain::payment::{Event, Payment};
use crate::domain::time::UnixSeconds;
use crate::flows::sale::payments::{self, Advanced};
use crate::outside::chain::{Chain, ChainError, Fate, Inquiry};
use crate::store::StoreError;
use crate::x402::onchain::ExpectedPayment;

/// Applies the chain's proof on an unknown settlement, if it arrives before `end`. `None` without proof or chain.
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
            tracing::warn!(error = %error, payment = %key, "chain lookup of a settlement failed");
            app.metrics.chain_inquiries.count(["failed"]);
            return Ok(None);
        }
    };
    app.metrics.chain_inquiries.count([name(&fate)]);
    match event(fate) {
        Some(event) => payments::record(app, key, event).await,
        None => Ok(None),
    }
}

/// How long a facilitator's refusal waits for the chain.
const CHECK_TIME_MAX: Duration = Duration::from_secs(5);

/// Whether a configured chain shows the authorization as used although the facilitator refused to settle it. False if the
/// chain does not respond.
pub async fn was_used(app: &Shared, payment: &Payment) -> bool {
    let Some((chain, inquiry)) = inquiry(app, payment) else {
        return false;
    };
    let asked = tokio::time::timeout(CHECK_TIME_MAX, chain.is_used(inquiry, app.now())).await;
    asked.is_ok_and(|used| used.unwrap_or(false))
}

/// The query, if the payment's chain is configured. Test funds are on no chain.
pub fn inquiry<'app>(app: &'app Shared, payment: &Payment) -> Option<(&'app Chain, Inquiry)> {
    let chain = app.outside.chain.as_ref()?;
    if app.config.payment.facilitator == FacilitatorAt::Sandbox || !payment.state.is_open() {
        return None;
    }
    let terms = payments::signed_terms(payment).ok()?;
    let asked = ExpectedPayment {
        network: terms.network,
        token: terms.asset,
        from: payment.payer,
        nonce: payment.nonce,
        pay_to: terms.pay_to,
        amount: terms.amount,
    };
    let inquiry = Inquiry {
        asked,
        since: UnixSeconds(payment.created_at),
        valid_before: payment.valid_before(),
    };
    (asked.network == chain.network()).then_some((chain, inquiry))
}

/// The event of a fate; `None` while it is open.
pub fn event(fate: Fate) -> Option<Event> {
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

/// The label for metrics.
fn name(fate: &Fate) -> &'static str {
    match fate {
        Fate::Paid { .. } => "paid",
        Fate::Canceled => "canceled",
        Fate::Elsewhere => "elsewhere",
        Fate::NeverUsed => "never_used",
        Fate::Open => "open",
    }
}
