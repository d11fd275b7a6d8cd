//! The fuzzy form of a text, in which careless spelling does not show (spec: edit, rule 3). Owns the
//! form, what of it is written back, and a quick test for where a word cannot be.

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizer;
use memchr::{memchr, memmem};

use super::view::{REPLACEMENT, lines};

/// The fuzzy form: line by line NFKC, no trailing white space, quotes and dashes in ASCII, breaks as
/// LF. It has as many lines as the text.
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
    let before = memmem::find_iter(&fuzzy[..from], REPLACEMENT).count();
    let mut shown_as_replacement = shown_as_replacement.by_ref().skip(before);
    let mut result = Vec::with_capacity(part.len());
    let mut copied = 0;
    for at in memmem::find_iter(part, REPLACEMENT) {
        result.extend_from_slice(&part[copied..at]);
        result.extend_from_slice(shown_as_replacement.next().unwrap_or(REPLACEMENT));
        copied = at + REPLACEMENT.len();
    }
    result.extend_from_slice(&part[copied..]);
    result
}

/// Whether the fuzzy form of a text is the text itself, seen without building it.
pub fn is_plain(bytes: &[u8]) -> bool {
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

/// Whether the fuzzy form of `bytes` may hold ASCII letters or digits that `bytes` does not show as
/// such. Everything that NFKC turns into one lies in these ranges, with some neighbours.
pub fn may_hide_words(bytes: &[u8]) -> bool {
    let hides = |rest: &[u8]| match *rest {
        [0xC2, next, ..] => matches!(next, 0xAA | 0xB2 | 0xB3 | 0xB9..=0xBE),
        [0xC4, next, ..] => next >= 0xB2,
        [0xC5, next, ..] => matches!(next, 0x80..=0x89 | 0xBF),
        [0xC7, next, ..] => matches!(next, 0x84..=0xB3),
        [0xCA, next, ..] => next >= 0xB0,
        [0xCB, next, ..] => matches!(next, 0xA0..=0xA3),
        [0xE1, next, ..] => matches!(next, 0xB4..=0xBB),
        [0xE2, 0x81, next, ..] => next >= 0xB0,
        [0xE2, 0x82, next, ..] => next <= 0xA8,
        [0xE2, next, ..] => matches!(next, 0x84..=0x86 | 0x91..=0x93 | 0xB1),
        [0xE3, next, ..] => matches!(next, 0x88..=0x8F),
        [0xEA, next, ..] => matches!(next, 0x9C..=0x9F | 0xAD),
        [0xEF, 0xBC, next, ..] => matches!(next, 0x90..=0x99 | 0xA1..=0xBA),
        [0xEF, 0xBD, next, ..] => matches!(next, 0x81..=0x9A),
        [0xEF, next, ..] => next == 0xAC,
        [0xF0, next, ..] => matches!(next, 0x90 | 0x9C..=0x9F),
        _ => false,
    };
    !bytes.is_ascii() && (0..bytes.len()).any(|at| bytes[at] >= 0xC2 && hides(&bytes[at..]))
}
