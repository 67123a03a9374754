//! Making a results folder, finding one, and the files that it holds once.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::atomic::{beside, read_json, replace_link, sync_folder, write_json};
use super::{ReadError, ResultsDir};
use crate::plan::{PLAN_FORMAT, Plan};
use crate::units::SafeName;

/// Name of the link to the newest results folder of a scenario.
const LATEST: &str = "latest";

impl ResultsDir {
    /// Makes the folder of a new campaign under `out`, with its plan inside; it appears whole or not
    /// at all. A second one within the same second gets a number.
    pub fn create(out: &Path, plan: &Plan, now: Timestamp) -> io::Result<Self> {
        let parent = out.join(SafeName::lossy(&plan.scenario).as_str());
        let hash: String = plan.plan_hash.chars().take(8).collect();
        let name = format!("{}-{hash}", now.strftime("%Y%m%dT%H%M%SZ"));
        fs_err::create_dir_all(&parent)?;
        make(&parent, plan, &|number| if number == 1 { name.clone() } else { format!("{name}-{number}") })
    }

    /// Makes the folder of a further measurement of some of this folder's runs, inside it: `confirm-1`,
    /// or the next number that is free.
    pub fn create_confirmation(&self, plan: &Plan) -> io::Result<Self> {
        make(self.path(), plan, &|number| format!("confirm-{number}"))
    }

    /// Points `latest`, beside this folder, to it.
    pub fn mark_latest(&self) -> io::Result<()> {
        match (self.path().parent(), self.path().file_name()) {
            (Some(parent), Some(name)) => replace_link(&parent.join(LATEST), Path::new(name)),
            _ => Ok(()),
        }
    }

    /// The results folder that a RESULTS argument names: the folder, a link to it such as `latest`,
    /// or a `results.json` in it. Links are followed once, here.
    pub fn resolve(argument: &Path) -> Result<Self, ReadError> {
        let found = match fs_err::canonicalize(argument) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ReadError::NoResults {
                    path: argument.to_owned(),
                    hint: "; there is nothing by that name".into(),
                });
            }
            found => found?,
        };
        let folder = if found.is_file() { found.parent().unwrap_or(&found).to_owned() } else { found };
        let dir = Self::at(shorter(argument, folder));
        if dir.plan().is_file() {
            return Ok(dir);
        }
        let latest = dir.path().join(LATEST);
        let hint = latest.exists().then(|| format!("; did you mean `{}`?", latest.display()));
        Err(ReadError::NoResults { path: argument.to_owned(), hint: hint.unwrap_or_default() })
    }

    /// Reads `plan.json`.
    pub fn read_plan(&self) -> Result<Plan, ReadError> {
        let path = self.plan();
        let wrong = |message: String| ReadError::Json { path: path.clone(), message };
        let value: serde_json::Value = read_json(&path)?
            .ok_or_else(|| ReadError::NoResults { path: self.path().to_owned(), hint: String::new() })?;
        match value.get("format").and_then(serde_json::Value::as_u64) {
            Some(format) if format == u64::from(PLAN_FORMAT) => {}
            Some(format) => return Err(wrong(format!("format {format} is not known to this version of omni-bench"))),
            None => return Err(wrong("it has no `format`".into())),
        }
        serde_json::from_value(value).map_err(|error| wrong(error.to_string()))
    }
}

/// Makes a folder with a plan and room for runs in it, under the first of the numbered names, from 1,
/// that is free; it appears whole or not at all.
fn make(parent: &Path, plan: &Plan, name: &dyn Fn(u32) -> String) -> io::Result<ResultsDir> {
    let new = beside(&parent.join(name(1)));
    let made = fs_err::create_dir(&new)
        .and_then(|()| write_json(&new.join("plan.json"), plan))
        .and_then(|()| fs_err::create_dir(new.join("runs")))
        .and_then(|()| place(&new, parent, name));
    if made.is_err() {
        // the first error is the one to tell
        drop(fs_err::remove_dir_all(&new));
    }
    made.map(ResultsDir::at)
}

/// Renames the new folder to the first name that is free.
fn place(new: &Path, parent: &Path, name: &dyn Fn(u32) -> String) -> io::Result<PathBuf> {
    let mut number = 1_u32;
    loop {
        let path = parent.join(name(number));
        match fs_err::rename(new, &path) {
            // a folder that is there holds its plan and is therefore never replaced
            Err(error) if is_taken(&error) && number < 10_000 => number += 1,
            other => {
                other?;
                sync_folder(parent);
                return Ok(path);
            }
        }
    }
}

fn is_taken(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotADirectory
    )
}

/// The folder as the user named it when no link was in the way; messages then show the same words.
fn shorter(argument: &Path, folder: PathBuf) -> PathBuf {
    let is_link = argument.symlink_metadata().is_ok_and(|facts| facts.is_symlink());
    if !is_link && argument.is_dir() { argument.to_owned() } else { relative_to_here(folder) }
}

