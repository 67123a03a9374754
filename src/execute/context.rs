//! What every worker of a phase shares; nothing in it changes while the phase runs.

use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::catalog::Api;
use crate::endpoint::{SaveMedia, Wire};
use crate::plan::{PollPlan, TimeoutPlan};
use crate::record::{RequestError, Status};
use crate::units::SafeName;
use crate::workload::Request;

use super::attempt::Bounds;
use super::client::Client;
use super::clock::Clock;
use super::fault::Fault;
use super::inspect::Inspector;
use super::phase::PhaseKind;
use super::secrets::Secrets;
use super::stop::Stop;
use super::writer::{Lines, Written};

/// What the workers of a run share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) client: Client,
    pub(crate) wire: Wire,
    /// How much faster than modelled time the wall's passes.
    pub(crate) speed: f64,
    pub(crate) timeout: TimeoutPlan,
    pub(crate) poll: PollPlan,
    /// Where outputs of measured requests are kept.
    pub(crate) media: Option<PathBuf>,
    /// Fixed target of requests whose row has none.
    pub(crate) slo_ms: Option<f64>,
    pub(crate) secrets: Secrets,
    pub(crate) lines: Lines,
    /// Full validation, when it is asked for.
    pub(crate) inspector: Option<Inspector>,
}

/// A request no longer needs its slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SlotFree {
    /// When.
    pub(crate) at_us: u64,
    /// How the request ended.
    pub(crate) end: Ended,
}

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) status: Status,
    pub(crate) error: Option<RequestError>,
}

/// What the workers of a phase share.
pub(crate) struct Context {
    pub(crate) shared: Shared,
    pub(crate) kind: PhaseKind,
    pub(crate) clock: Clock,
    /// The phase's own stop, raised by the user's or by a failure that ends the phase.
    pub(crate) halt: Stop,
    pub(crate) slots: mpsc::UnboundedSender<SlotFree>,
    /// Where the writer tells how requests whose records are in their file ended.
    pub(crate) written: Written,
}

impl Context {
    /// Whether requests are jobs that are created, polled, fetched and deleted.
    pub(crate) fn makes_jobs(&self) -> bool {
        self.shared.wire.api == Api::Videos && !self.shared.wire.sync_video
    }

    /// Bounds of every exchange.
    pub(crate) fn bounds(&self) -> Bounds {
        Bounds { limit: self.shared.timeout.request.duration(), until: None }
    }

    /// The index that a job's line carries.
    pub(crate) fn job_index(&self, request: &Request) -> Option<usize> {
        (self.kind == PhaseKind::Measured).then_some(request.index)
    }

    /// Full validation of measured requests.
    pub(crate) fn inspector(&self) -> Option<&Inspector> {
        self.shared.inspector.as_ref().filter(|_| self.kind == PhaseKind::Measured)
    }

    /// Where the request's outputs are kept, if anywhere. Ids that datasets give become safe names with
    /// the request's number behind, so that no two requests share a file.
    pub(crate) fn save(&self, request: &Request) -> Option<SaveMedia> {
        let folder = self.shared.media.clone().filter(|_| self.kind == PhaseKind::Measured)?;
        Some(SaveMedia { folder, stem: stem(&request.request_id, request.index) })
    }

    /// Waits for modelled time to pass; a stop of the phase ends the wait as a fault.
    pub(crate) async fn pause(&self, modelled: Duration) -> Result<(), Fault> {
        self.unless_stopped(async {
            tokio::time::sleep(self.clock.wall(modelled)).await;
            Ok(())
        })
        .await
    }

    /// Runs `work` until it ends or the phase is stopped; what is dropped is cancelled.
    pub(crate) async fn unless_stopped<T>(&self, work: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        tokio::select! {
            biased;
            () = self.halt.stopped() => Err(Fault::cancelled("the run was stopped before the request ended")),
            result = work => result,
        }
    }

    /// Runs `work` until it ends, or for `bound` on the wall after the phase is stopped.
    pub(crate) async fn bounded_after_stop<T>(&self, bound: Duration, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            result = work => Some(result),
            () = async { self.halt.stopped().await; tokio::time::sleep(bound).await } => None,
        }
    }
}

fn stem(request_id: &str, index: usize) -> String {
    let number = index + 1;
    if request_id == format!("req-{number:04}") {
        return format!("req_{number:04}");
    }
    format!("{}_{number:04}", SafeName::lossy(request_id).as_str().replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Case C29.
    #[test]
    fn file_names_are_safe_and_no_two_requests_share_one() {
        let ids = ["req-0001", "../../etc/x", "a-b", "a_b", "a/b:c", "", "req-0002", "\n"];
        let stems: Vec<String> = ids.iter().enumerate().map(|(index, id)| stem(id, index)).collect();
        assert_eq!(
            stems,
            ["req_0001", "_._.._etc_x_0002", "a_b_0003", "a_b_0004", "a_b_c_0005", "__0006", "req_0002_0007", "__0008"]
        );
        assert!(stems.iter().all(|stem| stem.parse::<SafeName>().is_ok()));
    }
}
