//! An entry to be appended: its content, waiting for id, parent and time.

use super::error::Error;
use super::head::Head;
use super::kind::{EntryType, Role};
use super::scan::Kind;
use super::script_json::{Document, Value};
use super::script_text;
use super::splice::Splice;

/// The content of a new entry.
#[derive(Clone, Debug)]
pub struct Draft {
    entry_type: EntryType,
    role: Role,
    body: Body,
}

#[derive(Clone, Debug)]
enum Body {
    /// Members behind the four common ones.
    After { name: &'static str, members: Vec<(&'static str, Vec<u8>)> },
    /// Members between the type and the other common ones, as pi orders its custom entries.
    Before { name: &'static str, members: Vec<(&'static str, Vec<u8>)> },
    /// A whole entry, common members included where its writer gave them.
    Whole(Vec<u8>),
}

impl Draft {
    /// A message, as JSON text. One that is still being generated is refused.
    pub fn message(message: &[u8]) -> Result<Self, Error> {
        let message = one_line(message)?;
        let document = parse(&message)?;
        let role = document.root().get("role").and_then(Value::text);
        let role = role.ok_or_else(|| Error::BadEntry("a message needs a role".to_owned()))?;
        let role = Role::named(role.as_bytes());
        if document.root().get("stopReason").is_some_and(|reason| reason.is_str("pending")) {
            return Err(Error::BadEntry("a pending message is not stored".to_owned()));
        }
        let body = Body::After { name: "message", members: vec![("message", message.clone())] };
        Ok(Self { entry_type: EntryType::Message, role, body })
    }

