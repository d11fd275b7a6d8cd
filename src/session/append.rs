//! Writing to a session file: one whole line per write, under an exclusive lock, behind a healed tail.
//!
//! The lock is a `flock` on the file itself, so that it holds wherever the file is reached from. A file
//! that was replaced while one waited (by a migration) is noticed and opened anew.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::Error;
use crate::cancel::Cancel;

/// Files hold conversations: nobody else's business.
const MODE: u32 = 0o600;

/// A session file open for appending.
pub(super) struct Writer {
    path: PathBuf,
    file: File,
}

impl Writer {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        Ok(Self { path: path.to_owned(), file: open(path)? })
    }

    /// Makes the file with its first lines; fails when something is there already.
    pub(super) fn create(path: &Path, lines: &[u8], sync: bool) -> Result<Self, Error> {
        let io = |step| move |source| Error::io(step, path, source);
        let mut options = OpenOptions::new();
        let options = options.read(true).append(true).create_new(true).mode(MODE);
        let mut file = options.open(path).map_err(io("create"))?;
        let written = file.write_all(lines).and_then(|()| if sync { file.sync_all() } else { Ok(()) });
        if let Err(source) = written {
            // Half a session is worse than none; nobody else has seen it yet.
            let _ = std::fs::remove_file(path);
            return Err(Error::io("write", path, source));
        }
        sync_parent(path, sync)?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Opens the file, or makes an empty one. Also says whether it was made.
    pub(super) fn open_or_create(path: &Path) -> Result<(Self, bool), Error> {
        let mut options = OpenOptions::new();
        match options.read(true).append(true).create_new(true).mode(MODE).open(path) {
            Ok(file) => Ok((Self { path: path.to_owned(), file }, true)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok((Self::open(path)?, false)),
            Err(source) => Err(Error::io("create", path, source)),
        }
    }

    /// Waits until no other process appends. Also says whether the file is another one than before.
    pub(super) fn lock(&mut self, cancel: &Cancel) -> Result<(Locked<'_>, bool), Error> {
        let mut is_other = false;
        loop {
            wait_for(&self.file, &self.path, cancel)?;
            let io = |source| Error::io("open", &self.path, source);
            let ours = self.file.metadata().map_err(io)?;
            let there = std::fs::metadata(&self.path).map_err(io);
            let is_same =
                there.as_ref().is_ok_and(|there| (there.dev(), there.ino()) == (ours.dev(), ours.ino()));
            if is_same {
                let len = ours.len();
                return Ok((Locked { file: &self.file, path: &self.path, len }, is_other));
            }
            there?;
            self.file = open(&self.path)?;
            is_other = true;
        }
    }

    /// Whether somebody has removed the file since.
    pub(super) fn is_gone(&self) -> bool {
        std::fs::metadata(&self.path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Puts back the file after somebody removed it: `lines` are its whole content.
    pub(super) fn restore(&mut self, lines: &[u8], sync: bool) -> Result<(), Error> {
        *self = Self::create(&self.path, lines, sync)?;
        Ok(())
    }
}

/// The file while nobody else appends to it.
pub(super) struct Locked<'w> {
    file: &'w File,
    pub(super) path: &'w Path,
    /// Its length.
    pub(super) len: u64,
}

impl Locked<'_> {
    /// The bytes from `start` to the end.
    pub(super) fn read_from(&mut self, start: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        let read = self.reader(start)?.read_to_end(&mut bytes);
        read.map_err(|source| Error::io("read", self.path, source))?;
        Ok(bytes)
    }

    /// The bytes from `start` to the end, one after another.
    pub(super) fn reader(&mut self, start: u64) -> Result<impl Read, Error> {
        let mut file = self.file;
        file.seek(SeekFrom::Start(start)).map_err(|source| Error::io("read", self.path, source))?;
        Ok(file.take(self.len.saturating_sub(start)))
    }

    /// Up to `count` bytes from `start` on.
    pub(super) fn read_at(&mut self, start: u64, count: usize) -> Result<Vec<u8>, Error> {
        let io = |source| Error::io("read", self.path, source);
        let mut file = self.file;
        file.seek(SeekFrom::Start(start)).map_err(io)?;
        let mut bytes = Vec::with_capacity(count);
        file.take(count as u64).read_to_end(&mut bytes).map_err(io)?;
        Ok(bytes)
    }

    /// Appends lines (each with its line break) in one write, behind a line break of their own when the
    /// last writer did not come to set one. Gives where they begin. On failure the file is as it was.
    pub(super) fn append(&mut self, lines: &[u8], sync: bool) -> Result<u64, Error> {
        let is_torn = self.len > 0 && self.read_at(self.len - 1, 1)? != b"\n";
        let healed;
        let bytes = if is_torn {
            healed = [b"\n", lines].concat();
            &healed[..]
        } else {
            lines
        };
        let mut file = self.file;
        let written =
            write_whole(&mut file, bytes).and_then(|()| if sync { file.sync_data() } else { Ok(()) });
        if let Err(source) = written {
            // A half line must not stay; where even this fails, the next writer heals it.
            let _ = self.file.set_len(self.len);
            return Err(Error::io("write", self.path, source));
        }
        let start = self.len + u64::from(is_torn);
        self.len += bytes.len() as u64;
        Ok(start)
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // Closing the file would do it, too.
        let _ = self.file.unlock();
    }
}

/// Makes sure that a new file's name is on the disk, too.
pub(super) fn sync_parent(path: &Path, sync: bool) -> Result<(), Error> {
    let Some(directory) = path.parent().filter(|_| sync) else { return Ok(()) };
    let synced = File::open(directory).and_then(|directory| directory.sync_all());
    synced.map_err(|source| Error::io("sync", path, source))
}

fn open(path: &Path) -> Result<File, Error> {
    let file = OpenOptions::new().read(true).append(true).custom_flags(libc::O_NONBLOCK).open(path);
    let io = |source| Error::io("open", path, source);
    let file = file.map_err(io)?;
    if !file.metadata().map_err(io)?.is_file() {
        return Err(io(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")));
    }
    Ok(file)
}

/// A whole line in one write, so that even a writer who takes no lock cannot come between.
fn write_whole(file: &mut &File, bytes: &[u8]) -> io::Result<()> {
    loop {
        match file.write(bytes) {
            Ok(count) if count == bytes.len() => return Ok(()),
            // The disk is full, or the limit on file sizes is reached.
            Ok(_) => return Err(io::Error::from_raw_os_error(libc::ENOSPC)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// `flock` has no descriptor to wait on together with the cancel flag: looked at in growing steps.
fn wait_for(file: &File, path: &Path, cancel: &Cancel) -> Result<(), Error> {
    let mut pause = Duration::from_micros(100);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(source)) => return Err(Error::io("lock", path, source)),
        }
        if cancel.is_cancelled() {
            return Err(Error::Aborted);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}
