//! `omni-bench plan`: what a scenario would do, as a table for people or JSON for programs.

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use super::Ui;
use super::detectable::{self, Designs};
use super::planning::{Planned, prepare};
use crate::cli::{PlanArgs, PlanFormat};
use crate::exit::Exit;
use crate::plan::{Arrivals, Limits, Plan, RunPlan};
use crate::scenario::model::OnShort;
use crate::units::Rate;

pub(super) fn run(args: &PlanArgs, ui: Ui) -> Exit {
    let Planned { plan, .. } = match prepare(&args.planning, ui) {
        Ok(planned) => planned,
        Err(exit) => return exit,
    };
    for note in cut_short(&plan) {
        ui.note(&note);
    }
    let designs = match args.detectable.then(|| detectable::designs(args, &plan)).transpose() {
        Ok(designs) => designs,
        Err(failure) => {
            ui.error(&failure.message);
            return failure.exit;
        }
    };
    let text = match args.format {
        PlanFormat::Table => {
            let designs = designs.map(|designs| format!("\n{}", detectable::text(&designs)));
            format!("{}{}", table(&plan), designs.unwrap_or_default())
        }
        PlanFormat::Json => match json(&plan, designs) {
            Ok(text) => text,
            Err(error) => {
                ui.error(&format!("the plan cannot be written as JSON: {error}"));
                return Exit::Results;
            }
        },
    };
    ui.print(&text)
}

/// The plan as `plan --format json` prints it.
#[derive(Serialize)]
struct PlanOutput<'a> {
    format: u32,
    scenario: &'a str,
    plan_hash: &'a str,
    starts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<&'a Limits>,
    runs: Vec<RunOutput<'a>>,
    datasets: Vec<DatasetOutput<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detectable: Option<Designs>,
}

#[derive(Serialize)]
struct DatasetOutput<'a> {
    name: &'a str,
    files: &'a [String],
    rows: Option<u64>,
    bad_rows: u64,
    comments: u64,
    sha256: Option<&'a str>,
    hash: &'a str,
}

#[derive(Serialize)]
struct RunOutput<'a> {
    id: &'a str,
    key: &'a str,
    workload_key: &'a str,
    config_key: &'a str,
    variant: &'a str,
    dataset: &'a str,
    max_concurrency: Option<u32>,
    request_rate: Rate,
    arrivals: Arrivals,
    requests: u64,
    repeat: u32,
    gpus: u32,
    warmup_requests: u32,
    estimate_s: Option<f64>,
}

fn json(plan: &Plan, detectable: Option<Designs>) -> serde_json::Result<String> {
    let runs = plan.runs.iter().map(|run| RunOutput {
        id: &run.id,
        key: &run.key,
        workload_key: &run.workload_key,
        config_key: &run.config_key,
        variant: &run.variant,
        dataset: &run.dataset,
        max_concurrency: run.traffic.max_concurrency,
        request_rate: run.traffic.request_rate,
        arrivals: run.traffic.arrivals,
        requests: run.traffic.requests,
        repeat: run.repeat,
        gpus: run.gpus,
        warmup_requests: run.warmup.requests,
        estimate_s: run.estimate_s,
    });
    let datasets = plan.datasets.values().map(|dataset| DatasetOutput {
        name: &dataset.name,
        files: dataset.origin.files(),
        rows: dataset.facts.rows,
        bad_rows: dataset.facts.bad_rows,
        comments: dataset.facts.comments,
        sha256: dataset.facts.sha256.as_deref(),
        hash: &dataset.facts.hash,
    });
    let output = PlanOutput {
        format: plan.format,
        scenario: &plan.scenario,
        plan_hash: &plan.plan_hash,
        starts: plan.starts,
        limits: plan.limits.as_ref(),
        runs: runs.collect(),
        datasets: datasets.collect(),
        detectable,
    };
    serde_json::to_string_pretty(&output).map(|text| text + "\n")
}

