//! Tables: columns by their shares, rows that are broken only where no page holds them, and the header again on each
//! page.

use krilla::tagging::{TableHeaderScope, Tag, TagKind};

use crate::pdf::block::{Span, Style, Table, Tone};
use crate::pdf::flow::{BODY_WIDTH, BOTTOM, Flow, Item, KEPT_BELOW, MARGIN, Node, TOP};
use crate::pdf::shape::{Set, Typesetter};

const CELL_GAP: f32 = 7.0;
const CELL_PADDING: f32 = 3.5;

impl Flow {
    pub(super) fn table(&mut self, table: &Table, typesetter: &mut Typesetter) {
        let columns = Columns::of(table);
        let header = table.has_header().then(|| {
            let style = Style::NOTE.bold();
            let cells = table.columns.iter().zip(&columns.widths);
            cells
                .map(|(column, width)| {
                    self.keep(typesetter.set(&[Span::new(&column.name, style)], *width))
                })
                .collect::<Vec<_>>()
        });
        let mut rows = Vec::new();
        if let Some(cells) = &header {
            let leaves: Vec<usize> = cells.iter().map(|_| self.leaf()).collect();
            let named = leaves.iter().map(|leaf| {
                Node::Group(
                    Tag::TH(TableHeaderScope::Column).into(),
                    vec![Node::Leaf(*leaf)],
                )
            });
            let row = Node::Group(Tag::TR.into(), named.collect());
            rows.push(Node::Group(Tag::THead.into(), vec![row]));
            if self.room() < KEPT_BELOW {
                self.break_page();
            }
            self.row(&columns, cells, Some(&leaves), None);
        }
        let mut body = Vec::new();
        for row in &table.rows {
            let cells = row.iter().zip(&columns.widths);
            let cells: Vec<usize> = cells
                .map(|(spans, width)| self.keep(typesetter.set(spans, *width)))
                .collect();
            let leaves: Vec<usize> = cells.iter().map(|_| self.leaf()).collect();
            let tagged = leaves.iter().enumerate().map(|(at, leaf)| {
                let tag: TagKind = match at {
                    0 => Tag::TH(TableHeaderScope::Row).into(),
                    _ => Tag::TD.into(),
                };
                Node::Group(tag, vec![Node::Leaf(*leaf)])
            });
            body.push(Node::Group(Tag::TR.into(), tagged.collect()));
            self.row(&columns, &cells, Some(&leaves), header.as_deref());
        }
        rows.push(Node::Group(Tag::TBody.into(), body));
        let tag = Tag::Table.with_summary(Some(table.summary.clone()));
        self.nodes.push(Node::Group(tag.into(), rows));
        self.y += table.after;
    }

    fn keep(&mut self, set: Set) -> usize {
        self.sets.push(set);
        self.sets.len() - 1
    }

    /// One row. A row that fits on no page is broken between lines; the header stands above it again on each.
    fn row(
        &mut self,
        columns: &Columns,
        cells: &[usize],
        leaves: Option<&[usize]>,
        header: Option<&[usize]>,
    ) {
        let heights = cells.iter().map(|cell| self.sets[*cell].height());
        let height = heights.fold(0.0, f32::max) + 2.0 * CELL_PADDING;
        let repeated = |flow: &mut Flow| {
            flow.break_page();
            if let Some(header) = header {
                flow.row(columns, header, None, None);
            }
        };
        if height > self.room() {
            repeated(self);
        }
        let mut next = vec![0; cells.len()];
        loop {
            let top = self.y + CELL_PADDING;
            let mut bottom = top;
            let mut is_done = true;
            for (column, cell) in cells.iter().enumerate() {
                let first = next[column];
                let offset = self.sets[*cell].extent(first).0;
                for line in first..self.sets[*cell].lines() {
                    let (_, line_bottom) = self.sets[*cell].extent(line);
                    let end = top + line_bottom - offset;
                    if end > BOTTOM - CELL_PADDING && (line > first || top > TOP + 60.0) {
                        is_done = false;
                        break;
                    }
                    let leaf = leaves.map(|leaves| leaves[column]);
                    let (x, y) = (columns.starts[column], top - offset);
                    self.add(Item::Line {
                        set: *cell,
                        line,
                        x,
                        y,
                        leaf,
                    });
                    bottom = bottom.max(end);
                    next[column] = line + 1;
                }
            }
            self.y = bottom + CELL_PADDING;
            self.fill(MARGIN, self.y - 0.3, BODY_WIDTH, 0.5, Tone::Rule);
            if is_done {
                return;
            }
            repeated(self);
        }
    }
}

struct Columns {
    starts: Vec<f32>,
    widths: Vec<f32>,
}

impl Columns {
    fn of(table: &Table) -> Columns {
        let gaps = CELL_GAP * table.columns.len().saturating_sub(1) as f32;
        let whole: f32 = table.columns.iter().map(|column| column.share).sum();
        let mut x = MARGIN;
        let (mut starts, mut widths) = (Vec::new(), Vec::new());
        for column in &table.columns {
            let width = (BODY_WIDTH - gaps) * column.share / whole;
            starts.push(x);
            widths.push(width);
            x += width + CELL_GAP;
        }
        Columns { starts, widths }
    }
}
