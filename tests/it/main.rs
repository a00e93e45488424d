//! Everything that is tested from outside: the whole service over real sockets, against neighbours that really listen.

/// The service, its neighbours and its clock, for the tests below.
mod harness;

/// The paid operation: asking for the price, paying, and what the buyer gets.
mod access;
/// Conventions that matter, as tests.
mod tidy;
