//! Single requests: the slowest ones of a run, and those that did not succeed.

use std::cmp::Reverse;

use serde::Serialize;

use crate::record::{OutputKind, Record, Status};
use crate::report::chart::{status_name, turns};
use crate::report::number::fixed;
use crate::report::text::{counted, inline};
use crate::summarize::Summary;

/// A request for the template.
#[derive(Debug, Clone, Serialize)]
pub(super) struct RequestView {
    anchor: Option<String>,
    time: String,
    name: String,
    class: String,
    status: &'static str,
    error: Option<String>,
    facts: Vec<(&'static str, String)>,
}

/// Letters of a message that are shown.
const MESSAGE: usize = 600;

/// The time that counts for a request of this run, in microseconds.
fn headline(run: &Summary, record: &Record) -> Option<u64> {
    if run.headline == "response_time" { record.response_time_us } else { record.latency_us }
}

/// The requests with the longest times, longest first; those cut by a limit of the client took longer
/// still. `anchor` is that of the run.
pub(super) fn slowest(run: &Summary, records: &[Record], most: usize, anchor: &str) -> Vec<RequestView> {
    let timed = records.iter().filter(|record| matches!(record.status, Status::Ok | Status::Censored));
    let mut timed: Vec<(u64, &Record)> = timed.filter_map(|record| Some((headline(run, record)?, record))).collect();
    timed.sort_by_key(|(us, record)| (Reverse(*us), record.index));
    let shown = timed.into_iter().take(most).enumerate();
    shown.map(|(place, (_, record))| view(run, record, Some(format!("{anchor}-slow-{}", place + 1)))).collect()
}

/// The first requests that did not succeed, and a sentence about the others.
pub(super) fn unsuccessful(run: &Summary, records: &[Record], most: usize) -> (Vec<RequestView>, Option<String>) {
    let all: Vec<&Record> = records.iter().filter(|record| record.status != Status::Ok).collect();
    let shown = all.iter().take(most).map(|record| view(run, record, None)).collect();
    let rest = all.len().saturating_sub(most);
    (
        shown,
        (rest > 0)
            .then(|| format!("{} more without success; they are in `records.jsonl`.", counted(rest as u64, "request"))),
    )
}

fn view(run: &Summary, record: &Record, anchor: Option<String>) -> RequestView {
    let time = headline(run, record).map_or_else(|| "not sent".to_owned(), seconds);
    let bound = if record.status == Status::Censored { "≥ " } else { "" };
    RequestView {
        anchor,
        time: format!("{bound}{time}"),
        name: record.request_id.clone(),
        class: record.class.clone(),
        status: status_name(record.status),
        error: error(record, 140),
        facts: facts(record),
    }
}

/// Class, HTTP status and so many letters of the message.
fn error(record: &Record, letters: usize) -> Option<String> {
    let error = record.error.as_ref()?;
    let status = error.http_status.map(|status| format!(" {status}")).unwrap_or_default();
    Some(format!("{}{status}: {}", error.class, shortened(&inline(&error.message), letters)))
}

fn seconds(us: u64) -> String {
    format!("{} s", fixed(std::time::Duration::from_micros(us).as_secs_f64(), 3))
}

fn milliseconds(ms: f64) -> String {
    format!("{} ms", fixed(ms, 1))
}

fn shortened(text: &str, letters: usize) -> String {
    let kept: String = text.chars().take(letters).collect();
    if kept.len() < text.len() { format!("{kept}…") } else { kept }
}

/// What is known about a request; what is not known is left out.
fn facts(record: &Record) -> Vec<(&'static str, String)> {
    let (sent, ready) = turns(record);
    let since = |from: u64, to: u64| seconds(to.saturating_sub(from));
    let was_sent = record.sent_us.is_some();
    let facts = [
        ("Error", error(record, MESSAGE)),
        ("Index, dataset row", Some(format!("{}, {}", record.index, record.row))),
        ("Asked", Some(asked(record))),
        ("Due", Some(seconds(record.due_us))),
        ("Queue", Some(since(record.due_us, sent))),
        ("Generate", was_sent.then(|| since(sent, ready))),
        ("Download", was_sent.then(|| since(ready, record.done_us))),
        ("Latency", record.latency_us.map(seconds)),
        ("Response time", record.response_time_us.map(seconds)),
        ("Generation, told by the server", record.generation_ms.map(milliseconds)),
        ("Stages, told by the server", stages(record)),
        ("Peak memory, told by the server", record.peak_memory_mb.map(|mb| format!("{} MB", fixed(mb, 0)))),
        ("SLO target", record.slo_ms.map(|ms| format!("{} s", fixed(ms / 1e3, 3)))),
        ("Outputs", outputs(record)),
        ("Reply", Some(format!("{} bytes", record.bytes))),
        ("Job", record.job_id.as_ref().map(|job| format!("{job}, {}", counted(record.polls.len() as u64, "poll")))),
        ("Server's request id", record.server_request_id.clone()),
        ("Seed", record.seed.map(|seed| seed.to_string())),
        ("Attempts", (record.attempts > 1).then(|| record.attempts.to_string())),
        ("Remarks", remarks(record)),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn asked(record: &Record) -> String {
    let asked = &record.asked;
    let size = asked.width.zip(asked.height).map(|(width, height)| format!("{width}x{height}"));
    let parts = [
        size,
        asked.num_inference_steps.map(|steps| format!("{steps} steps")),
        asked.num_frames.map(|frames| format!("{frames} frames")),
        asked.fps.map(|fps| format!("{fps} frames/s")),
        Some(counted(asked.n.into(), "output")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn stages(record: &Record) -> Option<String> {
    let stages: Vec<String> =
        record.stage_ms.iter().take(20).map(|(name, ms)| format!("{name} {}", milliseconds(*ms))).collect();
    (!stages.is_empty()).then(|| stages.join(", "))
}

fn outputs(record: &Record) -> Option<String> {
    let outputs: Vec<String> = record
        .outputs
        .iter()
        .take(8)
        .map(|output| {
            let size = output.width.zip(output.height).map(|(width, height)| format!(" {width}x{height}"));
            let frames = output.frames.map(|frames| format!(", {frames} frames")).unwrap_or_default();
            format!("{}{}{frames}, {} bytes", kind(output.kind), size.unwrap_or_default(), output.bytes)
        })
        .collect();
    (!outputs.is_empty()).then(|| outputs.join("; "))
}

const fn kind(kind: OutputKind) -> &'static str {
    match kind {
        OutputKind::Png => "PNG",
        OutputKind::Jpeg => "JPEG",
        OutputKind::Webp => "WebP",
        OutputKind::Mp4 => "MP4",
    }
}

fn remarks(record: &Record) -> Option<String> {
    let flags: Vec<&str> = record.flags.iter().map(|flag| flag.name()).collect();
    (!flags.is_empty()).then(|| flags.join(", "))
}
