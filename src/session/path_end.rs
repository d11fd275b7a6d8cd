//! The last entries of the path to the leaf, read from the file's end: a glance at a session of any size.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io::SeekFrom;
use std::path::Path;

use super::entry::Entry;
use super::error::Error;
use super::header::{self, VERSION};
use super::kind::EntryType;
use super::load;
use super::scan::Kind;
use super::script_json::{Document, Value};
use super::script_text::Text;
use crate::context::Context;
use crate::fs::Source;

/// How much is read at once.
const BLOCK: usize = 64 * 1024;

/// The last `limit` entries of the path to the leaf, root side first. `None` when only the whole file can
/// tell: an older version, an entry behind its child, an id used twice, a last entry without an id.
pub fn path_end(path: &Path, limit: usize, context: &Context) -> Result<Option<Vec<Entry<'static>>>, Error> {
    let io = |source| Error::io("read", path, source);
    let mut file = context.backend.open(path).map_err(io)?;
    let found = match header::scan(&mut *file, path) {
        Err(Error::HeaderTooFar { .. }) => return Ok(None),
        other => other?,
    };
    let header = found.ok_or_else(|| Error::NotASession { path: path.to_owned() })?;
    if header.version() < f64::from(VERSION) {
        return Ok(None);
    }
    let hasher = RandomState::new();
    let hash = |id: &Text<'_>| hasher.hash_one(id.as_bytes());
    let mut passed = HashSet::new();
    let mut wanted: Option<Text<'static>> = None;
    let mut taken = Vec::new();
    let mut lines = Backwards::new(file).map_err(io)?;
    while taken.len() < limit {
        context.cancel.check().map_err(|_| Error::Aborted)?;
        let Some(line) = lines.next().map_err(io)? else { break };
        let mut pieces = Vec::new();
        load::pieces(0, 0, &line, &mut Vec::new(), &mut pieces);
        for piece in pieces.iter().rev().filter(|piece| piece.head.entry_type != EntryType::Session) {
            let entry = Document::parse(piece.text.to_vec()).map(Entry::from).map_err(|_| Error::Aborted)?;
            let Some(id) = entry.root().get("id").and_then(owned_text) else {
                if wanted.is_none() {
                    return Ok(None);
                }
                continue;
            };
            let is_next = wanted.as_ref().is_none_or(|wanted| *wanted == id);
            passed.insert(hash(&id));
            if !is_next {
                continue;
            }
            let parent = entry.root().get("parentId").filter(|parent| parent.is_truthy());
            let next = parent.and_then(owned_text);
            let is_odd = parent.is_some_and(|parent| parent.kind() != Kind::String);
            if is_odd || next.as_ref().is_some_and(|next| passed.contains(&hash(next))) {
                return Ok(None);
            }
            taken.push(entry);
            if next.is_none() || taken.len() == limit {
                taken.reverse();
                return Ok(Some(taken));
            }
            wanted = next;
        }
    }
    taken.reverse();
    Ok(Some(taken))
}

fn owned_text(value: Value<'_>) -> Option<Text<'static>> {
    value.text().map(|text| Text::from(text.as_bytes().to_vec()))
}

/// The lines of a file, the last one first.
struct Backwards {
    file: Box<dyn Source>,
    /// What is still unread ends here.
    start: u64,
    /// Read and not handed out.
    held: Vec<u8>,
    block: usize,
}

impl Backwards {
    fn new(mut file: Box<dyn Source>) -> std::io::Result<Self> {
        let start = file.seek(SeekFrom::End(0))?;
        Ok(Self { file, start, held: Vec::new(), block: BLOCK })
    }

    fn next(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(feed) = memchr::memrchr(b'\n', &self.held) {
                let line = self.held.split_off(feed + 1);
                self.held.pop();
                self.block = BLOCK;
                return Ok(Some(line));
            }
            if self.start == 0 {
                let is_empty = self.held.is_empty();
                return Ok((!is_empty).then(|| std::mem::take(&mut self.held)));
            }
            // A long line: ever more at once, so that it is not moved again and again.
            let count = self.start.min(self.block as u64);
            self.block *= 2;
            self.start -= count;
            self.file.seek(SeekFrom::Start(self.start))?;
            let mut block = vec![0; count as usize];
            self.file.read_exact(&mut block)?;
            block.append(&mut self.held);
            self.held = block;
        }
    }
}
