//! What a message asks for: its tool calls, read without guessing.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::{Code, Fault};
use crate::json;
use crate::message::ToolCall;

/// The tool calls of one assistant message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// The calls, in the order of the message.
    pub calls: Vec<ToolCall>,
    /// Whether the output limit ended the message, so that none of its calls may run.
    pub is_cut: bool,
}

impl Request {
    /// Reads an assistant message; a single tool call or an array of them will do.
    pub fn read(text: &[u8]) -> Result<Self, Unusable> {
        match json::parse(text).map_err(Unusable::NotJson)? {
            Value::Array(calls) => Ok(Self { calls: all(calls.into_iter().enumerate())?, is_cut: false }),
            Value::Object(object) if object.get("type").is_some_and(|kind| kind == "toolCall") => {
                Ok(Self { calls: all([(0, Value::Object(object))])?, is_cut: false })
            }
            Value::Object(message) => Self::of_message(message),
            _ => Err(Unusable::NoMessage),
        }
    }

    fn of_message(mut message: Map<String, Value>) -> Result<Self, Unusable> {
        match message.get("role").and_then(Value::as_str) {
            Some("assistant") => {}
            Some(role) => return Err(Unusable::Role { role: role.to_owned() }),
            None => return Err(Unusable::NoMessage),
        }
        let is_cut = match message.get("stopReason").and_then(Value::as_str) {
            Some(reason @ ("error" | "aborted" | "pending")) => {
                return Err(Unusable::Failed { reason: reason.to_owned() });
            }
            reason => reason == Some("length"),
        };
        if message.contains_key("tool_calls") {
            return Err(Unusable::Foreign { form: "tool_calls" });
        }
        let blocks = match message.remove("content") {
            Some(Value::Array(blocks)) => blocks,
            Some(Value::String(_) | Value::Null) => Vec::new(),
            _ => return Err(Unusable::Content),
        };
        let kinds = blocks.iter().filter_map(|block| block.get("type").and_then(Value::as_str));
        if let Some(form) = kinds.filter_map(foreign_form).next() {
            return Err(Unusable::Foreign { form });
        }
        let is_call = |block: &Value| block.get("type").is_some_and(|kind| kind == "toolCall");
        let calls = all(blocks.into_iter().enumerate().filter(|(_, block)| is_call(block)))?;
        Ok(Self { calls, is_cut })
    }
}

/// Why a message's calls cannot be run and answered.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// There is none.
    #[error("there is no message: standard input is empty")]
    Missing,
    /// It is not JSON.
    #[error("the message is not valid JSON: {0}")]
    NotJson(serde_json::Error),
    /// It is something else.
    #[error(
        "this is no assistant message: pi-call takes {{\"role\":\"assistant\",\"content\":[…]}}, a toolCall \
         block, or an array of them"
    )]
    NoMessage,
    /// It is another kind of message.
    #[error("only an assistant message has tool calls; this one's role is \"{role}\"")]
    Role {
        /// The role it has.
        role: String,
    },
    /// Its content is no list.
    #[error("the content of an assistant message is a list of blocks")]
    Content,
    /// Its calls are in the form of a provider's own protocol; to find none in it would lose them.
    #[error(
        "the tool calls are in a provider's own form (\"{form}\"); pi-call takes blocks like \
         {{\"type\":\"toolCall\",\"id\":…,\"name\":…,\"arguments\":{{…}}}}: see EXAMPLES in pi-call(1) for a \
         conversion with jq"
    )]
    Foreign {
        /// What gave them away.
        form: &'static str,
    },
    /// It is what there was of a reply that failed; its calls may be halves, and a model never sees it again.
    #[error(
        "the reply did not end well (stopReason \"{reason}\"): its tool calls are neither run nor answered"
    )]
    Failed {
        /// How it ended.
        reason: String,
    },
    /// A call that could not be answered.
    #[error("content[{index}] is no tool call: {reason}")]
    Call {
        /// Its place in the list.
        index: usize,
        /// What is wrong.
        reason: serde_json::Error,
    },
}

impl Fault for Unusable {
    fn code(&self) -> Code {
        Code::InvalidArguments
    }
}

/// The block types under which providers send tool calls.
fn foreign_form(kind: &str) -> Option<&'static str> {
    ["tool_use", "function_call", "functionCall", "tool_call"].into_iter().find(|form| *form == kind)
}

fn all(blocks: impl IntoIterator<Item = (usize, Value)>) -> Result<Vec<ToolCall>, Unusable> {
    let call = |(index, block)| {
        let call = ToolCall::deserialize(block).map_err(|reason| Unusable::Call { index, reason })?;
        Ok(ToolCall { arguments: object_for_null(call.arguments), ..call })
    };
    blocks.into_iter().map(call).collect()
}

/// A call without arguments has none to give; some providers leave the member out.
fn object_for_null(arguments: Value) -> Value {
    if arguments.is_null() { Value::Object(Map::new()) } else { arguments }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(message: Value) -> Result<Request, Unusable> {
        Request::read(message.to_string().as_bytes())
    }

    #[test]
    fn calls_in_a_providers_own_form_are_not_overlooked() {
        let anthropic = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "ls", "input": {}}]});
        let openai =
            json!({"role": "assistant", "content": null, "tool_calls": [{"id": "t", "function": {}}]});
        for message in [anthropic, openai] {
            let refused = Request::read(message.to_string().as_bytes()).unwrap_err();
            assert!(matches!(refused, Unusable::Foreign { .. }), "{refused}");
        }
    }

    #[test]
    fn a_message_a_call_and_a_list_ask_for_the_same() {
        let call = json!({"type": "toolCall", "id": "a", "name": "ls", "arguments": {"path": "."}});
        let other = json!({"type": "text", "text": "hm"});
        let expected = read(json!([call])).unwrap();
        assert_eq!(expected.calls[0].name, "ls");
        assert_eq!(read(call.clone()).unwrap(), expected);
        assert_eq!(read(json!({"role": "assistant", "content": [other, call]})).unwrap(), expected);
    }

    #[test]
    fn a_message_without_calls_asks_for_nothing() {
        for content in [json!([]), json!(null), json!("text"), json!([{"type": "text", "text": "x"}])] {
            assert_eq!(read(json!({"role": "assistant", "content": content})).unwrap(), Request::default());
        }
    }

    #[test]
    fn missing_arguments_are_no_arguments() {
        let request = read(json!([{"id": "a", "name": "ls"}, {"id": "b", "name": "ls", "arguments": null}]));
        assert!(request.unwrap().calls.iter().all(|call| call.arguments == json!({})));
    }

    #[test]
    fn what_cannot_be_answered_is_refused_as_a_whole() {
        let call = json!({"type": "toolCall", "id": "a", "name": "ls", "arguments": {}});
        let refused = [
            (json!({"role": "user", "content": []}), "role is \"user\""),
            (json!({"role": "assistant", "content": 7}), "list of blocks"),
            (json!({"role": "assistant", "stopReason": "aborted", "content": [call]}), "aborted"),
            (
                json!({"role": "assistant", "content": [call, {"type": "toolCall", "name": "ls"}]}),
                "content[1]",
            ),
            (json!({"path": "a"}), "no assistant message"),
            (json!("ls"), "no assistant message"),
        ];
        for (message, part) in refused {
            let error = read(message.clone()).unwrap_err().to_string();
            assert!(error.contains(part), "{message}: {error}");
        }
        assert!(Request::read(b"{\"role\":").unwrap_err().to_string().contains("not valid JSON"));
    }
}
