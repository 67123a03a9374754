use proptest::prelude::*;

use super::*;
use crate::media::{write_detailed_png, write_image};

const PNG_1X1: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mOoBwAAgQCAfhwpxwAAAABJRU5ErkJggg==";
const PNG_4X3: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAAAAACRn/EaAAAADklEQVR42mOoBwIGOAEALLUF9RKX40QAAAAASUVORK5CYII=";
const PNG_64X48: &str = "iVBORw0KGgoAAAANSUhEUgAAAEAAAAAwCAAAAACEICPDAAAAJUlEQVR42u3MQREAAAwCIJtb3RD77SAA6VEEAoFAIBAIBALB12AMd/RMfhbwEQAAAABJRU5ErkJggg==";

fn base64(text: &str) -> Vec<u8> {
    base64_simd::STANDARD.decode_to_vec(text).unwrap()
}

fn probe(bytes: &[u8]) -> Result<ImageInfo, MediaError> {
    let mut probe = ImageProbe::new();
    probe.feed(bytes);
    probe.finish()
}

fn reason(bytes: &[u8]) -> String {
    probe(bytes).unwrap_err().0
}

const fn is(format: ImageFormat, width: u32, height: u32) -> ImageInfo {
    ImageInfo { format, width, height }
}

fn segment(marker: u8, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(payload.len() + 2).unwrap().to_be_bytes();
    [&[0xFF, marker], &length[..], payload].concat()
}

/// A JPEG up to and with its frame header, after these segments.
fn jpeg(before: &[Vec<u8>], frame: u8, width: u16, height: u16) -> Vec<u8> {
    let ([h1, h0], [w1, w0]) = (height.to_be_bytes(), width.to_be_bytes());
    [vec![0xFF, 0xD8], before.concat(), segment(frame, &[8, h1, h0, w1, w0, 1, 1, 0x11, 0])].concat()
}

fn webp(kind: [u8; 4], payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_le_bytes();
    [&b"RIFF\0\0\0\0WEBP"[..], &kind, &length, payload].concat()
}

fn lossy(width: u16, height: u16) -> Vec<u8> {
    webp(*b"VP8 ", &[&[0x10, 0, 0, 0x9D, 1, 0x2A][..], &width.to_le_bytes(), &height.to_le_bytes()].concat())
}

fn extended(width: u32, height: u32) -> Vec<u8> {
    let ([w0, w1, w2, _], [h0, h1, h2, _]) = ((width - 1).to_le_bytes(), (height - 1).to_le_bytes());
    webp(*b"VP8X", &[0x10, 0, 0, 0, w0, w1, w2, h0, h1, h2])
}

#[test]
fn png_headers_give_the_size() {
    assert_eq!(probe(&base64(PNG_1X1)), Ok(is(ImageFormat::Png, 1, 1)));
    assert_eq!(probe(&base64(PNG_4X3)), Ok(is(ImageFormat::Png, 4, 3)));
    assert_eq!(probe(&base64(PNG_64X48)), Ok(is(ImageFormat::Png, 64, 48)));
}

#[test]
fn jpeg_frames_are_found_behind_other_segments() {
    assert_eq!(probe(&jpeg(&[], 0xC0, 640, 480)), Ok(is(ImageFormat::Jpeg, 640, 480)));
    // progressive, after JFIF, a large EXIF block with a thumbnail in it, an empty comment, and tables
    let thumbnail = jpeg(&[], 0xC0, 9, 9);
    let before = [
        segment(0xE0, b"JFIF\0"),
        segment(0xE1, &[b"Exif\0\0".to_vec(), thumbnail, vec![0xFF; 60_000]].concat()),
        segment(0xFE, b""),
        segment(0xDB, &[1; 65]),
        segment(0xC4, &[0; 20]),
        vec![0xFF; 3],
    ];
    assert_eq!(probe(&jpeg(&before, 0xC2, 3, 1000)), Ok(is(ImageFormat::Jpeg, 3, 1000)));
}

#[test]
fn each_kind_of_webp_gives_the_size() {
    assert_eq!(probe(&lossy(0x4000 + 176, 0xC000 + 144)), Ok(is(ImageFormat::Webp, 176, 144)));
    let size = |width: u32, height: u32| ((width - 1) | (height - 1) << 14).to_le_bytes();
    let lossless = |bits: [u8; 4]| webp(*b"VP8L", &[&[0x2F][..], &bits].concat());
    assert_eq!(probe(&lossless(size(16_384, 2))), Ok(is(ImageFormat::Webp, 16_384, 2)));
    assert_eq!(probe(&extended(70_000, 1)), Ok(is(ImageFormat::Webp, 70_000, 1)));
}

#[test]
fn the_size_is_known_as_soon_as_the_header_has_passed() {
    for (file, header) in [(base64(PNG_4X3), 33), (jpeg(&[], 0xC1, 5, 5), 11), (lossy(7, 7), 30)] {
        let mut probe = ImageProbe::new();
        for (count, byte) in (1..).zip(&file) {
            probe.feed(&[*byte]);
            let expected = count >= header.max(SNIFF);
            assert_eq!(probe.info().is_some(), expected, "after {count} bytes of {probe:?}");
        }
    }
}

