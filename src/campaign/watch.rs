//! Driving a run and watching the server meanwhile: when it ends by itself the run ends too, and not
//! by failing one request after the other. The run's claim gives its signs of life beside it.

use std::time::Duration;

use tokio::time::timeout;

use super::Campaign;
use super::host::Host;
use crate::execute::{DriveError, Driven, Stop};
use crate::record::{BEAT_EVERY, ClaimedRun};

/// A process that has closed its connections can take this long to be gone.
const HINDSIGHT: Duration = Duration::from_secs(5);

impl Campaign<'_> {
    /// Drives a run under a stop signal of its own, which follows the user's, the server's death and
    /// the loss of the claim.
    /// The second value is how the server ended, when it did.
    pub(super) async fn drive_watched<F>(
        &self,
        host: &mut Host,
        claimed: &ClaimedRun,
        drive: impl FnOnce(Stop) -> F,
    ) -> (Result<Driven, DriveError>, Option<String>)
    where
        F: Future<Output = Result<Driven, DriveError>>,
    {
        let halt = Stop::new();
        let mut driving = std::pin::pin!(drive(halt.clone()));
        let mut beats = tokio::time::interval(BEAT_EVERY);
        let (mut stopped, mut abandoned, mut lost) = (false, false, None);
        let driven = loop {
            tokio::select! {
                // a stop that is there already must be known before the first request
                biased;
                () = self.stop.abandoned(), if !abandoned => {
                    abandoned = true;
                    halt.now();
                }
                () = self.stop.stopped(), if !stopped => {
                    stopped = true;
                    halt.request();
                }
                driven = &mut driving => break driven,
                how = host.origin.death(), if lost.is_none() => {
                    lost = Some(how);
                    halt.request();
                }
                _ = beats.tick(), if !halt.is_requested() => {
                    if claimed.beat().is_some() {
                        halt.request();
                    }
                }
            }
        };
        if driven.as_ref().is_ok_and(|driven| driven.counts.ok == driven.counts.total()) {
            // nothing is missing; that the server is gone is the next run's concern
            lost = None;
        } else if lost.is_none() && !self.stop.is_requested() && went_wrong(&driven) {
            lost = died_meanwhile(host).await;
        }
        (driven, lost)
    }
}

fn went_wrong(driven: &Result<Driven, DriveError>) -> bool {
    match driven {
        Ok(driven) => driven.counts.failed > 0,
        Err(DriveError::Warmup(_) | DriveError::Calibration(_)) => true,
        Err(DriveError::Encode(_) | DriveError::Io(_) | DriveError::Client(_)) => false,
    }
}

/// How the server ended, when it no longer answers and its process is about to be gone.
async fn died_meanwhile(host: &mut Host) -> Option<String> {
    let how = host.origin.died();
    if how.is_some() || host.origin.log().is_none() || host.probe.get(&host.ready_path).await.is_ok() {
        return how;
    }
    timeout(HINDSIGHT, host.origin.death()).await.ok()
}
