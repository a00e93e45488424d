//! What the block elements change when they begin: lists count, tables place their cells, `<pre>` keeps its lines.

use super::{Builder, Effect, Open, OpenTable};
use crate::markdown::attributes::{self, Attributes};
use crate::markdown::inline::Mark;
use crate::markdown::outline::{PostPart, Shape, TableFacts};
use crate::markdown::tag::Tag;

/// How deep lists, quotes and tables may nest; each adds to every line inside.
const CONTAINERS_MAX: usize = 12;

/// Cells beyond this column are joined to the last one.
const COLUMNS_MAX: u16 = 63;

/// How the items of a list are numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Numbering {
    #[default]
    Figures,
    Alphabet {
        are_capital: bool,
    },
    Roman {
        are_capital: bool,
    },
}

impl Numbering {
    /// By `type` or `list-style-type`.
    fn of(attributes: &Attributes<'_>) -> Numbering {
        let style = attributes.get("style").unwrap_or_default();
        let by_style = style
            .split(';')
            .filter_map(|declaration| declaration.split_once(':'))
            .find(|(name, _)| name.trim() == "list-style-type");
        let kind = attributes.get("type").unwrap_or_default();
        match (by_style.map(|(_, value)| value.trim()), kind.trim()) {
            (Some("lower-alpha" | "lower-latin"), _) | (None, "a") => {
                Numbering::Alphabet { are_capital: false }
            }
            (Some("upper-alpha" | "upper-latin"), _) | (None, "A") => {
                Numbering::Alphabet { are_capital: true }
            }
            (Some("lower-roman"), _) | (None, "i") => Numbering::Roman { are_capital: false },
            (Some("upper-roman"), _) | (None, "I") => Numbering::Roman { are_capital: true },
            _ => Numbering::Figures,
        }
    }

    /// `(b)`, `(iv)`. None for figures.
    fn label(self, number: u32) -> Option<String> {
        let (label, are_capital) = match self {
            Numbering::Figures => return None,
            Numbering::Alphabet { are_capital } => (letters(number), are_capital),
            Numbering::Roman { are_capital } => (roman(number), are_capital),
        };
        let label = label.unwrap_or_else(|| number.to_string());
        Some(match are_capital {
            true => format!("({})", label.to_uppercase()),
            false => format!("({label})"),
        })
    }
}

/// `a` to `z`, then `aa` to `zz`.
fn letters(number: u32) -> Option<String> {
    let at = number.checked_sub(1).filter(|at| *at < 26 * 27)?;
    let letter = |at: u32| char::from_u32(u32::from(b'a') + at);
    let mut label = String::new();
    if at >= 26 {
        label.push(letter(at / 26 - 1)?);
    }
    label.push(letter(at % 26)?);
    Some(label)
}

fn roman(number: u32) -> Option<String> {
    const SIGNS: [(u32, &str); 13] = [
        (1000, "m"),
        (900, "cm"),
        (500, "d"),
        (400, "cd"),
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ];
    let mut rest = Some(number).filter(|number| (1..4000).contains(number))?;
    let mut label = String::new();
    for (value, sign) in SIGNS {
        while rest >= value {
            label.push_str(sign);
            rest -= value;
        }
    }
    Some(label)
}

