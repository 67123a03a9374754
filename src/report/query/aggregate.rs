//! Several runs in one row: what stands for their values.

use crate::report::table::{Cell, Value};

/// How the numbers of several runs become one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Aggregate {
    #[default]
    Mean,
    Least,
    Most,
    Sum,
}

impl Aggregate {
    const NAMES: [(&str, Self); 4] =
        [("mean", Self::Mean), ("min", Self::Least), ("max", Self::Most), ("sum", Self::Sum)];

    /// Reads `max:latency_s.p99`; without a name before the key there is no aggregate.
    pub(super) fn parse(text: &str) -> (Option<Self>, &str) {
        let parted = text.split_once(':');
        let named = parted.and_then(|(name, key)| {
            Some((Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, aggregate)| *aggregate)?, key))
        });
        named.map_or((None, text), |(aggregate, key)| (Some(aggregate), key))
    }

    /// Before the key of a column that is no mean.
    pub(super) const fn prefix(self) -> &'static str {
        match self {
            Self::Mean => "",
            Self::Least => "min:",
            Self::Most => "max:",
            Self::Sum => "sum:",
        }
    }

    /// Before the heading of a column that is no mean.
    pub(super) const fn heading(self) -> &'static str {
        match self {
            Self::Mean => "",
            Self::Least => "Least ",
            Self::Most => "Largest ",
            Self::Sum => "Sum of ",
        }
    }

    fn of(self, numbers: &[f64]) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "there are far fewer runs than 2^53")]
        let count = numbers.len() as f64;
        let sum: f64 = numbers.iter().sum();
        match self {
            _ if numbers.is_empty() => None,
            Self::Mean => Some(sum / count),
            Self::Least => numbers.iter().copied().reduce(f64::min),
            Self::Most => numbers.iter().copied().reduce(f64::max),
            Self::Sum => Some(sum),
        }
    }

    /// One value for several, and from how many of them a number was made, when it was.
    pub(super) fn value(self, values: &[Value]) -> (Value, Option<usize>) {
        let numbers: Vec<f64> = values.iter().filter_map(number).collect();
        let is_words = values.iter().any(|value| matches!(value, Value::Text(_) | Value::Markdown(_)));
        match values {
            [first, others @ ..] if is_words || numbers.is_empty() => {
                let same = others.iter().all(|other| other == first);
                (if same { first.clone() } else { several(values) }, None)
            }
            _ => (self.of(&numbers).into(), Some(numbers.len())),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Count(count) => Some(*count as f64),
        Value::Number(number) => Some(*number),
        Value::Text(_) | Value::Markdown(_) | Value::Above(_) | Value::Absent => None,
    }
}

/// Each value once, when they are few.
pub(super) fn several(values: &[Value]) -> Value {
    let texts = crate::report::text::distinct(values.iter().map(|value| Cell::from(value.clone()).raw()));
    match texts.as_slice() {
        [only] => only.as_str().into(),
        few if few.len() <= 3 => few.join(", ").into(),
        many => format!("{} values", many.len()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_one_and_words_stay_when_they_agree() {
        let numbers = [Value::Number(1.0), Value::Number(4.0), Value::Absent];
        assert_eq!(Aggregate::Mean.value(&numbers), (Value::Number(2.5), Some(2)));
        assert_eq!(Aggregate::Most.value(&numbers).0, Value::Number(4.0));
        assert_eq!(Aggregate::Least.value(&numbers).0, Value::Number(1.0));
        assert_eq!(Aggregate::Sum.value(&numbers).0, Value::Number(5.0));
        assert_eq!(Aggregate::Mean.value(&["a".into(), "a".into()]), ("a".into(), None));
        assert_eq!(Aggregate::Mean.value(&["a".into(), "b".into()]).0, "a, b".into());
        assert_eq!(Aggregate::Mean.value(&[Value::Absent, Value::Absent]).0, Value::Absent);
    }

    #[test]
    fn a_name_before_a_key_is_an_aggregate_only_when_there_is_one() {
        assert_eq!(Aggregate::parse("max:latency_s.p99"), (Some(Aggregate::Most), "latency_s.p99"));
        assert_eq!(Aggregate::parse("stage_ms.a:b.mean"), (None, "stage_ms.a:b.mean"));
    }
}
