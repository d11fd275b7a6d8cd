//! What a model is to see of a session: the path to a leaf with compaction and context edits applied.
//!
//! Messages keep their bytes; only an edit, or missing content, changes the one member it concerns.

use std::collections::HashMap;
use std::io;

use super::entry::Entry;
use super::key::Key;
use super::kind::{EntryType, Role};
use super::scan::Kind;
use super::script_date;
use super::script_json::Value;
use super::script_text;
use super::splice::Splice;
use super::tree::{Index, Leaf, Tree};

/// The projection at a leaf.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// The entries in force and how many messages each contributes.
    pub entries: Vec<(Index, usize)>,
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// The current model: the latest on the path, summarised part included.
    pub model: Option<CurrentModel>,
    /// The current thinking level.
    pub thinking_level: String,
}

/// A message as pi holds it in memory; not yet in the form a model takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its role.
    pub role: Role,
    /// Its JSON text.
    pub raw: Vec<u8>,
    /// The entry it comes from.
    pub entry: Index,
}

/// Which model was in use.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CurrentModel {
    /// Its provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_id: Option<String>,
}

impl Tree {
    /// The entry a leaf stands for: an unknown id falls back to the last entry of the file, as in pi.
    pub fn resolve(&self, leaf: Leaf<'_>) -> Option<Index> {
        let last = self.len().checked_sub(1);
        match leaf {
            Leaf::Root => None,
            Leaf::Current => last,
            Leaf::Id(id) => {
                if id.is_empty() {
                    last
                } else {
                    self.find(id).or(last)
                }
            }
        }
    }

    /// The entries in force on a path: from the newest compaction on, that one first.
    pub fn context_entries(&self, path: &[Index]) -> io::Result<Vec<Index>> {
        let is_compaction = |index: &Index| self.entry_type(*index) == EntryType::Compaction;
        let Some(at) = path.iter().rposition(is_compaction) else { return Ok(path.to_vec()) };
        let entry = self.entry(path[at])?;
        let kept = entry.root().get("firstKeptEntryId").and_then(|id| id.text());
        let kept = kept.and_then(|id| self.keys.find(id.as_bytes()));
        let first = kept.and_then(|kept| path[..at].iter().position(|index| self.id_key(*index) == kept));
        let kept = first.map_or(&[][..], |first| &path[first..at]);
        Ok(std::iter::once(path[at])
            .chain(kept.iter().copied().filter(|index| self.role(*index) != Role::System))
            .chain(path[at + 1..].iter().copied())
            .collect())
    }

    /// What a model is to see at the end of a path.
    pub fn project(&self, path: &[Index]) -> io::Result<Projection> {
        let in_force = self.context_entries(path)?;
        let edits = self.edits(&in_force)?;
        let newest =
            in_force.first().copied().filter(|index| self.entry_type(*index) == EntryType::Compaction);
        let mut projection = Projection {
            entries: Vec::with_capacity(in_force.len()),
            messages: Vec::new(),
            model: self.current_model(path)?,
            thinking_level: self.current_thinking_level(path)?,
        };
        for index in in_force {
            let before = projection.messages.len();
            let is_old_compaction = self.entry_type(index) == EntryType::Compaction && Some(index) != newest;
            if !is_old_compaction {
                let entry = self.entry(index)?;
                let edit = edits.get(&self.id_key(index));
                self.contribute(index, &entry, edit.map(Vec::as_slice), &mut projection.messages);
            }
            projection.entries.push((index, projection.messages.len() - before));
        }
        Ok(projection)
    }

    /// The latest replacement for each target, as JSON text.
    fn edits(&self, in_force: &[Index]) -> io::Result<HashMap<Key, Vec<u8>>> {
        let mut edits = HashMap::new();
        for &index in in_force {
            if self.entry_type(index) != EntryType::ContextEdit {
                continue;
            }
            let entry = self.entry(index)?;
            let target = entry.root().get("targetId").and_then(|target| target.text());
            let target = target.and_then(|target| self.keys.find(target.as_bytes()));
            if let (Some(target), Some(replacement)) = (target, entry.root().get("replacement")) {
                edits.insert(target, replacement.raw().to_vec());
            }
        }
        Ok(edits)
    }

