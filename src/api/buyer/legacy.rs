//! Legacy endpoints from before x402 version 2.

use serde_json::json;

use crate::api::body::{check_media_type, ignored};
use crate::api::buyer::paid::{TRANSFER_HASH, answer, paid_request, unread};
use crate::api::failure;
use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::evm::{Signature, TransactionHash};
use crate::domain::level::Product;
use crate::domain::refusal::Refusal;
use crate::domain::requests::{ComputeRequest, Request};
use crate::domain::schema::ValidationError;
use crate::flows::quotes::brokerage;
use crate::flows::sale::refusals::PaidAttempt;
use crate::flows::sale::request::PaidRequest;
use crate::flows::sale::transfer::{self, TransferProof};
use crate::http::{Call, Reply};

const TOKEN: &str = "x402-token";

/// Carries the signature of the transfer's sender.
const PROOF: &str = "x-service-payment-proof";
/// Carries a secret of the buyer's choice, to request a lost response again.
const SECRET: &str = "idempotency-key";
const SECRET_CHARACTERS: std::ops::RangeInclusive<usize> = 16..=128;

/// POST /v1/access: sells the page for an earlier transfer. Without its hash, explains how to make one.
pub async fn access(app: Shared, call: Call) -> Reply {
    if call.header_count(TRANSFER_HASH) == 0 {
        let message = match app.config.legacy.access {
            true => Code::PaymentHashRequired.meaning(),
            false => {
                "This service does not accept transfers: do not transfer anything, buy at /v1/x402/access."
            }
        };
        return failure::reply(
            &app,
            &Refusal::new(Code::PaymentHashRequired, message),
            &call,
        );
    }
    let mut attempt = PaidAttempt::of(Product::Context);
    let outcome = match read_request(&app, &call) {
        Ok((request, proof)) => {
            attempt.note_purchase(&request.purchase);
            Box::pin(transfer::sell(&app, request, proof, &mut attempt)).await
        }
        Err(refusal) => Err(unread(&app, &call, refusal)),
    };
    answer(&app, &call, outcome, attempt)
}

fn read_request(app: &Shared, call: &Call) -> Result<(PaidRequest, TransferProof), Refusal> {
    let proof = TransferProof {
        transaction: transaction(call)?,
        secret: secret(call)?,
        signature: signature(call)?,
    };
    Ok((paid_request(app, call, Product::Context)?, proof))
}

/// Exactly one hash: 64 hex digits in upper or lower case, with or without 0x.
fn transaction(call: &Call) -> Result<TransactionHash, Refusal> {
    let text = call.header(TRANSFER_HASH).unwrap_or_default().trim();
    let has_prefix = text.starts_with("0x") || text.starts_with("0X");
    let digits = if has_prefix { &text[2..] } else { text };
    let hash = TransactionHash::parse(&format!("0x{digits}"));
    hash.filter(|_| call.header_count(TRANSFER_HASH) == 1).ok_or_else(|| {
        let message = "Send one X-Service-Payment-Hash header: 0x and the 64 hex digits of the transaction's hash.";
        Refusal::new(Code::InvalidPaymentHash, message)
    })
}

/// The sender's signature: 0x and 130 hex digits.
fn signature(call: &Call) -> Result<Option<Signature>, Refusal> {
    let read = call.header(PROOF).map(str::trim).and_then(Signature::parse);
    match (call.header_count(PROOF), read) {
        (0, _) => Ok(None),
        (1, Some(signature)) => Ok(Some(signature)),
        _ => Err(Refusal::validation(vec![ValidationError::value(
            &["header", "X-Service-Payment-Proof"],
            "send it once, as 0x and the 130 hex digits of a signature",
            None,
        )])),
    }
}

fn secret(call: &Call) -> Result<Option<String>, Refusal> {
    let fits = |text: &&str| {
        SECRET_CHARACTERS.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
    };
    match (call.header_count(SECRET), call.header(SECRET).filter(fits)) {
        (0, _) => Ok(None),
        (1, Some(text)) => Ok(Some(text.to_owned())),
        _ => Err(Refusal::validation(vec![ValidationError::value(
            &["header", "Idempotency-Key"],
            "send it once, with 16 to 128 visible ASCII characters",
            None,
        )])),
    }
}

/// POST /v1/broker/compute: a stub that requires a token and runs nothing.
pub async fn compute(app: Shared, call: Call) -> Reply {
    if !app.config.legacy.access {
        return failure::reply(&app, &Refusal::of(Code::TransfersNotTaken), &call);
    }
    let task = match check_media_type(&call).and_then(|()| task(&call)) {
        Ok(task) => task,
        Err(refusal) => return failure::reply(&app, &refusal, &call),
    };
    let job = brokerage::offer(&app, task.offered_fee);
    let mut answer = json!({
        "status": "simulated",
        "job_id": job.id.to_string(),
        "agent_id": task.agent_id,
        "accepted": job.simulated.accepted,
        "offered_fee": task.offered_fee,
        "estimated_cost": job.simulated.estimated_cost_usdc,
        "projected_margin": job.simulated.projected_margin,
        "simulated": true,
        "request_id": call.request_id,
    });
    let ignored = ignored(&call, ComputeRequest::TABLE);
    if !ignored.is_empty() {
        answer["ignored_fields"] = ignored.into();
    }
    Reply::json(200, answer.to_string()).no_store()
}

/// The body, or one error that lists everything missing.
fn task(call: &Call) -> Result<ComputeRequest, Refusal> {
    let mut errors = Vec::new();
    if call.header_count(TOKEN) == 0 {
        errors.push(ValidationError::new(
            &["header", TOKEN],
            "missing",
            "Field required",
            None,
        ));
    }
    match ComputeRequest::read(&call.body) {
        Ok(task) if errors.is_empty() => Ok(task),
        Ok(_) => Err(Refusal::validation(errors)),
        Err(more) => {
            errors.extend(more);
            Err(Refusal::validation(errors))
        }
    }
}
