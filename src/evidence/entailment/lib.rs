//! Whether a passage supports a claim, contradicts it, or does not state it: a small BERT-like cross-encoder with int8
//! weights, on one thread and without unsafe code.
//!
//! The weights file (`tools/export.py` writes it) is read in place; [`Entailment::read`] checks every length in it, and
//! no text and no file makes this crate panic. Verdicts are the same bits on x86-64 and 64-bit ARM and at every SIMD
//! level: see [`Verdict`].

mod kernels;
mod layers;
mod math;
mod similarity;
mod tokenizer;
mod weights;

use fearless_simd::Level;

pub use layers::Workspace;
pub use similarity::Similarity;
pub use weights::WeightsError;

use weights::Weights;

/// A model, which refers to the bytes of its file and copies none of its weights.
#[derive(Clone, Debug)]
pub struct Entailment<'w> {
    weights: Weights<'w>,
    level: Level,
}

/// Probabilities, which add up to 1.
///
/// They are exact sums of integers and f32 operations of IEEE 754 in a fixed order, with no fused multiply-add and no
/// function of a C library. The same file, claim and evidence give the same bits on every machine that follows IEEE 754
/// without flushing subnormal numbers; x86-64 and 64-bit ARM do. A new version of the Unicode tables may change the
/// pieces of a text, and so its verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    pub supported: f32,
    pub contradicted: f32,
    pub not_stated: f32,
}

/// A claim in pieces, to be judged by many passages. Belongs to the model that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim(Vec<u32>);

impl<'w> Entailment<'w> {
    /// Checks a weights file and notes where its parts lie.
    ///
    /// # Errors
    ///
    /// When the bytes are not a whole weights file of a known version, or its numbers are out of range.
    pub fn read(bytes: &'w [u8]) -> Result<Self, WeightsError> {
        let weights = Weights::read(bytes)?;
        Ok(Entailment {
            weights,
            level: Level::new(),
        })
    }

    /// Splits a claim into pieces: the first ones, up to the number that the model takes (44 where not set otherwise),
    /// of its first 16,384 characters.
    #[must_use]
    pub fn claim(&self, text: &str) -> Claim {
        Claim(self.weights.vocabulary.pieces(text, self.weights.claim_max))
    }

    /// What a passage says about a claim. Of the passage, as many pieces are read as the model has room for after the
    /// claim, and at most 16,384 characters.
    #[must_use]
    pub fn judge(&self, claim: &str, evidence: &str, work: &mut Workspace) -> Verdict {
        self.judge_claim(&self.claim(claim), evidence, work)
    }

    /// [`judge`](Self::judge) for a claim that is in pieces already.
    #[must_use]
    pub fn judge_claim(&self, claim: &Claim, evidence: &str, work: &mut Workspace) -> Verdict {
        let vocabulary = &self.weights.vocabulary;
        // The claim may be of another model, whose limits and vocabulary are larger.
        let known = |id: &u32| usize::try_from(*id).is_ok_and(|id| id < vocabulary.len());
        let claim: Vec<u32> = claim
            .0
            .iter()
            .copied()
            .filter(known)
            .take(self.weights.claim_max)
            .collect();
        let evidence = vocabulary.pieces(evidence, self.weights.pieces_max - 3 - claim.len());
        // Token types: 0 claim, 1 evidence, 2 claim but not in the evidence, 3 evidence but not in the claim.
        let mut tokens = vec![(vocabulary.cls, 0)];
        tokens.extend(
            claim
                .iter()
                .map(|id| (*id, if evidence.contains(id) { 0 } else { 2 })),
        );
        tokens.push((vocabulary.sep, 0));
        tokens.extend(
            evidence
                .iter()
                .map(|id| (*id, if claim.contains(id) { 1 } else { 3 })),
        );
        tokens.push((vocabulary.sep, 1));
        let [supported, contradicted, not_stated] =
            layers::classify(self.level, &self.weights, &tokens, work);
        Verdict {
            supported,
            contradicted,
            not_stated,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::tests::unescape;

    const TINY: &[u8] = include_bytes!("../../../tests/evidence/entailment/tiny.bin");

    /// Claim, evidence, and two times three probabilities by PyTorch in f32: with the weights of the file, and with
    /// those it was quantised from.
    fn pairs() -> impl Iterator<Item = (String, String, [[f32; 3]; 2])> {
        include_str!("../../../tests/evidence/entailment/pairs.tsv")
            .lines()
            .map(|line| {
                let fields: Vec<&str> = line.split('\t').collect();
                let number = |i: usize| fields[i].parse::<f32>().expect("a field is a number");
                let expected = [
                    [number(2), number(3), number(4)],
                    [number(5), number(6), number(7)],
                ];
                (unescape(fields[0]), unescape(fields[1]), expected)
            })
    }

    fn tiny() -> Entailment<'static> {
        Entailment::read(TINY).expect("the file is whole")
    }

    fn values(verdict: Verdict) -> [f32; 3] {
        [verdict.supported, verdict.contradicted, verdict.not_stated]
    }

    fn difference(a: [f32; 3], b: [f32; 3]) -> f32 {
        a.iter()
            .zip(b)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f32::max)
    }

