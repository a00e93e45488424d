//! `context402 reports …`: from the running service over the operator's socket, or from a stopped one's file.

use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};

use crate::api::operator;
use crate::cli::list::{Cell, List};
use crate::cli::{ConfigFile, Failure, config_failure, failed, say, socket};
use crate::config::Config;
use crate::domain::time::UnixSeconds;
use crate::outside::clock::Clock;
use crate::store::Store;

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Args {
    /// The newest reports
    List {
        #[command(flatten)]
        file: ConfigFile,
        /// Only reports in this state
        #[arg(long, value_parser = PossibleValuesParser::new(operator::REPORT_STATES))]
        state: Option<String>,
    },
    /// One report, by its identifier
    Show {
        #[command(flatten)]
        file: ConfigFile,
        report_id: String,
    },
    /// Publish a report in the library, as its buyer asked
    Approve {
        #[command(flatten)]
        file: ConfigFile,
        report_id: String,
    },
    /// Remove a report from the library
    Unlist {
        #[command(flatten)]
        file: ConfigFile,
        report_id: String,
    },
    /// Delete a report at once, with its text, without asking its buyer
    Purge {
        #[command(flatten)]
        file: ConfigFile,
        report_id: String,
    },
}

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let (Args::List { file, .. }
        | Args::Show { file, .. }
        | Args::Approve { file, .. }
        | Args::Unlist { file, .. }
        | Args::Purge { file, .. }) = &self;
        let config =
            Config::load(file.config.as_deref()).map_err(|error| config_failure(&error))?;
        let (method, path) = self.request();
        let answer = socket::ask_or_open(&config, (method, &path), async |store| {
            self.look(store).await
        })?;
        self.tell(&answer)
    }

    fn request(&self) -> (&'static str, String) {
        match self {
            Args::List { state, .. } => ("GET", LIST.of_state(state.as_deref())),
            Args::Show { report_id, .. } => ("GET", LIST.one(report_id)),
            Args::Approve { report_id, .. } => ("POST", format!("{}/approve", LIST.one(report_id))),
            Args::Unlist { report_id, .. } => ("POST", format!("{}/unlist", LIST.one(report_id))),
            Args::Purge { report_id, .. } => ("POST", format!("{}/purge", LIST.one(report_id))),
        }
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
            Args::Approve { report_id, .. } => set_listed(store, report_id, true, now).await,
            Args::Unlist { report_id, .. } => set_listed(store, report_id, false, now).await,
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
            Args::List { .. } => LIST.tell(answer)?,
            Args::Show { .. } => say(serde_json::to_string_pretty(answer)?)?,
            Args::Approve { report_id, .. } => {
                say(format_args!("{report_id} is listed in the library."))?;
            }
            Args::Unlist { report_id, .. } => {
                say(format_args!("{report_id} is not listed in the library."))?;
            }
            Args::Purge { report_id, .. } => {
                say(format_args!("{report_id} deleted, with its text."))?;
            }
        }
        Ok(())
    }
}

async fn set_listed(
    store: &Store,
    report_id: &str,
    is_approved: bool,
    now: UnixSeconds,
) -> Result<Value, Failure> {
    let done = operator::approve(store, report_id, is_approved, now).await;
    match done.map_err(failed)? {
        true => Ok(operator::approved_json(report_id, is_approved)),
        false => Err(failed(operator::NOT_WANTED)),
    }
}

const LIST: List = List {
    path: "/operator/reports",
    member: "reports",
    columns: &[
        (Cell::Time, "created_at", "  "),
        (Cell::Left(9), "state", " "),
        (Cell::Left(8), "pack", " "),
        (Cell::Left(19), "decision", " "),
        (Cell::Text, "report_id", "  "),
        (Cell::Text, "target_url", ""),
    ],
};
