//! The text format in which Prometheus servers tell their metrics, version 0.0.4, as its documentation
//! describes it; of `OpenMetrics`, what looks the same. A line that is not understood costs itself only.

use std::collections::BTreeMap;

/// Samples that are kept of one text; no server has as many.
const MOST: usize = 50_000;

/// One line with a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Name of the series, with suffixes such as `_bucket`.
    pub name: String,
    /// Labels with their values unescaped, in the text's order.
    pub labels: Vec<(String, String)>,
    /// The value; NaN and infinities are values.
    pub value: f64,
}

/// What a text told.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Exposition {
    /// Types by the name of the family.
    pub types: BTreeMap<String, String>,
    /// Series, in the text's order.
    pub samples: Vec<Sample>,
    /// Lines that were not understood.
    pub skipped: usize,
}

impl Exposition {
    /// Reads a text; a last line without its line feed counts, too.
    pub fn parse(text: &str) -> Self {
        let mut read = Self::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(comment) = line.strip_prefix('#') {
                read.comment(comment);
            } else if let (Some(sample), true) = (sample(line), read.samples.len() < MOST) {
                read.samples.push(sample);
            } else {
                read.skipped += 1;
            }
        }
        read
    }

    fn comment(&mut self, comment: &str) {
        let mut words = comment.split_whitespace();
        if let (Some("TYPE"), Some(name), Some(kind)) = (words.next(), words.next(), words.next()) {
            self.types.insert(name.to_owned(), kind.to_owned());
        }
    }
}

fn sample(line: &str) -> Option<Sample> {
    let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | ':')))?;
    let (name, rest) = line.split_at_checked(end)?;
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let rest = rest.trim_start();
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(inner) => labels(inner)?,
        None => (Vec::new(), rest),
    };
    // what follows the value is a time stamp or an exemplar
    let value = rest.split_whitespace().next()?.parse().ok()?;
    Some(Sample { name: name.to_owned(), labels, value })
}

type Labels = Vec<(String, String)>;

/// The labels up to the closing brace, and what stands behind it.
fn labels(text: &str) -> Option<(Labels, &str)> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    loop {
        if let Some(behind) = rest.strip_prefix('}') {
            return Some((found, behind));
        }
        let (name, quoted) = rest.split_once('=')?;
        let (value, behind) = unquoted(quoted.trim_start())?;
        found.push((name.trim().to_owned(), value));
        let behind = behind.trim_start();
        rest = match behind.strip_prefix(',') {
            Some(next) => next.trim_start(),
            None if behind.starts_with('}') => behind,
            None => return None,
        };
    }
}

/// A quoted value without its escapes, and what stands behind it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut letters = text.strip_prefix('"')?.chars();
    let mut value = String::new();
    loop {
        match letters.next()? {
            '"' => return Some((value, letters.as_str())),
            '\\' => match letters.next()? {
                'n' => value.push('\n'),
                plain @ ('\\' | '"') => value.push(plain),
                // unknown escapes stay as they are, as Prometheus does it
                other => value.extend(['\\', other]),
            },
            letter => value.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn only(line: &str) -> Sample {
        let read = Exposition::parse(line);
        assert_eq!((read.samples.len(), read.skipped), (1, 0), "{line}");
        read.samples[0].clone()
    }

    #[test]
    fn a_line_has_a_name_labels_and_a_value() {
        assert_eq!(only("up 1"), Sample { name: "up".into(), labels: vec![], value: 1.0 });
        let told = only(r#"a:b_total { x = "1" , y="two", } 2.5e3 1395066363000"#);
        let labels = [("x", "1"), ("y", "two")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(told, Sample { name: "a:b_total".into(), labels: labels.into(), value: 2500.0 });
        assert!(only("empty{} 3 # {trace_id=\"x\"} 0.5").labels.is_empty());
    }

    #[test]
    fn escapes_braces_and_commas_stay_inside_their_label() {
        let told = only(r#"m{path="C:\\DIR\\",error="a\n\"b\"},c=\d"} 1"#);
        let values: Vec<&str> = told.labels.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values, ["C:\\DIR\\", "a\n\"b\"},c=\\d"]);
    }

    #[test]
    fn values_may_be_no_number_and_infinite() {
        assert!(only("a NaN").value.is_nan());
        assert!(only("a +Inf").value.total_cmp(&f64::INFINITY).is_eq());
        assert!(only("a -Inf").value.total_cmp(&f64::NEG_INFINITY).is_eq());
        assert_eq!(only(r#"h_bucket{le="+Inf"} 3"#).labels[0].1, "+Inf");
    }

    #[test]
    fn types_are_kept_and_other_comments_are_not_lines_that_failed() {
        let read = Exposition::parse("# HELP a What \\n it is {}\n# TYPE a histogram\n#\n# EOF\n\n");
        assert_eq!(read.types.get("a").map(String::as_str), Some("histogram"));
        assert_eq!((read.samples.len(), read.skipped), (0, 0));
    }

    #[test]
    fn a_line_that_is_not_understood_costs_only_itself() {
        let text = "good 1\n9bad 1\nbad\nbad{x=\"1} 2\nbad{x=1} 2\nbad{x=\"1\" y=\"2\"} 2\nbad x\n<html>\ngood 2";
        let read = Exposition::parse(text);
        assert_eq!(read.samples.iter().map(|sample| sample.value).collect::<Vec<_>>(), [1.0, 2.0]);
        assert_eq!(read.skipped, 7);
    }

    proptest! {
        #[test]
        fn what_is_written_by_the_rules_is_read_back(
            name in "[a-zA-Z_:][a-zA-Z0-9_:]{0,12}",
            labels in prop::collection::vec(("[a-zA-Z_][a-zA-Z0-9_]{0,6}", any::<String>()), 0..4),
            value in -1e300_f64..1e300,
        ) {
            // a carriage return at the end of a line is its ending
            let labels: Labels = labels.into_iter().map(|(name, value)| (name, value.replace('\r', ""))).collect();
            let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let written: Vec<String> =
                labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
            let told = Exposition::parse(&format!("{name}{{{}}} {value}", written.join(",")));
            prop_assert_eq!(told.samples, vec![Sample { name, labels, value }]);
        }

        #[test]
        fn no_text_is_too_odd_to_be_read(text in any::<String>()) {
            let lines = text.lines().count();
            let read = Exposition::parse(&text);
            prop_assert!(read.samples.len() + read.skipped <= lines);
        }
    }
}
