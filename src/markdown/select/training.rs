//! What training reads of a page: the rows of features, the blocks' texts, the names on the elements. Written by the
//! same code that selects, so that nothing can drift.

use super::super::outline::Outline;
use super::facts::Page;
use super::features::text_name;
use super::features::{Features, Row, Walk};
use super::hints::Hints;
use super::model::Model;

/// A page as training sees it.
#[derive(Debug, Default)]
pub struct TrainingPage {
    /// Names of the features, in the order of a row.
    pub features: Vec<&'static str>,
    /// One row after the other, one for each block.
    pub rows: Vec<u8>,
    pub blocks: Vec<TrainingBlock>,
    /// Of each node its parent and the numbers of its names.
    pub nodes: Vec<(u32, Vec<u16>)>,
}

#[derive(Debug)]
pub struct TrainingBlock {
    pub markdown: String,
    pub node: u32,
    pub words: u32,
    /// The number of its text among the names, when it is short.
    pub text_name: Option<u16>,
}

pub(in crate::markdown) fn training_page(
    outline: &Outline,
    hints: &Hints,
    model: &Model,
) -> TrainingPage {
    let page = Page::new(outline);
    let features = Features::new(&page, hints, &model.names);
    let mut walk = Walk::default();
    let mut training = TrainingPage {
        nodes: outline
            .nodes
            .iter()
            .map(|node| (node.parent, Vec::new()))
            .collect(),
        ..TrainingPage::default()
    };
    for (node, bins) in &outline.bins {
        training.nodes[*node as usize].1.clone_from(bins);
    }
    for block in &outline.blocks {
        let mut row = Recorded::default();
        features.next(&mut walk, &mut row);
        training.features = row.names;
        training.rows.extend(row.values);
        training.blocks.push(TrainingBlock {
            markdown: outline.markdown(block).to_owned(),
            node: block.node,
            words: block.words,
            text_name: text_name(block),
        });
    }
    training
}

#[derive(Default)]
struct Recorded {
    names: Vec<&'static str>,
    values: Vec<u8>,
}

impl Row for Recorded {
    fn page(&mut self, values: &[(&'static str, u8)]) {
        for &(name, value) in values {
            self.put(name, value);
        }
    }

    fn put(&mut self, name: &'static str, value: u8) {
        self.names.push(name);
        self.values.push(value);
    }
}
