//! `omni-bench explain`.

use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use super::{Ui, load};
use crate::cli::{ExplainArgs, PlanFormat};
use crate::exit::Exit;
use crate::scenario::Entry;

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
    let entries = loaded.entries();
    match args.format {
        PlanFormat::Table => ui.print(&table(&entries)),
        PlanFormat::Json => ui.print(&json(entries)),
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
