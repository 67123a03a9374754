//! `[gate]` of a scenario → rules.

use crate::diagnostic::{KeyPath, Problem};
use crate::gate::{Limit, Rules, RulesError};
use crate::scenario::model::{Gate, GateLimit};

/// Reads the rules, or tells every one that means nothing; `tolerance` is what the command line says for
/// metrics without their own.
pub(crate) fn rules(written: &Gate, tolerance: Option<f64>) -> Result<Rules, Vec<Problem>> {
    let mut rules = Rules::default();
    let mut problems = Vec::new();
    let mut add = |path: KeyPath, outcome: Result<(), RulesError>| {
        if let Err(RulesError { message, hint }) = outcome {
            let problem = Problem::value(path, message);
            problems.push(hint.into_iter().fold(problem, Problem::hint));
        }
    };
    if let Some(tolerance) = tolerance {
        add(KeyPath::root().key("--tolerance"), rules.tolerate(tolerance));
    }
    let at = KeyPath::from("gate");
    for (name, rule) in &written.metrics {
        add(at.key("metrics").key(name), rules.gate(name, rule.tolerance, rule.absolute));
    }
    for (name, limit) in &written.limits {
        let limit = match limit {
            GateLimit::Number(number) => Limit::Number(*number),
            GateLimit::Span(span) => Limit::Seconds(span.duration().as_secs_f64()),
        };
        add(at.key("limits").key(name), rules.limit(name, limit));
    }
    if problems.is_empty() { Ok(rules) } else { Err(problems) }
}
