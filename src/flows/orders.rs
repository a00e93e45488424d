//! Processes the payment provider's events: each event once, one order per checkout session, in any order of arrival.
//! Decisions are on disk before the provider gets a response; `fulfil` does the work. Also performs the operator's acts
//! on orders.

pub mod delivery;
pub mod fulfil;
pub mod lead_webhook;
pub mod leads;
pub mod order_emails;

use std::sync::atomic::Ordering;

use crate::app::{App, Shared};
use crate::config::Secret;
use crate::domain::checkout::{Checkout, News, ProviderEvent, bundle_of, bundle_paid, judge};
use crate::domain::code::Code;
use crate::domain::email::is_email;
use crate::domain::ids::{BundleQuoteId, LeadId, OrderId};
use crate::domain::lead::{By, Lead, LeadEvent, LeadProduct};
use crate::domain::order::{Doubt, Order, OrderEvent, OrderState, next};
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::flows::orders::order_emails::OrderEmails;
use crate::outside::chance;
use crate::signing::stamp::{self, StampError};
use crate::store::{EventRecord, Receipt, StoreError, Tables};

/// Maximum bytes of an event in the operator's log.
const RAW_BYTES_MAX: usize = 16 * 1024;

/// Least time between two warnings of refused events.
const WARN_EVERY_SECONDS: u64 = 3600;

/// The outcome of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// Not relevant for us.
    Ignored,
    /// A duplicate.
    Repeated,
    Taken,
}

/// Whether the signature header is plausible, before the body is received: a secret is configured, and the header is
/// well-formed and recent.
pub fn check_head(app: &App, header: &str) -> Result<(), Refusal> {
    if app.config.orders.webhook_secrets.is_empty() {
        return Err(Refusal::of(Code::WebhookNotTaken));
    }
    stamp::check_head(header, app.now().0).map_err(|error| refused(app, error, None))
}

/// Anyone can send an event without a signature, so it is no warning: those would push real ones out of the console. A wrong
/// signature or time may also mean that our secret or our clock is wrong, so one an hour is a warning.
fn refused(app: &App, error: StampError, bytes: Option<usize>) -> Refusal {
    app.metrics.webhooks.count(["-", "refused"]);
    if error != StampError::Unreadable && is_warning_due(app) {
        tracing::warn!(
            %error,
            bytes,
            "webhook event refused: if the provider reports failed deliveries, correct bundles.webhook_secrets, or this \
             machine's clock"
        );
    } else {
        tracing::info!(%error, bytes, "webhook event refused");
    }
    Refusal::of(Code::InvalidSignature)
}

fn is_warning_due(app: &App) -> bool {
    let now = app.now().0;
    let next = |last: u64| (now >= last.saturating_add(WARN_EVERY_SECONDS)).then_some(now);
    let warned_at = &app.webhook_warned_at;
    let order = Ordering::Relaxed;
    warned_at.fetch_update(order, order, next).is_ok()
}

/// Processes an event if its signature is valid.
pub async fn receive(app: &Shared, header: &str, body: &[u8]) -> Result<Received, Refusal> {
    let secrets = &app.config.orders.webhook_secrets;
    if secrets.is_empty() {
        return Err(Refusal::of(Code::WebhookNotTaken));
    }
    let now = app.now();
    stamp::check(header, secrets.iter().map(Secret::expose), body, now.0)
        .map_err(|error| refused(app, error, Some(body.len())))?;
    let event = ProviderEvent::read(body).map_err(|error| {
        tracing::error!(%error, "signed webhook event cannot be parsed");
        Refusal::new(Code::InvalidRequest, format!("{error}."))
    })?;
    let is_live = app.config.orders.is_live;
    let raw = String::from_utf8_lossy(body).into_owned();
    let fresh = Fresh {
        order: OrderId(chance::bytes()),
        lead: LeadId(chance::bytes()),
        link_key: chance::bytes(),
    };
    let emails = OrderEmails::of(app);
    let kind = kind_label(&event.kind);
    let taken = app
        .store
        .write(move |tables| take(tables, &event, raw, is_live, fresh, &emails, now))
        .await?;
    app.crash_point("event_taken");
    app.metrics.webhooks.count([kind, taken.outcome]);
    match (taken.received, taken.order) {
        (Received::Taken, Some(id)) => {
            tracing::info!(order.id = %id, outcome = taken.outcome, kind, "webhook event applied");
        }
        (received, _) => tracing::info!(?received, kind, "webhook event received"),
    }
    Ok(taken.received)
}