fn relative_to_here(folder: PathBuf) -> PathBuf {
    let here = std::env::current_dir().and_then(fs_err::canonicalize);
    match here.as_deref().map(|here| folder.strip_prefix(here)) {
        Ok(Ok(relative)) if !relative.as_os_str().is_empty() => relative.to_owned(),
        _ => folder,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        serde_json::from_value(serde_json::json!({
            "format": PLAN_FORMAT, "tool_version": "0.1.0", "scenario": "qwen-image", "title": "Qwen-Image",
            "description": null, "tags": [], "plan_hash": "0123456789abcdef", "model": "m", "task": "t2i",
            "simulated": false, "speed": 1.0, "simulator_profile": null, "simulator_noise": 0.0, "environment": {},
            "server": null, "variants": [], "datasets": {}, "varying": [], "repeats": 1, "order": "interleaved",
            "runs": [], "steps": [], "starts": 0, "slo": null, "allow_failures": 0, "compare": null, "page": null,
        }))
        .unwrap()
    }

    fn time() -> Timestamp {
        "2026-11-30T16:19:00Z".parse().unwrap()
    }

    #[test]
    fn a_folder_is_named_by_time_and_plan_and_appears_with_its_plan() {
        let out = tempfile::tempdir().unwrap();
        let dir = ResultsDir::create(out.path(), &plan(), time()).unwrap();
        assert!(dir.path().ends_with("qwen-image/20261130T161900Z-01234567"));
        assert_eq!(dir.read_plan().unwrap(), plan());
        let second = ResultsDir::create(out.path(), &plan(), time()).unwrap();
        assert!(second.path().ends_with("20261130T161900Z-01234567-2"));
        assert_eq!(fs_err::read_dir(out.path().join("qwen-image")).unwrap().count(), 2);
    }

    #[test]
    fn a_file_in_the_way_of_the_folder_is_named() {
        let out = tempfile::tempdir().unwrap();
        fs_err::write(out.path().join("qwen-image"), "").unwrap();
        let error = ResultsDir::create(out.path(), &plan(), time()).unwrap_err();
        assert!(error.to_string().contains("qwen-image"), "{error}");
    }

    #[test]
    fn latest_is_relative_and_moves_on() {
        let out = tempfile::tempdir().unwrap();
        let first = ResultsDir::create(out.path(), &plan(), time()).unwrap();
        first.mark_latest().unwrap();
        let second = ResultsDir::create(out.path(), &plan(), time()).unwrap();
        second.mark_latest().unwrap();
        let link = out.path().join("qwen-image").join("latest");
        assert_eq!(fs_err::read_link(&link).unwrap(), Path::new("20261130T161900Z-01234567-2"));
    }

    #[test]
    fn an_argument_may_be_the_folder_its_latest_or_its_results_json() {
        let out = tempfile::tempdir().unwrap();
        let dir = ResultsDir::create(out.path(), &plan(), time()).unwrap();
        dir.mark_latest().unwrap();
        fs_err::write(dir.results_json(), "{}").unwrap();
        let whole = fs_err::canonicalize(dir.path()).unwrap();
        for argument in [dir.path().to_owned(), out.path().join("qwen-image/latest"), dir.results_json()] {
            let found = ResultsDir::resolve(&argument).unwrap();
            assert_eq!(fs_err::canonicalize(found.path()).unwrap(), whole, "{}", argument.display());
            assert!(!found.path().ends_with("latest"));
        }
    }

    #[test]
    fn a_folder_without_a_plan_is_refused_with_a_hint() {
        let out = tempfile::tempdir().unwrap();
        ResultsDir::create(out.path(), &plan(), time()).unwrap().mark_latest().unwrap();
        let error = ResultsDir::resolve(&out.path().join("qwen-image")).unwrap_err().to_string();
        assert!(error.contains("is not a results folder") && error.contains("did you mean"), "{error}");
        assert!(ResultsDir::resolve(&out.path().join("absent")).unwrap_err().to_string().contains("absent"));
    }

    #[test]
    fn a_plan_of_another_format_is_refused() {
        let out = tempfile::tempdir().unwrap();
        let dir = ResultsDir::create(out.path(), &plan(), time()).unwrap();
        write_json(&dir.plan(), &Plan { format: 99, ..plan() }).unwrap();
        assert!(dir.read_plan().unwrap_err().to_string().contains("format 99"));
    }

    #[test]
    fn an_id_cannot_leave_the_folder() {
        let run = ResultsDir::at("r").run("../../etc/x");
        assert_eq!(run.path(), Path::new("r/runs/_./_./etc/x"));
    }
}
