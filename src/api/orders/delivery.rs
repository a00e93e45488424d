//! Bundle deliveries as JSON and HTML, and recovery of lost links.

use serde_json::{Map, Value, json};

use crate::api::body::{check_origin, read_body};
use crate::api::orders::bundles::PAY_PATH;
use crate::api::{failure, frame};
use crate::app::{App, Shared};
use crate::domain::checkout;
use crate::domain::code::Code;
use crate::domain::email::masked;
use crate::domain::ids::LeadId;
use crate::domain::mail::MailState;
use crate::domain::order::OrderState;
use crate::domain::refusal::Refusal;
use crate::domain::requests::{BundleRecoverRequest, Request};
use crate::domain::schema::ValidationError;
use crate::flows::orders::delivery::{self, Pass, Seen};
use crate::flows::orders::order_emails::{API_PATH, OrderEmails, PAGE_PATH};
use crate::http::{Call, Method, Reply};
use crate::pages;
use crate::pages::orders::delivery::{DeliveryView, Ordered, RecoverView, Stage};
use crate::store::SourceRecord;

const BUNDLE_PATH: &str = "/proof-pack/bundle";
/// Retry-After for an order in progress, in seconds.
const RETRY_AFTER: u64 = 3;
/// Retry-After for an order that a person has to review.
const REVIEW_RETRY_AFTER: u64 = 300;
/// How often the page refreshes, at growing intervals: ten minutes in total.
const LOOKS_MAX: u64 = 33;
pub const MAILED: &str = "If an order matches, we e-mailed a link.";

/// GET /v1/proof-pack/bundle/delivery.
pub async fn read(app: Shared, call: Call) -> Reply {
    let outcome = async {
        let pass = pass(&call)?;
        let seen = delivery::find(&app, &pass).await?;
        match call.query.get("format").as_deref() {
            Some(format) if !is_under_way(seen.as_ref()) => {
                download(&app, seen.as_ref(), format).await
            }
            _ => delivery_reply(&app, seen.as_ref(), &pass).await,
        }
    };
    match outcome.await {
        Ok(reply) => secret(reply),
        Err(refusal) => secret(failure::reply(&app, &refusal, &call)),
    }
}

/// GET /proof-pack/bundle/delivery.
pub async fn page(app: Shared, call: Call) -> Reply {
    let outcome = async {
        let pass = pass(&call)?;
        let seen = delivery::find(&app, &pass).await?;
        delivery_page(&app, &call, seen.as_ref(), &pass).await
    };
    match outcome.await {
        Ok(reply) => secret(reply),
        Err(refusal) => secret(failure::page(&app, &refusal, &call)),
    }
}

/// GET and POST /v1/proof-pack/bundle/recover.
pub async fn recover(app: Shared, call: Call) -> Reply {
    let outcome = async {
        let asked = recover_request(&app, &call)?;
        recovered(&app, &asked)
    };
    match outcome.await {
        Ok(()) => {
            let body = json!({"status": "accepted", "message": MAILED});
            secret(Reply::json(202, body.to_string()))
        }
        Err(refusal) => secret(failure::reply(&app, &refusal, &call)),
    }
}

/// GET and POST /proof-pack/bundle/recover: the form and its result.
pub async fn recover_page(app: Shared, call: Call) -> Reply {
    let is_asked = !call.body.is_empty() || call.query.get("email").is_some();
    let outcome = async {
        match is_asked {
            true => recovered(&app, &recover_request(&app, &call)?).map(|()| Some(MAILED)),
            false => Ok(None),
        }
    };
    match outcome.await {
        Ok(message) => {
            let status = if message.is_some() { 202 } else { 200 };
            let texts = frame::Texts::of(&app);
            let html = pages::orders::delivery::recover_page(&RecoverView {
                site: frame::site(&app, &texts),
                message,
                is_mailed: OrderEmails::of(&app).is_on(),
            });
            // Browsers send Origin with the form only if the referrer policy allows it.
            secret(frame::with_page_headers(Reply::html(status, html)))
                .fixed("referrer-policy", "same-origin")
        }
        Err(refusal) => secret(failure::page(&app, &refusal, &call)),
    }
}