    fn contribute(&self, index: Index, entry: &Entry<'_>, edit: Option<&[u8]>, out: &mut Vec<Message>) {
        let replacement = edit.and_then(|edit| Entry::parse(edit).ok());
        let replacement = replacement.as_ref().map(Entry::root);
        if replacement.is_some_and(|replacement| replacement.kind() == Kind::Null) {
            return;
        }
        let content = replacement.and_then(|replacement| replacement.get("content"));
        let mut push = |role, raw| out.push(Message { role, raw, entry: index });
        let root = entry.root();
        match self.entry_type(index) {
            EntryType::Message => {
                let Some(message) = root.get("message").filter(|message| message.kind() == Kind::Object)
                else {
                    return;
                };
                let role = self.role(index);
                push(role, with_content(message, role, content));
            }
            EntryType::CustomMessage => push(Role::Custom, custom_message(root, content)),
            EntryType::BranchSummary if root.get("summary").is_some_and(Value::is_truthy) => {
                push(Role::BranchSummary, summary("branchSummary", root, "fromId"));
            }
            EntryType::Compaction => {
                let checkpoint = root.get("systemMessage").filter(|message| message.kind() == Kind::Object);
                if let Some(message) = checkpoint {
                    push(Role::System, with_content(message, Role::System, None));
                }
                push(Role::CompactionSummary, summary("compactionSummary", root, "tokensBefore"));
            }
            _ => {}
        }
    }

    fn current_model(&self, path: &[Index]) -> io::Result<Option<CurrentModel>> {
        let text =
            |value: Value<'_>, name| value.get(name).and_then(Value::lossy).map(|text| text.into_owned());
        for &index in path.iter().rev() {
            let (names, inside) = match (self.entry_type(index), self.role(index)) {
                (EntryType::ModelChange, _) => ("modelId", None),
                (EntryType::Message, Role::Assistant) => ("model", Some("message")),
                _ => continue,
            };
            let entry = self.entry(index)?;
            let holder = inside.and_then(|name| entry.root().get(name)).unwrap_or(entry.root());
            return Ok(Some(CurrentModel {
                provider: text(holder, "provider"),
                model_id: text(holder, names),
            }));
        }
        Ok(None)
    }

    fn current_thinking_level(&self, path: &[Index]) -> io::Result<String> {
        let latest =
            path.iter().rev().find(|index| self.entry_type(**index) == EntryType::ThinkingLevelChange);
        let Some(&latest) = latest else { return Ok("off".to_owned()) };
        let entry = self.entry(latest)?;
        let level = entry.root().get("thinkingLevel").and_then(Value::lossy);
        Ok(level.map_or_else(|| "off".to_owned(), |level| level.into_owned()))
    }
}

/// A message with its content replaced, or put right when it has none.
fn with_content(message: Value<'_>, role: Role, replacement: Option<Value<'_>>) -> Vec<u8> {
    let takes_edits = matches!(role, Role::User | Role::Assistant | Role::ToolResult | Role::Custom);
    let content = match replacement.filter(|_| takes_edits) {
        Some(text) if text.kind() == Kind::String && matches!(role, Role::Assistant | Role::ToolResult) => {
            Some([br#"[{"type":"text","text":"#, text.raw(), b"}]"].concat())
        }
        Some(content) => Some(content.raw().to_vec()),
        None if message.get("content").is_none_or(|content| content.kind() == Kind::Null) => match role {
            Role::System => Some(br#""""#.to_vec()),
            _ if takes_edits => Some(b"[]".to_vec()),
            _ => None,
        },
        None => None,
    };
    let Some(content) = content else { return message.raw().to_vec() };
    let mut splice = Splice::new(message);
    splice.set("content", &content);
    splice.finish()
}

/// The message a `custom_message` entry stands for.
fn custom_message(entry: Value<'_>, replacement: Option<Value<'_>>) -> Vec<u8> {
    let mut out = br#"{"role":"custom""#.to_vec();
    put(&mut out, "customType", entry.get("customType"));
    match replacement.or(entry.get("content")).filter(|content| content.kind() != Kind::Null) {
        Some(content) => put(&mut out, "content", Some(content)),
        None => out.extend_from_slice(br#","content":[]"#),
    }
    put(&mut out, "display", entry.get("display"));
    put(&mut out, "details", entry.get("details"));
    put_time(&mut out, entry);
    out
}

/// The message a summary entry stands for.
fn summary(role: &str, entry: Value<'_>, further: &str) -> Vec<u8> {
    let mut out = format!(r#"{{"role":"{role}""#).into_bytes();
    put(&mut out, "summary", entry.get("summary"));
    put(&mut out, further, entry.get(further));
    put_time(&mut out, entry);
    out
}

fn put(out: &mut Vec<u8>, name: &str, value: Option<Value<'_>>) {
    if let Some(value) = value {
        out.push(b',');
        out.extend_from_slice(&script_text::quoted(name));
        out.push(b':');
        out.extend_from_slice(value.raw());
    }
}

/// The entry's time in milliseconds; `null` where it has none.
fn put_time(out: &mut Vec<u8>, entry: Value<'_>) {
    out.extend_from_slice(br#","timestamp":"#);
    script_text::write_number(script_date::time_value(entry.get("timestamp")), out);
    out.push(b'}');
}
