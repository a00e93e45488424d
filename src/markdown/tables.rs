//! Tables of data as GitHub's markdown tables. Rows are not padded to the widest, which the format allows: a page
//! could make that larger than itself by far. Knows the outline; which tables hold data is its own answer.

use super::escape::push_code_span;
use super::inline::Writer;
use super::outline::{Block, Kind, NodeId, Outline, Shape};
use super::tag::Tag;

/// What cells that cover several rows or columns are repeated with, in all of a document.
pub(super) const REPEATED_BYTES_MAX: usize = 256 * 1024;
/// A longer text of such a cell stands in its first place alone.
const REPEATED_TEXT_BYTES_MAX: usize = 120;
/// So many rows may be the header together.
const HEAD_ROWS_MAX: usize = 3;

/// A block in a table.
pub(super) struct Place<'a> {
    row: NodeId,
    /// The place of its row in the table.
    number: u32,
    column: usize,
    /// How many columns and rows its cell covers.
    columns: usize,
    rows: u32,
    block: &'a Block,
    /// The item of a list within the cell that the block begins.
    item: Option<Item>,
    is_header: bool,
    in_head: bool,
}

/// An item of a list in a cell: its number, or how deep it stands in others.
#[derive(Clone, Copy)]
struct Item {
    number: Option<u32>,
    depth: usize,
}

/// Where the blocks of a table stand in it.
pub(super) struct Table<'a> {
    /// In order. The first row is the header.
    places: Vec<Place<'a>>,
    /// The width of the widest row.
    pub(super) columns: usize,
    pub(super) captions: Vec<&'a Block>,
}

impl<'a> Table<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &[Place<'a>]> {
        self.places.chunk_by(|one, other| one.row == other.row)
    }

    /// How many rows at the beginning name the columns together: those below cells that cover several columns.
    pub(super) fn head_rows(&self) -> usize {
        let is_head = |row: &&[Place<'_>]| {
            let is_beside = |place: &Place<'_>| place.column != row[0].column;
            row.iter().all(|place| place.in_head || place.is_header) && row.iter().any(is_beside)
        };
        let head = self.rows().take(HEAD_ROWS_MAX).take_while(is_head);
        let covers = |row: &[Place<'_>]| row.iter().any(|place| place.columns > 1);
        let covering = head.take_while(|row| covers(row)).count();
        let rest = &mut self.rows().skip(covering);
        match rest.next().filter(is_head) {
            Some(_) if covering > 0 && rest.next().is_some() => covering + 1,
            _ => 1,
        }
    }

    /// Whether each row has its own header, so that the first is a row as any other.
    pub(super) fn has_row_headers(&self) -> bool {
        let mut rows = 0_usize;
        let are_headed = self.rows().all(|row| {
            rows += 1;
            let [first, rest @ ..] = row else {
                return false;
            };
            let is_beside = |other: &Place<'_>| other.column != first.column;
            first.is_header
                && first.column == 0
                && !first.in_head
                && rest.iter().any(is_beside)
                && rest
                    .iter()
                    .filter(|other| is_beside(other))
                    .all(|other| !other.is_header)
        });
        are_headed && rows > 1
    }
}

/// Whether a block stands in this table.
pub(super) fn stands_in(outline: &Outline, block: usize, table: NodeId) -> bool {
    let mut chain = Vec::new();
    outline.containers(outline.blocks[block].node, &mut chain);
    chain.contains(&table)
}

