//! Data URLs (RFC 2397) → bytes.

use bytes::Bytes;

use super::kind::LARGEST;

/// Whether the text is a data URL.
pub(super) fn is_data_url(text: &str) -> bool {
    text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// The bytes of a data URL; its media type is not believed.
pub(super) fn decode(url: &str) -> Result<Bytes, String> {
    let payload = url
        .split_once(',')
        .filter(|(head, _)| head.to_ascii_lowercase().ends_with(";base64"))
        .map(|(_, payload)| payload)
        .ok_or("a data URL must be written as `data:TYPE;base64,…`")?;
    if payload.len() as u64 / 4 * 3 > LARGEST {
        return Err(format!("a data URL holds more than {} MiB", LARGEST >> 20));
    }
    base64_simd::forgiving_decode_to_vec(payload.as_bytes())
        .map(Bytes::from)
        .map_err(|_| "a data URL is not valid base64".to_owned())
}
