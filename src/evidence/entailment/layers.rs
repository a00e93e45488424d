//! The network: embeddings, transformer layers, pooler and classifier (Devlin et al., arXiv:1810.04805).

use fearless_simd::Level;

use crate::kernels::{self, Head, Quantised};
use crate::math;
use crate::weights::{Layer, Linear, Norm, Weights};

/// Buffers of the network, reused from one input to the next. Empty until first used; then up to 8 MiB, given back when
/// dropped.
#[derive(Debug, Default)]
pub struct Workspace {
    /// Hidden state, \[tokens, width\].
    hidden: Vec<f32>,
    /// Queries, keys and values, \[tokens, 3 width\].
    qkv: Vec<f32>,
    /// Output of the attention heads, \[tokens, width\].
    mixed: Vec<f32>,
    /// \[tokens, feed-forward width\].
    inner: Vec<f32>,
    /// What a residual connection adds, \[tokens, width\].
    added: Vec<f32>,
    quantised: Quantised,
    /// Transposed keys and attention weights of one head.
    scratch: Vec<f32>,
}

impl Workspace {
    /// Buffers that hold nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Workspace::default()
    }

    /// Bytes that an input of `tokens` pieces takes.
    pub(crate) fn bytes_for(
        width: usize,
        inner_width: usize,
        heads: usize,
        tokens: usize,
    ) -> usize {
        let head = Head {
            stride: 0,
            query: 0,
            key: 0,
            value: 0,
            width: width / heads,
            tokens,
            asking: tokens,
        };
        let floats = tokens * (6 * width + inner_width + 1) + head.scratch();
        4 * floats + 2 * tokens * width.max(inner_width)
    }
}

/// A piece and its token type.
pub(crate) type Token = (u32, usize);

/// Probabilities of the three labels. There is at least one token, and at most as many as the model has positions.
pub(crate) fn classify(
    level: Level,
    weights: &Weights<'_>,
    tokens: &[Token],
    work: &mut Workspace,
) -> [f32; 3] {
    embed(level, weights, &weights.norm, tokens, work);
    let (last, before) = weights.layers.split_last().expect("a model has a layer");
    for layer in before {
        apply(level, weights, layer, tokens.len(), tokens.len(), work);
    }
    // Only the first token goes on to the pooler.
    apply(level, weights, last, tokens.len(), 1, work);
    let width = weights.width;
    kernels::quantise(level, &work.hidden[..width], width, &mut work.quantised);
    project(level, &work.quantised, &weights.pooler, 1, &mut work.added);
    let pooled: Vec<f32> = work.added.iter().map(|x| math::tanh(*x)).collect();
    let scores: [f32; 3] = std::array::from_fn(|label| {
        let products = weights
            .classifier_weight
            .row(label, width)
            .iter()
            .zip(&pooled)
            .map(|(w, x)| w * x);
        products.fold(0.0, |sum, product| sum + product) + weights.classifier_bias.get(label)
    });
    let largest = scores
        .into_iter()
        .fold(f32::MIN, |a, b| if a > b { a } else { b });
    let [a, b, c] = scores.map(|score| math::exp(score - largest));
    [a, b, c].map(|x| x / (a + b + c))
}

/// The hidden state before the first layer.
pub(crate) fn embedded(
    level: Level,
    weights: &Weights<'_>,
    norm: &Norm<'_>,
    tokens: &[Token],
    work: &mut Workspace,
) -> Vec<f32> {
    embed(level, weights, norm, tokens, work);
    work.hidden.clone()
}

/// One layer of another network of these widths, over all tokens of a hidden state.
pub(crate) fn apply_to(
    level: Level,
    weights: &Weights<'_>,
    layer: &Layer<'_>,
    hidden: &mut Vec<f32>,
    work: &mut Workspace,
) {
    std::mem::swap(hidden, &mut work.hidden);
    let tokens = work.hidden.len() / weights.width;
    apply(level, weights, layer, tokens, tokens, work);
    std::mem::swap(hidden, &mut work.hidden);
}

/// Sum of the embeddings of piece, position and token type, then LayerNorm.
fn embed(
    level: Level,
    weights: &Weights<'_>,
    norm: &Norm<'_>,
    tokens: &[Token],
    work: &mut Workspace,
) {
    let width = weights.width;
    let words = &weights.words;
    work.hidden.clear();
    work.added.clear();
    for (position, (piece, kind)) in tokens.iter().enumerate() {
        let piece = usize::try_from(*piece).unwrap_or_default();
        let scale = words.scales.get(piece);
        work.hidden.extend(
            words
                .row(piece)
                .iter()
                .map(|byte| f32::from(byte.cast_signed()) * scale),
        );
        let positions = weights.positions.row(position, width).iter();
        let types = weights.types.row(*kind, width).iter();
        work.added
            .extend(positions.zip(types).map(|(position, kind)| position + kind));
    }
    kernels::add_and_norm(level, &mut work.hidden, &work.added, width, norm);
}

/// One layer over `tokens` tokens, of which the first `asking` are worked out.
fn apply(
    level: Level,
    weights: &Weights<'_>,
    layer: &Layer<'_>,
    tokens: usize,
    asking: usize,
    work: &mut Workspace,
) {
    let (width, stride) = (weights.width, 3 * weights.width);
    work.qkv.resize(tokens * stride, 0.0);
    kernels::quantise(level, &work.hidden, width, &mut work.quantised);
    kernels::linear(
        level,
        &work.quantised,
        &layer.qkv,
        (width, 2 * width),
        &mut work.qkv[width..],
        stride,
    );
    work.hidden.truncate(asking * width);
    kernels::quantise(level, &work.hidden, width, &mut work.quantised);
    kernels::linear(
        level,
        &work.quantised,
        &layer.qkv,
        (0, width),
        &mut work.qkv,
        stride,
    );
    work.mixed.resize(asking * width, 0.0);
    let head_width = width / weights.heads;
    for first in (0..width).step_by(head_width) {
        let (query, key, value) = (first, width + first, 2 * width + first);
        let head = Head {
            stride,
            query,
            key,
            value,
            width: head_width,
            tokens,
            asking,
        };
        kernels::attention(
            level,
            &head,
            &work.qkv,
            &mut work.scratch,
            &mut work.mixed[first..],
            width,
        );
    }
    kernels::quantise(level, &work.mixed, width, &mut work.quantised);
    project(
        level,
        &work.quantised,
        &layer.attention_out,
        asking,
        &mut work.added,
    );
    kernels::add_and_norm(
        level,
        &mut work.hidden,
        &work.added,
        width,
        &layer.attention_norm,
    );
    kernels::quantise(level, &work.hidden, width, &mut work.quantised);
    project(
        level,
        &work.quantised,
        &layer.inner,
        asking,
        &mut work.inner,
    );
    kernels::gelu(level, &mut work.inner);
    kernels::quantise(level, &work.inner, weights.inner_width, &mut work.quantised);
    project(
        level,
        &work.quantised,
        &layer.outer,
        asking,
        &mut work.added,
    );
    kernels::add_and_norm(
        level,
        &mut work.hidden,
        &work.added,
        width,
        &layer.outer_norm,
    );
}

/// All outputs of a linear layer, \[tokens, outputs\].
fn project(level: Level, input: &Quantised, layer: &Linear<'_>, tokens: usize, out: &mut Vec<f32>) {
    let outputs = layer.bias.len();
    out.resize(tokens * outputs, 0.0);
    kernels::linear(level, input, layer, (0, outputs), out, outputs);
}
