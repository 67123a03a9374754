//! When each request of a run waited, was generated and was fetched.

use super::frame::{BELOW, Panel, PanelWords, Words, finish, heading, legend};
use super::look::{Sample, cross};
use super::sampling::{Budget, spread};
use super::scale::{Scale, real, seconds, short};
use super::scene::{Scene, Shape};
use crate::record::{Record, Status};
use crate::report::text::inline;
use crate::summarize::Summary;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 34.0;
/// Slowest and failed requests that are drawn whatever is left out.
const ALWAYS: usize = 10;

const QUEUE: &str = "muted";
const GENERATE: &str = "s0";
const DOWNLOAD: &str = "s4";

/// A bar per request, in the order in which they were due.
pub(super) fn timeline(mut words: Words, run: &Summary, records: &[Record], budget: Budget) -> Option<(Words, Scene)> {
    let mut ordered: Vec<&Record> = records.iter().collect();
    ordered.sort_by_key(|record| (record.due_us, record.index));
    if ordered.is_empty() {
        return None;
    }
    let shown = chosen(&ordered, budget.requests);
    words.title = format!("Timeline of requests: {}", run.id);
    let mut scene = Scene::new(WIDTH);
    let top = heading(&mut scene, &words) + 10.0;
    let height = (real(shown.len()) * 9.0).clamp(60.0, 400.0);
    let row = height / real(shown.len());
    let last = ordered.iter().map(|record| seconds(record.done_us)).fold(0.0, f64::max);
    let panel =
        Panel { x: Scale::from_zero(last, [LEFT, WIDTH - 24.0]), y: Scale::empty([top + height, top]) };
    panel.draw(&mut scene, PanelWords { title: "", x: "Time since the start of the run (s)", y: None });
    let name = format!("Requests by due time ({})", shown.len());
    scene.add("muted", vec![Shape::Upright((18.0, top + height / 2.0), super::scene::fitted(&name, height, 12.0))]);
    for (place, record) in shown.iter().enumerate() {
        draw_request(&mut scene, &panel, [top + real(place) * row, row], record);
    }
    if shown.len() < ordered.len() {
        words.notes.push(format!(
            "{} of {} requests are drawn: evenly spread ones, the {ALWAYS} slowest and the first {ALWAYS} that did not \
             succeed.",
            shown.len(),
            ordered.len()
        ));
    }
    let jobs = ordered.iter().any(|record| record.job_id.is_some());
    words.notes.push(
        if jobs {
            "Queue: due to sent. Generate: sent to the poll that found the job ended. Download: from then on to done."
        } else {
            "Queue: due to sent. Generate: sent to the reply's first byte. Download: from then on to done."
        }
        .to_owned(),
    );
    let below = legend(&mut scene, top + height + BELOW, &entries(&ordered));
    finish(&mut scene, below, &words.notes);
    Some((words, scene))
}

/// What is drawn: all, or a spread of them with the slowest and with some that did not succeed.
fn chosen<'a>(ordered: &[&'a Record], most: usize) -> Vec<&'a Record> {
    if ordered.len() <= most {
        return ordered.to_vec();
    }
    let mut slowest: Vec<usize> = (0..ordered.len()).collect();
    slowest.sort_by_key(|place| std::cmp::Reverse(ordered.get(*place).and_then(|record| record.response_time_us)));
    let unsuccessful = (0..ordered.len()).filter(|at| ordered.get(*at).is_some_and(|r| r.status != Status::Ok));
    let mut places = spread(ordered.len(), most.saturating_sub(2 * ALWAYS));
    places.extend(slowest.into_iter().take(ALWAYS));
    places.extend(unsuccessful.take(ALWAYS));
    places.sort_unstable();
    places.dedup();
    places.into_iter().filter_map(|place| ordered.get(place).copied()).collect()
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

fn draw_request(scene: &mut Scene, panel: &Panel, [top, row]: [f64; 2], record: &Record) {
    let (sent, ready) = turns(record);
    let place = |us: u64| panel.x.at(seconds(us));
    let thickness = (row * 0.8).max(0.7);
    let bar = |from: u64, to: u64, share: f64| {
        let middle = top + row / 2.0;
        let half = thickness * share / 2.0;
        Shape::Bar([place(from), place(to).max(place(from) + 0.3)], [middle - half, middle + half])
    };
    let span = |from: u64, to: u64| short(seconds(to.saturating_sub(from)));
    let mut told = format!("{} · {} · {}", record.request_id, record.class, status_name(record.status));
    told.push_str(&format!(" · queue {} s", span(record.due_us, sent)));
    if record.sent_us.is_some() {
        told.push_str(&format!(" · generate {} s · download {} s", span(sent, ready), span(ready, record.done_us)));
    }
    if let Some(error) = &record.error {
        told.push_str(&format!(" · {}: {}", error.class, shortened(&inline(&error.message))));
    }
    let mut parts = Vec::new();
    if sent > record.due_us {
        parts.push((QUEUE.to_owned(), vec![bar(record.due_us, sent, 0.35)]));
    }
    if record.status == Status::Ok {
        parts.push((GENERATE.to_owned(), vec![bar(sent, ready, 1.0)]));
        if record.done_us > ready {
            parts.push((DOWNLOAD.to_owned(), vec![bar(ready, record.done_us, 1.0)]));
        }
    } else {
        let mut shapes = vec![bar(sent, record.done_us, 0.7)];
        if row > 5.0 {
            shapes.extend(cross((place(record.done_us), top + row / 2.0)));
        }
        parts.push((unsuccessful_ink(record.status).to_owned(), shapes));
    }
    scene.add_parts(told, parts);
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

fn entries(records: &[&Record]) -> Vec<(Sample, String)> {
    let patch = |class: &str, text: &str| (Sample::Patch(class.to_owned()), text.to_owned());
    let mut entries = Vec::new();
    // a wait that is thinner than a line need not be explained
    let last = records.iter().map(|record| record.done_us).max().unwrap_or_default();
    if records.iter().any(|record| turns(record).0.saturating_sub(record.due_us) > last / 1_000) {
        entries.push(patch(QUEUE, "queue"));
    }
    let any = |status: Status| records.iter().any(|record| record.status == status);
    if any(Status::Ok) {
        entries.push(patch(GENERATE, "generate"));
        entries.push(patch(DOWNLOAD, "download"));
    }
    for status in [Status::Failed, Status::Censored, Status::Cancelled] {
        if any(status) {
            entries.push(patch(unsuccessful_ink(status), status_name(status)));
        }
    }
    entries
}
