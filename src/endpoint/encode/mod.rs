//! Requests put on the wire, one file per endpoint. In: a request and the run's wire settings. Out: a
//! body of known length, the same bytes for the same request. Reference images are shared, not
//! copied; what the server would silently ignore or refuse is an error here.

mod chat;
mod data_url;
mod edits;
mod fields;
mod generations;
mod multipart;
mod videos;

use bytes::Bytes;
pub(crate) use fields::Fields;
pub use fields::asked;

use self::data_url::DataUrls;
use super::types::{Body, Wire};
use crate::catalog::Api;
use crate::workload::{Part, Request, Routing};

/// Why a request cannot be put on the wire.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EncodeError(String);

impl EncodeError {
    fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// Encodes the requests of a run, and shares between them what they have in common.
#[derive(Debug)]
pub struct Encoder<'a> {
    wire: &'a Wire,
    data_urls: DataUrls,
}

impl<'a> Encoder<'a> {
    /// An encoder for one run.
    pub fn new(wire: &'a Wire) -> Self {
        Self { wire, data_urls: DataUrls::default() }
    }

    /// The body of the request.
    pub fn encode(&mut self, request: &Request) -> Result<Body, EncodeError> {
        let fields = Fields::resolve(self.wire, request)?;
        match self.wire.api {
            Api::Chat => chat::encode(self.wire, request, fields, &mut self.data_urls),
            Api::Generations => generations::encode(self.wire, request, fields),
            Api::Edits => edits::encode(self.wire, request, &fields),
            Api::Videos => videos::encode(self.wire, request, &fields),
        }
    }
}

impl Wire {
    /// The body of one request. An [`Encoder`] shares reference images between requests.
    pub fn encode(&self, request: &Request) -> Result<Body, EncodeError> {
        Encoder::new(self).encode(request)
    }
}

/// The form parts of the request's references, or why the endpoint cannot be given them.
fn route(wire: &Wire, request: &Request, fields: &Fields) -> Result<Vec<Part>, EncodeError> {
    let tables = [&fields.named];
    let Request { images, videos, .. } = request;
    let routing = Routing { api: wire.api, model: &wire.model, images, videos, fields: &tables };
    routing.parts().map_err(EncodeError::new)
}

fn json_body(segments: Vec<Bytes>) -> Body {
    Body { content_type: "application/json".to_owned(), segments }
}