/// Puts the blocks of a table into its rows and columns. A row of `<thead>` comes first; otherwise the first row of
/// the table has to be the header, since the format knows no table without.
pub(super) fn read<'a>(outline: &'a Outline, blocks: &[usize]) -> Table<'a> {
    let mut table = Table {
        places: Vec::new(),
        columns: 1,
        captions: Vec::new(),
    };
    let mut chain = Vec::new();
    let mut last_item = None;
    for &block in blocks {
        let block = &outline.blocks[block];
        outline.containers(block.node, &mut chain);
        let find = |wanted: fn(Shape) -> bool| {
            chain
                .iter()
                .rev()
                .copied()
                .find(|&id| wanted(outline.node(id).shape))
        };
        let row = find(|shape| matches!(shape, Shape::Row { .. }));
        let cell = find(|shape| matches!(shape, Shape::Cell { .. }));
        let (Some(row), Some(cell)) = (row, cell) else {
            table.captions.push(block);
            continue;
        };
        let Shape::Cell {
            column,
            columns,
            rows,
        } = outline.node(cell).shape
        else {
            continue;
        };
        let Shape::Row { head, number } = outline.node(row).shape else {
            continue;
        };
        let column = usize::from(column);
        let inside = chain.iter().skip_while(|&&id| id != cell);
        let items = inside.filter_map(|&id| match outline.node(id).shape {
            Shape::Item { number } => Some((id, number)),
            _ => None,
        });
        let depth = items.clone().count();
        let innermost = items.last();
        let begun = innermost.filter(|(id, _)| last_item != Some(*id));
        if let Some((id, _)) = innermost {
            last_item = Some(id);
        }
        table.places.push(Place {
            row,
            number,
            column,
            columns: usize::from(columns),
            rows: rows.into(),
            block,
            item: begun.map(|(_, number)| Item { number, depth }),
            is_header: outline.node(cell).tag == Tag::HeaderCell,
            in_head: head,
        });
        table.columns = table.columns.max(column + 1);
    }
    table
}

/// Writes the cells of the rows of [`Table::rows`], one row at a time: a table may be the whole page. The short text of
/// a cell that covers several rows stands in each of them, so that each can be read alone.
pub(super) struct Cells<'b> {
    /// Column, the row at which it ends, text.
    covering: Vec<(usize, u32, String)>,
    /// How many bytes may still be repeated.
    left: &'b mut usize,
}

impl<'b> Cells<'b> {
    pub(super) fn new(left: &'b mut usize) -> Cells<'b> {
        Cells {
            covering: Vec::new(),
            left,
        }
    }

    /// The cells of the rows that are the header together: "Score: Mathematics".
    pub(super) fn head<'s>(
        &mut self,
        rows: &[&[Place<'_>]],
        markdown: impl Fn(&Block) -> &'s str,
    ) -> Vec<String> {
        let mut head: Vec<String> = Vec::new();
        for row in rows {
            let mut cells = self.row(row, &markdown);
            // One row alone names its columns as they are.
            for place in row.iter().filter(|_| rows.len() > 1) {
                if cells[place.column].len() <= REPEATED_TEXT_BYTES_MAX {
                    let text = cells[place.column].clone();
                    for column in place.column + 1..place.column + place.columns {
                        self.repeat(&text, column, &mut cells);
                    }
                }
            }
            head.resize(head.len().max(cells.len()), String::new());
            for (named, cell) in head.iter_mut().zip(cells) {
                if named.is_empty() {
                    *named = cell;
                } else if !cell.is_empty() && *named != cell {
                    named.push_str(": ");
                    named.push_str(&cell);
                }
            }
        }
        head
    }

    pub(super) fn row<'s>(
        &mut self,
        row: &[Place<'_>],
        markdown: impl Fn(&Block) -> &'s str,
    ) -> Vec<String> {
        let mut cells = own_cells(row, markdown);
        let number = row.first().map_or(0, |place| place.number);
        let mut covering = std::mem::take(&mut self.covering);
        covering.retain(|(_, end, _)| *end > number);
        for (column, _, text) in &covering {
            self.repeat(text, *column, &mut cells);
        }
        for place in row.iter().filter(|place| place.rows > 1) {
            let is_new = covering.iter().all(|(column, ..)| *column != place.column);
            if is_new && cells[place.column].len() <= REPEATED_TEXT_BYTES_MAX {
                let text = cells[place.column].clone();
                covering.push((place.column, number.saturating_add(place.rows), text));
            }
        }
        self.covering = covering;
        cells
    }

    /// Puts the text into a cell that has none of its own, as long as there may be more of such text.
    fn repeat(&mut self, text: &str, column: usize, cells: &mut Vec<String>) {
        let is_taken = cells.get(column).is_some_and(|cell| !cell.is_empty());
        let left = self.left.checked_sub(text.len()).filter(|_| !is_taken);
        if let Some(left) = left {
            *self.left = left;
            cells.resize(cells.len().max(column + 1), String::new());
            cells[column].push_str(text);
        }
    }
}

/// What stands in a row itself.
fn own_cells<'s>(row: &[Place<'_>], markdown: impl Fn(&Block) -> &'s str) -> Vec<String> {
    let mut cells: Vec<String> = Vec::new();
    for place in row {
        let (column, text) = (place.column, markdown(place.block));
        if cells.len() <= column {
            cells.resize(column + 1, String::new());
        }
        match (place.block.kind, place.item) {
            (Kind::Code(_), _) => push_code(&mut cells[column], text),
            (_, None) => push_cell(&mut cells[column], text),
            (
                _,
                Some(Item {
                    number: Some(number),
                    ..
                }),
            ) => {
                push_cell(&mut cells[column], &format!("{number}. {text}"));
            }
            (_, Some(item)) => {
                let mark = if item.depth > 1 { '◦' } else { '•' };
                push_cell(&mut cells[column], &format!("{mark} {text}"));
            }
        }
    }
    cells
}

