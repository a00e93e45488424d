//! The loops that take the time, for the SIMD level of the processor (`fearless_simd` compiles each for every level).
//!
//! No result depends on the level. Integer sums are exact. In f32 every number is worked out by the same operations in
//! the same order at each level: sums run over the terms one by one, or in [`LANES`] partial sums that are added in a
//! fixed order, and nothing is fused.

use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, f32x8, f32x16, i8x32, i16x16, i32x8, u8x32};

use crate::math;
use crate::weights::{BLOCK, Floats, Linear, Norm};

/// Partial sums of an f32 sum; head widths are multiples of it.
pub(crate) const LANES: usize = 16;
/// Magnitude of the largest quantised activation: 13 bits and a sign, which no SIMD level has to pay for, as products
/// are of 16-bit numbers anyway.
pub(crate) const ACTIVATION_MAX: f32 = 8191.0;
/// Tokens that share a load of weights.
const TOKENS: usize = 4;
/// Maxima below it count as zero, as their inverse is no finite f32.
pub(crate) const TINY: f32 = 1e-30;

/// Rows of quantised activations: activation = value * scale of the row.
#[derive(Debug, Default)]
pub(crate) struct Quantised {
    /// Two values of 16 bits, the first in the low half.
    pairs: Vec<i32>,
    scales: Vec<f32>,
    /// Pairs in a row.
    width: usize,
}

impl Quantised {
    fn row(&self, index: usize) -> &[i32] {
        &self.pairs[index * self.width..(index + 1) * self.width]
    }
}

/// Quantises each row of `width` values by its largest magnitude.
pub(crate) fn quantise(level: Level, rows: &[f32], width: usize, out: &mut Quantised) {
    out.width = width / 2;
    out.pairs.resize(rows.len() / 2, 0);
    out.scales.clear();
    dispatch!(level, _simd => quantise_rows(rows, width, out));
}

#[inline(always)]
fn quantise_rows(rows: &[f32], width: usize, out: &mut Quantised) {
    for (row, pairs) in rows
        .chunks_exact(width)
        .zip(out.pairs.chunks_exact_mut(width / 2))
    {
        let mut largest = [TINY; LANES];
        for chunk in row.as_chunks::<LANES>().0 {
            for (largest, x) in largest.iter_mut().zip(chunk) {
                let magnitude = x.abs();
                *largest = if magnitude > *largest {
                    magnitude
                } else {
                    *largest
                };
            }
        }
        let largest = largest
            .into_iter()
            .fold(TINY, |a, b| if a > b { a } else { b });
        let inverse = ACTIVATION_MAX / largest;
        for ([a, b], pair) in row.as_chunks::<2>().0.iter().zip(pairs) {
            let [a, b] = [a, b].map(|x| (x * inverse + math::ROUND).to_bits());
            // The low bits are the rounded number.
            *pair = (a & 0xFFFF | b << 16).cast_signed();
        }
        out.scales.push(largest / ACTIVATION_MAX);
    }
}

/// Outputs `first..first + count` of a linear layer for every row of `input`. Row `t` of the output begins at
/// `t * stride` of `out`.
pub(crate) fn linear(
    level: Level,
    input: &Quantised,
    layer: &Linear<'_>,
    (first, count): (usize, usize),
    out: &mut [f32],
    stride: usize,
) {
    dispatch!(level, simd => linear_rows(simd, input, layer, (first, count), out, stride));
}

#[inline(always)]
fn linear_rows<S: Simd>(
    simd: S,
    input: &Quantised,
    layer: &Linear<'_>,
    (first, count): (usize, usize),
    out: &mut [f32],
    stride: usize,
) {
    let tokens = input.scales.len();
    for output in (0..count).step_by(BLOCK) {
        let block = layer.matrix.block(first + output);
        let scales = halves(simd, layer.matrix.scales, first + output);
        let biases = halves(simd, layer.bias, first + output);
        for token in (0..tokens).step_by(TOKENS) {
            // A group that is not full repeats the last token.
            let index: [usize; TOKENS] = std::array::from_fn(|j| (token + j).min(tokens - 1));
            let dots = dots(simd, block, index.map(|t| input.row(t)));
            for t in 0..TOKENS {
                let scale = input.scales[index[t]];
                let out = &mut out[index[t] * stride + output..][..BLOCK];
                for h in 0..2 {
                    let dot = dots[t][h].to_float::<f32x8<S>>();
                    (dot * (scales[h] * scale) + biases[h]).store_slice(&mut out[8 * h..8 * h + 8]);
                }
            }
        }
    }
}

