//! `context402 reports …`: from the running service over the operator's socket, or from the file of a stopped one.

use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use crate::api::operator;
use crate::app::store_settings;
use crate::cli::{ConfigFile, Failure, config_failure, failed, run_async, say, socket};
use crate::config::Config;
use crate::outside::clock::Clock;
use crate::store::Store;

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Args {
    /// The newest reports
    List {
        #[command(flatten)]
        file: ConfigFile,
        /// Only those that stand so: unsettled, retained or expired
        #[arg(long)]
        state: Option<String>,
    },
    /// One report, by its identifier
    Show {
        #[command(flatten)]
        file: ConfigFile,
        report_id: String,
    },
    /// Forget a report at once, with its text; its buyer is not asked
    Purge {
        #[command(flatten)]
        file: ConfigFile,
        report_id: String,
    },
}

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let (Args::List { file, .. } | Args::Show { file, .. } | Args::Purge { file, .. }) = &self;
        let config =
            Config::load(file.config.as_deref()).map_err(|error| config_failure(&error))?;
        // While the service runs it has the file to itself, and is asked instead.
        let answer = match socket::connect(&config.socket) {
            Some(stream) => self.ask(stream)?,
            None => self.open(&config)?,
        };
        self.tell(&answer)
    }

    fn ask(&self, stream: UnixStream) -> Result<Value, Failure> {
        match self {
            Args::List { state, .. } => {
                let query = state
                    .as_ref()
                    .map_or(String::new(), |state| format!("?state={state}"));
                socket::get(stream, &format!("/operator/reports{query}"))
            }
            Args::Show { report_id, .. } => {
                socket::get(stream, &format!("/operator/reports/{report_id}"))
            }
            Args::Purge { report_id, .. } => {
                socket::post(stream, &format!("/operator/reports/{report_id}/purge"))
            }
        }
    }

    fn open(&self, config: &Config) -> Result<Value, Failure> {
        let opened = store_settings(config)
            .open(&config.data_file, false)
            .map_err(failed)?;
        run_async(1, async {
            let answer = self.look(&opened.store).await;
            opened.store.close().await.map_err(failed)?;
            answer
        })
    }

    async fn look(&self, store: &Store) -> Result<Value, Failure> {
        let (no_report, now) = (|| failed(operator::NO_REPORT), Clock::System.now());
        match self {
            Args::List { state, .. } => operator::list_reports(store, state.clone(), now)
                .await
                .map_err(failed),
            Args::Show { report_id, .. } => operator::show_report(store, report_id, now)
                .await
                .map_err(failed)?
                .ok_or_else(no_report),
            Args::Purge { report_id, .. } => {
                match operator::purge(store, report_id).await.map_err(failed)? {
                    true => Ok(json!({"report_id": report_id})),
                    false => Err(failed(operator::NOT_PURGED)),
                }
            }
        }
    }

    fn tell(&self, answer: &Value) -> Result<(), Failure> {
        match self {
            Args::List { .. } => {
                for report in answer["reports"].as_array().into_iter().flatten() {
                    say(line(report))?;
                }
            }
            Args::Show { .. } => say(serde_json::to_string_pretty(answer)?)?,
            Args::Purge { report_id, .. } => {
                say(format_args!("{report_id} is forgotten, with its text."))?;
            }
        }
        Ok(())
    }
}

fn line(report: &Value) -> String {
    let text = |name: &str| report[name].as_str().unwrap_or("-");
    let at = report["created_at"]
        .as_i64()
        .and_then(|at| jiff::Timestamp::from_second(at).ok());
    let at = at.map_or(String::new(), |at| at.to_string());
    format!(
        "{at}  {:<9} {:<8} {:<19} {}  {}",
        text("state"),
        text("pack"),
        text("decision"),
        text("report_id"),
        text("target_url")
    )
}
