//! `[matrix]` → points: the product of the axes with zipped groups, minus `exclude`, plus `include`,
//! in canonical order. The number of points is known, and bounded, before any is made.

use std::collections::HashMap;

use super::axes::{AXES, AxisValue, MatrixPoint, PointKey, RUN_ORDER};
use super::traffic::Rules;
use super::types::Axis;
use crate::diagnostic::{KeyPath, Problem, nearest};
use crate::scenario::Scenario;
use crate::scenario::model::{AxisPoint, Requests};

/// Most runs of a plan.
pub(super) const MOST_RUNS: u128 = crate::catalog::limits::MOST_RUNS;

/// The axes of a scenario.
pub(super) struct Matrix<'a> {
    scenario: &'a Scenario,
    rules: &'a Rules,
    variants: &'a [String],
    datasets: Vec<&'a str>,
    lists: [AxisList; AXES],
}

struct AxisList {
    values: Vec<AxisValue>,
    /// Whether `[matrix]` has the list.
    written: bool,
}

/// Axes that advance together.
struct Dimension {
    axes: Vec<Axis>,
    len: usize,
}

impl<'a> Matrix<'a> {
    /// Reads the axes; names that do not exist and values that cannot be are problems.
    pub(super) fn new(
        scenario: &'a Scenario,
        rules: &'a Rules,
        variants: &'a [String],
        problems: &mut Vec<Problem>,
    ) -> Self {
        let datasets: Vec<&str> = scenario.datasets.keys().map(String::as_str).collect();
        let lists = RUN_ORDER.map(|_| AxisList { values: Vec::new(), written: false });
        let mut matrix = Self { scenario, rules, variants, datasets, lists };
        for axis in RUN_ORDER {
            matrix.lists[axis.slot()] = matrix.list(axis, problems);
        }
        matrix
    }

    fn list(&self, axis: Axis, problems: &mut Vec<Problem>) -> AxisList {
        let matrix = &self.scenario.matrix;
        let numbers = |list: &[u64]| list.iter().copied().map(AxisValue::Number).collect::<Vec<_>>();
        let small = |list: &Option<Vec<u32>>| {
            list.as_ref().map(|list| list.iter().map(|number| AxisValue::Number(u64::from(*number))).collect())
        };
        let at = KeyPath::from("matrix").key(axis.key());
        let written: Option<Vec<AxisValue>> = match axis {
            Axis::Variant | Axis::Dataset => {
                let names = if axis == Axis::Variant { &matrix.variant } else { &matrix.dataset };
                names.as_ref().map(|names| {
                    let found = names.iter().enumerate();
                    // an unknown name keeps its place, so that no other problem follows from it
                    let stand_in = |i: usize| AxisValue::Name(usize::MAX - i);
                    found
                        .map(|(i, name)| self.name(axis, name, &at.index(i), problems).unwrap_or(stand_in(i)))
                        .collect()
                })
            }
            Axis::Size => matrix.size.as_ref().map(|sizes| sizes.iter().copied().map(AxisValue::Size).collect()),
            Axis::NumInferenceSteps => small(&matrix.num_inference_steps),
            Axis::NumFrames => small(&matrix.num_frames),
            Axis::RequestRate => {
                matrix.request_rate.as_ref().map(|rates| rates.iter().copied().map(AxisValue::Rate).collect())
            }
            Axis::MaxConcurrency => small(&matrix.max_concurrency),
            Axis::Requests => matrix.requests.as_deref().map(numbers),
            Axis::Seed => matrix.seed.as_deref().map(numbers),
        };
        for (i, value) in written.iter().flatten().enumerate() {
            Self::check(axis, *value, &at.index(i), problems);
        }
        if written.as_ref().is_some_and(Vec::is_empty) {
            problems.push(Problem::value(at, "an empty axis plans nothing").hint("leave it out for the default"));
        }
        let is_written = written.is_some();
        AxisList { values: written.unwrap_or_else(|| self.defaults(axis)), written: is_written }
    }

    fn name(&self, axis: Axis, name: &str, at: &KeyPath, problems: &mut Vec<Problem>) -> Option<AxisValue> {
        let found = match axis {
            Axis::Variant => self.variants.iter().position(|known| known == name),
            _ => self.datasets.iter().position(|known| *known == name),
        };
        if found.is_none() {
            let known: Vec<&str> = match axis {
                Axis::Variant => self.variants.iter().map(String::as_str).collect(),
                _ => self.datasets.clone(),
            };
            problems.push(unknown(at, axis.key(), name, &known));
        }
        found.map(AxisValue::Name)
    }

