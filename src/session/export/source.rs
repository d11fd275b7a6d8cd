//! The session's file in pieces: its entries, and whatever else stands in it, so that it can be put
//! together again byte for byte.

use std::io::Read;
use std::ops::ControlFlow;

use super::{Failure, Subject};
use crate::session::error::Error;
use crate::session::kind::EntryType;
use crate::session::{line, load};

/// A piece of a session's file.
pub(super) enum Item<'b> {
    /// An entry that has a line of its own: its bytes, followed in the file by a line break.
    Line(&'b [u8]),
    /// An entry that does not stand in the file like this: recovered from a torn line, or migrated.
    Entry(&'b [u8]),
    /// Bytes of the file that are no entry, or hold several.
    Other(&'b [u8]),
}

/// Hands over the pieces of the file, in order, and every entry of the tree, in order.
pub(super) fn each(
    subject: &Subject,
    visit: &mut dyn FnMut(Item<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let tree = &subject.loaded.tree;
    let is_migrated = subject.loaded.is_migrated;
    if is_migrated {
        for index in 0..tree.len() {
            visit(Item::Entry(&tree.line(index).map_err(|source| subject.reading(source))?))?;
        }
    }
    let mut file = subject.context.backend.open(&subject.path).map_err(|source| subject.reading(source))?;
    let mut walk = Walk { visit: &mut *visit, has_header: false, entries: 0, is_migrated };
    let mut stopped = Ok(());
    let end = subject.loaded.end;
    line::each(&mut Read::take(&mut *file, end), &mut |line| {
        let has_feed = line.offset + (line.text.len() as u64) < end;
        stopped = match subject.context.cancel.is_cancelled() {
            true => Err(Error::Aborted.into()),
            false => walk.line(line.text, has_feed),
        };
        if stopped.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
    .map_err(|source| subject.reading(source))?;
    stopped?;
    if !is_migrated && walk.entries != tree.len() {
        return Err(Error::Replaced { path: subject.path.clone() }.into());
    }
    // A torn last line, or what others have appended since the session was read.
    let mut rest = Vec::new();
    file.read_to_end(&mut rest).map_err(|source| subject.reading(source))?;
    if rest.is_empty() { Ok(()) } else { visit(Item::Other(&rest)) }
}

struct Walk<'v> {
    visit: &'v mut dyn FnMut(Item<'_>) -> Result<(), Failure>,
    has_header: bool,
    entries: usize,
    is_migrated: bool,
}

impl Walk<'_> {
    fn line(&mut self, text: &[u8], has_feed: bool) -> Result<(), Failure> {
        let mut pieces = Vec::new();
        if !self.is_migrated {
            load::pieces(0, 0, text, &mut Vec::new(), &mut pieces);
        }
        let mut is_whole = false;
        for piece in &pieces {
            let is_header = !std::mem::replace(&mut self.has_header, true);
            if is_header || piece.head.entry_type == EntryType::Session {
                continue;
            }
            self.entries += 1;
            is_whole = has_feed && piece.text.len() == text.len();
            (self.visit)(if is_whole { Item::Line(piece.text) } else { Item::Entry(piece.text) })?;
        }
        if is_whole {
            return Ok(());
        }
        (self.visit)(Item::Other(text))?;
        if has_feed { (self.visit)(Item::Other(b"\n")) } else { Ok(()) }
    }
}
