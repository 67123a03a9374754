//! Ctrl-C and SIGTERM, from before the first request to the last written file: the first lets go in
//! good order, the second ends everything at once.

use std::io;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::execute::{Progress, Stop};
use crate::exit::Exit;

/// Time that the second signal leaves for what it interrupts to end by itself, which takes no more than a
/// moment unless it hangs in the system.
const MOMENT: Duration = Duration::from_millis(500);

/// Listens until what is returned is dropped.
pub(super) fn listen(runtime: &Runtime, stop: &Stop, progress: &Progress) -> JoinSet<()> {
    let (stop, progress) = (stop.clone(), progress.clone());
    let mut listening = JoinSet::new();
    let listen = async move {
        if let Err(error) = two_signals(&stop, &progress).await {
            // without a handler the system's own applies
            progress.note(&format!("Ctrl-C ends this at once: {error}"));
            return;
        }
        tokio::time::sleep(MOMENT).await;
        progress.run_ended();
        end_process();
    };
    listening.spawn_on(listen, runtime.handle());
    listening
}

/// Ends the process where it stands. Files are replaced whole and journals take torn lines, so that none of
/// them minds; servers that were started are ended by their watchdog.
#[expect(clippy::exit, reason = "whoever asks twice is not to wait for a file or a server that hangs")]
fn end_process() {
    std::process::exit(i32::from(Exit::Interrupted.code()));
}

#[cfg(unix)]
async fn two_signals(stop: &Stop, progress: &Progress) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};

    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let mut first = true;
    loop {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        if !heard(stop, progress, &mut first) {
            return Ok(());
        }
    }
}

#[cfg(not(unix))]
async fn two_signals(stop: &Stop, progress: &Progress) -> io::Result<()> {
    let mut first = true;
    loop {
        tokio::signal::ctrl_c().await?;
        if !heard(stop, progress, &mut first) {
            return Ok(());
        }
    }
}

/// Passes a signal on; false for the one that ends everything.
fn heard(stop: &Stop, progress: &Progress, first: &mut bool) -> bool {
    if std::mem::take(first) {
        stop.request();
        progress.note("stopping: no new requests; what is running is let go of; once more ends this at once");
        return true;
    }
    stop.now();
    false
}
