//! The only place where a refusal becomes a status, headers and a body. Clients read what to do next; details of failures
//! on our side are only in the log.

use serde_json::{Value, json};

use crate::api::challenge;
use crate::api::frame;
use crate::app::App;
use crate::domain::code::Code;
use crate::domain::endpoint::{MCP_PATH, Price};
use crate::domain::level::{LineItem, Product};
use crate::domain::rate::{Standing, WINDOW_SECONDS};
use crate::domain::refusal::{FailedSettlement, Refusal, RetryCredit, With};
use crate::domain::time::span;
use crate::flows::sale;
use crate::flows::sale::refusals::{self, PaidAttempt};
use crate::http::hooks::{Refused, RequestFacts, method_list};
use crate::http::{Call, HeaderValue, Reply};
use crate::pages::error::ErrorView;
use crate::x402::encoding;
use crate::x402::wire::SettleResponse;

/// Retry-After by default.
const RETRY_AFTER: &str = "5";
/// Retry-After for work in progress.
const CONFLICT_RETRY_AFTER: &str = "2";
/// Retry-After while the operator has paused sales.
const PAUSED_RETRY_AFTER: &str = "300";
const PROOF_HEADER: &str = "X-Service-Payment-Proof";
const RETRY_PATH: &str = "/v1/x402/retry";
const DIAGNOSE_PATH: &str = "/v1/agent/diagnose";
/// Why the last payment was rejected, as a sentence.
pub const PAYMENT_ERROR: &str = "x-service-payment-error";

/// The status of a code.
pub fn status(code: Code) -> u16 {
    match code {
        Code::InvalidRequest
        | Code::InvalidTarget
        | Code::TargetBlocked
        | Code::PortNotAllowed
        | Code::DnsFailed
        | Code::RedirectBlocked
        | Code::TooManyRedirects
        | Code::UpstreamRefused
        | Code::ContentTooLarge
        | Code::UnsupportedContentType
        | Code::NothingReadable
        | Code::RenderUnavailable
        | Code::RenderFailed
        | Code::SelectorUnmatched
        | Code::BudgetTooSmall
        | Code::PageWalled
        | Code::InvalidTier
        | Code::TierMismatch
        | Code::InvalidPack
        | Code::PackMismatch
        | Code::InvalidBundle
        | Code::BundleMismatch
        | Code::InvalidDepth
        | Code::DepthMismatch
        | Code::SourcesUnread
        | Code::InvalidProduct
        | Code::InvalidPayment
        | Code::PaymentReplayed
        | Code::InvalidPaymentHash
        | Code::PaymentHashUnconfirmed
        | Code::PaymentHashReplayed
        | Code::PaymentProofRequired
        | Code::PaymentHashHeld
        | Code::MarginRejected
        | Code::CacheMiss
        | Code::InvalidSignature
        | Code::RetryCreditInvalid => 400,
        Code::PaymentRequired
        | Code::RetryCreditRequired
        | Code::PaymentHashRequired
        | Code::SignInRequired
        | Code::SignInInvalid => 402,
        Code::ForeignOrigin | Code::HttpsRequired => 403,
        Code::QuoteNotFound
        | Code::ReportNotFound
        | Code::NotOfferedForReport
        | Code::PurchaseNotFound
        | Code::SessionNotFound
        | Code::NotFound => 404,
        Code::MethodNotAllowed => 405,
        Code::RequestTimeout => 408,
        Code::AlreadyPaid | Code::PaymentIdentifierUsed | Code::Conflict | Code::NoMail => 409,
        Code::QuoteExpired | Code::ReportExpired | Code::AnswerExpired | Code::LinkExpired => 410,
        Code::BodyTooLarge => 413,
        Code::UriTooLong => 414,
        Code::UnsupportedMediaType => 415,
        Code::ValidationFailed => 422,
        Code::RateLimited => 429,
        Code::HeadersTooLarge => 431,
        Code::Internal => 500,
        Code::UnsupportedTransferCoding => 501,
        Code::UpstreamUnavailable
        | Code::NetworkUnavailable
        | Code::SettlementUnknown
        | Code::TransfersNotTaken
        | Code::WebhookNotTaken
        | Code::Paused
        | Code::Overloaded => 503,
    }
}

