//! The walk over the plan's steps.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::time::Duration;

use indexmap::IndexMap;
use tokio::time::sleep;

use super::host::{Host, Origin, Unready};
use super::{Campaign, CampaignError, Outcome, RunOutcome};
use crate::execute::Counts;
use crate::plan::{Plan, RunPlan, ServerPlan, Step, VariantPlan};
use crate::record::ClientProbe;
use crate::server::{Words, server_words};

/// How often a variant's server is started anew after it has ended by itself.
const MOST_RESTARTS: u32 = 3;
/// Pause before the first of these starts; the next ones wait four times as long each.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const STOPPED_MEANWHILE: &str = "stopped by the user while its server started";

/// Walks the plan's steps, one run at a time. Servers come up when the first run needs them, and
/// every one that this tool started is stopped when this returns, whatever happened.
pub async fn walk(campaign: &Campaign<'_>) -> Result<Outcome, CampaignError> {
    check_commands(campaign.plan)?;
    let mut walk = Walk {
        campaign,
        client: OnceCell::new(),
        up: BTreeMap::new(),
        down: BTreeMap::new(),
        crashes: BTreeMap::new(),
        ended: BTreeMap::new(),
        halted: None,
    };
    let walked = walk.steps().await;
    while let Some((variant, host)) = walk.up.pop_first() {
        campaign.part_with(&variant, host, false).await;
    }
    walked.map(|()| walk.outcome())
}

/// Finds broken templates before the first server is started.
fn check_commands(plan: &Plan) -> Result<(), CampaignError> {
    let Some(server) = &plan.server else { return Ok(()) };
    let words = Words { model: &plan.model, host: "127.0.0.1", port: 1 };
    for variant in &plan.variants {
        server_words(server, variant, &words)?;
    }
    Ok(())
}

struct Walk<'c> {
    campaign: &'c Campaign<'c>,
    /// What the client costs; `None` when it could not be measured.
    client: OnceCell<Option<ClientProbe>>,
    /// Servers that are ready, by variant.
    up: BTreeMap<String, Host>,
    /// Why a variant's server is not there, until its next start.
    down: BTreeMap<String, String>,
    /// How often a variant's server was started anew after it had ended by itself.
    crashes: BTreeMap<String, u32>,
    ended: BTreeMap<String, RunOutcome>,
    /// Why nothing more is started.
    halted: Option<String>,
}

