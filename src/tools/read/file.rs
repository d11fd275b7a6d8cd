//! Opening what a path names and reading it block by block, never waiting without an end.

use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::block::{BLOCK, Block};
use super::failure::Failure;
use crate::cancel::Cancel;
use crate::context::Context;
use crate::error::Error;
use crate::fs::{Kind, Source, path};

/// How often a wait looks around where the system gives no descriptor that would wake it.
const GLANCE: Duration = Duration::from_millis(50);

/// How long a read may wait for what is not a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// Not at all.
    None,
    /// Until its end, if it is a pipe that the caller itself handed over.
    OwnPipes,
    /// Until its end or so long.
    For(Duration),
}

/// An open file that is being read.
pub(super) struct File<'c> {
    source: Box<dyn Source>,
    path: PathBuf,
    cancel: &'c Cancel,
    /// What is left of the size at opening; `None`: until the end.
    left: Option<u64>,
    wait: Wait,
    buffer: Block,
    is_cut: bool,
}

#[derive(Clone, Copy)]
enum Wait {
    /// It has no data now: that counts as its end.
    Never,
    Until(Option<Instant>),
}

impl<'c> File<'c> {
    /// Opens `path` if it is something that can be read with that patience.
    pub(super) fn open(path: &Path, patience: Patience, context: &'c Context) -> Result<Self, Error> {
        let started = Instant::now();
        let access = |source| Failure::Access { path: path.to_owned(), source };
        // Opening a device can act on it, so its kind is looked at before; and again after, as names move.
        let kind = context.backend.metadata(path).map_err(access)?.kind;
        admit(path, kind, patience, context)?;
        let source = context.backend.open(path).map_err(access)?;
        let metadata = source.metadata().map_err(access)?;
        admit(path, metadata.kind, patience, context)?;
        let is_sized = metadata.kind == Kind::File && metadata.len > 0;
        let wait = match (patience, metadata.kind) {
            (Patience::For(time), _) => Wait::Until(started.checked_add(time)),
            (_, Kind::File) | (Patience::None, _) => Wait::Never,
            (Patience::OwnPipes, _) => Wait::Until(None),
        };
        let left = is_sized.then_some(metadata.len);
        let size = usize::try_from(left.unwrap_or(u64::MAX)).unwrap_or(BLOCK).min(BLOCK);
        context.cancel.check()?;
        Ok(Self {
            source,
            path: path.to_owned(),
            cancel: &context.cancel,
            left,
            wait,
            buffer: Block::new(size),
            is_cut: false,
        })
    }

    /// The next block; empty at the end.
    pub(super) fn block(&mut self) -> Result<&[u8], Error> {
        let count = self.read_at(0)?;
        Ok(&self.buffer.bytes()[..count])
    }

    /// The next block, whole unless the file ends before.
    pub(super) fn whole_block(&mut self) -> Result<&[u8], Error> {
        let mut filled = 0;
        while filled < self.buffer.bytes().len() {
            match self.read_at(filled)? {
                0 => break,
                count => filled += count,
            }
        }
        Ok(&self.buffer.bytes()[..filled])
    }

    /// What is known of the bytes still to come.
    pub(super) fn bytes_left(&self) -> Option<u64> {
        self.left
    }

    /// Whether the time was up before the end.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    fn read_at(&mut self, start: usize) -> Result<usize, Error> {
        let room = self.buffer.bytes().len() - start;
        let room = self.left.map_or(room, |left| usize::try_from(left).unwrap_or(room).min(room));
        if room == 0 || self.is_cut {
            return Ok(0);
        }
        loop {
            self.cancel.check()?;
            if !self.is_ready()? {
                self.is_cut = true;
                return Ok(0);
            }
            match self.source.read(&mut self.buffer.bytes_mut()[start..start + room]) {
                Ok(count) => {
                    if let Some(left) = &mut self.left {
                        *left -= count as u64;
                    }
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => match self.wait {
                    Wait::Never => return Ok(0),
                    Wait::Until(_) => {}
                },
                Err(source) => return Err(Failure::Read { path: self.path.clone(), source }.into()),
            }
        }
    }

    /// Waits until there is something to read; `false` when the time is up. A pipe that had no writer
    /// yet would read as ended, so this comes before every read of what one may have to wait for.
    fn is_ready(&self) -> Result<bool, Error> {
        let Wait::Until(deadline) = self.wait else { return Ok(true) };
        loop {
            self.cancel.check()?;
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(false);
            }
            let Some(source) = self.source.wait_fd() else { return Ok(true) };
            let wake = self.cancel.wake_fd();
            let longest = if wake.is_some() { left } else { Some(left.unwrap_or(GLANCE).min(GLANCE)) };
            let mut fds = vec![PollFd::new(source.as_fd(), PollFlags::POLLIN)];
            fds.extend(wake.map(|wake| PollFd::new(wake, PollFlags::POLLIN)));
            match poll(&mut fds, timeout(longest)) {
                Ok(_) if fds[0].any().unwrap_or(true) => return Ok(true),
                Ok(_) | Err(nix::errno::Errno::EINTR) => {}
                Err(errno) => {
                    return Err(Failure::Read { path: self.path.clone(), source: errno.into() }.into());
                }
            }
        }
    }
}

/// Whole milliseconds, rounded up so that a wait does not end before its time.
fn timeout(longest: Option<Duration>) -> PollTimeout {
    let Some(longest) = longest else { return PollTimeout::NONE };
    let millis = longest.as_nanos().div_ceil(1_000_000);
    PollTimeout::try_from(i32::try_from(millis).unwrap_or(i32::MAX)).unwrap_or(PollTimeout::MAX)
}

fn admit(path: &Path, kind: Kind, patience: Patience, context: &Context) -> Result<(), Failure> {
    match (kind, patience) {
        (Kind::File, _) => Ok(()),
        (Kind::Dir, _) => Err(Failure::Directory { path: path.to_owned() }),
        (Kind::Socket, _) => Err(Failure::Socket { path: path.to_owned() }),
        (_, Patience::For(_)) => Ok(()),
        (Kind::Fifo, Patience::OwnPipes) if is_own_descriptor(path) => Ok(()),
        (Kind::CharDevice, _) if is_terminal(path, context) => {
            Err(Failure::Unsupported { path: path.to_owned(), noun: "terminal" })
        }
        _ => Err(Failure::Unsupported { path: path.to_owned(), noun: kind.noun() }),
    }
}

fn is_terminal(path: &Path, context: &Context) -> bool {
    let device = context.backend.canonicalize(path).unwrap_or_else(|_| path.to_owned());
    device.starts_with("/dev/pts") || path::bytes(&device).starts_with(b"/dev/tty")
}

/// `/dev/stdin`, and what a shell makes of `<(command)`.
fn is_own_descriptor(path: &Path) -> bool {
    path == Path::new("/dev/stdin") || ["/dev/fd", "/proc/self/fd"].iter().any(|dir| path.starts_with(dir))
}
