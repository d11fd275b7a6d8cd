//! Where we differ from pi on purpose: one predicate per reason, in one place.

use std::collections::BTreeSet;

use pi_toolbox::session::load;
use pi_toolbox::session::scan::Kind;
use pi_toolbox::session::script_json::{Document, Value};
use pi_toolbox::session::{Header, Reason};

use super::sha256;

/// The rules of one case, and which of them were needed.
pub(super) struct Rules<'c> {
    operation: &'c str,
    input: &'c [u8],
    /// The names of the rules that covered a difference.
    pub(super) applied: BTreeSet<&'static str>,
}

impl<'c> Rules<'c> {
    /// The rules for a case with this input.
    pub(super) fn new(operation: &'c str, input: &'c [u8]) -> Self {
        Self { operation, input, applied: BTreeSet::new() }
    }

    /// Whether a rule covers this difference.
    pub(super) fn cover(&mut self, actual: Value<'_>, expected: Value<'_>, at: &str) -> bool {
        let rule = if never_written_by_reading(expected, at) {
            "a reader never changes the file"
        } else if same_but_for_spelling(actual, expected) {
            "a line that is only copied keeps its bytes, so its numbers and escapes are spelled as they were"
        } else if self.operation == "forkFrom" && self.is_old() {
            "a fork of an old session keeps its tree: pi copies the lines without their parents"
        } else if self.lists() && self.has_other_separators() {
            "only a line feed ends a line, in lists as everywhere"
        } else if self.lists() && self.has_empty_content() {
            "a message or name that is none does not hide its session from lists"
        } else if self.lists() && !self.has_header() {
            "what cannot be opened is not listed"
        } else if self.glued() {
            "entries glued on one line by a torn write are recovered, not dropped"
        } else {
            return false;
        };
        self.applied.insert(rule);
        true
    }

    fn is_old(&self) -> bool {
        let first = self.values().into_iter().next();
        first.and_then(|first| Header::parse(&first)).is_some_and(|header| header.version() < 3.0)
    }

    fn has_header(&self) -> bool {
        self.values().first().is_some_and(|first| Header::parse(first).is_some())
    }

    fn lists(&self) -> bool {
        self.operation == "info"
    }

    /// pi's list takes a lone CR, U+2028 and U+2029 for line ends.
    fn has_other_separators(&self) -> bool {
        let text = String::from_utf8_lossy(self.input);
        text.replace("\r\n", "\n").contains(['\r', '\u{2028}', '\u{2029}'])
    }

    /// pi's list fails on a message of user or model whose content is neither text nor blocks, on an
    /// entry without its message, and on a name that is no text.
    fn has_empty_content(&self) -> bool {
        self.values().iter().any(|value| {
            let document = Document::parse(&value[..]).unwrap();
            let root = document.root();
            let message = root.get("message");
            if root.get("type").is_some_and(|kind| kind.is_str("message"))
                && message.is_none_or(|message| message.kind() != Kind::Object)
            {
                return true;
            }
            let name = root.get("name").filter(|name| name.kind() != Kind::String);
            if root.get("type").is_some_and(|kind| kind.is_str("session_info")) && name.is_some() {
                return true;
            }
            let role = message.and_then(|message| message.get("role"));
            let content = message.and_then(|message| message.get("content"));
            let is_odd = |content: Value<'_>| {
                !matches!(content.kind(), Kind::String | Kind::Array)
                    || content.elements().any(|block| block.kind() == Kind::Null)
            };
            role.is_some_and(|role| role.is_str("user") || role.is_str("assistant"))
                && content.is_some_and(is_odd)
        })
    }

    fn values(&self) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        let mut keep = |_: u64, value: &[u8]| found.push(value.to_vec());
        load::each_value(&mut &self.input[..], &mut Vec::new(), &mut keep).unwrap();
        found
    }

    /// pi drops a line with two entries on it.
    fn glued(&self) -> bool {
        let mut diagnostics = Vec::new();
        load::each_value(&mut &self.input[..], &mut diagnostics, &mut |_, _| {}).unwrap();
        diagnostics.iter().any(|diagnostic| diagnostic.reason == Reason::Glued)
    }
}

/// pi adds a line break at the end of what it opens.
fn never_written_by_reading(expected: Value<'_>, at: &str) -> bool {
    (at.ends_with(".fileAfter") || at.ends_with(".sourceAfter")) && expected.is_str("newline-appended")
}

/// pi writes copied lines anew from its parser's values.
fn same_but_for_spelling(actual: Value<'_>, expected: Value<'_>) -> bool {
    let Some(text) = actual.text() else { return false };
    let lines: Option<Vec<Vec<u8>>> = text
        .as_bytes()
        .split(|byte| *byte == b'\n')
        .map(|line| match line {
            [] => Some(Vec::new()),
            line => Document::parse(line).ok().map(|line| line.root().to_script_json()),
        })
        .collect();
    let Some(scripted) = lines.map(|lines| lines.join(&b"\n"[..])) else { return false };
    match (expected.text(), expected.get("sha256")) {
        (Some(expected), _) => expected.as_bytes() == scripted,
        (None, Some(hash)) => hash.is_str(&sha256::hex(&scripted)),
        _ => false,
    }
}
