//! `context402 payments …`: from the running service over the operator's socket, or from the file of a stopped one.

use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::Value;

use crate::api::operator;
use crate::app::store_settings;
use crate::cli::{ConfigFile, Failure, config_failure, failed, run_async, say, socket};
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
        /// Only those that stand so: held, kept, unknown, settled, failed or released
        #[arg(long)]
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
                let listed = socket::get(service()?, &format!("/operator/payments?state={state}"))?;
                let payments = listed["payments"].as_array().into_iter().flatten();
                keys.extend(
                    payments.filter_map(|payment| payment["key"].as_str().map(str::to_owned)),
                );
            }
            keys
        }
    };
    for key in &keys {
        match socket::post(service()?, &format!("/operator/payments/{key}/reconcile")) {
            Ok(payment) => say(line(&payment))?,
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
        // While the service runs it has the file to itself, and is asked instead.
        let answer = match socket::connect(&config.socket) {
            Some(stream) => self.ask(stream)?,
            None => self.read(config)?,
        };
        if matches!(self, Reading::Show { .. }) {
            return Ok(say(serde_json::to_string_pretty(&answer)?)?);
        }
        for payment in answer["payments"].as_array().into_iter().flatten() {
            say(line(payment))?;
        }
        Ok(())
    }

    fn ask(&self, stream: UnixStream) -> Result<Value, Failure> {
        match self {
            Reading::List { state, .. } => {
                let query = state
                    .as_ref()
                    .map_or(String::new(), |state| format!("?state={state}"));
                socket::get(stream, &format!("/operator/payments{query}"))
            }
            Reading::Show { key, .. } => socket::get(stream, &format!("/operator/payments/{key}")),
        }
    }

    fn read(&self, config: &Config) -> Result<Value, Failure> {
        let opened = store_settings(config)
            .open(&config.data_file, false)
            .map_err(failed)?;
        run_async(1, async {
            let store = opened.store;
            let answer = match self {
                Reading::List { state, .. } => operator::list(&store, state.clone())
                    .await
                    .map_err(failed)?,
                Reading::Show { key, .. } => operator::show(&store, key)
                    .await
                    .map_err(failed)?
                    .ok_or_else(|| failed(operator::NO_PAYMENT))?,
            };
            store.close().await.map_err(failed)?;
            Ok(answer)
        })
    }
}

fn line(payment: &Value) -> String {
    let text = |name: &str| payment[name].as_str().unwrap_or("-");
    let at = payment["created_at"]
        .as_i64()
        .and_then(|at| jiff::Timestamp::from_second(at).ok());
    let at = at.map_or(String::new(), |at| at.to_string());
    format!(
        "{at}  {:<8} {:>8}  {}  {}  {}",
        text("state"),
        text("amount_units"),
        text("payer"),
        text("target_url"),
        text("key")
    )
}
