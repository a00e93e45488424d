//! XLSX (ECMA-376, SpreadsheetML): each sheet that is shown as a table below its name, as far as the bounds go. Cells show
//! their stored values; dates are told by their number formats.

use std::collections::HashMap;

use super::super::inline::Writer;
use super::super::tables::{push_delimiters, push_row};
use super::super::{ConvertError, Heading, Metadata, Page, Warning};
use super::docx::relations;
use super::markup::{dublin_core, local};
use super::xml::{Element, Event, walk};
use super::zip::Archive;

/// Rows of all sheets together, and cells of a row; what is left out is said below the table.
const ROWS_MAX: usize = 5_000;
const COLUMNS_MAX: usize = 256;
const SHEETS_MAX: usize = 100;
/// Texts that cells share, and formats of cells.
const STRINGS_MAX: usize = 500_000;
const FORMATS_MAX: usize = 100_000;
const MARKDOWN_BYTES_MAX: usize = 5 * 1024 * 1024;
/// The days from 1899-12-30 to 1970-01-01, and those by which the other system of dates begins later.
const EPOCH_DAYS: f64 = 25_569.0;
const LATER_DAYS: f64 = 1_462.0;

pub(super) fn page(bytes: &[u8]) -> Result<Page, ConvertError> {
    let archive = Archive::open(bytes)?;
    let workbook = archive.main_text("xl/workbook.xml")?;
    let paths = relations(&archive, "xl/_rels/workbook.xml.rels");
    let mut sheets: Vec<(String, String)> = Vec::new();
    let mut shift = 0.0;
    walk(&workbook, |event| {
        let Event::Open(element, _) = event else {
            return;
        };
        let attribute = |name: &str| element.attribute(name).unwrap_or("");
        match local(&element.name) {
            "workbookPr" if matches!(attribute("date1904"), "1" | "true") => shift = LATER_DAYS,
            "sheet" if attribute("state").is_empty() || attribute("state") == "visible" => {
                if let Some(path) = paths.get(attribute("r:id")) {
                    sheets.push((attribute("name").to_owned(), path.clone()));
                }
            }
            _ => {}
        }
    });
    let book = Book {
        strings: strings(&archive.text("xl/sharedStrings.xml").unwrap_or_default()),
        is_date: dates(&archive.text("xl/styles.xml").unwrap_or_default()),
        shift,
    };
    let mut page = Page::default();
    let (mut left, mut is_cut) = (ROWS_MAX, sheets.len() > SHEETS_MAX);
    for (name, path) in sheets.iter().take(SHEETS_MAX) {
        let path = match path.strip_prefix('/') {
            Some(path) => path.to_owned(),
            None => format!("xl/{path}"),
        };
        let Some(text) = archive.text(&path) else {
            continue;
        };
        let sheet = book.sheet(&text, left);
        if sheet.rows.is_empty() && sheet.count == 0 {
            continue;
        }
        left -= sheet.rows.len();
        is_cut |= sheet.count > sheet.rows.len() || !sheet.is_whole;
        write(name, &sheet, &mut page);
        if page.markdown.len() > MARKDOWN_BYTES_MAX {
            is_cut = true;
            break;
        }
    }
    let mut metadata = Metadata::default();
    if let Some(text) = archive.text("docProps/core.xml") {
        dublin_core(&text, &mut metadata);
    }
    page.metadata = metadata;
    if is_cut || archive.is_cut() {
        page.warnings.push(Warning::Truncated);
    }
    Ok(page)
}

fn write(name: &str, sheet: &Sheet, page: &mut Page) {
    let mut title = Writer::default();
    title.text(name);
    if !page.markdown.is_empty() {
        page.markdown.push('\n');
    }
    page.markdown.push_str(&format!("## {}\n\n", title.text));
    page.headings.push(Heading {
        level: 2,
        text: name.to_owned(),
    });
    let columns = sheet.rows.iter().map(Vec::len).max().unwrap_or(0);
    for (at, row) in sheet.rows.iter().enumerate() {
        push_row(&mut page.markdown, row, if at == 0 { columns } else { 0 });
        page.markdown.push('\n');
        if at == 0 {
            push_delimiters(&mut page.markdown, columns);
            page.markdown.push('\n');
        }
    }
    if sheet.count > sheet.rows.len() {
        page.markdown.push_str(&format!(
            "\nThe first {} of {} rows are given.\n",
            sheet.rows.len(),
            sheet.count
        ));
    }
}

