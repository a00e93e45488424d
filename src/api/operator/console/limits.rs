//! Limits: blocked hosts, payment links, caches and rate limits. The configuration is reloaded from here.

use crate::api::operator::console::{RefusedForm, View, live};
use crate::app::{App, FETCHES_OF_DOMAIN_MAX, FETCHES_OF_PAYER_MAX, Shared};
use crate::domain::figures::{grouped, size};
use crate::domain::rate::{OF_DOMAIN, RateClass};
use crate::domain::refusal::Refusal;
use crate::flows::operations::overrides::LiveKind;
use crate::pages::console::{Block, Cell, Form};
use crate::store::Snapshot;

pub(super) async fn limits(
    app: &Shared,
    refused: Option<&RefusedForm<'_>>,
) -> Result<View, Refusal> {
    let (pages, page_bytes) = app.store.read(Snapshot::cached_pages).await?;
    let heading = |text: &str| Block::Heading(text.to_owned());
    let of = |used: u64, limit: u64| Cell::Text(format!("{} of {}", size(used), size(limit)));
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
    let reload = Form::plain("reload", "Reload the configuration");
    Ok(View::new(
        "Limits",
        vec![
            heading("Blocked hosts and payment links"),
            Block::Text(
                "A value saved here takes effect at once and overrides the configuration until you remove it. Blocked hosts \
                 and their subdomains are never fetched."
                    .to_owned(),
            ),
            live::settings(app, refused, "Blocked hosts and payment links", |kind| {
                matches!(kind, LiveKind::Hosts | LiveKind::Link)
            }),
            Block::Text(
                "After changing the configuration, reload it here or with `systemctl reload context402`. Settings \
                 without a field on this page or under Configuration need a restart."
                    .to_owned(),
            ),
            Block::Forms(vec![reload]),
            heading("Caches and domains"),
            caches,
            heading("Limits on free requests"),
            Block::Text(
                "For requests per minute, 0 means no limit; for fetches per day, 0 means none. After a change, every client \
                 starts with its full limit."
                    .to_owned(),
            ),
            live::settings(app, refused, "Limits on free requests", |kind| {
                matches!(kind, LiveKind::Quota(_))
            }),
            heading("Requests per minute"),
            quotas(app),
        ],
    ))
}

/// The rate limits per client, and per domain for free requests.
fn quotas(app: &App) -> Block {
    let quotas = app.reloaded().limits.quotas;
    let row = |name: &'static str, about: &str, quota: u64| {
        let quota = match quota {
            0 => "no limit".to_owned(),
            quota => grouped(quota),
        };
        let refused = app.metrics.limited.get([name]);
        vec![
            Cell::Text(name.to_owned()),
            Cell::Text(about.to_owned()),
            Cell::Number(quota),
            Cell::Number(refused.to_string()),
        ]
    };
    let clients = RateClass::ALL.map(|class| row(class.name(), class.about(), quotas.of(class)));
    let rows = clients.into_iter().chain([row(
        OF_DOMAIN,
        "free requests for pages of one domain",
        quotas.domain,
    )]);
    Block::Table {
        caption: "Rate limits per client or domain",
        head: vec!["Limit", "Counts", "Per minute", "Refused since start"],
        rows: rows.collect(),
        empty: "",
    }
}
