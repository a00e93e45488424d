//! `context402 webhook …`: sends a test notice.

use crate::app;
use crate::cli::{ConfigFile, Failure, config_failure, failed, run_async, say};
use crate::config::ConfigError;
use crate::flows::operations::self_test;
use crate::outside::clock::Clock;

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Args {
    /// Send a test notice to bundles.notify_url, signed like those of leads
    Test(ConfigFile),
}

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let Args::Test(file) = self;
        let config = file.load()?;
        let missing = || config_failure(&ConfigError::new(self_test::NO_NOTICES));
        let hook = app::hook(&config).ok_or_else(missing)?;
        let now = Clock::System.now();
        let body = self_test::notice_json(&config, now).to_string();
        run_async(2, async move {
            let sent = hook.send(self_test::NOTICE_EVENT, body, now).await;
            sent.map_err(|error| {
                failed(format_args!(
                    "the webhook did not accept the notice: {error}"
                ))
            })
        })?;
        Ok(say("The webhook accepted a test notice.")?)
    }
}
