//! What a model is asked to do, and what must come back.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Api;

/// What kind of output a task makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Medium {
    /// Still pictures.
    Image,
    /// Moving pictures in a container.
    Video,
}

/// The task of a model: what goes in (t text, i image, v video) and what comes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Text to image.
    T2i,
    /// Image to image.
    I2i,
    /// Text and image to image.
    Ti2i,
    /// Image and text to image, the name used by instruction-tuned editors.
    It2i,
    /// Text to video.
    T2v,
    /// Image to video.
    I2v,
    /// Text and image to video.
    Ti2v,
    /// Video to video.
    V2v,
}

impl Task {
    /// Every task, in the order the documentation lists them.
    pub const ALL: [Self; 8] =
        [Self::T2i, Self::I2i, Self::Ti2i, Self::It2i, Self::T2v, Self::I2v, Self::Ti2v, Self::V2v];

    /// The name in a scenario file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::T2i => "t2i",
            Self::I2i => "i2i",
            Self::Ti2i => "ti2i",
            Self::It2i => "it2i",
            Self::T2v => "t2v",
            Self::I2v => "i2v",
            Self::Ti2v => "ti2v",
            Self::V2v => "v2v",
        }
    }

    /// What a successful reply must hold.
    pub const fn medium(self) -> Medium {
        match self {
            Self::T2i | Self::I2i | Self::Ti2i | Self::It2i => Medium::Image,
            Self::T2v | Self::I2v | Self::Ti2v | Self::V2v => Medium::Video,
        }
    }

    /// Whether every request must carry at least one reference image.
    pub const fn needs_image(self) -> bool {
        matches!(self, Self::I2i | Self::Ti2i | Self::It2i | Self::I2v | Self::Ti2v)
    }

    /// Whether every request must carry a reference video.
    pub const fn needs_video(self) -> bool {
        matches!(self, Self::V2v)
    }

    /// Whether requests may carry reference images.
    pub const fn takes_image(self) -> bool {
        !matches!(self, Self::T2i | Self::T2v)
    }

    /// Whether requests may carry reference videos.
    pub const fn takes_video(self) -> bool {
        matches!(self, Self::I2v | Self::Ti2v | Self::V2v)
    }

    /// The endpoint used when the scenario names none.
    pub const fn default_api(self) -> Api {
        match self {
            Self::T2i => Api::Generations,
            Self::I2i | Self::Ti2i | Self::It2i => Api::Edits,
            Self::T2v | Self::I2v | Self::Ti2v | Self::V2v => Api::Videos,
        }
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
