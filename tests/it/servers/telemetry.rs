//! What a server and its GPUs do while a run goes on, from the samples to the page.

use serde_json::Value;

use super::{Painter, json, lines, metrics, scenario};
use crate::support::{Sandbox, repository};

/// A run of a real server with recorded GPUs: the scenario declares another GPU than they are.
fn recorded(sandbox: &Sandbox, painter: &Painter) -> String {
    let more = format!(
        "[endpoint]\nurl = \"{}\"\npath = \"/v1/images/generations\"\n\n\
         [environment]\ngpu = \"NVIDIA H100 80GB HBM3\"\ndriver = \"570\"\nattention_backend = \"FlashAttention\"\n",
        painter.fake.url
    );
    fs_err::write(sandbox.path().join("small.toml"), scenario(5, "[1]", &more)).unwrap();
    let mut command = sandbox.command(&["run", "small.toml"]);
    command.env("OMNI_BENCH_TEST_DEVICES", repository().join("tests/fixtures/devices/two_a100.jsonl"));
    let output = command.output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{talk}");
    format!("{talk}\n{}", String::from_utf8_lossy(&output.stdout))
}

/// Time and a value of the samples that have it.
fn series(samples: &[Value], pointer: &str) -> Vec<(f64, f64)> {
    let at = |sample: &Value| (sample["at_us"].as_f64().unwrap() + sample["took_us"].as_f64().unwrap() / 2.0) / 1e6;
    samples.iter().filter_map(|sample| Some((at(sample), sample.pointer(pointer)?.as_f64()?))).collect()
}

fn near(value: &Value, wanted: f64) {
    let value = value.as_f64().unwrap_or_else(|| panic!("null instead of {wanted}"));
    assert!((value - wanted).abs() <= 1e-6 * wanted.abs().max(1.0), "{value} instead of {wanted}");
}

#[test]
fn recorded_gpus_and_a_servers_metrics_go_from_samples_to_the_page() {
    let (sandbox, painter) = (Sandbox::new(), Painter::start(500, Some(metrics)));
    let talk = recorded(&sandbox, &painter);
    let latest = sandbox.path().join("results/small/latest");
    let samples = lines(&latest.join("servers/v-1/telemetry.jsonl"));
    assert!(samples.iter().all(|sample| sample["run"] == "v/A/c1"));
    let run = &json(&latest.join("results.json"))["runs"][0];
    let told = &run["telemetry"];

    // the first and the last look enclose the requests
    let energy = series(&samples, "/gpus/0/energy_j");
    let records = lines(&latest.join("runs/v/A/c1/records.jsonl"));
    let last = records.iter().map(|record| record["done_us"].as_f64().unwrap()).fold(0.0, f64::max) / 1e6;
    assert!(energy.len() >= 3 && energy.last().unwrap().0 >= last, "{energy:?}, {last}");
    assert_eq!(told["gpu_samples"], energy.len());

    // only the first GPU has a process of the server
    assert_eq!((&told["gpu_basis"], &told["energy_basis"]), (&"server_processes".into(), &"counter".into()));
    let joules = energy.last().unwrap().1 - energy[0].1;
    near(&told["energy_j"], joules);
    near(&told["joules_per_image"], joules / 5.0);
    near(&told["joules_per_request"], joules / 5.0);
    assert_eq!(told["joules_per_video"], Value::Null);
    let peak = |points: Vec<(f64, f64)>| points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    near(&told["gpu_memory_mb"]["max"], peak(series(&samples, "/gpus/0/memory_mb")));
    near(&told["process_memory_mb"]["max"], peak(series(&samples, "/gpus/0/processes/0/memory_mb")));
    near(&told["running"]["max"], 1.0);
    near(&told["waiting"]["max"], peak(series(&samples, "/server/waiting")));
    near(&told["times"]["diffusion_exec_s"]["mean"], 0.5);

    let environment = json(&latest.join("servers/v-1/environment.json"));
    assert_eq!(environment["machine"]["devices"], "recording");
    assert_eq!(environment["machine"]["gpus"].as_array().unwrap().len(), 2);
    assert!(
        talk.contains("`environment.gpu` says `NVIDIA H100 80GB HBM3`, and this machine has `2 × NVIDIA A100"),
        "{talk}"
    );
    assert!(talk.contains("servers and GPUs while the runs went on"), "{talk}");

    let page = fs_err::read_to_string(latest.join("small.md")).unwrap();
    let row = |start: &str| {
        page.lines()
            .find(|line| line.starts_with(start))
            .unwrap_or_else(|| panic!("no row {start} in\n{page}"))
            .to_owned()
    };
    assert_eq!(
        row("| GPU |"),
        "| GPU | NVIDIA H100 80GB HBM3 | declared, and contradicted; a recording, not this machine: \
         2 × NVIDIA A100-SXM4-80GB (81920 MiB) |"
    );
    assert_eq!(row("| Driver |"), "| Driver | 570 | declared; a recording, not this machine: 570.86.15 |");
    assert_eq!(row("| CUDA |"), "| CUDA | 12.8 | a recording, not this machine |");
    assert_eq!(row("| Attention backend |"), "| Attention backend | FlashAttention | declared |");
    assert!(row("| Image digest |").contains("not detected"));
    assert!(page.contains("**Servers and GPUs while the runs went on**") && page.contains("Per Image (J)"), "{page}");
    let chart = fs_err::read_to_string(latest.join("small-charts/telemetry-v_A_c1.svg")).unwrap();
    for words in ["GPU memory in use", "GPU power", "GPU utilisation", "waiting at the server", ">GPU 0<"] {
        assert!(chart.contains(words), "{words} is not in the chart");
    }
    assert!(!chart.contains(">GPU 1<"), "a GPU without the server is drawn");
}

