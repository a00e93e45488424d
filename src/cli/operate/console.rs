//! `context402 console`: a one-time sign-in link to the operator's console.

use crate::cli::list::time;
use crate::cli::{ConfigFile, Failure, config_failure, failed, say, socket};
use crate::config::ConfigError;
use crate::pages::console::DISABLED;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    file: ConfigFile,
    /// Print the link and when it expires as JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let config = self.file.load()?;
        // The running service decides: it may have a token that this command cannot see, as a demo has.
        let Some(stream) = socket::connect(&config.socket) else {
            return Err(match &config.operator {
                Some(_) => failed(format_args!(
                    "no service responds at {}: start it, or run this as root",
                    config.socket.display()
                )),
                None => config_failure(&ConfigError::new(DISABLED)),
            });
        };
        let link = socket::post(stream, "/operator/sign-in-link")?;
        if self.json {
            return Ok(say(link)?);
        }
        let url = link["url"].as_str().unwrap_or_default();
        say(url)?;
        Ok(say(format_args!(
            "Good once, until {}.",
            time(&link["expires_at"])
        ))?)
    }
}
