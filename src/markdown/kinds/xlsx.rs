//! XLSX (ECMA-376, SpreadsheetML): each sheet that is shown as a table below its name, as far as the bounds go. Cells show
//! their stored values; dates are recognised by their number formats.

use std::borrow::Cow;
use std::collections::HashMap;

use super::super::inline::Writer;
use super::super::tables::{ValueTable, value};
use super::super::work::Work;
use super::super::{ConvertError, Heading, Page, Warning};
use super::docx::relations;
use super::left_out;
use super::markup::{dublin_core, local};
use super::xml::{Element, Event, walk};
use super::zip::Archive;

/// Rows of all sheets together, and cells of a row; what is left out is said below the table.
const ROWS_MAX: usize = 5_000;
const COLUMNS_MAX: usize = 256;
const SHEETS_MAX: usize = 100;
/// Characters of one cell: Excel takes no more.
const CELL_CHARACTERS_MAX: usize = 32_767;
/// Texts that cells share, and formats of cells.
const STRINGS_MAX: usize = 500_000;
const FORMATS_MAX: usize = 100_000;
/// Names and cells of all sheets together: a cell may refer to any text, and many to the same.
const CELLS_BYTES_MAX: usize = 5 * 1024 * 1024;
/// Bytes of cells that are looked at, most of which may be space that is not shown.
const LOOKED_BYTES_MAX: usize = 4 * CELLS_BYTES_MAX;
/// The days from 1899-12-30 to 1970-01-01, and those by which the other system of dates begins later.
const EPOCH_DAYS: f64 = 25_569.0;
const LATER_DAYS: f64 = 1_462.0;

pub(super) fn page(bytes: &[u8], work: &Work) -> Result<Page, ConvertError> {
    let archive = Archive::open(bytes)?;
    let workbook = archive.main_text("xl/workbook.xml")?;
    let paths = relations(&archive, "xl/_rels/workbook.xml.rels", work);
    let mut sheets: Vec<(String, Option<String>)> = Vec::new();
    let mut shift = 0.0;
    let is_whole = walk(&workbook, work, |event| {
        let Event::Open(element, _) = event else {
            return;
        };
        let attribute = |name: &str| element.attribute(name).unwrap_or("");
        let is_shown = matches!(attribute("state"), "" | "visible");
        match local(&element.name) {
            "workbookPr" if matches!(attribute("date1904"), "1" | "true") => shift = LATER_DAYS,
            "sheet" if is_shown && sheets.len() <= SHEETS_MAX => {
                let path = paths.get(attribute("r:id")).cloned();
                sheets.push((attribute("name").to_owned(), path));
            }
            _ => {}
        }
    });
    drop((workbook, paths));
    let shared = archive.text("xl/sharedStrings.xml");
    let (strings, has_all) = strings(&shared.unwrap_or_default(), work);
    let mut book = Book {
        strings,
        is_date: dates(&archive.text("xl/styles.xml").unwrap_or_default(), work),
        shift,
        rows_left: ROWS_MAX,
        bytes_left: CELLS_BYTES_MAX,
        looked_left: LOOKED_BYTES_MAX,
        is_cut: !is_whole || !has_all || sheets.len() > SHEETS_MAX,
    };
    let mut page = Page::default();
    for (name, path) in sheets.iter().take(SHEETS_MAX) {
        let path = path.as_ref().map(|path| match path.strip_prefix('/') {
            Some(path) => path.to_owned(),
            None => format!("xl/{path}"),
        });
        match path.and_then(|path| archive.text(&path)) {
            Some(text) => {
                let mut title = Writer::default();
                title.text(name);
                if !book.take(name.len() + title.text.len()) {
                    break;
                }
                let sheet = book.sheet(&text, work);
                if sheet.count > 0 {
                    write(name, &title.text, sheet, &mut page);
                }
            }
            None => book.is_cut = true,
        }
    }
    if let Some(text) = archive.text("docProps/core.xml") {
        dublin_core(&text, work, &mut page.metadata);
    }
    if archive.finish()? || book.is_cut {
        page.warnings.push(Warning::Truncated);
    }
    Ok(page)
}

