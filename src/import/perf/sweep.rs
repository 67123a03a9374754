//! The sweep of an entry: which runs its lists of rates, concurrencies and prompt counts make.

use indexmap::IndexMap;
use serde_json::Value;

use super::super::document::{Findings, Node, kind};
use crate::units::Rate;

/// Prompts when the entry does not say.
const PROMPTS: u64 = 10;

/// One run of a sweep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Step {
    pub(super) request_rate: Rate,
    pub(super) max_concurrency: u32,
    pub(super) requests: u64,
}

/// The runs of an entry. A list of rates is zipped with the prompt counts and drops the concurrency
/// (the script then keeps one request in flight); else a list of concurrencies is zipped with them; a
/// single count holds for all; without either list only the first count is used.
pub(super) fn steps(entry: &IndexMap<String, Node<'_>>, at: &Node<'_>, findings: &mut Findings) -> Option<Vec<Step>> {
    let before = findings.errors.len();
    let prompts = entry.get("num-prompts").filter(|node| !node.value.is_null());
    let counts = prompts.map_or_else(|| vec![PROMPTS], |node| list(node, "a count of at least 1", count, findings));
    let rates = entry.get("request-rate").filter(|node| !node.value.is_null());
    let rate = rates.map(|node| list(node, "a rate above 0, or `inf`", rate, findings));
    let caps = entry.get("max-concurrency").filter(|node| !node.value.is_null());
    let cap = caps.map(|node| list(node, "a count of at least 1", |value| count(value)?.try_into().ok(), findings));
    if findings.errors.len() > before {
        return None;
    }
    let is_list = |node: Option<&Node<'_>>| node.is_some_and(|node| node.value.is_array());
    let first_cap = cap.as_ref().and_then(|caps| caps.first().copied());
    let first_rate = rate.as_ref().and_then(|rates| rates.first().copied());
    let points: Vec<(Rate, u32)> = match (rate, cap) {
        (Some(rates), caps) if is_list(entry.get("request-rate")) => {
            if let (Some(node), Some(_)) = (entry.get("max-concurrency"), caps) {
                let message = "the runner drops `max-concurrency` beside a list of rates, and the script then keeps at most 1 request in flight; the scenario says so";
                findings.note(node, message);
            }
            rates.into_iter().map(|rate| (rate, 1)).collect()
        }
        (_, Some(caps)) if is_list(entry.get("max-concurrency")) => {
            caps.into_iter().map(|cap| (Rate::Infinite, cap)).collect()
        }
        _ => {
            if let Some(node) = prompts.filter(|_| counts.len() > 1) {
                findings.note(node, "without a list of rates or concurrencies the runner uses the first count only");
            }
            let requests = counts.first().copied()?;
            let request_rate = first_rate.unwrap_or(Rate::Infinite);
            return Some(vec![Step { request_rate, max_concurrency: first_cap.unwrap_or(1), requests }]);
        }
    };
    let counts = if counts.len() == 1 { counts.repeat(points.len()) } else { counts };
    if counts.len() != points.len() {
        let at = prompts.unwrap_or(at);
        let message = format!("{} prompt counts do not go with {} points of the sweep", counts.len(), points.len());
        findings.error_hint(at, message, "give one count, or one for each point");
        return None;
    }
    let step = |((request_rate, max_concurrency), requests)| Step { request_rate, max_concurrency, requests };
    Some(points.into_iter().zip(counts).map(step).collect())
}

/// A value or the values of a list.
fn list<T>(node: &Node<'_>, right: &str, read: impl Fn(&Value) -> Option<T>, findings: &mut Findings) -> Vec<T> {
    let values: Vec<&Value> = match node.value {
        Value::Array(values) => values.iter().collect(),
        single => vec![single],
    };
    if values.is_empty() {
        findings.error(node, "an empty list makes no runs");
    }
    let mut found = Vec::new();
    for (position, value) in values.into_iter().enumerate() {
        if let Some(value) = read(value) {
            found.push(value);
            continue;
        }
        let is_plain = !matches!(value, Value::Array(_) | Value::Object(_));
        let shown = if is_plain { format!("`{value}`") } else { kind(value).to_owned() };
        findings.error(node, format!("value {} must be {right}, not {shown}", position + 1));
    }
    found
}

fn count(value: &Value) -> Option<u64> {
    value.as_u64().filter(|count| *count > 0)
}

fn rate(value: &Value) -> Option<Rate> {
    match value {
        Value::String(text) if text == "inf" => Some(Rate::Infinite),
        value => value.as_f64().filter(|rate| rate.is_finite() && *rate > 0.0).map(Rate::PerSecond),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::document::Document;
    use super::super::keys;
    use super::*;

    type Shown = (String, u32, u64);

    fn swept(text: &str) -> (Option<Vec<Shown>>, Findings) {
        let mut findings = Findings::default();
        let document = Document::parse("x.json", text, &mut findings).unwrap();
        let entry = keys::hyphenated(&document.root(), "the script", &mut findings);
        let steps = steps(&entry, &document.root(), &mut findings);
        let shown = |step: Step| (step.request_rate.to_string(), step.max_concurrency, step.requests);
        (steps.map(|steps| steps.into_iter().map(shown).collect()), findings)
    }

    fn inf(cap: u32, requests: u64) -> Shown {
        ("inf".into(), cap, requests)
    }

    #[test]
    fn concurrencies_and_counts_advance_together_and_a_single_count_holds_for_all() {
        let (steps, findings) = swept(r#"{"num-prompts": [20, 40], "max-concurrency": [1, 2]}"#);
        assert_eq!((steps, findings), (Some(vec![inf(1, 20), inf(2, 40)]), Findings::default()));
        assert_eq!(swept(r#"{"num-prompts": 5, "max-concurrency": [1, 2]}"#).0, Some(vec![inf(1, 5), inf(2, 5)]));
        assert_eq!(swept("{}").0, Some(vec![inf(1, 10)]));
        assert_eq!(swept(r#"{"max-concurrency": 4, "request-rate": "inf"}"#).0, Some(vec![inf(4, 10)]));
    }

    #[test]
    fn a_list_of_rates_drops_the_concurrency_and_says_so() {
        let (steps, findings) = swept(r#"{"num-prompts": 8, "max-concurrency": [1, 2], "request-rate": [0.5, 2]}"#);
        assert_eq!(steps, Some(vec![("0.5".into(), 1, 8), ("2".into(), 1, 8)]));
        assert_eq!(findings.notes.len(), 1);
        assert!(findings.notes[0].problem.message.contains("drops `max-concurrency`"));
    }

    #[test]
    fn without_lists_the_first_count_is_used_and_uneven_lists_are_an_error() {
        let (steps, findings) = swept(r#"{"num-prompts": [20, 40], "max-concurrency": 2}"#);
        assert_eq!(steps, Some(vec![inf(2, 20)]));
        assert_eq!(findings.notes.len(), 1);
        let (steps, findings) = swept(r#"{"num-prompts": [20, 40, 60], "max-concurrency": [1, 2]}"#);
        assert_eq!(steps, None);
        assert_eq!(findings.errors[0].problem.message, "3 prompt counts do not go with 2 points of the sweep");
        assert_eq!(swept(r#"{"num-prompts": [0], "max-concurrency": []}"#).1.errors.len(), 2);
    }
}
