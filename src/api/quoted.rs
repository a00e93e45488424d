//! Members that every quote has.

use serde_json::{Value, json};

use crate::app::App;
use crate::domain::render::Render;
use crate::state::offers::TIMEOUT_SECONDS_MAX;

/// Whether the browser of this service works, by its latest use or check; absent where there is none. Without it the plain
/// page is sold.
pub fn add_rendering(app: &App, body: &mut Value, render: Option<Render>) {
    if app.outside.renderer.is_none() {
        return;
    }
    body["rendering"] = json!({"available": app.health.renderer().trouble.is_none()});
    if let Some(render) = render {
        body["rendering"]["render"] = json!(render);
    }
}

/// How a quote is paid.
pub fn payment_json(app: &App) -> Value {
    let terms = &app.config.payment;
    json!({
        "network": terms.network, "asset": terms.asset, "pay_to": terms.pay_to, "scheme": "exact",
        "x402Version": 2, "max_timeout_seconds": TIMEOUT_SECONDS_MAX,
    })
}
