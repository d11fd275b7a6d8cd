//! Typed views on entries, made when asked for. What this version does not know is in `more`; the bytes
//! of the line stay the truth, so nothing is ever written from a view.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::entry::Entry;
use crate::json;

/// Members this version has no field for.
pub type More = Map<String, Value>;

/// An entry by its type.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum View {
    /// A message.
    Message {
        /// The message.
        message: Message,
    },
    /// The model changed.
    #[serde(rename_all = "camelCase")]
    ModelChange {
        /// Its provider.
        provider: String,
        /// Its id.
        model_id: String,
    },
    /// The thinking level changed.
    #[serde(rename_all = "camelCase")]
    ThinkingLevelChange {
        /// The level.
        thinking_level: String,
    },
    /// Tokens spent outside of messages.
    Usage {
        /// What for.
        kind: String,
        /// The provider.
        provider: String,
        /// The model.
        model: String,
        /// Tokens and cost.
        usage: Value,
        /// A remark.
        note: Option<String>,
    },
    /// A summary in place of older history.
    #[serde(rename_all = "camelCase")]
    Compaction {
        /// The summary.
        summary: String,
        /// The first entry kept as it is.
        first_kept_entry_id: Option<String>,
        /// Tokens in the context before.
        tokens_before: Option<f64>,
        /// Which files were read and changed.
        details: Option<Value>,
        /// What the summary cost.
        usage: Option<Value>,
        /// Whether an extension made it.
        from_hook: Option<bool>,
        /// The system messages up to here as one.
        system_message: Option<Box<Message>>,
    },
    /// A summary of a branch that was left.
    #[serde(rename_all = "camelCase")]
    BranchSummary {
        /// The leaf that was left, or `root`.
        from_id: String,
        /// The summary.
        summary: String,
        /// Which files were read and changed.
        details: Option<Value>,
        /// What the summary cost.
        usage: Option<Value>,
        /// Whether an extension made it.
        from_hook: Option<bool>,
    },
    /// State of an extension.
    #[serde(rename_all = "camelCase")]
    Custom {
        /// The extension's name for it.
        custom_type: String,
        /// The state.
        data: Option<Value>,
    },
    /// A message of an extension.
    #[serde(rename_all = "camelCase")]
    CustomMessage {
        /// The extension's name for it.
        custom_type: String,
        /// What a model reads.
        content: Option<Content>,
        /// Whether a user sees it.
        display: bool,
        /// For the user interface.
        details: Option<Value>,
    },
    /// Hides or replaces what an older entry contributes.
    #[serde(rename_all = "camelCase")]
    ContextEdit {
        /// The entry.
        target_id: String,
        /// `null`, or an object with `content`.
        replacement: Value,
    },
    /// A bookmark.
    #[serde(rename_all = "camelCase")]
    Label {
        /// The entry.
        target_id: String,
        /// The text; none clears.
        label: Option<String>,
    },
    /// The display name.
    SessionInfo {
        /// The name; an empty one clears.
        name: Option<String>,
    },
    /// A type this version does not know.
    #[serde(untagged)]
    Unknown(More),
}