/// The response to a refused call.
pub fn reply(app: &App, refusal: &Refusal, call: &Call) -> Reply {
    match &refusal.with {
        With::Challenge {
            item,
            error,
            settlement,
        } => {
            let reply = payment_required(app, *item, error, settlement.as_deref());
            with_explanation(app, reply, &refusal.message)
        }
        _ => plain(app, refusal, &call.request_id),
    }
}

/// Address and reason of each rejected source.
pub fn rejected_of(refusal: &Refusal) -> Vec<(&str, &str)> {
    let With::Rejected(rejected) = &refusal.with else {
        return Vec::new();
    };
    let pairs = rejected.iter();
    pairs
        .map(|(url, reason)| (url.as_str(), reason.as_str()))
        .collect()
}

/// The same as a page, for browsers.
pub fn page(app: &App, refusal: &Refusal, call: &Call) -> Reply {
    let next_step = match &refusal.with {
        With::Limit(standing) => Some(wait(standing)),
        _ => None,
    };
    error_page(
        app,
        refusal,
        next_step.as_deref(),
        &call.path,
        &call.request_id,
    )
}

/// The same, with advice for this one case.
pub fn page_advising(app: &App, refusal: &Refusal, next_step: &str, call: &Call) -> Reply {
    error_page(app, refusal, Some(next_step), &call.path, &call.request_id)
}

/// How long a person has to wait; programs read Retry-After.
fn wait(standing: &Standing) -> String {
    format!("Try again in {}.", span(standing.reset_seconds.max(1)))
}

fn error_page(
    app: &App,
    refusal: &Refusal,
    next_step: Option<&str>,
    path: &str,
    request_id: &str,
) -> Reply {
    let code = refusal.code;
    let html = crate::pages::error::page(&ErrorView {
        site: frame::site(app, &frame::Texts::of(app)),
        path,
        status: status(code),
        code: Some(code.text()),
        message: &refusal.message,
        next_step: next_step.unwrap_or(code.next_step()),
        request_id: Some(request_id),
    });
    frame::with_page_headers(Reply::html(status(code), html)).fixed("cache-control", "no-store")
}

fn payment_required(
    app: &App,
    item: LineItem,
    error: &str,
    settlement: Option<&FailedSettlement>,
) -> Reply {
    let fresh = app.offers.challenge_because(item, error);
    let reply = challenge::required(app, item.level, &fresh);
    match settlement {
        None => reply,
        Some(failed) => reply.header(
            "payment-response",
            &payment_response(&SettleResponse {
                success: false,
                error_reason: Some(failed.reason.clone()),
                payer: Some(failed.payer.clone()),
                transaction: String::new(),
                network: app.config.payment.network.to_string(),
                amount: None,
                extensions: None,
            }),
        ),
    }
}

/// Why a payment was rejected and where to learn more. It goes into headers: the body is the exact challenge, and clients
/// compare its `error` with x402's error codes.
fn with_explanation(app: &App, reply: Reply, message: &str) -> Reply {
    let diagnose = app.url(DIAGNOSE_PATH);
    let sentence = format!(
        "{message} To see which check failed, POST your PAYMENT-SIGNATURE as {{\"header\": \"...\"}} to {diagnose}."
    );
    with_diagnosis(app, reply).header(PAYMENT_ERROR, &sentence)
}

/// Links the endpoint that diagnoses a payment header.
fn with_diagnosis(app: &App, reply: Reply) -> Reply {
    let link = format!("<{}>; rel=\"help\"", app.url(DIAGNOSE_PATH));
    reply.header("link", &link)
}

/// A settlement's outcome for PAYMENT-RESPONSE.
pub fn payment_response(response: &SettleResponse) -> String {
    // Strings and one flag: nothing in it can fail to serialize.
    encoding::encode(&serde_json::to_vec(response).unwrap_or_default())
}

