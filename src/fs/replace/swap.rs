//! One replacement: a new file made beside the target and put in its place.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::errno::Errno;

use super::target::{Existing, Target};
use super::temporary::Temporary;
use super::{Error, Version, attributes, content, in_place};
use crate::cancel::Cancel;

/// What is to be done.
pub(super) struct Job<'a> {
    /// The file as the caller names it.
    pub(super) path: &'a Path,
    pub(super) target: &'a Target,
    pub(super) content: &'a [&'a [u8]],
    pub(super) expected: Option<&'a Version>,
    pub(super) cancel: &'a Cancel,
}

/// Why the target was not replaced.
#[derive(Debug)]
pub(super) enum Stop {
    /// Not this way; writing in place may do.
    Refused(Error),
    /// Not by a file without a name; one with a name may do.
    NeedsName(Error),
    /// Where a new file was to be made, somebody else has made one.
    Appeared,
    /// For good.
    Failed(Error),
}

impl Job<'_> {
    /// Whether the target is still what the caller expects.
    pub(super) fn check_version(&self) -> Result<(), Error> {
        let Some(expected) = self.expected else { return Ok(()) };
        match fs::symlink_metadata(&self.target.real) {
            Ok(metadata) if Version::of(&metadata) == *expected => Ok(()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.failure("open", error)),
            _ => Err(self.changed()),
        }
    }

    /// Makes the new file and puts it in the target's place.
    pub(super) fn swap(&self) -> Result<(), Stop> {
        let existing = self.target.existing.as_ref();
        if existing.is_some_and(|existing| existing.metadata.nlink() > 1) {
            return Err(Stop::Refused(self.failure("rename", Errno::EMLINK.into())));
        }
        // Nobody is to see the content before the file has the mode of the old one.
        let mode = if existing.is_some() { 0o600 } else { 0o666 };
        let real = &self.target.real;
        let unnamed = Temporary::unnamed(real, mode).map_err(|error| self.refusal_of_unnamed("open", error));
        match unnamed.and_then(|temporary| self.fill_and_place(temporary)) {
            Err(Stop::NeedsName(_)) => {
                let named = Temporary::named(real, mode, self.cancel);
                self.fill_and_place(named.map_err(|error| self.refusal("open", error))?)
            }
            done => done,
        }
    }

    /// Writes over the target, which could not be replaced for the reason in `error`.
    pub(super) fn write_in_place(&self, error: Error) -> Result<(), Error> {
        let Some(existing) = &self.target.existing else { return Err(error) };
        let Some(file) = &existing.file else { return Err(self.failure("open", Errno::ETXTBSY.into())) };
        if self.cancel.is_cancelled() {
            return Err(Error::Aborted);
        }
        self.check_version()?;
        let old_len = file.metadata().map_err(|error| self.failure("write", error))?.len();
        in_place::write(file, old_len, self.content).map_err(|error| self.failure("write", error))
    }

    pub(super) fn fill_and_place(&self, temporary: Temporary) -> Result<(), Stop> {
        let existing = self.target.existing.as_ref();
        let file = &temporary.file;
        if let Some(existing) = existing {
            attributes::inherit(file, &existing.metadata, &self.target.real)
                .map_err(|error| Stop::Refused(self.failure("chown", error)))?;
        }
        content::write(file, self.content).map_err(|error| Stop::Failed(self.failure("write", error)))?;
        if let Some(existing) = existing {
            attributes::inherit_mode(file, &existing.metadata)
                .map_err(|error| Stop::Refused(self.failure("chmod", error)))?;
        }
        file.sync_all().map_err(|error| Stop::Failed(self.failure("fsync", error)))?;
        if self.cancel.is_cancelled() {
            return Err(Stop::Failed(Error::Aborted));
        }
        match existing {
            Some(existing) => self.put_in_place_of(existing, temporary)?,
            None => self.put_where_nothing_is(temporary)?,
        }
        // A directory that cannot be opened or synced was still renamed in.
        if let Some(directory) = self.target.real.parent() {
            let _ = File::open(directory).and_then(|directory| directory.sync_all());
        }
        Ok(())
    }

    fn put_where_nothing_is(&self, mut temporary: Temporary) -> Result<(), Stop> {
        let real = &self.target.real;
        let is_unnamed = temporary.is_unnamed();
        let placed = if is_unnamed {
            temporary.link(real)
        } else {
            temporary.name(real, self.cancel).and_then(|name| rename_to_free(name, real))
        };
        match placed {
            Ok(()) => temporary.keep(),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(Stop::Appeared),
            Err(error) if is_unnamed => return Err(self.refusal_of_unnamed("open", error)),
            Err(error) => return Err(self.refusal("open", error)),
        }
        Ok(())
    }

    fn put_in_place_of(&self, existing: &Existing, mut temporary: Temporary) -> Result<(), Stop> {
        let real = &self.target.real;
        let was_unnamed = temporary.is_unnamed();
        let name = match temporary.name(real, self.cancel) {
            Ok(name) => name.to_owned(),
            Err(error) if was_unnamed => return Err(self.refusal_of_unnamed("open", error)),
            Err(error) => return Err(self.refusal("open", error)),
        };
        let Some(expected) = self.expected else { return self.rename(&name, temporary) };
        self.check_version().map_err(Stop::Failed)?;
        // For the moment in which the old file has the temporary name, it must not pass for a leftover.
        let _ = existing.file.as_ref().map(File::try_lock);
        self.exchange_with(&name, expected, temporary)
    }

    fn rename(&self, name: &Path, temporary: Temporary) -> Result<(), Stop> {
        fs::rename(name, &self.target.real).map_err(|error| self.refusal("rename", error))?;
        temporary.keep();
        Ok(())
    }

    /// Puts the new file in the place of the one that was read, or leaves the other one there.
    pub(super) fn exchange_with(
        &self,
        name: &Path,
        expected: &Version,
        temporary: Temporary,
    ) -> Result<(), Stop> {
        match exchange(name, &self.target.real) {
            Ok(()) => self.check_exchanged(name, expected, temporary),
            Err(error) if is_unknown(&error) => self.rename(name, temporary),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Stop::Failed(self.changed())),
            Err(error) => Err(self.refusal("rename", error)),
        }
    }

    /// The old file, now under the temporary name, must be the one that was read: what somebody wrote
    /// since the last look goes back to its place.
    fn check_exchanged(&self, name: &Path, expected: &Version, temporary: Temporary) -> Result<(), Stop> {
        let came_out = fs::symlink_metadata(name).map(|metadata| Version::of(&metadata));
        if came_out.is_ok_and(|version| version.has_content_of(expected)) {
            return Ok(());
        }
        if exchange(name, &self.target.real).is_err() {
            temporary.keep();
        }
        Err(Stop::Failed(self.changed()))
    }

    fn changed(&self) -> Error {
        Error::Changed { path: self.path.to_owned() }
    }

    fn failure(&self, step: &'static str, source: io::Error) -> Error {
        if source.raw_os_error() == Some(libc::ECANCELED) {
            return Error::Aborted;
        }
        Error::Io { step, path: self.path.to_owned(), source }
    }

    fn refusal(&self, step: &'static str, error: io::Error) -> Stop {
        let is_about_the_place = is_about_the_place(&error);
        let failure = self.failure(step, error);
        if is_about_the_place { Stop::Refused(failure) } else { Stop::Failed(failure) }
    }

    fn refusal_of_unnamed(&self, step: &'static str, error: io::Error) -> Stop {
        match self.refusal(step, error) {
            Stop::Refused(error) => Stop::NeedsName(error),
            other => other,
        }
    }
}

