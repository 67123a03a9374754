//! Which entries: conditions as people write them → SQL with its values.

use jiff::Timestamp;
use rusqlite::types::Value;

use crate::catalog;
use crate::diagnostic::nearest;

/// Which entries; all of the conditions hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// What must hold.
    pub conditions: Vec<Condition>,
    /// Only so many of the newest of each line (key, hardware, simulated or not).
    pub last: Option<u32>,
}

impl Filter {
    /// Reads conditions like `variant=seqs-8`, `max_concurrency>=4` or `run=*/A/*`.
    pub fn parse<'a>(conditions: impl IntoIterator<Item = &'a str>) -> Result<Self, ConditionError> {
        let conditions = conditions.into_iter().map(Condition::parse).collect::<Result<_, _>>()?;
        Ok(Self { conditions, last: None })
    }

    /// The same filter for the newest entries only.
    #[must_use]
    pub fn last(self, last: Option<u32>) -> Self {
        Self { last, ..self }
    }

    /// Entries of exactly this line, as a gate wants them: this key on this hardware, simulated or not.
    pub fn line(key: &str, hardware: &str, simulated: bool) -> Self {
        let word = |name, value: &str| Condition {
            left: Left::Exact(name),
            operator: Operator::Equal,
            right: Value::Text(value.to_owned()),
        };
        let simulated = Condition {
            left: Left::Number("simulated"),
            operator: Operator::Equal,
            right: Value::Integer(simulated.into()),
        };
        Self { conditions: vec![word("key", key), word("hardware", hardware), simulated], last: None }
    }

    /// The condition of a `WHERE` with a placeholder per value.
    pub(super) fn sql(&self) -> (String, Vec<Value>) {
        let (texts, values): (Vec<_>, Vec<_>) = self.conditions.iter().map(Condition::sql).unzip();
        let text = if texts.is_empty() { "TRUE".to_owned() } else { texts.join(" AND ") };
        (text, values.into_iter().flatten().collect())
    }
}

/// One condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    left: Left,
    operator: Operator,
    right: Value,
}

