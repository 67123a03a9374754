//! What a person sees while a run goes on: a bar on a terminal, a line every few seconds elsewhere.
//! All of it goes to stderr.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::record::Status;

/// Gap between two drawings of a bar; many requests may end in it.
const BAR_GAP: Duration = Duration::from_millis(100);
/// Gap between two lines.
const LINE_GAP: Duration = Duration::from_secs(5);

/// Shows progress, or does not. Clones show the same.
#[derive(Clone)]
pub struct Progress {
    show: Show,
    state: Arc<Mutex<State>>,
}

#[derive(Clone)]
enum Show {
    Bar(ProgressBar),
    Lines,
    Silent,
}

#[derive(Default)]
struct State {
    run: String,
    phase: String,
    total: u64,
    ok: u64,
    not_ok: u64,
    begun: Option<Instant>,
    told: Option<Instant>,
}

impl Progress {
    /// A bar on stderr.
    pub fn bar() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{prefix} [{wide_bar}] {pos}/{len} {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
        Self::new(Show::Bar(bar))
    }

    /// Plain lines on stderr.
    pub fn lines() -> Self {
        Self::new(Show::Lines)
    }

    /// Nothing.
    pub fn silent() -> Self {
        Self::new(Show::Silent)
    }

    fn new(show: Show) -> Self {
        Self { show, state: Arc::default() }
    }

    /// A run begins, the `number`-th of `of`.
    pub fn run_started(&self, id: &str, number: usize, of: usize) {
        let mut state = self.state();
        *state = State { run: format!("[{number}/{of}] {id}"), ..State::default() };
        if let Show::Lines = self.show {
            say(&state.run);
        }
    }

    /// A phase of the run begins, with this many requests.
    pub fn phase(&self, name: &str, total: u64) {
        let mut state = self.state();
        tracing::info!("{} {name}: {total} requests", state.run);
        let now = Some(Instant::now());
        *state = State {
            run: std::mem::take(&mut state.run),
            phase: name.into(),
            total,
            begun: now,
            told: now,
            ..State::default()
        };
        if let Show::Bar(bar) = &self.show {
            bar.reset();
            bar.set_length(total);
            bar.set_position(0);
            bar.set_prefix(state.heading());
            bar.set_message(state.tail());
        }
    }

    /// A request ended.
    pub fn outcome(&self, status: Status) {
        let mut state = self.state();
        match status {
            Status::Ok => state.ok += 1,
            Status::Failed | Status::Censored | Status::Cancelled => state.not_ok += 1,
        }
        match &self.show {
            Show::Bar(bar)
                if state.done() == state.total || state.told.is_none_or(|told| told.elapsed() >= BAR_GAP) =>
            {
                state.told = Some(Instant::now());
                bar.set_message(state.tail());
                bar.set_position(state.done());
            }
            Show::Lines if state.done() == state.total => state.tell(),
            Show::Bar(_) | Show::Lines | Show::Silent => {}
        }
    }

    /// Requests of the phase that have ended.
    pub(crate) fn ended(&self) -> u64 {
        self.state().done()
    }

    /// Time has passed.
    pub fn tick(&self) {
        match &self.show {
            Show::Bar(bar) => {
                let state = self.state();
                bar.set_message(state.tail());
                bar.set_position(state.done());
                bar.tick();
            }
            Show::Lines => {
                let mut state = self.state();
                if state.told.is_some_and(|told| told.elapsed() >= LINE_GAP) {
                    state.tell();
                }
            }
            Show::Silent => {}
        }
    }

    /// The run has ended; a bar is taken away.
    pub fn run_ended(&self) {
        if let Show::Bar(bar) = &self.show {
            bar.finish_and_clear();
        }
        *self.state() = State::default();
    }

    /// Says something without tearing a bar apart.
    pub fn note(&self, text: &str) {
        match &self.show {
            Show::Bar(bar) => bar.suspend(|| say(text)),
            Show::Lines => say(text),
            Show::Silent => {}
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // a panic elsewhere does not make the numbers wrong
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn done(&self) -> u64 {
        self.ok + self.not_ok
    }

    fn heading(&self) -> String {
        if self.run.is_empty() { self.phase.clone() } else { format!("{} {}", self.run, self.phase) }
    }

    /// Outcomes, rate and the time left at this rate.
    fn tail(&self) -> String {
        let counts = format!("{} ok, {} failed", self.ok, self.not_ok);
        let elapsed_s = self.begun.map_or(0.0, |begun| begun.elapsed().as_secs_f64());
        if let Ok(done) = u32::try_from(self.done())
            && done > 0
            && elapsed_s > 0.0
        {
            let rate = f64::from(done) / elapsed_s;
            let left = u32::try_from(self.total.saturating_sub(self.done())).unwrap_or(u32::MAX);
            return format!("{counts}, {rate:.2}/s, {} left", clock_text(f64::from(left) / rate));
        }
        counts
    }

    fn tell(&mut self) {
        self.told = Some(Instant::now());
        say(&format!("{}: {}/{} done, {}", self.heading(), self.done(), self.total, self.tail()));
    }
}

/// A time left, coarse as an estimate is.
fn clock_text(seconds: f64) -> String {
    let whole = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX).as_secs();
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

fn say(text: &str) {
    // nothing can be told when stderr itself is gone
    drop(writeln!(io::stderr().lock(), "{text}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_is_told_in_two_units() {
        assert_eq!(clock_text(7.9), "7 s");
        assert_eq!(clock_text(125.0), "2 min 05 s");
        assert_eq!(clock_text(7_300.0), "2 h 01 min");
    }

    #[test]
    fn outcomes_are_counted_per_phase() {
        let progress = Progress::silent();
        progress.run_started("a/b/c1", 1, 2);
        progress.phase("warm-up", 1);
        progress.outcome(Status::Ok);
        progress.phase("measured", 3);
        progress.outcome(Status::Censored);
        let state = progress.state();
        assert_eq!((state.ok, state.not_ok, state.total), (0, 1, 3));
        assert_eq!(state.heading(), "[1/2] a/b/c1 measured");
        assert!(state.tail().starts_with("0 ok, 1 failed"));
    }
}
