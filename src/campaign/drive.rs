//! One run on a server that is ready: claim it, drive it, write how it ended.

use jiff::Timestamp;

use super::host::Host;
use super::{Campaign, CampaignError, RunOutcome};
use crate::execute::{Drive, DriveError, Driven, Target, drive};
use crate::plan::{RunPlan, VariantPlan};
use crate::record::{
    Claim, Claimed, ClaimedRun, ClientProbe, MANIFEST_FORMAT, RunDir, RunManifest, RunState, write_json,
};
use crate::server::Watch;

impl Campaign<'_> {
    /// Drives a run, the `number`-th of `of`, from its claim to its manifest.
    pub(super) async fn carry_out(
        &self,
        run: &RunPlan,
        variant: &VariantPlan,
        host: &Host,
        client: Option<ClientProbe>,
        (number, of): (usize, usize),
    ) -> Result<RunOutcome, CampaignError> {
        let dir = self.dir.run(&run.id);
        let claimed = match dir.claim(RunManifest { client, ..self.manifest(run, host) })? {
            Claimed::Ours(claimed) => claimed,
            Claimed::Taken(by) => return Ok(RunOutcome::NotRun(taken(by.as_ref()))),
        };
        self.settle_earlier_attempt(run, &claimed, host).await;
        let speed = host.simulated.unwrap_or(1.0);
        let secrets = self.secrets.get(&variant.name).cloned().unwrap_or_default();
        let target = Target { url: host.url.clone(), model: host.model.clone(), speed, secrets };
        let phases = (self.phases)(run);
        if let Some(example) = (self.example)(variant, &phases, &host.model) {
            write_json(&dir.request(), &example)?;
        }
        self.progress.run_started(&run.id, number, of);
        let watch = host.telemetry.watch(&run.id, speed);
        let watch = watch.inspect_err(|error| self.note(&format!("`{}` has no telemetry: {error}", run.id))).ok();
        let driven = drive(Drive {
            plan: self.plan,
            run,
            endpoint: &variant.endpoint,
            phases,
            target: &target,
            dir: &dir,
            save_media: self.save_media,
            stop: self.stop.clone(),
            progress: self.progress,
            on_start: &|origin| watch.iter().for_each(|watch| watch.begins(origin)),
        })
        .await;
        self.progress.run_ended();
        for note in watched(watch).await {
            self.note(&note);
        }
        self.close(run, &dir, claimed.manifest.clone(), driven)
    }

    /// Writes how the run ended and lets others look at its files.
    fn close(
        &self,
        run: &RunPlan,
        dir: &RunDir,
        mut manifest: RunManifest,
        driven: Result<Driven, DriveError>,
    ) -> Result<RunOutcome, CampaignError> {
        let text = |time: Option<Timestamp>| time.map(|time| time.to_string());
        manifest.ended_at = Some((self.now)().to_string());
        let outcome = match driven {
            Ok(driven) => {
                manifest.started_at = text(driven.started_at);
                manifest.ended_at = text(driven.ended_at).or(manifest.ended_at);
                if driven.interrupted { RunOutcome::Interrupted } else { RunOutcome::Complete(driven.counts) }
            }
            // whoever stops during the warm-up has not seen it fail
            Err(_) if self.stop.is_requested() => RunOutcome::Interrupted,
            Err(DriveError::Io(error)) => return Err(error.into()),
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

    fn manifest(&self, run: &RunPlan, host: &Host) -> RunManifest {
        RunManifest {
            format: MANIFEST_FORMAT,
            id: run.id.clone(),
            key: run.key.clone(),
            plan_hash: self.plan.plan_hash.clone(),
            state: RunState::Running,
            reason: None,
            attempt: 1,
            claim: Claim { host: self.host.into(), pid: std::process::id(), at: (self.now)().to_string() },
            started_at: None,
            ended_at: None,
            server: host.facts.clone(),
            model: host.model.clone(),
            simulated: host.simulated.is_some(),
            speed: host.simulated.unwrap_or(1.0),
            client: None,
        }
    }

    /// Says that there was one, and deletes the jobs it left on a server that is still the same.
    async fn settle_earlier_attempt(&self, run: &RunPlan, claimed: &ClaimedRun, host: &Host) {
        if let Some(number) = claimed.earlier {
            let kept = self.dir.run(&run.id).attempt(number);
            let (id, kept) = (&run.id, kept.path().display());
            self.note(&format!("`{id}` was left unfinished; it is repeated whole, the earlier attempt is `{kept}`"));
        }
        if !host.origin.outlives_campaigns() {
            return;
        }
        for path in claimed.orphans.iter().filter_map(|id| (self.job_path)(id)) {
            if let Err(why) = host.probe.delete(&path).await {
                self.note(&format!("a job of the earlier attempt may still be on the server: DELETE {path}: {why}"));
            }
        }
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
        |claim| format!("another omni-bench is at it: process {} on `{}` since {}", claim.pid, claim.host, claim.at),
    )
}
