//! Full validation (`validate = "full"`): after a request has ended, its pictures are decoded whole,
//! and its outputs compared with those of earlier requests. All of it is outside the request's times;
//! its own end is kept as `judged_us`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::catalog::Flag;
use crate::endpoint::inspect;
use crate::record::Output;

/// Bytes of pictures that may wait to be decoded, in units of [`UNIT`]. Beyond them requests keep
/// their slots until there is room, which only a server that answers faster than this machine decodes
/// can bring about.
const ROOM: u32 = 256 << 10;
const UNIT: usize = 1 << 10;
/// Most pictures decoded at a time; decoding must leave cores to the client.
const MOST_WORKERS: usize = 4;

/// Decodes the pictures of a run's requests, a few at a time.
#[derive(Clone)]
pub(crate) struct Inspector {
    room: Arc<Semaphore>,
    workers: Arc<Semaphore>,
    /// The first request of each output, by the output's hash.
    owners: Arc<Mutex<HashMap<String, usize>>>,
}

/// Pictures that have a place in the queue.
pub(crate) struct Queued {
    pictures: Vec<Vec<u8>>,
    is_copy: bool,
    /// Given back when the pictures are gone.
    _room: Option<OwnedSemaphorePermit>,
}

impl Inspector {
    pub(crate) fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            room: Arc::new(Semaphore::new(ROOM as usize)),
            workers: Arc::new(Semaphore::new((cores / 2).clamp(1, MOST_WORKERS))),
            owners: Arc::default(),
        }
    }

    /// Compares what came back for request `index` with what came before, and waits until there is room
    /// for its pictures. Called before the slot is free, so that requests compare in order.
    pub(crate) async fn queue(&self, pictures: Vec<Vec<u8>>, index: usize, outputs: &[Output]) -> Queued {
        let is_copy = self.is_copy(index, outputs);
        let bytes: usize = pictures.iter().map(Vec::len).sum();
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(ROOM).min(ROOM);
        // the semaphore is never closed
        Queued { pictures, is_copy, _room: Arc::clone(&self.room).acquire_many_owned(units).await.ok() }
    }

    /// Remarks on the outputs; `None` when the pictures could not be looked at.
    pub(crate) async fn inspect(&self, queued: Queued) -> Option<Vec<Flag>> {
        let worker = Arc::clone(&self.workers).acquire_owned().await.ok()?;
        let decoding = tokio::task::spawn_blocking(move || {
            let copy = queued.is_copy.then_some(Flag::Duplicate);
            let flags = queued.pictures.iter().filter_map(|picture| inspect(picture)).chain(copy).collect();
            drop((queued, worker));
            flags
        });
        decoding.await.ok()
    }

    /// Whether another request returned one of the outputs before.
    fn is_copy(&self, index: usize, outputs: &[Output]) -> bool {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let mut copied = false;
        for output in outputs {
            copied |= *owners.entry(output.blake3.clone()).or_insert(index) != index;
        }
        copied
    }
}
