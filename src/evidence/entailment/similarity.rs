//! How close texts are in meaning to a query: the cosine of mean hidden states, by a sentence encoder of the same shape as
//! the entailment model (Reimers and Gurevych, arXiv:1908.10084).
//!
//! The entailment model began as this encoder, and training moved its weights by a tenth. So the file holds only
//! differences, of 2 bits each: the vocabulary, the embeddings and the scales are the entailment model's. Matrices are put
//! together one layer at a time, for all texts of a query, and dropped again.
//!
//! `data/evidence/entailment/similarity.py` writes the file. Little-endian:
//!
//! 1. Head: magic `SIMILAR2`, version as u32, SHA-256 of the entailment model's file.
//! 2. LayerNorm of the embeddings: f32 weight and f32 bias.
//! 3. Each layer: the differences of qkv and o; LayerNorm; the differences of i and f; LayerNorm.
//!
//! Differences are the f32 bias itself, the four i8 levels of each output, and for each weight the number of its level, four
//! to a byte from the low bits on, in the order of the entailment model's values. A weight is the entailment model's int8
//! value plus the level, times the entailment model's scale.

use fearless_simd::Level;

use crate::layers::{self, Token, Workspace};
use crate::weights::{BLOCK, Floats, Layer, Linear, Matrix, Norm, Reader, Weights, WeightsError};
use crate::{Entailment, kernels};

const MAGIC: &[u8; 8] = b"SIMILAR2";
const VERSION: u32 = 1;
const SHA256_BYTES: usize = 32;
/// Levels of an output's differences, and weights to a byte of their numbers.
const LEVELS: usize = 4;
const CODES: usize = 4;

/// A sentence encoder beside the entailment model that it shares weights with.
#[derive(Clone, Debug)]
pub struct Similarity<'w> {
    weights: Weights<'w>,
    level: Level,
    base_sha256: &'w [u8],
    norm: Norm<'w>,
    layers: Vec<LayerDifferences<'w>>,
}

/// What one linear layer has in place of the entailment model's.
#[derive(Clone, Copy, Debug)]
struct Differences<'w> {
    bias: Floats<'w>,
    /// Two's complement, \[outputs, 4\].
    levels: &'w [u8],
    codes: &'w [u8],
}

#[derive(Clone, Copy, Debug)]
struct LayerDifferences<'w> {
    qkv: Differences<'w>,
    attention_out: Differences<'w>,
    attention_norm: Norm<'w>,
    inner: Differences<'w>,
    outer: Differences<'w>,
    outer_norm: Norm<'w>,
}

impl<'w> Differences<'w> {
    fn read(reader: &mut Reader<'w>, of: &Linear<'_>) -> Result<Self, WeightsError> {
        let outputs = of.bias.len();
        Ok(Differences {
            bias: reader.floats(outputs)?,
            levels: reader.bytes(outputs * LEVELS)?,
            codes: reader.bytes(outputs * of.matrix.width / CODES)?,
        })
    }

    /// The layer, with its values in `values`.
    fn apply<'a>(&self, to: &Linear<'a>, values: &'a mut Vec<u8>) -> Linear<'a>
    where
        'w: 'a,
    {
        let width = to.matrix.width;
        values.clear();
        values.resize(self.bias.len() * width, 0);
        let blocks = values
            .chunks_exact_mut(BLOCK * width)
            .zip(self.codes.chunks_exact(BLOCK * width / CODES))
            .zip(self.levels.chunks_exact(BLOCK * LEVELS));
        for (number, ((values, codes), levels)) in blocks.enumerate() {
            let levels: [[i8; LEVELS]; BLOCK] = std::array::from_fn(|output| {
                std::array::from_fn(|level| levels[output * LEVELS + level].cast_signed())
            });
            let base = to.matrix.block(number * BLOCK);
            // Two weights of each output in turn.
            let pairs = values
                .chunks_exact_mut(2 * BLOCK)
                .zip(base.chunks_exact(2 * BLOCK))
                .zip(codes.chunks_exact(2 * BLOCK / CODES));
            for ((values, base), codes) in pairs {
                for (at, (value, base)) in values.iter_mut().zip(base).enumerate() {
                    let code = codes[at / CODES] >> (2 * (at % CODES)) & 3;
                    let difference = levels[at / 2][usize::from(code)];
                    *value = base
                        .cast_signed()
                        .saturating_add(difference)
                        .cast_unsigned();
                }
            }
        }
        Linear {
            matrix: Matrix::new(values, to.matrix.scales, width),
            bias: self.bias,
        }
    }
}

