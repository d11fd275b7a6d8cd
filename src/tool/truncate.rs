//! Cutting text to what a model may be shown: whole lines, from the head or from the tail.
//!
//! Line and byte limits count independently and the first one reached wins (seed: lecture 10,
//! §10.3.1). A final newline does not start a line; an empty text has none.

use std::borrow::Cow;

use serde::Serialize;

/// Lines of text a model is shown at most.
pub const MAX_LINES: u64 = 2000;
/// Bytes of UTF-8 text a model is shown at most.
pub const MAX_BYTES: u64 = 50 * 1024;
/// Characters (UTF-16 units) of a line that pi-grep shows at most.
pub const MAX_GREP_LINE: usize = 500;
/// What stands behind a line that was cut.
pub const CUT_LINE_SUFFIX: &str = "... [truncated]";
/// The limit that stands for none, as JavaScript's largest safe integer.
pub const UNLIMITED: u64 = 9_007_199_254_740_991;

/// Which limit cut a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// Too many lines.
    Lines,
    /// Too many bytes.
    Bytes,
}

/// What was kept of a text and why; pi's `details.truncation`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Truncation {
    /// The text that was kept.
    pub content: String,
    /// Whether anything was left out.
    pub truncated: bool,
    /// The limit that was reached first.
    pub truncated_by: Option<Limit>,
    /// Lines of the whole text.
    pub total_lines: u64,
    /// Bytes of the whole text.
    pub total_bytes: u64,
    /// Lines kept.
    pub output_lines: u64,
    /// Bytes kept.
    pub output_bytes: u64,
    /// Whether the last line was cut inside (tail only).
    pub last_line_partial: bool,
    /// Whether nothing was kept because the first line alone is over the limit (head only).
    pub first_line_exceeds_limit: bool,
    /// The limit in lines.
    pub max_lines: u64,
    /// The limit in bytes.
    pub max_bytes: u64,
}

/// How much may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Lines.
    pub lines: u64,
    /// Bytes of UTF-8.
    pub bytes: u64,
}

impl Limits {
    /// The limits for what a model is shown.
    pub const MODEL: Self = Self { lines: MAX_LINES, bytes: MAX_BYTES };
    /// As [`Limits::MODEL`], for lists that have a limit of entries of their own.
    pub const BYTES_ONLY: Self = Self { lines: UNLIMITED, bytes: MAX_BYTES };
}

/// Keeps whole leading lines.
pub fn head(text: &str, limits: Limits) -> Truncation {
    let total_lines = count_lines(text);
    let mut kept = Kept::default();
    let mut end = 0;
    for line in lines(text) {
        let with_break = line.len() as u64 + u64::from(kept.lines > 0);
        match kept.limit_hit(with_break, limits) {
            Some(limit) => {
                let first_line_exceeds_limit = kept.lines == 0 && limit == Limit::Bytes;
                return record(text, &text[..end], total_lines, Some(limit), limits, |r| {
                    r.output_lines = kept.lines;
                    r.first_line_exceeds_limit = first_line_exceeds_limit;
                });
            }
            None => {
                end = kept.bytes as usize + with_break as usize;
                kept.add(with_break);
            }
        }
    }
    if text.len() as u64 > limits.bytes {
        // pi: every line fits and the final newline alone is too much: it goes, "by lines".
        return record(text, &text[..end], total_lines, Some(Limit::Lines), limits, |r| {
            r.output_lines = kept.lines;
        });
    }
    record(text, text, total_lines, None, limits, |_| ())
}

/// Keeps whole trailing lines; of a last line over the byte limit its end, cut at a character.
pub fn tail(text: &str, limits: Limits) -> Truncation {
    let total_lines = count_lines(text);
    if total_lines <= limits.lines && text.len() as u64 <= limits.bytes {
        return record(text, text, total_lines, None, limits, |_| ());
    }
    let body = text.strip_suffix('\n').unwrap_or(text);
    let mut kept = Kept::default();
    let mut start = body.len();
    for line in body.rsplit('\n') {
        let with_break = line.len() as u64 + u64::from(kept.lines > 0);
        match kept.limit_hit(with_break, limits) {
            Some(Limit::Bytes) if kept.lines == 0 => {
                let cut = ceil_boundary(body, body.len() - limits.bytes as usize);
                return record(text, &body[cut..], total_lines, Some(Limit::Bytes), limits, |r| {
                    r.last_line_partial = true;
                });
            }
            Some(limit) => {
                return record(text, &body[start..], total_lines, Some(limit), limits, |r| {
                    r.output_lines = kept.lines;
                });
            }
            None => {
                kept.add(with_break);
                start = body.len() - kept.bytes as usize;
            }
        }
    }
    // pi: as in `head`, the final newline alone was too much.
    record(text, body, total_lines, Some(Limit::Lines), limits, |r| r.output_lines = kept.lines)
}

