//! A payer's purchases, read again without paying: the wallet signs in (sign-in-with-x) in place of a payment. Without a
//! valid signature the answer is a 402 whose challenge offers signing in and nothing to pay.

use serde_json::{Value, json};

use crate::api::buyer::paid;
use crate::api::{failure, query};
use crate::app::{App, Shared};
use crate::domain::code::Code;
use crate::domain::evm::Address;
use crate::domain::ids::PurchaseId;
use crate::domain::purchase::Purchase;
use crate::domain::refusal::Refusal;
use crate::domain::schema::ValidationError;
use crate::domain::time::{PURCHASE_SECONDS, UnixSeconds};
use crate::flows::sale::purchases::{
    self, Again, Bought, LIMIT_DEFAULT, LIMIT_MAX, NotSignedIn, PATH, Page,
};
use crate::flows::sale::refusals::{self, PaidAttempt};
use crate::http::{Call, Reply};
use crate::x402::encoding;
use crate::x402::sign_in::{EXTENSION, HEADER};
use crate::x402::wire::{PaymentRequired, ResourceInfo, Version2};

/// GET /v1/x402/purchases.
pub async fn list(app: Shared, call: Call) -> Reply {
    let asked = match request_in_query(&call) {
        Ok(asked) => asked,
        Err(refusal) => return failure::reply(&app, &refusal, &call),
    };
    let payer = match signed_in(&app, &call) {
        Ok(payer) => payer,
        Err(reply) => return *reply,
    };
    match purchases::list(&app, payer, asked.before, asked.limit).await {
        Ok(page) => private(Reply::json(
            200,
            list_json(&app, payer, &page, asked.limit).to_string(),
        )),
        Err(refusal) => refused(&app, &call, payer, &refusal),
    }
}

/// GET /v1/x402/purchases/{purchase_id}: the answer as it was sold.
pub async fn read(app: Shared, call: Call) -> Reply {
    let payer = match signed_in(&app, &call) {
        Ok(payer) => payer,
        Err(reply) => return *reply,
    };
    let id = call.param("purchase_id").unwrap_or_default();
    match purchases::again(&app, payer, id).await {
        Ok(Again::Kept(delivered)) => {
            private(paid::answer(&app, &call, Ok(*delivered), attempt(payer)))
        }
        Ok(Again::Report(body)) => private(Reply::json(200, body)),
        Err(refusal) => refused(&app, &call, payer, &refusal),
    }
}

struct PurchasesRequest {
    before: Option<PurchaseId>,
    limit: usize,
}

fn request_in_query(call: &Call) -> Result<PurchasesRequest, Refusal> {
    let before = match query::once(call, "before")? {
        None => None,
        Some(text) => Some(PurchaseId::parse(&text).ok_or_else(|| {
            invalid("before", "Input should be a purchase_id of the list", &text)
        })?),
    };
    let limit = match query::once(call, "limit")? {
        None => LIMIT_DEFAULT,
        Some(text) => {
            // A number that is too large for the machine is more than the most, too.
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let limit = text.parse().ok().or(is_number.then_some(LIMIT_MAX));
            let limit = limit.filter(|limit| *limit >= 1);
            let limit = limit
                .ok_or_else(|| invalid("limit", "Input should be a positive integer", &text))?;
            LIMIT_MAX.min(limit)
        }
    };
    Ok(PurchasesRequest { before, limit })
}

fn invalid(name: &str, message: &str, given: &str) -> Refusal {
    let error = ValidationError::new(
        &["query", name],
        "value_error",
        message.to_owned(),
        Some(given.into()),
    );
    Refusal::validation(vec![error])
}

fn attempt(payer: Address) -> PaidAttempt {
    PaidAttempt {
        payer: Some(payer),
        ..PaidAttempt::default()
    }
}

/// Who signed the request's header; else the answer to it.
fn signed_in(app: &Shared, call: &Call) -> Result<Address, Box<Reply>> {
    if call.header_count(HEADER) == 0 {
        let refusal = Refusal::of(Code::SignInRequired);
        return Err(Box::new(challenge(app, call, &refusal, "sign_in_required")));
    }
    // Two of them could be read as either.
    let header = call
        .header(HEADER)
        .filter(|_| call.header_count(HEADER) == 1);
    let (refusal, reason) = match purchases::sign_in(app, header.unwrap_or_default()) {
        Ok(payer) => return Ok(payer),
        Err(NotSignedIn::Full) => {
            let message = "Too many sign-ins in the last minutes. Nothing was charged; sign in again in a few seconds.";
            let refusal = Refusal::new(Code::Overloaded, message);
            refusals::note(app, &refusal, &call.request_id, PaidAttempt::default());
            return Err(Box::new(failure::reply(app, &refusal, call)));
        }
        Err(NotSignedIn::Statement(error)) => {
            let message = format!("{error}. Sign the fresh challenge in this answer.");
            (Refusal::new(Code::SignInInvalid, message), error.name())
        }
    };
    refusals::note(app, &refusal, &call.request_id, PaidAttempt::default());
    Err(Box::new(challenge(app, call, &refusal, reason)))
}

