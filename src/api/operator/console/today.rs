//! The view Today: what sells, what needs the operator's attention, and the button that pauses sales.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::api::operator::console::{View, show};
use crate::api::operator::ledger::{self, DayFigures};
use crate::app::Shared;
use crate::domain::amount::Amount;
use crate::domain::availability::Obstacle;
use crate::domain::figures::cents;
use crate::domain::level::Product;
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::flows::operations::health::NO_CHAIN;
use crate::flows::quotes::availability;
use crate::flows::sale::verify_settlement;
use crate::metrics::{BUCKETS_US, Requests};
use crate::pages::console::figures::{Chart, Funnel, Number, change, percent};
use crate::pages::console::{Alert, Block, Cell, Form, Tone, VIEWS_PATH};
use crate::store::LedgerDay;

/// Number of routes shown.
const ROUTES_SHOWN_MAX: usize = 8;

pub(super) async fn today(app: &Shared) -> Result<View, Refusal> {
    let found = ledger::look(app).await?;
    let heading = |text: &str| Block::Heading(text.to_owned());
    let mut blocks = warnings(app);
    blocks.extend([
        Block::Alerts(attention(app, &found)),
        Block::Numbers(numbers(app, &found.days)),
        heading("Last 30 days"),
        Block::Charts(charts(&found.days)),
        heading("Conversion since start"),
        Block::Funnels(funnels(app)),
        heading("Sales today (UTC)"),
        Block::Facts(figures(&found.ledger)),
        lines("By tier or pack", &found.ledger.levels, "No sales today."),
        lines("By source", &found.ledger.sources, ""),
        heading("Responses since start"),
        responses(app),
    ]);
    blocks.extend(renders(app));
    blocks.extend([
        heading("In progress"),
        Block::Facts(vec![
            ("Leads", show::counts(&found.leads)),
            ("Orders", show::counts(&found.orders)),
            ("Pending or unknown settlements", show::counts(&found.open_payments)),
            ("Open retry credits", Cell::Text(found.credits.to_string())),
            ("E-mails waiting", Cell::Text(found.mails_waiting.to_string())),
        ]),
        heading("Pause and resume"),
        Block::Text(
            "While sales are paused, paid requests return 503 and are not charged. Paid orders are still delivered."
                .to_owned(),
        ),
        Block::Forms(vec![pause_form(app)]),
    ]);
    Ok(View::new("Today", blocks))
}

/// The four figures on top: today, yesterday, and the last seven days against the seven before.
fn numbers(app: &Shared, days: &[DayFigures]) -> Vec<Number> {
    type Value = fn(&DayFigures) -> u64;
    let number = |label, unit, value: Value, shown: fn(u64) -> String| {
        let at = |back: usize| days.iter().rev().nth(back).map_or(0, value);
        let week = |from: usize| (from..from + 7).map(at).fold(0, u64::saturating_add);
        Number {
            label,
            value: shown(at(0)),
            unit,
            note: format!("yesterday {} · 7 days {}", shown(at(1)), shown(week(0))),
            change: change(week(0), week(7)),
        }
    };
    let (mut asked, mut refused, mut settled) = (0, 0, 0);
    for product in Product::ALL {
        let [(_, challenges), _, (_, turned_away), (_, ended)] = steps(app, product);
        asked += challenges;
        refused += turned_away;
        settled += ended;
    }
    vec![
        number("Revenue today", "USDC", |day| day.revenue, usdc_text),
        number("Bundles today", "USD", |day| day.cents, dollars),
        number(
            "Sales today",
            "",
            |day| day.sales,
            |count| count.to_string(),
        ),
        Number {
            label: "Conversion since start",
            value: percent(settled, asked),
            unit: "",
            note: format!(
                "{settled} settled and {refused} refused after {asked} responses with 402"
            ),
            change: None,
        },
    ]
}

fn charts(days: &[DayFigures]) -> Vec<Chart> {
    let chart = |title, value: fn(&DayFigures) -> u64, shown: fn(u64) -> String| Chart {
        title,
        total: shown(days.iter().map(value).fold(0, u64::saturating_add)),
        days: days
            .iter()
            .map(|day| {
                let at = UnixSeconds::of_day(day.day);
                (at, value(day), shown(value(day)))
            })
            .collect(),
    };
    vec![
        chart(
            "Revenue",
            |day| day.revenue,
            |units| format!("{} USDC", usdc_text(units)),
        ),
        chart("Sales", |day| day.sales, |count| count.to_string()),
        chart(
            "Bundle orders",
            |day| day.cents,
            |cents| format!("{} USD", dollars(cents)),
        ),
    ]
}

fn usdc_text(units: u64) -> String {
    cents(Amount::from_units(units))
}

