//! Limits: blocked hosts, payment links, caches and rate limits. The settings that can change without a restart are changed
//! and reloaded from here.

use crate::api::operator::console::View;
use crate::app::{App, FETCHES_OF_DOMAIN_MAX, FETCHES_OF_PAYER_MAX, Shared};
use crate::domain::rate::{OF_DOMAIN, RateClass};
use crate::domain::refusal::Refusal;
use crate::flows::operations::overrides::{CONSOLE, LIVE, TEXT_CHARACTERS_MAX};
use crate::pages::console::{Block, Cell, Field, Form, Tone};
use crate::store::Snapshot;

pub(super) async fn limits(app: &Shared) -> Result<View, Refusal> {
    let (pages, page_bytes) = app.store.read(Snapshot::cached_pages).await?;
    let heading = |text: &str| Block::Heading(text.to_owned());
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
    let settings = Block::Table {
        caption: "Settings that change without a restart",
        head: vec!["In force", "From", "In the configuration"],
        rows: LIVE.map(|key| setting(app, key)).to_vec(),
        empty: "",
    };
    let reload = Form {
        act: "reload",
        fields: Vec::new(),
        button: "Reload the configuration".to_owned(),
        confirm: None,
    };
    Ok(View::new(
        "Limits",
        vec![
            heading("Blocked hosts and payment links"),
            Block::Text(
                "A value saved here is in force at once and goes before the configuration's, until you remove it. \
                 Blocked hosts are never fetched, nor their subdomains."
                    .to_owned(),
            ),
            settings,
            Block::Text(
                "After a change of the configuration, reload it here or with `systemctl reload context402`. Settings \
                 that are not in this table need a restart."
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

/// A live setting: its value in force, where it comes from, and the form to change it.
fn setting(app: &App, key: &'static str) -> Vec<Cell> {
    let (effective, configured) = (app.reloaded(), app.configured());
    let (value, origin) = effective.line(key).unwrap_or_default();
    let (file, file_origin) = configured.line(key).unwrap_or_default();
    let is_ours = origin == CONSOLE;
    let text = match value {
        "(not set)" => String::new(),
        value => value.replace(", ", "\n"),
    };
    let set = Form::button("set-setting", "key", key, "Save").with(Field::Area {
        name: "value",
        label: key,
        text,
        characters_max: TEXT_CHARACTERS_MAX,
    });
    let unset = Form::button("unset-setting", "key", key, "Use the configuration's value");
    vec![
        Cell::Forms(
            std::iter::once(set)
                .chain(is_ours.then_some(unset))
                .collect(),
        ),
        match is_ours {
            true => Cell::Tag {
                text: CONSOLE.to_owned(),
                tone: Tone::Warn,
            },
            false => Cell::Text("the configuration".to_owned()),
        },
        Cell::Text(match file_origin {
            "" => file.to_owned(),
            origin => format!("{file} ({origin})"),
        }),
    ]
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
