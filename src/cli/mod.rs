//! The command line, a file per command. Each error is printed as one line.

mod about;
mod buyer;
mod data;
mod list;
mod operate;
mod progress;
mod serve;
mod socket;
mod table;
mod usage;

use std::fmt;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::config::{Config, ConfigError, journal_listens};
use crate::domain::refusal::Refusal;

use buyer::{buy, check, convert, demo, evidence};
use data::{backup, export, ledger, person, reports, restore};
use operate::{console, leads, mail, orders, pause, payments, tls, webhook};
use serve::{browser, config, doctor, healthcheck, init, setup};

/// Sells clean markdown of public web pages, and reports on them, to AI agents, paid per call by x402.
#[derive(Debug, Parser)]
#[command(name = "context402", version = about::VERSION, max_term_width = 100)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a demo: the whole service on loopback with test funds, and one purchase
    Demo(demo::Args),
    /// Run the service
    Serve(serve::Args),
    /// Set up this machine to sell: configure, install and start the service, check it, and sign in
    Setup(setup::Args),
    /// Create the data file of a new installation
    Init(init::Args),
    /// Convert a page to markdown locally, without payment
    Convert(convert::Args),
    /// Check a question or claim against a page or text locally, without payment
    Evidence(evidence::Args),
    /// Check a whole text against sources locally, without payment
    Check(check::Args),
    /// Buy a page, or a report on one, from an x402 seller that offers this API
    Buy(buy::Args),
    /// Write, check or show the configuration
    #[command(subcommand)]
    Config(config::Args),
    /// List payments, show one, list the refused ones, or resolve pending settlements
    Payments(Configured<payments::Args>),
    /// List stored reports, show one, publish one, or delete one
    #[command(alias = "report")]
    Reports(Configured<reports::Args>),
    /// Check configuration, DNS, facilitator, chain, clock and disk
    Doctor(doctor::Args),
    /// Ask the running service for its health
    Healthcheck(healthcheck::Args),
    /// Run the render worker, which opens pages in a browser (context402-browser.service)
    Browser(browser::Args),
    /// Back up the data file of a running or stopped service, and verify the copy
    Backup(backup::Args),
    /// Verify all checksums and records of a backup
    VerifyBackup(backup::VerifyArgs),
    /// Restore a backup; the service must be stopped
    Restore(restore::Args),
    /// List leads, show one, change its status, export or delete them
    Leads(Configured<leads::Args>),
    /// List the e-mails in the outbox, show, retry or delete one; test the mail server
    Mail(Configured<mail::Args>),
    /// Show the certificate of the built-in HTTPS, or test an order for one
    #[command(subcommand)]
    Tls(tls::Args),
    /// Test the webhook for new leads
    #[command(subcommand)]
    Webhook(webhook::Args),
    /// List bundle orders, show one; retry fulfilment, resend, attach, record a refund, delete
    Orders(Configured<orders::Args>),
    /// Show the revenue of each day, and whether it has reached the receiving address
    Ledger(Configured<ledger::Args>),
    /// Export all records of a kind, as JSON or CSV
    Export(export::Args),
    /// Show or delete all data about a person
    Person(Configured<person::Args>),
    /// Print a one-time sign-in link to the operator's console
    Console(console::Args),
    /// Pause sales: paid requests return 503 and are not charged
    Pause(ConfigFile),
    /// Resume sales
    Resume(ConfigFile),
    /// Print every endpoint
    Routes,
    /// Print the OpenAPI document
    Openapi(table::OpenapiArgs),
    /// Print the completions of a shell
    Completions(about::CompletionsArgs),
    /// Print the manual or a guide, or write the manual's pages to a folder
    Man(about::ManArgs),
    /// Print the version
    Version(about::VersionArgs),
}

/// The commands as `--help` shows them; what is in no group follows at the end.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Try it", &["demo", "convert", "evidence", "check", "buy"]),
    (
        "Set up and run",
        &[
            "setup",
            "serve",
            "config",
            "doctor",
            "healthcheck",
            "console",
            "tls",
            "init",
            "browser",
        ],
    ),
    (
        "Sales",
        &[
            "payments", "reports", "orders", "leads", "mail", "webhook", "ledger", "person",
            "pause", "resume",
        ],
    ),
    ("Data", &["backup", "verify-backup", "restore", "export"]),
    (
        "Reference",
        &["routes", "openapi", "completions", "man", "version"],
    ),
];
const EXAMPLES: &str = "\
Examples:
  context402 demo                                   the whole service on loopback, and a purchase
  sudo context402 setup                             configure, install and start a service that sells
  context402 convert page.html                      a page as markdown
  context402 payments list --state unknown          payments whose settlement is unresolved
  context402 backup /var/lib/context402/backups     a verified copy while the service runs
";

/// The command with its grouped help.
fn command() -> clap::Command {
    let command = Args::command();
    let named = GROUPS.iter().flat_map(|(_, names)| names.iter().copied());
    let named: Vec<&str> = named.collect();
    let others = command.get_subcommands().map(clap::Command::get_name);
    let others: Vec<&str> = others.filter(|name| !named.contains(name)).collect();
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    let groups = GROUPS.iter().map(|(title, names)| (*title, names.to_vec()));
    for (title, names) in groups.chain([("More", others)]) {
        let mut lines = names.into_iter().filter_map(|name| {
            let about = command.find_subcommand(name)?.get_about()?;
            Some(format!("  {name:<14} {about}\n"))
        });
        if let Some(first) = lines.next() {
            text.push_str(&format!("\n{title}:\n{first}"));
            text.extend(lines);
        }
    }
    text.push_str(&format!("\nOptions:\n{{options}}\n\n{EXAMPLES}"));
    command.help_template(text)
}

