//! Lists of records as tables: their endpoint and columns, fitted to the terminal, or as JSON. Ids can be typed short.

use std::io::{self, IsTerminal as _, Write as _};

use serde_json::Value;

use crate::cli::{Failure, failed, say};
use crate::domain::amount::Amount;
use crate::domain::figures::{cents, label_words};
use crate::domain::payment::state_in_words;
use crate::domain::time::UnixSeconds;

/// A kind of record.
#[derive(Debug)]
pub(in crate::cli) struct List {
    /// The path of the list; a record's path is below it.
    pub(in crate::cli) path: &'static str,
    /// The member of the response with the records.
    pub(in crate::cli) member: &'static str,
    /// What the records are called.
    pub(in crate::cli) records: &'static str,
    /// The member of a record that names it.
    pub(in crate::cli) id: &'static str,
    pub(in crate::cli) columns: &'static [Column],
}

/// A column: format, member and title.
pub(in crate::cli) type Column = (Cell, &'static str, &'static str);

#[derive(Clone, Copy, Debug)]
pub(in crate::cli) enum Cell {
    Text,
    /// The label of a decision, in a reader's words.
    Label,
    /// A state of a payment.
    State,
    /// A number, aligned to the right.
    Right,
    /// An amount in atomic units, as USDC.
    Usdc,
    /// Seconds, as a date and a time.
    Time,
}

/// How a list is printed.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(in crate::cli) struct Format {
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

/// Spaces between columns.
const GAP: usize = 2;
/// A column is not made narrower than this.
const WIDTH_MIN: usize = 10;
/// A typed id that is shorter may be the beginning of one.
const ID_CHARACTERS_MIN: usize = 30;
/// Ids that are named when a short one fits several.
const FITTING_SHOWN_MAX: usize = 4;

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

    /// Prints the records: a table on the terminal's width, or JSON. An empty table prints nothing for a program that
    /// reads it, and says so on standard error.
    pub(in crate::cli) fn tell(&self, answer: &Value, format: Format) -> Result<(), Failure> {
        let none = Vec::new();
        let records = answer[self.member].as_array().unwrap_or(&none);
        if format.json {
            return Ok(say(serde_json::to_string_pretty(records)?)?);
        }
        let width = terminal_width();
        if records.is_empty() {
            // A closed standard error is no failure: there is nothing to list either way.
            let _ = writeln!(io::stderr(), "There are no {} to list.", self.records);
        }
        for (number, line) in self.lines(records, width).into_iter().enumerate() {
            match number == 0 && width.is_some() {
                true => say(format_args!("{}", bold(&line)))?,
                false => say(line)?,
            }
        }
        Ok(())
    }

    /// The table with its head, no wider than `width`.
    fn lines(&self, records: &[Value], width: Option<usize>) -> Vec<String> {
        if records.is_empty() {
            return Vec::new();
        }
        let titles = self.columns.iter().map(|(_, _, title)| (*title).to_owned());
        let mut rows = vec![titles.collect::<Vec<_>>()];
        rows.extend(records.iter().map(|record| self.cells(record)));
        let mut widths = vec![0; self.columns.len()];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        fit(&mut widths, width.unwrap_or(usize::MAX));
        let is_right = |(cell, _, _): &Column| matches!(cell, Cell::Right | Cell::Usdc);
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).zip(self.columns);
            let cells = cells.map(|((cell, width), column)| {
                let cell = shortened(cell, *width);
                match is_right(column) {
                    true => format!("{cell:>width$}"),
                    false => format!("{cell:<width$}"),
                }
            });
            let cells: Vec<String> = cells.collect();
            cells.join(&" ".repeat(GAP)).trim_end().to_owned()
        };
        rows.iter().map(line).collect()
    }

    fn cells(&self, record: &Value) -> Vec<String> {
        let columns = self.columns.iter();
        columns
            .map(|(cell, name, title)| {
                let text = cell.text(&record[name]);
                match text.is_empty() && !title.is_empty() {
                    true => "-".to_owned(),
                    false => text,
                }
            })
            .collect()
    }

    /// One record in a line.
    pub(in crate::cli) fn line(&self, record: &Value) -> String {
        self.cells(record).join("  ").trim_end().to_owned()
    }

    /// The id that begins as typed, with or without its kind. `listed` gives the records to look among.
    pub(in crate::cli) fn whole_id(
        &self,
        typed: &str,
        listed: impl FnOnce() -> Result<Value, Failure>,
    ) -> Result<String, Failure> {
        if typed.len() >= ID_CHARACTERS_MIN || typed.is_empty() {
            return Ok(typed.to_owned());
        }
        let answer = listed()?;
        let records = answer[self.member].as_array().into_iter().flatten();
        let ids = records.filter_map(|record| record[self.id].as_str());
        let fits = |id: &&str| {
            let bare = id.split_once('_').map_or(*id, |(_, bare)| bare);
            id.starts_with(typed) || bare.starts_with(typed)
        };
        let fitting: Vec<&str> = ids.filter(fits).collect();
        match &*fitting {
            // What is not among the newest may still be there.
            [] => Ok(typed.to_owned()),
            [one] => Ok((*one).to_owned()),
            several => Err(failed(format_args!(
                "{typed} fits {}: {}. Type more of it",
                several.len(),
                several[..several.len().min(FITTING_SHOWN_MAX)].join(", ")
            ))),
        }
    }
}

