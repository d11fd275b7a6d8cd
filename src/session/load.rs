//! Reading a session file: what pi reads, nothing changed on disk, and everything skipped reported.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;

use super::diagnostic::{Diagnostic, Reason};
use super::error::Error;
use super::head::{EntryType, Head};
use super::header::{Header, VERSION};
use super::line::{self, Line};
use super::migrate;
use super::scan::Kind;
use super::script_text;
use super::store::{Location, Store};
use super::tree::Tree;
use crate::context::Context;
use crate::fs::Source;

/// Files up to this size are held in memory; of larger ones, lines are read again when asked for.
const HELD: u64 = 16 * 1024 * 1024;

/// A session file, read.
pub struct Loaded {
    /// The header; of an old file as migrated.
    pub header: Header,
    /// The entries.
    pub tree: Tree,
    /// What was skipped, mended or strange on the way.
    pub diagnostics: Vec<Diagnostic>,
    /// How far the file was read.
    pub end: u64,
    /// Whether the file is of an older version and was migrated in memory.
    pub is_migrated: bool,
}

/// Reads the session in `path`. A file that is no session is refused; an empty one gives `None`.
pub fn load(path: &Path, context: &Context) -> Result<Option<Loaded>, Error> {
    let io = |step| move |source| Error::io(step, path, source);
    let mut file = context.backend.open(path).map_err(io("open"))?;
    let metadata = file.metadata().map_err(io("open"))?;
    if metadata.kind != crate::fs::Kind::File {
        let reason = io::Error::new(io::ErrorKind::InvalidInput, format!("it is a {}", metadata.kind.noun()));
        return Err(Error::io("open", path, reason));
    }
    if metadata.len == 0 {
        return Ok(None);
    }
    if metadata.len > HELD {
        load_indexed(file, path, context).map(Some)
    } else {
        let mut bytes = Vec::with_capacity(metadata.len as usize);
        file.read_to_end(&mut bytes).map_err(io("read"))?;
        load_bytes(&bytes, path, context).map(Some)
    }
}

/// Reads a session that is in memory; `path` is for messages.
pub fn load_bytes(bytes: &[u8], path: &Path, context: &Context) -> Result<Loaded, Error> {
    let mut builder = Builder::new(Store::default(), path, true);
    builder.read(&mut &bytes[..], context)?;
    match builder.old {
        true => migrate::load(bytes, path, context),
        false => builder.finish(),
    }
}

fn load_indexed(file: Box<dyn Source>, path: &Path, context: &Context) -> Result<Loaded, Error> {
    let mut file = file;
    let mut builder = Builder::new(Store::default(), path, false);
    builder.read(&mut *file, context)?;
    if builder.old {
        // Old sessions are rewritten in memory as a whole.
        let mut bytes = Vec::new();
        file.seek(io::SeekFrom::Start(0)).map_err(|source| Error::io("read", path, source))?;
        file.read_to_end(&mut bytes).map_err(|source| Error::io("read", path, source))?;
        return migrate::load(&bytes, path, context);
    }
    builder.tree.store = Store::of_file(file);
    builder.finish()
}

/// Hands every value of a file to `visit`, whatever it is: the line it is on (from 1) and its text. What
/// is skipped or mended goes to `diagnostics`. No header is asked for.
pub fn each_value(
    source: &mut dyn Read,
    diagnostics: &mut Vec<Diagnostic>,
    visit: &mut dyn FnMut(u64, &[u8]),
) -> io::Result<()> {
    let mut number = 0;
    line::each(source, &mut |line| {
        number += 1;
        let mut found = Vec::new();
        pieces(number, line.offset, line.text, diagnostics, &mut found);
        found.into_iter().for_each(|piece| visit(number, piece.text));
        ControlFlow::Continue(())
    })
}

/// One value of a file and where it stands.
pub(super) struct Piece<'l> {
    pub(super) offset: u64,
    pub(super) text: &'l [u8],
    pub(super) head: Head,
}

