//! Cells of a view.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde_json::Value;

use crate::api::operator::Search;
use crate::domain::figures::label_words;
use crate::domain::payment::state_in_words;
use crate::domain::time::UnixSeconds;
use crate::http::Call;
use crate::pages::console::{Block, Cell, Tone, VIEWS_PATH};

/// Characters of an identifier in a table; its own page shows all of it.
const ID_CHARACTERS: usize = 16;

/// Counts by name.
pub(super) type Counts = BTreeMap<&'static str, u64>;

/// A cell for a text, if there is one that is not empty.
fn cell_of<'a>(text: impl Into<Option<&'a str>>, cell: impl Fn(&str) -> Cell) -> Cell {
    let text = text.into().filter(|text| !text.is_empty());
    text.map_or(Cell::Nothing, cell)
}

/// A text; nothing for none or an empty one.
pub(super) fn text<'a>(text: impl Into<Option<&'a str>>) -> Cell {
    cell_of(text, |text| Cell::Text(text.to_owned()))
}

/// A name of the API in words: `proof pack` for `proof_pack`.
pub(super) fn words<'a>(name: impl Into<Option<&'a str>>) -> Cell {
    cell_of(name, |name| Cell::Text(name.replace('_', " ")))
}

/// The label of a decision in a reader's words.
pub(super) fn label(name: &str) -> Cell {
    cell_of(name, |name| Cell::Text(label_words(name)))
}

/// The title of a record's page: `Order ord_4475b4943305`.
pub(super) fn title(kind: &str, id: &str) -> String {
    let id: String = id.chars().take(ID_CHARACTERS).collect();
    format!("{kind} {id}")
}

pub(super) fn number(number: impl Display) -> Cell {
    Cell::Number(number.to_string())
}

pub(super) fn time(at: impl Into<Option<u64>>) -> Cell {
    let at = at.into().map(UnixSeconds);
    at.map_or(Cell::Nothing, Cell::Time)
}

/// When a record was made, which leads to it.
pub(super) fn opens(created_at: u64, id: impl Display, view: &str) -> Cell {
    Cell::Opens {
        at: UnixSeconds(created_at),
        path: one(view, id),
    }
}

/// An identifier in full, to be copied.
pub(super) fn whole_id(id: &str) -> Cell {
    Cell::Code(id.to_owned())
}

/// An identifier in full as a link to its record.
pub(super) fn whole_link(id: Option<impl Display>, view: &str) -> Cell {
    id.map_or(Cell::Nothing, |id| Cell::Link {
        text: id.to_string(),
        path: one(view, id),
    })
}

pub(super) fn external_address(address: &str) -> Cell {
    cell_of(address, |address| Cell::ExternalAddress(address.to_owned()))
}

/// An identifier as a link to its record.
pub(super) fn link(id: Option<impl Display>, view: &str) -> Cell {
    id.map_or(Cell::Nothing, |id| Cell::Link {
        text: id.to_string().chars().take(ID_CHARACTERS).collect(),
        path: one(view, id),
    })
}

/// `0x1234…abcd` of a long hexadecimal text.
pub(super) fn short(hex: &str) -> String {
    const ENDS: usize = 6;
    let tail = hex.len().checked_sub(ENDS).and_then(|at| hex.get(at..));
    match (hex.get(..ENDS), tail) {
        (Some(head), Some(tail)) if hex.len() > 3 * ENDS => format!("{head}…{tail}"),
        _ => hex.to_owned(),
    }
}

/// Rows of a list that are shown at once.
const PART_ROWS: usize = 50;

/// What of a list is asked for.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub search: Search,
    /// Counted from 1.
    page: usize,
}

impl Asked {
    pub(super) fn of(call: &Call) -> Asked {
        let text = |name: &str| call.query.get(name).map(|text| text.trim().to_owned());
        Asked {
            search: Search {
                state: text("state"),
                words: text("q").unwrap_or_default(),
            },
            page: text("page").and_then(|page| page.parse().ok()).unwrap_or(1),
        }
    }

    /// Whether only some of the records are asked for.
    fn is_narrowed(&self) -> bool {
        self.search.state.is_some() || !self.search.words.is_empty()
    }