/// The texts that cells refer to by number.
fn strings(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut path: Vec<String> = Vec::new();
    walk(text, |event| match event {
        Event::Open(element, _) => {
            let name = local(&element.name);
            if name == "si" && found.len() < STRINGS_MAX {
                found.push(String::new());
            }
            path.push(name.to_owned());
        }
        Event::Text(text) => {
            let is_text = path.last().is_some_and(|name| name == "t");
            // How it is pronounced.
            let is_aside = path.iter().any(|name| name == "rPh");
            if let Some(last) = found.last_mut().filter(|_| is_text && !is_aside) {
                last.push_str(text);
            }
        }
        Event::Close(_) => {
            path.pop();
        }
    });
    found
}

/// Of each format of cells whether it shows a date.
fn dates(text: &str) -> Vec<bool> {
    let mut own: HashMap<String, bool> = HashMap::new();
    let mut found = Vec::new();
    let mut in_cells = 0usize;
    walk(text, |event| match event {
        Event::Open(element, _) => {
            let attribute = |name: &str| element.attribute(name).unwrap_or("");
            let name = local(&element.name);
            if name == "numFmt" && own.len() < FORMATS_MAX {
                let code = attribute("formatCode").to_lowercase();
                let code = code.split(';').next().unwrap_or("");
                let is_date = code.contains("yy")
                    || code.contains("mmm")
                    || code.contains("d/m")
                    || code.contains("m/d");
                own.insert(attribute("numFmtId").to_owned(), is_date);
            }
            if name == "xf" && in_cells > 0 && found.len() < FORMATS_MAX {
                let number = attribute("numFmtId");
                let is_built_in = matches!(number.parse(), Ok(14..=17 | 22u32));
                found.push(is_built_in || own.get(number) == Some(&true));
            }
            in_cells += usize::from(in_cells > 0 || name == "cellXfs");
        }
        Event::Close(_) => in_cells = in_cells.saturating_sub(1),
        Event::Text(_) => {}
    });
    found
}

struct Book {
    strings: Vec<String>,
    is_date: Vec<bool>,
    shift: f64,
}

struct Sheet {
    rows: Vec<Vec<String>>,
    /// Rows with something in them.
    count: usize,
    is_whole: bool,
}

#[derive(Default)]
struct Cell {
    column: usize,
    kind: String,
    is_date: bool,
    value: String,
}

impl Book {
    fn sheet(&self, text: &str, rows_max: usize) -> Sheet {
        let mut sheet = Sheet {
            rows: Vec::new(),
            count: 0,
            is_whole: true,
        };
        let mut row: Vec<String> = Vec::new();
        let mut cell = Cell::default();
        let mut path: Vec<String> = Vec::new();
        let is_whole = walk(text, |event| match event {
            Event::Open(element, _) => {
                let name = local(&element.name);
                match name {
                    "row" => row.clear(),
                    "c" => cell = self.cell(element, row.len()),
                    _ => {}
                }
                path.push(name.to_owned());
            }
            Event::Text(text) => {
                if path.last().is_some_and(|name| name == "v" || name == "t") {
                    cell.value.push_str(text);
                }
            }
            Event::Close(_) => match path.pop().as_deref() {
                Some("c") => {
                    let shown = self.shown(&cell);
                    if !shown.is_empty() && cell.column < COLUMNS_MAX {
                        row.resize(row.len().max(cell.column + 1), String::new());
                        row[cell.column] = shown;
                    }
                }
                Some("row") if !row.is_empty() => {
                    sheet.count += 1;
                    if sheet.rows.len() < rows_max {
                        sheet.rows.push(std::mem::take(&mut row));
                    }
                }
                _ => {}
            },
        });
        sheet.is_whole = is_whole;
        sheet
    }

    /// `next` is the column of a cell that does not name its own.
    fn cell(&self, element: &Element, next: usize) -> Cell {
        let letters = element.attribute("r").unwrap_or("");
        let letters = letters.bytes().take_while(u8::is_ascii_uppercase).take(4);
        let column = letters.fold(0, |column, letter| {
            column * 26 + usize::from(letter - b'A') + 1
        });
        let format = element
            .attribute("s")
            .and_then(|format| format.parse::<usize>().ok());
        Cell {
            column: column.checked_sub(1).unwrap_or(next),
            kind: element.attribute("t").unwrap_or("n").to_owned(),
            is_date: format.and_then(|format| self.is_date.get(format)) == Some(&true),
            value: String::new(),
        }
    }

