//! One spelling per JSON value, so that a hash depends on what is meant and not on how it was
//! written: keys are sorted, and a whole number is the same with and without a decimal point.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Number, Value};

/// The hash of a value under a versioned name of what it is, 16 hex digits.
pub(crate) fn short_hash(kind: &str, value: &Value) -> String {
    let mut text = String::with_capacity(256);
    text.push_str(kind);
    text.push('\n');
    write(value, &mut text);
    blake3::hash(text.as_bytes()).to_hex().chars().take(16).collect()
}

/// The hash of an object with one more entry, `key`, whose list may be too long to be held.
pub(crate) fn short_hash_with_list(
    kind: &str,
    object: &Map<String, Value>,
    key: &str,
    items: impl Iterator<Item = Value>,
) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut text = format!("{kind}\n{{");
    let (before, after): (BTreeMap<_, _>, BTreeMap<_, _>) = object.iter().partition(|(name, _)| name.as_str() < key);
    for (name, value) in before {
        entry(name, value, &mut text);
    }
    put(&mut text, Value::from(key));
    text.push_str(":[");
    for item in items {
        write(&item, &mut text);
        text.push(',');
        hasher.update(text.as_bytes());
        text.clear();
    }
    text.push_str("],");
    for (name, value) in after {
        entry(name, value, &mut text);
    }
    text.push('}');
    hasher.update(text.as_bytes());
    hasher.finalize().to_hex().chars().take(16).collect()
}

fn entry(name: &str, value: &Value, out: &mut String) {
    put(out, Value::from(name));
    out.push(':');
    write(value, out);
    out.push(',');
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
            for (name, item) in map.iter().collect::<BTreeMap<_, _>>() {
                entry(name, item, out);
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
    fn a_list_that_is_not_held_makes_no_difference() {
        let whole = json!({ "a": 1, "m": [{ "y": 1.0, "x": null }, "t"], "z": [2.5] });
        let mut rest = whole.as_object().unwrap().clone();
        let list = rest.shift_remove("m").unwrap();
        let items = list.as_array().unwrap().iter().cloned();
        assert_eq!(short_hash_with_list("v1", &rest, "m", items), short_hash("v1", &whole));
        rest.insert("m".into(), json!([]));
        let empty = short_hash("v1", &json!(rest));
        rest.shift_remove("m");
        assert_eq!(short_hash_with_list("v1", &rest, "m", std::iter::empty()), empty);
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
