//! Limits: blocked hosts, payment links, caches and rate limits. The settings that can change without a restart are
//! reloaded from here.

use crate::api::operator::console::View;
use crate::app::{App, FETCHES_OF_DOMAIN_MAX, FETCHES_OF_PAYER_MAX, Shared};
use crate::domain::bundle::Bundle;
use crate::domain::rate::{OF_DOMAIN, RateClass};
use crate::domain::refusal::Refusal;
use crate::pages::console::{Block, Cell, Form};
use crate::store::Snapshot;

pub(super) async fn limits(app: &Shared) -> Result<View, Refusal> {
    let (pages, page_bytes) = app.store.read(Snapshot::cached_pages).await?;
    let config = app.reloaded();
    let heading = |text: &str| Block::Heading(text.to_owned());
    let blocked = Block::Table {
        caption: "Blocked hosts, including subdomains",
        head: vec!["Host"],
        rows: (config.fetch.blocklist.iter())
            .map(|host| vec![Cell::Code(host.clone())])
            .collect(),
        empty: "No host is blocked.",
    };
    let links = Block::Table {
        caption: "Payment links",
        head: vec!["Bundle", "Payment link"],
        rows: Bundle::ALL.map(|bundle| link(app, bundle)).to_vec(),
        empty: "",
    };
    let of = |used: u64, limit: u64| Cell::Text(format!("{} of {} MiB", mib(used), mib(limit)));
    let limits = &app.config.limits;
    let number = |count: usize| Cell::Text(count.to_string());
    let caches = Block::Facts(vec![
        ("Cached pages", Cell::Text(pages.to_string())),
        (
            "Size of cached pages",
            of(page_bytes, limits.pages_bytes_max),
        ),
        (
            "Stored reports and responses",
            of(app.health.kept_bytes(), limits.reports_bytes_max),
        ),
        (
            "Concurrent fetches per domain",
            number(FETCHES_OF_DOMAIN_MAX.min(app.config.fetch.fetches_max / 2)),
        ),
        (
            "Concurrent fetches per payer",
            number(FETCHES_OF_PAYER_MAX.min(app.config.fetch.fetches_max / 2)),
        ),
    ]);
    let reload = Form {
        act: "reload",
        fields: Vec::new(),
        button: "Reload the configuration".to_owned(),
        confirm: None,
    };
    Ok(View::new(
        "Limits",
        vec![
            heading("Blocked hosts"),
            blocked,
            heading("Payment links"),
            links,
            Block::Text(
                "After changing fetch.blocklist or the bundles' payment links, reload the configuration here or with \
                `systemctl reload context402`. Other settings need a restart."
                    .to_owned(),
            ),
            Block::Forms(vec![reload]),
            heading("Caches and domains"),
            caches,
            heading("Requests per minute"),
            quotas(app),
        ],
    ))
}

fn link(app: &App, bundle: Bundle) -> Vec<Cell> {
    let link = app.payment_link(bundle);
    let link = link.map_or(Cell::Nothing, |link| Cell::Outward(link.to_string()));
    vec![Cell::Text(bundle.name().to_owned()), link]
}

/// The rate limits per client, and per domain for free requests.
fn quotas(app: &App) -> Block {
    let quotas = &app.config.limits.quotas;
    let row = |name: &'static str, quota: u64| {
        let quota = match quota {
            0 => "no limit".to_owned(),
            quota => quota.to_string(),
        };
        let refused = app.metrics.limited.get([name]);
        vec![
            Cell::Text(name.to_owned()),
            Cell::Number(quota),
            Cell::Number(refused.to_string()),
        ]
    };
    let clients = RateClass::ALL.map(|class| row(class.name(), quotas.of(class)));
    let rows = clients.into_iter().chain([row(OF_DOMAIN, quotas.domain)]);
    Block::Table {
        caption: "Rate limits per client or domain",
        head: vec!["Limit", "Per minute", "Refused since start"],
        rows: rows.collect(),
        empty: "",
    }
}

fn mib(bytes: u64) -> u64 {
    bytes / (1024 * 1024)
}
