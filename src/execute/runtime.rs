//! The threads that a run is carried out on.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// What campaigns run on. `benches/README.md` says what else was tried.
///
/// # Errors
/// When the system gives no threads.
pub fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2)))
        .enable_all()
        .build()
}
