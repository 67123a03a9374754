//! What is done with hostile bytes: a function per parser of what others wrote, each of which panics
//! where the parser would break its word. In: any bytes. Shared by `fuzz/`, whose targets carry the
//! same names, and by the test that runs the corpora without a fuzzer.

use std::path::Component;

use indexmap::IndexMap;
use omni_bench::catalog::{Api, Spelling, Task};
use omni_bench::endpoint::{JobReader, JobState, Judge, Reply, Verdict, Wire, inspect, server_message};
use omni_bench::media::{ImageInfo, ImageProbe, MediaError, VideoInfo, VideoProbe, check_image, decode_image};
use omni_bench::plan::{self, Hosting, Plan, PlanInput};
use omni_bench::record::{CreatedJob, Journal, Record, RequestError, ResultsDir, RunManifest, read_journal, read_json};
use omni_bench::scenario::{Loaded, Scenario, load_text};
use omni_bench::workload::{self, Request, Selection, Shape, Sources};
use serde_json::Value;

/// The text of a TOML scenario.
pub fn scenario_toml(input: &[u8]) {
    scenario("fuzz.toml", input);
}

/// The text of a YAML scenario.
pub fn scenario_yaml(input: &[u8]) {
    scenario("fuzz.yaml", input);
}

fn scenario(name: &str, input: &[u8]) {
    match load_text(name, &String::from_utf8_lossy(input), &[]) {
        Ok(loaded) => planned(&loaded),
        Err(broken) => {
            assert!(broken.problems().all(|problem| !problem.message.is_empty()));
            assert!(broken.render(false).starts_with("error: "));
        }
    }
}

fn planned(loaded: &Loaded) {
    let scenario = &loaded.scenario;
    drop(loaded.entries());
    let simulated = Hosting::Simulated { speed: 1.0 };
    for hosting in [Hosting::Given, Hosting::Launched, simulated] {
        let problems = plan::check(scenario, hosting, None);
        assert!(problems.is_empty() || loaded.render(&problems, false).starts_with("error: "));
    }
    if !is_modest(&serde_json::to_value(scenario).unwrap()) {
        return;
    }
    let made = workload::load(scenario, &Sources::default()).and_then(|data| {
        plan::plan(&PlanInput { scenario, data: &data, hosting: simulated, only: &[], repeats: None, estimate: None })
    });
    match made {
        Ok(plan) => check_ids(&plan),
        Err(problems) => assert!(loaded.render(&problems, false).starts_with("error: ")),
    }
}

/// Whether planning takes a moment only, and reads no files: neither large numbers nor a path.
fn is_modest(value: &Value) -> bool {
    match value {
        Value::Object(table) => table.iter().all(|(key, value)| {
            let names_files = key.contains("path") || key.contains("reference");
            (!names_files || value.is_null()) && is_modest(value)
        }),
        Value::Array(list) => list.len() <= 8 && list.iter().all(is_modest),
        Value::Number(number) => number.as_f64().is_none_or(|number| number <= 2048.0),
        _ => true,
    }
}

/// Ids are unique, and each is a path that stays inside the folder of runs.
pub fn check_ids(plan: &Plan) {
    let folder = ResultsDir::at("results");
    let mut seen = std::collections::BTreeSet::new();
    for run in &plan.runs {
        assert!(seen.insert(&run.id), "{} is there twice", run.id);
        let path = folder.run(&run.id);
        assert_eq!(path.path(), folder.path().join("runs").join(&run.id), "the id is not safe as it is");
        assert!(path.path().components().all(|part| matches!(part, Component::Normal(_))), "{}", run.id);
    }
}

