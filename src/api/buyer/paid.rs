//! Shared by the paid operations: reads price, payment and purchase from query, headers and body, and shapes the response.

use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::api::body::check_media_type;
use crate::api::buyer::{access, check, proof_bundle, proof_pack};
use crate::api::challenge;
use crate::api::failure;
use crate::api::query::attribution;
use crate::app::{App, Shared};
use crate::domain::bundle::Bundle;
use crate::domain::check::CheckDepth;
use crate::domain::level::{Level, LineItem, Product};
use crate::domain::pack::Pack;
use crate::domain::payment::Means;
use crate::domain::purchase::Purchase;
use crate::domain::rate::RateClass;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::requests::{AddressList, PaidBody};
use crate::domain::schema::{ValidationError, without_mark};
use crate::domain::shapes::TARGET_URL_CHARACTERS_MAX;
use crate::domain::target::explained;
use crate::domain::tier::Tier;
use crate::flows::content::source::Target;
use crate::flows::quotes::offers;
use crate::flows::sale::refusals::{self, PaidAttempt};
use crate::flows::sale::{self, PaidRequest};
use crate::http::{Bytes, Call, Held, OnSent, Reply};
use crate::state::delivered::{Body, Delivered};
use crate::x402::proof::PaymentProof;
use crate::x402::wire::SettleResponse;

/// The header that carries the hash of a buyer's own transfer.
pub const TRANSFER_HASH: &str = "x-service-payment-hash";
/// The headers that carry a payment.
pub const PAYMENT_HEADERS: [&str; 3] =
    ["payment-signature", "x-service-retry-credit", TRANSFER_HASH];

/// Sells a product. Without payment it returns the price, whatever the body, because directories probe like that.
pub async fn buy(app: &Shared, call: &Call, product: Product) -> Reply {
    if call.header_count("payment-signature") == 0 {
        return match level_by_address(call, product) {
            Ok(stated) => unpaid(app, call, product, stated),
            Err(refusal) => failure::reply(app, &refusal, call),
        };
    }
    let mut attempt = PaidAttempt::of(product);
    // The sale's state is large. It is boxed, so that requests without payment do not allocate it.
    let outcome = Box::pin(sell(app, call, product, &mut attempt)).await;
    let refused = outcome.as_ref().err();
    let stated = refused.and_then(|_| level_by_address(call, product).ok());
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
pub fn probe(app: &App, call: &Call, product: Product) -> Reply {
    match level_by_address(call, product) {
        Ok(stated) => challenge::probe(app, stated.level.unwrap_or(product.default_level())),
        Err(refusal) if refusal.code == product.level_mismatch() => {
            failure::reply(app, &named_twice(call, product), call)
        }
        Err(_) => failure::reply(app, &no_such_level(call, product), call),
    }
}

/// The price of the request. If query, header and body name different levels, the 402 says so before anybody signs: with
/// a payment the request would be refused.
fn unpaid(app: &App, call: &Call, product: Product, stated: Stated) -> Reply {
    let (level, in_body) = (stated.level, Votes::of(call, product).level(product));
    let with_body = matches!((level, in_body), (Some(one), Some(other)) if one != other);
    let item = priced(call, product, level);
    if !stated.differ && !with_body {
        return challenge::unpaid(app, item);
    }
    let word = product.level_word();
    let error = format!(
        "PAYMENT-SIGNATURE header is required. Query, header and body name different {word}s; this is the price of {}: \
         name one {word} before you sign, because a payment for this request is refused as it stands.",
        item.level.name()
    );
    challenge::required(app, item.level, &app.offers.challenge_because(item, &error))
}

async fn sell(
    app: &Shared,
    call: &Call,
    product: Product,
    attempt: &mut PaidAttempt,
) -> Result<Delivered, Refusal> {
    let read = read_request(app, call, product, attempt);
    let (request, proof) = read.map_err(|refusal| unread(app, call, refusal))?;
    Box::pin(sale::sell(app, request, proof)).await
}

fn read_request(
    app: &Shared,
    call: &Call,
    product: Product,
    attempt: &mut PaidAttempt,
) -> Result<(PaidRequest, PaymentProof), Refusal> {
    let proof = payment(call, product)?;
    attempt.payer = Some(proof.from());
    let request = paid_request(app, call, product)?;
    attempt.note_purchase(&request.purchase);
    Ok((request, proof))
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

/// A request whose payment or credit is not reached counts as unpaid.
pub fn unread(app: &App, call: &Call, refusal: Refusal) -> Refusal {
    match app.admit(RateClass::Unpaid, call.peer.client()) {
        Ok(()) => refusal,
        Err(limited) => limited,
    }
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
        let stated = level_by_address(call, product).ok();
        let item = priced(call, product, stated.and_then(|stated| stated.level));
        sale::challenge(item, error.reason(), format!("{error}."))
    })
}

