//! `[datasets.NAME]`.

use std::borrow::Cow;
use std::fmt;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

/// One workload: where prompts come from and the weighted request profiles.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Dataset {
    /// Name in tables; default the dataset's name.
    pub label: Option<String>,
    /// What it is, in a few words.
    pub description: Option<String>,
    /// Where requests come from: `random` (also when nothing is said), `vbench`, `trace` or `custom`.
    pub source: Option<Source>,
    /// Weighted request profiles of a random dataset.
    pub profiles: Vec<Profile>,
    /// How profiles are drawn: `weighted` (default) or `stratified`.
    pub sampling: Option<Sampling>,
    /// Send a negative prompt with every request. Default false.
    pub negative_prompt: Option<bool>,
    /// Request fields that fill gaps: width, height, `num_inference_steps`, `num_frames`, fps, seed, ….
    pub defaults: IndexMap<String, Value>,
    /// Request fields that replace what the rows say; how often is reported.
    #[serde(rename = "override")]
    pub overrides: IndexMap<String, Value>,
    /// File, folder (searched to its ends) or glob of a trace or custom dataset; several as a list. For vbench
    /// one prompt list, or the folder of its pictures. Relative to this file.
    pub path: Option<PathList>,
    /// Where to download the data from, in place of `path`: an http(s) address, or `hf:ORG/REPO[@REVISION]/FILE`
    /// for a file of a dataset on the Hugging Face hub. Needs `allow_download`; a file of up to 1 GiB is fetched once
    /// and kept in the user's cache folder. Without `url` and `path`, vbench takes the prompt list of vLLM-Omni's Python
    /// client.
    pub url: Option<String>,
    /// Expected SHA-256 of the data (of several files: one after the other), as 64 hex digits; `plan` shows it.
    pub sha256: Option<String>,
    /// What to do when there are fewer rows than requests: `cycle`, `error` or `truncate`. When
    /// nothing is said, rows of a trace are truncated, those of custom and vbench datasets are cycled.
    pub on_short: Option<OnShort>,
    /// Synthetic reference images for every request that has none of its own.
    pub images: Option<InputImages>,
    /// Synthetic reference videos for every request.
    pub videos: Option<InputVideos>,
    /// Which seed is sent: `none` (default), `fixed` (`defaults.seed`) or `per_request` (derived).
    pub request_seed: Option<RequestSeed>,
    /// Allow downloading what the dataset needs: its `url`, or vbench's own list. Default false.
    pub allow_download: Option<bool>,
}

/// Where a dataset's requests come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Synthetic prompts, shapes drawn from weighted profiles.
    Random,
    /// A prompt list of `VBench`, or its pictures with captions for tasks that start from a picture.
    Vbench,
    /// A recorded trace: `Request(…)` lines, JSON lines or CSV. Rows that cannot be read are left out and told.
    Trace,
    /// Rows of JSON lines or CSV, each with a `prompt`. A row that cannot be read is an error.
    Custom,
}

/// How profiles are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sampling {
    /// Independent draws, equal to CPython's `random.Random(seed).choices`.
    #[default]
    Weighted,
    /// Exact shares, in a seeded order.
    Stratified,
}

/// What happens when a dataset has fewer rows than requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnShort {
    /// Start again from the first row.
    Cycle,
    /// Refuse the plan.
    Error,
    /// Send fewer requests.
    Truncate,
}

/// Which seed a request carries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestSeed {
    /// No seed is sent; the server draws one.
    #[default]
    None,
    /// Every request sends `defaults.seed`.
    Fixed,
    /// Every request sends its own seed, derived from `traffic.seed`.
    PerRequest,
}

/// Synthetic reference media of every request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InputImages {
    /// How many per request. Default 1.
    pub count: Option<u32>,
    /// Width in pixels; default the request's width, else 512.
    pub width: Option<u32>,
    /// Height in pixels; default the request's height, else 512.
    pub height: Option<u32>,
}

/// Synthetic reference videos of every request: H.264 in MP4 with a moving picture.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InputVideos {
    /// How many per request. Default 1.
    pub count: Option<u32>,
    /// Width in pixels, an even number; default the request's width, else 512.
    pub width: Option<u32>,
    /// Height in pixels, an even number; default the request's height, else 512.
    pub height: Option<u32>,
    /// Frames; default the request's `num_frames`, else 33.
    pub num_frames: Option<u32>,
    /// Frames per second; default the request's fps, else 24.
    pub fps: Option<f64>,
}

/// One weighted request profile. Beyond `weight`, every key is a request field.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Relative weight; 1 when absent. Kept as written so that the plan can point at a bad one.
    pub weight: Option<f64>,
    /// Width, height, steps, frames, fps, prompt and any other request field.
    pub fields: IndexMap<String, Value>,
}

impl Serialize for Profile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in &self.fields {
            map.serialize_entry(key, value)?;
        }
        if let Some(weight) = self.weight {
            map.serialize_entry("weight", &weight)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Profile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Table;
        impl<'de> de::Visitor<'de> for Table {
            type Value = Profile;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of request fields and a weight")
            }
            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Profile, A::Error> {
                let mut profile = Profile { weight: None, fields: IndexMap::new() };
                while let Some(key) = map.next_key::<String>()? {
                    if key == "weight" {
                        profile.weight = Some(map.next_value()?);
                    } else {
                        profile.fields.insert(key, map.next_value()?);
                    }
                }
                Ok(profile)
            }
        }
        deserializer.deserialize_map(Table)
    }
}

impl JsonSchema for Profile {
    fn schema_name() -> Cow<'static, str> {
        "Profile".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "One weighted request profile. Beyond `weight`, every key is a request field.",
            "properties": {
                "weight": { "type": "number", "minimum": 0, "description": "Relative weight; default 1." },
                "width": { "type": "integer", "minimum": 1, "description": "Width in pixels." },
                "height": { "type": "integer", "minimum": 1, "description": "Height in pixels." },
                "num_inference_steps": { "type": "integer", "minimum": 1, "description": "Denoising steps." },
                "num_frames": { "type": "integer", "minimum": 1, "description": "Frames of a video." },
                "fps": { "type": "number", "exclusiveMinimum": 0, "description": "Frames per second of a video." },
                "prompt": { "type": "string", "description": "Prompt of every request of this profile." }
            },
            "additionalProperties": true
        })
    }
}

/// One path or a list of paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathList(pub Vec<String>);

impl Serialize for PathList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => serializer.serialize_str(one),
            many => serializer.collect_seq(many),
        }
    }
}

impl<'de> Deserialize<'de> for PathList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> de::Visitor<'de> for OneOrMany {
            type Value = PathList;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a path or a list of paths")
            }
            fn visit_str<E: de::Error>(self, path: &str) -> Result<PathList, E> {
                Ok(PathList(vec![path.to_owned()]))
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<PathList, A::Error> {
                let mut paths = Vec::new();
                while let Some(path) = seq.next_element()? {
                    paths.push(path);
                }
                Ok(PathList(paths))
            }
        }
        deserializer.deserialize_any(OneOrMany)
    }
}

impl JsonSchema for PathList {
    fn schema_name() -> Cow<'static, str> {
        "PathList".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
    }
}
