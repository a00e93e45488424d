//! The figures of the running program, as JSON and as Prometheus text. Revenue and payments are the operator's alone.

use serde_json::{Value, json};

use crate::api::discovery::gauges;
use crate::app::Shared;
use crate::domain::amount::Amount;
use crate::domain::margin::GasPrice;
use crate::flows::leads;
use crate::http::{Call, Peer, Reply};
use crate::metrics::{BUCKETS_US, Snapshot};

/// GET /metrics: JSON, or Prometheus text by Accept or `?format=prometheus`. Revenue appears to the operator alone.
pub async fn metrics(app: Shared, call: Call) -> Reply {
    let figures = app.metrics.snapshot();
    let operator = call.peer == Peer::Operator;
    let leads = match operator {
        true => leads::by_status(&app.store).await.ok(),
        false => None,
    };
    let prometheus = call
        .query
        .get("format")
        .is_some_and(|format| format == "prometheus")
        || call.accepts_rather("text/plain", "application/json");
    let reply = if prometheus {
        let stored = app.store.stored_bytes().await.ok().flatten();
        Reply::new(
            200,
            "text/plain; version=0.0.4; charset=utf-8",
            prometheus_text(&figures, operator, stored, app.health.gas_price(&app))
                + &leads.as_deref().map(gauges::leads).unwrap_or_default()
                + &gauges::text(&app),
        )
    } else {
        let mut body = metrics_json(&figures, operator);
        body["gas_price_gwei"] = app
            .health
            .gas_price(&app)
            .as_ref()
            .map(GasPrice::gwei)
            .into();
        if let Some(leads) = leads {
            let leads = leads.iter();
            let counts = leads.map(|(status, count)| (status.name().to_owned(), (*count).into()));
            body["leads_by_status"] = counts.collect::<serde_json::Map<String, Value>>().into();
        }
        Reply::json(200, body.to_string())
    };
    reply
        .fixed("cache-control", "no-store")
        .fixed("vary", "Accept")
}

fn metrics_json(figures: &Snapshot, operator: bool) -> Value {
    let by_route: Value = figures
        .requests
        .iter()
        .map(|((path, method, status), requests)| {
            json!({"route": path, "method": method, "status": status, "requests": requests.count})
        })
        .collect();
    let mut body = json!({
        "status": "success",
        "requests_total": figures.requests.values().map(|requests| requests.count).sum::<u64>(),
        "by_route": by_route,
        "cache": {"hits": figures.cache_hits, "misses": figures.cache_misses},
        "fetches": figures.fetches,
        "margin_rejections": figures.margin_rejections.values().sum::<u64>(),
        "settle_unknown": figures.settle_unknown(),
        "retry_credits": figures.credits,
        "rate_limited": figures.limited,
        "mails": figures.mails,
    });
    if operator {
        let payments: serde_json::Map<String, Value> = figures
            .payments
            .iter()
            .map(|((product, level, outcome), count)| {
                (format!("{product} {level} {outcome}"), (*count).into())
            })
            .collect();
        let leads = figures
            .leads
            .iter()
            .map(|((product, outcome), count)| (format!("{product} {outcome}"), (*count).into()));
        body["leads"] = leads.collect::<serde_json::Map<String, Value>>().into();
        body["payments"] = payments.into();
        let events = figures
            .webhooks
            .iter()
            .map(|((kind, outcome), count)| (format!("{kind} {outcome}"), (*count).into()));
        body["webhook_events"] = events.collect::<serde_json::Map<String, Value>>().into();
        body["chain_inquiries"] = json!(figures.chain_inquiries);
        body["paid_total"] = figures.paid().into();
        body["revenue_units"] = figures.revenue_units.to_string().into();
        body["revenue_usdc"] = Amount::from_units(figures.revenue_units).as_usdc().into();
    }
    body
}