/// Keeps the first `max_units` UTF-16 units of a line and says so; never half a character.
pub fn line(text: &str, max_units: usize) -> (Cow<'_, str>, bool) {
    if text.len() <= max_units {
        return (Cow::Borrowed(text), false);
    }
    let mut units = 0;
    for (at, character) in text.char_indices() {
        units += character.len_utf16();
        if units > max_units {
            return (Cow::Owned(format!("{}{CUT_LINE_SUFFIX}", &text[..at])), true);
        }
    }
    (Cow::Borrowed(text), false)
}

/// A size for people: `512B`, `50.0KB`, `1.2MB`.
pub fn format_size(bytes: u64) -> String {
    const KIB: f64 = 1024.0;
    let size = bytes as f64;
    if size < KIB {
        format!("{bytes}B")
    } else if size < KIB * KIB {
        format!("{:.1}KB", size / KIB)
    } else {
        format!("{:.1}MB", size / (KIB * KIB))
    }
}

/// The lines of a text, pi's way of counting.
pub fn count_lines(text: &str) -> u64 {
    let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
    breaks + u64::from(!text.is_empty() && !text.ends_with('\n'))
}

/// The largest character boundary at or before `at`.
pub fn floor_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// The smallest character boundary at or after `at`.
pub fn ceil_boundary(text: &str, at: usize) -> usize {
    (at..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

#[derive(Default)]
struct Kept {
    lines: u64,
    bytes: u64,
}

impl Kept {
    /// The limit that one more line of so many bytes would break.
    fn limit_hit(&self, bytes: u64, limits: Limits) -> Option<Limit> {
        if self.lines >= limits.lines {
            Some(Limit::Lines)
        } else if self.bytes + bytes > limits.bytes {
            Some(Limit::Bytes)
        } else {
            None
        }
    }

    fn add(&mut self, bytes: u64) {
        self.lines += 1;
        self.bytes += bytes;
    }
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let has_lines = !text.is_empty();
    body.split('\n').filter(move |_| has_lines)
}

fn record(
    text: &str,
    kept: &str,
    total_lines: u64,
    truncated_by: Option<Limit>,
    limits: Limits,
    adjust: impl FnOnce(&mut Truncation),
) -> Truncation {
    let mut record = Truncation {
        content: kept.to_owned(),
        truncated: truncated_by.is_some(),
        truncated_by,
        total_lines,
        total_bytes: text.len() as u64,
        output_lines: count_lines(kept),
        output_bytes: kept.len() as u64,
        last_line_partial: false,
        first_line_exceeds_limit: false,
        max_lines: limits.lines,
        max_bytes: limits.bytes,
    };
    adjust(&mut record);
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { lines: 3, bytes: 10 };

    #[test]
    fn a_final_newline_alone_over_the_limit_goes_by_lines() {
        for cut in [head, tail] {
            let record = cut("0123456789\n", LIMITS);
            assert_eq!((record.content.as_str(), record.truncated_by), ("0123456789", Some(Limit::Lines)));
            assert_eq!((record.total_lines, record.output_lines), (1, 1));
            assert!(!cut("012345678\n", LIMITS).truncated);
        }
    }

    #[test]
    fn kept_lines_count_though_the_last_is_empty() {
        let record = head("a\n\n\nb\n", LIMITS);
        assert_eq!((record.content.as_str(), record.output_lines), ("a\n\n", 3));
        let record = tail("a\nb\n\n\n", LIMITS);
        assert_eq!((record.content.as_str(), record.output_lines), ("b\n\n", 3));
    }
}
