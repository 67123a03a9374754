//! Quantities as people write them in a scenario: time limits, sizes in bytes, image sizes, rates.
//!
//! Each type parses from text, prints itself back in the same form, and describes itself in the
//! JSON Schema. Numbers meant for arithmetic leave through an accessor whose name carries the unit.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Why a text is not the quantity it should be; the message says what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnitError(String);

/// A span of time, written `250ms`, `10s`, `15m` or `2h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(Duration);

impl Span {
    /// A span of whole milliseconds.
    pub const fn millis(ms: u64) -> Self {
        Self(Duration::from_millis(ms))
    }

    /// A span of whole seconds.
    pub const fn seconds(s: u64) -> Self {
        Self(Duration::from_secs(s))
    }

    /// The span as a standard duration.
    pub const fn duration(self) -> Duration {
        self.0
    }
}

impl FromStr for Span {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let wrong = || {
            UnitError(format!("`{text}` is not a time; write a number with a unit, like `250ms`, `10s`, `15m` or `2h`"))
        };
        let (number, scale) = [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)]
            .iter()
            .find_map(|(unit, scale)| text.trim().strip_suffix(unit).map(|n| (n.trim_end(), *scale)))
            .ok_or_else(wrong)?;
        let value: f64 = number.parse().map_err(|_| wrong())?;
        let seconds = value * scale;
        if !(value.is_finite() && value >= 0.0) {
            return Err(wrong());
        }
        Duration::try_from_secs_f64(seconds).map(Self).map_err(|_| wrong())
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.0.as_secs_f64() * 1e3;
        let whole = |unit_ms: f64| ms >= unit_ms && (ms / unit_ms).fract() == 0.0;
        if whole(3_600_000.0) {
            write!(f, "{}h", ms / 3_600_000.0)
        } else if whole(60_000.0) {
            write!(f, "{}m", ms / 60_000.0)
        } else if whole(1_000.0) || ms == 0.0 {
            write!(f, "{}s", ms / 1_000.0)
        } else {
            write!(f, "{ms}ms")
        }
    }
}

/// A time limit: a [`Span`] above zero, or `none` for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Give up after this span.
    After(Span),
    /// Wait for ever.
    Never,
}

impl Limit {
    /// The limit as an optional duration; `None` means no limit.
    pub const fn duration(self) -> Option<Duration> {
        match self {
            Self::After(span) => Some(span.duration()),
            Self::Never => None,
        }
    }
}

impl FromStr for Limit {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        if text == "none" {
            return Ok(Self::Never);
        }
        let span = text.parse::<Span>().map_err(|_| {
            UnitError(format!("`{text}` is not a time limit; write `10s`, `15m`, `2h`, or `none` for no limit"))
        })?;
        if span.duration().is_zero() {
            return Err(UnitError("a limit of 0 would fail every request; write `none` for no limit".into()));
        }
        Ok(Self::After(span))
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::After(span) => span.fmt(f),
            Self::Never => f.write_str("none"),
        }
    }
}

/// A number of bytes, written `512MB`, `64KB`, `1GB` (powers of 1000), `4MiB` (powers of 1024) or `200B`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(u64);

impl ByteSize {
    const UNITS: [(&'static str, u64); 7] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("B", 1),
    ];

    /// A size in millions of bytes.
    pub const fn megabytes(mb: u64) -> Self {
        Self(mb * 1_000_000)
    }

    /// The size in bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

impl From<u64> for ByteSize {
    fn from(bytes: u64) -> Self {
        Self(bytes)
    }
}

impl FromStr for ByteSize {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        Self::UNITS
            .iter()
            .find_map(|(unit, scale)| text.trim().strip_suffix(unit).map(|n| (n.trim_end(), *scale)))
            .and_then(|(number, scale)| number.parse::<u64>().ok()?.checked_mul(scale))
            .map(Self)
            .ok_or_else(|| UnitError(format!("`{text}` is not a size in bytes; write `512MB`, `4MiB` or `200B`")))
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, scale) = Self::UNITS
            .iter()
            .filter(|(_, scale)| self.0 >= *scale && self.0.is_multiple_of(*scale))
            .max_by_key(|(_, scale)| *scale)
            .unwrap_or(&("B", 1));
        write!(f, "{}{unit}", self.0 / scale)
    }
}

/// Width and height in pixels, written `1024x768`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PixelSize {
    /// Width in pixels, at least 1.
    pub width: u32,
    /// Height in pixels, at least 1.
    pub height: u32,
}

