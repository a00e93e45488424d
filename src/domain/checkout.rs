//! The payment provider's checkout events, and whether a payment matches its lead. Knows the provider's vocabulary, but no
//! signatures or orders.

use std::fmt;

use serde_json::{Map, Value};

use crate::domain::bundle::Bundle;
use crate::domain::email::is_email;
use crate::domain::lead::{Lead, LeadStatus};
use crate::domain::order::Doubt;

/// Longest identifier of the provider's that is read.
const ID_CHARACTERS_MAX: usize = 255;
/// Prices are in US dollars.
const CURRENCY: &str = "usd";

/// A checkout session's identifier, which gives access to the delivery.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct SessionId(String);

impl SessionId {
    /// `None` unless it is `cs_test_` or `cs_live_` and ten letters or digits at least.
    pub fn parse(text: &str) -> Option<SessionId> {
        let secret = text
            .strip_prefix("cs_test_")
            .or_else(|| text.strip_prefix("cs_live_"))?;
        let fits = (10..=ID_CHARACTERS_MAX).contains(&secret.len())
            && secret.bytes().all(|byte| byte.is_ascii_alphanumeric());
        fits.then(|| SessionId(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// One event of the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderEvent {
    pub id: String,
    /// The provider's own word for its kind.
    pub kind: String,
    pub created_at: u64,
    pub livemode: bool,
    /// What it says of a checkout; nothing where the event is about something else.
    pub checkout: Option<Checkout>,
}

/// A checkout as an event shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    pub news: News,
    pub session: SessionId,
    /// In the currency's smallest unit.
    pub amount_total: Option<u64>,
    pub currency: String,
    /// What we gave the payment link: a lead's identifier, if the buyer came from us.
    pub reference: Option<String>,
    pub email: Option<String>,
    pub livemode: bool,
}

/// Currencies without a smaller unit, and those with thousandths, as the provider counts them.
const WHOLE: [&str; 15] = [
    "bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "vnd", "vuv", "xaf",
    "xof", "xpf",
];
const THOUSANDTHS: [&str; 5] = ["bhd", "jod", "kwd", "omr", "tnd"];

/// An amount as people write it, from `units` of the smallest unit of `currency`.
pub fn amount(units: u64, currency: &str) -> String {
    let digits = match currency {
        of if WHOLE.contains(&of) => 0,
        of if THOUSANDTHS.contains(&of) => 3,
        _ => 2,
    };
    let currency = currency.to_uppercase();
    match 10_u64.pow(digits) {
        1 => format!("{units} {currency}"),
        one => format!(
            "{}.{:0>width$} {currency}",
            units / one,
            units % one,
            width = digits as usize
        ),
    }
}

/// What has become of the payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    Paid,
    /// Checked out, to be paid later.
    Unpaid,
    Failed,
}

/// A body that is no event as the provider sends them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable(&'static str);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the event has no usable {}", self.0)
    }
}

impl std::error::Error for Unreadable {}

impl ProviderEvent {
    pub fn read(body: &[u8]) -> Result<ProviderEvent, Unreadable> {
        let event: Map<String, Value> =
            serde_json::from_slice(body).map_err(|_| Unreadable("JSON object"))?;
        let kind = short(event.get("type")).ok_or(Unreadable("type"))?;
        let checkout = match kind {
            "checkout.session.completed"
            | "checkout.session.async_payment_succeeded"
            | "checkout.session.async_payment_failed" => {
                let session = event.get("data").and_then(|data| data.get("object"));
                let session = session.ok_or(Unreadable("data.object"))?;
                Some(checkout(kind, session)?)
            }
            _ => None,
        };
        Ok(ProviderEvent {
            id: short(event.get("id")).ok_or(Unreadable("id"))?.to_owned(),
            kind: kind.to_owned(),
            created_at: event
                .get("created")
                .and_then(Value::as_u64)
                .unwrap_or_default(),
            livemode: is_true(event.get("livemode")),
            checkout,
        })
    }
}

fn checkout(kind: &str, session: &Value) -> Result<Checkout, Unreadable> {
    let id = session.get("id").and_then(Value::as_str);
    let unpaid = session.get("payment_status").and_then(Value::as_str) == Some("unpaid");
    let details = session.get("customer_details");
    let email = details
        .and_then(|details| email(details.get("email")))
        .or_else(|| email(session.get("customer_email")));
    Ok(Checkout {
        news: match kind {
            "checkout.session.async_payment_failed" => News::Failed,
            "checkout.session.completed" if unpaid => News::Unpaid,
            _ => News::Paid,
        },
        session: id
            .and_then(SessionId::parse)
            .ok_or(Unreadable("data.object.id"))?,
        amount_total: session.get("amount_total").and_then(Value::as_u64),
        currency: short(session.get("currency"))
            .unwrap_or_default()
            .to_ascii_lowercase(),
        // One that cannot be ours names no lead; it is not as good as none.
        reference: session
            .get("client_reference_id")
            .and_then(Value::as_str)
            .map(|text| text.chars().take(ID_CHARACTERS_MAX).collect()),
        email,
        livemode: is_true(session.get("livemode")),
    })
}

