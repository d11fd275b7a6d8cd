//! Standard input that a request to stop always interrupts.
//!
//! A handler that only sets a flag comes too late for a read that begins just after the flag was looked
//! at; here the wait is for input or the flag, whichever comes first.

use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::cancel::Cancel;
use crate::error::{Code, Error};

/// Standard input, unbuffered; a read fails with [`io::ErrorKind::Interrupted`] once the work should stop.
pub(super) struct Stdin<'a>(&'a Cancel);

impl<'a> Stdin<'a> {
    pub(super) fn new(cancel: &'a Cancel) -> Self {
        Self(cancel)
    }

    /// For a command that takes its text from a pipe or a file; nobody is meant to type it.
    pub(super) fn piped(command: &str, cancel: &'a Cancel) -> Result<Self, Error> {
        if io::stdin().is_terminal() {
            let message = format!("{command} reads standard input, and that is a terminal; pipe the text in");
            return Err(Error::new(Code::InvalidArguments, message));
        }
        Ok(Self(cancel))
    }
}

impl Read for Stdin<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        /// How often to look at the flag where the system has no descriptor left to wake us.
        const WITHOUT_WAKING: u16 = 200;
        let stdin = io::stdin();
        loop {
            let wake = self.0.wake_fd();
            let timeout = if wake.is_some() { PollTimeout::NONE } else { WITHOUT_WAKING.into() };
            let descriptors = [Some(stdin.as_fd()), wake];
            let mut waited: Vec<_> =
                descriptors.into_iter().flatten().map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
            match poll(&mut waited, timeout) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            if self.0.is_cancelled() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            if waited[0].any() == Some(true) {
                return Ok(nix::unistd::read(stdin.as_fd(), buffer)?);
            }
        }
    }
}
