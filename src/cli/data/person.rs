//! `context402 person …`: shows all data about an e-mail address or a payer's address, or deletes that about an e-mail
//! address.

use serde_json::Value;

use crate::api::operator::data;
use crate::cli::buyer::report::printable;
use crate::cli::{Failure, failed, refused, say, socket};
use crate::config::Config;
use crate::domain::email::is_email;
use crate::domain::evm::Address;

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Args {
    /// All data about an e-mail address, or about the address of a payer, as JSON
    Show {
        /// The e-mail address, or 0x and 40 hex digits
        email: String,
    },
    /// Delete all data about an e-mail address: leads, orders with their reports, and e-mails
    Forget {
        /// The e-mail address
        email: String,
    },
}

fn is_address(text: &str) -> bool {
    is_email(text.trim()) || Address::parse(text.trim()).is_some()
}

/// Whether no record was found.
fn is_empty(answer: &Value) -> bool {
    let lists = answer
        .as_object()
        .into_iter()
        .flat_map(|answer| answer.values());
    lists.filter_map(Value::as_array).all(Vec::is_empty)
}

impl Args {
    pub(in crate::cli) fn run(self, config: &Config) -> Result<(), Failure> {
        let (Args::Show { email } | Args::Forget { email }) = &self;
        if matches!(self, Args::Forget { .. }) {
            data::check_deletable(email).map_err(|refusal| Failure::Usage(refusal.message))?;
        }
        let path = |name: &str| {
            let email: String = url::form_urlencoded::byte_serialize(email.as_bytes()).collect();
            format!("/operator/{name}?email={email}")
        };
        let answer = match &self {
            Args::Show { .. } => {
                socket::ask_or_open(config, ("GET", &path("person")), async |store| {
                    data::person(store, email).await.map_err(failed)
                })
            }
            Args::Forget { .. } => {
                socket::ask_or_open(config, ("POST", &path("forget")), async |store| {
                    let gone = data::forget(store, email).await;
                    gone.map_err(refused)
                })
            }
        }?;
        match &self {
            // A contact may be anything that a buyer has typed, so only what finds nothing is held against the spelling.
            Args::Show { email, .. } if is_empty(&answer) && !is_address(email) => {
                return Err(failed(format_args!(
                    "\"{}\" is neither an e-mail address nor a payer's (0x and 40 hex digits), and nothing is stored about it",
                    printable(email)
                )));
            }
            Args::Show { .. } => say(serde_json::to_string_pretty(&answer)?)?,
            Args::Forget { .. } => {
                let gone = &answer["deleted"];
                say(format_args!(
                    "Deleted: {} leads, {} orders, {} e-mails.",
                    gone["leads"], gone["orders"], gone["mails"]
                ))?;
            }
        }
        Ok(())
    }
}
