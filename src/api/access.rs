//! The context endpoint: buying a page, probing for its price, redeeming a retry credit.

use serde::Deserialize;
use serde_json::Value;

use crate::api::{challenge, failure};
use crate::app::{App, Shared};
use crate::domain::attribution::Attribution;
use crate::domain::ids::CreditId;
use crate::domain::payment::Means;
use crate::domain::purchase::{ContextPurchase, Purchase};
use crate::domain::rate::RateClass;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::schema::{Checked, ValidationError};
use crate::domain::shapes::{ACCESS_REQUEST, TARGET_URL_CHARACTERS_MAX};
use crate::domain::tier::Tier;
use crate::flows::deliver::Target;
use crate::flows::offer;
use crate::flows::retry::{self, Asker, Stated};
use crate::flows::sale::{self, Delivered, Order};
use crate::http::{Bytes, Call, Reply};
use crate::x402::proof::PaymentProof;
use crate::x402::wire::SettleResponse;

/// POST /v1/x402/access. Without payment: the price, whatever the body says, because directories probe so.
pub async fn buy(app: Shared, call: Call) -> Reply {
    if call.header_count("payment-signature") == 0 {
        return match tier_by_address(&call) {
            Ok(tier) => challenge::unpaid(
                &app,
                tier.or_else(|| tier_in_body(&call)).unwrap_or_default(),
            ),
            Err(refusal) => failure::reply(&app, &refusal, &call),
        };
    }
    // The sale's state is large. In a box of its own, requests without payment make no room for it.
    let outcome = Box::pin(paid(&app, &call)).await;
    answer(&app, &call, outcome)
}

/// GET /v1/x402/access: the same challenge with 200; accepts no payment and does no work.
pub async fn probe(app: Shared, call: Call) -> Reply {
    match tier_by_address(&call) {
        Ok(tier) => challenge::probe(&app, tier.unwrap_or_default()),
        Err(_) => {
            let given = call
                .query
                .get("tier")
                .or_else(|| call.header("x-service-tier").map(Into::into));
            let loc = if call.query.get("tier").is_some() {
                ["query", "tier"]
            } else {
                ["header", "X-Service-Tier"]
            };
            let error = ValidationError::new(
                &loc,
                "literal_error",
                format!("Input should be one of {}", Tier::NAMES.join(", ")),
                given.map(|text| Value::from(text.into_owned())),
            );
            failure::reply(&app, &Refusal::validation(vec![error]), &call)
        }
    }
}

/// POST /v1/x402/retry.
pub async fn retry(app: Shared, call: Call) -> Reply {
    let outcome = redeem(&app, &call).await;
    answer(&app, &call, outcome)
}

async fn paid(app: &Shared, call: &Call) -> Result<Delivered, Refusal> {
    let (order, proof) = read_order(app, call).map_err(|refusal| unread(app, call, refusal))?;
    sale::sell(app, order, proof).await
}

fn read_order(app: &Shared, call: &Call) -> Result<(Order, PaymentProof), Refusal> {
    let proof = payment(call)?;
    Ok((order(app, call)?, proof))
}

/// What is asked for, however it is paid.
pub fn order(app: &Shared, call: &Call) -> Result<Order, Refusal> {
    check_media_type(call)?;
    let body = ACCESS_REQUEST
        .validate(&call.body)
        .map_err(Refusal::validation)?;
    let tier = agreed_tier(call, &body)?;
    Ok(Order {
        purchase: Purchase::Context(purchase(app, &body, tier)?),
        attribution: attribution(call).map(|label| label.as_str().to_owned()),
        client: call.peer.client(),
        request_id: call.request_id.clone(),
    })
}

/// A request that does not get as far as its payment or credit counts as one without.
pub fn unread(app: &App, call: &Call, refusal: Refusal) -> Refusal {
    match app.admit(RateClass::Unpaid, call.peer.client()) {
        Ok(()) => refusal,
        Err(limited) => limited,
    }
}

async fn redeem(app: &Shared, call: &Call) -> Result<Delivered, Refusal> {
    if call.header_count("x-service-retry-credit") == 0 {
        return Err(Refusal::of(Code::RetryCreditRequired));
    }
    let (credit, stated) = read_credit(app, call).map_err(|refusal| unread(app, call, refusal))?;
    let asker = Asker {
        client: call.peer.client(),
        request_id: &call.request_id,
    };
    retry::redeem(app, credit, stated, asker).await
}

