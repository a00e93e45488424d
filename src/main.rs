//! Parse what was typed, run one command, report its exit code.

use std::process::ExitCode;

use clap::Parser as _;
use context402::cli::Args;

fn main() -> ExitCode {
    Args::parse().run()
}
