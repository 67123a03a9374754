//! What a run got done and what its server told about it: outputs, work, generation and stage times,
//! memory. For `results.md` and the page; a terminal has no room for it.

use super::figures::in_seconds;
use super::table::{Cell, Column, Table, Value};
use crate::catalog::Medium;
use crate::plan::Plan;
use crate::summarize::{Results, Summary};

/// A row per run; what no run measured has no column.
pub(crate) fn work(plan: &Plan, results: &Results) -> Table {
    let medium = plan.task.medium();
    let ms = |key: &str, header: &str| Column::number(key, header, 1).unit("ms");
    let mut columns = vec![Column::text("id", "Run")];
    columns.extend(match medium {
        Medium::Image => vec![
            Column::number("images", "Images", 0),
            ms("image_generation_ms.mean", "Mean Generation"),
            ms("image_generation_ms.std", "Std"),
            ms("image_generation_ms.p50", "P50"),
            ms("image_generation_ms.p95", "P95"),
            ms("image_generation_ms.p99", "P99"),
            ms("denoise_step_ms", "Denoise Step"),
        ],
        Medium::Video => vec![
            Column::number("video_frames", "Frames", 0),
            in_seconds("video_duration_s", "Video"),
            Column::number("frames_per_s", "Frames/s", 4),
            ms("video_generation_ms.mean", "Mean Generation"),
            ms("video_generation_ms.std", "Std"),
            ms("video_generation_ms.p50", "P50"),
            ms("video_generation_ms.p95", "P95"),
            ms("video_generation_ms.p99", "P99"),
        ],
    });
    columns.push(Column::number("megapixel_steps_per_s", "Megapixel Steps/s", 2));
    columns.push(Column::number("outputs_per_hour_per_gpu", "Outputs/h/GPU", 2));
    columns.push(Column::number("peak_concurrency", "Peak Concur.", 0));
    columns.push(Column::number("peak_memory_mb.mean", "Mean Memory", 0).unit("MB"));
    columns.push(Column::number("peak_memory_mb.p99", "P99 Memory", 0).unit("MB"));
    let rows = results.runs.iter().map(|run| row(run, &columns)).collect();
    Table { columns, rows, notes: Vec::new() }.without_empty_columns(&[])
}

/// The run's figures by the columns' names.
fn row(run: &Summary, columns: &[Column]) -> Vec<Cell> {
    let figures = run.figures();
    columns
        .iter()
        .map(|column| match column.key.as_str() {
            "id" => run.id.as_str().into(),
            key => figures.get(key).copied().into(),
        })
        .collect()
}

/// A row per stage of every run whose server tells stage times.
pub(crate) fn stages(results: &Results) -> Table {
    let ms = |key: &str, header: &str| Column::number(key, header, 1).unit("ms");
    let columns = vec![
        Column::text("id", "Run"),
        Column::text("stage", "Stage"),
        Column::number("n", "Requests", 0),
        ms("mean", "Mean"),
        ms("p50", "P50"),
        ms("p99", "P99"),
    ];
    let rows = results.runs.iter().flat_map(|run| {
        run.stage_ms.iter().map(|(name, stage)| {
            let times = [stage.mean, stage.p50, stage.p99].map(|ms| Cell::from(Some(ms)));
            let names = [run.id.as_str().into(), name.as_str().into(), Value::Count(stage.n).into()];
            names.into_iter().chain(times).collect()
        })
    });
    Table { rows: rows.collect(), columns, notes: Vec::new() }
}
