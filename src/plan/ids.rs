//! Run ids, readable and usable as relative paths, and the globs that select them.

use globset::{GlobBuilder, GlobSet};

use super::axes::{AxisValue, MatrixPoint, RUN_ORDER};
use super::types::Axis;
use crate::diagnostic::{KeyPath, Problem};

/// The axes along which the points differ, in the order of the columns and of the parts of an id.
pub(super) fn varying(points: &[MatrixPoint]) -> Vec<Axis> {
    let Some(first) = points.first() else { return Vec::new() };
    let mut axes: Vec<Axis> =
        RUN_ORDER.into_iter().filter(|axis| points.iter().any(|point| point.get(*axis) != first.get(*axis))).collect();
    axes.sort();
    axes
}

/// The id of a point: `variant/dataset/` and the concurrency, `c4` with a cap, `open` without, then a
/// part for every further axis that varies. `requests` is what the point asks for.
pub(super) fn point_id(variant: &str, dataset: &str, point: &MatrixPoint, requests: u64, varying: &[Axis]) -> String {
    let concurrency = match point.get(Axis::MaxConcurrency) {
        AxisValue::Number(cap) => format!("c{cap}"),
        _ => "open".to_owned(),
    };
    let mut id = format!("{variant}/{dataset}/{concurrency}");
    for axis in varying {
        let value = point.get(*axis);
        let part = match axis {
            Axis::Variant | Axis::Dataset | Axis::MaxConcurrency => continue,
            Axis::RequestRate => format!("-rate{value}"),
            Axis::Requests => format!("-n{requests}"),
            Axis::Size => format!("-{value}"),
            Axis::NumInferenceSteps => format!("-steps{value}"),
            Axis::NumFrames => format!("-frames{value}"),
            Axis::Seed => format!("-seed{value}"),
        };
        id.push_str(&part);
    }
    id
}

/// The id of a repeat of a point.
pub(super) fn run_id(point: &str, repeat: u32) -> String {
    if repeat < 2 { point.to_owned() } else { format!("{point}.r{repeat}") }
}

/// Which of the ids `--only` selects; all of them without patterns. A pattern that is wrong or matches
/// nothing is a problem.
pub(super) fn select(ids: &[&str], only: &[String], problems: &mut Vec<Problem>) -> Vec<bool> {
    let mut globs = GlobSet::builder();
    for pattern in only {
        // `**` alone in a segment crosses segments; `*` never does
        match GlobBuilder::new(pattern).literal_separator(true).build() {
            Ok(glob) => {
                let matcher = glob.compile_matcher();
                if !ids.iter().any(|id| matcher.is_match(id)) {
                    problems.push(nothing(pattern, ids));
                }
                globs.add(glob);
            }
            Err(error) => {
                let message = format!("`--only {pattern}` is not a pattern: {}", error.kind());
                problems.push(Problem::value(KeyPath::root(), message));
            }
        }
    }
    match globs.build() {
        Ok(globs) if !only.is_empty() => ids.iter().map(|id| globs.is_match(id)).collect(),
        _ => vec![only.is_empty(); ids.len()],
    }
}

fn nothing(pattern: &str, ids: &[&str]) -> Problem {
    const OFFERED: usize = 3;
    let mut near: Vec<(f64, &str)> = ids.iter().map(|id| (strsim::jaro_winkler(pattern, id), *id)).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near: Vec<String> = near.iter().take(OFFERED).map(|(_, id)| format!("`{id}`")).collect();
    Problem::value(KeyPath::root(), format!("`--only {pattern}` matches no run"))
        .hint(format!("the nearest ids are {}", near.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: [&str; 4] = ["a/A/c1", "a/A/c4", "a/B/c4", "b/A/c4.r2"];

    fn selected(only: &[&str]) -> (Vec<&'static str>, Vec<Problem>) {
        let mut problems = Vec::new();
        let only: Vec<String> = only.iter().map(|glob| (*glob).to_owned()).collect();
        let chosen = select(&IDS, &only, &mut problems);
        (IDS.into_iter().zip(chosen).filter_map(|(id, chosen)| chosen.then_some(id)).collect(), problems)
    }

    #[test]
    fn a_star_stays_within_a_segment_and_two_cross() {
        assert_eq!(selected(&[]).0, IDS);
        assert_eq!(selected(&["a/*/c4"]).0, ["a/A/c4", "a/B/c4"]);
        assert_eq!(selected(&["a/**"]).0, ["a/A/c1", "a/A/c4", "a/B/c4"]);
        assert_eq!(selected(&["**/c4"]).0, ["a/A/c4", "a/B/c4"]);
        assert_eq!(selected(&["**"]).0, IDS);
        assert_eq!(selected(&["a/A/c?", "b/**"]).0, ["a/A/c1", "a/A/c4", "b/A/c4.r2"]);
        assert_eq!(selected(&["{a,b}/A/c4*"]).0, ["a/A/c4", "b/A/c4.r2"]);
    }

    #[test]
    fn a_pattern_that_matches_nothing_offers_the_nearest_ids() {
        let (chosen, problems) = selected(&["a/*"]);
        assert!(chosen.is_empty());
        assert_eq!(problems[0].message, "`--only a/*` matches no run");
        assert!(problems[0].hint.as_deref().unwrap().starts_with("the nearest ids are `a/"));
        assert_eq!(
            selected(&["a/[", "a/**"]).1[0].message,
            "`--only a/[` is not a pattern: unclosed character class; missing ']'"
        );
    }
}
