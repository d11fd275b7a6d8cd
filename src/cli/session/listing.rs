//! The answer of pi-session-show: entries as they are written out one by one, never all held as text.

use std::borrow::Cow;
use std::io;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::glance::Glance;
use super::show::member;
use crate::session::rows::Row;
use crate::session::{self, Diagnostic, EntryType, Index, Loaded, Role};

/// How deep forks are nested; what lies deeper is flat. jq 1.6 reads 256 levels, and a fork takes three.
const NESTED: usize = 64;

/// The entries to show and what goes with them.
pub struct Listing {
    loaded: Loaded,
    glances: Vec<Glance>,
    rows: Vec<Row>,
    on_path: Vec<bool>,
    leaf: Option<Index>,
    name: Option<String>,
    diagnostics: Vec<Diagnostic>,
    form: Form,
    is_flat: bool,
    /// Only the end of the file was read.
    is_end: bool,
}

/// What is made of the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One list.
    Flat,
    /// A list that branches at forks.
    Nested,
    /// Their number.
    Count,
}

/// One entry.
#[derive(Default, Serialize, JsonSchema)]
pub(super) struct Entry<'l> {
    /// Its id; absent where it has none that is a string.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    /// Its parent's id; absent for a root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent_id: Option<String>,
    /// How many ancestors it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) depth: Option<u32>,
    /// What it is: message, compaction, label, …
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(super) entry_type: Option<Cow<'l, str>>,
    /// Whose message it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<Cow<'l, str>>,
    /// The beginning of what it says, as one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<&'l str>,
    /// The bookmark on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) label: Option<&'l str>,
    /// Whether it lies on the path to the leaf.
    pub(super) on_path: bool,
    /// How many entries hang under it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) children: Option<u32>,
    /// When it was written, as stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timestamp: Option<&'l str>,
    /// The line of the file it stands on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<u64>,
}

/// What the entries of a session amount to, over all its branches.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct Stats {
    /// All of them.
    entries: usize,
    /// Messages of the user.
    user_messages: usize,
    /// Messages of the model.
    assistant_messages: usize,
    /// Tool calls in them.
    tool_calls: usize,
    /// Tool results.
    tool_results: usize,
    /// Messages of every role.
    total_messages: usize,
    /// Tokens by kind.
    tokens: Tokens,
    /// What they cost.
    cost: f64,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
struct Tokens {
    /// Sent and not cached.
    input: f64,
    /// Generated.
    output: f64,
    /// Read from a provider's cache.
    cache_read: f64,
    /// Written to it.
    cache_write: f64,
    /// All of them.
    total: f64,
}

/// One finding.
#[derive(Serialize, JsonSchema)]
pub(super) struct Finding<'l> {
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    /// The entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'l str>,
    /// What it is, for programs.
    #[schemars(with = "String")]
    reason: session::Reason,
    /// What it means, for people.
    message: &'l str,
}

impl Listing {
    /// `path` leads to the leaf.
    pub(super) fn new(
        loaded: Loaded,
        glances: Vec<Glance>,
        rows: Vec<Row>,
        path: &[Index],
        diagnostics: Vec<Diagnostic>,
        form: Form,
    ) -> io::Result<Self> {
        let mut on_path = vec![false; loaded.tree.len()];
        path.iter().for_each(|index| on_path[*index] = true);
        let name = loaded.tree.name()?;
        let leaf = path.last().copied();
        Ok(Self {
            loaded,
            glances,
            rows,
            on_path,
            leaf,
            name,
            diagnostics,
            form,
            is_flat: false,
            is_end: false,
        })
    }

    /// Whether a drawing shows no branches, since entries between those shown are left out.
    pub(super) fn drawn_flat(mut self, is_flat: bool) -> Self {
        self.is_flat = is_flat;
        self
    }

    /// Leaves out all that only the whole file could tell.
    pub(super) fn of_the_end_only(mut self, is_end: bool) -> Self {
        self.is_end = is_end;
        self
    }

