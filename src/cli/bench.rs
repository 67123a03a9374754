//! `bench`: the flags of the serving benchmark that people have scripts for.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum, value_parser};

use crate::catalog::Task;
use crate::units::Rate;

/// What the help says about flags that mean something better than they did.
const DIFFERENCES: &str = "\
Where this differs from vLLM-Omni's diffusion_benchmark_serving.py (whose way stands in brackets):
* outcome: a 200 without a readable picture or video is a failure, not a success; the exit code
  is 3 when a request failed or was cut (it was 0)
* limits: a request cut by a limit is censored: it counts as failed, its time is no latency, and
  a percentile that it leaves unknown reads `≥`; the limits are 10 s to connect, 15 min for an
  exchange (5 min) and --video-job-timeout for a job from its creation (10 min)
* latency: ends when the reply is read; polls of a video job come after 50 ms and then in 5 %
  steps of its time (every 2 s), and its DELETE is not counted
* warm-up: keeps the measured shapes (t2v had 1 frame) except for --warmup-num-inference-steps,
  and has prompts of its own; when one fails the run stops and says why
* --slo: targets come from 3 calibration requests per class of shapes, sent one by one after the
  warm-up (from warm-ups, scaled linearly); rows with `slo_ms` keep theirs
* arrivals: a rate draws its Poisson arrivals from --random-request-seed, before the first
  request and without drift (unseeded); without a rate a trace is replayed at its time stamps
  (they were ignored), and what waits for --max-concurrency counts in the response time
* --random-request-seed: is a flag (42); a profile without `weight` has weight 1, and any
  request field may stand in it
* --extra-body: fills gaps, and a row's own value wins (it replaced rows); a typed flag that says
  otherwise is an error; a field that the endpoint is not known to read is sent and named (edits
  dropped it)
* --width, --height: belong together (one alone lost both sizes of a trace)
* --num-frames, --fps: fill the gaps of a custom dataset too, and are named when the endpoint
  has no place for them
* --num-input-images: all go to /v1/videos (only the first did)
* t2i with /v1/images/edits: is refused beforehand (it crashed)
* datasets: a failed download is an error (a placeholder list); nothing that was downloaded is
  executed, so vbench with an image task needs --dataset-path
* figures: what was not measured is null in --output-file and `n/a` in print (0); simulated
  figures say so, with `simulated` and `speed` in the file; stage times are printed in seconds
  (mixed)
* files: records, summaries and tables go to a folder under --out, as those of `run` do";

/// Where requests come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BenchDataset {
    /// The `VBench` prompt list.
    Vbench,
    /// A recorded trace.
    Trace,
    /// Synthetic prompts.
    Random,
    /// Rows of a JSONL or CSV file.
    Custom,
}

