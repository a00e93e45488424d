//! Metrics as JSON and as Prometheus text. Only the operator sees figures about sales, buyers or the machine; the public
//! sees that the service runs and how often its public documents are read.

use serde_json::{Value, json};

use crate::api::directory::discovery::exposition::{Exposition, labels};
use crate::api::directory::discovery::gauges;
use crate::app::{Row, Shared};
use crate::domain::amount::Amount;
use crate::domain::endpoint::Tag;
use crate::domain::margin::GasPrice;
use crate::flows::orders::leads;
use crate::http::{Call, Peer, Reply};
use crate::metrics::{BUCKETS_US, Metrics, RequestCounts};

/// GET /metrics: JSON, or Prometheus text by Accept or `?format=prometheus`. Only the operator sees revenue.
pub async fn metrics(app: Shared, call: Call) -> Reply {
    let operator = call.peer == Peer::Operator;
    let mut requests = app.metrics.requests();
    if !operator {
        requests.retain(|(path, ..), _| is_public(app.rows, path));
    }
    let leads = match operator {
        true => leads::by_status(&app.store).await.ok(),
        false => None,
    };
    let gas_price = app
        .health
        .gas_price(app.now(), app.config.guard.gas_age_max);
    let prometheus = call
        .query
        .get("format")
        .is_some_and(|format| format == "prometheus")
        || call.prefers("text/plain", "application/json");
    let reply = if prometheus {
        let mut text = Exposition::default();
        text.family(
            "build_info",
            "gauge",
            "Version of the running program.",
            [(labels([("version", env!("CARGO_PKG_VERSION"))]), 1)],
        );
        counted(&mut text, &requests);
        if let Some(price) = gas_price {
            text.family(
                "gas_price_gwei",
                "gauge",
                "Price of gas on the network, where the chain is asked.",
                [(String::new(), price.gwei())],
            );
        }
        if operator {
            for family in app.metrics.families() {
                let counts = family.counts().into_iter();
                let samples = counts.map(|(values, count)| {
                    let names = family.labels.iter().copied();
                    (labels(names.zip(values)), count)
                });
                text.family(family.name, family.kind, family.help, samples);
            }
        }
        durations(&mut text, &requests);
        gauges::now(&mut text, &app, operator);
        if operator {
            gauges::stored(&mut text, &app, leads.as_deref()).await;
        }
        Reply::new(200, "text/plain; version=0.0.4; charset=utf-8", text.0)
    } else {
        let mut body = metrics_json(&requests);
        if operator {
            add_private(&mut body, &app.metrics);
        }
        body["gas_price_gwei"] = gas_price.as_ref().map(GasPrice::gwei).into();
        if let Some(leads) = leads {
            let leads = leads.iter();
            let counts = leads.map(|(status, count)| (status.name().to_owned(), (*count).into()));
            body["leads_by_status"] = counts.collect::<serde_json::Map<String, Value>>().into();
        }
        Reply::json(200, body.to_string())
    };
    reply.no_store().fixed("vary", "Accept")
}

/// Whether the public may see a route's counts: not if they would reveal sales, buyers or their requests.
fn is_public(rows: &[Row], path: &str) -> bool {
    let of_path = rows.iter().filter(|row| row.path == path);
    let mut tags = of_path.map(|row| row.about.tag).peekable();
    tags.peek().is_some() && tags.all(|tag| tag == Tag::Discovery)
}

fn metrics_json(requests: &RequestCounts) -> Value {
    let by_route: Value = requests
        .iter()
        .map(|((path, method, status), requests)| {
            json!({"route": path, "method": method, "status": status, "requests": requests.count})
        })
        .collect();
    json!({
        "status": "success",
        "requests_total": requests.values().map(|requests| requests.count).sum::<u64>(),
        "by_route": by_route,
    })
}

/// Figures about sales, buyers and the machine, for the operator.
fn add_private(body: &mut Value, metrics: &Metrics) {
    let (hits, misses) = (metrics.cache.get(["hit"]), metrics.cache.get(["miss"]));
    let revenue = metrics.revenue_units.sum();
    body["cache"] = json!({"hits": hits, "misses": misses});
    body["fetches"] = metrics.fetches.json();
    body["extractions"] = metrics.extractions.json();
    body["margin_rejections"] = metrics.margin_rejections.sum().into();
    body["refusals"] = metrics.refusals.json();
    body["settle_unknown"] = metrics.settle_unknown.sum().into();
    body["retry_credits"] = metrics.credits.json();
    body["rate_limited"] = metrics.limited.json();
    body["mails"] = metrics.mails.json();
    body["payments"] = metrics.payments.json();
    body["leads"] = metrics.leads.json();
    body["webhook_events"] = metrics.webhooks.json();
    body["settlement_checks"] = metrics.settlement_checks.json();
    body["chain_inquiries"] = metrics.chain_inquiries.json();
    body["paid_total"] = metrics.paid().into();
    body["revenue_units"] = revenue.to_string().into();
    body["revenue_usdc"] = Amount::from_units(revenue).as_usdc().into();
}

fn counted(text: &mut Exposition, requests: &RequestCounts) {
    let samples = requests.iter().map(|((path, method, status), requests)| {
        let code = status.to_string();
        let labels = labels([("route", *path), ("method", method), ("code", &code)]);
        (labels, requests.count)
    });
    let help = "Requests by route pattern.";
    text.family("http_requests_total", "counter", help, samples);
}

fn durations(text: &mut Exposition, requests: &RequestCounts) {
    const NAME: &str = "http_request_duration_seconds";
    text.family::<u64>(NAME, "histogram", "Time to answer.", []);
    for ((path, method, status), requests) in requests {
        let code = status.to_string();
        let of = [("route", *path), ("method", method), ("code", &code)];
        let bucket = |bound: &str| labels(of.into_iter().chain([("le", bound)]));
        let name = format!("{NAME}_bucket");
        let mut below = 0;
        for (bound, count) in BUCKETS_US.iter().zip(requests.buckets) {
            below += count;
            text.sample(&name, &bucket(&seconds(*bound)), &below);
        }
        text.sample(&name, &bucket("+Inf"), &requests.count);
        let sum = seconds(requests.duration_us_sum);
        text.sample(&format!("{NAME}_sum"), &labels(of), &sum);
        text.sample(&format!("{NAME}_count"), &labels(of), &requests.count);
    }
}

/// Microseconds as decimal seconds.
fn seconds(microseconds: u64) -> String {
    format!(
        "{}.{:06}",
        microseconds / 1_000_000,
        microseconds % 1_000_000
    )
}