/// Why a condition is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{condition}` is not a condition: {message}")]
pub struct ConditionError {
    condition: String,
    message: String,
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// A column of words.
    Word(&'static str),
    /// A column of words, in which a star is only a star.
    Exact(&'static str),
    /// A column of numbers.
    Number(&'static str),
    /// The start, in microseconds.
    Time,
    /// A number of the summary.
    Metric(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    AtLeast,
    AtMost,
    Above,
    Below,
}

/// Longer ones first, as `>` begins `>=`.
const OPERATORS: [(&str, Operator, &str); 6] = [
    ("!=", Operator::NotEqual, "IS NOT"),
    (">=", Operator::AtLeast, ">="),
    ("<=", Operator::AtMost, "<="),
    ("=", Operator::Equal, "IS"),
    (">", Operator::Above, ">"),
    ("<", Operator::Below, "<"),
];

impl Operator {
    fn sql(self) -> &'static str {
        OPERATORS.iter().find(|(_, operator, _)| *operator == self).map_or("IS", |(_, _, sql)| sql)
    }

    const fn orders(self) -> bool {
        !matches!(self, Self::Equal | Self::NotEqual)
    }
}

const WORDS: &[&str] = &[
    "scenario",
    "run",
    "variant",
    "dataset",
    "hardware",
    "validity",
    "model",
    "task",
    "results",
    "key",
    "workload_key",
    "config_key",
    "plan_hash",
];

const NUMBERS: &[&str] = &["max_concurrency", "request_rate", "repeat", "gpus", "completed", "simulated", "speed"];

impl Condition {
    /// Reads a condition.
    pub fn parse(text: &str) -> Result<Self, ConditionError> {
        let wrong = |message: String| ConditionError { condition: text.to_owned(), message };
        let found = OPERATORS.iter().filter_map(|(sign, operator, _)| Some((text.find(sign)?, sign, *operator)));
        // the first sign counts, and of those that begin together the longest, which the list has first
        let (at, sign, operator) = found
            .min_by_key(|(at, ..)| *at)
            .ok_or_else(|| wrong("write a name, one of `=`, `!=`, `>=`, `<=`, `>`, `<`, and a value".to_owned()))?;
        let name = text.get(..at).unwrap_or_default().trim();
        let value = text.get(at + sign.len()..).unwrap_or_default().trim();
        let left = Left::named(name).ok_or_else(|| wrong(unknown(name)))?;
        if operator.orders() && matches!(left, Left::Word(_)) {
            return Err(wrong(format!("`{name}` is a word; use `=` or `!=`")));
        }
        let right = left.read(value).map_err(wrong)?;
        if operator.orders() && matches!(right, Value::Null) {
            return Err(wrong("`none` has no order; use `=` or `!=`".to_owned()));
        }
        Ok(Self { left, operator, right })
    }

    fn sql(&self) -> (String, Vec<Value>) {
        let left = match self.left {
            Left::Word(name) | Left::Exact(name) | Left::Number(name) => name.to_owned(),
            Left::Time => "started_us".to_owned(),
            Left::Metric(name) => format!("json_extract(summary, '$.{name}')"),
        };
        match &self.right {
            Value::Text(pattern) if matches!(self.left, Left::Word(_)) && pattern.contains('*') => {
                let not = if self.operator == Operator::NotEqual { "NOT " } else { "" };
                (format!("{left} {not}GLOB ?"), vec![Value::Text(glob(pattern))])
            }
            value => (format!("{left} {} ?", self.operator.sql()), vec![value.clone()]),
        }
    }
}

/// The pattern with nothing special in it but `*`.
fn glob(pattern: &str) -> String {
    pattern.replace('[', "[[]").replace('?', "[?]")
}

fn unknown(name: &str) -> String {
    let metrics = catalog::METRICS.iter().map(|metric| metric.name);
    let known = WORDS.iter().chain(NUMBERS).copied().chain(["time", "id"]).chain(metrics);
    match nearest(name, known) {
        Some(meant) => format!("there is no `{name}`; did you mean `{meant}`?"),
        None => format!("there is no `{name}`; use one of {}, `time` or a metric", list(WORDS.iter().chain(NUMBERS))),
    }
}

fn list<'a>(names: impl Iterator<Item = &'a &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl Left {
    fn named(name: &str) -> Option<Self> {
        let of = |list: &'static [&str]| list.iter().copied().find(|known| *known == name);
        match name {
            // as it is called in results
            "id" => Some(Self::Word("run")),
            "time" => Some(Self::Time),
            _ => of(WORDS)
                .map(Self::Word)
                .or_else(|| of(NUMBERS).map(Self::Number))
                .or_else(|| catalog::metric(name).map(|metric| Self::Metric(metric.name))),
        }
    }

    fn read(self, text: &str) -> Result<Value, String> {
        let number = || match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Value::Real(number)),
            _ => Err(format!("`{text}` is not a number")),
        };
        match (self, text) {
            (Self::Word(_) | Self::Exact(_), "") => Err("the value is missing".to_owned()),
            (Self::Number("max_concurrency"), "none") => Ok(Value::Null),
            // for SQLite, `inf` as a word is larger than every number, as it should be
            (Self::Word(_) | Self::Exact(_), _) | (Self::Number("request_rate"), "inf") => {
                Ok(Value::Text(text.to_owned()))
            }
            (Self::Number("simulated"), "true") => Ok(Value::Integer(1)),
            (Self::Number("simulated"), "false") => Ok(Value::Integer(0)),
            (Self::Number("simulated"), _) => Err(format!("`{text}` is neither `true` nor `false`")),
            (Self::Number(_) | Self::Metric(_), _) => number(),
            (Self::Time, _) => time(text)
                .map(|time| Value::Integer(time.as_microsecond()))
                .ok_or_else(|| format!("`{text}` is not a time; write `2026-09-01` or `2026-09-01T10:00:00Z`")),
        }
    }
}

/// A moment, or the first one of a day in UTC.
fn time(text: &str) -> Option<Timestamp> {
    [text, &format!("{text}T00:00:00Z")].iter().find_map(|text| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sql(text: &str) -> (String, Vec<Value>) {
        Condition::parse(text).unwrap().sql()
    }

    fn error(text: &str) -> String {
        Condition::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn conditions_become_sql_with_their_values_apart() {
        assert_eq!(sql("variant=seqs-8"), ("variant IS ?".to_owned(), vec![Value::Text("seqs-8".to_owned())]));
        assert_eq!(sql("gpus >= 4"), ("gpus >= ?".to_owned(), vec![Value::Real(4.0)]));
        assert_eq!(sql("max_concurrency!=none"), ("max_concurrency IS NOT ?".to_owned(), vec![Value::Null]));
        assert_eq!(sql("request_rate=inf").1, [Value::Text("inf".to_owned())]);
        assert_eq!(sql("id!=*/A[1]/*"), ("run NOT GLOB ?".to_owned(), vec![Value::Text("*/A[[]1]/*".to_owned())]));
        assert_eq!(sql("latency_s.p99<3").0, "json_extract(summary, '$.latency_s.p99') < ?");
        assert_eq!(sql("hardware=2 × A=B").1, [Value::Text("2 × A=B".to_owned())]);
        assert_eq!(sql("time>=1970-01-02").1, [Value::Integer(86_400_000_000)]);
        assert_eq!(sql("time<1970-01-01T00:00:01Z").1, [Value::Integer(1_000_000)]);
    }

    #[test]
    fn what_is_no_condition_is_told_with_what_would_be() {
        assert!(error("variant").contains("write a name"));
        assert!(error("varant=a").contains("did you mean `variant`"), "{}", error("varant=a"));
        assert!(error("latency_s.p98=1").contains("did you mean `latency_s.p9"), "{}", error("latency_s.p98=1"));
        assert!(error("colour=red").contains("`scenario`"), "{}", error("colour=red"));
        assert!(error("variant>=a").contains("is a word"));
        assert!(error("gpus=many").contains("`many` is not a number"));
        assert!(error("gpus=NaN").contains("is not a number"));
        assert!(error("max_concurrency>none").contains("no order"));
        assert!(error("simulated=maybe").contains("`true`"));
        assert!(error("time>yesterday").contains("2026-09-01"));
        assert!(error("run=").contains("missing"));
    }

    #[test]
    fn no_value_can_become_sql() {
        let (text, values) = sql("variant='; DROP TABLE entry; --");
        assert_eq!(text, "variant IS ?");
        assert_eq!(values, [Value::Text("'; DROP TABLE entry; --".to_owned())]);
    }
}
