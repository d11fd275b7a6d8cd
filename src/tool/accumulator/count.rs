//! Counting a stream of bytes as the text it decodes to, without keeping that text.

/// Bytes and lines of the decoded text so far. A leading byte order mark is not text; what is not
/// UTF-8 counts as U+FFFD, three bytes.
#[derive(Debug, Default)]
pub(super) struct Count {
    bytes: u64,
    breaks: u64,
    /// Bytes behind the last line break.
    open_line: u64,
    /// Bytes of the line that the last break ended.
    closed_line: u64,
    /// The start of a character whose end has not arrived.
    pending: [u8; 3],
    pending_len: usize,
    past_start: bool,
}

impl Count {
    /// Counts the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let rest = if self.pending_len > 0 { self.complete(bytes) } else { bytes };
        let pending = self.scan(rest);
        // `complete` may have left the whole of a short chunk pending itself.
        if !pending.is_empty() {
            self.keep_pending(pending);
        }
    }

    /// Nothing more comes: an incomplete character is not one.
    pub(super) fn finish(&mut self) {
        if self.pending_len > 0 {
            self.pending_len = 0;
            self.replacement();
        }
    }

    /// Bytes of decoded text.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Lines of decoded text; a final line break starts none.
    pub(super) fn lines(&self) -> u64 {
        self.breaks + u64::from(self.open_line > 0)
    }

    /// Bytes of the last line, its break not counted.
    pub(super) fn last_line_bytes(&self) -> u64 {
        if self.open_line > 0 { self.open_line } else { self.closed_line }
    }

    /// Raw bytes that are not counted yet.
    pub(super) fn undecoded(&self) -> usize {
        self.pending_len
    }

    /// Ends the pending character with the first of `bytes`; gives the bytes that are left.
    fn complete<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let pending_len = std::mem::take(&mut self.pending_len);
        let taken = bytes.len().min(self.pending.len());
        let mut joined = [0; 6];
        joined[..pending_len].copy_from_slice(&self.pending[..pending_len]);
        joined[pending_len..pending_len + taken].copy_from_slice(&bytes[..taken]);
        let joined = &joined[..pending_len + taken];
        let mut end = 0;
        while end < pending_len {
            match unit(&joined[end..]) {
                Unit::Text(len) => {
                    self.text(&joined[end..end + len]);
                    end += len;
                }
                Unit::Invalid(len) => {
                    self.replacement();
                    end += len;
                }
                Unit::Incomplete => {
                    self.keep_pending(&joined[end..]);
                    return &[];
                }
            }
        }
        &bytes[end - pending_len..]
    }

    /// Counts all whole characters; gives the incomplete one at the end.
    fn scan<'a>(&mut self, mut bytes: &'a [u8]) -> &'a [u8] {
        loop {
            match std::str::from_utf8(bytes) {
                Ok(_) => {
                    self.text(bytes);
                    return &[];
                }
                Err(error) => {
                    let (valid, rest) = bytes.split_at(error.valid_up_to());
                    self.text(valid);
                    let Some(invalid) = error.error_len() else { return rest };
                    self.replacement();
                    bytes = self.skip_invalid(&rest[invalid..]);
                }
            }
        }
    }

    /// Counts a run of what is not UTF-8 without asking for each byte anew.
    fn skip_invalid<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let never_starts = |byte: &u8| matches!(byte, 0x80..=0xc1 | 0xf5..=0xff);
        let run = bytes.iter().take_while(|byte| never_starts(byte)).count();
        self.bytes += 3 * run as u64;
        self.open_line += 3 * run as u64;
        &bytes[run..]
    }

    /// Counts valid UTF-8.
    fn text(&mut self, mut text: &[u8]) {
        if !self.past_start && !text.is_empty() {
            self.past_start = true;
            text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        }
        self.bytes += text.len() as u64;
        let Some(last) = memchr::memrchr(b'\n', text) else {
            self.open_line += text.len() as u64;
            return;
        };
        self.breaks += memchr::memchr_iter(b'\n', text).count() as u64;
        self.closed_line = match memchr::memrchr(b'\n', &text[..last]) {
            Some(before) => (last - before - 1) as u64,
            None => self.open_line + last as u64,
        };
        self.open_line = (text.len() - last - 1) as u64;
    }

    fn replacement(&mut self) {
        self.past_start = true;
        self.bytes += 3;
        self.open_line += 3;
    }

    fn keep_pending(&mut self, bytes: &[u8]) {
        self.pending[..bytes.len()].copy_from_slice(bytes);
        self.pending_len = bytes.len();
    }
}

/// What the first bytes of a text are.
enum Unit {
    /// A character of so many bytes.
    Text(usize),
    /// Not UTF-8: so many bytes make one U+FFFD.
    Invalid(usize),
    /// The start of a character.
    Incomplete,
}

fn unit(bytes: &[u8]) -> Unit {
    let first = bytes.utf8_chunks().next();
    match first.map(|chunk| (chunk.valid().chars().next(), chunk.invalid().len())) {
        Some((Some(character), _)) => Unit::Text(character.len_utf8()),
        Some((None, _)) => match std::str::from_utf8(bytes).err().and_then(|error| error.error_len()) {
            Some(len) => Unit::Invalid(len),
            None => Unit::Incomplete,
        },
        None => Unit::Incomplete,
    }
}

/// The text of bytes from the start of a stream: without a byte order mark.
pub(super) fn decode_start(bytes: &[u8]) -> String {
    decode(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
}

/// The text of bytes, U+FFFD for what is not UTF-8.
pub(super) fn decode(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The first place at or behind `at` from which decoding gives what decoding the whole gives there:
/// a byte that continues nothing, or that three continuing ones stand before.
pub(super) fn next_start(bytes: &[u8], at: usize) -> usize {
    let continues = |byte: &u8| (0x80..0xc0).contains(byte);
    let is_start =
        |&at: &usize| !continues(&bytes[at]) || (at >= 3 && bytes[at - 3..at].iter().all(continues));
    if at == 0 { 0 } else { (at..bytes.len()).find(is_start).unwrap_or(bytes.len()) }
}
