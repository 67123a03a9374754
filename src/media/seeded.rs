//! Seeded numbers for synthetic pictures: nothing statistical, only "the same seed, the same bytes".

/// `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Debug)]
pub(super) struct Seeded {
    state: u64,
    /// The state that colours are moved by, apart from the other so that everything else stays as it is.
    drift: Option<u64>,
}

/// How far a drift moves a colour at most, of 255.
const FURTHEST: u8 = 8;

impl Seeded {
    pub(super) const fn new(seed: u64) -> Self {
        Self { state: seed, drift: None }
    }

    /// The same numbers, with colours a little off; another drift moves them otherwise.
    pub(super) const fn drifting(seed: u64, drift: u64) -> Self {
        Self { state: seed, drift: Some(drift) }
    }

    pub(super) const fn next(&mut self) -> u64 {
        step(&mut self.state)
    }

    /// The colour, or one near it.
    pub(super) fn near(&mut self, colour: u8) -> u8 {
        let Some(drift) = &mut self.drift else { return colour };
        let [steps, side, ..] = step(drift).to_le_bytes();
        let steps = steps % (FURTHEST + 1);
        if side.is_multiple_of(2) { colour.saturating_add(steps) } else { colour.saturating_sub(steps) }
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

const fn step(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
