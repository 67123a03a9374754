//! `omni-bench import`: foreign files → scenario, data files and baseline, in a folder.

use std::path::Path;

use super::Ui;
use super::planning::prepare;
use crate::catalog::metric;
use crate::cli::{ImportArgs, ImportKind, PlanningArgs, ScenarioArgs};
use crate::exit::Exit;
use crate::gate::{BASELINE_FORMAT, Baseline, BaselineEntry, BaselineMetric, BaselineSource};
use crate::import::{Findings, ImportedScenario, PerfPoint, PointFigures, vllm_omni_perf};
use crate::plan::{Plan, RunPlan};
use crate::record::{write_atomic, write_json};

pub(super) fn run(args: &ImportArgs, ui: Ui) -> Exit {
    // what one file lacks does not keep the others from being imported
    args.files.iter().map(|file| one(args, file, ui)).max().unwrap_or(Exit::Fine)
}

fn one(args: &ImportArgs, file: &Path, ui: Ui) -> Exit {
    let mut findings = Findings::default();
    let ImportKind::VllmOmniPerf = args.kind;
    let text = match fs_err::read_to_string(file) {
        Ok(text) => text,
        Err(error) => return told(ui, Exit::Usage, &error),
    };
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let read = |name: &str| {
        let path = file.with_file_name("").join(name);
        fs_err::read_to_string(path).map_err(|error| error.to_string())
    };
    let imported = vllm_omni_perf(&file.display().to_string(), &stem, &text, &read, &mut findings);
    for note in &findings.notes {
        ui.note(&note.to_string());
    }
    let Some(imported) = imported else {
        Ui::talk(&findings.render(ui.color));
        return Exit::Usage;
    };
    let written = imported.scenarios.iter().map(|scenario| write(args, file, scenario, ui));
    written.max().unwrap_or(Exit::Fine)
}

/// Writes a scenario and its data, plans it, and writes the baseline with the keys of that plan.
fn write(args: &ImportArgs, source: &Path, scenario: &ImportedScenario, ui: Ui) -> Exit {
    let toml = args.out.join(format!("{}.toml", scenario.name));
    let baseline = args.out.join(format!("{}.baseline.json", scenario.name));
    let others = scenario.files.keys().map(|name| args.out.join(name));
    let taken = others.chain([toml.clone(), baseline.clone()]).find(|path| path.exists());
    if let Some(path) = taken.filter(|_| !args.force) {
        return told(ui, Exit::Usage, &format!("`{}` is already there; `--force` overwrites it", path.display()));
    }
    let files = scenario.files.iter().map(|(name, text)| (args.out.join(name), text));
    let written = fs_err::create_dir_all(&args.out).and_then(|()| {
        files.chain([(toml.clone(), &scenario.text)]).try_for_each(|(path, text)| write_atomic(&path, text.as_bytes()))
    });
    if let Err(error) = written {
        return told(ui, Exit::Results, &error);
    }
    let planning = PlanningArgs {
        // only the plan is wanted, and a simulated one needs no server
        simulate: true,
        ..PlanningArgs::all_of(ScenarioArgs { scenario: toml.clone(), set: Vec::new() })
    };
    let plan = match prepare(&planning, ui) {
        Ok(planned) => planned.plan,
        Err(exit) => {
            ui.error(&format!(
                "`{}` is written but cannot be planned as it is; there is no baseline for it",
                toml.display()
            ));
            return exit;
        }
    };
    let entries: Vec<BaselineEntry> = scenario.points.iter().flat_map(|point| entries(&plan, point)).collect();
    ui.note(&format!("{}: {} runs", toml.display(), plan.runs.len()));
    if entries.is_empty() {
        ui.note(&format!("{}: no baseline in `{}`", toml.display(), source.display()));
        return Exit::Fine;
    }
    ui.note(&format!("{}: {} entries", baseline.display(), entries.len()));
    let file = Baseline {
        format: BASELINE_FORMAT,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        source: BaselineSource {
            kind: "vllm-omni-perf".to_owned(),
            name: source.display().to_string(),
            scenario: plan.scenario.clone(),
        },
        entries,
    };
    match write_json(&baseline, &file) {
        Ok(()) => Exit::Fine,
        Err(error) => told(ui, Exit::Results, &error),
    }
}

fn told(ui: Ui, exit: Exit, error: &dyn std::fmt::Display) -> Exit {
    ui.error(&error.to_string());
    exit
}

/// The entries of a point of the perf JSON: one for each hardware it has figures for.
fn entries<'a>(plan: &'a Plan, point: &'a PerfPoint) -> impl Iterator<Item = BaselineEntry> + 'a {
    let run = plan.runs.iter().find(|run| is_run_of(run, point));
    let each = move |run: &'a RunPlan| point.figures.iter().map(move |(label, figures)| entry(run, label, figures));
    run.into_iter().flat_map(each)
}

fn is_run_of(run: &RunPlan, point: &PerfPoint) -> bool {
    run.variant == point.variant
        && run.dataset == point.dataset
        && run.traffic.request_rate == point.request_rate
        && run.traffic.max_concurrency == Some(point.max_concurrency)
        && run.traffic.requests == point.requests
}

fn entry(run: &RunPlan, label: &str, figures: &PointFigures) -> BaselineEntry {
    let metrics = figures.values.iter().filter_map(|(name, value)| {
        let unit = metric(name)?.unit;
        let figure = match value {
            Ok(value) => BaselineMetric::of(*value, unit),
            Err(reason) => BaselineMetric::absent(unit, Some(reason.clone())),
        };
        Some(((*name).to_owned(), figure))
    });
    BaselineEntry {
        id: run.id.clone(),
        key: run.key.clone(),
        workload_key: run.workload_key.clone(),
        config_key: run.config_key.clone(),
        hardware: Some(label.to_owned()),
        simulated: false,
        n: run.traffic.requests,
        repeats: None,
        metrics: metrics.collect(),
        fingerprint: indexmap::IndexMap::new(),
    }
}