impl FromStr for PixelSize {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        text.split_once('x')
            .and_then(|(w, h)| Some(Self { width: w.parse().ok()?, height: h.parse().ok()? }))
            .filter(|size| size.width > 0 && size.height > 0)
            .ok_or_else(|| {
                UnitError(format!("`{text}` is not a size; write width and height in pixels, like `1024x768`"))
            })
    }
}

impl fmt::Display for PixelSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

macro_rules! text_quantity {
    ($type:ty, $name:literal, $expecting:literal, $pattern:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl de::Visitor<'_> for Text {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expecting)
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": $pattern })
            }
        }
    };
}

text_quantity!(Span, "Span", "a time like `250ms`, `10s` or `15m`", r"^[0-9.]+ *(ms|s|m|h)$");
text_quantity!(Limit, "Limit", "a time limit like `10s` or `15m`, or `none`", r"^([0-9.]+ *(ms|s|m|h)|none)$");
text_quantity!(ByteSize, "ByteSize", "a size in bytes like `512MB`", r"^[0-9]+ *([KMG]i?)?B$");
text_quantity!(PixelSize, "PixelSize", "a size like `1024x768`", r"^[1-9][0-9]*x[1-9][0-9]*$");

/// Requests per second: a number above zero, or `inf` for a closed loop that sends as slots become free.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// Open loop: this many arrivals per second on average.
    PerSecond(f64),
    /// Closed loop.
    Infinite,
}

impl Rate {
    /// Arrivals per second, or `None` in closed loop.
    pub const fn per_second(self) -> Option<f64> {
        match self {
            Self::PerSecond(rate) => Some(rate),
            Self::Infinite => None,
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerSecond(rate) => write!(f, "{rate}"),
            Self::Infinite => f.write_str("inf"),
        }
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::PerSecond(rate) => serializer.serialize_f64(*rate),
            Self::Infinite => serializer.serialize_str("inf"),
        }
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RateVisitor)
    }
}

struct RateVisitor;

impl RateVisitor {
    fn checked<E: de::Error>(rate: f64) -> Result<Rate, E> {
        if rate == f64::INFINITY {
            Ok(Rate::Infinite)
        } else if rate.is_finite() && rate > 0.0 {
            Ok(Rate::PerSecond(rate))
        } else {
            Err(E::custom(format!("`{rate}` is not a rate; it must be above 0, or `\"inf\"` for a closed loop")))
        }
    }
}

impl de::Visitor<'_> for RateVisitor {
    type Value = Rate;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("requests per second above 0, or `\"inf\"` for a closed loop")
    }

    fn visit_f64<E: de::Error>(self, rate: f64) -> Result<Rate, E> {
        Self::checked(rate)
    }

    #[expect(clippy::cast_precision_loss, reason = "rates are far below 2^53")]
    fn visit_u64<E: de::Error>(self, rate: u64) -> Result<Rate, E> {
        Self::checked(rate as f64)
    }

    #[expect(clippy::cast_precision_loss, reason = "rates are far below 2^53")]
    fn visit_i64<E: de::Error>(self, rate: i64) -> Result<Rate, E> {
        Self::checked(rate as f64)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Rate, E> {
        match text {
            "inf" => Ok(Rate::Infinite),
            _ => text.parse().map_or_else(|_| Err(E::invalid_value(de::Unexpected::Str(text), &self)), Self::checked),
        }
    }
}

impl JsonSchema for Rate {
    fn schema_name() -> Cow<'static, str> {
        "Rate".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "number", "exclusiveMinimum": 0 }, { "const": "inf" }] })
    }
}

/// A name that is safe as one path component: 1 to 100 of `A–Z a–z 0–9 . _ -`, not starting with a dot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SafeName(String);

impl SafeName {
    const MOST: usize = 100;

    fn allowed(c: char) -> bool {
        c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
    }

    /// The nearest safe name: other characters become `_`, a leading dot too, the rest is cut.
    pub fn lossy(text: &str) -> Self {
        let mut name: String = text.chars().take(Self::MOST).map(|c| if Self::allowed(c) { c } else { '_' }).collect();
        if name.is_empty() || name.starts_with('.') {
            name.replace_range(..usize::from(!name.is_empty()), "_");
        }
        Self(name)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SafeName {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        if text.is_empty() || text.starts_with('.') || text.len() > Self::MOST || !text.chars().all(Self::allowed) {
            return Err(UnitError(format!(
                "`{text}` is not a name; use up to {} letters, digits, `.`, `_` and `-`, and do not start with a dot",
                Self::MOST
            )));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for SafeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
