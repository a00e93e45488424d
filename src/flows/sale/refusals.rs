//! Refusals of requests with a payment: those that several steps of a sale give, and [`note`], which logs and counts each
//! and holds the latest in memory, so that the operator can look up a buyer's request id. No HTTP, nothing on disk.

use serde_json::Value;

use crate::app::App;
use crate::domain::code::Code;
use crate::domain::evm::Address;
use crate::domain::level::{Level, LineItem, Product};
use crate::domain::payment::Payment;
use crate::domain::purchase::Purchase;
use crate::domain::refusal::{FailedSettlement, Refusal, RetryCredit, With};
use crate::state::refusals::RefusedPayment;

/// Maximum length of a reason, in characters.
pub const REASON_CHARACTERS_MAX: usize = 300;

/// Maximum number of validation errors in a reason.
const COMPLAINTS_MAX: usize = 3;

/// The facts of a paid request, filled in as it is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct PaidAttempt {
    /// The payer's address, possibly unverified.
    pub payer: Option<Address>,
    pub product: Option<Product>,
    pub level: Option<Level>,
}

impl PaidAttempt {
    pub fn of(product: Product) -> PaidAttempt {
        PaidAttempt {
            product: Some(product),
            ..PaidAttempt::default()
        }
    }

    /// The purchase is known from here on.
    pub fn note_purchase(&mut self, purchase: &Purchase) {
        self.product = Some(purchase.product());
        self.level = Some(purchase.level());
    }
}

/// Records the refusal of a request with a payment. Call once per refusal.
pub fn note(app: &App, refusal: &Refusal, request_id: &str, attempt: PaidAttempt) {
    let refused = RefusedPayment {
        at: app.now(),
        code: refusal.code,
        reason: reason(refusal),
        request_id: request_id.to_owned(),
        payer: attempt.payer,
        product: attempt.product,
        level: attempt.level,
    };
    log(&refused);
    app.metrics.refusals.count([refused.code.text()]);
    app.refusals.add(refused);
}

fn log(refused: &RefusedPayment) {
    macro_rules! event {
        ($level:ident) => {
            tracing::$level!(
                target: "refusals",
                code = refused.code.text(),
                reason = refused.reason,
                request.id = refused.request_id,
                payer = refused.payer.as_ref().map(tracing::field::display),
                purchase.product = refused.product.map(Product::name),
                purchase.level = refused.level.map(Level::name),
                "paid request refused"
            )
        };
    }
    match is_ours(refused.code) {
        true => event!(warn),
        false => event!(info),
    }
}

/// Whether the service, its configuration or its facilitator is at fault, not the buyer or the target. A pause is
/// intended.
fn is_ours(code: Code) -> bool {
    matches!(
        code,
        Code::Internal
            | Code::Overloaded
            | Code::NetworkUnavailable
            | Code::SettlementUnknown
            | Code::MarginRejected
    )
}

/// The message without quotes from the request: a parser's error may contain part of the payment, such as its signature.
fn reason(refusal: &Refusal) -> String {
    let message = match refusal.code {
        Code::InvalidPayment => refusal.message.split('"').next().unwrap_or_default(),
        _ => &refusal.message,
    };
    let mut text = message.to_owned();
    if let With::Validation(errors) = &refusal.with {
        for error in errors.iter().take(COMPLAINTS_MAX) {
            let parts = error.loc.iter().map(|part| match part {
                Value::String(name) => name.clone(),
                position => position.to_string(),
            });
            let place = parts.collect::<Vec<_>>().join(".");
            text.push_str(&format!(" {place}: {}.", error.msg));
        }
    }
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    plain.take(REASON_CHARACTERS_MAX).collect()
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
        settlement: Some(Box::new(settlement)),
    })
}

/// Never a 402: a buyer would sign again and pay twice.
pub fn not_known(credit: Option<RetryCredit>) -> Refusal {
    Refusal::new(
        Code::SettlementUnknown,
        "The payment was sent for settlement and its outcome is not known yet. Do not sign again: repeat this request \
        unchanged, or use the retry credit from the first such response.",
    )
    .with_credit(credit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_bounded_and_quotes_nothing_of_the_payment() {
        let quoting = Refusal::new(
            Code::InvalidPayment,
            "The payment has the wrong shape: invalid type: string \"0x5ec7e7\", expected an object",
        );
        assert_eq!(
            reason(&quoting),
            "The payment has the wrong shape: invalid type: string "
        );
        let long = Refusal::new(Code::UpstreamRefused, "x\n".repeat(REASON_CHARACTERS_MAX));
        assert_eq!(reason(&long), "x ".repeat(REASON_CHARACTERS_MAX / 2));
    }
}
