//! The views Today, Payments and Ledger.

use serde_json::{Value, json};

use crate::api::operator::console::{View, show};
use crate::api::operator::ledger::CheckedDay;
use crate::api::operator::{self, ledger};
use crate::app::Shared;
use crate::domain::amount::Amount;
use crate::domain::refusal::{Code, Refusal};
use crate::flows::operations::health::NO_CHAIN;
use crate::flows::quotes::availability;
use crate::flows::sale::verify_settlement;
use crate::http::Call;
use crate::pages::console::{Block, Cell, Form, Tone};
use crate::state::refusals::REFUSALS_MAX;
use crate::store::{LedgerCheck, LedgerDay};

/// Number of refusals shown.
const REFUSALS_SHOWN_MAX: usize = 25;

const STATES: &str = "Authorized: held for a retry, not charged. Settling: the response is ready and settlement is in progress. \
                      Unknown: the settlement outcome is being looked up on chain. Voided: never charged.";

pub(super) async fn today(app: &Shared) -> Result<View, Refusal> {
    let found = ledger::look(app).await?;
    let heading = |text: &str| Block::Heading(text.to_owned());
    let mut blocks = standing(app);
    blocks.extend(attention(&found));
    let lately = verify_settlement::standing(app).summary.missing_lately;
    if lately > 0 {
        blocks.push(Block::Note {
            text: format!(
                "{lately} settlements that the facilitator reported in the last day are not on chain: see Payments, \
                contradicted. Pause sales unless the facilitator can explain them."
            ),
            tone: Tone::Bad,
        });
    }
    blocks.extend([
        heading("Sales today (UTC)"),
        Block::Facts(figures(&found.ledger)),
        lines("By tier or pack", &found.ledger.levels, "No sales today."),
        lines("By source", &found.ledger.sources, ""),
        heading("Conversion since start"),
        funnel(&found),
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
        None => form("pause", "Pause sales").confirmed("Yes, pause sales"),
        Some(_) => form("resume", "Resume sales"),
    }
}

/// What is unavailable or unchecked at the moment.
pub(super) fn standing(app: &Shared) -> Vec<Block> {
    let availability = availability::now(app);
    let sales = (!availability.is_complete()).then(|| Block::Note {
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

/// What needs the operator's attention.
fn attention(found: &ledger::Today) -> Vec<Block> {
    let of = |counts: &show::Counts, name: &str| counts.get(name).copied().unwrap_or(0);
    let mut notes = vec![
        (
            of(&found.orders, "needs_review"),
            ["paid order does", "paid orders do"],
            "not match the lead: see Orders, needs review.",
        ),
        (
            of(&found.orders, "failed"),
            ["order", "orders"],
            "could not be fulfilled: refund or retry. See Orders, failed.",
        ),
        (
            found.mails_failed,
            ["e-mail", "e-mails"],
            "could not be sent: see Outbox.",
        ),
        (
            of(&found.open_payments, "unknown"),
            ["settlement has", "settlements have"],
            "an unknown outcome: see Payments, unknown.",
        ),
        (
            found.listings_waiting,
            ["report awaits", "reports await"],
            "your approval for the public list: see Reports, awaiting approval.",
        ),
    ];
    if let Some((_, ledger_check)) = &found.ledger_check {
        notes.push((
            ledger_check.missing_payments,
            ["payment", "payments"],
            "did not reach your receiving address on the last reconciled day: see Ledger.",
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

fn funnel(found: &ledger::Today) -> Block {
    let row = |line: &ledger::Funnel| {
        vec![
            Cell::Text(line.product.replace('_', " ")),
            Cell::Number(line.challenges.to_string()),
            Cell::Number(line.paid.to_string()),
        ]
    };
    Block::Table {
        caption: "402 responses and paid requests",
        head: vec!["Product", "402 responses", "Paid requests"],
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
            usdc(payment),
            show::text(payment, "level"),
            show::outward(payment, "target_url"),
            show::text(payment, "source"),
            show::link(payment, "key", "payments"),
        ]
    });
    let table = Block::Table {
        caption: "Payments, newest first",
        head: vec![
            "Created",
            "State",
            "USDC",
            "Tier or pack",
            "Target",
            "Source",
            "Key",
        ],
        rows,
        empty: "No such payments.",
    };
    let choices = show::choices("payments", &operator::PAYMENT_STATES, state.as_deref());
    let mut blocks = vec![choices, Block::Text(STATES.to_owned()), table];
    if state.is_none() {
        blocks.extend(refused(app));
    }
    Ok(View::new("Payments", blocks))
}

/// The amount in USDC.
fn usdc(payment: &Value) -> Cell {
    let units = payment["amount_units"].as_str();
    let amount = units.and_then(Amount::parse_units);
    amount.map_or(Cell::Nothing, |amount| Cell::Number(amount.to_string()))
}

/// The latest refusals of paid requests.
fn refused(app: &Shared) -> [Block; 3] {
    let mut rows = show::rows(&operator::refused(app), "refusals", |refused| {
        vec![
            show::time(refused, "at"),
            show::text(refused, "code"),
            show::text(refused, "reason"),
            show::text(refused, "product"),
            show::text(refused, "level"),
            show::text(refused, "payer"),
            show::text(refused, "request_id"),
        ]
    });
    rows.truncate(REFUSALS_SHOWN_MAX);
    [
        Block::Heading("Refused payments".to_owned()),
        Block::Text(format!(
            "Requests with a payment, refused since the service started. Payer addresses may be unverified. This page \
            shows the latest {REFUSALS_SHOWN_MAX}; `context402 payments refused` lists up to {REFUSALS_MAX}."
        )),
        Block::Table {
            caption: "Refused payments, newest first",
            head: vec![
                "Time",
                "Code",
                "Reason",
                "Product",
                "Tier or pack",
                "Payer",
                "Request",
            ],
            rows,
            empty: "No payment has been refused since the service started.",
        },
    ]
}

async fn payment(app: &Shared, key: &str) -> Result<View, Refusal> {
    let found = operator::show(&app.store, key).await?;
    let found = found.ok_or_else(|| Refusal::new(Code::NotFound, operator::NO_PAYMENT))?;
    let mut blocks = vec![Block::Facts(vec![
        ("State", show::tag(&found, "state", tone)),
        ("Product", show::text(&found, "product")),
        ("Tier or pack", show::text(&found, "level")),
        ("Target", show::outward(&found, "target_url")),
        ("USDC", usdc(&found)),
        ("Payer", show::text(&found, "payer")),
        ("Payment method", show::text(&found, "means")),
        ("Source", show::text(&found, "source")),
        ("Transaction", show::text(&found, "transaction")),
        ("Reason", show::text(&found, "reason")),
        ("On chain", show::text(&found["settlement_check"], "result")),
        (
            "Contradicted by",
            show::text(&found["settlement_check"], "reason"),
        ),
        ("Created", show::time(&found, "created_at")),
        ("Changed", show::time(&found, "changed_at")),
    ])];
    if !found["credit"].is_null() {
        let credit = &found["credit"];
        blocks.push(Block::Heading("Retry credit".to_owned()));
        blocks.push(Block::Facts(vec![
            ("Attempts left", show::text(credit, "attempts_left")),
            ("Valid until", show::time(credit, "expires_at")),
        ]));
    }
    if matches!(found["state"].as_str(), Some("unknown" | "kept")) {
        let form = Form::button("reconcile", "key", key, "Look up the settlement now");
        blocks.push(Block::Forms(vec![form]));
    }
    Ok(View::new("Payment", blocks))
}

fn tone(state: &str) -> Tone {
    match state {
        "settled" => Tone::Good,
        "unknown" | "kept" | "held" => Tone::Warn,
        "failed" => Tone::Bad,
        _ => Tone::Plain,
    }
}

pub(super) async fn ledger(app: &Shared) -> Result<View, Refusal> {
    let days = app.store.read(ledger::days).await?;
    let mut blocks = vec![Block::Text(
        "Each finished day is reconciled against USDC transfers to your receiving address."
            .to_owned(),
    )];
    if app.outside.chain.is_none() {
        blocks.push(Block::Note {
            text: "Reconciliation is off: set chain.rpc_url to check days against the chain."
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
            "Contradicted by the chain",
            "On chain",
            "Unmatched deposits",
            "Check",
        ],
        rows: days.iter().map(|line| book(app, line)).collect(),
        empty: "No sales yet.",
    });
    blocks.extend(missing(&days));
    Ok(View::new("Ledger", blocks))
}

fn book(app: &Shared, book: &CheckedDay) -> Vec<Cell> {
    let (ledger, ledger_check) = (&book.ledger, &book.ledger_check);
    let date = ledger::date(book.day);
    let can_compare = app.outside.chain.is_some() && book.day < app.now().day_number();
    vec![
        Cell::Text(date.clone()),
        Cell::Number(ledger.sales.to_string()),
        Cell::Number(Amount::from_units(ledger.revenue).to_string()),
        Cell::Number(Amount::from_units(ledger.profit).to_string()),
        contradicted(book.contradicted),
        ledger_check.as_ref().map_or(Cell::Nothing, compared),
        ledger_check.as_ref().map_or(Cell::Nothing, beyond),
        match can_compare {
            true => Cell::Forms(vec![Form::button("check", "day", &date, "Check now")]),
            false => Cell::Nothing,
        },
    ]
}

/// Settlements that the facilitator reported and that are not on chain.
fn contradicted((payments, units): (u64, u64)) -> Cell {
    match payments {
        0 => Cell::Nothing,
        _ => Cell::Tag {
            text: format!("{payments}, {} USDC", Amount::from_units(units)),
            tone: Tone::Bad,
        },
    }
}

fn compared(ledger_check: &LedgerCheck) -> Cell {
    match ledger_check.is_balanced() {
        true => Cell::Tag {
            text: format!("all {} arrived", ledger_check.ledger_payments),
            tone: Tone::Good,
        },
        false => Cell::Tag {
            text: format!(
                "{} missing, {} USDC",
                ledger_check.missing_payments,
                Amount::from_units(ledger_check.missing_units)
            ),
            tone: Tone::Bad,
        },
    }
}

/// Deposits to the receiving address that match no payment.
fn beyond(ledger_check: &LedgerCheck) -> Cell {
    match ledger_check.foreign_transfers {
        0 => Cell::Nothing,
        transfers => Cell::Text(format!(
            "{} USDC in {transfers} transactions",
            Amount::from_units(ledger_check.foreign_units)
        )),
    }
}

fn missing(days: &[CheckedDay]) -> Option<Block> {
    let mut rows = Vec::new();
    for CheckedDay {
        day, ledger_check, ..
    } in days
    {
        for key in ledger_check
            .iter()
            .flat_map(|ledger_check| &ledger_check.missing)
        {
            rows.push(vec![
                Cell::Text(ledger::date(*day)),
                show::link(&json!({ "key": key }), "key", "payments"),
            ]);
        }
    }
    (!rows.is_empty()).then_some(Block::Table {
        caption: "Payments missing on chain",
        head: vec!["Day", "Payment missing on chain"],
        rows,
        empty: "",
    })
}
