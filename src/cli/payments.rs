//! `context402 payments …`, over the operator's socket of the running service.

use serde_json::Value;

use crate::cli::{ConfigFile, Failure, config_failure, say, socket};
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
        match self {
            Args::List { state, .. } => {
                let query = state.map_or(String::new(), |state| format!("?state={state}"));
                let answer = socket::get(&config.socket, &format!("/operator/payments{query}"))?;
                for payment in answer["payments"].as_array().into_iter().flatten() {
                    say(line(payment))?;
                }
            }
            Args::Show { key, .. } => {
                let answer = socket::get(&config.socket, &format!("/operator/payments/{key}"))?;
                say(serde_json::to_string_pretty(&answer)?)?;
            }
        }
        Ok(())
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
