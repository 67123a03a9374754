//! Numbers as people read them: rounded once, here, and never to a zero that is not one.

/// The number with `places` decimals; of a number below 1 that would keep fewer than two significant
/// digits, or read as zero, four are printed instead. What is not a number reads `n/a`.
pub(crate) fn fixed(value: f64, places: usize) -> String {
    if !value.is_finite() {
        return ABSENT.to_owned();
    }
    let size = value.abs();
    let text = format!("{value:.places$}");
    let too_short = size < 1.0 && digits(&text) < 2;
    match (size > 0.0, too_short) {
        (true, true) => significant(value),
        (false, _) => format!("{:.places$}", 0.0),
        (true, false) => text,
    }
}

/// Digits of a number from the first that is not zero.
fn digits(text: &str) -> usize {
    text.chars().filter(char::is_ascii_digit).skip_while(|digit| *digit == '0').count()
}

/// Decimals of rates and ratios, and of what has no custom of its own.
pub(crate) const PLACES: usize = 4;

/// What stands for a figure that was not measured.
pub(crate) const ABSENT: &str = "n/a";

fn significant(value: f64) -> String {
    (1..=12_usize)
        .map(|places| format!("{value:.places$}"))
        .find(|text| digits(text) >= 4)
        .unwrap_or_else(|| format!("{value:.3e}"))
}

/// A footnote number as superscript digits.
pub(crate) fn superscript(number: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    number
        .to_string()
        .chars()
        .filter_map(|c| c.to_digit(10))
        .filter_map(|digit| DIGITS.get(usize::try_from(digit).ok()?))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_have_the_four_decimals_of_the_dashboards() {
        assert_eq!(fixed(2.2087, 4), "2.2087");
        assert_eq!(fixed(118.300_04, 4), "118.3000");
    }

    #[test]
    fn a_small_number_never_reads_as_zero() {
        assert_eq!(fixed(0.000_012_34, 4), "0.00001234");
        assert_eq!(fixed(0.004, 2), "0.004000");
        assert_eq!(fixed(1.5e-15, 2), "1.500e-15");
        assert_eq!(fixed(0.000_14, 4), "0.0001400");
        assert_eq!(fixed(-0.04, 2), "-0.04000");
        assert_eq!((fixed(0.27, 2), fixed(0.0617, 4), fixed(1.0, 0)), ("0.27".into(), "0.0617".into(), "1".into()));
        assert_eq!(fixed(0.0, 2), "0.00");
        assert_eq!(fixed(-0.0, 2), "0.00");
    }

    #[test]
    fn what_is_not_a_number_is_not_printed_as_one() {
        assert_eq!(fixed(f64::NAN, 2), "n/a");
        assert_eq!(fixed(f64::INFINITY, 2), "n/a");
    }

    #[test]
    fn footnotes_count_beyond_nine() {
        assert_eq!(superscript(1), "¹");
        assert_eq!(superscript(12), "¹²");
    }
}
