//! Failures: the closed list of codes, and the one shape every module's error is turned into.
//!
//! A module that can fail in more than one way has its own enum and implements [`Fault`] for it; at
//! the edge of a tool it becomes an [`Error`]. Nothing below `cli` decides how a failure is shown.

use std::io;

use nix::errno::Errno;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// What went wrong, for programs. Closed and stable: a code is never renamed or reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Code {
    /// The arguments do not fit the tool's schema or contradict each other.
    InvalidArguments,
    /// No tool has the name that was called.
    UnknownTool,
    /// The path does not exist.
    NotFound,
    /// The path is a directory where a file is needed.
    IsDirectory,
    /// The path (or a parent of it) is not a directory.
    NotDirectory,
    /// The system refused access.
    PermissionDenied,
    /// A pipe, socket, device or terminal where a regular file is needed.
    UnsupportedFile,
    /// The offset lies behind the end of the file.
    BeyondEnd,
    /// No place in the file matches the old text.
    NoMatch,
    /// More than one place matches the old text.
    NotUnique,
    /// Two edits of one call touch the same text.
    Overlap,
    /// The edits would leave the file as it is.
    Unchanged,
    /// The file changed while the edit was under way and the edit no longer fits.
    Conflict,
    /// The disk, quota or file-size limit leaves no room.
    NoSpace,
    /// A regular expression or glob that does not parse.
    InvalidPattern,
    /// The command did not finish within its timeout.
    TimedOut,
    /// The command could not be started.
    NotStarted,
    /// Nothing was done, because another document of an all-or-nothing stream failed.
    NotApplied,
    /// The call was cancelled.
    Aborted,
    /// Any other failure that the system reported.
    Io,
}

/// An error that knows its code; the facts are further members of the printed `error` object.
pub trait Fault: std::error::Error {
    /// The code under which programs know this failure.
    fn code(&self) -> Code;

    /// Machine-readable particulars, such as `count` or `path`.
    fn facts(&self) -> Map<String, Value> {
        Map::new()
    }
}

/// A failed call: what `{"error": …}` shows and a model reads.
#[derive(Clone, Debug, Serialize)]
pub struct Error {
    /// What went wrong, for programs.
    pub code: Code,
    /// What went wrong and what to do about it, for people and models.
    pub message: String,
    /// Particulars, printed beside `code` and `message`.
    #[serde(flatten)]
    pub facts: Map<String, Value>,
}

impl Error {
    /// An error without particulars.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), facts: Map::new() }
    }

    /// The failure of a call that was cancelled.
    pub fn aborted() -> Self {
        Self::new(Code::Aborted, "Operation aborted")
    }
}

impl<F: Fault> From<F> for Error {
    fn from(fault: F) -> Self {
        Self { code: fault.code(), message: fault.to_string(), facts: fault.facts() }
    }
}

/// The code for what the system reported.
pub fn code_of(error: &io::Error) -> Code {
    match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ENOENT) => Code::NotFound,
        Some(Errno::EISDIR) => Code::IsDirectory,
        Some(Errno::ENOTDIR) => Code::NotDirectory,
        Some(Errno::EACCES | Errno::EPERM | Errno::EROFS) => Code::PermissionDenied,
        Some(Errno::ENOSPC | Errno::EDQUOT | Errno::EFBIG) => Code::NoSpace,
        // The standard library's word for a path with a NUL byte.
        None if error.kind() == io::ErrorKind::InvalidInput => Code::InvalidArguments,
        _ => Code::Io,
    }
}

/// The symbol of a system error, such as `ENOENT`; `EIO` where the system gave none.
pub fn symbol(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(number) => format!("{:?}", Errno::from_raw(number)),
        None => "EIO".to_owned(),
    }
}

/// A system error in words that name its symbol: `ENOENT: no such file or directory`.
pub fn describe(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(number) => {
            let errno = Errno::from_raw(number);
            let words = errno.desc();
            let mut letters = words.chars();
            let first = letters.next().map(|c| c.to_ascii_lowercase()).unwrap_or_default();
            format!("{errno:?}: {first}{}", letters.as_str())
        }
        None => error.to_string(),
    }
}
