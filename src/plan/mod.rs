//! What will be done: the matrix expanded, defaults resolved, everything checked against the
//! catalog, with ids, keys, seeds, arrivals and steps. Pure: no clock, no files, no network.
//! After this stage no `Option` means "use the default".

mod arrivals;
mod axes;
mod build;
mod compared;
mod draft;
mod endpoint;
mod ids;
mod keys;
mod limits;
mod matrix;
mod phases;
mod request_fields;
mod runs;
mod serve;
mod slurm;
mod steps;
mod traffic;
mod types;
mod verify;

pub use build::{Estimate, Hosting, PlanInput, check, plan};
pub use compared::ComparePlan;
pub use limits::{Limits, LineLength, Nesting, open_files};
pub use phases::{Phases, phases};
pub use serve::serve_flags;
pub use slurm::{SlurmPlan, slurm_plan};
pub use types::{
    Arrivals, Axis, EndpointPlan, PLAN_FORMAT, Plan, Point, PollPlan, ReadyPlan, RunPlan, ServerPlan, SloPlan,
    SloTarget, Step, TimeoutPlan, TrafficPlan, VariantPlan, WarmupPlan,
};
pub use verify::{Check, Wanted};
