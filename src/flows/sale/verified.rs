//! The first step of a sale that needs somebody else: the facilitator verifies the payment. What it has verified has a
//! type of its own, without which no answer is stored for settlement.

use std::time::Duration;

use crate::app::{App, Shared};
use crate::domain::code::Code;
use crate::domain::level::Level;
use crate::domain::payment::{Payment, State};
use crate::domain::purchase::Purchase;
use crate::domain::refusal::Refusal;
use crate::domain::render::Render;
use crate::flows::content::{rendering, several};
use crate::flows::sale::payments::{self, stored_request};
use crate::flows::sale::refusals::challenge;
use crate::flows::sale::request::PaidRequest;
use crate::outside::facilitator::{PaymentRequest, Verification};
use crate::x402::proof::PaymentProof;
use crate::x402::wire::WrittenRequirements;

/// An authorization that the facilitator has verified.
#[derive(Debug)]
pub struct Verified {
    request: PaymentRequest,
    payment: Payment,
}

impl Verified {
    /// Has the facilitator verify a payment.
    ///
    /// # Errors
    /// A challenge for a payment that is not valid.
    pub async fn verify(
        app: &Shared,
        proof: PaymentProof,
        offer: WrittenRequirements,
        request: &PaidRequest,
    ) -> Result<Self, Refusal> {
        let facilitator = &app.outside.facilitator;
        let asked = facilitator.request(&proof, &offer);
        let verification = facilitator.verify(&asked, app.now()).await;
        let outcome = verification.as_ref().map(|_| ());
        app.health.note_verification(outcome, app.now());
        match verification {
            Ok(Verification::Valid { .. }) => {}
            Ok(Verification::Invalid { reason }) => {
                let message = format!("The payment is not valid ({reason}); nothing was charged.");
                return Err(challenge(request.purchase.line_item(), &reason, message));
            }
            Err(error) => {
                tracing::error!(error = %error, "facilitator could not verify a payment");
                let message = "The payment could not be verified right now. It was not used.";
                return Err(Refusal::new(Code::NetworkUnavailable, message));
            }
        }
        app.crash_point("verified");
        let payment = payments::verified(
            &proof,
            &offer,
            request.purchase.clone(),
            request.attribution.clone(),
            request.client,
            app.now(),
        );
        Ok(Verified {
            request: asked,
            payment,
        })
    }

    /// A payment whose credit is redeemed: it was verified before its record said that a credit holds it.
    ///
    /// # Errors
    /// What cannot be read, and `PaymentReplayed` for a payment that no credit holds.
    pub fn held(app: &Shared, payment: Payment) -> Result<Self, Refusal> {
        if payment.state != State::Held {
            return Err(Refusal::of(Code::PaymentReplayed));
        }
        Ok(Verified {
            request: stored_request(app, &payment)?,
            payment,
        })
    }

    pub fn payment(&self) -> &Payment {
        &self.payment
    }

    pub fn into_payment(self) -> Payment {
        self.payment
    }

    pub(super) fn into_parts(self) -> (PaymentRequest, Payment) {
        (self.request, self.payment)
    }
}

/// What is read for a purchase.
#[derive(Clone, Copy, Debug)]
pub enum Reads {
    One {
        render: Render,
        has_screenshot: bool,
    },
    Several,
}

/// How long a purchase may take until it is settled: its work, and the facilitator's time to verify.
pub fn work_time_max(app: &App, level: Level, reads: Reads) -> Duration {
    let model = app.config.llm.as_ref();
    let model = model.filter(|_| level.may_synthesize());
    let reading = match reads {
        Reads::One {
            render,
            has_screenshot,
        } => {
            let picture = match has_screenshot {
                true => rendering::time_max(app, Render::Always),
                false => Duration::ZERO,
            };
            app.config.fetch.time_max + rendering::time_max(app, render) + picture
        }
        Reads::Several => several::WORK_MAX,
    };
    reading + model.map_or(Duration::ZERO, |llm| llm.time_max) + app.config.payment.verify_time_max
}

/// The checks without upstreams. An invalid payment gets a new challenge.
pub fn check_terms(
    app: &Shared,
    purchase: &Purchase,
    proof: &PaymentProof,
) -> Result<WrittenRequirements, Refusal> {
    let offer = app.offers.of(purchase);
    let reads = match purchase {
        Purchase::Context(_) | Purchase::ProofPack(_) => Reads::One {
            render: purchase.render(),
            has_screenshot: purchase.has_screenshot(),
        },
        Purchase::Pages(_) | Purchase::ProofBundle(_) | Purchase::Check(_) => Reads::Several,
    };
    let work = work_time_max(app, purchase.level(), reads);
    let offers = app.offers.honoured(offer, app.now());
    let resource = app.offers.resource(purchase.product());
    let checked = proof.check(&offers, resource, app.now(), work.as_secs());
    let echo = proof.check_echo(&offer.challenge.advertised);
    match checked.and_then(|terms| echo.map(|()| terms)) {
        Ok(terms) => Ok(terms.clone()),
        Err(mismatch) => Err(challenge(
            offer.item,
            mismatch.reason(),
            format!("{mismatch}; nothing was charged."),
        )),
    }
}
