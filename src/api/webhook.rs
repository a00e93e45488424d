//! The address at which the payment provider tells of its checkouts. It answers once the news is on disk, and says no
//! more than whether to send it again.

use crate::api::failure;
use crate::app::Shared;
use crate::flows::orders::{self, Received};
use crate::http::{Call, Reply};

const SIGNATURE: &str = "stripe-signature";

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
            Reply::json(200, body).fixed("cache-control", "no-store")
        }
        Err(refusal) => failure::reply(&app, &refusal, &call),
    }
}