    /// The session's id, working directory and name.
    pub(super) fn title(&self) -> (&str, &str, Option<&str>) {
        (&self.loaded.header.id, &self.loaded.header.cwd, self.name.as_deref())
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub(super) fn is_count(&self) -> bool {
        self.form == Form::Count
    }

    pub(super) fn is_flat(&self) -> bool {
        self.is_flat
    }

    pub(super) fn is_leaf(&self, row: &Row) -> bool {
        self.leaf == Some(row.index)
    }

    /// All that is shown of an entry.
    pub(super) fn entry(&self, row: &Row) -> Entry<'_> {
        let (tree, index) = (&self.loaded.tree, row.index);
        let lossy = |text: session::script_text::Text<'static>| text.into_lossy().into_owned();
        let role = tree.role(index);
        let glance = &self.glances[index];
        Entry {
            id: tree.id(index).map(lossy),
            parent_id: tree.parent_id(index).map(lossy),
            depth: (!self.is_end).then_some(row.depth),
            entry_type: match tree.entry_type(index) {
                EntryType::Untyped => None,
                known => {
                    known.name().map(Cow::Borrowed).or_else(|| member(tree, index, &["type"]).map(Cow::Owned))
                }
            },
            role: match role {
                Role::None => None,
                known => known
                    .name()
                    .map(Cow::Borrowed)
                    .or_else(|| member(tree, index, &["message", "role"]).map(Cow::Owned)),
            },
            text: glance.text(),
            label: tree.label(index).map(|label| label.text.as_str()),
            on_path: self.on_path[index],
            children: (!self.is_end).then_some(row.children),
            timestamp: glance.timestamp(),
            line: tree.line_number(index).filter(|_| !self.is_end),
        }
    }

    fn stats(&self) -> Stats {
        let tree = &self.loaded.tree;
        let mut stats = Stats { entries: tree.len(), ..Stats::default() };
        for (index, glance) in self.glances.iter().enumerate() {
            let (kind, role) = (tree.entry_type(index), tree.role(index));
            if kind == EntryType::Message {
                stats.total_messages += 1;
                match role {
                    Role::User => stats.user_messages += 1,
                    Role::Assistant => {
                        stats.assistant_messages += 1;
                        stats.tool_calls += glance.calls as usize;
                    }
                    Role::ToolResult => stats.tool_results += 1,
                    _ => {}
                }
            }
            let is_counted = matches!(
                (kind, role),
                (EntryType::Message, Role::Assistant | Role::ToolResult)
                    | (EntryType::Usage | EntryType::Compaction | EntryType::BranchSummary, _)
            );
            if let Some(usage) = glance.usage.as_deref().filter(|_| is_counted) {
                let sum = &mut stats.tokens;
                sum.input += usage.input;
                sum.output += usage.output;
                sum.cache_read += usage.cache_read;
                sum.cache_write += usage.cache_write;
                stats.cost += usage.cost;
            }
        }
        let sum = &mut stats.tokens;
        sum.total = sum.input + sum.output + sum.cache_read + sum.cache_write;
        stats
    }

    fn findings(&self) -> Vec<Finding<'_>> {
        self.diagnostics.iter().map(Finding::of).collect()
    }

    /// Where the subtree of a row ends.
    fn end_of(&self, at: usize) -> usize {
        let depth = self.rows[at].depth;
        let rest = &self.rows[at + 1..];
        rest.iter().position(|row| row.depth <= depth).map_or(self.rows.len(), |length| at + 1 + length)
    }
}

impl<'l> Finding<'l> {
    pub(super) fn of(found: &'l Diagnostic) -> Self {
        Self { line: found.line, id: found.id.as_deref(), reason: found.reason, message: &found.message }
    }
}

