//! The fitted part: weights that rank candidates, weights and small trees that decide, and how their sum becomes a
//! probability. Read from a text that is compiled in (`data/evidence/model.txt`, written by `data/evidence/train.py`);
//! knows features by name alone.

use std::fmt;
use std::sync::LazyLock;

use super::features::Features;
use super::summary;

const TREES_MAX: usize = 1_000;
const NODES_MAX: usize = 200;

#[derive(Clone, Debug)]
pub(crate) struct Model {
    rank: Vec<f64>,
    rank_bias: f64,
    decision: Decision,
}

/// Weights and trees over named features, whose sum becomes a probability.
#[derive(Clone, Debug)]
pub(crate) struct Decision {
    /// For each feature: mean, spread, weight.
    weights: Vec<(f64, f64, f64)>,
    bias: f64,
    trees: Vec<Tree>,
    trees_bias: f64,
    /// How much the trees count beside the weights: 0 to 1.
    trees_share: f64,
    /// Slope and offset of the logistic that makes a probability of the sum.
    slope: f64,
    offset: f64,
}

/// Questions of the form "is this feature above a bound"; the first node is asked first.
#[derive(Clone, Debug)]
struct Tree(Vec<Node>);

#[derive(Clone, Copy, Debug)]
enum Node {
    Leaf(f64),
    Question {
        feature: usize,
        bound: f64,
        /// The node that follows when it is above; the next one follows when it is not.
        above: usize,
    },
}

/// The text does not hold a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModelError(String);

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this is not an evidence model: {}", self.0)
    }
}

impl std::error::Error for ModelError {}

impl ModelError {
    pub(crate) fn of(line: &str) -> ModelError {
        ModelError(line.chars().take(80).collect())
    }
}

static SHIPPED: LazyLock<Model> = LazyLock::new(|| {
    let text = include_str!("../../../data/evidence/model.txt");
    Model::read(text).expect("a test reads the model that is compiled in")
});

impl Model {
    /// The one that is compiled in.
    pub(crate) fn shipped() -> &'static Model {
        &SHIPPED
    }

    /// Reads lines of `rank NAME WEIGHT`, `decide NAME MEAN SPREAD WEIGHT`, `tree NAME>BOUND …` (each question, then
    /// what follows when it is not above, then what follows when it is; a number ends a branch) and
    /// `set NAME VALUE`. Features that are not named weigh nothing.
    pub(crate) fn read(text: &str) -> Result<Model, ModelError> {
        let names: Vec<&str> = summary::names().collect();
        let mut model = Model {
            rank: vec![0.0; Features::NAMES.len()],
            rank_bias: 0.0,
            decision: Decision::new(names.len()),
        };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.split_whitespace();
            let Some(kind) = words.next() else { continue };
            model
                .read_line(kind, &mut words, &names)
                .ok_or_else(|| ModelError::of(line))?;
        }
        Ok(model)
    }

    fn read_line<'a>(
        &mut self,
        kind: &str,
        words: &mut impl Iterator<Item = &'a str>,
        names: &[&str],
    ) -> Option<()> {
        if kind != "rank" {
            return self
                .decision
                .read_line(kind, words, names, &mut self.rank_bias);
        }
        let name = words.next()?;
        let at = names.iter().position(|other| *other == name)?;
        *self.rank.get_mut(at)? = number(words)?;
        Some(())
    }

    /// How well a candidate answers, beside the others of its page.
    pub(crate) fn rank(&self, features: &Features) -> f64 {
        let values = features.values();
        let products = values
            .iter()
            .zip(&self.rank)
            .map(|(value, weight)| value * weight);
        self.rank_bias + products.sum::<f64>()
    }

    /// P(the page settles the question), before anything else is known against it.
    pub(crate) fn decide(&self, features: &[f64]) -> f64 {
        self.decision.decide(features)
    }
}

fn number<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<f64> {
    words
        .next()?
        .parse::<f64>()
        .ok()
        .filter(|value| value.is_finite())
}

impl Decision {
    pub(crate) fn new(features: usize) -> Decision {
        Decision {
            weights: vec![(0.0, 1.0, 0.0); features],
            bias: 0.0,
            trees: Vec::new(),
            trees_bias: 0.0,
            trees_share: 0.0,
            slope: 1.0,
            offset: 0.0,
        }
    }

    /// Reads one line; an empty one says nothing.
    pub(crate) fn read(&mut self, line: &str, names: &[&str]) -> Result<(), ModelError> {
        let mut words = line.split_whitespace();
        let Some(kind) = words.next() else {
            return Ok(());
        };
        let read = self.read_line(kind, &mut words, names, &mut 0.0);
        read.ok_or_else(|| ModelError::of(line))
    }

