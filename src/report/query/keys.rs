//! Which keys there are, and a query whose keys are known to be among them.

use serde_json::Value as Json;

use super::aggregate::Aggregate;
use super::filter::Filter;
use super::subject::Scope;
use crate::catalog::{DEGREES, MetricSpec, TableKind, Unit, metric, schemas};
use crate::diagnostic::nearest;
use crate::report::number::PLACES;
use crate::report::official::{SECONDS, degree_header};
use crate::report::table::Column;

/// Keys of words and axes, with their headings.
const WORDS: &[(&str, &str)] = &[
    ("folder", "Results"),
    ("scenario", "Scenario"),
    ("title", "Title"),
    ("model", "Model"),
    ("task", "Task"),
    ("plan_hash", "Plan"),
    ("tool_version", "omni-bench"),
    ("id", "Run"),
    ("key", "Key"),
    ("workload_key", "Workload Key"),
    ("config_key", "Config Key"),
    ("variant", "Variant"),
    ("variant_label", "Variant"),
    ("dataset", "Dataset"),
    ("dataset_label", "Dataset"),
    ("headline", "Headline"),
    ("validity", "Validity"),
    ("warnings", "Warnings"),
    ("reasons", "Reasons"),
    ("simulated", "Simulated"),
    ("kaplan_meier", "Kaplan–Meier"),
    ("throughput_comparable", "Throughput Comparable"),
    ("rtf.basis", "RTF Basis"),
    ("slo.basis", "SLO Basis"),
    ("started_at", "Started"),
    ("shape", "Shape"),
];

/// Axes and counts that are numbers without decimals, with their headings.
const COUNTS: &[(&str, &str)] = &[
    ("max_concurrency", "Max Concur."),
    ("request_rate", "Request Rate"),
    ("requests", "Requests"),
    ("size", "Size"),
    ("num_inference_steps", "Steps"),
    ("num_frames", "Frames"),
    ("prompt_chars", "Prompt Characters"),
    ("seed", "Seed"),
    ("repeat", "Repeat"),
    ("gpus", "GPUs"),
    ("completed", "OK"),
    ("failed", "Failed"),
    ("censored", "Censored"),
    ("cancelled", "Cancelled"),
    ("stage_ms.n", "Requests"),
    ("runs", "Runs"),
];

/// Numbers that tables make from those of `results.json`.
const DERIVED: &[(&str, Scope)] = &[("throughput_per_hour", Scope::Run), ("latency_per_step_s", Scope::Class)];

/// A list of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// `columns`.
    Columns,
    /// `where`.
    Where,
    /// `group_by`.
    GroupBy,
    /// `sort`.
    Sort,
}

impl List {
    /// As an option of `report`.
    pub const fn option(self) -> &'static str {
        match self {
            Self::Columns => "--columns",
            Self::Where => "--where",
            Self::GroupBy => "--group-by",
            Self::Sort => "--sort",
        }
    }

    /// As a key of a table in `[dashboard]`.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Columns => "columns",
            Self::Where => "where",
            Self::GroupBy => "group_by",
            Self::Sort => "sort",
        }
    }
}

/// An entry of a query that cannot be carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryError {
    /// The list.
    pub list: List,
    /// The entry, from 0.
    pub place: usize,
    /// What is wrong with it.
    pub message: String,
    /// What would be right.
    pub hint: Option<String>,
}

/// A table as someone wrote it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// Which rows and default columns.
    pub(crate) kind: TableKind,
    /// Columns; empty for those of the kind.
    pub(crate) columns: &'a [String],
    /// What must hold for a row.
    pub(crate) filters: &'a [String],
    /// Keys of which each combination gets one row; empty for a row each.
    pub(crate) group_by: &'a [String],
    /// Keys that give the order, `-` before one for the largest first.
    pub(crate) sort: &'a [String],
}

/// A table whose keys are known.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    pub(super) kind: TableKind,
    /// How a column sums up several runs, and its key.
    pub(super) columns: Vec<(Aggregate, String)>,
    pub(super) filters: Vec<Filter>,
    pub(super) group_by: Vec<String>,
    /// Key and whether the largest comes first.
    pub(super) sort: Vec<(String, bool)>,
}