/// Anyone who knows the address can read the page, so it goes into no cache, index or referrer.
fn secret(reply: Reply) -> Reply {
    reply
        .fixed("cache-control", "private, no-store")
        .fixed("x-robots-tag", "noindex")
        .fixed("referrer-policy", "no-referrer")
}

fn pass(call: &Call) -> Result<Pass, Refusal> {
    match (call.query.get("session_id"), call.query.get("recovery")) {
        (Some(session), None) => Pass::of_session(&session),
        (None, Some(link)) => Pass::of_link(&link),
        _ => Err(Refusal::of(Code::SessionNotFound)),
    }
}

/// An order's status for buyers, and whether it may still change.
struct BuyerStatus {
    status: &'static str,
    /// Seconds until the next check; nothing at the end.
    retry_after: Option<u64>,
    message: &'static str,
}

/// What happens next, for the buyer.
fn next(seen: Option<&Seen>, is_mailed: bool) -> &'static str {
    match seen.map(|seen| &seen.order.state) {
        Some(OrderState::NeedsReview { .. }) => {
            "The operator assigns the payment to your order or refunds it. You need not do anything."
        }
        Some(OrderState::PaymentFailed) => "You can pay again. We start when the payment arrives.",
        Some(OrderState::Failed { .. }) if is_mailed => {
            "You need not do anything: you get the report or the refund, and an e-mail in either case. This page shows it as well."
        }
        Some(OrderState::Failed { .. }) => {
            "You need not do anything: you get the report or the refund, and this page shows which."
        }
        Some(OrderState::Refunded) => {
            "The money is returned to your payment method; your bank may take some days to show it. Nothing more will be delivered or charged."
        }
        _ => "",
    }
}

/// Where a payment that failed is made again.
fn pay_again(seen: &Seen) -> Option<String> {
    let lead = seen.order.lead.map(LeadId);
    (seen.order.state == OrderState::PaymentFailed).then(|| match lead {
        Some(lead) => format!("{PAY_PATH}?lead_id={lead}"),
        None => BUNDLE_PATH.to_owned(),
    })
}

/// What was ordered, unless it is somebody else's.
fn ordered(seen: &Seen) -> Option<Ordered<'_>> {
    let order = &seen.order;
    let reason = |place: usize| {
        let mut sources = seen.sources.iter();
        sources.find_map(|(at, source)| match source {
            SourceRecord::Unreachable { message, .. } if *at as usize == place => {
                Some(message.as_str())
            }
            _ => None,
        })
    };
    let is_paid = !matches!(
        order.state,
        OrderState::AwaitingPayment | OrderState::PaymentFailed
    );
    (!seen.is_mail_only).then(|| Ordered {
        question: &order.question,
        paid: (order.amount_total)
            .filter(|_| is_paid)
            .map(|units| checkout::amount(units, &order.currency)),
        sources: (order.target_urls.iter().enumerate())
            .map(|(place, address)| (address.as_str(), reason(place)))
            .collect(),
    })
}

fn standing(seen: Option<&Seen>) -> BuyerStatus {
    let is_mail_only = seen.is_some_and(|seen| seen.is_mail_only);
    let (status, retry_after, message) = match seen.map(|seen| &seen.order.state) {
        None => (
            "pending",
            Some(RETRY_AFTER),
            "We are waiting for the payment to be confirmed.",
        ),
        Some(OrderState::AwaitingPayment) => (
            "pending",
            Some(REVIEW_RETRY_AFTER),
            "The payment is pending; some methods take days. We start when it arrives.",
        ),
        Some(OrderState::NeedsReview { .. }) => (
            "pending",
            Some(REVIEW_RETRY_AFTER),
            "The payment has arrived and needs a manual review, because it does not match the order.",
        ),
        Some(OrderState::Queued | OrderState::Processing { .. }) => (
            "processing",
            Some(RETRY_AFTER),
            "We are reading and comparing your sources.",
        ),
        Some(OrderState::PaymentFailed) => (
            "payment_failed",
            None,
            "The payment failed; nothing was charged.",
        ),
        Some(OrderState::Fulfilled) if is_mail_only => (
            "fulfilled",
            None,
            "We sent the report to the e-mail address you used at checkout.",
        ),
        Some(OrderState::Fulfilled) => ("fulfilled", None, "The report is ready."),
        Some(OrderState::Failed { .. }) => (
            "failed",
            None,
            "The delivery failed. The operator has been notified and will retry or refund it.",
        ),
        Some(OrderState::Refunded) => ("refunded", None, "The payment was refunded."),
    };
    BuyerStatus {
        status,
        retry_after,
        message,
    }
}

