//! Whether a picture's file is complete, told from its structure without decoding a pixel: cheap
//! enough for every reference of a large dataset, and enough to find one that was cut off.

use super::image_decode::has_end;
use super::image_probe::ImageProbe;
use super::types::{ImageFormat, ImageInfo, MediaError};

/// What the header says, if the file also reaches to its end.
pub fn check_image(bytes: &[u8]) -> Result<ImageInfo, MediaError> {
    let mut probe = ImageProbe::new();
    probe.feed(bytes);
    let info = probe.finish()?;
    let complete = match info.format {
        ImageFormat::Png => png_ends(bytes),
        ImageFormat::Jpeg => has_end(bytes),
        ImageFormat::Webp => webp_ends(bytes),
    };
    if complete { Ok(info) } else { Err(MediaError(format!("{} is cut off", info.format))) }
}

/// Whether chunk follows chunk up to IEND (PNG specification, section 5.3).
fn png_ends(bytes: &[u8]) -> bool {
    let mut rest = bytes.get(8..).unwrap_or_default();
    while let Some((head, after)) = rest.split_first_chunk::<8>() {
        let [l0, l1, l2, l3, kind @ ..] = *head;
        let Some(length) = usize::try_from(u32::from_be_bytes([l0, l1, l2, l3])).ok() else { return false };
        // the chunk's data and its checksum
        let Some(next) = length.checked_add(4).and_then(|skip| after.get(skip..)) else { return false };
        if &kind == b"IEND" {
            return true;
        }
        rest = next;
    }
    false
}

/// Whether as many bytes are there as the RIFF header says.
fn webp_ends(bytes: &[u8]) -> bool {
    let told = bytes.get(4..8).and_then(|size| size.first_chunk::<4>()).map(|size| u32::from_le_bytes(*size));
    told.is_some_and(|told| bytes.len() as u64 >= u64::from(told) + 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::write_image;

    #[test]
    fn a_whole_file_passes_and_every_shorter_one_is_cut_off() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Webp] {
            let file = write_image(format, 64, 48, 3).unwrap();
            assert_eq!(check_image(&file), Ok(ImageInfo { format, width: 64, height: 48 }));
            for length in [file.len() - 1, file.len() / 2, 40] {
                assert!(check_image(&file[..length]).is_err(), "{format} of {length} bytes");
            }
            let cut = check_image(&file[..file.len() - 3]).unwrap_err();
            assert_eq!(cut.0, format!("{format} is cut off"));
        }
        assert_eq!(check_image(b"hello, world").unwrap_err().0, "not an image: starts with `hello, world`");
    }

    #[test]
    fn what_follows_the_end_does_not_matter() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Webp] {
            let file = [write_image(format, 16, 16, 1).unwrap(), b"tail".to_vec()].concat();
            assert!(check_image(&file).is_ok(), "{format}");
        }
    }
}