/// The event kinds for the metrics.
fn kind_label(kind: &str) -> &'static str {
    match kind {
        "checkout.session.completed" => "checkout.session.completed",
        "checkout.session.async_payment_succeeded" => "checkout.session.async_payment_succeeded",
        "checkout.session.async_payment_failed" => "checkout.session.async_payment_failed",
        _ => "other",
    }
}

/// Identifiers and a key for an event's effects.
#[derive(Clone, Copy)]
struct Fresh {
    order: OrderId,
    lead: LeadId,
    link_key: [u8; 32],
}

struct AppliedEvent {
    received: Received,
    order: Option<OrderId>,
    /// The order's new state, or why it has not changed.
    outcome: &'static str,
}

/// Applies an event in one transaction.
fn take(
    tables: &mut Tables<'_>,
    event: &ProviderEvent,
    raw: String,
    is_live: bool,
    fresh: Fresh,
    emails: &OrderEmails,
    now: UnixSeconds,
) -> Result<AppliedEvent, StoreError> {
    if tables.provider_event(&event.id)?.is_some() {
        return Ok(AppliedEvent {
            received: Received::Repeated,
            order: None,
            outcome: "repeated",
        });
    }
    let taken = match &event.checkout {
        None => AppliedEvent {
            received: Received::Ignored,
            order: None,
            outcome: "ignored",
        },
        Some(checkout) => {
            let (id, outcome) = change_order(tables, checkout, is_live, fresh, emails, now)?;
            AppliedEvent {
                received: Received::Taken,
                order: id,
                outcome,
            }
        }
    };
    tables.put_provider_event(&EventRecord {
        id: event.id.clone(),
        kind: event.kind.clone(),
        livemode: event.livemode,
        order: taken.order.map(|id| id.0),
        outcome: taken.outcome.to_owned(),
        raw: shortened(raw),
        created_at: event.created_at,
        received_at: now.0,
    })?;
    Ok(taken)
}

fn shortened(mut raw: String) -> String {
    let end = (0..=RAW_BYTES_MAX.min(raw.len())).rfind(|end| raw.is_char_boundary(*end));
    raw.truncate(end.unwrap_or_default());
    raw
}

/// Applies a checkout event to its order and lead.
fn change_order(
    tables: &mut Tables<'_>,
    checkout: &Checkout,
    is_live: bool,
    fresh: Fresh,
    emails: &OrderEmails,
    now: UnixSeconds,
) -> Result<(Option<OrderId>, &'static str), StoreError> {
    let known = tables.order_of_session(checkout.session.as_str())?;
    let named = known.as_ref().and_then(|(_, order)| order.lead);
    let found = lead_of(tables, checkout, named.map(LeadId), fresh.lead, now)?;
    // A buyer known only by e-mail address gets the delivery by e-mail; without a mail server it cannot be delivered.
    let found = found.filter(|found| found.by != FoundBy::Address || emails.is_on());
    let judged = judge(checkout, found.as_ref().map(|found| &found.lead), is_live);
    let judged = match found.as_ref().map(|found| found.by) {
        Some(FoundBy::PaidQuote) => judged.and(Err(Doubt::LeadPaid)),
        _ => judged,
    };
    let event = match (checkout.news, judged) {
        (News::Unpaid, _) => OrderEvent::Unpaid,
        (News::Failed, _) => OrderEvent::PaymentFailed,
        (News::Paid, Ok(_)) => OrderEvent::Paid,
        (News::Paid, Err(doubt)) => OrderEvent::PaidInDoubt(doubt),
    };
    let Some(state) = next(known.as_ref().map(|(_, order)| &order.state), &event) else {
        return Ok((known.map(|(id, _)| id), "unchanged"));
    };
    let (id, mut order) =
        known.unwrap_or_else(|| (fresh.order, new_order(checkout, fresh.link_key, now)));
    order.state = state;
    order.changed_at = now.0;
    order.email = checkout.email.clone().or(order.email);
    order.amount_total = checkout.amount_total.or(order.amount_total);
    if let Some(found) = &found {
        if matches!(found.by, FoundBy::Quote | FoundBy::PaidQuote) {
            tables.put_lead(found.id, &found.lead)?;
        }
        if found.by == FoundBy::Address {
            tables.set_mail_only(id)?;
            order.note(
                now.0,
                "matched only by the payer's e-mail address: delivered by e-mail only",
            );
        }
        order.lead = Some(found.id.0);
        ask_as(&mut order, &found.lead);
    }
    order.note(now.0, event_text(&event));
    let outcome = order.state.name();
    match &order.state {
        OrderState::Queued => {
            if let Some(found) = found {
                pay_lead(tables, found.id, found.lead, id, By::Provider, now)?;
            }
            tables.schedule_order(id, now)?;
        }
        OrderState::NeedsReview { doubt } => {
            tracing::warn!(order.id = %id, doubt = doubt.name(), "payment needs the operator's review");
            emails.review_needed(tables, id, *doubt, now)?;
        }
        OrderState::PaymentFailed => emails.payment_failed(tables, id, &order, now)?,
        _ => {}
    }
    tables.put_order(id, &order)?;
    Ok((Some(id), outcome))
}

