//! Student's t over repeats: of pairs, and of two samples with spreads of their own (Welch).

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::summarize::real;

/// A t test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TTest {
    /// Two-sided p-value.
    pub(crate) p: f64,
    /// Standard error of the difference.
    pub(crate) error: f64,
    /// Degrees of freedom.
    pub(crate) free: f64,
}

/// Whether the mean of these differences is 0; `None` below two.
pub(crate) fn paired(differences: &[f64]) -> Option<TTest> {
    let (mean, variance) = moments(differences)?;
    let count = real(differences.len());
    Some(test(mean, (variance / count).sqrt(), count - 1.0))
}

/// Whether two samples have the same mean, by Welch, "The Generalization of Student's Problem when
/// Several Different Population Variances are Involved" (1947); `None` when one has fewer than two.
pub(crate) fn welch(a: &[f64], b: &[f64]) -> Option<TTest> {
    let ((mean_a, variance_a), (mean_b, variance_b)) = (moments(a)?, moments(b)?);
    let (part_a, part_b) = (variance_a / real(a.len()), variance_b / real(b.len()));
    let error = part_a + part_b;
    let spread = part_a.powi(2) / (real(a.len()) - 1.0) + part_b.powi(2) / (real(b.len()) - 1.0);
    let free = if spread > 0.0 { error.powi(2) / spread } else { real(a.len() + b.len()) - 2.0 };
    Some(test(mean_b - mean_a, error.sqrt(), free))
}

/// Mean and sample variance (division by n − 1).
fn moments(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / real(values.len());
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    Some((mean, squares / (real(values.len()) - 1.0)))
}

fn test(mean: f64, error: f64, free: f64) -> TTest {
    // repeats that agree to the last bit leave nothing to chance
    let p = match StudentsT::new(0.0, 1.0, free) {
        Ok(t) if error > 0.0 => 2.0 * t.sf((mean / error).abs()),
        _ if mean.abs() > 0.0 => 0.0,
        _ => 1.0,
    };
    TTest { p: p.min(1.0), error, free }
}

/// The t value that is exceeded with probability `1 - share`.
pub(crate) fn quantile(share: f64, free: f64) -> Option<f64> {
    Some(StudentsT::new(0.0, 1.0, free).ok()?.inverse_cdf(share))
}
