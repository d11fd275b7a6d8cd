//! A text made of many lines, of which a model sees the first: the rest is counted, not kept.
//!
//! Names and lines may hold bytes that are not UTF-8. The model's text is lossy then, and the bytes
//! are kept beside it for people and pipes.

use std::borrow::Cow;

use crate::tool::truncate::{self, Limits, Truncation};

/// Bytes kept beyond the limit, so that where the text is cut never depends on where keeping ended.
const MARGIN: u64 = 1024;

/// Lines in the making.
#[derive(Debug, Default)]
pub struct Listing {
    /// The first lines, up to the one that goes over the limit.
    kept: Vec<u8>,
    /// Bytes of `kept` as UTF-8, which can be more than there are.
    kept_bytes: u64,
    lines: u64,
    bytes: u64,
    /// Whether the last line has nothing in it: the text then ends with a break.
    ends_empty: bool,
}

/// The finished text.
#[derive(Debug)]
pub struct Shown {
    /// What a model reads, notices included.
    pub text: String,
    /// The same with the bytes that are not UTF-8, where there are such.
    pub raw: Option<Vec<u8>>,
    /// What was kept of the lines, when not all were.
    pub truncation: Option<Truncation>,
}

impl Listing {
    /// Adds a line, given without its break. A name with a line break in it makes two.
    pub fn line(&mut self, line: &[u8]) {
        let bytes = decoded_len(line) + u64::from(self.lines > 0);
        if !self.is_full() {
            if self.lines > 0 {
                self.kept.push(b'\n');
            }
            self.kept.extend_from_slice(line);
            self.kept_bytes += bytes;
        }
        self.lines += 1 + memchr::memchr_iter(b'\n', line).count() as u64;
        self.bytes += bytes;
        self.ends_empty = line.is_empty() || line.ends_with(b"\n");
    }

    /// Counts a line of so many bytes (as UTF-8) that comes too late to be seen.
    pub fn count(&mut self, bytes: u64) {
        self.bytes += bytes + u64::from(self.lines > 0);
        self.lines += 1;
        self.ends_empty = bytes == 0;
    }

    /// As `default`, for lines that are known to come too late to be seen: they are only counted.
    pub fn unseen() -> Self {
        Self { kept_bytes: u64::MAX, ..Self::default() }
    }

    /// Adds the lines of another listing. One made by [`Listing::unseen`] goes to a full one only.
    pub fn append(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        let line_break = u64::from(self.lines > 0);
        if !self.is_full() {
            self.kept.extend_from_slice(&b"\n"[..line_break as usize]);
            self.kept.extend_from_slice(&other.kept);
            self.kept_bytes += other.kept_bytes + line_break;
        }
        self.lines += other.lines;
        self.bytes += other.bytes + line_break;
        self.ends_empty = other.ends_empty;
    }

    /// Bytes held in memory.
    pub fn held(&self) -> usize {
        self.kept.len()
    }

    /// Whether there is more than a model may be shown.
    pub fn is_over(&self) -> bool {
        self.bytes > Limits::BYTES_ONLY.bytes
    }

    /// Whether a further line would only be counted.
    pub fn is_full(&self) -> bool {
        self.kept_bytes > Limits::BYTES_ONLY.bytes + MARGIN
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.lines == 0
    }

