//! `context402 config …`.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use crate::cli::{ConfigFile, Failure, config_failure, say};
use crate::config::settings::example_file;
use crate::config::{Resolved, log_filter};

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Args {
    /// Write a commented configuration with every setting; to standard output without FILE
    Init {
        /// A new file; standard output without it
        file: Option<PathBuf>,
    },
    /// Check a configuration without starting anything
    Check(OneFile),
    /// Show every effective setting and where it came from
    Print(OneFile),
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct OneFile {
    /// The configuration file, as with --config
    #[arg(value_name = "FILE", conflicts_with = "config")]
    named: Option<PathBuf>,
    #[command(flatten)]
    option: ConfigFile,
}

impl OneFile {
    fn file(self) -> ConfigFile {
        ConfigFile {
            config: self.named.or(self.option.config),
        }
    }
}

impl Args {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        match self {
            Args::Init { file: None } => say(example_file().trim_end())?,
            Args::Init { file: Some(path) } => {
                let mut options = std::fs::OpenOptions::new();
                let opened = options.write(true).create_new(true).mode(0o640).open(&path);
                let mut file = opened.map_err(|error| {
                    let place = path.display();
                    Failure::Failed(match error.kind() {
                        std::io::ErrorKind::AlreadyExists => format!(
                            "{place} already exists and was not changed. Give another file, or none to print the settings"
                        ),
                        _ => format!("{place}: {error}. Give a file in an existing, writable folder"),
                    })
                })?;
                file.write_all(example_file().as_bytes())?;
                say(format_args!(
                    "{} written. Set base_url, payment.pay_to and payment.facilitator_url at its top, then run \
                     `context402 config check --config {}`.",
                    path.display(),
                    path.display()
                ))?;
            }
            Args::Check(file) => {
                let config = file.file().load()?;
                log_filter("info").map_err(|error| config_failure(&error))?;
                say(format_args!(
                    "The configuration is valid: {} on {}.",
                    config.base_url, config.listen
                ))?;
                for warning in &config.warnings {
                    say(format_args!("Warning: {warning}."))?;
                }
            }
            Args::Print(file) => {
                let resolved = Resolved::from_surroundings(file.file().config.as_deref())
                    .map_err(|error| config_failure(&error))?;
                for (key, value, origin) in resolved.lines() {
                    let origin = if origin.is_empty() {
                        origin
                    } else {
                        format!("  # {origin}")
                    };
                    say(format_args!("{key} = {value}{origin}"))?;
                }
                // Its values are in the data file, which the running service holds.
                say(
                    "# A value saved in the console overrides the one shown here: see /operator/console/config",
                )?;
            }
        }
        Ok(())
    }
}
