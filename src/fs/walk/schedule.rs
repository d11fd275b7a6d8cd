//! Who does what next: threads take the smallest task, and findings come out in the order of keys.
//!
//! Tasks make further tasks and findings, all with larger keys than their own. A finding is final
//! when no task that waits or runs has a smaller key; then the sink gets it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::cancel::Cancel;

/// Waiting tasks that are worth a second thread.
const WORTH_THREADS: usize = 3;
/// Threads that still help; more of them wait for the disk and the lock.
const MAX_THREADS: usize = 16;

/// A place in the order of a walk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(Box<[u8]>);

impl Key {
    /// The place of a path relative to the root. No name holds a NUL, so with it for the slash plain
    /// bytes compare as the components do.
    pub(super) fn of(relative: &Path) -> Self {
        let bytes = relative.as_os_str().as_bytes().iter();
        Self(bytes.map(|byte| if *byte == b'/' { 0 } else { *byte }).collect())
    }

    /// The place right behind a directory and before all that is in it.
    pub(super) fn inside(relative: &Path) -> Self {
        let mut bytes = Self::of(relative).0.into_vec();
        bytes.push(0);
        Self(bytes.into())
    }
}

/// What a task gives back.
pub(super) struct Out<'a, T, E> {
    tasks: Vec<(Key, T)>,
    found: Vec<(Key, E, usize)>,
    stopped: &'a AtomicBool,
}

impl<T, E> Out<'_, T, E> {
    /// Adds work to do.
    pub(super) fn task(&mut self, key: Key, task: T) {
        self.tasks.push((key, task));
    }

    /// Adds something to hand on.
    pub(super) fn found(&mut self, key: Key, event: E, weight: usize) {
        self.found.push((key, event, weight));
    }

    /// Whether nobody wants the result any more.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

/// The work of one walk.
pub(super) struct Schedule<'s, T, E> {
    state: Mutex<State<'s, T, E>>,
    changed: Condvar,
    stopped: AtomicBool,
    ahead_at_most: usize,
}

struct State<'s, T, E> {
    waiting: BTreeMap<Key, T>,
    running: Vec<Key>,
    found: BTreeMap<Key, (E, usize)>,
    /// The weight of `found`.
    ahead: usize,
    /// Threads that wait for something to do.
    idle: usize,
    sink: &'s mut (dyn FnMut(E) -> ControlFlow<()> + Send),
}