fn new_order(checkout: &Checkout, link_key: [u8; 32], now: UnixSeconds) -> Order {
    Order {
        session_id: checkout.session.as_str().to_owned(),
        lead: None,
        bundle: None,
        email: None,
        question: String::new(),
        target_urls: Vec::new(),
        amount_total: checkout.amount_total,
        currency: checkout.currency.clone(),
        livemode: checkout.livemode,
        state: OrderState::AwaitingPayment,
        round: 0,
        resent: 0,
        link_key,
        trail: Vec::new(),
        created_at: now.0,
        changed_at: now.0,
        fulfilled_at: None,
    }
}

/// Copies the lead's request to the order.
fn ask_as(order: &mut Order, lead: &Lead) {
    order.bundle = bundle_of(lead).ok();
    order.question.clone_from(&lead.question);
    order.target_urls.clone_from(&lead.target_urls);
    if order.email.is_none() && is_email(&lead.contact) {
        order.email = Some(lead.contact.clone());
    }
}

fn event_text(event: &OrderEvent) -> String {
    match event {
        OrderEvent::Unpaid => "checked out, payment pending".to_owned(),
        OrderEvent::PaymentFailed => "the payment failed".to_owned(),
        OrderEvent::Paid => "paid".to_owned(),
        OrderEvent::PaidInDoubt(doubt) => format!("paid, but {doubt}"),
        _ => String::new(),
    }
}

/// The lead that a checkout is for.
struct Found {
    id: LeadId,
    lead: Lead,
    by: FoundBy,
}

/// How a lead was found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FoundBy {
    /// By our reference, which only the lead's author has.
    Reference,
    /// By the quote in our reference; the lead is made from it and not stored yet.
    Quote,
    /// The same, but the quote was paid before.
    PaidQuote,
    /// By the payer's e-mail address, which anybody can type.
    Address,
}

/// The lead of a checkout: the order's own, the one in our reference, or a new one for the quote in it, which gets
/// `fresh` as its identifier.
///
/// SECURITY: without a reference, the payer's e-mail address counts only if exactly one lead is open and its buyer was
/// redirected to the payment link. Anybody can leave a lead, and pay, in another's name.
fn lead_of(
    tables: &Tables<'_>,
    checkout: &Checkout,
    named: Option<LeadId>,
    fresh: LeadId,
    now: UnixSeconds,
) -> Result<Option<Found>, StoreError> {
    let by_reference = |id: LeadId| {
        let lead = tables.lead(id)?;
        Ok::<_, StoreError>(lead.map(|lead| Found {
            id,
            lead,
            by: FoundBy::Reference,
        }))
    };
    match (named, &checkout.reference, &checkout.email) {
        (Some(id), ..) => by_reference(id),
        (None, Some(reference), _) => {
            match (LeadId::parse(reference), BundleQuoteId::parse(reference)) {
                (Some(id), _) => by_reference(id),
                (None, Some(quote)) => lead_of_quote(tables, checkout, quote, fresh, now),
                (None, None) => Ok(None),
            }
        }
        (None, None, Some(email)) => {
            let only = tables.only_open_lead_of(email)?;
            let begun = only.filter(|(_, lead)| lead.has_begun_checkout());
            Ok(begun.map(|(id, lead)| Found {
                id,
                lead,
                by: FoundBy::Address,
            }))
        }
        (None, None, None) => Ok(None),
    }
}

/// A lead for a quote that was paid without one.
fn lead_of_quote(
    tables: &Tables<'_>,
    checkout: &Checkout,
    quote_id: BundleQuoteId,
    id: LeadId,
    now: UnixSeconds,
) -> Result<Option<Found>, StoreError> {
    let Some(Receipt::Whole(quote)) = tables.bundle_quote(quote_id)? else {
        return Ok(None);
    };
    let bundle = bundle_paid(quote.bundle, quote.target_urls.len(), checkout.amount_total);
    let by = match quote.paid_at {
        Some(_) => FoundBy::PaidQuote,
        None => FoundBy::Quote,
    };
    let mut lead = Lead {
        level: bundle.name().to_owned(),
        contact: checkout.email.clone().unwrap_or_default(),
        target_urls: quote.target_urls,
        question: quote.question.unwrap_or_default(),
        source: quote.attribution,
        quote: Some(quote_id.to_string()),
        ..Lead::of(LeadProduct::Bundle, now)
    };
    lead.note(By::Provider, &format!("checked out for {quote_id}"), now);
    Ok(Some(Found { id, lead, by }))
}

