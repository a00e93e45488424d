//! `context402 init`: creates an empty data file.

use crate::app::store_settings;
use crate::cli::{ConfigFile, Failure, failed, run_async, say};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    file: ConfigFile,
}

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let config = self.file.load()?;
        let opened = store_settings(&config)
            .create(&config.data_file)
            .map_err(failed)?;
        run_async(1, async { opened.store.close().await.map_err(failed) })?;
        say(format_args!(
            "{} is ready. Start the service with `context402 serve`.",
            config.data_file.display()
        ))?;
        Ok(())
    }
}
