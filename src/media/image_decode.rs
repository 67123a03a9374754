//! Decodes whole pictures through the `image` crate, to tell a complete file from one that only
//! starts like a picture, and a picture from an empty surface.

use std::io::Cursor;

use image::{DynamicImage, ImageError, ImageReader, Limits};

use super::image_probe::not_an_image;
use super::pixels::Pixels;
use super::types::{ImageFormat, ImageInfo, MediaError};

/// Longest side decoded.
const LONGEST_SIDE: u32 = 16_384;
/// Most memory one decode may take.
const DECODE_BYTES: u64 = 1 << 30;

/// Decodes every pixel of a PNG, JPEG or WebP and says what it was. Sides above 16384 pixels and
/// pictures that need more than 1 GiB are refused.
pub fn decode_image(bytes: &[u8]) -> Result<ImageInfo, MediaError> {
    decode(bytes).map(|(info, _)| info).map_err(Undecoded::into_error)
}

/// The pixels of a PNG, JPEG or WebP as 8-bit RGB, within the limits of [`decode_image`]; transparency
/// is left out, and what has more bits is rounded.
pub fn decode_pixels(bytes: &[u8]) -> Result<Pixels, MediaError> {
    let (info, picture) = decode(bytes).map_err(Undecoded::into_error)?;
    Pixels::new(info.width, info.height, picture.into_rgb8().into_raw())
        .ok_or_else(|| MediaError::new("the picture does not have as many pixels as its size"))
}

/// What decoding a picture whole brings to light.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Soundness {
    /// Every pixel is there.
    Sound(ImageInfo),
    /// Every pixel is there and all have the same colour.
    SingleColour(ImageInfo),
    /// The data are cut off or damaged.
    Damaged(MediaError),
    /// The picture is larger, or of another kind, than is decoded here.
    Undecided(MediaError),
}

/// Decodes every pixel of a picture and looks at them.
pub fn inspect_image(bytes: &[u8]) -> Soundness {
    match decode(bytes) {
        Ok((info, picture)) if has_one_colour(&picture) => Soundness::SingleColour(info),
        Ok((info, _)) => Soundness::Sound(info),
        Err(Undecoded::Damaged(error)) => Soundness::Damaged(error),
        Err(Undecoded::Refused(error)) => Soundness::Undecided(error),
    }
}

enum Undecoded {
    Damaged(MediaError),
    Refused(MediaError),
}

impl Undecoded {
    fn into_error(self) -> MediaError {
        match self {
            Self::Damaged(error) | Self::Refused(error) => error,
        }
    }
}

fn decode(bytes: &[u8]) -> Result<(ImageInfo, DynamicImage), Undecoded> {
    if bytes.is_empty() {
        return Err(Undecoded::Damaged(MediaError::new("no image data")));
    }
    let format = ImageFormat::sniff(bytes).ok_or_else(|| Undecoded::Damaged(not_an_image(bytes)))?;
    if format == ImageFormat::Jpeg && !has_end(bytes) {
        return Err(Undecoded::Damaged(MediaError(format!("{format} does not decode: it is cut off"))));
    }
    let mut reader = ImageReader::with_format(
        Cursor::new(bytes),
        match format {
            ImageFormat::Png => image::ImageFormat::Png,
            ImageFormat::Jpeg => image::ImageFormat::Jpeg,
            ImageFormat::Webp => image::ImageFormat::WebP,
        },
    );
    let mut limits = Limits::default();
    limits.max_image_width = Some(LONGEST_SIDE);
    limits.max_image_height = Some(LONGEST_SIDE);
    limits.max_alloc = Some(DECODE_BYTES);
    reader.limits(limits);
    let picture = reader.decode().map_err(|error| {
        let message = MediaError(format!("{format} does not decode: {error}"));
        match error {
            ImageError::Limits(_) | ImageError::Unsupported(_) => Undecoded::Refused(message),
            _ => Undecoded::Damaged(message),
        }
    })?;
    let info = ImageInfo::checked(format, picture.width(), picture.height()).map_err(Undecoded::Damaged)?;
    Ok((info, picture))
}

/// Whether no pixel differs from the first.
fn has_one_colour(picture: &DynamicImage) -> bool {
    let mut pixels = picture.as_bytes().chunks_exact(usize::from(picture.color().bytes_per_pixel()));
    let first = pixels.next();
    pixels.all(|pixel| Some(pixel) == first)
}

/// Whether a JPEG's last scan is followed by the end marker: decoders fill up what is missing with
/// grey and do not complain. Neither marker can occur inside a scan's data.
pub(super) fn has_end(jpeg: &[u8]) -> bool {
    let end = jpeg.windows(2).rposition(|pair| pair == [0xFF, 0xD9]);
    let after = end.and_then(|end| jpeg.get(end..)).unwrap_or(jpeg);
    end.is_some() && !after.windows(2).any(|pair| pair == [0xFF, 0xDA])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::write_image;

    const FORMATS: [ImageFormat; 3] = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Webp];

    #[test]
    fn a_whole_picture_is_sound_and_every_shorter_half_is_damaged() {
        for format in FORMATS {
            let picture = write_image(format, 96, 64, 3).unwrap();
            assert_eq!(inspect_image(&picture), Soundness::Sound(decode_image(&picture).unwrap()), "{format}");
            for share in [2, 3, 5] {
                let cut = &picture[..picture.len() - picture.len() / share];
                assert!(matches!(inspect_image(cut), Soundness::Damaged(_)), "{format} without 1/{share}");
            }
        }
    }

    #[test]
    fn a_surface_of_one_colour_is_told_from_a_picture() {
        let one = image::RgbImage::from_pixel(40, 30, image::Rgb([7, 90, 200]));
        let mut other = one.clone();
        other.put_pixel(39, 29, image::Rgb([7, 90, 201]));
        for (format, name) in [(image::ImageFormat::Png, "png"), (image::ImageFormat::WebP, "webp")] {
            let encoded = |picture: &image::RgbImage| {
                let mut bytes = Cursor::new(Vec::new());
                picture.write_to(&mut bytes, format).unwrap();
                bytes.into_inner()
            };
            assert!(matches!(inspect_image(&encoded(&one)), Soundness::SingleColour(_)), "{name}");
            assert!(matches!(inspect_image(&encoded(&other)), Soundness::Sound(_)), "{name}");
        }
    }

    #[test]
    fn what_is_too_large_to_decode_is_not_called_damaged() {
        let wide = image::GrayImage::new(LONGEST_SIDE + 1, 1);
        let mut bytes = Cursor::new(Vec::new());
        wide.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        assert!(matches!(inspect_image(&bytes.into_inner()), Soundness::Undecided(_)));
        assert!(matches!(inspect_image(b"GIF89a"), Soundness::Damaged(_)));
    }
}
