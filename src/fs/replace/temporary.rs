//! The file that becomes the target. It has no name while it is written, so that a kill leaves
//! nothing; where the file system cannot do that, and for the moment in which it takes the target's
//! place, it has one of a few names known from the target's. Its writer holds an flock on it: a file
//! of such a name that is not locked is a dead writer's, and the next one removes it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::linkat;

use crate::cancel::Cancel;
use crate::fs::lock::{Backoff, digest, is_named};

/// Names per target: one, and others for while writers that do not know our lock are at it.
const SLOTS: usize = 4;

/// Names longer than this are replaced by their digest: some file systems allow 143 bytes.
const LONGEST_NAME: usize = 120;

/// A file that is not yet the target; its name goes when it is dropped.
pub(super) struct Temporary {
    pub(super) file: File,
    name: Option<PathBuf>,
}

impl Temporary {
    /// A file without a name in the target's directory.
    pub(super) fn unnamed(target: &Path, mode: u32) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options.write(true).mode(mode).custom_flags(libc::O_TMPFILE).open(directory(target))?;
        // Nobody else knows it; where flock is unknown, leftovers stay what they are.
        let _ = file.try_lock();
        Ok(Self { file, name: None })
    }

    /// A file with a name in the target's directory.
    pub(super) fn named(target: &Path, mode: u32, cancel: &Cancel) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(mode).custom_flags(libc::O_NOFOLLOW);
        let (file, name) = claim(target, cancel, |slot| {
            let file = options.open(slot)?;
            // Somebody may have taken it for a dead writer's before it was locked.
            match file.try_lock() {
                Err(TryLockError::Error(_)) => Ok(file),
                Ok(()) if is_named(&file, slot) => Ok(file),
                Ok(()) | Err(TryLockError::WouldBlock) => Err(io::ErrorKind::AlreadyExists.into()),
            }
        })?;
        Ok(Self { file, name: Some(name) })
    }

    /// Its name, which it gets now if it has none.
    pub(super) fn name(&mut self, target: &Path, cancel: &Cancel) -> io::Result<&Path> {
        let name = match self.name.take() {
            Some(name) => name,
            None => claim(target, cancel, |slot| self.link(slot))?.1,
        };
        Ok(self.name.insert(name))
    }

    /// Whether it is a file without a name.
    pub(super) fn is_unnamed(&self) -> bool {
        self.name.is_none()
    }

    /// Gives it a name that is still free.
    pub(super) fn link(&self, name: &Path) -> io::Result<()> {
        let open = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        Ok(linkat(AT_FDCWD, open.as_str(), AT_FDCWD, name, AtFlags::AT_SYMLINK_FOLLOW)?)
    }

    /// Leaves what is under its name alone: it is the target now, or not ours to remove.
    pub(super) fn keep(mut self) {
        self.name = None;
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = fs::remove_file(name);
        }
    }
}

/// Removes what killed writers of the target left.
pub(super) fn remove_stale(target: &Path) {
    for slot in slots(target) {
        examine(&slot);
    }
}

/// What is under one of the names.
enum Slot {
    Free,
    /// A writer at work.
    Busy,
    /// Nothing that can be known to be ours.
    Foreign,
}

/// Puts a file under the first name that can be had, waiting while living writers have them all.
fn claim<T>(
    target: &Path,
    cancel: &Cancel,
    mut put: impl FnMut(&Path) -> io::Result<T>,
) -> io::Result<(T, PathBuf)> {
    let mut backoff = Backoff::default();
    loop {
        let mut is_busy = false;
        for slot in slots(target) {
            match put(&slot) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                done => return done.map(|done| (done, slot)),
            }
            is_busy |= !matches!(examine(&slot), Slot::Foreign);
        }
        if !is_busy {
            return Err(Errno::EEXIST.into());
        }
        if cancel.is_cancelled() {
            return Err(Errno::ECANCELED.into());
        }
        backoff.wait(cancel);
    }
}

/// Looks what is under a name, and removes it when its writer is dead.
fn examine(slot: &Path) -> Slot {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(slot) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Slot::Free,
        Err(_) => return Slot::Foreign,
        Ok(file) => file,
    };
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Slot::Foreign;
    }
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Slot::Busy,
        Err(TryLockError::Error(_)) => Slot::Foreign,
        Ok(()) if !is_named(&file, slot) => Slot::Busy,
        Ok(()) => fs::remove_file(slot).map_or(Slot::Foreign, |()| Slot::Free),
    }
}

fn slots(target: &Path) -> impl Iterator<Item = PathBuf> {
    let name = target.file_name().unwrap_or_default();
    let mut base = OsString::from(".");
    if name.len() > LONGEST_NAME {
        base.push(digest(name.as_bytes()));
    } else {
        base.push(name);
    }
    base.push(".pi-tmp");
    (0..SLOTS).map(move |slot| {
        let mut name = base.clone();
        if slot > 0 {
            name.push(slot.to_string());
        }
        target.with_file_name(name)
    })
}

fn directory(target: &Path) -> &Path {
    target.parent().unwrap_or(target)
}
