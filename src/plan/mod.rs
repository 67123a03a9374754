//! What will be done: the matrix expanded, defaults resolved, everything checked against the
//! catalog, with ids, keys, seeds, arrivals and steps. Pure: no clock, no files, no network.
//! After this stage no `Option` means "use the default".

mod types;

pub use types::{
    Arrivals, Axis, EndpointPlan, PLAN_FORMAT, Plan, Point, PollPlan, ReadyPlan, RunPlan, ServerPlan, SloPlan,
    SloTarget, Step, TimeoutPlan, TrafficPlan, VariantPlan, WarmupPlan,
};
