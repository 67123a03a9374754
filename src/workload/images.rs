//! Synthetic reference images, made once per size and shared between requests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use super::{InputMedia, Reference, Shape};
use crate::media::{ImageFormat, write_image};

/// Side of an image when neither the dataset nor the request says.
const DEFAULT_SIDE: u32 = 512;

/// The images made so far, by width, height and position in the request.
#[derive(Debug, Default)]
pub(super) struct Images(Mutex<BTreeMap<(u32, u32, u32), Bytes>>);

impl Images {
    /// The reference images of a request of this shape; equal ones share their bytes.
    pub(super) fn of(&self, media: Option<InputMedia>, shape: Shape) -> Vec<Reference> {
        let Some(media) = media else { return Vec::new() };
        let (width, height) = size(media, shape);
        (0..media.count)
            .filter_map(|position| {
                Some(Reference::Bytes {
                    bytes: self.image(width, height, position)?,
                    mime: Arc::from("image/png"),
                    file_name: Arc::from(format!("input_{position}.png")),
                })
            })
            .collect()
    }

    /// `None` only for a size that loading and planning refuse.
    fn image(&self, width: u32, height: u32, position: u32) -> Option<Bytes> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = made.get(&(width, height, position)) {
            return Some(bytes.clone());
        }
        let bytes = Bytes::from(write_image(ImageFormat::Png, width, height, u64::from(position)).ok()?);
        made.insert((width, height, position), bytes.clone());
        Some(bytes)
    }
}

/// Width and height of a request's reference images.
pub(super) fn size(media: InputMedia, shape: Shape) -> (u32, u32) {
    let side = |own: Option<u32>, asked: Option<u32>| own.or(asked).unwrap_or(DEFAULT_SIDE);
    (side(media.width, shape.width), side(media.height, shape.height))
}
