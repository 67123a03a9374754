//! One run on a server that is ready: claim it, drive it, write how it ended.

use std::io;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::host::Host;
use super::{Campaign, CampaignError, RunOutcome};
use crate::execute::{Drive, DriveError, Driven, Target, drive};
use crate::plan::{RunPlan, VariantPlan};
use crate::record::{
    Claim, Claimed, ClaimedRun, ClientProbe, Look, Lost, MANIFEST_FORMAT, RunDir, RunManifest, RunState, STALE_AFTER,
    write_json,
};
use crate::server::Watch;

/// How often the heartbeat of a claim in doubt is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Why a run was left alone after a stop.
const NOT_STARTED: &str = "stopped by the user before it was started";

impl Campaign<'_> {
    /// Drives a run, the `number`-th of `of`, from its claim to its manifest.
    pub(super) async fn carry_out(
        &self,
        run: &RunPlan,
        variant: &VariantPlan,
        host: &mut Host,
        client: Option<ClientProbe>,
        (number, of): (usize, usize),
    ) -> Result<RunOutcome, CampaignError> {
        if self.stop.is_requested() {
            return Ok(RunOutcome::NotRun(NOT_STARTED.into()));
        }
        let dir = self.dir.run(&run.id);
        let claimed = match self.claim(run, &dir, RunManifest { client, ..self.manifest(run, variant, host) }).await? {
            Ok(claimed) => claimed,
            Err(outcome) => return Ok(outcome),
        };
        self.settle_earlier_attempt(run, &claimed, host).await?;
        let speed = host.simulated.unwrap_or(1.0);
        let secrets = self.secrets.get(&variant.name).cloned().unwrap_or_default();
        let target = Target { url: host.url.clone(), model: host.model.clone(), speed, secrets };
        let phases = (self.phases)(run);
        if let Some(example) = (self.example)(variant, &phases, &host.model) {
            write_json(&dir.request(), &self.redactor(variant).value(example))?;
        }
        self.progress.run_started(&run.id, number, of);
        let watch = host.telemetry.watch(&run.id, speed);
        let watch = watch.inspect_err(|error| self.note(&format!("`{}` has no telemetry: {error}", run.id))).ok();
        let on_start = |origin| watch.iter().for_each(|watch| watch.begins(origin));
        let to_drive = |stop| Drive {
            plan: self.plan,
            run,
            endpoint: &variant.endpoint,
            phases,
            target: &target,
            dir: &dir,
            save_media: self.save_media,
            stop,
            progress: self.progress,
            on_start: &on_start,
        };
        let (driven, lost) = self.drive_watched(host, &claimed, |stop| drive(to_drive(stop))).await;
        self.progress.run_ended();
        for note in watched(watch).await {
            self.note(&note);
        }
        host.lost.clone_from(&lost);
        match claimed.lost() {
            None => self.close(run, &dir, claimed.manifest.clone(), driven, lost),
            Some(Lost::To(by)) => Ok(RunOutcome::NotRun(format!("it was taken over; {}", taken(Some(&by))))),
            Some(Lost::Removed) => {
                let text = format!("the folder `{}` was removed while its run was at work", dir.path().display());
                Err(io::Error::new(io::ErrorKind::NotFound, text).into())
            }
        }
    }

    /// Claims a run, after watching whoever may be at it; the inner error is what it is if not ours.
    async fn claim(
        &self,
        run: &RunPlan,
        dir: &RunDir,
        manifest: RunManifest,
    ) -> io::Result<Result<Box<ClaimedRun>, RunOutcome>> {
        let mut claimed = dir.claim(manifest.clone())?;
        if let Claimed::Doubtful(mut vigil) = claimed {
            let (id, by, seconds) = (&run.id, holder(vigil.claim.as_ref()), STALE_AFTER.as_secs());
            self.note(&format!(
                "`{id}` is claimed by {by}; if it gives no sign of life within {seconds} s, it is over"
            ));
            loop {
                match vigil.look(Instant::now()) {
                    Look::Alive => return Ok(Err(RunOutcome::NotRun(taken(vigil.claim.as_ref())))),
                    Look::Stale => break,
                    Look::Unknown => {}
                }
                tokio::select! {
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                    () = self.stop.stopped() => {
                        return Ok(Err(RunOutcome::NotRun(NOT_STARTED.into())));
                    }
                }
            }
            claimed = dir.claim_stale(manifest, &vigil)?;
        }
        Ok(match claimed {
            Claimed::Ours(claimed) => Ok(claimed),
            Claimed::Complete => Err(RunOutcome::Already),
            Claimed::Taken(by) => Err(RunOutcome::NotRun(taken(by.as_ref()))),
            Claimed::Doubtful(vigil) => Err(RunOutcome::NotRun(taken(vigil.claim.as_ref()))),
        })
    }

    /// Writes how the run ended and lets others look at its files.
    fn close(
        &self,
        run: &RunPlan,
        dir: &RunDir,
        mut manifest: RunManifest,
        driven: Result<Driven, DriveError>,
        lost: Option<String>,
    ) -> Result<RunOutcome, CampaignError> {
        let text = |time: Option<Timestamp>| time.map(|time| time.to_string());
        manifest.ended_at = Some((self.now)().to_string());
        let outcome = match driven {
            Ok(driven) => {
                manifest.started_at = text(driven.started_at);
                manifest.ended_at = text(driven.ended_at).or(manifest.ended_at);
                match lost {
                    Some(how) => RunOutcome::Failed(how),
                    None if driven.interrupted => RunOutcome::Interrupted,
                    None => RunOutcome::Complete(driven.counts),
                }
            }
            Err(DriveError::Io(error)) => {
                (manifest.state, manifest.reason) = (RunState::Failed, Some(format!("results were lost: {error}")));
                // a disk that is full may have no room for this either
                drop(dir.write_manifest(&manifest));
                return Err(error.into());
            }
            // the server's end says more than the request that met it
            Err(_) if lost.is_some() => RunOutcome::Failed(lost.unwrap_or_default()),
            // whoever stops during the warm-up has not seen it fail
            Err(_) if self.stop.is_requested() => RunOutcome::Interrupted,
            Err(error) => RunOutcome::Failed(error.to_string()),
        };
        (manifest.state, manifest.reason) = match &outcome {
            RunOutcome::Failed(why) => (RunState::Failed, Some(why.clone())),
            RunOutcome::Interrupted => (RunState::Interrupted, Some("stopped by the user".into())),
            RunOutcome::Complete(_) | RunOutcome::Already | RunOutcome::NotRun(_) | RunOutcome::NotSelected => {
                (RunState::Complete, None)
            }
        };
        dir.write_manifest(&manifest)?;
        (self.on_run_end)(run)?;
        Ok(outcome)
    }

    fn manifest(&self, run: &RunPlan, variant: &VariantPlan, host: &Host) -> RunManifest {
        RunManifest {
            format: MANIFEST_FORMAT,
            id: run.id.clone(),
            key: run.key.clone(),
            plan_hash: self.plan.plan_hash.clone(),
            state: RunState::Running,
            reason: None,
            attempt: 1,
            claim: self.own_claim(),
            started_at: None,
            ended_at: None,
            server: host.facts.clone(),
            model: self.redactor(variant).text(&host.model),
            simulated: host.simulated.is_some(),
            speed: host.simulated.unwrap_or(1.0),
            client: None,
        }
    }

    pub(super) fn own_claim(&self) -> Claim {
        Claim { host: self.host.into(), pid: std::process::id(), at: (self.now)().to_string() }
    }
}

/// Ends the look at the server; what is worth a note.
async fn watched(watch: Option<Watch>) -> Vec<String> {
    match watch {
        Some(watch) => watch.ends().await,
        None => Vec::new(),
    }
}

fn taken(by: Option<&Claim>) -> String {
    by.map_or_else(
        || "another omni-bench is at it".into(),
        |claim| format!("another omni-bench is at it: {} since {}", holder(Some(claim)), claim.at),
    )
}

fn holder(by: Option<&Claim>) -> String {
    by.map_or_else(|| "another omni-bench".into(), |claim| format!("process {} on `{}`", claim.pid, claim.host))
}
