//! `omni-bench baseline`: stored results → a baseline file.

use super::Ui;
use super::gate::points;
use super::stored;
use crate::cli::BaselineArgs;
use crate::exit::Exit;
use crate::gate::{BASELINE_FORMAT, Baseline, BaselineEntry, BaselineSource, Measured};
use crate::record::write_json;

pub(super) fn run(args: &BaselineArgs, ui: Ui) -> Exit {
    let told = |exit: Exit, error: &dyn std::fmt::Display| {
        ui.error(&error.to_string());
        exit
    };
    let stored = match stored::read(&args.results) {
        Ok(stored) => stored,
        Err(error) => return told(Exit::Results, &error),
    };
    let points: Vec<Measured> = match points(&stored) {
        Ok(points) => points,
        Err(error) => return told(Exit::Results, &error),
    };
    let (mut entries, mut refused) = (Vec::new(), 0_usize);
    for point in &points {
        match BaselineEntry::of(point) {
            Ok(entry) => entries.push(entry),
            Err(why) => {
                ui.error(&format!("`{}` is no baseline: {why}", point.id));
                refused += 1;
            }
        }
    }
    if entries.is_empty() {
        return told(Exit::RunFailed, &"no run of these results can be a baseline; nothing is written");
    }
    if entries.iter().any(|entry| entry.simulated) {
        ui.note("a simulator answered: this baseline holds no measurements, and only simulated runs compare with it");
    }
    if entries.iter().any(|entry| entry.hardware.is_none()) {
        ui.note(
            "the results do not say on what hardware they were measured; declare `environment.gpu` in the scenario",
        );
    }
    let baseline = Baseline {
        format: BASELINE_FORMAT,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        source: BaselineSource {
            kind: "results".to_owned(),
            name: stored.name.clone(),
            scenario: stored.plan.scenario.clone(),
        },
        entries,
    };
    if let Err(error) = write_json(&args.output, &baseline) {
        return told(Exit::Results, &error);
    }
    ui.note(&format!("{}: {} entries", args.output.display(), baseline.entries.len()));
    if refused > 0 { Exit::RunFailed } else { Exit::Fine }
}
