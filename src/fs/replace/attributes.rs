//! What a new file takes over from the one it replaces: owner, group, extended attributes, mode.

use std::ffi::OsStr;
use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;

use xattr::FileExt;

/// Access control lists, which Linux keeps as an attribute.
const ACL: &str = "system.posix_acl_access";

/// Attributes that speak of the old content: Linux itself drops them on a write.
const OF_THE_CONTENT: [&str; 3] = ["security.capability", "security.ima", "security.evm"];

/// Takes over owner and attributes of `path`; to be done before there is content, so that nobody
/// sees it who must not. An error where the file would come out as somebody else's or open to others.
pub(super) fn inherit(file: &File, old: &Metadata, path: &Path) -> io::Result<()> {
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        fchown(file, Some(old.uid()), Some(old.gid()))?;
    }
    // A list the directory hands on to new files, which the old file did not have.
    if file.get_xattr(ACL).is_ok_and(|list| list.is_some()) {
        file.remove_xattr(ACL)?;
    }
    for name in xattr::list(path).into_iter().flatten() {
        if OF_THE_CONTENT.iter().any(|known| name == *known) {
            continue;
        }
        let copied = copy(file, path, &name);
        if name == ACL {
            copied?;
        }
    }
    Ok(())
}

/// Takes over the mode; to be done last, because writing takes the set-user-id bit away.
pub(super) fn inherit_mode(file: &File, old: &Metadata) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(old.mode() & 0o7777))
}

fn copy(file: &File, path: &Path, name: &OsStr) -> io::Result<()> {
    match xattr::get(path, name)? {
        Some(value) => file.set_xattr(name, &value),
        None => Ok(()),
    }
}
