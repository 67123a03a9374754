//! Where a report goes: standard output, a file, the summary of a GitHub job.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::super::Ui;
use super::super::failure::Failure;
use crate::exit::Exit;
use crate::record::write_atomic;

/// The variable that names the summary's file.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";
/// The most that GitHub shows of a step's summary, in bytes.
const SHOWN: usize = 1 << 20;

/// The terminal's width, when stdout is one.
pub(super) fn width() -> Option<u16> {
    comfy_table::Table::new().width()
}

/// Writes to the file, or to standard output when there is none.
pub(super) fn write(text: &str, file: Option<&Path>, ui: Ui) -> Result<Exit, Failure> {
    let Some(file) = file else { return Ok(ui.print(text)) };
    write_atomic(file, text.as_bytes()).map_err(Failure::results)?;
    ui.note(&format!("written: {}", file.display()));
    Ok(Exit::Fine)
}

/// The file that the environment names for summaries.
pub(super) fn summary_file() -> Result<PathBuf, Failure> {
    let file = std::env::var_os(SUMMARY).filter(|file| !file.is_empty());
    file.map(PathBuf::from).ok_or_else(|| {
        let text = format!("`--github-summary` writes to the file that `{SUMMARY}` names, and it is not set");
        Failure::new(Exit::Usage, text)
    })
}

/// Appends to the summary, whose other parts are not this tool's.
pub(super) fn append(file: &Path, text: &str, ui: Ui) -> Result<(), Failure> {
    let there = match fs_err::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(Failure::results(error)),
    };
    // a table begins after an empty line
    let gap = match there.as_slice() {
        [] | [.., b'\n', b'\n'] => "",
        [.., b'\n'] => "\n",
        _ => "\n\n",
    };
    if there.len() + text.len() > SHOWN {
        ui.note(&format!("the summary in `{}` is larger than the 1 MiB that GitHub shows", file.display()));
    }
    let mut open = fs_err::OpenOptions::new().create(true).append(true).open(file).map_err(Failure::results)?;
    open.write_all(format!("{gap}{text}").as_bytes()).map_err(Failure::results)
}
