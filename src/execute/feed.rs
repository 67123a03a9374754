//! Brings a phase's requests to its dispatcher: encoded ahead of their time and beside it, in chunks, and
//! never more than a few of those, so that a long run needs no more memory than a short one.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::phase::{Prepared, Ready};

/// Requests that are brought at once; what wakes two threads is then paid once for all of them.
pub(crate) const CHUNK: usize = 256;
/// A chunk ends earlier when its bodies have this many bytes.
const CHUNK_BYTES: u64 = 4 << 20;
/// Chunks that may wait.
const WAITING: usize = 2;

/// Some requests in order.
pub(crate) type Chunk = Vec<Arc<Prepared>>;

/// The requests that are still to be brought.
pub(crate) struct Feed<'a> {
    rest: Ready<'a>,
    chunks: mpsc::Sender<Chunk>,
}

impl<'a> Feed<'a> {
    /// The first chunk, of at least so many requests, and the way to the others.
    pub(crate) fn start(
        mut requests: Ready<'a>,
        at_least: usize,
    ) -> Result<(Chunk, mpsc::Receiver<Chunk>, Self), String> {
        let first = next(&mut requests, at_least.max(CHUNK))?;
        let (chunks, receiver) = mpsc::channel(WAITING);
        Ok((first, receiver, Self { rest: requests, chunks }))
    }

    /// Brings the rest, until all is brought or nobody wants it. An error is that of a request that cannot be
    /// encoded; those before it have been brought.
    pub(crate) async fn run(mut self) -> Result<(), String> {
        loop {
            let chunk = next(&mut self.rest, CHUNK)?;
            if chunk.is_empty() || self.chunks.send(chunk).await.is_err() {
                return Ok(());
            }
        }
    }
}

fn next(requests: &mut Ready<'_>, most: usize) -> Result<Chunk, String> {
    let mut chunk = Vec::new();
    let mut bytes = 0;
    while chunk.len() < most && bytes < CHUNK_BYTES {
        let Some(prepared) = requests.next().transpose()? else { break };
        bytes += prepared.body.len();
        chunk.push(prepared);
    }
    Ok(chunk)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::Body;
    use crate::record::Asked;

    fn prepared(bytes: usize) -> Arc<Prepared> {
        let request = super::super::gauge::request();
        let body = Body { content_type: String::new(), segments: vec![vec![0; bytes].into()] };
        Arc::new(Prepared { request, body, asked: Asked::default(), class: "c".into() })
    }

    #[tokio::test]
    async fn everything_is_brought_in_order_and_large_bodies_in_smaller_chunks() {
        let requests = (0..600).map(|at| Ok(prepared(if at < 300 { 1 } else { 1 << 20 })));
        let (first, mut chunks, feed) = Feed::start(Box::new(requests), 280).unwrap();
        assert_eq!(first.len(), 280);
        let bring = async {
            let mut sizes = Vec::new();
            while let Some(chunk) = chunks.recv().await {
                sizes.push(chunk.len());
            }
            sizes
        };
        let (ended, sizes) = tokio::join!(feed.run(), bring);
        assert_eq!(ended, Ok(()));
        assert_eq!((sizes.iter().sum::<usize>(), &sizes[..3]), (320, &[24, 4, 4][..]));
    }

    #[tokio::test]
    async fn what_cannot_be_encoded_ends_the_feed() {
        let requests = (0..300).map(|at| if at < 299 { Ok(prepared(1)) } else { Err("no".to_owned()) });
        let (first, _chunks, feed) = Feed::start(Box::new(requests), 1).unwrap();
        assert_eq!((first.len(), feed.run().await), (CHUNK, Err("no".to_owned())));
    }
}
