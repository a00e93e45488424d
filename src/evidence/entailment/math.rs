//! `exp`, `erf`, `tanh` and GELU in f32 from additions, multiplications and divisions alone. Those are exactly rounded
//! (IEEE 754), Rust does not fuse them, and no C library is called: results are the same bits on every machine.
//! Written without branches so that loops over them vectorise.

/// 1.5 · 2^23: added to |x| < 2^22, leaves x rounded to the nearest integer (ties to even) in the low bits.
pub(crate) const ROUND: f32 = 12_582_912.0;

#[inline(always)]
fn clamp(x: f32, low: f32, high: f32) -> f32 {
    let x = if x > low { x } else { low };
    if x < high { x } else { high }
}

/// e^x for x clamped to [-87, 88]; relative error below 3e-7. Polynomial of the Cephes library's `expf`.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    let x = clamp(x, -87.0, 88.0);
    // x = n ln 2 + r with |r| <= ln 2 / 2; ln 2 in two parts, the first short enough for n times it to be exact.
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * 0.693_359_4) - n * -2.121_944_4e-4;
    let mut p = 1.987_569_1e-4;
    p = p * r + 1.398_199_9e-3;
    p = p * r + 8.333_452e-3;
    p = p * r + 4.166_579_6e-2;
    p = p * r + 0.166_666_65;
    p = p * r + 0.5;
    let exp_r = (p * (r * r) + r) + 1.0;
    // The low bits of `shifted` are n: moved into the exponent they make 2^n.
    exp_r * f32::from_bits((shifted.to_bits().wrapping_add(127)) << 23)
}

/// The error function; absolute error below 5e-7. Rational approximation of the Eigen library.
#[inline(always)]
pub(crate) fn erf(x: f32) -> f32 {
    let x = clamp(x, -4.0, 4.0);
    let z = x * x;
    let mut p = -2.726_142_3e-10;
    p = p * z + 2.770_681_4e-8;
    p = p * z + -2.101_024e-6;
    p = p * z + -5.692_506_4e-5;
    p = p * z + -7.349_906_3e-4;
    p = p * z + -2.954_6e-3;
    p = p * z + -1.609_603_3e-2;
    let mut q = -1.456_607_2e-5;
    q = q * z + -2.133_740_6e-4;
    q = q * z + -1.682_827e-3;
    q = q * z + -7.373_329e-3;
    q = q * z + -1.426_473_9e-2;
    x * p / q
}

/// Hyperbolic tangent; absolute error below 3e-7.
pub(crate) fn tanh(x: f32) -> f32 {
    1.0 - 2.0 / (exp(2.0 * x) + 1.0)
}

/// x Φ(x), Φ being the normal distribution function (Hendrycks and Gimpel, arXiv:1606.08415); the erf form.
#[inline(always)]
pub(crate) fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (x, e^x, erf x, tanh x), from Python's `math`.
    const KNOWN: [(f64, f64, f64, f64); 8] = [
        (-20.0, 2.061153622438558e-9, -1.0, -1.0),
        (
            -3.5,
            0.0301973834223185,
            -0.9999992569016276,
            -0.9981778976111987,
        ),
        (
            -1.0,
            0.36787944117144233,
            -0.8427007929497149,
            -0.7615941559557649,
        ),
        (
            -0.25,
            0.7788007830714049,
            -0.2763263901682369,
            -0.24491866240370913,
        ),
        (0.0, 1.0, 0.0, 0.0),
        (
            0.7,
            2.0137527074704766,
            0.6778011938374184,
            0.6043677771171636,
        ),
        (
            2.3,
            9.974182454814718,
            0.9988568234026434,
            0.9800963962661914,
        ),
        (9.0, 8103.083927575384, 1.0, 0.9999999695400409),
    ];

    #[test]
    fn functions_are_close_to_the_exact_values() {
        for (x, e, error_function, tangent) in KNOWN {
            #[expect(clippy::cast_possible_truncation, reason = "a sample point")]
            let x = x as f32;
            assert!((f64::from(exp(x)) / e - 1.0).abs() < 3e-7, "exp {x}");
            assert!((f64::from(erf(x)) - error_function).abs() < 5e-7, "erf {x}");
            assert!((f64::from(tanh(x)) - tangent).abs() < 3e-7, "tanh {x}");
        }
    }

    #[test]
    fn the_bits_are_those_of_every_other_machine() {
        let bits = |x: f32| [exp(x), erf(x), tanh(x), gelu(x)].map(f32::to_bits);
        assert_eq!(bits(0.3), PINNED[0]);
        assert_eq!(bits(-1.7), PINNED[1]);
    }

    const PINNED: [[u32; 4]; 2] = [
        [1_068_288_044, 1_051_214_277, 1_049_962_220, 1_044_238_985],
        [1_044_058_467, 3_212_564_913, 3_211_753_210, 3_181_062_327],
    ];
}
