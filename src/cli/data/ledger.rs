//! `context402 ledger …`: daily revenue and its reconciliation with the receiving address.

use jiff::civil::Date;
use serde_json::{Value, json};

use crate::api::operator::ledger;
use crate::cli::list::{Cell, Format, List};
use crate::cli::progress::Progress;
use crate::cli::{Failure, failed, say, socket};
use crate::config::Config;
use crate::domain::amount::Amount;
use crate::domain::figures::cents;

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Args {
    /// The newest days
    List {
        #[command(flatten)]
        format: Format,
    },
    /// Check a day's ledger against transfers to the receiving address now; the service does it daily
    Check {
        /// The day in UTC, such as 2026-11-21
        #[arg(value_parser = parse_day)]
        day: Date,
    },
}

const NOT_RUNNING: &str =
    "The service is not running, and only it can check the chain. Start it and run this again.";

fn parse_day(text: &str) -> Result<Date, String> {
    let day = text.parse();
    day.map_err(|_| "write a day such as 2026-11-21".to_owned())
}

impl Args {
    pub(in crate::cli) fn run(self, config: &Config) -> Result<(), Failure> {
        match &self {
            Args::List { format } => list(config, *format),
            Args::Check { day } => {
                let stream = socket::connect(&config.socket).ok_or_else(|| failed(NOT_RUNNING))?;
                let progress = Progress::start("Comparing the day with the chain");
                let answer = socket::post(stream, &format!("/operator/ledger/{day}/check"));
                drop(progress);
                let answer = answer?;
                Ok(say(serde_json::to_string_pretty(&answer)?)?)
            }
        }
    }
}

fn list(config: &Config, format: Format) -> Result<(), Failure> {
    let answer = socket::ask_or_open(config, ("GET", LIST.path), async |store| {
        let days = store.read(ledger::days).await.map_err(failed)?;
        Ok(ledger::days_json(&days))
    })?;
    if format.json {
        return Ok(say(serde_json::to_string_pretty(&answer["days"])?)?);
    }
    let days = answer["days"].as_array().into_iter().flatten();
    let rows: Vec<Value> = days.map(row).collect();
    LIST.tell(&json!({"days": rows}), format)
}

/// A day as a row of the table.
fn row(day: &Value) -> Value {
    let (ledger, contradicted) = (&day["ledger"], &day["contradicted"]);
    let note = contradicted["payments"].as_u64().filter(|count| *count > 0);
    let note = note.map_or(String::new(), |payments| {
        let usdc = contradicted["usdc"].as_str().unwrap_or("-");
        format!("contradicted by the chain: {payments}, {usdc} USDC")
    });
    json!({
        "day": day["day"],
        "sales": ledger["sales"],
        "revenue": with_cents(&ledger["revenue_usdc"]),
        "profit": with_cents(&ledger["profit_usdc"]),
        "received": day["ledger_check"]["status"],
        "note": note,
    })
}

/// An amount as the console shows it. A margin may be negative.
fn with_cents(usdc: &Value) -> Value {
    let text = usdc.as_str().unwrap_or_default();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text),
    };
    match Amount::parse_usdc(digits) {
        Some(amount) => format!("{sign}{}", cents(amount)).into(),
        None => usdc.clone(),
    }
}

const LIST: List = List {
    path: "/operator/ledger",
    member: "days",
    records: "days",
    id: "day",
    columns: &[
        (Cell::Text, "day", "DAY"),
        (Cell::Right, "sales", "SALES"),
        (Cell::Right, "revenue", "REVENUE USDC"),
        (Cell::Right, "profit", "MARGIN USDC"),
        (Cell::Text, "received", "ON CHAIN"),
        (Cell::Text, "note", ""),
    ],
};
