//! The cost models by name, with the figures their constants come from.

use super::cost::{Defaults, Profile};

/// Qwen-Image on A100-SXM4-80GB.
///
/// Published at cfg 2 × ulysses 2: 512² with 20 steps 2.2087 s (A), 1536² with 35 steps 19.6739 s (B), and the
/// mean of a mix of ten, 3 × A, 2 × 768²/20, 4 × 1024²/25, 1 × B: 5.67259 s. With the fixed part and decoding
/// set to 0.1 s and 0.1 s a megapixel (they cannot be told from the steps by these figures), the three give
/// three linear equations in the three step constants over an efficiency of 2.928:
/// 0.0721, 0.1120, 0.03885 there; times 2.928 on one GPU. The P99 of the mix, 18.6234 s, was not used and comes
/// out 1.0 % low.
///
/// `member_share`: with 8 in a batch a request takes 0.126 + 2.083 × (1 + 7·share) ÷ 8 s of the server; the
/// published server gains 1.98 ×, so the share is 0.40.
///
/// Memory: 55,121 MB at 512² and 65,118 MB at 1536² on one GPU give 4,767 MB a megapixel over 53,871 MB, of
/// which the transformer's 20 billion weights in bf16 can be sharded.
const QWEN_IMAGE: Profile = Profile {
    name: "qwen-image",
    fixed_s: 0.1,
    per_step_s: 0.2111,
    per_mpf_s: 0.3278,
    per_mp2f_s: 0.1138,
    decode_per_mpf_s: 0.1,
    member_share: 0.40,
    resident_mb: 14_871.0,
    sharded_mb: 39_000.0,
    decode_mb_per_mpf: 4_767.0,
    defaults: Defaults { image: (1024, 1024), image_steps: 50, video: (832, 480), video_steps: 50, frames: 81 },
};

/// Wan2.2-T2V-A14B on A100-SXM4-80GB.
///
/// Published at cfg 2 × ulysses 2 with HSDP, VAE degree 1 and 4: 854×480, 80 frames, 3 steps 24.6766 and
/// 21.6810 s (A); 1280×720, 80 frames, 6 steps 124.6639 and 117.44 s (B). Degree 4 leaves a quarter of the
/// decoding, so the differences, 2.9956 and 7.2239 s, are three quarters of it: 0.122 and 0.131 s a
/// megapixel·frame, least squares 0.1277. A and B at degree 1 then give two equations in two step constants:
/// 0.1631 and 0.1052 over an efficiency of 2.928 ÷ 1.03. A constant per step would be a third unknown; video
/// steps are too long for it to matter. The mix, 3 × A, 2 × 854×480/4 steps/120 frames, 5 × B, was not used: its
/// means, 79.2175 and 74.4977 s, come out within 0.1 and 1.1 %.
///
/// Memory: 80,548 MB on one GPU, 50,053.7 MB with HSDP over two GPUs and VAE degree 2 (both 832×480, 81
/// frames), 59,718 MB there at 1280×720, 121 frames.
const WAN_2_2: Profile = Profile {
    name: "wan2.2",
    fixed_s: 0.2,
    per_step_s: 0.0,
    per_mpf_s: 0.4636,
    per_mp2f_s: 0.2992,
    decode_per_mpf_s: 0.1277,
    member_share: 0.9,
    resident_mb: 19_556.0,
    sharded_mb: 53_100.0,
    decode_mb_per_mpf: 244.0,
    defaults: Defaults { image: (1280, 720), image_steps: 40, video: (1280, 720), video_steps: 40, frames: 81 },
};

/// A model nobody has measured: of the order of a 10-billion-parameter model on the same GPU.
const GENERIC: Profile = Profile {
    name: "generic",
    fixed_s: 0.1,
    per_step_s: 0.1,
    per_mpf_s: 0.2,
    per_mp2f_s: 0.1,
    decode_per_mpf_s: 0.1,
    member_share: 0.40,
    resident_mb: 10_000.0,
    sharded_mb: 20_000.0,
    decode_mb_per_mpf: 500.0,
    defaults: Defaults { image: (1024, 1024), image_steps: 50, video: (832, 480), video_steps: 40, frames: 81 },
};

const ALL: [&Profile; 3] = [&QWEN_IMAGE, &WAN_2_2, &GENERIC];

/// Names of all profiles.
pub(crate) fn names() -> Vec<&'static str> {
    ALL.iter().map(|profile| profile.name).collect()
}

/// The profile of that name.
pub(crate) fn named(name: &str) -> Option<&'static Profile> {
    ALL.into_iter().find(|profile| profile.name == name)
}

/// The profile whose name is part of the model id, else the generic one.
pub(crate) fn fitting(model: &str) -> &'static Profile {
    let model = model.to_lowercase();
    ALL.into_iter().find(|profile| model.contains(profile.name)).unwrap_or(&GENERIC)
}