/// Takes from the widest columns until all of them fit.
fn fit(widths: &mut [usize], width: usize) {
    let gaps = GAP * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>().saturating_add(gaps) > width {
        let widest = widths.iter_mut().max_by_key(|width| **width);
        match widest.filter(|width| **width > WIDTH_MIN) {
            Some(widest) => *widest -= 1,
            None => break,
        }
    }
}

fn shortened(text: &str, width: usize) -> String {
    match text.chars().count() > width {
        true => text
            .chars()
            .take(width.saturating_sub(1))
            .chain(['…'])
            .collect(),
        false => text.to_owned(),
    }
}

/// The columns of the terminal that standard output is; `None` if it is none.
fn terminal_width() -> Option<usize> {
    let out = io::stdout();
    let size = rustix::termios::tcgetwinsize(&out).ok();
    let size = size.filter(|_| out.is_terminal())?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// For a terminal whose user has not asked for none of it.
fn bold(line: &str) -> String {
    match crate::config::wants_colour() {
        true => format!("\x1b[1m{line}\x1b[0m"),
        false => line.to_owned(),
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
    fn text(self, value: &Value) -> String {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => "-".to_owned(),
        };
        match self {
            Cell::Text | Cell::Right => text,
            Cell::Label => label_words(&text),
            Cell::State => state_in_words(&text).to_owned(),
            Cell::Usdc => match Amount::parse_units(&text) {
                Some(amount) => cents(amount),
                None => text,
            },
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

    const LIST: List = List {
        path: "/operator/things",
        member: "things",
        records: "things",
        id: "id",
        columns: &[
            (Cell::Time, "at", "WHEN"),
            (Cell::Text, "state", "STATE"),
            (Cell::Usdc, "units", "USDC"),
            (Cell::Text, "why", "WHY"),
        ],
    };

    #[test]
    fn a_label_is_in_words() {
        assert_eq!(Cell::Label.text(&json!("unsupported")), "not stated");
        assert_eq!(Cell::Label.text(&json!(null)), "-");
    }

    #[test]
    fn a_table_has_a_head_and_fits() {
        let full =
            json!({"at": 0, "state": "new", "units": "7000000", "why": "because of this and that"});
        let lines = LIST.lines(&[full.clone(), json!({})], None);
        assert_eq!(
            lines,
            [
                "WHEN                  STATE  USDC  WHY",
                "1970-01-01T00:00:00Z  new    7.00  because of this and that",
                "-                     -         -  -",
            ]
        );
        let narrow = LIST.lines(&[full], Some(50));
        assert!(
            narrow.iter().all(|line| line.chars().count() <= 50),
            "{narrow:#?}"
        );
        assert!(narrow[1].ends_with('…'), "{narrow:#?}");
        assert_eq!(LIST.lines(&[], None), [] as [String; 0]);
    }

    #[test]
    fn an_id_can_be_typed_short() {
        let listed = || Ok(json!({"things": [{"id": "t_abc1"}, {"id": "t_abd2"}]}));
        let whole = |typed: &str| {
            LIST.whole_id(typed, listed)
                .map_err(|error| error.to_string())
        };
        assert_eq!(whole("t_abc").as_deref(), Ok("t_abc1"));
        assert_eq!(whole("abd").as_deref(), Ok("t_abd2"));
        assert_eq!(whole("nothing").as_deref(), Ok("nothing"));
        assert_eq!(
            whole("ab"),
            Err("ab fits 2: t_abc1, t_abd2. Type more of it".to_owned())
        );
    }

    #[test]
    fn an_id_stays_one_segment() {
        assert_eq!(LIST.of_state(None), "/operator/things");
        assert_eq!(LIST.of_state(Some("new")), "/operator/things?state=new");
        assert_eq!(LIST.one("t_1"), "/operator/things/t_1");
        for other in ["", "t 1", "../x", "t_1?x", "t_1 HTTP/1.1\r\n"] {
            assert_eq!(LIST.one(other), "/operator/things/-");
        }
    }
}