#[test]
fn a_server_without_metrics_is_told_once_and_not_asked_again() {
    let (sandbox, painter) = (Sandbox::new(), Painter::start(1, None));
    let more = format!("[endpoint]\nurl = \"{}\"\npath = \"/v1/images/generations\"\n", painter.fake.url);
    fs_err::write(sandbox.path().join("small.toml"), scenario(4, "[1, 2]", &more)).unwrap();
    let output = sandbox.omni_bench(&["run", "small.toml"]);
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{talk}");
    assert_eq!(talk.matches("is not asked again: it answered 404").count(), 1, "{talk}");
    assert_eq!(painter.fake.calls("GET", "/metrics").len(), 1);
    let results = json(&sandbox.path().join("results/small/latest/results.json"));
    assert!(results["runs"].as_array().unwrap().iter().all(|run| run["telemetry"]["running"].is_null()));
}

#[test]
fn metrics_of_something_else_are_refused_once_too() {
    let (sandbox, painter) = (Sandbox::new(), Painter::start(1, Some(|_| "process_cpu_seconds_total 1\n".to_owned())));
    let more = format!("[endpoint]\nurl = \"{}\"\npath = \"/v1/images/generations\"\n", painter.fake.url);
    fs_err::write(sandbox.path().join("small.toml"), scenario(2, "[1]", &more)).unwrap();
    let talk = sandbox.omni_bench(&["run", "small.toml"]).stderr;
    assert!(String::from_utf8_lossy(&talk).contains("its answer has no `vllm_omni:` family"));
}

#[test]
fn telemetry_of_a_simulated_run_is_in_the_page() {
    let sandbox = Sandbox::new();
    fs_err::write(sandbox.path().join("small.toml"), scenario(8, "[2]", "")).unwrap();
    let output = sandbox.omni_bench(&["run", "small.toml", "--simulate", "--speed", "20"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let latest = sandbox.path().join("results/small/latest");
    let results = json(&latest.join("results.json"));
    assert_eq!(results["simulated"], true);
    let told = &results["runs"][0]["telemetry"];
    assert!(told["running"]["max"].as_f64().is_some_and(|most| most >= 1.0), "{told}");
    assert_eq!(
        (&told["gpu_memory_mb"], &told["energy_j"], &told["power_w"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    let page = fs_err::read_to_string(latest.join("small.md")).unwrap();
    assert!(page.contains("**Servers and GPUs while the runs went on**") && page.contains("Running, Mean"), "{page}");
    assert!(page.contains("telemetry-v_A_c2.svg"), "{page}");
    let chart = fs_err::read_to_string(latest.join("small-charts/telemetry-v_A_c2.svg")).unwrap();
    assert!(chart.contains("simulated (20× speed), not a measurement"));
    let html = sandbox.omni_bench(&["report", "results/small/latest", "--format", "html"]);
    let html = String::from_utf8(html.stdout).unwrap();
    assert!(html.contains("Running at the server") && html.contains("Server and GPUs over time"));
}
