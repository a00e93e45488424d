//! A buyer's view of an order, by checkout session or by a link from our e-mail, and recovery of lost links. Anyone without
//! either learns nothing, not even which orders exist.

use serde_json::{Map, Value};

use crate::app::Shared;
use crate::domain::checkout::SessionId;
use crate::domain::code::Code;
use crate::domain::ids::OrderId;
use crate::domain::mail::MailState;
use crate::domain::order::{Order, OrderState};
use crate::domain::refusal::Refusal;
use crate::domain::source_list;
use crate::domain::time::UnixSeconds;
use crate::evidence::bundle::BundleReport;
use crate::flows::content::source::Target;
use crate::flows::internal;
use crate::flows::orders::order_emails::{
    LINK_SECONDS, OrderEmails, PAGE_PATH, Token, delivery_key,
};
use crate::store::{OrderReport, Snapshot, SourceRecord, StoreError};

/// Maximum number of a person's orders to search.
const ORDERS_MAX: usize = 50;

/// The credential to see an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pass {
    Session(SessionId),
    Link(Token),
}

impl Pass {
    pub fn of_session(text: &str) -> Result<Pass, Refusal> {
        let session = SessionId::parse(text).map(Pass::Session);
        session.ok_or_else(|| Refusal::of(Code::SessionNotFound))
    }

    pub fn of_link(text: &str) -> Result<Pass, Refusal> {
        let token = Token::parse(text).map(Pass::Link);
        token.ok_or_else(|| Refusal::of(Code::LinkExpired))
    }

    /// The same as a query string.
    pub fn query(&self) -> String {
        match self {
            Pass::Session(session) => format!("session_id={}", session.as_str()),
            Pass::Link(token) => format!("recovery={token}"),
        }
    }
}

/// An order with its visible facts.
#[derive(Clone, Debug)]
pub struct Seen {
    pub id: OrderId,
    pub order: Order,
    /// Once it is fulfilled.
    pub report: Option<OrderReport>,
    /// What came of each source of an order without a report, by its place.
    pub sources: Vec<(u32, SourceRecord)>,
    /// The state of its e-mail, if any.
    pub mail: Option<MailState>,
    /// Whether it is delivered only by e-mail; then the contents are not shown.
    pub is_mail_only: bool,
}

/// Looks up an order. `None` for a session without an event yet: buyers may arrive before the provider's event.
pub async fn find(app: &Shared, pass: &Pass) -> Result<Option<Seen>, Refusal> {
    let (wanted, now) = (pass.clone(), app.now());
    let found = app.store.read(move |snapshot| {
        let found = match &wanted {
            Pass::Session(session) => snapshot.order_of_session(session.as_str())?,
            Pass::Link(token) => snapshot
                .order(token.order)?
                .filter(|order| token.opens(order, now))
                .map(|order| (token.order, order)),
        };
        let found = found.map(|(id, order)| {
            let is_mail_only = matches!(wanted, Pass::Session(_)) && snapshot.is_mail_only(id)?;
            match is_mail_only {
                true => Ok(of_another(id, order)),
                false => seen(snapshot, id, order),
            }
        });
        found.transpose()
    });
    match (found.await?, pass) {
        // A missing order and an invalid link give the same response.
        (None, Pass::Link(_)) => Err(Refusal::of(Code::LinkExpired)),
        (found, _) => Ok(found),
    }
}

fn seen(snapshot: &Snapshot, id: OrderId, order: Order) -> Result<Seen, StoreError> {
    let report = match order.state {
        OrderState::Fulfilled => snapshot.order_report(id)?,
        _ => None,
    };
    let mail = snapshot.mail(delivery_key(id, &order))?;
    let sources = match order.state {
        OrderState::Failed { .. } | OrderState::Refunded => snapshot.order_sources(id)?,
        _ => Vec::new(),
    };
    Ok(Seen {
        id,
        order,
        sources,
        report,
        mail: mail.map(|record| record.state),
        is_mail_only: false,
    })
}

