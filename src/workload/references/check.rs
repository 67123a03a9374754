//! Whether the reference media of rows can reach an endpoint at all, asked before anything is sent.

use std::sync::Arc;

use bytes::Bytes;
use indexmap::IndexMap;
use serde_json::Value;

use super::route::{LARGEST_TEXT_PART, Routing};
use super::take::References;
use crate::catalog::{Api, Task};
use crate::workload::{Dataset, Fields, Reference};

/// Where requests go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Destination<'a> {
    /// The endpoint.
    pub(crate) api: Api,
    /// The model id.
    pub(crate) model: &'a str,
    /// The model's task.
    pub(crate) task: Task,
    /// Fields of every request.
    pub(crate) extra_body: &'a IndexMap<String, Value>,
}

impl Destination<'_> {
    /// Why a row cannot be sent as it is.
    pub(in crate::workload) fn fault(
        &self,
        dataset: &Dataset,
        references: &References,
        fields: &Fields,
    ) -> Option<String> {
        let given = |own: &[Reference], synthetic: Option<u32>, mime: &str| {
            if own.is_empty() { placeholders(synthetic.unwrap_or(0), mime) } else { own.to_vec() }
        };
        let images = given(&references.images, dataset.images.map(|media| media.count), "image/png");
        let videos = given(&references.videos, dataset.videos.map(|media| media.count), "video/mp4");
        let tables = [&fields.other, self.extra_body];
        let routing = Routing { api: self.api, model: self.model, images: &images, videos: &videos, fields: &tables };
        let task = self.task;
        if task.needs_image() && images.is_empty() && !routing.has_field("image_reference") {
            return Some(format!("task `{task}` needs a reference image"));
        }
        if task.needs_video() && videos.is_empty() && !routing.has_field("video_reference") {
            return Some(format!("task `{task}` needs a reference video"));
        }
        if !task.takes_image() && !images.is_empty() {
            return Some(format!("task `{task}` takes no reference images"));
        }
        if !task.takes_video() && !videos.is_empty() {
            return Some(format!("task `{task}` takes no reference videos"));
        }
        routing.parts().err().or_else(|| self.too_long(fields))
    }

    /// A form's text part above the servers' limit.
    fn too_long(&self, fields: &Fields) -> Option<String> {
        if !self.api.is_multipart() {
            return None;
        }
        let texts = [("prompt", &fields.prompt), ("negative_prompt", &fields.negative_prompt)];
        let texts = texts.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?.len())));
        let others = fields.other.iter().map(|(name, value)| {
            let length = value.as_str().map_or_else(|| value.to_string().len(), str::len);
            (name.as_str(), length)
        });
        let (name, length) = texts.chain(others).find(|(_, length)| *length > LARGEST_TEXT_PART)?;
        Some(format!("`{name}` has {length} bytes, and servers refuse form fields above {LARGEST_TEXT_PART}"))
    }
}

/// As many references as will be made, without their bytes.
fn placeholders(count: u32, mime: &str) -> Vec<Reference> {
    let one = Reference::Bytes { bytes: Bytes::new(), mime: Arc::from(mime), file_name: Arc::from("synthetic") };
    vec![one; count as usize]
}
