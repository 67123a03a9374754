//! Bodies made once per kind of request. Requests of one profile differ in prompts and seed alone, so the body
//! of one of them, cut at these, serves for all; what stands in the gaps is written as JSON writes it.

use std::io::Write as _;

use bytes::Bytes;
use serde_json::Value;

use super::EncodeError;
use crate::endpoint::types::Body;
use crate::record::Asked;
use crate::workload::Request;

/// What stands for the values while a body is cut. A body that holds one of them twice, or another number of
/// gaps than there are values, has no template.
const PROMPT: &str = "omni-bench/prompt/8a1c05de";
const NEGATIVE: &str = "omni-bench/negative/b94e17f3";
const SEED: u64 = 17_720_350_915_204_766_893;

/// What goes into a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    Prompt,
    Negative,
    Seed,
}

/// A body with gaps.
#[derive(Debug)]
pub(super) struct Template {
    /// A request of the kind.
    like: Request,
    asked: Asked,
    content_type: String,
    /// Text and the gap that follows it.
    parts: Vec<(String, Gap)>,
    end: String,
}

impl Template {
    /// A template of requests like this one; `None` when there can be none. `encode` makes whole bodies.
    pub(super) fn new(
        request: &Request,
        asked: Asked,
        mut encode: impl FnMut(&Request) -> Result<Body, EncodeError>,
    ) -> Option<Self> {
        if !request.images.is_empty() || !request.videos.is_empty() || request.prompt.is_empty() {
            return None;
        }
        let marked = Request {
            prompt: PROMPT.to_owned(),
            negative_prompt: request.negative_prompt.as_ref().map(|_| NEGATIVE.to_owned()),
            seed: request.seed.map(|_| SEED),
            ..request.clone()
        };
        let body = encode(&marked).ok()?;
        let [text] = &body.segments[..] else { return None };
        let mut rest = std::str::from_utf8(text).ok().filter(|_| body.content_type == "application/json")?;
        let marks = [
            (Gap::Prompt, format!("\"{PROMPT}\"")),
            (Gap::Negative, format!("\"{NEGATIVE}\"")),
            (Gap::Seed, SEED.to_string()),
        ];
        let mut parts = Vec::new();
        while let Some((place, gap, mark)) = marks
            .iter()
            .filter_map(|(gap, mark)| Some((rest.find(mark.as_str())?, *gap, mark)))
            .min_by_key(|found| found.0)
        {
            let (before, after) = rest.split_at_checked(place)?;
            if parts.iter().any(|(_, known)| *known == gap) {
                return None;
            }
            parts.push((before.to_owned(), gap));
            rest = after.strip_prefix(mark.as_str())?;
        }
        let template =
            Self { like: request.clone(), asked, content_type: body.content_type, parts, end: rest.to_owned() };
        // the proof of a template is that it makes what is made without it
        (template.fill(request)? == encode(request).ok()?).then_some(template)
    }

    /// What requests of the kind ask for.
    pub(super) const fn asked(&self) -> Asked {
        self.asked
    }

    /// Whether the request differs from those of the kind in nothing but what goes into the gaps.
    pub(super) fn fits(&self, request: &Request) -> bool {
        let like = &self.like;
        like.row == request.row
            && like.task == request.task
            && like.shape == request.shape
            && like.n == request.n
            && like.negative_prompt.is_some() == request.negative_prompt.is_some()
            && like.seed.is_some() == request.seed.is_some()
            && request.images.is_empty()
            && request.videos.is_empty()
            && !request.prompt.is_empty()
            && like.fields == request.fields
    }

    /// The body of a request that fits.
    pub(super) fn fill(&self, request: &Request) -> Option<Body> {
        let length = self.parts.iter().map(|(text, _)| text.len() + 24).sum::<usize>() + self.end.len();
        let texts = request.prompt.len() + request.negative_prompt.as_ref().map_or(0, String::len);
        let mut text = Vec::with_capacity(length + texts);
        for (before, gap) in &self.parts {
            text.extend_from_slice(before.as_bytes());
            match gap {
                Gap::Prompt => serde_json::to_writer(&mut text, &request.prompt).ok()?,
                Gap::Negative => serde_json::to_writer(&mut text, request.negative_prompt.as_ref()?).ok()?,
                Gap::Seed => write!(text, "{}", Value::from(request.seed?)).ok()?,
            }
        }
        text.extend_from_slice(self.end.as_bytes());
        Some(Body { content_type: self.content_type.clone(), segments: vec![Bytes::from(text)] })
    }
}
