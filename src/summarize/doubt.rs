//! Doubt about a run, as warnings, and what they make of its validity.
//!
//! | a run is | when |
//! |---|---|
//! | invalid | nothing succeeded, it was stopped or failed, or more requests failed or were censored than allowed |
//! | suspect | the simulator committed faults on purpose, lines of its journals cannot be read, requests were censored (within the allowance), media are broken, most outputs are copies, or without a cap to explain it requests left late or the server fell behind the offered rate, something else was at work on the GPUs, in closed loop the client was slow to use a slot, or the client by itself costs or can carry so much that it may have been the bottleneck |
//! | valid | otherwise; every other warning only informs |
//!
//! | warning | when |
//! |---|---|
//! | interrupted | a request was cancelled or never sent, or the run was stopped or failed |
//! | failures | a request failed |
//! | censoring | a request was cut by a limit of the client |
//! | few requests | closed loop at 2 or more in flight: fewer than 4 requests per slot |
//! | below cap | closed loop at 2 or more in flight: all slots busy for less than 50 % of the run |
//! | late (open loop), client bound (closed loop) | P99 of sent − due above 5 ms and above 5 % of the median latency |
//! | below offered | open loop of 10 or more: of the middle 80 %, the rate of ends below 90 % of the rate of arrivals |
//! | coarse polls | the widest gap between polls above 10 % of the median job time |
//! | serialised | from the lowest concurrency of a sweep to twice that or more: throughput below 1.1 times, latency grown with it |
//! | unmatched warm-up | the plan says so: other shapes, another concurrency, or too few to fill it |
//! | duplicate outputs | two requests returned the same bytes; suspect when more than 50 % of successes did |
//! | flagged | a success carries a remark that no other warning or figure tells |
//! | unreadable records | a line of a journal is torn, or not as it was written |
//! | background load | before omni-bench started the server, a GPU was busy for 5 % of the time or processes held 1024 MiB of it; only its own GPUs count where those are known |
//! | across nodes | a variant it is compared with has another GPU count and so another Slurm job |
//! | faults injected | the server said that it is a simulator that commits faults on purpose |

use indexmap::IndexMap;

use super::client;
use super::concurrency;
use super::lateness;
use super::row::Row;
use super::sample::{Sample, real, seconds};
use super::telemetry::GpuBasis;
use super::types::{Summary, Warning};
use crate::catalog::{Flag, Validity, WarningKind};
use crate::plan::{Plan, RunPlan};
use crate::record::{GpuLoad, RunManifest, RunState, Status};

/// Requests per slot below which start and drain of the run weigh more than its steady state.
const PER_SLOT: u64 = 4;
/// Share of the time that a closed loop should spend at its cap.
const AT_CAP: f64 = 0.5;
/// P99 of sent − due, as a share of the median latency, above which the wait is part of the result.
const LATE_SHARE: f64 = 0.05;
/// The same in milliseconds of the wall clock; below it a timer's own error is no news.
const LATE_MS: f64 = 5.0;
/// Achieved ÷ offered rate below which the server is taken to fall behind; arrivals of a few dozen
/// requests scatter by less between their inner percentiles.
const OFFERED_SHARE: f64 = 0.9;
/// Requests below which no rate is compared with the offered one, because chance gaps decide.
const OFFERED_FROM: usize = 10;
/// The same where a queue before a cap grew from each request to the next, which chance does not do.
const QUEUED_FROM: usize = 5;
/// Gap between polls, as a share of the median job time, above which latencies are blurred by it.
const POLL_SHARE: f64 = 0.1;
/// Most faults that a warning names.
const NAMED: usize = 5;
/// Share of successes with another request's bytes above which a cache is taken to have answered.
const COPIES: f64 = 0.5;

/// Share of time with a kernel running from which a GPU is not idle; a desktop stays below.
const BUSY: f64 = 0.05;
/// Memory in MiB from which processes on a GPU are more than a desktop's.
const HELD_MB: f64 = 1024.0;

/// What the warnings are made from.
pub(crate) struct Evidence<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) run: &'a RunPlan,
    pub(crate) manifest: &'a RunManifest,
    pub(crate) records: &'a [Row],
    /// The rest of the summary, filled in.
    pub(crate) summary: &'a Summary,
}