/// A message by its role.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "role", rename_all = "camelCase")]
pub enum Message {
    /// Instructions and tools for the model.
    #[serde(rename_all = "camelCase")]
    System {
        /// The text.
        content: Option<Content>,
        /// Named parts of the prompt; `null` takes one away.
        sections: Option<Map<String, Value>>,
        /// Tools that are new.
        tools_added: Option<Vec<Value>>,
        /// Tools that are gone.
        tools_removed: Option<Vec<Value>>,
        /// The rest.
        #[serde(flatten)]
        more: More,
    },
    /// The user.
    User {
        /// What they said.
        content: Option<Content>,
        /// The rest.
        #[serde(flatten)]
        more: More,
    },
    /// The model.
    #[serde(rename_all = "camelCase")]
    Assistant {
        /// What it said, thought and called.
        content: Option<Content>,
        /// The protocol spoken.
        api: Option<String>,
        /// The provider.
        provider: Option<String>,
        /// The model.
        model: Option<String>,
        /// Tokens and cost.
        usage: Option<Value>,
        /// Why it stopped.
        stop_reason: Option<String>,
        /// The rest.
        #[serde(flatten)]
        more: More,
    },
    /// The result of a tool call.
    #[serde(rename_all = "camelCase")]
    ToolResult {
        /// The call it answers.
        tool_call_id: Option<String>,
        /// The tool.
        tool_name: Option<String>,
        /// What the model reads.
        content: Option<Content>,
        /// For the user interface.
        details: Option<Value>,
        /// Whether the call failed.
        #[serde(default)]
        is_error: bool,
        /// The rest.
        #[serde(flatten)]
        more: More,
    },
    /// A shell command of the user.
    #[serde(rename_all = "camelCase")]
    BashExecution {
        /// The command.
        command: String,
        /// Its output.
        output: String,
        /// Its exit status.
        exit_code: Option<i64>,
        /// Whether the user stopped it.
        #[serde(default)]
        cancelled: bool,
        /// Whether the output is only a part.
        #[serde(default)]
        truncated: bool,
        /// Where all of the output is.
        full_output_path: Option<String>,
        /// Whether it is kept from the model.
        #[serde(default)]
        exclude_from_context: bool,
        /// The rest.
        #[serde(flatten)]
        more: More,
    },
    /// A message of an extension.
    #[serde(rename_all = "camelCase")]
    Custom {
        /// The extension's name for it.
        custom_type: Option<String>,
        /// What the model reads.
        content: Option<Content>,
        /// Whether a user sees it.
        #[serde(default)]
        display: bool,
        /// For the user interface.
        details: Option<Value>,
        /// The rest.
        #[serde(flatten)]
        more: More,
    },
    /// A role this version does not know.
    #[serde(untagged)]
    Unknown(More),
}

/// The content of a message.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Blocks.
    Blocks(Vec<Block>),
    /// Neither.
    Unknown(Value),
}

/// A block of a content.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Block {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// The rest.
        #[serde(flatten)]
        more: More,
    },
    /// A picture.
    #[serde(rename_all = "camelCase")]
    Image {
        /// The picture in base64.
        data: String,
        /// Its media type.
        mime_type: String,
        /// The rest.
        #[serde(flatten)]
        more: More,
    },
    /// What the model thought.
    Thinking {
        /// The thought.
        thinking: String,
        /// The rest.
        #[serde(flatten)]
        more: More,
    },
    /// A tool call.
    ToolCall {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// The arguments.
        arguments: Option<Value>,
        /// The rest.
        #[serde(flatten)]
        more: More,
    },
    /// A type this version does not know, or a known one without what it needs.
    #[serde(untagged)]
    Unknown(Value),
}

impl Entry<'_> {
    /// The entry by its type; one that lacks what its type needs is [`View::Unknown`]. Fails for what is
    /// no object and for nesting beyond 128.
    pub fn view(&self) -> serde_json::Result<View> {
        serde_json::from_value(json::parse(self.raw())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(line: &str) -> View {
        Entry::parse(line.as_bytes()).unwrap().view().unwrap()
    }

    #[test]
    fn entries_are_seen_by_type_role_and_block() {
        let line = r#"{"type":"message","id":"a","message":{"role":"assistant","content":[{"type":"text","text":"\ud800","textSignature":"s"},{"type":"toolCall","id":"c","name":"read","arguments":{}},{"type":"future","z":1}],"model":"m","foo":[1]}}"#;
        let View::Message { message: Message::Assistant { content, model, more, .. } } = view(line) else {
            panic!("{:?}", view(line))
        };
        let Some(Content::Blocks(blocks)) = content else { panic!() };
        assert!(matches!(&blocks[0], Block::Text { text, more } if text == "\u{fffd}" && more.len() == 1));
        assert!(matches!(&blocks[1], Block::ToolCall { name, .. } if name == "read"));
        assert!(matches!(&blocks[2], Block::Unknown(_)));
        assert_eq!((model.as_deref(), more.len()), (Some("m"), 1));
    }

    #[test]
    fn what_is_not_known_or_not_whole_is_still_seen() {
        assert!(matches!(view(r#"{"type":"future","x":1}"#), View::Unknown(more) if more.len() == 2));
        assert!(matches!(view(r#"{"type":"label","id":"a"}"#), View::Unknown(_)));
        let role = view(r#"{"type":"message","message":{"role":"developer","content":"x"}}"#);
        assert!(matches!(role, View::Message { message: Message::Unknown(_) }));
        let null = view(r#"{"type":"message","message":{"role":"user","content":null}}"#);
        assert!(matches!(null, View::Message { message: Message::User { content: None, .. } }));
    }
}
