//! Full validation: pictures decoded whole, after their request has ended.

use crate::catalog::Flag;
use crate::media::{Soundness, inspect_image};

/// What decoding a picture whole brings to light: [`Flag::Truncated`] when its data are cut off or
/// damaged, [`Flag::Blank`] when every pixel has the same colour. A picture too large to decode is
/// not remarked on.
pub fn inspect(picture: &[u8]) -> Option<Flag> {
    match inspect_image(picture) {
        Soundness::Damaged(_) => Some(Flag::Truncated),
        Soundness::SingleColour(_) => Some(Flag::Blank),
        Soundness::Sound(_) | Soundness::Undecided(_) => None,
    }
}
