//! What a command reads: a file, or standard input. Knows no command.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};

use crate::cli::{Failure, failed};

/// Everything that is there.
pub(in crate::cli) fn bytes(name: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = open(name)?.read_to_end(&mut bytes);
    read.map_err(|error| unreadable(name, &error))?;
    Ok(bytes)
}

/// To be read line by line.
pub(in crate::cli) fn open(name: &str) -> Result<Box<dyn BufRead>, Failure> {
    if name == "-" {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let file = File::open(name).map_err(|error| unreadable(name, &error))?;
    Ok(Box::new(BufReader::new(file)))
}

pub(in crate::cli) fn unreadable(name: &str, error: &dyn fmt::Display) -> Failure {
    failed(format_args!(
        "{name}: {error}. Name a file that can be read, or - for standard input"
    ))
}
