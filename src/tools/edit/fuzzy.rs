//! The fuzzy form of a text, in which careless spelling does not show (spec: edit, rule 3). Owns the
//! form, what of it is written back, and a quick test for where a word cannot be.

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizer;
use memchr::{memchr, memmem};

use super::view::{REPLACEMENT, lines};

/// The fuzzy form: line by line NFKC, no trailing white space, quotes and dashes in ASCII, breaks as
/// LF. It has as many line breaks as the text.
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
    const CHUNK: usize = if cfg!(test) { 8 } else { 4096 };
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
    const LEADS: [u8; 12] = [0xC2, 0xC4, 0xC5, 0xC7, 0xCA, 0xCB, 0xE1, 0xE2, 0xE3, 0xEA, 0xEF, 0xF0];
    const IS_LEAD: [bool; 256] = {
        let mut is_lead = [false; 256];
        let mut at = 0;
        while at < LEADS.len() {
            is_lead[LEADS[at] as usize] = true;
            at += 1;
        }
        is_lead
    };
    let hides = |at: usize| {
        let second = bytes.get(at + 1).copied().unwrap_or_default();
        let third = bytes.get(at + 2).copied().unwrap_or_default();
        match (bytes[at], second) {
            (0xC2, _) => matches!(second, 0xAA | 0xB2 | 0xB3 | 0xB9..=0xBE),
            (0xC4, _) => second >= 0xB2,
            (0xC5, _) => matches!(second, 0x80..=0x89 | 0xBF),
            (0xC7, _) => matches!(second, 0x84..=0xB3),
            (0xCA, _) => second >= 0xB0,
            (0xCB, _) => matches!(second, 0xA0..=0xA3),
            (0xE1, _) => matches!(second, 0xB4..=0xBB),
            (0xE2, 0x81) => third >= 0xB0,
            (0xE2, 0x82) => third <= 0xA8,
            (0xE2, _) => matches!(second, 0x84..=0x86 | 0x91..=0x93 | 0xB1),
            (0xE3, _) => matches!(second, 0x88..=0x8F),
            (0xEA, _) => matches!(second, 0x9C..=0x9F | 0xAD),
            (0xEF, 0xBC) => matches!(third, 0x90..=0x99 | 0xA1..=0xBA),
            (0xEF, 0xBD) => matches!(third, 0x81..=0x9A),
            (0xEF, _) => second == 0xAC,
            _ => matches!(second, 0x90 | 0x9C..=0x9F),
        }
    };
    !bytes.is_ascii() && bytes.iter().enumerate().any(|(at, &byte)| IS_LEAD[usize::from(byte)] && hides(at))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::view::count_breaks;
    use super::*;

    fn form(line: &str) -> String {
        String::from_utf8(fuzzy(line.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn careless_spelling_does_not_show() {
        assert_eq!(form("‘a’ ‚b‛ “c” „d‟"), "'a' 'b' \"c\" \"d\"");
        assert_eq!(form("1‐2‑3‒4–5—6―7−8"), "1-2-3-4-5-6-7-8");
        assert_eq!(form("a\u{a0}b\u{2003}c\u{202f}d\u{205f}e\u{3000}f\u{1680}g"), "a b c d e f\u{1680}g");
        assert_eq!(form("a \t\u{b}\r\nb\u{feff}\rc\u{85}\nd "), "a\nb\nc\u{85}\nd");
        assert_eq!(form("ﬁ Ａ e\u{301}"), "fi A é");
    }

    /// If this fails after an update of Unicode's data, a range is missing in `may_hide_words`.
    #[test]
    fn every_character_that_hides_a_word_is_suspected() {
        for c in ('\u{80}'..=char::MAX).filter(|&c| c != '\u{85}') {
            let text = c.to_string();
            let hides = form(&text).bytes().any(|byte| byte.is_ascii_alphanumeric());
            assert!(!hides || may_hide_words(text.as_bytes()), "{c} U+{:04X}", u32::from(c));
        }
        assert!(!may_hide_words("“größe” — данные，数据。".as_bytes()));
    }

    proptest! {
        #[test]
        fn the_form_has_as_many_breaks_and_is_its_own_form(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let once = fuzzy(&bytes).into_owned();
            prop_assert_eq!(count_breaks(&once), count_breaks(&bytes));
            prop_assert_eq!(fuzzy(&once).into_owned(), once);
        }

        #[test]
        fn what_is_plain_is_its_own_form(text in "[a ]{0,3}[\n\t]?[a\u{b}]{0,9}[ \n\r]{0,2}[aé]{0,10}") {
            prop_assert_eq!(is_plain(text.as_bytes()), form(&text) == text && text.is_ascii());
        }
    }
}
