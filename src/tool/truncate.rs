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
    if count_lines(text) <= limits.lines && text.len() as u64 <= limits.bytes {
        return whole(text, limits);
    }
    let body = text.strip_suffix('\n').unwrap_or(text);
    let mut kept = Kept::default();
    for line in body.split('\n') {
        if let Some(limit) = kept.add(line, limits) {
            let first_line_exceeds_limit = kept.lines == 0 && limit == Limit::Bytes;
            let record = cut(text, &body[..kept.bytes as usize], kept.lines, limit, limits);
            return Truncation { first_line_exceeds_limit, ..record };
        }
    }
    only_the_final_newline(text, body, kept, limits)
}

/// Keeps whole trailing lines; of a last line over the byte limit its end, cut at a character.
pub fn tail(text: &str, limits: Limits) -> Truncation {
    if count_lines(text) <= limits.lines && text.len() as u64 <= limits.bytes {
        return whole(text, limits);
    }
    let body = text.strip_suffix('\n').unwrap_or(text);
    let mut kept = Kept::default();
    for line in body.rsplit('\n') {
        match kept.add(line, limits) {
            Some(Limit::Bytes) if kept.lines == 0 => {
                let end = &body[ceil_boundary(body, body.len() - limits.bytes as usize)..];
                let record = cut(text, end, 1, Limit::Bytes, limits);
                return Truncation { last_line_partial: true, ..record };
            }
            Some(limit) => {
                let start = body.len() - kept.bytes as usize;
                return cut(text, &body[start..], kept.lines, limit, limits);
            }
            None => {}
        }
    }
    only_the_final_newline(text, body, kept, limits)
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

/// Whole lines and the breaks between them.
#[derive(Default)]
struct Kept {
    lines: u64,
    bytes: u64,
}

impl Kept {
    /// Takes one more line, or names the limit that it would break.
    fn add(&mut self, line: &str, limits: Limits) -> Option<Limit> {
        let bytes = self.bytes + line.len() as u64 + u64::from(self.lines > 0);
        if self.lines >= limits.lines {
            return Some(Limit::Lines);
        }
        if bytes > limits.bytes {
            return Some(Limit::Bytes);
        }
        self.lines += 1;
        self.bytes = bytes;
        None
    }
}

/// All lines are within the limits, and only the newline behind the last one is not.
fn only_the_final_newline(text: &str, body: &str, kept: Kept, limits: Limits) -> Truncation {
    // pi: names the limit of lines, though it is the last byte that is too much.
    cut(text, body, kept.lines, Limit::Lines, limits)
}

fn whole(text: &str, limits: Limits) -> Truncation {
    let lines = count_lines(text);
    Truncation {
        content: text.to_owned(),
        truncated: false,
        truncated_by: None,
        total_lines: lines,
        total_bytes: text.len() as u64,
        output_lines: lines,
        output_bytes: text.len() as u64,
        last_line_partial: false,
        first_line_exceeds_limit: false,
        max_lines: limits.lines,
        max_bytes: limits.bytes,
    }
}

fn cut(text: &str, kept: &str, lines: u64, by: Limit, limits: Limits) -> Truncation {
    Truncation {
        content: kept.to_owned(),
        truncated: true,
        truncated_by: Some(by),
        total_lines: count_lines(text),
        total_bytes: text.len() as u64,
        output_lines: lines,
        output_bytes: kept.len() as u64,
        last_line_partial: false,
        first_line_exceeds_limit: false,
        max_lines: limits.lines,
        max_bytes: limits.bytes,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SMALL: Limits = Limits { lines: 3, bytes: 10 };

    #[test]
    fn what_fits_is_kept_to_the_last_byte() {
        for text in ["", "\n", "a", "a\n", "a\nb\nc\n", "123456789\n", "\n\n\n"] {
            for record in [head(text, SMALL), tail(text, SMALL)] {
                assert_eq!((record.content.as_str(), record.truncated_by), (text, None));
                assert_eq!(record.output_lines, count_lines(text));
            }
        }
    }

    #[test]
    fn the_limit_reached_first_is_named() {
        let by_lines = head("a\nb\nc\nd\n", SMALL);
        assert_eq!((by_lines.content.as_str(), by_lines.truncated_by), ("a\nb\nc", Some(Limit::Lines)));
        assert_eq!((by_lines.total_lines, by_lines.output_lines, by_lines.output_bytes), (4, 3, 5));
        let by_bytes = tail("aaaa\nbbbb\ncccc\ndddd\n", SMALL);
        assert_eq!((by_bytes.content.as_str(), by_bytes.truncated_by), ("cccc\ndddd", Some(Limit::Bytes)));
        assert_eq!((by_bytes.total_lines, by_bytes.output_lines, by_bytes.output_bytes), (4, 2, 9));
    }

    #[test]
    fn empty_lines_at_an_edge_count_as_lines() {
        let first = head("\n\n\n\n\n", SMALL);
        assert_eq!((first.content.as_str(), first.output_lines, first.output_bytes), ("\n\n", 3, 2));
        let last = tail("a\nb\n\n\n", SMALL);
        assert_eq!((last.content.as_str(), last.output_lines, last.output_bytes), ("b\n\n", 3, 3));
    }

    #[test]
    fn the_head_keeps_nothing_of_a_first_line_that_is_too_long() {
        let record = head("12345678901\nb\n", SMALL);
        assert!(record.first_line_exceeds_limit && !record.last_line_partial);
        assert_eq!((record.content.as_str(), record.output_lines, record.output_bytes), ("", 0, 0));
        let without_lines = head("a\n", Limits { lines: 0, bytes: 10 });
        assert!(!without_lines.first_line_exceeds_limit, "the line limit was reached, not the line's");
    }

    #[test]
    fn the_tail_keeps_the_end_of_a_last_line_that_is_too_long() {
        let record = tail("a\n€€€€\n", SMALL);
        assert!(record.last_line_partial && !record.first_line_exceeds_limit);
        assert_eq!((record.content.as_str(), record.output_lines, record.output_bytes), ("€€€", 1, 9));
        assert_eq!((record.total_lines, record.total_bytes), (2, 15));
    }

    #[test]
    fn a_final_newline_alone_can_be_too_much() {
        for record in [tail("1234567890\n", SMALL), head("1234567890\n", SMALL)] {
            assert_eq!((record.content.as_str(), record.truncated_by), ("1234567890", Some(Limit::Lines)));
            assert!(!record.last_line_partial && !record.first_line_exceeds_limit);
            assert_eq!(record.output_lines, 1);
        }
    }

    #[test]
    fn a_long_line_is_cut_by_utf16_units_and_between_characters() {
        assert_eq!(line("abc", 3), (Cow::Borrowed("abc"), false));
        assert_eq!(line("abcd", 3), (Cow::Owned(format!("abc{CUT_LINE_SUFFIX}")), true));
        assert_eq!(line("ééé", 3), (Cow::Borrowed("ééé"), false));
        assert_eq!(line("a😀b", 2), (Cow::Owned(format!("a{CUT_LINE_SUFFIX}")), true));
    }

    #[test]
    fn sizes_are_for_people() {
        let shown = [0, 1023, 1024, 51200, 1024 * 1024 - 1, 1024 * 1024, 1_258_291].map(format_size);
        assert_eq!(shown, ["0B", "1023B", "1.0KB", "50.0KB", "1024.0KB", "1.0MB", "1.2MB"]);
    }

    /// Texts with many breaks and characters of every width.
    fn texts() -> impl Strategy<Value = String> {
        "[a\n\n\r é€😀]{0,60}"
    }

    fn limits() -> impl Strategy<Value = Limits> {
        (0..8_u64, 0..40_u64).prop_map(|(lines, bytes)| Limits { lines, bytes })
    }

    proptest! {
        #[test]
        fn a_head_is_the_longest_run_of_whole_leading_lines_within_the_limits(text in texts(), limits in limits()) {
            let record = head(&text, limits);
            let body = text.strip_suffix('\n').unwrap_or(&text);
            let all: Vec<&str> = if text.is_empty() { vec![] } else { body.split('\n').collect() };
            let fits = |count: usize| {
                count as u64 <= limits.lines && all[..count].join("\n").len() as u64 <= limits.bytes
            };
            let count = (0..=all.len()).rev().find(|count| *count == 0 || fits(*count)).unwrap();
            prop_assert!(record.content == all[..count].join("\n") || record.content == text);
            prop_assert_eq!(record.truncated, record.content != text);
            prop_assert!(record.output_bytes <= limits.bytes);
            prop_assert_eq!(record.output_lines, count as u64);
            prop_assert_eq!(record.total_lines, all.len() as u64);
            prop_assert_eq!(record.output_bytes, record.content.len() as u64);
        }

        #[test]
        fn a_tail_is_the_longest_run_of_whole_trailing_lines_within_the_limits(text in texts(), limits in limits()) {
            let record = tail(&text, limits);
            let body = text.strip_suffix('\n').unwrap_or(&text);
            let all: Vec<&str> = if text.is_empty() { vec![] } else { body.split('\n').collect() };
            let joined = |count: usize| all[all.len() - count..].join("\n");
            let fits = |count: usize| count as u64 <= limits.lines && joined(count).len() as u64 <= limits.bytes;
            let count = (0..=all.len()).rev().find(|count| *count == 0 || fits(*count)).unwrap();
            if record.last_line_partial {
                prop_assert_eq!(count, 0);
                prop_assert!(limits.lines > 0);
                prop_assert!(body.ends_with(&record.content));
                prop_assert!(record.output_bytes <= limits.bytes);
                let next = all[all.len() - 1].chars().rev().map(char::len_utf8).scan(0, |sum, len| { *sum += len; Some(*sum as u64) });
                prop_assert_eq!(next.take_while(|sum| *sum <= limits.bytes).last().unwrap_or(0), record.output_bytes);
            } else {
                prop_assert!(record.content == joined(count) || record.content == text);
                prop_assert_eq!(record.output_lines, count as u64);
                prop_assert!(record.output_bytes <= limits.bytes);
            }
            prop_assert_eq!(record.truncated, record.content != text);
            prop_assert_eq!(record.total_bytes, text.len() as u64);
        }

        #[test]
        fn a_cut_line_is_a_prefix_within_its_units(text in "[a-c é😀]{0,20}", max in 0..12_usize) {
            let (shown, was_cut) = line(&text, max);
            let kept = shown.strip_suffix(CUT_LINE_SUFFIX).unwrap_or(&shown);
            prop_assert!(text.starts_with(kept));
            prop_assert!(kept.encode_utf16().count() <= max);
            prop_assert_eq!(was_cut, text.encode_utf16().count() > max);
            if was_cut {
                prop_assert!(kept.encode_utf16().count() + 2 > max, "at most half a pair is given up");
            }
        }
    }
}
