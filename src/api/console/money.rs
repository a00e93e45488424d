//! Today, the payments, and the books beside the vault.

use serde_json::json;

use crate::api::console::{View, show};
use crate::api::operator::{self, books};
use crate::app::Shared;
use crate::domain::amount::Amount;
use crate::domain::refusal::{Code, Refusal};
use crate::http::Call;
use crate::pages::console::{Block, Cell, Form, Tone};
use crate::store::{LedgerDay, Reckoning, day};

pub(super) async fn today(app: &Shared) -> Result<View, Refusal> {
    let found = books::look(app).await?;
    let heading = |text: &str| Block::Heading(text.to_owned());
    let mut blocks = attention(&found);
    blocks.extend([
        heading("Sold on chain today (UTC)"),
        Block::Facts(figures(&found.ledger)),
        lines("By level", &found.ledger.levels, "Nothing was sold today."),
        lines("By source", &found.ledger.sources, ""),
        heading("From 402 to paid, since the start"),
        funnel(&found),
        heading("Under way"),
        Block::Facts(vec![
            ("Leads", show::counts(&found.leads)),
            ("Orders", show::counts(&found.orders)),
            ("Payments without an end", show::counts(&found.open_payments)),
            ("Retry credits held", Cell::Text(found.credits.to_string())),
            ("Mails waiting", Cell::Text(found.mails_waiting.to_string())),
        ]),
        heading("Pause and resume"),
        Block::Text(
            "Paused, everything that is paid for answers 503 and nobody is charged. What is paid already is delivered."
                .to_owned(),
        ),
        Block::Forms(vec![brake(app)]),
    ]);
    Ok(View::new("Today", blocks))
}

fn brake(app: &Shared) -> Form {
    let form = |act, button: &str| Form {
        act,
        fields: Vec::new(),
        button: button.to_owned(),
        confirm: None,
    };
    match app.health.paused_since() {
        None => form("pause", "Pause sales").confirmed("Yes, sell nothing for now"),
        Some(_) => form("resume", "Resume sales"),
    }
}

/// What somebody should see to.
fn attention(found: &books::Today) -> Vec<Block> {
    let of = |counts: &show::Counts, name: &str| counts.get(name).copied().unwrap_or(0);
    let mut notes = vec![
        (
            of(&found.orders, "needs_review"),
            ["paid order does", "paid orders do"],
            "not fit the lead: see Orders, needs review.",
        ),
        (
            of(&found.orders, "failed"),
            ["order", "orders"],
            "could not be fulfilled: refund it, or have it done again.",
        ),
        (
            found.mails_failed,
            ["mail", "mails"],
            "could not be sent: see Outbox.",
        ),
        (
            of(&found.open_payments, "unknown"),
            ["settlement has", "settlements have"],
            "no known end yet: see Payments, unknown.",
        ),
    ];
    if let Some((_, reckoning)) = &found.reckoning {
        notes.push((
            reckoning.missing_payments,
            ["payment", "payments"],
            "did not reach the vault on the last day that was compared: see Books.",
        ));
    }
    let notes = notes.into_iter().filter(|(count, ..)| *count > 0);
    let note = |(count, [one, more], rest): (u64, [&str; 2], &str)| Block::Note {
        text: format!("{count} {} {rest}", if count == 1 { one } else { more }),
        tone: Tone::Warn,
    };
    notes.map(note).collect()
}

fn figures(ledger: &LedgerDay) -> Vec<(&'static str, Cell)> {
    let usdc = |units| Cell::Text(format!("{} USDC", Amount::from_units(units)));
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
            Cell::Text(name.clone()),
            Cell::Number(sales.to_string()),
            Cell::Number(Amount::from_units(*units).to_string()),
        ]
    };
    Block::Table {
        caption,
        head: vec![caption, "Sales", "USDC"],
        rows: lines.iter().map(row).collect(),
        empty,
    }
}

fn funnel(found: &books::Today) -> Block {
    let row = |line: &books::Funnel| {
        vec![
            Cell::Text(line.product.replace('_', " ")),
            Cell::Number(line.challenges.to_string()),
            Cell::Number(line.paid.to_string()),
        ]
    };
    Block::Table {
        caption: "Prices told and paid answers",
        head: vec!["Product", "Prices told (402)", "Paid answers"],
        rows: found.funnel.iter().map(row).collect(),
        empty: "",
    }
}

pub(super) async fn payments(app: &Shared, call: &Call) -> Result<View, Refusal> {
    if let Some(key) = call.query.get("id") {
        return payment(app, &key).await;
    }
    let state = call.query.get("state").map(|state| state.into_owned());
    let listed = operator::list(&app.store, state.clone()).await?;
    let rows = show::rows(&listed, "payments", |payment| {
        vec![
            show::time(payment, "created_at"),
            show::tag(payment, "state", tone),
            show::number(payment, "amount_units"),
            show::text(payment, "level"),
            show::outward(payment, "target_url"),
            show::text(payment, "source"),
            show::link(payment, "key", "payments"),
        ]
    });
    let table = Block::Table {
        caption: "Payments, newest first",
        head: vec![
            "Since", "State", "Units", "Level", "Target", "Source", "Key",
        ],
        rows,
        empty: "There are no such payments.",
    };
    let choices = show::choices("payments", &operator::PAYMENT_STATES, state.as_deref());
    Ok(View::new("Payments", vec![choices, table]))
}