fn read_credit(app: &Shared, call: &Call) -> Result<(CreditId, Stated), Refusal> {
    let Some(credit) = call.header("x-service-retry-credit") else {
        return Err(Refusal::of(Code::RetryCreditRequired));
    };
    check_media_type(call)?;
    let body = ACCESS_REQUEST
        .validate(&call.body)
        .map_err(Refusal::validation)?;
    let credit = CreditId::parse(credit).ok_or_else(|| Refusal::of(Code::RetryCreditInvalid))?;
    let stated = Stated {
        target_url: canonical_target(app, &body)?,
        tier: body.text("tier").and_then(Tier::parse),
        force_refresh: body.flag("force_refresh"),
    };
    Ok((credit, stated))
}

/// Exactly one readable payment. A version 1 header beside it, or a second one, leaves open which is meant.
fn payment(call: &Call) -> Result<PaymentProof, Refusal> {
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
        let tier = tier_by_address(call)
            .ok()
            .flatten()
            .or_else(|| tier_in_body(call))
            .unwrap_or_default();
        sale::challenge(tier, error.reason(), format!("{error}."))
    })
}

pub fn check_media_type(call: &Call) -> Result<(), Refusal> {
    match call.header("content-type") {
        None if call.header_count("content-type") == 0 => Ok(()),
        Some(media) if is_json(media) => Ok(()),
        _ => Err(Refusal::of(Code::UnsupportedMediaType)),
    }
}

fn is_json(media: &str) -> bool {
    let essence = media.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
        || (essence.len() > 17
            && essence[..12].eq_ignore_ascii_case("application/")
            && essence[essence.len() - 5..].eq_ignore_ascii_case("+json"))
}

fn purchase(app: &Shared, body: &Checked, tier: Tier) -> Result<ContextPurchase, Refusal> {
    let force_refresh = body.flag("force_refresh").unwrap_or(false);
    if force_refresh && !tier.may_fetch() {
        let message = format!(
            "Value error, force_refresh is not supported for the tier {}",
            tier.name()
        );
        let error = ValidationError::new(
            &["body", "force_refresh"],
            "value_error",
            message,
            Some(true.into()),
        );
        return Err(Refusal::validation(vec![error]));
    }
    Ok(ContextPurchase {
        target_url: canonical_target(app, body)?,
        tier: tier.name().to_owned(),
        force_refresh,
    })
}

/// The canonical target. Text that is no URL is a validation error; one that policy refuses keeps its text and is
/// refused in its turn, after the payment was looked at (specification 4.1 rule 2).
fn canonical_target(app: &Shared, body: &Checked) -> Result<String, Refusal> {
    let text = body.text("target_url").unwrap_or_default();
    match Target::parse(app, text) {
        Ok(target) if target.canonical(app).len() <= TARGET_URL_CHARACTERS_MAX => {
            Ok(target.canonical(app).to_owned())
        }
        Err(error) if !error.is_unparseable() => Ok(text.to_owned()),
        Ok(_) => Err(target_error(
            text,
            "The URL has more than 2,048 characters once it is percent-encoded".to_owned(),
        )),
        Err(error) => Err(target_error(text, error.to_string())),
    }
}

fn target_error(text: &str, why: String) -> Refusal {
    let message = format!("Input should be a valid URL: {why}");
    Refusal::validation(vec![ValidationError::new(
        &["body", "target_url"],
        "url_parsing",
        message,
        Some(text.into()),
    )])
}

/// The tier that query or header states. Several that differ, or one that does not exist, are refused.
fn tier_by_address(call: &Call) -> Result<Option<Tier>, Refusal> {
    // Looked at first: most requests carry neither.
    if call.query.0.is_empty() && call.header_count("x-service-tier") == 0 {
        return Ok(None);
    }
    let mut stated: Vec<String> = call
        .query
        .all("tier")
        .map(|text| text.into_owned())
        .collect();
    let headers = call.headers.get_all("x-service-tier").iter();
    stated.extend(headers.map(|value| String::from_utf8_lossy(value.as_bytes()).trim().to_owned()));
    let Some(first) = stated.first() else {
        return Ok(None);
    };
    let tiers: Option<Vec<Tier>> = stated.iter().map(|name| Tier::parse(name)).collect();
    let Some(tiers) = tiers else {
        let message = format!(
            "There is no such tier. Use one of {}.",
            Tier::NAMES.join(", ")
        );
        return Err(Refusal::new(Code::InvalidTier, message));
    };
    // A request that pays must not disagree with itself; one that only asks is told the price of what it said first.
    let pays = ["payment-signature", "x-service-payment-hash"]
        .into_iter()
        .any(|header| call.header_count(header) > 0);
    if pays && tiers.iter().any(|tier| *tier != tiers[0]) {
        return Err(Refusal::of(Code::TierMismatch));
    }
    Ok(Tier::parse(first))
}

