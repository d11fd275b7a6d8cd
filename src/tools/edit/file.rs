//! The steps around the bytes: reading a file as a known version, and replacing just that version.

use std::io;
use std::path::Path;

use super::Job;
use super::error::Cause;
use super::plan::Plan;
use crate::context::Context;
use crate::error::Error;
use crate::fs::replace::{self, Version};
use crate::fs::{Kind, Source};

/// How often an edit is worked out anew because the file changed under it.
pub(super) const ATTEMPTS: usize = 4;

/// Carries out a job whose file is locked; gives what was done.
pub(super) fn edit(job: &Job, dry_run: bool, context: &Context) -> Result<Plan, Error> {
    for attempt in 0..ATTEMPTS {
        context.cancel.check()?;
        let content = Content::read(&job.file, context).map_err(|cause| job.error(cause))?;
        let plan = Plan::new(&content.bytes, &job.edits).map_err(|cause| match attempt {
            0 => job.error(cause),
            _ => job.error(Cause::Conflict(Some(Box::new(job.error(cause))))),
        })?;
        context.cancel.check()?;
        if dry_run {
            return Ok(plan);
        }
        let pieces = plan.pieces(&content.bytes);
        match context.backend.replace(&job.file, &pieces, Some(&content.version), &context.cancel) {
            Ok(()) => return Ok(plan),
            Err(replace::Error::Changed { .. }) => {}
            Err(error) => return Err(write_error(job, error)),
        }
    }
    Err(job.error(Cause::Conflict(None)).into())
}

/// The error of a job whose file could not be replaced.
pub(super) fn write_error(job: &Job, error: replace::Error) -> Error {
    match error {
        replace::Error::Io { source, .. } => job.error(Cause::Io(source)).into(),
        replace::Error::Changed { .. } => job.error(Cause::Conflict(None)).into(),
        other => other.into(),
    }
}

/// A file's content, and the version it belongs to.
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    pub(super) version: Version,
}

impl Content {
    /// Reads a regular file. Does not wait: pipes and devices are refused.
    pub(super) fn read(file: &Path, context: &Context) -> Result<Self, Cause> {
        let mut source = context.backend.open(file).map_err(|error| {
            let kind = context.backend.metadata(file).map(|metadata| metadata.kind);
            match kind {
                Ok(kind @ (Kind::Socket | Kind::CharDevice | Kind::BlockDevice)) => Cause::NotRegular(kind),
                _ => Cause::Io(error),
            }
        })?;
        let metadata = source.metadata().map_err(Cause::Io)?;
        match metadata.kind {
            Kind::File => {}
            Kind::Dir => return Err(Cause::Io(io::Error::from_raw_os_error(libc::EISDIR))),
            kind => return Err(Cause::NotRegular(kind)),
        }
        let bytes = read_whole(source.as_mut(), metadata.len).map_err(Cause::Io)?;
        Ok(Self { bytes, version: metadata.version })
    }
}

/// Reads in one go what the size promises, and whatever more there is.
fn read_whole(source: &mut dyn Source, expected: u64) -> io::Result<Vec<u8>> {
    // Zeroed memory of this size costs nothing until it is read into.
    let mut bytes = vec![0; usize::try_from(expected).unwrap_or_default()];
    let mut filled = 0;
    while filled < bytes.len() {
        match source.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    source.read_to_end(&mut bytes)?;
    Ok(bytes)
}
