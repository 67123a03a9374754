//! A verdict and further measurements of what failed it → the verdict that counts.

use super::verdict::{MetricVerdict, Verdict, VerdictKind};

/// A further measurement of runs that failed a gate, judged by the same rules.
#[derive(Debug, Clone, PartialEq)]
pub struct Confirmation {
    /// Where its results are, as people find them.
    pub name: String,
    /// Its verdict over the runs that were measured again.
    pub verdict: Verdict,
}

impl Confirmation {
    fn of(&self, id: &str) -> Option<VerdictKind> {
        self.verdict.runs.iter().find(|run| run.id == id).map(|run| run.verdict)
    }
}

impl Verdict {
    /// Runs that failed, and that none of these confirmations cleared.
    pub fn failing(&self, confirmations: &[Confirmation]) -> Vec<&str> {
        let is_cleared = |id: &str| confirmations.iter().any(|again| again.of(id) == Some(VerdictKind::Pass));
        let failed = self.runs.iter().filter(|run| run.verdict == VerdictKind::Regression);
        failed.map(|run| run.id.as_str()).filter(|id| !is_cleared(id)).collect()
    }

    /// Takes confirmations into account, in the order in which they were measured. A run is cleared by the
    /// first that it passes as a whole, whose figures then stand for it; it stays a regression when it
    /// passed none, also when one could not be judged. Every run that failed at first says what was found.
    pub fn settle(&mut self, confirmations: &[Confirmation]) {
        if confirmations.is_empty() {
            return;
        }
        let failed = self.runs.iter().filter(|run| run.verdict == VerdictKind::Regression);
        let failed: Vec<String> = failed.map(|run| run.id.clone()).collect();
        for id in failed {
            let first = failures(self, &id);
            let clears = |again: &&Confirmation| again.of(&id) == Some(VerdictKind::Pass);
            let mut told: Vec<String> = confirmations
                .iter()
                .take_while(|again| !clears(again))
                .filter_map(|again| outcome(again, &id))
                .collect();
            let note = if let Some(again) = confirmations.iter().find(clears) {
                self.adopt(&again.verdict, &id);
                told.insert(0, format!("at first {first}"));
                format!("cleared by `{}`, whose figures are shown; {}", again.name, told.join("; "))
            } else {
                format!("not cleared by any re-run; {}", told.join("; "))
            };
            if let Some(run) = self.runs.iter_mut().find(|run| run.id == id) {
                run.notes.push(note);
            }
        }
        self.verdict = self.runs.iter().map(|run| run.verdict).max().unwrap_or(self.verdict);
    }

    /// Puts another verdict's figures of a run in the place of this one's.
    fn adopt(&mut self, other: &Self, id: &str) {
        let theirs = other.runs.iter().find(|run| run.id == id);
        if let (Some(ours), Some(theirs)) = (self.runs.iter_mut().find(|run| run.id == id), theirs) {
            *ours = theirs.clone();
        }
        let place = self.metrics.iter().position(|metric| metric.id == id).unwrap_or(self.metrics.len());
        self.metrics.retain(|metric| metric.id != id);
        let figures = other.metrics.iter().filter(|metric| metric.id == id).cloned();
        self.metrics.splice(place..place, figures);
    }
}

/// What came of measuring a run again; `None` when it was not.
fn outcome(again: &Confirmation, id: &str) -> Option<String> {
    let run = again.verdict.runs.iter().find(|run| run.id == id)?;
    let name = &again.name;
    Some(match (&run.verdict, &run.reason) {
        (VerdictKind::Regression, _) => format!("`{name}` failed too: {}", failures(&again.verdict, id)),
        (kind, Some(reason)) => format!("`{name}` says nothing ({}: {reason})", kind.words()),
        (kind, None) => format!("`{name}` says nothing ({})", kind.words()),
    })
}

/// The metrics in which a run failed.
fn failures(verdict: &Verdict, id: &str) -> String {
    let failed = |metric: &&MetricVerdict| metric.id == id && metric.verdict == VerdictKind::Regression;
    let told = verdict.metrics.iter().filter(failed).map(|metric| match (metric.value, metric.limit) {
        (Some(value), Some(limit)) => format!("`{}` {value:.4} beyond {limit:.4}", metric.metric),
        _ => format!("`{}`", metric.metric),
    });
    told.collect::<Vec<_>>().join(", ")
}
