//! Tolerant JSON: what JavaScript writes is accepted, and a stream is cut into whole values.
//!
//! serde_json refuses unpaired surrogate escapes (`"\ud83d"`), which JavaScript writes when a string
//! was cut in two. Here they are read as U+FFFD.

use std::borrow::Cow;
use std::io::{self, BufRead};

use serde::de::IgnoredAny;
use serde_json::Value;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Parses one JSON text; an unpaired surrogate escape becomes U+FFFD.
pub fn parse(text: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(&mend_surrogates(text))
}

/// Replaces every unpaired `\uD800`–`\uDFFF` escape by `\ufffd`; the length stays the same.
pub fn mend_surrogates(text: &[u8]) -> Cow<'_, [u8]> {
    let mut mended = Cow::Borrowed(text);
    let mut at = 0;
    while let Some(step) = memchr::memchr(b'\\', &text[at..]) {
        at += step;
        match unit_at(text, at) {
            None => at += 2,
            Some(0xD800..=0xDBFF) if matches!(unit_at(text, at + 6), Some(0xDC00..=0xDFFF)) => at += 12,
            Some(0xD800..=0xDFFF) => {
                mended.to_mut()[at + 2..at + 6].copy_from_slice(b"fffd");
                at += 6;
            }
            Some(_) => at += 6,
        }
        if at >= text.len() {
            break;
        }
    }
    mended
}

/// The code unit of a `\uXXXX` escape that starts at `at`.
fn unit_at(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0_u16, |unit, digit| {
        Some(unit * 16 + u16::try_from(char::from(*digit).to_digit(16)?).ok()?)
    })
}

/// Cuts a stream of JSON values (one per line, or one after another) into single texts, each as
/// soon as its last byte is there.
pub struct Stream<R> {
    source: R,
    scan: Scan,
    text: Vec<u8>,
    /// The length from which on the text is looked at again when a line ends inside the value. It
    /// doubles, so that a value of many lines costs linear time.
    next_look: usize,
}

impl<R: BufRead> Stream<R> {
    /// Reads values from `source`.
    pub fn new(source: R) -> Self {
        Self { source, scan: Scan::default(), text: Vec::new(), next_look: 0 }
    }

    /// The next value's text; `None` at the end. A text that cannot become JSON comes out up to the end
    /// of a line, so that it neither waits for its end for ever nor hides the values behind it.
    pub fn next_text(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let block = self.source.fill_buf()?;
            if block.is_empty() {
                return Ok(self.handed_out());
            }
            if self.text.is_empty() && block.starts_with(BYTE_ORDER_MARK) {
                self.source.consume(BYTE_ORDER_MARK.len());
                continue;
            }
            let (used, reached) = self.scan.advance(block, self.next_look.saturating_sub(self.text.len()));
            self.text.extend_from_slice(&block[..used]);
            self.source.consume(used);
            let is_done = match reached {
                Reached::Block => false,
                Reached::Value => true,
                Reached::Line => {
                    self.next_look = self.text.len() * 2;
                    is_hopeless(&self.text)
                }
            };
            if is_done && let Some(text) = self.handed_out() {
                return Ok(Some(text));
            }
        }
    }

    fn handed_out(&mut self) -> Option<Vec<u8>> {
        self.scan = Scan::default();
        self.next_look = 0;
        Some(std::mem::take(&mut self.text)).filter(|text| !text.trim_ascii().is_empty())
    }
}

/// Whether no continuation makes a value of the text.
fn is_hopeless(text: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(text).is_err_and(|error| !error.is_eof())
}

/// Where in a value the scan stands.
#[derive(Default)]
struct Scan {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// A bare word or number at the top level: it ends with its line or blank.
    in_word: bool,
}

/// The end of what a scan reached.
enum Reached {
    Block,
    Line,
    Value,
}

impl Scan {
    /// Goes through `block` to the end of the value, or to the first line end inside it at or behind
    /// `look_from`; returns how much belongs to the value.
    fn advance(&mut self, block: &[u8], look_from: usize) -> (usize, Reached) {
        for (at, &byte) in block.iter().enumerate() {
            if byte == b'\n' && (self.in_string || self.depth > 0) && at >= look_from {
                return (at + 1, Reached::Line);
            }
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => {
                        self.in_string = false;
                        if self.depth == 0 {
                            return (at + 1, Reached::Value);
                        }
                    }
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' if !self.in_word => self.depth += 1,
                b'}' | b']' if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return (at + 1, Reached::Value);
                    }
                }
                b' ' | b'\t' | b'\r' | b'\n' if self.in_word => return (at, Reached::Value),
                b' ' | b'\t' | b'\r' | b'\n' => {}
                _ if self.depth == 0 => self.in_word = true,
                _ => {}
            }
        }
        (block.len(), Reached::Block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, capacity: usize) -> Vec<String> {
        let mut stream = Stream::new(io::BufReader::with_capacity(capacity, text.as_bytes()));
        std::iter::from_fn(|| stream.next_text().unwrap())
            .map(|text| String::from_utf8(text).unwrap().trim().to_owned())
            .collect()
    }

    #[test]
    fn half_pairs_are_mended_and_whole_pairs_kept() {
        let value = parse(br#"["a\ud83dz","\ud83d\ude00","\ude00","\\ud83d","\ud83d\ud83d\ude00"]"#).unwrap();
        assert_eq!(value, serde_json::json!(["a\u{fffd}z", "😀", "\u{fffd}", "\\ud83d", "\u{fffd}😀"]));
    }

    #[test]
    fn a_stream_is_cut_into_values_however_it_arrives() {
        for capacity in [1, 2, 7, 4096] {
            assert_eq!(
                cut("{\"a\":\"}\\\"{\"}\n\n [1,[2]]{\"b\":{}} 7\n\"x y\"", capacity),
                [r#"{"a":"}\"{"}"#, "[1,[2]]", r#"{"b":{}}"#, "7", "\"x y\""]
            );
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_value() {
        assert_eq!(cut("\u{feff}{\"a\":1}\n", 4096), ["{\"a\":1}"]);
    }

    #[test]
    fn rubbish_costs_its_own_word_only() {
        assert_eq!(cut("nonsense\n{\"a\":1}\n", 4096), ["nonsense", "{\"a\":1}"]);
    }

    #[test]
    fn what_cannot_become_json_ends_with_its_line() {
        for capacity in [1, 5, 4096] {
            let text = "{bad\n{\"a\":1}\n{\"b\": \"cut off\n{\"c\":2}\n{\n  \"d\": [\n    3\n  ]\n}\n";
            let texts = cut(text, capacity);
            assert_eq!(texts[..4], ["{bad", "{\"a\":1}", "{\"b\": \"cut off", "{\"c\":2}"]);
            assert_eq!(texts[4].split_whitespace().collect::<String>(), "{\"d\":[3]}");
            assert_eq!(texts.len(), 5);
        }
    }

    #[test]
    fn an_unfinished_value_is_handed_out_at_the_end() {
        assert_eq!(cut("{\"a\":", 4096), ["{\"a\":"]);
        assert!(cut(" \n ", 4096).is_empty());
    }
}
