//! What the client itself costs, as measured before the first run of a campaign: `client.json`, and
//! a copy in the `run.json` of every run that this client carried out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of `client.json`.
pub const CLIENT_FORMAT: u32 = 1;

/// The client against a server that answers at once.
///
/// That server runs within the same process and takes its share of the processor, so the true cost
/// of the client is below the times and above the rate that are told here. Bodies are about a
/// kilobyte; what it costs to read megabytes is not measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientProbe {
    /// Version of this format.
    pub format: u32,
    /// When it was measured, RFC 3339 UTC.
    pub measured_at: String,
    /// Sent → done of small requests, one at a time, in milliseconds of the wall clock.
    pub added_latency_ms: Spread,
    /// Small requests per second, many at a time.
    pub max_rate_per_s: f64,
    /// Due → released of a schedule, in milliseconds of the wall clock.
    pub timer_error_ms: Spread,
}

/// Middle and tail of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
}

impl Spread {
    /// Of these values, interpolated linearly; `None` when there are none.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        Some(Self { p50: quantile(&values, 0.5)?, p99: quantile(&values, 0.99)? })
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a position among a few hundred values"
)]
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let position = share * sorted.len().checked_sub(1)? as f64;
    let below = sorted.get(position.floor() as usize)?;
    let above = sorted.get(position.ceil() as usize)?;
    Some(below + (above - below) * position.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middle_and_tail_are_interpolated() {
        assert_eq!(Spread::of(Vec::new()), None);
        assert_eq!(Spread::of(vec![3.0]), Some(Spread { p50: 3.0, p99: 3.0 }));
        let spread = Spread::of((0..=200).rev().map(f64::from).collect()).unwrap();
        assert_eq!(spread, Spread { p50: 100.0, p99: 198.0 });
        assert_eq!(Spread::of(vec![1.0, 1.0]), Some(Spread { p50: 1.0, p99: 1.0 }));
    }
}
