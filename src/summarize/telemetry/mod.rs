//! Samples of a run → what its server and GPUs did: memory, utilisation, power and energy, requests
//! running and waiting, times that the server tells. Means are over time, by the trapezoidal rule
//! between samples. What no sample tells is null.

mod figures;
mod types;

pub(super) use figures::{Made, figures};
pub use types::{EnergyBasis, GpuBasis, GpuFigures, PeakMean, ProcessFigures, TelemetryFigures, ToldTime};

#[cfg(test)]
mod tests;