fn table(plan: &Plan) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["run", "traffic", "requests", "warm-ups", "GPUs", "estimate"]);
    for run in &plan.runs {
        table.add_row([
            run.id.clone(),
            traffic(run),
            run.traffic.requests.to_string(),
            run.warmup.requests.to_string(),
            run.gpus.to_string(),
            run.estimate_s.map_or_else(|| "–".to_owned(), duration),
        ]);
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let rows = table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n");
    format!("{rows}\n\n{}{}\n", data(plan), totals(plan))
}

/// A line for each dataset that is read from files, so that people can see and pin what it is.
fn data(plan: &Plan) -> String {
    let lines = plan.datasets.values().filter_map(|dataset| {
        let facts = &dataset.facts;
        let mut parts = vec![counted(facts.rows?, "row")];
        parts.extend((facts.bad_rows > 0).then(|| format!("{} left out", facts.bad_rows)));
        parts.extend((facts.comments > 0).then(|| counted(facts.comments, "comment line")));
        parts.extend(facts.sha256.as_ref().map(|sum| format!("SHA-256 {sum}")));
        Some(format!("dataset {}: {}\n", dataset.name, parts.join(", ")))
    });
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { lines + "\n" }
}

fn counted(count: u64, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

fn traffic(run: &RunPlan) -> String {
    let rate = run.traffic.request_rate;
    let arrivals = match run.traffic.arrivals {
        Arrivals::Closed => "closed loop".to_owned(),
        Arrivals::Constant => format!("{rate}/s constant"),
        Arrivals::Poisson => format!("{rate}/s Poisson"),
        Arrivals::Gamma { burstiness } => format!("{rate}/s gamma, burstiness {burstiness}"),
        Arrivals::Trace { speed: 1.0 } => "trace".to_owned(),
        Arrivals::Trace { speed } => format!("trace, {speed}× speed"),
    };
    match run.traffic.max_concurrency {
        Some(cap) => format!("{arrivals}, at most {cap} in flight"),
        None => format!("{arrivals}, no cap"),
    }
}

/// Runs, starts, and what they cost where every run has an estimate.
fn totals(plan: &Plan) -> String {
    let mut parts = vec![
        counted(plan.runs.len() as u64, "run"),
        counted(u64::from(plan.starts), if plan.simulated { "simulator start" } else { "server start" }),
    ];
    let estimates: Option<Vec<(f64, u32)>> =
        plan.runs.iter().map(|run| run.estimate_s.map(|seconds| (seconds, run.gpus))).collect();
    match estimates {
        Some(estimates) => {
            let seconds: f64 = estimates.iter().map(|(seconds, _)| seconds).sum();
            let gpu_hours: f64 = estimates.iter().map(|(seconds, gpus)| seconds * f64::from(*gpus) / 3600.0).sum();
            parts.push(format!("about {}", duration(seconds)));
            if plan.simulated {
                parts.push(format!("{} at {}× speed", duration(seconds / plan.speed), plan.speed));
            }
            parts.push(format!("{gpu_hours:.2} GPU-hours"));
        }
        None => parts.push("no estimate of the time".to_owned()),
    }
    parts.join(", ")
}

/// A time as people say it, to two units.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, which is right for a text")]
fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        _ if seconds < 9.95 => format!("{seconds:.1} s"),
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// Datasets whose rows bound the number of requests.
fn cut_short(plan: &Plan) -> impl Iterator<Item = String> {
    plan.datasets.values().filter_map(|dataset| {
        dataset.origin.on_short().filter(|on_short| *on_short == OnShort::Truncate)?;
        let rows = dataset.facts.rows?;
        let full = plan.runs.iter().any(|run| run.dataset == dataset.name && run.traffic.requests == rows);
        full.then(|| format!("dataset `{}` has {rows} rows; no run of it has more requests", dataset.name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_to_two_units() {
        let told = [0.04, 9.94, 59.0, 61.0, 3599.0, 3600.0, 90_061.0].map(duration);
        assert_eq!(told, ["0.0 s", "9.9 s", "59 s", "1 min 1 s", "59 min 59 s", "1 h 0 min", "25 h 1 min"]);
    }
}
