//! Waiting for another process in growing steps, ended early by a cancellation.

use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::cancel::Cancel;

/// Short at first, because most holders are done within a few milliseconds; never long, because
/// whoever happens to look first when the holder leaves comes next.
const STEPS_MS: [u8; 5] = [1, 2, 5, 10, 20];

/// The steps of one wait.
#[derive(Default)]
pub(in crate::fs) struct Backoff {
    taken: usize,
}

impl Backoff {
    /// Sleeps one step, or until the call is cancelled.
    pub(in crate::fs) fn wait(&mut self, cancel: &Cancel) {
        let milliseconds = STEPS_MS[self.taken.min(STEPS_MS.len() - 1)];
        self.taken += 1;
        match cancel.wake_fd() {
            Some(wake) => {
                let _ = poll(&mut [PollFd::new(wake, PollFlags::POLLIN)], PollTimeout::from(milliseconds));
            }
            None => std::thread::sleep(Duration::from_millis(milliseconds.into())),
        }
    }
}
