//! HTML pages. Each is a pure function from a view (a plain struct) to a whole document; nothing here reads a store, a
//! clock or a request, and only this module uses maud. Every page works without script, loads nothing from third
//! parties, and complies with a policy of [`layout`].
//!
//! A page is [`layout::layout`] around `parts`; the stylesheet has classes for the rest: `form.ask` of `.row` and `.hint`,
//! `.actions` of `.button` (`.quiet`), `ul.cards.three`, `ol.steps`, `dl.facts`, `ul.checks` of `.pass`, `.warn` and
//! `.fail`, `.note` (`.warn`, `.bad`), `.panel`, `.tag` (`.good`, `.part`, `.warn`, `.bad`), tables by
//! `parts::scrolling` (`table.stack` becomes cards on a phone), `.away` for text for screen readers and for the honeypot
//! field.

pub mod assets;
pub mod commands;
pub mod error;
pub mod layout;
mod parts;
pub mod plain;
pub mod price_lists;
pub mod site;

pub mod buyer;
pub mod console;
pub mod docs;
pub mod orders;

#[cfg(test)]
mod tests;
