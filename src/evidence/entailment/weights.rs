//! The weights file, as `tools/export.py` writes it. Little-endian; matrices are row-major.
//!
//! 1. Head: magic `ENTAILQ8`, then 12 u32: version, pieces in the vocabulary, width, heads, feed-forward width, layers,
//!    longest input in pieces, longest claim in pieces, `[UNK]`, `[CLS]`, `[SEP]`, bytes of the vocabulary.
//! 2. Vocabulary: u32 offset of each piece and the end; the pieces in byte order; zeros up to a multiple of 4.
//! 3. Word embeddings: f32 scale of each row; i8 \[pieces, width\].
//! 4. Positions, f32 \[longest input, width\]; token types, f32 \[4, width\]; LayerNorm, f32 weight and f32 bias.
//! 5. Each layer: linear qkv \[3 width, width\] and o \[width, width\]; LayerNorm; linear i \[feed-forward, width\] and
//!    f \[width, feed-forward\]; LayerNorm.
//! 6. Pooler: linear \[width, width\]. Classifier: f32 weight \[3, width\]; f32 bias.
//!
//! A linear part is its f32 scales (one per output), its f32 bias, its i8 values. The values are in blocks of 16
//! outputs, in a block for each two inputs in turn the two values of each output: \[outputs / 16, inputs / 2, 16, 2\].
//! Nothing is copied: the parts are references into the file.

use std::fmt;

use crate::kernels::LANES;
use crate::layers::Workspace;
use crate::tokenizer::Vocabulary;

const MAGIC: &[u8; 8] = b"ENTAILQ8";
const VERSION: u32 = 1;
/// Widths are multiples of this, so that no SIMD width leaves a rest.
const WIDTH_STEP: usize = 64;
/// Outputs whose weights lie together.
pub(crate) const BLOCK: usize = 16;
/// 2048 products of an int8 weight and an activation of up to `kernels::ACTIVATION_MAX` still fit an i32.
const WIDTH_MAX: usize = 2048;
/// Largest magnitude of any f32 in the file. With it no sum or product of the network overflows: no NaN can arise.
const FLOAT_MAX: f32 = 1000.0;
/// Upper bound on the working memory of one input, in bytes.
const WORKSPACE_MAX: usize = 8 << 20;

/// The bytes do not hold a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightsError(&'static str);

impl fmt::Display for WeightsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "these are not entailment weights: {}", self.0)
    }
}

impl std::error::Error for WeightsError {}

/// Little-endian f32 values inside the file, which need not be aligned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Floats<'w>(&'w [[u8; 4]]);

impl<'w> Floats<'w> {
    pub(crate) fn len(self) -> usize {
        self.0.len()
    }

    pub(crate) fn get(self, index: usize) -> f32 {
        f32::from_le_bytes(self.0[index])
    }

    /// `N` values from `index` on.
    pub(crate) fn array<const N: usize>(self, index: usize) -> [f32; N] {
        std::array::from_fn(|i| self.get(index + i))
    }

    #[inline(always)]
    pub(crate) fn iter(self) -> impl Iterator<Item = f32> + 'w {
        self.0.iter().map(|bytes| f32::from_le_bytes(*bytes))
    }

    /// Row `index` of a matrix with rows of `width` values.
    pub(crate) fn row(self, index: usize, width: usize) -> Floats<'w> {
        Floats(&self.0[index * width..(index + 1) * width])
    }
}

/// int8 matrix; the weight is the value times the scale of its row or output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix<'w> {
    /// Two's complement.
    values: &'w [u8],
    pub(crate) scales: Floats<'w>,
    /// Values in a row, or for an output.
    pub(crate) width: usize,
}

impl<'w> Matrix<'w> {
    pub(crate) fn new(values: &'w [u8], scales: Floats<'w>, width: usize) -> Self {
        Matrix {
            values,
            scales,
            width,
        }
    }

    /// The values of the [`BLOCK`] outputs from `output` on, in a matrix that is in blocks.
    pub(crate) fn block(&self, output: usize) -> &'w [u8] {
        &self.values[output * self.width..(output + BLOCK) * self.width]
    }

    /// A row of a matrix that is not.
    pub(crate) fn row(&self, index: usize) -> &'w [u8] {
        &self.values[index * self.width..(index + 1) * self.width]
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Linear<'w> {
    pub(crate) matrix: Matrix<'w>,
    pub(crate) bias: Floats<'w>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Norm<'w> {
    pub(crate) weight: Floats<'w>,
    pub(crate) bias: Floats<'w>,
}

