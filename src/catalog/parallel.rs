//! Parallel degrees and the serve flags that set them.

/// One parallel degree of a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DegreeSpec {
    /// The key under `parallel`.
    pub key: &'static str,
    /// The serve flag derived from it, without the dashes.
    pub flag: &'static str,
    /// Other spellings of the same flag, checked for disagreement.
    pub aliases: &'static [&'static str],
    /// The column header on the official dashboards.
    pub header: &'static str,
    /// Whether the degree multiplies the GPU count.
    pub multiplies_gpus: bool,
    /// Whether it is an on/off switch rather than a number.
    pub switch: bool,
}

const fn degree(
    key: &'static str,
    flag: &'static str,
    aliases: &'static [&'static str],
    header: &'static str,
    multiplies_gpus: bool,
) -> DegreeSpec {
    DegreeSpec { key, flag, aliases, header, multiplies_gpus, switch: false }
}

/// Every degree, in the order of the dashboards' columns.
pub const DEGREES: &[DegreeSpec] = &[
    degree("cfg", "cfg-parallel-size", &[], "CFG", true),
    degree("ulysses", "ulysses-degree", &["usp"], "Usp", true),
    degree("ring", "ring-degree", &["ring"], "Ring", true),
    degree("tensor", "tensor-parallel-size", &[], "Tp", true),
    degree("pipeline", "pipeline-parallel-size", &[], "Pp", true),
    degree("data", "data-parallel-size", &[], "Dp", true),
    DegreeSpec { key: "hsdp", flag: "use-hsdp", aliases: &[], header: "Hsdp", multiplies_gpus: false, switch: true },
    degree("vae_patch", "vae-patch-parallel-size", &[], "VAE Parallel", false),
    degree("text_encoder_tensor", "text-encoder-tp-size", &[], "Text Encoder Tp", false),
];
