//! `omni-bench explain`.

use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use super::{Ui, fetch, load};
use crate::cli::{ExplainArgs, PlanFormat};
use crate::diagnostic::KeyPath;
use crate::exit::Exit;
use crate::scenario::{Entry, Loaded};
use crate::workload;

/// What `--format json` prints.
#[derive(Debug, Serialize)]
struct Explained {
    format: u32,
    values: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    key: String,
    value: String,
    layer: String,
}

pub(super) fn run(args: &ExplainArgs, ui: Ui) -> Exit {
    let loaded = match load::load(&args.scenario, ui) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let mut entries = loaded.entries();
    pin(&loaded, &mut entries);
    match args.format {
        PlanFormat::Table => ui.print(&table(&entries)),
        PlanFormat::Json => ui.print(&json(entries)),
    }
}

/// Adds the checksums that a scenario could give and does not, of the data that is on this machine.
/// Data that is not there, or is wrong, is for `plan` and `validate` to tell.
fn pin(loaded: &Loaded, entries: &mut Vec<Entry>) {
    let Ok(data) = workload::load(&loaded.scenario, &fetch::cached(&loaded.scenario)) else { return };
    for dataset in data.datasets() {
        let of_dataset = KeyPath::from("datasets").key(&dataset.name);
        let path = of_dataset.key("sha256");
        let (Some(sha256), false) = (&dataset.facts.sha256, entries.iter().any(|entry| entry.path == path)) else {
            continue;
        };
        let last = entries.iter().rposition(|entry| entry.path.segments().starts_with(of_dataset.segments()));
        let entry = Entry { path, value: sha256.clone(), layer: "data".to_owned() };
        entries.insert(last.map_or(entries.len(), |last| last + 1), entry);
    }
}

fn table(entries: &[Entry]) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(["key", "value", "from"]);
    for entry in entries {
        table.add_row([entry.path.to_string(), entry.value.clone(), entry.layer.clone()]);
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim().to_owned()).collect();
    lines.join("\n") + "\n"
}

fn json(entries: Vec<Entry>) -> String {
    let row = |entry: Entry| Row { key: entry.path.to_string(), value: entry.value, layer: entry.layer };
    let explained = Explained { format: 1, values: entries.into_iter().map(row).collect() };
    format!("{:#}\n", serde_json::json!(explained))
}