/// One row; cells that are missing up to `columns` are left empty.
pub(super) fn push_row(out: &mut String, cells: &[String], columns: usize) {
    out.push('|');
    for cell in cells {
        out.push(' ');
        out.push_str(cell);
        out.push_str(if cell.is_empty() { "|" } else { " |" });
    }
    for _ in cells.len()..columns {
        out.push_str(" |");
    }
}

/// The line that makes the row above it a header.
pub(super) fn push_delimiters(out: &mut String, columns: usize) {
    out.push('|');
    for _ in 0..columns {
        out.push_str(" --- |");
    }
}

/// A table of plain values. Its rows are written as they come, so that nothing but the markdown is kept of them; how wide
/// the first row, the header, has to be is known at the end.
#[derive(Debug, Default)]
pub(super) struct ValueTable {
    text: String,
    /// The cells of the header, and where it ends.
    header: (usize, usize),
    columns: usize,
    pub(super) rows: usize,
}

impl ValueTable {
    /// Adds a row of cells, each as [`value`] gives it.
    pub(super) fn push(&mut self, cells: &[String]) {
        push_row(&mut self.text, cells, 0);
        if self.rows == 0 {
            self.header = (cells.len(), self.text.len());
        }
        self.text.push('\n');
        self.columns = self.columns.max(cells.len());
        self.rows += 1;
    }

    /// Bytes so far.
    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }

    pub(super) fn markdown(mut self) -> String {
        if self.rows > 0 {
            let (cells, end) = self.header;
            let mut rest = " |".repeat(self.columns - cells);
            rest.push('\n');
            push_delimiters(&mut rest, self.columns);
            self.text.insert_str(end, &rest);
        }
        self.text
    }
}

/// A plain text as a cell's inline markdown, on one line.
pub(super) fn value(text: &str) -> String {
    let mut writer = Writer::default();
    writer.text(text.trim());
    writer.text.replace('|', "\\|").replace('\n', " ")
}

/// Adds code to a cell, a span for each of its lines.
fn push_code(cell: &mut String, code: &str) {
    let lines = code.lines().map(str::trim_end);
    for line in lines.filter(|line| !line.is_empty()) {
        let mut span = String::new();
        push_code_span(&mut span, line);
        push_cell(cell, &span);
    }
}

/// Adds a block to a cell: on the same line, which `<br>` alone can break, and with pipes escaped, in code too
/// (GFM 4.10).
fn push_cell(cell: &mut String, markdown: &str) {
    for line in markdown.split('\n') {
        if !cell.is_empty() {
            // Beside the signs of `<br>` a delimiter might open or close what it would not beside a line's end.
            let may_delimit = ['*', '_', '~'];
            if cell.ends_with(may_delimit) {
                cell.push(' ');
            }
            cell.push_str("<br>");
            if line.starts_with(may_delimit) {
                cell.push(' ');
            }
        }
        for (at, piece) in line.trim_end().split('|').enumerate() {
            if at > 0 {
                cell.push_str("\\|");
            }
            cell.push_str(piece);
        }
    }
}