async fn payment(app: &Shared, key: &str) -> Result<View, Refusal> {
    let found = operator::show(&app.store, key).await?;
    let found = found.ok_or_else(|| Refusal::new(Code::NotFound, operator::NO_PAYMENT))?;
    let mut blocks = vec![Block::Facts(vec![
        ("State", show::tag(&found, "state", tone)),
        ("Paid for", show::text(&found, "product")),
        ("Level", show::text(&found, "level")),
        ("Target", show::outward(&found, "target_url")),
        ("Units", show::text(&found, "amount_units")),
        ("Payer", show::text(&found, "payer")),
        ("Means", show::text(&found, "means")),
        ("Source", show::text(&found, "source")),
        ("Transaction", show::text(&found, "transaction")),
        ("Reason", show::text(&found, "reason")),
        ("Since", show::time(&found, "created_at")),
        ("Changed", show::time(&found, "changed_at")),
    ])];
    if !found["credit"].is_null() {
        let credit = &found["credit"];
        blocks.push(Block::Heading("Retry credit".to_owned()));
        blocks.push(Block::Facts(vec![
            ("Attempts left", show::text(credit, "attempts_left")),
            ("Lives until", show::time(credit, "expires_at")),
        ]));
    }
    if matches!(found["state"].as_str(), Some("unknown" | "kept")) {
        let form = Form::button("reconcile", "key", key, "Look for its end now");
        blocks.push(Block::Forms(vec![form]));
    }
    Ok(View::new("One payment", blocks))
}

fn tone(state: &str) -> Tone {
    match state {
        "settled" => Tone::Good,
        "unknown" | "kept" | "held" => Tone::Warn,
        "failed" => Tone::Bad,
        _ => Tone::Plain,
    }
}

pub(super) async fn books(app: &Shared) -> Result<View, Refusal> {
    let days = app.store.read(books::days).await?;
    let mut blocks = vec![Block::Text(
        "Every settled payment must have reached the vault. Each day is held against the chain's own logs once it is over."
            .to_owned(),
    )];
    if app.outside.chain.is_none() {
        blocks.push(Block::Note {
            text:
                "The chain is not asked: set chain.rpc_url, and each day is held against the vault."
                    .to_owned(),
            tone: Tone::Warn,
        });
    }
    blocks.push(Block::Table {
        caption: "Days, newest first",
        head: vec![
            "Day (UTC)",
            "Sales",
            "Revenue",
            "Margin",
            "Beside the vault",
            "Beyond the ledger",
            "Compare",
        ],
        rows: days.iter().map(|line| book(app, line)).collect(),
        empty: "Nothing was sold yet.",
    });
    blocks.extend(missing(&days));
    Ok(View::new("Books", blocks))
}

fn book(app: &Shared, (of, ledger, reckoning): &(u64, LedgerDay, Option<Reckoning>)) -> Vec<Cell> {
    let date = books::date(*of);
    let can_compare = app.outside.chain.is_some() && *of < day(app.now());
    vec![
        Cell::Text(date.clone()),
        Cell::Number(ledger.sales.to_string()),
        Cell::Number(Amount::from_units(ledger.revenue).to_string()),
        Cell::Number(Amount::from_units(ledger.profit).to_string()),
        reckoning.as_ref().map_or(Cell::Nothing, compared),
        reckoning.as_ref().map_or(Cell::Nothing, beyond),
        match can_compare {
            true => Cell::Forms(vec![Form::button("reckon", "day", &date, "Compare now")]),
            false => Cell::Nothing,
        },
    ]
}

fn compared(reckoning: &Reckoning) -> Cell {
    match reckoning.is_balanced() {
        true => Cell::Tag {
            text: format!("all {} arrived", reckoning.ledger_payments),
            tone: Tone::Good,
        },
        false => Cell::Tag {
            text: format!(
                "{} missing, {} USDC",
                reckoning.missing_payments,
                Amount::from_units(reckoning.missing_units)
            ),
            tone: Tone::Bad,
        },
    }
}

/// What the vault has received for no payment of ours.
fn beyond(reckoning: &Reckoning) -> Cell {
    match reckoning.foreign_transfers {
        0 => Cell::Nothing,
        transfers => Cell::Text(format!(
            "{} USDC in {transfers} transactions",
            Amount::from_units(reckoning.foreign_units)
        )),
    }
}

fn missing(days: &[(u64, LedgerDay, Option<Reckoning>)]) -> Option<Block> {
    let mut rows = Vec::new();
    for (day, _, reckoning) in days {
        for key in reckoning.iter().flat_map(|reckoning| &reckoning.missing) {
            rows.push(vec![
                Cell::Text(books::date(*day)),
                show::link(&json!({ "key": key }), "key", "payments"),
            ]);
        }
    }
    (!rows.is_empty()).then_some(Block::Table {
        caption: "Payments that did not arrive",
        head: vec!["Day", "Payment that did not arrive"],
        rows,
        empty: "",
    })
}
