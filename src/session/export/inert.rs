//! JSON that can stand in a page: nothing in it is markup, a line separator or a control character.

use std::io::{self, Write};

use serde::Serialize;

/// Writes a value so that no HTML parser finds anything in it.
pub(super) fn write<V: Serialize + ?Sized>(value: &V, out: &mut dyn Write) -> io::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(out, Inert)).map_err(io::Error::from)
}

struct Inert;

impl serde_json::ser::Formatter for Inert {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let bytes = fragment.as_bytes();
        let mut done = 0;
        for at in memchr::memchr2_iter(b'<', 0xe2, bytes) {
            let (escape, length) = match &bytes[at..] {
                [b'<', ..] => ("\\u003c", 1),
                [_, 0x80, 0xa8, ..] => ("\\u2028", 3),
                [_, 0x80, 0xa9, ..] => ("\\u2029", 3),
                _ => continue,
            };
            writer.write_all(&bytes[done..at])?;
            writer.write_all(escape.as_bytes())?;
            done = at + length;
        }
        writer.write_all(&bytes[done..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inert(text: &str) -> String {
        let mut out = Vec::new();
        write(text, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn markup_and_separators_are_escapes() {
        assert_eq!(
            inert("</script><!--\u{2028}\u{2029}\u{201c}\0\r"),
            r#""\u003c/script>\u003c!--\u2028\u2029“\u0000\r""#
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_comes_back_and_holds_nothing_of_markup(text in "(<|\\PC|[\0-\u{20}]|\u{2028}|\u{2029}|/script>|!--){0,20}") {
            let written = inert(&text);
            let is_inert = !written.contains(['<', '\u{2028}', '\u{2029}', '\r', '\n', '\0']);
            proptest::prop_assert!(is_inert);
            proptest::prop_assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
        }
    }
}
