//! Output on its way to the answer: kept, and shown to who wants to see it before the end.

use std::fmt::Debug;
use std::path::Path;
use std::time::{Duration, Instant};

use super::LOG_PREFIX;
use crate::fs::process::Output;
use crate::tool::accumulator::{Accumulator, Finished};
use crate::tool::truncate::Truncation;

/// The least time between two updates.
const UPDATE_INTERVAL: Duration = Duration::from_millis(100);

/// Sees the output of a command while it runs. Called on the thread of the call, which waits.
pub trait Observer: Debug + Send + Sync {
    /// Takes the next raw bytes, at once.
    fn output(&self, _bytes: &[u8]) {}

    /// Whether [`Observer::update`] is wanted at all.
    fn wants_updates(&self) -> bool {
        true
    }

    /// Takes what a model would be shown so far: once at the start, when that is nothing, and then
    /// every 100 ms at most. The latest state is the one that counts; the last comes as the answer.
    fn update(&self, _so_far: &Truncation) {}
}

/// Keeps the output of one command.
pub(super) struct Collector<'a> {
    accumulator: Accumulator,
    observer: Option<&'a dyn Observer>,
    /// When the next update may be made, if there is something new to show then.
    next_update: Instant,
    has_news: bool,
}

impl<'a> Collector<'a> {
    pub(super) fn new(log_dir: &Path, observer: Option<&'a dyn Observer>) -> Self {
        let mut collector = Self {
            accumulator: Accumulator::new(log_dir, LOG_PREFIX),
            observer,
            next_update: Instant::now(),
            has_news: false,
        };
        collector.tick();
        collector
    }

    pub(super) fn finish(self) -> Finished {
        self.accumulator.finish()
    }
}

impl Output for Collector<'_> {
    fn write(&mut self, bytes: &[u8]) {
        self.accumulator.push(bytes);
        if let Some(observer) = self.observer {
            observer.output(bytes);
            self.has_news = observer.wants_updates();
        }
    }

    fn due(&self) -> Option<Instant> {
        self.has_news.then_some(self.next_update)
    }

    fn tick(&mut self) {
        if let Some(observer) = self.observer.filter(|observer| observer.wants_updates()) {
            observer.update(&self.accumulator.snapshot());
            self.has_news = false;
            self.next_update = Instant::now() + UPDATE_INTERVAL;
        }
    }
}
