//! Ctrl-C and SIGTERM: the first lets go in good order, the second at once.

use std::io;

use crate::execute::{Progress, Stop};

/// Listens until the second signal.
pub(super) async fn listen(stop: &Stop, progress: &Progress) {
    if let Err(error) = two_signals(stop, progress).await {
        progress.note(&format!("Ctrl-C ends this at once: {error}"));
        // without a handler the system's own applies
        std::future::pending::<()>().await;
    }
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
