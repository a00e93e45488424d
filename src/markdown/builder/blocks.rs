//! What the block elements change when they begin: lists count, tables place their cells, `<pre>` keeps its lines.

use super::{Builder, Effect, Open, OpenTable};
use crate::markdown::attributes::Attributes;
use crate::markdown::inline::Mark;
use crate::markdown::outline::{PostPart, Shape, TableFacts};
use crate::markdown::tag::Tag;

/// How deep lists, quotes and tables may nest; each adds to every line inside.
const CONTAINERS_MAX: usize = 12;

/// Cells beyond this column are joined to the last one.
const COLUMNS_MAX: u16 = 63;

impl Builder {
    pub(super) fn begin_block(&mut self, open: &mut Open, attributes: &Attributes<'_>) {
        match open.tag {
            // Some engines write posts as quotes.
            Tag::Quote if open.place.part == PostPart::Body && !self.is_in_body() => {}
            Tag::Quote => open.shape = Shape::Quote,
            Tag::List => open.shape = Shape::List { ordered: false },
            Tag::OrderedList => {
                open.shape = Shape::List { ordered: true };
                open.next_number = attributes.number("start").unwrap_or(1);
            }
            Tag::Item => {
                let item = self.item(attributes);
                open.shape = self.note(attributes).unwrap_or(item);
            }
            Tag::Term => open.effect = self.begin_mark(Mark::Strong),
            Tag::Preformatted if !self.is_full() => self.begin_preformatted(open, attributes),
            Tag::Table => self.begin_table(open, attributes),
            Tag::TableHead | Tag::TableBody => {
                if let Some(table) = self.tables.last_mut() {
                    table.in_head = open.tag == Tag::TableHead;
                }
            }
            Tag::Row => self.begin_row(open),
            Tag::Cell | Tag::HeaderCell => self.begin_cell(open, attributes),
            Tag::Caption if !self.tables.is_empty() => open.shape = Shape::Caption,
            _ => {}
        }
        let containers = self.open.iter().filter(|open| open.shape != Shape::Plain);
        if open.shape != Shape::Plain && containers.count() >= CONTAINERS_MAX {
            open.shape = Shape::Plain;
        }
        if self.preformatted.is_some() {
            self.begin_line(open, attributes);
        }
    }

    fn item(&mut self, attributes: &Attributes<'_>) -> Shape {
        let list = self.open.iter_mut().rev().find(|open| open.tag.is_list());
        let number = match list {
            Some(list) if list.tag == Tag::OrderedList => {
                let number = attributes.number("value").unwrap_or(list.next_number);
                list.next_number = number.saturating_add(1);
                // CommonMark reads at most nine digits.
                Some(number.min(999_999_999))
            }
            _ => None,
        };
        Shape::Item { number }
    }

    fn begin_table(&mut self, open: &mut Open, attributes: &Attributes<'_>) {
        if let Some(outer) = self.tables.last() {
            self.outline.tables[outer.facts as usize].arranges = true;
        }
        let facts = u32::try_from(self.outline.tables.len()).unwrap_or(u32::MAX);
        let role = attributes.get("role").unwrap_or_default();
        self.outline.tables.push(TableFacts {
            // A table that is a post arranges it.
            arranges: matches!(&*role, "presentation" | "none") || self.begins_post(open.place),
            ..TableFacts::default()
        });
        self.tables.push(OpenTable {
            facts,
            ..OpenTable::default()
        });
        open.shape = Shape::Table(facts);
        open.effect = Effect::Table;
    }

    fn begin_row(&mut self, open: &mut Open) {
        let Some(table) = self.tables.last_mut() else {
            return;
        };
        table.in_row = true;
        table.column = 0;
        self.outline.tables[table.facts as usize].rows += 1;
        open.shape = Shape::Row {
            head: table.in_head,
        };
        open.effect = Effect::Row;
    }

    fn begin_cell(&mut self, open: &mut Open, attributes: &Attributes<'_>) {
        if self.begins_listing(attributes) {
            open.effect = Effect::Skip;
            return;
        }
        let Some(table) = self.tables.last_mut().filter(|table| table.in_row) else {
            return;
        };
        let is_covered = |table: &OpenTable| {
            table
                .covered
                .get(usize::from(table.column))
                .is_some_and(|rows| *rows > 0)
        };
        while is_covered(table) {
            table.column += 1;
        }
        let column = table.column.min(COLUMNS_MAX);
        let span = attributes.number("colspan").unwrap_or(1).clamp(1, 64);
        let width = u16::try_from(span).unwrap_or(1);
        table.column = (column + width).min(COLUMNS_MAX + 1);
        let rows = attributes.number("rowspan").unwrap_or(1).min(1000);
        if rows > 1 {
            let end = usize::from(table.column);
            if table.covered.len() < end {
                table.covered.resize(end, 0);
            }
            table.covered[usize::from(column)..end].fill(u16::try_from(rows).unwrap_or(1));
        }
        let facts = &mut self.outline.tables[table.facts as usize];
        facts.columns = facts.columns.max(table.column);
        facts.cells += 1;
        facts.header_cells += u32::from(open.tag == Tag::HeaderCell);
        open.shape = Shape::Cell { column };
    }
}
