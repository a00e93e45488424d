//! Redeems a retry credit: the same body as with the payment, and the credit in place of the payment.

use crate::api::body::check_media_type;
use crate::api::buyer::paid;
use crate::api::failure;
use crate::app::Shared;
use crate::domain::ids::CreditId;
use crate::domain::level::Product;
use crate::domain::purchase::DEFAULT_QUESTION;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::requests::PaidBody;
use crate::flows::sale::refusals::PaidAttempt;
use crate::flows::sale::retry::{self, Asker, Stated};
use crate::http::{Call, Reply};
use crate::state::delivered::Delivered;

/// POST /v1/x402/retry.
pub async fn redeem(app: Shared, call: Call) -> Reply {
    if call.header_count("x-service-retry-credit") == 0 {
        let refusal = Refusal::of(Code::RetryCreditRequired);
        return failure::reply(&app, &refusal, &call);
    }
    let mut attempt = PaidAttempt::default();
    let outcome = Box::pin(deliver(&app, &call, &mut attempt)).await;
    paid::answer(&app, &call, outcome, attempt)
}

async fn deliver(
    app: &Shared,
    call: &Call,
    attempt: &mut PaidAttempt,
) -> Result<Delivered, Refusal> {
    let read = read_credit(app, call);
    let (credit, stated) = read.map_err(|refusal| paid::unread(app, call, refusal))?;
    let asker = Asker {
        client: call.peer.client(),
        request_id: &call.request_id,
    };
    retry::redeem(app, credit, stated, asker, attempt).await
}

fn read_credit(app: &Shared, call: &Call) -> Result<(CreditId, Stated), Refusal> {
    // Several would be ambiguous.
    let Some(credit) = call.header("x-service-retry-credit") else {
        return Err(Refusal::of(Code::RetryCreditInvalid));
    };
    check_media_type(call)?;
    let body = read_body(call)?;
    let credit = CreditId::parse(credit).ok_or_else(|| Refusal::of(Code::RetryCreditInvalid))?;
    let asked = body.question().map(str::trim);
    let stated = Stated {
        target_url: paid::canonical_target(app, body.target_url())?,
        level: body.level(),
        // An empty question means the default one, as in the paid request.
        question: asked.map(|text| {
            if text.is_empty() {
                DEFAULT_QUESTION
            } else {
                text
            }
            .to_owned()
        }),
        force_refresh: body.force_refresh(),
        excerpt: body.excerpt(),
    };
    Ok((credit, stated))
}

/// Members that only a Proof Pack request has tell the products apart.
fn read_body(call: &Call) -> Result<PaidBody, Refusal> {
    let errors = match PaidBody::read(Product::Context, &call.body) {
        Ok(body) => return Ok(body),
        Err(errors) => errors,
    };
    let of_pack = |name: &str| {
        errors
            .iter()
            .any(|error| error.loc.last().is_some_and(|at| at == name))
    };
    if !of_pack("pack") && !of_pack("question") {
        return Err(Refusal::validation(errors));
    }
    PaidBody::read(Product::ProofPack, &call.body).map_err(Refusal::validation)
}
