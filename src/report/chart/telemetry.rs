//! What a run's server and its GPUs did over time: requests at the server beside those the client had
//! in flight, then memory, power and utilisation of the GPUs that were looked at.

use std::collections::BTreeMap;

use super::frame::{BELOW, Panel, PanelWords, Words, finish, heading, legend};
use super::look::{Look, Sample};
use super::sampling::{Budget, spread};
use super::scale::{Scale, seconds};
use super::scene::{Scene, Shape};
use crate::record::{GpuSample, Record, ServerSample, TelemetrySample};
use crate::report::text::counted;
use crate::summarize::{Summary, TelemetryFigures};

const WIDTH: f64 = 960.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 24.0;
/// Height of a field, and of the gap above it that its title stands in.
const HEIGHT: f64 = 120.0;
const GAP: f64 = 34.0;

/// Time in seconds and a value.
type Points = Vec<(f64, f64)>;

/// A line of a field.
struct Line {
    name: String,
    look: Look,
    points: Points,
}

/// A field with its lines.
struct Field {
    title: &'static str,
    axis: &'static str,
    lines: Vec<Line>,
}

/// The chart of a run; `None` without samples.
pub(super) fn telemetry(
    mut words: Words,
    run: &Summary,
    records: &[Record],
    samples: &[TelemetrySample],
    budget: Budget,
) -> Option<(Words, Scene)> {
    let told = run.telemetry.as_ref()?;
    let fields = fields(told, records, samples);
    let points = || fields.iter().flat_map(|field| &field.lines).flat_map(|line| &line.points);
    let last = points().map(|(at, _)| *at).fold(0.0, f64::max);
    if fields.is_empty() || last <= 0.0 {
        return None;
    }
    words.title = format!("Server and GPUs over time: {}", run.id);
    let mut scene = Scene::new(WIDTH);
    let mut top = heading(&mut scene, &words);
    let mut entries: Vec<(Sample, String)> = Vec::new();
    for field in &fields {
        top += GAP;
        let most = field.lines.iter().flat_map(|line| &line.points).map(|(_, value)| *value).fold(0.0, f64::max);
        let panel =
            Panel { x: Scale::from_zero(last, [LEFT, WIDTH - RIGHT]), y: Scale::from_zero(most, [top + HEIGHT, top]) };
        let x = "Time since the start of the run (s)";
        panel.draw(&mut scene, PanelWords { title: field.title, x, y: Some(field.axis) });
        for line in &field.lines {
            draw(&mut scene, &panel, line, budget);
            let entry = (Sample::Series(line.look), line.name.clone());
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
        top += HEIGHT + BELOW;
    }
    words.notes.extend(notes(told, samples));
    let below = legend(&mut scene, top, &entries);
    finish(&mut scene, below, &words.notes);
    Some((words, scene))
}

fn draw(scene: &mut Scene, panel: &Panel, line: &Line, budget: Budget) {
    let shown =
        spread(line.points.len(), budget.requests.max(2)).into_iter().filter_map(|place| line.points.get(place));
    let places: Vec<_> = shown.map(|(at, value)| (panel.x.at(*at), panel.y.at(*value))).collect();
    match places.as_slice() {
        [only] => scene.add_told(&line.look.ink(), &line.name, line.look.marker(*only, false)),
        _ => scene.add_told(&line.look.line(), &line.name, vec![Shape::Line(places, 1.8)]),
    }
}

fn fields(told: &TelemetryFigures, records: &[Record], samples: &[TelemetrySample]) -> Vec<Field> {
    let mut fields = Vec::new();
    let of = |value: fn(&ServerSample) -> Option<f64>| -> Points {
        let point = |sample: &TelemetrySample| Some((middle_s(sample), value(sample.server.as_ref()?)?));
        samples.iter().filter_map(point).collect()
    };
    let requests =
        [("running at the server", 0, of(|told| told.running)), ("waiting at the server", 1, of(|told| told.waiting))];
    let mut lines: Vec<Line> = requests.map(|(name, place, points)| line(name, Look::of(place), points)).into();
    lines.retain(|line| !line.points.is_empty());
    if !lines.is_empty() {
        lines.insert(0, line("in flight at the client", Look::DIM, in_flight(records)));
        fields.push(Field { title: "Requests", axis: "Requests", lines });
    }
    let kinds: [(&'static str, &'static str, Read); 3] = [
        ("GPU memory in use", "GiB", |gpu| gpu.memory_mb.map(|memory| memory / 1024.0)),
        ("GPU power", "W", |gpu| gpu.power_w),
        ("GPU utilisation", "%", |gpu| gpu.utilization.map(|share| share * 100.0)),
    ];
    for (title, axis, read) in kinds {
        let lines = gpu_lines(told, samples, read);
        if !lines.is_empty() {
            fields.push(Field { title, axis, lines });
        }
    }
    fields
}

type Read = fn(&GpuSample) -> Option<f64>;

fn line(name: &str, look: Look, points: Points) -> Line {
    Line { name: name.to_owned(), look, points }
}

/// A line per GPU that counts as the server's.
fn gpu_lines(told: &TelemetryFigures, samples: &[TelemetrySample], read: Read) -> Vec<Line> {
    let mut series: BTreeMap<u32, Points> = BTreeMap::new();
    for sample in samples {
        for gpu in sample.gpus.iter().flatten() {
            series.entry(gpu.index).or_default().extend(read(gpu).map(|value| (middle_s(sample), value)));
        }
    }
    let counted = told.gpus.iter().filter(|gpu| gpu.counted);
    let lines = counted.zip(0..).filter_map(|(gpu, place)| {
        let points = series.remove(&gpu.index).filter(|points| !points.is_empty())?;
        Some(line(&format!("GPU {}", gpu.index), Look::of(place + 2), points))
    });
    lines.collect()
}

fn middle_s(sample: &TelemetrySample) -> f64 {
    seconds(sample.at_us) + seconds(sample.took_us) / 2.0
}

/// Requests that were sent and had not ended, as steps.
fn in_flight(records: &[Record]) -> Points {
    let ends = |record: &Record| Some([(record.sent_us?, 1_i32), (record.done_us, -1)]);
    let mut changes: Vec<(u64, i32)> = records.iter().filter_map(ends).flatten().collect();
    changes.sort_unstable();
    let mut level = 0;
    let mut points = Vec::with_capacity(2 * changes.len());
    for (at, change) in changes {
        points.push((seconds(at), f64::from(level)));
        level += change;
        points.push((seconds(at), f64::from(level)));
    }
    points
}

fn notes(told: &TelemetryFigures, samples: &[TelemetrySample]) -> Vec<String> {
    let mut notes = Vec::new();
    if told.server_samples > 0 {
        notes.push(format!("The server's own counts come from its metrics, {} looks.", told.server_samples));
    }
    if told.gpu_samples > 0 {
        let left_out = told.gpus.iter().filter(|gpu| !gpu.counted).count();
        let others = match left_out {
            0 => String::new(),
            some => format!(" Left out: {} without the server.", counted(some as u64, "GPU")),
        };
        notes.push(format!("GPUs: {} looks at the driver's figures.{others}", told.gpu_samples));
    }
    if samples.is_empty() {
        notes.push("The samples are not at hand.".to_owned());
    }
    notes
}