/// Whether an error says that files cannot be made or renamed there, rather than that something ran out.
fn is_about_the_place(error: &io::Error) -> bool {
    let Some(number) = error.raw_os_error() else { return true };
    is_unknown(error)
        || matches!(
            Errno::from_raw(number),
            Errno::EACCES
                | Errno::EPERM
                | Errno::EROFS
                | Errno::EXDEV
                | Errno::EBUSY
                | Errno::ETXTBSY
                | Errno::EEXIST
                | Errno::ENOENT
                | Errno::EISDIR
                | Errno::ENAMETOOLONG
        )
}

/// Whether the kernel or the file system does not know the operation.
fn is_unknown(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS | libc::EOPNOTSUPP))
}

#[cfg(target_env = "gnu")]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    rename_with(nix::fcntl::RenameFlags::RENAME_EXCHANGE, one, other)
}

/// Renames where nothing is in the way.
#[cfg(target_env = "gnu")]
fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    match rename_with(nix::fcntl::RenameFlags::RENAME_NOREPLACE, from, to) {
        Err(error) if is_unknown(&error) => fs::rename(from, to),
        done => done,
    }
}

#[cfg(target_env = "gnu")]
fn rename_with(flags: nix::fcntl::RenameFlags, from: &Path, to: &Path) -> io::Result<()> {
    use nix::fcntl::{AT_FDCWD, renameat2};
    Ok(renameat2(AT_FDCWD, from, AT_FDCWD, to, flags)?)
}

#[cfg(not(target_env = "gnu"))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(Errno::ENOSYS.into())
}

#[cfg(not(target_env = "gnu"))]
fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}