/// The canonical target. Text that is not a URL is a validation error; a target that policy refuses is refused later,
/// after the payment check (specification 4.1 rule 2).
pub fn canonical_target(app: &Shared, text: &str) -> Result<String, Refusal> {
    canonical_at(app, text, &["body", "target_url"])
}

/// The same of an address that stands elsewhere in the body.
pub fn canonical_at(app: &Shared, text: &str, loc: &[&str]) -> Result<String, Refusal> {
    match Target::parse(app, text) {
        Ok(target) if target.canonical(app).len() <= TARGET_URL_CHARACTERS_MAX => {
            Ok(target.canonical(app).to_owned())
        }
        Err(error) if !error.is_unparseable() => Ok(text.to_owned()),
        Ok(_) => Err(target_error(
            loc,
            text,
            "The URL has more than 2,048 characters once it is percent-encoded".to_owned(),
        )),
        Err(error) => Err(target_error(loc, text, explained(text, error))),
    }
}

fn target_error(loc: &[&str], text: &str, why: String) -> Refusal {
    let message = format!("Input should be a valid URL: {why}");
    Refusal::validation(vec![ValidationError::new(
        loc,
        "url_parsing",
        message,
        Some(text.into()),
    )])
}

/// What an unpaid request gets the price of: the level from the query, else the header, else a readable body, else the
/// default; as often as a readable body names pages or sources.
fn priced(call: &Call, product: Product, stated: Option<Level>) -> LineItem {
    let votes = Votes::of(call, product);
    let level = stated.or_else(|| votes.level(product));
    let level = level.unwrap_or_else(|| votes.default_level(product));
    let quantity = votes.sources.clamp(1, product.quantity_max());
    LineItem { level, quantity }
}

/// The level in query and header.
#[derive(Clone, Copy, Debug, Default)]
struct Stated {
    /// The query's, else the header's.
    level: Option<Level>,
    /// Whether the two differ.
    differ: bool,
}

/// The level in query or header. Unknown levels are refused, and so are two different ones in the same place. Query and
/// header may differ only without payment.
fn level_by_address(call: &Call, product: Product) -> Result<Stated, Refusal> {
    let header = product.level_header();
    // Fast path: most requests carry neither.
    if call.query.0.is_empty() && call.header_count(header) == 0 {
        return Ok(Stated::default());
    }
    let in_query = call.query.all(product.level_word());
    let in_query = one_level(product, in_query.map(|text| text.into_owned()))?;
    let headers = call.headers.get_all(header).iter();
    let headers = headers.map(|value| String::from_utf8_lossy(value.as_bytes()).trim().to_owned());
    let in_header = one_level(product, headers)?;
    let differ = matches!((in_query, in_header), (Some(one), Some(other)) if one != other);
    let pays = ["payment-signature", "x-service-payment-hash"];
    if differ && pays.iter().any(|header| call.header_count(header) > 0) {
        return Err(mismatch(product));
    }
    Ok(Stated {
        level: in_query.or(in_header),
        differ,
    })
}

/// The level in one place, which may repeat it.
fn one_level(
    product: Product,
    mut names: impl Iterator<Item = String>,
) -> Result<Option<Level>, Refusal> {
    let known = |name: String| product.level(&name).ok_or_else(|| unknown_level(product));
    let Some(first) = names.next().map(known).transpose()? else {
        return Ok(None);
    };
    for name in names {
        if known(name)? != first {
            return Err(mismatch(product));
        }
    }
    Ok(Some(first))
}