fn write(name: &str, title: &str, sheet: Sheet, page: &mut Page) {
    if !page.markdown.is_empty() {
        page.markdown.push('\n');
    }
    page.markdown.push_str(&format!("## {title}\n\n"));
    page.headings.push(Heading {
        level: 2,
        text: name.to_owned(),
    });
    let rows = sheet.table.rows;
    page.markdown.push_str(&sheet.table.markdown());
    if sheet.count > rows {
        page.markdown.push_str(&left_out(rows, sheet.count, "rows"));
    }
}

/// The texts that cells refer to by number, in one piece.
#[derive(Debug, Default)]
struct Strings {
    text: String,
    /// Where each begins.
    starts: Vec<u32>,
}

impl Strings {
    /// Once here, and not for each cell that refers to it.
    fn trim_last(&mut self) {
        let Some(start) = self.starts.last().map(|start| *start as usize) else {
            return;
        };
        self.text.truncate(self.text.trim_end().len().max(start));
        let before = self.text[start..].len() - self.text[start..].trim_start().len();
        self.text.drain(start..start + before);
    }

    fn get(&self, number: usize) -> Option<&str> {
        let start = *self.starts.get(number)? as usize;
        let end = self.starts.get(number + 1);
        let end = end.map_or(self.text.len(), |end| *end as usize);
        self.text.get(start..end)
    }
}

/// Also whether these are all.
fn strings(text: &str, work: &Work) -> (Strings, bool) {
    let mut found = Strings::default();
    let mut path: Vec<String> = Vec::new();
    let mut is_full = false;
    let is_whole = walk(text, work, |event| match event {
        Event::Open(element, _) => {
            let name = local(&element.name);
            if name == "si" {
                is_full |= found.starts.len() >= STRINGS_MAX;
                if !is_full && let Ok(start) = u32::try_from(found.text.len()) {
                    found.starts.push(start);
                }
            }
            path.push(name.to_owned());
        }
        Event::Text(text) => {
            let is_text = path.last().is_some_and(|name| name == "t");
            // How it is pronounced.
            let is_aside = path.iter().any(|name| name == "rPh");
            if is_text && !is_aside && !is_full && !found.starts.is_empty() {
                found.text.push_str(text);
            }
        }
        Event::Close(_) => {
            if path.pop().is_some_and(|name| name == "si") {
                found.trim_last();
            }
        }
    });
    (found, !is_full && (is_whole || text.is_empty()))
}

