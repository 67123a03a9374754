//! Seeded numbers for noise and for pictures without a seed.

/// `SplitMix64` (Steele, Lea and Flood, 2014): one well-mixed value per state.
pub(crate) const fn mix(state: u64) -> u64 {
    let z = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A value of its own for the `index`-th thing of a sequence.
pub(crate) const fn nth(seed: u64, index: u64) -> u64 {
    mix(mix(seed) ^ index)
}

/// A seed of its own for every text.
pub(crate) fn of_text(text: &str) -> u64 {
    text.bytes().fold(0, |seed, byte| nth(seed, byte.into()))
}

/// The factor by which the `index`-th request is slower than modelled: lognormal with mean 1 and a relative
/// spread of about `noise`.
pub(crate) fn slowness(noise: f64, seed: u64, index: u64) -> f64 {
    if noise <= 0.0 {
        return 1.0;
    }
    // Box and Muller; the open interval keeps the logarithm finite
    let u = unit(nth(seed, index.wrapping_mul(2)));
    let v = unit(nth(seed, index.wrapping_mul(2).wrapping_add(1)));
    let z = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
    (noise * z - noise * noise / 2.0).exp()
}

/// A number in (0, 1).
pub(crate) fn unit(bits: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double")]
    let value = (bits >> 11) as f64;
    (value + 0.5) / 9_007_199_254_740_992.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_seeded_and_has_the_asked_spread_around_one() {
        let draw = |seed| (0..20_000).map(|i| slowness(0.1, seed, i)).collect::<Vec<_>>();
        let factors = draw(7);
        let n = 20_000.0;
        let mean = factors.iter().sum::<f64>() / n;
        let spread = (factors.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / n).sqrt();
        assert!((mean - 1.0).abs() < 0.005, "{mean}");
        assert!((spread - 0.1).abs() < 0.005, "{spread}");
        assert_eq!(factors, draw(7));
        assert_ne!(factors, draw(8));
        assert!((slowness(0.0, 7, 3) - 1.0).abs() < f64::EPSILON);
    }
}
