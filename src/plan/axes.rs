//! The axes of the matrix as lists of values, and points as one value per axis.

use std::fmt;

use super::types::Axis;
use crate::units::{PixelSize, Rate};

/// Number of axes.
pub(super) const AXES: usize = 9;

/// Every axis, in the order in which runs are sorted: the last one changes fastest.
pub(super) const RUN_ORDER: [Axis; AXES] = [
    Axis::Variant,
    Axis::Dataset,
    Axis::Size,
    Axis::NumInferenceSteps,
    Axis::NumFrames,
    Axis::RequestRate,
    Axis::MaxConcurrency,
    Axis::Requests,
    Axis::Seed,
];

impl Axis {
    /// Position in [`RUN_ORDER`].
    pub(super) const fn slot(self) -> usize {
        match self {
            Self::Variant => 0,
            Self::Dataset => 1,
            Self::Size => 2,
            Self::NumInferenceSteps => 3,
            Self::NumFrames => 4,
            Self::RequestRate => 5,
            Self::MaxConcurrency => 6,
            Self::Requests => 7,
            Self::Seed => 8,
        }
    }

    /// The key in `[matrix]`.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Variant => "variant",
            Self::Dataset => "dataset",
            Self::Size => "size",
            Self::NumInferenceSteps => "num_inference_steps",
            Self::NumFrames => "num_frames",
            Self::RequestRate => "request_rate",
            Self::MaxConcurrency => "max_concurrency",
            Self::Requests => "requests",
            Self::Seed => "seed",
        }
    }

    /// The axis of that key.
    pub(super) fn from_key(key: &str) -> Option<Self> {
        RUN_ORDER.into_iter().find(|axis| axis.key() == key)
    }
}

/// One value of an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum AxisValue {
    /// What the dataset, or the traffic's own rule, says.
    Default,
    /// A variant or dataset, by its position in the scenario.
    Name(usize),
    /// A size.
    Size(PixelSize),
    /// A rate.
    Rate(Rate),
    /// Any other number.
    Number(u64),
}

impl AxisValue {
    /// Equal values have equal keys, and keys can be hashed.
    pub(super) const fn key(self) -> (u8, u64) {
        match self {
            Self::Default => (0, 0),
            Self::Name(position) => (1, position as u64),
            Self::Size(size) => (2, ((size.width as u64) << 32) | size.height as u64),
            Self::Rate(Rate::Infinite) => (3, u64::MAX),
            Self::Rate(Rate::PerSecond(rate)) => (3, rate.to_bits()),
            Self::Number(number) => (4, number),
        }
    }

    pub(super) fn number(self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(number),
            Self::Default | Self::Name(_) | Self::Size(_) | Self::Rate(_) => None,
        }
    }
}

impl fmt::Display for AxisValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Name(position) => position.fmt(f),
            Self::Size(size) => size.fmt(f),
            Self::Rate(rate) => rate.fmt(f),
            Self::Number(number) => number.fmt(f),
        }
    }
}

/// One value per axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MatrixPoint(pub(super) [AxisValue; AXES]);

/// A point's values in a form that can be hashed.
pub(super) type PointKey = [(u8, u64); AXES];

impl MatrixPoint {
    pub(super) const fn get(&self, axis: Axis) -> AxisValue {
        self.0[axis.slot()]
    }

    pub(super) const fn set(&mut self, axis: Axis, value: AxisValue) {
        self.0[axis.slot()] = value;
    }

    pub(super) fn key(&self) -> PointKey {
        self.0.map(AxisValue::key)
    }

    /// The position of the variant or dataset.
    pub(super) const fn position(&self, axis: Axis) -> usize {
        match self.get(axis) {
            AxisValue::Name(position) => position,
            _ => usize::MAX,
        }
    }

    pub(super) const fn rate(&self) -> Rate {
        match self.get(Axis::RequestRate) {
            AxisValue::Rate(rate) => rate,
            _ => Rate::Infinite,
        }
    }

    pub(super) const fn size(&self) -> Option<PixelSize> {
        match self.get(Axis::Size) {
            AxisValue::Size(size) => Some(size),
            _ => None,
        }
    }

    /// The number on an axis whose values fit into 32 bits.
    pub(super) fn small(&self, axis: Axis) -> Option<u32> {
        self.get(axis).number().and_then(|number| u32::try_from(number).ok())
    }
}

/// The request field that a shape axis sets.
pub(super) const fn shape_field(axis: Axis) -> Option<&'static str> {
    match axis {
        Axis::Size => Some("size"),
        Axis::NumInferenceSteps => Some("num_inference_steps"),
        Axis::NumFrames => Some("num_frames"),
        _ => None,
    }
}
