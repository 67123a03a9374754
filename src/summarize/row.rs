//! What a summary needs of a record, in a fraction of the record's size: a run of a million requests is
//! summarised in memory. Built from a record, or read straight from a line of `records.jsonl`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

use crate::catalog::Flag;
use crate::record::{Asked, Output, OutputKind, Poll, Record, RequestError, Status};

/// Classes that are known by their content; a run has a few.
const KNOWN: usize = 1024;

/// One request of a run.
#[derive(Debug, Clone)]
pub struct Row {
    kind: Arc<Kind>,
    pub(crate) status: Status,
    flags: Flags,
    index: u32,
    pub(crate) due_us: u64,
    pub(crate) done_us: u64,
    sent_us: Us,
    latency_us: Us,
    response_time_us: Us,
    generation_ms: Number,
    peak_memory_mb: Number,
    slo_ms: Number,
    outputs: Outputs,
    rest: Option<Box<Rest>>,
}

/// What requests of a class have in common.
#[derive(Debug, PartialEq)]
struct Kind {
    class: String,
    asked: Asked,
}

/// A time that may be absent.
#[derive(Debug, Clone, Copy)]
struct Us(u64);

impl From<Option<u64>> for Us {
    fn from(us: Option<u64>) -> Self {
        Self(us.unwrap_or(u64::MAX))
    }
}

impl Us {
    const fn get(self) -> Option<u64> {
        if self.0 == u64::MAX { None } else { Some(self.0) }
    }
}

/// A quantity that may be absent.
#[derive(Debug, Clone, Copy)]
struct Number(f64);

impl From<Option<f64>> for Number {
    fn from(number: Option<f64>) -> Self {
        Self(number.unwrap_or(f64::NAN))
    }
}

impl Number {
    const fn get(self) -> Option<f64> {
        if self.0.is_nan() { None } else { Some(self.0) }
    }
}

/// A set of flags, by their place in the enum.
#[derive(Debug, Clone, Copy)]
struct Flags(u32);

impl Flags {
    fn of(flags: &[Flag]) -> Self {
        Self(flags.iter().fold(0, |set, flag| set | 1 << *flag as u32))
    }
}

/// What is needed of an output.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Made {
    pub(crate) of: Arc<Medium>,
    /// The first half of its hash.
    pub(crate) hash: [u64; 2],
}

/// What outputs of a kind have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Medium {
    pub(crate) kind: OutputKind,
    pub(crate) width: Option<u32>,
    pub(crate) height: Option<u32>,
    pub(crate) frames: Option<u64>,
    pub(crate) fps: Option<f64>,
    pub(crate) duration_s: Option<f64>,
}

#[derive(Debug, Clone)]
enum Outputs {
    None,
    One(Made),
    Many(Box<[Made]>),
}

impl FromIterator<Made> for Outputs {
    fn from_iter<I: IntoIterator<Item = Made>>(made: I) -> Self {
        let mut made = made.into_iter();
        let Some(first) = made.next() else { return Self::None };
        match made.next() {
            None => Self::One(first),
            Some(second) => Self::Many([first, second].into_iter().chain(made).collect()),
        }
    }
}

/// What most requests do not have.
#[derive(Debug, Clone, Default)]
struct Rest {
    error: Option<RequestError>,
    request_id: String,
    is_job: bool,
    created_us: Option<u64>,
    first_terminal_us: Option<u64>,
    content_done_us: Option<u64>,
    deleted_us: Option<u64>,
    /// When each poll was sent.
    polls: Vec<u64>,
    stage_ms: BTreeMap<String, f64>,
}

impl Row {
    pub(crate) fn class(&self) -> &str {
        &self.kind.class
    }

    pub(crate) fn asked(&self) -> &Asked {
        &self.kind.asked
    }

    pub(crate) const fn index(&self) -> u32 {
        self.index
    }

    pub(crate) const fn sent_us(&self) -> Option<u64> {
        self.sent_us.get()
    }

    pub(crate) const fn latency_us(&self) -> Option<u64> {
        self.latency_us.get()
    }

