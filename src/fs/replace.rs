//! Replacing a file's content as a whole: readers and crashes see the old content or the new.
//!
//! The new content goes into a file of its own, takes over mode, owner and extended attributes, and
//! takes the target's place by a rename. A target with more than one name, in a directory where nothing
//! can be made or renamed, or whose owner could not be kept, is written in place instead, once there
//! is room for the new content.

mod attributes;
mod content;
mod in_place;
mod swap;
mod target;
mod temporary;

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::cancel::Cancel;
use crate::error::{self, Code, Fault};
use crate::fs::Kind;
use swap::{Job, Stop};
use target::Target;

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

    /// Whether the content is the same, whatever a rename has done to the time of the last change.
    fn has_content_of(&self, other: &Self) -> bool {
        Self { changed: other.changed, ..self.clone() } == *other
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
    /// It is neither a regular file nor free to become one.
    #[error("'{}' is a {}, not a regular file", .path.display(), .kind.noun())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it is.
        kind: Kind,
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
            Self::Unsupported { .. } => Code::UnsupportedFile,
            Self::Io { source, .. } => error::code_of(source),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Unsupported { kind, .. } => {
                serde_json::to_value(kind).map(|kind| Map::from_iter([("kind".to_owned(), kind)]))
            }
            _ => Ok(Map::new()),
        }
        .unwrap_or_default()
    }
}

/// See [`crate::fs::Backend::replace`].
pub fn replace(
    path: &Path,
    content: &[&[u8]],
    expected: Option<&Version>,
    cancel: &Cancel,
) -> Result<(), Error> {
    loop {
        if cancel.is_cancelled() {
            return Err(Error::Aborted);
        }
        let target = Target::find(path)?;
        let job = Job { path, target: &target, content, expected, cancel };
        job.check_version()?;
        return match job.swap() {
            Ok(()) => Ok(()),
            Err(Stop::Appeared) => continue,
            Err(Stop::Refused(error)) => job.write_in_place(error),
            Err(Stop::Failed(error) | Stop::NeedsName(error)) => Err(error),
        };
    }
}

#[cfg(test)]
mod tests;
