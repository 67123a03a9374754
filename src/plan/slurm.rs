//! `[slurm]`, resolved. It is no part of the plan: a folder whose element ran out of time is completed
//! with a longer limit, which must not make it another plan's.

use crate::diagnostic::{KeyPath, Problem};
use crate::scenario::Scenario;
use crate::scenario::model::Slurm;
use crate::units::Span;

/// How elements are submitted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SlurmPlan {
    /// Partition; `None` is the cluster's default.
    pub partition: Option<String>,
    /// Account; `None` is the user's default.
    pub account: Option<String>,
    /// Time limit of every element in minutes; `None` follows from the estimate.
    pub time_min: Option<u32>,
    /// Node constraint; `None` is none.
    pub constraint: Option<String>,
    /// Further options of `sbatch`, each with its dashes.
    pub directives: Vec<String>,
    /// Shell lines before the runs.
    pub setup: Vec<String>,
}

/// Options that follow from the plan, by their long and short names.
const OURS: [(&str, &str); 9] = [
    ("array", "-a"),
    ("dependency", "-d"),
    ("gres", ""),
    ("gpus", "-G"),
    ("gpus-per-node", ""),
    ("nodes", "-N"),
    ("ntasks", "-n"),
    ("output", "-o"),
    ("parsable", ""),
];
/// Options that have a key of their own.
const KEYS: [(&str, &str); 4] = [("partition", "-p"), ("account", "-A"), ("time", "-t"), ("constraint", "-C")];

/// Resolves `[slurm]`, or tells everything that is wrong with it.
pub fn slurm_plan(scenario: &Scenario) -> Result<SlurmPlan, Vec<Problem>> {
    let Some(written) = &scenario.slurm else { return Ok(SlurmPlan::default()) };
    let mut problems = Vec::new();
    let plan = resolve(written, &mut problems);
    if problems.is_empty() { Ok(plan) } else { Err(problems) }
}

fn resolve(written: &Slurm, problems: &mut Vec<Problem>) -> SlurmPlan {
    let at = KeyPath::from("slurm");
    let mut word = |key: &str, value: &Option<String>| {
        let value = value.as_ref()?.trim();
        if value.is_empty() || value.chars().any(char::is_control) {
            problems.push(Problem::value(at.key(key), format!("`{key}` is a single word that is not empty")));
        }
        Some(value.to_owned())
    };
    let (partition, account) = (word("partition", &written.partition), word("account", &written.account));
    let constraint = word("constraint", &written.constraint);
    let time_min = written.time.as_ref().and_then(|text| {
        minutes(text).map_err(|problem| problems.push(Problem { path: at.key("time"), ..problem })).ok()
    });
    let directives = written.directives.iter().enumerate().map(|(place, text)| {
        directive(text).unwrap_or_else(|problem| {
            problems.push(Problem { path: at.key("directives").index(place), ..problem });
            String::new()
        })
    });
    let directives = directives.collect();
    SlurmPlan { partition, account, time_min, constraint, directives, setup: written.setup.clone() }
}

/// A further option, with or without `#SBATCH` before it.
fn directive(text: &str) -> Result<String, Problem> {
    let wrong = |message: String| Problem::value(KeyPath::root(), message);
    let option = text.trim();
    let option = option.strip_prefix("#SBATCH").map_or(option, str::trim_start);
    if !option.starts_with('-') || option.chars().any(char::is_control) {
        return Err(wrong(format!("`{text}` is not an option of `sbatch`")).hint("write one like `--qos=high`"));
    }
    let name = option.split(['=', ' ']).next().unwrap_or_default();
    let is = |(long, short): &(&str, &str)| {
        name.strip_prefix("--") == Some(*long)
            || (!short.is_empty() && !name.starts_with("--") && name.starts_with(short))
    };
    if let Some((key, _)) = KEYS.iter().find(|known| is(known)) {
        return Err(wrong(format!("`{text}` has a key of its own")).hint(format!("write `slurm.{key}`")));
    }
    match OURS.iter().find(|known| is(known)) {
        Some((name, _)) => Err(wrong(format!("`--{name}` follows from the plan"))),
        None => Ok(option.to_owned()),
    }
}

