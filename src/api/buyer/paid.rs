//! The paid endpoints: reads payment and purchase from query, headers and body, has it sold, and shapes the response.

use std::sync::Arc;

use crate::api::body::check_media_type;
use crate::api::buyer::stated_level::{
    PriceHints, Stated, level_outside_body, named_twice, no_such_level, priced, stated_level,
};
use crate::api::buyer::{access, check, proof_bundle, proof_pack};
use crate::api::challenge;
use crate::api::failure;
use crate::api::query::attribution;
use crate::app::{App, Shared};
use crate::domain::check::CheckDepth;
use crate::domain::code::Code;
use crate::domain::level::{Level, Product};
use crate::domain::pack::Pack;
use crate::domain::payment::Means;
use crate::domain::purchase::Purchase;
use crate::domain::rate::RateClass;
use crate::domain::refusal::{Refusal, With};
use crate::domain::requests::PaidBody;
use crate::domain::schema::ValidationError;
use crate::domain::tier::Tier;
use crate::flows::content::rendering;
use crate::flows::quotes::{bundles, offers};
use crate::flows::sale;
use crate::flows::sale::refusals::{self, PaidAttempt};
use crate::flows::sale::request::PaidRequest;
use crate::http::{Bytes, Call, HeaderName, KeptAlive, OnSent, Reply};
use crate::state::in_flight::delivered::{Body, Delivered};
use crate::state::offers::HEADER_REQUIRED;
use crate::x402::proof::PaymentProof;
use crate::x402::wire::SettleResponse;

/// Characters of the reason why a request cannot be served, in a challenge.
const REASON_CHARACTERS_MAX: usize = 200;
/// The header that carries the hash of a buyer's own transfer.
pub const TRANSFER_HASH: &str = "x-service-payment-hash";
/// The headers that carry a payment.
pub static PAYMENT_HEADERS: [HeaderName; 3] = [
    HeaderName::from_static("payment-signature"),
    HeaderName::from_static("x-service-retry-credit"),
    HeaderName::from_static(TRANSFER_HASH),
];

/// POST /v1/x402/access.
pub async fn buy_access(app: Shared, call: Call) -> Reply {
    buy(&app, &call, Product::Context).await
}

/// GET /v1/x402/access.
pub async fn probe_access(app: Shared, call: Call) -> Reply {
    probe(&app, &call, Product::Context)
}

/// POST /v1/x402/proof-pack.
pub async fn buy_proof_pack(app: Shared, call: Call) -> Reply {
    buy(&app, &call, Product::ProofPack).await
}

/// GET /v1/x402/proof-pack.
pub async fn probe_proof_pack(app: Shared, call: Call) -> Reply {
    probe(&app, &call, Product::ProofPack)
}

/// POST /v1/x402/proof-bundle.
pub async fn buy_proof_bundle(app: Shared, call: Call) -> Reply {
    buy(&app, &call, Product::ProofBundle).await
}

/// GET /v1/x402/proof-bundle.
pub async fn probe_proof_bundle(app: Shared, call: Call) -> Reply {
    probe(&app, &call, Product::ProofBundle)
}

/// POST /v1/x402/check.
pub async fn buy_check(app: Shared, call: Call) -> Reply {
    buy(&app, &call, Product::Check).await
}

/// GET /v1/x402/check.
pub async fn probe_check(app: Shared, call: Call) -> Reply {
    probe(&app, &call, Product::Check)
}

/// Sells a product. Without payment it returns the price, whatever the body, because directories probe like that.
async fn buy(app: &Shared, call: &Call, product: Product) -> Reply {
    if call.header_count("payment-signature") == 0 {
        return match level_outside_body(call, product) {
            Ok(stated) => unpaid(app, call, product, stated),
            Err(refusal) => failure::reply(app, &refusal, call),
        };
    }
    let mut attempt = PaidAttempt::of(product);
    // The sale's state is large. It is boxed, so that requests without payment do not allocate it.
    let outcome = Box::pin(sell(app, call, product, &mut attempt)).await;
    let refused = outcome.as_ref().err();
    let stated = refused.and_then(|_| level_outside_body(call, product).ok());
    let item = stated.map(|stated| priced(call, product, stated.level));
    attempt.level = attempt.level.or(item.map(|item| item.level));
    let unreadable = matches!(&outcome, Err(refusal) if refusal.code == Code::InvalidPayment);
    let reply = answer(app, call, outcome, attempt);
    match item.filter(|_| unreadable) {
        Some(item) => challenge::beside(app, reply, item),
        None => reply,
    }
}