impl Walk<'_> {
    async fn steps(&mut self) -> Result<(), CampaignError> {
        let steps = self.campaign.steps;
        for (position, step) in steps.iter().enumerate() {
            match step {
                Step::StartServer { variant } => drop(self.down.remove(variant)),
                Step::StopServer { variant } => {
                    if let Some(host) = self.up.remove(variant) {
                        let more = steps.iter().skip(position).any(|step| self.is_to_be_run(step));
                        self.campaign.part_with(variant, host, more).await;
                    }
                }
                Step::Run { id } => {
                    if let Some(run) = self.campaign.plan.run(id) {
                        let outcome = self.run(run).await?;
                        self.note_end(run, &outcome);
                        self.ended.insert(id.clone(), outcome);
                    }
                }
            }
        }
        Ok(())
    }

    async fn run(&mut self, run: &RunPlan) -> Result<RunOutcome, CampaignError> {
        let campaign = self.campaign;
        if campaign.is_complete(run) {
            return Ok(RunOutcome::Already);
        }
        if campaign.stop.is_requested() {
            return Ok(RunOutcome::NotRun("stopped by the user before it was started".into()));
        }
        if let Some(why) = &self.halted {
            return Ok(RunOutcome::NotRun(why.clone()));
        }
        let Some(variant) = campaign.plan.variant(&run.variant) else {
            return Ok(RunOutcome::NotRun(format!("the plan has no variant `{}`", run.variant)));
        };
        let client = self.client().await?;
        let of = campaign.steps.iter().filter(|step| matches!(step, Step::Run { .. })).count();
        let place = (self.ended.len() + 1, of);
        match self.host(variant).await? {
            Ok(host) => campaign.carry_out(run, variant, host, client, place).await,
            Err(why) => Ok(RunOutcome::NotRun(why)),
        }
    }

    /// The client's figures, measured when the first run is about to need them and no server of it is up yet.
    async fn client(&self) -> Result<Option<ClientProbe>, CampaignError> {
        if let Some(known) = self.client.get() {
            return Ok(known.clone());
        }
        let measured = self.campaign.measure_client().await?;
        Ok(self.client.get_or_init(|| measured).clone())
    }

    /// The variant's server, brought up if it has to be; the inner error is why there is none.
    async fn host(&mut self, variant: &VariantPlan) -> Result<Result<&mut Host, String>, CampaignError> {
        let name = &variant.name;
        if let Some(why) = self.down.get(name) {
            return Ok(Err(why.clone()));
        }
        if let Some(why) = self.bury(name).await {
            if !self.restarts_after_a_crash() {
                return Ok(Err(self.give_up(name, why)));
            }
            if let Err(why) = self.wait_before_restart(name, &why).await {
                return Ok(Err(why));
            }
        }
        while !self.up.contains_key(name) {
            match self.campaign.bring_up(variant).await {
                Ok(host) => {
                    let settled = self.campaign.delete_orphans(variant, &host).await;
                    self.up.insert(name.clone(), host);
                    settled?;
                }
                Err(Unready::Interrupted) => return Ok(Err(STOPPED_MEANWHILE.into())),
                Err(Unready::Results(error)) => return Err(error.into()),
                // one that has served before may need another try, until what the last one held is free
                Err(Unready::Failed(why)) if self.crashes.contains_key(name) => {
                    if let Err(why) = self.wait_before_restart(name, &why).await {
                        return Ok(Err(why));
                    }
                }
                Err(Unready::Failed(why)) => return Ok(Err(self.give_up(name, why))),
            }
        }
        Ok(self.up.get_mut(name).ok_or_else(|| format!("the server of `{name}` is not there")))
    }

    /// Takes away a server that has ended by itself; gives how it did, with its last words unless
    /// the run that it ended in has told them.
    async fn bury(&mut self, name: &str) -> Option<String> {
        let host = self.up.get_mut(name)?;
        let how = match host.lost.take() {
            Some(how) => how,
            None => host.origin.died()? + &host.origin.last_words(),
        };
        if let Some(host) = self.up.remove(name) {
            // helpers may have outlived it
            host.origin.stop().await;
        }
        Some(how)
    }

    /// Counts a crash and waits before the next start; the error is why there is none.
    async fn wait_before_restart(&mut self, name: &str, why: &str) -> Result<(), String> {
        let crashes = self.crashes.entry(name.to_owned()).or_default();
        if *crashes >= MOST_RESTARTS {
            let why = format!("it was started anew {MOST_RESTARTS} times, which is the most; the last time: {why}");
            return Err(self.give_up(name, why));
        }
        let pause = FIRST_PAUSE * 4_u32.pow(*crashes);
        *crashes += 1;
        let text = format!(
            "the server of `{name}` is started anew in {} s ({crashes} of {MOST_RESTARTS}): {why}",
            pause.as_secs()
        );
        self.campaign.note(&text);
        tokio::select! {
            () = sleep(pause) => Ok(()),
            () = self.campaign.stop.stopped() => Err(STOPPED_MEANWHILE.into()),
        }
    }

    fn is_to_be_run(&self, step: &Step) -> bool {
        let plan = self.campaign.plan;
        let Step::Run { id } = step else { return false };
        let run = plan.run(id).filter(|_| self.halted.is_none());
        run.is_some_and(|run| !self.campaign.is_complete(run))
    }

    fn restarts_after_a_crash(&self) -> bool {
        self.campaign.plan.server.as_ref().is_some_and(ServerPlan::restarts_after_a_crash)
    }

    /// Remembers that a variant has no server and tells the user, once.
    fn give_up(&mut self, variant: &str, why: String) -> String {
        self.campaign.error(&format!("no server for `{variant}`: {why}"));
        self.down.insert(variant.to_owned(), why.clone());
        why
    }

    /// Tells what the user should know of a run's end, and halts the walk when asked to.
    fn note_end(&mut self, run: &RunPlan, outcome: &RunOutcome) {
        let id = &run.id;
        let bad = match outcome {
            RunOutcome::Failed(why) => {
                let ended_in_it = self.up.get(&run.variant).filter(|host| host.lost.is_some());
                let last_words = ended_in_it.map(|host| host.origin.last_words()).unwrap_or_default();
                self.campaign.error(&format!("`{id}` failed: {why}{last_words}"));
                true
            }
            RunOutcome::NotRun(_) => true,
            RunOutcome::Complete(counts) => missed(*counts) > self.campaign.plan.allow_failures,
            RunOutcome::Already => {
                self.campaign.note(&format!("`{id}` is complete already"));
                false
            }
            RunOutcome::Interrupted | RunOutcome::NotSelected => false,
        };
        if bad && self.campaign.fail_fast && self.halted.is_none() {
            self.halted = Some(format!("not started after `{id}` failed (--fail-fast)"));
        }
    }

    fn outcome(&self) -> Outcome {
        let plan = self.campaign.plan;
        let ended = |run: &RunPlan| match self.ended.get(&run.id) {
            // another tool that was at it may have completed it meanwhile
            None | Some(RunOutcome::NotRun(_)) if self.campaign.is_complete(run) => RunOutcome::Already,
            Some(ended) => ended.clone(),
            None => RunOutcome::NotSelected,
        };
        let runs: IndexMap<String, RunOutcome> = plan.runs.iter().map(|run| (run.id.clone(), ended(run))).collect();
        Outcome { runs, interrupted: self.campaign.stop.is_requested() }
    }
}

/// Requests that did not end well.
pub(super) const fn missed(counts: Counts) -> u64 {
    counts.failed + counts.censored
}

impl Campaign<'_> {
    pub(super) fn is_complete(&self, run: &RunPlan) -> bool {
        self.dir.run(&run.id).is_complete(&run.key, &self.plan.plan_hash)
    }

    /// Ends a server that this tool started. A person is asked to end theirs, and waited for when
    /// more is to come: the next server may have the same URL and must not be mistaken for this one.
    async fn part_with(&self, variant: &str, host: Host, more: bool) {
        if !matches!(host.origin, Origin::Manual) {
            host.origin.stop().await;
            return;
        }
        self.ask(&format!("the server of `{variant}` at {} is no longer needed; stop it", host.url));
        if let (true, Some(server)) = (more, &self.plan.server) {
            tokio::select! {
                () = host.probe.gone(&server.ready.path) => {}
                () = self.stop.stopped() => {}
            }
        }
    }
}
