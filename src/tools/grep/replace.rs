//! `--replace`: matching lines as edits, one call of pi-edit for each file.
//!
//! An edit replaces a whole line (with `--multiline`: the neighbouring lines that matches touch) and says at which line
//! it starts, so that it is never ambiguous and two edits never overlap. Line breaks stay as they are.

use std::io::{self, Read as _, SeekFrom};
use std::ops::Range;
use std::path::Path;

use grep_matcher::{Captures, Matcher};
use grep_regex::{RegexCaptures, RegexMatcher};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::file::{Found, without_break};
use super::query::fill;
use crate::fs::{Source, path};
use crate::message::Base64;

/// The edits of one file: a tool call's arguments for edit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileEdits {
    /// The file, as the caller can open it; what is not UTF-8 is replaced by U+FFFD.
    path: String,
    /// The exact bytes of the path in base64, when it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    path_base64: Option<Base64>,
    /// The edits, from the first line to the last.
    edits: Vec<Edit>,
}

/// The replacement of one line, or with --multiline of neighbouring lines that matches touch.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Edit {
    /// What is there.
    old_text: String,
    /// What will be there.
    new_text: String,
    /// The line where the old text starts, counted from 1.
    line: u64,
}

/// The edits of one file in the making.
pub(super) struct Rewriting<'q> {
    template: &'q [u8],
    matcher: &'q RegexMatcher,
    is_multiline: bool,
    captures: Option<RegexCaptures>,
    edits: Vec<Edit>,
    /// The first line that no edit can express.
    undecodable: Option<u64>,
    /// Whether the file's bytes are not those that were searched.
    is_utf16: bool,
    /// Whether there is a NUL in the file.
    pub(super) is_binary: bool,
}

impl<'q> Rewriting<'q> {
    pub(super) fn new(template: &'q [u8], matcher: &'q RegexMatcher, is_multiline: bool) -> Self {
        Self {
            template,
            matcher,
            is_multiline,
            captures: None,
            edits: Vec::new(),
            undecodable: None,
            is_utf16: false,
            is_binary: false,
        }
    }

    /// Looks at the start of the file before it is searched.
    pub(super) fn look_at(&mut self, source: &mut dyn Source) -> io::Result<()> {
        let mut start = Vec::new();
        source.take(2).read_to_end(&mut start)?;
        self.is_utf16 = matches!(start[..], [0xff, 0xfe] | [0xfe, 0xff]);
        source.seek(SeekFrom::Start(0)).map(|_| ())
    }

    /// Takes the matching lines at `range` of `buffer`; whether they make an edit.
    pub(super) fn take(&mut self, buffer: &[u8], range: Range<usize>, line: u64) -> io::Result<bool> {
        let old = &buffer[range.clone()];
        let new = match self.is_multiline {
            true => self.rewrite(buffer, range.clone())?,
            false => {
                let body = old.strip_suffix(b"\n").unwrap_or(old);
                let mut new = self.rewrite(body, 0..body.len())?;
                new.extend_from_slice(&old[body.len()..]);
                new
            }
        };
        let (old, new) = trim(old, &new);
        if old == new {
            return Ok(false);
        }
        let (Ok(old_text), Ok(new_text)) = (std::str::from_utf8(old), std::str::from_utf8(new)) else {
            self.undecodable.get_or_insert(line);
            return Ok(false);
        };
        self.edits.push(Edit { old_text: old_text.to_owned(), new_text: new_text.to_owned(), line });
        Ok(true)
    }

    /// Turns the edits into what was found in the file, or says why it is left alone.
    pub(super) fn finish(self, found: &mut Found, named: &Path) {
        let reason = match self.undecodable {
            Some(line) => Some(format!("line {line} is not UTF-8")),
            None if self.edits.is_empty() => None,
            None if self.is_utf16 => Some("it is UTF-16".to_owned()),
            None if self.is_binary => Some("it is binary".to_owned()),
            None => None,
        };
        let refusal = reason.map(|reason| format!("'{}' is left alone: {reason}", named.display()));
        if refusal.is_some() || self.edits.is_empty() {
            found.count = 0;
            found.problem = found.problem.take().or(refusal);
            return;
        }
        for edit in &self.edits {
            found.text.line(&[path::bytes(named), format!(":{}:", edit.line).as_bytes()].concat());
            edit.old_text.lines().for_each(|line| found.text.line(format!("-{line}").as_bytes()));
            edit.new_text.lines().for_each(|line| found.text.line(format!("+{line}").as_bytes()));
        }
        let edits = FileEdits {
            path: named.to_string_lossy().into_owned(),
            path_base64: named.to_str().is_none().then(|| Base64::encode(path::bytes(named))),
            edits: self.edits,
        };
        if let Err(error) = found.records.push(&edits) {
            found.problem = Some(error.to_string());
        }
    }

    /// The text at `range` with every match that starts in it replaced.
    fn rewrite(&mut self, text: &[u8], range: Range<usize>) -> io::Result<Vec<u8>> {
        let matcher = self.matcher;
        let mut captures = match self.captures.take() {
            Some(captures) => captures,
            None => matcher.new_captures().map_err(io::Error::other)?,
        };
        let mut new = Vec::with_capacity(range.len() + 64);
        let mut copied = range.start;
        let replaced = matcher.captures_iter_at(text, range.start, &mut captures, |captures| {
            let Some(whole) = captures.get(0) else { return false };
            let is_inside = whole.start() < range.end || whole.start() == range.end && !self.is_multiline;
            if is_inside {
                new.extend_from_slice(&text[copied..whole.start()]);
                fill(self.template, matcher, captures, text, &mut new);
                copied = whole.end();
            }
            is_inside
        });
        replaced.map_err(io::Error::other)?;
        new.extend_from_slice(&text[copied.min(range.end)..range.end]);
        self.captures = Some(captures);
        Ok(new)
    }
}

/// Both texts without the line break at their end, unless the edit is about that break or nothing
/// else would be left to find.
fn trim<'a>(old: &'a [u8], new: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    let is_kept = old.ends_with(b"\n") == new.ends_with(b"\n");
    let body = without_break(old);
    if is_kept && !body.is_empty() { (body, without_break(new)) } else { (old, new) }
}
