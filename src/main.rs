//! Parse, run, exit code.

use std::process::ExitCode;

use clap::Parser;
use omni_bench::cli::Cli;
use omni_bench::exit::Exit;
use omni_bench::server::WATCHDOG_WORD;

/// `benches/README.md` says what it saves.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == WATCHDOG_WORD) {
        omni_bench::server::watch(std::io::stdin().lock());
        return ExitCode::SUCCESS;
    }
    // the client's TLS needs a provider before the first connection; a second one cannot be there yet
    let installed = rustls::crypto::ring::default_provider().install_default();
    match Cli::try_parse() {
        Ok(cli) if installed.is_ok() => omni_bench::commands::dispatch(&cli).into(),
        Ok(_) => Exit::RunFailed.into(),
        Err(error) => {
            let failed = error.use_stderr();
            match error.print() {
                Ok(()) if !failed => Exit::Fine.into(),
                _ => Exit::Usage.into(),
            }
        }
    }
}