/// The configuration option of most commands.
#[derive(Clone, Debug, clap::Args)]
struct ConfigFile {
    /// The configuration file; by default $CONTEXT402_CONFIG, or /etc/context402/config.toml if it exists.
    /// CONTEXT402_… variables override it
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
}

impl ConfigFile {
    /// The checked configuration.
    fn load(&self) -> Result<Config, Failure> {
        Config::load(self.config.as_deref()).map_err(|error| config_failure(&error))
    }
}

/// A command whose subcommands all need the configuration.
#[derive(Debug, clap::Args)]
struct Configured<S: Subcommand> {
    #[command(flatten)]
    file: ConfigFile,
    #[command(subcommand)]
    command: S,
}

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// Exit code 1.
    Failed(String),
    /// Exit code 2: invalid usage.
    Usage(String),
    /// Exit code 78 (EX_CONFIG), which tells systemd's `RestartPreventExitStatus` not to try again.
    Config(String),
}

/// Runs a command and prints its error in one line.
pub fn run() -> ExitCode {
    let parsed = command().try_get_matches();
    match parsed.and_then(|matches| Args::from_arg_matches(&matches)) {
        Ok(args) => match args.run() {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failure.tell(),
        },
        Err(error) if usage::is_help(&error) => {
            let _ = error.print();
            if error.use_stderr() {
                return ExitCode::from(2);
            }
            ExitCode::SUCCESS
        }
        Err(error) => usage::failure(&error).tell(),
    }
}

impl Args {
    fn run(self) -> Result<(), Failure> {
        match self.command {
            Command::Demo(args) => args.run(),
            Command::Serve(args) => args.run(),
            Command::Setup(args) => args.run(),
            Command::Init(args) => args.run(),
            Command::Convert(args) => args.run(),
            Command::Evidence(args) => args.run(),
            Command::Check(args) => args.run(),
            Command::Buy(args) => args.run(),
            Command::Config(args) => args.run(),
            Command::Payments(args) => args.command.run(&args.file.load()?),
            Command::Reports(args) => args.command.run(&args.file.load()?),
            Command::Doctor(args) => args.run(),
            Command::Healthcheck(args) => args.run(),
            Command::Browser(args) => args.run(),
            Command::Backup(args) => args.run(),
            Command::VerifyBackup(args) => args.run(),
            Command::Restore(args) => args.run(),
            Command::Leads(args) => args.command.run(&args.file.load()?),
            Command::Mail(args) => args.command.run(&args.file.load()?),
            Command::Tls(args) => args.run(),
            Command::Webhook(args) => args.run(),
            Command::Orders(args) => args.command.run(&args.file.load()?),
            Command::Ledger(args) => args.command.run(&args.file.load()?),
            Command::Export(args) => args.run(),
            Command::Person(args) => args.command.run(&args.file.load()?),
            Command::Console(args) => args.run(),
            Command::Pause(file) => pause::pause(&file),
            Command::Resume(file) => pause::resume(&file),
            Command::Routes => table::routes(),
            Command::Openapi(args) => args.run(),
            Command::Completions(args) => args.run(),
            Command::Man(args) => args.run(),
            Command::Version(args) => args.run(),
        }
    }
}

impl Failure {
    /// On standard error, and as the exit code.
    fn tell(&self) -> ExitCode {
        let priority = if journal_listens() { "<3>" } else { "" };
        // The journal reads a priority in front of each line.
        let text = format!("context402: {self}").replace('\n', &format!("\n{priority}"));
        let _ = writeln!(io::stderr(), "{priority}{text}");
        ExitCode::from(match self {
            Failure::Failed(_) => 1,
            Failure::Usage(_) => 2,
            Failure::Config(_) => 78,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Failure::Failed(text) | Failure::Usage(text) | Failure::Config(text)) = self;
        f.write_str(text)
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::Failed(error.to_string())
    }
}

/// Configuration errors have their own exit code.
fn config_failure(error: &ConfigError) -> Failure {
    Failure::Config(error.to_string())
}

/// The refusal of an operation on a stopped service's file, in the words of the running service.
fn refused(refusal: Refusal) -> Failure {
    Failure::Failed(refusal.message)
}

fn failed(error: impl fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}

/// A line on standard output.
fn say(text: impl fmt::Display) -> io::Result<()> {
    heard(writeln!(io::stdout(), "{text}"))
}

/// Raw bytes to standard output.
fn put(bytes: &[u8]) -> io::Result<()> {
    heard(io::stdout().write_all(bytes))
}

/// A closed pipe, as after `head`, is no failure.
fn heard(outcome: io::Result<()>) -> io::Result<()> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}

/// Runs the async part of a command. Threads that still block are abandoned: they have deadlines, and their effects are
/// recorded.
fn run_async<T>(
    blocking_threads: usize,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(blocking_threads)
        .build()?;
    let outcome = runtime.block_on(work);
    runtime.shutdown_background();
    outcome
}
