//! What servers and GPUs did while runs went on, a row per run.

use super::figures::percent;
use super::number::fixed;
use super::table::{Cell, Column, Table};
use crate::summarize::{EnergyBasis, GpuBasis, PeakMean, Results, Summary, TelemetryFigures};

/// A row per run that was looked at; what no run has makes no column.
pub(crate) fn telemetry(results: &Results) -> Table {
    let memory = |key: &str, header: &str| Column::number(key, header, 0).unit("MB");
    let joules = |key: &str, header: &str| Column::number(key, header, 1).unit("J");
    let columns = vec![
        Column::text("id", "Run"),
        Column::number("telemetry.running.mean", "Running, Mean", 2),
        Column::number("telemetry.running.max", "Running, Most", 0),
        Column::number("telemetry.waiting.mean", "Waiting, Mean", 2),
        Column::number("telemetry.waiting.max", "Waiting, Most", 0),
        memory("telemetry.gpu_memory_mb.max", "GPU Memory, Peak"),
        memory("telemetry.gpu_memory_mb.mean", "GPU Memory, Mean"),
        memory("telemetry.process_memory_mb.max", "Process, Peak"),
        Column::number("telemetry.utilization", "Utilisation", 1).unit("%"),
        Column::number("telemetry.power_w", "Power", 1).unit("W"),
        joules("telemetry.energy_j", "Energy"),
        joules("telemetry.joules_per_request", "Per Request"),
        joules("telemetry.joules_per_image", "Per Image"),
        joules("telemetry.joules_per_video", "Per Video"),
    ];
    let mut table = Table { columns, ..Table::default() };
    for run in &results.runs {
        if let Some(told) = &run.telemetry {
            let row = row(run, told, &mut table);
            table.rows.push(row);
        }
    }
    if table.rows.is_empty() { table } else { table.without_empty_columns(&[]) }
}

/// Whether GPUs were looked at.
pub(crate) fn has_gpus(results: &Results) -> bool {
    results.runs.iter().any(|run| run.telemetry.as_ref().is_some_and(|told| told.gpu_samples > 0))
}

fn row(run: &Summary, told: &TelemetryFigures, table: &mut Table) -> Vec<Cell> {
    let [mean, max] = [|part: PeakMean| part.mean, |part: PeakMean| part.max];
    let mut energy = Cell::from(told.energy_j);
    let mut memory = Cell::from(told.gpu_memory_mb.map(max));
    if told.energy_basis == Some(EnergyBasis::Power) {
        energy.marks.push(table.note("energy from power over time, as the GPU has no counter for it".to_owned()));
    }
    if let (Some(power), None, Some(span)) = (told.power_w, told.energy_j, told.gpu_span_s) {
        let text = format!("no energy: at {} W, looks span only {} s of the run", fixed(power, 1), fixed(span, 1));
        energy.marks.push(table.note(text));
    }
    match told.gpu_basis {
        Some(GpuBasis::Processes) => {
            let text = "GPUs with any process count as the server's, because its own cannot be told";
            memory.marks.push(table.note(text.to_owned()));
        }
        Some(GpuBasis::All) => {
            let text = "all GPUs of the machine count as the server's, because no process on them can be seen";
            memory.marks.push(table.note(text.to_owned()));
        }
        Some(GpuBasis::ServerProcesses) | None => {}
    }
    vec![
        run.id.as_str().into(),
        told.running.map(mean).into(),
        told.running.map(max).into(),
        told.waiting.map(mean).into(),
        told.waiting.map(max).into(),
        memory,
        told.gpu_memory_mb.map(mean).into(),
        told.process_memory_mb.map(max).into(),
        told.utilization.map(percent).into(),
        told.power_w.into(),
        energy,
        told.joules_per_request.into(),
        told.joules_per_image.into(),
        told.joules_per_video.into(),
    ]
}