/// Arguments of `bench`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = DIFFERENCES, allow_negative_numbers = true, infer_long_args = true)]
pub struct BenchArgs {
    /// Base URL of the server; overrides host and port.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Server host.
    #[arg(long, default_value = "localhost")]
    pub host: String,
    /// Server port.
    #[arg(long, default_value_t = 8091)]
    pub port: u16,
    /// Model name sent with every request; `auto` asks the server.
    #[arg(long, default_value = "default")]
    pub model: String,
    /// Endpoint path, with or without the leading slash [default: follows the task: videos, edits, chat
    /// for t2i].
    #[arg(long, value_name = "PATH")]
    pub endpoint: Option<String>,
    /// Older name of --endpoint; also takes `vllm-omni` (chat) and `openai` (generations).
    #[arg(long, value_name = "NAME")]
    pub backend: Option<String>,
    /// Where requests come from; naming one that is downloaded is consent to the download.
    #[arg(long, value_enum, default_value_t = BenchDataset::Vbench)]
    pub dataset: BenchDataset,
    /// File or folder of the dataset; for a trace also a glob, or several joined by commas.
    #[arg(long, value_name = "PATH")]
    pub dataset_path: Option<String>,
    /// Task.
    #[arg(long, value_name = "TASK", default_value = "t2v", value_parser = tasks())]
    pub task: Task,
    /// Number of measured requests.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one)]
    pub num_prompts: u64,
    /// Most requests in flight [default: 1].
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub max_concurrency: Option<u32>,
    /// Arrivals per second; `inf` sends as slots become free.
    #[arg(long, value_name = "RATE", default_value = "inf", value_parser = rate)]
    pub request_rate: Rate,
    /// Requests before the measured ones.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub warmup_requests: u32,
    /// Steps of warm-up requests.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = value_parser!(u32).range(1..))]
    pub warmup_num_inference_steps: u32,
    /// Most warm-up requests in flight.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..))]
    pub warmup_concurrency: u32,
    /// Width in pixels.
    #[arg(long, requires = "height", value_parser = value_parser!(u32).range(1..))]
    pub width: Option<u32>,
    /// Height in pixels.
    #[arg(long, requires = "width", value_parser = value_parser!(u32).range(1..))]
    pub height: Option<u32>,
    /// Frames of a video.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub num_frames: Option<u32>,
    /// Frames per second of a video.
    #[arg(long, value_parser = above_zero)]
    pub fps: Option<f64>,
    /// Denoising steps [default: 50].
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub num_inference_steps: Option<u32>,
    /// Seed sent with every request [default: none is sent].
    #[arg(long, value_parser = seed)]
    pub seed: Option<u64>,
    /// Report how many requests met their target.
    #[arg(long)]
    pub slo: bool,
    /// Target as a multiple of the time of a request alone on the server.
    #[arg(long, value_name = "FACTOR", default_value_t = 3.0, value_parser = above_zero)]
    pub slo_scale: f64,
    /// Folder for the pictures and videos that come back: `req_0000_00.png`, `req_0000.mp4`.
    #[arg(long, value_name = "DIR")]
    pub save_dir: Option<PathBuf>,
    /// File for the figures as JSON.
    #[arg(long, value_name = "FILE")]
    pub output_file: Option<PathBuf>,
    /// Send a synthetic negative prompt with every request of a random dataset.
    #[arg(long)]
    pub enable_negative_prompt: bool,
    /// Weighted request profiles of a random dataset, as a JSON list:
    /// `[{"width":512,"height":512,"num_inference_steps":20,"weight":0.15}, …]`.
    #[arg(long, value_name = "JSON")]
    pub random_request_config: Option<String>,
    /// Seed of the draws from these profiles, and of the arrivals.
    #[arg(long, value_name = "SEED", default_value_t = 42, value_parser = seed)]
    pub random_request_seed: u64,
    /// Request fields sent with every request, as a JSON object.
    #[arg(long, value_name = "JSON")]
    pub extra_body: Option<String>,
    /// Synthetic input images per request of a random dataset.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub num_input_images: u32,
    /// `bot_task` sent to /v1/images/edits [default: think].
    #[arg(long, value_name = "TASK")]
    pub bot_task: Option<String>,
    /// Ask chat for per-stage metrics.
    #[arg(long)]
    pub return_stage_metrics: bool,
    /// Limit for a video job in seconds, from its creation.
    #[arg(long, value_name = "SECONDS", default_value_t = 900.0, value_parser = above_zero)]
    pub video_job_timeout: f64,
    /// Never draw a progress bar.
    #[arg(long)]
    pub disable_tqdm: bool,
    /// Answer from the embedded simulator instead of a server.
    #[arg(long)]
    pub simulate: bool,
    /// Time base of the simulator [default: 20].
    #[arg(long, requires = "simulate", value_name = "N", value_parser = above_zero)]
    pub speed: Option<f64>,
    /// Print the equivalent scenario and send nothing.
    #[arg(long)]
    pub print_scenario: bool,
    /// Folder of all results.
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub out: PathBuf,
}

fn tasks() -> impl TypedValueParser<Value = Task> {
    PossibleValuesParser::new(Task::ALL.map(Task::name)).map(|name| {
        // the parser lets no other name through
        Task::ALL.into_iter().find(|task| task.name() == name).unwrap_or(Task::T2v)
    })
}

fn rate(text: &str) -> Result<Rate, String> {
    let wrong = || format!("`{text}` is not a rate; give requests per second above 0, or `inf`");
    match text.parse::<f64>() {
        Ok(rate) if rate == f64::INFINITY => Ok(Rate::Infinite),
        Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(Rate::PerSecond(rate)),
        _ => Err(wrong()),
    }
}

fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a whole number of at least 0"))
}

fn at_least_one(text: &str) -> Result<u64, String> {
    text.parse()
        .ok()
        .filter(|number| *number > 0)
        .ok_or_else(|| format!("`{text}` is not a whole number of at least 1"))
}

fn above_zero(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err(format!("`{text}` is not a number above 0")),
    }
}
