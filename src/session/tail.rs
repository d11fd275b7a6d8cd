//! Appending without reading the session: the leaf is found at the file's end, whatever its length.
//!
//! An id cannot be compared with all others then. A file that fits into one look is compared; for a
//! longer one ids have 64 random bits ([`super::id::LONG`]): among a million entries the chance that a
//! new one meets an old one is one in 10^13.

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
    /// The ids seen, and whether those are all there are.
    seen: HashSet<String>,
    knows_all: bool,
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
            knows_all: false,
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
            knows_all: false,
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
            (self.end, self.knows_all) = (0, false);
        }
        let mut look = Look::default();
        if self.end == 0 {
            look.at_end(&mut locked)?;
            (self.knows_all, self.seen) = (look.sees_all, look.ids);
        } else if locked.len > self.end {
            let bytes = locked.read_from(self.end)?;
            look.over(&mut &bytes[..]).map_err(|source| Error::io("read", &self.path, source))?;
            self.seen.extend(look.ids);
        }
        let leaf = self.leaf.get_or_insert_with(|| look.leaf.unwrap_or_else(|| Some(b"null".to_vec())));
        let own_id = draft.own_id();
        if own_id.is_some() && !self.knows_all {
            let mut whole = Look::default();
            whole.over(&mut locked.whole()?).map_err(|source| Error::io("read", &self.path, source))?;
            (self.knows_all, self.seen) = (true, whole.ids);
        }
        let id = match own_id {
            Some(id) if self.seen.contains(&id) => {
                return Err(Error::BadEntry(format!("the session has an entry {id} already")));
            }
            Some(id) => id,
            None => fresh_id(&self.options.ids, self.knows_all, &self.seen)?,
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
        self.seen.insert(id.clone());
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

/// What a look at the end of a file finds.
#[derive(Default)]
struct Look {
    /// The id of the last entry as JSON text, if there is an entry.
    leaf: Option<Option<Vec<u8>>>,
    ids: HashSet<String>,
    sees_all: bool,
}

impl Look {
    /// Looks back from the end, further and further until there is an entry.
    fn at_end(&mut self, locked: &mut Locked<'_>) -> Result<(), Error> {
        let mut size = LOOK;
        while self.leaf.is_none() && !self.sees_all {
            let start = locked.len.saturating_sub(size);
            let bytes = locked.read_from(start)?;
            self.sees_all = start == 0;
            // The first line may have begun earlier.
            let whole = if self.sees_all {
                0
            } else {
                memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |feed| feed + 1)
            };
            self.over(&mut &bytes[whole..]).map_err(|source| Error::io("read", locked.path, source))?;
            size *= 8;
        }
        Ok(())
    }

    fn over(&mut self, source: &mut dyn Read) -> io::Result<()> {
        line::each(source, &mut |line| {
            let mut found = Vec::new();
            load::pieces(1, line.offset, line.text, &mut Vec::new(), &mut found);
            for piece in found.iter().filter(|piece| piece.head.entry_type != EntryType::Session) {
                let id = Document::parse(piece.text).ok().and_then(|document| {
                    document
                        .root()
                        .get("id")
                        .map(|id| (id.raw().to_vec(), id.lossy().map(|id| id.into_owned())))
                });
                let (raw, text) = id.map_or((None, None), |(raw, text)| (Some(raw), text));
                self.leaf = Some(raw);
                self.ids.extend(text);
            }
            std::ops::ControlFlow::Continue(())
        })
    }
}
