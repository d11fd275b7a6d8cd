//! Cancellation: one flag that long work looks at between steps and that can end a wait.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};

use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::error::Error;

const RUNNING: i32 = 0;
const ABORTED: i32 = -1;

/// A cancel flag; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// `RUNNING`, `ABORTED`, or the number of the signal that asked for the end.
    cause: AtomicI32,
    /// Becomes readable on cancellation; made on first use, as most calls never wait.
    wake: OnceLock<Option<EventFd>>,
}

impl Cancel {
    /// A flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the work to stop.
    pub fn cancel(&self) {
        self.set(ABORTED);
    }

    /// Asks the work to stop because of a signal. Async-signal-safe.
    pub fn cancel_by_signal(&self, signal: i32) {
        self.set(signal);
    }

    /// Whether the work should stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.cause.load(Ordering::Acquire) != RUNNING
    }

    /// The signal that asked for the end, if one did.
    pub fn signal(&self) -> Option<i32> {
        Some(self.0.cause.load(Ordering::Acquire)).filter(|cause| *cause > 0)
    }

    /// `Err` with the `Operation aborted` failure once the work should stop: for `?` between steps.
    pub fn check(&self) -> Result<(), Error> {
        if self.is_cancelled() { Err(Error::aborted()) } else { Ok(()) }
    }

    /// A descriptor that becomes readable on cancellation, for `poll`; `None` where the system has
    /// none left to give (then a wait must wake now and then and ask).
    pub fn wake_fd(&self) -> Option<BorrowedFd<'_>> {
        let wake = self
            .0
            .wake
            .get_or_init(|| EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK).ok());
        if self.is_cancelled() {
            self.wake();
        }
        wake.as_ref().map(AsFd::as_fd)
    }

    fn set(&self, cause: i32) {
        let _ = self.0.cause.compare_exchange(RUNNING, cause, Ordering::AcqRel, Ordering::Acquire);
        self.wake();
    }

    fn wake(&self) {
        if let Some(Some(wake)) = self.0.wake.get() {
            let _ = wake.write(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_cause_stays() {
        let cancel = Cancel::new();
        assert!(cancel.check().is_ok());
        cancel.cancel_by_signal(15);
        cancel.cancel();
        assert!(cancel.is_cancelled());
        assert_eq!(cancel.signal(), Some(15));
        assert_eq!(cancel.check().unwrap_err().message, "Operation aborted");
    }

    #[test]
    fn waiting_ends_whether_the_wait_or_the_cancel_came_first() {
        use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
        for cancel_first in [true, false] {
            let cancel = Cancel::new();
            if cancel_first {
                cancel.cancel();
            }
            let fd = cancel.wake_fd().unwrap();
            let mut fds = [PollFd::new(fd, PollFlags::POLLIN)];
            if !cancel_first {
                let other = cancel.clone();
                std::thread::spawn(move || other.cancel());
            }
            assert_eq!(poll(&mut fds, PollTimeout::NONE).unwrap(), 1);
        }
    }
}
