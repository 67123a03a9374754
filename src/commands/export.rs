//! `omni-bench export`: stored results → files of a foreign format.

use std::path::Path;

use indexmap::IndexMap;
use jiff::Timestamp;

use super::Ui;
use super::stored::{self, Stored};
use crate::cli::{ExportArgs, ExportKind};
use crate::exit::Exit;
use crate::export::{RunFacts, vllm_omni};
use crate::record::{RunManifest, write_atomic};

pub(super) fn run(args: &ExportArgs, ui: Ui) -> Exit {
    let stored = match stored::read(&args.results) {
        Ok(stored) => stored,
        Err(error) => return told(ui, &error),
    };
    let ExportKind::VllmOmni = args.kind;
    let facts: IndexMap<String, RunFacts> =
        stored.manifests.iter().map(|manifest| (manifest.id.clone(), facts(&stored, manifest))).collect();
    for missing in &stored.results.not_run {
        ui.note(&format!("`{}` has no numbers and no record: {}", missing.id, missing.reason));
    }
    let files = match vllm_omni(&stored.plan, &stored.results, &facts) {
        Ok(files) if files.is_empty() => return told(ui, &"there is no run with numbers to export"),
        Ok(files) => files,
        Err(error) => return told(ui, &error),
    };
    for file in files {
        let path = args.out.join(&file.name);
        let written = fs_err::create_dir_all(&args.out).and_then(|()| write_atomic(&path, file.text.as_bytes()));
        if let Err(error) = written {
            return told(ui, &error);
        }
        ui.note(&path.display().to_string());
    }
    Exit::Fine
}

fn told(ui: Ui, error: &dyn std::fmt::Display) -> Exit {
    ui.error(&error.to_string());
    Exit::Results
}

fn facts(stored: &Stored, manifest: &RunManifest) -> RunFacts {
    let started = manifest.started_at.as_ref().and_then(|at| at.parse::<Timestamp>().ok());
    let log =
        manifest.server.folder.as_ref().map(|folder| stored.dir.path().join("servers").join(folder).join("server.log"));
    RunFacts {
        timestamp: started.map(|at| at.strftime("%Y%m%d-%H%M%S").to_string()),
        log_file: log.filter(|log: &std::path::PathBuf| Path::exists(log)).map(|log| log.display().to_string()),
    }
}
