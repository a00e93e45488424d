//! `context402 payments …`: from the running service over the operator's socket, or from the file of a stopped one.

use std::path::Path;

use clap::builder::PossibleValuesParser;

use crate::api::operator;
use crate::cli::list::{Cell, List};
use crate::cli::{ConfigFile, Failure, config_failure, failed, say, socket};
use crate::config::Config;

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Args {
    #[command(flatten)]
    Read(Reading),
    /// Look now for the end of settlements that are not known; the running service does it by and by
    Reconcile {
        #[command(flatten)]
        file: ConfigFile,
        /// The payment's key
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        key: Option<String>,
        /// Every payment whose settlement is not known
        #[arg(long)]
        all: bool,
    },
}

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Reading {
    /// The newest payments
    List {
        #[command(flatten)]
        file: ConfigFile,
        /// Only those that stand so, or that hold a retry credit
        #[arg(long, value_parser = PossibleValuesParser::new(operator::PAYMENT_STATES))]
        state: Option<String>,
    },
    /// One payment, by its key
    Show {
        #[command(flatten)]
        file: ConfigFile,
        key: String,
    },
}

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let (Args::Read(Reading::List { file, .. } | Reading::Show { file, .. })
        | Args::Reconcile { file, .. }) = &self;
        let config =
            Config::load(file.config.as_deref()).map_err(|error| config_failure(&error))?;
        match self {
            Args::Read(reading) => reading.run(&config),
            Args::Reconcile { key, .. } => reconcile(&config.socket, key),
        }
    }
}

const NOT_RUNNING: &str = "The service does not run, and only the running service reconciles: it holds the claims that keep \
                           two from settling at once. Start it; it begins with what is not known, or run this again then.";

/// One payment, or all whose end is not known. Prints how each stands afterwards.
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
    for key in &keys {
        match socket::post(service()?, &format!("{}/reconcile", LIST.one(key))) {
            Ok(payment) => say(LIST.line(&payment))?,
            // One that cannot be looked at now does not keep the others from it.
            Err(failure) if keys.len() > 1 => say(format_args!("{key}: {failure}"))?,
            Err(failure) => return Err(failure),
        }
    }
    if keys.is_empty() {
        say("Every settlement's end is known.")?;
    }
    Ok(())
}

impl Reading {
    fn run(&self, config: &Config) -> Result<(), Failure> {
        match self {
            Reading::List { state, .. } => {
                let path = LIST.of_state(state.as_deref());
                LIST.tell(&socket::ask_or_open(
                    config,
                    ("GET", &path),
                    async |store| operator::list(store, state.clone()).await.map_err(failed),
                )?)
            }
            Reading::Show { key, .. } => {
                let path = LIST.one(key);
                let shown = socket::ask_or_open(config, ("GET", &path), async |store| {
                    let shown = operator::show(store, key).await.map_err(failed)?;
                    shown.ok_or_else(|| failed(operator::NO_PAYMENT))
                })?;
                Ok(say(serde_json::to_string_pretty(&shown)?)?)
            }
        }
    }
}

const LIST: List = List {
    path: "/operator/payments",
    member: "payments",
    columns: &[
        (Cell::Time, "created_at", "  "),
        (Cell::Left(8), "state", " "),
        (Cell::Right(8), "amount_units", "  "),
        (Cell::Text, "payer", "  "),
        (Cell::Text, "target_url", "  "),
        (Cell::Text, "key", ""),
    ],
};
