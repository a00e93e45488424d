//! What programs read about the service: the brief at `/`, health, figures, and the texts for crawlers and models.

use serde_json::{Value, json};

use crate::api::{failure, openapi, site};
use crate::app::{App, Shared};
use crate::domain::amount::Amount;
use crate::domain::level::{Level, Product};
use crate::domain::margin::GasPrice;
use crate::domain::refusal::{Code, Refusal};
use crate::flows::guardian;
use crate::http::{Call, Peer, Reply};
use crate::metrics::{BUCKETS_US, Snapshot};
use crate::signing::Signer;

/// GET /: a brief for programs, the home page for people.
pub async fn root(app: Shared, call: Call) -> Reply {
    if call.accepts_rather("text/html", "application/json") {
        return site::home_page(&app);
    }
    document(brief(&app)).fixed("vary", "Accept")
}

pub fn document(value: Value) -> Reply {
    Reply::json(200, value.to_string()).public("public, max-age=300")
}

fn brief(app: &App) -> Value {
    let terms = &app.config.payment;
    json!({
        "status": "success",
        "name": app.config.service_name,
        "version": env!("CARGO_PKG_VERSION"),
        "description": env!("CARGO_PKG_DESCRIPTION"),
        "base_url": app.config.base_url,
        "buy": {"method": "POST", "url": app.url(Product::Context.path()), "body": {"target_url": "https://example.com/", "tier": "fresh"}},
        "tiers": levels(Product::Context),
        "proof_pack": {
            "method": "POST", "url": app.url(Product::ProofPack.path()),
            "body": {"target_url": "https://example.com/", "question": "Is it free to use?", "pack": "standard"},
        },
        "packs": levels(Product::ProofPack),
        "payment": {
            "protocol": "x402", "x402Version": 2, "scheme": "exact", "network": terms.network, "asset": terms.asset,
            "pay_to": terms.pay_to,
        },
        "links": {
            "docs": app.url("/docs"), "openapi": app.url("/openapi.json"), "quickstart": app.url("/quickstart"),
            "quote": app.url("/v1/x402/quote"), "sample": app.sample.url, "health": app.url("/health"),
            "llms": app.url("/llms.txt"), "proof_pack": app.url("/proof-pack"),
            "proof_pack_quote": app.url("/v1/proof-pack/quote"), "sample_report": app.url("/v1/proof-pack/sample"),
        },
    })
}

/// The price list of a product.
pub fn levels(product: Product) -> Value {
    let policy = match product {
        Product::Context => "cache_policy",
        Product::ProofPack => "policy",
    };
    let row = |level: Level| {
        json!({
            product.level_word(): level.name(), "amount": level.price().units().to_string(),
            "price_usdc": level.price().as_usdc(), policy: level.policy(),
        })
    };
    product.levels().map(row).collect()
}

/// GET /health. `?live=1` answers at once for whoever only asks whether the process runs.
pub async fn health(app: Shared, call: Call) -> Reply {
    if call.query.get("live").is_some() {
        return Reply::json(200, r#"{"status":"ok"}"#).fixed("cache-control", "no-store");
    }
    let store_failed = app.health.store_failed();
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
        () if store_failed => "down",
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
            "database": {"status": if store_failed { "down" } else { "ok" }},
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
            "disk": {"status": if app.health.disk_low() { "low" } else { "ok" }, "free_bytes": app.health.free_bytes()},
            "reports": {"status": if app.health.reports_full() { "full" } else { "ok" }, "kept_bytes": app.health.kept_bytes()},
        },
        "paid_enabled": paid_enabled,
    });
    if call.peer == Peer::Operator {
        body["checks"]["facilitator"]["trouble"] = trouble.into();
        body["checks"]["gas_oracle"]["trouble"] = gas.trouble.into();
    }
    Reply::json(if store_failed { 503 } else { 200 }, body.to_string())
        .fixed("cache-control", "no-store")
}

/// GET /metrics: JSON, or Prometheus text by Accept or `?format=prometheus`. Revenue appears to the operator alone.
pub async fn metrics(app: Shared, call: Call) -> Reply {
    let figures = app.metrics.snapshot();
    let operator = call.peer == Peer::Operator;
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
            prometheus_text(&figures, operator, stored, app.health.gas_price(&app)),
        )
    } else {
        let mut body = metrics_json(&figures, operator);
        body["gas_price_gwei"] = app
            .health
            .gas_price(&app)
            .as_ref()
            .map(GasPrice::gwei)
            .into();
        Reply::json(200, body.to_string())
    };
    reply
        .fixed("cache-control", "no-store")
        .fixed("vary", "Accept")
}

