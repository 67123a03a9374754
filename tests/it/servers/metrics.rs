//! The simulator's `/metrics`: readable by others, and true.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use omni_bench::server::Exposition;
use serde_json::Value;

use super::{json, lines, scenario};
use crate::support::{Sandbox, Served, skipped};

/// Prints every sample as JSON, or fails when the text is not what Prometheus reads.
const READER: &str = "
import json, sys
from prometheus_client.parser import text_string_to_metric_families as families
print(json.dumps([[s.name, s.labels, s.value] for family in families(sys.stdin.read()) for s in family.samples]))
";

type Series = (String, BTreeMap<String, String>);

fn by_python(text: &str) -> Option<BTreeMap<Series, f64>> {
    let python = std::env::var_os("OMNI_BENCH_TEST_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
    let probe = Command::new(&python).args(["-c", "import prometheus_client.parser"]).output().ok()?;
    if !probe.status.success() {
        return None;
    }
    let mut command = Command::new(python);
    let mut child = command
        .args(["-c", READER])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
    let samples: Vec<(String, BTreeMap<String, String>, f64)> = serde_json::from_slice(&output.stdout).unwrap();
    Some(samples.into_iter().map(|(name, labels, value)| ((name, labels), value)).collect())
}

/// The body of a GET over a connection of its own.
fn get(url: &str, path: &str) -> String {
    let mut stream = std::net::TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply.split_once("\r\n\r\n").unwrap().1.to_owned()
}

#[test]
fn the_parser_of_prometheus_reads_the_simulators_metrics() {
    let model = "odd \"name\" with \\ and }, # in it";
    let server = Served::simulator(&["--model", model, "--speed", "100"]);
    let text = get(server.url(), "/metrics");
    let own = Exposition::parse(&text);
    assert_eq!(own.skipped, 0, "{text}");
    let series =
        |sample: omni_bench::server::Sample| ((sample.name, sample.labels.into_iter().collect()), sample.value);
    let own: BTreeMap<Series, f64> = own.samples.into_iter().map(series).collect();
    assert!(own.keys().all(|(_, labels): &Series| labels["model_name"] == model), "{own:?}");
    for family in
        ["num_requests_running", "num_requests_waiting", "diffusion_exec_s_sum", "diffusion_exec_per_step_s_count"]
    {
        assert!(own.keys().any(|(name, _)| *name == format!("vllm_omni:{family}")), "{family} is not in\n{text}");
    }
    match by_python(&text) {
        Some(told) => assert_eq!(told, own),
        None => skipped("the_parser_of_prometheus_reads_the_simulators_metrics", "no Python with `prometheus_client`"),
    }
}

/// Requests in flight at the client: the least and the most between two times.
fn in_flight(records: &[Value], from: f64, to: f64) -> (usize, usize) {
    let span = |record: &Value| (record["sent_us"].as_f64().unwrap(), record["done_us"].as_f64().unwrap());
    let all = records.iter().filter(|record| span(record).0 <= from && span(record).1 >= to).count();
    let any = records.iter().filter(|record| span(record).0 <= to && span(record).1 >= from).count();
    (all, any)
}

#[test]
fn the_servers_counts_agree_with_those_of_the_client() {
    const CAP: u32 = 3;
    // 20 requests of 2 s one after another, modelled; 2 s on the wall
    let sandbox = Sandbox::new();
    fs_err::write(sandbox.path().join("small.toml"), scenario(20, &format!("[{CAP}]"), "")).unwrap();
    let output = sandbox.omni_bench(&["run", "small.toml", "--simulate", "--speed", "20"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let latest = sandbox.path().join("results/small/latest");
    let records = lines(&latest.join(format!("runs/v/A/c{CAP}/records.jsonl")));
    let samples = lines(&latest.join("servers/v-1/telemetry.jsonl"));
    let (mut steady, mut equal, mut looks) = (0, 0, 0);
    for sample in samples.iter().filter(|sample| sample["server"].is_object()) {
        let [running, waiting] = ["running", "waiting"].map(|key| sample["server"][key].as_f64().unwrap());
        let (at, took) = (sample["at_us"].as_f64().unwrap(), sample["took_us"].as_f64().unwrap());
        // the two clocks start within a fifth of a second on the wall, which is four modelled ones
        let (_, most) = in_flight(&records, at - 4e6, at + took + 4e6);
        let counted = running + waiting;
        looks += 1;
        assert!(running <= 1.0, "one slot, and {running} run");
        assert!(counted <= f64::from(u32::try_from(most).unwrap()), "{counted} of {most} in flight: {sample}");
        if in_flight(&records, at, at + took).0 == CAP as usize {
            steady += 1;
            equal += usize::from(counted.total_cmp(&f64::from(CAP)).is_eq());
        }
    }
    println!("{looks} looks, {steady} of them at {CAP} in flight, {equal} of those equal");
    assert!(looks >= 5 && steady >= 1, "{looks} looks, {steady} steady ones");
    assert!(2 * equal >= steady, "{equal} of {steady} looks at {CAP} in flight saw {CAP} at the server");
    let told = &json(&latest.join("results.json"))["runs"][0]["telemetry"];
    let exec = &told["times"]["diffusion_exec_s"];
    assert!(
        exec["n"].as_f64().is_some_and(|n| n >= 1.0) && exec["mean"].as_f64().is_some_and(|mean| mean > 0.0),
        "{told}"
    );
}
