//! On what hardware something was measured, as declared: one answer for comparing, gating and the history.

use indexmap::IndexMap;
use serde_json::Value;

use crate::plan::VariantPlan;

/// Names by which people declare an accelerator; the first that holds a name counts.
const ACCELERATORS: [&str; 4] = ["gpu", "gpus", "accelerator", "npu"];
/// Hardware that nobody told.
const UNKNOWN: &str = "unknown";

/// The declared accelerator: the key that tells it, and its name with single blanks. `None` when no key does.
pub(super) fn accelerator(environment: &IndexMap<String, Value>) -> Option<(&'static str, String)> {
    ACCELERATORS.into_iter().find_map(|key| {
        let name = environment.get(key)?.as_str()?.split_whitespace().collect::<Vec<_>>().join(" ");
        (!name.is_empty()).then_some((key, name))
    })
}

/// The hardware of a line of the history: count and name of the accelerators. For a simulated run it is
/// the simulator, because what is declared says what the scenario is for, not what answered.
pub(super) fn of_line(variant: Option<&VariantPlan>, simulated: bool, speed: f64) -> String {
    if simulated {
        return format!("a simulator at {speed}× speed");
    }
    let declared = variant.and_then(|variant| Some((variant.gpus, accelerator(&variant.environment)?)));
    declared.map_or_else(|| UNKNOWN.to_owned(), |(gpus, (_, name))| format!("{gpus} × {name}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(environment: &Value) -> Option<(&'static str, String)> {
        accelerator(&serde_json::from_value(environment.clone()).unwrap())
    }

    #[test]
    fn the_first_key_with_a_name_counts() {
        assert_eq!(told(&json!({ "npu": "A3", "gpu": " NVIDIA  H100 " })), Some(("gpu", "NVIDIA H100".to_owned())));
        assert_eq!(told(&json!({ "gpus": 4, "accelerator": "MI300X" })), Some(("accelerator", "MI300X".to_owned())));
        assert_eq!(told(&json!({ "gpu": " ", "driver": "570" })), None);
    }

    #[test]
    fn nobody_is_taken_for_known_hardware() {
        assert_eq!(of_line(None, false, 1.0), "unknown");
        assert_eq!(of_line(None, true, 20.0), "a simulator at 20× speed");
    }
}
