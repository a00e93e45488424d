//! A text as the engine reads it: blocks, sentences, words with their stems and numbers, and what is known of words and
//! languages by themselves. Knows no question.

pub(crate) mod blocks;
pub(crate) mod foreign;
pub(crate) mod json;
pub(crate) mod language;
pub(crate) mod page;
pub(crate) mod sentences;
pub(crate) mod stem;
pub(crate) mod text;
pub(crate) mod tokens;
pub(crate) mod tongues;
pub(crate) mod words;
