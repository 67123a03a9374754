//! Processes and what they cost, by `/proc`.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Outcome;

/// How often a process' memory is looked at.
const LOOK: Duration = Duration::from_millis(10);
/// The system's ticks per second, which no Linux of today has otherwise.
const TICKS: f64 = 100.0;

/// What a process cost.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    pub(crate) wall_s: f64,
    /// User and system time, of all threads.
    pub(crate) cpu_s: f64,
    /// Highest resident memory; where `/proc` is missing, 0.
    pub(crate) peak_mb: f64,
}

/// Runs a command to its end; its output and what it cost. It must succeed.
pub(crate) fn run(command: &mut Command) -> Outcome<(String, Cost)> {
    let begun = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (out, err) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let mut cost = watch(&child, begun);
    let status = child.wait()?;
    cost.wall_s = if cost.wall_s > 0.0 { cost.wall_s } else { begun.elapsed().as_secs_f64() };
    let text = |read: std::thread::JoinHandle<String>| read.join().unwrap_or_default();
    let (out, err) = (text(out), text(err));
    if status.success() { Ok((out, cost)) } else { Err(format!("{command:?} ended with {status}: {err}").into()) }
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // what came before a pipe broke is all there is
        drop(pipe.map(|mut pipe| pipe.read_to_end(&mut bytes)));
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Looks at a child until it has ended; it is not waited for, so that its times can still be read.
fn watch(child: &Child, begun: Instant) -> Cost {
    let folder = format!("/proc/{}", child.id());
    let mut cost = Cost::default();
    while let Some((state, cpu_s)) = stat(Path::new(&folder)) {
        cost.cpu_s = cpu_s;
        if state == 'Z' {
            cost.wall_s = begun.elapsed().as_secs_f64();
            break;
        }
        cost.peak_mb = status_mb(Path::new(&folder), "VmHWM:").unwrap_or_default().max(cost.peak_mb);
        std::thread::sleep(LOOK);
    }
    cost
}

/// State and processor seconds of a process.
pub(crate) fn stat(folder: &Path) -> Option<(char, f64)> {
    let text = fs_err::read_to_string(folder.join("stat")).ok()?;
    // the name stands in brackets and may hold anything
    let (_, rest) = text.rsplit_once(')')?;
    let mut words = rest.split_whitespace();
    let state = words.next()?.chars().next()?;
    let ticks: f64 = words.skip(10).take(2).filter_map(|word| word.parse::<f64>().ok()).sum();
    Some((state, ticks / TICKS))
}

/// A line of a process' status in MB, like `VmHWM:`.
pub(crate) fn status_mb(folder: &Path, name: &str) -> Option<f64> {
    let status = fs_err::read_to_string(folder.join("status")).ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: f64 = kilobytes.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024.0 / 1e6)
}

/// Whether a program can be started.
pub(crate) fn have(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
