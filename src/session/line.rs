//! A session file as lines: cut at LF only, read in blocks, and mended where a crash glued two together.

use std::io::{self, Read};
use std::ops::{ControlFlow, Range};

use super::head::Head;

/// How much is read at once.
const BLOCK: usize = 1024 * 1024;

/// One line of a file, without its LF.
pub(super) struct Line<'b> {
    /// Where it begins.
    pub(super) offset: u64,
    pub(super) text: &'b [u8],
}

/// Hands every line to `visit`, in order, until that says to stop.
/// Memory holds one block or the longest line, whichever is more.
pub(super) fn each(
    source: &mut dyn Read,
    visit: &mut dyn FnMut(Line<'_>) -> ControlFlow<()>,
) -> io::Result<()> {
    each_in(&mut Vec::new(), source, visit)
}

/// As [`each`], in a buffer that can be used again.
pub(super) fn each_in(
    buffer: &mut Vec<u8>,
    source: &mut dyn Read,
    visit: &mut dyn FnMut(Line<'_>) -> ControlFlow<()>,
) -> io::Result<()> {
    if buffer.is_empty() {
        buffer.resize(BLOCK, 0);
    }
    let mut offset = 0;
    let mut filled = 0;
    // Bytes at the start of the buffer that hold no LF.
    let mut searched = 0;
    loop {
        if filled == buffer.len() {
            buffer.resize(buffer.len() * 2, 0);
        }
        let count = match source.read(&mut buffer[filled..]) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if count == 0 {
            if filled > 0 {
                let _ = visit(Line { offset, text: &buffer[..filled] });
            }
            return Ok(());
        }
        filled += count;
        let mut start = 0;
        while let Some(length) = memchr::memchr(b'\n', &buffer[searched..filled]) {
            let end = searched + length;
            if visit(Line { offset, text: &buffer[start..end] }).is_break() {
                return Ok(());
            }
            offset += (end + 1 - start) as u64;
            start = end + 1;
            searched = start;
        }
        buffer.copy_within(start..filled, 0);
        filled -= start;
        searched = filled;
    }
}

/// The whole entries inside a line that is not one JSON value, where a torn write glued lines together:
/// each begins the line or stands at a `{"type":`, and is followed by another, by NUL bytes or by the end.
/// A line that does not begin as an entry does is no torn write, and nothing is guessed.
pub(super) fn glued(line: &[u8]) -> Vec<(Range<usize>, Head)> {
    let mut found = Vec::new();
    if line.get(super::scan::skip_blanks(line, 0)) != Some(&b'{') && !line.starts_with(b"\0") {
        return found;
    }
    let mut at = 0;
    while at < line.len() {
        let start = match line[at..].iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | 0)) {
            Some(skip) => at + skip,
            None => break,
        };
        match entry_at(line, start) {
            Some((end, head)) => {
                found.push((start..end, head));
                at = end;
            }
            None => match memchr::memmem::find(&line[start + 1..], b"{\"type\":") {
                Some(next) => at = start + 1 + next,
                None => break,
            },
        }
    }
    found
}

fn entry_at(line: &[u8], start: usize) -> Option<(usize, Head)> {
    let (head, length) = Head::scan(&line[start..]).ok()?;
    let end = start + length;
    let rest = &line[end..];
    let is_whole = rest.starts_with(b"{") || rest.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | 0));
    (head.looks_like_an_entry() && (is_whole || rest.starts_with(b"\0"))).then_some((end, head))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], step: usize) -> Vec<(u64, Vec<u8>)> {
        struct Slow<'a>(&'a [u8], usize);
        impl Read for Slow<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let count = self.1.min(self.0.len()).min(buffer.len());
                buffer[..count].copy_from_slice(&self.0[..count]);
                self.0 = &self.0[count..];
                Ok(count)
            }
        }
        let mut found = Vec::new();
        each(&mut Slow(text, step), &mut |line| {
            found.push((line.offset, line.text.to_vec()));
            ControlFlow::Continue(())
        })
        .unwrap();
        found
    }

    proptest::proptest! {
        #[test]
        fn lines_are_the_text_between_line_feeds(text in "[ab\r\n]{0,40}", step in 1_usize..9) {
            let found = lines(text.as_bytes(), step);
            let mut expected: Vec<_> = text.split('\n').map(|line| line.as_bytes().to_vec()).collect();
            if text.is_empty() || text.ends_with('\n') {
                expected.pop();
            }
            let starts: Vec<u64> = found.iter().map(|(offset, _)| *offset).collect();
            proptest::prop_assert_eq!(found.into_iter().map(|(_, line)| line).collect::<Vec<_>>(), expected.clone());
            let mut at = 0;
            for (start, line) in starts.into_iter().zip(expected) {
                proptest::prop_assert_eq!(start, at);
                at += line.len() as u64 + 1;
            }
        }
    }

    fn pieces(line: &str) -> Vec<&str> {
        glued(line.as_bytes()).into_iter().map(|(range, _)| &line[range]).collect()
    }

    const A: &str = r#"{"type":"x","id":"a","parentId":null,"t":"{\"type\":\"x\"}"}"#;
    const B: &str = r#"{"type":"y","id":"b","parentId":"a","c":[{"type":"text","id":"no"}]}"#;

    #[test]
    fn glued_lines_give_every_whole_entry() {
        assert_eq!(pieces(&format!("{A}{B}")), [A, B]);
        assert_eq!(pieces(&format!("{}{B}", &A[..17])), [B]);
        assert_eq!(pieces(&format!("{A}{}", &B[..30])), [A]);
        assert_eq!(pieces(&format!("\0\0{A}\0\0\0")), [A]);
        assert_eq!(pieces(&format!("{}{}{A}", &A[..9], &B[..9])), [A]);
    }

    #[test]
    fn other_rubbish_is_not_guessed_at() {
        for line in [
            &format!("{A},"),
            &format!("{B} // note"),
            &B[1..],
            &format!("\u{c}{A}"),
            &format!("x {A}"),
            "{not json",
            "nul",
            &B[..B.len() - 2],
        ] {
            assert!(pieces(line).is_empty(), "{line}");
        }
    }
}
