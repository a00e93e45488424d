//! Metrics as JSON and as Prometheus text. Only the operator sees figures about sales, buyers or the machine; the public
//! sees that the service runs and how often its public documents are read.

use serde_json::{Value, json};

use crate::api::directory::discovery::gauges;
use crate::app::{Row, Shared};
use crate::domain::amount::Amount;
use crate::domain::endpoint::Tag;
use crate::domain::margin::GasPrice;
use crate::flows::orders::leads;
use crate::http::{Call, Peer, Reply};
use crate::metrics::{BUCKETS_US, Snapshot};

/// GET /metrics: JSON, or Prometheus text by Accept or `?format=prometheus`. Only the operator sees revenue.
pub async fn metrics(app: Shared, call: Call) -> Reply {
    let mut figures = app.metrics.snapshot();
    let operator = call.peer == Peer::Operator;
    if !operator {
        let rows = app.rows;
        figures
            .requests
            .retain(|(path, ..), _| is_public(rows, path));
    }
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
        let (data, stored) = match operator {
            true => (
                gauges::data(&app).await.ok(),
                app.store.stored_bytes().await.ok().flatten(),
            ),
            false => (None, None),
        };
        Reply::new(
            200,
            "text/plain; version=0.0.4; charset=utf-8",
            prometheus_text(
                &figures,
                operator,
                stored,
                app.health
                    .gas_price(app.now(), app.config.guard.gas_age_max),
            ) + &leads.as_deref().map(gauges::leads).unwrap_or_default()
                + &gauges::text(&app, operator)
                + &match operator {
                    true => gauges::settlements(&app),
                    false => String::new(),
                }
                + &data.unwrap_or_default(),
        )
    } else {
        let mut body = metrics_json(&figures);
        if operator {
            add_private(&mut body, &figures);
        }
        body["gas_price_gwei"] = app
            .health
            .gas_price(app.now(), app.config.guard.gas_age_max)
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

/// Whether the public may see a route's counts: not if they would reveal sales, buyers or their requests.
fn is_public(rows: &[Row], path: &str) -> bool {
    let of_path = rows.iter().filter(|row| row.path == path);
    let mut tags = of_path.map(|row| row.about.tag).peekable();
    tags.peek().is_some() && tags.all(|tag| tag == Tag::Discovery)
}

fn metrics_json(figures: &Snapshot) -> Value {
    let by_route: Value = figures
        .requests
        .iter()
        .map(|((path, method, status), requests)| {
            json!({"route": path, "method": method, "status": status, "requests": requests.count})
        })
        .collect();
    json!({
        "status": "success",
        "requests_total": figures.requests.values().map(|requests| requests.count).sum::<u64>(),
        "by_route": by_route,
    })
}

/// Figures about sales, buyers and the machine, for the operator.
fn add_private(body: &mut Value, figures: &Snapshot) {
    body["cache"] = json!({"hits": figures.cache_hits, "misses": figures.cache_misses});
    body["fetches"] = json!(figures.fetches);
    body["margin_rejections"] = figures.margin_rejections.values().sum::<u64>().into();
    body["refusals"] = json!(figures.refusals);
    body["settle_unknown"] = figures.settle_unknown().into();
    body["retry_credits"] = json!(figures.credits);
    body["rate_limited"] = json!(figures.limited);
    body["mails"] = json!(figures.mails);
    let payments = figures
        .payments
        .iter()
        .map(|((product, level, outcome), count)| {
            (format!("{product} {level} {outcome}"), (*count).into())
        });
    body["payments"] = payments.collect::<serde_json::Map<String, Value>>().into();
    let leads = figures
        .leads
        .iter()
        .map(|((product, outcome), count)| (format!("{product} {outcome}"), (*count).into()));
    body["leads"] = leads.collect::<serde_json::Map<String, Value>>().into();
    let events = figures
        .webhooks
        .iter()
        .map(|((kind, outcome), count)| (format!("{kind} {outcome}"), (*count).into()));
    body["webhook_events"] = events.collect::<serde_json::Map<String, Value>>().into();
    body["settlement_checks"] = json!(figures.settlement_checks);
    body["chain_inquiries"] = json!(figures.chain_inquiries);
    body["paid_total"] = figures.paid().into();
    body["revenue_units"] = figures.revenue_units.to_string().into();
    body["revenue_usdc"] = Amount::from_units(figures.revenue_units).as_usdc().into();
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
    if let Some(price) = gas_price {
        family(
            "gas_price_gwei",
            "gauge",
            "Gas price on the network, if chain.rpc_url is set.",
            &mut [(String::new(), price.gwei().to_string())].into_iter(),
        );
    }
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
            "cache_requests_total",
            "counter",
            "Deliveries by cache result.",
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
            "Sales refused because of their margin.",
            &mut figures
                .margin_rejections
                .iter()
                .map(|(reason, count)| (format!("{{reason=\"{reason}\"}}"), count.to_string())),
        );
        family(
            "refusals_total",
            "counter",
            "Refused requests that carried a payment, by error code.",
            &mut figures
                .refusals
                .iter()
                .map(|(code, count)| (format!("{{code=\"{code}\"}}"), count.to_string())),
        );
        family(
            "settle_unknown_total",
            "counter",
            "Settlements with an unknown outcome when the buyer got the response.",
            &mut [(String::new(), figures.settle_unknown().to_string())].into_iter(),
        );
        family(
            "retry_credits",
            "gauge",
            "Retry credits by outcome.",
            &mut figures
                .credits
                .iter()
                .map(|(state, count)| (format!("{{state=\"{state}\"}}"), count.to_string())),
        );
        family(
            "rate_limited_total",
            "counter",
            "Rate-limited requests, by limit.",
            &mut figures
                .limited
                .iter()
                .map(|(limit, count)| (format!("{{limit=\"{limit}\"}}"), count.to_string())),
        );
        family(
            "emails_total",
            "counter",
            "Attempts to send an e-mail, by outcome.",
            &mut figures
                .mails
                .iter()
                .map(|(outcome, count)| (format!("{{outcome=\"{outcome}\"}}"), count.to_string())),
        );
        family(
            "ledger_checks_total",
            "counter",
            "Reconciled days.",
            &mut ["missing", "balanced"]
                .iter()
                .zip(figures.ledger_checks)
                .map(|(outcome, count)| (format!("{{outcome=\"{outcome}\"}}"), count.to_string())),
        );
        family(
            "ledger_check_missing_units",
            "gauge",
            "USDC units settled in the ledger but not received on chain, on the last reconciled day.",
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
            "Leads by product and outcome.",
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
            "Payment provider events by kind and outcome.",
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
            "Chain lookups of unknown settlements, by result.",
            &mut figures
                .chain_inquiries
                .iter()
                .map(|(outcome, count)| (format!("{{outcome=\"{outcome}\"}}"), count.to_string())),
        );
        family(
            "settlement_checks_total",
            "counter",
            "Settlements verified on chain, by result.",
            &mut figures
                .settlement_checks
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
        "# HELP {NAME} Response time.\n# TYPE {NAME} histogram\n"
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
