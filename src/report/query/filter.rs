//! What must hold for a row: `variant=seqs-8`, `max_concurrency>=4`, `id=*/A/*`.

use globset::{GlobBuilder, GlobMatcher};

use super::keys::Fault;
use crate::report::number::ABSENT;
use crate::report::table::{Cell, Value};

/// How a value is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    Unequal,
    AtLeast,
    AtMost,
    Above,
    Below,
}

/// Longer ones first, so that none is read as the beginning of another.
const OPERATORS: [(&str, Operator); 7] = [
    ("!=", Operator::Unequal),
    (">=", Operator::AtLeast),
    ("<=", Operator::AtMost),
    ("==", Operator::Equal),
    ("=", Operator::Equal),
    (">", Operator::Above),
    ("<", Operator::Below),
];

/// One condition.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    pub(super) key: String,
    operator: Operator,
    number: Option<f64>,
    glob: Option<GlobMatcher>,
    /// Whether it asks for what was not measured.
    absent: bool,
}

impl Filter {
    /// Reads a condition.
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        let fault = |message: String| {
            let hint = "write `variant=seqs-8`, `max_concurrency>=4`, `id=*/A/*` or `rtf.mean!=n/a`";
            (message, Some(hint.to_owned()))
        };
        let place = text.find(['=', '!', '<', '>']).unwrap_or(text.len());
        let (key, rest) = text.split_at(place);
        let Some((sign, operator)) = OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign)) else {
            return Err(fault(format!("`{text}` is not a condition")));
        };
        let value = rest.strip_prefix(sign).unwrap_or_default().trim();
        let number = value.parse().ok().filter(|number: &f64| !number.is_nan());
        let ordered = !matches!(operator, Operator::Equal | Operator::Unequal);
        if ordered && number.is_none() {
            return Err(fault(format!("`{text}` compares with `{value}`, which is not a number")));
        }
        let glob = GlobBuilder::new(value).literal_separator(true).build();
        let glob = glob.map_err(|error| fault(format!("`{value}` is not a pattern: {}", error.kind())))?;
        let absent = value == ABSENT;
        let key = key.trim().to_owned();
        Ok(Self { key, operator: *operator, number, glob: (!ordered).then(|| glob.compile_matcher()), absent })
    }

    /// Whether it holds for a value.
    pub(super) fn holds(&self, value: &Value) -> bool {
        let text = Cell::from(value.clone()).raw();
        let number = number(value, &text);
        match self.operator {
            Operator::Equal => self.is_equal(value, &text, number),
            Operator::Unequal => !self.is_equal(value, &text, number),
            Operator::AtLeast => self.ordered(number, |value, limit| value >= limit),
            Operator::AtMost => self.ordered(number, |value, limit| value <= limit),
            Operator::Above => self.ordered(number, |value, limit| value > limit),
            Operator::Below => self.ordered(number, |value, limit| value < limit),
        }
    }

    /// What was not measured is in no order.
    fn ordered(&self, number: Option<f64>, is: fn(f64, f64) -> bool) -> bool {
        number.zip(self.number).is_some_and(|(number, limit)| is(number, limit))
    }

    #[expect(clippy::float_cmp, reason = "the user asks for this very number")]
    fn is_equal(&self, value: &Value, text: &str, number: Option<f64>) -> bool {
        match (number, self.number) {
            _ if matches!(value, Value::Absent | Value::Above(_)) => self.absent,
            (Some(number), Some(wanted)) => number == wanted,
            _ => self.glob.as_ref().is_some_and(|glob| glob.is_match(text)),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn number(value: &Value, text: &str) -> Option<f64> {
    match value {
        Value::Count(count) => Some(*count as f64),
        Value::Number(number) => Some(*number),
        // an axis may be a word in one run and a number in another
        Value::Text(_) => text.parse().ok(),
        Value::Markdown(_) | Value::Above(_) | Value::Absent => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str, value: impl Into<Value>) -> bool {
        Filter::parse(text).unwrap().holds(&value.into())
    }

    #[test]
    fn numbers_are_compared_as_numbers_and_words_as_patterns() {
        assert!(holds("c>=4", Value::Count(4)) && !holds("c>4", Value::Count(4)));
        assert!(holds("c = 4.0", Value::Count(4)) && holds("rate=0.5", "0.5") && holds("rate=inf", "inf"));
        assert!(holds("id=*/A/*", "base/A/c1") && !holds("id=*", "base/A/c1") && holds("id=**", "base/A/c1"));
        assert!(holds("v!=seqs-1", "seqs-8") && !holds("v==seqs-1", "seqs-8"));
    }

    #[test]
    fn what_was_not_measured_is_in_no_order_and_can_be_asked_for() {
        assert!(!holds("m<5", Value::Absent) && !holds("m>=5", Value::Absent) && !holds("m=5", Value::Absent));
        assert!(holds("m=n/a", Value::Absent) && !holds("m!=n/a", Value::Absent) && holds("m!=n/a", Value::Count(1)));
    }

    #[test]
    fn what_is_not_a_condition_is_told() {
        assert!(Filter::parse("variant").unwrap_err().0.contains("not a condition"));
        assert!(Filter::parse("c>=many").unwrap_err().0.contains("not a number"));
        assert!(Filter::parse("v=[").unwrap_err().0.contains("not a pattern"));
    }
}