    fn label(of: [f32; 3]) -> usize {
        (0..3)
            .max_by(|a, b| of[*a].total_cmp(&of[*b]))
            .unwrap_or_default()
    }

    #[test]
    fn verdicts_are_those_of_pytorch() {
        let mut work = Workspace::new();
        for (claim, evidence, [same_weights, unquantised]) in pairs() {
            let verdict = values(tiny().judge(&claim, &evidence, &mut work));
            assert!(
                difference(verdict, same_weights) < 1e-3,
                "{claim}: {verdict:?} {same_weights:?}"
            );
            assert!(
                difference(verdict, unquantised) < 0.05,
                "{claim}: {verdict:?} {unquantised:?}"
            );
            assert_eq!(label(verdict), label(unquantised), "{claim}");
        }
    }

    #[test]
    fn every_simd_level_gives_the_same_bits() {
        for (claim, evidence, _) in pairs() {
            let verdicts = [Level::fallback(), Level::baseline(), Level::new()].map(|level| {
                let model = Entailment { level, ..tiny() };
                values(model.judge(&claim, &evidence, &mut Workspace::new())).map(f32::to_bits)
            });
            assert!(
                verdicts.iter().all(|verdict| *verdict == verdicts[0]),
                "{claim}"
            );
        }
    }

    #[test]
    fn the_bits_are_those_of_every_other_machine() {
        let (claim, evidence, _) = pairs().next().expect("there are pairs");
        let verdict = tiny().judge(&claim, &evidence, &mut Workspace::new());
        assert_eq!(
            values(verdict).map(f32::to_bits),
            [1_053_666_859, 1_047_198_221, 1_052_562_639]
        );
    }

    #[test]
    fn a_claim_in_pieces_is_judged_as_its_text_is() {
        let model = tiny();
        let mut work = Workspace::new();
        for (claim, evidence, _) in pairs() {
            let pieces = model.claim(&claim);
            let first = model.judge_claim(&pieces, &evidence, &mut work);
            assert_eq!(first, model.judge(&claim, &evidence, &mut work));
            assert_eq!(
                first,
                model.judge_claim(&pieces, &evidence, &mut Workspace::new())
            );
        }
    }

    #[test]
    fn any_text_gets_a_verdict() {
        let texts = ["", " ", "\0", "a", "[SEP]"].map(String::from);
        let long = [
            "a",
            " ",
            "a ",
            "é\u{301}",
            "\u{301}",
            "中",
            "🎈",
            "\u{200b}",
            ".",
            "\u{fdfa}",
        ];
        let model = tiny();
        let mut work = Workspace::new();
        for text in texts
            .into_iter()
            .chain(long.map(|part| part.repeat(100_000)))
        {
            for (claim, evidence) in [(&*text, ""), ("the tower", &*text), (&*text, &*text)] {
                let [a, b, c] = values(model.judge(claim, evidence, &mut work));
                assert!(
                    (a + b + c - 1.0).abs() < 1e-6,
                    "{}",
                    text.chars().take(5).collect::<String>()
                );
            }
        }
    }

    #[test]
    fn damaged_weights_give_probabilities_all_the_same() {
        // A byte changed here and there, to the largest weight or to an odd float.
        let (claim, evidence, _) = pairs().next().expect("there are pairs");
        let mut bytes = TINY.to_vec();
        for position in (8_000..bytes.len()).step_by(1_009) {
            let before = std::mem::replace(&mut bytes[position], 0x80);
            if let Ok(model) = Entailment::read(&bytes) {
                let [a, b, c] = values(model.judge(&claim, &evidence, &mut Workspace::new()));
                assert!((a + b + c - 1.0).abs() < 1e-6, "byte {position}");
            }
            bytes[position] = before;
        }
        // Every number as large as a file may have it.
        let mut large = TINY.to_vec();
        for position in (7_000..large.len() - 3).step_by(4) {
            let end = position + 4;
            let number = f32::from_le_bytes(large[position..end].try_into().expect("four bytes"));
            large[position..end].copy_from_slice(&1000.0_f32.copysign(number).to_le_bytes());
        }
        let model = Entailment::read(&large).expect("the numbers are in range");
        let [a, b, c] = values(model.judge(&claim, &evidence, &mut Workspace::new()));
        assert!((a + b + c - 1.0).abs() < 1e-6);
    }
}
