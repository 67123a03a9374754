//! A summary's numbers by the names that tables, comparisons and gates use.

use indexmap::IndexMap;
use serde_json::Value;

use super::types::Summary;

impl Summary {
    /// Every number of the summary by its path in `results.json`, dots between levels, in the file's
    /// order; what is null is left out.
    pub fn figures(&self) -> IndexMap<String, f64> {
        let mut figures = IndexMap::new();
        if let Ok(value) = serde_json::to_value(self) {
            collect(&value, "", &mut figures);
        }
        figures
    }

    /// The number at a path like `latency_s.p99`; `None` when it is null or there is no such number.
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.figures().get(name).copied()
    }
}

fn collect(value: &Value, path: &str, figures: &mut IndexMap<String, f64>) {
    match value {
        Value::Number(number) => {
            figures.extend(number.as_f64().map(|number| (path.to_owned(), number)));
        }
        Value::Object(map) => {
            for (key, value) in map {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                collect(value, &path, figures);
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) => {}
    }
}
