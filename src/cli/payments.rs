//! `context402 payments …`: from the running service over the operator's socket, or from the file of a stopped one.

use std::os::unix::net::UnixStream;

use serde_json::Value;

use crate::api::operator;
use crate::app::store_settings;
use crate::cli::{ConfigFile, Failure, config_failure, failed, run_async, say, socket};
use crate::config::Config;

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Args {
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
        let (Args::List { file, .. } | Args::Show { file, .. }) = &self;
        let config =
            Config::load(file.config.as_deref()).map_err(|error| config_failure(&error))?;
        // While the service runs it has the file to itself, and is asked instead.
        let answer = match socket::connect(&config.socket) {
            Some(stream) => self.ask(stream)?,
            None => self.read(&config)?,
        };
        if matches!(self, Args::Show { .. }) {
            return Ok(say(serde_json::to_string_pretty(&answer)?)?);
        }
        for payment in answer["payments"].as_array().into_iter().flatten() {
            say(line(payment))?;
        }
        Ok(())
    }

    fn ask(&self, stream: UnixStream) -> Result<Value, Failure> {
        match self {
            Args::List { state, .. } => {
                let query = state
                    .as_ref()
                    .map_or(String::new(), |state| format!("?state={state}"));
                socket::get(stream, &format!("/operator/payments{query}"))
            }
            Args::Show { key, .. } => socket::get(stream, &format!("/operator/payments/{key}")),
        }
    }

    fn read(&self, config: &Config) -> Result<Value, Failure> {
        let opened = store_settings(config)
            .open(&config.data_file, false)
            .map_err(failed)?;
        run_async(1, async {
            let store = opened.store;
            let answer = match self {
                Args::List { state, .. } => operator::list(&store, state.clone())
                    .await
                    .map_err(failed)?,
                Args::Show { key, .. } => operator::show(&store, key)
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
