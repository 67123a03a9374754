//! Flags → the scenario that asks for the same.

use indexmap::IndexMap;

use super::wanted::{Table, Wanted};
use crate::catalog::{Api, Spelling};
use crate::cli::BenchDataset;
use crate::scenario::Scenario;
use crate::scenario::model::{
    Arrival, Dataset, Endpoint, InputImages, InputVideos, Match, Model, OnShort, PathList, Profile, RequestSeed,
    Requests, Simulator, Slo, Source, Timeout, Traffic, Warmup,
};
use crate::units::{Limit, Rate};
use crate::workload::{Download, downloads};

/// The repository of traces that a trace dataset without a path stands for.
const TRACES: &str = "hf:asukaqaqzz/Dit_Trace";
/// Side of a synthetic input image, whatever size is asked for.
const INPUT_SIDE: u32 = 512;
/// Width, height, frames and rate of a synthetic input video when nobody says.
const INPUT_VIDEO: (u32, u32, u32, f64) = (1280, 720, 16, 8.0);

/// The equivalent scenario; `replay` says whether a trace is sent at its time stamps.
pub(super) fn scenario(wanted: &Wanted<'_>, replay: bool) -> Result<Scenario, String> {
    let args = wanted.args;
    let dataset = name(args.dataset);
    let mut scenario = Scenario {
        name: Some(format!("bench-{}-{dataset}", args.task)),
        model: Model { id: Some(args.model.clone()), task: Some(args.task) },
        endpoint: endpoint(wanted)?,
        datasets: IndexMap::from([(dataset.to_owned(), self::dataset(wanted)?)]),
        traffic: Traffic {
            requests: Some(Requests::Count(args.num_prompts)),
            max_concurrency: Some(args.max_concurrency.unwrap_or(1)),
            request_rate: (!replay).then_some(args.request_rate),
            arrival: replay.then_some(Arrival::Trace),
            seed: Some(args.random_request_seed),
            ..Traffic::default()
        },
        warmup: warmup(wanted),
        slo: args.slo.then(|| Slo { scale: Some(args.slo_scale), ..Slo::default() }),
        simulator: Simulator { speed: args.speed, ..Simulator::default() },
        ..Scenario::default()
    };
    // what is downloaded is written down whole, and naming it was consent
    for Download { dataset, remote, .. } in downloads(&scenario) {
        if let Some(dataset) = scenario.datasets.get_mut(&dataset) {
            dataset.path = None;
            dataset.url = Some(remote.to_string());
            dataset.allow_download = Some(true);
        }
    }
    Ok(scenario)
}

/// Whether the flags leave the arrivals to a trace.
pub(super) fn may_replay(wanted: &Wanted<'_>) -> bool {
    wanted.args.dataset == BenchDataset::Trace && wanted.args.request_rate == Rate::Infinite
}

/// The dataset's name in the scenario and in the figures.
pub(super) const fn name(dataset: BenchDataset) -> &'static str {
    match dataset {
        BenchDataset::Vbench => "vbench",
        BenchDataset::Trace => "trace",
        BenchDataset::Random => "random",
        BenchDataset::Custom => "custom",
    }
}

fn endpoint(wanted: &Wanted<'_>) -> Result<Endpoint, String> {
    let limit = |seconds: f64| -> Result<Limit, String> {
        format!("{seconds}s").parse().map_err(|_| format!("`--video-job-timeout {seconds}` is too long"))
    };
    let job = (wanted.api == Api::Videos).then(|| limit(wanted.args.video_job_timeout)).transpose()?;
    Ok(Endpoint {
        url: Some(wanted.url()),
        path: Some(wanted.api.path().to_owned()),
        extra_body: wanted.extra_body.clone(),
        timeout: job.map(|job| Timeout { job: Some(job), ..Timeout::default() }),
        return_stage_metrics: wanted.return_stage_metrics().then_some(true),
        bot_task: wanted.bot_task(),
        // where it makes a difference
        spelling: matches!(wanted.api, Api::Chat | Api::Videos).then_some(Spelling::PythonClient),
        allow_unknown: wanted.unknown_fields().next().map(|_| true),
        ..Endpoint::default()
    })
}

fn dataset(wanted: &Wanted<'_>) -> Result<Dataset, String> {
    let args = wanted.args;
    let (source, on_short) = match args.dataset {
        BenchDataset::Random => (Source::Random, None),
        BenchDataset::Vbench => (Source::Vbench, Some(OnShort::Cycle)),
        BenchDataset::Custom => (Source::Custom, Some(OnShort::Cycle)),
        BenchDataset::Trace => (Source::Trace, Some(OnShort::Truncate)),
    };
    let path = args.dataset_path.as_ref().filter(|_| !wanted.is_random()).map(|path| match args.dataset {
        BenchDataset::Trace => {
            path.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
        }
        _ => vec![path.clone()],
    });
    Ok(Dataset {
        source: Some(source),
        path: path.map(PathList),
        url: (args.dataset == BenchDataset::Trace && args.dataset_path.is_none()).then(|| TRACES.to_owned()),
        on_short,
        profiles: wanted.profiles.iter().map(profile).collect::<Result<_, _>>()?,
        negative_prompt: wanted.negative_prompt().then_some(true),
        images: (wanted.is_random() && args.task.needs_image()).then(|| InputImages {
            count: Some(args.num_input_images.max(1)),
            width: Some(INPUT_SIDE),
            height: Some(INPUT_SIDE),
        }),
        videos: (wanted.is_random() && args.task.needs_video()).then(|| input_video(wanted)),
        defaults: wanted.defaults(),
        overrides: wanted.overrides(),
        request_seed: args.seed.filter(|_| !wanted.extra_body.contains_key("seed")).map(|_| RequestSeed::Fixed),
        ..Dataset::default()
    })
}

fn profile(table: &Table) -> Result<Profile, String> {
    let mut fields = table.clone();
    let weight = fields.shift_remove("weight").map(|weight| {
        weight
            .as_f64()
            .ok_or_else(|| format!("`--random-request-config` has the weight `{weight}`, which is not a number"))
    });
    Ok(Profile { weight: weight.transpose()?, fields })
}

/// One clip for all requests: of the shape that the flags ask for, else the first profile.
fn input_video(wanted: &Wanted<'_>) -> InputVideos {
    let (args, first) = (wanted.args, wanted.profiles.first());
    let whole = |flag: Option<u32>, key: &str, default: u32| {
        let asked = || first?.get(key)?.as_u64().and_then(|number| u32::try_from(number).ok());
        Some(flag.or_else(asked).unwrap_or(default))
    };
    let (width, height, frames, fps) = INPUT_VIDEO;
    InputVideos {
        count: Some(1),
        width: whole(args.width, "width", width),
        height: whole(args.height, "height", height),
        num_frames: whole(args.num_frames, "num_frames", frames),
        fps: args.fps.or_else(|| first?.get("fps")?.as_f64()).or(Some(fps)),
    }
}

fn warmup(wanted: &Wanted<'_>) -> Warmup {
    let args = wanted.args;
    let concurrency = args.warmup_concurrency.min(args.warmup_requests);
    Warmup {
        requests: Some(Match::Count(args.warmup_requests)),
        concurrency: (concurrency > 0).then_some(Match::Count(concurrency)),
        num_inference_steps: (concurrency > 0).then_some(args.warmup_num_inference_steps),
        ..Warmup::default()
    }
}