/// Whether a report may still follow.
fn is_under_way(seen: Option<&Seen>) -> bool {
    let has_report = seen.is_some_and(|seen| seen.report.is_some());
    !has_report && standing(seen).retry_after.is_some()
}

/// Finished sources, and their total.
fn progress(seen: Option<&Seen>) -> Option<(u32, u32)> {
    let order = &seen.filter(|seen| !seen.is_mail_only)?.order;
    let all = u32::try_from(order.target_urls.len()).unwrap_or(u32::MAX);
    match order.state {
        OrderState::Processing { done, total, .. } => Some((done, total)),
        OrderState::Queued => Some((0, all)),
        _ => None,
    }
}

async fn delivery_reply(app: &Shared, seen: Option<&Seen>, pass: &Pass) -> Result<Reply, Refusal> {
    if let Some((seen, report)) = seen.and_then(|seen| Some((seen, seen.report.as_ref()?))) {
        let mut body = delivery::document(app, report).await?;
        put_around(app, seen, pass, &mut body);
        return Ok(Reply::json(200, Value::Object(body).to_string()));
    }
    let standing = standing(seen);
    let mut body = json!({"status": standing.status, "message": standing.message});
    if let Some(seen) = seen {
        body["order_id"] = seen.id.to_string().into();
    }
    if let Some((done, total)) = progress(seen) {
        body["progress"] = json!({"done": done, "total": total});
    }
    Ok(match standing.retry_after {
        None => Reply::json(200, body.to_string()),
        Some(seconds) => {
            body["retry_after"] = seconds.into();
            Reply::json(202, body.to_string()).header("retry-after", &seconds.to_string())
        }
    })
}

/// The delivery's facts beside the report, not covered by the report's hash.
fn put_around(app: &App, seen: &Seen, pass: &Pass, body: &mut Map<String, Value>) {
    let (way_back, expires_at) = delivery::way_back(seen, pass, app.now());
    let Downloads { json, pdf, page } = downloads(app, seen, pass);
    let email = seen.order.email.as_deref();
    let is_sent = seen.mail == Some(MailState::Sent);
    let members = [
        (
            "download",
            json!({"json_url": json, "pdf_url": pdf, "html_url": page}),
        ),
        ("recovery_url", app.url(&way_back).into()),
        (
            "email",
            json!({
                "sent": is_sent,
                "state": seen.mail.map(|state| state.name()),
                "to_masked": email.map(masked),
            }),
        ),
        ("expires_at", expires_at.0.into()),
    ];
    for (name, value) in members {
        body.insert(name.to_owned(), value);
    }
}

struct Downloads {
    json: String,
    pdf: Option<String>,
    page: String,
}

fn downloads(app: &App, seen: &Seen, pass: &Pass) -> Downloads {
    let query = pass.query();
    let has_pdf = seen
        .report
        .as_ref()
        .is_some_and(|report| report.pdf.is_some());
    let file = |format: &str| app.url(&format!("{API_PATH}?{query}&format={format}"));
    Downloads {
        json: file("json"),
        pdf: has_pdf.then(|| file("pdf")),
        page: app.url(&format!("{PAGE_PATH}?{query}")),
    }
}

/// The report as a file, byte for byte.
async fn download(app: &Shared, seen: Option<&Seen>, format: &str) -> Result<Reply, Refusal> {
    let nothing = |message: &str| Refusal::new(Code::NotFound, message);
    let Some((seen, report)) = seen.and_then(|seen| Some((seen, seen.report.as_ref()?))) else {
        return Err(nothing("There is no report to download."));
    };
    let (key, media_type) = match (format, report.pdf) {
        ("json", _) => (report.document, "application/json"),
        ("pdf", Some(pdf)) => (pdf, "application/pdf"),
        ("pdf", None) => return Err(nothing("This report has no PDF.")),
        _ => return Err(nothing("No such format; use json or pdf.")),
    };
    let bytes = delivery::blob(app, key).await?;
    let disposition = format!("attachment; filename=\"{}.{format}\"", seen.id);
    Ok(Reply::new(200, media_type, bytes).header("content-disposition", &disposition))
}