/// A time limit in whole minutes, rounded up: one of Slurm's forms (`90`, `1:30:00`, `2-12`), or `90m`.
fn minutes(text: &str) -> Result<u32, Problem> {
    let hint = "write minutes (`90`), `HH:MM:SS`, `D-HH:MM`, or a time like `90m` or `2h`";
    let wrong = |message: String| Problem::value(KeyPath::root(), message).hint(hint);
    let seconds = match text.trim().parse::<Span>() {
        Ok(span) => Some(span.duration().as_secs().saturating_add(u64::from(span.duration().subsec_nanos() > 0))),
        Err(_) => slurm_seconds(text.trim()),
    };
    let minutes = seconds.map(|seconds| seconds.div_ceil(60));
    match minutes.map(u32::try_from) {
        Some(Ok(minutes)) if minutes > 0 => Ok(minutes),
        Some(_) => Err(wrong(format!("`{text}` is no time limit that a job can have"))),
        None => Err(wrong(format!("`{text}` is not a time limit"))),
    }
}

/// `M`, `M:S`, `H:M:S`, `D-H`, `D-H:M` and `D-H:M:S`, as `sbatch --time` has them.
fn slurm_seconds(text: &str) -> Option<u64> {
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(days.parse::<u64>().ok()?), rest),
        None => (None, text),
    };
    let parts: Vec<u64> = rest.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let (hours, minutes, seconds) = match (days, parts.as_slice()) {
        (None, [minutes]) => (0, *minutes, 0),
        (None, [minutes, seconds]) => (0, *minutes, *seconds),
        (Some(_), [hours]) => (*hours, 0, 0),
        (Some(_), [hours, minutes]) => (*hours, *minutes, 0),
        (_, [hours, minutes, seconds]) => (*hours, *minutes, *seconds),
        _ => return None,
    };
    let hours = days.unwrap_or(0).checked_mul(24)?.checked_add(hours)?;
    hours.checked_mul(60)?.checked_add(minutes)?.checked_mul(60)?.checked_add(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_limit_is_read_as_slurm_reads_it_and_as_the_scenario_writes_times() {
        let told =
            ["90", "1:30", "1:30:00", "2-12", "2-0:30", "1-0:0:1", "90m", "1.5h", "30s"].map(|text| minutes(text).ok());
        assert_eq!(told, [90, 2, 90, 3600, 2910, 1441, 90, 90, 1].map(Some));
        for text in ["0", "0s", "UNLIMITED", "1:2:3:4", "-5", "", "9999999999999999999", "99999999-0"] {
            assert!(minutes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_option_that_the_plan_or_another_key_decides_is_refused() {
        assert_eq!(directive("#SBATCH --qos=high").unwrap(), "--qos=high");
        assert_eq!(directive("--mem 4G").unwrap(), "--mem 4G");
        for (text, message) in [
            ("--gres=gpu:2", "`--gres` follows from the plan"),
            ("-a 0-3", "`--array` follows from the plan"),
            ("-N2", "`--nodes` follows from the plan"),
            ("--time=5", "`--time=5` has a key of its own"),
            ("qos=high", "`qos=high` is not an option of `sbatch`"),
            ("--a=1\nrm -r x", "`--a=1\nrm -r x` is not an option of `sbatch`"),
        ] {
            assert_eq!(directive(text).unwrap_err().message, message);
        }
    }

    #[test]
    fn every_problem_of_the_table_is_told_at_its_key() {
        let written = Slurm {
            partition: Some(" ".to_owned()),
            time: Some("soon".to_owned()),
            directives: vec!["--qos=a".to_owned(), "--array=1".to_owned()],
            ..Slurm::default()
        };
        let mut problems = Vec::new();
        resolve(&written, &mut problems);
        let paths: Vec<String> = problems.iter().map(|problem| problem.path.to_string()).collect();
        assert_eq!(paths, ["slurm.partition", "slurm.time", "slurm.directives[1]"]);
    }
}
