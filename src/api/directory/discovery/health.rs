//! Health checks for load balancers and people. They never call an upstream.

use serde_json::{Value, json};

use crate::api::directory::documents::DESCRIPTION_VERSION;
use crate::app::{App, Shared};
use crate::domain::amount::Amount;
use crate::domain::availability::Availability;
use crate::domain::margin::GasPrice;
use crate::domain::time::UnixSeconds;
use crate::flows::operations::certificates::{self, CertificateStatus};
use crate::flows::quotes::availability;
use crate::flows::sale::verify_settlement;
use crate::http::{Call, Peer, Reply};

/// GET /health. `?live=1` only reports that the process runs.
pub async fn health(app: Shared, call: Call) -> Reply {
    if call.query.get("live").is_some() {
        return Reply::json(200, r#"{"status":"ok"}"#).no_store();
    }
    let store_down = app.health.store_down();
    let facilitator = app.health.facilitator();
    let denied = app.health.verify_trouble_at(app.now());
    // Details are only for the operator.
    let (facilitator_status, trouble) = match (&facilitator, denied) {
        (None, None) => ("unknown", None),
        (Some(found), _) if found.trouble.is_some() => ("down", found.trouble.clone()),
        (_, Some(error)) => ("down", Some(error.to_string())),
        (Some(_), None) => ("ok", None),
    };
    let gas = app.health.gas();
    let gas_status = match () {
        () if app.outside.chain.is_none() => "not_configured",
        () if app
            .health
            .gas_price(app.now(), app.config.guard.gas_age_max)
            .is_some() =>
        {
            "ok"
        }
        () if gas.checked_at.is_none() => "unknown",
        () => "down",
    };
    let settlements = verify_settlement::status(&app);
    let availability = availability::now(&app);
    let status = match () {
        () if store_down => "down",
        () if !availability.is_complete() || gas_status == "down" => "degraded",
        () if !settlements.is_good() => "degraded",
        () if app.config.tls.is_some() && certificates::status(&app) != CertificateStatus::Good => {
            "degraded"
        }
        () => "ok",
    };
    let mut body = json!({
        "status": status,
        "version": env!("CARGO_PKG_VERSION"),
        "api_version": DESCRIPTION_VERSION,
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
            "settlements": {"status": settlements.status, "checked_at": settlements.checked_at.map(|at| at.0)},
            "supplier": supplier(&app),
            "smtp": smtp(&app),
            "disk": {"status": if app.health.disk_low() { "low" } else { "ok" }},
            "reports": {"status": if app.health.reports_full() { "full" } else { "ok" }},
        },
        "paid_enabled": availability.is_open(),
        "sales": sales(&availability),
    });
    let tls = app.config.tls.as_ref().map(|_| app.health.tls());
    if let Some(tls) = &tls {
        let not_after = tls.certificate.as_ref().map(|facts| facts.not_after.0);
        body["checks"]["tls"] =
            json!({"status": certificates::status(&app), "not_after": not_after});
    }
    if app.outside.renderer.is_some() {
        body["checks"]["renderer"] = renderer(&app, call.peer == Peer::Operator);
    }
    if call.peer == Peer::Operator {
        if let Some(tls) = tls {
            body["checks"]["tls"]["renew_at"] = tls.certificate.map(|_| tls.renew_at.0).into();
            body["checks"]["tls"]["trouble"] = tls.trouble.into();
        }
        // Free space would help an attacker to fill the disk.
        body["checks"]["disk"]["free_bytes"] = app.health.free_bytes().into();
        body["checks"]["reports"]["kept_bytes"] = app.health.kept_bytes().into();
        body["checks"]["facilitator"]["trouble"] = trouble.into();
        body["checks"]["gas_oracle"]["trouble"] = gas.trouble.into();
        add_settlements(&mut body["checks"]["settlements"], &app, &settlements);
        let backed_up_at = app.health.backed_up_at().0;
        body["checks"]["backup"] = json!({"taken_at": (backed_up_at > 0).then_some(backed_up_at)});
    }
    Reply::json(if store_down { 503 } else { 200 }, body.to_string()).no_store()
}

/// Reported settlements compared with the chain, in figures.
fn add_settlements(check: &mut Value, app: &App, standing: &verify_settlement::SettlementStatus) {
    let summary = &standing.summary;
    let age = |at| app.now().since(UnixSeconds(at));
    check["verify_settlement"] = app.config.payment.verify_settlement.name().into();
    check["unverified"] = summary.unverified.into();
    check["oldest_unverified_seconds"] = summary.oldest_reported_at.map(age).into();
    check["contradicted_in_24_hours"] = summary.missing_lately.into();
    check["contradicted"] = summary.missing.into();
    check["contradicted_usdc"] = Amount::from_units(summary.missing_units).to_string().into();
    check["trouble"] = match summary.missing_lately {
        0 => standing.trouble.clone().into(),
        _ => "the facilitator reported settlements that are not on chain; see `context402 payments list --state \
              contradicted`"
            .into(),
    };
}

/// Whether buyers can buy now.
fn sales(availability: &Availability) -> Value {
    let obstacles = availability.obstacles().into_iter();
    let unavailable = availability.unavailable.iter();
    json!({
        "open": availability.is_open(),
        "since": availability.not_selling().map(|reason| reason.since.0),
        "summary": availability.sentence(),
        "obstacles": obstacles
            .map(|obstacle| json!({"code": obstacle.name(), "message": obstacle.text()}))
            .collect::<Vec<_>>(),
        "unavailable": unavailable
            .map(|(level, obstacle)| json!({level.product().level_word(): level.name(), "reason": obstacle.name()}))
            .collect::<Vec<_>>(),
    })
}

/// The page fetchers. While none is free, a sale waits and may end in a retry credit.
fn supplier(app: &App) -> Value {
    let free = app.outside.fetches.free();
    let status = if free == 0 { "busy" } else { "ok" };
    json!({"status": status, "free_places": free, "places": app.config.fetch.fetches_max})
}

/// The browser, by its latest use or check. Without it pages are read as their sites send them, so this does not affect the
/// service's status.
fn renderer(app: &App, is_operator: bool) -> Value {
    let found = app.health.renderer();
    let status = match (&found.trouble, found.checked_at) {
        (_, None) => "unknown",
        (None, _) => "ok",
        (Some(_), _) => "down",
    };
    let mut check = json!({"status": status, "checked_at": found.checked_at.map(|at| at.0)});
    if is_operator {
        let waiting = app.outside.renderer.as_ref();
        let waiting = waiting.map(|renderer| renderer.waiting());
        check["browser"] = found.browser.into();
        check["trouble"] = found.trouble.into();
        check["waiting"] = waiting.into();
    }
    check
}

/// By the last due e-mail. Mail servers reject mail temporarily, so this does not affect the service's status.
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
