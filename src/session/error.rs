//! Why something with a session failed.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::error::{self, Code, Fault};

/// A failed operation. The file is as it was before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is not a session, so nothing is done to it.
    #[error("Session file is not a valid pi session: {}", .path.display())]
    NotASession {
        /// The file.
        path: PathBuf,
    },
    /// Discovery found no header in the part of a file it looks at.
    #[error("Session header exceeds {}-byte scan limit: {}", super::header::SCAN_LIMIT, .path.display())]
    HeaderTooFar {
        /// The file.
        path: PathBuf,
    },
    /// No entry has that id.
    #[error("Entry {id} not found")]
    NoEntry {
        /// The id.
        id: String,
    },
    /// The entry exists and lies on another branch.
    #[error("Entry {id} is not on the active branch")]
    OffBranch {
        /// The id.
        id: String,
    },
    /// A context edit cannot target that entry.
    #[error("Entry {id} does not contribute editable model content")]
    NotEditable {
        /// The id.
        id: String,
    },
    /// A context edit with a replacement of the wrong form.
    #[error("Context edit replacement must be null or contain string/array content")]
    BadReplacement,
    /// A fork at an entry that does not exist, or before one that is no user message.
    #[error("Invalid entry ID for forking")]
    NotForkable,
    /// A fork of a session that was never written.
    #[error("This session has not been saved yet. Send a message before cloning or forking it.")]
    NotSaved,
    /// What should be appended is no entry.
    #[error("{0}")]
    BadEntry(String),
    /// A session id with characters that cannot be in a file name.
    #[error(
        "Session id must be non-empty, contain only alphanumeric characters, '-', '_', and '.', and start and end with an alphanumeric character"
    )]
    BadId,
    /// A fork of a file that is no session.
    #[error("Cannot fork: source session file is empty or invalid: {}", .path.display())]
    BadSource {
        /// The file.
        path: PathBuf,
    },
    /// The file was replaced by something else while the session was open.
    #[error("{} is no longer the session that was opened", .path.display())]
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// A partial id that several sessions share.
    #[error("Several sessions match '{id}': {}", .candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        id: String,
        /// The ids that begin with it.
        candidates: Vec<String>,
    },
    /// No session has that id.
    #[error("No session found matching '{id}'")]
    NoSession {
        /// What was asked for.
        id: String,
    },
    /// The file holds more than can be indexed.
    #[error("{} has too many entries or too long ids", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The call was cancelled.
    #[error("Operation aborted")]
    Aborted,
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

impl Error {
    pub(super) fn io(step: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { step, path: path.to_owned(), source }
    }

    /// What the system said, where it was the system.
    pub fn system(&self) -> Option<&io::Error> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl Fault for Error {
    fn code(&self) -> Code {
        match self {
            Self::Io { source, .. } => error::code_of(source),
            Self::Aborted => Code::Aborted,
            Self::NoEntry { .. } | Self::NoSession { .. } => Code::NotFound,
            Self::Ambiguous { .. } => Code::NotUnique,
            Self::NotASession { .. }
            | Self::BadSource { .. }
            | Self::HeaderTooFar { .. }
            | Self::TooLarge { .. } => Code::UnsupportedFile,
            Self::Replaced { .. } => Code::Conflict,
            _ => Code::InvalidArguments,
        }
    }

    fn facts(&self) -> Map<String, Value> {
        let mut facts = Map::new();
        if let Self::Ambiguous { candidates, .. } = self {
            facts.insert("candidates".to_owned(), candidates.clone().into());
        }
        facts
    }
}
