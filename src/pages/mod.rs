//! Pages for people: each is a pure function from a view (a plain struct beside it) to a whole HTML document.
//! Nothing here reads a store, a clock or a request, and maud is used nowhere else. Every page works without
//! script, asks no third party for anything, and keeps to a policy of [`layout`].
//!
//! A page is [`layout::layout`] around parts of `parts`; the stylesheet has classes for the rest: `form.form` of
//! `.field` (with `.hint` and `.error`), `.actions` of `.button` (`.quiet`, `.danger`), `ul.cards.three`, `ol.steps`,
//! `dl.facts`, `dl.stats`, `ul.checks` of `.pass`, `.warn` and `.fail`, `.note` (`.warn`, `.bad`), `.panel`, `.tag`
//! (`.good`, `.part`, `.warn`, `.bad`), tables by `parts::scrolling` (`table.stack` becomes cards on a phone), `.away`
//! for what only screen readers and traps for robots see.

pub mod assets;
pub mod commands;
pub mod error;
pub mod layout;
mod parts;
pub mod plain;
pub mod site;

pub mod buyer;
pub mod console;
pub mod docs;
pub mod orders;

#[cfg(test)]
mod tests;
