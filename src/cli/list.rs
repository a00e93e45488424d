//! Lists of records, one line each: their endpoint and columns.

use serde_json::Value;

use crate::cli::{Failure, say};
use crate::domain::time::UnixSeconds;

/// A kind of record.
#[derive(Debug)]
pub(in crate::cli) struct List {
    /// The path of the list; a record's path is below it.
    pub(in crate::cli) path: &'static str,
    /// The member of the response with the records.
    pub(in crate::cli) member: &'static str,
    pub(in crate::cli) columns: &'static [Column],
}

/// A column: format, member and suffix.
pub(in crate::cli) type Column = (Cell, &'static str, &'static str);

#[derive(Clone, Copy, Debug)]
pub(in crate::cli) enum Cell {
    Text,
    Left(usize),
    Right(usize),
    /// Seconds, as a date and a time.
    Time,
}

impl List {
    /// The path of the list, optionally by state.
    pub(in crate::cli) fn of_state(&self, state: Option<&str>) -> String {
        let query = state.map_or(String::new(), |state| format!("?state={state}"));
        format!("{}{query}", self.path)
    }

    /// The path of one record.
    pub(in crate::cli) fn one(&self, id: &str) -> String {
        format!("{}/{}", self.path, segment(id))
    }

    /// Prints a line per record.
    pub(in crate::cli) fn tell(&self, answer: &Value) -> Result<(), Failure> {
        for record in answer[self.member].as_array().into_iter().flatten() {
            say(self.line(record))?;
        }
        Ok(())
    }

    pub(in crate::cli) fn line(&self, record: &Value) -> String {
        let cells = self.columns.iter();
        cells
            .map(|(cell, name, gap)| format!("{}{gap}", cell.shown(&record[name])))
            .collect()
    }
}

/// An identifier as one encoded path segment.
pub(in crate::cli) fn segment(id: &str) -> &str {
    let plain = id
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if plain && !id.is_empty() { id } else { "-" }
}

impl Cell {
    fn shown(self, value: &Value) -> String {
        let text = value.as_str().unwrap_or("-");
        match self {
            Cell::Text => text.to_owned(),
            Cell::Left(width) => format!("{text:<width$}"),
            Cell::Right(width) => format!("{text:>width$}"),
            Cell::Time => time(value),
        }
    }
}

/// Seconds as date and time; empty if missing.
pub(in crate::cli) fn time(seconds: &Value) -> String {
    let at = seconds.as_u64().and_then(|at| UnixSeconds(at).timestamp());
    at.map_or(String::new(), |at| at.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_shows_what_the_columns_say() {
        let list = List {
            path: "/operator/things",
            member: "things",
            columns: &[
                (Cell::Time, "at", "  "),
                (Cell::Left(5), "state", " "),
                (Cell::Right(4), "units", " "),
                (Cell::Text, "why", ""),
            ],
        };
        let full = json!({"at": 0, "state": "new", "units": "7", "why": "so"});
        assert_eq!(list.line(&full), "1970-01-01T00:00:00Z  new      7 so");
        assert_eq!(list.line(&json!({})), "  -        - -");
        assert_eq!(list.of_state(None), "/operator/things");
        assert_eq!(list.of_state(Some("new")), "/operator/things?state=new");
        assert_eq!(list.one("t_1"), "/operator/things/t_1");
        for other in ["", "t 1", "../x", "t_1?x", "t_1 HTTP/1.1\r\n"] {
            assert_eq!(list.one(other), "/operator/things/-");
        }
    }
}
