//! The message types shared by tools, sessions, models and the agent, in pi's own spelling.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One block of a message or of a tool result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Content {
    /// Text.
    Text {
        /// The text itself.
        text: String,
    },
    /// A picture.
    #[serde(rename_all = "camelCase")]
    Image {
        /// The encoded picture, in base64.
        data: Base64,
        /// Its media type, such as `image/png`.
        mime_type: String,
    },
}

impl Content {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// Bytes in standard base64 with padding, as pi stores them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Base64(pub String);

impl Base64 {
    /// Encodes.
    pub fn encode(bytes: &[u8]) -> Self {
        Self(STANDARD.encode(bytes))
    }
}

/// A tool call as a model emits it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The provider's id of the call; its result names it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments, as sent.
    #[serde(default)]
    pub arguments: Value,
    /// Why the arguments could not be parsed; `arguments` is `{}` then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_error: Option<String>,
}

/// A tool's whole answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// What a model reads.
    pub content: Vec<Content>,
    /// What a user interface shows beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// What a program reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// Whether the call failed.
    pub is_error: bool,
}

impl ToolResult {
    /// The result of a call that failed as a whole: its message as the text.
    pub fn failure(error: &crate::error::Error) -> Self {
        let structured = serde_json::to_value(error).map(|error| {
            let mut object = Map::new();
            object.insert("error".to_owned(), error);
            Value::Object(object)
        });
        Self {
            content: vec![Content::text(&error.message)],
            details: Some(Value::Object(Map::new())),
            structured_content: structured.ok(),
            is_error: true,
        }
    }
}

/// The message that carries a tool's result back to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultMessage {
    /// Always `toolResult`.
    pub role: ToolResultRole,
    /// The id of the call this answers.
    pub tool_call_id: String,
    /// The tool that was called.
    pub tool_name: String,
    /// What a model reads.
    pub content: Vec<Content>,
    /// What a user interface shows beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Whether the call failed.
    pub is_error: bool,
    /// Time inside the tool in whole milliseconds; absent when it did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Milliseconds since 1970.
    pub timestamp: u64,
}

/// The role of a [`ToolResultMessage`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolResultRole {
    /// The only value.
    #[default]
    #[serde(rename = "toolResult")]
    ToolResult,
}