/// The same challenge with 200; accepts no payment and does no work.
fn probe(app: &App, call: &Call, product: Product) -> Reply {
    match level_outside_body(call, product) {
        Ok(stated) => challenge::probe(app, stated.level.unwrap_or(product.default_level())),
        Err(refusal) if refusal.code == product.level_mismatch() => {
            failure::reply(app, &named_twice(call, product), call)
        }
        Err(_) => failure::reply(app, &no_such_level(call, product), call),
    }
}

/// The price of the request. If a payment for it would be refused as it stands, the 402 says so before anybody signs.
fn unpaid(app: &Shared, call: &Call, product: Product, stated: Stated) -> Reply {
    let shape = shape(call, product);
    let hints = match &shape {
        None => PriceHints::default(),
        Some(Ok(body)) => PriceHints::of_body(body),
        Some(Err(_)) => PriceHints::of(call, product),
    };
    let levels = (stated.level, hints.level);
    let with_body = matches!(levels, (Some(one), Some(other)) if one != other);
    let item = hints.priced(product, stated.level);
    let of_version_1 = call.header_count("x-payment") > 0;
    let of_version_1 = of_version_1.then(|| {
        "X-PAYMENT is of x402 version 1 and was ignored; only version 2 is accepted.".to_owned()
    });
    let remark = if stated.differ || with_body {
        let (word, name) = (product.level_word(), item.level.name());
        Some(format!(
            "Query, header and body name different {word}s; this is the price of {name}: name one {word} before you \
             sign, because a payment for this request is refused as it stands."
        ))
    } else {
        let level = stated.level.or(hints.level);
        shape.and_then(|shape| match shape {
            Ok(body) => remark_on(app, &body, level),
            Err(refusal) => Some(not_served(refusal)),
        })
    };
    if of_version_1.is_none() && remark.is_none() {
        return challenge::unpaid(app, item);
    }
    let said = of_version_1.into_iter().chain(remark);
    let error = said.fold(format!("{HEADER_REQUIRED}."), |error, said| {
        format!("{error} {said}")
    });
    challenge::required(app, item.level, &app.offers.challenge_because(item, &error))
}

/// The body, or why a payment for this request would be refused, as far as its shape shows it. A body without members is a
/// directory's probe and has none.
fn shape(call: &Call, product: Product) -> Option<Result<PaidBody, Refusal>> {
    if matches!(call.body.trim_ascii(), b"" | b"{}") {
        return None;
    }
    let body = || PaidBody::read(product, &call.body).map_err(Refusal::validation);
    Some(check_media_type(call).and_then(|()| body()))
}

/// What there is to say of a purchase of this body before anything is looked up or fetched: why it would be refused, or
/// which of its sources count as unread.
fn remark_on(app: &Shared, body: &PaidBody, level: Option<Level>) -> Option<String> {
    let purchase = match purchase(app, body, level) {
        Ok(purchase) => purchase,
        Err(refusal) => return Some(not_served(refusal)),
    };
    if let Some(advice) = rendering::without_browser(app, &purchase) {
        let message = format!("This service has no browser: {advice}.");
        return Some(not_served(Refusal::new(Code::RenderUnavailable, message)));
    }
    let (count, needed) = purchase.sources_needed();
    let refused = |target_url| Some((target_url, bundles::readable(app, target_url).err()?));
    let mut refused = purchase.target_urls().filter_map(refused);
    let (target_url, mut refusal) = refused.next()?;
    if count > 1 {
        refusal.message = format!("{} The source is {target_url}.", refusal.message);
    }
    let unread = 1 + refused.count();
    if count - unread < needed {
        return Some(not_served(refusal));
    }
    let why = reason(refusal);
    Some(format!(
        "{unread} of {count} sources will count as unread. {why}"
    ))
}