/// Cuts a line into the values pi (or the mending) finds on it, and says what is wrong with it.
pub(super) fn pieces<'l>(
    number: u64,
    offset: u64,
    line: &'l [u8],
    diagnostics: &mut Vec<Diagnostic>,
    found: &mut Vec<Piece<'l>>,
) {
    let mut note = |reason, message: String| diagnostics.push(Diagnostic::at_line(number, reason, message));
    if u32::try_from(line.len()).is_err() {
        return note(Reason::TooLong, format!("the line has {} bytes; skipped", line.len()));
    }
    match Head::scan_line(line) {
        Ok(head) if head.is_kept() => found.push(Piece { offset, text: line, head }),
        Ok(_) => note(Reason::Empty, "a value that says nothing; skipped".to_owned()),
        Err(at) => {
            if script_text::trim(line).is_empty() {
                return;
            }
            let whole = line::glued(line);
            let count = whole.len();
            let rest = line.len() - whole.iter().map(|(range, _)| range.len()).sum::<usize>();
            found.extend(whole.into_iter().map(|(range, head)| Piece {
                offset: offset + range.start as u64,
                text: &line[range],
                head,
            }));
            match (count, rest) {
                (0, _) if at >= line.len() => {
                    note(Reason::Torn, "the line stops in the middle; skipped".to_owned())
                }
                (0, _) => note(Reason::NotJson, format!("not JSON from byte {} on; skipped", at + 1)),
                (_, 0) => note(Reason::Glued, format!("{count} entries on one line; all recovered")),
                _ => note(
                    Reason::Glued,
                    format!("{count} whole entries recovered; {rest} bytes beside them skipped"),
                ),
            }
        }
    }
}

/// Puts a session together, line by line.
struct Builder<'p> {
    path: &'p Path,
    header: Option<Header>,
    tree: Tree,
    diagnostics: Vec<Diagnostic>,
    number: u64,
    end: u64,
    /// Whether lines are kept in memory.
    holds: bool,
    /// The header is of a version that needs migration; nothing more was read.
    old: bool,
}

impl<'p> Builder<'p> {
    fn new(store: Store, path: &'p Path, holds: bool) -> Self {
        Self {
            path,
            header: None,
            tree: Tree::new(store),
            diagnostics: Vec::new(),
            number: 0,
            end: 0,
            holds,
            old: false,
        }
    }

    fn read(&mut self, source: &mut dyn Read, context: &Context) -> Result<(), Error> {
        let mut result = Ok(());
        line::each(source, &mut |line| {
            self.number += 1;
            if self.number.is_multiple_of(4096) && context.cancel.is_cancelled() {
                result = Err(Error::Aborted);
            } else {
                result = self.line(&line);
            }
            if result.is_err() || self.old { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .map_err(|source| Error::io("read", self.path, source))?;
        result
    }

    fn line(&mut self, line: &Line<'_>) -> Result<(), Error> {
        let mut found = Vec::new();
        pieces(self.number, line.offset, line.text, &mut self.diagnostics, &mut found);
        // What its writer has not finished yet is read again later.
        let is_read = line.is_whole || !found.is_empty();
        self.end = line.offset + if is_read { line.text.len() as u64 + u64::from(line.is_whole) } else { 0 };
        found.into_iter().try_for_each(|piece| self.piece(&piece))
    }

    fn piece(&mut self, piece: &Piece<'_>) -> Result<(), Error> {
        if self.header.is_none() {
            let header = Header::parse(piece.text);
            let header = header.ok_or_else(|| Error::NotASession { path: self.path.to_owned() })?;
            self.old = header.version() < f64::from(VERSION);
            self.header = Some(header);
            return Ok(());
        }
        if let Some(finding) = finding(self.number, &piece.head) {
            self.diagnostics.push(finding);
        }
        if piece.head.entry_type == EntryType::Session {
            return Ok(());
        }
        let location = if self.holds {
            self.tree.store.push(piece.text)
        } else {
            u32::try_from(piece.text.len()).ok().map(|len| Location::in_file(piece.offset, len))
        };
        location
            .and_then(|location| self.tree.push(piece.text, &piece.head, location))
            .map(|_| ())
            .ok_or_else(|| Error::TooLarge { path: self.path.to_owned() })
    }

    fn finish(self) -> Result<Loaded, Error> {
        let header = self.header.ok_or_else(|| Error::NotASession { path: self.path.to_owned() })?;
        Ok(Loaded {
            header,
            tree: self.tree,
            diagnostics: self.diagnostics,
            end: self.end,
            is_migrated: false,
        })
    }
}

/// What is strange about a value that is kept.
pub(super) fn finding(number: u64, head: &Head) -> Option<Diagnostic> {
    let note = |reason, message: &str| Some(Diagnostic::at_line(number, reason, message));
    match head.entry_type {
        EntryType::Session => note(Reason::SecondHeader, "a second header; not part of the tree"),
        _ if head.root != Kind::Object => note(Reason::NotAnObject, "JSON, but no object; part of no path"),
        _ => None,
    }
}
