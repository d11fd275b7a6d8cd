//! Reading a session file: what pi reads, nothing changed on disk, and everything skipped reported.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;

use super::batch::{self, Batch};
use super::diagnostic::{Diagnostic, Reason};
use super::error::Error;
use super::head::Head;
use super::header::{Header, VERSION};
use super::kind::EntryType;
use super::line;
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
    Ok(load_with(path, context, |_, _| ())?.map(|(loaded, _)| loaded))
}

/// As [`load`], and takes something from every entry's line on the way, so that nobody has to read a
/// large file twice. `gather` runs on several threads; its results come in the order of the entries.
pub fn load_with<T: Send>(
    path: &Path,
    context: &Context,
    gather: impl Fn(EntryType, &[u8]) -> T + Sync,
) -> Result<Option<(Loaded, Vec<T>)>, Error> {
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
        return load_indexed(file, path, context, &gather).map(Some);
    }
    let mut bytes = Vec::with_capacity(metadata.len as usize);
    file.read_to_end(&mut bytes).map_err(io("read"))?;
    let loaded = load_bytes(&bytes, path, context)?;
    let gathered = gather_all(&loaded.tree, &gather).map_err(io("read"))?;
    Ok(Some((loaded, gathered)))
}

/// Reads a session that is in memory; `path` is for messages.
pub fn load_bytes(bytes: &[u8], path: &Path, context: &Context) -> Result<Loaded, Error> {
    let mut builder = Builder::new(path);
    let _ = builder.take(batch::scanned(0, bytes.to_vec(), &|_, _| ()), context, &mut Vec::new());
    match builder.old {
        true => migrate::load(bytes, path),
        false => builder.finish(),
    }
}

/// A large file: scanned by several threads, its bodies left where they are.
fn load_indexed<T: Send>(
    file: Box<dyn Source>,
    path: &Path,
    context: &Context,
    gather: &(impl Fn(EntryType, &[u8]) -> T + Sync),
) -> Result<(Loaded, Vec<T>), Error> {
    let io = |source| Error::io("read", path, source);
    let mut builder = Builder::new(path);
    builder.holds = false;
    let mut gathered = Vec::new();
    let mut file =
        batch::each(file, gather, &mut |batch| builder.take(batch, context, &mut gathered)).map_err(io)?;
    if builder.old {
        // Old sessions are rewritten in memory as a whole.
        let mut bytes = Vec::new();
        file.seek(io::SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut bytes)).map_err(io)?;
        let loaded = migrate::load(&bytes, path)?;
        let gathered = gather_all(&loaded.tree, gather).map_err(io)?;
        return Ok((loaded, gathered));
    }
    builder.tree.store = Store::of_file(file);
    Ok((builder.finish()?, gathered))
}

fn gather_all<T>(tree: &Tree, gather: impl Fn(EntryType, &[u8]) -> T) -> io::Result<Vec<T>> {
    (0..tree.len()).map(|index| Ok(gather(tree.entry_type(index), &tree.line(index)?))).collect()
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

/// Puts a session together, batch by batch.
struct Builder<'p> {
    path: &'p Path,
    header: Option<Header>,
    tree: Tree,
    diagnostics: Vec<Diagnostic>,
    /// Lines of earlier batches.
    lines: u64,
    end: u64,
    /// Whether lines are kept in memory.
    holds: bool,
    /// The header is of a version that needs migration; nothing more was read.
    old: bool,
    failure: Option<Error>,
}

impl<'p> Builder<'p> {
    fn new(path: &'p Path) -> Self {
        Self {
            path,
            header: None,
            tree: Tree::new(Store::default()),
            diagnostics: Vec::new(),
            lines: 0,
            end: 0,
            holds: true,
            old: false,
            failure: None,
        }
    }

    fn take<T>(&mut self, batch: Batch<T>, context: &Context, gathered: &mut Vec<T>) -> ControlFlow<()> {
        if context.cancel.is_cancelled() {
            self.failure = Some(Error::Aborted);
            return ControlFlow::Break(());
        }
        self.diagnostics.extend(batch.diagnostics.into_iter().map(|mut found| {
            found.line = found.line.map(|line| line + self.lines);
            found
        }));
        for piece in batch.pieces {
            let text = &batch.bytes[piece.range.clone()];
            let place = batch.offset + piece.range.start as u64;
            match self.piece(text, &piece.head, place, self.lines + piece.line) {
                Ok(true) => gathered.push(piece.gathered),
                Ok(false) => {}
                Err(failure) => self.failure = Some(failure),
            }
            if self.old || self.failure.is_some() {
                return ControlFlow::Break(());
            }
        }
        self.lines += batch.lines;
        self.end = batch.offset + batch.read as u64;
        ControlFlow::Continue(())
    }

    /// Takes one value; whether it became an entry.
    fn piece(&mut self, text: &[u8], head: &Head, place: u64, line: u64) -> Result<bool, Error> {
        if self.header.is_none() {
            let header = Header::parse(text);
            let header = header.ok_or_else(|| Error::NotASession { path: self.path.to_owned() })?;
            self.old = header.version() < f64::from(VERSION);
            self.header = Some(header);
            return Ok(false);
        }
        self.diagnostics.extend(finding(line, head));
        if head.entry_type == EntryType::Session {
            return Ok(false);
        }
        let location = if self.holds {
            self.tree.store.push(text)
        } else {
            u32::try_from(text.len()).ok().map(|len| Location::in_file(place, len))
        };
        location
            .and_then(|location| self.tree.push(text, head, location))
            .map(|index| self.tree.set_line(index, line))
            .map(|()| true)
            .ok_or_else(|| Error::TooLarge { path: self.path.to_owned() })
    }

    fn finish(self) -> Result<Loaded, Error> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
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