/// Collects warnings and keeps the worst of what they mean.
struct Doubts {
    validity: Validity,
    warnings: Vec<Warning>,
}

impl Doubts {
    fn add(&mut self, validity: Validity, kind: WarningKind, text: String) {
        self.validity = self.validity.max(validity);
        self.warnings.push(Warning { kind, text });
    }
}

/// The warnings of a run and its validity.
pub(crate) fn doubts(evidence: &Evidence<'_>) -> (Validity, Vec<Warning>) {
    let mut doubts = Doubts { validity: Validity::Valid, warnings: Vec::new() };
    outcomes(evidence, &mut doubts);
    injected(evidence, &mut doubts);
    load(evidence, &mut doubts);
    background(evidence, &mut doubts);
    replies(evidence, &mut doubts);
    elsewhere(evidence, &mut doubts);
    (doubts.validity, doubts.warnings)
}

/// Adds the doubt that lines of a run's journals could not be read, once.
pub fn doubt_unreadable(summary: &mut Summary, lines: usize) {
    let kind = WarningKind::UnreadableRecords;
    if lines == 0 || summary.warnings.iter().any(|warning| warning.kind == kind) {
        return;
    }
    summary.validity = summary.validity.max(Validity::Suspect);
    let (lines, are) = if lines == 1 { ("1 line".into(), "is") } else { (format!("{lines} lines"), "are") };
    let text = format!(
        "{lines} of the run's journals {are} torn or corrupt and left out; a measured request without a readable \
         record counts as cancelled"
    );
    summary.warnings.insert(0, Warning { kind, text });
}

/// Compared variants that a cluster could not measure in one allocation.
fn elsewhere(e: &Evidence<'_>, doubts: &mut Doubts) {
    let Some(compare) = e.plan.compare.as_ref().filter(|_| e.manifest.server.slurm.is_some()) else { return };
    if !compare.variants.contains(&e.run.variant) {
        return;
    }
    let apart = |name: &&String| e.plan.variant(name).is_some_and(|variant| variant.gpus != e.run.gpus);
    let others: Vec<String> = compare.variants.iter().filter(apart).map(|name| format!("`{name}`")).collect();
    if !others.is_empty() {
        let text = format!("compared across nodes: {} had other GPU counts and so other jobs", others.join(", "));
        doubts.add(Validity::Valid, WarningKind::AcrossNodes, text);
    }
}

/// Requests that did not succeed, and runs that did not end.
fn outcomes(e: &Evidence<'_>, doubts: &mut Doubts) {
    let lost = e.summary.failed + e.summary.censored;
    let allowed = e.plan.allow_failures;
    let verdict = |within| if lost > allowed || e.summary.completed == 0 { Validity::Invalid } else { within };
    // a run whose state says running has ended when every request has its record
    if e.summary.cancelled > 0 || matches!(e.manifest.state, RunState::Interrupted | RunState::Failed) {
        let reason = e.manifest.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let text =
            format!("{} of {} requests were stopped or never sent{reason}", e.summary.cancelled, e.summary.requests);
        doubts.add(Validity::Invalid, WarningKind::Interrupted, text);
    }
    if e.summary.failed > 0 || (e.summary.completed == 0 && e.summary.censored == 0 && e.summary.cancelled == 0) {
        let text = format!("{} of {} requests failed; {allowed} are allowed", e.summary.failed, e.summary.requests);
        doubts.add(verdict(Validity::Valid), WarningKind::Failures, text);
    }
    if e.summary.censored > 0 {
        let text = format!(
            "{} of {} requests were cut by a limit of the client; percentiles are Kaplan–Meier estimates, means \
             leave out the cut requests, and the throughput is not comparable",
            e.summary.censored, e.summary.requests
        );
        doubts.add(verdict(Validity::Suspect), WarningKind::Censoring, text);
    }
}

