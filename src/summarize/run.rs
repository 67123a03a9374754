//! The records of one run → its summary.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::client;
use super::concurrency;
use super::doubt::{self, Evidence};
use super::interval;
use super::lateness;
use super::media;
use super::phases;
use super::row::Row;
use super::sample::{Sample, real, real_u64, seconds};
use super::slo::{self, Attained, Targets};
use super::survival;
use super::telemetry;
use super::types::{ClassSummary, Distribution, ErrorCount, Percentile, Summary};
use crate::catalog::{Medium, Validity, WarningKind};
use crate::plan::{Plan, RunPlan};
use crate::record::{Record, RunManifest, Status, TelemetrySample};

/// How many request ids an error group names.
const NAMED: usize = 10;

/// What is known about a run after it ended.
#[derive(Debug, Clone, Copy)]
pub struct RunFiles<'a> {
    /// Its state.
    pub manifest: &'a RunManifest,
    /// Measured requests.
    pub records: &'a [Record],
    /// Calibration requests, for SLO targets.
    pub calibration: &'a [Record],
    /// Warm-up requests; never counted.
    pub warmup: &'a [Record],
    /// What its server and GPUs did.
    pub telemetry: &'a [TelemetrySample],
}

/// The summary of a run. Requests without a record were never sent and count as cancelled.
///
/// Distributions are over successes; with censored requests their quantiles are Kaplan–Meier
/// estimates in which a success is an event and a censored request is cut at its time. Failed and
/// cancelled requests say nothing about how long a success takes and are left out.
pub fn summarize(plan: &Plan, run: &RunPlan, files: &RunFiles<'_>) -> Summary {
    let rows = |records: &[Record]| records.iter().map(Row::from).collect::<Vec<_>>();
    summarize_rows(plan, run, files.manifest, &rows(files.records), &rows(files.calibration), files.telemetry)
}

/// The same from rows: of the measured requests, and of the calibration requests for SLO targets; and from what
/// server and GPUs did meanwhile.
pub fn summarize_rows(
    plan: &Plan,
    run: &RunPlan,
    manifest: &RunManifest,
    records: &[Row],
    calibration: &[Row],
    samples: &[TelemetrySample],
) -> Summary {
    let headline = Headline::of(run);
    let mut summary = unmeasured(plan, run, manifest);
    headline.name().clone_into(&mut summary.headline);
    count(&mut summary, run, records);
    times(&mut summary, run, records, headline);
    let successes: Vec<&Row> = records.iter().filter(|record| record.status == Status::Ok).collect();
    media::fill(&mut summary, plan.task.medium(), &successes);
    let videos = successes.iter().map(|record| record.outputs().len() as u64).sum();
    let made = telemetry::Made {
        duration_s: summary.duration_s,
        completed: summary.completed,
        images: summary.images,
        videos: (plan.task.medium() == Medium::Video).then_some(videos),
    };
    summary.telemetry = telemetry::figures(samples, made);
    let targets = Targets::new(plan, calibration, records);
    summary.slo = slo::slo(&targets, records, headline.us());
    summary.goodput_per_s = summary.slo.as_ref().and_then(|slo| per_s(slo.met, summary.duration_s));
    summary.classes = classes(&targets, records, headline);
    summary.errors = errors(records);
    summary.client = manifest.client.as_ref().map(|probe| client::figures(probe, &summary, records));
    (summary.validity, summary.warnings) = doubt::doubts(&Evidence { plan, run, manifest, records, summary: &summary });
    let bound = summary.warnings.iter().any(|warning| warning.kind == WarningKind::ClientBound);
    if let Some(client) = &mut summary.client {
        client.could_be_bottleneck = bound;
    }
    summary
}

/// What the plan says about a run, with every figure null or zero.
fn unmeasured(plan: &Plan, run: &RunPlan, manifest: &RunManifest) -> Summary {
    Summary {
        id: run.id.clone(),
        key: run.key.clone(),
        workload_key: run.workload_key.clone(),
        config_key: run.config_key.clone(),
        variant: run.variant.clone(),
        dataset: run.dataset.clone(),
        max_concurrency: run.traffic.max_concurrency,
        request_rate: run.traffic.request_rate,
        repeat: run.repeat,
        gpus: run.gpus,
        simulated: plan.simulated || manifest.simulated,
        speed: if manifest.simulated { manifest.speed } else { plan.speed },
        headline: String::new(),
        requests: 0,
        completed: 0,
        failed: 0,
        censored: 0,
        cancelled: 0,
        duration_s: None,
        throughput_per_s: None,
        throughput_comparable: true,
        offered_per_s: None,
        goodput_per_s: None,
        latency_s: Distribution::default(),
        response_time_s: Distribution::default(),
        queue_s: Distribution::default(),
        percentiles: IndexMap::new(),
        kaplan_meier: false,
        mean_interval_s: None,
        images: None,
        images_per_s: None,
        pixels_per_image: None,
        denoise_step_ms: None,
        image_generation_ms: None,
        video_duration_s: None,
        video_frames: None,
        video_s_per_s: None,
        rtf: None,
        video_generation_ms: None,
        frames_per_s: None,
        megapixels_per_s: None,
        megapixel_steps_per_s: None,
        outputs_per_hour_per_gpu: None,
        peak_concurrency: 0,
        peak_memory_mb: None,
        stage_ms: BTreeMap::new(),
        telemetry: None,
        slo: None,
        classes: IndexMap::new(),
        lateness_ms: None,
        lateness_buckets: Vec::new(),
        job_phases_s: None,
        client: None,
        validity: Validity::Valid,
        warnings: Vec::new(),
        errors: Vec::new(),
    }
}

