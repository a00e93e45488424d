//! Redeems a retry credit: the same body as with the payment, and the credit in place of the payment.

use serde_json::Value;

use crate::api::body::check_media_type;
use crate::api::buyer::{paid, sources};
use crate::api::failure;
use crate::app::Shared;
use crate::domain::code::Code;
use crate::domain::ids::CreditId;
use crate::domain::level::Product;
use crate::domain::purchase::DEFAULT_QUESTION;
use crate::domain::refusal::Refusal;
use crate::domain::requests::{AsksForPart, PaidBody};
use crate::domain::schema::without_mark;
use crate::flows::sale::refusals::PaidAttempt;
use crate::flows::sale::retry::{self, Redeemer, Stated};
use crate::http::{Call, Reply};
use crate::state::in_flight::delivered::Delivered;

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
    let redeemer = Redeemer {
        client: call.peer.client(),
        request_id: &call.request_id,
    };
    retry::redeem(app, credit, stated, redeemer, attempt).await
}

fn read_credit(app: &Shared, call: &Call) -> Result<(CreditId, Stated), Refusal> {
    // Several would be ambiguous.
    let Some(credit) = call.header("x-service-retry-credit") else {
        return Err(Refusal::of(Code::RetryCreditInvalid));
    };
    check_media_type(call)?;
    let body = read_body(call)?;
    let credit = CreditId::parse(credit).ok_or_else(|| Refusal::of(Code::RetryCreditInvalid))?;
    Ok((credit, stated(app, body)?))
}

fn stated(app: &Shared, body: PaidBody) -> Result<Stated, Refusal> {
    let level = body.level();
    let (mut excerpt, mut screenshot) = (None, None);
    let (target_url, question, force_refresh, render, include_comments) = match body {
        PaidBody::Access(body) => {
            excerpt = Some(Box::new(body.excerpt())).filter(|excerpt| !excerpt.is_whole());
            let comments = body.include_comments;
            (
                body.target_url,
                None,
                body.force_refresh,
                body.render,
                comments,
            )
        }
        PaidBody::ProofPack(body) => {
            screenshot = body.screenshot;
            (
                body.target_url,
                body.question,
                body.force_refresh,
                body.render,
                body.include_comments,
            )
        }
        several => {
            let purchase = paid::purchase(app, &several, level)?;
            return Ok(Stated::Several(purchase.fingerprint()));
        }
    };
    Ok(Stated::OnePage {
        target_url: sources::canonical_target(app, &target_url)?,
        level,
        // An empty question means the default one, as in the paid request.
        question: question.map(|text| match text.trim() {
            "" => DEFAULT_QUESTION.to_owned(),
            asked => asked.to_owned(),
        }),
        force_refresh,
        render,
        include_comments,
        screenshot,
        excerpt,
    })
}

/// Each product's body, by the members that only it has.
#[rustfmt::skip]
const MEMBERS_OF_PRODUCT: [(&str, Product); 7] = [
    ("text", Product::Check),
    ("bundle", Product::ProofBundle),
    ("sources", Product::ProofBundle),
    ("claims", Product::ProofBundle),
    ("pack", Product::ProofPack),
    ("question", Product::ProofPack),
    ("screenshot", Product::ProofPack),
];

/// The body as the product's that it was sent for. A list of pages with a question is a bundle's.
fn read_body(call: &Call) -> Result<PaidBody, Refusal> {
    let errors = match PaidBody::read(Product::Context, &call.body) {
        Ok(body) => return Ok(body),
        Err(errors) => errors,
    };
    let is_unknown = |name: &str| {
        let mut places = errors.iter().filter_map(|error| error.loc.last());
        places.any(|place| place == name)
    };
    let is_listed = serde_json::from_slice::<Value>(without_mark(&call.body))
        .is_ok_and(|body| body.get("target_urls").is_some());
    let mut products = MEMBERS_OF_PRODUCT.into_iter();
    match products.find(|(name, _)| is_unknown(name)) {
        Some((_, Product::ProofPack)) if is_listed => {
            PaidBody::read(Product::ProofBundle, &call.body).map_err(Refusal::validation)
        }
        Some((_, product)) => PaidBody::read(product, &call.body).map_err(Refusal::validation),
        None => Err(Refusal::validation(errors)),
    }
}
