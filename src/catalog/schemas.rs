//! The JSON Schemas of the formats that others read and write, as they are in the repository's `schemas`. A test
//! generates them from the types and compares; that the tool itself does not makes it smaller and quicker to start.

/// A scenario file.
pub const SCENARIO: &str = include_str!("../../schemas/scenario.schema.json");
/// A line of `records.jsonl`.
pub const RECORD: &str = include_str!("../../schemas/record.schema.json");
/// `results.json`.
pub const SUMMARY: &str = include_str!("../../schemas/summary.schema.json");
/// What `report --format json` prints of one table.
pub const TABLE: &str = include_str!("../../schemas/table.schema.json");
/// What `report --format json` prints of several folders.
pub const FOLDERS: &str = include_str!("../../schemas/folders.schema.json");
/// `history trend --format json`.
pub const TREND: &str = include_str!("../../schemas/trend.schema.json");
/// A baseline file.
pub const BASELINE: &str = include_str!("../../schemas/baseline.schema.json");
/// What `gate --format json` prints.
pub const VERDICT: &str = include_str!("../../schemas/verdict.schema.json");
/// What `compare --format json` prints.
pub const COMPARISON: &str = include_str!("../../schemas/comparison.schema.json");
/// What `status --format json` prints.
pub const STATUS: &str = include_str!("../../schemas/status.schema.json");