/// SECURITY: the payer typed an e-mail address that may be somebody else's. They see the order's status, but not the
/// question, the sources or the requester.
fn of_another(id: OrderId, order: Order) -> Seen {
    let order = Order {
        lead: None,
        email: None,
        question: String::new(),
        target_urls: Vec::new(),
        trail: Vec::new(),
        ..order
    };
    Seen {
        id,
        order,
        report: None,
        sources: Vec::new(),
        mail: None,
        is_mail_only: true,
    }
}

/// The link to the order and its expiry. Visitors with a link keep that link, so that visits do not extend it.
pub fn way_back(seen: &Seen, pass: &Pass, now: UnixSeconds) -> (String, UnixSeconds) {
    let token = match pass {
        Pass::Link(token) => *token,
        Pass::Session(_) => Token::new(seen.id, &seen.order, now.plus(LINK_SECONDS)),
    };
    (format!("{PAGE_PATH}?recovery={token}"), token.expires_at)
}

/// The stored report.
pub async fn document(app: &Shared, report: &OrderReport) -> Result<Map<String, Value>, Refusal> {
    let bytes = blob(app, report.document).await?;
    serde_json::from_slice(&bytes)
        .map_err(|error| internal("a delivered report cannot be read", &error))
}

/// The same as the page reads it.
pub async fn report(app: &Shared, report: &OrderReport) -> Result<BundleReport, Refusal> {
    let bytes = blob(app, report.document).await?;
    serde_json::from_slice(&bytes)
        .map_err(|error| internal("a delivered report cannot be read", &error))
}

/// The bytes of the report, or of its PDF.
pub async fn blob(app: &Shared, key: [u8; 32]) -> Result<Vec<u8>, Refusal> {
    let bytes = app.store.read(move |snapshot| snapshot.blob(key)).await?;
    bytes.ok_or_else(|| internal("a delivered document is not there", &hex::encode(key)))
}

/// Finds the orders of an e-mail address with a submitted source, and e-mails their links. It responds before the search,
/// so that neither response nor timing reveals what exists.
///
/// # Errors
/// `NoMail` without a mail server: links go only to the buyer's mailbox.
pub fn recover(app: &Shared, email: &str, target_url: &str) -> Result<(), Refusal> {
    let emails = OrderEmails::of(app);
    if !emails.is_on() {
        return Err(Refusal::of(Code::NoMail));
    }
    let wanted = canonical(app, target_url);
    let (email, now) = (email.to_owned(), app.now());
    let app_in_task = app.clone();
    app.tasks.spawn(async move {
        if let Err(error) = mail_links(&app_in_task, email, wanted, &emails, now).await {
            tracing::error!(%error, "delivery recovery failed");
        }
    });
    Ok(())
}

async fn mail_links(
    app: &Shared,
    email: String,
    wanted: Option<String>,
    emails: &OrderEmails,
    now: UnixSeconds,
) -> Result<(), StoreError> {
    let found = app
        .store
        .read(move |snapshot| orders_of(snapshot, &email, wanted.as_deref()))
        .await?;
    // To the address as the buyer wrote it.
    let Some(to) = found.first().and_then(|(_, order)| order.email.clone()) else {
        return Ok(());
    };
    let emails = emails.clone();
    app.store
        .write(move |tables| emails.recovered(tables, &to, &found, now))
        .await
}

fn orders_of(
    snapshot: &Snapshot,
    email: &str,
    wanted: Option<&str>,
) -> Result<Vec<(OrderId, Order)>, StoreError> {
    let mut found = snapshot.orders_of_email(email, ORDERS_MAX)?;
    found.retain(|(_, order)| order.target_urls.iter().any(|url| Some(&**url) == wanted));
    Ok(found)
}

/// A submitted source in the form that orders store.
fn canonical(app: &Shared, typed: &str) -> Option<String> {
    let address = source_list::address(typed)?;
    let target = Target::parse(app, &address).ok()?;
    Some(target.canonical(app).to_owned())
}