    /// The text, with `notices` (and one for the byte limit behind the first `before` of them) at the end.
    pub fn finish(self, mut notices: Vec<String>, before: usize) -> Shown {
        let decoded = decoded(&self.kept);
        let is_lossy = matches!(decoded, Cow::Owned(_));
        let mut truncation = truncate::head(&decoded, Limits::BYTES_ONLY);
        truncation.total_lines = self.lines - u64::from(self.ends_empty);
        truncation.total_bytes = self.bytes;
        let truncation = Some(truncation).filter(|record| record.truncated);
        if truncation.is_some() {
            let limit = truncate::format_size(Limits::BYTES_ONLY.bytes);
            notices.insert(before.min(notices.len()), format!("{limit} limit reached"));
        }
        let notice = match notices.is_empty() {
            true => String::new(),
            false => format!("\n\n[{}]", notices.join(". ")),
        };
        let shown = truncation.as_ref().map_or(decoded.as_ref(), |record| &record.content);
        let text = format!("{shown}{notice}");
        let raw = is_lossy.then(|| {
            let lines = truncation.as_ref().map_or(u64::MAX, |record| record.output_lines);
            let mut raw = first_lines(&self.kept, lines).to_vec();
            raw.extend_from_slice(notice.as_bytes());
            raw
        });
        Shown { text, raw, truncation }
    }
}

/// Bytes as text, what is not UTF-8 replaced. The usual case, that all is, costs a fraction of what
/// `from_utf8_lossy` takes for it.
pub fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// The length of that text.
pub fn decoded_len(bytes: &[u8]) -> u64 {
    decoded(bytes).len() as u64
}

fn first_lines(text: &[u8], lines: u64) -> &[u8] {
    let Some(last) = lines.checked_sub(1) else { return &[] };
    let mut breaks = memchr::memchr_iter(b'\n', text);
    let end = usize::try_from(last).ok().and_then(|last| breaks.nth(last));
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn listed(lines: &[Vec<u8>]) -> Listing {
        let mut listing = Listing::default();
        lines.iter().for_each(|line| listing.line(line));
        listing
    }

    #[test]
    fn notices_stand_in_their_order() {
        let mut listing = Listing::default();
        for _ in 0..600 {
            listing.line(&[b'x'; 100]);
        }
        let shown = listing.finish(vec!["first".into(), "last".into()], 1);
        assert!(shown.text.ends_with("xx\n\n[first. 50.0KB limit reached. last]"));
        assert!(shown.raw.is_none());
    }

    #[test]
    fn raw_bytes_survive_and_are_cut_where_the_text_is() {
        let lines: Vec<Vec<u8>> = (0..600).map(|_| [&[0xfe][..], &[b'x'; 99]].concat()).collect();
        let shown = listed(&lines).finish(Vec::new(), 0);
        let (raw, record) = (shown.raw.unwrap(), shown.truncation.unwrap());
        assert_eq!(String::from_utf8_lossy(&raw), shown.text);
        assert_eq!(
            raw.split(|byte| *byte == b'\n').take(3).collect::<Vec<_>>(),
            lines[..3].iter().collect::<Vec<_>>()
        );
        assert_eq!(record.total_bytes, 600 * 102 + 599);
    }

    fn lines() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let byte = prop::sample::select(vec![b'a', b'\n', 0xfe, b'\r']);
        let line = (prop::collection::vec(byte, 0..6), 0..40_usize);
        let line = line.prop_map(|(bytes, times)| bytes.repeat(if times > 37 { 10_000 } else { times }));
        prop::collection::vec(line, 0..60)
    }

    proptest! {
        #[test]
        fn says_the_same_as_cutting_the_whole_text(lines in lines()) {
            let whole = String::from_utf8_lossy(&lines.join(&b'\n')).into_owned();
            let expected = truncate::head(&whole, Limits::BYTES_ONLY);
            let mut parts = Listing::default();
            lines.chunks(7).for_each(|lines| parts.append(&listed(lines)));
            for listing in [parts, listed(&lines)] {
                let shown = listing.finish(Vec::new(), 0);
                let text = shown.text.strip_suffix("\n\n[50.0KB limit reached]").unwrap_or(&shown.text);
                prop_assert_eq!(text, &expected.content);
                if let Some(record) = shown.truncation {
                    let summary = |record: &Truncation| Truncation { content: String::new(), ..record.clone() };
                    prop_assert_eq!(summary(&record), summary(&expected));
                }
            }
        }
    }
}
