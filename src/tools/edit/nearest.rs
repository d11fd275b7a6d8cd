//! The place that comes nearest to a text that is not there, and why it does not match. The search is
//! bounded: it looks at a few places that share a long word with the text.

use std::fmt;

use memchr::memmem;
use serde::Serialize;

use super::fuzzy;
use super::view::{self, Line};

/// Words looked for.
const KEYS: usize = 3;
/// Places looked at for each word.
const PLACES: usize = 64;
/// Lines compared at each place.
const LINES: usize = 100;
/// A longer line is not compared.
const LINE_BYTES: usize = 16 * 1024;
/// How much of the file is searched without regard to case when no word is found as it stands.
const CASELESS_BYTES: usize = 4 * 1024 * 1024;
/// How much of a line is shown.
const SHOWN_CHARS: usize = 100;

/// A place that comes near.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Closest {
    /// Its first line, counted from 1.
    pub start_line: usize,
    /// Its last line.
    pub end_line: usize,
    /// Why the text does not match there.
    pub reason: Reason,
    /// The first line that does not match.
    #[serde(skip)]
    line: usize,
    /// How that line reads.
    #[serde(skip)]
    text: String,
}

/// What tells two texts apart; each kind includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The last line of the file has no line break, and the text has one.
    LineEnding,
    /// Blanks at the start of lines.
    Indentation,
    /// Other blanks.
    WhiteSpace,
    /// Quotes, or backslashes before them.
    Quotes,
    /// Upper and lower case.
    Case,
    /// Words.
    Text,
}

impl fmt::Display for Closest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { start_line, end_line, line, text, .. } = self;
        match start_line == end_line {
            true => write!(f, "Closest is line {line}")?,
            false => write!(f, "Closest are lines {start_line}-{end_line}; line {line}")?,
        }
        let differs = match self.reason {
            Reason::LineEnding => "has no line break at its end",
            Reason::Indentation => "differs in indentation",
            Reason::WhiteSpace => "differs in white space",
            Reason::Quotes => "differs in quotes or backslashes",
            Reason::Case => "differs in upper and lower case",
            Reason::Text => "differs",
        };
        let joint = if start_line == end_line { ", which " } else { " " };
        write!(f, "{joint}{differs}: {text}")
    }
}

/// The place in `bytes` that comes nearest to `old`, whose line breaks are LF.
pub fn find(bytes: &[u8], old: &[u8]) -> Option<Closest> {
    let sought = Sought::new(old)?;
    let mut best: Option<Closeness> = None;
    for (index, word) in sought.keys() {
        for line in places(bytes, word) {
            let Some(start) = lines_above(bytes, line.start, index) else { continue };
            let closeness = sought.compare(bytes, start);
            if best.as_ref().is_none_or(|best| closeness.rank() < best.rank()) {
                best = Some(closeness);
            }
        }
    }
    best.or_else(|| without_case(bytes, &sought))
        .filter(|best| sought.is_near(best))
        .map(|best| best.describe(bytes, sought.lines.len()))
}

/// The text that is not there, by lines.
struct Sought<'a> {
    lines: Vec<&'a [u8]>,
    is_terminated: bool,
}

/// How a text compares with the lines from a place on.
struct Closeness {
    start: usize,
    /// Lines that have nothing in common but their place.
    different: usize,
    /// The worst reason among the others.
    reason: Option<Reason>,
    /// The first line that does not match: which, and where.
    first: Option<(usize, Line)>,
    /// How much the words of a single line have in common, in percent.
    common: usize,
}

impl<'a> Sought<'a> {
    fn new(old: &'a [u8]) -> Option<Self> {
        let is_terminated = old.ends_with(b"\n");
        let body = old.strip_suffix(b"\n").unwrap_or(old);
        let lines: Vec<&[u8]> = body.split(|&byte| byte == b'\n').take(LINES).collect();
        let is_bounded = lines.iter().all(|line| line.len() <= LINE_BYTES);
        is_bounded.then_some(Self { lines, is_terminated })
    }

    /// The longest words, each with the index of its line: of one line, or one of each of several lines.
    fn keys(&self) -> Vec<(usize, &'a [u8])> {
        let of_line =
            |(index, line): (usize, &&'a [u8])| words(line).map(move |word| (index, word)).collect();
        let mut keys: Vec<(usize, &[u8])> = match self.lines.as_slice() {
            [only] => of_line((0, only)),
            lines => {
                let longest = lines.iter().enumerate().map(of_line);
                longest.filter_map(|words: Vec<_>| words.into_iter().max_by_key(|key| key.1.len())).collect()
            }
        };
        keys.sort_by_key(|(_, word)| std::cmp::Reverse(word.len()));
        keys.truncate(KEYS);
        keys
    }

    fn compare(&self, bytes: &[u8], start: usize) -> Closeness {
        let mut found = Closeness { start, different: 0, reason: None, first: None, common: 0 };
        let mut at = start;
        for (index, old) in self.lines.iter().enumerate() {
            let line = Line::at(bytes, at).unwrap_or(Line { start: at, end: at, next: at });
            let text = &bytes[line.start..line.end];
            let is_end = index + 1 == self.lines.len();
            let part = Part { is_start: index == 0, is_end: is_end && !self.is_terminated };
            let mut reason =
                if text.len() > LINE_BYTES { Some(Reason::Text) } else { part.reason(old, text) };
            if reason.is_none() && is_end && self.is_terminated && line.next == line.end {
                reason = Some(Reason::LineEnding);
            }
            if let Some(reason) = reason {
                found.first.get_or_insert((index, line));
                match reason {
                    Reason::Text => found.different += 1,
                    other => found.reason = found.reason.max(Some(other)),
                }
            }
            if self.lines.len() == 1 && reason == Some(Reason::Text) && text.len() <= LINE_BYTES {
                found.common = common_words(old, text);
            }
            at = line.next;
        }
        found
    }

    /// Whether a place is worth naming.
    fn is_near(&self, found: &Closeness) -> bool {
        match self.lines.len() {
            1 => found.different == 0 || found.common >= 50,
            lines => found.first.is_some() && found.different * 2 <= lines,
        }
    }
}

impl Closeness {
    fn rank(&self) -> (usize, std::cmp::Reverse<usize>, Option<Reason>) {
        (self.different, std::cmp::Reverse(self.common), self.reason)
    }

