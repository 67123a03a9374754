//! How far apart two pictures of the same size are: PSNR and SSIM by their published definitions.
//! `image-compare` does not fit: its SSIM has blocks of 8×8 without a Gaussian and without overlap.

use std::collections::VecDeque;

use super::types::Difference;
use crate::media::Pixels;

/// Taps of the Gaussian window.
const TAPS: usize = 11;
/// Its standard deviation in pixels.
const SIGMA: f64 = 1.5;
/// (`K1` L)² and (`K2` L)² with `K1` = 0.01, `K2` = 0.03 and L = 255.
const C1: f64 = 0.01 * 255.0 * 0.01 * 255.0;
const C2: f64 = 0.03 * 255.0 * 0.03 * 255.0;

/// What two pictures of the same size differ in; `None` when the sizes differ.
pub(super) fn difference(a: &Pixels, b: &Pixels) -> Option<Difference> {
    let error = mean_squared_error(a, b)?;
    let psnr_db = psnr(error);
    Some(Difference { frames: 1, differing_frames: u64::from(psnr_db.is_some()), psnr_db, ssim: ssim(a, b) })
}

/// Mean squared difference of 8-bit red, green and blue; `None` when the sizes differ.
pub fn mean_squared_error(a: &Pixels, b: &Pixels) -> Option<f64> {
    if a.size() != b.size() {
        return None;
    }
    let squares = a.rgb().iter().zip(b.rgb()).map(|(a, b)| u64::from(a.abs_diff(*b)).pow(2));
    Some(real(squares.sum()) / real(a.rgb().len() as u64))
}

/// Peak signal-to-noise ratio in decibels, 10 log₁₀(255² / MSE); `None` when there is no error, as it
/// then has no bound.
pub fn psnr(mean_squared_error: f64) -> Option<f64> {
    (mean_squared_error > 0.0).then(|| 10.0 * (255.0 * 255.0 / mean_squared_error).log10())
}

#[expect(clippy::cast_precision_loss, reason = "sums of squares of bytes over a picture stay below 2^53")]
const fn real(number: u64) -> f64 {
    number as f64
}

/// Mean structural similarity (Wang, Bovik, Sheikh and Simoncelli, "Image quality assessment: from error
/// visibility to structural similarity", 2004): an 11×11 Gaussian window of σ = 1.5 over luma, every place
/// where it fits whole, K1 = 0.01, K2 = 0.03. Luma is 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601), not
/// rounded. `None` when the sizes differ or a side is below 11 pixels.
pub fn ssim(a: &Pixels, b: &Pixels) -> Option<f64> {
    let (width, height) = a.size();
    if a.size() != b.size() || width < TAPS || height < TAPS {
        return None;
    }
    let weights = weights();
    let mut window: VecDeque<Moments> = VecDeque::with_capacity(TAPS);
    let (mut sum, mut count) = (0.0, 0_u64);
    for (a, b) in a.rows().zip(b.rows()) {
        if window.len() == TAPS {
            window.pop_front();
        }
        window.push_back(Moments::of(&luma(a), &luma(b), &weights));
        if window.len() == TAPS {
            let row = Moments::over(&window, &weights);
            sum += row.similarities().sum::<f64>();
            count += row.a.len() as u64;
        }
    }
    Some(sum / real(count))
}

/// The Gaussian, with sum 1.
fn weights() -> [f64; TAPS] {
    let mut weights = [0.0; TAPS];
    for (weight, place) in weights.iter_mut().zip(-5_i32..) {
        *weight = (-f64::from(place * place) / (2.0 * SIGMA * SIGMA)).exp();
    }
    let sum: f64 = weights.iter().sum();
    weights.map(|weight| weight / sum)
}

fn luma(row: &[u8]) -> Vec<f64> {
    let of = |pixel: &[u8]| match pixel {
        [r, g, b] => 0.114_f64.mul_add(f64::from(*b), 0.299_f64.mul_add(f64::from(*r), 0.587 * f64::from(*g))),
        _ => 0.0,
    };
    row.chunks_exact(3).map(of).collect()
}

/// Weighted means of both pictures, of their squares and of their product, for places in a row.
struct Moments {
    a: Vec<f64>,
    b: Vec<f64>,
    aa: Vec<f64>,
    bb: Vec<f64>,
    ab: Vec<f64>,
}

impl Moments {
    /// Over the window's columns in one row.
    fn of(a: &[f64], b: &[f64], weights: &[f64; TAPS]) -> Self {
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).collect::<Vec<_>>();
        let filtered = |row: &[f64]| -> Vec<f64> {
            row.windows(TAPS).map(|part| part.iter().zip(weights).map(|(value, weight)| value * weight).sum()).collect()
        };
        Self {
            a: filtered(a),
            b: filtered(b),
            aa: filtered(&product(a, a)),
            bb: filtered(&product(b, b)),
            ab: filtered(&product(a, b)),
        }
    }

    /// Over the window's rows.
    fn over(rows: &VecDeque<Self>, weights: &[f64; TAPS]) -> Self {
        let sum = |part: fn(&Self) -> &Vec<f64>| {
            let mut total = vec![0.0; rows.front().map_or(0, |row| part(row).len())];
            for (row, weight) in rows.iter().zip(weights) {
                for (total, value) in total.iter_mut().zip(part(row)) {
                    *total += value * weight;
                }
            }
            total
        };
        Self {
            a: sum(|row| &row.a),
            b: sum(|row| &row.b),
            aa: sum(|row| &row.aa),
            bb: sum(|row| &row.bb),
            ab: sum(|row| &row.ab),
        }
    }

    /// The similarity at each place.
    fn similarities(&self) -> impl Iterator<Item = f64> {
        let means = self.a.iter().zip(&self.b);
        let squares = self.aa.iter().zip(&self.bb).zip(&self.ab);
        means.zip(squares).map(|((a, b), ((aa, bb), ab))| {
            let (variance_a, variance_b, covariance) = (aa - a * a, bb - b * b, ab - a * b);
            let alike = (2.0 * a * b + C1) * (2.0 * covariance + C2);
            alike / ((a * a + b * b + C1) * (variance_a + variance_b + C2))
        })
    }
}
