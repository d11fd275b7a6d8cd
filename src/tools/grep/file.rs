//! The search of one file: what a searcher reports becomes matches, lines of text, or edits.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};

use super::matches::{Line, MAX_LINE, Match, Records, Submatch, Text};
use super::place::Place;
use super::query::{self, Query};
use super::replace::Rewriting;
use crate::cancel::Cancel;
use crate::error;
use crate::fs::Source;
use crate::fs::path;
use crate::message::Base64;
use crate::tool::listing::{Listing, decoded, decoded_len};
use crate::tool::truncate::{self, MAX_GREP_LINE};

/// What a file gave.
#[derive(Default)]
pub(super) struct Found {
    /// Matching lines (edits, when replacing).
    pub(super) count: u64,
    /// The matches (when replacing: the one call of edit), for programs.
    pub(super) records: Records,
    /// The lines, for models.
    pub(super) text: Listing,
    /// Whether a line of the text was cut.
    pub(super) has_cut_lines: bool,
    /// Why the file was not searched, or not to its end.
    pub(super) problem: Option<String>,
}

/// A file to search.
pub(super) struct File<'a> {
    /// As shown: relative to the search directory.
    pub(super) shown: &'a Path,
    /// What it was found in.
    pub(super) place: &'a Place,
    /// Matches to report at most.
    pub(super) most: u64,
    /// Whether nobody will see the text.
    pub(super) is_unseen: bool,
}

impl File<'_> {
    /// As the caller can name it.
    fn named(&self) -> PathBuf {
        self.place.named(self.shown)
    }
}

/// What ends a search before its time.
#[derive(Clone, Copy)]
pub(super) struct Stop<'a> {
    pub(super) cancel: &'a Cancel,
    pub(super) enough: &'a AtomicBool,
}

impl Stop<'_> {
    fn is_set(&self) -> bool {
        self.cancel.is_cancelled() || self.enough.load(Ordering::Relaxed)
    }
}

/// Searches `source`. A failure is part of what was found: it need not concern other files.
pub(super) fn search(
    query: &Query,
    matcher: &RegexMatcher,
    searcher: &mut Searcher,
    source: Box<dyn Source>,
    file: &File<'_>,
    stop: Stop<'_>,
) -> Found {
    let template = query.replacement.as_ref();
    let mut rewriting = template.map(|template| Rewriting::new(template, matcher, query.is_multiline));
    let mut source = source;
    if let Some(rewriting) = &mut rewriting
        && let Err(error) = rewriting.look_at(source.as_mut())
    {
        let problem = Some(problem(&error, &file.named(), query.is_multiline));
        return Found { problem, ..Found::default() };
    }
    let text = if file.is_unseen { Listing::unseen() } else { Listing::default() };
    let mut report = Report {
        query,
        matcher,
        file,
        found: Found { text, ..Found::default() },
        rewriting: rewriting.as_mut(),
        waiting: None,
        before: Vec::new(),
        last_line: 0,
    };
    let searched = searcher.search_reader(matcher, Stoppable { source, stop }, &mut report);
    let searched = searched.and(report.settle());
    let mut found = report.found;
    if let Err(error) = searched
        && !stop.is_set()
    {
        found.problem = Some(problem(&error, &file.named(), query.is_multiline));
    }
    if let Some(rewriting) = rewriting {
        rewriting.finish(&mut found, &file.named());
    }
    found
}

/// A file could not be read, in words.
fn problem(error: &io::Error, path: &Path, is_multiline: bool) -> String {
    let path = path.display();
    match error.raw_os_error() {
        Some(_) => format!("{}, read '{path}'", error::describe(error)),
        None if error.to_string().contains("allocation limit") && is_multiline => {
            format!("'{path}' is too large to be searched across lines")
        }
        None if error.to_string().contains("allocation limit") => format!(
            "'{path}' has a line of more than {}; it was searched up to there; \
             grep(1) has no such limit",
            truncate::format_size(query::MAX_LINE as u64)
        ),
        None => format!("{error}, read '{path}'"),
    }
}

/// A source that ends with an error when the search should end.
struct Stoppable<'a> {
    source: Box<dyn Source>,
    stop: Stop<'a>,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_set() {
            return Err(io::Error::other("stopped"));
        }
        self.source.read(buffer)
    }
}

/// Takes what the searcher reports.
struct Report<'a, 'q> {
    query: &'a Query,
    matcher: &'a RegexMatcher,
    file: &'a File<'a>,
    found: Found,
    rewriting: Option<&'a mut Rewriting<'q>>,
    /// With context: the last match, whose lines behind it are still to come.
    waiting: Option<Match<'static>>,
    /// With context: lines before the next match.
    before: Vec<Line<'static>>,
    /// The last line of the last match.
    last_line: u64,
}

