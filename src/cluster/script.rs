//! Elements → the scripts that `sbatch` takes. Options stand in the script, so that what is printed is what is
//! submitted.

use std::path::Path;

use minijinja::{Environment, context};

use super::UNSEEN;
use super::elements::Array;
use crate::plan::SlurmPlan;

const ELEMENT: &str = include_str!("element.sh.j2");
const MERGE: &str = include_str!("merge.sh.j2");
/// Minutes that the last job has; it has only files to read and write.
const MERGE_MIN: u32 = 30;
/// Options that only those who drive a GPU need.
const OF_ELEMENTS: [&str; 6] = ["--exclusive", "--gpu", "--mem-per-gpu", "--cpus-per-gpu", "--gpu-bind", "--tres-per"];

/// What all scripts of a submission have in common.
#[derive(Debug, Clone, Copy)]
pub struct Script<'a> {
    /// Name of the scenario.
    pub scenario: &'a str,
    /// `[slurm]`.
    pub slurm: &'a SlurmPlan,
    /// The results folder, absolute.
    pub results: &'a Path,
    /// What the folder's token file holds.
    pub token: &'a str,
    /// The working folder of the submission, in which the scenario's path holds.
    pub cwd: &'a Path,
    /// This program, absolute.
    pub program: &'a Path,
    /// Scenario and flags of `run` and `submit` alike.
    pub words: &'a [String],
    /// Further flags of `run`.
    pub run_words: &'a [String],
    /// Most tasks of an array at a time.
    pub max_parallel: Option<u32>,
}

impl Script<'_> {
    /// The script of an array.
    pub fn array(&self, array: &Array) -> Result<String, minijinja::Error> {
        let last = array.elements.len().saturating_sub(1);
        let most = self.max_parallel.map(|most| format!("%{most}")).unwrap_or_default();
        let mut options = vec![
            option("job-name", &format!("omni-bench-{}", self.scenario)),
            format!("--array=0-{last}{most}"),
            "--nodes=1".to_owned(),
            "--ntasks=1".to_owned(),
            format!("--gres=gpu:{}", array.gpus),
        ];
        options.extend(array.limit_min().map(|minutes| format!("--time={}", hours(minutes))));
        options.extend(self.placed());
        options.extend(self.slurm.directives.iter().cloned());
        // a node that does not see the folder could open no file in it, and would fail before it can say so
        options.push("--output=/dev/null".to_owned());
        let elements: Vec<_> = array
            .elements
            .iter()
            .map(|element| {
                let only: Vec<String> = element.only.iter().map(|glob| format!("--only {}", quoted(glob))).collect();
                context! { only => only.join(" "), variants => element.variants.join(", ") }
            })
            .collect();
        let words = self.words.iter().chain(self.run_words);
        self.render(ELEMENT, &options, &elements, words)
    }

    /// The script of the job that puts the results together when these have ended, however they ended.
    pub fn merge(&self, after: &[String], limit_min: Option<u32>) -> Result<String, minijinja::Error> {
        let after = after.join(":");
        let minutes = self.slurm.time_min.and(limit_min).map_or(MERGE_MIN, |limit| limit.min(MERGE_MIN));
        let mut options = vec![
            option("job-name", &format!("omni-bench-{}-merge", self.scenario)),
            "--nodes=1".to_owned(),
            "--ntasks=1".to_owned(),
            format!("--time={}", hours(minutes)),
        ];
        options.push(format!("--dependency=afterany:{after}"));
        options.extend(self.placed());
        let needed = |directive: &&String| !OF_ELEMENTS.iter().any(|start| directive.starts_with(start));
        options.extend(self.slurm.directives.iter().filter(needed).cloned());
        options.push("--output=/dev/null".to_owned());
        self.render(MERGE, &options, &[], self.words.iter())
    }

    fn placed(&self) -> impl Iterator<Item = String> {
        let slurm = self.slurm;
        let named = [("partition", &slurm.partition), ("account", &slurm.account), ("constraint", &slurm.constraint)];
        named.into_iter().filter_map(|(name, value)| Some(option(name, value.as_deref()?)))
    }

    fn render<'w>(
        &self,
        template: &str,
        options: &[String],
        elements: &[minijinja::Value],
        words: impl Iterator<Item = &'w String>,
    ) -> Result<String, minijinja::Error> {
        let words: Vec<String> = words.map(|word| quoted(word)).collect();
        let made = Environment::new().render_str(
            template,
            context! {
                options => options.to_vec(),
                elements => elements.to_vec(),
                results => quoted(&self.results.to_string_lossy()),
                token => quoted(self.token),
                cwd => quoted(&self.cwd.to_string_lossy()),
                program => quoted(&self.program.to_string_lossy()),
                words => words.join(" "),
                setup => self.slurm.setup.clone(),
                unseen => UNSEEN,
            },
        );
        made.map(|text| text.trim_end().to_owned() + "\n")
    }
}

/// An option with its value, in the quotes that `sbatch` takes off again.
fn option(name: &str, value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "%+,-./:=@_[]&|*".contains(c);
    if value.chars().all(plain) {
        format!("--{name}={value}")
    } else {
        format!("--{name}=\"{}\"", value.replace('\\', r"\\").replace('"', "\\\""))
    }
}

/// A word for the shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "%+,-./:=@_".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Minutes as `sbatch --time` takes them and tables show them: `1:30:00`, or `2-03:00:00`.
pub fn hours(minutes: u32) -> String {
    let (days, hours, minutes) = (minutes / 1440, minutes % 1440 / 60, minutes % 60);
    if days == 0 { format!("{hours}:{minutes:02}:00") } else { format!("{days}-{hours:02}:{minutes:02}:00") }
}