/// Outcomes; whatever was planned and has no record was never sent.
fn count(summary: &mut Summary, run: &RunPlan, records: &[Row]) {
    let tally = Tally::of(records);
    summary.requests = run.traffic.requests.max(records.len() as u64);
    summary.completed = tally.completed;
    summary.failed = tally.failed;
    summary.censored = tally.censored;
    summary.cancelled = summary.requests - tally.completed - tally.failed - tally.censored;
}

/// Durations, rates and the two latencies.
fn times(summary: &mut Summary, run: &RunPlan, records: &[Row], headline: Headline) {
    let censored = summary.censored;
    let headlines = sample(records, Status::Ok, headline.us());
    let lateness =
        records.iter().filter_map(|record| Some(seconds(record.sent_us()?.saturating_sub(record.due_us)) * 1e3));
    summary.duration_s = duration_s(records);
    summary.throughput_per_s = per_s(summary.completed, summary.duration_s);
    summary.throughput_comparable = censored == 0;
    summary.offered_per_s = offered_per_s(run, records);
    summary.latency_s = distribution(records, super::row::Row::latency_us);
    summary.response_time_s = distribution(records, super::row::Row::response_time_us);
    let queues = sample(records, Status::Ok, |record| Some(record.sent_us()?.saturating_sub(record.due_us)));
    summary.queue_s = queues.map(|sample| sample.distribution()).unwrap_or_default();
    summary.percentiles = percentiles(headlines.as_ref(), censored);
    summary.kaplan_meier = censored > 0;
    summary.mean_interval_s = mean_interval(records, censored, headline.us());
    summary.peak_concurrency = concurrency::peak(&concurrency::intervals(records));
    summary.lateness_buckets = lateness::buckets(records);
    summary.lateness_ms = Sample::of_finite(lateness).map(|sample| sample.tail());
    summary.job_phases_s = phases::of(records);
}

fn per_s(count: u64, duration_s: Option<f64>) -> Option<f64> {
    duration_s.filter(|duration| *duration > 0.0).map(|duration| real_u64(count) / duration)
}

/// Outcomes counted.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    completed: u64,
    failed: u64,
    censored: u64,
    cancelled: u64,
}

impl Tally {
    fn of<'a>(records: impl IntoIterator<Item = &'a Row>) -> Self {
        let mut tally = Self::default();
        for record in records {
            *match record.status {
                Status::Ok => &mut tally.completed,
                Status::Failed => &mut tally.failed,
                Status::Censored => &mut tally.censored,
                Status::Cancelled => &mut tally.cancelled,
            } += 1;
        }
        tally
    }
}

/// Which of the two latencies stands for a run.
#[derive(Debug, Clone, Copy)]
enum Headline {
    Latency,
    ResponseTime,
}

impl Headline {
    fn of(run: &RunPlan) -> Self {
        if run.traffic.arrivals.is_open_loop() { Self::ResponseTime } else { Self::Latency }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::ResponseTime => "response_time",
        }
    }

    fn us(self) -> fn(&Row) -> Option<u64> {
        match self {
            Self::Latency => |record| record.latency_us(),
            Self::ResponseTime => |record| record.response_time_us(),
        }
    }
}

/// First sent → last end, in seconds.
fn duration_s(records: &[Row]) -> Option<f64> {
    let intervals = concurrency::intervals(records);
    let first = intervals.iter().map(|(sent, _)| *sent).min()?;
    let last = intervals.iter().map(|(_, done)| *done).max()?;
    Some(seconds(last.saturating_sub(first)))
}

/// Arrivals per second between the first and the last due time, the nominal rate when there is one
/// due time; `None` in closed loop.
fn offered_per_s(run: &RunPlan, records: &[Row]) -> Option<f64> {
    if !run.traffic.arrivals.is_open_loop() {
        return None;
    }
    let first = records.iter().map(|record| record.due_us).min()?;
    let last = records.iter().map(|record| record.due_us).max()?;
    if last == first {
        return run.traffic.request_rate.per_second();
    }
    Some(real(records.len() - 1) / seconds(last - first))
}