    pub(crate) const fn response_time_us(&self) -> Option<u64> {
        self.response_time_us.get()
    }

    pub(crate) const fn generation_ms(&self) -> Option<f64> {
        self.generation_ms.get()
    }

    pub(crate) const fn peak_memory_mb(&self) -> Option<f64> {
        self.peak_memory_mb.get()
    }

    pub(crate) const fn slo_ms(&self) -> Option<f64> {
        self.slo_ms.get()
    }

    pub(crate) fn created_us(&self) -> Option<u64> {
        self.rest.as_ref()?.created_us
    }

    pub(crate) fn first_terminal_us(&self) -> Option<u64> {
        self.rest.as_ref()?.first_terminal_us
    }

    pub(crate) fn content_done_us(&self) -> Option<u64> {
        self.rest.as_ref()?.content_done_us
    }

    pub(crate) fn deleted_us(&self) -> Option<u64> {
        self.rest.as_ref()?.deleted_us
    }

    pub(crate) fn is_job(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| rest.is_job)
    }

    /// When each poll was sent.
    pub(crate) fn polls(&self) -> &[u64] {
        self.rest.as_ref().map_or(&[], |rest| &rest.polls)
    }

    pub(crate) fn stage_ms(&self) -> impl Iterator<Item = (&str, f64)> {
        self.rest.iter().flat_map(|rest| rest.stage_ms.iter().map(|(name, ms)| (name.as_str(), *ms)))
    }

    /// Why it did not succeed, with its name.
    pub(crate) fn error(&self) -> Option<(&RequestError, &str)> {
        let rest = self.rest.as_ref()?;
        Some((rest.error.as_ref()?, &rest.request_id))
    }

    pub(crate) fn has(&self, flag: Flag) -> bool {
        self.flags.0 & 1 << flag as u32 != 0
    }

    pub(crate) fn flags(&self) -> impl Iterator<Item = Flag> {
        Flag::ALL.iter().copied().filter(|flag| self.has(*flag))
    }

    pub(crate) fn outputs(&self) -> &[Made] {
        match &self.outputs {
            Outputs::None => &[],
            Outputs::One(made) => std::slice::from_ref(made),
            Outputs::Many(made) => made,
        }
    }
}

impl From<&Record> for Row {
    fn from(record: &Record) -> Self {
        let made = |output: &Output| Made { of: medium(output), hash: hash(&output.blake3) };
        let rest = Rest {
            error: record.error.clone(),
            request_id: record.request_id.clone(),
            is_job: record.job_id.is_some(),
            created_us: record.created_us,
            first_terminal_us: record.first_terminal_us,
            content_done_us: record.content_done_us,
            deleted_us: record.deleted_us,
            polls: record.polls.iter().map(|poll| poll.sent_us).collect(),
            stage_ms: record.stage_ms.clone(),
        };
        Self {
            kind: kind(&record.class, record.asked),
            status: record.status,
            flags: Flags::of(&record.flags),
            index: u32::try_from(record.index).unwrap_or(u32::MAX),
            due_us: record.due_us,
            done_us: record.done_us,
            sent_us: record.sent_us.into(),
            latency_us: record.latency_us.into(),
            response_time_us: record.response_time_us.into(),
            generation_ms: record.generation_ms.into(),
            peak_memory_mb: record.peak_memory_mb.into(),
            slo_ms: record.slo_ms.into(),
            outputs: record.outputs.iter().map(made).collect(),
            rest: rest.kept(),
        }
    }
}

impl Rest {
    /// Itself, when there is something in it besides a name, which only errors are told with.
    fn kept(self) -> Option<Box<Self>> {
        let is_needed = self.error.is_some()
            || self.is_job
            || self.created_us.is_some()
            || self.first_terminal_us.is_some()
            || self.content_done_us.is_some()
            || self.deleted_us.is_some()
            || !self.polls.is_empty()
            || !self.stage_ms.is_empty();
        is_needed.then(|| Box::new(self))
    }
}

