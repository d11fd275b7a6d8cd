//! New sessions out of old ones: forks, clones, copies for another directory.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::append::Writer;
use super::error::Error;
use super::head::Head;
use super::key::Key;
use super::kind::{EntryType, Role};
use super::live::{Needs, Options, Place, Session, Stage};
use super::load;
use super::script_date;
use super::script_json::Value;
use super::script_text;
use super::splice::Splice;
use super::storage;
use super::tree::Index;
use crate::context::Context;

/// Which side of the entry a fork is made on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Before a user message, whose text goes back to the user.
    Before,
    /// Behind any entry: the fork keeps it.
    At,
}

/// A fork and what goes back into the editor.
pub struct Fork {
    /// The new session.
    pub session: Session,
    /// The text of the user message it was made before.
    pub editor_text: Option<String>,
}

/// Where a walk through the tree has led.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Navigation {
    /// The new leaf's id; none before any entry.
    pub leaf_id: Option<String>,
    /// The text of the message that was gone to, to be changed and sent again.
    pub editor_text: Option<String>,
}

/// A user message one can fork before.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ForkPoint {
    /// The entry.
    pub entry_id: String,
    /// Its text.
    pub text: String,
}

impl Session {
    /// The user messages with text, on all branches, in file order.
    pub fn fork_points(&self) -> Result<Vec<ForkPoint>, Error> {
        let mut found = Vec::new();
        for index in 0..self.tree.len() {
            if self.tree.role(index) != Role::User || self.tree.entry_type(index) != EntryType::Message {
                continue;
            }
            let text = self.text_of(index)?;
            if let Some(id) = self.tree.id(index).filter(|_| !text.is_empty()) {
                found.push(ForkPoint { entry_id: id.into_lossy().into_owned(), text });
            }
        }
        Ok(found)
    }

    /// Forks before a user message, or at any entry. This session stays as it is.
    pub fn fork(&self, entry: &str, position: Position) -> Result<Fork, Error> {
        let index = self.tree.find(entry).ok_or(Error::NotForkable)?;
        let (target, editor_text) = match position {
            Position::At => (Some(entry.to_owned()), None),
            Position::Before => {
                if (self.tree.entry_type(index), self.tree.role(index)) != (EntryType::Message, Role::User) {
                    return Err(Error::NotForkable);
                }
                let parent = self.tree.parent_id(index).map(|id| id.into_lossy().into_owned());
                (parent.filter(|parent| !parent.is_empty()), Some(self.text_of(index)?))
            }
        };
        if matches!(self.stage, Stage::Pending(_)) {
            return Err(Error::NotSaved);
        }
        let session = match target {
            Some(target) => self.branched(&target)?,
            None => self.successor()?,
        };
        Ok(Fork { session, editor_text })
    }

    /// A session of its own from the path to an entry: labels rebuilt behind it, compactions pointed past
    /// dropped labels. Its file is written when the path holds a conversation.
    pub fn branched(&self, leaf: &str) -> Result<Session, Error> {
        let end = self.tree.find(leaf).ok_or_else(|| Error::NoEntry { id: leaf.to_owned() })?;
        let path = self.tree.path(Some(end));
        let mut session = self.successor()?;
        let moved = self.past_labels(&path);
        let mut parent: Option<Key> = None;
        let mut kept = HashSet::new();
        for &index in path.iter().filter(|index| self.tree.entry_type(**index) != EntryType::Label) {
            let line = self.rechained(index, parent, &moved)?;
            session.take_line(&line)?;
            parent = Some(self.tree.id_key(index));
            kept.insert(self.tree.id_key(index));
        }
        for label in self.tree.labels().filter(|label| kept.contains(&label.target)) {
            let entry = self.tree.entry(label.entry).map_err(|source| self.reading(source))?;
            session.take_label(entry.root())?;
        }
        session.store_conversation()?;
        Ok(session)
    }

    /// An empty session that names this one as its parent.
    fn successor(&self) -> Result<Session, Error> {
        let parent = self.file().filter(|_| !matches!(self.stage, Stage::Memory));
        let mut session = Session::blank(&self.cwd, None, parent, &self.context, self.options.clone())?;
        session.directory.clone_from(&self.directory);
        if parent.is_some() {
            let file = self.fork_file.clone().unwrap_or_else(|| session.new_file());
            session.stage = Stage::Pending(file);
        }
        Ok(session)
    }

    /// For each label on the path, by id: the next entry that stays.
    fn past_labels(&self, path: &[Index]) -> HashMap<Key, Key> {
        let mut moved = HashMap::new();
        let mut next = None;
        for &index in path.iter().rev() {
            match (self.tree.entry_type(index), next) {
                (EntryType::Label, Some(next)) => {
                    moved.insert(self.tree.id_key(index), next);
                }
                (EntryType::Label, None) => {}
                _ => next = Some(self.tree.id_key(index)),
            }
        }
        moved
    }

