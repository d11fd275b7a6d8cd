//! Why an edit failed: pi's sentences, what helps the caller on, and the facts for programs.

use std::fmt;
use std::io;

use serde::Serialize;
use serde_json::{Map, Value};

use super::matching::Mismatch;
use super::nearest::Closest;
use crate::error::{self, Code, Fault};
use crate::fs::Kind;

/// A failed edit of one file.
#[derive(Debug, thiserror::Error)]
#[error("{}", Sentence(self))]
pub struct Error {
    /// The file, as named in the call.
    pub path: String,
    /// How many edits the call had.
    pub edits: usize,
    /// What went wrong.
    pub cause: Cause,
}

/// What went wrong.
#[derive(Debug)]
pub enum Cause {
    /// The call asks for nothing.
    NoEdits,
    /// An old text is empty.
    EmptyOldText {
        /// Index of the edit.
        edit: usize,
    },
    /// The old texts have no places; for one that is nowhere, what comes nearest.
    Mismatch(Mismatch, Option<Closest>),
    /// The outcome is what was there.
    Unchanged,
    /// The file was changed by someone else meanwhile, and the edits do not fit any more.
    Conflict(Option<Box<Error>>),
    /// Neither a regular file nor a directory.
    NotRegular(Kind),
    /// The system refused.
    Io(io::Error),
}

#[derive(Serialize, Default)]
struct Facts<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    edit: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edits: Option<[usize; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closest: Option<&'a Closest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
    #[serde(skip_serializing_if = "<[usize]>::is_empty")]
    lines: &'a [usize],
}

impl Fault for Error {
    fn code(&self) -> Code {
        match &self.cause {
            Cause::NoEdits | Cause::EmptyOldText { .. } => Code::InvalidArguments,
            Cause::Mismatch(Mismatch::None { .. } | Mismatch::NotOnLine { .. }, _) => Code::NoMatch,
            Cause::Mismatch(Mismatch::Several { .. }, _) => Code::NotUnique,
            Cause::Mismatch(Mismatch::Overlap { .. }, _) => Code::Overlap,
            Cause::Unchanged => Code::Unchanged,
            Cause::Conflict(_) => Code::Conflict,
            Cause::NotRegular(_) => Code::UnsupportedFile,
            Cause::Io(source) => error::code_of(source),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        let path = self.path.as_str();
        let facts = match &self.cause {
            Cause::EmptyOldText { edit } => Facts { path, edit: Some(*edit), ..Facts::default() },
            Cause::Mismatch(Mismatch::None { edit }, closest) => {
                Facts { path, edit: Some(*edit), closest: closest.as_ref(), ..Facts::default() }
            }
            Cause::Mismatch(
                Mismatch::NotOnLine { edit, count, lines, .. } | Mismatch::Several { edit, count, lines },
                _,
            ) => Facts { path, edit: Some(*edit), count: Some(*count), lines, ..Facts::default() },
            Cause::Mismatch(Mismatch::Overlap { first, second }, _) => {
                Facts { path, edits: Some([*first, *second]), ..Facts::default() }
            }
            Cause::Conflict(Some(inner)) => return inner.facts(),
            _ => Facts { path, ..Facts::default() },
        };
        match serde_json::to_value(facts) {
            Ok(Value::Object(facts)) => facts,
            _ => Map::new(),
        }
    }
}

struct Sentence<'a>(&'a Error);

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Error { path, edits, cause } = self.0;
        let is_only = *edits == 1;
        match cause {
            Cause::NoEdits => {
                f.write_str("Edit tool input is invalid. edits must contain at least one replacement.")
            }
            Cause::EmptyOldText { .. } if is_only => write!(f, "oldText must not be empty in {path}."),
            Cause::EmptyOldText { edit } => write!(f, "edits[{edit}].oldText must not be empty in {path}."),
            Cause::Mismatch(Mismatch::None { edit }, closest) => {
                not_found(f, path, *edit, is_only)?;
                closest.iter().try_for_each(|closest| write!(f, "\n{closest}"))
            }
            Cause::Mismatch(Mismatch::NotOnLine { edit, line, count, lines }, _) => {
                not_found(f, path, *edit, is_only)?;
                write!(f, "\nIt does not start on line {line}, but on {}.", Lines(lines, *count))
            }
            Cause::Mismatch(Mismatch::Several { edit, count, lines }, _) => {
                if is_only {
                    write!(f, "Found {count} occurrences of the text in {path}. The text must be unique.")?;
                } else {
                    write!(
                        f,
                        "Found {count} occurrences of edits[{edit}] in {path}. Each oldText must be unique."
                    )?;
                }
                f.write_str(" Please provide more context to make it unique.")?;
                let is_one_line = lines.windows(2).all(|pair| pair[0] == pair[1]);
                let advice = if is_one_line {
                    "all replaces every one"
                } else {
                    "line picks one, all takes every one"
                };
                write!(f, "\nThey start on {}; {advice}.", Lines(lines, *count))
            }
            Cause::Mismatch(Mismatch::Overlap { first, second }, _) => write!(
                f,
                "edits[{first}] and edits[{second}] overlap in {path}. \
                 Merge them into one edit or target disjoint regions."
            ),
            Cause::Unchanged if is_only => write!(
                f,
                "No changes made to {path}. The replacement produced identical content. This might indicate \
                 an issue with special characters or the text not existing as expected."
            ),
            Cause::Unchanged => {
                write!(f, "No changes made to {path}. The replacements produced identical content.")
            }
            Cause::Conflict(inner) => {
                write!(
                    f,
                    "{path} was changed by someone else during the edit; nothing was written. Read it again."
                )?;
                inner.iter().try_for_each(|inner| write!(f, "\nAs it is now: {inner}"))
            }
            Cause::NotRegular(kind) => {
                write!(f, "Could not edit file: {path}. It is a {}, not a regular file.", kind.noun())
            }
            Cause::Io(source) => {
                write!(f, "Could not edit file: {path}. Error code: {}.", error::symbol(source))
            }
        }
    }
}

fn not_found(f: &mut fmt::Formatter<'_>, path: &str, edit: usize, is_only: bool) -> fmt::Result {
    if is_only {
        write!(f, "Could not find the exact text in {path}. The old text")?;
    } else {
        write!(f, "Could not find edits[{edit}] in {path}. The oldText")?;
    }
    f.write_str(" must match exactly including all whitespace and newlines.")
}

/// `line 3`, `lines 3, 9`, `lines 3, 9, …`.
struct Lines<'a>(&'a [usize], usize);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(lines, count) = self;
        let mut distinct = lines.to_vec();
        distinct.dedup();
        f.write_str(if distinct.len() == 1 && *count == lines.len() { "line " } else { "lines " })?;
        let listed: Vec<String> = distinct.iter().map(usize::to_string).collect();
        f.write_str(&listed.join(", "))?;
        if *count > lines.len() { f.write_str(", …") } else { Ok(()) }
    }
}

/// `path_base64` is not base64.
#[derive(Debug, thiserror::Error)]
#[error("path_base64 is not base64: {0}")]
pub struct BadPath(pub base64::DecodeError);

impl Fault for BadPath {
    fn code(&self) -> Code {
        Code::InvalidArguments
    }
}
