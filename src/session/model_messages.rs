//! From the messages of a session to those a model API knows: system, user, assistant, tool result.

use super::entry::Entry;
use super::kind::Role;
use super::projection::Message;
use super::scan::Kind;
use super::script_json::Value;
use super::script_text::{self, Text};

/// Stands before the summary of older history.
const COMPACTION_LEAD: &str =
    "The conversation history before this point was compacted into the following summary:";
/// Stands before the summary of a branch that was left.
const BRANCH_LEAD: &str = "The following is a summary of a branch that this conversation came back from:";

/// The messages in the form a model takes. Shell commands kept from the model and unknown roles vanish.
pub fn model_messages(messages: &[Message]) -> Vec<Message> {
    messages.iter().filter_map(model_message).collect()
}

fn model_message(message: &Message) -> Option<Message> {
    let parsed = Entry::parse(&message.raw[..]).ok()?;
    let root = parsed.root();
    let content = match message.role {
        Role::System | Role::User | Role::Assistant | Role::ToolResult => return Some(message.clone()),
        Role::BashExecution if root.get("excludeFromContext").is_some_and(Value::is_truthy) => return None,
        Role::BashExecution => text_block(shell_text(root)),
        Role::Custom => match root.get("content") {
            Some(content) if content.kind() == Kind::String => text_block(characters(Some(content))),
            Some(content) => content.raw().to_vec(),
            None => b"[]".to_vec(),
        },
        Role::BranchSummary => text_block(summary(BRANCH_LEAD, root, "")),
        // pi: only this summary ends with a line break of its own.
        Role::CompactionSummary => text_block(summary(COMPACTION_LEAD, root, "\n")),
        Role::Unknown | Role::None => return None,
    };
    let mut raw = br#"{"role":"user","content":"#.to_vec();
    raw.extend_from_slice(&content);
    if let Some(timestamp) = root.get("timestamp") {
        raw.extend_from_slice(br#","timestamp":"#);
        raw.extend_from_slice(timestamp.raw());
    }
    raw.push(b'}');
    Some(Message { role: Role::User, raw, entry: message.entry })
}

/// What a model reads of a shell command the user ran.
fn shell_text(message: Value<'_>) -> Vec<u8> {
    let is_true = |name| message.get(name).is_some_and(Value::is_truthy);
    let mut text = b"Ran `".to_vec();
    text.extend(characters(message.get("command")));
    text.extend_from_slice(b"`\n");
    if is_true("output") {
        text.extend_from_slice(b"```\n");
        text.extend(characters(message.get("output")));
        text.extend_from_slice(b"\n```");
    } else {
        text.extend_from_slice(b"(no output)");
    }
    if is_true("cancelled") {
        text.extend_from_slice(b"\n\n(command cancelled)");
    } else if is_true("exitCode") {
        text.extend_from_slice(b"\n\nCommand exited with code ");
        text.extend(characters(message.get("exitCode")));
    }
    if is_true("truncated") && is_true("fullOutputPath") {
        text.extend_from_slice(b"\n\n[Output truncated. Full output: ");
        text.extend(characters(message.get("fullOutputPath")));
        text.push(b']');
    }
    text
}

fn summary(lead: &str, message: Value<'_>, before_end: &str) -> Vec<u8> {
    let summary = characters(message.get("summary"));
    [lead.as_bytes(), b"\n\n<summary>\n", &summary, before_end.as_bytes(), b"</summary>"].concat()
}

/// A value in a template string.
fn characters(value: Option<Value<'_>>) -> Vec<u8> {
    match value {
        // pi: a summary that is missing is the word.
        None => b"undefined".to_vec(),
        Some(value) => match value.text() {
            Some(text) => text.as_bytes().to_vec(),
            None => value.to_script_json(),
        },
    }
}

fn text_block(text: Vec<u8>) -> Vec<u8> {
    let mut block = br#"[{"type":"text","text":"#.to_vec();
    script_text::write(&Text::from(text), &mut block);
    block.extend_from_slice(b"}]");
    block
}
