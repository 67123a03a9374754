//! `results.json`.

use crate::summarize::Results;

/// The results as pretty JSON with a final line break; numbers that are not finite become null.
pub fn json(results: &Results) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(results).map(|text| text + "\n")
}
