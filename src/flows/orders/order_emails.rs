//! E-mails about orders, stored in the outbox in the same transaction as the facts they report, and links to orders. Links
//! are authenticated with the order's own key: they cannot be forged, and deleting the order ends them. Without a mail
//! server no e-mails are written.

use std::fmt;

use crate::app::App;
use crate::config::Config;
use crate::domain::bundle::Bundle;
use crate::domain::email::is_email;
use crate::domain::figures::capitalized;
use crate::domain::ids::{LeadId, OrderId};
use crate::domain::keys::MailKey;
use crate::domain::mail::{ATTACHMENT_BYTES_MAX, MailKind, without_links};
use crate::domain::order::{Doubt, Order};
use crate::domain::time::{UnixSeconds, day};
use crate::evidence::bundle::BundleReport;
use crate::pages::console::VIEWS_PATH;
use crate::pages::orders::email::{
    ABOUT_YOUR_ORDER, Delivery, Email, Notice, Recovery, delivery, notice, recovery,
};
use crate::signing::stamp::{is_sealed, seal};
use crate::store::{Mail, MailAttachment, OrderReport, StoreError, Tables, mail_key};

/// Validity of a link.
pub const LINK_SECONDS: u64 = 30 * 24 * 3600;
/// Minimum interval between recovery e-mails for the same orders.
const RECOVERY_PAUSE_SECONDS: u64 = 600;
/// The page and the document of a delivery.
pub const PAGE_PATH: &str = "/proof-pack/bundle/delivery";
/// Where a buyer pays, and where bundles are explained.
const PAY_PATH: &str = "/proof-pack/bundle/pay";
const BUNDLE_PATH: &str = "/proof-pack/bundle";
pub const API_PATH: &str = "/v1/proof-pack/bundle/delivery";

/// The service's facts for e-mails.
#[derive(Clone, Debug)]
pub struct OrderEmails {
    is_on: bool,
    base_url: String,
    service: String,
    contact: Option<String>,
}

/// A link's secret part: order, expiry and MAC.
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

    /// Whether it is authentic for this order and has not expired.
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

/// The key of a finished order's e-mail: one per fulfilment or resend.
pub fn delivery_key(id: OrderId, order: &Order) -> MailKey {
    let about = format!("{id}.{}", order.round);
    mail_key(MailKind::Delivery, &about, order.resent)
}

/// What a delivery's e-mail says of its report.
struct Said {
    /// If the payer asked it.
    question: Option<String>,
    /// The label and the words.
    answer: Option<(&'static str, String)>,
    has_pdf: bool,
}

/// A short e-mail about an order.
struct OrderEmail<'a> {
    kind: MailKind,
    order: OrderId,
    /// Nobody is written to where it is not known.
    to: Option<String>,
    subject: &'a str,
    paragraphs: &'a [String],
    /// What its identifier ends with: one e-mail is written for each.
    what: &'a str,
}

/// The label and what it rests on; the answer's words, which quote the sources, only to the payer who named them.
fn answer_of(json: &[u8], is_own: bool) -> Option<(&'static str, String)> {
    let report: BundleReport = serde_json::from_slice(json).ok()?;
    let words = match is_own {
        true => without_links(&report.answer),
        false => report.decision.summary,
    };
    Some((report.decision.label.name(), words))
}

impl OrderEmails {
    pub fn of(app: &App) -> OrderEmails {
        OrderEmails::new(&app.reloaded())
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

    /// A new link to the delivery page.
    fn link(&self, id: OrderId, order: &Order, now: UnixSeconds) -> String {
        let token = Token::new(id, order, now.plus(LINK_SECONDS));
        format!("{}{PAGE_PATH}?recovery={token}", self.base_url)
    }

    /// The e-mail for a fulfilled order. Returns whether there is a recipient.
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
        // SECURITY: anybody may have left a lead in the payer's name, so its text is not quoted.
        let is_own = !tables.is_mail_only(id)? && !order.question.trim().is_empty();
        let question = is_own.then(|| without_links(&order.question));
        // A reader of the report meets the same damage; the e-mail and its links are sent anyway.
        let document = match tables.blob(report.document) {
            Err(StoreError::Damaged { .. }) => None,
            document => document?,
        };
        let said = Said {
            question,
            answer: document.and_then(|json| answer_of(&json, is_own)),
            has_pdf: attachment.is_some(),
        };
        let email = self.delivery(id, order, &report, said, now);
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
        said: Said,
        now: UnixSeconds,
    ) -> Email {
        let token = Token::new(id, order, now.plus(LINK_SECONDS));
        let api = format!("{}{API_PATH}?recovery={token}", self.base_url);
        delivery(&Delivery {
            service: &self.service,
            order_id: &id.to_string(),
            bundle: &capitalized(order.bundle.unwrap_or_default().name()),
            question: said.question.as_deref(),
            answer: (said.answer.as_ref()).map(|(label, words)| (*label, words.as_str())),
            sources_read: usize::try_from(report.sources_read).unwrap_or_default(),
            sources: order.target_urls.len(),
            page_url: &self.link(id, order, now),
            json_url: &format!("{api}&format=json"),
            pdf_url: &format!("{api}&format=pdf"),
            has_pdf: said.has_pdf,
            contact: self.contact.as_deref(),
        })
    }

