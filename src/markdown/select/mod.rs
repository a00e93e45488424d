//! Which blocks of a page are its content. Facts about the page's elements become bytes, a small trained model gives
//! each block a probability, and the page's own best threshold decides. Reads the outline and gives block numbers.
//!
//! The model is made by `data/selection/train.py` from the rows that this very code writes.

mod announced;
mod bylines;
mod cards;
mod columns;
mod comments;
mod concealed;
mod decide;
mod endings;
mod facts;
mod features;
pub(super) mod hints;
mod images;
mod long;
pub(super) mod model;
pub(super) mod names;
mod neighbours;
mod note_titles;
mod notes;
mod orphans;
mod promotions;
mod reference;
mod repair;
mod rows;
mod scale;
mod shares;
mod siblings;
mod sources;
pub(super) mod training;
pub(super) mod voices;

use super::outline::Outline;
use facts::Page;
use features::{Features, Row, Walk};
use hints::Hints;
use model::{BATCH, Columns, Model};
use voices::Voices;

/// What is kept of a page.
#[derive(Debug)]
pub(super) struct Selected {
    /// Numbers of the blocks, in document order.
    pub(super) blocks: Vec<usize>,
    /// The F1 by words, from 0 to 1, that they can be expected to have.
    pub(super) confidence: f32,
    /// Who says what, on a page that is a discussion.
    pub(super) voices: Option<Voices>,
}

/// Chooses the blocks of a page that are its content; with the comments under it, if they are asked for.
pub(super) fn select(
    outline: &Outline,
    hints: &Hints,
    model: &Model,
    include_comments: bool,
) -> Selected {
    let (chances, title) = {
        let page = Page::new(outline);
        outline.work.look();
        let features = Features::new(&page, hints, &model.names);
        outline.work.look();
        (chances(outline, &features, model), features.title_block)
    };
    decide::decide(outline, &chances, hints, title, include_comments)
}

/// For each block, how likely it is content.
fn chances(outline: &Outline, features: &Features<'_>, model: &Model) -> Vec<f32> {
    let mut walk = Walk::default();
    let mut columns: Columns = vec![[0; BATCH]; model.features.0 as usize];
    let mut chances = Vec::with_capacity(outline.blocks.len());
    while chances.len() < outline.blocks.len() {
        let count = BATCH.min(outline.blocks.len() - chances.len());
        for at in 0..count {
            let mut row = Column {
                columns: &mut columns,
                feature: 0,
                at,
            };
            outline.work.step();
            features.next(&mut walk, &mut row);
        }
        chances.extend_from_slice(&model.judge(&columns)[..count]);
    }
    chances
}

/// Writes one block's features into the columns of its batch.
struct Column<'a> {
    columns: &'a mut Columns,
    feature: usize,
    at: usize,
}

impl Row for Column<'_> {
    fn page(&mut self, values: &[(&'static str, u8)]) {
        if self.at == 0 {
            for (column, (_, value)) in self.columns.iter_mut().skip(self.feature).zip(values) {
                column.fill(*value);
            }
        }
        self.feature += values.len();
    }

    fn put(&mut self, _: &'static str, value: u8) {
        if let Some(column) = self.columns.get_mut(self.feature) {
            column[self.at] = value;
        }
        self.feature += 1;
    }
}
