//! `context402 export`: exports all records of a kind, from the running service or a stopped one's file.

use clap::builder::PossibleValuesParser;

use crate::api::operator::export::{self, Export};
use crate::cli::progress::Progress;
use crate::cli::{ConfigFile, Failure, failed, put, say, socket};
use crate::outside::clock::Clock;
use crate::store::Store;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    file: ConfigFile,
    /// What to export
    #[arg(value_parser = PossibleValuesParser::new(export::KINDS.iter().map(|kind| kind.name)))]
    what: String,
    /// As CSV, escaped against formula injection; JSON by default
    #[arg(long)]
    csv: bool,
    /// As JSON (the default)
    #[arg(long, conflicts_with = "csv")]
    json: bool,
}

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let config = self.file.load()?;
        let is_csv = self.csv && !self.json;
        let _progress = Progress::beside_output("Exporting", || None);
        let format = if is_csv { "csv" } else { "json" };
        match socket::connect(&config.socket) {
            Some(stream) => {
                let path = format!("/operator/export/{}?format={format}", self.what);
                socket::copy(stream, &path, put)?;
            }
            None => socket::open(&config, async |store| self.write(store, format).await)?,
        }
        match is_csv {
            true => Ok(()),
            false => Ok(say("")?),
        }
    }

    async fn write(&self, store: &Store, format: &str) -> Result<(), Failure> {
        let export = Export::of(&self.what, Some(format), Clock::System.now());
        let mut export = export.map_err(|refusal| failed(refusal.message))?;
        while let Some(piece) = export.piece(store).await.map_err(failed)? {
            put(piece.as_bytes())?;
        }
        Ok(())
    }
}
