//! Large plans, large results, and starting: what needs no server.

use std::path::Path;
use std::process::Command;

use omni_bench::plan::{Hosting, Plan, PlanInput, plan as planned};
use omni_bench::record::{Journal, Record, ResultsDir, write_json};
use omni_bench::scenario::Scenario;
use omni_bench::workload::{Sources, load};
use serde_json::json;

use crate::Outcome;
use crate::process::{Cost, run};
use crate::table::{Spread, Style, Table, Wanted};

const TURNS: usize = 5;
const RECORDS: u32 = 1_000_000;

const HEAD: &str = "name = 'cost'\n[model]\nid = 'Qwen/Qwen-Image'\ntask = 't2i'\n[endpoint]\nurl = 'http://127.0.0.1:1'\n\
                    [datasets.A]\nprofiles = [{ width = 512, height = 512, num_inference_steps = 20 }]\n";

fn spread(costs: &[Cost], of: fn(&Cost) -> f64) -> Outcome<Spread> {
    Spread::of(costs.iter().map(of).collect())
}

/// 100,000 runs, by the command that shows them.
pub(crate) fn plan(binary: &Path, table: &mut Table) -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("scenario.toml");
    let numbers = |count: u32| (1..=count).map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
    let matrix = format!("[matrix]\nmax_concurrency = [{}]\nseed = [{}]\n", numbers(250), numbers(400));
    fs_err::write(&file, format!("{HEAD}{matrix}"))?;
    let mut costs = Vec::new();
    for _ in 0..TURNS {
        let (out, cost) = run(Command::new(binary).arg("validate").arg(&file))?;
        if !out.contains("100000 runs") {
            return Err(format!("not 100,000 runs: {out}").into());
        }
        costs.push(cost);
    }
    table.add("100,000 runs planned", spread(&costs, |cost| cost.wall_s)?, Wanted::AtMost(2.0, 0.5), Style(2, " s"));
    table.add("the same: peak memory", spread(&costs, |cost| cost.peak_mb)?, Wanted::Nothing, Style(0, " MB"));
    Ok(())
}

/// 1,000,000 records read and summarised, by the command that reports them.
pub(crate) fn summary(binary: &Path, table: &mut Table) -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let dir = results(folder.path())?;
    let mut costs = Vec::new();
    for _ in 0..TURNS {
        let (out, cost) = run(Command::new(binary).arg("report").arg(dir.path()).args(["--format", "json"]))?;
        let told: serde_json::Value = serde_json::from_str(&out)?;
        if told.pointer("/runs/0/completed") != Some(&json!(RECORDS)) {
            return Err("the report does not tell of every record".into());
        }
        costs.push(cost);
    }
    let what = "1,000,000 records summarised";
    table.add(what, spread(&costs, |cost| cost.wall_s)?, Wanted::AtMost(5.0, 2.0), Style(2, " s"));
    let memory = spread(&costs, |cost| cost.peak_mb)?;
    table.add(format!("{what}: peak memory"), memory, Wanted::AtMost(500.0, 200.0), Style(0, " MB"));
    Ok(())
}

/// A results folder of one run with a million records and no summary.
fn results(folder: &Path) -> Outcome<ResultsDir> {
    let text = format!("{HEAD}[traffic]\nrequests = {RECORDS}\nmax_concurrency = 64\n");
    let scenario: Scenario = toml::from_str(&text)?;
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
    let plan: Plan = planned(&input).map_err(problems)?;
    let run = plan.runs.first().ok_or("there is no run")?;
    let dir = ResultsDir::at(folder);
    write_json(&dir.plan(), &plan)?;
    let place = dir.run(&run.id);
    fs_err::create_dir_all(place.path())?;
    let manifest = json!({
        "format": 1, "id": run.id, "key": run.key, "plan_hash": plan.plan_hash, "state": "complete", "reason": null, "attempt": 1,
        "claim": {"host": "here", "pid": 1, "at": "2026-09-01T10:00:00Z"},
        "started_at": "2026-09-01T10:00:00Z", "ended_at": "2026-09-01T10:10:00Z",
        "server": {"folder": null, "url": "http://127.0.0.1:1", "models": null, "version": null},
        "model": "Qwen/Qwen-Image", "simulated": false, "speed": 1.0, "client": null,
    });
    write_json(&place.manifest(), &manifest)?;
    let mut journal = Journal::open(&place.records())?;
    let numbers: Vec<u32> = (0..RECORDS).collect();
    for chunk in numbers.chunks(1000) {
        let records = chunk.iter().map(|number| record(*number)).collect::<Outcome<Vec<Record>>>()?;
        journal.append(&records)?;
    }
    Ok(dir)
}

/// A request that took between 40 and 60 ms, 64 at a time.
fn record(number: u32) -> Outcome<Record> {
    let sent = u64::from(number / 64) * 60_000;
    let latency = 40_000 + u64::from(number.wrapping_mul(2_654_435_761) >> 16) % 20_000;
    Ok(serde_json::from_value(json!({
        "index": number, "row": 0, "class": "512x512-s20", "request_id": format!("req-{:04}", number + 1), "job_id": null,
        "server_request_id": null, "status": "ok", "error": null, "due_us": sent, "sent_us": sent + 20,
        "headers_us": sent + latency - 300, "first_byte_us": sent + latency - 200, "body_done_us": sent + latency - 10,
        "done_us": sent + 20 + latency, "latency_us": latency, "response_time_us": latency + 20, "created_us": null,
        "first_terminal_us": null, "content_done_us": null, "polls": [], "job_bounds_us": null,
        "asked": {"width": 512, "height": 512, "num_inference_steps": 20, "num_frames": null, "fps": null, "n": 1},
        "bytes": 1_048_576,
        "outputs": [{
            "kind": "png", "width": 512, "height": 512, "frames": null, "fps": null, "duration_s": null, "bytes": 786_432,
            "blake3": format!("{:064x}", u128::from(number) << 64 | u128::from(number)),
        }],
        "stream": null, "judged_us": null, "flags": [], "generation_ms": null, "stage_ms": {}, "peak_memory_mb": null,
        "slo_ms": null, "seed": null, "attempts": 1,
    }))?)
}

/// How long the tool takes to start, and how large it is.
pub(crate) fn start(binary: &Path, table: &mut Table) -> Outcome<()> {
    let mut took_ms = Vec::new();
    for _ in 0..4 * TURNS {
        let begun = std::time::Instant::now();
        let output = Command::new(binary).arg("--version").output()?;
        took_ms.push(begun.elapsed().as_secs_f64() * 1e3);
        if !output.status.success() {
            return Err("`--version` failed".into());
        }
    }
    table.add("`--version`", Spread::of(took_ms)?, Wanted::AtMost(10.0, 3.0), Style(1, " ms"));
    let bytes = u32::try_from(fs_err::metadata(binary)?.len())?;
    let megabytes = Spread::of(vec![f64::from(bytes) / 1e6])?;
    table.add("stripped binary", megabytes, Wanted::AtMost(15.0, 10.0), Style(1, " MB"));
    Ok(())
}
