//! Which blocks of a page are kept, by what was asked for, and how much they say.

use std::sync::Arc;

use super::outline::Outline;
use super::select::hints::Hints;
use super::select::model::Model;
use super::select::{Selected, select};
use super::work::Work;
use crate::domain::words;

pub(super) struct Selector<'a> {
    pub(super) full: bool,
    pub(super) hints: &'a Hints,
    pub(super) model: &'a Arc<Model>,
    pub(super) include_comments: bool,
    pub(super) work: &'a Work,
}

impl Selector<'_> {
    /// The blocks to keep.
    pub(super) fn select(&self, outline: &Outline) -> Selected {
        match self.full {
            true => Selected {
                blocks: (0..outline.blocks.len()).collect(),
                confidence: 1.0,
                voices: None,
            },
            false => select(outline, self.hints, self.model, self.include_comments),
        }
    }
}

pub(super) fn kept_words(outline: &Outline, kept: &[usize]) -> u64 {
    let words = kept.iter().map(|&block| outline.blocks[block].words);
    words.map(u64::from).sum()
}

/// Characters of scripts without spaces. A block counts two of them as a word, as the model was fitted.
pub(super) fn unspaced(outline: &Outline, kept: &[usize]) -> u64 {
    let texts = kept
        .iter()
        .map(|&block| outline.markdown(&outline.blocks[block]));
    let characters = texts.flat_map(str::chars);
    characters.filter(|c| words::is_unspaced(*c)).count() as u64
}
