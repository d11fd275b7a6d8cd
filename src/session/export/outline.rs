//! What a list of entries says of each: its kind and its first words.

use std::borrow::Cow;

use serde::Serialize;

use crate::session::entry::Entry;
use crate::session::script_json::Value;

/// How many characters of an entry a list shows.
const SHOWN: usize = 120;

/// One entry in a few words.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Outline {
    /// The role of a message, else the entry's type.
    pub(super) kind: String,
    /// Its first words, on one line.
    pub(super) text: String,
    /// A reply that only calls tools.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) only_calls: bool,
}

impl Outline {
    /// Reads an entry's line.
    pub(super) fn of(line: &[u8]) -> Self {
        let entry = Entry::parse(line);
        match &entry {
            Ok(entry) => Self::of_value(entry.root()),
            Err(_) => Self { kind: String::new(), text: String::new(), only_calls: false },
        }
    }

    fn of_value(root: Value<'_>) -> Self {
        let kind = string(root, "type");
        let holder = root.get("message").filter(|_| kind == "message").unwrap_or(root);
        let role = string(holder, "role");
        let kind = match (kind.as_ref(), role.as_ref()) {
            ("message", "custom") => Cow::Borrowed("custom_message"),
            ("message", "") => kind,
            ("message", _) => role,
            _ => kind,
        };
        let mut words = Words::default();
        let mut only_calls = false;
        match kind.as_ref() {
            "assistant" => only_calls = words.reply(holder),
            "toolResult" => words.add(&string(holder, "toolName")).content(holder),
            "bashExecution" => _ = words.add("$").add(&string(holder, "command")),
            "custom_message" => words.add(&string(holder, "customType")).content(holder),
            "compaction" | "branch_summary" => _ = words.add(&string(root, "summary")),
            "model_change" => _ = words.add(&string(root, "provider")).add(&string(root, "modelId")),
            "thinking_level_change" => _ = words.add(&string(root, "thinkingLevel")),
            "session_info" => _ = words.add(&string(root, "name")),
            "label" => _ = words.add(&string(root, "label")),
            "custom" => _ = words.add(&string(root, "customType")),
            "context_edit" => _ = words.add(&string(root, "targetId")),
            "usage" => _ = words.add(&string(root, "kind")).add(&string(root, "model")),
            _ => words.content(holder),
        }
        Self { kind: cut(&kind), text: words.text, only_calls }
    }
}

/// A line of words that is full at some time.
#[derive(Default)]
struct Words {
    text: String,
    count: usize,
}

impl Words {
    fn add(&mut self, text: &str) -> &mut Self {
        // White space in front can be long; what is looked at stays bounded.
        for word in text.split_whitespace().take(SHOWN) {
            if self.count >= SHOWN {
                break;
            }
            if !self.text.is_empty() {
                self.text.push(' ');
                self.count += 1;
            }
            let left = SHOWN - self.count.min(SHOWN);
            let end = word.char_indices().nth(left).map_or(word.len(), |(end, _)| end);
            self.text.push_str(&word[..end]);
            self.count += word[..end].chars().count();
            if end < word.len() {
                self.text.push('…');
            }
        }
        self
    }

    /// The texts of a content.
    fn content(&mut self, holder: Value<'_>) {
        let Some(content) = holder.get("content") else { return };
        if let Some(text) = content.lossy() {
            self.add(&text);
        }
        for block in content.elements() {
            if self.count >= SHOWN {
                break;
            }
            match string(block, "type").as_ref() {
                "text" => _ = self.add(&string(block, "text")),
                "image" => _ = self.add("[picture]"),
                _ => {}
            }
        }
    }

    /// A reply's text, else its calls, else its failure; whether it is only calls.
    fn reply(&mut self, message: Value<'_>) -> bool {
        self.content(message);
        if !self.text.is_empty() {
            return false;
        }
        let blocks = || message.get("content").into_iter().flat_map(Value::elements);
        for call in blocks().filter(|block| block.get("type").is_some_and(|kind| kind.is_str("toolCall"))) {
            self.add(&string(call, "name"));
            let arguments = call.get("arguments");
            let about = ["command", "path", "pattern"].iter();
            let about = about.filter_map(|name| arguments?.get(name)?.lossy()).next();
            self.add(&about.unwrap_or_default());
        }
        let only_calls = !self.text.is_empty();
        self.add(&string(message, "errorMessage"));
        only_calls
    }
}

fn string<'v>(holder: Value<'v>, name: &str) -> Cow<'v, str> {
    holder.get(name).and_then(Value::lossy).unwrap_or_default()
}

/// A name that is not longer than a list can take.
fn cut(name: &str) -> String {
    name.chars().take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(line: &str) -> (String, String, bool) {
        let Outline { kind, text, only_calls } = Outline::of(line.as_bytes());
        (kind, text, only_calls)
    }

    #[test]
    fn kinds_and_first_words() {
        for (line, kind, text, only_calls) in [
            (r#"{"type":"message","message":{"role":"user","content":" a\n\n b "}}"#, "user", "a b", false),
            (
                r#"{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","name":"bash","arguments":{"command":"ls\n-l"}}]}}"#,
                "assistant",
                "bash ls -l",
                true,
            ),
            (
                r#"{"type":"message","message":{"role":"toolResult","toolName":"read","content":[{"type":"image"},{"type":"text","text":"x"}]}}"#,
                "toolResult",
                "read [picture] x",
                false,
            ),
            (
                r#"{"type":"message","message":{"role":"custom","customType":"c","content":"x"}}"#,
                "custom_message",
                "c x",
                false,
            ),
            (r#"{"type":"model_change","provider":"p","modelId":"m"}"#, "model_change", "p m", false),
            (r#"{"type":"future","content":7}"#, "future", "", false),
            ("[1]", "", "", false),
        ] {
            assert_eq!(outline(line), (kind.to_owned(), text.to_owned(), only_calls), "{line}");
        }
    }

    #[test]
    fn long_words_are_cut() {
        let text = outline(&format!(r#"{{"type":"session_info","name":"{}"}}"#, "ä".repeat(10_000))).1;
        assert_eq!(text, format!("{}…", "ä".repeat(SHOWN)));
    }
}
