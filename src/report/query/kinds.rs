//! The columns that a kind of table has by itself: first what tells its rows apart, then figures.

use super::keys::column;
use super::subject::{Scope, Subject};
use crate::catalog::{Medium, TableKind};
use crate::report::official;
use crate::report::table::{Cell, Column, Value};

/// Columns of a kind for these rows.
pub(super) struct Layout {
    /// What tells rows apart.
    pub(super) identity: Vec<Column>,
    /// What is measured.
    pub(super) figures: Vec<Column>,
    /// Identity that stands behind the figures.
    pub(super) further: Vec<Column>,
    /// Keys of columns that stay when nothing in them was measured.
    pub(super) kept: &'static [&'static str],
}

impl Layout {
    /// The columns in their order, and whether each is a figure.
    pub(super) fn columns(self) -> Vec<(Column, bool)> {
        let identity = |column| (column, false);
        let figures = self.figures.into_iter().map(|column| (column, true));
        self.identity.into_iter().map(identity).chain(figures).chain(self.further.into_iter().map(identity)).collect()
    }
}

/// Axes that tell rows apart whenever they have several values.
const TELLING: &[&str] = &["variant_label", "dataset_label", "max_concurrency", "request_rate"];
/// Axes that do so only when rows would look alike without them.
const AT_NEED: &[&str] =
    &["size", "num_inference_steps", "num_frames", "shape", "requests", "seed", "repeat", "id", "key"];

/// The columns of a kind.
/// The medium is that of the tasks, videos where some make them: their tables have every column of the other.
pub(super) fn layout(kind: TableKind, subjects: &[Subject<'_>], medium: Medium) -> Layout {
    let video = medium == Medium::Video;
    let open_loop = subjects.iter().any(Subject::is_open_loop);
    match kind {
        TableKind::Results => official_layout(subjects, medium),
        TableKind::Throughput => of(identity(kind, subjects), throughput(video), &["throughput_per_s"]),
        TableKind::Envelope => {
            of(identity(kind, subjects), envelope(video, open_loop), &["video_s_per_s", "peak_memory_mb.max"])
        }
        TableKind::Classes => of(identity(kind, subjects), classes(open_loop), &[]),
        TableKind::Stages => {
            let keys = ["stage_ms.n", "stage_ms.mean", "stage_ms.p50", "stage_ms.p99"];
            of(identity(kind, subjects), keys.map(column).into(), &[])
        }
        TableKind::Memory => {
            let headed =
                |name: &str, header: &str| Column::number(format!("peak_memory_mb.{name}"), header, 0).unit("MB");
            let mut figures = vec![headed("max", "Peak Memory"), headed("mean", "Mean"), headed("median", "Median")];
            figures.extend([headed("p99", "P99"), Column::number("peak_memory_mb.n", "Requests That Told", 0)]);
            figures.extend(telemetry_columns());
            of(identity(kind, subjects), figures, &[])
        }
        TableKind::Sensitivity => of(sensitivity(subjects), per_step(), &[]),
    }
}

/// What the GPUs themselves told, beside what the server did.
fn telemetry_columns() -> [Column; 5] {
    let memory = |key: &str, header: &str| Column::number(key, header, 0).unit("MB");
    let joules = |key: &str, header: &str| Column::number(key, header, 1).unit("J");
    [
        memory("telemetry.gpu_memory_mb.max", "GPU Memory, Peak"),
        memory("telemetry.gpu_memory_mb.mean", "GPU Memory, Mean"),
        memory("telemetry.process_memory_mb.max", "Process, Peak"),
        joules("telemetry.energy_j", "Energy"),
        joules("telemetry.joules_per_request", "Energy per Request"),
    ]
}

const fn of(identity: Vec<Column>, figures: Vec<Column>, kept: &'static [&'static str]) -> Layout {
    Layout { identity, figures, further: Vec::new(), kept }
}

