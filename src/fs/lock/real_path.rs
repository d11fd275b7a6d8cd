//! The one name of a file that all its aliases lead to, whether or not the file exists yet.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nix::errno::Errno;

/// As many links as Linux itself follows.
const MAX_LINKS: usize = 40;

/// The absolute path without links: of the file when it exists, else of the place where writing to
/// `path` would make it. Links that dangle are followed, and missing directories kept as they are named.
pub(in crate::fs) fn real_path(path: &Path) -> io::Result<PathBuf> {
    follow(path, MAX_LINKS)
}

fn follow(path: &Path, links_left: usize) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        found => return found,
    }
    let Some(parent) = path.parent() else { return Ok(path.to_owned()) };
    if let Ok(target) = fs::read_link(path) {
        let links_left = links_left.checked_sub(1).ok_or(Errno::ELOOP)?;
        return follow(&parent.join(target), links_left);
    }
    let mut real = follow(parent, links_left)?;
    match path.file_name() {
        Some(name) => real.push(name),
        // The path ends in `..`.
        None => {
            real.pop();
        }
    }
    Ok(real)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_alias_of_a_missing_file_leads_to_one_name() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        fs::create_dir(dir.join("d")).unwrap();
        symlink("d", dir.join("dl")).unwrap();
        symlink("../new", dir.join("d/up")).unwrap();
        symlink("dl/up", dir.join("chain")).unwrap();
        for alias in ["new", "d/up", "dl/up", "chain", "dl/../new"] {
            assert_eq!(real_path(&dir.join(alias)).unwrap(), dir.join("new"), "{alias}");
        }
        assert_eq!(real_path(&dir.join("dl/a/b")).unwrap(), dir.join("d/a/b"));
    }

    #[test]
    fn a_loop_of_links_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        symlink("b", dir.path().join("a")).unwrap();
        symlink("a", dir.path().join("b")).unwrap();
        let error = real_path(&dir.path().join("a")).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ELOOP));
    }
}