/// A record's line, as far as it is needed. Every key must be there that a record has, as a line that lacks one
/// is no record.
#[derive(serde::Deserialize)]
struct Line {
    index: usize,
    class: String,
    request_id: String,
    job_id: Option<String>,
    status: Status,
    error: Option<RequestError>,
    due_us: u64,
    sent_us: Option<u64>,
    done_us: u64,
    latency_us: Option<u64>,
    response_time_us: Option<u64>,
    created_us: Option<u64>,
    first_terminal_us: Option<u64>,
    content_done_us: Option<u64>,
    #[serde(default)]
    deleted_us: Option<u64>,
    polls: Vec<Poll>,
    asked: Asked,
    outputs: Vec<LineOutput>,
    flags: Vec<Flag>,
    generation_ms: Option<f64>,
    stage_ms: BTreeMap<String, f64>,
    peak_memory_mb: Option<f64>,
    slo_ms: Option<f64>,
}

#[derive(serde::Deserialize)]
struct LineOutput {
    kind: OutputKind,
    width: Option<u32>,
    height: Option<u32>,
    frames: Option<u64>,
    fps: Option<f64>,
    duration_s: Option<f64>,
    blake3: Hash,
}

struct Hash([u64; 2]);

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Hex;
        impl Visitor<'_> for Hex {
            type Value = Hash;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a hash")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Hash, E> {
                Ok(Hash(hash(text)))
            }
        }
        deserializer.deserialize_str(Hex)
    }
}

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let line = Line::deserialize(deserializer)?;
        let made = |output: LineOutput| {
            let LineOutput { kind, width, height, frames, fps, duration_s, blake3 } = output;
            Made { of: shared_medium(Medium { kind, width, height, frames, fps, duration_s }), hash: blake3.0 }
        };
        let rest = Rest {
            error: line.error,
            request_id: line.request_id,
            is_job: line.job_id.is_some(),
            created_us: line.created_us,
            first_terminal_us: line.first_terminal_us,
            content_done_us: line.content_done_us,
            deleted_us: line.deleted_us,
            polls: line.polls.iter().map(|poll| poll.sent_us).collect(),
            stage_ms: line.stage_ms,
        };
        Ok(Self {
            kind: kind(&line.class, line.asked),
            status: line.status,
            flags: Flags::of(&line.flags),
            index: u32::try_from(line.index).unwrap_or(u32::MAX),
            due_us: line.due_us,
            done_us: line.done_us,
            sent_us: line.sent_us.into(),
            latency_us: line.latency_us.into(),
            response_time_us: line.response_time_us.into(),
            generation_ms: line.generation_ms.into(),
            peak_memory_mb: line.peak_memory_mb.into(),
            slo_ms: line.slo_ms.into(),
            outputs: line.outputs.into_iter().map(made).collect(),
            rest: rest.kept(),
        })
    }
}

thread_local! {
    static KINDS: RefCell<Vec<Arc<Kind>>> = const { RefCell::new(Vec::new()) };
    static MEDIA: RefCell<Vec<Arc<Medium>>> = const { RefCell::new(Vec::new()) };
}

fn kind(class: &str, asked: Asked) -> Arc<Kind> {
    let is = |known: &Kind| known.class == class && known.asked == asked;
    KINDS.with_borrow_mut(|known| shared(known, is, || Kind { class: class.to_owned(), asked }))
}

fn medium(output: &Output) -> Arc<Medium> {
    let Output { kind, width, height, frames, fps, duration_s, .. } = *output;
    shared_medium(Medium { kind, width, height, frames, fps, duration_s })
}

fn shared_medium(medium: Medium) -> Arc<Medium> {
    MEDIA.with_borrow_mut(|known| shared(known, |other| *other == medium, || medium))
}