    /// A user message of plain text.
    pub fn user(text: &str, now: i64) -> Result<Self, Error> {
        let text = script_text::quoted(text);
        let rest = format!(r#","timestamp":{now}}}"#);
        Self::message(&[br#"{"role":"user","content":"#, &text[..], rest.as_bytes()].concat())
    }

    /// A change of model.
    pub fn model_change(provider: &str, model_id: &str) -> Self {
        let members = vec![("provider", quoted(provider)), ("modelId", quoted(model_id))];
        Self::after(EntryType::ModelChange, "model_change", members)
    }

    /// A change of the thinking level.
    pub fn thinking_level_change(level: &str) -> Self {
        Self::after(
            EntryType::ThinkingLevelChange,
            "thinking_level_change",
            vec![("thinkingLevel", quoted(level))],
        )
    }

    /// Tokens spent outside of messages; `usage` is JSON text.
    pub fn usage(
        kind: &str,
        provider: &str,
        model: &str,
        usage: &[u8],
        note: Option<&str>,
    ) -> Result<Self, Error> {
        let mut members = vec![
            ("kind", quoted(kind)),
            ("provider", quoted(provider)),
            ("model", quoted(model)),
            ("usage", one_line(usage)?),
        ];
        members.extend(note.map(|note| ("note", quoted(note))));
        Ok(Self::after(EntryType::Usage, "usage", members))
    }

    /// State of an extension; `data` is JSON text.
    pub fn custom(custom_type: &str, data: Option<&[u8]>) -> Result<Self, Error> {
        let mut members = vec![("customType", quoted(custom_type))];
        if let Some(data) = data {
            members.push(("data", one_line(data)?));
        }
        Ok(Self::before(EntryType::Custom, "custom", members))
    }

    /// A message of an extension; `content` and `details` are JSON text.
    pub fn custom_message(
        custom_type: &str,
        content: &[u8],
        display: bool,
        details: Option<&[u8]>,
    ) -> Result<Self, Error> {
        let mut members = vec![
            ("customType", quoted(custom_type)),
            ("content", one_line(content)?),
            ("display", display.to_string().into_bytes()),
        ];
        if let Some(details) = details {
            members.push(("details", one_line(details)?));
        }
        Ok(Self::before(EntryType::CustomMessage, "custom_message", members))
    }

    /// The display name: line breaks become blanks, blanks around it go, an empty one clears.
    pub fn session_info(name: &str) -> Self {
        let name: Vec<&str> = name.split(['\r', '\n']).filter(|part| !part.is_empty()).collect();
        let joined = name.join(" ");
        let name = String::from_utf8_lossy(script_text::trim(joined.as_bytes())).into_owned();
        Self::after(EntryType::SessionInfo, "session_info", vec![("name", quoted(&name))])
    }

    /// A label on another entry; none clears.
    pub fn label(target: &str, label: Option<&str>) -> Self {
        let mut members = vec![("targetId", quoted(target))];
        members.extend(label.map(|label| ("label", quoted(label))));
        Self::after(EntryType::Label, "label", members)
    }

    /// An edit of what a model sees of another entry; `replacement` is JSON text: `null` to hide it, or
    /// an object with `content`.
    pub fn context_edit(target: &str, replacement: &[u8]) -> Result<Self, Error> {
        let replacement = one_line(replacement).map_err(|_| Error::BadReplacement)?;
        let document = parse(&replacement)?;
        let root = document.root();
        let content = root.get("content").map(Value::kind);
        if root.kind() != Kind::Null && !matches!(content, Some(Kind::String | Kind::Array)) {
            return Err(Error::BadReplacement);
        }
        let members = vec![("targetId", quoted(target)), ("replacement", replacement.clone())];
        Ok(Self::after(EntryType::ContextEdit, "context_edit", members))
    }

    /// A compaction. Without a first kept entry nothing is kept: the entry then points at itself.
    pub fn compaction(compaction: &Compaction<'_>) -> Result<Self, Error> {
        let kept = compaction.first_kept.map_or_else(|| OWN_ID.to_vec(), quoted);
        let mut members = vec![
            ("summary", quoted(compaction.summary)),
            ("firstKeptEntryId", kept),
            ("tokensBefore", compaction.tokens_before.to_string().into_bytes()),
        ];
        optional(&mut members, "details", compaction.details)?;
        optional(&mut members, "usage", compaction.usage)?;
        members.extend(compaction.from_hook.map(|hook| ("fromHook", hook.to_string().into_bytes())));
        optional(&mut members, "systemMessage", compaction.system_message)?;
        Ok(Self::after(EntryType::Compaction, "compaction", members))
    }

    /// A summary of a branch that was left at `from` (`root` before any entry).
    pub fn branch_summary(from: &str, summary: &Summary<'_>) -> Result<Self, Error> {
        let mut members = vec![("fromId", quoted(from)), ("summary", quoted(summary.text))];
        optional(&mut members, "details", summary.details)?;
        optional(&mut members, "usage", summary.usage)?;
        members.extend(summary.from_hook.map(|hook| ("fromHook", hook.to_string().into_bytes())));
        Ok(Self::after(EntryType::BranchSummary, "branch_summary", members))
    }

    /// A whole entry as JSON text. What it lacks of id, parent and timestamp is added; all else stays.
    pub fn whole(entry: &[u8]) -> Result<Self, Error> {
        let entry = one_line(entry)?;
        let head = Head::scan_line(&entry).map_err(|at| Error::BadEntry(format!("not JSON at byte {at}")))?;
        match head.entry_type {
            EntryType::Untyped => return Err(Error::BadEntry("an entry needs a type".to_owned())),
            EntryType::Session => return Err(Error::BadEntry("a header cannot be appended".to_owned())),
            _ => {}
        }
        if head.id.is_some() && !head.has_text_id() {
            return Err(Error::BadEntry("an entry's id is a string".to_owned()));
        }
        Ok(Self { entry_type: head.entry_type, role: head.role, body: Body::Whole(entry) })
    }

    fn after(entry_type: EntryType, name: &'static str, members: Vec<(&'static str, Vec<u8>)>) -> Self {
        Self { entry_type, role: Role::None, body: Body::After { name, members } }
    }

    fn before(entry_type: EntryType, name: &'static str, members: Vec<(&'static str, Vec<u8>)>) -> Self {
        Self { entry_type, role: Role::None, body: Body::Before { name, members } }
    }

    /// What type of entry it makes.
    pub fn entry_type(&self) -> EntryType {
        self.entry_type
    }

    /// Whether it makes a session worth a file: a message of the user or the model.
    pub fn is_conversation(&self) -> bool {
        self.entry_type == EntryType::Message && matches!(self.role, Role::User | Role::Assistant)
    }

    /// The id it brings along.
    pub(super) fn own_id(&self) -> Option<String> {
        let Body::Whole(entry) = &self.body else { return None };
        let document = Document::parse(&entry[..]).ok()?;
        document.root().get("id").and_then(Value::lossy).map(|id| id.into_owned())
    }

    /// The line, without its line break. `parent` is JSON text; none leaves the member out.
    pub(super) fn line(&self, id: &str, parent: Option<&[u8]>, timestamp: &str) -> Vec<u8> {
        let (id, timestamp) = (quoted(id), quoted(timestamp));
        let common = {
            let mut common = vec![("id", &id[..])];
            common.extend(parent.map(|parent| ("parentId", parent)));
            common.push(("timestamp", &timestamp[..]));
            common
        };
        let resolve = |value: &[u8]| if value == OWN_ID { id.clone() } else { value.to_vec() };
        let mut out = b"{".to_vec();
        let mut put = |name: &str, value: &[u8]| {
            if out.len() > 1 {
                out.push(b',');
            }
            out.extend_from_slice(&script_text::quoted(name));
            out.push(b':');
            out.extend_from_slice(value);
        };
        match &self.body {
            Body::After { name, members } => {
                put("type", &quoted(name));
                common.iter().for_each(|(name, value)| put(name, value));
                members.iter().for_each(|(name, value)| put(name, &resolve(value)));
            }
            Body::Before { name, members } => {
                put("type", &quoted(name));
                members.iter().for_each(|(name, value)| put(name, value));
                common.iter().for_each(|(name, value)| put(name, value));
            }
            Body::Whole(entry) => {
                let Ok(document) = Document::parse(&entry[..]) else { return entry.clone() };
                let root = document.root();
                let mut splice = Splice::new(root);
                for (name, value) in common {
                    if root.get(name).is_none() {
                        splice.set(name, value);
                    }
                }
                return splice.finish();
            }
        }
        out.push(b'}');
        out
    }
}

/// Stands for the id the entry is about to get; no JSON text is like it.
const OWN_ID: &[u8] = b"=id";

/// What a compaction records. Texts in `details`, `usage` and `system_message` are JSON.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compaction<'t> {
    /// The summary of all before the kept range.
    pub summary: &'t str,
    /// The first entry that is kept as it is.
    pub first_kept: Option<&'t str>,
    /// Tokens in the context before.
    pub tokens_before: u64,
    /// Which files were read and changed.
    pub details: Option<&'t [u8]>,
    /// What the summary cost.
    pub usage: Option<&'t [u8]>,
    /// Whether an extension made it.
    pub from_hook: Option<bool>,
    /// The system messages up to here as one.
    pub system_message: Option<&'t [u8]>,
}