impl Query {
    /// Reads what was written, or tells everything that is wrong with it.
    pub(crate) fn new(wanted: &Wanted<'_>) -> Result<Self, Vec<QueryError>> {
        let known = Known::of(Scope::of(wanted.kind));
        let mut errors = Vec::new();
        let mut query = Self {
            kind: wanted.kind,
            columns: Vec::new(),
            filters: Vec::new(),
            group_by: wanted.group_by.iter().map(|key| key.trim().to_owned()).collect(),
            sort: Vec::new(),
        };
        let mut wrong = |list, place, (message, hint)| errors.push(QueryError { list, place, message, hint });
        let grouped = !wanted.group_by.is_empty();
        for (place, text) in wanted.columns.iter().enumerate() {
            let (aggregate, key) = Aggregate::parse(text.trim());
            match known.check(key, grouped) {
                Ok(()) if aggregate.is_some() && !grouped => {
                    let message = format!("`{text}` sums up several runs, and nothing groups them");
                    wrong(List::Columns, place, (message, None));
                }
                Ok(()) => query.columns.push((aggregate.unwrap_or_default(), key.to_owned())),
                Err(error) => wrong(List::Columns, place, error),
            }
        }
        for (place, text) in wanted.filters.iter().enumerate() {
            match Filter::parse(text).and_then(|filter| known.check(&filter.key, false).map(|()| filter)) {
                Ok(filter) => query.filters.push(filter),
                Err(error) => wrong(List::Where, place, error),
            }
        }
        for (place, key) in query.group_by.iter().enumerate() {
            known.check(key, false).unwrap_or_else(|error| wrong(List::GroupBy, place, error));
        }
        for (place, text) in wanted.sort.iter().enumerate() {
            let text = text.trim();
            let (key, falling) = text.strip_prefix('-').map_or((text, false), |key| (key, true));
            match known.check(key, grouped) {
                Ok(()) => query.sort.push((key.to_owned(), falling)),
                Err(error) => wrong(List::Sort, place, error),
            }
        }
        if errors.is_empty() { Ok(query) } else { Err(errors) }
    }
}

/// What is wrong with a text, and a hint.
pub(super) type Fault = (String, Option<String>);

/// The keys of a scope.
struct Known {
    scope: Scope,
    fixed: Vec<String>,
    /// Before names that only the results have, such as those of stages.
    prefixes: Vec<String>,
}

impl Known {
    fn of(scope: Scope) -> Self {
        let mut known = Self { scope, fixed: Vec::new(), prefixes: vec!["environment.".to_owned()] };
        let words = WORDS.iter().chain(COUNTS).map(|(key, _)| *key).chain(DEGREES.iter().map(|degree| degree.key));
        known.fixed.extend(words.filter(|key| !matches!(*key, "runs" | "stage_ms.n")).map(str::to_owned));
        known.fixed.extend(DERIVED.iter().filter(|(_, of)| *of == scope).map(|(key, _)| (*key).to_owned()));
        match scope {
            Scope::Run => known.add_schema("Summary"),
            Scope::Class => {
                known.fixed.push("class".to_owned());
                known.add_schema("ClassSummary");
            }
            Scope::Stage => {
                let numbers = ["stage", "stage_ms.n", "stage_ms.mean", "stage_ms.p50", "stage_ms.p99"];
                known.fixed.extend(numbers.map(str::to_owned));
            }
        }
        known
    }

    /// Adds the numbers of a definition of the results' schema.
    fn add_schema(&mut self, definition: &str) {
        let root: Json = serde_json::from_str(schemas::SUMMARY).unwrap_or_default();
        let part = root.pointer(&format!("/$defs/{definition}")).unwrap_or(&Json::Null);
        self.walk(&root, part, "");
    }

    /// Adds the path of every number below this part of the schema.
    fn walk(&mut self, root: &Json, schema: &Json, path: &str) {
        if let Some(target) = schema.get("$ref").and_then(Json::as_str) {
            let target = root.pointer(target.trim_start_matches('#')).unwrap_or(&Json::Null);
            return self.walk(root, target, path);
        }
        for choice in schema.get("anyOf").and_then(Json::as_array).into_iter().flatten() {
            self.walk(root, choice, path);
        }
        for (key, inner) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
            self.walk(root, inner, &if path.is_empty() { key.clone() } else { format!("{path}.{key}") });
        }
        if schema.get("additionalProperties").is_some_and(Json::is_object) {
            self.prefixes.push(format!("{path}."));
        }
        let is_number = |kind: &Json| matches!(kind.as_str(), Some("number" | "integer"));
        let kind = schema.get("type").unwrap_or(&Json::Null);
        let number = is_number(kind) || kind.as_array().is_some_and(|kinds| kinds.iter().any(is_number));
        if number && !self.fixed.iter().any(|key| key == path) {
            self.fixed.push(path.to_owned());
        }
    }

    /// Whether there can be such a key; `runs` is one where rows are groups of runs.
    fn check(&self, key: &str, grouped: bool) -> Result<(), Fault> {
        let dynamic = self.prefixes.iter().any(|prefix| key.len() > prefix.len() && key.starts_with(prefix.as_str()));
        if dynamic || (grouped && key == "runs") || self.fixed.iter().any(|known| known == key) {
            return Ok(());
        }
        let rows = match self.scope {
            Scope::Run => "runs",
            Scope::Class => "classes",
            Scope::Stage => "stages",
        };
        Err(unknown(&format!("no key of {rows} is called `{key}`"), key, self.fixed.iter().map(String::as_str)))
    }
}

/// The fault of a key that is not there, with the nearest that are.
pub(super) fn unknown<'a>(message: &str, key: &str, keys: impl Iterator<Item = &'a str>) -> Fault {
    let mut left: Vec<&str> = keys.collect();
    let mut near = Vec::new();
    while near.len() < 3
        && let Some(found) = nearest(key, left.iter().copied())
    {
        left.retain(|other| *other != found);
        near.push(format!("`{found}`"));
    }
    let hint = (!near.is_empty()).then(|| format!("did you mean {}?", near.join(", ")));
    (message.to_owned(), hint)
}

