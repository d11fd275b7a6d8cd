//! Choosing lines from a file that streams by: keeps what can be shown and counts the rest.

use memchr::{memchr, memchr_iter, memrchr};

use super::lossy::Length;
use crate::tool::truncate::{self, Limits, MAX_BYTES, Truncation};

/// Raw bytes worth keeping: decoding never shortens a text, and these are over the limit already,
/// even when the last of them is a final newline.
const KEEP: usize = MAX_BYTES as usize + 2;

/// Takes the blocks of a file in order.
#[derive(Debug)]
pub(super) struct Selection {
    skip: u64,
    take: Option<u64>,
    stage: Stage,
    /// Newlines in the whole file so far.
    newlines: u64,
    /// Newlines inside the chosen text so far.
    newlines_within: u64,
    kept: Vec<u8>,
    length: Length,
    first_line_bytes: Option<u64>,
    ends_with_newline: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Before,
    Within,
    After,
}

/// The chosen lines and where in the file they stand.
#[derive(Debug)]
pub(super) struct Selected {
    /// Lines of the file; the end of a final newline starts one more.
    pub(super) file_lines: u64,
    /// The first chosen line, counted from 1.
    pub(super) first_line: u64,
    /// Lines behind the chosen ones that the caller's limit left out.
    pub(super) lines_left: u64,
    /// Bytes of the first chosen line, decoded.
    pub(super) first_line_bytes: u64,
    /// The text, cut to what a model may be shown.
    pub(super) text: Truncation,
}

/// The file has no line where the choice should start.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BeyondEnd {
    pub(super) file_lines: u64,
}

impl Selection {
    /// Passes over `skip` lines, then chooses `take` of them or all.
    pub(super) fn new(skip: u64, take: Option<u64>) -> Self {
        let mut selection = Self {
            skip,
            take,
            stage: Stage::Before,
            newlines: 0,
            newlines_within: 0,
            kept: Vec::new(),
            length: Length::default(),
            first_line_bytes: None,
            ends_with_newline: false,
        };
        if skip == 0 {
            selection.start();
        }
        selection
    }

    pub(super) fn push(&mut self, block: &[u8]) {
        let mut rest = block;
        if self.stage == Stage::Before {
            rest = self.pass_over(rest);
        }
        if self.stage == Stage::Within {
            rest = self.choose(rest);
        }
        if self.stage == Stage::After {
            self.newlines += count(rest);
        }
    }

    pub(super) fn finish(mut self) -> Result<Selected, BeyondEnd> {
        let file_lines = self.newlines + 1;
        if self.stage == Stage::Before {
            return Err(BeyondEnd { file_lines });
        }
        self.length.close();
        let total_bytes = self.length.bytes();
        let has_open_line = total_bytes > 0 && !self.ends_with_newline;
        let mut text = truncate::head(&String::from_utf8_lossy(&self.kept), Limits::MODEL);
        text.total_bytes = total_bytes;
        text.total_lines = self.newlines_within + u64::from(has_open_line);
        if !text.truncated {
            text.output_lines = text.total_lines;
        }
        let lines_left = match self.stage {
            Stage::After => file_lines - self.skip - self.take.unwrap_or_default(),
            _ => 0,
        };
        Ok(Selected {
            file_lines,
            first_line: self.skip + 1,
            lines_left,
            first_line_bytes: self.first_line_bytes.unwrap_or(total_bytes),
            text,
        })
    }

    fn start(&mut self) {
        self.stage = if self.take == Some(0) { Stage::After } else { Stage::Within };
    }

    /// Counts whole blocks; looks for the position only in the block that holds it.
    fn pass_over<'b>(&mut self, block: &'b [u8]) -> &'b [u8] {
        let missing = self.skip - self.newlines;
        let here = count(block);
        if here < missing {
            self.newlines += here;
            return &[];
        }
        self.newlines += missing;
        self.start();
        &block[nth_newline(block, missing) + 1..]
    }

    fn choose<'b>(&mut self, block: &'b [u8]) -> &'b [u8] {
        let here = count(block);
        let missing = self.take.map(|take| take - self.newlines_within);
        match missing.filter(|missing| *missing <= here) {
            None => {
                self.keep(block, here);
                self.newlines += here;
                &[]
            }
            Some(missing) => {
                // The newline behind the last chosen line is not part of the choice.
                let end = nth_newline(block, missing);
                self.keep(&block[..end], missing - 1);
                self.newlines += missing;
                self.stage = Stage::After;
                &block[end + 1..]
            }
        }
    }

    fn keep(&mut self, chosen: &[u8], newlines: u64) {
        let room = KEEP - self.kept.len();
        self.kept.extend_from_slice(&chosen[..room.min(chosen.len())]);
        self.newlines_within += newlines;
        let mut rest = chosen;
        if self.first_line_bytes.is_none()
            && let Some(end) = memchr(b'\n', chosen)
        {
            self.length.push(&chosen[..end]);
            self.length.close();
            self.first_line_bytes = Some(self.length.bytes());
            rest = &chosen[end..];
        }
        self.length.push(rest);
        if let Some(last) = chosen.last() {
            self.ends_with_newline = *last == b'\n';
        }
    }
}

fn count(block: &[u8]) -> u64 {
    memchr_iter(b'\n', block).count() as u64
}

/// Where the `number`-th newline (from 1) of a block stands that holds so many.
fn nth_newline(block: &[u8], number: u64) -> usize {
    let at = memchr_iter(b'\n', block).nth(number.saturating_sub(1) as usize);
    at.or_else(|| memrchr(b'\n', block)).unwrap_or(block.len().saturating_sub(1))
}
