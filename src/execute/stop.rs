//! The user's wish to stop, in two steps: first let go of what runs in good order, then at once.

use std::sync::Arc;

use tokio::sync::watch;

/// How far a stop has gone; it never goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Running,
    Requested,
    Now,
}

/// A stop signal shared by everyone who must obey it.
#[derive(Debug, Clone)]
pub struct Stop(Arc<watch::Sender<Level>>);

impl Stop {
    /// A signal that nobody has given yet.
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(Level::Running)))
    }

    /// First signal: no new requests; known jobs are deleted, what happened is written.
    pub fn request(&self) {
        self.raise(Level::Requested);
    }

    /// Second signal: everything is abandoned where it stands.
    pub fn now(&self) {
        self.raise(Level::Now);
    }

    /// Whether the first or the second signal was given.
    pub fn is_requested(&self) -> bool {
        *self.0.borrow() >= Level::Requested
    }

    /// Returns once the first or the second signal was given.
    pub async fn stopped(&self) {
        self.reached(Level::Requested).await;
    }

    /// Returns once the second signal was given.
    pub async fn abandoned(&self) {
        self.reached(Level::Now).await;
    }

    fn raise(&self, level: Level) {
        self.0.send_if_modified(|now| {
            let raised = level > *now;
            *now = level.max(*now);
            raised
        });
    }

    async fn reached(&self, level: Level) {
        let mut levels = self.0.subscribe();
        // `self` holds the sender, so the wait can only end by the level
        while *levels.borrow_and_update() < level {
            if levels.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_second_signal_is_not_taken_back_by_the_first() {
        let stop = Stop::new();
        assert!(!stop.is_requested());
        stop.now();
        stop.request();
        stop.stopped().await;
        stop.abandoned().await;
        assert!(stop.is_requested());
    }

    #[tokio::test]
    async fn a_waiter_wakes_at_its_own_level_only() {
        let stop = Stop::new();
        let other = stop.clone();
        let waiter = async { tokio::join!(stop.stopped(), async { other.request() }) };
        tokio::time::timeout(std::time::Duration::from_secs(5), waiter).await.unwrap();
        let abandoned = tokio::time::timeout(std::time::Duration::from_millis(20), stop.abandoned()).await;
        assert!(abandoned.is_err());
    }
}