async fn delivery_page(
    app: &Shared,
    call: &Call,
    seen: Option<&Seen>,
    pass: &Pass,
) -> Result<Reply, Refusal> {
    let texts = frame::Texts::of(app);
    let standing = standing(seen);
    let report = match seen.and_then(|seen| seen.report.as_ref()) {
        Some(report) => Some(delivery::report(app, report).await?),
        None => None,
    };
    let delivered = seen.filter(|seen| seen.report.is_some());
    let downloads = delivered.map(|seen| downloads(app, seen, pass));
    let way_back = delivered.map(|seen| delivery::way_back(seen, pass, app.now()));
    let order_id = seen.map(|seen| seen.id.to_string());
    let email = seen
        .and_then(|seen| seen.order.email.as_deref())
        .map(masked);
    let looks = looks(call);
    let stage = match (delivered, standing.retry_after) {
        (Some(_), _) => Stage::Delivered,
        (None, Some(_)) if looks < LOOKS_MAX => Stage::UnderWay,
        (None, Some(_)) => Stage::TakingLong,
        (None, None) => Stage::Ended,
    };
    let html = pages::orders::delivery::page(&DeliveryView {
        site: frame::site(app, &texts),
        stage,
        message: standing.message,
        order_id: order_id.as_deref(),
        ordered: seen.and_then(ordered),
        pay_again: seen.and_then(pay_again),
        next: next(seen, email.is_some() && OrderEmails::of(app).is_on()),
        progress: progress(seen),
        email: email.as_deref(),
        is_mailed: OrderEmails::of(app).is_on(),
        report: report.as_ref(),
        report_path: None,
        checks: None,
        json_url: downloads.as_ref().map(|downloads| &*downloads.json),
        pdf_url: downloads
            .as_ref()
            .and_then(|downloads| downloads.pdf.as_deref()),
        way_back: way_back.as_ref().map(|(path, end)| (app.url(path), *end)),
    });
    let status = if standing.retry_after.is_some() {
        202
    } else {
        200
    };
    let reply = frame::with_page_headers(Reply::html(status, html));
    Ok(match stage {
        Stage::UnderWay => {
            let next = format!("{PAGE_PATH}?{}&look={}", pass.query(), looks + 1);
            let seconds = pause(looks);
            reply.header("refresh", &format!("{seconds}; url={next}"))
        }
        _ => reply,
    })
}

fn looks(call: &Call) -> u64 {
    let looks = call.query.get("look").and_then(|text| text.parse().ok());
    looks.unwrap_or_default()
}

/// Three seconds at first, then growing.
fn pause(looks: u64) -> u64 {
    (RETRY_AFTER + looks).min(30)
}

fn recover_request(app: &App, call: &Call) -> Result<BundleRecoverRequest, Refusal> {
    if !call.body.is_empty() {
        check_origin(app, call)?;
        return read_body(app, call);
    }
    let members: Map<String, Value> = BundleRecoverRequest::TABLE
        .fields
        .iter()
        .filter_map(|field| {
            let text = call.query.get(field.name)?;
            Some((field.name.to_owned(), text.into_owned().into()))
        })
        .collect();
    let read = BundleRecoverRequest::read(Value::Object(members).to_string().as_bytes());
    read.map_err(|errors| match call.method {
        Method::Post => Refusal::validation(errors),
        _ => Refusal::validation(errors.into_iter().map(ValidationError::in_query).collect()),
    })
}

fn recovered(app: &Shared, asked: &BundleRecoverRequest) -> Result<(), Refusal> {
    delivery::recover(app, &asked.email, &asked.target_url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_looks_again_for_ten_minutes() {
        let all: u64 = (0..LOOKS_MAX).map(pause).sum();
        assert!((540..=660).contains(&all), "{all} s");
    }
}
