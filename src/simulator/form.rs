//! Form bodies, multipart or urlencoded, read whole.

use axum::extract::multipart::{Field, MultipartError};
use axum::extract::{FromRequest, Multipart, Request};
use bytes::Bytes;
use http::{StatusCode, header};
use serde_json::{Map, Value};

use super::fields::Fields;
use super::reply::Refusal;

/// The form parser of the real server refuses longer text parts.
const TEXT_LIMIT: usize = 1024 * 1024;

/// A form: text fields by name, the last of a name wins; texts and files also in order.
#[derive(Debug, Default)]
pub(crate) struct Form {
    /// Text fields; empty ones count as absent.
    pub(crate) fields: Fields,
    texts: Vec<(String, String)>,
    files: Vec<(String, Bytes)>,
}

impl Form {
    /// Reads the body.
    ///
    /// # Errors
    /// 400 for a body that is no form or breaks off.
    pub(crate) async fn read(request: Request, urlencoded_too: bool) -> Result<Self, Refusal> {
        let content_type =
            request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if content_type.starts_with("multipart/form-data") {
            Self::multipart(request).await
        } else if urlencoded_too && content_type.starts_with("application/x-www-form-urlencoded") {
            let body = Bytes::from_request(request, &())
                .await
                .map_err(|error| Refusal::new(error.status(), error.body_text()))?;
            let pairs = url::form_urlencoded::parse(&body);
            Ok(Self::of(pairs.map(|(name, text)| (name.into_owned(), text.into_owned())).collect(), Vec::new()))
        } else {
            // without a form every field is missing
            Ok(Self::default())
        }
    }

    async fn multipart(request: Request) -> Result<Self, Refusal> {
        let mut parts = Multipart::from_request(request, &())
            .await
            .map_err(|error| Refusal::new(error.status(), error.body_text()))?;
        let (mut texts, mut files) = (Vec::new(), Vec::new());
        while let Some(part) = parts.next_field().await.map_err(|error| broken(&error))? {
            let Some(name) = part.name().map(str::to_owned) else { continue };
            if part.file_name().is_some() {
                files.push((name, part.bytes().await.map_err(|error| broken(&error))?));
            } else {
                let text = text(part, &name).await?;
                texts.push((name, text));
            }
        }
        Ok(Self::of(texts, files))
    }

    fn of(texts: Vec<(String, String)>, files: Vec<(String, Bytes)>) -> Self {
        let set = texts.iter().filter(|(_, text)| !text.is_empty());
        let map: Map<_, _> = set.map(|(name, text)| (name.clone(), Value::String(text.clone()))).collect();
        Self { fields: Fields::new(map), texts, files }
    }

    /// All files of a name, in order.
    pub(crate) fn files(&self, name: &str) -> Vec<Bytes> {
        self.files.iter().filter(|(file, _)| file == name).map(|(_, data)| data.clone()).collect()
    }

    /// All texts of a name, in order, without empty ones.
    pub(crate) fn texts(&self, name: &str) -> Vec<&str> {
        self.texts.iter().filter(|(text, value)| text == name && !value.is_empty()).map(|(_, v)| v.as_str()).collect()
    }
}

async fn text(part: Field<'_>, name: &str) -> Result<String, Refusal> {
    let bytes = part.bytes().await.map_err(|error| broken(&error))?;
    if bytes.len() > TEXT_LIMIT {
        return Err(Refusal::bad("Part exceeded maximum size of 1024KB."));
    }
    String::from_utf8(bytes.to_vec()).map_err(|_| Refusal::field(name, format!("{name}: text is not UTF-8")))
}

fn broken(error: &MultipartError) -> Refusal {
    let status = if error.status() == StatusCode::PAYLOAD_TOO_LARGE { error.status() } else { StatusCode::BAD_REQUEST };
    Refusal::new(status, format!("There was an error parsing the body: {}", error.body_text()))
}
