//! `context402 restore`: replaces the data file with a backup while the service is stopped.

use std::path::PathBuf;

use crate::app::store_settings;
use crate::cli::data::backup;
use crate::cli::progress::Progress;
use crate::cli::{ConfigFile, Failure, failed, say, socket};
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
        let config = self.file.load()?;
        if socket::connect(&config.socket).is_some() {
            return Err(failed(
                "the service is running; stop it first, then restore",
            ));
        }
        backup::check_is_backup(&self.backup)?;
        let progress = Progress::start("Verifying and restoring the backup");
        let restored = store_settings(&config)
            .restore(
                &self.backup,
                &config.data_file,
                Clock::System.now(),
                self.discard_newer,
            )
            .map_err(failed)?;
        drop(progress);
        say(backup::line(&config.data_file, &restored.backup))?;
        if let Some(replaced) = &restored.replaced {
            say(format_args!(
                "The previous file was saved as {}; delete it when everything works.",
                replaced.display()
            ))?;
        }
        say(
            "Start the service, then run `context402 payments reconcile --all` to resolve settlements that were pending \
            when the backup was made.",
        )?;
        Ok(())
    }
}
