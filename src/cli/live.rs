//! The output of a running command, copied to standard error as it comes.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use super::terminal;
use crate::tools::bash::Observer;

/// An unfinished escape sequence longer than this is none.
const LONGEST_ESCAPE: usize = 4096;

/// Copies to stderr; to a terminal without control sequences.
#[derive(Debug)]
pub struct LiveCopy {
    to_terminal: bool,
    /// The start of a sequence whose end has not come.
    held: Mutex<Vec<u8>>,
}

impl LiveCopy {
    /// A copy on this process's stderr.
    pub fn to_stderr() -> Self {
        Self { to_terminal: io::stderr().is_terminal(), held: Mutex::default() }
    }
}

impl Observer for LiveCopy {
    fn output(&self, bytes: &[u8]) {
        let mut stderr = io::stderr().lock();
        // Whoever watches may leave; the command goes on and the answer still comes.
        let _ = if self.to_terminal {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            stderr.write_all(&printable(&mut held, bytes))
        } else {
            stderr.write_all(bytes)
        };
    }

    fn wants_updates(&self) -> bool {
        false
    }
}

/// What can be shown now of `held` and `bytes` together; the rest is held.
fn printable(held: &mut Vec<u8>, bytes: &[u8]) -> Vec<u8> {
    held.extend_from_slice(bytes);
    let rest = held.split_off(complete_len(held));
    let complete = std::mem::replace(held, rest);
    terminal::without_controls(&complete).into_owned()
}

/// How much of a text is there when a control sequence that is not finished is taken off its end.
fn complete_len(text: &[u8]) -> usize {
    // The first byte of a C1 control character is the first of others too.
    let all = text.len() - usize::from(text.ends_with(b"\xc2"));
    let start = match memchr::memrchr(0x1b, text) {
        Some(start) if text.len() - start <= LONGEST_ESCAPE => start,
        _ => return all,
    };
    let is_finished = match text[start + 1..] {
        [] => false,
        [b'[', ref parameters @ ..] => parameters.iter().any(|byte| !(0x20..=0x3f).contains(byte)),
        [b']' | b'P' | b'X' | b'^' | b'_', ref string @ ..] => {
            string.iter().any(|byte| matches!(byte, 0x07 | b'\n'))
        }
        [0x20..=0x2f] => false,
        _ => true,
    };
    if is_finished { all } else { start }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b19_a_sequence_cut_between_two_chunks_leaves_nothing_behind() {
        let text = b"a\x1b[31mred\x1b[0m\x1b]0;title\x07b\x1b]8;;x\x1b\\link\x1b(Bc\xc2\x9bd\n".repeat(2);
        let whole = printable(&mut Vec::new(), &text);
        assert_eq!(String::from_utf8_lossy(&whole), "aredblinkcd\n".repeat(2));
        for cut in 0..=text.len() {
            let mut held = Vec::new();
            let mut shown = printable(&mut held, &text[..cut]);
            shown.extend(printable(&mut held, &text[cut..]));
            assert_eq!(String::from_utf8_lossy(&shown), String::from_utf8_lossy(&whole), "cut at {cut}");
        }
    }

    #[test]
    fn text_is_never_held_for_long() {
        let mut held = Vec::new();
        assert_eq!(printable(&mut held, b"50%"), b"50%");
        assert_eq!(printable(&mut held, b"\x1b]0;"), b"");
        printable(&mut held, &[b'x'; LONGEST_ESCAPE]);
        assert!(held.is_empty());
    }
}
