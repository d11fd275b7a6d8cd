//! What an edit changes, line by line. Owns the two ways to show it: numbered lines and a unified
//! patch. Only the neighbourhood of each replacement is compared, never the whole file.

use std::fmt::Write as _;
use std::ops::Range;

use super::myers::{self, Step};
use super::splice::Replacement;
use super::view::{self, Line};

/// Unchanged lines shown around a change.
const CONTEXT: usize = 4;
/// Unchanged lines that take part in the comparison on either side of a replacement.
const MARGIN: usize = 32;

/// The difference between a text and what replacements make of it.
#[derive(Debug)]
pub struct Diff {
    hunks: Vec<Hunk>,
    /// Lines of the old text.
    old_lines: usize,
    /// Digits of the largest line number.
    number_width: usize,
}

/// Changes with the unchanged lines around them.
#[derive(Debug)]
struct Hunk {
    /// Lines of the old text before it.
    old_before: usize,
    /// Lines of the new text before it.
    new_before: usize,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    sign: Sign,
    text: String,
    is_terminated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Kept,
    Removed,
    Added,
}

impl Diff {
    /// The difference that `replacements` make to `bytes`; `None` when the lines stay the same.
    pub fn new(bytes: &[u8], replacements: &[Replacement]) -> Option<Self> {
        let mut hunks = Vec::new();
        let (mut counted_to, mut old_before, mut new_before) = (0, 0, 0);
        let (mut old_breaks, mut new_breaks) = (0, 0);
        let mut rest = replacements;
        while let Some(window) = next_window(bytes, rest) {
            let inside = rest.partition_point(|one| one.end <= window.end);
            let (inside, behind) = rest.split_at(inside);
            rest = behind;
            let new_text = replaced(bytes, &window, inside);
            let skipped = view::count_breaks(&bytes[counted_to..window.start]);
            (old_before, new_before) = (old_before + skipped, new_before + skipped);
            counted_to = window.end;
            let old = tokens(&bytes[window]);
            let new = tokens(&new_text);
            collect(&old, &new, old_before, new_before, &mut hunks);
            old_before += old.len();
            new_before += new.len();
            old_breaks += skipped + breaks(&old);
            new_breaks += skipped + breaks(&new);
        }
        let tail = &bytes[counted_to..];
        let tail_breaks = view::count_breaks(tail);
        let is_open = !tail.is_empty() && !tail.ends_with(b"\n") && !tail.ends_with(b"\r");
        let most = 1 + tail_breaks + old_breaks.max(new_breaks);
        let old_lines = old_before + tail_breaks + usize::from(is_open);
        let number_width = most.to_string().len();
        Some(Self { hunks, old_lines, number_width }).filter(|diff| !diff.hunks.is_empty())
    }

    /// The first line of the new text that is not as it was.
    pub fn first_changed_line(&self) -> usize {
        let Some(hunk) = self.hunks.first() else { return 1 };
        hunk.new_before + hunk.rows.iter().take_while(|row| row.sign == Sign::Kept).count() + 1
    }

    /// For people and models: sign, line number, text; `...` where lines are left out.
    pub fn numbered(&self) -> String {
        let width = self.number_width;
        let mut text = String::new();
        let mut shown_to = 0;
        for hunk in &self.hunks {
            if hunk.old_before > shown_to {
                let _ = writeln!(text, " {:width$} ...", "");
            }
            let (mut old, mut new) = (hunk.old_before, hunk.new_before);
            for row in &hunk.rows {
                old += usize::from(row.sign != Sign::Added);
                new += usize::from(row.sign != Sign::Removed);
                let number = if row.sign == Sign::Added { new } else { old };
                let _ = writeln!(text, "{}{number:width$} {}", row.sign.as_char(), row.text);
            }
            shown_to = old;
        }
        if shown_to < self.old_lines {
            let _ = writeln!(text, " {:width$} ...", "");
        }
        text.pop();
        text
    }

    /// For programs: a unified patch of the file called `path`.
    pub fn patch(&self, path: &str) -> String {
        let mut text = format!("--- {path}\n+++ {path}\n");
        for hunk in &self.hunks {
            let count = |absent| hunk.rows.iter().filter(|row| row.sign != absent).count();
            let range = |before: usize, count| (before + usize::from(count > 0), count);
            let (old, old_count) = range(hunk.old_before, count(Sign::Added));
            let (new, new_count) = range(hunk.new_before, count(Sign::Removed));
            let _ = writeln!(text, "@@ -{old},{old_count} +{new},{new_count} @@");
            for row in &hunk.rows {
                let _ = writeln!(text, "{}{}", row.sign.as_char(), row.text);
                if !row.is_terminated {
                    text.push_str("\\ No newline at end of file\n");
                }
            }
        }
        text
    }
}

