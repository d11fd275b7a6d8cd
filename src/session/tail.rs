//! Appending without reading the session: the leaf is found at the file's end, whatever its length.
//!
//! An id cannot be compared with all others then. In a file that fits into one look it is; in a longer one
//! ids have 64 random bits ([`super::id::LONG`]): among a million entries the chance that a new one meets
//! an old one is one in 10^13. An id that an entry brings along is always compared.

use std::collections::HashSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::append::{Locked, Writer, sync_parent};
use super::draft::Draft;
use super::error::Error;
use super::header::{self, Header, VERSION};
use super::id::Ids;
use super::kind::EntryType;
use super::line;
use super::live::{Options, Session};
use super::load;
use super::migrate;
use super::script_date;
use super::script_json::Document;
use super::storage;
use crate::context::Context;
use crate::fs::Kind;

/// How much of a file's end is looked at first.
const LOOK: u64 = 64 * 1024;

/// A session one only appends to.
pub struct Appender {
    context: Context,
    options: Options,
    path: PathBuf,
    header: Header,
    /// Open from the first append on, where nothing was to be found before it.
    writer: Option<Writer>,
    /// The file has no header yet.
    is_new: bool,
    /// The leaf's id as JSON text (none: it has no id), once it has been looked for.
    leaf: Option<Option<Vec<u8>>>,
    /// The ids up to `known`, from the file's start on.
    seen: HashSet<String>,
    known: u64,
    /// The file's length when it was last looked at.
    end: u64,
}

/// A line that has been written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The entry's id.
    pub id: String,
    /// The line, without its line break.
    pub line: Vec<u8>,
}

impl Appender {
    /// Opens a session that exists; one of an older version is migrated. What is no session is refused.
    pub fn open(path: &Path, context: &Context, options: Options) -> Result<Self, Error> {
        let path = storage::absolute(path, context);
        let mut header = find_header(&path, context)?;
        if header.version() < f64::from(VERSION) {
            migrate::on_disk(&path, context)?;
            header = find_header(&path, context)?;
        }
        Ok(Self {
            context: context.clone(),
            options,
            writer: Some(Writer::open(&path)?),
            is_new: false,
            path,
            header,
            leaf: None,
            seen: HashSet::new(),
            known: 0,
            end: 0,
        })
    }