/// Whether the request's payment was charged, or may have been: a buyer who pays again may pay twice. An earlier payment is
/// reported in `earlier_payment`.
fn may_be_charged(refusal: &Refusal) -> bool {
    match refusal.with {
        With::Charged => true,
        With::Earlier => false,
        _ => refusal.code == Code::SettlementUnknown,
    }
}

fn with_credit(reply: Reply, body: &mut Value, credit: &RetryCredit) -> Reply {
    body["retry"] = json!({
        "credit": credit.id.to_string(),
        "header": "X-Service-Retry-Credit",
        "endpoint": RETRY_PATH,
        "expires_at": credit.expires_at.0,
        "attempts_left": credit.attempts_left,
    });
    reply.header("x-service-retry-credit", &credit.id.to_string())
}

/// What to do about trouble after the payment: a new one would be a second charge.
const PAID_AGAIN: &str =
    "Repeat the same request with the same payment in a few seconds: it is not charged again.";

pub fn plain(app: &App, refusal: &Refusal, request_id: &str) -> Reply {
    let code = refusal.code;
    let takes_transfers = app.config.legacy.access;
    let next_step = match code {
        // A transfer that nobody looks for is lost.
        Code::PaymentHashRequired | Code::InvalidPaymentHash if !takes_transfers => {
            Code::TransfersNotTaken.next_step()
        }
        Code::Internal | Code::Overloaded if refusal.with == With::Charged => PAID_AGAIN,
        _ => code.next_step(),
    };
    let mut body = json!({
        "status": "error",
        "error": {
            "code": code.text(),
            "message": refusal.message,
            "retryable": code.is_retryable(),
            // A payment with an unknown settlement may have been charged: a buyer who pays again may pay twice.
            "charged": may_be_charged(refusal),
            "next_step": next_step,
            "docs_url": app.url(&format!("/docs#{}", code.text())),
        },
        "detail": refusal.message,
        "request_id": request_id,
    });
    let mut reply = Reply::json(status(code), "").fixed("cache-control", "no-store");
    if code == Code::PaymentHashRequired
        && takes_transfers
        && let Some(chain) = &app.config.chain
    {
        body["payment"] = transfer_terms(app, chain.confirmations, chain.transfer_age_max);
    }
    reply = with_facts(reply, &mut body, &refusal.with);
    if let Some(credit) = &refusal.credit {
        reply = with_credit(reply, &mut body, credit);
    }
    match status(code) {
        400 if code.is_retryable() => reply = reply.fixed("retry-after", RETRY_AFTER),
        409 if code.is_retryable() => reply = reply.fixed("retry-after", CONFLICT_RETRY_AFTER),
        503 if code == Code::Paused => reply = reply.fixed("retry-after", PAUSED_RETRY_AFTER),
        429 | 503 if !reply.headers.contains_key("retry-after") => {
            reply = reply.fixed("retry-after", RETRY_AFTER);
        }
        _ => {}
    }
    if code == Code::InvalidPayment {
        reply = with_diagnosis(app, reply);
    }
    reply.body = body.to_string().into();
    reply
}

/// What a refusal tells beside its message.
fn with_facts(reply: Reply, body: &mut Value, with: &With) -> Reply {
    match with {
        With::Earlier => body["earlier_payment"] = json!({"charged": "unknown"}),
        With::Alternatives(tiers) => {
            let tiers = tiers.iter().map(
                |tier| json!({"tier": tier.name(), "amount": tier.price().units().to_string()}),
            );
            body["alternatives"] = tiers.collect();
        }
        With::Rejected(rejected) => {
            let rejected = rejected.iter();
            let rejected = rejected.map(|(url, reason)| json!({"url": url, "reason": reason}));
            body["rejected_urls"] = rejected.collect();
        }
        With::Sources(read) => {
            let unread = read.unread.iter();
            let unread = unread.map(|unread| {
                json!({"source": unread.source, "code": unread.code.text(), "message": unread.message})
            });
            body["unread"] = unread.collect();
            body["readable"] = read.readable.clone().into();
            if let Some(item) = read.instead {
                body["instead"] = json!({
                    item.product().level_word(): item.level.name(), "sources": read.readable.len(),
                    "amount": item.price().units().to_string(), "price_usdc": item.price().as_usdc(),
                });
            }
        }
        With::TextToSign(text) => {
            body["payment_proof"] =
                json!({"header": PROOF_HEADER, "scheme": "eip191", "text": text});
        }
        With::Limit(standing) => return with_standing(reply, standing),
        // `detail` is a list (HTTPValidationError); the other members are those of every error.
        With::Validation(errors) => {
            body["detail"] = errors.iter().map(|error| error.to_json()).collect();
        }
        With::Nothing | With::Charged | With::Challenge { .. } => {}
    }
    reply
}

