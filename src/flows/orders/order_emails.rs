//! The mails about orders, put into the outbox together with the facts that they tell of, and the links that lead back
//! to an order: sealed with the order's own key, so that nobody makes one and deleting the order ends them all. Where no
//! mail is configured none is written.

use std::fmt;

use crate::app::App;
use crate::config::Config;
use crate::domain::bundle::Bundle;
use crate::domain::email::is_email;
use crate::domain::ids::OrderId;
use crate::domain::keys::MailKey;
use crate::domain::mail::{ATTACHMENT_BYTES_MAX, MailKind, without_links};
use crate::domain::order::{Doubt, Order};
use crate::domain::time::{UnixSeconds, day};
use crate::pages::orders::email::{Delivery, Email, Notice, Recovery, delivery, notice, recovery};
use crate::signing::stamp::{is_sealed, seal};
use crate::store::{Mail, MailAttachment, OrderReport, StoreError, Tables, mail_key};

/// How long a link that leads back lives (decisions, Addresses and samples).
pub const LINK_SECONDS: u64 = 30 * 24 * 3600;
/// Mails that lead back to the same orders are so far apart at least.
const RECOVERY_PAUSE_SECONDS: u64 = 600;
/// The page and the document of a delivery.
pub const PAGE_PATH: &str = "/proof-pack/bundle/delivery";
pub const API_PATH: &str = "/v1/proof-pack/bundle/delivery";

/// What mails need to know of the service.
#[derive(Clone, Debug)]
pub struct OrderEmails {
    is_on: bool,
    base_url: String,
    service: String,
    contact: Option<String>,
}

/// A link's secret part: which order, until when, and the seal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Token {
    pub order: OrderId,
    pub expires_at: UnixSeconds,
    seal: [u8; 32],
}

impl Token {
    pub fn new(id: OrderId, order: &Order, expires_at: UnixSeconds) -> Token {
        Token {
            order: id,
            expires_at,
            seal: seal(&order.link_key, &sealed_text(id, expires_at)),
        }
    }

    pub fn parse(text: &str) -> Option<Token> {
        let mut parts = text.split('.');
        let (order, until, digits) = (parts.next()?, parts.next()?, parts.next()?);
        let mut seal = [0; 32];
        hex::decode_to_slice(digits, &mut seal).ok()?;
        let is_canonical = parts.next().is_none() && until.bytes().all(|b| b.is_ascii_digit());
        is_canonical.then_some(Token {
            order: OrderId::parse(order)?,
            expires_at: UnixSeconds(until.parse().ok()?),
            seal,
        })
    }

    /// Whether we have made it for this order and it has not ended.
    pub fn opens(&self, order: &Order, now: UnixSeconds) -> bool {
        let text = sealed_text(self.order, self.expires_at);
        is_sealed(&order.link_key, &text, &self.seal) && now < self.expires_at
    }
}