    /// What a cell shows, as inline markdown on one line.
    fn shown(&self, cell: &Cell) -> String {
        let value = cell.value.trim();
        let shown = match cell.kind.as_str() {
            "s" => value
                .parse::<usize>()
                .ok()
                .and_then(|number| self.strings.get(number))
                .cloned()
                .unwrap_or_default(),
            "b" => match value {
                "1" => "TRUE".to_owned(),
                _ => "FALSE".to_owned(),
            },
            "n" if cell.is_date => self.date(value).unwrap_or_else(|| value.to_owned()),
            "n" => number(value),
            _ => value.to_owned(),
        };
        let mut writer = Writer::default();
        writer.text(shown.trim());
        writer.text.replace('|', "\\|").replace('\n', " ")
    }

    /// A day's number, with the time of day behind the point.
    fn date(&self, value: &str) -> Option<String> {
        let days: f64 = value.parse().ok()?;
        let seconds = ((days + self.shift - EPOCH_DAYS) * 86_400.0).round();
        if !(1.0..2_958_466.0).contains(&days) {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "within the years 1900 and 9999"
        )]
        let time = jiff::Timestamp::from_second(seconds as i64)
            .ok()?
            .to_string();
        let time = time.trim_end_matches('Z');
        Some(
            time.strip_suffix("T00:00:00")
                .unwrap_or(time)
                .replace('T', " "),
        )
    }
}

/// A number without the digits that binary arithmetic adds: 0.30000000000000004.
fn number(value: &str) -> String {
    match value.parse::<f64>() {
        Ok(number) if value.len() > 16 && number.is_finite() && number.abs() < 1e15 => {
            let rounded = format!("{number:.12}");
            rounded
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_owned()
        }
        _ => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::zip::tests::archive;
    use super::*;

    fn book(sheet: &str) -> Page {
        let workbook = r#"<workbook><sheets><sheet name="Gates | 2024" r:id="r1"/><sheet name="x" state="hidden" r:id="r1"/></sheets></workbook>"#;
        let links = r#"<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/></Relationships>"#;
        let strings = "<sst><si><t>name</t></si><si><r><t>two </t></r><r><t>runs</t></r><rPh><t>x</t></rPh></si></sst>";
        let styles = r#"<styleSheet><numFmts><numFmt numFmtId="170" formatCode="0.00"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/></cellXfs></styleSheet>"#;
        let sheet = format!("<worksheet><sheetData>{sheet}</sheetData></worksheet>");
        let bytes = archive(&[
            ("[Content_Types].xml", b""),
            ("xl/workbook.xml", workbook.as_bytes()),
            ("xl/_rels/workbook.xml.rels", links.as_bytes()),
            ("xl/sharedStrings.xml", strings.as_bytes()),
            ("xl/styles.xml", styles.as_bytes()),
            ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
        ]);
        page(&bytes).expect("a workbook")
    }

    #[test]
    fn sheets_become_tables() {
        let page = book(
            r#"<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row><row r="2"/>
               <row r="3"><c r="A3" t="inlineStr"><is><t>a|b</t></is></c><c r="B3" s="1"><v>45413.5</v></c><c r="C3" s="2"><v>0.30000000000000004</v></c></row>
               <row r="4"><c r="B4" s="1"><v>45413</v></c><c r="C4" t="b"><v>1</v></c></row>"#,
        );
        assert_eq!(
            page.markdown,
            "## Gates \\| 2024\n\n| name | | two runs |\n| --- | --- | --- |\n| a\\|b | 2024-05-01 12:00:00 | 0.3 |\n| | 2024-05-01 | TRUE |\n"
                .replace("Gates \\|", "Gates |")
        );
        assert!(page.warnings.is_empty());
    }

    #[test]
    fn rows_beyond_the_bound_are_counted() {
        let page = book(&"<row><c><v>1</v></c></row>".repeat(ROWS_MAX + 7));
        assert!(
            page.markdown
                .ends_with("\nThe first 5000 of 5007 rows are given.\n")
        );
        assert_eq!(page.warnings, [Warning::Truncated]);
        // A cell far to the right makes no wide row.
        assert!(
            book(r#"<row><c r="ZZZZ1"><v>1</v></c></row>"#)
                .markdown
                .is_empty()
        );
    }
}