/// The lines of a data file. The first byte says of which kind: `t`, `j` and `c` are a trace as text, JSON
/// lines and CSV, `J` and `C` custom rows, `v` a VBench list.
pub fn trace_lines(input: &[u8]) {
    let Some((kind, lines)) = input.split_first() else { return };
    let (source, name) = match kind {
        b'j' => ("trace", "rows.jsonl"),
        b'c' => ("trace", "rows.csv"),
        b'J' => ("custom", "rows.jsonl"),
        b'C' => ("custom", "rows.csv"),
        b'v' => ("vbench", "rows.json"),
        _ => ("trace", "rows.txt"),
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs_err::write(&path, lines).unwrap();
    for task in [Task::T2i, Task::Ti2v] {
        let text = format!(
            "model = {{ task = '{task}' }}\ndatasets.d = {{ source = '{source}', path = '{}', images = {{ width = 8, height = 8 }} }}",
            path.display()
        );
        let text = if task.needs_image() { text } else { text.replace(", images = { width = 8, height = 8 }", "") };
        let scenario: Scenario = toml::from_str(&text).unwrap();
        match workload::load(&scenario, &Sources::default()) {
            Err(problems) => assert!(problems.iter().all(|problem| !problem.message.is_empty())),
            Ok(data) => {
                let selection =
                    Selection { task, requests: 4, seed: 42, size: None, num_inference_steps: None, num_frames: None };
                for request in &data.requests("d", &selection) {
                    encoded(request, if task.needs_image() { Api::Videos } else { Api::Generations });
                }
            }
        }
    }
}

fn encoded(request: &Request, api: Api) {
    match wire(api, request.task).encode(request) {
        Ok(body) => assert!(!body.is_empty()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn wire(api: Api, task: Task) -> Wire {
    Wire {
        api,
        task,
        model: "m".to_owned(),
        extra_body: IndexMap::new(),
        bot_task: None,
        return_stage_metrics: false,
        stream: false,
        spelling: Spelling::Plain,
        sync_video: false,
        check_media: true,
        keep_pictures: false,
        max_reply: 64 << 20,
    }
}

fn request(task: Task) -> Request {
    Request {
        index: 0,
        row: 0,
        request_id: "r".to_owned(),
        task,
        shape: Shape { width: Some(64), height: Some(48), ..Shape::default() },
        prompt: "a cat".to_owned(),
        negative_prompt: None,
        n: None,
        seed: None,
        fields: IndexMap::new(),
        images: Vec::new(),
        videos: Vec::new(),
        slo_ms: None,
        timestamp_s: None,
    }
}

fn head(status: u16, content_type: &str) -> Reply {
    Reply { status, content_type: Some(content_type.to_owned()), ..Reply::default() }
}

/// The pieces in which a reply arrives: one and then many bytes in turn, by `step`.
fn pieces(mut body: &[u8], step: u8) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    while !body.is_empty() {
        let wanted = if pieces.len() % 2 == 0 { 1 + usize::from(step % 4) } else { 1 + usize::from(step) };
        let (piece, rest) = body.split_at(wanted.min(body.len()));
        pieces.push(piece);
        body = rest;
    }
    pieces
}

fn judged(wire: &Wire, head: &Reply, pieces: &[&[u8]]) -> Verdict {
    let mut judge = Judge::reply(wire, &request(wire.task), head, None);
    for piece in pieces {
        judge.feed(piece);
    }
    judge.finish()
}

/// A reply is judged alike however it is cut, and is either media or an error with a message.
fn replied(wire: &Wire, head: &Reply, body: &[u8], step: u8) {
    let verdict = judged(wire, head, &[body]);
    assert_eq!(verdict, judged(wire, head, &pieces(body, step)));
    assert_eq!(verdict.bytes, body.len() as u64);
    match &verdict.error {
        Some(error) => assert!(!error.message.is_empty() && verdict.outputs.is_empty()),
        None => assert!(!verdict.outputs.is_empty()),
    }
    for picture in &verdict.pictures {
        let mut probe = ImageProbe::new();
        probe.feed(picture);
        if probe.info().is_some_and(is_small) {
            inspect(picture);
        }
    }
}

fn job(head: &Reply, create: bool, pieces: &[&[u8]]) -> Result<JobState, RequestError> {
    let mut reader = if create { JobReader::for_create(head) } else { JobReader::new(head) };
    for piece in pieces {
        reader.feed(piece);
    }
    reader.finish()
}

/// A JSON reply. The first byte says to what (`c`hat, `g`enerations, `e`dits, `f`ully checked generations,
/// `h`tml, `x` an error, `j`ob, `k` a new job), the second how it is cut.
pub fn reply_json(input: &[u8]) {
    let [kind, step, body @ ..] = input else { return };
    let (step, json) = (*step, head(200, "application/json"));
    match kind {
        b'c' => replied(&wire(Api::Chat, Task::T2i), &json, body, step),
        b'e' => replied(&wire(Api::Edits, Task::I2i), &json, body, step),
        b'f' => replied(&Wire { keep_pictures: true, ..wire(Api::Generations, Task::T2i) }, &json, body, step),
        b'h' => replied(&wire(Api::Chat, Task::T2i), &head(200, "text/html; charset=x"), body, step),
        b'x' => {
            replied(&wire(Api::Generations, Task::T2i), &head(500, "application/json"), body, step);
            assert!(!server_message(500, body).is_empty());
        }
        b'j' | b'k' => {
            for head in [json, head(500, "application/json")] {
                let state = job(&head, *kind == b'k', &[body]);
                assert_eq!(state, job(&head, *kind == b'k', &pieces(body, step)));
            }
        }
        _ => replied(&wire(Api::Generations, Task::T2i), &json, body, step),
    }
}

/// A reply that is a stream of events. The first byte says how it is cut.
pub fn reply_sse(input: &[u8]) {
    let [step, body @ ..] = input else { return };
    let wire = Wire { stream: true, ..wire(Api::Edits, Task::I2i) };
    replied(&wire, &head(200, "text/event-stream"), body, *step);
}

fn probed(pieces: &[&[u8]]) -> Result<ImageInfo, MediaError> {
    let mut probe = ImageProbe::new();
    for piece in pieces {
        probe.feed(piece);
    }
    probe.finish()
}

fn is_small(info: ImageInfo) -> bool {
    u64::from(info.width) * u64::from(info.height) <= 1 << 18
}

/// A picture. The first byte says how it is cut.
pub fn image_header(input: &[u8]) {
    let [step, file @ ..] = input else { return };
    let info = probed(&[file]);
    assert_eq!(info, probed(&pieces(file, *step)));
    if let Ok(checked) = check_image(file) {
        assert_eq!(info, Ok(checked));
    }
    if info.as_ref().is_ok_and(|info| is_small(*info)) {
        // the pixels may be anything, but must not panic
        drop(decode_image(file));
    }
}

fn watched(pieces: &[&[u8]]) -> Result<VideoInfo, MediaError> {
    let mut probe = VideoProbe::new();
    for piece in pieces {
        probe.feed(piece);
    }
    probe.finish()
}

/// A video. The first byte says how it is cut.
pub fn video_container(input: &[u8]) {
    let [step, file @ ..] = input else { return };
    let info = watched(&[file]);
    assert_eq!(info, watched(&pieces(file, *step)));
    if let Ok(info) = info {
        assert!(info.frames <= file.len() as u64, "{info:?}");
    }
    replied(&wire(Api::Videos, Task::T2v), &head(200, "video/mp4"), file, *step);
}

/// The files of a results folder, each with these bytes in it. What is appended to a journal comes back
/// whole, behind everything that could be read before.
pub fn records(input: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.jsonl");
    fs_err::write(&path, input).unwrap();
    drop(read_journal::<Record>(&path).unwrap());
    let before = read_journal::<CreatedJob>(&path).unwrap();
    let job = CreatedJob { index: Some(7), job_id: "job".to_owned(), live: true };
    Journal::open(&path).unwrap().append(std::slice::from_ref(&job)).unwrap();
    let after = read_journal::<CreatedJob>(&path).unwrap();
    assert_eq!((after.items.len(), after.items.last()), (before.items.len() + 1, Some(&job)));
    assert_eq!(after.items.get(..before.items.len()), Some(before.items.as_slice()));
    drop(read_json::<RunManifest>(&path));
    let results = ResultsDir::at(folder.path());
    fs_err::write(results.plan(), input).unwrap();
    if let Err(error) = results.read_plan() {
        assert!(!error.to_string().is_empty());
    }
}
