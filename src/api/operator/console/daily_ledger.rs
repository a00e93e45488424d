//! The view Ledger: each day's revenue, and its reconciliation with the chain.

use crate::api::operator::console::{View, show};
use crate::api::operator::ledger::{self, CheckedDay};
use crate::app::Shared;
use crate::domain::amount::Amount;
use crate::domain::figures::cents;
use crate::domain::refusal::Refusal;
use crate::pages::console::{Block, Cell, Form, Tone};
use crate::store::LedgerCheck;

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
        rows: days.iter().map(|day| row(app, day)).collect(),
        empty: "No sales yet.",
    });
    blocks.extend(missing(&days));
    Ok(View::new("Ledger", blocks))
}

fn row(app: &Shared, day: &CheckedDay) -> Vec<Cell> {
    let (ledger, ledger_check) = (&day.ledger, &day.ledger_check);
    let date = ledger::date(day.day);
    let can_compare = app.outside.chain.is_some() && day.day < app.now().day_number();
    vec![
        Cell::Day(date.clone()),
        Cell::Number(ledger.sales.to_string()),
        Cell::Number(cents(Amount::from_units(ledger.revenue))),
        Cell::Number(cents(Amount::from_units(ledger.profit))),
        contradicted(day.contradicted),
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
            text: format!("{payments}, {} USDC", cents(Amount::from_units(units))),
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
                cents(Amount::from_units(ledger_check.missing_units))
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
            cents(Amount::from_units(ledger_check.foreign_units))
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
                Cell::Day(ledger::date(*day)),
                show::link(Some(key), "payments"),
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
