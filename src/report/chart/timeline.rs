//! When each request of a run waited, was generated and was fetched.

use super::bars::{Spot, draw, entries};
use super::frame::{BELOW, Panel, PanelWords, Words, finish, heading, legend};
use super::sampling::{Budget, spread};
use super::scale::{Scale, real, seconds};
use super::scene::{Scene, Shape, TEXT, width_of};
use crate::record::{Record, Status};
use crate::summarize::Summary;

const WIDTH: f64 = 960.0;
const RIGHT: f64 = 24.0;
/// Height of a row that is not too low to read, and of all rows at most.
const ROW: f64 = 9.0;
const HEIGHT: f64 = 400.0;
/// Slowest and failed requests that are drawn whatever is left out.
const ALWAYS: usize = 10;
/// Requests up to which each has a row of its own.
const ROWS: usize = 60;
/// Lanes up to which requests share lanes.
const LANES: usize = 44;

/// A bar per request: in rows when there are few, in shared lanes when there are more, else upright at
/// the times when they were due.
pub(super) fn timeline(mut words: Words, run: &Summary, records: &[Record], budget: Budget) -> Option<(Words, Scene)> {
    let mut ordered: Vec<&Record> = records.iter().collect();
    ordered.sort_by_key(|record| (record.due_us, record.index));
    if ordered.is_empty() {
        return None;
    }
    let shown = chosen(&ordered, budget.requests);
    words.title = format!("Timeline of requests: {}", run.id);
    let mut scene = Scene::new(WIDTH);
    let top = heading(&mut scene, &words) + 12.0;
    let lanes = lanes(&shown, shown.len() < ordered.len());
    let bottom = match &lanes {
        Some(lanes) => draw_rows(&mut scene, top, &ordered, &shown, lanes),
        None => draw_columns(&mut scene, top, &ordered, &shown),
    };
    if lanes.is_some_and(|lanes| lanes.are_shared) {
        words.notes.push(
            "A request is in the first lane that is free when it is due; the server has no such lanes.".to_owned(),
        );
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
    let ready = if jobs { "the poll that found the job ended" } else { "the reply's first byte" };
    words.notes.push(format!("Queue: due to sent. Generate: sent to {ready}. Download: from then on to done."));
    let below = legend(&mut scene, bottom + BELOW, &entries(&ordered));
    finish(&mut scene, below, &words.notes);
    Some((words, scene))
}

/// The pixel below the rows.
fn draw_rows(scene: &mut Scene, top: f64, all: &[&Record], shown: &[&Record], lanes: &Lanes) -> f64 {
    let height = (real(lanes.count) * ROW).clamp(60.0, HEIGHT);
    let row = height / real(lanes.count);
    let left = 34.0;
    let last = all.iter().map(|record| seconds(record.done_us)).fold(0.0, f64::max);
    let panel = Panel { x: Scale::from_zero(last, [left, WIDTH - RIGHT]), y: Scale::empty([top + height, top]) };
    panel.draw(scene, PanelWords { title: "", x: "Time since the start of the run (s)", y: None });
    let name = if lanes.are_shared { "Requests in lanes" } else { "Requests by due time" };
    let name = if width_of(name, TEXT) < height { name } else { "Requests" };
    scene.add("muted", vec![Shape::Upright((18.0, top + height / 2.0), name.to_owned())]);
    for (place, record) in lanes.places.iter().zip(shown) {
        draw(scene, &panel, Spot::Row { top: top + real(*place) * row, height: row }, record);
    }
    top + height
}

/// The pixel below the columns.
fn draw_columns(scene: &mut Scene, top: f64, all: &[&Record], shown: &[&Record]) -> f64 {
    let (left, height) = (74.0, 260.0);
    let last = all.iter().map(|record| seconds(record.due_us)).fold(0.0, f64::max);
    let longest = all.iter().map(|record| seconds(record.done_us.saturating_sub(record.due_us))).fold(0.0, f64::max);
    let panel =
        Panel { x: Scale::from_zero(last, [left, WIDTH - RIGHT]), y: Scale::from_zero(longest, [top + height, top]) };
    let words =
        PanelWords { title: "", x: "Due, since the start of the run (s)", y: Some("Time from due to done (s)") };
    panel.draw(scene, words);
    let width = ((WIDTH - RIGHT - left) / real(shown.len()) * 0.75).clamp(0.8, 5.0);
    for record in shown {
        draw(scene, &panel, Spot::Column { width }, record);
    }
    top + height
}

/// In which row each request is drawn.
struct Lanes {
    places: Vec<usize>,
    count: usize,
    are_shared: bool,
}

/// A row per request when there are few; shared ones when there are more and none is left out, as gaps
/// would then look like idle time. `None` when neither is legible.
fn lanes(records: &[&Record], are_sampled: bool) -> Option<Lanes> {
    if records.len() <= ROWS && !are_sampled {
        return Some(Lanes { places: (0..records.len()).collect(), count: records.len(), are_shared: false });
    }
    let mut free_at: Vec<u64> = Vec::new();
    let mut places = Vec::with_capacity(records.len());
    for record in records {
        let free = free_at.iter().position(|at| *at <= record.due_us).unwrap_or(free_at.len());
        match free_at.get_mut(free) {
            Some(at) => *at = record.done_us,
            None => free_at.push(record.done_us),
        }
        places.push(free);
    }
    (!are_sampled && free_at.len() <= LANES).then_some(Lanes { places, count: free_at.len(), are_shared: true })
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