/// The body of a refusal, for the documentation.
pub fn example(app: &App, refusal: &Refusal) -> Value {
    let reply = plain(app, refusal, "req_00000000000000000000000000000000");
    serde_json::from_slice(&reply.body).unwrap_or_default()
}

/// How to make a transfer for the legacy endpoint.
fn transfer_terms(app: &App, confirmations: u64, age_seconds_max: u64) -> Value {
    let terms = &app.config.payment;
    let tiers = Product::Context.levels().map(|tier| {
        json!({"tier": tier.name(), "amount": tier.price().units().to_string(), "price_usdc": tier.price().as_usdc()})
    });
    let wants_proof = app.config.legacy.wants_proof;
    let rule = match wants_proof {
        true => {
            "Only the sender can use a transfer: sign the text in the response to that request \
             (personal_sign, EIP-191) with the key that has sent it, and send the signature in X-Service-Payment-Proof. \
             Do not transfer from an exchange or a contract wallet, which cannot sign it."
        }
        false => {
            "Transaction hashes are public and the first to send one owns it, so send it at once; with an \
            Idempotency-Key of 16 or more characters you can repeat the request."
        }
    };
    json!({
        "network": terms.network,
        "asset": terms.asset,
        "pay_to": terms.pay_to,
        "tiers": tiers.collect::<Vec<_>>(),
        "header": "X-Service-Payment-Hash",
        "proof_header": wants_proof.then_some(PROOF_HEADER),
        "confirmations": confirmations,
        "age_seconds_max": age_seconds_max,
        "instructions": format!(
            "Transfer the tier's amount of the asset to pay_to, wait for {confirmations} confirmations, and repeat this request with \
             the transaction's hash in X-Service-Payment-Hash. {rule} An x402 payment to {} requires none of this.",
            app.url(Product::Context.path()),
        ),
    })
}

/// The rate-limit headers: the common ones, and those of draft-ietf-httpapi-ratelimit-headers-10.
pub fn with_standing(reply: Reply, standing: &Standing) -> Reply {
    let Standing {
        limit,
        quota,
        remaining,
        reset_seconds,
    } = standing;
    let reply = match reply.status {
        429 => reply.header("retry-after", &reset_seconds.to_string()),
        _ => reply,
    };
    reply
        .header("ratelimit-limit", &quota.to_string())
        .header("ratelimit-remaining", &remaining.to_string())
        .header("ratelimit-reset", &reset_seconds.to_string())
        .header(
            "ratelimit-policy",
            &format!("\"{limit}\";q={quota};w={WINDOW_SECONDS}"),
        )
        .header(
            "ratelimit",
            &format!("\"{limit}\";r={remaining};t={reset_seconds}"),
        )
}

/// A request refused at admission.
pub fn turned_away(
    app: &App,
    refusal: &Refusal,
    standing: &Standing,
    asked: &RequestFacts<'_>,
) -> Reply {
    if !asked.accepts_html {
        return plain(app, refusal, asked.request_id);
    }
    let path = asked.pattern.unwrap_or("/");
    let next_step = wait(standing);
    let page = error_page(app, refusal, Some(&next_step), path, asked.request_id);
    with_standing(page, standing)
}

/// Whether a payment has moved money for an earlier request, or may have.
fn is_used(app: &App, product: Option<Product>, payment: &HeaderValue) -> bool {
    let product = product.unwrap_or(Product::Context);
    payment
        .to_str()
        .is_ok_and(|payment| sale::is_used(app, product, payment))
}

