//! Numbers as people read them: rounded once, here, and never to a zero that is not one.

/// The number with `places` decimals; a number that would read as zero keeps four significant
/// digits instead, and what is not a number reads `n/a`.
pub(crate) fn fixed(value: f64, places: usize) -> String {
    if !value.is_finite() {
        return ABSENT.to_owned();
    }
    let text = format!("{value:.places$}");
    let reads_as_zero = !text.chars().any(|c| c.is_ascii_digit() && c != '0');
    match (value.abs() > 0.0, reads_as_zero) {
        (true, true) => significant(value),
        (false, _) => format!("{:.places$}", 0.0),
        (true, false) => text,
    }
}

/// What stands for a figure that was not measured.
pub(crate) const ABSENT: &str = "n/a";

fn significant(value: f64) -> String {
    (1..=12_usize)
        .map(|places| format!("{value:.places$}"))
        .find(|text| text.chars().filter(char::is_ascii_digit).skip_while(|c| *c == '0').count() >= 4)
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
