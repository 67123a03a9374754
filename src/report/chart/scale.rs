//! From values to pixels: linear and logarithmic scales with round ticks.

use std::time::Duration;

/// A scale along one side of a chart.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    /// Values at the two ends.
    range: [f64; 2],
    /// Pixels at the two ends.
    pixels: [f64; 2],
    logarithmic: bool,
    /// Where there are ticks, and what they say.
    pub(super) ticks: Vec<(f64, String)>,
}

/// Ratio of the largest to the smallest value beyond which a linear scale would hide the small ones.
const WIDE: f64 = 50.0;

impl Scale {
    /// From 0 to a round number at or above the largest value.
    pub(super) fn from_zero(most: f64, pixels: [f64; 2]) -> Self {
        let most = if most.is_finite() && most > 0.0 { most } else { 1.0 };
        let step = round_step(most / 5.0);
        let steps = (most / step - 1e-9).ceil().max(1.0);
        Self { range: [0.0, steps * step], pixels, logarithmic: false, ticks: linear_ticks(step, steps) }
    }

    /// From 0, or logarithmic when the positive values differ so much that most would lie at the bottom.
    pub(super) fn fitting(values: impl IntoIterator<Item = f64>, pixels: [f64; 2]) -> Self {
        let values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        let most = values.iter().copied().fold(0.0, f64::max);
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        if least > 0.0 && most / least > WIDE {
            Self::logarithmic(least, most, pixels)
        } else {
            Self::from_zero(most, pixels)
        }
    }

    fn logarithmic(least: f64, most: f64, pixels: [f64; 2]) -> Self {
        let decade = |value: f64| 10f64.powf(value.log10().floor());
        let marks = |steps: &[f64]| -> Vec<f64> {
            let decades = (most / decade(least)).log10().floor().clamp(0.0, 30.0) + 1.0;
            let starts = std::iter::successors(Some(0.0), |place| Some(place + 1.0)).take_while(|p| *p <= decades);
            starts
                .flat_map(|place| steps.iter().map(move |step| (place, *step)))
                .map(|(place, step)| decade(least) * 10f64.powf(place) * step)
                .collect()
        };
        let fine = marks(&[1.0, 2.0, 5.0]);
        let low = fine.iter().copied().rfind(|mark| *mark <= least * 1.0001).unwrap_or(least);
        let high = fine.iter().copied().find(|mark| *mark >= most * 0.9999).unwrap_or(most);
        let shown = if most / least > 1e4 { marks(&[1.0]) } else { fine };
        let inside = |mark: &f64| *mark >= low * 0.9999 && *mark <= high * 1.0001;
        let ticks = shown.into_iter().filter(inside).map(|mark| (mark, short(mark))).collect();
        Self { range: [low, high], pixels, logarithmic: true, ticks }
    }

    /// Loads that were tried, each with a tick; logarithmic when they double rather than step.
    pub(super) fn of_loads(loads: &[f64], pixels: [f64; 2]) -> Self {
        let least = loads.iter().copied().fold(f64::INFINITY, f64::min);
        let most = loads.iter().copied().fold(0.0, f64::max);
        let logarithmic = least > 0.0 && most / least >= 6.0;
        let range = if logarithmic {
            let edge = (most / least).powf(0.06);
            [least / edge, most * edge]
        } else {
            let edge = if most > least { (most - least) * 0.08 } else { most.max(1.0) * 0.5 };
            [least - edge, most + edge]
        };
        let mut scale = Self { range, pixels, logarithmic, ticks: Vec::new() };
        let mut free_from = f64::NEG_INFINITY;
        for load in loads {
            let (place, text) = (scale.at(*load), short(*load));
            let half = super::scene::width_of(&text, super::scene::TEXT) / 2.0;
            // the last one is the one to have when there is room for one only
            let is_last = load.total_cmp(&most).is_eq();
            if place - half < free_from && !is_last {
                continue;
            }
            if place - half < free_from {
                scale.ticks.pop();
            }
            scale.ticks.push((*load, text));
            free_from = place + half + 6.0;
        }
        scale
    }

    /// Shares of a whole, with ticks where percentiles are read.
    pub(super) fn of_shares(pixels: [f64; 2]) -> Self {
        let ticks = [0.0, 0.25, 0.5, 0.75, 0.95, 1.0].map(|share| (share, format!("{} %", short(share * 100.0))));
        Self { range: [0.0, 1.0], pixels, logarithmic: false, ticks: ticks.to_vec() }
    }