fn refused(app: &App, call: &Call, payer: Address, refusal: &Refusal) -> Reply {
    refusals::note(app, refusal, &call.request_id, attempt(payer));
    private(failure::reply(app, refusal, call))
}

/// A 402 that offers signing in and nothing to pay: `accepts` is empty. The official clients read it from the header; the
/// body says the same beside what every refusal says.
fn challenge(app: &Shared, call: &Call, refusal: &Refusal, reason: &str) -> Reply {
    let extension = purchases::extension(app);
    let required = PaymentRequired {
        x402_version: Version2,
        error: Some(reason.to_owned()),
        resource: ResourceInfo {
            url: app.url(PATH),
            description: Some("Your purchases of the last 30 days, free of charge".to_owned()),
            mime_type: Some("application/json".to_owned()),
            ..ResourceInfo::default()
        },
        accepts: Vec::new(),
        extensions: Some([(EXTENSION.to_owned(), extension)].into_iter().collect()),
    };
    let written = serde_json::to_value(&required).unwrap_or_default();
    let header = encoding::encode(written.to_string().as_bytes());
    let reply = failure::plain(app, refusal, &call.request_id);
    let mut body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    body["error"]["reason"] = reason.into();
    for name in ["x402Version", "resource", "accepts", "extensions"] {
        body[name] = written[name].clone();
    }
    body["sign_in"] = json!({"header": HEADER, "scheme": "eip191", "format": "EIP-4361"});
    let mut reply = private(reply).header("payment-required", &header);
    reply.body = body.to_string().into();
    reply
}

fn list_json(app: &App, payer: Address, page: &Page, limit: usize) -> Value {
    let last = page.purchases.last().filter(|_| page.is_more);
    let next = last.map(|last| app.url(&format!("{PATH}?limit={limit}&before={}", last.id)));
    let purchases = page
        .purchases
        .iter()
        .map(|bought| purchase_json(app, bought));
    json!({
        "status": "success",
        "payer": payer.to_string(),
        "retention_days": PURCHASE_SECONDS / 86_400,
        "purchases": purchases.collect::<Vec<_>>(),
        "pagination": {"limit": limit, "next": next},
    })
}

fn purchase_json(app: &App, bought: &Bought) -> Value {
    let purchase = &bought.payment.purchase;
    let item = purchase.line_item();
    let mut json = json!({
        "purchase_id": bought.id.to_string(),
        "settled_at": bought.settled_at.0,
        "product": item.product().name(),
        item.product().level_word(): item.level.name(),
        "quantity": item.quantity,
        "target_urls": purchase.target_urls().collect::<Vec<_>>(),
        "question": purchase.question(),
        "amount": bought.payment.amount_units.to_string(),
        "network": app.config.payment.network,
        "transaction": bought.transaction,
        "paid_by": bought.payment.means.name(),
        "answer_owed": bought.is_owed,
        "answer_kept": bought.is_kept,
        "answer_url": app.url(&format!("{PATH}/{}", bought.id)),
    });
    if let Purchase::Context(context) = purchase {
        json["target_url"] = context.target_url.clone().into();
    }
    if let Some((id, expires_at)) = bought.report {
        let UnixSeconds(expires_at) = expires_at;
        json["report_id"] = id.to_string().into();
        json["report_url"] = app.url(&format!("/v1/proof-pack/reports/{id}")).into();
        json["report_page"] = app.url(&format!("/proof-pack/reports/{id}")).into();
        json["report_expires_at"] = expires_at.into();
    }
    json
}

/// What one wallet may read, no cache may store.
fn private(reply: Reply) -> Reply {
    reply
        .fixed("cache-control", "private, no-store")
        .fixed("vary", "Accept, SIGN-IN-WITH-X")
        .fixed("x-robots-tag", "noindex")
}