    /// As [`Appender::open`]; where no file is, or an empty one, a session of the context's directory begins
    /// with the first append. Of several processes that begin one, the first writes the header.
    pub fn open_or_create(path: &Path, context: &Context, options: Options) -> Result<Self, Error> {
        let path = storage::absolute(path, context);
        let is_new = match context.backend.metadata(&path) {
            Ok(there) => there.kind == Kind::File && there.len == 0,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if !is_new {
            return Self::open(&path, context, options);
        }
        let header = Session::blank(&context.cwd, None, None, context, options.clone())?.header;
        Ok(Self {
            context: context.clone(),
            options,
            writer: None,
            is_new,
            path,
            header,
            leaf: None,
            seen: HashSet::new(),
            known: 0,
            end: 0,
        })
    }

    /// The session's header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Hangs the next entry under an entry of that id. Nobody checks that there is one.
    pub fn set_leaf(&mut self, id: Option<&str>) {
        let json = id.map_or_else(|| b"null".to_vec(), super::script_text::quoted);
        self.leaf = Some(Some(json));
    }

    /// Hangs an entry under the leaf, which is the last entry of the file at first and then always the
    /// one written here before: others may append meanwhile. An entry that brings an id has it compared
    /// with all others, for which a long file is read once.
    pub fn append(&mut self, draft: &Draft) -> Result<Written, Error> {
        let (writer, is_made) = match &mut self.writer {
            Some(writer) => (writer, false),
            None => {
                let (writer, is_made) = Writer::open_or_create(&self.path)?;
                (self.writer.insert(writer), is_made)
            }
        };
        let (mut locked, is_other) = writer.lock(&self.context.cancel)?;
        let is_begun_by_another = self.is_new && locked.len > 0;
        if is_begun_by_another {
            (self.header, self.is_new) = (find_header(&self.path, &self.context)?, false);
        } else if is_other || locked.len < self.end {
            let header = find_header(&self.path, &self.context)?;
            if header.id != self.header.id {
                return Err(Error::Replaced { path: self.path.clone() });
            }
            (self.seen, self.known) = (HashSet::new(), 0);
        }
        let leaf = match &mut self.leaf {
            Some(leaf) => leaf,
            None => self.leaf.insert(last_id(&mut locked)?),
        };
        let own_id = draft.own_id();
        let compares = own_id.is_some() || locked.len <= LOOK;
        if compares && self.known < locked.len {
            let io = |source| Error::io("read", &self.path, source);
            each_id(&mut locked.reader(self.known)?, &mut |id| self.seen.extend(id.text)).map_err(io)?;
            self.known = locked.len;
        }
        let id = match own_id {
            Some(id) if self.seen.contains(&id) => {
                return Err(Error::BadEntry(format!("the session has an entry {id} already")));
            }
            Some(id) => id,
            None => fresh_id(&self.options.ids, compares, &self.seen)?,
        };
        let now = script_date::to_iso(script_date::milliseconds((self.context.now)()));
        let line = draft.line(&id, leaf.as_deref(), &now);
        let header = if self.is_new { [self.header.raw(), b"\n"].concat() } else { Vec::new() };
        let written = locked.append(&[&header[..], &line, b"\n"].concat(), self.options.sync);
        let written =
            written.and_then(|_| if is_made { sync_parent(&self.path, self.options.sync) } else { Ok(()) });
        if written.is_err() && is_made {
            // Nothing had been here; those who wait for the lock find nothing either.
            let _ = std::fs::remove_file(&self.path);
        }
        if compares && written.is_ok() {
            self.known = locked.len;
            self.seen.insert(id.clone());
        }
        self.end = locked.len;
        drop(locked);
        if let Err(error) = written {
            if is_made {
                (self.writer, self.end) = (None, 0);
            }
            return Err(error);
        }
        self.is_new = false;
        self.leaf = Some(Some(super::script_text::quoted(&id)));
        Ok(Written { id, line })
    }
}

fn fresh_id(ids: &Ids, knows_all: bool, seen: &HashSet<String>) -> Result<String, Error> {
    ids.entry(knows_all, |id| seen.contains(id))
        .map_err(|source| Error::io("read", Path::new("/dev/urandom"), source))
}

pub(super) fn find_header(path: &Path, context: &Context) -> Result<Header, Error> {
    let mut file = context.backend.open(path).map_err(|source| Error::io("open", path, source))?;
    let not_a_session = || Error::NotASession { path: path.to_owned() };
    match header::scan(&mut *file, path) {
        Ok(found) => found.ok_or_else(not_a_session),
        // Rare enough to be read as a whole.
        Err(Error::HeaderTooFar { .. }) => Ok(load::load(path, context)?.ok_or_else(not_a_session)?.header),
        Err(error) => Err(error),
    }
}

/// The id of the last entry as JSON text (none: it has no id), looked for from the end on, further and
/// further until there is an entry; `null` when there is none at all.
fn last_id(locked: &mut Locked<'_>) -> Result<Option<Vec<u8>>, Error> {
    let mut size = LOOK;
    loop {
        let start = locked.len.saturating_sub(size);
        let bytes = locked.read_from(start)?;
        // The first line may have begun earlier.
        let whole = match start {
            0 => 0,
            _ => memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |feed| feed + 1),
        };
        let mut last = None;
        let read = each_id(&mut &bytes[whole..], &mut |id| last = Some(id.raw));
        read.map_err(|source| Error::io("read", locked.path, source))?;
        match last {
            Some(id) => return Ok(id),
            None if start == 0 => return Ok(Some(b"null".to_vec())),
            None => size *= 8,
        }
    }
}

/// An entry's id, if it has one.
#[derive(Default)]
struct Id {
    /// As JSON text.
    raw: Option<Vec<u8>>,
    /// When it is a string.
    text: Option<String>,
}

/// Hands out the ids of the entries, in order.
fn each_id(source: &mut dyn Read, visit: &mut dyn FnMut(Id)) -> io::Result<()> {
    line::each(source, &mut |line| {
        let mut found = Vec::new();
        load::pieces(1, line.offset, line.text, &mut Vec::new(), &mut found);
        for piece in found.iter().filter(|piece| piece.head.entry_type != EntryType::Session) {
            let id = Document::parse(piece.text).ok().and_then(|document| {
                let id = document.root().get("id")?;
                Some(Id { raw: Some(id.raw().to_vec()), text: id.lossy().map(|id| id.into_owned()) })
            });
            visit(id.unwrap_or_default());
        }
        std::ops::ControlFlow::Continue(())
    })
}
