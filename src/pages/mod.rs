//! Pages for people: each is a pure function from a view (a plain struct beside it) to a whole HTML document.
//! Nothing here reads a store, a clock or a request, and maud is used nowhere else. Every page works without
//! script, asks no third party for anything, and keeps to [`layout::CSP`].

pub mod assets;
pub mod commands;
pub mod layout;
mod parts;
pub mod site;

pub mod about;
pub mod bundle;
pub mod bundle_checkout;
pub mod checkout;
pub mod console;
pub mod delivery;
pub mod docs;
pub mod email;
pub mod error;
pub mod from;
pub mod home;
pub mod paid_test;
pub mod plain;
pub mod proof_pack;
pub mod quickstart;
pub mod quote;
pub mod report;
pub mod request;
pub mod sample;
pub mod samples;

#[cfg(test)]
mod tests;
