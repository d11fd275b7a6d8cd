//! One writer per file across processes and threads: an advisory lock, by the file's real path.
//!
//! The lock is an flock on a file named after the path. Where no lock file can be made (a read-only or
//! full temp dir, one that a stranger has occupied), it is an flock on the file to be written itself.
//! Hard links are different paths, and so are the environments of two users: there a writer is not kept
//! waiting, but noticed (see [`super::replace`]).

mod backoff;
mod digest;
mod directory;
mod real_path;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use crate::cancel::Cancel;
use crate::context::Environment;
use crate::error::{self, Code, Fault};
use crate::fs::path;
pub(in crate::fs) use backoff::Backoff;
pub(in crate::fs) use digest::digest;
pub(in crate::fs) use real_path::real_path;

/// Where the lock files live.
#[derive(Debug)]
pub struct LockDir {
    runtime_dir: Option<PathBuf>,
    temp_dir: PathBuf,
}

/// An exclusive lock; dropping it lets the next writer in.
#[derive(Debug)]
pub struct Lock {
    /// `None` where there is nothing yet that two could write to.
    file: Option<File>,
    /// The lock file, unless the lock is on the written file itself.
    lock_file: Option<PathBuf>,
}

/// Why a lock was not had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The call was cancelled while it waited.
    #[error("Operation aborted")]
    Aborted,
    /// The lock file could not be made or locked.
    #[error("{}, lock '{}'", error::describe(.source), .path.display())]
    Io {
        /// The lock file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Fault for Error {
    fn code(&self) -> Code {
        match self {
            Self::Aborted => Code::Aborted,
            Self::Io { source, .. } => error::code_of(source),
        }
    }
}

impl LockDir {
    /// The lock directory of this user: `$XDG_RUNTIME_DIR/pi/locks`, else a 0700 directory under the temp dir.
    pub fn new(environment: &Environment) -> Self {
        let runtime_dir = environment.get("XDG_RUNTIME_DIR").map(PathBuf::from);
        Self { runtime_dir: runtime_dir.filter(|dir| dir.is_absolute()), temp_dir: environment.temp_dir() }
    }

    /// Waits until no other writer holds the file behind `path` (links followed; it need not exist).
    pub fn lock(&self, path: &Path, cancel: &Cancel) -> Result<Lock, Error> {
        // A path that cannot be followed cannot be written to either; whoever tries says why.
        let real = || real_path(path).unwrap_or_else(|_| path.to_owned());
        let mut target = real();
        loop {
            let lock = self.lock_real(&target, cancel)?;
            // A link may have been turned elsewhere while we waited.
            let now = real();
            if now == target {
                return Ok(lock);
            }
            target = now;
        }
    }

    fn lock_real(&self, target: &Path, cancel: &Cancel) -> Result<Lock, Error> {
        let name = digest(path::bytes(target));
        for directory in self.directories() {
            let lock_file = directory.join(&name);
            match wait(cancel, &lock_file, || Lock::on_lock_file(&lock_file)) {
                // The next process may have no such trouble and would then hold another lock.
                Err(Error::Io { source, .. }) if !is_passing(&source) => {}
                settled => return settled,
            }
        }
        wait(cancel, target, || Lock::on_target(target))
    }

    /// The directories that can be used, best first.
    fn directories(&self) -> impl Iterator<Item = PathBuf> {
        let runtime_dir = self.runtime_dir.as_deref().filter(|dir| directory::is_own(dir));
        let in_runtime_dir =
            runtime_dir.map(|dir| move || directory::private(dir, &["pi", "locks"])).into_iter();
        let own = format!("pi-{}", nix::unistd::geteuid());
        in_runtime_dir
            .map(|make| make())
            .chain(std::iter::once_with(move || directory::private(&self.temp_dir, &[&own, "locks"])))
            .filter_map(Result::ok)
    }
}

/// One look at a lock.
enum Attempt {
    Held(Lock),
    Busy,
    /// What was locked is no longer what the path names: look again at once.
    Outdated,
}

fn wait(
    cancel: &Cancel,
    path: &Path,
    mut attempt: impl FnMut() -> io::Result<Attempt>,
) -> Result<Lock, Error> {
    let mut backoff = Backoff::default();
    loop {
        if cancel.is_cancelled() {
            return Err(Error::Aborted);
        }
        match attempt().map_err(|source| Error::Io { path: path.to_owned(), source })? {
            Attempt::Held(lock) => return Ok(lock),
            Attempt::Busy => backoff.wait(cancel),
            Attempt::Outdated => {}
        }
    }
}

impl Lock {
    fn on_lock_file(path: &Path) -> io::Result<Attempt> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        attempt(options.open(path)?, path, Some(path.to_owned()))
    }

    fn on_target(path: &Path) -> io::Result<Attempt> {
        let nothing = || Ok(Attempt::Held(Lock { file: None, lock_file: None }));
        if !fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file()) {
            return nothing();
        }
        let open = |options: &mut OpenOptions| options.custom_flags(libc::O_NONBLOCK).open(path);
        match open(OpenOptions::new().read(true)).or_else(|_| open(OpenOptions::new().write(true))) {
            Ok(file) => attempt(file, path, None),
            Err(error) if is_passing(&error) => Err(error),
            // It cannot be read and not be written: no writer to exclude.
            Err(_) => nothing(),
        }
    }
}

fn attempt(file: File, path: &Path, lock_file: Option<PathBuf>) -> io::Result<Attempt> {
    match file.try_lock() {
        Ok(()) if is_named(&file, path) => Ok(Attempt::Held(Lock { file: Some(file), lock_file })),
        Ok(()) => Ok(Attempt::Outdated),
        Err(TryLockError::WouldBlock) => Ok(Attempt::Busy),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether the path still names the open file.
pub(in crate::fs) fn is_named(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// Troubles of this process or moment that say nothing about the lock directory.
fn is_passing(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw);
    matches!(errno, Some(Errno::EMFILE | Errno::ENFILE | Errno::ENOMEM | Errno::EINTR))
}

impl Drop for Lock {
    fn drop(&mut self) {
        let Some(file) = &self.file else { return };
        if let Some(lock_file) = self.lock_file.as_deref().filter(|path| is_named(file, path)) {
            // While it is locked: the next writer finds that what it waited for has no name any more.
            let _ = fs::remove_file(lock_file);
        }
        // Closing is not enough: a child between fork and exec shares the open file.
        let _ = file.unlock();
    }
}

#[cfg(test)]
mod tests;
