//! Everything that the outside can do to a service to wear it down, subject by subject.

/// The table of pages that cost more than they are paid for.
mod bombs;
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