/// 400 for a level that does not exist.
pub fn unknown_level(product: Product) -> Refusal {
    let (word, names) = (product.level_word(), product.level_names().join(", "));
    let code = product.invalid_level();
    Refusal::new(code, format!("No such {word}. Use one of {names}."))
}

fn mismatch(product: Product) -> Refusal {
    Refusal::of(product.level_mismatch())
}

/// A probe's validation error for two different levels in the same place.
fn named_twice(call: &Call, product: Product) -> Refusal {
    let (word, header) = (product.level_word(), product.level_header());
    let mut in_query = call.query.all(word);
    let first = in_query.next();
    let loc = match in_query.any(|other| Some(other) != first) {
        true => ["query", word],
        false => ["header", header],
    };
    let message = format!("Value error, different {word}s are named in the same place");
    Refusal::validation(vec![ValidationError::new(
        &loc,
        "value_error",
        message,
        None,
    )])
}

/// A probe's validation error for an unknown level.
fn no_such_level(call: &Call, product: Product) -> Refusal {
    let (word, header) = (product.level_word(), product.level_header());
    let in_query = call.query.get(word);
    let in_query = in_query.filter(|name| product.level(name).is_none());
    let loc = match in_query {
        Some(_) => ["query", word],
        None => ["header", header],
    };
    let given = in_query.or_else(|| call.header(header).map(Into::into));
    let message = format!(
        "Input should be one of {}",
        product.level_names().join(", ")
    );
    let given = given.map(|text| Value::from(text.into_owned()));
    Refusal::validation(vec![ValidationError::new(
        &loc,
        "literal_error",
        message,
        given,
    )])
}

fn stated_level(call: &Call, product: Product, body: &PaidBody) -> Result<Option<Level>, Refusal> {
    let by_address = level_by_address(call, product)?.level;
    match (by_address, body.level()) {
        (Some(one), Some(other)) if one != other => Err(mismatch(product)),
        (one, other) => Ok(one.or(other)),
    }
}

/// What a readable body says of the price. serde refuses a member that is there twice.
#[derive(Default)]
struct Votes {
    level: Option<String>,
    /// How many pages or sources it names.
    sources: usize,
}

#[derive(Deserialize)]
struct VotingMembers {
    tier: Option<Value>,
    pack: Option<Value>,
    bundle: Option<Value>,
    depth: Option<Value>,
    target_urls: Option<AddressList>,
    sources: Option<Vec<IgnoredAny>>,
}

impl Votes {
    fn of(call: &Call, product: Product) -> Votes {
        // Skips the parser for bodies with none of the words.
        let words = [product.level_word(), "target_urls", "sources"];
        let has = |word: &str| {
            let mut windows = call.body.windows(word.len());
            windows.any(|window| window == word.as_bytes())
        };
        if !words.into_iter().any(has) {
            return Votes::default();
        }
        let read = serde_json::from_slice::<VotingMembers>(without_mark(&call.body));
        let Ok(members) = read else {
            return Votes::default();
        };
        let level = match product {
            Product::Context => members.tier,
            Product::ProofPack => members.pack,
            Product::ProofBundle => members.bundle,
            Product::Check => members.depth,
        };
        let listed = members.target_urls.map_or(0, |list| list.addresses().len());
        let sources = members.sources.map_or(0, |sources| sources.len());
        Votes {
            level: level.and_then(|level| level.as_str().map(str::to_owned)),
            sources: listed.max(sources),
        }
    }

    fn level(&self, product: Product) -> Option<Level> {
        product.level(self.level.as_deref()?)
    }

    /// The level that is meant where none is stated. A bundle's depends on its sources.
    fn default_level(&self, product: Product) -> Level {
        match product {
            Product::ProofBundle if self.sources > 0 => {
                Level::Bundle(Bundle::for_count(self.sources))
            }
            _ => product.default_level(),
        }
    }
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
    let as_markdown = is_page && call.accepts_above("text/markdown", "application/json");
    let reply = if as_markdown {
        match markdown((*delivered.body).as_ref()) {
            Some(parts) => Reply::in_parts(200, "text/markdown; charset=utf-8", parts),
            None => return refused(&Refusal::of(Code::Internal)),
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
    reply.held = delivered.body.permit().map(|held| Arc::new(held) as Held);
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