fn metrics_json(figures: &Snapshot, operator: bool) -> Value {
    let by_route: serde_json::Map<String, Value> = figures
        .requests
        .iter()
        .map(|((path, method, status), requests)| {
            (format!("{method} {path} {status}"), requests.count.into())
        })
        .collect();
    let mut body = json!({
        "status": "success",
        "requests_total": figures.requests.values().map(|requests| requests.count).sum::<u64>(),
        "by_route": by_route,
        "cache": {"hits": figures.cache_hits, "misses": figures.cache_misses},
        "fetches": figures.fetches,
        "margin_rejections": figures.margin_rejections,
        "rate_limited": figures.limited,
    });
    if operator {
        let payments: serde_json::Map<String, Value> = figures
            .payments
            .iter()
            .map(|((product, level, outcome), count)| {
                (format!("{product} {level} {outcome}"), (*count).into())
            })
            .collect();
        body["payments"] = payments.into();
        body["chain_inquiries"] = json!(figures.chain_inquiries);
        body["revenue_units"] = figures.revenue_units.to_string().into();
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
        &mut [(String::new(), figures.margin_rejections.to_string())].into_iter(),
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

pub async fn openapi(app: Shared, _: Call) -> Reply {
    document(openapi::document(&app))
}

/// GET /llms.txt (llmstxt.org).
pub async fn llms(app: Shared, _: Call) -> Reply {
    let prices = |product: Product| -> String {
        let row = |level: Level| {
            format!(
                "- {}: {} USDC ({})\n",
                level.name(),
                level.price(),
                level.policy()
            )
        };
        product.levels().map(row).collect()
    };
    let text = format!(
        "# {name}\n\n> {description}.\n\n\
         To buy a page: POST {access} with {{\"target_url\": \"https://example.com/\", \"tier\": \"fresh\"}}. The answer is 402 \
         with the price in the header PAYMENT-REQUIRED. Sign it (x402 version 2, scheme exact, network {network}) and \
         repeat the request with PAYMENT-SIGNATURE. The answer is JSON with the page as markdown, or markdown itself \
         with Accept: text/markdown.\n\n## Prices of a page\n\n{tiers}\n\
         To learn whether a page supports a claim: POST {proof_pack} with {{\"target_url\": \"https://example.com/\", \
         \"question\": \"Is it free to use?\", \"pack\": \"standard\"}}, paid the same way. The answer is a report \
         with a decision, exact citations, gaps, risks and hashes; it is retained for 30 days and can be verified.\n\n\
         ## Prices of a report\n\n{packs}\n\
         ## Docs\n\n\
         - [Reference]({docs}): every endpoint, field and error\n\
         - [Quickstart]({quickstart}): the same purchase in curl, TypeScript and Python\n\n\
         ## API\n\n\
         - [OpenAPI]({openapi}): the reference for machines\n\
         - [Quote]({quote}): the price and availability of every tier for one page, free\n\
         - [Proof Pack quote]({pack_quote}): the price of every pack for one source, free\n\
         - [Sample report]({sample_report}): a whole report, free\n\
         - [Sample page]({sample}): a page of our own that the starter tier always delivers\n",
        name = app.config.service_name,
        description = env!("CARGO_PKG_DESCRIPTION"),
        access = app.url(Product::Context.path()),
        proof_pack = app.url(Product::ProofPack.path()),
        tiers = prices(Product::Context),
        packs = prices(Product::ProofPack),
        pack_quote = app.url("/v1/proof-pack/quote"),
        sample_report = app.url("/v1/proof-pack/sample"),
        network = app.config.payment.network,
        docs = app.url("/docs"),
        quickstart = app.url("/quickstart"),
        openapi = app.url("/openapi.json"),
        quote = app.url("/v1/x402/quote"),
        sample = app.sample.url,
    );
    Reply::text(200, text).public("public, max-age=300")
}

/// GET /.well-known/jwks.json: the public half of the key that signs in our name.
pub async fn key_set(app: Shared, call: Call) -> Reply {
    published(&app, &call, "application/jwk-set+json", Signer::key_set)
}

/// GET /.well-known/did.json: the same as a DID document.
pub async fn did_document(app: Shared, call: Call) -> Reply {
    published(&app, &call, "application/did+json", Signer::did_document)
}

fn published(
    app: &App,
    call: &Call,
    media_type: &'static str,
    document: impl Fn(&Signer) -> Value,
) -> Reply {
    match &app.signer {
        Some(signer) => {
            Reply::new(200, media_type, document(signer).to_string()).public("public, max-age=300")
        }
        None => failure::reply(
            app,
            &Refusal::new(Code::NotFound, "This service signs nothing."),
            call,
        ),
    }
}

/// GET /robots.txt.
pub async fn robots(_: Shared, _: Call) -> Reply {
    let text = "User-agent: *\nContent-Signal: search=yes, ai-input=yes, ai-train=no\nAllow: /\nDisallow: /checkout/\nDisallow: /proof-pack/reports/\n";
    Reply::text(200, text).public("public, max-age=300")
}
