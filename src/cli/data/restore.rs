//! `context402 restore`: a backup back in the data file's place, while the service is stopped.

use std::path::PathBuf;

use crate::app::store_settings;
use crate::cli::data::backup;
use crate::cli::{ConfigFile, Failure, config_failure, failed, say, socket};
use crate::config::Config;
use crate::outside::clock::Clock;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    file: ConfigFile,
    /// The backup file
    backup: PathBuf,
    /// Replace a data file that is newer than the backup; the old file is kept aside
    #[arg(long)]
    discard_newer: bool,
}

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let config =
            Config::load(self.file.config.as_deref()).map_err(|error| config_failure(&error))?;
        if socket::connect(&config.socket).is_some() {
            return Err(failed(
                "the service is running; stop it first, then restore",
            ));
        }
        backup::check_is_there(&self.backup)?;
        let restored = store_settings(&config)
            .restore(
                &self.backup,
                &config.data_file,
                Clock::System.now(),
                self.discard_newer,
            )
            .map_err(failed)?;
        say(backup::line(&config.data_file, &restored.backup))?;
        if let Some(replaced) = &restored.replaced {
            say(format_args!(
                "What it replaces is kept as {}; remove it when all is well.",
                replaced.display()
            ))?;
        }
        say(
            "Start the service, then `context402 payments reconcile --all`: settlements that were under way when the \
             backup was made are looked up.",
        )?;
        Ok(())
    }
}
