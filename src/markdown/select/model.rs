//! The trained part of the selection: weights of names, and an ensemble of oblivious trees (each level of a tree asks
//! one question of every block, so that whole columns are compared at once). Read from a table that is compiled in;
//! knows nothing of pages.

use std::fmt;
use std::sync::{Arc, LazyLock};

use super::names::WEIGHTS;

/// How many blocks are judged at a time.
pub(super) const BATCH: usize = 64;

/// The features of a batch, one column for each feature.
pub(super) type Columns = Vec<[u8; BATCH]>;

/// No tree asks more questions.
const DEPTH_MAX: usize = 8;

#[derive(Debug)]
pub(crate) struct Model {
    pub(in crate::markdown) names: Vec<i8>,
    trees: Vec<Tree>,
    bias: f32,
    /// What a leaf's value is multiplied by.
    scale: f32,
    /// How many features there are, and a hash of their names.
    pub(in crate::markdown) features: (u32, u32),
}

#[derive(Debug)]
struct Tree {
    questions: Vec<Question>,
    /// As many as the deepest tree could have, so that a number of a leaf is always one of them.
    leaves: [i16; 1 << DEPTH_MAX],
}

/// Whether a feature is larger than a bound.
#[derive(Clone, Copy, Debug)]
struct Question {
    feature: u16,
    bound: u8,
}

/// The table does not hold a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ModelError(&'static str);

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this is not a selection model: {}", self.0)
    }
}

impl std::error::Error for ModelError {}

static SHIPPED: LazyLock<Arc<Model>> = LazyLock::new(|| {
    let table = include_bytes!("../../../data/selection/model.bin");
    Arc::new(Model::read(table).expect("a test reads the table that is compiled in"))
});

impl Model {
    /// The one that is compiled in.
    pub(crate) fn shipped() -> Arc<Model> {
        Arc::clone(&SHIPPED)
    }

    /// Reads what `data/selection/train.py` writes: little-endian numbers, one after the other.
    pub(crate) fn read(table: &[u8]) -> Result<Model, ModelError> {
        let mut table = Table(table);
        if table.take(8)? != b"c402sel1" {
            return Err(ModelError("it begins otherwise"));
        }
        let features = (table.u32()?, table.u32()?);
        let scale = f32::from_bits(table.u32()?);
        let bias = f32::from_bits(table.u32()?);
        let names = table
            .take(WEIGHTS)?
            .iter()
            .map(|&byte| byte.cast_signed())
            .collect();
        let count = table.u32()?;
        if count > 4096 {
            return Err(ModelError("it has too many trees"));
        }
        let mut trees = Vec::new();
        for _ in 0..count {
            let depth = usize::from(table.u16()?);
            if depth > DEPTH_MAX {
                return Err(ModelError("a tree is too deep"));
            }
            let mut questions = Vec::with_capacity(depth);
            for _ in 0..depth {
                let feature = table.u16()?;
                if u32::from(feature) >= features.0 {
                    return Err(ModelError("it asks for a feature that is not there"));
                }
                let bound = table.take(1)?[0];
                questions.push(Question { feature, bound });
            }
            let mut leaves = [0; 1 << DEPTH_MAX];
            for leaf in leaves.iter_mut().take(1 << depth) {
                *leaf = table.u16()?.cast_signed();
            }
            trees.push(Tree { questions, leaves });
        }
        Ok(Model {
            names,
            trees,
            bias,
            scale,
            features,
        })
    }

    /// The probability of each block of a batch that it is content.
    pub(super) fn judge(&self, columns: &Columns) -> [f32; BATCH] {
        let mut sums = [0i32; BATCH];
        for tree in &self.trees {
            let mut leaf = [0u8; BATCH];
            for (level, question) in tree.questions.iter().enumerate() {
                let column = &columns[usize::from(question.feature)];
                let bit = 1 << level;
                for (leaf, &value) in leaf.iter_mut().zip(column) {
                    *leaf |= if value > question.bound { bit } else { 0 };
                }
            }
            for (sum, &leaf) in sums.iter_mut().zip(&leaf) {
                *sum += i32::from(tree.leaves[usize::from(leaf)]);
            }
        }
        sums.map(|sum| {
            let odds = sum as f32 * self.scale + self.bias;
            1.0 / (1.0 + (-odds).exp())
        })
    }
}

/// What is left to read of a table.
struct Table<'a>(&'a [u8]);

impl<'a> Table<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], ModelError> {
        let (taken, rest) = self
            .0
            .split_at_checked(count)
            .ok_or(ModelError("it ends early"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn u16(&mut self) -> Result<u16, ModelError> {
        let bytes = self.take(2)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    fn u32(&mut self) -> Result<u32, ModelError> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}
