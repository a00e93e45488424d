//! `context402 ledger …`: daily revenue and its reconciliation with the receiving address.

use jiff::civil::Date;
use serde_json::Value;

use crate::api::operator::ledger;
use crate::cli::{ConfigFile, Failure, config_failure, failed, say, socket};
use crate::config::Config;

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Args {
    /// The newest days
    List(ConfigFile),
    /// Check a day's ledger against transfers to the receiving address now; the service does it daily
    Check {
        #[command(flatten)]
        file: ConfigFile,
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
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let (Args::List(file) | Args::Check { file, .. }) = &self;
        let config =
            Config::load(file.config.as_deref()).map_err(|error| config_failure(&error))?;
        match &self {
            Args::List(_) => list(&config),
            Args::Check { day, .. } => {
                let stream = socket::connect(&config.socket).ok_or_else(|| failed(NOT_RUNNING))?;
                let answer = socket::post(stream, &format!("/operator/ledger/{day}/check"))?;
                Ok(say(serde_json::to_string_pretty(&answer)?)?)
            }
        }
    }
}

fn list(config: &Config) -> Result<(), Failure> {
    let answer = socket::ask_or_open(config, ("GET", "/operator/ledger"), async |store| {
        let days = store.read(ledger::days).await.map_err(failed)?;
        Ok(ledger::days_json(&days))
    })?;
    for day in answer["days"].as_array().into_iter().flatten() {
        say(line(day))?;
    }
    Ok(())
}

fn line(day: &Value) -> String {
    let (ledger, ledger_check) = (&day["ledger"], &day["ledger_check"]);
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let contradicted = &day["contradicted"];
    let contradicted = match contradicted["payments"].as_u64() {
        None | Some(0) => String::new(),
        Some(payments) => format!(
            "  contradicted by the chain: {payments}, {} USDC",
            text(&contradicted["usdc"])
        ),
    };
    format!(
        "{}  {:>6} sales  {:>12} USDC  margin {:>12} USDC  vault: {}{contradicted}",
        text(&day["day"]),
        ledger["sales"],
        text(&ledger["revenue_usdc"]),
        text(&ledger["profit_usdc"]),
        text(&ledger_check["status"])
    )
}
