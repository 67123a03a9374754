//! `omni-bench history`: summaries in a database, and one metric of them over time.

mod read;
mod text;

use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::{Ui, stored};
use crate::cli::{
    HistoryAction, HistoryAddArgs, HistoryAllowance, HistoryArgs, HistoryFile, HistoryFormat, HistorySelection,
    HistoryTrendArgs,
};
use crate::exit::Exit;
use crate::history::{Added, Entry, Filter, History, Trend, trend_svg};
use crate::record::write_atomic;

pub(super) fn run(args: &HistoryArgs, ui: Ui) -> Exit {
    let done = match &args.action {
        HistoryAction::Add(args) => add(args, ui),
        HistoryAction::List(args) => list(args, ui),
        HistoryAction::Trend(args) => trend(args, ui),
    };
    done.unwrap_or_else(|failure| failure.tell(ui))
}

fn add(args: &HistoryAddArgs, ui: Ui) -> Result<Exit, Failure> {
    let mut entries = Vec::new();
    for results in &args.results {
        let found = entries_of(results, args, ui)?;
        if found.is_empty() {
            ui.note(&format!("`{}` holds no run with numbers", results.display()));
        }
        entries.extend(found);
    }
    let path = file(&args.file)?;
    if let Some(folder) = path.parent() {
        fs_err::create_dir_all(folder).map_err(Failure::results)?;
    }
    let added = History::open(&path)?.add(&entries)?;
    ui.note(&told(added, &path));
    Ok(Exit::Fine)
}

/// Everything is read and looked at before anything is added.
fn entries_of(results: &Path, args: &HistoryAddArgs, ui: Ui) -> Result<Vec<Entry>, Failure> {
    let stored = stored::read(results).map_err(Failure::results)?;
    let (entries, left_out) = read::entries(&stored).map_err(Failure::results)?;
    for run in left_out {
        ui.note(&format!("`{}`: run `{run}` is left out: its `run.json` tells no start", results.display()));
    }
    let simulated = stored.results.simulated || entries.iter().any(|entry| entry.simulated);
    if simulated && !args.allow.contains(&HistoryAllowance::Simulated) {
        return Err(Failure::usage(format!(
            "`{}` holds simulated results, which are not measurements; nothing was added\n\
             `--allow simulated` adds them with a label",
            results.display()
        )));
    }
    Ok(entries)
}

fn told(added: Added, path: &Path) -> String {
    let summaries = |count| if count == 1 { "1 summary".to_owned() } else { format!("{count} summaries") };
    let path = path.display();
    match (added.new, added.known) {
        (0, 0) => format!("nothing to add to `{path}`"),
        (0, known) => format!("added nothing to `{path}`: {} in it already", are(&summaries(known), known)),
        (new, 0) => format!("added {} to `{path}`", summaries(new)),
        (new, known) => {
            format!("added {} to `{path}`; {} in it already", summaries(new), are(&summaries(known), known))
        }
    }
}

fn are(things: &str, count: usize) -> String {
    format!("{things} {}", if count == 1 { "is" } else { "are" })
}

/// The file that is named, else the one in the user's data folder.
fn file(args: &HistoryFile) -> Result<PathBuf, Failure> {
    if let Some(path) = &args.db {
        return Ok(path.clone());
    }
    let folders = directories::ProjectDirs::from("", "", "omni-bench");
    let folders =
        folders.ok_or_else(|| Failure::usage("there is no data folder of a user here; name a file by `--db`"))?;
    Ok(folders.data_dir().join("history.sqlite"))
}

fn filter(selection: &HistorySelection) -> Result<Filter, Failure> {
    let conditions = selection.filters.iter().map(String::as_str);
    Filter::parse(conditions).map(|filter| filter.last(selection.last)).map_err(Failure::usage)
}

fn list(args: &HistorySelection, ui: Ui) -> Result<Exit, Failure> {
    let filter = filter(args)?;
    let entries = History::open_existing(&file(&args.file)?)?.select(&filter)?;
    Ok(ui.print(&text::list(&entries)))
}

fn trend(args: &HistoryTrendArgs, ui: Ui) -> Result<Exit, Failure> {
    let filter = filter(&args.selection)?;
    let trend = History::open_existing(&file(&args.selection.file)?)?.trend(&args.metric, &filter)?;
    if let Some(path) = &args.output {
        let svg = trend_svg(&trend).map_err(Failure::results)?;
        write_atomic(path, svg.as_bytes()).map_err(Failure::results)?;
        ui.note(&format!("drew `{}`", path.display()));
    }
    Ok(ui.print(&render(&trend, args.format)?))
}

fn render(trend: &Trend, format: HistoryFormat) -> Result<String, Failure> {
    match format {
        HistoryFormat::Table => Ok(text::trend(trend)),
        HistoryFormat::Json => serde_json::to_string_pretty(trend).map(|text| text + "\n").map_err(Failure::results),
        HistoryFormat::Csv => text::csv(trend).map_err(Failure::results),
    }
}