impl<'w> Similarity<'w> {
    /// Checks a file and notes where its parts lie.
    ///
    /// # Errors
    ///
    /// When the bytes are not a whole file of a known version for a model of this size, or its numbers are out of range.
    pub fn read(bytes: &'w [u8], base: &Entailment<'w>) -> Result<Self, WeightsError> {
        let weights = base.weights.clone();
        let mut reader = Reader::new(bytes);
        reader.head(MAGIC, VERSION)?;
        let base_sha256 = reader.bytes(SHA256_BYTES)?;
        let norm = reader.norm(weights.width)?;
        let layers = weights
            .layers
            .iter()
            .map(|layer| {
                Ok(LayerDifferences {
                    qkv: Differences::read(&mut reader, &layer.qkv)?,
                    attention_out: Differences::read(&mut reader, &layer.attention_out)?,
                    attention_norm: reader.norm(weights.width)?,
                    inner: Differences::read(&mut reader, &layer.inner)?,
                    outer: Differences::read(&mut reader, &layer.outer)?,
                    outer_norm: reader.norm(weights.width)?,
                })
            })
            .collect::<Result<_, WeightsError>>()?;
        reader.end()?;
        Ok(Similarity {
            weights,
            level: base.level,
            base_sha256,
            norm,
            layers,
        })
    }