fn dollars(cents: u64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

/// From the price to the settlement. A payment is refused or settled; one that the facilitator turned away is refused, too.
fn steps(app: &Shared, product: Product) -> [(&'static str, u64); 4] {
    let payments = app.metrics.payments.counts();
    let of_product = payments.iter().filter(|(labels, _)| {
        labels.first() == Some(&product.name()) && labels.last() == Some(&"settled")
    });
    let settled: u64 = of_product.map(|(_, count)| count).sum();
    let refused = app.refusals.count(product);
    [
        ("402 responses", ledger::challenges(app, product)),
        ("With a payment", settled + refused),
        ("Refused", refused),
        ("Settled", settled),
    ]
}

fn funnels(app: &Shared) -> Vec<Funnel> {
    let funnel = |product: Product| Funnel {
        title: match product {
            Product::Context => "Pages as markdown",
            Product::ProofPack => "Proof Packs",
            Product::ProofBundle => "Evidence Bundles",
            Product::Check => "Checked texts",
        }
        .to_owned(),
        steps: steps(app, product).to_vec(),
    };
    Product::ALL.map(funnel).to_vec()
}

/// The routes that are used most, with their errors and how long they take.
fn responses(app: &Shared) -> Block {
    let mut routes: BTreeMap<(&str, &str), (Requests, u64)> = BTreeMap::new();
    for ((path, method, status), requests) in app.metrics.requests() {
        let (all, errors) = routes.entry((path, method)).or_default();
        all.count += requests.count;
        for (sum, count) in all.buckets.iter_mut().zip(requests.buckets) {
            *sum += count;
        }
        if status >= 500 {
            *errors += requests.count;
        }
    }
    let mut routes: Vec<_> = routes.into_iter().collect();
    routes.sort_by_key(|(_, (requests, _))| Reverse(requests.count));
    routes.truncate(ROUTES_SHOWN_MAX);
    let row = |((path, method), (requests, errors)): ((&str, &str), (Requests, u64))| {
        vec![
            Cell::Text(match path {
                "-" => format!("{method} of unknown addresses"),
                path => format!("{method} {path}"),
            }),
            Cell::Number(requests.count.to_string()),
            Cell::Bar {
                text: percent(errors, requests.count),
                percent: errors.saturating_mul(100).div_ceil(requests.count.max(1)),
                tone: Tone::Bad,
            },
            within(&requests, 50),
            within(&requests, 95),
        ]
    };
    Block::Table {
        caption: "Responses since start",
        head: vec!["Route", "Responses", "5xx", "Median", "95th percentile"],
        rows: routes.into_iter().map(row).collect(),
        empty: "No requests yet.",
    }
}

/// The time that so many of a hundred responses took at most, as the histogram says it: each of its buckets is a step of
/// the bar.
fn within(requests: &Requests, share: u64) -> Cell {
    let wanted = requests.count.saturating_mul(share).div_ceil(100);
    let mut below = 0;
    let reached = requests.buckets.iter().position(|count| {
        below += count;
        below >= wanted
    });
    let text = match reached.map(|bucket| BUCKETS_US[bucket]) {
        None => "over 120 s".to_owned(),
        Some(bound @ ..1_000) => format!("0.{} ms", bound / 100),
        Some(bound @ 1_000..1_000_000) => format!("{} ms", bound / 1_000),
        Some(bound) => format!("{}.{} s", bound / 1_000_000, bound / 100_000 % 10),
    };
    let steps = reached.unwrap_or(BUCKETS_US.len()) + 1;
    Cell::Bar {
        text,
        percent: (steps * 100 / (BUCKETS_US.len() + 1)) as u64,
        tone: if reached.is_some() {
            Tone::Plain
        } else {
            Tone::Bad
        },
    }
}

/// What came of the pages that the browser was asked for; nothing where none is configured.
fn renders(app: &Shared) -> Vec<Block> {
    if app.outside.renderer.is_none() {
        return Vec::new();
    }
    let metrics = &app.metrics;
    let (all, rendered) = (metrics.renders.sum(), metrics.renders.get(["rendered"]));
    let mean_ms = metrics.render_milliseconds.sum().checked_div(all);
    let row = |(outcome, count): (Vec<&'static str>, u64)| {
        let outcome = outcome.first().copied().unwrap_or_default();
        vec![
            Cell::Text(outcome.replace('_', " ")),
            Cell::Bar {
                text: count.to_string(),
                percent: count.saturating_mul(100).div_ceil(all.max(1)),
                tone: if outcome == "rendered" {
                    Tone::Good
                } else {
                    Tone::Bad
                },
            },
        ]
    };
    let waiting = app.outside.renderer.as_ref();
    let waiting = waiting.map_or(0, |renderer| renderer.waiting());
    let note = match mean_ms {
        None => "no page has needed the browser".to_owned(),
        Some(ms) => format!(
            "{rendered} of {all} pages; {}.{} s each, including waiting; {waiting} now",
            ms / 1_000,
            ms / 100 % 10
        ),
    };
    vec![
        Block::Heading("Pages rendered since start".to_owned()),
        Block::Numbers(vec![Number {
            label: "Rendered",
            value: percent(rendered, all),
            unit: "",
            note,
            change: None,
        }]),
        Block::Table {
            caption: "Rendered pages by outcome",
            head: vec!["Outcome", "Pages"],
            rows: metrics.renders.counts().into_iter().map(row).collect(),
            empty: "",
        },
    ]
}

fn pause_form(app: &Shared) -> Form {
    match app.health.paused_since() {
        None => Form::plain("pause", "Pause sales").confirmed("Yes, pause sales"),
        Some(_) => Form::plain("resume", "Resume sales"),
    }
}

/// What is unavailable or unchecked at the moment.
pub(super) fn warnings(app: &Shared) -> Vec<Block> {
    let availability = availability::now(app);
    // Every view says that sales are paused, and Today has the button.
    let is_only_paused = availability.obstacles() == [Obstacle::Paused];
    let sales = (!availability.is_complete() && !is_only_paused).then(|| Block::Note {
        text: match availability.not_selling() {
            Some(reason) => format!("{reason} {}", reason.advice()),
            None => availability.sentence(),
        },
        tone: if availability.is_open() {
            Tone::Warn
        } else {
            Tone::Bad
        },
    });
    let chain = app.outside.chain.is_none().then(|| Block::Note {
        text: format!("{NO_CHAIN}."),
        tone: Tone::Warn,
    });
    sales.into_iter().chain(chain).collect()
}

/// What needs the operator's attention, with the filtered list that has the action on it.
fn attention(app: &Shared, found: &ledger::Today) -> Vec<Alert> {
    let of = |counts: &show::Counts, name: &str| counts.get(name).copied().unwrap_or(0);
    let missing = found.ledger_check.as_ref();
    let missing = missing.map_or(0, |(_, ledger_check)| ledger_check.missing_payments);
    let contradicted = verify_settlement::status(app).summary.missing_lately;
    let rows = [
        (
            contradicted,
            ["settlement is", "settlements are"],
            "reported by the facilitator in the last day, but not on chain. Pause sales unless the facilitator can explain it.",
            ("Contradicted payments", "payments?state=contradicted"),
        ),
        (
            of(&found.orders, "needs_review"),
            ["paid order needs", "paid orders need"],
            "your review: no lead matches, or its amount or bundle differs.",
            ("Review", "orders?state=needs_review"),
        ),
        (
            of(&found.orders, "failed"),
            ["order", "orders"],
            "could not be fulfilled: refund or retry.",
            ("Failed orders", "orders?state=failed"),
        ),
        (
            found.mails_failed,
            ["e-mail", "e-mails"],
            "could not be sent.",
            ("Failed e-mails", "outbox?state=failed"),
        ),
        (
            of(&found.open_payments, "unknown"),
            ["settlement has", "settlements have"],
            "an unknown outcome.",
            ("Unknown payments", "payments?state=unknown"),
        ),
        (
            found.listings_waiting,
            ["report awaits", "reports await"],
            "your approval for the public list.",
            ("Approve", "reports?state=awaiting_approval"),
        ),
        (
            missing,
            ["payment", "payments"],
            "did not reach your receiving address on the last reconciled day.",
            ("Ledger", "ledger"),
        ),
    ];
    let rows = rows.into_iter().enumerate();
    let rows = rows.filter(|(_, (count, ..))| *count > 0);
    type Row = (
        u64,
        [&'static str; 2],
        &'static str,
        (&'static str, &'static str),
    );
    let alert = |(index, (count, [one, more], rest, (label, view))): (usize, Row)| Alert {
        text: format!("{count} {} {rest}", if count == 1 { one } else { more }),
        tone: if index == 0 { Tone::Bad } else { Tone::Warn },
        label,
        path: format!("{VIEWS_PATH}{view}"),
    };
    rows.map(alert).collect()
}

fn figures(ledger: &LedgerDay) -> Vec<(&'static str, Cell)> {
    let usdc = |units| Cell::Text(format!("{} USDC", cents(Amount::from_units(units))));
    let cost = ledger
        .gas
        .saturating_add(ledger.facilitator_fee)
        .saturating_add(ledger.supplier);
    vec![
        ("Sales", Cell::Text(ledger.sales.to_string())),
        ("Revenue", usdc(ledger.revenue)),
        ("Cost", usdc(cost)),
        ("Margin", usdc(ledger.profit)),
    ]
}

fn lines(caption: &'static str, lines: &[(String, u64, u64)], empty: &'static str) -> Block {
    let row = |(name, sales, units): &(String, u64, u64)| {
        vec![
            Cell::Text(name.replace('_', " ")),
            Cell::Number(sales.to_string()),
            Cell::Number(cents(Amount::from_units(*units))),
        ]
    };
    Block::Table {
        caption,
        head: vec![caption, "Sales", "USDC"],
        rows: lines.iter().map(row).collect(),
        empty,
    }
}