fn pay_lead(
    tables: &mut Tables<'_>,
    lead_id: LeadId,
    mut lead: Lead,
    order: OrderId,
    by: By,
    now: UnixSeconds,
) -> Result<(), StoreError> {
    // A payment takes every lead that is not paid or fulfilled to paid.
    if lead
        .apply(LeadEvent::Pay, by, &order.to_string(), now)
        .is_ok()
    {
        tables.put_lead(lead_id, &lead)?;
    }
    Ok(())
}

/// The operator's acts on orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderAction {
    /// Retry fulfilment: read all sources again, write a new report, send a new e-mail.
    Refulfil,
    /// Send the e-mail of a delivered order again.
    Resend,
    /// Attach a doubtful payment to this lead.
    Attach(LeadId),
    /// Record a refund, which is made at the provider.
    Refund,
    /// Delete the order and all data about its buyer.
    Delete,
}

/// The outcome of an act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionOutcome {
    Done,
    NoOrder,
    /// Not possible in this state; the reason as a sentence.
    Refused(String),
}

/// Performs the operator's act in one transaction.
pub fn apply(
    tables: &mut Tables<'_>,
    id: OrderId,
    action: OrderAction,
    emails: &OrderEmails,
    now: UnixSeconds,
) -> Result<ActionOutcome, StoreError> {
    let Some(mut order) = tables.order(id)? else {
        return Ok(ActionOutcome::NoOrder);
    };
    let refused = |order: &Order, what: &str| {
        let state = order.state.name();
        Ok(ActionOutcome::Refused(format!(
            "The order is {state}: {what}."
        )))
    };
    match action {
        OrderAction::Delete => {
            tables.delete_mails_about(&id.to_string())?;
            tables.delete_order(id)?;
            return Ok(ActionOutcome::Done);
        }
        OrderAction::Refulfil => {
            if !order.happen(&OrderEvent::Refulfil, now.0) {
                return refused(&order, "only fulfilled or failed orders can be retried");
            }
            tables.drop_order_sources(id)?;
            tables.schedule_order(id, now)?;
            order.note(now.0, "fulfilment retried by the operator");
        }
        OrderAction::Resend => {
            if order.state != OrderState::Fulfilled {
                return refused(&order, "there is no delivery e-mail to send again");
            }
            order.resent = order.resent.saturating_add(1);
            if !emails.delivered(tables, id, &order, now)? {
                return refused(
                    &order,
                    "no mail server is configured, or the order has no e-mail address",
                );
            }
            order.note(now.0, "e-mail sent again by the operator");
        }
        OrderAction::Refund => {
            if !order.happen(&OrderEvent::Refunded, now.0) {
                return refused(
                    &order,
                    "only paid orders that are not refunded yet can be refunded",
                );
            }
            emails.refunded(tables, id, &order, now)?;
            order.note(now.0, "refunded by the operator");
        }
        OrderAction::Attach(lead_id) => {
            let Some(lead) = tables.lead(lead_id)? else {
                return Ok(ActionOutcome::Refused("No such lead.".to_owned()));
            };
            if let Err(doubt) = bundle_of(&lead) {
                return Ok(ActionOutcome::Refused(format!(
                    "The payment does not match: {doubt}."
                )));
            }
            if !order.happen(&OrderEvent::Attached, now.0) {
                return refused(
                    &order,
                    "only orders that need review can be attached to a lead",
                );
            }
            // SECURITY: the payment did not name this lead, so its payer may not be the lead's author.
            if order.lead != Some(lead_id.0) && emails.is_on() && order.email.is_some() {
                tables.set_mail_only(id)?;
            }
            order.lead = Some(lead_id.0);
            ask_as(&mut order, &lead);
            order.note(now.0, format!("attached to {lead_id} by the operator"));
            pay_lead(tables, lead_id, lead, id, By::Operator, now)?;
            tables.schedule_order(id, now)?;
        }
    }
    tables.put_order(id, &order)?;
    Ok(ActionOutcome::Done)
}
