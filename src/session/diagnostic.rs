//! What is wrong with a session file, said instead of hidden: one value per finding.

use serde::Serialize;

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The line it was found on, from 1; absent when it concerns no single line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What it is, for programs.
    pub reason: Reason,
    /// The id of the entry concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What it means, for people.
    pub message: String,
}

/// What a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// A line that is no JSON: skipped.
    NotJson,
    /// The last line stops in the middle: skipped.
    Torn,
    /// Several lines without a line break between them: what was whole has been recovered.
    Glued,
    /// A line that is `null`, `false`, `0` or `""`: skipped.
    Empty,
    /// A line that is JSON and no object: kept, and part of no path.
    NotAnObject,
    /// A line too long to be held: skipped.
    TooLong,
    /// A second header: not part of the tree.
    SecondHeader,
    /// An entry without an id.
    NoId,
    /// Two entries with one id: the later one counts.
    DuplicateId,
    /// The parent is not in the file: the entry counts as a root.
    Orphan,
    /// The entry is its own ancestor.
    Cycle,
    /// A label, edit or compaction that points at an entry that is not in the file.
    DanglingTarget,
    /// Written by an older version: shown as the current one, migrated when it is next written to.
    OldVersion,
}

impl Diagnostic {
    pub(super) fn at_line(line: u64, reason: Reason, message: impl Into<String>) -> Self {
        Self { line: Some(line), reason, id: None, message: message.into() }
    }

    pub(super) fn of_entry(line: Option<u64>, id: Option<String>, reason: Reason, message: String) -> Self {
        Self { line, reason, id, message }
    }
}
