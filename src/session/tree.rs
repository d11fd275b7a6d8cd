//! The entries of a session and how they hang together: ids, parents, leaf, labels, name.
//!
//! Per entry about 50 bytes are held, never its body; a million entries fit into 60 MB.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io;

use super::diagnostic::{Diagnostic, Reason};
use super::entry::Entry;
use super::head::Head;
use super::key::{self, Key, Keys};
use super::kind::{EntryType, Role};
use super::script_date;
use super::script_text::Text;
use super::store::{Location, Store};

/// The number of an entry, in the order of the file.
pub type Index = usize;

const NO_ENTRY: u32 = u32::MAX;

/// The loaded entries.
pub struct Tree {
    pub(super) store: Store,
    pub(super) keys: Keys,
    rows: Vec<Slot>,
    /// Which entry an id stands for: the last one that has it.
    latest: Vec<u32>,
    /// Labels by target, in the order JavaScript's `Map` keeps.
    labels: BTreeMap<u64, Label>,
    label_places: HashMap<Key, u64>,
    next_label: u64,
    /// The last `session_info`.
    info: Option<Index>,
}

#[derive(Clone, Copy)]
struct Slot {
    location: Location,
    id: Key,
    parent: Key,
    entry_type: EntryType,
    role: Role,
    /// The line it stands on; 0 when there is none to speak of.
    line: u32,
}

/// A bookmark in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub(super) target: Key,
    /// The entry that set it.
    pub entry: Index,
    /// The text as it stands in JSON (pi takes any value that is true).
    pub raw: Vec<u8>,
    /// The text.
    pub text: String,
}

/// Where a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf<'i> {
    /// The session's own leaf.
    Current,
    /// Before any entry.
    Root,
    /// The entry of that id.
    Id(&'i str),
}

impl Tree {
    pub(super) fn new(store: Store) -> Self {
        Self {
            store,
            keys: Keys::new(),
            rows: Vec::new(),
            latest: Vec::new(),
            labels: BTreeMap::new(),
            label_places: HashMap::new(),
            next_label: 0,
            info: None,
        }
    }

    /// Adds an entry that lies at `location`.
    pub(super) fn push(&mut self, line: &[u8], head: &Head, location: Location) -> Option<Index> {
        let index = u32::try_from(self.rows.len()).ok().filter(|index| *index != NO_ENTRY)?;
        let (id, parent) = head.keys(line, &mut self.keys, u64::from(index))?;
        let slot = Slot { location, id, parent, entry_type: head.entry_type, role: head.role, line: 0 };
        self.rows.push(slot);
        self.latest.resize(self.keys.len().max(self.latest.len()), NO_ENTRY);
        self.latest[id as usize] = index;
        let index = index as Index;
        match head.entry_type {
            EntryType::Label => self.note_label(index, line),
            EntryType::SessionInfo => self.info = Some(index),
            _ => {}
        }
        Some(index)
    }

    /// Says on which line of the file an entry stands.
    pub(super) fn set_line(&mut self, index: Index, line: u64) {
        self.rows[index].line = u32::try_from(line).unwrap_or(0);
    }

    /// Adds an entry whose line is kept in memory.
    pub(super) fn keep(&mut self, line: &[u8], head: &Head) -> Option<Index> {
        let location = self.store.push(line)?;
        self.push(line, head, location)
    }

    fn note_label(&mut self, index: Index, line: &[u8]) {
        let Ok(entry) = Entry::parse(line) else { return };
        let root = entry.root();
        let target = match root.get("targetId") {
            None => Some(key::UNDEFINED),
            Some(target) => {
                let is_plain = !target.raw().contains(&b'\\');
                self.keys.value(target.kind(), target.raw(), is_plain, u64::MAX - index as u64)
            }
        };
        let Some(target) = target else { return };
        match root.get("label").filter(|label| label.is_truthy()) {
            Some(label) => {
                let text = label.lossy().unwrap_or_else(|| String::from_utf8_lossy(label.raw()));
                let place = *self.label_places.entry(target).or_insert_with(|| {
                    self.next_label += 1;
                    self.next_label
                });
                let label =
                    Label { target, entry: index, raw: label.raw().to_vec(), text: text.into_owned() };
                self.labels.insert(place, label);
            }
            None => {
                if let Some(place) = self.label_places.remove(&target) {
                    self.labels.remove(&place);
                }
            }
        }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The bytes of an entry's line, without its line break.
    pub fn line(&self, index: Index) -> io::Result<Cow<'_, [u8]>> {
        let row = self.rows.get(index).ok_or(io::ErrorKind::InvalidInput)?;
        self.store.line(row.location)
    }

    /// The number of an entry's line, from 1, when it was read from a file of the current version.
    pub fn line_number(&self, index: Index) -> Option<u64> {
        self.rows.get(index).map(|row| u64::from(row.line)).filter(|line| *line > 0)
    }

