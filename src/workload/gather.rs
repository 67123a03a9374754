//! Datasets that are read from files: download or path → rows, facts and notes, or what is wrong.

use super::files::{self, DataFile};
use super::intake::{Intake, Surround};
use super::load::{Loader, Parts};
use super::remote::{self, Remote, is_sha256};
use super::vbench::Gathered;
use super::{Facts, Origin, custom, trace, vbench};
use crate::catalog::Task;
use crate::diagnostic::Problem;
use crate::scenario::model::{OnShort, PathList, Source};

/// More lines about the rows of a dataset would bury the others.
const MOST_LINES: usize = 10;

impl Loader<'_> {
    /// The rows of a trace, a custom or a vbench dataset.
    pub(super) fn rows_of_files(&mut self, source: Source, surround: &Surround) -> Option<Parts> {
        if let Some(wanted) = self.written.sha256.as_ref().filter(|wanted| !is_sha256(wanted)) {
            self.problem("sha256", format!("`{wanted}` is not a SHA-256 checksum of 64 hex digits"));
            return None;
        }
        let download = match remote::of_dataset(self.written, &self.at, self.task) {
            Ok(Some((key, remote))) => Some(self.downloaded(key, &remote)?),
            Ok(None) => None,
            Err(problem) => {
                self.problems.push(problem);
                return None;
            }
        };
        let mut intake = Intake::new(surround, self.task);
        let read = match source {
            Source::Vbench => self.vbench(download, &mut intake).map(|gathered| (gathered, 0)),
            _ => self.table(source, download, &mut intake),
        };
        let (gathered, comments) = match read {
            Ok(read) => read,
            Err(messages) => {
                let key = self.data_key();
                for message in messages {
                    self.problem(key, message);
                }
                return None;
            }
        };
        self.finish(source, intake, gathered, comments)
    }

    /// The downloaded file, or a problem with the key that asks for it.
    fn downloaded(&mut self, key: &'static str, remote: &Remote) -> Option<DataFile> {
        let message = match self.sources.get(self.name) {
            Some(Ok(path)) => match DataFile::downloaded(path, remote) {
                Ok(file) => return Some(file),
                Err(message) => message,
            },
            Some(Err(reason)) => format!("`{remote}` could not be downloaded: {reason}"),
            None => {
                let message = format!("dataset `{}` would be downloaded from `{remote}`", self.name);
                let hint = format!("write `allow_download = true` under `{}`, or give a local `path`", self.at);
                self.problems.push(Problem::value(self.at.key(key), message).hint(hint));
                return None;
            }
        };
        self.problem(key, message);
        None
    }

    fn table(
        &self,
        source: Source,
        download: Option<DataFile>,
        intake: &mut Intake<'_>,
    ) -> Result<(Gathered, u64), Vec<String>> {
        let files = match (download, &self.written.path) {
            (Some(file), _) => vec![file],
            (None, Some(paths)) => files::read_all(&paths.0)?,
            (None, None) => return Err(vec![format!("dataset `{}` needs the `path` of its data", self.name)]),
        };
        let comments = match source {
            Source::Trace => trace::read(&files, intake),
            _ => custom::read(&files, intake)?,
        };
        let sha256 = files::sha256(files.iter().map(|file| file.bytes.as_slice()));
        Ok((Gathered { files: files.into_iter().map(|file| file.shown).collect(), sha256 }, comments))
    }

    fn vbench(&self, download: Option<DataFile>, intake: &mut Intake<'_>) -> Result<Gathered, Vec<String>> {
        let pictures = self.task.is_some_and(Task::needs_image);
        let read = match (download, &self.written.path) {
            (Some(file), _) => vbench::list(&file, pictures, intake),
            (None, Some(PathList(paths))) => match paths.as_slice() {
                [path] => vbench::local(path.as_ref(), pictures, intake),
                _ => Err("a vbench dataset is one list or one folder".to_owned()),
            },
            (None, None) => Err(format!("dataset `{}` needs the `path` of its data", self.name)),
        };
        read.map_err(|message| vec![message])
    }

    /// Rows as read → what is kept of them, or what is wrong with them.
    fn finish(&mut self, source: Source, intake: Intake<'_>, read: Gathered, comments: u64) -> Option<Parts> {
        if let Some(excess) = intake.excess() {
            self.problem(self.data_key(), format!("`{}`: {excess}", read.files.join("`, `")));
            return None;
        }
        let Intake { rows, bad, other_keys, replaced, .. } = intake;
        let key = self.data_key();
        if source == Source::Custom {
            self.refuse_rows(key, &bad);
        }
        if rows.is_empty() {
            // for a custom dataset the rows have been told already
            if source != Source::Custom || bad.is_empty() {
                let first = bad.first().map_or_else(String::new, |bad| format!("; {bad}"));
                self.problem(key, format!("`{}` has no row that can be read{first}", read.files.join("`, `")));
            }
            return None;
        }
        self.check_sha256(&read.sha256);
        let mut notes = self.notes_on_bad_rows(&bad, rows.len());
        if replaced > 0 {
            let all = rows.len();
            notes.push(format!("dataset `{}`: `override` changed {replaced} of {all} rows", self.name));
        }
        let facts = Facts {
            rows: Some(rows.len() as u64),
            bad_rows: bad.len() as u64,
            comments,
            sha256: Some(read.sha256),
            hash: String::new(),
        };
        let on_short = self.written.on_short;
        let files = read.files;
        let origin = match source {
            Source::Trace => Origin::Trace { files, on_short: on_short.unwrap_or(OnShort::Truncate) },
            Source::Vbench => Origin::Vbench { files, on_short: on_short.unwrap_or(OnShort::Cycle) },
            _ => Origin::Custom { files, on_short: on_short.unwrap_or(OnShort::Cycle) },
        };
        Some(Parts { origin, rows, facts, notes, other_keys })
    }

    /// The key that names the data.
    pub(super) const fn data_key(&self) -> &'static str {
        match (&self.written.url, &self.written.path, self.written.source) {
            (Some(_), ..) => "url",
            (None, None, Some(Source::Vbench)) => "source",
            (None, ..) => "path",
        }
    }

    fn refuse_rows(&mut self, key: &str, bad: &[String]) {
        for message in bad.iter().take(MOST_LINES) {
            self.problem(key, message);
        }
        if let Some(more) = bad.len().checked_sub(MOST_LINES).filter(|more| *more > 0) {
            self.problem(key, format!("and {more} more rows of dataset `{}`", self.name));
        }
    }

    fn notes_on_bad_rows(&self, bad: &[String], good: usize) -> Vec<String> {
        let mut notes = Vec::new();
        if !bad.is_empty() {
            let rows = good + bad.len();
            notes.push(format!("dataset `{}`: {} of {rows} rows were left out", self.name, bad.len()));
            notes.extend(bad.iter().take(MOST_LINES).map(|bad| format!("  {bad}")));
            if let Some(more) = bad.len().checked_sub(MOST_LINES).filter(|more| *more > 0) {
                notes.push(format!("  and {more} more"));
            }
        }
        notes
    }

    fn check_sha256(&mut self, found: &str) {
        if self.written.sha256.as_ref().is_some_and(|wanted| !wanted.eq_ignore_ascii_case(found)) {
            self.problems.push(
                Problem::value(self.at.key("sha256"), "the data is not what this checksum stands for")
                    .hint(format!("the data's checksum is `{found}`")),
            );
        }
    }
}