impl<'s, T: Send, E: Send> Schedule<'s, T, E> {
    pub(super) fn new(
        key: Key,
        task: T,
        ahead_at_most: usize,
        sink: &'s mut (dyn FnMut(E) -> ControlFlow<()> + Send),
    ) -> Self {
        let waiting = BTreeMap::from([(key, task)]);
        let state = State { waiting, running: Vec::new(), found: BTreeMap::new(), ahead: 0, idle: 0, sink };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            stopped: AtomicBool::new(false),
            ahead_at_most,
        }
    }

    /// Does all tasks with `perform`, on this thread and, when there is enough to do, on others.
    pub(super) fn run<W>(
        self,
        threads: usize,
        cancel: &Cancel,
        worker: impl Fn() -> W + Sync,
        perform: impl Fn(T, &mut W, &mut Out<'_, T, E>) + Sync,
    ) {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS),
            threads => threads,
        };
        std::thread::scope(|scope| {
            let (schedule, worker, perform) = (&self, &worker, &perform);
            let mut others = threads - 1;
            schedule.work(cancel, &mut worker(), perform, |waiting| {
                if waiting >= WORTH_THREADS {
                    for _ in 0..std::mem::take(&mut others) {
                        // Where the system gives no further thread, those there are do the work.
                        let _ = std::thread::Builder::new()
                            .name("walk".to_owned())
                            .spawn_scoped(scope, move || {
                                schedule.work(cancel, &mut worker(), perform, |_| ())
                            });
                    }
                }
            });
        });
    }

    /// One thread's part; `grown` hears how many tasks wait after each task done.
    fn work<W>(
        &self,
        cancel: &Cancel,
        worker: &mut W,
        perform: &(impl Fn(T, &mut W, &mut Out<'_, T, E>) + Sync),
        mut grown: impl FnMut(usize),
    ) {
        let _on_panic = StopOnPanic(self);
        let mut state = self.lock();
        loop {
            if cancel.is_cancelled() {
                self.stop();
            }
            if self.stopped.load(Ordering::Relaxed) {
                return;
            }
            let Some((key, task)) = self.next(&mut state) else {
                if state.running.is_empty() {
                    self.changed.notify_all();
                    return;
                }
                state.idle += 1;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
                continue;
            };
            drop(state);
            let mut out = Out { tasks: Vec::new(), found: Vec::new(), stopped: &self.stopped };
            perform(task, worker, &mut out);
            state = self.lock();
            self.settle(&mut state, &key, out);
            grown(state.waiting.len());
        }
    }

    /// The smallest task that waits, unless so much was found ahead of the order that only the very
    /// next task in the order may run.
    fn next(&self, state: &mut State<'_, T, E>) -> Option<(Key, T)> {
        if state.ahead > self.ahead_at_most {
            let first = state.waiting.keys().next()?;
            if state.running.iter().any(|running| running < first) {
                return None;
            }
        }
        let (key, task) = state.waiting.pop_first()?;
        state.running.push(key.clone());
        Some((key, task))
    }

    /// Takes in what a task gave and hands on all that is final by now.
    fn settle(&self, state: &mut State<'_, T, E>, key: &Key, out: Out<'_, T, E>) {
        if let Some(at) = state.running.iter().position(|running| running == key) {
            state.running.swap_remove(at);
        }
        let news = out.tasks.len();
        state.waiting.extend(out.tasks);
        for (key, event, weight) in out.found {
            state.ahead += weight;
            state.found.insert(key, (event, weight));
        }
        let was_full = state.ahead > self.ahead_at_most;
        while let Some(first) = state.found.first_entry() {
            let is_behind = |other: &Key| other < first.key();
            if state.running.iter().any(is_behind) || state.waiting.keys().next().is_some_and(is_behind) {
                break;
            }
            let (event, weight) = first.remove();
            state.ahead -= weight;
            if (state.sink)(event).is_break() {
                self.stop();
                return;
            }
        }
        // Waking costs a system call even when nobody sleeps.
        if state.idle == 0 {
            return;
        }
        if news > 1 || was_full || state.waiting.is_empty() && state.running.is_empty() {
            self.changed.notify_all();
        } else if news == 1 {
            self.changed.notify_one();
        }
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<'s, T, E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes the others when a thread dies, so that the scope ends and the panic is seen.
struct StopOnPanic<'a, 's, T: Send, E: Send>(&'a Schedule<'s, T, E>);

impl<T: Send, E: Send> Drop for StopOnPanic<'_, '_, T, E> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Under the lock, or a thread about to wait would miss it.
            let _state = self.0.lock();
            self.0.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_ahead_of_the_order_leaves_only_the_very_next_task() {
        let key = |name: &str| Key::of(Path::new(name));
        let mut sink = |_: ()| ControlFlow::Continue(());
        let schedule = Schedule::new(key("b"), (), 10, &mut sink);
        let mut state = schedule.lock();
        state.running.push(key("a"));
        state.ahead = 11;
        assert!(schedule.next(&mut state).is_none());
        state.ahead = 10;
        assert!(schedule.next(&mut state).is_some());
        state.waiting.insert(key("Z"), ());
        state.ahead = 11;
        assert!(schedule.next(&mut state).is_some_and(|(next, ())| next == key("Z")));
    }

    #[test]
    fn a_finding_waits_for_every_smaller_task() {
        let key = |name: &str| Key::of(Path::new(name));
        let mut seen = Vec::new();
        let mut sink = |event: &'static str| {
            seen.push(event);
            ControlFlow::Continue(())
        };
        let schedule = Schedule::new(key("b"), (), 10, &mut sink);
        let mut state = schedule.lock();
        state.running.extend([key("a"), key("c")]);
        let out = |found| Out { tasks: Vec::new(), found, stopped: &schedule.stopped };
        schedule.settle(&mut state, &key("c"), out(vec![(key("c"), "c", 1)]));
        assert_eq!(state.ahead, 1);
        schedule.settle(&mut state, &key("a"), out(vec![(key("a"), "a", 1)]));
        assert_eq!(state.ahead, 1);
        let task = schedule.next(&mut state).unwrap().0;
        schedule.settle(&mut state, &task, out(Vec::new()));
        assert_eq!(state.ahead, 0);
        drop(state);
        drop(schedule);
        assert_eq!(seen, ["a", "c"]);
    }
}
