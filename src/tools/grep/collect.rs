//! What comes out of the files, in order, until there is enough: held, or written at once.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;

use super::file::Found;
use super::matches::Records;
use crate::tool::listing::Listing;

/// The answer in the making.
pub(super) struct Collected<'w> {
    pub(super) limit: u64,
    pub(super) count: u64,
    pub(super) records: Kept<'w>,
    pub(super) text: Listing,
    pub(super) has_cut_lines: bool,
    pub(super) problems: Vec<String>,
    /// Whether there is more than the limit allows.
    pub(super) is_over: bool,
    /// A file that holds more matches than are wanted of it, and how many are.
    pub(super) partly: Option<(PathBuf, u64)>,
}

/// Where the records are.
pub(super) enum Kept<'w> {
    /// In memory, by file.
    Held(Vec<Records>),
    /// Written.
    Written(Stream<'w>),
}

/// Records on their way out: in one list, or each file's on a line.
pub(super) struct Stream<'w> {
    out: &'w mut (dyn Write + Send),
    /// What comes before the first record and has not been written yet.
    opening: Option<Vec<u8>>,
    is_list: bool,
    failure: Option<io::Error>,
}

impl<'w> Collected<'w> {
    pub(super) fn new(limit: u64, records: Kept<'w>) -> Self {
        let text = match records {
            Kept::Held(_) => Listing::default(),
            Kept::Written(_) => Listing::unseen(),
        };
        Self {
            limit,
            count: 0,
            records,
            text,
            has_cut_lines: false,
            problems: Vec::new(),
            is_over: false,
            partly: None,
        }
    }

    /// Takes what the next file gave.
    pub(super) fn take(&mut self, path: PathBuf, found: Found) -> ControlFlow<()> {
        let left = self.limit - self.count;
        if found.count > left {
            self.is_over = true;
            self.partly = (left > 0).then_some((path, left));
            return ControlFlow::Break(());
        }
        self.add(found);
        match &self.records {
            Kept::Written(stream) if stream.failure.is_some() => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    /// Adds all that a file gave.
    pub(super) fn add(&mut self, found: Found) {
        self.count += found.count;
        self.text.append(&found.text);
        self.has_cut_lines |= found.has_cut_lines;
        self.problems.extend(found.problem);
        if found.count > 0 {
            match &mut self.records {
                Kept::Held(records) => records.push(found.records),
                Kept::Written(stream) => stream.put(&found.records),
            }
        }
    }

    /// Whether a part of the answer has been written.
    pub(super) fn has_begun(&self) -> bool {
        match &self.records {
            Kept::Held(_) => false,
            Kept::Written(stream) if stream.is_list => stream.opening.is_none(),
            Kept::Written(_) => self.count > 0,
        }
    }

    /// The exit status that follows.
    pub(super) fn status(&self) -> u8 {
        match (self.problems.is_empty(), self.count) {
            (false, _) => 2,
            (true, 0) => 1,
            (true, _) => 0,
        }
    }
}

impl<'w> Stream<'w> {
    /// Records in a list behind `opening`.
    pub(super) fn list(out: &'w mut (dyn Write + Send), opening: Vec<u8>) -> Self {
        Self { out, opening: Some(opening), is_list: true, failure: None }
    }

    /// Records of one file on a line of their own.
    pub(super) fn lines(out: &'w mut (dyn Write + Send)) -> Self {
        Self { out, opening: None, is_list: false, failure: None }
    }

    /// Ends a list with `ending`.
    pub(super) fn finish(self, ending: &[u8]) -> io::Result<()> {
        match self.failure {
            Some(failure) => Err(failure),
            None => {
                self.out.write_all(&self.opening.unwrap_or_default())?;
                self.out.write_all(ending)
            }
        }
    }

    fn put(&mut self, records: &Records) {
        if self.failure.is_none() {
            self.failure = self.write(records.json()).err();
        }
    }

    fn write(&mut self, json: &[u8]) -> io::Result<()> {
        match self.opening.take() {
            Some(opening) => self.out.write_all(&opening)?,
            None if self.is_list => self.out.write_all(b",")?,
            None => {}
        }
        self.out.write_all(json)?;
        if self.is_list { Ok(()) } else { self.out.write_all(b"\n") }
    }
}