/// Figures that were disturbed on purpose.
fn injected(e: &Evidence<'_>, doubts: &mut Doubts) {
    let faults = e.manifest.server.version.as_ref().and_then(|version| version.get("faults")?.as_object());
    let Some(faults) = faults.filter(|faults| e.manifest.simulated && !faults.is_empty()) else { return };
    let first: Vec<&str> = faults.keys().map(String::as_str).take(NAMED).collect();
    let more = match faults.len() - first.len() {
        0 => String::new(),
        further => format!(" and {further} more"),
    };
    let first = first.join(", ");
    let text = format!("the simulator committed faults on purpose ({first}{more}): no figure is a measurement");
    doubts.add(Validity::Suspect, WarningKind::FaultsInjected, text);
}

/// Whether the load was the one that was asked for.
fn load(e: &Evidence<'_>, doubts: &mut Doubts) {
    let cap = e.run.traffic.max_concurrency;
    let intervals = concurrency::intervals(e.records);
    let open_loop = e.run.traffic.arrivals.is_open_loop();
    let capped = cap.filter(|cap| open_loop && concurrency::peak(&intervals) >= u64::from(*cap));
    if let Some(cap) = cap.filter(|cap| *cap > 1 && !open_loop) {
        let least = PER_SLOT * u64::from(cap);
        if e.summary.requests < least {
            let text = format!(
                "{} requests at concurrency {cap}: fewer than {least}, so start and drain weigh on the figures",
                e.summary.requests
            );
            doubts.add(Validity::Valid, WarningKind::FewRequests, text);
        }
        if let Some(share) = concurrency::share_at(&intervals, cap).filter(|share| *share < AT_CAP) {
            let text = format!(
                "{cap} requests were in flight for only {:.0} % of the run, less than {:.0} %",
                share * 100.0,
                AT_CAP * 100.0
            );
            doubts.add(Validity::Valid, WarningKind::BelowCap, text);
        }
    }
    if let (Some(late_ms), Some(median_s)) = (e.summary.lateness_ms.map(|tail| tail.p99), e.summary.latency_s.p50)
        && late_ms > (LATE_MS * e.summary.speed).max(LATE_SHARE * median_s * 1e3)
    {
        late(e.summary, (late_ms, median_s), open_loop, capped, doubts);
    }
    client_bound(e.summary, open_loop, doubts);
    if open_loop {
        below_offered(e.records, e.run.traffic.request_rate.per_second(), capped, doubts);
    }
    if !e.run.warmup.matched {
        let warmup = &e.run.warmup;
        let text = format!(
            "the warm-up ({} requests, {} in flight) does not have the count, concurrency or shapes of the load",
            warmup.requests, warmup.concurrency
        );
        doubts.add(Validity::Valid, WarningKind::UnmatchedWarmup, text);
    }
}

