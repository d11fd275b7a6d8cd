//! Collecting a stream of output of any length: counts, the two ends in memory, all of it in a log.
//!
//! Bytes are kept raw and decoded when they are looked at; the counts are those of the decoded text
//! (seed: lecture 10, §10.3.2). The log exists only when a model is not shown everything.

mod count;
mod log;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use count::{Count, decode, decode_start, next_start};
use log::Log;
pub use log::LogError;

use crate::tool::truncate::{self, Limit, Limits, MAX_BYTES, Truncation};

/// Bytes of text that a program is given at most, half from each end.
pub const MAX_FULL_BYTES: usize = 1024 * 1024;
const HALF: usize = MAX_FULL_BYTES / 2;
/// A byte order mark is dropped, and a sequence at a cut may be longer than what is kept of it.
const SLACK: usize = 16;
/// What the model's view of the end is taken from.
const WINDOW: usize = 2 * MAX_BYTES as usize;

/// Output as it arrives.
#[derive(Debug)]
pub struct Accumulator {
    count: Count,
    /// The first bytes; all of them as long as no more than fit came.
    head: Vec<u8>,
    /// The last bytes, once `head` is full.
    tail: VecDeque<u8>,
    log: LogState,
    log_dir: PathBuf,
    log_prefix: &'static str,
}

#[derive(Debug)]
enum LogState {
    NotNeeded,
    Open(Log),
    Failed(LogError),
}

/// Output that has ended.
#[derive(Debug)]
pub struct Finished {
    /// What a model is shown of it, and why not more.
    pub truncation: Truncation,
    /// Bytes of the whole last line.
    pub last_line_bytes: u64,
    /// What a program is given of it.
    pub full: String,
    /// Whether `full` leaves out the middle.
    pub full_is_cut: bool,
    /// The log with every byte, when a model is not shown everything.
    pub log: Option<Result<PathBuf, LogError>>,
}

impl Accumulator {
    /// An accumulator whose log, should it need one, is `log_dir/log_prefix-….log`.
    pub fn new(log_dir: &Path, log_prefix: &'static str) -> Self {
        Self {
            count: Count::default(),
            head: Vec::new(),
            tail: VecDeque::new(),
            log: LogState::NotNeeded,
            log_dir: log_dir.to_owned(),
            log_prefix,
        }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.count.push(bytes);
        self.log(bytes);
        self.hold(bytes);
    }

    /// What a model would be shown now; a character that has only half arrived is left out.
    pub fn snapshot(&mut self) -> Truncation {
        let Window { text, starts_at_line } = self.window();
        let mut text = text.as_str();
        let mut follows_long_line = false;
        if !starts_at_line
            && let Some((_, lines)) = text.split_once('\n').filter(|(_, lines)| !lines.is_empty())
        {
            text = lines;
            follows_long_line = true;
        }
        let mut record = truncate::tail(text, Limits::MODEL);
        record.total_bytes = self.count.bytes();
        record.total_lines = self.count.lines();
        if follows_long_line && !record.truncated {
            // pi: keeps the final newline when all lines behind one too long to hold are shown.
            record.truncated = true;
            record.truncated_by = Some(self.limit_passed());
        }
        record
    }

    /// The end of the output: an incomplete character becomes U+FFFD, the log is closed and kept.
    pub fn finish(mut self) -> Finished {
        self.count.finish();
        self.log(&[]);
        let truncation = self.snapshot();
        let full_is_cut = self.count.bytes() > MAX_FULL_BYTES as u64;
        let full = if full_is_cut { self.both_ends() } else { decode_start(&self.head) };
        let log = match self.log {
            LogState::NotNeeded => None,
            LogState::Open(log) => Some(log.keep()),
            LogState::Failed(error) => Some(Err(error)),
        };
        Finished { truncation, last_line_bytes: self.count.last_line_bytes(), full, full_is_cut, log }
    }

    /// Opens the log when the first limit is passed, earlier bytes first.
    fn log(&mut self, bytes: &[u8]) {
        if matches!(self.log, LogState::NotNeeded) {
            if !self.passes_a_limit() {
                return;
            }
            self.log = match Log::create(&self.log_dir, self.log_prefix) {
                Ok(log) => LogState::Open(log),
                Err(error) => LogState::Failed(error),
            };
            // No limit was passed before these bytes, so the ones before are all in `head`.
            write(&mut self.log, &self.head);
        }
        write(&mut self.log, bytes);
    }

    fn passes_a_limit(&self) -> bool {
        self.count.bytes() > Limits::MODEL.bytes || self.count.lines() > Limits::MODEL.lines
    }

    fn limit_passed(&self) -> Limit {
        if self.count.bytes() > Limits::MODEL.bytes { Limit::Bytes } else { Limit::Lines }
    }

    fn hold(&mut self, bytes: &[u8]) {
        const HEAD: usize = MAX_FULL_BYTES + SLACK;
        const TAIL: usize = HALF + SLACK;
        let (first, rest) = bytes.split_at(bytes.len().min(HEAD - self.head.len()));
        self.head.extend_from_slice(first);
        if rest.is_empty() {
            return;
        }
        if self.tail.is_empty() {
            self.tail.reserve_exact(TAIL);
            self.tail.extend(&self.head[HEAD - TAIL..]);
        }
        let new = &rest[rest.len().saturating_sub(TAIL)..];
        self.tail.drain(..(self.tail.len() + new.len()).saturating_sub(TAIL));
        self.tail.extend(new);
    }

    /// The last bytes of the output that are decoded, as far as they are held, and whether they are all.
    fn held(&mut self) -> (&[u8], bool) {
        let is_all = self.tail.is_empty();
        let bytes = if is_all { &self.head[..] } else { self.tail.make_contiguous() };
        (&bytes[..bytes.len() - self.count.undecoded()], is_all)
    }

    fn window(&mut self) -> Window {
        let (bytes, is_all) = self.held();
        if is_all && bytes.len() <= WINDOW {
            return Window { text: decode_start(bytes), starts_at_line: true };
        }
        let start = next_start(bytes, bytes.len() - WINDOW);
        Window { text: decode(&bytes[start..]), starts_at_line: bytes.get(start - 1) == Some(&b'\n') }
    }

    fn both_ends(&mut self) -> String {
        // pi: counts what is over the limit; whole characters may leave out a few bytes more.
        let omitted = self.count.bytes().saturating_sub(MAX_FULL_BYTES as u64);
        let mut text = decode_start(&self.head[..HALF + SLACK]);
        text.truncate(truncate::floor_boundary(&text, HALF));
        let (bytes, _) = self.held();
        let end = decode(&bytes[next_start(bytes, bytes.len() - HALF)..]);
        let end = &end[truncate::ceil_boundary(&end, end.len().saturating_sub(HALF))..];
        text.push_str(&format!("\n\n[... {omitted} bytes omitted ...]\n\n"));
        text.push_str(end);
        text
    }
}

/// The end of the text, long enough for what a model may be shown.
struct Window {
    text: String,
    starts_at_line: bool,
}

fn write(log: &mut LogState, bytes: &[u8]) {
    if let LogState::Open(file) = log
        && let Err(error) = file.write(bytes)
    {
        *log = LogState::Failed(error);
    }
}

#[cfg(test)]
mod tests;
