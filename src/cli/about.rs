//! Version, manual and shell completions, made from the command definitions.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::{CommandFactory as _, ValueEnum};
use clap_complete::Shell;
use clap_mangen::Man;
use serde_json::json;

use crate::api::directory::documents::{DESCRIPTION_VERSION, description_version};
use crate::cli::{Args, Failure, failed, put, say};
use crate::pages::docs::notices;
use crate::store::SCHEMA_VERSION;

const NAME: &str = "context402";
/// The version of the payment protocol.
const X402_VERSION: u8 = 2;
/// The program's version counts releases; the API's changes with the responses.
pub(in crate::cli) const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (API ",
    description_version!(),
    ", x402 version 2)"
);

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct VersionArgs {
    /// As JSON, with the data file's schema
    #[arg(long)]
    json: bool,
    /// The third-party notices: authors and licence texts
    #[arg(long, conflicts_with = "json")]
    licenses: bool,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct ManArgs {
    /// The guide to print; without it, the page of the program, which a terminal shows with `man`
    guide: Option<Guide>,
    /// Write one page per command into this folder (created if missing) instead of printing one
    #[arg(long, value_name = "FOLDER", conflicts_with = "guide")]
    folder: Option<PathBuf>,
}

/// What a command's page has no room for, as markdown.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Guide {
    /// Install, configure, watch, back up and upgrade the service
    Operating,
}

impl Guide {
    fn text(self) -> &'static str {
        match self {
            Guide::Operating => include_str!("../../systemd/OPERATING.md"),
        }
    }
}

impl VersionArgs {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        if self.licenses {
            return Ok(put(notices::TEXT.as_bytes())?);
        }
        let version = env!("CARGO_PKG_VERSION");
        if !self.json {
            return Ok(say(format_args!("{NAME} {VERSION}"))?);
        }
        let facts = json!({
            "name": NAME,
            "version": version,
            "schema": SCHEMA_VERSION,
            "api_version": DESCRIPTION_VERSION,
            "x402_version": X402_VERSION,
            "system": std::env::consts::OS,
            "machine": std::env::consts::ARCH,
        });
        Ok(say(facts)?)
    }
}

impl CompletionsArgs {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Args::command(), NAME, &mut script);
        Ok(put(&script)?)
    }
}

impl ManArgs {
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        if let Some(guide) = self.guide {
            return Ok(put(guide.text().as_bytes())?);
        }
        let command = Args::command();
        match self.folder {
            Some(folder) => std::fs::create_dir_all(&folder)
                .and_then(|()| clap_mangen::generate_to(command, &folder))
                .map_err(|error| {
                    let place = folder.display();
                    failed(format_args!("{place}: {error}. Choose a writable folder"))
                }),
            None => {
                let mut page = Vec::new();
                Man::new(command).render(&mut page)?;
                match io::stdout().is_terminal() {
                    true => show(&page),
                    false => Ok(put(&page)?),
                }
            }
        }
    }
}

/// Opens a manual page in the reader of manual pages: its source is not for people.
fn show(page: &[u8]) -> Result<(), Failure> {
    let reader = Command::new("man")
        .args(["-l", "-"])
        .stdin(Stdio::piped())
        .spawn();
    let shown = reader.and_then(|mut reader| {
        if let Some(mut input) = reader.stdin.take() {
            // A reader that is closed early has not read all of it.
            let _ = input.write_all(page);
        }
        reader.wait()
    });
    match shown {
        Ok(status) if status.success() => Ok(()),
        _ => Err(failed(
            "the program man, which shows manual pages, is missing or failed. Read `context402 --help`, or write the \
             page to a file: `context402 man > context402.1`",
        )),
    }
}
