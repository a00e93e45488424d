//! How the service is, for load balancers and for people who wonder: never asks a neighbour while it answers.

use serde_json::{Value, json};

use crate::app::{App, Shared};
use crate::domain::amount::Amount;
use crate::domain::margin::GasPrice;
use crate::flows::guardian;
use crate::http::{Call, Peer, Reply};

/// GET /health. `?live=1` answers at once for whoever only asks whether the process runs.
pub async fn health(app: Shared, call: Call) -> Reply {
    if call.query.get("live").is_some() {
        return Reply::json(200, r#"{"status":"ok"}"#).fixed("cache-control", "no-store");
    }
    let store_down = app.health.store_down();
    let facilitator = app.health.facilitator();
    let (facilitator_status, trouble) = match &facilitator {
        None => ("unknown", None),
        // What exactly is wrong is the operator's to know.
        Some(found) if found.trouble.is_some() => ("down", found.trouble.as_deref()),
        Some(_) => ("ok", None),
    };
    let gas = app.health.gas();
    let gas_status = match () {
        () if app.outside.chain.is_none() => "not_configured",
        () if app.health.gas_price(&app).is_some() => "ok",
        () if gas.checked_at.is_none() => "unknown",
        () => "down",
    };
    let paid_enabled = app.health.check_can_sell(&app).is_ok() && guardian::can_judge(&app);
    let status = match () {
        () if store_down => "down",
        () if !paid_enabled || facilitator_status == "down" || gas_status == "down" => "degraded",
        () if app.health.reports_full() => "degraded",
        () => "ok",
    };
    let mut body = json!({
        "status": status,
        "version": env!("CARGO_PKG_VERSION"),
        "uptime_seconds": app.started.elapsed().as_secs(),
        "time": app.now().0,
        "checks": {
            "database": {"status": if store_down { "down" } else { "ok" }},
            "facilitator": {
                "status": facilitator_status,
                "latency_ms": facilitator.as_ref().map(|found| u64::try_from(found.latency.as_millis()).unwrap_or(u64::MAX)),
                "checked_at": facilitator.as_ref().map(|found| found.checked_at.0),
            },
            "gas_oracle": {
                "status": gas_status,
                "gas_price_gwei": gas.price.as_ref().map(GasPrice::gwei),
                "coin_usdc": gas.coin.map(Amount::as_usdc),
                "known_at": gas.price.map(|_| gas.known_at.0),
                "checked_at": gas.checked_at.map(|at| at.0),
            },
            "supplier": supplier(&app),
            "smtp": smtp(&app),
            "disk": {"status": if app.health.disk_low() { "low" } else { "ok" }, "free_bytes": app.health.free_bytes()},
            "reports": {"status": if app.health.reports_full() { "full" } else { "ok" }, "kept_bytes": app.health.kept_bytes()},
        },
        "paid_enabled": paid_enabled,
    });
    if call.peer == Peer::Operator {
        body["checks"]["facilitator"]["trouble"] = trouble.into();
        body["checks"]["gas_oracle"]["trouble"] = gas.trouble.into();
        let backed_up_at = app.health.backed_up_at().0;
        body["checks"]["backup"] = json!({"taken_at": (backed_up_at > 0).then_some(backed_up_at)});
    }
    Reply::json(if store_down { 503 } else { 200 }, body.to_string())
        .fixed("cache-control", "no-store")
}

/// What fetches pages: as long as no place is free, a sale waits and then owes a retry credit.
fn supplier(app: &App) -> Value {
    let free = app.outside.fetches.free();
    let status = if free == 0 { "busy" } else { "ok" };
    json!({"status": status, "free_places": free, "places": app.config.fetch.fetches_max})
}

/// By the last mail that was due: a server may turn one away for a minute, so that it says nothing of the service.
fn smtp(app: &App) -> Value {
    let tried = app.health.mail();
    let status = match tried {
        _ if !app.outside.mailer.is_on() => "not_configured",
        None => "unknown",
        Some(tried) if tried.is_taken => "ok",
        Some(_) => "down",
    };
    json!({"status": status, "checked_at": tried.map(|tried| tried.at.0)})
}