    /// Reads a line of `decide`, `tree` or `set`; `rank_bias` is the one value that is not of the decision.
    fn read_line<'a>(
        &mut self,
        kind: &str,
        words: &mut impl Iterator<Item = &'a str>,
        names: &[&str],
        rank_bias: &mut f64,
    ) -> Option<()> {
        let feature = |name: &str| names.iter().position(|other| *other == name);
        if kind == "tree" {
            return self.read_tree(words, feature);
        }
        let name = words.next()?;
        match kind {
            "decide" => {
                let (mean, spread, weight) = (number(words)?, number(words)?, number(words)?);
                *self.weights.get_mut(feature(name)?)? = (mean, spread, weight);
                (spread > 0.0).then_some(())?;
            }
            "set" => {
                let field = match name {
                    "rank_bias" => rank_bias,
                    "decide_bias" => &mut self.bias,
                    "trees_bias" => &mut self.trees_bias,
                    "trees_share" => &mut self.trees_share,
                    "slope" => &mut self.slope,
                    "offset" => &mut self.offset,
                    _ => return None,
                };
                *field = number(words)?;
            }
            _ => return None,
        }
        Some(())
    }

    fn read_tree<'a>(
        &mut self,
        words: &mut impl Iterator<Item = &'a str>,
        feature: impl Fn(&str) -> Option<usize>,
    ) -> Option<()> {
        let mut nodes: Vec<Node> = Vec::new();
        // Questions whose answer "above" is still to come.
        let mut open: Vec<usize> = Vec::new();
        let mut is_whole = false;
        for word in words {
            if is_whole || nodes.len() >= NODES_MAX {
                return None;
            }
            if let Some((name, bound)) = word.split_once('>') {
                open.push(nodes.len());
                nodes.push(Node::Question {
                    feature: feature(name)?,
                    bound: bound.parse().ok()?,
                    above: 0,
                });
                continue;
            }
            nodes.push(Node::Leaf(word.parse().ok()?));
            let next = nodes.len();
            match open.pop() {
                Some(question) => match nodes.get_mut(question)? {
                    Node::Question { above, .. } => *above = next,
                    Node::Leaf(_) => return None,
                },
                None => is_whole = true,
            }
        }
        (is_whole && self.trees.len() < TREES_MAX).then(|| self.trees.push(Tree(nodes)))
    }

    /// The probability.
    pub(crate) fn decide(&self, features: &[f64]) -> f64 {
        let linear: f64 = features
            .iter()
            .zip(&self.weights)
            .map(|(value, (mean, spread, weight))| {
                weight * ((value - mean) / spread).clamp(-4.0, 4.0)
            })
            .sum();
        let trees: f64 = self.trees.iter().map(|tree| tree.value(features)).sum();
        let share = self.trees_share;
        let sum = (1.0 - share) * (linear + self.bias) + share * (trees + self.trees_bias);
        1.0 / (1.0 + (-(self.slope * sum + self.offset)).exp())
    }
}

impl Tree {
    fn value(&self, features: &[f64]) -> f64 {
        let mut at = 0;
        loop {
            match self.0[at] {
                Node::Leaf(value) => return value,
                Node::Question {
                    feature,
                    bound,
                    above,
                } => {
                    at = if features[feature] > bound {
                        above
                    } else {
                        at + 1
                    };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::engine::model::*;

    #[test]
    fn the_model_that_is_compiled_in_can_be_read() {
        Model::read(include_str!("../../../data/evidence/model.txt")).expect("a model");
    }

    #[test]
    fn what_is_no_model_is_refused() {
        for line in [
            "rank nothing 1",
            "rank bm x",
            "decide bm 0 0 1",
            "tree bm>1 2",
            "tree 1 2",
            "set x 1",
            "what",
        ] {
            assert!(Model::read(line).is_err(), "{line}");
        }
    }

    #[test]
    fn weights_and_trees_add_up() {
        let text = "rank bm 2\nset rank_bias 1\ndecide bm 1 2 4\ntree bm>5 bm>0.5 0 1 2\nset trees_share 0.5";
        let model = Model::read(text).expect("a model");
        let features = Features {
            bm: 3.0,
            ..Features::default()
        };
        assert_eq!(model.rank(&features), 7.0);
        let mut values = features.values().to_vec();
        values.resize(summary::names().count(), 0.0);
        // Half of 4 · (3 − 1) / 2, half of the leaf where the first question alone is true.
        assert_eq!(model.decide(&values), 1.0 / (1.0 + (-2.5_f64).exp()));
    }
}