/// The one that is known already, else a new one that is from now on.
fn shared<T>(known: &mut Vec<Arc<T>>, is: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> Arc<T> {
    if let Some(found) = known.iter().find(|other| is(other)) {
        return Arc::clone(found);
    }
    if known.len() >= KNOWN {
        known.clear();
    }
    let new = Arc::new(make());
    known.push(Arc::clone(&new));
    new
}

/// The first 128 bits of a hash in hex digits; of another text, bits that tell it from most others.
fn hash(text: &str) -> [u64; 2] {
    let half = |from: usize| text.get(from..from + 16).and_then(|digits| u64::from_str_radix(digits, 16).ok());
    if let (Some(high), Some(low)) = (half(0), half(16)) {
        [high, low]
    } else {
        let bytes = *blake3::hash(text.as_bytes()).as_bytes();
        let half = |bytes: &[u8]| bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let (high, rest) = bytes.split_at(8);
        [half(high), half(rest.get(..8).unwrap_or_default())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What both ways of building it must agree on.
    fn told(row: &Row) -> String {
        let parts = (row.class(), row.asked(), row.status, row.flags().collect::<Vec<_>>(), row.index());
        let times = [Some(row.due_us), row.sent_us(), Some(row.done_us), row.latency_us(), row.response_time_us()];
        let job = [row.created_us(), row.first_terminal_us(), row.content_done_us(), row.deleted_us()];
        let numbers = [row.generation_ms(), row.peak_memory_mb(), row.slo_ms()];
        let rest = (row.is_job(), row.polls(), row.stage_ms().collect::<Vec<_>>(), row.error(), row.outputs());
        format!("{parts:?} {times:?} {job:?} {numbers:?} {rest:?}")
    }

    #[test]
    fn a_line_reads_as_its_record_does() {
        let hash = "ab".repeat(32);
        let output = format!(
            r#"{{"kind":"mp4","width":64,"height":48,"frames":33,"fps":24.0,"duration_s":null,"bytes":7,"blake3":"{hash}"}}"#
        );
        let line = |outputs: &str, more: &str| {
            format!(
                r#"{{"index":3,"row":1,"class":"64x48","request_id":"req-4","server_request_id":null,"due_us":1,"headers_us":4,
                "first_byte_us":null,"body_done_us":9,"done_us":10,"first_terminal_us":8,"polls":[{{"sent_us":5,"at_us":6,"status":"q"}}],
                "job_bounds_us":[1,2],"asked":{{"width":64,"height":48,"num_inference_steps":2,"num_frames":null,"fps":null,"n":1}},
                "bytes":7,"outputs":[{outputs}],"stream":null,"judged_us":null,"flags":["rtf_from_latency"],"stage_ms":{{"a":1.5}},
                "peak_memory_mb":7.5,"slo_ms":null,"seed":null,"attempts":1,{more}}}"#
            )
        };
        let job = r#""job_id":"j","status":"ok","error":null,"sent_us":2,"latency_us":8,"response_time_us":9,"created_us":3,"content_done_us":9,"deleted_us":11,"generation_ms":2.5"#;
        let failed = r#""job_id":null,"status":"failed","error":{"class":"io","message":"m","http_status":500},"sent_us":null,"latency_us":null,"response_time_us":null,"created_us":null,"content_done_us":null,"generation_ms":null"#;
        for text in [line(&output, job), line("", failed), line(&format!("{output},{output}"), job)] {
            let record: Record = serde_json::from_str(&text).unwrap();
            let row: Row = serde_json::from_str(&text).unwrap();
            assert_eq!(told(&row), told(&Row::from(&record)));
            assert_eq!(row.outputs().len(), record.outputs.len());
            assert!(row.outputs().iter().all(|made| made.hash == [0xabab_abab_abab_abab; 2]));
        }
        assert!(serde_json::from_str::<Row>(r#"{"index":3}"#).is_err());
    }

    #[test]
    fn a_million_rows_take_little_more_than_a_hundred_megabytes() {
        assert!(size_of::<Row>() <= 136, "{}", size_of::<Row>());
    }

    #[test]
    fn every_flag_has_its_place() {
        assert!(Flag::ALL.len() <= 32);
        for flag in Flag::ALL {
            assert_eq!(Flags::of(&[*flag]).0.count_ones(), 1);
        }
    }
}
