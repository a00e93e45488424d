//! `context402 payments …`: from the running service over the operator's socket, or from a stopped one's file.

use std::path::Path;

use clap::builder::{PossibleValue, PossibleValuesParser};
use serde_json::Value;

use crate::api::operator::{self, Search};
use crate::cli::list::{Cell, Format, List};
use crate::cli::{Failure, failed, refused, say, socket};
use crate::config::Config;
use crate::domain::evm::TransactionHash;
use crate::domain::payment::{state_in_words, state_of_words};

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Args {
    #[command(flatten)]
    Read(Reading),
    /// The latest refused payments, with the reason, the payer and the request id
    ///
    /// Lists requests that carried a payment and were refused, newest first. The running service keeps the last 256 in
    /// memory; a restart clears the list. The log has each under the target `refusals`. A payer's address may be
    /// unverified.
    Refused {
        #[command(flatten)]
        format: Format,
    },
    /// Look up settlements with unknown outcome now; the service does it regularly
    Reconcile {
        /// The payment's key, or its beginning; without it, every payment with an unknown settlement
        #[arg(conflicts_with = "all")]
        key: Option<String>,
        /// Every payment with an unknown settlement
        #[arg(long)]
        all: bool,
    },
    /// Record the outcome of an unknown settlement, from the facilitator's or the payer's records
    End {
        /// The payment's key, or its beginning
        key: String,
        /// settled: the payment has arrived, and the buyer is owed the response; failed: it was not made and never will be
        #[arg(long = "as", value_enum, value_name = "OUTCOME")]
        end: Ending,
        /// The transaction hash, with --as settled
        #[arg(long, required_if_eq("end", "settled"))]
        transaction: Option<String>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum Ending {
    Settled,
    Failed,
}

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Reading {
    /// The newest payments
    List {
        /// Only payments in this state
        #[arg(long, value_parser = PossibleValuesParser::new(states()))]
        state: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// One payment, by its key
    Show {
        /// The key, or its beginning
        key: String,
    },
}

/// The states as they are typed. Their names in JSON are accepted too.
fn states() -> impl Iterator<Item = PossibleValue> {
    operator::PAYMENT_STATES.into_iter().map(|name| {
        let words = state_in_words(name);
        let value = PossibleValue::new(words);
        if words == name {
            value
        } else {
            value.alias(name)
        }
    })
}

impl Args {
    pub(in crate::cli) fn run(self, config: &Config) -> Result<(), Failure> {
        match self {
            Args::Read(reading) => reading.run(config),
            Args::Refused { format } => refusals(&config.socket, format),
            Args::Reconcile { key, .. } => {
                let key = key.map(|key| whole(config, &key)).transpose()?;
                reconcile(&config.socket, key)
            }
            Args::End {
                key,
                end: ending,
                transaction,
                ..
            } => {
                let key = whole(config, &key)?;
                end(&config.socket, &key, ending, transaction.as_deref())
            }
        }
    }
}

const NO_REFUSALS: &str = "The service is not running, and the list of refusals is only in its memory. Earlier refusals are in \
                           the log: search it for the target refusals, as in `journalctl -u context402 -g refusals`.";

/// The refusals in the running service's memory.
fn refusals(at: &Path, format: Format) -> Result<(), Failure> {
    let stream = socket::connect(at).ok_or_else(|| failed(NO_REFUSALS))?;
    REFUSED.tell(&socket::get(stream, REFUSED.path)?, format)
}

const NOT_RUNNING: &str = "The service is not running, and only it can reconcile safely. Start it: it looks up unknown \
settlements when it starts. You can also run this command then.";

/// One payment, or all with an unknown settlement. Prints their new states.
fn reconcile(at: &Path, key: Option<String>) -> Result<(), Failure> {
    let service = || socket::connect(at).ok_or_else(|| failed(NOT_RUNNING));
    let keys = match key {
        Some(key) => vec![key],
        None => {
            let mut keys = Vec::new();
            for state in ["unknown", "kept"] {
                let listed = socket::get(service()?, &LIST.of_state(Some(state)))?;
                let payments = listed["payments"].as_array().into_iter().flatten();
                keys.extend(
                    payments.filter_map(|payment| payment["key"].as_str().map(str::to_owned)),
                );
            }
            keys
        }
    };
    let mut failures = 0;
    for key in &keys {
        match socket::post(service()?, &format!("{}/reconcile", LIST.one(key))) {
            Ok(payment) => say(LIST.line(&payment))?,
            // A failure does not stop the others.
            Err(failure) if keys.len() > 1 => {
                failures += 1;
                say(format_args!("{key}: {failure}"))?;
            }
            Err(failure) => return Err(failure),
        }
    }
    if keys.is_empty() {
        say("There are no unknown settlements.")?;
    }
    match failures {
        0 => Ok(()),
        count => Err(failed(format_args!(
            "{count} of {} payments could not be reconciled",
            keys.len()
        ))),
    }
}

const CANNOT_END: &str = "The service is not running, and only it can set a settlement's outcome safely. Start it and run \
this again.";

/// Sets a settlement's outcome. Prints the payment's new state.
fn end(at: &Path, key: &str, ending: Ending, transaction: Option<&str>) -> Result<(), Failure> {
    let query = match (ending, transaction) {
        // Checked here, because it becomes part of a URL.
        (Ending::Settled, Some(text)) => match TransactionHash::parse(text) {
            Some(transaction) => format!("as=settled&transaction={transaction}"),
            None => {
                return Err(failed(
                    "A transaction hash is 0x and 64 hex digits; copy it from a block explorer.",
                ));
            }
        },
        (Ending::Failed, None) => "as=failed".to_owned(),
        _ => return Err(failed("--transaction is only for --as settled.")),
    };
    let stream = socket::connect(at).ok_or_else(|| failed(CANNOT_END))?;
    let payment = socket::post(stream, &format!("{}/end?{query}", LIST.one(key)))?;
    Ok(say(LIST.line(&payment))?)
}

impl Reading {
    fn run(&self, config: &Config) -> Result<(), Failure> {
        match self {
            Reading::List { state, format } => LIST.tell(&listed(config, state.clone())?, *format),
            Reading::Show { key } => {
                let key = whole(config, key)?;
                let path = LIST.one(&key);
                let shown = socket::ask_or_open(config, ("GET", &path), async |store| {
                    operator::show(store, &key).await.map_err(refused)
                })?;
                Ok(say(serde_json::to_string_pretty(&shown)?)?)
            }
        }
    }
}

/// The payment's key, which can be typed short.
fn whole(config: &Config, typed: &str) -> Result<String, Failure> {
    LIST.whole_id(typed, || listed(config, None))
}

fn listed(config: &Config, state: Option<String>) -> Result<Value, Failure> {
    let state = state.map(|state| state_of_words(&state).to_owned());
    let path = LIST.of_state(state.as_deref());
    socket::ask_or_open(config, ("GET", &path), async |store| {
        let listed = operator::list(store, Search::of_state(state)).await;
        listed.map_err(refused)
    })
}

const LIST: List = List {
    path: "/operator/payments",
    member: "payments",
    records: "payments",
    id: "key",
    columns: &[
        (Cell::Time, "created_at", "CREATED"),
        (Cell::State, "state", "STATE"),
        (Cell::Usdc, "amount_units", "USDC"),
        (Cell::Text, "product", "PRODUCT"),
        (Cell::Text, "level", "LEVEL"),
        (Cell::Text, "payer", "PAYER"),
        (Cell::Text, "target_url", "TARGET"),
        (Cell::Text, "key", "KEY"),
    ],
};

const REFUSED: List = List {
    path: "/operator/payments/refused",
    member: "refusals",
    records: "refusals",
    id: "key",
    columns: &[
        (Cell::Time, "at", "TIME"),
        (Cell::Text, "code", "CODE"),
        (Cell::Text, "product", "PRODUCT"),
        (Cell::Text, "level", "TIER OR PACK"),
        (Cell::Text, "payer", "PAYER"),
        (Cell::Text, "request_id", "REQUEST"),
        (Cell::Text, "reason", "REASON"),
    ],
};
