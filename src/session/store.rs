//! Where the lines of a loaded session lie: in memory, or in the file, to be read again when asked for.

use std::borrow::Cow;
use std::io::{self, SeekFrom};
use std::sync::Mutex;

use crate::fs::Source;

/// The lines of a session.
#[derive(Default)]
pub(super) struct Store {
    memory: Vec<u8>,
    /// The file as it was when opened; a later rename over its path does not change it.
    file: Option<Mutex<Box<dyn Source>>>,
}

/// Where one line lies. The highest bit tells memory from file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Location {
    offset: u64,
    len: u32,
}

const IN_MEMORY: u64 = 1 << 63;

impl Location {
    pub(super) fn in_file(offset: u64, len: u32) -> Self {
        Self { offset, len }
    }
}

impl Store {
    pub(super) fn of_file(file: Box<dyn Source>) -> Self {
        Self { memory: Vec::new(), file: Some(Mutex::new(file)) }
    }

    /// Keeps a line in memory; `None` when it is too long.
    pub(super) fn push(&mut self, line: &[u8]) -> Option<Location> {
        let len = u32::try_from(line.len()).ok()?;
        let offset = self.memory.len() as u64 | IN_MEMORY;
        self.memory.extend_from_slice(line);
        Some(Location { offset, len })
    }

    /// The bytes of a line.
    pub(super) fn line(&self, at: Location) -> io::Result<Cow<'_, [u8]>> {
        let len = at.len as usize;
        if at.offset & IN_MEMORY != 0 {
            let start = (at.offset & !IN_MEMORY) as usize;
            return Ok(Cow::Borrowed(&self.memory[start..start + len]));
        }
        let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
        // A reader that panicked left the position anywhere, and it is set anew here.
        let mut file = file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        file.seek(SeekFrom::Start(at.offset))?;
        let mut line = vec![0; len];
        file.read_exact(&mut line)?;
        Ok(Cow::Owned(line))
    }
}
