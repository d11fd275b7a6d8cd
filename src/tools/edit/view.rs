//! How matching sees a file: its line breaks as LF, and its fuzzy form. Owns both views and the way
//! back from a place in a view to the bytes of the file.

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizer;
use memchr::{memchr, memchr_iter, memchr2, memrchr2};

/// The UTF-8 byte order mark.
pub const BOM: &[u8] = "\u{feff}".as_bytes();
/// What a byte that is not UTF-8 looks like in a lossy view.
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// One line of a text: content at `start..end`, its break (none at the end of the text) at `end..next`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The first byte.
    pub start: usize,
    /// Behind the content.
    pub end: usize,
    /// Behind the line break.
    pub next: usize,
}

impl Line {
    /// The line that starts at `start`; `None` at the end of the text.
    pub fn at(bytes: &[u8], start: usize) -> Option<Self> {
        let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
        let Some(length) = memchr2(b'\r', b'\n', rest) else {
            return Some(Self { start, end: bytes.len(), next: bytes.len() });
        };
        let end = start + length;
        let width = if bytes[end..].starts_with(b"\r\n") { 2 } else { 1 };
        Some(Self { start, end, next: end + width })
    }

    /// The line that holds the place `at`, which is not inside a CRLF.
    pub fn around(bytes: &[u8], at: usize) -> Self {
        let start = memrchr2(b'\r', b'\n', &bytes[..at]).map_or(0, |before| before + 1);
        Self::at(bytes, start).unwrap_or(Self { start, end: start, next: start })
    }
}

/// The lines of a text; a final line break does not start another one.
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = Line> + '_ {
    let mut start = 0;
    std::iter::from_fn(move || {
        let line = Line::at(bytes, start)?;
        start = line.next;
        Some(line)
    })
}

/// How many line breaks there are.
pub fn count_breaks(bytes: &[u8]) -> usize {
    let lone_cr = memchr_iter(b'\r', bytes).filter(|&at| bytes.get(at + 1) != Some(&b'\n'));
    memchr_iter(b'\n', bytes).count() + lone_cr.count()
}

/// Where the line `count` lines below the line start `from` starts; `None` if there are fewer breaks.
pub fn below(bytes: &[u8], from: usize, count: usize) -> Option<usize> {
    const BLOCK: usize = 32 * 1024;
    let (mut at, mut left) = (from, count);
    while left > 0 {
        let block = &bytes[at..bytes.len().min(at + BLOCK)];
        let breaks = memchr_iter(b'\n', block).count();
        if breaks < left && !block.is_empty() && memchr(b'\r', block).is_none() {
            at += block.len();
            left -= breaks;
            continue;
        }
        let block_end = at + block.len();
        while left > 0 && (at < block_end || block.is_empty()) {
            let line = Line::at(bytes, at)?;
            if line.next == line.end {
                return None;
            }
            at = line.next;
            left -= 1;
        }
    }
    Some(at)
}

/// Where the line `count` lines above the line start `from` starts, or the start of the text.
pub fn above(bytes: &[u8], from: usize, count: usize) -> usize {
    (0..count).fold(from, |start, _| match start {
        0 => 0,
        _ if bytes[..start].ends_with(b"\r\n") => Line::around(bytes, start - 2).start,
        _ => Line::around(bytes, start - 1).start,
    })
}

/// A text with all its line breaks as LF.
pub fn with_lf(bytes: &[u8]) -> Cow<'_, [u8]> {
    Exact::new(bytes, false).text
}

/// The view for exact matching: line breaks as LF; on demand, invalid UTF-8 as U+FFFD.
pub struct Exact<'a> {
    bytes: &'a [u8],
    is_lossy: bool,
    /// The text to search.
    pub text: Cow<'a, [u8]>,
}

