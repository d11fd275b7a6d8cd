//! A session one works on: loaded or new, with a leaf of its own, appending as others may, too.

use std::path::{Path, PathBuf};

use super::append::Writer;
use super::checkpoint;
use super::diagnostic::Diagnostic;
use super::draft::{Compaction, Draft, Summary};
use super::error::Error;
use super::head::Head;
use super::header::Header;
use super::id::{self, Ids};
use super::key::{self, Key};
use super::kind::{EntryType, Role};
use super::load::{self, Loaded};
use super::projection::Projection;
use super::script_date;
use super::script_json::Value;
use super::storage;
use super::store::Store;
use super::tree::{Index, Tree};
use crate::context::Context;

/// How a session is kept.
#[derive(Clone)]
pub struct Options {
    /// Whether an append waits until the disk has it (fdatasync).
    pub sync: bool,
    /// Where new ids come from.
    pub ids: Ids,
}

impl Default for Options {
    fn default() -> Self {
        Self { sync: true, ids: Ids::default() }
    }
}

/// Where the file of a new session goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Under its own name into this directory, which is made if need be.
    Directory(PathBuf),
    /// To this file, which must not exist.
    File(PathBuf),
}

/// A session being worked on.
pub struct Session {
    pub(super) context: Context,
    pub(super) options: Options,
    pub(super) header: Header,
    /// The working directory, resolved.
    pub(super) cwd: PathBuf,
    /// Where forks of it go.
    pub(super) directory: PathBuf,
    /// The file its next fork goes to, when not to one of the directory.
    pub(super) fork_file: Option<PathBuf>,
    pub(super) tree: Tree,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) leaf: Key,
    pub(super) stage: Stage,
}

/// Where the entries are.
pub(super) enum Stage {
    /// In memory, and there they stay.
    Memory,
    /// In memory until there is a conversation; then in this file.
    Pending(PathBuf),
    /// In this file, read up to `end`.
    Stored { path: PathBuf, end: u64, writer: Option<Writer>, needs: Needs },
}

/// What a file needs before the first append.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Needs {
    Nothing,
    Header,
    Migration,
}

/// An entry that has been appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Its id.
    pub id: String,
    /// Its number in the tree.
    pub index: Index,
    /// Its line, without the line break.
    pub line: Vec<u8>,
}

impl Session {
    /// A new session in a directory. Its file is made with the first message of the user or the model.
    pub fn create(cwd: &str, directory: &Path, context: &Context, options: Options) -> Result<Self, Error> {
        let io = |source| Error::io("mkdir", directory, source);
        context.backend.create_dir_all(directory).map_err(io)?;
        let mut session = Self::in_memory(cwd, context, options)?;
        session.directory = directory.to_owned();
        session.stage = Stage::Pending(session.new_file());
        Ok(session)
    }

    /// A new session that never touches the disk.
    pub fn in_memory(cwd: &str, context: &Context, options: Options) -> Result<Self, Error> {
        let cwd = storage::resolve(cwd, context);
        Self::blank(&cwd, None, None, context, options)
    }

    /// The session in a file. A file that is empty becomes a session with the first append; one that
    /// is no session is refused and left alone.
    pub fn open(path: &Path, context: &Context, options: Options) -> Result<Self, Error> {
        let path = storage::absolute(path, context);
        let directory = path.parent().unwrap_or(Path::new("/")).to_owned();
        let Some(Loaded { header, tree, diagnostics, end, is_migrated }) = load::load(&path, context)? else {
            let mut session = Self::blank(&context.cwd.clone(), None, None, context, options)?;
            session.directory = directory;
            session.stage = Stage::Stored { path, end: 0, writer: None, needs: Needs::Header };
            return Ok(session);
        };
        let leaf = tree.len().checked_sub(1).map_or(key::NULL, |last| tree.id_key(last));
        let needs = if is_migrated { Needs::Migration } else { Needs::Nothing };
        Ok(Self {
            context: context.clone(),
            options,
            cwd: storage::resolve(&header.cwd, context),
            header,
            directory,
            fork_file: None,
            tree,
            diagnostics,
            leaf,
            stage: Stage::Stored { path, end, writer: None, needs },
        })
    }

