//! Input of commands: a file or standard input.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal as _, Read as _, Write as _};

use crate::cli::{Failure, failed};

/// Far more than the page limit, far less than a machine's memory.
const BYTES_MAX: u64 = 256 * 1024 * 1024;

/// The whole input.
pub(in crate::cli) fn bytes(name: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = open(name)?.take(BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(name, &error))?;
    match bytes.len() as u64 > BYTES_MAX {
        true => Err(unusable(name, &"it is longer than 256 MiB")),
        false => Ok(bytes),
    }
}

/// A reader for lines.
pub(in crate::cli) fn open(name: &str) -> Result<Box<dyn BufRead>, Failure> {
    if name == "-" {
        if io::stdin().is_terminal() {
            // A silent wait looks like a program that hangs.
            let _ = writeln!(
                io::stderr(),
                "Reading from the terminal: paste the input, then press Ctrl-D. Or give a file."
            );
        }
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let file = File::open(name).map_err(|error| unreadable(name, &error))?;
    Ok(Box::new(BufReader::new(file)))
}

fn unreadable(name: &str, error: &dyn fmt::Display) -> Failure {
    if name.contains("://") {
        return failed(format_args!(
            "{name}: only http and https addresses can be read. Give one of these, or a file"
        ));
    }
    failed(format_args!(
        "{name}: {error}. Give a readable file, or - for standard input"
    ))
}

/// The error for unusable input.
pub(in crate::cli) fn unusable(name: &str, error: &dyn fmt::Display) -> Failure {
    failed(format_args!(
        "{name}: {error}. Give a page or document with text"
    ))
}