/// The dashboards' columns, then what varies besides.
fn official_layout(subjects: &[Subject<'_>], medium: Medium) -> Layout {
    let columns = official::columns(subjects, medium);
    let is_figure =
        |column: &Column| column.key.starts_with("latency_s.") || column.key.starts_with("response_time_s.");
    let first = columns.iter().position(is_figure).unwrap_or(columns.len());
    let (mut identity, mut figures, mut further) = (Vec::new(), Vec::new(), Vec::new());
    for (place, column) in columns.into_iter().enumerate() {
        match (place < first, is_figure(&column)) {
            (true, _) => identity.push(column),
            (false, true) => figures.push(column),
            (false, false) => further.push(column),
        }
    }
    Layout { identity, figures, further, kept: &["latency_s.mean", "latency_s.p99"] }
}

fn throughput(video: bool) -> Vec<Column> {
    let mut columns = vec![Column::number("throughput_per_s", "Throughput", 4).unit("requests/s")];
    if video {
        columns.push(Column::number("throughput_per_hour", "Throughput", 2).unit("clips/hr"));
        columns.push(Column::number("video_s_per_s", "Video seconds per wall second", 4));
        columns.push(column("frames_per_s").unit("frames/s"));
    } else {
        columns.push(column("images_per_s").unit("images/s"));
    }
    let rest =
        ["offered_per_s", "goodput_per_s", "megapixel_steps_per_s", "outputs_per_hour_per_gpu", "peak_concurrency"];
    columns.extend(rest.map(column));
    columns
}

/// As the dashboards that have one.
fn envelope(video: bool, open_loop: bool) -> Vec<Column> {
    let latency = if open_loop { "response_time_s" } else { "latency_s" };
    let headed = |name: &str, header: &str| Column::number(format!("{latency}.{name}"), header, 4).unit("s");
    let mut columns = vec![if video {
        Column::number("throughput_per_hour", "Throughput", 2).unit("clips/hr")
    } else {
        Column::number("throughput_per_s", "Throughput", 4).unit("requests/s")
    }];
    columns.extend([headed("mean", "Mean"), headed("p50", "p50"), headed("p99", "p99")]);
    if video {
        columns.push(Column::number("video_s_per_s", "Video seconds per wall second", 4));
    }
    columns.push(Column::number("peak_memory_mb.max", "Peak memory", 0).unit("MB"));
    columns
}

fn classes(open_loop: bool) -> Vec<Column> {
    let mut columns = vec![column("completed"), column("failed"), column("censored")];
    let headed = |key: &str, header: &str| Column::number(key, header, 4).unit("s");
    if open_loop {
        columns
            .extend([headed("response_time_s.mean", "Mean Response"), headed("response_time_s.p99", "P99 Response")]);
    }
    columns.extend([
        headed("latency_s.mean", "Mean"),
        headed("latency_s.p50", "P50"),
        headed("latency_s.p99", "P99"),
        headed("latency_s.max", "Max"),
        headed("slo_target_s", "SLO Target"),
        Column::number("slo_attainment", "SLO Attainment", 4),
    ]);
    columns
}

fn per_step() -> Vec<Column> {
    let headed = |key: &str, header: &str| Column::number(key, header, 4).unit("s");
    vec![
        headed("latency_s.mean", "Mean"),
        headed("latency_s.p50", "P50"),
        headed("latency_s.p99", "P99"),
        column("latency_per_step_s"),
    ]
}

/// What latency is to be sensitive to.
const SENSITIVE: [&str; 3] = ["num_inference_steps", "num_frames", "prompt_chars"];

/// Whether there is something that latency could be sensitive to.
pub(super) fn is_sensitive(subjects: &[Subject<'_>]) -> bool {
    SENSITIVE.iter().any(|key| varies(subjects, key))
}

fn sensitivity(subjects: &[Subject<'_>]) -> Vec<Column> {
    let mut columns = identity(TableKind::Sensitivity, subjects);
    columns.retain(|column| column.key != "class");
    if varies(subjects, "size") {
        columns.push(column("size"));
    }
    columns.extend(SENSITIVE.iter().filter(|key| varies(subjects, key)).map(|key| column(key)));
    columns
}

fn varies(subjects: &[Subject<'_>], key: &str) -> bool {
    let mut values = subjects.iter().map(|subject| subject.value(key));
    values.next().is_some_and(|first| values.any(|value| value != first))
}

/// The fewest columns by which rows can be told apart, and those that always say something.
fn identity(kind: TableKind, subjects: &[Subject<'_>]) -> Vec<Column> {
    let mut columns = Vec::new();
    if varies(subjects, "folder") {
        columns.push(column("folder"));
    }
    for key in TELLING {
        let always = kind == TableKind::Envelope && *key == "max_concurrency";
        if always || varies(subjects, key) {
            columns.push(match (kind, *key) {
                (TableKind::Envelope, "max_concurrency") => Column::number(*key, "Concurrency", 0),
                (_, key) => column(key),
            });
        }
    }
    match Scope::of(kind) {
        Scope::Run => {}
        Scope::Class => columns.push(column("class")),
        Scope::Stage => columns.push(column("stage")),
    }
    for key in AT_NEED {
        if !are_told_apart(subjects, &columns) && varies(subjects, key) {
            // the part of a run stands last
            let last = columns.len().saturating_sub(usize::from(Scope::of(kind) != Scope::Run));
            columns.insert(last, column(key));
        }
    }
    if columns.is_empty() { vec![column("id")] } else { columns }
}

fn are_told_apart(subjects: &[Subject<'_>], columns: &[Column]) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    subjects.iter().all(|subject| {
        let values: Vec<String> = columns.iter().map(|column| raw(&subject.value(&column.key))).collect();
        seen.insert(values)
    })
}

/// A value as it tells rows apart.
pub(super) fn raw(value: &Value) -> String {
    Cell::from(value.clone()).raw()
}