fn short(value: Option<&Value>) -> Option<&str> {
    let text = value?.as_str()?;
    let fits = (1..=ID_CHARACTERS_MAX).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_graphic());
    fits.then_some(text)
}

fn is_true(value: Option<&Value>) -> bool {
    value.and_then(Value::as_bool).unwrap_or(false)
}

/// An address of the customer's, as far as a mail can be sent there.
fn email(value: Option<&Value>) -> Option<String> {
    let text = value?.as_str()?.trim();
    is_email(text).then(|| text.to_owned())
}

/// The bundle that a payment buys, or why it's not taken for that. `is_live` tells whether live payments are expected.
pub fn judge(checkout: &Checkout, lead: Option<&Lead>, is_live: bool) -> Result<Bundle, Doubt> {
    if checkout.livemode != is_live {
        return Err(Doubt::Mode);
    }
    if checkout.currency != CURRENCY {
        return Err(Doubt::Currency);
    }
    let lead = lead.ok_or(Doubt::NoLead)?;
    let bundle = bundle_of(lead)?;
    if checkout.amount_total != Some(bundle.cents()) {
        return Err(Doubt::Amount);
    }
    if matches!(lead.status, LeadStatus::Paid | LeadStatus::Fulfilled) {
        return Err(Doubt::LeadPaid);
    }
    Ok(bundle)
}

/// The bundle that a quote's payment is for: the one whose price was paid, if it takes the quote's sources; else the one
/// that was quoted.
pub fn bundle_paid(quoted: Bundle, sources: usize, amount_total: Option<u64>) -> Bundle {
    let is_paid =
        |bundle: &Bundle| amount_total == Some(bundle.cents()) && bundle.source_limit() >= sources;
    Bundle::ALL.into_iter().find(is_paid).unwrap_or(quoted)
}

