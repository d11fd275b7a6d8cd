//! What may reach a terminal: colour by choice, and never somebody else's control sequences.

use std::borrow::Cow;

use crate::context::Environment;

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Whether to colour what goes to stdout.
    pub(super) fn is_on(self, to_terminal: bool, environment: &Environment) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                let refused = environment.get("NO_COLOR").is_some_and(|value| !value.is_empty());
                to_terminal && !refused && environment.get("TERM").is_none_or(|term| term != "dumb")
            }
        }
    }
}

/// A message without control characters other than line breaks and tabs.
pub(super) fn printable(message: &str) -> Cow<'_, str> {
    let is_harmless = |c: char| !c.is_control() || c == '\n' || c == '\t';
    if message.chars().all(is_harmless) {
        Cow::Borrowed(message)
    } else {
        Cow::Owned(String::from_utf8_lossy(&without_controls(message.as_bytes())).into_owned())
    }
}

/// Text as a person may see it: escape sequences and control characters (but line breaks and tabs)
/// are gone.
pub(super) fn without_controls(text: &[u8]) -> Cow<'_, [u8]> {
    let is_control = |byte: u8| (byte < b' ' && byte != b'\n' && byte != b'\t') || byte == 0x7f;
    if !text.iter().any(|byte| is_control(*byte) || *byte == 0xc2) {
        return Cow::Borrowed(text);
    }
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = match byte {
            0x1b => after_escape(tail),
            0xc2 if matches!(tail.first(), Some(0x80..=0x9f)) => &tail[1..],
            _ if is_control(byte) => tail,
            _ => {
                plain.push(byte);
                tail
            }
        };
    }
    Cow::Owned(plain)
}

/// What follows an escape sequence whose ESC has been taken off.
fn after_escape(text: &[u8]) -> &[u8] {
    match text.first() {
        Some(b'[') => {
            let end = text[1..].iter().position(|byte| !(0x20..=0x3f).contains(byte));
            end.map_or(&[][..], |end| &text[(end + 2).min(text.len())..])
        }
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let end = text.iter().position(|byte| matches!(byte, 0x07 | 0x1b | b'\n'));
            match end {
                Some(end) if text[end] == 0x07 => &text[end + 1..],
                Some(end) if text[end] == 0x1b => text.get(end + 2..).unwrap_or_default(),
                Some(end) => &text[end..],
                None => &[],
            }
        }
        Some(0x20..=0x2f) => text.get(2..).unwrap_or_default(),
        Some(0x30..=0x7e) => &text[1..],
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_sequences_do_not_reach_a_terminal() {
        let text = b"a\0b\x1b[31mred\x1b[0m\x1b]0;title\x07!\x1b]8;;x\x1b\\link\x1b(Bc\rd\x7f\xc2\x9b2J\n\te\xc3\xa9";
        let plain = without_controls(text);
        assert_eq!(String::from_utf8_lossy(&plain), "abred!linkcd2J\n\teé");
        assert!(matches!(without_controls("plain\n\ttext é".as_bytes()), Cow::Borrowed(_)));
    }

    #[test]
    fn a_choice_beats_the_environment() {
        let refusing = Environment::from_iter([("NO_COLOR", "1")]);
        let open = Environment::from_iter([("NO_COLOR", ""), ("TERM", "xterm")]);
        assert!(Color::Always.is_on(false, &refusing));
        assert!(!Color::Auto.is_on(true, &refusing));
        assert!(Color::Auto.is_on(true, &open));
        assert!(!Color::Auto.is_on(false, &open));
        assert!(!Color::Auto.is_on(true, &Environment::from_iter([("TERM", "dumb")])));
    }
}