impl Sink for Report<'_, '_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, matched: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let number = matched.line_number().unwrap_or(0);
        if self.found.count == self.file.most {
            // A further match can only be context of the last one that was wanted.
            return Ok(matched.lines().zip(number..).all(|(line, number)| self.line_behind(number, line)));
        }
        let lines = matched.lines().count() as u64;
        match &mut self.rewriting {
            Some(rewriting) => {
                let range = matched.bytes_range_in_buffer();
                let edit = rewriting.take(matched.buffer(), range, number)?;
                self.found.count += u64::from(edit);
            }
            None => {
                self.settle()?;
                self.found.count += 1;
                self.take(matched, number)?;
                for (line, number) in matched.lines().zip(number..) {
                    self.show(number, b':', without_break(line));
                }
            }
        }
        self.last_line = number + lines.saturating_sub(1);
        Ok(self.found.count < self.file.most || self.query.context > 0)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        let number = context.line_number().unwrap_or(0);
        if *context.kind() == SinkContextKind::After {
            return Ok(self.line_behind(number, context.bytes()));
        }
        if self.found.count == self.file.most {
            return Ok(false);
        }
        let line = without_break(context.bytes());
        self.show(number, b'-', line);
        self.before.push(Line { line_number: number, text: Text::of(line).into_owned() });
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        if let Some(rewriting) = &mut self.rewriting {
            rewriting.is_binary = true;
        }
        Ok(true)
    }
}

impl Report<'_, '_> {
    /// Shows a line behind the last match; whether more of the file is wanted.
    fn line_behind(&mut self, number: u64, line: &[u8]) -> bool {
        let last = self.last_line.saturating_add(self.query.context);
        if number <= last {
            let line = without_break(line);
            self.show(number, b'-', line);
            if let Some(waiting) = &mut self.waiting {
                waiting.after.push(Line { line_number: number, text: Text::of(line).into_owned() });
            }
        }
        self.found.count < self.file.most || number < last
    }

    /// Makes the record of a match.
    fn take(&mut self, matched: &SinkMatch<'_>, line_number: u64) -> Result<(), io::Error> {
        let line = without_break(matched.bytes());
        let shown = self.file.shown;
        let record = Match {
            path: decoded(path::bytes(shown)),
            path_base64: shown.to_str().is_none().then(|| Base64::encode(path::bytes(shown))),
            line_number,
            text: Text::of(line),
            submatches: self.submatches(matched, line),
            before: std::mem::take(&mut self.before),
            after: Vec::new(),
        };
        if self.query.context == 0 {
            self.found.records.push(&record)?;
        } else {
            self.waiting = Some(record.into_owned());
        }
        Ok(())
    }

    fn submatches<'l>(&self, matched: &SinkMatch<'l>, line: &'l [u8]) -> Vec<Submatch<'l>> {
        let mut parts = Vec::new();
        let range = matched.bytes_range_in_buffer();
        // Across lines, what surrounds the match can decide it; line by line the line is all there is.
        let (haystack, from) = match self.query.is_multiline {
            true => (matched.buffer(), range.start),
            false => (without_feed(matched.bytes()), 0),
        };
        let _ = self.matcher.find_iter_at(haystack, from, |part| {
            let start = part.start() - from;
            let is_inside = start <= line.len() && start < MAX_LINE && part.start() < range.end.max(1);
            if is_inside && (start < line.len() || part.is_empty() || line.is_empty()) {
                let end = (part.end() - from).min(line.len());
                parts.push(Submatch { start, end, text: decoded(&line[start..end]) });
            }
            is_inside
        });
        parts
    }

    /// Finishes the match whose context was still to come.
    fn settle(&mut self) -> io::Result<()> {
        if let Some(waiting) = self.waiting.take() {
            self.found.records.push(&waiting)?;
        }
        Ok(())
    }

    /// Adds a line to the text.
    fn show(&mut self, number: u64, sign: u8, line: &[u8]) {
        let shown = path::bytes(self.file.shown);
        // So many characters are shown, and none of them takes more than four bytes.
        let is_long = line.len() > MAX_GREP_LINE;
        let cut = is_long.then(|| {
            let start = decoded(&line[..line.len().min(4 * MAX_GREP_LINE + 4)]);
            let (cut, is_cut) = truncate::line(&start, MAX_GREP_LINE);
            is_cut.then(|| cut.into_owned())
        });
        let cut = cut.flatten();
        self.found.has_cut_lines |= cut.is_some();
        let line = cut.as_ref().map_or(line, |cut| cut.as_bytes());
        if self.found.text.is_full() {
            let digits = u64::from(number.checked_ilog10().unwrap_or(0)) + 1;
            self.found.text.count(decoded_len(shown) + digits + 3 + decoded_len(line));
        } else {
            let number = number.to_string();
            let sign: &[u8] = &[sign];
            self.found.text.line(&[shown, sign, number.as_bytes(), sign, b" ", line].concat());
        }
    }
}

/// A line without what ends it: a line feed, and a carriage return before it or at the file's end.
pub(super) fn without_break(line: &[u8]) -> &[u8] {
    let line = without_feed(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn without_feed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}