fn agreed_tier(call: &Call, body: &Checked) -> Result<Tier, Refusal> {
    let by_address = tier_by_address(call)?;
    let in_body = body.text("tier").and_then(Tier::parse);
    match (by_address, in_body) {
        (Some(one), Some(other)) if one != other => Err(Refusal::of(Code::TierMismatch)),
        (one, other) => Ok(one.or(other).unwrap_or_default()),
    }
}

/// The tier of a body that happens to be readable; anything else is no vote.
fn tier_in_body(call: &Call) -> Option<Tier> {
    #[derive(Deserialize)]
    struct Vote {
        tier: String,
    }
    // Most bodies without the word are spared the parser.
    if !call.body.windows(6).any(|window| window == b"\"tier\"") {
        return None;
    }
    serde_json::from_slice::<Vote>(&call.body)
        .ok()
        .and_then(|vote| Tier::parse(&vote.tier))
}

/// Alias, then query, then header; a label that does not fit is dropped.
pub fn attribution(call: &Call) -> Option<Attribution> {
    let stated = call
        .param("source")
        .map(str::to_owned)
        .or_else(|| call.query.get("source").map(|text| text.into_owned()));
    stated
        .or_else(|| call.header("x-service-source").map(str::to_owned))
        .and_then(|text| Attribution::parse(&text))
}

/// A sale's end as an HTTP answer.
pub fn answer(app: &App, call: &Call, outcome: Result<Delivered, Refusal>) -> Reply {
    let delivered = match outcome {
        Ok(delivered) => delivered,
        Err(refusal) => return failure::reply(app, &refusal, call),
    };
    let reply = if call.accepts_rather("text/markdown", "application/json") {
        match markdown(&delivered.body) {
            Some(text) => Reply::new(200, "text/markdown; charset=utf-8", text),
            None => return failure::reply(app, &Refusal::of(Code::Internal), call),
        }
    } else {
        Reply::json(200, Bytes::from_owner(Body(delivered.body.clone())))
    };
    let settlement = SettleResponse {
        success: true,
        error_reason: None,
        payer: Some(delivered.payer.clone()),
        transaction: delivered.transaction.clone(),
        network: app.config.payment.network.to_string(),
        amount: Some(delivered.tier.price().units().to_string()),
        extensions: offer::receipt(app, &delivered),
    };
    let reply = match delivered.means {
        Means::Authorization => {
            reply.header("payment-response", &failure::payment_response(&settlement))
        }
        // Nothing was settled.
        Means::Transfer => reply,
    };
    reply
        .header("etag", &format!("\"{}\"", delivered.content_sha256))
        .header("x-markdown-tokens", &delivered.tokens.to_string())
        .fixed(
            "x-service-cache",
            if delivered.cache_hit { "hit" } else { "miss" },
        )
        .fixed("x-service-payment-tier", delivered.tier.name())
        .fixed("cache-control", "private, no-store")
        .fixed(
            "vary",
            "Accept, PAYMENT-SIGNATURE, X-Service-Payment-Hash, X-Service-Retry-Credit",
        )
}

/// The shared bytes of an answer that several requests may be sending at once.
struct Body(std::sync::Arc<Vec<u8>>);

impl AsRef<[u8]> for Body {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// The markdown under a YAML front matter. Strings are written as JSON, which YAML includes.
fn markdown(body: &[u8]) -> Option<String> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let metadata = &answer["metadata"];
    let date = [&metadata["modified_at"], &metadata["published_at"]]
        .into_iter()
        .find(|date| date.is_string());
    let fetched = answer["fetched_at"]
        .as_i64()
        .and_then(|at| jiff::Timestamp::from_second(at).ok());
    let fetched = fetched.map_or(Value::Null, |at| Value::from(at.to_string()));
    let lines = [
        ("title", &metadata["title"]),
        ("url", &answer["final_url"]),
        ("date", date.unwrap_or(&Value::Null)),
        ("fetched", &fetched),
        ("sha256", &answer["content_sha256"]),
    ];
    let mut text = String::from("---\n");
    for (name, value) in lines.into_iter().filter(|(_, value)| !value.is_null()) {
        text.push_str(&format!("{name}: {value}\n"));
    }
    text.push_str("---\n\n");
    text.push_str(answer["markdown"].as_str()?);
    Some(text)
}