    /// An entry's line under another parent. Where nothing has to change, the very same bytes.
    fn rechained(
        &self,
        index: Index,
        parent: Option<Key>,
        moved: &HashMap<Key, Key>,
    ) -> Result<Vec<u8>, Error> {
        let entry = self.tree.entry(index).map_err(|source| self.reading(source))?;
        let root = entry.root();
        let mut splice = Splice::new(root);
        let is_same = match parent {
            Some(parent) => self.tree.parent_key(index) == parent,
            None => self.tree.parent_key(index) == super::key::NULL,
        };
        if !is_same {
            let parent = parent.and_then(|parent| self.tree.keys.json_of(parent));
            splice.set("parentId", parent.as_deref().unwrap_or(b"null"));
        }
        if self.tree.entry_type(index) == EntryType::Compaction {
            let kept = root.get("firstKeptEntryId").and_then(Value::text);
            let kept = kept.and_then(|kept| self.tree.keys.find(kept.as_bytes()));
            let target =
                kept.and_then(|kept| moved.get(&kept)).and_then(|target| self.tree.keys.json_of(*target));
            if let Some(target) = target {
                splice.set("firstKeptEntryId", &target);
            }
        }
        Ok(splice.finish())
    }

    fn take_line(&mut self, line: &[u8]) -> Result<(), Error> {
        let head = Head::scan_line(line).map_err(|at| Error::BadEntry(format!("not JSON at byte {at}")))?;
        let index = self.tree.keep(line, &head).ok_or_else(|| self.too_large())?;
        self.set_leaf(index);
        Ok(())
    }

    /// A label as a new entry at the leaf; target, text and time are the old one's.
    fn take_label(&mut self, old: Value<'_>) -> Result<(), Error> {
        let raw = |name: &str| old.get(name).map_or(&b"null"[..], Value::raw);
        let mut whole = br#"{"type":"label""#.to_vec();
        let id = self.fresh_id()?;
        for (name, value) in [
            ("id", &script_text::quoted(&id)[..]),
            ("parentId", &self.leaf_json().unwrap_or_else(|| b"null".to_vec())),
            ("timestamp", raw("timestamp")),
            ("targetId", raw("targetId")),
            ("label", raw("label")),
        ] {
            whole.push(b',');
            whole.extend_from_slice(&script_text::quoted(name));
            whole.push(b':');
            whole.extend_from_slice(value);
        }
        whole.push(b'}');
        self.take_line(&whole)
    }

    /// Writes the file, when there is something worth it.
    fn store_conversation(&mut self) -> Result<(), Error> {
        let is_conversation = (0..self.tree.len()).any(|index| {
            self.tree.entry_type(index) == EntryType::Message
                && matches!(self.tree.role(index), Role::User | Role::Assistant)
        });
        if is_conversation { self.store() } else { Ok(()) }
    }

    /// Writes the file of a new session now, though nobody has said anything yet. Does nothing when there
    /// is a file, or never will be one.
    pub fn store(&mut self) -> Result<(), Error> {
        if let Stage::Pending(path) = &self.stage {
            let path = path.clone();
            let lines = self.lines(self.header.raw())?;
            let writer = Some(Writer::create(&path, &lines, self.options.sync)?);
            self.stage = Stage::Stored { path, end: lines.len() as u64, writer, needs: Needs::Nothing };
        }
        Ok(())
    }

    /// Goes to an entry, as if to say something else there: to the parent of a user's or an extension's
    /// message, whose text comes back, else to the entry itself.
    pub fn navigate(&mut self, target: &str) -> Result<Navigation, Error> {
        let index = self.tree.find(target).ok_or_else(|| Error::NoEntry { id: target.to_owned() })?;
        let is_repeated = match self.tree.entry_type(index) {
            EntryType::CustomMessage => true,
            EntryType::Message => self.tree.role(index) == Role::User,
            _ => false,
        };
        if Some(index) == self.leaf() {
            return Ok(Navigation { leaf_id: self.leaf_id(), editor_text: None });
        }
        let editor_text = if is_repeated { Some(self.text_of(index)?) } else { None };
        match (is_repeated, self.tree.parent(index)) {
            (false, _) => self.set_leaf(index),
            (true, Some(parent)) => self.set_leaf(parent),
            (true, None) => self.reset_leaf(),
        }
        Ok(Navigation { leaf_id: self.leaf_id(), editor_text })
    }

    /// The path to a leaf as a session file's text, for handing it on: header, then the entries in a chain.
    pub fn export(&self, leaf: Option<Index>) -> Result<Vec<u8>, Error> {
        let now = script_date::to_iso(self.now());
        let header = super::header::Header::new(&self.header.id, &now, &self.cwd.to_string_lossy(), None);
        let mut out = [header.raw(), b"\n"].concat();
        let mut parent = None;
        for index in self.tree.path(leaf) {
            out.extend(self.rechained(index, parent, &HashMap::new())?);
            out.push(b'\n');
            parent = Some(self.tree.id_key(index));
        }
        Ok(out)
    }
}

/// Copies a session for another working directory: every entry as it is, a new header. An old session is
/// copied as the current version, its tree included.
pub fn fork_from(
    source: &Path,
    cwd: &str,
    place: &Place,
    id: Option<&str>,
    context: &Context,
    options: Options,
) -> Result<Session, Error> {
    let source = storage::absolute(source, context);
    let bad = || Error::BadSource { path: source.clone() };
    let loaded = match load::load(&source, context) {
        Ok(loaded) => loaded.ok_or_else(bad)?,
        Err(Error::NotASession { .. }) => return Err(bad()),
        Err(error) => return Err(error),
    };
    let cwd: PathBuf = storage::resolve(cwd, context);
    let mut session = Session::blank(&cwd, id, Some(&source), context, options)?;
    session.tree = loaded.tree;
    if let Some(last) = session.tree.len().checked_sub(1) {
        session.set_leaf(last);
    }
    session.place_forks(place)?;
    let file = session.fork_file.take().unwrap_or_else(|| session.new_file());
    session.stage = Stage::Pending(file);
    session.store()?;
    Ok(session)
}