/// Whether the key is of something measured, and not of what was asked or who answered.
pub(super) fn is_figure(key: &str) -> bool {
    let measured = ["completed", "failed", "censored", "cancelled", "stage_ms.n"];
    let asked = |list: &[(&str, &str)]| list.iter().any(|(name, _)| *name == key);
    let named = key.starts_with("environment.") || matches!(key, "class" | "stage");
    measured.contains(&key) || !(asked(WORDS) || asked(COUNTS) || named || DEGREES.iter().any(|spec| spec.key == key))
}

/// The column of a key, as it looks when nobody says otherwise.
pub(crate) fn column(key: &str) -> Column {
    let heading = |list: &[(&str, &'static str)]| list.iter().find(|(name, _)| *name == key).map(|(_, text)| *text);
    if let Some(text) = heading(WORDS) {
        return Column::text(key, text);
    }
    if let Some(text) = heading(COUNTS) {
        let column = Column::number(key, text, 0);
        return if key == "request_rate" { column.unit("1/s") } else { column };
    }
    if DEGREES.iter().any(|degree| degree.key == key) {
        return Column::number(key, degree_header(key), 0);
    }
    match key {
        "class" => Column::text(key, "Class"),
        "stage" => Column::text(key, "Stage"),
        "stage_ms.mean" => Column::number(key, "Mean", 1).unit("ms"),
        "stage_ms.p50" => Column::number(key, "P50", 1).unit("ms"),
        "stage_ms.p99" => Column::number(key, "P99", 1).unit("ms"),
        "throughput_per_hour" => Column::number(key, "Throughput", 2).unit("1/h"),
        "latency_per_step_s" => Column::number(key, "Mean per Step", SECONDS).unit("s"),
        other => match (metric(other), other.strip_prefix("environment.")) {
            (Some(spec), _) => measured(spec),
            (None, Some(fact)) => Column::text(key, fact),
            // a path says its unit itself
            (None, None) => Column::number(key, key, PLACES),
        },
    }
}

fn measured(spec: &MetricSpec) -> Column {
    let column = |places, unit| Column::number(spec.name, spec.label, places).unit(unit);
    match spec.unit {
        Unit::Seconds => column(SECONDS, "s"),
        Unit::Milliseconds => column(1, "ms"),
        Unit::PerSecond => column(PLACES, "1/s"),
        Unit::PerHourPerGpu => column(2, "1/h/GPU"),
        Unit::Megabytes => column(0, "MB"),
        Unit::Pixels => column(0, "px"),
        Unit::Count => Column::number(spec.name, spec.label, 0),
        Unit::Fraction | Unit::Ratio => Column::number(spec.name, spec.label, PLACES),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(kind: TableKind, columns: &[&str]) -> Vec<QueryError> {
        let columns: Vec<String> = columns.iter().map(|key| (*key).to_owned()).collect();
        Query::new(&Wanted { kind, columns: &columns, filters: &[], group_by: &[], sort: &[] })
            .err()
            .unwrap_or_default()
    }

    #[test]
    fn every_numeric_path_of_a_summary_is_a_key() {
        let keys = [
            "latency_s.p95",
            "slo.attainment",
            "peak_memory_mb.max",
            "job_phases_s.wait.p90",
            "client.max_rate_per_s",
            "percentiles.p99.low",
            "stage_ms.vae.decode.mean",
            "classes.512x512-s20.latency_s.mean",
            "environment.gpu",
            "vae_patch",
            "throughput_per_hour",
        ];
        assert_eq!(errors(TableKind::Results, &keys), []);
    }

    #[test]
    fn an_unknown_key_is_told_with_the_nearest() {
        let found = errors(TableKind::Results, &["id", "latency.p95", "completd"]);
        assert_eq!(found.iter().map(|error| error.place).collect::<Vec<_>>(), [1, 2]);
        assert!(found[0].hint.as_ref().is_some_and(|hint| hint.contains("`latency_s.p95`")), "{found:?}");
        assert!(found[1].hint.as_ref().is_some_and(|hint| hint.contains("`completed`")), "{found:?}");
    }

    #[test]
    fn a_row_of_a_class_has_no_figures_of_its_run() {
        assert_eq!(errors(TableKind::Classes, &["class", "variant", "latency_s.p99"]), []);
        assert_eq!(errors(TableKind::Classes, &["throughput_per_s"]).len(), 1);
        assert_eq!(errors(TableKind::Stages, &["stage", "latency_s.p99"]).len(), 1);
        assert_eq!(errors(TableKind::Results, &["class"]).len(), 1);
    }

    #[test]
    fn an_aggregate_needs_a_group() {
        assert!(errors(TableKind::Results, &["max:latency_s.p99"])[0].message.contains("nothing groups"));
    }
}
