//! Which entry of a baseline a run belongs to, and what differs between the two.

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use super::baseline::{Baseline, BaselineEntry};
use super::measured::Measured;
use super::verdict::KeyDiffers;

/// The key of the hardware, as `compare` calls it.
pub(super) const HARDWARE: &str = "gpu";
/// The key of a simulator in the place of a server.
const SIMULATED: &str = "simulated";
/// Facts that change from one night to the next, which is what a gate is for; they are told, not refused.
const CHANGING: [&str; 2] = ["server.", "environment."];
/// Facts of who answers begin with one of these; all others are of what was asked. One that is missing is off.
const CONFIGURATION: [&str; 3] = ["parallel.", "serve_args.", "gpus"];
/// Shares of failed requests that differ by more leave other requests to compare.
const ERROR_RATES: f64 = 0.01;
/// The key of the share of failed requests.
pub(super) const ERROR_RATE: &str = "error_rate";

/// The entry that a run is compared with, and what stands between them.
#[derive(Debug)]
pub(super) struct Pair<'a> {
    pub(super) entry: &'a BaselineEntry,
    pub(super) differences: Vec<KeyDiffers>,
    pub(super) notes: Vec<String>,
}

/// Finds the entry of a run: the same run on the same hardware, else the same run on other hardware,
/// else one of the same id. Of several the one with the fewest differences counts.
pub(super) fn find<'a>(run: &Measured, baseline: &'a Baseline, allow: &[String]) -> Option<Pair<'a>> {
    let same = baseline.entries.iter().filter(|entry| entry.key == run.key);
    let named = baseline.entries.iter().filter(|entry| entry.key != run.key && entry.id == run.id);
    let nearest = |pairs: &mut dyn Iterator<Item = Pair<'a>>| {
        pairs.min_by_key(|pair| pair.differences.iter().filter(|difference| !difference.allowed).count())
    };
    let pair = |entry: &'a BaselineEntry| pair(run, entry, allow);
    nearest(&mut same.map(pair)).or_else(|| nearest(&mut named.map(pair)))
}

fn pair<'a>(run: &Measured, entry: &'a BaselineEntry, allow: &[String]) -> Pair<'a> {
    let (mut differences, mut notes) = (Vec::new(), Vec::new());
    let mut differ = |key: &str, baseline: Value, value: Value| {
        let allowed = allow.iter().any(|known| known == key);
        differences.push(KeyDiffers { key: key.to_owned(), baseline, value, allowed });
    };
    if entry.simulated != run.simulated {
        differ(SIMULATED, entry.simulated.into(), run.simulated.into());
    }
    match (&entry.hardware, &run.hardware) {
        (None, None) => notes.push("neither the run nor its baseline says on what hardware it ran".to_owned()),
        (Some(theirs), Some(ours)) if is_same_hardware(theirs, ours) => {}
        (theirs, ours) => differ(HARDWARE, theirs.clone().into(), ours.clone().into()),
    }
    let known = differences_of_facts(run, entry);
    for (key, theirs, ours) in known.iter().filter(|(key, ..)| *key != ERROR_RATE) {
        if CHANGING.iter().any(|prefix| key.starts_with(prefix)) {
            notes.push(format!("`{key}` changed from {theirs} to {ours}"));
        } else {
            differ(key, theirs.clone(), ours.clone());
        }
    }
    let rate = |value: Option<&Value>| value.and_then(Value::as_f64);
    if let (Some(theirs), Some(ours)) = (rate(entry.fingerprint.get(ERROR_RATE)), rate(run.facts.get(ERROR_RATE)))
        && (theirs - ours).abs() > ERROR_RATES
    {
        differ(ERROR_RATE, theirs.into(), ours.into());
    }
    // what the facts do not tell apart, the hashes do
    let is_changing = |key: &str| key == ERROR_RATE || CHANGING.iter().any(|prefix| key.starts_with(prefix));
    let mut told = known.iter().map(|(key, ..)| key.as_str()).filter(|key| !is_changing(key));
    let configured = told.clone().any(is_configuration);
    if entry.workload_key != run.workload_key && told.all(is_configuration) {
        differ("workload", entry.workload_key.as_str().into(), run.workload_key.as_str().into());
    }
    if entry.config_key != run.config_key && !configured {
        differ("configuration", entry.config_key.as_str().into(), run.config_key.as_str().into());
    }
    Pair { entry, differences, notes }
}

/// Facts that both know and that differ; an imported baseline knows none. What a configuration leaves out
/// is known to be off.
fn differences_of_facts(run: &Measured, entry: &BaselineEntry) -> Vec<(String, Value, Value)> {
    if entry.fingerprint.is_empty() || run.facts.is_empty() {
        return Vec::new();
    }
    let keys: IndexSet<&String> = entry.fingerprint.keys().chain(run.facts.keys()).collect();
    let both = keys.into_iter().filter_map(|key| {
        let off = is_configuration(key).then_some(Value::Null);
        let of = |facts: &IndexMap<String, Value>| facts.get(key).cloned().or_else(|| off.clone());
        Some((key.clone(), of(&entry.fingerprint)?, of(&run.facts)?))
    });
    both.filter(|(_, theirs, ours)| theirs != ours).collect()
}

fn is_configuration(key: &str) -> bool {
    CONFIGURATION.iter().any(|prefix| key.starts_with(prefix))
}

/// Whether two names are of the same hardware: equal, or one is a label that the other holds as a word,
/// like `H100` in `NVIDIA H100 80GB HBM3`.
fn is_same_hardware(a: &str, b: &str) -> bool {
    let holds = |name: &str, label: &str| {
        name.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| word.eq_ignore_ascii_case(label))
    };
    a.eq_ignore_ascii_case(b) || holds(a, b) || holds(b, a)
}

#[cfg(test)]
mod tests {
    use super::is_same_hardware;

    #[test]
    fn a_label_is_the_same_hardware_as_a_name_that_holds_it_as_a_word() {
        assert!(is_same_hardware("H100", "NVIDIA H100 80GB HBM3"));
        assert!(is_same_hardware("nvidia h100", "NVIDIA H100"));
        assert!(is_same_hardware("NVIDIA A100-SXM4-80GB", "A100"));
        for (a, b) in
            [("H100", "H800"), ("L4", "NVIDIA L40S"), ("A10", "NVIDIA A100-SXM4-80GB"), ("H100", "NVIDIA H200")]
        {
            assert!(!is_same_hardware(a, b), "{a} {b}");
        }
    }
}
