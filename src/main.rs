//! Parses the arguments, runs a command, returns its exit code.

use std::process::ExitCode;

use context402::cli;

fn main() -> ExitCode {
    cli::run()
}