/// The bundle that a lead asks for, if it can be made.
pub fn bundle_of(lead: &Lead) -> Result<Bundle, Doubt> {
    let bundle = lead.bundle().ok_or(Doubt::NotABundle)?;
    match lead.target_urls.len() {
        0 => Err(Doubt::NoSources),
        count if count > bundle.source_limit() => Err(Doubt::TooManySources),
        _ => Ok(bundle),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::lead::LeadProduct;
    use crate::domain::time::UnixSeconds;

    const SESSION: &str = "cs_test_a1b2c3d4e5f6g7";

    #[test]
    fn an_amount_has_the_decimals_of_its_currency() {
        let shown = [(1905, "usd"), (7, "eur"), (700, "jpy"), (1005, "kwd")];
        let shown = shown.map(|(units, currency)| amount(units, currency));
        assert_eq!(shown, ["19.05 USD", "0.07 EUR", "700 JPY", "1.005 KWD"]);
    }

    fn event(kind: &str, change: impl FnOnce(&mut Value)) -> Value {
        let mut event = json!({
            "id": "evt_1", "object": "event", "created": 1_795_000_000_u64, "livemode": false, "type": kind,
            "data": {"object": {
                "id": SESSION, "object": "checkout.session", "mode": "payment", "payment_status": "paid",
                "amount_total": 700, "currency": "usd", "client_reference_id": "lead_1", "livemode": false,
                "customer_email": null, "customer_details": {"email": "ann@example.com", "name": "Ann"},
            }},
        });
        change(&mut event);
        event
    }

    fn read(event: &Value) -> Result<ProviderEvent, Unreadable> {
        ProviderEvent::read(event.to_string().as_bytes())
    }

    fn lead() -> Lead {
        Lead {
            level: "builder".to_owned(),
            contact: "ann@example.com".to_owned(),
            target_urls: vec!["https://example.com/".to_owned()],
            ..Lead::of(LeadProduct::Bundle, UnixSeconds(1))
        }
    }

    #[test]
    fn the_news_of_a_payment_are_read() {
        let unpaid =
            |event: &mut Value| event["data"]["object"]["payment_status"] = "unpaid".into();
        let free = |event: &mut Value| {
            event["data"]["object"]["payment_status"] = "no_payment_required".into();
        };
        let completed = "checkout.session.completed";
        for (event, expected) in [
            (event(completed, |_| {}), News::Paid),
            (event(completed, free), News::Paid),
            (event(completed, unpaid), News::Unpaid),
            (
                event("checkout.session.async_payment_succeeded", |_| {}),
                News::Paid,
            ),
            (
                event("checkout.session.async_payment_failed", unpaid),
                News::Failed,
            ),
        ] {
            let read = read(&event).expect("an event").checkout;
            assert_eq!(read.expect("a checkout").news, expected, "{event}");
        }
        let other = read(&event("charge.refunded", |_| {})).expect("an event");
        assert_eq!(other.checkout, None);
        let whole = read(&event(completed, |_| {})).expect("an event");
        let checkout = whole.checkout.expect("a checkout");
        assert_eq!(checkout.session.as_str(), SESSION);
        assert_eq!(checkout.reference.as_deref(), Some("lead_1"));
        assert_eq!(checkout.email.as_deref(), Some("ann@example.com"));
        assert_eq!(
            format!("{:?}", checkout.session),
            "***",
            "a bearer secret is not logged"
        );
    }

    #[test]
    fn what_is_no_event_is_refused_and_never_a_panic() {
        let completed = "checkout.session.completed";
        let deep = "[".repeat(100_000);
        for body in [
            "",
            "null",
            "[]",
            "{}",
            "\"evt\"",
            &deep,
            "{\"id\":1}",
            "\u{feff}{}",
        ] {
            assert!(ProviderEvent::read(body.as_bytes()).is_err(), "{body:.20}");
        }
        assert!(ProviderEvent::read(b"{\"id\":\"\xff\"}").is_err());
        let changes: [fn(&mut Value); 7] = [
            |event| event["id"] = json!(null),
            |event| event["id"] = json!("x".repeat(300)),
            |event| event["id"] = json!("a\nb"),
            |event| event["data"] = json!(null),
            |event| event["data"]["object"]["id"] = json!("cs_test_short"),
            |event| event["data"]["object"]["id"] = json!("cs_other_a1b2c3d4e5f6"),
            |event| event["data"]["object"]["id"] = json!("cs_test_a1b2c3d4e5/../f6"),
        ];
        for change in changes {
            let event = event(completed, change);
            assert!(read(&event).is_err(), "{event}");
        }
        // What is missing beside that is for the judge.
        let bare = event(completed, |event| {
            event["data"]["object"] = json!({"id": SESSION, "amount_total": -700, "currency": 7});
        });
        let checkout = read(&bare).expect("an event").checkout.expect("a checkout");
        assert_eq!(
            judge(&checkout, Some(&lead()), false),
            Err(Doubt::Currency),
            "{checkout:?}"
        );
    }

    #[test]
    fn a_payment_is_taken_for_what_its_lead_asks_for_and_nothing_else() {
        let good = read(&event("checkout.session.completed", |_| {}));
        let good = good.expect("an event").checkout.expect("a checkout");
        assert_eq!(judge(&good, Some(&lead()), false), Ok(Bundle::Builder));
        assert_eq!(judge(&good, Some(&lead()), true), Err(Doubt::Mode));
        assert_eq!(judge(&good, None, false), Err(Doubt::NoLead));
        let with = |change: &dyn Fn(&mut Checkout)| {
            let mut checkout = good.clone();
            change(&mut checkout);
            judge(&checkout, Some(&lead()), false)
        };
        for amount in [
            None,
            Some(0),
            Some(70),
            Some(200),
            Some(701),
            Some(7_000_000),
        ] {
            assert_eq!(with(&|c| c.amount_total = amount), Err(Doubt::Amount));
        }
        assert_eq!(with(&|c| c.currency = "jpy".into()), Err(Doubt::Currency));
        assert_eq!(with(&|c| c.livemode = true), Err(Doubt::Mode));
        let lead_with = |change: &dyn Fn(&mut Lead)| {
            let mut lead = lead();
            change(&mut lead);
            judge(&good, Some(&lead), false)
        };
        let changes: [fn(&mut Lead); 6] = [
            |l| l.status = LeadStatus::Paid,
            |l| l.status = LeadStatus::Fulfilled,
            |l| l.product = LeadProduct::Pack,
            |l| l.level = "standard".into(),
            |l| l.target_urls.clear(),
            |l| l.target_urls = vec![String::new(); 11],
        ];
        let doubts = [
            Doubt::LeadPaid,
            Doubt::LeadPaid,
            Doubt::NotABundle,
            Doubt::NotABundle,
            Doubt::NoSources,
            Doubt::TooManySources,
        ];
        for (change, doubt) in changes.iter().zip(doubts) {
            assert_eq!(lead_with(change), Err(doubt));
        }
        assert_eq!(
            lead_with(&|l| l.status = LeadStatus::Lost),
            Ok(Bundle::Builder)
        );
    }

    #[test]
    fn a_quote_s_payment_is_for_the_bundle_whose_price_was_paid() {
        use Bundle::{Audit, Builder, Scout};
        for (quoted, sources, cents, expected) in [
            (Builder, 2, Some(700), Builder),
            (Builder, 2, Some(2000), Audit),
            (Builder, 2, Some(200), Scout),
            (Builder, 4, Some(200), Builder),
            (Builder, 2, Some(1), Builder),
            (Audit, 11, None, Audit),
        ] {
            assert_eq!(bundle_paid(quoted, sources, cents), expected, "{cents:?}");
        }
    }
}