    /// No values, only room.
    pub(super) fn empty(pixels: [f64; 2]) -> Self {
        Self { range: [0.0, 1.0], pixels, logarithmic: false, ticks: Vec::new() }
    }

    /// The pixel of a value; what lies outside is drawn at the end.
    pub(super) fn at(&self, value: f64) -> f64 {
        let [from, to] = self.range;
        let share = if self.logarithmic {
            (value.max(f64::MIN_POSITIVE) / from).ln() / (to / from).ln()
        } else {
            (value - from) / (to - from)
        };
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        let [start, end] = self.pixels;
        start + (end - start) * share
    }

    /// Both ends in pixels.
    pub(super) fn ends(&self) -> [f64; 2] {
        self.pixels
    }

    /// Whether equal distances are equal factors.
    pub(super) fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }
}

fn linear_ticks(step: f64, steps: f64) -> Vec<(f64, String)> {
    let count = std::iter::successors(Some(0.0), |place| Some(place + 1.0)).take_while(|place| *place <= steps);
    count.map(|place| (place * step, short(place * step))).collect()
}

/// The smallest of 1, 2, 2.5, 5 × 10ⁿ that is not below.
fn round_step(step: f64) -> f64 {
    let decade = 10f64.powf(step.log10().floor());
    let factors = [1.0, 2.0, 2.5, 5.0];
    factors.iter().map(|factor| factor * decade).find(|round| *round >= step * 0.9999).unwrap_or(decade * 10.0)
}

/// A number with at most four significant digits and no zeros that say nothing.
pub(super) fn short(value: f64) -> String {
    if !value.is_finite() {
        return "n/a".to_owned();
    }
    if value.abs() < f64::MIN_POSITIVE {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor();
    if !(-6.0..7.0).contains(&magnitude) {
        return format!("{value:.1e}");
    }
    let places = (0..=9_u8).find(|places| f64::from(*places) >= 3.0 - magnitude).unwrap_or(9);
    let text = format!("{value:.*}", usize::from(places));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A count as a number to calculate with; exact for any count of requests that fits into memory.
pub(super) fn real(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}

/// Microseconds in seconds.
pub(super) fn seconds(us: u64) -> f64 {
    Duration::from_micros(us).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> Vec<&str> {
        scale.ticks.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn a_linear_scale_starts_at_zero_and_ends_at_a_round_number() {
        let scale = Scale::from_zero(9.3, [100.0, 0.0]);
        assert_eq!(labels(&scale), ["0", "2", "4", "6", "8", "10"]);
        assert!((scale.at(5.0) - 50.0).abs() < 1e-9 && scale.at(99.0).abs() < 1e-9);
        assert_eq!(labels(&Scale::from_zero(0.031, [0.0, 1.0])), ["0", "0.01", "0.02", "0.03", "0.04"]);
        assert_eq!(labels(&Scale::from_zero(0.0, [0.0, 1.0])).first(), Some(&"0"));
    }

    #[test]
    fn values_of_very_different_size_get_a_logarithmic_scale() {
        let scale = Scale::fitting([0.3, 40.0], [0.0, 100.0]);
        assert!(scale.is_logarithmic());
        assert_eq!(labels(&scale), ["0.2", "0.5", "1", "2", "5", "10", "20", "50"]);
        assert!(scale.at(0.3) < scale.at(1.0) && scale.at(1.0) < scale.at(40.0));
        assert!(!Scale::fitting([3.0, 40.0], [0.0, 100.0]).is_logarithmic());
        assert!(!Scale::fitting([0.0, 40.0], [0.0, 100.0]).is_logarithmic());
    }

    #[test]
    fn loads_that_were_tried_are_the_ticks_as_far_as_there_is_room() {
        assert_eq!(labels(&Scale::of_loads(&[1.0, 2.0, 4.0, 8.0], [0.0, 300.0])), ["1", "2", "4", "8"]);
        let many: Vec<f64> = (1..=100).map(f64::from).collect();
        let scale = Scale::of_loads(&many, [0.0, 300.0]);
        assert!(scale.ticks.len() < 40);
        assert_eq!(labels(&scale).last(), Some(&"100"));
        assert_eq!(labels(&Scale::of_loads(&[4.0], [0.0, 300.0])), ["4"]);
    }

    #[test]
    fn short_numbers_keep_what_says_something() {
        assert_eq!(short(0.05), "0.05");
        assert_eq!(short(12.345_6), "12.35");
        assert_eq!(short(1500.0), "1500");
        assert_eq!(short(0.0), "0");
        assert_eq!(short(1.5e9), "1.5e9");
        assert_eq!(short(f64::NAN), "n/a");
    }
}
