//! The payment provider's webhook. It responds once the event is on disk; the response only says whether to resend it.

use crate::api::failure;
use crate::app::{App, Shared};
use crate::domain::refusal::Refusal;
use crate::flows::orders::{self, Received};
use crate::http::{Call, HeaderMap, Reply};

/// Where the provider posts its events.
pub const PATH: &str = "/v1/webhooks/stripe";

const SIGNATURE: &str = "stripe-signature";

/// Whether the headers may be the provider's; only then is the body received.
pub fn check_head(app: &App, headers: &HeaderMap) -> Result<(), Refusal> {
    let mut values = headers.get_all(SIGNATURE).iter();
    let header = match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().unwrap_or_default().trim(),
        _ => "",
    };
    orders::check_head(app, header)
}

/// POST /v1/webhooks/stripe.
pub async fn stripe(app: Shared, call: Call) -> Reply {
    let header = call.header(SIGNATURE).unwrap_or_default();
    match orders::receive(&app, header, &call.body).await {
        Ok(received) => {
            let body = match received {
                Received::Taken => r#"{"received":true}"#,
                Received::Repeated => r#"{"received":true,"repeated":true}"#,
                Received::Ignored => r#"{"received":true,"ignored":true}"#,
            };
            Reply::json(200, body).no_store()
        }
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}