/// Of each format of cells whether it shows a date.
fn dates(text: &str, work: &Work) -> Vec<bool> {
    let mut own: HashMap<String, bool> = HashMap::new();
    let mut found = Vec::new();
    let mut in_cells = 0usize;
    walk(text, work, |event| match event {
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
    strings: Strings,
    is_date: Vec<bool>,
    shift: f64,
    rows_left: usize,
    bytes_left: usize,
    looked_left: usize,
    /// A bound kept something out, or something could not be read.
    is_cut: bool,
}

#[derive(Default)]
struct Sheet {
    table: ValueTable,
    /// Rows with something in them.
    count: usize,
}

#[derive(Default)]
struct Cell {
    column: usize,
    kind: String,
    is_date: bool,
    value: String,
}

impl Book {
    fn sheet(&mut self, text: &str, work: &Work) -> Sheet {
        let mut sheet = Sheet::default();
        let mut row: Vec<String> = Vec::new();
        let mut has_values = false;
        let mut cell = Cell::default();
        let mut path: Vec<String> = Vec::new();
        let is_whole = walk(text, work, |event| match event {
            Event::Open(element, _) => {
                let name = local(&element.name);
                match name {
                    "row" => {
                        row.clear();
                        has_values = false;
                    }
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
                Some("c") if !cell.value.trim().is_empty() => {
                    has_values |= self.put(&cell, &mut row);
                }
                Some("row") if has_values => {
                    sheet.count += 1;
                    match self.rows_left.checked_sub(1) {
                        Some(left) if !row.is_empty() => {
                            self.rows_left = left;
                            sheet.table.push(&row);
                        }
                        _ => self.is_cut = true,
                    }
                }
                _ => {}
            },
        });
        self.is_cut |= !is_whole;
        sheet
    }

    /// Puts what a cell shows into its place, as far as there is space for it; false if it shows nothing.
    fn put(&mut self, cell: &Cell, row: &mut Vec<String>) -> bool {
        if cell.column >= COLUMNS_MAX || self.bytes_left == 0 || self.rows_left == 0 {
            self.is_cut = true;
            return true;
        }
        let shown = self.display_text(cell);
        let shown = shown.trim();
        let end = shown.char_indices().nth(CELL_CHARACTERS_MAX);
        let shown = &shown[..end.map_or(shown.len(), |(end, _)| end)];
        let looked = shown.len() + 1;
        let shown = value(shown);
        self.is_cut |= end.is_some();
        match self.looked_left.checked_sub(looked) {
            Some(left) => self.looked_left = left,
            None => {
                self.is_cut = true;
                self.bytes_left = 0;
                return true;
            }
        }
        if shown.is_empty() {
            return false;
        }
        // Each cell has a separator, and so have the empty ones before it.
        let columns = row.len().max(cell.column + 1);
        if !self.take(shown.len() + 3 * (columns - row.len())) {
            return true;
        }
        row.resize(columns, String::new());
        row[cell.column] = shown;
        true
    }

    /// Whether there is space for so many bytes; if not, nothing more is written.
    fn take(&mut self, bytes: usize) -> bool {
        let left = self.bytes_left.checked_sub(bytes);
        self.is_cut |= left.is_none();
        self.bytes_left = left.unwrap_or(0);
        left.is_some()
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

    /// What a cell shows.
    fn display_text<'a>(&'a self, cell: &'a Cell) -> Cow<'a, str> {
        let value = cell.value.trim();
        match cell.kind.as_str() {
            "s" => {
                let text = value.parse().ok().and_then(|it| self.strings.get(it));
                Cow::Borrowed(text.unwrap_or_default())
            }
            "b" => Cow::Borrowed(match value {
                "1" => "TRUE",
                _ => "FALSE",
            }),
            "n" if cell.is_date => match self.date(value) {
                Some(date) => Cow::Owned(date),
                None => Cow::Borrowed(value),
            },
            "n" => number(value),
            _ => Cow::Borrowed(value),
        }
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

/// A number with the 15 digits that Excel shows at most, without those that binary arithmetic adds:
/// 0.30000000000000004. Whole numbers stay as they are: they may be names of something.
fn number(value: &str) -> Cow<'_, str> {
    let mantissa = value.split(['e', 'E']).next().unwrap_or_default();
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    if digits <= 15 || !value.contains(['.', 'e', 'E']) {
        return Cow::Borrowed(value);
    }
    let rounded = value
        .parse::<f64>()
        .map(|number| format!("{number:.14e}").parse::<f64>());
    Cow::Owned(match rounded {
        Ok(Ok(0.0)) => "0".to_owned(),
        Ok(Ok(rounded)) if (1e-4..1e15).contains(&rounded.abs()) => rounded.to_string(),
        Ok(Ok(rounded)) if rounded.is_finite() => format!("{rounded:E}"),
        _ => value.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::zip::tests::archive;
    use super::*;

    const STRINGS: &str = "<sst><si><t>name</t></si><si><r><t>two </t></r><r><t>runs</t></r><rPh><t>x</t></rPh></si></sst>";

    fn book(sheet: &str) -> Page {
        book_with(STRINGS, sheet)
    }

    fn book_with(strings: &str, sheet: &str) -> Page {
        let workbook = r#"<workbook><sheets><sheet name="Gates | 2024" r:id="r1"/><sheet name="x" state="hidden" r:id="r1"/></sheets></workbook>"#;
        let links = r#"<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/></Relationships>"#;
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
        page(&bytes, &Work::default()).expect("a workbook")
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
                .ends_with("\nShowing the first 5,000 of 5,007 rows.\n")
        );
        assert_eq!(page.warnings, [Warning::Truncated]);
        // A cell far to the right makes no wide row.
        let far = book(r#"<row><c r="A1"><v>1</v></c><c r="ZZZZ1"><v>1</v></c></row>"#);
        assert_eq!(far.markdown, "## Gates | 2024\n\n| 1 |\n| --- |\n");
        assert_eq!(far.warnings, [Warning::Truncated]);
    }

    /// One megabyte to which 300,000 cells refer, in an archive of 50 KB.
    #[test]
    fn shared_texts_do_not_multiply() {
        let strings = format!("<sst><si><t>{}</t></si></sst>", "|".repeat(1_000_000));
        let cells = format!("<row>{}</row>", "<c t='s'><v>0</v></c>".repeat(60)).repeat(5_000);
        let page = book_with(&strings, &cells);
        let length = page.markdown.len();
        assert!(
            (CELLS_BYTES_MAX / 2..=CELLS_BYTES_MAX + 2_000).contains(&length),
            "{length}"
        );
        assert_eq!(page.warnings, [Warning::Truncated]);
        // A cell by itself.
        let page = book_with(&strings, "<row><c t='s'><v>0</v></c></row>");
        assert_eq!(
            page.markdown.matches('|').count(),
            CELL_CHARACTERS_MAX + 1 + 4
        );
        assert_eq!(page.warnings, [Warning::Truncated]);
    }

    /// A text of spaces that many cells refer to, and one whose spaces are inside: both are looked at, and neither fills
    /// the table.
    #[test]
    fn space_in_shared_texts_counts() {
        let space = " ".repeat(1_000_000);
        let text = format!("<sst><si><t>{space}</t></si><si><t> a </t></si></sst>");
        let (found, is_whole) = strings(&text, &Work::default());
        assert!(is_whole);
        assert_eq!(
            (found.text.as_str(), found.get(0), found.get(1)),
            ("a", Some(""), Some("a"))
        );
        let inside = format!("<sst><si><t>a{}b</t></si></sst>", " ".repeat(30_000));
        let row = format!("<row>{}</row>", "<c t='s'><v>0</v></c>".repeat(COLUMNS_MAX));
        let page = book_with(&inside, &row.repeat(10));
        assert_eq!(page.warnings, [Warning::Truncated]);
        let most = LOOKED_BYTES_MAX / 30_000;
        assert!(page.markdown.matches('a').count() <= most);
    }

    #[test]
    fn empty_cells_before_far_ones_count() {
        let cells = "<row><c r='IV1'><v>1</v></c></row>".repeat(ROWS_MAX);
        let page = book(&cells);
        assert!(
            page.markdown.len() <= CELLS_BYTES_MAX,
            "{}",
            page.markdown.len()
        );
        let mut book = Book {
            strings: Strings::default(),
            is_date: Vec::new(),
            shift: 0.0,
            rows_left: 1,
            bytes_left: 3 * COLUMNS_MAX,
            looked_left: LOOKED_BYTES_MAX,
            is_cut: false,
        };
        assert_eq!(
            book.sheet("<row><c r='IV1'><v>1</v></c></row>", &Work::default())
                .table
                .rows,
            0
        );
        assert!(book.is_cut);
    }

    #[test]
    fn sheets_that_cannot_be_read_are_said() {
        let sheets = |count: usize| "<sheet name='a' r:id='r'/>".repeat(count);
        let long = format!("{}.xml", "x".repeat(4_000));
        let links = format!("<a><Relationship Id='r' Target='{long}'/></a>");
        for count in [1, 100_000] {
            let bytes = archive(&[
                ("a", b""),
                ("xl/workbook.xml", sheets(count).as_bytes()),
                ("xl/_rels/workbook.xml.rels", links.as_bytes()),
            ]);
            let page = page(&bytes, &Work::default()).expect("a workbook");
            assert_eq!(page.warnings, [Warning::Truncated]);
        }
    }

    #[test]
    fn numbers_have_fifteen_digits() {
        for (stored, shown) in [
            ("0.30000000000000004", "0.3"),
            ("2.2204460492503131E-16", "2.22044604925031E-16"),
            ("1.2345678901234567E-5", "1.23456789012346E-5"),
            ("123456789012345.67", "123456789012346"),
            ("1.2345678901234567E+300", "1.23456789012346E300"),
            ("-1234.5600000000001", "-1234.56"),
            ("0.0000000000000000", "0"),
            ("1234567890123456789", "1234567890123456789"),
            ("1E-05", "1E-05"),
            ("1.5", "1.5"),
        ] {
            assert_eq!(number(stored), shown);
        }
    }
}
