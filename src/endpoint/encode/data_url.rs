//! Reference images as data URLs, each encoded once.

use bytes::Bytes;

use super::EncodeError;
use crate::workload::Reference;

/// Data URLs of the reference images seen so far. It keeps the references too, so that an address
/// cannot come to mean another image.
#[derive(Debug, Default)]
pub(super) struct DataUrls {
    known: Vec<(Bytes, String, Bytes)>,
}

impl DataUrls {
    /// The image as a data URL, ready to stand inside a JSON string.
    pub(super) fn get(&mut self, reference: &Reference) -> Result<Bytes, EncodeError> {
        match reference {
            Reference::Bytes { bytes, mime, .. } => self.encode(bytes, mime),
            Reference::Url(url) if starts_with(url, "data:image") => Ok(inner_json(url)),
            Reference::Url(url) => Err(EncodeError::new(format!(
                "chat reads data URLs only and ignores image links without notice; fetch `{}` to a file first",
                crate::endpoint::reply::excerpt(url)
            ))),
        }
    }

    fn encode(&mut self, bytes: &Bytes, mime: &str) -> Result<Bytes, EncodeError> {
        let is_same = |known: &Bytes| known.as_ptr() == bytes.as_ptr() && known.len() == bytes.len();
        if let Some((_, _, url)) = self.known.iter().find(|(known, of, _)| is_same(known) && of == mime) {
            return Ok(url.clone());
        }
        if !mime.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/+.-".contains(&byte)) {
            return Err(EncodeError::new(format!("`{mime}` is not a media type")));
        }
        let mut url = format!("data:{mime};base64,");
        base64_simd::STANDARD.encode_append(bytes, &mut url);
        let url = Bytes::from(url);
        self.known.push((bytes.clone(), mime.to_owned(), url.clone()));
        Ok(url)
    }
}

fn starts_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// The text as it stands between the quotes of a JSON string.
fn inner_json(text: &str) -> Bytes {
    let quoted = serde_json::Value::from(text).to_string();
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(&quoted);
    Bytes::copy_from_slice(inner.as_bytes())
}