/// The values of a block of outputs.
#[inline(always)]
fn halves<S: Simd>(simd: S, floats: Floats<'_>, first: usize) -> [f32x8<S>; 2] {
    let (low, high) = (floats.array::<8>(first), floats.array::<8>(first + 8));
    [
        f32x8::from_slice(simd, &low),
        f32x8::from_slice(simd, &high),
    ]
}

/// Dot products of a block of weights with the activations of some tokens.
#[inline(always)]
fn dots<S: Simd>(simd: S, block: &[u8], [a, b, c, d]: [&[i32]; TOKENS]) -> [[i32x8<S>; 2]; TOKENS] {
    let mut sums = [[i32x8::splat(simd, 0); 2]; TOKENS];
    let pairs = a.iter().zip(b).zip(c.iter().zip(d));
    for (weights, ((a, b), (c, d))) in block.chunks_exact(2 * BLOCK).zip(pairs) {
        let (low, high) = u8x32::from_slice(simd, weights)
            .bitcast::<i8x32<S>>()
            .widen();
        let pairs = [*a, *b, *c, *d];
        for t in 0..TOKENS {
            let pair = i32x8::splat(simd, pairs[t]).bitcast::<i16x16<S>>();
            sums[t][0] += low.pairwise_dot_product(pair);
            sums[t][1] += high.pairwise_dot_product(pair);
        }
    }
    sums
}

/// Applies GELU to every value.
pub(crate) fn gelu(level: Level, values: &mut [f32]) {
    dispatch!(level, _simd => for x in values.iter_mut() { *x = math::gelu(*x); });
}

/// `rows` = LayerNorm(`rows` + `added`), each row of `width` values by itself (Ba et al., arXiv:1607.06450).
pub(crate) fn add_and_norm(
    level: Level,
    rows: &mut [f32],
    added: &[f32],
    width: usize,
    norm: &Norm<'_>,
) {
    dispatch!(level, simd => {
        for (row, added) in rows.chunks_exact_mut(width).zip(added.chunks_exact(width)) {
            add_and_norm_row(simd, row, added, norm);
        }
    });
}

#[inline(always)]
fn add_and_norm_row<S: Simd>(simd: S, row: &mut [f32], added: &[f32], norm: &Norm<'_>) {
    const EPSILON: f32 = 1e-12;
    let length = row.len() as f32;
    let mut sum = f32x16::splat(simd, 0.0);
    for (row, added) in row.chunks_exact_mut(LANES).zip(added.chunks_exact(LANES)) {
        let x = f32x16::from_slice(simd, row) + f32x16::from_slice(simd, added);
        x.store_slice(row);
        sum += x;
    }
    let mean = sum.reduce_sum() / length;
    let mut squares = f32x16::splat(simd, 0.0);
    for chunk in row.chunks_exact(LANES) {
        let x = f32x16::from_slice(simd, chunk) - mean;
        squares += x * x;
    }
    let inverse = 1.0 / (squares.reduce_sum() / length + EPSILON).sqrt();
    for ((x, weight), bias) in row.iter_mut().zip(norm.weight.iter()).zip(norm.bias.iter()) {
        *x = (*x - mean) * inverse * weight + bias;
    }
}

/// One head of self-attention (Vaswani et al., arXiv:1706.03762).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// Values in a row of queries, keys and values together, and where those of this head begin in it.
    pub(crate) stride: usize,
    pub(crate) query: usize,
    pub(crate) key: usize,
    pub(crate) value: usize,
    pub(crate) width: usize,
    /// How many tokens, and how many of them, from the first, ask.
    pub(crate) tokens: usize,
    pub(crate) asking: usize,
}