    fn path(&self, view: &str, page: usize) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(self.search.state.iter().map(|state| ("state", state)));
        query.append_pair("q", &self.search.words);
        query.append_pair("page", &page.to_string());
        format!("{VIEWS_PATH}{view}?{}", query.finish())
    }
}

/// A column of a list: its heading, and what it shows of a record.
type Column<'a, R> = (&'static str, &'a dyn Fn(&R) -> Cell);

/// A list of records: what it is called, what it can be searched for, and its columns.
pub(super) struct List<'a, R> {
    pub view: &'static str,
    /// What the words of a search are compared with.
    pub searched: &'static str,
    pub states: &'a [&'static str],
    pub caption: &'static str,
    pub columns: &'a [Column<'a, R>],
    pub records: &'a [R],
    pub empty: &'static str,
}

impl<R> List<'_, R> {
    /// Search, filters, the part that is asked for, and the way to its neighbours.
    pub(super) fn blocks(self, asked: &Asked) -> Vec<Block> {
        let count = self.records.len();
        let page = asked.page.clamp(1, count.div_ceil(PART_ROWS).max(1));
        let first = (page - 1) * PART_ROWS;
        let row = |record| self.columns.iter().map(|(_, cell)| cell(record)).collect();
        let rows: Vec<Vec<Cell>> = (self.records.iter().skip(first).take(PART_ROWS))
            .map(row)
            .collect();
        let last = first + rows.len();
        vec![
            Block::Search {
                view: self.view,
                label: self.searched,
                typed: asked.search.words.clone(),
                state: asked.search.state.clone(),
            },
            choices(self.view, self.states, asked.search.state.as_deref()),
            Block::Table {
                caption: self.caption,
                head: self.columns.iter().map(|(heading, _)| *heading).collect(),
                rows,
                empty: if asked.is_narrowed() {
                    self.empty
                } else {
                    "None yet."
                },
            },
            Block::Pager {
                range: match count {
                    0 => String::new(),
                    _ => format!("{}–{last} of {count}", first + 1),
                },
                newer: (page > 1).then(|| asked.path(self.view, page - 1)),
                older: (last < count).then(|| asked.path(self.view, page + 1)),
            },
        ]
    }
}

/// The path of a record.
pub(super) fn one(view: &str, id: impl Display) -> String {
    let id = id.to_string();
    let id: String = url::form_urlencoded::byte_serialize(id.as_bytes()).collect();
    format!("{VIEWS_PATH}{view}?id={id}")
}

/// A state as a tag.
pub(super) fn tag(state: &str, tone: impl Fn(&str) -> Tone) -> Cell {
    Cell::Tag {
        tone: tone(state),
        text: state_name(state),
    }
}

/// A state in the terms of card payments, where it has one.
fn state_name(state: &str) -> String {
    state_in_words(state).replace(['_', '-'], " ")
}

/// Links to filter by state.
fn choices(view: &str, names: &[&str], chosen: Option<&str>) -> Block {
    let all = (
        "all".to_owned(),
        format!("{VIEWS_PATH}{view}"),
        chosen.is_none(),
    );
    let each = names.iter().map(|name| {
        let path = format!("{VIEWS_PATH}{view}?state={name}");
        (state_name(name), path, chosen == Some(name))
    });
    Block::Choices {
        label: "Show",
        choices: std::iter::once(all).chain(each).collect(),
    }
}

/// A value as indented JSON.
pub(super) fn whole(caption: &str, value: &Value) -> Block {
    Block::Code {
        caption: caption.to_owned(),
        text: serde_json::to_string_pretty(value).unwrap_or_default(),
    }
}

/// The same, folded.
pub(super) fn folded(caption: &str, value: &Value) -> Block {
    Block::Folded {
        caption: caption.to_owned(),
        text: serde_json::to_string_pretty(value).unwrap_or_default(),
    }
}

/// Counts in one line.
pub(super) fn counts(counts: &Counts) -> Cell {
    let parts = counts
        .iter()
        .map(|(name, count)| format!("{count} {}", state_name(name)));
    match parts.collect::<Vec<_>>().join(", ") {
        text if text.is_empty() => Cell::Text("none".to_owned()),
        text => Cell::Text(text),
    }
}