    fn check(axis: Axis, value: AxisValue, at: &KeyPath, problems: &mut Vec<Problem>) {
        let counts = matches!(axis, Axis::MaxConcurrency | Axis::Requests | Axis::NumInferenceSteps | Axis::NumFrames);
        if counts && value.number() == Some(0) {
            problems.push(Problem::value(at.clone(), format!("`{}` is at least 1", axis.key())));
        }
        if axis == Axis::Requests && value.number().is_some_and(|number| number > 10_000_000) {
            problems.push(Problem::value(at.clone(), "a run has at most 10000000 requests"));
        }
    }

    /// The values of an axis that `[matrix]` does not have.
    fn defaults(&self, axis: Axis) -> Vec<AxisValue> {
        match axis {
            Axis::Variant => (0..self.variants.len()).map(AxisValue::Name).collect(),
            Axis::Dataset => (0..self.datasets.len()).map(AxisValue::Name).collect(),
            _ => vec![self.default(axis)],
        }
    }

    /// What `[traffic]` says about an axis other than variant and dataset.
    fn default(&self, axis: Axis) -> AxisValue {
        match (axis, self.rules.requests) {
            (Axis::RequestRate, _) => AxisValue::Rate(self.rules.request_rate),
            (Axis::Seed, _) => AxisValue::Number(self.rules.seed),
            (Axis::MaxConcurrency, _) => {
                self.rules.max_concurrency.map_or(AxisValue::Default, |cap| AxisValue::Number(cap.into()))
            }
            (Axis::Requests, Requests::Count(count)) => AxisValue::Number(count),
            _ => AxisValue::Default,
        }
    }

    /// Every point, in canonical order, each once; `None` when there is a problem with them.
    pub(super) fn points(&self, problems: &mut Vec<Problem>) -> Option<Vec<MatrixPoint>> {
        let before = problems.len();
        let dimensions = self.dimensions(problems);
        self.check_duplicates(&dimensions, problems);
        let included = self.scenario.matrix.include.iter().map(|point| self.included_len(point));
        let product = dimensions.iter().fold(1_u128, |product, dim| product.saturating_mul(dim.len as u128));
        let all = product.saturating_add(included.sum()).saturating_mul(u128::from(self.rules.repeats));
        if all > MOST_RUNS {
            let message = format!("the matrix makes {all} runs; a plan has at most {MOST_RUNS} (limit `runs`)");
            problems.push(Problem::value("matrix", message).hint("make an axis shorter, or `zip` axes"));
        }
        if problems.len() > before || self.lists.iter().any(|list| list.values.is_empty()) {
            return None;
        }
        let mut points = self.product(&dimensions);
        self.exclude(&mut points, problems);
        self.include(&mut points, problems);
        if points.is_empty() && problems.len() == before {
            problems.push(Problem::value("matrix.exclude", "every point is excluded, nothing is left to run"));
        }
        self.sort(&mut points);
        (problems.len() == before).then_some(points)
    }

    fn dimensions(&self, problems: &mut Vec<Problem>) -> Vec<Dimension> {
        let mut grouped: Vec<(Axis, KeyPath)> = Vec::new();
        let mut dimensions = Vec::new();
        for (number, group) in self.scenario.matrix.zip.iter().enumerate() {
            let at = KeyPath::from("matrix.zip").index(number);
            let mut axes = Vec::new();
            for (i, key) in group.iter().enumerate() {
                let at = at.index(i);
                let Some(found) = Axis::from_key(key) else {
                    problems.push(unknown(&at, "axis", key, &RUN_ORDER.map(Axis::key)));
                    continue;
                };
                if let Some((_, earlier)) = grouped.iter().find(|(known, _)| *known == found) {
                    let message = format!("axis `{key}` is already in `{earlier}`");
                    problems.push(Problem::value(at, message));
                    continue;
                }
                let list = &self.lists[found.slot()];
                if !list.written && !matches!(found, Axis::Variant | Axis::Dataset) {
                    problems.push(Problem::value(at.clone(), format!("`matrix.{key}` has no list to zip")));
                }
                grouped.push((found, at));
                axes.push(found);
            }
            let lengths: Vec<String> = axes
                .iter()
                .map(|axis| format!("`{}` has {}", axis.key(), self.lists[axis.slot()].values.len()))
                .collect();
            let len = axes.first().map_or(1, |axis| self.lists[axis.slot()].values.len());
            if axes.iter().any(|axis| self.lists[axis.slot()].values.len() != len) {
                let message = format!("zipped axes have equal length, but {}", lengths.join(", "));
                problems.push(Problem::value(at, message));
            }
            dimensions.push(Dimension { axes, len });
        }
        for axis in RUN_ORDER {
            if !grouped.iter().any(|(known, _)| *known == axis) {
                dimensions.push(Dimension { axes: vec![axis], len: self.lists[axis.slot()].values.len() });
            }
        }
        dimensions
    }