impl Sign {
    fn as_char(self) -> char {
        match self {
            Self::Kept => ' ',
            Self::Removed => '-',
            Self::Added => '+',
        }
    }
}

/// The lines around the first replacement, and around those after it whose lines touch.
fn next_window(bytes: &[u8], replacements: &[Replacement]) -> Option<Range<usize>> {
    let around = |one: &Replacement| {
        let first = Line::around(bytes, one.start).start;
        let behind = Line::around(bytes, one.end).next;
        let end = view::below(bytes, behind, MARGIN).unwrap_or(bytes.len());
        view::above(bytes, first, MARGIN)..end
    };
    let mut replacements = replacements.iter();
    let mut window = around(replacements.next()?);
    for next in replacements.map(around) {
        if next.start > window.end {
            break;
        }
        window.end = window.end.max(next.end);
    }
    Some(window)
}

/// What the replacements make of `bytes[window]`.
fn replaced(bytes: &[u8], window: &Range<usize>, replacements: &[Replacement]) -> Vec<u8> {
    let mut text = Vec::with_capacity(window.len());
    let mut kept_from = window.start;
    for Replacement { start, end, with } in replacements {
        text.extend_from_slice(&bytes[kept_from..*start]);
        text.extend_from_slice(with);
        kept_from = *end;
    }
    text.extend_from_slice(&bytes[kept_from..window.end]);
    text
}

/// A line: its content, and whether a break ends it. Which break does not matter.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Token<'a> {
    content: &'a [u8],
    is_terminated: bool,
}

fn tokens(text: &[u8]) -> Vec<Token<'_>> {
    let token =
        |line: Line| Token { content: &text[line.start..line.end], is_terminated: line.next > line.end };
    view::lines(text).map(token).collect()
}

fn breaks(tokens: &[Token<'_>]) -> usize {
    tokens.iter().filter(|token| token.is_terminated).count()
}

/// Adds the hunks of one window.
fn collect(
    old: &[Token<'_>],
    new: &[Token<'_>],
    old_before: usize,
    new_before: usize,
    hunks: &mut Vec<Hunk>,
) {
    let steps = myers::steps(old, new);
    let (mut old_at, mut new_at) = (0, 0);
    let mut open: Option<Hunk> = None;
    for (index, &step) in steps.iter().enumerate() {
        if let Step::Keep(count) = step {
            if let Some(mut hunk) = open.take() {
                let is_between = index + 1 < steps.len();
                let shown = if is_between && count <= 2 * CONTEXT { count } else { count.min(CONTEXT) };
                hunk.rows.extend(rows(Sign::Kept, &old[old_at..old_at + shown]));
                if is_between && shown == count {
                    open = Some(hunk);
                } else {
                    hunks.push(hunk);
                }
            }
            (old_at, new_at) = (old_at + count, new_at + count);
            continue;
        }
        let hunk = open.get_or_insert_with(|| {
            let lead = match index.checked_sub(1).map(|before| steps[before]) {
                Some(Step::Keep(count)) => count.min(CONTEXT),
                _ => 0,
            };
            Hunk {
                old_before: old_before + old_at - lead,
                new_before: new_before + new_at - lead,
                rows: rows(Sign::Kept, &old[old_at - lead..old_at]).collect(),
            }
        });
        match step {
            Step::Remove(count) => {
                hunk.rows.extend(rows(Sign::Removed, &old[old_at..old_at + count]));
                old_at += count;
            }
            Step::Add(count) | Step::Keep(count) => {
                hunk.rows.extend(rows(Sign::Added, &new[new_at..new_at + count]));
                new_at += count;
            }
        }
    }
    hunks.extend(open);
}

fn rows<'a>(sign: Sign, tokens: &'a [Token<'a>]) -> impl Iterator<Item = Row> + 'a {
    tokens.iter().map(move |token| Row {
        sign,
        text: String::from_utf8_lossy(token.content).into_owned(),
        is_terminated: token.is_terminated,
    })
}
