//! The backend for this machine.

use std::fs::{File, FileType, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::cancel::Cancel;
use crate::context::Environment;
use crate::fs::backend::{Backend, DirEntry, Kind, Metadata, Source};
use crate::fs::lock::{self, Lock, LockDir};
use crate::fs::process::{self, Command, Ended, Output, StartError};
use crate::fs::replace::{self, Version};

/// Files and processes of this machine.
#[derive(Debug)]
pub struct Local {
    locks: LockDir,
}

impl Local {
    /// The backend for a process with this environment (it says where lock files live).
    pub fn new(environment: &Environment) -> Self {
        Self { locks: LockDir::new(environment) }
    }
}

impl Backend for Local {
    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        std::fs::metadata(path).map(|metadata| (&metadata).into())
    }

    fn symlink_metadata(&self, path: &Path) -> io::Result<Metadata> {
        std::fs::symlink_metadata(path).map(|metadata| (&metadata).into())
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        std::fs::canonicalize(path)
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        std::fs::read_link(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Source>> {
        // Without O_NONBLOCK the open itself waits for a FIFO's writer; on a regular file it means nothing.
        let file =
            OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
        Ok(Box::new(LocalFile(file)))
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        std::fs::read_dir(path)?
            .map(|entry| {
                let entry = entry?;
                let kind = entry.file_type().map_or(Kind::Unknown, kind_of);
                Ok(DirEntry { name: entry.file_name(), kind })
            })
            .collect()
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        std::fs::create_dir_all(path)
    }

    fn lock(&self, path: &Path, cancel: &Cancel) -> Result<Lock, lock::Error> {
        self.locks.lock(path, cancel)
    }

    fn replace(
        &self,
        path: &Path,
        content: &[&[u8]],
        expected: Option<&Version>,
        cancel: &Cancel,
    ) -> Result<(), replace::Error> {
        replace::replace(path, content, expected, cancel)
    }

    fn run(&self, command: &Command, output: &mut dyn Output, cancel: &Cancel) -> Result<Ended, StartError> {
        process::run(command, output, cancel)
    }
}

struct LocalFile(File);

impl Read for LocalFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Seek for LocalFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

impl Source for LocalFile {
    fn metadata(&self) -> io::Result<Metadata> {
        self.0.metadata().map(|metadata| (&metadata).into())
    }

    fn wait_fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.0.as_fd())
    }
}

impl From<&std::fs::Metadata> for Metadata {
    fn from(metadata: &std::fs::Metadata) -> Self {
        Self {
            kind: kind_of(metadata.file_type()),
            len: metadata.len(),
            mode: metadata.mode() & 0o7777,
            modified: metadata.modified().ok(),
            version: Version::of(metadata),
        }
    }
}

fn kind_of(file_type: FileType) -> Kind {
    match file_type {
        kind if kind.is_file() => Kind::File,
        kind if kind.is_dir() => Kind::Dir,
        kind if kind.is_symlink() => Kind::Symlink,
        kind if kind.is_fifo() => Kind::Fifo,
        kind if kind.is_socket() => Kind::Socket,
        kind if kind.is_char_device() => Kind::CharDevice,
        kind if kind.is_block_device() => Kind::BlockDevice,
        _ => Kind::Unknown,
    }
}
