//! What is found about two folders, and how it is judged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of a [`Parity`] as JSON.
pub const PARITY_FORMAT: u32 = 1;

/// How alike two media, or two folders, are; later ones outweigh earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Likeness {
    /// The same bytes.
    Identical,
    /// Other bytes, the same pixels in every frame.
    SamePixels,
    /// Other pixels, and no further apart than restarts of one configuration are; or nobody knows how
    /// far apart those are.
    Unresolved,
    /// They could not be compared; the reason says why.
    NotCompared,
    /// Further apart than restarts of one configuration are.
    Different,
}

/// One of the two folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The first.
    A,
    /// The second.
    B,
}

/// How far apart the pixels of two media are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Frames compared; 1 for pictures.
    pub frames: u64,
    /// Frames with another pixel in them.
    pub differing_frames: u64,
    /// Peak signal-to-noise ratio in decibels over 8-bit RGB, of the frame in which it is lowest; null
    /// when all pixels are the same and it has no bound.
    pub psnr_db: Option<f64>,
    /// Mean structural similarity of luma, of the frame in which it is lowest; null for sides below
    /// 11 pixels, which its window does not fit into.
    pub ssim: Option<f64>,
}

/// What was found about two media.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// The same bytes.
    SameBytes,
    /// Pixels of the same size and number.
    Pixels(Difference),
    /// They cannot be laid over one another: another size or another number of frames.
    Shape {
        /// The first's, like `512x512` or `33 frames`.
        a: String,
        /// The second's.
        b: String,
    },
    /// One is not there.
    Missing(Side),
    /// They could not be compared.
    Uncompared(String),
}

/// The noise that restarts leave: how far apart repeats of one configuration are at most.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Band {
    /// Repeats it comes from.
    pub repeats: u64,
    /// Pairs of media that were compared.
    pub pairs: u64,
    /// Pairs that could not be, or differ in shape; they tell nothing about the noise.
    pub not_compared: u64,
    /// The lowest PSNR in decibels among them; null when all have the same pixels.
    pub min_psnr_db: Option<f64>,
    /// The lowest SSIM among them; null when none has one.
    pub min_ssim: Option<f64>,
}

/// Two media of the same request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    /// The request, from 1 in the order of the run.
    pub request: u32,
    /// Which of its outputs, from 0.
    pub output: u32,
    /// The file in the first folder; null when there is none.
    pub a: Option<String>,
    /// The file in the second folder; null when there is none.
    pub b: Option<String>,
    /// How alike they are.
    pub likeness: Likeness,
    /// How far apart their pixels are; null when the bytes are the same or pixels were not compared.
    pub difference: Option<Difference>,
    /// What the judgement rests on.
    pub reason: String,
}

/// How many pairs are how alike.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// The same bytes.
    pub identical: u64,
    /// Other bytes, the same pixels.
    pub same_pixels: u64,
    /// Within the noise of restarts, or that noise is not known.
    pub unresolved: u64,
    /// Not compared.
    pub not_compared: u64,
    /// Beyond the noise of restarts.
    pub different: u64,
}

/// How alike two folders of media are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parity {
    /// Version of this format.
    pub format: u32,
    /// The gravest judgement among the pairs; not compared when there are none.
    pub likeness: Likeness,
    /// How many pairs are how alike.
    pub counts: Counts,
    /// The lowest PSNR in decibels among pairs whose pixels differ; null when none do.
    pub min_psnr_db: Option<f64>,
    /// The lowest SSIM among pairs whose pixels were compared; null when none has one.
    pub min_ssim: Option<f64>,
    /// The noise of restarts that the pairs were held against; null when it is not known.
    pub band: Option<Band>,
    /// Every pair, in the order of requests.
    pub pairs: Vec<Pair>,
}
