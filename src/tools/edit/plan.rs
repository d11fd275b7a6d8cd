//! What an edit would do to a content: pure, from bytes to replacements and their diff.

use super::diff::Diff;
use super::error::Cause;
use super::matching::{self, Edit, Mismatch};
use super::nearest;
use super::splice::{self, Replacement};
use super::view::BOM;

/// A worked-out edit.
#[derive(Debug)]
pub struct Plan {
    replacements: Vec<Replacement>,
    /// Length of the byte order mark, which no edit sees.
    body: usize,
    /// How many places are replaced.
    pub count: usize,
    /// What that changes.
    pub diff: Diff,
}

impl Plan {
    /// Works out `edits` on a whole file.
    pub fn new(content: &[u8], edits: &[Edit]) -> Result<Self, Cause> {
        Self::check(edits)?;
        let body = if content.starts_with(BOM) { BOM.len() } else { 0 };
        let text = &content[body..];
        let matches = matching::find(text, edits).map_err(|mismatch| {
            let closest = match mismatch {
                Mismatch::None { edit } => nearest::find(text, &edits[edit].old),
                _ => None,
            };
            Cause::Mismatch(mismatch, closest)
        })?;
        let replacements = splice::replacements(text, edits, &matches);
        let diff = Diff::new(text, &replacements).ok_or(Cause::Unchanged)?;
        Ok(Self { replacements, body, count: matches.found.len(), diff })
    }

    /// What can be said of edits without the file.
    pub fn check(edits: &[Edit]) -> Result<(), Cause> {
        if edits.is_empty() {
            return Err(Cause::NoEdits);
        }
        match edits.iter().position(|edit| edit.old.is_empty()) {
            Some(edit) => Err(Cause::EmptyOldText { edit }),
            None => Ok(()),
        }
    }

    /// The new content, in parts of `content`, which the plan was made for.
    pub fn pieces<'a>(&'a self, content: &'a [u8]) -> Vec<&'a [u8]> {
        let (mark, text) = content.split_at(self.body);
        let mut pieces = splice::pieces(text, &self.replacements);
        if !mark.is_empty() {
            pieces.insert(0, mark);
        }
        pieces
    }
}
