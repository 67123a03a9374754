//! Typed reading of request fields, the same for JSON and for forms: a number may be written as text, as the
//! real server's validation allows.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::reply::Refusal;

/// The fields of one request. A `null` is an absent field.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    pub(crate) fn new(mut map: Map<String, Value>) -> Self {
        map.retain(|_, value| !value.is_null());
        Self(map)
    }

    pub(crate) fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// A text field.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, Refusal> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Refusal::field(name, format!("{name}: Input should be a valid string"))),
        }
    }

    /// A text field that must be there and not empty.
    pub(crate) fn required(&self, name: &str) -> Result<&str, Refusal> {
        self.text(name)?.ok_or_else(|| Refusal::field(name, format!("{name}: Field required")))
    }

    /// A whole number within bounds.
    pub(crate) fn integer(&self, name: &str, range: RangeInclusive<i64>) -> Result<Option<i64>, Refusal> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let number = whole(value)
            .ok_or_else(|| Refusal::field(name, format!("{name}: Input should be a valid integer, not {value}")))?;
        if range.contains(&number) {
            return Ok(Some(number));
        }
        let side = if number < *range.start() {
            format!("greater than or equal to {}", range.start())
        } else {
            format!("less than or equal to {}", range.end())
        };
        Err(Refusal::field(name, format!("{name}: Input should be {side}, not {number}")))
    }

    /// The same for a count that fits 32 bits.
    pub(crate) fn count(&self, name: &str, range: RangeInclusive<u32>) -> Result<Option<u32>, Refusal> {
        let wide = i64::from(*range.start())..=i64::from(*range.end());
        Ok(self.integer(name, wide)?.and_then(|number| u32::try_from(number).ok()))
    }

    /// A number within bounds.
    pub(crate) fn number(&self, name: &str, range: RangeInclusive<f64>) -> Result<Option<f64>, Refusal> {
        let Some(value) = self.value(name) else { return Ok(None) };
        match decimal(value) {
            Some(number) if range.contains(&number) => Ok(Some(number)),
            Some(number) => {
                let (low, high) = range.into_inner();
                Err(Refusal::field(name, format!("{name}: Input should be between {low} and {high}, not {number}")))
            }
            None => Err(Refusal::field(name, format!("{name}: Input should be a valid number, not {value}"))),
        }
    }

    /// A yes or no.
    pub(crate) fn switch(&self, name: &str) -> Result<bool, Refusal> {
        match self.value(name) {
            None | Some(Value::Bool(false)) => Ok(false),
            Some(Value::Bool(true)) => Ok(true),
            Some(Value::String(text)) if matches!(text.to_lowercase().as_str(), "true" | "1" | "yes" | "on") => {
                Ok(true)
            }
            Some(Value::String(text)) if matches!(text.to_lowercase().as_str(), "false" | "0" | "no" | "off") => {
                Ok(false)
            }
            Some(value) => Err(Refusal::field(name, format!("{name}: Input should be a valid boolean, not {value}"))),
        }
    }

    /// An object, in JSON written as one.
    pub(crate) fn object(&self, name: &str) -> Result<(), Refusal> {
        match self.value(name) {
            None | Some(Value::Object(_)) => Ok(()),
            Some(_) => Err(Refusal::field(name, format!("{name}: Input should be a valid dictionary"))),
        }
    }

    /// A form field that carries JSON text.
    pub(crate) fn json_text(&self, name: &str) -> Result<Option<Value>, Refusal> {
        match self.text(name)? {
            None => Ok(None),
            Some(text) => serde_json::from_str(text)
                .map(Some)
                .map_err(|error| Refusal::field(name, format!("Invalid JSON in form field '{name}': {error}"))),
        }
    }

    /// A form field that carries the JSON text of an object.
    pub(crate) fn object_text(&self, name: &str) -> Result<(), Refusal> {
        match self.json_text(name)? {
            None | Some(Value::Null | Value::Object(_)) => Ok(()),
            Some(_) => Err(Refusal::field(name, format!("form field '{name}' must be a JSON object"))),
        }
    }
}

/// A whole number, or a decimal or text that spells one: `8`, `8.0`, `"8"`, `"8.0"`.
pub(crate) fn whole(value: &Value) -> Option<i64> {
    let decimal = match value {
        Value::Number(number) => match number.as_i64() {
            Some(whole) => return Some(whole),
            None => number.as_f64()?,
        },
        Value::String(text) => match text.trim().parse::<i64>() {
            Ok(whole) => return Some(whole),
            Err(_) => text.trim().parse::<f64>().ok()?,
        },
        _ => return None,
    };
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and within 2^53")]
    (decimal.fract() == 0.0 && decimal.abs() < 9e15).then_some(decimal as i64)
}

fn decimal(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
    .filter(|number: &f64| number.is_finite())
}

/// `WxH`, lower-case x, digits only.
pub(crate) fn size(text: &str) -> Option<(u32, u32)> {
    let (width, height) = text.split_once('x')?;
    let digits = |side: &str| !side.is_empty() && side.bytes().all(|byte| byte.is_ascii_digit());
    if !(digits(width) && digits(height)) {
        return None;
    }
    Some((width.parse().ok()?, height.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_size_is_two_numbers_and_a_small_x() {
        assert_eq!(size("64x32"), Some((64, 32)));
        for wrong in ["abc", "64X64", "64*64", "auto", "x64", "64x", "64x64x64", "+64x64", "-1x4", "64 x 64", ""] {
            assert_eq!(size(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn whole_numbers_may_be_text_or_have_a_zero_fraction() {
        for (value, number) in [(json!(8), 8), (json!("8"), 8), (json!(8.0), 8), (json!("8.0"), 8), (json!(-1), -1)] {
            assert_eq!(whole(&value), Some(number));
        }
        for value in [json!(7.5), json!("7.5"), json!("x"), json!([]), json!(true), json!(1e300), json!("nan")] {
            assert_eq!(whole(&value), None, "{value}");
        }
    }

    #[test]
    fn bounds_name_the_field_and_the_side() {
        let fields = Fields::new(json!({"n": 0, "steps": "201"}).as_object().unwrap().clone());
        let low = fields.count("n", 1..=10).unwrap_err();
        assert_eq!(low.message(), "n: Input should be greater than or equal to 1, not 0");
        let high = fields.count("steps", 1..=200).unwrap_err();
        assert_eq!(high.message(), "steps: Input should be less than or equal to 200, not 201");
        assert_eq!(fields.count("absent", 1..=2).unwrap(), None);
    }
}