    /// SHA-256 of the file of the entailment model that this one was made for.
    #[must_use]
    pub fn base_sha256(&self) -> &'w [u8] {
        self.base_sha256
    }

    /// Cosines of each text with the query, -1 to 1, from the first `pieces_max` pieces of each. The same bits on every
    /// machine, as a [`Verdict`](crate::Verdict) has them. Memory grows by one row of hidden state for each piece.
    #[must_use]
    pub fn cosines(
        &self,
        query: &str,
        texts: &[String],
        pieces_max: usize,
        work: &mut Workspace,
    ) -> Vec<f32> {
        let all = [query].into_iter().chain(texts.iter().map(String::as_str));
        let mut hidden: Vec<Vec<f32>> = all
            .map(|text| {
                layers::embedded(
                    self.level,
                    &self.weights,
                    &self.norm,
                    &self.tokens(text, pieces_max),
                    work,
                )
            })
            .collect();
        let mut values: [Vec<u8>; 4] = Default::default();
        for (layer, differences) in self.weights.layers.iter().zip(&self.layers) {
            let [qkv, attention_out, inner, outer] = &mut values;
            let layer = Layer {
                qkv: differences.qkv.apply(&layer.qkv, qkv),
                attention_out: differences
                    .attention_out
                    .apply(&layer.attention_out, attention_out),
                attention_norm: differences.attention_norm,
                inner: differences.inner.apply(&layer.inner, inner),
                outer: differences.outer.apply(&layer.outer, outer),
                outer_norm: differences.outer_norm,
            };
            for hidden in &mut hidden {
                layers::apply_to(self.level, &self.weights, &layer, hidden, work);
            }
        }
        let means: Vec<Vec<f32>> = hidden.iter().map(|hidden| self.mean(hidden)).collect();
        let Some((query, texts)) = means.split_first() else {
            return Vec::new();
        };
        texts.iter().map(|text| dot(query, text)).collect()
    }

    fn tokens(&self, text: &str, pieces_max: usize) -> Vec<Token> {
        let vocabulary = &self.weights.vocabulary;
        let room = pieces_max.min(self.weights.pieces_max).saturating_sub(2);
        let pieces = vocabulary.pieces(text, room);
        let ends = |id| [id].into_iter();
        ends(vocabulary.cls)
            .chain(pieces)
            .chain(ends(vocabulary.sep))
            .map(|id| (id, 0))
            .collect()
    }

    /// The mean of all tokens, of length 1.
    fn mean(&self, hidden: &[f32]) -> Vec<f32> {
        let mut sums = vec![0.0; self.weights.width];
        for row in hidden.chunks_exact(self.weights.width) {
            for (sum, x) in sums.iter_mut().zip(row) {
                *sum += x;
            }
        }
        let length = dot(&sums, &sums).sqrt().max(kernels::TINY);
        sums.iter().map(|sum| sum / length).collect()
    }
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter()
        .zip(other)
        .map(|(one, other)| one * other)
        .fold(0.0, |sum, product| sum + product)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    const BASE: &[u8] = include_bytes!("../../../tests/evidence/entailment/tiny.bin");
    const TINY: &[u8] = include_bytes!("../../../tests/evidence/entailment/tiny-similarity.bin");
    /// A query, a text, and their cosine by numpy in f32 with the weights of the files.
    const GOLDENS: &str = include_str!("../../../tests/evidence/entailment/similarity.tsv");

    fn base() -> Entailment<'static> {
        Entailment::read(BASE).expect("the file is whole")
    }

    fn tiny() -> Similarity<'static> {
        Similarity::read(TINY, &base()).expect("the file is whole")
    }

    fn goldens() -> (String, Vec<String>, Vec<f32>) {
        let fields = || {
            GOLDENS
                .lines()
                .map(|line| line.split('\t').collect::<Vec<_>>())
        };
        let expected = |fields: Vec<&str>| fields[2].parse().expect("a field is a number");
        let query = fields().next().expect("there are lines")[0].to_owned();
        let texts = fields().map(|fields| fields[1].to_owned());
        (query, texts.collect(), fields().map(expected).collect())
    }

    fn cosines(of: &Similarity<'_>, pieces_max: usize) -> Vec<f32> {
        let (query, texts, _) = goldens();
        of.cosines(&query, &texts, pieces_max, &mut Workspace::new())
    }

    #[test]
    fn cosines_are_those_of_numpy() {
        let (_, texts, expected) = goldens();
        let found = cosines(&tiny(), usize::MAX);
        assert_eq!(found.len(), texts.len());
        for ((text, found), expected) in texts.iter().zip(found).zip(expected) {
            assert!(
                (found - expected).abs() < 1e-3,
                "{text}: {found} {expected}"
            );
        }
    }

    #[test]
    fn every_simd_level_gives_the_same_bits() {
        let bits = [Level::fallback(), Level::baseline(), Level::new()].map(|level| {
            let found = cosines(&Similarity { level, ..tiny() }, 32);
            found.into_iter().map(f32::to_bits).collect::<Vec<_>>()
        });
        assert!(bits.iter().all(|one| *one == bits[0]));
    }

    #[test]
    fn each_text_is_compared_by_itself() {
        let (query, mut texts, _) = goldens();
        let mut work = Workspace::new();
        let mut forth = tiny().cosines(&query, &texts, 32, &mut work);
        texts.reverse();
        let back = tiny().cosines(&query, &texts, 32, &mut work);
        forth.reverse();
        assert_eq!(forth, back);
        assert_eq!(tiny().cosines(&query, &[], 32, &mut work), []);
    }

    #[test]
    fn only_the_first_pieces_are_read() {
        let long = "the tower ".repeat(40);
        let texts = [long, "the tower the tower the tower".to_owned()];
        let found = tiny().cosines("the tower", &texts, 8, &mut Workspace::new());
        assert_eq!(found[0], found[1]);
    }

    #[test]
    fn the_entailment_model_stays_as_it_is() {
        let judged = |work: &mut Workspace| -> Verdict {
            base().judge(
                "The tower was built in 1889.",
                "It was built in 1890.",
                work,
            )
        };
        let mut work = Workspace::new();
        let before = judged(&mut work);
        let (query, texts, _) = goldens();
        let _ = tiny().cosines(&query, &texts, 32, &mut work);
        assert_eq!(judged(&mut work), before);
    }

    #[test]
    fn a_file_that_is_not_whole_is_an_error() {
        for length in (0..200).chain((200..TINY.len()).step_by(97)) {
            assert!(
                Similarity::read(&TINY[..length], &base()).is_err(),
                "{length} bytes"
            );
        }
        assert!(Similarity::read(&[TINY, &[0]].concat(), &base()).is_err());
        assert!(Similarity::read(BASE, &base()).is_err());
    }

    #[test]
    fn damaged_differences_give_cosines_all_the_same() {
        let mut bytes = TINY.to_vec();
        for position in (44..bytes.len()).step_by(251) {
            let before = std::mem::replace(&mut bytes[position], 0x80);
            if let Ok(damaged) = Similarity::read(&bytes, &base()) {
                let found = cosines(&damaged, 16);
                assert!(
                    found.iter().all(|cosine| cosine.abs() < 1.001),
                    "byte {position}"
                );
            }
            bytes[position] = before;
        }
    }
}