/// What is recorded of a branch that is left. Texts in `details` and `usage` are JSON.
#[derive(Clone, Copy, Debug, Default)]
pub struct Summary<'t> {
    /// The summary.
    pub text: &'t str,
    /// Which files were read and changed.
    pub details: Option<&'t [u8]>,
    /// What the summary cost.
    pub usage: Option<&'t [u8]>,
    /// Whether an extension made it.
    pub from_hook: Option<bool>,
}

fn quoted(text: &str) -> Vec<u8> {
    script_text::quoted(text)
}

fn optional(
    members: &mut Vec<(&'static str, Vec<u8>)>,
    name: &'static str,
    value: Option<&[u8]>,
) -> Result<(), Error> {
    if let Some(value) = value {
        members.push((name, one_line(value)?));
    }
    Ok(())
}

fn parse(text: &[u8]) -> Result<Document<'_>, Error> {
    Document::parse(text).map_err(|invalid| Error::BadEntry(invalid.to_string()))
}

/// JSON text as it can stand on one line: valid UTF-8, no line breaks between tokens.
fn one_line(text: &[u8]) -> Result<Vec<u8>, Error> {
    parse(text)?;
    let mut text = match std::str::from_utf8(text) {
        Ok(_) => text.to_vec(),
        Err(_) => String::from_utf8_lossy(text).into_owned().into_bytes(),
    };
    // Inside a JSON string they could only be escapes.
    text.retain(|byte| !matches!(byte, b'\n' | b'\r'));
    Ok(text)
}