/// A post-LayerNorm transformer layer (Devlin et al., arXiv:1810.04805).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layer<'w> {
    /// Queries, keys and values in one matrix.
    pub(crate) qkv: Linear<'w>,
    pub(crate) attention_out: Linear<'w>,
    pub(crate) attention_norm: Norm<'w>,
    pub(crate) inner: Linear<'w>,
    pub(crate) outer: Linear<'w>,
    pub(crate) outer_norm: Norm<'w>,
}

#[derive(Clone, Debug)]
pub(crate) struct Weights<'w> {
    pub(crate) vocabulary: Vocabulary<'w>,
    pub(crate) width: usize,
    pub(crate) heads: usize,
    pub(crate) inner_width: usize,
    /// Longest input and longest claim, in pieces.
    pub(crate) pieces_max: usize,
    pub(crate) claim_max: usize,
    pub(crate) words: Matrix<'w>,
    pub(crate) positions: Floats<'w>,
    pub(crate) types: Floats<'w>,
    pub(crate) norm: Norm<'w>,
    pub(crate) layers: Vec<Layer<'w>>,
    pub(crate) pooler: Linear<'w>,
    /// \[3, width\], and \[3\].
    pub(crate) classifier_weight: Floats<'w>,
    pub(crate) classifier_bias: Floats<'w>,
}

/// Reads a file from its beginning.
pub(crate) struct Reader<'w>(&'w [u8]);

impl<'w> Reader<'w> {
    pub(crate) fn new(bytes: &'w [u8]) -> Self {
        Reader(bytes)
    }

    /// What a file of a known version begins with.
    pub(crate) fn head(&mut self, magic: &[u8], version: u32) -> Result<(), WeightsError> {
        if self.bytes(magic.len())? != magic {
            return Err(WeightsError("the first bytes are not the magic"));
        }
        if self.words(1)?[0] != version.to_le_bytes() {
            return Err(WeightsError("the version is not known"));
        }
        Ok(())
    }

    pub(crate) fn end(&self) -> Result<(), WeightsError> {
        match self.0.is_empty() {
            true => Ok(()),
            false => Err(WeightsError("bytes follow its end")),
        }
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'w [u8], WeightsError> {
        let (head, rest) = self
            .0
            .split_at_checked(count)
            .ok_or(WeightsError("it is cut short"))?;
        self.0 = rest;
        Ok(head)
    }

    fn words(&mut self, count: usize) -> Result<&'w [[u8; 4]], WeightsError> {
        let length = count
            .checked_mul(4)
            .ok_or(WeightsError("it is cut short"))?;
        Ok(self.bytes(length)?.as_chunks().0)
    }

    fn number(&mut self) -> Result<usize, WeightsError> {
        let number = u32::from_le_bytes(self.words(1)?[0]);
        usize::try_from(number).map_err(|_| WeightsError("a number is out of range"))
    }

    fn number_in(&mut self, low: usize, high: usize) -> Result<usize, WeightsError> {
        let number = self.number()?;
        (low..=high)
            .contains(&number)
            .then_some(number)
            .ok_or(WeightsError("a number is out of range"))
    }

    pub(crate) fn floats(&mut self, count: usize) -> Result<Floats<'w>, WeightsError> {
        let floats = Floats(self.words(count)?);
        // NaN is not in range either.
        let is_sound = floats
            .iter()
            .all(|value| (-FLOAT_MAX..=FLOAT_MAX).contains(&value));
        is_sound
            .then_some(floats)
            .ok_or(WeightsError("a weight is out of range"))
    }

    fn linear(&mut self, outputs: usize, width: usize) -> Result<Linear<'w>, WeightsError> {
        let (scales, bias) = (self.floats(outputs)?, self.floats(outputs)?);
        let values = self.bytes(outputs * width)?;
        Ok(Linear {
            matrix: Matrix::new(values, scales, width),
            bias,
        })
    }

    pub(crate) fn norm(&mut self, width: usize) -> Result<Norm<'w>, WeightsError> {
        Ok(Norm {
            weight: self.floats(width)?,
            bias: self.floats(width)?,
        })
    }
}

