//! `context402 reports …`: from the running service over the operator's socket, or from a stopped one's file.

use clap::builder::PossibleValuesParser;
use serde_json::Value;

use crate::api::operator::{self, Search};
use crate::cli::list::{Cell, Format, List};
use crate::cli::{Failure, refused, say, socket};
use crate::config::Config;
use crate::outside::clock::Clock;
use crate::store::Store;

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Args {
    /// The newest reports
    List {
        /// Only reports in this state
        #[arg(long, value_parser = PossibleValuesParser::new(operator::REPORT_STATES))]
        state: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// One report, by its identifier
    Show {
        /// The report, or the beginning of its id
        report_id: String,
    },
    /// Publish a report among the public reports, as its buyer asked
    Approve {
        /// The report, or the beginning of its id
        report_id: String,
    },
    /// Remove a report from the public reports
    Unlist {
        /// The report, or the beginning of its id
        report_id: String,
    },
    /// Delete a report at once, with its text, without asking its buyer
    Purge {
        /// The report, or the beginning of its id
        report_id: String,
    },
}

impl Args {
    pub(in crate::cli) fn run(mut self, config: &Config) -> Result<(), Failure> {
        if let Some(id) = self.id() {
            *id = LIST.whole_id(id, || listed(config))?;
        }
        let (method, path) = self.request();
        let answer = socket::ask_or_open(config, (method, &path), async |store| {
            self.look(store).await
        })?;
        self.tell(&answer)
    }

    /// The id that was typed.
    fn id(&mut self) -> Option<&mut String> {
        match self {
            Args::List { .. } => None,
            Args::Show { report_id }
            | Args::Approve { report_id }
            | Args::Unlist { report_id }
            | Args::Purge { report_id } => Some(report_id),
        }
    }

    fn request(&self) -> (&'static str, String) {
        match self {
            Args::List { state, .. } => ("GET", LIST.of_state(state.as_deref())),
            Args::Show { report_id } => ("GET", LIST.one(report_id)),
            Args::Approve { report_id } => ("POST", format!("{}/approve", LIST.one(report_id))),
            Args::Unlist { report_id } => ("POST", format!("{}/unlist", LIST.one(report_id))),
            Args::Purge { report_id } => ("POST", format!("{}/purge", LIST.one(report_id))),
        }
    }

    async fn look(&self, store: &Store) -> Result<Value, Failure> {
        let now = Clock::System.now();
        let found = match self {
            Args::List { state, .. } => {
                operator::list_reports(store, Search::of_state(state.clone()), now).await
            }
            Args::Show { report_id } => operator::show_report(store, report_id, now).await,
            Args::Approve { report_id } => operator::approve(store, report_id, true, now).await,
            Args::Unlist { report_id } => operator::approve(store, report_id, false, now).await,
            Args::Purge { report_id } => operator::purge(store, report_id, now).await,
        };
        found.map_err(refused)
    }

    fn tell(&self, answer: &Value) -> Result<(), Failure> {
        match self {
            Args::List { format, .. } => LIST.tell(answer, *format)?,
            Args::Show { .. } => say(serde_json::to_string_pretty(answer)?)?,
            Args::Approve { report_id } => {
                say(format_args!("{report_id} is now among the public reports."))?;
            }
            Args::Unlist { report_id } => {
                say(format_args!(
                    "{report_id} is no longer among the public reports."
                ))?;
            }
            Args::Purge { report_id } => {
                say(format_args!("{report_id} deleted, with its text."))?;
            }
        }
        Ok(())
    }
}

fn listed(config: &Config) -> Result<Value, Failure> {
    socket::ask_or_open(config, ("GET", LIST.path), async |store| {
        let now = Clock::System.now();
        let listed = operator::list_reports(store, Search::default(), now).await;
        listed.map_err(refused)
    })
}

const LIST: List = List {
    path: "/operator/reports",
    member: "reports",
    records: "reports",
    id: "report_id",
    columns: &[
        (Cell::Time, "created_at", "CREATED"),
        (Cell::Text, "state", "STATE"),
        (Cell::Text, "pack", "PACK"),
        (Cell::Label, "decision", "DECISION"),
        (Cell::Text, "report_id", "REPORT"),
        (Cell::Text, "target_url", "TARGET"),
    ],
};
