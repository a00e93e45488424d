//! What a command reads: a file, or standard input. Knows no command.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};

use crate::cli::{Failure, failed};

/// Far more than is sold of a page, and far less than a machine's memory.
const BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Everything that is there.
pub(in crate::cli) fn bytes(name: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = open(name)?.take(BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(name, &error))?;
    match bytes.len() as u64 > BYTES_MAX {
        true => Err(unusable(name, &"it is longer than 256 MiB")),
        false => Ok(bytes),
    }
}

/// To be read line by line.
pub(in crate::cli) fn open(name: &str) -> Result<Box<dyn BufRead>, Failure> {
    if name == "-" {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let file = File::open(name).map_err(|error| unreadable(name, &error))?;
    Ok(Box::new(BufReader::new(file)))
}

fn unreadable(name: &str, error: &dyn fmt::Display) -> Failure {
    failed(format_args!(
        "{name}: {error}. Name a file that can be read, or - for standard input"
    ))
}

/// What was read and cannot be used.
pub(in crate::cli) fn unusable(name: &str, error: &dyn fmt::Display) -> Failure {
    failed(format_args!(
        "{name}: {error}. Give a page or document that holds text"
    ))
}
