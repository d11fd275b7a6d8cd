//! Taking a session file from anywhere into a directory of sessions.

use std::io;
use std::path::{Path, PathBuf};

use super::error::Error;
use super::header::Header;
use super::storage::{self, Directory};
use super::{id, script_date, tail};
use crate::context::{Context, random_hex};

/// A session that was taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Its new file.
    pub path: PathBuf,
    /// Its header.
    pub header: Header,
}

impl Directory {
    /// Copies a session file into the directory, byte for byte, under its own name or, where that is taken,
    /// under one made of the time and its id. Nothing is overwritten, and a failure leaves nothing behind.
    pub fn import(&self, source: &Path, sync: bool, context: &Context) -> Result<Imported, Error> {
        let source = storage::absolute(source, context);
        let header = tail::find_header(&source, context)?;
        let io = |step| move |error| Error::io(step, &self.path, error);
        context.backend.create_dir_all(&self.path).map_err(io("mkdir"))?;
        // Only its owner can read it from the start, and it goes when this fails.
        let mut copy = tempfile::NamedTempFile::new_in(&self.path).map_err(io("create in"))?;
        let mut bytes = context.backend.open(&source).map_err(|error| Error::io("open", &source, error))?;
        io::copy(&mut bytes, &mut copy).map_err(io("write in"))?;
        if sync {
            copy.as_file().sync_all().map_err(io("write in"))?;
        }
        context.cancel.check().map_err(|_| Error::Aborted)?;
        let no_random = |source| Error::io("read", Path::new("/dev/urandom"), source);
        // What the header says might lead out of the directory.
        let id = if id::is_valid_session_id(&header.id) {
            header.id.clone()
        } else {
            random_hex().map_err(no_random)?
        };
        let made = storage::file_name(&id, script_date::milliseconds((context.now)()));
        let own = source.file_name().filter(|name| name.as_encoded_bytes().ends_with(b".jsonl"));
        for name in own.into_iter().chain([made.as_ref()]) {
            let path = self.path.join(name);
            copy = match copy.persist_noclobber(&path) {
                Ok(_) => {
                    super::append::sync_parent(&path, sync)?;
                    return Ok(Imported { path, header });
                }
                Err(taken) if taken.error.kind() == io::ErrorKind::AlreadyExists => taken.file,
                Err(failed) => return Err(Error::io("create", &path, failed.error)),
            };
        }
        Err(Error::io("create", &self.path.join(made), io::ErrorKind::AlreadyExists.into()))
    }
}
