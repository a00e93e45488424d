//! Parse what was typed, run one command, report its exit code.

use std::process::ExitCode;

use context402::cli;

fn main() -> ExitCode {
    cli::run()
}
