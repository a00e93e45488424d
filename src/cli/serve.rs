//! `context402 serve`.

use tokio::signal::unix::{SignalKind, signal};

use crate::app::blocking_threads;
use crate::appliance::{Appliance, Start};
use crate::cli::{ConfigFile, Failure, config_failure, failed, run_async};
use crate::config::{Config, ConfigError};
use crate::log;
use crate::outside::clock::Clock;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    file: ConfigFile,
    /// Make the data file if it does not exist
    #[arg(long)]
    create: bool,
    /// Check the whole data file first, as after an unclean stop
    #[arg(long)]
    check: bool,
}

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let config =
            Config::load(self.file.config.as_deref()).map_err(|error| config_failure(&error))?;
        let _log = log::start("info");
        run_async(blocking_threads(&config), self.serve(config))
    }

    async fn serve(&self, config: Config) -> Result<(), Failure> {
        // Listened for from the start: a stop that comes while the file is checked must not be lost.
        let mut stop = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let appliance = Appliance::start(Start {
            config,
            clock: Clock::System,
            create: self.create,
            check: self.check,
            listener: None,
        })
        .await
        .map_err(|error| match error.downcast::<ConfigError>() {
            Ok(error) => config_failure(&error),
            Err(error) => failed(error),
        })?;
        tracing::info!(
            address = %appliance.address,
            base_url = appliance.app.config.base_url,
            data_file = %appliance.app.config.data_file.display(),
            clean = appliance.was_clean,
            "ready"
        );
        let broken = tokio::select! {
            _ = stop.recv() => false,
            _ = interrupt.recv() => false,
            () = appliance.failed() => true,
        };
        tracing::info!("stopping");
        let in_order = appliance.stop().await;
        if broken {
            return Err(Failure::Failed(
                "the data file failed; see the log".to_owned(),
            ));
        }
        if !in_order {
            tracing::warn!("some work did not end in time; the next start takes it up");
        }
        tracing::info!("stopped");
        Ok(())
    }
}
