//! On what hardware something was measured: one answer for comparing, gating and the history. What is
//! declared counts; what was detected fills what is not.

use indexmap::IndexMap;
use serde_json::Value;

use crate::plan::VariantPlan;
use crate::record::{Machine, fact_of};

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

/// What the driver told of facts that nobody declared, by the names that people use.
pub(super) fn filled(environment: &IndexMap<String, Value>, machine: Option<&Machine>) -> Vec<(&'static str, String)> {
    let declared = |fact: &str| environment.keys().any(|key| fact_of(key) == Some(fact));
    let facts = machine.map(|machine| [("driver", machine.driver.clone()), ("cuda", machine.cuda.clone())]);
    let undeclared = facts.into_iter().flatten().filter(|(fact, _)| !declared(fact));
    undeclared.filter_map(|(fact, value)| Some((fact, value?))).collect()
}

/// The hardware of a line of the history: count and name of the accelerators. For a simulated run it is
/// the simulator, because what is declared says what the scenario is for, not what answered.
pub(super) fn of_line(variant: Option<&VariantPlan>, machine: Option<&Machine>, simulated: bool, speed: f64) -> String {
    if simulated {
        return format!("a simulator at {speed}× speed");
    }
    let declared = variant.and_then(|variant| accelerator(&variant.environment)).map(|(_, name)| name);
    let name = declared.or_else(|| machine.and_then(Machine::gpu_model));
    variant.zip(name).map_or_else(|| UNKNOWN.to_owned(), |(variant, name)| format!("{} × {name}", variant.gpus))
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
        assert_eq!(of_line(None, None, false, 1.0), "unknown");
        assert_eq!(of_line(None, None, true, 20.0), "a simulator at 20× speed");
    }
}
