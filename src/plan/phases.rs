//! A run's requests: warm-up, calibration, measured, and when the measured ones are due.

use super::arrivals::due_times;
use super::draft::gaps;
use super::runs::selection;
use super::types::{Plan, RunPlan, SloPlan, SloTarget};
use crate::workload::{Data, Extra, Request, Requests};

/// The requests of a run, phase by phase.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Phases {
    /// Before everything, at the run's warm-up concurrency; never counted.
    pub warmup: Vec<Request>,
    /// One after the other, after the warm-up; only for an SLO scale.
    pub calibration: Vec<Request>,
    /// What the run measures.
    pub measured: Requests,
    /// Seconds from the run's start, sorted, one per measured request; `None` in closed loop.
    pub due_s: Option<Vec<f64>>,
}

/// The requests of a run; empty when plan or data do not know its variant or dataset.
///
/// Warm-up requests go round the run's classes in order of first appearance, calibration requests too.
/// Their synthetic prompts and derived seeds come after those of the measured requests, so that no
/// cache of the server is filled with what is measured later.
pub fn phases(plan: &Plan, run: &RunPlan, data: &Data) -> Phases {
    let Some(variant) = plan.variant(&run.variant) else { return Phases::default() };
    let gaps = gaps(&variant.endpoint);
    let asked = selection(plan.task, &run.traffic, run.point);
    let measured = data.requests_with(&run.dataset, &asked, &gaps);
    let tally = data.tally(&run.dataset, &asked, &gaps);

    let rows: Vec<usize> =
        tally.classes.iter().map(|count| count.row).cycle().take(run.warmup.requests as usize).collect();
    let warm = crate::workload::Selection {
        num_inference_steps: run.warmup.num_inference_steps.or(asked.num_inference_steps),
        num_frames: run.warmup.num_frames.or(asked.num_frames),
        ..asked.clone()
    };
    let extra = Extra { prefix: "warmup", first: measured.len() };
    let warmup = data.extra_requests(&run.dataset, &warm, &gaps, &rows, extra);

    let rows: Vec<usize> = match plan.slo {
        Some(SloPlan { target: SloTarget::Scale { calibration, .. }, .. }) => {
            let classes: Vec<usize> =
                tally.classes.iter().filter(|count| count.untargeted).map(|count| count.row).collect();
            let all = classes.len() * calibration as usize;
            classes.into_iter().cycle().take(all).collect()
        }
        _ => Vec::new(),
    };
    let extra = Extra { prefix: "calibration", first: measured.len() + warmup.len() };
    let calibration = data.extra_requests(&run.dataset, &asked, &gaps, &rows, extra);
    let due_s = due_times(&run.traffic, &measured);
    Phases { warmup, calibration, measured, due_s }
}
