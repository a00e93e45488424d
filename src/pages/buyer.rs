//! Pages for buyers of markdown and Proof Packs, from the home page to a report.

pub mod check;
pub mod checkout;
pub mod confidence;
pub mod demo;
pub mod first_words;
pub mod from;
pub mod home;
pub mod library;
pub mod outcomes;
pub mod paid_test;
pub mod pricing;
pub mod proof_pack;
pub mod quote;
pub mod report;
pub mod sample;
pub mod samples;
pub mod wallet;
