//! One request of a timeline: its parts, what it tells, and its colours.

use super::frame::Panel;
use super::look::{Sample, cross};
use super::scale::{seconds, short};
use super::scene::{Place, Scene, Shape};
use crate::record::{Record, Status};
use crate::report::text::inline;

const QUEUE: &str = "muted";
const GENERATE: &str = "s0";
const DOWNLOAD: &str = "s4";

/// Where a request is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) enum Spot {
    /// Along the time, in a row from this pixel on and so high.
    Row { top: f64, height: f64 },
    /// Upright at its due time, so wide; as high as it took.
    Column { width: f64 },
}

impl Spot {
    /// The bar between two times of a request, this share as thick as there is room.
    fn bar(self, panel: &Panel, record: &Record, [from, to]: [u64; 2], share: f64) -> Shape {
        match self {
            Self::Row { top, height } => {
                let place = |us: u64| panel.x.at(seconds(us));
                let (middle, half) = (top + height / 2.0, (height * 0.8).max(0.7) * share / 2.0);
                // a hair of space keeps one request from running into the next
                let end = if to == record.done_us { place(to) - 0.6 } else { place(to) };
                Shape::Bar([place(from), end.max(place(from) + 0.3)], [middle - half, middle + half])
            }
            Self::Column { width } => {
                let height = |us: u64| panel.y.at(seconds(us.saturating_sub(record.due_us)));
                let (middle, half) = (panel.x.at(seconds(record.due_us)), width * share / 2.0);
                Shape::Bar([middle - half, middle + half], [height(to).min(height(from) - 0.3), height(from)])
            }
        }
    }

    /// The end of a request, when there is room for a sign on it.
    fn end(self, panel: &Panel, record: &Record) -> Option<Place> {
        match self {
            Self::Row { top, height } if height > 5.0 => {
                Some((panel.x.at(seconds(record.done_us)), top + height / 2.0))
            }
            Self::Column { width } if width > 4.0 => {
                let took = seconds(record.done_us.saturating_sub(record.due_us));
                Some((panel.x.at(seconds(record.due_us)), panel.y.at(took)))
            }
            Self::Row { .. } | Self::Column { .. } => None,
        }
    }
}

/// When a request left the queue and when its download began, in microseconds since the run's start.
pub(crate) fn turns(record: &Record) -> (u64, u64) {
    let sent = record.sent_us.unwrap_or(record.done_us);
    // the first byte of a stream comes long before its picture
    let ready = match (&record.stream, record.job_id.is_some()) {
        (_, true) => record.first_terminal_us,
        (Some(_), false) => record.body_done_us,
        (None, false) => record.first_byte_us,
    };
    (sent, ready.unwrap_or(record.done_us).clamp(sent, record.done_us.max(sent)))
}

/// Draws a request.
pub(super) fn draw(scene: &mut Scene, panel: &Panel, spot: Spot, record: &Record) {
    let (sent, ready) = turns(record);
    let bar = |times: [u64; 2], share: f64| spot.bar(panel, record, times, share);
    let mut parts = Vec::new();
    if sent > record.due_us {
        parts.push((QUEUE.to_owned(), vec![bar([record.due_us, sent], 0.4)]));
    }
    if record.status == Status::Ok {
        parts.push((GENERATE.to_owned(), vec![bar([sent, ready], 1.0)]));
        if record.done_us > ready {
            parts.push((DOWNLOAD.to_owned(), vec![bar([ready, record.done_us], 1.0)]));
        }
    } else {
        let mut shapes = vec![bar([sent, record.done_us], 0.7)];
        shapes.extend(spot.end(panel, record).into_iter().flat_map(cross));
        parts.push((unsuccessful_ink(record.status).to_owned(), shapes));
    }
    scene.add_parts(told(record), parts);
}

fn told(record: &Record) -> String {
    let (sent, ready) = turns(record);
    let span = |from: u64, to: u64| short(seconds(to.saturating_sub(from)));
    let mut parts = vec![record.request_id.clone(), record.class.clone(), status_name(record.status).to_owned()];
    parts.push(format!("queue {} s", span(record.due_us, sent)));
    if record.sent_us.is_some() {
        parts.push(format!("generate {} s", span(sent, ready)));
        parts.push(format!("download {} s", span(ready, record.done_us)));
    }
    parts.extend(record.error.as_ref().map(|error| format!("{}: {}", error.class, shortened(&inline(&error.message)))));
    parts.join(" · ")
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(120).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// A status in words.
pub(crate) const fn status_name(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Failed => "failed",
        Status::Censored => "censored",
        Status::Cancelled => "cancelled",
    }
}

const fn unsuccessful_ink(status: Status) -> &'static str {
    match status {
        Status::Ok => GENERATE,
        Status::Failed => "bad",
        Status::Censored => "warn",
        Status::Cancelled => "dim",
    }
}

/// What the legend explains: what occurs among these requests.
pub(super) fn entries(records: &[&Record]) -> Vec<(Sample, String)> {
    let patch = |class: &str, text: &str| (Sample::Patch(class.to_owned()), text.to_owned());
    let mut entries = Vec::new();
    // what is thinner than a line need not be explained
    let last = records.iter().map(|record| record.done_us).max().unwrap_or_default();
    let is_seen = |from: u64, to: u64| to.saturating_sub(from) > last / 2_000;
    if records.iter().any(|record| is_seen(record.due_us, turns(record).0)) {
        entries.push(patch(QUEUE, "queue"));
    }
    let any = |status: Status| records.iter().any(|record| record.status == status);
    if any(Status::Ok) {
        entries.push(patch(GENERATE, "generate"));
    }
    if records.iter().any(|record| record.status == Status::Ok && is_seen(turns(record).1, record.done_us)) {
        entries.push(patch(DOWNLOAD, "download"));
    }
    for status in [Status::Failed, Status::Censored, Status::Cancelled] {
        if any(status) {
            entries.push(patch(unsuccessful_ink(status), status_name(status)));
        }
    }
    entries
}
