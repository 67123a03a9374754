//! What the client costs: whole runs against the null server, beside the rivals that are installed.
//!
//! `cargo run --release --example client_cost [small|one|large|open|python|million|scale|start …]`; without a
//! word, everything but `million`. Prints the Markdown table of `benches/README.md`; exit code 1 when a floor is
//! missed. Runs and rivals take turns, five of each, and ratios are those of neighbours in time.
//!
//! The null server is the tool itself, `omni-bench simulate --null`, as a process of its own. Runs are carried
//! out by the tool's executor in a process of their own too (this program, started again), so that memory and
//! processor time are the client's alone; every reply is judged and every record written. `wrk` and `oha` are
//! used where they are installed, vLLM-Omni's Python client where `OMNI_BENCH_PYTHON_CLIENT` names its script.

mod driven;
mod measure;
mod process;
mod rivals;
mod scale;
mod server;
mod table;

use std::error::Error;
use std::process::ExitCode;

use table::Table;

/// What the tool itself has.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Everything here fails with words.
pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// What can be asked for, in the order in which it is measured.
const PARTS: [&str; 8] = ["small", "one", "large", "open", "python", "million", "scale", "start"];

fn main() -> Outcome<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some([word, spec]) = words.first_chunk::<2>()
        && word == driven::WORD
    {
        driven::run(spec)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(unknown) = words.iter().find(|word| !PARTS.contains(&word.as_str())) {
        return Err(format!("`{unknown}` is none of {}", PARTS.join(", ")).into());
    }
    let wanted = |part: &str| if words.is_empty() { part != "million" } else { words.iter().any(|word| word == part) };
    let binary = server::binary()?;
    let mut table = Table::default();
    if PARTS.iter().take(6).any(|part| wanted(part)) {
        let null = server::Null::start(&binary)?;
        let bench = measure::Bench::new(&null)?;
        for (part, measure) in [
            ("small", measure::Bench::small as measure::Measure<'_>),
            ("one", measure::Bench::one),
            ("large", measure::Bench::large),
            ("open", measure::Bench::open),
            ("python", measure::Bench::python),
            ("million", measure::Bench::million),
        ] {
            if wanted(part) {
                measure(&bench, &mut table)?;
            }
        }
    }
    if wanted("scale") {
        scale::plan(&binary, &mut table)?;
        scale::summary(&binary, &mut table)?;
    }
    if wanted("start") {
        scale::start(&binary, &mut table)?;
    }
    table.print()?;
    Ok(if table.has_missed() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
