//! `context402 mail …`: one mail through the configured server, to see whether it arrives.

use crate::app;
use crate::cli::{ConfigFile, Failure, config_failure, failed, run_async, say};
use crate::config::{Config, ConfigError};
use crate::domain::mail::MailKind;
use crate::outside::chance;
use crate::outside::clock::Clock;
use crate::outside::mailer::Message;
use crate::pages::email::{Notice, notice};

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Args {
    /// Send a short mail to an address, with the settings of [mail]; the outbox is left alone
    Test {
        #[command(flatten)]
        file: ConfigFile,
        /// Where to, such as you@example.com
        address: String,
    },
}

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let Args::Test { file, address } = self;
        let config =
            Config::load(file.config.as_deref()).map_err(|error| config_failure(&error))?;
        let mailer = app::mailer(&config).map_err(failed)?;
        if !mailer.is_on() {
            return Err(config_failure(&ConfigError(
                "no mail server is configured: set mail.smtp_host and mail.from".to_owned(),
            )));
        }
        let message = message(&config, address.clone());
        run_async(2, async move {
            let sent = mailer.send(message, Clock::System.now()).await;
            sent.map_err(|error| failed(format_args!("the mail was not sent: {error}")))
        })?;
        Ok(say(format_args!(
            "The mail server has taken a mail to {address}. Look whether it arrives, and not among the junk."
        ))?)
    }
}

fn message(config: &Config, to: String) -> Message {
    let email = notice(&Notice {
        service: &config.service_name,
        subject: &format!("A test mail of {}", config.service_name),
        paragraphs: &[format!(
            "This is how the deliveries of {} will reach their buyers.",
            config.base_url
        )],
        links: &[],
        contact: config.contact.as_deref(),
    });
    let random: [u8; 16] = chance::bytes();
    Message {
        to,
        subject: email.subject,
        text: email.text,
        html: email.html,
        message_id: format!("{}.{}", hex::encode(random), MailKind::Test.name()),
        attachment: None,
    }
}
