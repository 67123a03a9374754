//! A gate's verdict → `JUnit` XML, as CI systems read it: a suite per run, a case per metric. A
//! regression is a failure; what could not be compared, and a run that failed, is an error.

use super::text::Text;
use super::verdict::{change, value};
use crate::gate::{MetricVerdict, RunVerdict, Verdict, VerdictKind};

/// The verdict as `JUnit` XML.
pub fn verdict_junit(verdict: &Verdict) -> String {
    let suites: Vec<Suite> = verdict.runs.iter().map(|run| suite(verdict, run)).collect();
    let count = |kind: &str| suites.iter().map(|suite| suite.count(kind)).sum::<usize>();
    let tests: usize = suites.iter().map(|suite| suite.cases.len()).sum();
    let mut text = Text::default();
    text.add("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let simulated = if verdict.simulated { " (simulated, not a measurement)" } else { "" };
    text.add(format!(
        "<testsuites name=\"omni-bench gate{simulated}\" tests=\"{tests}\" failures=\"{}\" errors=\"{}\">\n",
        count("failure"),
        count("error")
    ));
    for suite in &suites {
        suite.write(&mut text);
    }
    text.add("</testsuites>\n");
    text.finish()
}

struct Suite {
    name: String,
    cases: Vec<Case>,
}

struct Case {
    name: String,
    /// `failure` or `error`, with what is said about it.
    outcome: Option<(&'static str, String, String)>,
}

fn suite(verdict: &Verdict, run: &RunVerdict) -> Suite {
    let mut cases = Vec::new();
    // what keeps a run from being compared is a case of its own, so that it cannot look like a pass
    if let Some(reason) = &run.reason {
        cases.push(Case { name: "comparison".to_owned(), outcome: outcome(run.verdict, reason.clone()) });
    }
    let metrics = verdict.metrics.iter().filter(|metric| metric.id == run.id);
    cases.extend(metrics.map(|metric| Case {
        name: if metric.baseline.is_some() { metric.metric.clone() } else { format!("{} limit", metric.metric) },
        outcome: outcome(metric.verdict, message(metric)),
    }));
    Suite { name: run.id.clone(), cases }
}

fn outcome(kind: VerdictKind, message: String) -> Option<(&'static str, String, String)> {
    match kind {
        VerdictKind::Pass => None,
        VerdictKind::Regression => Some(("failure", kind.words().to_owned(), message)),
        VerdictKind::NoBaseline | VerdictKind::NotComparable | VerdictKind::RunFailed => {
            Some(("error", kind.words().to_owned(), message))
        }
    }
}

fn message(metric: &MetricVerdict) -> String {
    let mut parts = vec![format!("{} is {}", metric.metric, value(metric))];
    if let Some(limit) = metric.limit {
        parts.push(format!("the limit is {limit}"));
    }
    if let Some(baseline) = metric.baseline {
        parts.push(format!("the baseline {baseline}, a change of {}", change(metric)));
    }
    parts.extend(metric.note.clone());
    parts.join("; ")
}

impl Suite {
    fn count(&self, kind: &str) -> usize {
        self.cases.iter().filter(|case| case.outcome.as_ref().is_some_and(|(found, ..)| *found == kind)).count()
    }

    fn write(&self, text: &mut Text) {
        let name = escaped(&self.name);
        let (tests, failures, errors) = (self.cases.len(), self.count("failure"), self.count("error"));
        text.add(format!(
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\">\n"
        ));
        for case in &self.cases {
            text.add(format!("    <testcase classname=\"{name}\" name=\"{}\"", escaped(&case.name)));
            match &case.outcome {
                None => text.add("/>\n"),
                Some((tag, kind, message)) => text.add(format!(
                    ">\n      <{tag} type=\"{}\" message=\"{}\"/>\n    </testcase>\n",
                    escaped(kind),
                    escaped(message)
                )),
            }
        }
        text.add("  </testsuite>\n");
    }
}

/// Text within an attribute. Characters that XML 1.0 does not have, such as most control characters,
/// become the replacement character.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&apos;"),
            // a reader would turn them into spaces
            '\t' => safe.push_str("&#9;"),
            '\n' => safe.push_str("&#10;"),
            '\r' => safe.push_str("&#13;"),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn what_xml_reserves_or_does_not_have_is_escaped() {
        assert_eq!(escaped("a<b>&\"c\" 'd'"), "a&lt;b&gt;&amp;&quot;c&quot; &apos;d&apos;");
        assert_eq!(escaped("two\nlines\u{1b}[1m é"), "two&#10;lines\u{fffd}[1m é");
    }
}