fn not_served(refusal: Refusal) -> String {
    let why = reason(refusal);
    format!(
        "This request cannot be served as it stands. {why} Correct it before you sign, because a payment for it is refused."
    )
}

/// Why a request cannot be served, short enough for a challenge.
fn reason(refusal: Refusal) -> String {
    let why = match &refusal.with {
        With::Validation(errors) => errors.first().map(in_words),
        _ => None,
    };
    let why = why.unwrap_or(refusal.message);
    // What the client sent stands in some of these.
    match why.char_indices().nth(REASON_CHARACTERS_MAX) {
        Some((end, _)) => format!("{} …", &why[..end]),
        None => why,
    }
}

/// Where in the request, and what is wrong there.
fn in_words(error: &ValidationError) -> String {
    let place = error.loc.iter().map(|part| match part.as_str() {
        Some(name) => name.to_owned(),
        None => part.to_string(),
    });
    let place: Vec<String> = place.collect();
    let said = error.msg.trim_start_matches("Value error, ");
    format!("{}: {}.", place.join("."), said.trim_end_matches('.'))
}

async fn sell(
    app: &Shared,
    call: &Call,
    product: Product,
    attempt: &mut PaidAttempt,
) -> Result<Delivered, Refusal> {
    let proof = payment(call, product).map_err(|refusal| unread(app, call, refusal))?;
    attempt.payer = Some(proof.from());
    let request = paid_request(app, call, product).map_err(|refusal| {
        let used = sale::used_before(app, product, &proof);
        unread(app, call, used.unwrap_or(refusal))
    })?;
    attempt.note_purchase(&request.purchase);
    Box::pin(sale::sell(app, request, proof)).await
}

/// The purchase, independent of the payment method.
pub fn paid_request(app: &Shared, call: &Call, product: Product) -> Result<PaidRequest, Refusal> {
    check_media_type(call)?;
    let body = PaidBody::read(product, &call.body).map_err(Refusal::validation)?;
    let stated = stated_level(call, product, &body)?;
    Ok(PaidRequest {
        purchase: purchase(app, &body, stated)?,
        attribution: attribution(call).map(|label| label.as_str().to_owned()),
        client: call.peer.client(),
        request_id: call.request_id.clone(),
        waiting: call.waiting.clone(),
    })
}

/// What a body buys at the level that is stated anywhere, else at the default one.
pub fn purchase(app: &Shared, body: &PaidBody, stated: Option<Level>) -> Result<Purchase, Refusal> {
    match (body, stated) {
        (PaidBody::Access(body), None) => access::purchase(app, body, Tier::default()),
        (PaidBody::Access(body), Some(Level::Tier(tier))) => access::purchase(app, body, tier),
        (PaidBody::Pages(body), None) => access::pages(app, body, Tier::default()),
        (PaidBody::Pages(body), Some(Level::Tier(tier))) => access::pages(app, body, tier),
        (PaidBody::ProofPack(body), None) => proof_pack::purchase(app, body, Pack::default()),
        (PaidBody::ProofPack(body), Some(Level::Pack(pack))) => {
            proof_pack::purchase(app, body, pack)
        }
        (PaidBody::ProofBundle(body), None) => proof_bundle::purchase(app, body, None),
        (PaidBody::ProofBundle(body), Some(Level::Bundle(bundle))) => {
            proof_bundle::purchase(app, body, Some(bundle))
        }
        (PaidBody::Check(body), None) => check::purchase(app, body, CheckDepth::default()),
        (PaidBody::Check(body), Some(Level::Check(depth))) => check::purchase(app, body, depth),
        // A level is read as one of its product.
        _ => Err(Refusal::of(Code::Internal)),
    }
}

