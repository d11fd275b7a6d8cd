//! The system messages of a context as one: what a compaction stores so that nothing before it is needed.

use super::entry::Entry;
use super::kind::Role;
use super::projection::Message;
use super::scan::Kind;
use super::script_json::Value;
use super::script_text::{self, Text};

/// One system message with the effect of all in `messages`; none when there is none.
pub fn system_message(messages: &[Message], now: i64) -> Option<Vec<u8>> {
    let mut state = State::default();
    let mut count = 0;
    for message in messages.iter().filter(|message| message.role == Role::System) {
        let Ok(entry) = Entry::parse(&message.raw[..]) else { continue };
        state.apply(entry.root());
        count += 1;
    }
    (count > 0).then(|| state.write(now))
}

#[derive(Default)]
struct State {
    texts: Vec<Vec<u8>>,
    /// Section names with their values as JSON text.
    sections: Vec<(Vec<u8>, Vec<u8>)>,
    /// Tool names with their declarations as JSON text.
    tools: Vec<(Vec<u8>, Vec<u8>)>,
}

impl State {
    fn apply(&mut self, message: Value<'_>) {
        let text = message.get("content").map(content_text).unwrap_or_default();
        if !text.is_empty() {
            self.texts.push(text);
        }
        for (name, value) in message.get("sections").into_iter().flat_map(Value::members) {
            let value =
                Some(value).filter(|value| value.kind() != Kind::Null).map(|value| value.raw().to_vec());
            put(&mut self.sections, name.to_script_json(), value);
        }
        let name = |tool: Value<'_>| tool.get("name").map(|name| name.to_script_json());
        for tool in message.get("toolsRemoved").into_iter().flat_map(Value::elements) {
            put(&mut self.tools, name(tool).unwrap_or_default(), None);
        }
        for tool in message.get("toolsAdded").into_iter().flat_map(Value::elements) {
            put(&mut self.tools, name(tool).unwrap_or_default(), Some(tool.raw().to_vec()));
        }
    }

    fn write(self, now: i64) -> Vec<u8> {
        let mut out = br#"{"role":"system","content":"#.to_vec();
        script_text::write(&Text::from(self.texts.join(&b"\n\n"[..])), &mut out);
        if !self.sections.is_empty() {
            let sections: Vec<_> =
                self.sections.into_iter().map(|(name, value)| [name, value].join(&b":"[..])).collect();
            out.extend([&b",\"sections\":{"[..], &sections.join(&b","[..]), b"}"].concat());
        }
        if !self.tools.is_empty() {
            let tools: Vec<_> = self.tools.into_iter().map(|(_, tool)| tool).collect();
            out.extend([&b",\"toolsAdded\":["[..], &tools.join(&b","[..]), b"]"].concat());
        }
        out.extend_from_slice(format!(r#","timestamp":{now}}}"#).as_bytes());
        out
    }
}

/// Sets in place, adds at the end, or takes away.
fn put(list: &mut Vec<(Vec<u8>, Vec<u8>)>, name: Vec<u8>, value: Option<Vec<u8>>) {
    let at = list.iter().position(|(known, _)| *known == name);
    match (at, value) {
        (Some(at), Some(value)) => list[at].1 = value,
        (None, Some(value)) => list.push((name, value)),
        (Some(at), None) => {
            list.remove(at);
        }
        (None, None) => {}
    }
}

/// The text of a content, its blocks on lines of their own.
fn content_text(content: Value<'_>) -> Vec<u8> {
    match content.text() {
        Some(text) => text.as_bytes().to_vec(),
        None => {
            let texts = content.elements().filter_map(|block| block.get("text").and_then(Value::text));
            texts.map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>().join(&b"\n"[..])
        }
    }
}