    /// As [`Session::open`]; where nothing is, a new session that will be written there.
    pub fn open_or_create(path: &Path, context: &Context, options: Options) -> Result<Self, Error> {
        match Self::open(path, context, options.clone()) {
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                let path = storage::absolute(path, context);
                let mut session = Self::blank(&context.cwd.clone(), None, None, context, options)?;
                session.directory = path.parent().unwrap_or(Path::new("/")).to_owned();
                session.stage = Stage::Pending(path);
                Ok(session)
            }
            other => other,
        }
    }

    /// A session in memory with these lines (the first one its header, if it is one); old ones migrated.
    pub fn from_lines(cwd: &str, lines: &[u8], context: &Context, options: Options) -> Result<Self, Error> {
        let first = lines.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let header = Header::parse(first);
        let mut session = match &header {
            Some(header) => {
                Self::with_header(header.clone(), storage::resolve(cwd, context), context, options)
            }
            None => Self::in_memory(cwd, context, options)?,
        };
        let loaded = if header.is_some() {
            load::load_bytes(lines, Path::new(""), context)?
        } else {
            // pi: entries without a header are taken for version 1 and get new ids.
            let first =
                String::from_utf8_lossy(session.header.raw()).replacen(r#""version":3"#, r#""version":1"#, 1);
            load::load_bytes(&[first.as_bytes(), b"\n", lines].concat(), Path::new(""), context)?
        };
        session.leaf = loaded.tree.len().checked_sub(1).map_or(key::NULL, |last| loaded.tree.id_key(last));
        if header.is_some() {
            session.header = loaded.header;
        }
        session.tree = loaded.tree;
        Ok(session)
    }

    pub(super) fn blank(
        cwd: &Path,
        id: Option<&str>,
        parent: Option<&Path>,
        context: &Context,
        options: Options,
    ) -> Result<Self, Error> {
        let now = script_date::milliseconds((context.now)());
        let id = match id {
            Some(id) if id::is_valid_session_id(id) => id.to_owned(),
            Some(_) => return Err(Error::BadId),
            None => options.ids.session(now).map_err(|source| Error::io("read", cwd, source))?,
        };
        let parent = parent.map(|path| path.to_string_lossy());
        let header = Header::new(&id, &script_date::to_iso(now), &cwd.to_string_lossy(), parent.as_deref());
        Ok(Self::with_header(header, cwd.to_owned(), context, options))
    }

    fn with_header(header: Header, cwd: PathBuf, context: &Context, options: Options) -> Self {
        Self {
            context: context.clone(),
            options,
            header,
            cwd,
            directory: PathBuf::new(),
            fork_file: None,
            tree: Tree::new(Store::default()),
            diagnostics: Vec::new(),
            leaf: key::NULL,
            stage: Stage::Memory,
        }
    }

    /// The file a new session of this id and directory has.
    pub(super) fn new_file(&self) -> PathBuf {
        self.directory.join(storage::file_name(&self.header.id, self.now()))
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The entries.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// What was skipped, mended or strange when it was read.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The working directory, resolved.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Uses another working directory than the one stored.
    pub fn set_cwd(&mut self, cwd: &str) {
        self.cwd = storage::resolve(cwd, &self.context);
    }

    /// Where forks of it go.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Chooses where forks of it go. A directory is made if need be.
    pub fn place_forks(&mut self, place: &Place) -> Result<(), Error> {
        match place {
            Place::File(file) => self.fork_file = Some(file.clone()),
            Place::Directory(directory) => {
                let made = self.context.backend.create_dir_all(directory);
                made.map_err(|source| Error::io("mkdir", directory, source))?;
                self.directory.clone_from(directory);
            }
        }
        Ok(())
    }

    /// The file: where it is, or where it will be.
    pub fn file(&self) -> Option<&Path> {
        match &self.stage {
            Stage::Memory => None,
            Stage::Pending(path) | Stage::Stored { path, .. } => Some(path),
        }
    }

    /// Whether there is a file by now.
    pub fn is_stored(&self) -> bool {
        matches!(self.stage, Stage::Stored { .. })
    }

    /// The entry the next one will hang under; none before any entry.
    pub fn leaf(&self) -> Option<Index> {
        self.tree.by_key(self.leaf)
    }

    /// The leaf's id.
    pub fn leaf_id(&self) -> Option<String> {
        self.tree.keys.text_of(self.leaf).map(|id| id.into_lossy().into_owned())
    }

    /// Whether the last entry of the file is the leaf and has no id.
    pub fn is_leaf_nameless(&self) -> bool {
        self.leaf != key::NULL && self.tree.keys.text_of(self.leaf).is_none()
    }

    /// From the root to the leaf.
    pub fn path(&self) -> Vec<Index> {
        self.tree.path(self.leaf())
    }

    /// What a model is to see at the leaf.
    pub fn projection(&self) -> Result<Projection, Error> {
        self.tree.project(&self.path()).map_err(|source| self.reading(source))
    }

    /// Moves the leaf. Nothing is stored until the next append.
    pub fn branch(&mut self, id: &str) -> Result<(), Error> {
        let index = self.tree.find(id).ok_or_else(|| Error::NoEntry { id: id.to_owned() })?;
        self.leaf = self.tree.id_key(index);
        Ok(())
    }

    /// Moves the leaf before any entry.
    pub fn reset_leaf(&mut self) {
        self.leaf = key::NULL;
    }

    /// Moves the leaf and says there what is left behind: the summary hangs under the new place.
    pub fn branch_with_summary(
        &mut self,
        to: Option<&str>,
        summary: &Summary<'_>,
    ) -> Result<Appended, Error> {
        let before = self.leaf;
        let from = self.leaf_id().unwrap_or_else(|| "root".to_owned());
        match to {
            Some(id) => self.branch(id)?,
            None => self.reset_leaf(),
        }
        let appended = Draft::branch_summary(&from, summary).and_then(|draft| self.append(&draft));
        if appended.is_err() {
            self.leaf = before;
        }
        appended
    }

    /// Sets or clears an entry's label.
    pub fn label(&mut self, target: &str, label: Option<&str>) -> Result<Appended, Error> {
        self.tree.find(target).ok_or_else(|| Error::NoEntry { id: target.to_owned() })?;
        self.append(&Draft::label(target, label))
    }

    /// Hides (`null`) or replaces what an entry on the active branch contributes.
    pub fn edit_context(&mut self, target: &str, replacement: &[u8]) -> Result<Appended, Error> {
        let id = || target.to_owned();
        let index = self.tree.find(target).ok_or_else(|| Error::NoEntry { id: id() })?;
        if !self.path().contains(&index) {
            return Err(Error::OffBranch { id: id() });
        }
        let is_editable = match (self.tree.entry_type(index), self.tree.role(index)) {
            (EntryType::CustomMessage, _) => true,
            (EntryType::Message, role) => {
                matches!(role, Role::User | Role::Assistant | Role::ToolResult | Role::Custom)
            }
            _ => false,
        };
        if !is_editable {
            return Err(Error::NotEditable { id: id() });
        }
        self.append(&Draft::context_edit(target, replacement)?)
    }

    /// Compacts: all before the kept range gives way to the summary, the system messages to one.
    pub fn compact(&mut self, compaction: &Compaction<'_>) -> Result<Appended, Error> {
        let system = checkpoint::system_message(&self.projection()?.messages, self.now());
        let system_message = compaction.system_message.or(system.as_deref());
        self.append(&Draft::compaction(&Compaction { system_message, ..*compaction })?)
    }

    /// The header and all entries, as they stand in a file.
    pub fn lines(&self, header: &[u8]) -> Result<Vec<u8>, Error> {
        let mut lines = [header, b"\n"].concat();
        for index in 0..self.tree.len() {
            lines.extend_from_slice(self.tree.entry(index).map_err(|source| self.reading(source))?.raw());
            lines.push(b'\n');
        }
        Ok(lines)
    }

    pub(super) fn push_new(&mut self, draft: &Draft) -> Result<Appended, Error> {
        let (id, line) = self.line(draft)?;
        self.push(id, line)
    }

    pub(super) fn set_leaf(&mut self, index: Index) {
        self.leaf = self.tree.id_key(index);
    }

    /// The leaf's id as JSON text.
    pub(super) fn leaf_json(&self) -> Option<Vec<u8>> {
        self.tree.keys.json_of(self.leaf)
    }

    pub(super) fn fresh_id(&self) -> Result<String, Error> {
        let id = self.options.ids.entry(true, |id| self.tree.find(id).is_some());
        id.map_err(|source| Error::io("read", Path::new("/dev/urandom"), source))
    }

    /// The next entry's id and line.
    pub(super) fn line(&self, draft: &Draft) -> Result<(String, Vec<u8>), Error> {
        let is_taken = |id: &str| self.tree.find(id).is_some();
        let id = match draft.own_id() {
            Some(id) if is_taken(&id) => {
                return Err(Error::BadEntry(format!("the session has an entry {id} already")));
            }
            Some(id) => id,
            None => self.fresh_id()?,
        };
        let parent = self.leaf_json();
        let line = draft.line(&id, parent.as_deref(), &script_date::to_iso(self.now()));
        Ok((id, line))
    }

    pub(super) fn push(&mut self, id: String, line: Vec<u8>) -> Result<Appended, Error> {
        let head = Head::scan_line(&line).map_err(|at| Error::BadEntry(format!("not JSON at byte {at}")))?;
        let index = self.tree.keep(&line, &head).ok_or_else(|| self.too_large())?;
        self.leaf = self.tree.id_key(index);
        Ok(Appended { id, index, line })
    }

    pub(super) fn now(&self) -> i64 {
        script_date::milliseconds((self.context.now)())
    }

    pub(super) fn reading(&self, source: std::io::Error) -> Error {
        Error::io("read", self.file().unwrap_or(Path::new("")), source)
    }

    pub(super) fn too_large(&self) -> Error {
        Error::TooLarge { path: self.file().unwrap_or(Path::new("")).to_owned() }
    }

    /// The text of a user message, a custom message or any content: what a user would edit again.
    pub(super) fn text_of(&self, index: Index) -> Result<String, Error> {
        let entry = self.tree.entry(index).map_err(|source| self.reading(source))?;
        let holder = entry.root().get("message").unwrap_or(entry.root());
        Ok(holder.get("content").map(content_text).unwrap_or_default())
    }
}

/// The text of a content; its blocks follow each other without a gap.
pub(super) fn content_text(content: Value<'_>) -> String {
    match content.lossy() {
        Some(text) => text.into_owned(),
        None => {
            let blocks =
                content.elements().filter(|block| block.get("type").is_some_and(|kind| kind.is_str("text")));
            blocks.filter_map(|block| block.get("text").and_then(Value::lossy)).collect()
        }
    }
}