impl Builder {
    pub(super) fn begin_block(&mut self, open: &mut Open, attributes: &Attributes<'_>) {
        match open.tag {
            // Some engines write posts as quotes.
            Tag::Quote if open.place.part == PostPart::Body && !self.is_in_body() => {}
            Tag::Quote => open.shape = Shape::Quote,
            Tag::List | Tag::Item if attributes::only_arranges(attributes) => {}
            Tag::List => open.shape = Shape::List { ordered: false },
            Tag::OrderedList => {
                open.numbering = Numbering::of(attributes);
                open.shape = Shape::List {
                    ordered: open.numbering == Numbering::Figures,
                };
                open.next_number = attributes.number("start").unwrap_or(1);
            }
            Tag::Item => {
                let item = self.item(attributes);
                open.shape = self.note(open.tag, attributes).unwrap_or(item);
                // Confluence's list of tasks.
                if attributes.raw("data-inline-task-id").is_some() {
                    let is_done = attributes.raw("class") == Some("checked");
                    self.item_label = Some(if is_done { "[x]" } else { "[ ]" }.to_owned());
                }
            }
            Tag::Division | Tag::Aside | Tag::Paragraph | Tag::Definition => {
                open.shape = self.note(open.tag, attributes).unwrap_or(open.shape);
            }
            Tag::Heading(_) => self.make_part_of_item(),
            Tag::Term => {
                open.effect = match self.begins_with_number(attributes) {
                    true => Effect::Skip,
                    false => self.begin_mark(Mark::Strong),
                };
            }
            Tag::Preformatted if !self.is_full() => self.begin_preformatted(open, attributes),
            Tag::Table => match self.note(open.tag, attributes) {
                Some(note) => open.shape = note,
                None => self.begin_table(open, attributes),
            },
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
        self.begin_fragment(open, attributes);
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
                match list.numbering.label(number) {
                    Some(label) => {
                        self.item_label = Some(label);
                        None
                    }
                    // CommonMark reads at most nine digits.
                    None => Some(number.min(999_999_999)),
                }
            }
            _ => None,
        };
        Shape::Item { number }
    }

    /// A bullet list whose first item begins with a heading is a part of the page, not a list, and so are such items.
    fn make_part_of_item(&mut self) {
        let has_shape = |open: &Open| open.shape != Shape::Plain;
        let Some(item) = self.open.iter().rposition(has_shape) else {
            return;
        };
        let list = self.open[..item]
            .iter()
            .rposition(|open| open.tag.is_list());
        let is_bullet = self.open[item].shape == (Shape::Item { number: None })
            && self.item_label.is_none()
            && item >= self.placed;
        let Some(list) = list.filter(|_| is_bullet) else {
            return;
        };
        match self.open[list].shape {
            Shape::Plain => self.open[item].shape = Shape::Plain,
            Shape::List { .. } if list >= self.placed => {
                self.open[item].shape = Shape::Plain;
                self.open[list].shape = Shape::Plain;
            }
            _ => {}
        }
    }

    /// Markdown has no lists with letters: the text of their items begins with them.
    pub(super) fn begin_labelled_item(&mut self, text: &str) {
        let says = |_: &mut String| text.contains(|c: char| !c.is_whitespace());
        if let Some(label) = self.item_label.take_if(says) {
            self.writer.verbatim(&label);
            self.writer.gap();
        }
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
            cells_of_row: attributes::cells_of_row(attributes).unwrap_or(0),
            is_declaration: attributes::is_declaration(attributes),
            ..OpenTable::default()
        });
        open.shape = Shape::Table(facts);
        open.effect = Effect::Table;
    }

    /// What an element in a grid without rows is: a cell, the first one of a row when the row before is full.
    pub(super) fn cell_of_grid(&mut self, attributes: &Attributes<'_>) -> Option<Tag> {
        let table = self.tables.last().filter(|table| table.cells_of_row > 0)?;
        let is_full = table.in_row && table.column >= table.cells_of_row;
        let around = self.open.last()?;
        if !(around.effect == Effect::Table || around.effect == Effect::Row) {
            return None;
        }
        if is_full {
            self.end_implied(Tag::Row);
        }
        Some(attributes::cell(attributes))
    }

    /// Whether a part of a table is a part of a declaration, which is one line of text.
    pub(super) fn is_part_of_declaration(&self, tag: Tag, attributes: &Attributes<'_>) -> bool {
        let Some(table) = self.tables.last() else {
            return false;
        };
        let is_part = tag.is_part_of_table() && tag != Tag::Table;
        is_part && table.is_declaration
            || tag == Tag::Cell && attributes::is_in_declaration(attributes)
    }

    fn begin_row(&mut self, open: &mut Open) {
        let Some(table) = self.tables.last_mut() else {
            return;
        };
        table.in_row = true;
        table.column = 0;
        let facts = &mut self.outline.tables[table.facts as usize];
        facts.rows += 1;
        open.shape = Shape::Row {
            head: table.in_head,
            number: facts.rows,
        };
        open.effect = Effect::Row;
    }

    fn begin_cell(&mut self, open: &mut Open, attributes: &Attributes<'_>) {
        if self.begins_listing(attributes) || self.is_number_of_note(attributes) {
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
        let rows = attributes.number("rowspan").unwrap_or(1).clamp(1, 1000);
        let rows = u16::try_from(rows).unwrap_or(1);
        if rows > 1 {
            let end = usize::from(table.column);
            if table.covered.len() < end {
                table.covered.resize(end, 0);
            }
            table.covered[usize::from(column)..end].fill(rows);
        }
        let in_table = table.facts as usize;
        let column_end = table.column;
        self.begin_named_cell();
        let facts = &mut self.outline.tables[in_table];
        facts.columns = facts.columns.max(column_end);
        facts.cells += 1;
        facts.header_cells += u32::from(open.tag == Tag::HeaderCell);
        open.shape = Shape::Cell {
            column,
            columns: column_end - column,
            rows,
        };
    }
}
