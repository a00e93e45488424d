//! `context402 export`: everything of a kind, from the running service or from the file of a stopped one.

use crate::api::operator::data;
use crate::cli::{ConfigFile, Failure, config_failure, failed, say, socket};
use crate::config::Config;
use crate::outside::clock::Clock;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    file: ConfigFile,
    /// What: payments, reports, leads, orders, mails, events or ledger
    what: String,
    /// As CSV, which no spreadsheet runs anything of; else as JSON
    #[arg(long)]
    csv: bool,
}

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let config =
            Config::load(self.file.config.as_deref()).map_err(|error| config_failure(&error))?;
        let format = if self.csv { "csv" } else { "json" };
        if !data::KINDS.iter().any(|kind| kind.name == self.what) {
            let names: Vec<_> = data::KINDS.iter().map(|kind| kind.name).collect();
            return Err(Failure::Usage(format!(
                "there is no such export: take one of {}",
                names.join(", ")
            )));
        }
        let text = match socket::connect(&config.socket) {
            Some(stream) => {
                let path = format!("/operator/export/{}?format={format}", self.what);
                socket::text(stream, &path)?
            }
            None => socket::open(&config, async |store| {
                let text = data::text(store, &self.what, Some(format), Clock::System.now()).await;
                text.map_err(|refusal| failed(refusal.message))
            })?,
        };
        Ok(say(text.trim_end())?)
    }
}