    fn check_duplicates(&self, dimensions: &[Dimension], problems: &mut Vec<Problem>) {
        for dimension in dimensions {
            let mut seen = HashMap::new();
            for i in 0..dimension.len {
                let values: Option<Vec<_>> =
                    dimension.axes.iter().map(|axis| self.lists[axis.slot()].values.get(i).copied()).collect();
                let Some(values) = values else { break };
                let key: Vec<_> = values.iter().map(|value| value.key()).collect();
                if let Some(earlier) = seen.insert(key, i) {
                    let keys: Vec<&str> = dimension.axes.iter().map(|axis| axis.key()).collect();
                    let names: Vec<String> =
                        dimension.axes.iter().zip(&values).map(|(axis, value)| self.show(*axis, *value)).collect();
                    let key = keys.first().copied().unwrap_or_default();
                    problems.push(Problem::value(
                        KeyPath::from("matrix").key(key).index(i),
                        format!("`{}` {i} and {earlier} are the same: `{}`", keys.join("` with `"), names.join("`, `")),
                    ));
                }
            }
        }
    }

    fn show(&self, axis: Axis, value: AxisValue) -> String {
        match (axis, value) {
            (Axis::Variant, AxisValue::Name(i)) => self.variants.get(i).cloned().unwrap_or_default(),
            (Axis::Dataset, AxisValue::Name(i)) => self.datasets.get(i).copied().unwrap_or_default().to_owned(),
            _ => value.to_string(),
        }
    }

    fn product(&self, dimensions: &[Dimension]) -> Vec<MatrixPoint> {
        let mut points = vec![MatrixPoint([AxisValue::Default; AXES])];
        for dimension in dimensions {
            let mut longer = Vec::with_capacity(points.len() * dimension.len);
            for point in points {
                longer.extend((0..dimension.len).map(|i| {
                    let mut point = point;
                    for axis in &dimension.axes {
                        let value = self.lists[axis.slot()].values.get(i).copied();
                        point.set(*axis, value.unwrap_or(AxisValue::Default));
                    }
                    point
                }));
            }
            points = longer;
        }
        points.into_iter().map(|point| self.resolved(point)).collect()
    }

    /// A closed loop without a cap has one slot, so that points which mean the same are the same.
    fn resolved(&self, mut point: MatrixPoint) -> MatrixPoint {
        let cap = self.rules.cap(point.rate(), point.small(Axis::MaxConcurrency));
        point.set(Axis::MaxConcurrency, cap.map_or(AxisValue::Default, |cap| AxisValue::Number(cap.into())));
        point
    }

    fn exclude(&self, points: &mut Vec<MatrixPoint>, problems: &mut Vec<Problem>) {
        for (number, written) in self.scenario.matrix.exclude.iter().enumerate() {
            let at = KeyPath::from("matrix.exclude").index(number);
            let Some(pattern) = self.pattern(written, &at, problems) else { continue };
            if pattern.iter().all(Option::is_none) {
                problems.push(Problem::value(at, "an empty table would exclude every point"));
                continue;
            }
            let before = points.len();
            points.retain(|point| !self.matches(point, &pattern));
            if points.len() == before {
                problems.push(Problem::value(at, "no point of the matrix matches this table"));
            }
        }
    }

    fn matches(&self, point: &MatrixPoint, pattern: &[Option<AxisValue>; AXES]) -> bool {
        RUN_ORDER.into_iter().all(|axis| {
            pattern[axis.slot()].is_none_or(|wanted| match (axis, point.get(axis)) {
                (Axis::Requests, AxisValue::Default) => {
                    self.rules.requests(point.small(Axis::MaxConcurrency)) == wanted.number()
                }
                (_, value) => value == wanted,
            })
        })
    }

