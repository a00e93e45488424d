//! `context402 serve`.

pub(crate) mod browser;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod healthcheck;
pub(crate) mod init;
pub(crate) mod setup;

use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};

use crate::app::{ReadConfig, blocking_threads};
use crate::appliance::{Appliance, Start};
use crate::cli::progress::Progress;
use crate::cli::{ConfigFile, Failure, config_failure, failed, run_async};
use crate::config::{Config, ConfigError, Supervisor, journal_listens, log_filter};
use crate::flows::operations::{reload, watchdog};
use crate::log::{self, Troubles};
use crate::outside::clock::Clock;
use crate::outside::supervisor::{self, Notifier};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    file: ConfigFile,
    /// Create the data file if it does not exist
    #[arg(long)]
    create: bool,
    /// Check the whole data file first, report that it is intact, then serve
    #[arg(long)]
    check: bool,
}

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let config = self.file.load()?;
        let supervisor::Inherited { tcp, unix } = supervisor::inherited()
            .map_err(|error| failed(format_args!("the socket passed by systemd: {error}")))?;
        let filter = log_filter("info").map_err(|error| config_failure(&error))?;
        let log = log::start(filter, journal_listens(), Clock::System);
        run_async(
            blocking_threads(&config),
            self.serve(config, tcp, unix, log.troubles()),
        )
    }

    async fn serve(
        &self,
        config: Config,
        inherited: Vec<std::net::TcpListener>,
        egress: Vec<std::os::unix::net::UnixListener>,
        troubles: Arc<Troubles>,
    ) -> Result<(), Failure> {
        // From the start: a stop during the check of the file must not be lost.
        let mut stop = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut hangup = signal(SignalKind::hangup())?;
        let supervisor = Supervisor::from_environment();
        let notifier = || Notifier::new(supervisor.notify_socket.as_deref());
        let teller = notifier()?;
        let http = config.tls.as_ref().and_then(|tls| tls.http_listen);
        let (listener, http_listener) = supervisor::by_port(inherited, http)
            .map_err(|error| failed(format_args!("the sockets passed by systemd: {error}")))?;
        let progress = self
            .check
            .then(|| Progress::start("Checking the data file"));
        let appliance = Appliance::start(Start {
            config,
            clock: Clock::System,
            create: self.create,
            check: self.check,
            listener,
            http_listener,
            egress: egress.into_iter().next(),
            troubles,
        })
        .await
        .map_err(|error| match error.downcast::<ConfigError>() {
            Ok(error) => config_failure(&error),
            Err(error) => failed(error),
        })?;
        drop(progress);
        if self.check {
            tracing::info!(
                data_file = %appliance.app.config.data_file.display(),
                "data file checked: all checksums and records are intact"
            );
        }
        tracing::info!(
            address = %appliance.address,
            base_url = appliance.app.config.base_url,
            data_file = %appliance.app.config.data_file.display(),
            clean = appliance.was_clean,
            "ready"
        );
        let file = self.file.config.clone();
        let read: ReadConfig = Box::new(move || Config::load(file.as_deref()));
        // Only set here.
        drop(appliance.app.read_config.set(read));
        for warning in &appliance.app.config.warnings {
            tracing::warn!(warning, "the configuration is valid, but check this");
        }
        warn_of_another_address(&appliance);
        teller.tell("READY=1");
        let app = appliance.app.clone();
        let watched = tokio::spawn(watchdog::watch(app, notifier()?, supervisor.watchdog));
        let broken = loop {
            tokio::select! {
                _ = stop.recv() => break false,
                _ = interrupt.recv() => break false,
                () = appliance.failed() => break true,
                _ = hangup.recv() => {
                    if let Err(refusal) = reload::reload(&appliance.app).await {
                        tracing::error!(
                            error = refusal.message,
                            "configuration reload failed; the previous one stays in effect"
                        );
                    }
                }
            }
        };
        tracing::info!("stopping");
        watched.abort();
        teller.tell("STOPPING=1\nSTATUS=Finishing work in progress");
        let in_order = appliance.stop().await;
        if broken {
            return Err(Failure::Failed(
                "the data file failed; see the log".to_owned(),
            ));
        }
        if !in_order {
            tracing::warn!("some work did not finish in time; it resumes at the next start");
        }
        tracing::info!("stopped");
        Ok(())
    }
}

/// The socket unit decides where the service listens, but commands and proxies use the configuration, so both must match.
fn warn_of_another_address(appliance: &Appliance) {
    let (configured, address) = (appliance.app.config.listen, appliance.address);
    if configured.port() != 0 && configured != address {
        tracing::warn!(
            %configured, %address,
            "the socket passed by systemd does not match `listen`: run install.sh (with HTTPS: install.sh --tls), or set \
            ListenStream= with `systemctl edit context402.socket`; then stop and start both units"
        );
    }
}
