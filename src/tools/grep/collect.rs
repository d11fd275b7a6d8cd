//! What comes out of the files, in order, until there is enough.

use std::ops::ControlFlow;
use std::path::PathBuf;

use serde_json::value::RawValue;

use super::file::Found;
use super::matches::Matches;
use crate::tool::listing::Listing;

/// The answer in the making.
pub(super) struct Collected {
    pub(super) limit: u64,
    pub(super) count: u64,
    pub(super) matches: Matches,
    pub(super) documents: Vec<Box<RawValue>>,
    pub(super) text: Listing,
    pub(super) has_cut_lines: bool,
    pub(super) problems: Vec<String>,
    /// Whether there is more than the limit allows.
    pub(super) is_over: bool,
    /// A file that holds more matches than are wanted of it, and how many are.
    pub(super) partly: Option<(PathBuf, u64)>,
}

impl Collected {
    pub(super) fn new(limit: u64) -> Self {
        Self {
            limit,
            count: 0,
            matches: Matches::default(),
            documents: Vec::new(),
            text: Listing::default(),
            has_cut_lines: false,
            problems: Vec::new(),
            is_over: false,
            partly: None,
        }
    }

    /// Matches still wanted.
    pub(super) fn left(&self) -> u64 {
        self.limit - self.count
    }

    /// Takes what the next file gave.
    pub(super) fn take(&mut self, path: PathBuf, found: Found) -> ControlFlow<()> {
        if found.count > self.left() {
            self.is_over = true;
            self.partly = Some((path, self.left())).filter(|(_, left)| *left > 0);
            return ControlFlow::Break(());
        }
        self.add(found);
        ControlFlow::Continue(())
    }

    /// Adds all that a file gave.
    pub(super) fn add(&mut self, found: Found) {
        self.count += found.count;
        self.matches.0.extend(found.matches);
        self.documents.extend(found.document);
        self.text.append(&found.text);
        self.has_cut_lines |= found.has_cut_lines;
        self.problems.extend(found.problem);
    }
}
