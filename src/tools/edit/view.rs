//! A text by lines, whatever ends them: LF, CRLF or a lone CR. Owns the walk over lines and the view of
//! a text in which every break is an LF.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter, memchr2, memrchr2};

/// The UTF-8 byte order mark.
pub const BOM: &[u8] = "\u{feff}".as_bytes();
/// What a byte that is not UTF-8 looks like in a lossy view.
pub const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

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
    const BLOCK: usize = if cfg!(test) { 8 } else { 32 * 1024 };
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

/// A text with all its line breaks as LF; nothing is copied when they are.
pub fn with_lf(bytes: &[u8]) -> Cow<'_, [u8]> {
    if memchr(b'\r', bytes).is_none() {
        return Cow::Borrowed(bytes);
    }
    let mut text = Vec::with_capacity(bytes.len());
    for line in lines(bytes) {
        text.extend_from_slice(&bytes[line.start..line.end]);
        if line.next > line.end {
            text.push(b'\n');
        }
    }
    Cow::Owned(text)
}

/// The same with every byte sequence that is not UTF-8 as U+FFFD.
pub fn lossy_with_lf(bytes: &[u8]) -> Cow<'_, [u8]> {
    if std::str::from_utf8(bytes).is_ok() {
        return with_lf(bytes);
    }
    // A CR is never part of such a sequence, so the order of the two does not matter.
    let text = String::from_utf8_lossy(bytes).into_owned().into_bytes();
    match with_lf(&text) {
        Cow::Borrowed(_) => Cow::Owned(text),
        Cow::Owned(text) => Cow::Owned(text),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_kind_of_break_ends_a_line() {
        let text = b"a\r\n\rb\n\n\r\rc";
        let contents: Vec<&[u8]> = lines(text).map(|line| &text[line.start..line.end]).collect();
        assert_eq!(contents, [&b"a"[..], b"", b"b", b"", b"", b"", b"c"]);
        assert_eq!(with_lf(text).as_ref(), b"a\n\nb\n\n\n\nc");
    }

    proptest! {
        #[test]
        fn walking_up_undoes_walking_down(text in "[a\r\n]{0,40}", from in 0..9_usize, count in 0..9_usize) {
            let text = text.as_bytes();
            let starts: Vec<usize> = std::iter::once(0).chain(lines(text).filter(|line| line.next > line.end).map(|line| line.next)).collect();
            prop_assert_eq!(count_breaks(text), starts.len() - 1);
            let from = from.min(starts.len() - 1);
            prop_assert_eq!(below(text, starts[from], count), starts.get(from + count).copied());
            prop_assert_eq!(above(text, starts[from], count), starts[from.saturating_sub(count)]);
            prop_assert_eq!(Line::around(text, starts[from]).start, starts[from]);
        }
    }
}
