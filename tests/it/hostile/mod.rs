//! Everything that the outside can do to a service to wear it down, subject by subject.

/// The table of pages that cost more than they are paid for.
mod bombs;
/// Many clients that each take a little: the bounds of what they hold together.
mod crowds;
/// The data file with a bit changed.
mod file;
/// Very many connections, and clients that send or read as slowly as they may.
mod floods;
/// The bombs, each bought from the running program.
mod pages;
/// No descriptors, no disk, no time: what the machine can withhold.
mod shortage;
/// Messages that two programs could read differently.
mod wire;

use std::io::Write as _;

use context402::config::Resolved;

/// What the process may take besides what it has when nothing is asked of it (20), whatever is asked of it, in MiB.
const MEMORY_MIB_MAX: u64 = 130;

/// Memory as the program takes it by itself, which tests otherwise do with less of.
fn as_shipped(resolved: &mut Resolved) {
    resolved.set("limits.store_cache_mib", "32");
}

/// How large a test is: little in a build without optimisation, and more where the environment says so.
fn number(name: &str, otherwise: usize) -> usize {
    let said = std::env::var(name);
    said.map_or(otherwise, |said| said.parse().expect("a number"))
}

/// For whoever tries more: the figure, whether or not it is within its bound.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
