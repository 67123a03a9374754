//! `CPython`'s `random.Random`, bit for bit: MT19937 (Matsumoto and Nishimura, 1998) with the seeding
//! of `random_seed` and the 53-bit floats of `random.random()`. The dashboards' mixed datasets were
//! drawn with it, so a scenario with the same seed sends the same sequence.

const STATE: usize = 624;
const SHIFT: usize = 397;
const UPPER: u32 = 0x8000_0000;
const LOWER: u32 = 0x7fff_ffff;

/// A generator equal to `random.Random(seed)`.
#[derive(Debug, Clone)]
pub struct PyRandom {
    state: [u32; STATE],
    next: usize,
}

impl PyRandom {
    /// `random.Random(seed)`.
    pub fn new(seed: u64) -> Self {
        let low = u32::try_from(seed & u64::from(u32::MAX)).unwrap_or_default();
        let high = u32::try_from(seed >> 32).unwrap_or_default();
        // the key has as many words as the number needs, and one for 0
        if high == 0 { Self::by_array(&[low]) } else { Self::by_array(&[low, high]) }
    }

    fn by_genrand(seed: u32) -> Self {
        let mut state = [0; STATE];
        let mut last = seed;
        for (word, number) in state.iter_mut().zip(0_u32..) {
            if number > 0 {
                last = 1_812_433_253_u32.wrapping_mul(last ^ (last >> 30)).wrapping_add(number);
            }
            *word = last;
        }
        Self { state, next: STATE }
    }

    #[expect(clippy::indexing_slicing, reason = "i stays below STATE, j below the key's length")]
    fn by_array(key: &[u32]) -> Self {
        let mut random = Self::by_genrand(19_650_218);
        let state = &mut random.state;
        let (mut i, mut j) = (1, 0);
        for _ in 0..STATE.max(key.len()) {
            let mixed = (state[i - 1] ^ (state[i - 1] >> 30)).wrapping_mul(1_664_525);
            let offset = u32::try_from(j).unwrap_or(u32::MAX);
            state[i] = (state[i] ^ mixed).wrapping_add(key[j]).wrapping_add(offset);
            (i, j) = (i + 1, (j + 1) % key.len());
            if i == STATE {
                state[0] = state[STATE - 1];
                i = 1;
            }
        }
        for _ in 1..STATE {
            let mixed = (state[i - 1] ^ (state[i - 1] >> 30)).wrapping_mul(1_566_083_941);
            let offset = u32::try_from(i).unwrap_or(u32::MAX);
            state[i] = (state[i] ^ mixed).wrapping_sub(offset);
            i += 1;
            if i == STATE {
                state[0] = state[STATE - 1];
                i = 1;
            }
        }
        state[0] = UPPER;
        random
    }

    #[expect(clippy::indexing_slicing, reason = "every index is taken modulo STATE")]
    fn refill(&mut self) {
        for i in 0..STATE {
            let bits = (self.state[i] & UPPER) | (self.state[(i + 1) % STATE] & LOWER);
            let twist = if bits & 1 == 0 { 0 } else { 0x9908_b0df };
            self.state[i] = self.state[(i + SHIFT) % STATE] ^ (bits >> 1) ^ twist;
        }
        self.next = 0;
    }

    fn word(&mut self) -> u32 {
        if self.next >= STATE {
            self.refill();
        }
        let mut word = self.state.get(self.next).copied().unwrap_or_default();
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    /// `random.random()`: a float in [0, 1) with 53 random bits.
    pub fn random(&mut self) -> f64 {
        let (high, low) = (self.word() >> 5, self.word() >> 6);
        (f64::from(high) * 67_108_864.0 + f64::from(low)) / 9_007_199_254_740_992.0
    }

    /// `random.choices(range(n), cum_weights=cumulative, k=k)`: positions, each the first whose
    /// cumulative weight exceeds a draw, and never past the last. Empty weights draw nothing.
    pub fn choices(&mut self, cumulative: &[f64], k: usize) -> Vec<usize> {
        let Some((total, last)) = cumulative.last().map(|total| (*total, cumulative.len() - 1)) else {
            return Vec::new();
        };
        (0..k)
            .map(|_| {
                let draw = self.random() * total;
                cumulative.partition_point(|weight| *weight <= draw).min(last)
            })
            .collect()
    }

    /// A whole number in `0..bound`; 0 for an empty range.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the product is in 0..bound")]
    #[expect(clippy::cast_precision_loss, reason = "bounds are counts far below 2^53")]
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((self.random() * bound as f64) as usize).min(bound.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cumulative(weights: &[f64]) -> Vec<f64> {
        weights
            .iter()
            .scan(0.0, |sum, weight| {
                *sum += weight;
                Some(*sum)
            })
            .collect()
    }

    #[test]
    fn seed_42_starts_as_in_cpython() {
        let mut random = PyRandom::new(42);
        for expected in [0.639_426_798_457_883_7_f64, 0.025_010_755_222_666_936, 0.275_029_318_369_119_26] {
            assert_eq!(random.random().to_bits(), expected.to_bits());
        }
    }

    #[test]
    fn choices_equal_the_dashboards_sequence() {
        let drawn = PyRandom::new(42).choices(&cumulative(&[0.15, 0.25, 0.60]), 20);
        assert_eq!(drawn, [2, 0, 1, 1, 2, 2, 2, 0, 2, 0, 1, 2, 0, 1, 2, 2, 1, 2, 2, 0]);
    }

    #[test]
    fn fixture_made_by_cpython_is_reproduced_exactly() {
        let fixture: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/fixtures/pyrandom.json")).unwrap();
        for case in fixture["cases"].as_array().unwrap() {
            let seed: u64 = case["seed"].as_str().unwrap().parse().unwrap();
            let mut random = PyRandom::new(seed);
            for bits in case["random_bits"].as_array().unwrap() {
                let expected = u64::from_str_radix(bits.as_str().unwrap(), 16).unwrap();
                assert_eq!(random.random().to_bits(), expected, "seed {seed}");
            }
            for draw in case["choices"].as_array().unwrap() {
                let weights: Vec<f64> =
                    draw["weights"].as_array().unwrap().iter().map(|w| w.as_f64().unwrap()).collect();
                let expected: Vec<usize> = serde_json::from_value(draw["drawn"].clone()).unwrap();
                let drawn = PyRandom::new(seed).choices(&cumulative(&weights), expected.len());
                assert_eq!(drawn, expected, "seed {seed}, weights {weights:?}");
            }
        }
    }

    #[test]
    fn a_weight_of_zero_is_never_drawn() {
        let drawn = PyRandom::new(1).choices(&cumulative(&[0.0, 1.0, 0.0]), 1000);
        assert!(drawn.iter().all(|position| *position == 1));
    }
}
