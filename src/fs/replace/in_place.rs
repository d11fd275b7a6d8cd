//! Writing over a file that cannot be replaced: room first, so that a full disk costs nothing.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};

use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, fallocate};
use nix::sys::resource::{Resource, getrlimit};

use super::content;

/// Gives the file, now `old_len` bytes long, this content. What lies behind the old end is written
/// first: it is what can fail for want of room, and cut off again the file is as it was.
pub(super) fn write(mut file: &File, old_len: u64, new: &[&[u8]]) -> io::Result<()> {
    let new_len = content::len(new);
    let (head, tail) = content::split(new, old_len);
    let grown = reserve(file, new_len)
        .and_then(|()| file.seek(SeekFrom::Start(old_len)))
        .and_then(|_| content::write(file, &tail));
    if let Err(error) = grown {
        let _ = file.set_len(old_len);
        return Err(error);
    }
    file.rewind()?;
    content::write(file, &head)?;
    if new_len < old_len {
        file.set_len(new_len)?;
    }
    match file.sync_all() {
        Err(error) if !is_unsupported(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Takes the blocks without changing the size, on file systems that can.
fn reserve(file: &File, len: u64) -> io::Result<()> {
    // The limit also ends a write over bytes that are there already.
    if getrlimit(Resource::RLIMIT_FSIZE).is_ok_and(|(limit, _)| len > limit) {
        return Err(Errno::EFBIG.into());
    }
    let Some(len) = i64::try_from(len).ok().filter(|len| *len > 0) else { return Ok(()) };
    match fallocate(file, FallocateFlags::FALLOC_FL_KEEP_SIZE, 0, len) {
        Err(errno @ (Errno::ENOSPC | Errno::EDQUOT | Errno::EFBIG)) => Err(errno.into()),
        _ => Ok(()),
    }
}

/// Files of `/proc` and `/sys` take a write and know no fsync.
fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EOPNOTSUPP | libc::EROFS))
}
