//! Requests put on the wire, one file per endpoint. In: a request and the run's wire settings. Out: a
//! body of known length, the same bytes for the same request. Reference images are shared, not
//! copied; what the server would silently ignore or refuse is an error here.

mod chat;
mod data_url;
mod edits;
mod fields;
mod generations;
mod multipart;
mod template;
mod videos;

use bytes::Bytes;
pub(crate) use fields::Fields;
pub use fields::asked;

use self::data_url::DataUrls;
use self::template::Template;
use super::types::{Body, Wire};
use crate::catalog::Api;
use crate::record::Asked;
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
    templates: Vec<Template>,
    /// Requests that made no template, since the last one that did.
    vain: usize,
}

/// Templates kept, and requests after which no more are tried for.
const TEMPLATES: usize = 64;
const VAIN: usize = 64;

impl<'a> Encoder<'a> {
    /// An encoder for one run.
    pub fn new(wire: &'a Wire) -> Self {
        Self { wire, data_urls: DataUrls::default(), templates: Vec::new(), vain: 0 }
    }

    /// The body of the request, and what it asks for. Like [`Encoder::encode`], but what requests of one
    /// profile have in common is put together once.
    pub(crate) fn prepare(&mut self, request: &Request) -> Result<(Body, Asked), EncodeError> {
        if let Some(known) = self.templates.iter().find(|template| template.fits(request))
            && let Some(body) = known.fill(request)
        {
            return Ok((body, known.asked()));
        }
        let asked = asked(self.wire, request);
        if self.templates.len() < TEMPLATES && self.vain < VAIN {
            match Template::new(request, asked, |request| self.encode(request)) {
                Some(template) => {
                    self.templates.push(template);
                    self.vain = 0;
                }
                None => self.vain += 1,
            }
        }
        Ok((self.encode(request)?, asked))
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

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::catalog::{Spelling, Task};
    use crate::workload::Shape;

    fn wire(api: Api, spelling: Spelling) -> Wire {
        Wire {
            api,
            task: Task::T2i,
            model: "m".to_owned(),
            extra_body: IndexMap::from([("guidance_scale".to_owned(), json!(2.5))]),
            bot_task: None,
            return_stage_metrics: false,
            stream: false,
            spelling,
            sync_video: false,
            check_media: true,
            keep_pictures: false,
            max_reply: 1 << 20,
        }
    }

    fn request(prompt: String, negative_prompt: Option<String>, seed: Option<u64>, width: u32) -> Request {
        Request {
            index: 0,
            row: 0,
            request_id: String::new(),
            task: Task::T2i,
            shape: Shape { width: Some(width), height: Some(16), num_inference_steps: Some(2), ..Shape::default() },
            prompt,
            negative_prompt,
            n: None,
            seed,
            fields: IndexMap::new(),
            images: Vec::new(),
            videos: Vec::new(),
            slo_ms: None,
            timestamp_s: None,
        }
    }

    proptest! {
        #[test]
        fn a_filled_template_is_the_body_that_is_made_without_one(
            requests in prop::collection::vec(
                (any::<String>(), prop::option::of(any::<String>()), prop::option::of(any::<u64>()), 1..3_u32), 1..20
            ),
            api in prop::sample::select(vec![Api::Chat, Api::Generations]),
            spelling in prop::sample::select(vec![Spelling::Plain, Spelling::PythonClient]),
        ) {
            let wire = wire(api, spelling);
            let mut encoder = Encoder::new(&wire);
            for (prompt, negative, seed, width) in requests {
                let request = request(prompt, negative, seed, width);
                let prepared = encoder.prepare(&request);
                prop_assert_eq!(prepared, wire.encode(&request).map(|body| (body, asked(&wire, &request))));
            }
        }
    }

    #[test]
    fn a_second_request_of_a_profile_finds_the_template_of_the_first() {
        let wire = wire(Api::Generations, Spelling::Plain);
        let mut encoder = Encoder::new(&wire);
        for seed in 0..10 {
            encoder.prepare(&request(format!("prompt {seed}"), None, Some(seed), 16)).unwrap();
        }
        assert_eq!(encoder.templates.len(), 1);
    }

    #[test]
    fn a_prompt_that_is_in_the_body_twice_makes_no_template() {
        let mut wire = wire(Api::Generations, Spelling::Plain);
        wire.extra_body.insert("note".to_owned(), json!("omni-bench/prompt/8a1c05de"));
        let mut encoder = Encoder::new(&wire);
        let (body, _) = encoder.prepare(&request("p".to_owned(), None, None, 16)).unwrap();
        assert!(encoder.templates.is_empty());
        assert_eq!(body, wire.encode(&request("p".to_owned(), None, None, 16)).unwrap());
    }
}