    /// A table's values per axis; `None` when a name in it does not exist.
    fn pattern(
        &self,
        written: &AxisPoint,
        at: &KeyPath,
        problems: &mut Vec<Problem>,
    ) -> Option<[Option<AxisValue>; AXES]> {
        let before = problems.len();
        let number = |value: Option<u32>| value.map(|value| AxisValue::Number(value.into()));
        let pattern = RUN_ORDER.map(|axis| {
            let at = at.key(axis.key());
            let value = match axis {
                Axis::Variant => written.variant.as_ref().and_then(|name| self.name(axis, name, &at, problems)),
                Axis::Dataset => written.dataset.as_ref().and_then(|name| self.name(axis, name, &at, problems)),
                Axis::Size => written.size.map(AxisValue::Size),
                Axis::NumInferenceSteps => number(written.num_inference_steps),
                Axis::NumFrames => number(written.num_frames),
                Axis::RequestRate => written.request_rate.map(AxisValue::Rate),
                Axis::MaxConcurrency => number(written.max_concurrency),
                Axis::Requests => written.requests.map(AxisValue::Number),
                Axis::Seed => written.seed.map(AxisValue::Number),
            };
            if let Some(value) = value {
                Self::check(axis, value, &at, problems);
            }
            value
        });
        (problems.len() == before).then_some(pattern)
    }

    /// How many points an `include` table makes: one for each variant and dataset it does not name.
    fn included_len(&self, written: &AxisPoint) -> u128 {
        let len = |axis: Axis, named: bool| if named { 1 } else { self.lists[axis.slot()].values.len() as u128 };
        len(Axis::Variant, written.variant.is_some()) * len(Axis::Dataset, written.dataset.is_some())
    }

    /// Adds the points of `include`. An axis that a table does not name takes its only value; of
    /// several values, variant and dataset take all, any other axis what `[traffic]` says.
    fn include(&self, points: &mut Vec<MatrixPoint>, problems: &mut Vec<Problem>) {
        if self.scenario.matrix.include.is_empty() {
            return;
        }
        let mut origin: HashMap<PointKey, String> =
            points.iter().map(|point| (point.key(), "the matrix".to_owned())).collect();
        for (number, written) in self.scenario.matrix.include.iter().enumerate() {
            let at = KeyPath::from("matrix.include").index(number);
            let Some(pattern) = self.pattern(written, &at, problems) else { continue };
            let mut added = vec![MatrixPoint([AxisValue::Default; AXES])];
            for axis in RUN_ORDER {
                let list = &self.lists[axis.slot()].values;
                let values = match (pattern[axis.slot()], axis) {
                    (Some(value), _) => vec![value],
                    (None, Axis::Variant | Axis::Dataset) => list.clone(),
                    (None, _) if list.len() == 1 => list.clone(),
                    (None, _) => vec![self.default(axis)],
                };
                added = added
                    .into_iter()
                    .flat_map(|point| {
                        values.iter().map(move |value| {
                            let mut point = point;
                            point.set(axis, *value);
                            point
                        })
                    })
                    .collect();
            }
            for point in added.into_iter().map(|point| self.resolved(point)) {
                if let Some(earlier) = origin.insert(point.key(), format!("`{at}`")) {
                    let message = format!("this point is already in {earlier}: {}", self.describe(&point));
                    problems.push(Problem::value(at.clone(), message));
                } else {
                    points.push(point);
                }
            }
        }
    }

    fn describe(&self, point: &MatrixPoint) -> String {
        let told = RUN_ORDER
            .into_iter()
            .filter(|axis| point.get(*axis) != AxisValue::Default)
            .map(|axis| format!("{} {}", axis.key(), self.show(axis, point.get(axis))));
        format!("`{}`", told.collect::<Vec<_>>().join(", "))
    }

    /// Canonical order: by variant first and seed last, each in the order of its list; values that only
    /// `include` brings come after the list.
    fn sort(&self, points: &mut [MatrixPoint]) {
        let mut places: [HashMap<(u8, u64), usize>; AXES] = RUN_ORDER.map(|_| HashMap::new());
        let mut note = |axis: Axis, value: AxisValue| {
            let place = &mut places[axis.slot()];
            let next = place.len();
            place.entry(value.key()).or_insert(next);
        };
        for axis in RUN_ORDER {
            for value in &self.lists[axis.slot()].values {
                note(axis, *value);
            }
            for point in points.iter() {
                note(axis, point.get(axis));
            }
        }
        points.sort_by_cached_key(|point| {
            RUN_ORDER.map(|axis| places[axis.slot()].get(&point.get(axis).key()).copied().unwrap_or(usize::MAX))
        });
    }
}

/// The problem of a name that does not exist, with the nearest one that does.
pub(super) fn unknown(at: &KeyPath, kind: &str, name: &str, known: &[&str]) -> Problem {
    let problem = Problem::value(at.clone(), format!("there is no {kind} `{name}`"));
    match nearest(name, known.iter().copied()) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None if known.is_empty() => problem,
        None => {
            problem.hint(format!("there are `{}`", known.iter().take(20).copied().collect::<Vec<_>>().join("`, `")))
        }
    }
}