fn sample<'a>(
    records: impl IntoIterator<Item = &'a Row>,
    status: Status,
    us: impl Fn(&Row) -> Option<u64>,
) -> Option<Sample> {
    Sample::of_finite(records.into_iter().filter(|record| record.status == status).filter_map(&us).map(seconds))
}

fn distribution<'a>(
    records: impl IntoIterator<Item = &'a Row> + Clone,
    us: impl Fn(&Row) -> Option<u64>,
) -> Distribution {
    match (sample(records.clone(), Status::Ok, &us), sample(records, Status::Censored, &us)) {
        (Some(ended), None) => ended.distribution(),
        (Some(ended), Some(cut)) => survival::distribution(&ended, cut.sorted()),
        // every percentile lies above the longest time that was waited
        (None, Some(cut)) => Distribution { at_least: Some(cut.max()), ..Distribution::default() },
        (None, None) => Distribution::default(),
    }
}

/// Support of the headline's percentiles. Order statistics of the successes alone would pass off the
/// cut requests as fast ones, so with censoring nothing is supported.
fn percentiles(sample: Option<&Sample>, censored: u64) -> IndexMap<String, Percentile> {
    [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)]
        .into_iter()
        .map(|(name, share)| {
            let ends = sample.filter(|_| censored == 0).and_then(|sample| interval::quantile_interval(sample, share));
            let percentile = Percentile {
                n: sample.map_or(0, |sample| sample.n() as u64) + censored,
                supported: ends.is_some(),
                low: ends.map(|[low, _]| low),
                high: ends.map(|[_, high]| high),
            };
            (name.to_owned(), percentile)
        })
        .collect()
}

/// Interval of the mean, by class, as how many requests each class has is no chance; none with
/// censoring, as the mean then leaves out the slow requests.
fn mean_interval<'a>(
    records: impl IntoIterator<Item = &'a Row>,
    censored: u64,
    us: fn(&Row) -> Option<u64>,
) -> Option<[f64; 2]> {
    let mut groups: IndexMap<&str, Vec<&Row>> = IndexMap::new();
    for record in records.into_iter().filter(|_| censored == 0) {
        groups.entry(record.class()).or_default().push(record);
    }
    let strata = groups.into_values().filter_map(|group| sample(group, Status::Ok, us));
    interval::stratified_mean_interval(&strata.collect::<Vec<_>>())
}

/// Figures per class, the cheapest shape first: by steps × megapixels × frames, then by name; shapes
/// the request leaves open come last.
fn classes(targets: &Targets, records: &[Row], headline: Headline) -> IndexMap<String, ClassSummary> {
    let mut groups: IndexMap<&str, Vec<&Row>> = IndexMap::new();
    for record in records {
        groups.entry(record.class()).or_default().push(record);
    }
    let cost = |group: &[&Row]| group.first().and_then(|record| slo::work(record.asked())).unwrap_or(f64::INFINITY);
    groups.sort_by(|a, group_a, b, group_b| cost(group_a).total_cmp(&cost(group_b)).then(a.cmp(b)));
    groups
        .into_iter()
        .map(|(class, group)| {
            let tally = Tally::of(group.iter().copied());
            let headlines = sample(group.iter().copied(), Status::Ok, headline.us());
            let attained = Attained::count(targets, group.iter().copied(), headline.us());
            let target = targets.of_class(group.iter().copied());
            let summary = ClassSummary {
                requests: group.len() as u64,
                completed: tally.completed,
                failed: tally.failed,
                censored: tally.censored,
                cancelled: tally.cancelled,
                latency_s: distribution(group.iter().copied(), super::row::Row::latency_us),
                response_time_s: distribution(group.iter().copied(), super::row::Row::response_time_us),
                percentiles: percentiles(headlines.as_ref(), tally.censored),
                mean_interval_s: mean_interval(group.iter().copied(), tally.censored, headline.us()),
                slo_target_s: target.map(|(limit_s, _)| limit_s),
                slo_basis: target.map(|(_, basis)| basis.to_owned()),
                slo_attainment: attained.share(),
                slo_met: attained.met,
                slo_of: attained.of,
            };
            (class.to_owned(), summary)
        })
        .collect()
}

/// Failed and censored requests by class and message, the most frequent first.
fn errors(records: &[Row]) -> Vec<ErrorCount> {
    let mut groups: IndexMap<_, ErrorCount> = IndexMap::new();
    for record in records.iter().filter(|record| matches!(record.status, Status::Failed | Status::Censored)) {
        let Some((error, request_id)) = record.error() else { continue };
        let group = groups.entry((error.class, &error.message)).or_insert_with(|| ErrorCount {
            class: error.class,
            message: error.message.clone(),
            count: 0,
            request_ids: Vec::new(),
        });
        group.count += 1;
        if group.request_ids.len() < NAMED {
            group.request_ids.push(request_id.to_owned());
        }
    }
    let mut errors: Vec<ErrorCount> = groups.into_values().collect();
    errors.sort_by_key(|error| Reverse(error.count));
    errors
}
