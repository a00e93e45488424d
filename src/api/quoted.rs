//! Members that every quote has.

use serde_json::{Value, json};

use crate::app::App;
use crate::domain::level::{Level, LineItem};
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

/// What a level costs, once or for several sources, and whether it would be delivered now.
pub fn offer_json(
    app: &App,
    level: Level,
    quantity: Option<usize>,
    unavailable: Option<&str>,
) -> Value {
    let product = level.product();
    let item = LineItem {
        level,
        quantity: quantity.unwrap_or(1),
    };
    let mut row = json!({product.level_word(): level.name()});
    if quantity.is_some() {
        row["quantity"] = item.quantity.into();
        row["unit_price_usdc"] = level.price().as_usdc().into();
    }
    row["amount"] = item.price().units().to_string().into();
    row["price_usdc"] = item.price().as_usdc().into();
    row[product.policy_word()] = level.policy().into();
    row["deliverable_now"] = unavailable.is_none().into();
    row["reason"] = unavailable.into();
    row["endpoint"] = product.path().into();
    row["accepts"] = json!([app.offers.item(item).requirements]);
    if let Some(reads) = level.reads(app.config.entailment_model) {
        row["reads"] = reads.into();
    }
    row
}

/// How a quote is paid.
pub fn payment_json(app: &App) -> Value {
    let terms = &app.config.payment;
    json!({
        "network": terms.network, "asset": terms.asset, "pay_to": terms.pay_to, "scheme": "exact",
        "x402Version": 2, "max_timeout_seconds": TIMEOUT_SECONDS_MAX,
    })
}
