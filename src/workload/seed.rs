//! Seeds derived per purpose, so that changing one use of randomness does not reshuffle another.

/// Names the derivation; a change of meaning needs a new one.
const CONTEXT: &str = "omni-bench seed v1";

/// The seed of one purpose under a traffic seed. Different purposes are unrelated.
pub fn derive_seed(seed: u64, purpose: &str) -> u64 {
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    hasher.update(&seed.to_le_bytes());
    hasher.update(purpose.as_bytes());
    let mut word = [0; 8];
    hasher.finalize_xof().fill(&mut word);
    u64::from_le_bytes(word)
}

/// The seed that request `index` sends: 31 bits, which every server's generator takes.
pub(super) fn request_seed(seed: u64, index: usize) -> u64 {
    derive_seed(seed, &format!("request {index}")) & 0x7fff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn purposes_and_seeds_give_unrelated_values() {
        assert_eq!(derive_seed(42, "arrivals"), derive_seed(42, "arrivals"));
        assert_ne!(derive_seed(42, "arrivals"), derive_seed(42, "request 0"));
        assert_ne!(derive_seed(42, "arrivals"), derive_seed(43, "arrivals"));
        assert!((0..100).all(|index| request_seed(7, index) < 1 << 31));
    }
}
