//! The file with all output of a command that said more than is shown.
//!
//! It has no name until it is complete, where the file system can do that: a killed process leaves
//! nothing behind, and what has a name is whole.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::linkat;

use crate::context::random_hex;
use crate::error::describe;

const MODE: u32 = 0o600;

/// A log being written; gone when dropped before [`Log::keep`].
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    path: PathBuf,
    has_name: bool,
}

/// The log could not be made or written.
#[derive(Debug, thiserror::Error)]
#[error("{}, {step} '{}'", describe(.source), .path.display())]
pub struct LogError {
    step: &'static str,
    path: PathBuf,
    source: io::Error,
}

impl Log {
    /// Starts `dir/prefix-<16 hex digits>.log`.
    pub(super) fn create(dir: &Path, prefix: &str) -> Result<Self, LogError> {
        let failed = |source| LogError { step: "open", path: dir.join(format!("{prefix}-*.log")), source };
        let path = dir.join(format!("{prefix}-{}.log", random_hex().map_err(failed)?));
        match OpenOptions::new().read(true).write(true).mode(MODE).custom_flags(libc::O_TMPFILE).open(dir) {
            Ok(file) => Ok(Self { file, path, has_name: false }),
            Err(_) => match create_named(&path) {
                Ok(file) => Ok(Self { file, path, has_name: true }),
                Err(source) => Err(LogError { step: "open", path, source }),
            },
        }
    }

    /// Appends.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), LogError> {
        self.file.write_all(bytes).map_err(|source| self.failed("write", source))
    }

    /// Closes the complete file and gives its path.
    pub(super) fn keep(mut self) -> Result<PathBuf, LogError> {
        if !self.has_name {
            self.give_name().map_err(|source| self.failed("link", source))?;
        }
        self.has_name = false;
        Ok(std::mem::take(&mut self.path))
    }

    fn give_name(&mut self) -> io::Result<()> {
        let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        if linkat(AT_FDCWD, own.as_str(), AT_FDCWD, &self.path, AtFlags::AT_SYMLINK_FOLLOW).is_ok() {
            return Ok(());
        }
        // Without /proc there is no way to name it: a copy then.
        let mut named = create_named(&self.path)?;
        self.file.rewind()?;
        let copied = io::copy(&mut self.file, &mut named);
        if copied.is_err() {
            let _ = std::fs::remove_file(&self.path);
        }
        copied.map(|_| ())
    }

    fn failed(&self, step: &'static str, source: io::Error) -> LogError {
        LogError { step, path: self.path.clone(), source }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if self.has_name {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn create_named(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(MODE).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a file system without nameless files gives.
    fn named(dir: &Path) -> Log {
        let path = dir.join("pi-test-1.log");
        Log { file: create_named(&path).unwrap(), path, has_name: true }
    }

    #[test]
    fn a_log_with_a_name_is_kept_or_removed() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = named(dir.path());
        log.write(b"text").unwrap();
        let path = log.keep().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"text");
        std::fs::remove_file(&path).unwrap();
        drop(named(dir.path()));
        assert!(!path.exists());
    }

    #[test]
    fn a_full_disk_is_named() {
        let path = PathBuf::from("/dev/full");
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        let mut log = Log { file, path, has_name: false };
        let error = log.write(b"text").unwrap_err();
        assert_eq!(error.to_string(), "ENOSPC: no space left on device, write '/dev/full'");
    }
}