    fn describe(&self, bytes: &[u8], lines: usize) -> Closest {
        let start_line = 1 + view::count_breaks(&bytes[..self.start]);
        let reason = if self.different > 0 { Some(Reason::Text) } else { self.reason };
        let (index, line) = self.first.unwrap_or((0, Line::around(bytes, self.start)));
        let text = String::from_utf8_lossy(&bytes[line.start..line.end]);
        let mut shown: String = text.chars().take(SHOWN_CHARS).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        Closest {
            start_line,
            end_line: start_line + lines - 1,
            reason: reason.unwrap_or(Reason::Text),
            line: start_line + index,
            text: shown,
        }
    }
}

/// Where a line of the sought text stands: its first may start inside of a line, its last may end there.
struct Part {
    is_start: bool,
    is_end: bool,
}

impl Part {
    /// Why `old` does not match the line `text`; `None` if it does.
    fn reason(&self, old: &[u8], text: &[u8]) -> Option<Reason> {
        let [old, text] =
            [old, text].map(|line| String::from_utf8_lossy(&fuzzy::fuzzy_line(line)).into_owned());
        if self.fits(&old, &text) {
            return None;
        }
        let looser = [Reason::Indentation, Reason::WhiteSpace, Reason::Quotes, Reason::Case];
        let fitting = looser.into_iter().find(|&reason| self.fits(&reason.gloss(&old), &reason.gloss(&text)));
        Some(fitting.unwrap_or(Reason::Text))
    }

    fn fits(&self, old: &str, text: &str) -> bool {
        match (self.is_start, self.is_end) {
            (true, true) => text.contains(old),
            (true, false) => text.ends_with(old),
            (false, true) => text.starts_with(old),
            (false, false) => text == old,
        }
    }
}

impl Reason {
    /// A line without what this reason, and those before it, tell lines apart by.
    fn gloss(self, line: &str) -> String {
        let without_blanks = line.chars().filter(|c| !c.is_whitespace() && *c != '\u{feff}');
        match self {
            Self::LineEnding | Self::Text => line.to_owned(),
            Self::Indentation => line.trim_start().to_owned(),
            Self::WhiteSpace => without_blanks.collect(),
            Self::Quotes => without_blanks.filter(|c| *c != '\\').map(one_quote).collect(),
            Self::Case => Self::Quotes.gloss(line).to_lowercase(),
        }
    }
}

fn one_quote(c: char) -> char {
    if matches!(c, '"' | '`') { '\'' } else { c }
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_apart = |byte: &u8| !(byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80);
    line.split(is_apart).filter(|word| !word.is_empty())
}

/// How many of the words of `old` are in `text`, in percent.
fn common_words(old: &[u8], text: &[u8]) -> usize {
    let there: std::collections::HashSet<&[u8]> = words(text).collect();
    let (mut all, mut common) = (0, 0);
    for word in words(old) {
        all += 1;
        common += usize::from(there.contains(word));
    }
    (common * 100_usize).checked_div(all).unwrap_or_default()
}

/// The first lines that hold `word`.
fn places<'a>(bytes: &'a [u8], word: &'a [u8]) -> impl Iterator<Item = Line> + 'a {
    let finder = memmem::Finder::new(word);
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + finder.find(bytes.get(from..)?)?;
        let line = Line::around(bytes, at);
        from = line.next;
        Some(line)
    })
    .take(PLACES)
}

/// As [`view::above`], `None` when there are not that many lines.
fn lines_above(bytes: &[u8], from: usize, count: usize) -> Option<usize> {
    (0..count).try_fold(from, |start, _| (start > 0).then(|| view::above(bytes, start, 1)))
}

/// For a text none of whose words is there as it stands: line by line, case left aside.
fn without_case(bytes: &[u8], sought: &Sought<'_>) -> Option<Closeness> {
    let form = |line: &[u8]| Reason::Case.gloss(&String::from_utf8_lossy(line));
    let (index, anchor) = sought.lines.iter().enumerate().max_by_key(|(_, line)| line.len())?;
    let anchor = form(anchor);
    if anchor.is_empty() {
        return None;
    }
    let near = view::lines(&bytes[..bytes.len().min(CASELESS_BYTES)])
        .filter(|line| line.end - line.start <= LINE_BYTES)
        .find(|line| form(&bytes[line.start..line.end]).contains(&anchor))?;
    lines_above(bytes, near.start, index).map(|start| sought.compare(bytes, start))
}
