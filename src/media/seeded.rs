//! Seeded numbers for synthetic pictures: nothing statistical, only "the same seed, the same bytes".

/// `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Debug)]
pub(super) struct Seeded(u64);

impl Seeded {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Eight bytes.
    pub(super) const fn bytes(&mut self) -> [u8; 8] {
        self.next().to_le_bytes()
    }

    /// A number below `bound`, or 0 when there is none; the bias of the remainder does not matter here.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        let remainder = self.next().checked_rem(bound.into()).unwrap_or(0);
        u32::try_from(remainder).unwrap_or(0)
    }
}