fn sealed_text(id: OrderId, expires_at: UnixSeconds) -> String {
    format!("{id}.{expires_at}")
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = sealed_text(self.order, self.expires_at);
        write!(f, "{text}.{}", hex::encode(self.seal))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The key of the mail that a finished order goes out with: one for each time that it is done or asked for.
pub fn delivery_key(id: OrderId, order: &Order) -> MailKey {
    let about = format!("{id}.{}", order.round);
    mail_key(MailKind::Delivery, &about, order.resent)
}

impl OrderEmails {
    pub fn of(app: &App) -> OrderEmails {
        OrderEmails::new(&app.config)
    }

    pub fn new(config: &Config) -> OrderEmails {
        OrderEmails {
            is_on: config.mail.is_some(),
            base_url: config.base_url.clone(),
            service: config.service_name.clone(),
            contact: config.contact.clone(),
        }
    }

    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// A link to the delivery page that lives as long as links live.
    fn link(&self, id: OrderId, order: &Order, now: UnixSeconds) -> String {
        let token = Token::new(id, order, now.plus(LINK_SECONDS));
        format!("{}{PAGE_PATH}?recovery={token}", self.base_url)
    }

    /// The order is fulfilled. Tells whether there is anybody to tell.
    pub fn delivered(
        &self,
        tables: &mut Tables<'_>,
        id: OrderId,
        order: &Order,
        now: UnixSeconds,
    ) -> Result<bool, StoreError> {
        let (Some(to), Some(report)) = (order.email.clone(), tables.order_report(id)?) else {
            return Ok(false);
        };
        if !self.is_on {
            return Ok(false);
        }
        let pdf = report.pdf.filter(|_| fits(&report));
        let attachment = pdf.map(|blob| MailAttachment {
            blob,
            name: format!("{id}.pdf"),
            media_type: "application/pdf".to_owned(),
        });
        // SECURITY: words that came by a lead in the payer's name may be anybody's.
        let is_own = !tables.is_mail_only(id)? && !order.question.trim().is_empty();
        let question = is_own.then(|| without_links(&order.question));
        let email = self.delivery(id, order, &report, (question, attachment.is_some()), now);
        let suffix = match (order.round, order.resent) {
            (0, 0) => String::new(),
            (round, resent) => format!(".{round}.{resent}"),
        };
        let mail = Mail {
            attachment,
            ..mail(
                MailKind::Delivery,
                id,
                to,
                email,
                format!("{id}.delivery{suffix}"),
            )
        };
        tables.enqueue_mail(delivery_key(id, order), mail, now)?;
        Ok(true)
    }

    fn delivery(
        &self,
        id: OrderId,
        order: &Order,
        report: &OrderReport,
        (question, has_pdf): (Option<String>, bool),
        now: UnixSeconds,
    ) -> Email {
        let token = Token::new(id, order, now.plus(LINK_SECONDS));
        let api = format!("{}{API_PATH}?recovery={token}", self.base_url);
        let bundle = order.bundle.as_deref().and_then(Bundle::parse);
        delivery(&Delivery {
            service: &self.service,
            order_id: &id.to_string(),
            bundle: &capitalised(bundle.unwrap_or_default().name()),
            question: question.as_deref(),
            sources_read: usize::try_from(report.sources_read).unwrap_or_default(),
            sources: order.target_urls.len(),
            page_url: &self.link(id, order, now),
            json_url: &format!("{api}&format=json"),
            pdf_url: &format!("{api}&format=pdf"),
            has_pdf,
            contact: self.contact.as_deref(),
        })
    }

    /// The way back to orders, for anyone who asked for it and reads the mail of their buyer.
    pub fn recovered(
        &self,
        tables: &mut Tables<'_>,
        to: &str,
        orders: &[(OrderId, Order)],
        now: UnixSeconds,
    ) -> Result<(), StoreError> {
        let Some((first, _)) = orders.first().filter(|_| self.is_on) else {
            return Ok(());
        };
        let links: Vec<(String, String)> = orders
            .iter()
            .map(|(id, order)| {
                let bundle = order.bundle.as_deref().unwrap_or("bundle");
                let label = format!("Order of {}, {bundle}", day(UnixSeconds(order.created_at)));
                (label, self.link(*id, order, now))
            })
            .collect();
        let email = recovery(&Recovery {
            service: &self.service,
            orders: &links,
            until: &day(now.plus(LINK_SECONDS)),
            contact: self.contact.as_deref(),
        });
        // Anyone who asks again and again has one mail sent for it.
        let window = now.0 / RECOVERY_PAUSE_SECONDS;
        let message_id = format!("{first}.recovery.{window}");
        let key = mail_key(MailKind::Recovery, &message_id, 0);
        let mail = mail(MailKind::Recovery, *first, to.to_owned(), email, message_id);
        tables.enqueue_mail(key, mail, now).map(drop)
    }

    /// A payment that was to come later has failed.
    pub fn payment_failed(
        &self,
        tables: &mut Tables<'_>,
        id: OrderId,
        order: &Order,
        now: UnixSeconds,
    ) -> Result<(), StoreError> {
        let Some(to) = order.email.clone() else {
            return Ok(());
        };
        let paragraphs = [
            "The payment for your Evidence Bundle has failed, so nothing was charged and nothing is being made."
                .to_owned(),
            "You can pay again through the same payment link.".to_owned(),
        ];
        let subject = "Your payment has failed";
        self.tell(
            tables,
            (MailKind::OrderNotice, id, to),
            (subject, &paragraphs),
            "payment-failed",
            now,
        )
    }

    /// Nothing could be delivered.
    pub fn undeliverable(
        &self,
        tables: &mut Tables<'_>,
        id: OrderId,
        reason: &str,
        now: UnixSeconds,
    ) -> Result<(), StoreError> {
        let paragraphs = [
            format!("Order {id} was paid, but could not be fulfilled: {reason}."),
            format!(
                "Have it done again with `context402 orders refulfil {id}`, or give the money back at the payment \
                 provider and note that with `context402 orders refund {id}`."
            ),
        ];
        self.tell_operator(
            tables,
            id,
            ("An order could not be fulfilled", &paragraphs),
            "failed",
            now,
        )
    }

    /// A payment that is not taken for what it seems to be for.
    pub fn review_needed(
        &self,
        tables: &mut Tables<'_>,
        id: OrderId,
        doubt: Doubt,
        now: UnixSeconds,
    ) -> Result<(), StoreError> {
        let paragraphs = [
            format!("Order {id} needs your review: {doubt}. Nothing is made of it until then."),
            format!(
                "Take it for what a lead asks with `context402 orders attach {id} LEAD`, or give the money back at the \
                 payment provider and note that with `context402 orders refund {id}`."
            ),
        ];
        self.tell_operator(
            tables,
            id,
            ("A payment needs review", &paragraphs),
            doubt.name(),
            now,
        )
    }

    fn tell_operator(
        &self,
        tables: &mut Tables<'_>,
        id: OrderId,
        text: (&str, &[String]),
        what: &str,
        now: UnixSeconds,
    ) -> Result<(), StoreError> {
        match &self.contact {
            Some(contact) if is_email(contact) => {
                let about = (MailKind::OperatorNotice, id, contact.clone());
                self.tell(tables, about, text, what, now)
            }
            _ => Ok(()),
        }
    }

    fn tell(
        &self,
        tables: &mut Tables<'_>,
        (kind, id, to): (MailKind, OrderId, String),
        (subject, paragraphs): (&str, &[String]),
        what: &str,
        now: UnixSeconds,
    ) -> Result<(), StoreError> {
        if !self.is_on {
            return Ok(());
        }
        let email = notice(&Notice {
            service: &self.service,
            subject,
            paragraphs,
            links: &[(String::new(), format!("Order {id}"))],
            contact: self.contact.as_deref(),
        });
        let message_id = format!("{id}.{what}");
        let key = mail_key(kind, &message_id, 0);
        let mail = mail(kind, id, to, email, message_id);
        tables.enqueue_mail(key, mail, now).map(drop)
    }
}

fn fits(report: &OrderReport) -> bool {
    usize::try_from(report.pdf_bytes).is_ok_and(|bytes| bytes <= ATTACHMENT_BYTES_MAX)
}

fn mail(kind: MailKind, id: OrderId, to: String, email: Email, message_id: String) -> Mail {
    Mail {
        kind,
        about: id.to_string(),
        to,
        subject: email.subject,
        text: email.text,
        html: email.html,
        message_id,
        attachment: None,
    }
}

fn capitalised(name: &str) -> String {
    let mut characters = name.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}