/// A request whose payment or credit is not reached counts as unpaid. No limit hides that a payment was, or may have been,
/// charged.
pub fn unread(app: &App, call: &Call, refusal: Refusal) -> Refusal {
    let limited = app.admit(RateClass::Unpaid, call.peer.client()).err();
    limited
        .filter(|_| !refusal.may_be_charged())
        .unwrap_or(refusal)
}

/// Exactly one readable payment. A second header, or one of version 1, would make the request ambiguous.
fn payment(call: &Call, product: Product) -> Result<PaymentProof, Refusal> {
    let invalid = |message: String| Refusal::new(Code::InvalidPayment, message);
    if call.header_count("payment-signature") != 1 || call.header_count("x-payment") != 0 {
        return Err(invalid(
            "Send one PAYMENT-SIGNATURE header, and no X-PAYMENT header beside it.".to_owned(),
        ));
    }
    let header = call.header("payment-signature").unwrap_or_default();
    PaymentProof::decode(header).map_err(|error| {
        if error.is_malformed() {
            return invalid(format!("{error}. Nothing was charged."));
        }
        let stated = level_outside_body(call, product).ok();
        let item = priced(call, product, stated.and_then(|stated| stated.level));
        refusals::challenge(item, error.reason(), format!("{error}."))
    })
}

/// A sale's outcome as an HTTP response. Refusals are recorded for the operator.
pub fn answer(
    app: &App,
    call: &Call,
    outcome: Result<Delivered, Refusal>,
    attempt: PaidAttempt,
) -> Reply {
    let refused = |refusal: &Refusal| {
        refusals::note(app, refusal, &call.request_id, attempt);
        failure::reply(app, refusal, call)
    };
    let delivered = match outcome {
        Ok(delivered) => delivered,
        Err(refusal) => return refused(&refusal),
    };
    let item = delivered.item;
    let product = item.product();
    let is_page = product == Product::Context && item.quantity == 1;
    let as_markdown = is_page && call.strictly_prefers("text/markdown", "application/json");
    let reply = if as_markdown {
        match markdown((*delivered.body).as_ref()) {
            Some(parts) => Reply::in_parts(200, "text/markdown; charset=utf-8", parts),
            None => return refused(&Refusal::of(Code::Internal).after_settlement()),
        }
    } else {
        Reply::json(200, Bytes::from_owner(Shareable(delivered.body.clone())))
    };
    let settlement = SettleResponse {
        success: true,
        error_reason: None,
        payer: Some(delivered.payer.clone()),
        transaction: delivered.transaction.clone(),
        network: app.config.payment.network.to_string(),
        amount: Some(item.price().units().to_string()),
        extensions: offers::receipt(app, &delivered),
    };
    let reply = match delivered.means {
        Means::Authorization { .. } => {
            reply.header("payment-response", &failure::payment_response(&settlement))
        }
        // Nothing was settled.
        Means::Transfer => reply,
    };
    let reply = reply
        .header("etag", &format!("\"{}\"", delivered.content_sha256))
        .fixed(
            "x-service-cache",
            if delivered.cache_hit { "hit" } else { "miss" },
        )
        .fixed(product.paid_header(), item.level.name())
        .fixed("cache-control", "private, no-store")
        .fixed(
            "vary",
            "Accept, PAYMENT-SIGNATURE, X-Service-Payment-Hash, X-Service-Retry-Credit",
        );
    let mut reply = match product {
        Product::Context => reply.header("x-markdown-tokens", &delivered.tokens.to_string()),
        _ => reply,
    };
    reply.ticket = delivered.redelivery_of.map(|payment| payment.0);
    reply.on_sent = Some(OnSent::new(move || delivered.sending.sent()));
    reply.held = delivered
        .body
        .permit()
        .map(|held| Arc::new(held) as KeptAlive);
    reply
}

fn markdown(body: &[u8]) -> Option<Vec<Bytes>> {
    let text = access::text(body)?;
    let markdown: String = serde_json::from_str(text.markdown.get()).ok()?;
    Some(vec![text.front.into(), markdown.into()])
}

/// The bytes of a response, shared by concurrent requests.
struct Shareable(Arc<Body>);

impl AsRef<[u8]> for Shareable {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}