/// A stretch of the file and what the view shows for it.
enum Stretch<'a> {
    /// Shown as it is.
    Same(&'a [u8]),
    /// So many bytes, shown as this.
    Other(usize, &'static [u8]),
}

impl<'a> Exact<'a> {
    /// Views `bytes`; nothing is copied when there is nothing to change.
    pub fn new(bytes: &'a [u8], is_lossy: bool) -> Self {
        let mut view = Self { bytes, is_lossy, text: Cow::Borrowed(bytes) };
        if memchr(b'\r', bytes).is_some() || (is_lossy && std::str::from_utf8(bytes).is_err()) {
            let mut text = Vec::with_capacity(bytes.len());
            view.walk(|stretch| match stretch {
                Stretch::Same(part) => text.extend_from_slice(part),
                Stretch::Other(_, shown) => text.extend_from_slice(shown),
            });
            view.text = Cow::Owned(text);
        }
        view
    }

    /// The places in the file for ascending places in the view.
    pub fn to_bytes(&self, places: &[usize]) -> Vec<usize> {
        if matches!(self.text, Cow::Borrowed(_)) {
            return places.to_vec();
        }
        let mut found = Vec::with_capacity(places.len());
        let (mut shown, mut original) = (0, 0);
        self.walk(|stretch| {
            let (width, showing) = match stretch {
                Stretch::Same(part) => (part.len(), part.len()),
                Stretch::Other(width, text) => (width, text.len()),
            };
            while let Some(place) = places.get(found.len()).filter(|&&place| place < shown + showing) {
                found.push(original + (place - shown));
            }
            shown += showing;
            original += width;
        });
        found.resize(places.len(), original);
        found
    }

    fn walk(&self, mut visit: impl FnMut(Stretch<'a>)) {
        let mut at = 0;
        while at < self.bytes.len() {
            let end = memchr(b'\r', &self.bytes[at..]).map_or(self.bytes.len(), |length| at + length);
            let part = &self.bytes[at..end];
            if self.is_lossy {
                for chunk in part.utf8_chunks() {
                    visit(Stretch::Same(chunk.valid().as_bytes()));
                    if !chunk.invalid().is_empty() {
                        visit(Stretch::Other(chunk.invalid().len(), REPLACEMENT));
                    }
                }
            } else {
                visit(Stretch::Same(part));
            }
            let width = match &self.bytes[end..] {
                [b'\r', b'\n', ..] => 2,
                [b'\r', ..] => 1,
                _ => break,
            };
            visit(Stretch::Other(width, b"\n"));
            at = end + width;
        }
    }
}

/// The fuzzy form of a text: line by line NFKC, no trailing white space, quotes and dashes in ASCII,
/// breaks as LF. It has as many lines as the text (spec: edit, rule 3).
pub fn fuzzy(bytes: &[u8]) -> Cow<'_, [u8]> {
    if is_plain(bytes) {
        return Cow::Borrowed(bytes);
    }
    let mut text = Vec::with_capacity(bytes.len());
    for line in lines(bytes) {
        text.extend_from_slice(&fuzzy_line(&bytes[line.start..line.end]));
        if line.next > line.end {
            text.push(b'\n');
        }
    }
    Cow::Owned(text)
}

/// The fuzzy form of a line without its break.
pub fn fuzzy_line(line: &[u8]) -> Cow<'_, [u8]> {
    if line.is_ascii() {
        let blanks = line.iter().rev().take_while(|byte| is_blank(**byte)).count();
        return Cow::Borrowed(&line[..line.len() - blanks]);
    }
    match String::from_utf8_lossy(line) {
        Cow::Borrowed(text) => fuzzy_text(text),
        Cow::Owned(text) => Cow::Owned(fuzzy_text(&text).into_owned()),
    }
}

fn fuzzy_text(text: &str) -> Cow<'_, [u8]> {
    /// How the quotes and dashes of [`in_ascii`] start in UTF-8.
    const LEAD: u8 = 0xE2;
    let text = ComposingNormalizer::new_nfkc().normalize(text);
    let kept = text.trim_end_matches(is_space).len();
    if memchr(LEAD, &text.as_bytes()[..kept]).is_some() {
        return Cow::Owned(text[..kept].chars().map(in_ascii).collect::<String>().into_bytes());
    }
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text.as_bytes()[..kept]),
        Cow::Owned(mut text) => {
            text.truncate(kept);
            Cow::Owned(text.into_bytes())
        }
    }
}

/// The part `from..to` of a line's fuzzy form as it is written back: bytes that are not UTF-8, which
/// the view shows as U+FFFD, come out as they were.
pub fn restored(line: &[u8], fuzzy: &[u8], from: usize, to: usize) -> Vec<u8> {
    let part = &fuzzy[from..to];
    if std::str::from_utf8(line).is_ok() {
        return part.to_vec();
    }
    // U+FFFD neither decomposes nor composes nor moves: the nth of one form is the nth of the other.
    let mut shown_as_replacement = line.utf8_chunks().flat_map(|chunk| {
        let genuine = chunk.valid().matches('\u{fffd}').count();
        std::iter::repeat_n(REPLACEMENT, genuine)
            .chain(Some(chunk.invalid()).filter(|invalid| !invalid.is_empty()))
    });
    let before = memchr::memmem::find_iter(&fuzzy[..from], REPLACEMENT).count();
    let mut shown_as_replacement = shown_as_replacement.by_ref().skip(before);
    let mut result = Vec::with_capacity(part.len());
    let mut copied = 0;
    for at in memchr::memmem::find_iter(part, REPLACEMENT) {
        result.extend_from_slice(&part[copied..at]);
        result.extend_from_slice(shown_as_replacement.next().unwrap_or(REPLACEMENT));
        copied = at + REPLACEMENT.len();
    }
    result.extend_from_slice(&part[copied..]);
    result
}

/// Whether the fuzzy form of a text is the text itself, seen without building it.
fn is_plain(bytes: &[u8]) -> bool {
    // Chunks overlap by a byte, so that every byte is seen together with the one behind it.
    const CHUNK: usize = 4096;
    let is_odd = |chunk: &[u8]| {
        let pairs = chunk.iter().zip(&chunk[1..]);
        pairs.fold(false, |odd, (&byte, &next)| odd | (next == b'\n') & is_blank(byte) | (byte == b'\r'))
    };
    let ends_plain = bytes.last().is_none_or(|&byte| !is_blank(byte) && byte != b'\r');
    ends_plain
        && bytes.is_ascii()
        && !(0..bytes.len()).step_by(CHUNK).any(|at| is_odd(&bytes[at..bytes.len().min(at + CHUNK + 1)]))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0B | 0x0C)
}

/// JavaScript's white space: with U+FEFF, without U+0085.
fn is_space(c: char) -> bool {
    c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
}

/// The quotes and dashes that stand for ASCII ones. NFKC has made every other blank a space before.
fn in_ascii(c: char) -> char {
    match c {
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        other => other,
    }
}
