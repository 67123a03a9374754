//! What the client costs: one table, measured against the null server.
//!
//! `cargo run --release --example client_cost`. With the built `omni-bench` beside this program the null
//! server is a second process (`omni-bench simulate --null`), else it runs within this one. Either way both
//! share the machine, so the figures are an upper bound of the client's times and a lower bound of its rates.
//! Every request goes the way of a measured one: dispatcher, client, judge, and a record in a file.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use omni_bench::execute::{Gauge, Secrets, Target};
use omni_bench::record::Spread;
use omni_bench::simulator::{Settings, serve};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// How long each rate is sought.
const RATE_FOR: Duration = Duration::from_secs(2);
/// Requests one at a time for the added latency.
const LATENCIES: usize = 2000;
/// How often the timer's hundred ticks are taken.
const TIMER_ROUNDS: usize = 10;

/// A null server, ended when this goes.
enum Null {
    Process(Child),
    Within(#[expect(dead_code, reason = "held until the end")] JoinSet<std::io::Result<()>>),
}

impl Drop for Null {
    fn drop(&mut self) {
        if let Self::Process(child) = self {
            // one that has ended by itself is as good
            drop(child.kill().and_then(|()| child.wait()));
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    rustls::crypto::ring::default_provider().install_default().map_err(|_| "the TLS provider is there already")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measure())
}

async fn measure() -> Result<(), Box<dyn Error>> {
    let model = Settings::default().model;
    let (null, url) = match binary() {
        Some(binary) => beside(&binary, &model)?,
        None => within().await?,
    };
    let place = match &null {
        Null::Process(_) => "a second process",
        Null::Within(_) => "this process",
    };
    let folder = tempfile::tempdir()?;
    let target = Target { url, model, speed: 1.0, secrets: Secrets::default() };
    let gauge = Gauge::new(&target, folder.path())?;
    let cores = std::thread::available_parallelism()?;
    let mut lines = vec![
        format!("client cost on {cores} cores, null server in {place}"),
        if cfg!(debug_assertions) {
            "a debug build: these are not the client's real costs".into()
        } else {
            String::new()
        },
        format!("{:<34}{:>12}{:>12}", "", "P50", "P99"),
    ];
    let mut rates = Vec::new();
    for concurrency in [1, 8, 64] {
        let rate = gauge.rate(concurrency, RATE_FOR).await?;
        rates.push(format!("{:<34}{rate:>12.0}", format!("requests/s, concurrency {concurrency}")));
    }
    let latencies = gauge.latencies_ms(1, LATENCIES, Duration::from_secs(10)).await?;
    let mut timer = Vec::new();
    for _ in 0..TIMER_ROUNDS {
        timer.extend(gauge.timer_errors_ms().await?);
    }
    for (name, values) in [("added latency, concurrency 1 (ms)", latencies), ("timer error, 500/s (ms)", timer)] {
        let spread = Spread::of(values).ok_or("nothing was measured")?;
        lines.push(format!("{name:<34}{:>12.3}{:>12.3}", spread.p50, spread.p99));
    }
    lines.extend(rates);
    lines.extend(peak_memory().map(|mb| format!("{:<34}{mb:>12.1}", "peak memory of this process (MB)")));
    drop(null);
    print(&lines)
}

fn print(lines: &[String]) -> Result<(), Box<dyn Error>> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    for line in lines.iter().filter(|line| !line.is_empty()) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// The built tool: `target/release/omni-bench` for `target/release/examples/client_cost`.
fn binary() -> Option<PathBuf> {
    let here = std::env::current_exe().ok()?;
    let binary = here.parent()?.parent()?.join("omni-bench");
    binary.is_file().then_some(binary)
}

fn beside(binary: &PathBuf, model: &str) -> Result<(Null, String), Box<dyn Error>> {
    let mut child = Command::new(binary)
        .args(["simulate", "--null", "--port", "0", "--model", model])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let out = child.stdout.take();
    let null = Null::Process(child);
    let mut line = String::new();
    BufReader::new(out.ok_or("the null server has no output")?).read_line(&mut line)?;
    let address = line.trim().strip_prefix("listening on ").ok_or("the null server did not say where it listens")?;
    Ok((null, format!("http://{address}")))
}

async fn within() -> Result<(Null, String), Box<dyn Error>> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let mut tasks = JoinSet::new();
    tasks.spawn(serve(listener, Settings { null: true, ..Settings::default() }, std::future::pending()));
    Ok((Null::Within(tasks), url))
}

/// Highest resident memory in MB, where the system tells it.
fn peak_memory() -> Option<f64> {
    let status = fs_err::read_to_string("/proc/self/status").ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = kilobytes.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes / 1024.0)
}