    /// The recovery e-mail with links to the buyer's orders.
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
                let bundle = order.bundle.map_or("bundle", Bundle::name);
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
        // Repeated requests send one e-mail.
        let window = now.0 / RECOVERY_PAUSE_SECONDS;
        let message_id = format!("{first}.recovery.{window}");
        let key = mail_key(MailKind::Recovery, &message_id, 0);
        let mail = mail(MailKind::Recovery, *first, to.to_owned(), email, message_id);
        tables.enqueue_mail(key, mail, now).map(drop)
    }

    /// A pending payment has failed.
    pub fn payment_failed(
        &self,
        tables: &mut Tables<'_>,
        id: OrderId,
        order: &Order,
        now: UnixSeconds,
    ) -> Result<(), StoreError> {
        let again = match order.lead {
            Some(lead) => format!("{}{PAY_PATH}?lead_id={}", self.base_url, LeadId(lead)),
            None => format!("{}{BUNDLE_PATH}", self.base_url),
        };
        let paragraphs = [
            "The payment for your Evidence Bundle has failed. You were not charged, and we have not started on the report."
                .to_owned(),
            format!("You can pay again here: {again}"),
        ];
        let email = OrderEmail {
            kind: MailKind::OrderNotice,
            order: id,
            to: order.email.clone(),
            subject: "Your payment has failed",
            paragraphs: &paragraphs,
            what: "payment-failed",
        };
        self.tell(tables, email, now)
    }

    /// To the buyer: the paid order failed.
    pub fn failed(
        &self,
        tables: &mut Tables<'_>,
        id: OrderId,
        order: &Order,
        now: UnixSeconds,
    ) -> Result<(), StoreError> {
        let paragraphs = [
            "You have paid for an Evidence Bundle, and we could not make it: the sources could not be read.".to_owned(),
            "You need not do anything. We will try again or refund you, and write to you in either case. If you have a \
             question, write to us and name your order."
                .to_owned(),
        ];
        // One for each try that the operator has asked for.
        let what = match order.round {
            0 => "delivery-failed".to_owned(),
            round => format!("delivery-failed.{round}"),
        };
        let email = OrderEmail {
            kind: MailKind::OrderNotice,
            order: id,
            to: order.email.clone(),
            subject: "Your report could not be made",
            paragraphs: &paragraphs,
            what: &what,
        };
        self.tell(tables, email, now)
    }

    /// To the buyer: the order was refunded.
    pub fn refunded(
        &self,
        tables: &mut Tables<'_>,
        id: OrderId,
        order: &Order,
        now: UnixSeconds,
    ) -> Result<(), StoreError> {
        let sum = match order.amount_total {
            // Only dollars are taken without a doubt; in other currencies the smallest unit may be another.
            Some(cents) if order.currency.eq_ignore_ascii_case("usd") => {
                format!("{}.{:02} USD", cents / 100, cents % 100)
            }
            _ => "your payment".to_owned(),
        };
        let paragraphs = [
            format!(
                "We have refunded {sum} for your Evidence Bundle. Nothing more will be delivered or charged."
            ),
            "Your bank may take some days to show it.".to_owned(),
        ];
        let email = OrderEmail {
            kind: MailKind::OrderNotice,
            order: id,
            to: order.email.clone(),
            subject: "Your payment was refunded",
            paragraphs: &paragraphs,
            what: "refunded",
        };
        self.tell(tables, email, now)
    }

    /// To the operator: the order failed.
    pub fn undeliverable(
        &self,
        tables: &mut Tables<'_>,
        id: OrderId,
        reason: &str,
        now: UnixSeconds,
    ) -> Result<(), StoreError> {
        let paragraphs = [
            format!("Order {id} is paid but could not be fulfilled: {reason}."),
            format!(
                "Retry with `context402 orders retry {id}`, or refund the payment at the payment provider and record \
                that with `context402 orders refund {id}`."
            ),
        ];
        let email = OrderEmail {
            kind: MailKind::OperatorNotice,
            order: id,
            to: self.operator(),
            subject: "An order could not be fulfilled",
            paragraphs: &paragraphs,
            what: "failed",
        };
        self.tell(tables, email, now)
    }

    /// To the operator: a payment needs review.
    pub fn review_needed(
        &self,
        tables: &mut Tables<'_>,
        id: OrderId,
        doubt: Doubt,
        now: UnixSeconds,
    ) -> Result<(), StoreError> {
        let paragraphs = [
            format!("Order {id} needs your review: {doubt}. Fulfilment waits until then."),
            format!(
                "Attach it to a lead with `context402 orders attach {id} LEAD`, or refund the payment at the payment \
                provider and record that with `context402 orders refund {id}`."
            ),
        ];
        let email = OrderEmail {
            kind: MailKind::OperatorNotice,
            order: id,
            to: self.operator(),
            subject: "A payment needs review",
            paragraphs: &paragraphs,
            what: doubt.name(),
        };
        self.tell(tables, email, now)
    }

    /// The operator's address, if the contact is one.
    fn operator(&self) -> Option<String> {
        self.contact.clone().filter(|contact| is_email(contact))
    }

    /// Writes to somebody whose address is known.
    fn tell(
        &self,
        tables: &mut Tables<'_>,
        email: OrderEmail<'_>,
        now: UnixSeconds,
    ) -> Result<(), StoreError> {
        let OrderEmail {
            kind,
            order: id,
            to,
            subject,
            paragraphs,
            what,
        } = email;
        let Some(to) = to.filter(|_| self.is_on) else {
            return Ok(());
        };
        let mut links = vec![(String::new(), format!("Order {id}"))];
        let mut is = ABOUT_YOUR_ORDER;
        if kind == MailKind::OperatorNotice {
            let page = format!("{}{VIEWS_PATH}orders?id={id}", self.base_url);
            links.insert(0, ("Console".to_owned(), page));
            is = "an automatic message to the operator";
        }
        let email = notice(&Notice {
            service: &self.service,
            is,
            subject,
            paragraphs,
            links: &links,
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
