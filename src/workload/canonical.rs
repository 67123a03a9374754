//! One spelling per JSON value, so that a hash depends on what is meant and not on how it was
//! written: keys are sorted, and a whole number is the same with and without a decimal point.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Number, Value};

/// The hash of a value under a versioned name of what it is, 16 hex digits.
pub(crate) fn short_hash(kind: &str, value: &Value) -> String {
    let mut text = String::with_capacity(256);
    text.push_str(kind);
    text.push('\n');
    write(value, &mut text);
    blake3::hash(text.as_bytes()).to_hex().chars().take(16).collect()
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(number, out),
        Value::String(_) => put(out, value),
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (key, item) in map.iter().collect::<BTreeMap<_, _>>() {
                put(out, Value::String(key.clone()));
                out.push(':');
                write(item, out);
                out.push(',');
            }
            out.push('}');
        }
    }
}

fn write_number(number: &Number, out: &mut String) {
    /// Above this, a float no longer holds every whole number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64().filter(|_| number.is_f64()) {
        Some(float) if float.fract() == 0.0 && float.abs() < EXACT => put(out, format_args!("{float:.0}")),
        _ => put(out, number),
    }
}

fn put(out: &mut String, text: impl std::fmt::Display) {
    // writing to a string cannot fail
    if write!(out, "{text}").is_err() {
        out.push('?');
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn key_order_and_decimal_points_do_not_matter() {
        let one = short_hash("v1", &json!({ "a": 1, "b": { "x": 2.5, "y": [1.0, "t"] } }));
        assert_eq!(one, short_hash("v1", &json!({ "b": { "y": [1, "t"], "x": 2.5 }, "a": 1.0 })));
        assert_eq!(one.len(), 16);
    }

    #[test]
    fn values_kinds_and_nesting_do_matter() {
        let base = short_hash("v1", &json!([1, 2]));
        for other in [json!([2, 1]), json!([12]), json!(["1", 2]), json!([[1], 2]), json!([1, 2, null])] {
            assert_ne!(base, short_hash("v1", &other), "{other}");
        }
        assert_ne!(base, short_hash("v2", &json!([1, 2])));
    }
}
