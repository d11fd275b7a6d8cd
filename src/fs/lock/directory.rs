//! A directory that only this user can put things in, or a refusal.

use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// `parts` below `base`, made as far as it is missing. In a `base` that others can write to, someone
/// may have been there first: what is not a real directory of ours, closed to others, is refused.
pub(super) fn private(base: &Path, parts: &[&str]) -> io::Result<PathBuf> {
    let mut path = base.to_owned();
    for part in parts {
        path.push(part);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => make(&path)?,
            found => check(&found?)?,
        }
    }
    Ok(path)
}

/// Whether the user keeps this directory for himself, as `XDG_RUNTIME_DIR` has to be.
pub(super) fn is_own(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| check(&metadata).is_ok())
}

fn make(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => check(&fs::symlink_metadata(path)?),
    }
}

fn check(metadata: &Metadata) -> io::Result<()> {
    let ours = metadata.is_dir()
        && metadata.uid() == nix::unistd::geteuid().as_raw()
        && metadata.mode() & 0o022 == 0;
    if ours { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}
