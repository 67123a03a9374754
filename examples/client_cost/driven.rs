//! A run carried out by the tool's executor in a process of its own, and what it cost.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use omni_bench::execute::{Drive, Progress, Secrets, Stop, Target, drive, runtime};
use omni_bench::plan::{Hosting, PlanInput, phases, plan};
use omni_bench::record::{Record, ResultsDir, read_journal};
use omni_bench::scenario::Scenario;
use omni_bench::workload::{Sources, load};
use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::process::{stat, status_mb};
use crate::server::{MODEL, PATH};

/// The word that starts this program as a client.
pub(crate) const WORD: &str = "@drive";
/// Runs of more requests than this have no figures from their records.
const READ: u64 = 200_000;

/// What is to be carried out.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Spec {
    pub(crate) url: String,
    pub(crate) requests: u64,
    /// `None` is an open loop without a cap.
    pub(crate) concurrency: Option<u32>,
    pub(crate) rate: Option<u32>,
    pub(crate) side: u32,
}

/// What came of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Ran {
    /// Successes per second of the measured phase.
    pub(crate) rate: f64,
    /// Body bytes of the successes.
    pub(crate) bytes: u64,
    pub(crate) took_s: f64,
    /// Processor seconds of the whole run, warm-up included.
    pub(crate) cpu_s: f64,
    pub(crate) peak_mb: f64,
    /// Resident memory now and then.
    pub(crate) resident_mb: Vec<f64>,
    pub(crate) latency_us: Option<f64>,
    pub(crate) late_p50_ms: Option<f64>,
    pub(crate) late_p99_ms: Option<f64>,
}

impl Spec {
    /// Has another process carry it out.
    pub(crate) fn drive(&self) -> Outcome<Ran> {
        let mut command = Command::new(std::env::current_exe()?);
        let (out, _) = crate::process::run(command.arg(WORD).arg(serde_json::to_string(self)?))?;
        Ok(serde_json::from_str(&out)?)
    }

    fn scenario(&self) -> Outcome<Scenario> {
        let Self { url, requests, concurrency, rate, side } = self;
        let cap = concurrency.map(|concurrency| format!("max_concurrency = {concurrency}\n"));
        let pace = rate.map(|rate| format!("request_rate = {rate}\narrival = 'constant'\n"));
        let traffic = format!("requests = {requests}\n{}{}", cap.unwrap_or_default(), pace.unwrap_or_default());
        Ok(toml::from_str(&format!(
            "name = 'cost'\n[model]\nid = '{MODEL}'\ntask = 't2i'\n[endpoint]\nurl = '{url}'\npath = '{PATH}'\n\
             [datasets.A]\nprofiles = [{{ width = {side}, height = {side}, num_inference_steps = 1 }}]\n\
             [warmup]\nrequests = 64\nconcurrency = {}\n[traffic]\n{traffic}",
            concurrency.unwrap_or(8)
        ))?)
    }
}

/// Carries out what another process asked for, and prints what came of it.
pub(crate) fn run(spec: &str) -> Outcome<()> {
    use std::io::Write;
    rustls::crypto::ring::default_provider().install_default().map_err(|_| "the TLS provider is there already")?;
    let ran = carry_out(&serde_json::from_str(spec)?)?;
    Ok(writeln!(std::io::stdout().lock(), "{}", serde_json::to_string(&ran)?)?)
}

fn carry_out(spec: &Spec) -> Outcome<Ran> {
    let scenario = spec.scenario()?;
    let problems = |problems: Vec<omni_bench::diagnostic::Problem>| format!("{problems:?}");
    let data = load(&scenario, &Sources::default()).map_err(problems)?;
    let input = PlanInput {
        scenario: &scenario,
        data: &data,
        hosting: Hosting::Given,
        only: &[],
        repeats: None,
        estimate: None,
    };
    let plan = plan(&input).map_err(problems)?;
    let run = plan.runs.first().ok_or("there is no run")?;
    let variant = plan.variant(&run.variant).ok_or("there is no variant")?;
    let folder = tempfile::tempdir()?;
    let dir = ResultsDir::at(folder.path()).run(&run.id);
    fs_err::create_dir_all(dir.path())?;
    let target = Target { url: spec.url.clone(), model: MODEL.into(), speed: 1.0, secrets: Secrets::default() };
    let progress = Progress::silent();
    let me = Path::new("/proc/self");
    let before_s = stat(me).map_or(0.0, |(_, cpu_s)| cpu_s);
    let work = drive(Drive {
        plan: &plan,
        run,
        endpoint: &variant.endpoint,
        phases: phases(&plan, run, &data),
        target: &target,
        dir: &dir,
        save_media: false,
        stop: Stop::new(),
        progress: &progress,
        on_start: &|_| {},
    });
    let mut resident_mb = Vec::new();
    let driven = runtime()?.block_on(async {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                driven = &mut work => return driven,
                () = tokio::time::sleep(Duration::from_secs(1)) => resident_mb.extend(status_mb(me, "VmRSS:")),
            }
        }
    })?;
    let cpu_s = stat(me).map_or(0.0, |(_, cpu_s)| cpu_s) - before_s;
    let peak_mb = status_mb(me, "VmHWM:").unwrap_or_default();
    if driven.counts.ok != spec.requests {
        return Err(format!("not every request succeeded: {:?}", driven.counts).into());
    }
    let (from, to) = driven.started_at.zip(driven.ended_at).ok_or("nothing was measured")?;
    let took_s = to.duration_since(from).as_secs_f64();
    let mut ran = Ran {
        rate: f64::from(u32::try_from(spec.requests)?) / took_s,
        bytes: 0,
        took_s,
        cpu_s,
        peak_mb,
        resident_mb,
        latency_us: None,
        late_p50_ms: None,
        late_p99_ms: None,
    };
    if spec.requests <= READ {
        let records = read_journal::<Record>(&dir.records())?.items;
        ran.bytes = records.iter().map(|record| record.bytes).sum();
        let us = |us: Option<u64>| us.and_then(|us| u32::try_from(us).ok()).map(f64::from);
        ran.latency_us = quantile(records.iter().filter_map(|record| us(record.latency_us)), 50);
        let late = |record: &Record| us(record.sent_us.map(|sent| sent.saturating_sub(record.due_us)));
        let late_ms = || records.iter().filter_map(late).map(|us| us / 1e3);
        (ran.late_p50_ms, ran.late_p99_ms) = (quantile(late_ms(), 50), quantile(late_ms(), 99));
    }
    Ok(ran)
}

/// A percentile by nearest rank.
pub(crate) fn quantile(values: impl Iterator<Item = f64>, percent: usize) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get((values.len() * percent).div_ceil(100).saturating_sub(1)).copied()
}
