//! Replacing a file's content as a whole.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::cancel::Cancel;
use crate::error::{self, Code, Fault};

/// Which content a file had when it was looked at: equal versions mean that nobody wrote in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    device: u64,
    inode: u64,
    len: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Version {
    /// The version a file's metadata stand for.
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            len: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// Why a file was not replaced. The old content is intact.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The call was cancelled before anything was replaced.
    #[error("Operation aborted")]
    Aborted,
    /// The file is no longer the version it was read as.
    #[error("{} changed while it was being edited", .path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{}, {step} '{}'", error::describe(.source), .path.display())]
    Io {
        /// What was being done: `open`, `write`, …
        step: &'static str,
        /// The file it was done to.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Fault for Error {
    fn code(&self) -> Code {
        match self {
            Self::Aborted => Code::Aborted,
            Self::Changed { .. } => Code::Conflict,
            Self::Io { source, .. } => error::code_of(source),
        }
    }
}

/// See [`crate::fs::Backend::replace`].
pub fn replace(
    path: &Path,
    content: &[&[u8]],
    _expected: Option<&Version>,
    _cancel: &Cancel,
) -> Result<(), Error> {
    std::fs::write(path, content.concat()).map_err(|source| Error::Io {
        step: "open",
        path: path.to_owned(),
        source,
    })
}
