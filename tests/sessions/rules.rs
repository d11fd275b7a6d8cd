//! Where we differ from pi on purpose: one predicate per reason, in one place.

use std::collections::BTreeSet;

use pi_toolbox::session::Reason;
use pi_toolbox::session::load;
use pi_toolbox::session::script_json::{Document, Value};

use super::sha256;

/// The rules of one case, and which of them were needed.
pub(super) struct Rules<'c> {
    input: &'c [u8],
    /// The names of the rules that covered a difference.
    pub(super) applied: BTreeSet<&'static str>,
}

impl<'c> Rules<'c> {
    /// The rules for a case with this input.
    pub(super) fn new(input: &'c [u8]) -> Self {
        Self { input, applied: BTreeSet::new() }
    }

    /// Whether a rule covers this difference.
    pub(super) fn cover(&mut self, actual: Value<'_>, expected: Value<'_>, at: &str) -> bool {
        let rule = if never_written_by_reading(expected, at) {
            "a reader never changes the file"
        } else if same_but_for_spelling(actual, expected) {
            "a line that is only copied keeps its bytes, so its numbers and escapes are spelled as they were"
        } else if self.glued() {
            "entries glued on one line by a torn write are recovered, not dropped"
        } else {
            return false;
        };
        self.applied.insert(rule);
        true
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
