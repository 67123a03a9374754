//! How long a request takes, by the simulator's cost model of the variant's layout.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::plan::{VariantPlan, serve_flags};
use crate::scenario::Scenario;
use crate::simulator::{Settings, request_seconds};
use crate::workload::Class;

/// Estimates requests of a scenario's model; remembers the settings of each variant.
pub(super) struct Estimator {
    base: Settings,
    variants: RefCell<HashMap<String, Option<Settings>>>,
}

impl Estimator {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let base = Settings {
            model: scenario.model.id.clone().unwrap_or_default(),
            profile: scenario.simulator.profile.clone(),
            ..Settings::default()
        };
        Self { base, variants: RefCell::default() }
    }

    /// Seconds of one request alone on the variant's server; `None` for a shape that leaves something to
    /// the server, and for a variant that the simulator would not start.
    pub(super) fn seconds(&self, variant: &VariantPlan, class: &Class) -> Option<f64> {
        let shape = class.shape;
        let mut variants = self.variants.borrow_mut();
        let settings = variants.entry(variant.name.clone()).or_insert_with(|| {
            let mut settings = self.base.clone();
            settings.apply_serve_flags(&serve_flags(variant)).is_ok().then_some(settings)
        });
        let frames = shape.num_frames.unwrap_or(1);
        request_seconds(settings.as_ref()?, shape.width?, shape.height?, shape.num_inference_steps?, frames).ok()
    }
}
