//! `context402 mail …`: the outbox, and a test e-mail through the configured server.

use clap::builder::PossibleValuesParser;
use serde_json::Value;

use crate::api::operator::{Search, mails};
use crate::app;
use crate::cli::list::{Cell, Format, List};
use crate::cli::{Failure, config_failure, failed, refused, run_async, say, socket};
use crate::config::mail::Mail;
use crate::config::{Config, ConfigError};
use crate::domain::mail::MailState;
use crate::flows::operations::self_test;
use crate::outside::clock::Clock;

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Args {
    /// Send a test e-mail with the settings of [mail]; the outbox is not used
    Test {
        /// The recipient, such as you@example.com
        address: String,
    },
    /// The newest e-mails in the outbox
    List {
        /// Only e-mails in this state
        #[arg(long, value_parser = PossibleValuesParser::new(MailState::NAMES))]
        state: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// One e-mail in the outbox, by its key
    Show {
        /// The key, or its beginning
        key: String,
    },
    /// Retry an unsent e-mail
    Retry {
        /// The key, or its beginning
        key: String,
    },
    /// Delete an e-mail, sent or not
    Delete {
        /// The key, or its beginning
        key: String,
    },
}

impl Args {
    pub(in crate::cli) fn run(mut self, config: &Config) -> Result<(), Failure> {
        if let Args::Show { key } | Args::Retry { key } | Args::Delete { key } = &mut self {
            *key = LIST.whole_id(key, || listed(config, None))?;
        }
        match &self {
            Args::Test { address } => test(config, address),
            Args::List { state, format } => LIST.tell(&listed(config, state.clone())?, *format),
            Args::Show { key } => show(config, key),
            Args::Retry { key } => {
                let path = format!("{}/retry", LIST.one(key));
                let now = Clock::System.now();
                socket::ask_or_open(config, ("POST", &path), async |store| {
                    mails::retry(store, key, now).await.map_err(refused)
                })?;
                Ok(say(
                    "The e-mail will be retried, immediately if the service is running.",
                )?)
            }
            Args::Delete { key } => {
                let path = format!("{}/delete", LIST.one(key));
                socket::ask_or_open(config, ("POST", &path), async |store| {
                    mails::delete(store, key).await.map_err(refused)
                })?;
                Ok(say("The e-mail is deleted.")?)
            }
        }
    }
}

fn test(config: &Config, address: &str) -> Result<(), Failure> {
    let mailer = app::mailer(config).map_err(failed)?;
    if !mailer.is_on() {
        return Err(config_failure(&ConfigError::new(
            self_test::NO_MAIL_SERVER.to_owned(),
        )));
    }
    let message = self_test::message(config, address.to_owned());
    run_async(2, async move {
        let sent = mailer.send(message, Clock::System.now()).await;
        sent.map_err(|error| failed(format_args!("the e-mail was not sent: {error}")))
    })?;
    if let Some(folder) = config.mail.as_ref().and_then(Mail::folder) {
        return Ok(say(format_args!(
            "An e-mail to {address} is written to the folder {}, which mail.folder names. Nothing is sent.",
            folder.display()
        ))?);
    }
    Ok(say(format_args!(
        "The mail server accepted an e-mail to {address}. Check that it arrives, and not as spam."
    ))?)
}

fn listed(config: &Config, state: Option<String>) -> Result<Value, Failure> {
    let path = LIST.of_state(state.as_deref());
    socket::ask_or_open(config, ("GET", &path), async |store| {
        let listed = mails::list(store, Search::of_state(state)).await;
        listed.map_err(refused)
    })
}

fn show(config: &Config, key: &str) -> Result<(), Failure> {
    let answer = socket::ask_or_open(config, ("GET", &LIST.one(key)), async |store| {
        mails::show(store, key).await.map_err(refused)
    })?;
    Ok(say(serde_json::to_string_pretty(&answer)?)?)
}

const LIST: List = List {
    path: "/operator/mails",
    member: "mails",
    records: "e-mails",
    id: "key",
    columns: &[
        (Cell::Time, "created_at", "CREATED"),
        (Cell::Text, "state", "STATE"),
        (Cell::Text, "kind", "KIND"),
        (Cell::Text, "to", "TO"),
        (Cell::Text, "key", "KEY"),
        (Cell::Text, "problem", "PROBLEM"),
    ],
};