    /// An entry's line as a value.
    pub fn entry(&self, index: Index) -> io::Result<Entry<'_>> {
        Entry::parse(self.line(index)?).map_err(|invalid| io::Error::new(io::ErrorKind::InvalidData, invalid))
    }

    /// An entry's type.
    pub fn entry_type(&self, index: Index) -> EntryType {
        self.rows[index].entry_type
    }

    /// The role of an entry's message.
    pub fn role(&self, index: Index) -> Role {
        self.rows[index].role
    }

    /// An entry's id; `None` when it has none, or one that is no string.
    pub fn id(&self, index: Index) -> Option<Text<'static>> {
        self.rows.get(index).and_then(|row| self.keys.text_of(row.id))
    }

    /// An entry's parent id; `None` for a root, or when it is no string.
    pub fn parent_id(&self, index: Index) -> Option<Text<'static>> {
        self.rows.get(index).and_then(|row| self.keys.text_of(row.parent))
    }

    pub(super) fn id_key(&self, index: Index) -> Key {
        self.rows[index].id
    }

    pub(super) fn parent_key(&self, index: Index) -> Key {
        self.rows[index].parent
    }

    pub(super) fn by_key(&self, key: Key) -> Option<Index> {
        self.latest.get(key as usize).filter(|index| **index != NO_ENTRY).map(|index| *index as Index)
    }

    /// The entry of that id; the last one of several.
    pub fn find(&self, id: &str) -> Option<Index> {
        self.keys.find(id.as_bytes()).and_then(|key| self.by_key(key))
    }

    /// The entry that another hangs under, where there is one.
    pub fn parent(&self, index: Index) -> Option<Index> {
        let parent = self.rows[index].parent;
        if key::is_truthy(parent) { self.by_key(parent) } else { None }
    }

    /// From the root down to an entry. A cycle ends the walk where it would begin anew.
    pub fn path(&self, end: Option<Index>) -> Vec<Index> {
        let mut path = Vec::new();
        let mut seen = Seen::new(self.rows.len());
        let mut at = end;
        while let Some(index) = at.filter(|index| seen.insert(*index)) {
            path.push(index);
            at = self.parent(index);
        }
        path.reverse();
        path
    }

    /// The entries hanging directly under an entry (`None`: the ones whose parent is null), one per id,
    /// in the order in which their ids first appear.
    pub fn children(&self, id: Option<&str>) -> Vec<Index> {
        let parent = match id {
            None => Some(key::NULL),
            Some(id) => self.keys.find(id.as_bytes()),
        };
        let mut seen = Seen::new(self.rows.len());
        self.rows
            .iter()
            .filter_map(|row| self.by_key(row.id))
            .filter(|index| seen.insert(*index) && Some(self.rows[*index].parent) == parent)
            .collect()
    }

    /// The labels in force, in the order in which they were set.
    pub fn labels(&self) -> impl Iterator<Item = &Label> {
        self.labels.values()
    }

    /// The target of a label.
    pub fn target(&self, label: &Label) -> Option<Text<'static>> {
        self.keys.text_of(label.target)
    }

    /// The label of an entry.
    pub fn label(&self, index: Index) -> Option<&Label> {
        self.label_places.get(&self.rows[index].id).and_then(|place| self.labels.get(place))
    }

    /// The display name: the last one in the file, on whatever branch; blanks around it taken off.
    pub fn name(&self) -> io::Result<Option<String>> {
        let Some(info) = self.info else { return Ok(None) };
        let entry = self.entry(info)?;
        let name = entry.root().get("name").and_then(|name| name.text());
        Ok(name.map(|name| String::from_utf8_lossy(name.trim()).into_owned()).filter(|name| !name.is_empty()))
    }

    /// When an entry was written, in milliseconds since 1970; NaN when it does not say.
    pub fn time(&self, index: Index) -> io::Result<f64> {
        Ok(script_date::time_value(self.entry(index)?.root().get("timestamp")))
    }

    /// What is wrong with the tree as a whole: duplicate ids, orphans and cycles. One pass.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        // 0: not yet walked; a walk's own number while it lasts; u32::MAX: known to end at a root.
        let mut state = vec![0_u32; self.rows.len()];
        for start in 0..self.rows.len() {
            let id = || self.id(start).map(|id| id.into_lossy().into_owned());
            let slot = self.rows[start];
            let mut note = |reason, message: String| {
                found.push(Diagnostic::of_entry(None, id(), reason, message));
            };
            if slot.id == key::UNDEFINED {
                note(Reason::NoId, "an entry has no id; nothing can hang under it".to_owned());
            } else if self.by_key(slot.id) != Some(start) {
                note(Reason::DuplicateId, "a later entry has the same id and takes its place".to_owned());
            }
            if key::is_truthy(slot.parent) && self.by_key(slot.parent).is_none() {
                note(Reason::Orphan, "its parent is not in the file; it counts as a root".to_owned());
            }
            let walk = start as u32 + 1;
            let mut at = Some(start);
            while let Some(index) = at.filter(|index| state[*index] == 0) {
                state[index] = walk;
                at = self.parent(index);
            }
            if at.is_some_and(|index| state[index] == walk) {
                note(Reason::Cycle, "it is its own ancestor; the path stops there".to_owned());
            }
            let mut at = Some(start);
            while let Some(index) = at.filter(|index| state[*index] == walk) {
                state[index] = u32::MAX;
                at = self.parent(index);
            }
        }
        found
    }
}

/// A set of entries, one bit each.
pub(super) struct Seen(Vec<u64>);

impl Seen {
    pub(super) fn new(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    /// Adds; whether it was not there before.
    pub(super) fn insert(&mut self, index: Index) -> bool {
        let (word, bit) = (index / 64, 1 << (index % 64));
        let is_new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        is_new
    }

    pub(super) fn remove(&mut self, index: Index) {
        self.0[index / 64] &= !(1 << (index % 64));
    }

    pub(super) fn contains(&self, index: Index) -> bool {
        self.0[index / 64] & (1 << (index % 64)) != 0
    }
}