impl<'w> Weights<'w> {
    pub(crate) fn read(bytes: &'w [u8]) -> Result<Self, WeightsError> {
        let mut reader = Reader::new(bytes);
        reader.head(MAGIC, VERSION)?;
        let pieces = reader.number_in(1, 1 << 20)?;
        let width = reader.number_in(WIDTH_STEP, WIDTH_MAX)?;
        let heads = reader.number_in(1, width)?;
        let inner_width = reader.number_in(WIDTH_STEP, WIDTH_MAX)?;
        let layers = reader.number_in(1, 48)?;
        let pieces_max = reader.number_in(3, 512)?;
        let claim_max = reader.number_in(0, pieces_max - 3)?;
        let mut special = [0; 3];
        for id in &mut special {
            *id = u32::try_from(reader.number_in(0, pieces - 1)?)
                .map_err(|_| WeightsError("a number is out of range"))?;
        }
        let text_length = reader.number()?;
        let is_even = width % WIDTH_STEP == 0 && inner_width % WIDTH_STEP == 0;
        if !is_even || width % heads != 0 || (width / heads) % LANES != 0 {
            return Err(WeightsError("the widths do not fit each other"));
        }
        // Buffers that grow may take up to twice what they hold.
        if 2 * Workspace::bytes_for(width, inner_width, heads, pieces_max) > WORKSPACE_MAX {
            return Err(WeightsError("it needs too much working memory"));
        }
        let offsets = reader.words(pieces + 1)?;
        let text = reader.bytes(text_length)?;
        reader.bytes(text_length.wrapping_neg() % 4)?;
        let vocabulary = Vocabulary::new(offsets, text, special)
            .ok_or(WeightsError("the vocabulary is not in order"))?;
        let scales = reader.floats(pieces)?;
        let words = Matrix {
            values: reader.bytes(pieces * width)?,
            scales,
            width,
        };
        let positions = reader.floats(pieces_max * width)?;
        let types = reader.floats(4 * width)?;
        let norm = reader.norm(width)?;
        let layers = (0..layers)
            .map(|_| {
                Ok(Layer {
                    qkv: reader.linear(3 * width, width)?,
                    attention_out: reader.linear(width, width)?,
                    attention_norm: reader.norm(width)?,
                    inner: reader.linear(inner_width, width)?,
                    outer: reader.linear(width, inner_width)?,
                    outer_norm: reader.norm(width)?,
                })
            })
            .collect::<Result<_, WeightsError>>()?;
        let pooler = reader.linear(width, width)?;
        let (classifier_weight, classifier_bias) = (reader.floats(3 * width)?, reader.floats(3)?);
        reader.end()?;
        Ok(Weights {
            vocabulary,
            width,
            heads,
            inner_width,
            pieces_max,
            claim_max,
            words,
            positions,
            types,
            norm,
            layers,
            pooler,
            classifier_weight,
            classifier_bias,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TINY: &[u8] = include_bytes!("../../../tests/evidence/entailment/tiny.bin");

    #[test]
    fn reads_the_dimensions() {
        let weights = Weights::read(TINY).expect("the file is whole");
        assert_eq!(
            (weights.width, weights.heads, weights.inner_width),
            (64, 4, 128)
        );
        assert_eq!(
            (weights.layers.len(), weights.pieces_max, weights.claim_max),
            (2, 48, 16)
        );
    }

    #[test]
    fn a_cut_file_is_an_error() {
        for length in (0..200).chain((200..TINY.len()).step_by(97)) {
            assert!(Weights::read(&TINY[..length]).is_err(), "{length} bytes");
        }
        assert!(Weights::read(&[TINY, &[0]].concat()).is_err());
    }

    #[test]
    fn wrong_numbers_are_errors() {
        // Each field of the head and the first offsets of the vocabulary, set to what they can hardly be.
        for position in (0..72).step_by(4) {
            for value in [0, 1, 7, 65, 0x7FFF_FFFF, u32::MAX] {
                let mut bytes = TINY.to_vec();
                bytes[position..position + 4].copy_from_slice(&value.to_le_bytes());
                let _ = Weights::read(&bytes);
            }
        }
        let mut bytes = TINY.to_vec();
        let end = bytes.len();
        bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
        assert_eq!(
            Weights::read(&bytes).err(),
            Some(WeightsError("a weight is out of range"))
        );
    }
}
