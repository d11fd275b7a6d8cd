//! Text of a session as a person may see it in a list: one line, of bounded length, harmless to a terminal.

use std::borrow::Cow;

use crate::cli::terminal;

/// Appends up to `limit` characters of a text, every run of blanks and line breaks as one blank; what is cut
/// off shows as `…`. `is_cut`: the text itself is only the beginning.
pub(super) fn append(text: &str, limit: usize, is_cut: bool, out: &mut String) {
    let harmless = terminal::without_controls(text.as_bytes());
    let text = match &harmless {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(bytes) => String::from_utf8_lossy(bytes),
    };
    let (mut count, mut is_pending) = (0, false);
    for character in text.chars().filter(|character| !turns_text(*character)) {
        if character.is_whitespace() || character.is_control() {
            is_pending = count > 0;
            continue;
        }
        let taken = 1 + usize::from(is_pending);
        if count + taken > limit {
            out.push('…');
            return;
        }
        if std::mem::take(&mut is_pending) {
            out.push(' ');
        }
        out.push(character);
        count += taken;
    }
    if is_cut {
        out.push('…');
    }
}

/// The same as a text of its own.
pub(super) fn of(text: &str, limit: usize) -> String {
    let mut out = String::new();
    append(text, limit, false, &mut out);
    out
}

/// Invisible characters that turn the direction of what follows.
fn turns_text(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_collapse_controls_vanish_and_length_is_bounded() {
        assert_eq!(of("  one\n\n two\u{2028}three \u{202e}", 80), "one two three");
        assert_eq!(of("one\ntwo\x1b]0;pwn\x07", 80), "one two");
        assert_eq!(of("abcdef", 4), "abcd…");
        assert_eq!(of("abc def", 4), "abc…");
        assert_eq!(of("äöü", 3), "äöü");
    }
}