#[test]
fn what_is_not_a_picture_is_named() {
    assert_eq!(reason(b""), "no image data");
    assert_eq!(reason(b"hello"), "not an image: starts with `hello`");
    assert_eq!(reason(br#"{"error": "no image was made"}"#), "not an image: starts with `{\"error\": \"n`");
    assert_eq!(reason(b"GIF89a\x01\0\x01\0\0\0\0"), "not an image: starts with `GIF89a`");
    assert_eq!(reason(b"RIFF\x10\0\0\0WAVEfmt "), "not an image: starts with `RIFF`");
    assert_eq!(reason(&[0, 1, 2]), "not an image: starts with bytes `00 01 02`");
    assert_eq!(
        reason(b"\x89PNG\r\n\x1a\r plus some more"),
        "not an image: starts with bytes `89 50 4e 47 0d 0a 1a 0d`"
    );
}

#[test]
fn headers_that_end_early_are_named() {
    let (png, jpeg, webp) = (base64(PNG_4X3), jpeg(&[segment(0xE0, &[0; 100])], 0xC0, 5, 5), lossy(7, 7));
    for (file, header, name) in [(png, 33, "PNG"), (jpeg, 115, "JPEG"), (webp, 30, "WebP")] {
        for count in 1..header {
            assert_eq!(reason(&file[..count]), format!("{name} header is cut off"), "after {count} bytes");
        }
        assert!(probe(&file[..header]).is_ok());
    }
}

#[test]
fn broken_headers_are_named() {
    let mut png = base64(PNG_4X3);
    png[19] = 9;
    assert_eq!(reason(&png), "PNG header has a wrong checksum");
    png[12] = b'i';
    assert_eq!(reason(&png), "PNG does not start with its IHDR chunk");
    assert_eq!(reason(&jpeg(&[], 0xC0, 0, 7)), "JPEG has size 0x7");
    assert_eq!(reason(&lossy(7, 0)), "WebP has size 7x0");
    assert_eq!(reason(&jpeg(&[vec![7; 20]], 0xC0, 5, 5)), "not an image: starts with bytes `ff d8 07 07 07 07 07 07`");
    assert_eq!(
        reason(&jpeg(&[segment(0xE0, b""), vec![7]], 0xC0, 5, 5)),
        "JPEG has byte `07` where a marker should be"
    );
    assert_eq!(reason(&jpeg(&[segment(0xDA, b"")], 0xC0, 5, 5)), "JPEG has no frame header before its data");
    assert_eq!(reason(&jpeg(&[vec![0xFF, 0xE0, 0, 1]], 0xC0, 5, 5)), "JPEG has a segment of length 1");
    assert_eq!(reason(&jpeg(&[vec![0xFF, 0x02]], 0xC0, 5, 5)), "JPEG has the unknown marker `ff02`");
    assert_eq!(
        reason(&[&[0xFF, 0xD8][..], &segment(0xC0, &[8, 0, 1, 0, 1]), &[0; 9]].concat()),
        "JPEG frame header is too short"
    );
    assert_eq!(reason(&webp(*b"EXIF", &[0; 10])), "WebP starts with the unknown chunk `EXIF`");
    assert_eq!(reason(&webp(*b"VP8X", &[0; 9])), "WebP header is too short");
    assert_eq!(reason(&webp(*b"VP8 ", &[1; 10])), "WebP does not start with a key frame");
    assert_eq!(reason(&webp(*b"VP8L", &[0; 10])), "WebP lossless header is not readable");
}

/// Beginnings that reach each parser, valid or not, followed by anything.
fn beginnings() -> impl Strategy<Value = Vec<u8>> {
    prop::sample::select(vec![
        vec![],
        b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec(),
        base64(PNG_64X48),
        jpeg(&[], 0xC0, 5, 5),
        jpeg(&[segment(0xE1, &[0xFF; 40])], 0xC2, 50, 5),
        vec![0xFF, 0xD8, 0xFF],
        lossy(70, 7),
        extended(5, 500),
        webp(*b"VP8L", b"\x2f"),
        b"RIFF\0\0\0\0WEBP".to_vec(),
        write_image(ImageFormat::Webp, 3, 3, 1).unwrap(),
    ])
}

proptest! {
    #[test]
    fn chunks_do_not_matter_and_no_bytes_panic(
        beginning in beginnings(),
        cut in any::<prop::sample::Index>(),
        more in prop::collection::vec(any::<u8>(), 0..80),
        sizes in prop::collection::vec(0_usize..20, 1..60),
    ) {
        let kept = cut.index(beginning.len() + 1);
        let file = [&beginning[..kept], &more].concat();
        let whole = probe(&file);
        let mut probe = ImageProbe::new();
        let mut rest = &file[..];
        for size in sizes.into_iter().chain([usize::MAX]) {
            let (chunk, later) = rest.split_at(rest.len().min(size));
            probe.feed(chunk);
            rest = later;
        }
        prop_assert_eq!(probe.info(), whole.clone().ok());
        prop_assert_eq!(probe.finish(), whole);
    }

    #[test]
    fn every_written_size_decodes(width in 1_u32..300, height in 1_u32..300, seed: u64) {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Webp] {
            let file = write_image(format, width, height, seed).unwrap();
            prop_assert_eq!(probe(&file), Ok(is(format, width, height)));
            prop_assert_eq!(crate::media::decode_image(&file), Ok(is(format, width, height)));
        }
        let file = write_detailed_png(width, height, seed).unwrap();
        prop_assert_eq!(crate::media::decode_image(&file), Ok(is(ImageFormat::Png, width, height)));
        prop_assert!(file.len() as u64 > u64::from(width) * u64::from(height) * 3, "{} bytes", file.len());
    }
}