impl Head {
    fn padded_tokens(&self) -> usize {
        self.tokens.next_multiple_of(LANES)
    }

    /// f32 values that [`attention`] needs beside its input and output.
    pub(crate) fn scratch(&self) -> usize {
        (self.width + TOKENS) * self.padded_tokens()
    }
}

/// Softmax(q kᵀ / √width) v of one head. Row `t` of the output begins at `t * out_stride` of `out`.
pub(crate) fn attention(
    level: Level,
    head: &Head,
    qkv: &[f32],
    scratch: &mut Vec<f32>,
    out: &mut [f32],
    out_stride: usize,
) {
    // The padding of keys stays zero.
    scratch.clear();
    scratch.resize(head.scratch(), 0.0);
    dispatch!(level, simd => attention_rows(simd, head, qkv, scratch, out, out_stride));
}

#[inline(always)]
fn attention_rows<S: Simd>(
    simd: S,
    head: &Head,
    qkv: &[f32],
    scratch: &mut [f32],
    out: &mut [f32],
    out_stride: usize,
) {
    let padded = head.padded_tokens();
    let (keys, weights) = scratch.split_at_mut(head.width * padded);
    for (t, row) in qkv.chunks_exact(head.stride).take(head.tokens).enumerate() {
        for (keys, x) in keys
            .chunks_exact_mut(padded)
            .zip(&row[head.key..head.key + head.width])
        {
            keys[t] = *x;
        }
    }
    let scale = 1.0 / (head.width as f32).sqrt();
    for token in (0..head.asking).step_by(TOKENS) {
        let index: [usize; TOKENS] = std::array::from_fn(|j| (token + j).min(head.asking - 1));
        let queries = index.map(|t| &qkv[t * head.stride + head.query..][..head.width]);
        for position in (0..padded).step_by(LANES) {
            let mut scores = [f32x16::splat(simd, 0.0); TOKENS];
            for (d, keys) in keys.chunks_exact(padded).enumerate() {
                let key = f32x16::from_slice(simd, &keys[position..position + LANES]);
                for t in 0..TOKENS {
                    scores[t] += key * queries[t][d];
                }
            }
            for t in 0..TOKENS {
                (scores[t] * scale).store_slice(&mut weights[t * padded + position..][..LANES]);
            }
        }
        let mut sums = [0.0; TOKENS];
        for (row, sum) in weights.chunks_exact_mut(padded).zip(&mut sums) {
            *sum = exponentials(simd, row, head.tokens);
        }
        let (a, rest) = weights.split_at(padded);
        let (b, rest) = rest.split_at(padded);
        let (c, d) = rest.split_at(padded);
        for column in (0..head.width).step_by(LANES) {
            let mut mixed = [f32x16::splat(simd, 0.0); TOKENS];
            for (j, row) in qkv.chunks_exact(head.stride).take(head.tokens).enumerate() {
                let value = f32x16::from_slice(simd, &row[head.value + column..][..LANES]);
                mixed[0] += value * a[j];
                mixed[1] += value * b[j];
                mixed[2] += value * c[j];
                mixed[3] += value * d[j];
            }
            for t in 0..TOKENS {
                let row = &mut out[index[t] * out_stride + column..][..LANES];
                (mixed[t] * (1.0 / sums[t])).store_slice(row);
            }
        }
    }
}

/// Replaces the first `count` scores of a row by e^(score - largest score), the rest by 0; returns the sum.
#[inline(always)]
fn exponentials<S: Simd>(simd: S, row: &mut [f32], count: usize) -> f32 {
    let largest = row[..count]
        .iter()
        .fold(f32::MIN, |a, b| if a > *b { a } else { *b });
    for x in row.iter_mut() {
        *x = math::exp(*x - largest);
    }
    row[count..].fill(0.0);
    let mut sum = f32x16::splat(simd, 0.0);
    for chunk in row.chunks_exact(LANES) {
        sum += f32x16::from_slice(simd, chunk);
    }
    sum.reduce_sum()
}
