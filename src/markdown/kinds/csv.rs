//! Separated values as a table of markdown (RFC 4180, and the tabs and semicolons of others). The first row is the
//! header, since a table in markdown needs one.

use url::Url;

use super::super::tables::{ValueTable, value};
use super::super::work::Work;
use super::super::{Page, Warning};
use super::left_out;

/// Rows that are given; what is left out is said below the table.
const ROWS_MAX: usize = 5_000;
const COLUMNS_MAX: usize = 1_000;
const MARKDOWN_BYTES_MAX: usize = 10 * 1024 * 1024;
/// Records by which the separator is told.
const SAMPLED_RECORDS: usize = 20;

pub(super) fn page(text: &str, _: &Url, work: &Work) -> Page {
    // A line that Excel reads and hides.
    let announced = text.strip_prefix("sep=").and_then(|rest| {
        let (line, text) = rest.split_once('\n')?;
        (line.len() == 1).then(|| (line.as_bytes()[0], text))
    });
    let (separator, text) = announced.unwrap_or_else(|| (separator(text), text));
    let mut table = ValueTable::default();
    let mut count = 0;
    for record in Records::new(text, separator) {
        work.step();
        if record.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        count += 1;
        if table.rows > ROWS_MAX || table.bytes() > MARKDOWN_BYTES_MAX / 2 {
            continue;
        }
        let cells: Vec<String> = record.iter().map(|cell| value(cell)).collect();
        table.push(&cells);
    }
    let rows = table.rows;
    let mut page = Page {
        markdown: table.markdown(),
        ..Page::default()
    };
    if count > rows {
        let left_out = left_out(rows - 1, count - 1, "rows");
        page.markdown.push_str(&left_out);
        page.warnings.push(Warning::Truncated);
    }
    page
}

/// The separator that gives the first records the same number of cells, and the most of them.
fn separator(text: &str) -> u8 {
    let score = |separator: u8| {
        let records = Records::new(text, separator).take(SAMPLED_RECORDS);
        let counts: Vec<usize> = records.map(|record| record.len()).collect();
        let first = counts.first().copied().unwrap_or(1);
        let alike = counts.iter().filter(|count| **count == first).count();
        (first > 1).then_some((alike * 2 >= counts.len(), first))
    };
    let candidates = [b',', b';', b'\t', b'|'].into_iter();
    let scored = candidates.filter_map(|separator| Some((score(separator)?, separator)));
    // Of equals the first counts, which is the comma.
    let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map_or(b',', |(_, separator)| separator)
}

struct Records<'a> {
    rest: &'a str,
    separator: u8,
}

impl<'a> Records<'a> {
    fn new(text: &'a str, separator: u8) -> Records<'a> {
        Records {
            rest: text,
            separator,
        }
    }
}

impl Iterator for Records<'_> {
    type Item = Vec<String>;

    fn next(&mut self) -> Option<Vec<String>> {
        if self.rest.is_empty() {
            return None;
        }
        let bytes = self.rest.as_bytes();
        let mut cells = Vec::new();
        let mut cell = String::new();
        let mut at = 0;
        loop {
            if cell.is_empty() && bytes.get(at) == Some(&b'"') {
                at = quoted(self.rest, at + 1, &mut cell);
            }
            let rest = &bytes[at..];
            let end = rest
                .iter()
                .position(|b| *b == self.separator || *b == b'\n');
            let end = at + end.unwrap_or(rest.len());
            cell.push_str(&self.rest[at..end]);
            let cell = std::mem::take(&mut cell);
            if cells.len() < COLUMNS_MAX {
                cells.push(cell);
            }
            at = (end + 1).min(bytes.len());
            if bytes.get(end) != Some(&self.separator) {
                self.rest = &self.rest[at..];
                return Some(cells);
            }
        }
    }
}

/// Adds the inside of quotes and gives the place behind them. Quotes that never end are a character like others.
fn quoted(text: &str, start: usize, cell: &mut String) -> usize {
    let mut at = start;
    loop {
        let Some(length) = text[at..].find('"') else {
            cell.clear();
            cell.push('"');
            return start;
        };
        cell.push_str(&text[at..at + length]);
        at += length + 1;
        if !text[at..].starts_with('"') {
            return at;
        }
        cell.push('"');
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Page {
        page(
            text,
            &Url::parse("https://example.org/").expect("a valid URL"),
            &Work::default(),
        )
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(read(text).markdown, expected, "{text}");
    }

    #[test]
    fn values_become_a_table() {
        check(
            "name,note\nAda,\"a, \"\"b\"\"\nc\"\nBob|Eve,*x*\n",
            "| name | note |\n| --- | --- |\n| Ada | a, \"b\" c |\n| Bob\\|Eve | \\*x\\* |\n",
        );
    }

    #[test]
    fn the_separator_is_told_by_the_rows() {
        check("a;b\n1,5;2\n", "| a | b |\n| --- | --- |\n| 1,5 | 2 |\n");
        check(
            "a\tb c\n1\t2, 3\n",
            "| a | b c |\n| --- | --- |\n| 1 | 2, 3 |\n",
        );
        check("sep=;\na;b\n", "| a | b |\n| --- | --- |\n");
        check("one\ntwo\n", "| one |\n| --- |\n| two |\n");
    }

    #[test]
    fn ragged_rows_and_open_quotes_lose_nothing() {
        check(
            "a,b\n1\n1,2,3\n\n,,\n\"x,4\n",
            "| a | b | |\n| --- | --- | --- |\n| 1 |\n| 1 | 2 | 3 |\n| \"x | 4 |\n",
        );
    }

    #[test]
    fn rows_beyond_the_bound_are_counted() {
        let page = read(&"a,b\n".repeat(ROWS_MAX + 11));
        assert_eq!(page.warnings, [Warning::Truncated]);
        assert!(
            page.markdown
                .ends_with("\nShowing the first 5,000 of 5,010 rows.\n")
        );
        assert_eq!(page.markdown.lines().count(), ROWS_MAX + 4);
        // Quotes that never end do not make the reading slow.
        assert!(!read(&"\",".repeat(2_000)).markdown.is_empty());
    }
}
