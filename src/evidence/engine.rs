//! A question held against a page: what it asks, which units of the page bear on it, and what they say together.

mod abroad;
pub(crate) mod account;
pub(crate) mod asked_value;
mod bold;
mod cell_value;
pub(crate) mod claims;
mod compared_rows;
pub(crate) mod echoes;
pub(crate) mod elsewhere;
pub(crate) mod entail;
pub(crate) mod features;
pub(crate) mod findings;
pub(crate) mod labels;
pub(crate) mod matching;
pub(crate) mod measure;
pub(crate) mod model;
pub(crate) mod open_question;
pub(crate) mod passage;
pub(crate) mod plain_answer;
pub(crate) mod question;
pub(crate) mod ranked;
pub(crate) mod ranking;
pub(crate) mod reservations;
pub(crate) mod signals;
pub(crate) mod similarity;
pub(crate) mod summary;
pub(crate) mod tabled;
pub(crate) mod values;
pub(crate) mod verdict;

#[cfg(test)]
mod golden;

#[cfg(test)]
mod tests;