impl Serialize for Listing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("header", &raw(self.loaded.header.raw()).map_err(S::Error::custom)?)?;
        let leaf = self.leaf.and_then(|leaf| self.loaded.tree.id(leaf));
        map.serialize_entry("leaf_id", &leaf.map(|leaf| leaf.into_lossy()))?;
        if let Some(name) = self.name.as_ref().filter(|_| !self.is_end) {
            map.serialize_entry("name", name)?;
        }
        if !self.is_end {
            map.serialize_entry("stats", &self.stats())?;
        }
        map.serialize_entry("count", &self.rows.len())?;
        match self.form {
            Form::Count => {}
            Form::Flat => map.serialize_entry(
                "entries",
                &Chain { listing: self, rows: 0..self.rows.len(), forks: NESTED },
            )?,
            Form::Nested => {
                let depth = 0;
                map.serialize_entry(
                    "branches",
                    &Branches { listing: self, rows: 0..self.rows.len(), depth, forks: 0 },
                )?;
            }
        }
        if !self.is_end {
            map.serialize_entry("diagnostics", &self.findings())?;
        }
        map.end()
    }
}

/// A value of the session as it stands in the file.
pub(super) fn raw(json: &[u8]) -> serde_json::Result<Box<RawValue>> {
    RawValue::from_string(String::from_utf8_lossy(json).into_owned())
}

/// Consecutive rows, up to the first fork; the branches of that are in its entry.
struct Chain<'l> {
    listing: &'l Listing,
    rows: std::ops::Range<usize>,
    /// How many forks are above; [`NESTED`]: nothing is nested any more.
    forks: usize,
}

impl Serialize for Chain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fork<'l> {
            #[serde(flatten)]
            entry: Entry<'l>,
            branches: Branches<'l>,
        }
        let mut list = serializer.serialize_seq(None)?;
        for at in self.rows.clone() {
            let row = &self.listing.rows[at];
            let entry = self.listing.entry(row);
            if row.children > 1 && self.forks < NESTED {
                let rows = at + 1..self.rows.end;
                let branches =
                    Branches { listing: self.listing, rows, depth: row.depth + 1, forks: self.forks + 1 };
                list.serialize_element(&Fork { entry, branches })?;
                break;
            }
            list.serialize_element(&entry)?;
        }
        list.end()
    }
}

/// Rows that begin anew at a depth, as one chain each.
struct Branches<'l> {
    listing: &'l Listing,
    rows: std::ops::Range<usize>,
    depth: u32,
    forks: usize,
}

impl Serialize for Branches<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        let mut at = self.rows.start;
        while at < self.rows.end && self.listing.rows[at].depth == self.depth {
            let end = self.listing.end_of(at);
            list.serialize_element(&Chain { listing: self.listing, rows: at..end, forks: self.forks })?;
            at = end;
        }
        list.end()
    }
}

impl JsonSchema for Listing {
    fn schema_name() -> Cow<'static, str> {
        "Listing".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its schema is used")]
        struct Shape<'l> {
            /// The header, as stored.
            header: serde_json::Map<String, serde_json::Value>,
            /// The leaf; null in a session without entries.
            #[schemars(required)]
            leaf_id: Option<String>,
            /// The display name.
            name: Option<String>,
            /// Counts, tokens and cost of the whole session.
            stats: Option<Stats>,
            /// How many entries fit what was asked for.
            count: usize,
            /// These entries, each behind its parent.
            entries: Option<Vec<Entry<'l>>>,
            /// With --nested, in place of the entries: a list for every root. The entry at its end has the
            /// branches that hang under it.
            branches: Option<Vec<Vec<serde_json::Map<String, serde_json::Value>>>>,
            /// What was skipped, mended or is strange.
            diagnostics: Option<Vec<Finding<'l>>>,
        }
        let mut schema = Shape::json_schema(generator);
        // The generator has no word for "a string or null" that stays once optional ones are plain.
        if let Some(leaf) = schema.pointer_mut("/properties/leaf_id") {
            *leaf = serde_json::json!({
                "description": "The leaf; null in a session without entries.",
                "anyOf": [{"type": "string"}, {"type": "null"}],
            });
        }
        schema
    }
}
