//! The seam the tools reach files and processes through: this machine today, another one later.

use std::ffi::OsString;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::cancel::Cancel;
use crate::fs::lock::{self, Lock};
use crate::fs::process::{Command, Ended, Output, StartError};
use crate::fs::replace::{self, Version};

/// Where files and processes live. Every method takes absolute paths.
pub trait Backend: Send + Sync {
    /// What a path names, links followed.
    fn metadata(&self, path: &Path) -> io::Result<Metadata>;

    /// What a path names, a link being a link.
    fn symlink_metadata(&self, path: &Path) -> io::Result<Metadata>;

    /// The path without links, `.` and `..`.
    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf>;

    /// Where a link points, as written in it.
    fn read_link(&self, path: &Path) -> io::Result<PathBuf>;

    /// Opens for reading. Never blocks: what is not a regular file is opened without waiting for a
    /// writer, and the caller decides by [`Source::metadata`] what to do with it.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Source>>;

    /// The entries of a directory, in no particular order.
    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>>;

    /// Makes a directory and its missing parents.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;

    /// Excludes other writers of the file behind `path`, across processes, until dropped.
    fn lock(&self, path: &Path, cancel: &Cancel) -> Result<Lock, lock::Error>;

    /// Replaces the content of the file behind `path` (links followed) as a whole: readers and
    /// crashes see the old content or the new. With `expected`, fails with
    /// [`replace::Error::Changed`] when the file is no longer that version. The caller holds the lock.
    fn replace(
        &self,
        path: &Path,
        content: &[&[u8]],
        expected: Option<&Version>,
        cancel: &Cancel,
    ) -> Result<(), replace::Error>;

    /// Runs a command to its end, its timeout or its cancellation, handing output on as it comes.
    fn run(&self, command: &Command, output: &mut dyn Output, cancel: &Cancel) -> Result<Ended, StartError>;
}

/// An open file.
pub trait Source: Read + Seek + Send {
    /// What is open.
    fn metadata(&self) -> io::Result<Metadata>;

    /// The descriptor to wait on, for what can make a reader wait (pipes, devices).
    fn wait_fd(&self) -> Option<std::os::fd::BorrowedFd<'_>>;
}

/// What kind of thing a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Dir,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character device (a terminal is one).
    CharDevice,
    /// A block device.
    BlockDevice,
    /// Something else, or the file system did not say.
    Unknown,
}

impl Kind {
    /// The kind in words that fit "is a …".
    pub fn noun(self) -> &'static str {
        match self {
            Self::File => "regular file",
            Self::Dir => "directory",
            Self::Symlink => "symbolic link",
            Self::Fifo => "named pipe",
            Self::Socket => "socket",
            Self::CharDevice => "character device",
            Self::BlockDevice => "block device",
            Self::Unknown => "special file",
        }
    }
}

/// What the tools ask of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// What it is.
    pub kind: Kind,
    /// Size in bytes.
    pub len: u64,
    /// Permission bits.
    pub mode: u32,
    /// Last change of the content.
    pub modified: Option<SystemTime>,
    /// Which content this is, as far as the system can tell.
    pub version: Version,
}

/// One name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// The name, raw bytes.
    pub name: OsString,
    /// What it names, a link being a link; `Unknown` where only a look at it can tell.
    pub kind: Kind,
}
