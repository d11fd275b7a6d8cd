//! The file that a replacement is about: found through its links, and opened as writing would open it.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use super::{Error, temporary};
use crate::fs::lock::real_path;
use crate::fs::{self as files, Kind};

/// Where the new content goes.
pub(super) struct Target {
    /// The path without links.
    pub(super) real: PathBuf,
    /// What is there; `None` for a file to be made.
    pub(super) existing: Option<Existing>,
}

/// A regular file that may be written to.
pub(super) struct Existing {
    /// Open for writing; `None` for a program that is running, which can be replaced but not written to.
    pub(super) file: Option<File>,
    pub(super) metadata: Metadata,
}

impl Target {
    /// Refuses what writing in place would be refused (a read-only file above all), and everything
    /// that is not a regular file: a pipe or terminal would make us wait, a device has no content to replace.
    pub(super) fn find(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Io { step: "open", path: path.to_owned(), source };
        let exists = match fs::metadata(path).map(|metadata| files::Metadata::from(&metadata).kind) {
            Ok(Kind::File) => true,
            Ok(Kind::Dir) => return Err(failed(Errno::EISDIR.into())),
            Ok(kind) => return Err(Error::Unsupported { path: path.to_owned(), kind }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(failed(error)),
        };
        let real = real_path(path).map_err(failed)?;
        // Before the links are counted: what a killed writer left may be one of them.
        temporary::remove_stale(&real);
        let existing = Existing::open(&real).map_err(failed)?;
        if exists && existing.is_none() {
            // An open file without a name, reached through `/proc/self/fd`.
            return Err(failed(Errno::ENOENT.into()));
        }
        Ok(Self { real, existing })
    }
}

impl Existing {
    fn open(real: &Path) -> io::Result<Option<Self>> {
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
        let opened = OpenOptions::new().write(true).custom_flags(flags).open(real);
        match opened {
            Ok(file) => {
                let metadata = file.metadata()?;
                Ok(Some(Self { file: Some(file), metadata }))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                Ok(Some(Self { file: None, metadata: fs::symlink_metadata(real)? }))
            }
            Err(error) => Err(error),
        }
    }
}
