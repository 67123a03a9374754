//! One run against a scripted server: plan, requests, results folder, and what came of it.

use std::time::Duration;

use indexmap::IndexMap;
use omni_bench::catalog::{Api, Task};
use omni_bench::execute::{Drive, DriveError, Driven, Progress, Secrets, Stop, Target, drive};
use omni_bench::plan::{
    Arrivals, EndpointPlan, PLAN_FORMAT, Phases, Plan, Point, PollPlan, ReadyPlan, RunPlan, TimeoutPlan, TrafficPlan,
    WarmupPlan,
};
use omni_bench::record::{CreatedJob, Record, ResultsDir, RunDir, read_journal};
use omni_bench::scenario::model::{Order, Validate};
use omni_bench::units::{ByteSize, Limit, Rate, Span};
use omni_bench::workload::{Reference, Request, Shape};

use crate::support::fake::{Answer, Fake};

/// A picture of 64 × 48 pixels, as a reply of the generations endpoint.
pub(crate) fn picture() -> Answer {
    const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAEAAAAAwCAAAAACEICPDAAAAJUlEQVR42u3MQREAAAwCIJtb3RD77SAA6VEEAoFAIBAIBALB12AMd/RMfhbwEQAAAABJRU5ErkJggg==";
    Answer::json(200, format!(r#"{{"created":1,"data":[{{"b64_json":"{PNG}"}}]}}"#))
}

/// A video of 64 × 64 pixels and 33 frames, as the content of a job.
pub(crate) fn video() -> Answer {
    Answer::bytes(200, "video/mp4", include_bytes!("../../fixtures/clip_64x64_33f_24fps.mp4").as_slice())
}

/// The state of a job.
pub(crate) fn job(id: &str, status: &str) -> Answer {
    Answer::json(200, format!(r#"{{"id":"{id}","object":"video","status":"{status}","progress":0,"error":null}}"#))
}

/// An error in the server's words.
pub(crate) fn error(status: u16, message: &str) -> Answer {
    Answer::json(
        status,
        format!(r#"{{"error":{{"message":"{message}","type":"Error","param":null,"code":{status}}}}}"#),
    )
}

/// Microseconds of a record in seconds.
pub(crate) fn seconds(us: u64) -> f64 {
    Duration::from_micros(us).as_secs_f64()
}

/// A run to be carried out.
pub(crate) struct Setup {
    pub(crate) api: Api,
    pub(crate) requests: usize,
    pub(crate) cap: Option<u32>,
    pub(crate) due_s: Option<Vec<f64>>,
    pub(crate) warmup: usize,
    pub(crate) warmup_concurrency: u32,
    pub(crate) warmup_steps: u32,
    pub(crate) calibration: usize,
    pub(crate) request_limit: Limit,
    pub(crate) job_limit: Limit,
    pub(crate) poll: PollPlan,
    pub(crate) sync_video: bool,
    pub(crate) stream: bool,
    pub(crate) validate: Validate,
    pub(crate) save_media: bool,
    pub(crate) speed: f64,
    pub(crate) max_reply: ByteSize,
    pub(crate) env: Vec<(&'static str, &'static str)>,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) stop: Stop,
    /// Done to the run's folder before the run.
    pub(crate) spoil: Option<fn(&RunDir)>,
}

impl Setup {
    pub(crate) fn images(requests: usize, cap: u32) -> Self {
        Self {
            api: Api::Generations,
            requests,
            cap: Some(cap),
            due_s: None,
            warmup: 0,
            warmup_concurrency: 1,
            warmup_steps: 50,
            calibration: 0,
            request_limit: Limit::After(Span::seconds(60)),
            job_limit: Limit::After(Span::seconds(60)),
            poll: PollPlan { first: Span::millis(20), growth: 0.0, max: Span::millis(20) },
            sync_video: false,
            stream: false,
            validate: Validate::Header,
            save_media: false,
            speed: 1.0,
            max_reply: ByteSize::megabytes(100),
            env: Vec::new(),
            headers: Vec::new(),
            stop: Stop::new(),
            spoil: None,
        }
    }

    pub(crate) fn videos(requests: usize, cap: u32) -> Self {
        Self { api: Api::Videos, ..Self::images(requests, cap) }
    }

    /// Edits whose replies are streams of events.
    pub(crate) fn streamed_edits(requests: usize) -> Self {
        Self { api: Api::Edits, stream: true, ..Self::images(requests, 1) }
    }

    pub(crate) fn poll_every(mut self, ms: u64) -> Self {
        self.poll = PollPlan { first: Span::millis(ms), growth: 0.0, max: Span::millis(ms) };
        self
    }

    pub(crate) fn job_limit_ms(mut self, ms: u64) -> Self {
        self.job_limit = Limit::After(Span::millis(ms));
        self
    }

    pub(crate) async fn run(self, server: &Fake) -> Outcome {
        let url = server.url.clone();
        self.run_at(&url).await
    }

    pub(crate) async fn run_at(self, url: &str) -> Outcome {
        let requests = self.requests;
        let (result, dir, _folder) = self.drive(url).await;
        Outcome::read(result, &dir, requests)
    }

    /// A run whose files cannot be read afterwards.
    pub(crate) async fn run_unread(self, server: &Fake) -> Result<Driven, DriveError> {
        self.drive(&server.url).await.0
    }

    async fn drive(mut self, url: &str) -> (Result<Driven, DriveError>, RunDir, tempfile::TempDir) {
        // another test may have been first
        rustls::crypto::ring::default_provider().install_default().ok();
        let folder = tempfile::tempdir().unwrap();
        let dir = ResultsDir::at(folder.path()).run("v/d/c1");
        fs_err::create_dir_all(dir.path()).unwrap();
        if let Some(spoil) = self.spoil {
            spoil(&dir);
        }
        let (run, endpoint) = (self.run_plan(), self.endpoint());
        let plan = self.plan(&run);
        let env = std::mem::take(&mut self.env);
        let lookup = |name: &str| env.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        let secrets = Secrets::resolve(&endpoint, lookup).unwrap_or_else(|error| panic!("{error}"));
        let target = Target { url: url.into(), model: "m".into(), speed: self.speed, secrets };
        let progress = Progress::silent();
        let job = Drive {
            plan: &plan,
            run: &run,
            endpoint: &endpoint,
            phases: self.phases(),
            target: &target,
            dir: &dir,
            save_media: self.save_media,
            stop: self.stop.clone(),
            progress: &progress,
            on_start: &|_| {},
        };
        let result = tokio::time::timeout(Duration::from_mins(1), drive(job))
            .await
            .expect("a run of this test ends within a minute");
        (result, dir, folder)
    }

    fn phases(&self) -> Phases {
        Phases {
            warmup: requests("warmup", self.warmup, self.api, self.warmup_steps),
            calibration: requests("calibration", self.calibration, self.api, 50),
            measured: requests("req", self.requests, self.api, 50).into(),
            due_s: self.due_s.clone(),
        }
    }

    fn run_plan(&self) -> RunPlan {
        RunPlan {
            id: "v/d/c1".into(),
            key: "0".repeat(16),
            workload_key: "0".repeat(16),
            config_key: "0".repeat(16),
            variant: "v".into(),
            dataset: "d".into(),
            traffic: TrafficPlan {
                requests: self.requests as u64,
                max_concurrency: self.cap,
                request_rate: Rate::Infinite,
                arrivals: if self.due_s.is_some() { Arrivals::Constant } else { Arrivals::Closed },
                seed: 42,
            },
            point: Point::default(),
            warmup: WarmupPlan {
                requests: u32::try_from(self.warmup).unwrap(),
                concurrency: self.warmup_concurrency,
                num_inference_steps: None,
                num_frames: None,
                matched: true,
            },
            repeat: 1,
            gpus: 1,
            estimate_s: None,
        }
    }

    pub(crate) fn endpoint(&self) -> EndpointPlan {
        EndpointPlan {
            url: None,
            api: self.api,
            api_key_env: Some("KEY".into()),
            headers: self.headers.iter().map(|(name, variable)| ((*name).to_owned(), (*variable).to_owned())).collect(),
            extra_body: IndexMap::new(),
            ready: ReadyPlan { path: "/health".into(), timeout: Span::seconds(1) },
            timeout: TimeoutPlan {
                connect: Limit::After(Span::seconds(5)),
                request: self.request_limit,
                job: self.job_limit,
            },
            poll: self.poll.clone(),
            stream: self.stream,
            spelling: omni_bench::catalog::Spelling::Plain,
            sync_video: self.sync_video,
            return_stage_metrics: false,
            bot_task: None,
            validate: self.validate,
            allow_unknown: false,
            max_reply: self.max_reply,
            ca_file: None,
            proxy: None,
            http2: false,
        }
    }

    fn plan(&self, run: &RunPlan) -> Plan {
        Plan {
            format: PLAN_FORMAT,
            tool_version: "0".into(),
            scenario: "s".into(),
            title: "S".into(),
            description: None,
            tags: Vec::new(),
            plan_hash: "0".repeat(64),
            model: "m".into(),
            task: task(self.api),
            simulated: false,
            speed: self.speed,
            simulator_profile: None,
            simulator_noise: 0.0,
            simulator_faults: Vec::new(),
            environment: IndexMap::new(),
            server: None,
            variants: Vec::new(),
            datasets: IndexMap::new(),
            varying: Vec::new(),
            repeats: 1,
            order: Order::default(),
            runs: vec![run.clone()],
            steps: Vec::new(),
            starts: 0,
            slo: None,
            allow_failures: 0,
            compare: None,
            page: None,
            limits: None,
        }
    }
}

fn task(api: Api) -> Task {
    match api {
        Api::Videos => Task::T2v,
        Api::Edits => Task::I2i,
        Api::Chat | Api::Generations => Task::T2i,
    }
}

/// An image to be edited.
fn reference() -> Reference {
    let bytes = omni_bench::media::write_image(omni_bench::media::ImageFormat::Png, 64, 48, 1).unwrap();
    Reference::Bytes { bytes: bytes.into(), mime: "image/png".into(), file_name: "a.png".into() }
}

fn requests(stem: &str, count: usize, api: Api, steps: u32) -> Vec<Request> {
    let video = api == Api::Videos;
    let (width, height) = if video { (64, 64) } else { (64, 48) };
    (0..count)
        .map(|index| Request {
            index,
            row: 0,
            request_id: format!("{stem}-{:04}", index + 1),
            task: task(api),
            shape: Shape {
                width: Some(width),
                height: Some(height),
                num_inference_steps: Some(steps),
                num_frames: video.then_some(33),
                fps: video.then_some(24.0),
            },
            prompt: format!("prompt {index} of {stem}"),
            negative_prompt: None,
            n: None,
            seed: Some(index as u64),
            fields: IndexMap::new(),
            images: if api == Api::Edits { vec![reference()] } else { Vec::new() },
            videos: Vec::new(),
            slo_ms: None,
            timestamp_s: None,
        })
        .collect()
}

/// What a run left behind.
pub(crate) struct Outcome {
    pub(crate) result: Result<Driven, DriveError>,
    /// Measured records, by index.
    pub(crate) records: Vec<Record>,
    pub(crate) warmup: Vec<Record>,
    pub(crate) calibration: Vec<Record>,
    pub(crate) jobs: Vec<CreatedJob>,
    /// Names of the kept media, sorted.
    pub(crate) media: Vec<String>,
    /// Every journal as text.
    pub(crate) text: String,
}

impl Outcome {
    fn read(result: Result<Driven, DriveError>, dir: &RunDir, requests: usize) -> Self {
        let journal = |path: std::path::PathBuf| read_journal::<Record>(&path).unwrap().items;
        let mut records = journal(dir.records());
        records.sort_by_key(|record| record.index);
        let files = [dir.records(), dir.warmup(), dir.jobs()];
        let text = files.iter().filter_map(|path| fs_err::read_to_string(path).ok()).collect();
        let jobs = read_journal(&dir.jobs()).unwrap().items;
        let entries = fs_err::read_dir(dir.media()).map(Iterator::collect::<Vec<_>>).unwrap_or_default();
        let name = |entry: std::io::Result<fs_err::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut media: Vec<String> = entries.into_iter().map(name).collect();
        media.sort();
        let outcome = Self {
            result,
            records,
            warmup: journal(dir.warmup()),
            calibration: journal(dir.calibration()),
            jobs,
            media,
            text,
        };
        outcome.check(requests);
        outcome
    }

    /// What holds for every run, on every exit path.
    fn check(&self, requests: usize) {
        if let Ok(driven) = &self.result {
            assert_eq!(driven.counts.total(), requests as u64);
            let indices: Vec<usize> = self.records.iter().map(|record| record.index).collect();
            assert_eq!(indices, (0..requests).collect::<Vec<_>>(), "every request has one record");
        }
        for record in self.records.iter().chain(&self.warmup).chain(&self.calibration) {
            assert_eq!(record.error.is_none(), record.status == omni_bench::record::Status::Ok);
            assert!(record.error.as_ref().is_none_or(|error| !error.message.trim().is_empty()), "{record:?}");
            let times = [
                record.sent_us.map(|_| record.due_us),
                record.sent_us,
                record.headers_us,
                record.first_byte_us,
                record.body_done_us,
                Some(record.done_us),
            ];
            let times: Vec<u64> = times.into_iter().flatten().collect();
            assert!(times.is_sorted(), "times of a request run forward: {record:?}");
            assert_eq!(record.latency_us, record.sent_us.map(|sent| record.done_us - sent));
        }
    }

    pub(crate) fn driven(&self) -> &Driven {
        self.result.as_ref().unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn failed(&self) -> &DriveError {
        self.result.as_ref().expect_err("the run cannot be carried out")
    }

    /// The words of a record's error, as `class: message`.
    pub(crate) fn error(&self, index: usize) -> String {
        self.records[index]
            .error
            .as_ref()
            .map(|error| format!("{}: {}", error.class, error.message))
            .unwrap_or_default()
    }
}