/// What the GPUs did before the server was there is no part of the figures, and may have gone on.
fn background(e: &Evidence<'_>, doubts: &mut Doubts) {
    let telemetry = e.summary.telemetry.as_ref().filter(|told| told.gpu_basis == Some(GpuBasis::ServerProcesses));
    let elsewhere =
        |index: u32| telemetry.is_some_and(|told| told.gpus.iter().any(|gpu| gpu.index == index && !gpu.counted));
    let busy = |gpu: &&GpuLoad| {
        gpu.utilization.is_some_and(|share| share >= BUSY) || gpu.held_mb.is_some_and(|held| held >= HELD_MB)
    };
    let loads = e.manifest.server.background.iter().flatten().filter(|gpu| !elsewhere(gpu.index)).filter(busy);
    let told = loads.map(|gpu| {
        let parts = [
            gpu.utilization.map(|share| format!("busy {:.0} % of the time", share * 100.0)),
            gpu.held_mb.map(|held| format!("with {held:.0} MiB held by processes")),
        ];
        format!("GPU {} was {}", gpu.index, parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    });
    let told: Vec<String> = told.collect();
    if !told.is_empty() {
        let text = format!("before the server was started, {}", told.join("; "));
        doubts.add(Validity::Suspect, WarningKind::BackgroundLoad, text);
    }
}

/// Holds what the client costs by itself against the run.
fn client_bound(summary: &Summary, open_loop: bool, doubts: &mut Doubts) {
    let Some(client) = &summary.client else { return };
    let median_ms = summary.latency_s.p50.map_or(0.0, |median_s| median_s * 1e3 / summary.speed);
    let reasons = client::reasons(client, open_loop.then(|| LATE_MS.max(LATE_SHARE * median_ms)));
    if !reasons.is_empty() {
        doubts.add(Validity::Suspect, WarningKind::ClientBound, reasons.join("; "));
    }
}

fn late(summary: &Summary, (late_ms, median_s): (f64, f64), open_loop: bool, capped: Option<u32>, doubts: &mut Doubts) {
    let wait_s = late_ms / 1e3;
    match (open_loop, capped) {
        (true, Some(cap)) => doubts.add(
            Validity::Valid,
            WarningKind::Late,
            format!(
                "requests waited up to {wait_s:.3} s (P99) for one of {cap} slots; response times include the wait"
            ),
        ),
        (true, None) => doubts.add(
            Validity::Suspect,
            WarningKind::Late,
            format!(
                "requests were sent {wait_s:.3} s late (P99) at a median latency of {median_s:.3} s, without a cap: {}",
                lateness::told(&summary.lateness_buckets)
            ),
        ),
        (false, _) => doubts.add(
            Validity::Suspect,
            WarningKind::ClientBound,
            format!("the client took {wait_s:.3} s (P99) to use a free slot at a median latency of {median_s:.3} s"),
        ),
    }
}

/// Compares the rates of the middle 80 % of arrivals and of ends, so that neither the last requests'
/// own time nor a long straggler counts as falling behind. A burst above the rate that was asked for
/// does not make that rate impossible under a cap.
fn below_offered(records: &[Row], asked: Option<f64>, capped: Option<u32>, doubts: &mut Doubts) {
    let sent: Vec<&Row> = records.iter().filter(|record| record.sent_us().is_some()).collect();
    let grew = capped.is_some_and(|cap| queue_only_grew(&sent, cap));
    if sent.len() < if grew { QUEUED_FROM } else { OFFERED_FROM } {
        return;
    }
    let rate = |time: fn(&Row) -> u64| {
        let times = Sample::of_finite(sent.iter().map(|record| seconds(time(record))))?;
        let margin = times.n() / 10;
        let (first, last) = (margin, times.n() - 1 - margin);
        let span = times.at(last) - times.at(first);
        (span > 0.0).then(|| real(last - first) / span)
    };
    let (Some(offered), Some(achieved)) = (rate(|record| record.due_us), rate(|record| record.done_us)) else {
        return;
    };
    let offered = asked.filter(|_| capped.is_some()).map_or(offered, |asked| offered.min(asked));
    if achieved < OFFERED_SHARE * offered {
        let figures = format!("requests ended at {achieved:.4}/s while {offered:.4}/s were offered");
        match capped {
            Some(cap) => doubts.add(
                Validity::Valid,
                WarningKind::BelowOffered,
                format!("{figures}: at most {cap} in flight make the offered rate impossible"),
            ),
            None => doubts.add(
                Validity::Suspect,
                WarningKind::BelowOffered,
                format!("{figures}: the server fell behind, and response times depend on how long the run was"),
            ),
        }
    }
}

/// Whether each request that met a full server waited longer for its slot than the one before it.
fn queue_only_grew(sent: &[&Row], cap: u32) -> bool {
    let mut arrivals: Vec<(u64, u64)> = sent
        .iter()
        .filter_map(|record| Some((record.due_us, record.sent_us()?.saturating_sub(record.due_us))))
        .collect();
    arrivals.sort_unstable();
    let free = usize::try_from(cap).unwrap_or(usize::MAX);
    let queued = arrivals.get(free..).unwrap_or_default();
    queued.len() > 1 && queued.iter().is_sorted_by(|(_, before), (_, after)| before < after)
}

/// What the replies themselves say.
fn replies(e: &Evidence<'_>, doubts: &mut Doubts) {
    coarse_polls(e.records, doubts);
    copies(e.records, doubts);
    let mut flags: IndexMap<Flag, u64> = IndexMap::new();
    for flag in e.records.iter().filter(|record| record.status == Status::Ok).flat_map(Row::flags) {
        *flags.entry(flag).or_default() += 1;
    }
    // the basis of an RTF stands beside it, and copies are counted above
    flags.retain(|flag, _| !matches!(flag, Flag::RtfFromInferenceTime | Flag::RtfFromLatency | Flag::Duplicate));
    flags.sort_unstable_keys();
    if !flags.is_empty() {
        let broken = flags.keys().any(|flag| matches!(flag, Flag::Truncated | Flag::Blank));
        let counts: Vec<String> = flags.iter().map(|(flag, count)| format!("{flag} {count}")).collect();
        let text = format!("of {} successes: {}", e.summary.completed, counts.join(", "));
        let validity = if broken { Validity::Suspect } else { Validity::Valid };
        doubts.add(validity, WarningKind::Flagged, text);
    }
}

fn coarse_polls(records: &[Row], doubts: &mut Doubts) {
    let jobs = records.iter().filter_map(|record| Some((record, record.created_us()?, record.first_terminal_us()?)));
    let (mut times, mut widest) = (Vec::new(), 0);
    for (record, created, terminal) in jobs {
        times.push(seconds(terminal.saturating_sub(created)));
        let mut before = created;
        for sent_us in record.polls().iter().filter(|sent_us| **sent_us <= terminal) {
            widest = widest.max(sent_us.saturating_sub(before));
            before = *sent_us;
        }
    }
    let Some(times) = Sample::of_finite(times) else { return };
    let (gap, median) = (seconds(widest), times.quantile(0.5));
    if gap > POLL_SHARE * median {
        let text = format!(
            "polls were up to {gap:.3} s apart at a median job time of {median:.3} s, more than {:.0} % of it",
            POLL_SHARE * 100.0
        );
        doubts.add(Validity::Valid, WarningKind::CoarsePolls, text);
    }
}

fn copies(records: &[Row], doubts: &mut Doubts) {
    let successes = || records.iter().filter(|record| record.status == Status::Ok);
    let mut owners: Vec<([u64; 2], u32)> =
        successes().flat_map(|record| record.outputs().iter().map(|made| (made.hash, record.index()))).collect();
    owners.sort_unstable();
    owners.dedup();
    let repeated = owners.chunk_by(|a, b| a.0 == b.0).filter(|requests| requests.len() > 1);
    let mut copied: Vec<u32> = repeated.flatten().map(|(_, request)| *request).collect();
    copied.sort_unstable();
    copied.dedup();
    if copied.is_empty() {
        return;
    }
    let successes = successes().count();
    let most = real(copied.len()) > COPIES * real(successes);
    let text = format!("{} of {} successes returned bytes that another request returned too", copied.len(), successes);
    let validity = if most { Validity::Suspect } else { Validity::Valid };
    doubts.add(validity, WarningKind::DuplicateOutputs, text);
}

/// How much the throughput must rise when the concurrency does, before a server is called serialised.
const SERIALISED_GAIN: f64 = 1.1;
/// Least concurrency ratio at which that is judged.
const SERIALISED_RATIO: f64 = 2.0;
/// Share of the growth in latency that a single worker causes at the very least. With as many requests
/// as slots, `c`, the mean is that of 1, 2 … `c` services; more requests bring it closer to `c` services.
const SERIALISED_LATENCY: f64 = 0.9;

/// One run's place in a sweep: concurrency, successes per second, mean latency.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level {
    pub(crate) concurrency: u32,
    pub(crate) throughput_per_s: f64,
    pub(crate) latency_s: f64,
}

/// The warning that a server works off requests one at a time, from the lowest level of a sweep and
/// another one.
pub(crate) fn serialised(low: Level, high: Level) -> Option<Warning> {
    let ratio = f64::from(high.concurrency) / f64::from(low.concurrency);
    let gain = high.throughput_per_s / low.throughput_per_s;
    let latency = high.latency_s / low.latency_s;
    if !(ratio >= SERIALISED_RATIO
        && gain < SERIALISED_GAIN
        && latency >= SERIALISED_LATENCY * f64::midpoint(1.0, ratio))
    {
        return None;
    }
    let text = format!(
        "from concurrency {} to {} the mean latency grew {latency:.2} times and the throughput {gain:.2} times: \
         requests are worked off one after the other",
        low.concurrency, high.concurrency
    );
    Some(Warning { kind: WarningKind::Serialised, text })
}