/// Refusals by the HTTP server.
pub fn from_shell(app: &App, refused: &Refused, asked: &RequestFacts<'_>) -> Reply {
    let refusal = refusal_of(refused, asked);
    let product = asked.pattern.and_then(|path| product_at(app, path));
    let refusal = match asked.payment {
        Some(payment) if !refusal.may_be_charged() && is_used(app, product, payment) => {
            let message = "This request was not processed. Its payment was charged for an earlier request, or may have been: \
                repeat that request unchanged in a few seconds.";
            Refusal::new(refusal.code, message).with(With::Charged)
        }
        _ => refusal,
    };
    // The payment of a tool's call is in its body.
    if asked.payment.is_some() || refusal.may_be_charged() {
        let attempt = PaidAttempt {
            product,
            ..PaidAttempt::default()
        };
        refusals::note(app, &refusal, asked.request_id, attempt);
    }
    let reply = if asked.accepts_html {
        // The path is not echoed: it may contain anything.
        let path = asked.pattern.unwrap_or("/");
        error_page(app, &refusal, None, path, asked.request_id)
    } else {
        plain(app, &refusal, asked.request_id)
    };
    match refused {
        Refused::MethodNotAllowed(methods) => reply.header("allow", &method_list(methods)),
        _ => reply,
    }
}

/// The refusal by itself, whatever became of a payment that came with the request.
fn refusal_of(refused: &Refused, asked: &RequestFacts<'_>) -> Refusal {
    match refused {
        Refused::NotFound => Refusal::of(Code::NotFound),
        Refused::MethodNotAllowed(methods) => Refusal::new(
            Code::MethodNotAllowed,
            format!("This address supports only {}.", method_list(methods)),
        ),
        Refused::BadRequest(what) => Refusal::new(Code::InvalidRequest, format!("{what}.")),
        Refused::BodyTooLarge(bytes_max) => Refusal::new(
            Code::BodyTooLarge,
            format!("The request body is larger than {} KiB.", bytes_max / 1024),
        ),
        Refused::BodyTooSlow => Refusal::of(Code::RequestTimeout),
        Refused::NoRoomForBody => Refusal::new(
            Code::Overloaded,
            "Too many request bodies are being received. This one was not read and nothing was charged. \
             Repeat the same request in a few seconds.",
        ),
        Refused::TooManyRuns => Refusal::new(
            Code::Overloaded,
            "Too many requests are in progress. This one was not processed and nothing was charged. \
             Repeat the same request in a few seconds.",
        ),
        Refused::TooManyRequests => Refusal::new(
            Code::RateLimited,
            "Too many requests from your address are in progress. This one was not processed and nothing was charged. \
            Repeat it when some of them have finished.",
        ),
        Refused::HeadersTooLarge => Refusal::of(Code::HeadersTooLarge),
        Refused::UriTooLong => Refusal::of(Code::UriTooLong),
        Refused::UnknownTransferCoding => Refusal::of(Code::UnsupportedTransferCoding),
        Refused::InClear(address) => Refusal::new(
            Code::HttpsRequired,
            format!(
                "This request was sent without TLS and was not processed; nothing was charged. Send it to {address} \
                instead, with a new payment if it carried one."
            ),
        ),
        // At what point of a sale is not known. The payment of a tool's call is in its body.
        Refused::Panicked if asked.payment.is_some() || asked.pattern == Some(MCP_PATH) => {
            Refusal::of(Code::Internal).after_settlement()
        }
        Refused::Panicked => Refusal::of(Code::Internal),
        Refused::NoRoomForAnswer { is_sold } => no_room_for(*is_sold),
    }
}

/// The product sold at a path.
fn product_at(app: &App, path: &str) -> Option<Product> {
    let row = app.rows.iter().find(|row| row.path == path)?;
    match row.about.price {
        Price::Of(product) => Some(product),
        Price::Transfer => Some(Product::Context),
        _ => None,
    }
}

fn no_room_for(is_sold: bool) -> Refusal {
    let refusal = Refusal::new(
        Code::Overloaded,
        "Too many large responses are being sent. Repeat the same request in a few seconds: paid content is delivered \
        again without a second charge.",
    );
    match is_sold {
        true => refusal.after_settlement(),
        false => refusal,
    }
}