fn prometheus_text(
    figures: &Snapshot,
    operator: bool,
    stored_bytes: Option<u64>,
    gas_price: Option<GasPrice>,
) -> String {
    let mut text = String::new();
    let mut family = |name: &str,
                      kind: &str,
                      help: &str,
                      samples: &mut dyn Iterator<Item = (String, String)>| {
        text.push_str(&format!(
            "# HELP context402_{name} {help}\n# TYPE context402_{name} {kind}\n"
        ));
        for (labels, value) in samples {
            text.push_str(&format!("context402_{name}{labels} {value}\n"));
        }
    };
    family(
        "build_info",
        "gauge",
        "Version of the running program.",
        &mut [(
            format!("{{version=\"{}\"}}", env!("CARGO_PKG_VERSION")),
            "1".to_owned(),
        )]
        .into_iter(),
    );
    family(
        "http_requests_total",
        "counter",
        "Requests by route pattern.",
        &mut figures
            .requests
            .iter()
            .map(|((path, method, status), requests)| {
                (
                    format!("{{route=\"{path}\",method=\"{method}\",code=\"{status}\"}}"),
                    requests.count.to_string(),
                )
            }),
    );
    family(
        "cache_requests_total",
        "counter",
        "Deliveries by whether the cache had the page.",
        &mut [
            (
                "{result=\"hit\"}".to_owned(),
                figures.cache_hits.to_string(),
            ),
            (
                "{result=\"miss\"}".to_owned(),
                figures.cache_misses.to_string(),
            ),
        ]
        .into_iter(),
    );
    family(
        "fetch_total",
        "counter",
        "Fetches by outcome.",
        &mut figures
            .fetches
            .iter()
            .map(|(outcome, count)| (format!("{{outcome=\"{outcome}\"}}"), count.to_string())),
    );
    family(
        "ueg_rejections_total",
        "counter",
        "Sales refused for their margin.",
        &mut figures
            .margin_rejections
            .iter()
            .map(|(reason, count)| (format!("{{reason=\"{reason}\"}}"), count.to_string())),
    );
    family(
        "settle_unknown_total",
        "counter",
        "Settlements whose end was not known when their buyer was answered.",
        &mut [(String::new(), figures.settle_unknown().to_string())].into_iter(),
    );
    family(
        "retry_credits",
        "gauge",
        "Retry credits since the start, by what became of them.",
        &mut figures
            .credits
            .iter()
            .map(|(state, count)| (format!("{{state=\"{state}\"}}"), count.to_string())),
    );
    if let Some(price) = gas_price {
        family(
            "gas_price_gwei",
            "gauge",
            "Price of gas on the network, where the chain is asked.",
            &mut [(String::new(), price.gwei().to_string())].into_iter(),
        );
    }
    family(
        "rate_limited_total",
        "counter",
        "Requests refused for a rate limit, by the limit.",
        &mut figures
            .limited
            .iter()
            .map(|(limit, count)| (format!("{{limit=\"{limit}\"}}"), count.to_string())),
    );
    family(
        "emails_total",
        "counter",
        "Tries to send a mail, by what became of them.",
        &mut figures
            .mails
            .iter()
            .map(|(outcome, count)| (format!("{{outcome=\"{outcome}\"}}"), count.to_string())),
    );
    if let Some(bytes) = stored_bytes {
        family(
            "db_bytes",
            "gauge",
            "Bytes in the data file's tables.",
            &mut [(String::new(), bytes.to_string())].into_iter(),
        );
    }
    if operator {
        family(
            "reckonings_total",
            "counter",
            "Days whose ledger was held against the vault.",
            &mut ["missing", "balanced"]
                .iter()
                .zip(figures.reckonings)
                .map(|(outcome, count)| (format!("{{outcome=\"{outcome}\"}}"), count.to_string())),
        );
        family(
            "reckoning_missing_units",
            "gauge",
            "Units that the ledger has as settled and the vault has not received, on the day that was looked at last.",
            &mut [(String::new(), figures.missing_units.to_string())].into_iter(),
        );
        family(
            "payments_total",
            "counter",
            "Payments by product, level and outcome.",
            &mut figures
                .payments
                .iter()
                .map(|((product, level, outcome), count)| {
                    (
                        format!(
                            "{{product=\"{product}\",level=\"{level}\",outcome=\"{outcome}\"}}"
                        ),
                        count.to_string(),
                    )
                }),
        );
        family(
            "leads_total",
            "counter",
            "Leads by product and what became of them.",
            &mut figures.leads.iter().map(|((product, outcome), count)| {
                (
                    format!("{{product=\"{product}\",outcome=\"{outcome}\"}}"),
                    count.to_string(),
                )
            }),
        );
        family(
            "webhook_events_total",
            "counter",
            "Events of the payment provider by kind and what became of them.",
            &mut figures.webhooks.iter().map(|((kind, outcome), count)| {
                (
                    format!("{{type=\"{kind}\",outcome=\"{outcome}\"}}"),
                    count.to_string(),
                )
            }),
        );
        family(
            "chain_inquiries_total",
            "counter",
            "Questions to the chain about unknown settlements, by what it said.",
            &mut figures
                .chain_inquiries
                .iter()
                .map(|(outcome, count)| (format!("{{outcome=\"{outcome}\"}}"), count.to_string())),
        );
        family(
            "revenue_units_total",
            "counter",
            "Settled USDC units.",
            &mut [(String::new(), figures.revenue_units.to_string())].into_iter(),
        );
    }
    durations(&mut text, figures);
    text
}

fn durations(text: &mut String, figures: &Snapshot) {
    const NAME: &str = "context402_http_request_duration_seconds";
    text.push_str(&format!(
        "# HELP {NAME} Time to answer.\n# TYPE {NAME} histogram\n"
    ));
    for ((path, method, status), requests) in &figures.requests {
        let labels = format!("route=\"{path}\",method=\"{method}\",code=\"{status}\"");
        let mut below = 0;
        for (bound, count) in BUCKETS_US.iter().zip(requests.buckets) {
            below += count;
            text.push_str(&format!(
                "{NAME}_bucket{{{labels},le=\"{}\"}} {below}\n",
                seconds(*bound)
            ));
        }
        text.push_str(&format!(
            "{NAME}_bucket{{{labels},le=\"+Inf\"}} {}\n",
            requests.count
        ));
        text.push_str(&format!(
            "{NAME}_sum{{{labels}}} {}\n",
            seconds(requests.duration_us_sum)
        ));
        text.push_str(&format!("{NAME}_count{{{labels}}} {}\n", requests.count));
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
