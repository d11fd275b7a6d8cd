//! A validating walk over one JSON text, without recursion and without copies: what `JSON.parse` accepts.

/// What a JSON value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `false`
    False,
    /// `true`
    True,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// Takes the parts of a value in the order of the text. Offsets count from the text's start.
pub trait Sink {
    /// An array or object begins.
    fn open(&mut self, kind: Kind, at: usize);
    /// The innermost array or object is complete; `end` is behind its bracket.
    fn close(&mut self, end: usize);
    /// A member's name, quotes included; `plain` when it holds no escape.
    fn key(&mut self, start: usize, end: usize, plain: bool);
    /// A string, number or word.
    fn scalar(&mut self, kind: Kind, start: usize, end: usize, plain: bool);
}

/// Walks the first value of `text` (blanks before it skipped) and returns where it ends; the error is
/// the offset of the first byte that cannot be there.
pub fn walk(text: &[u8], sink: &mut impl Sink) -> Result<usize, usize> {
    let mut at = skip_blanks(text, 0);
    // One bit of truth per open container: is it an object?
    let mut open: Vec<bool> = Vec::new();
    loop {
        // A value starts here.
        match text.get(at) {
            Some(b'{') => {
                sink.open(Kind::Object, at);
                at = skip_blanks(text, at + 1);
                if text.get(at) == Some(&b'}') {
                    at += 1;
                    sink.close(at);
                } else {
                    open.push(true);
                    at = member_name(text, at, sink)?;
                    continue;
                }
            }
            Some(b'[') => {
                sink.open(Kind::Array, at);
                at = skip_blanks(text, at + 1);
                if text.get(at) == Some(&b']') {
                    at += 1;
                    sink.close(at);
                } else {
                    open.push(false);
                    continue;
                }
            }
            Some(b'"') => {
                let (end, plain) = string_end(text, at)?;
                sink.scalar(Kind::String, at, end, plain);
                at = end;
            }
            Some(b'-' | b'0'..=b'9') => {
                let end = number_end(text, at)?;
                sink.scalar(Kind::Number, at, end, true);
                at = end;
            }
            Some(_) => {
                let (kind, word): (_, &[u8]) = match text[at] {
                    b't' => (Kind::True, b"true"),
                    b'f' => (Kind::False, b"false"),
                    b'n' => (Kind::Null, b"null"),
                    _ => return Err(at),
                };
                if !text[at..].starts_with(word) {
                    return Err(at);
                }
                sink.scalar(kind, at, at + word.len(), true);
                at += word.len();
            }
            None => return Err(at),
        }
        // A value has ended: close what ends with it, or go on to the next one.
        loop {
            let Some(&in_object) = open.last() else { return Ok(at) };
            at = skip_blanks(text, at);
            match (text.get(at), in_object) {
                (Some(b','), true) => {
                    at = member_name(text, skip_blanks(text, at + 1), sink)?;
                    break;
                }
                (Some(b','), false) => {
                    at = skip_blanks(text, at + 1);
                    break;
                }
                (Some(b'}'), true) | (Some(b']'), false) => {
                    at += 1;
                    open.pop();
                    sink.close(at);
                }
                _ => return Err(at),
            }
        }
    }
}

/// Behind the blanks that JSON allows between tokens.
pub fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// A name, its colon and the blanks around it.
fn member_name(text: &[u8], at: usize, sink: &mut impl Sink) -> Result<usize, usize> {
    if text.get(at) != Some(&b'"') {
        return Err(at);
    }
    let (end, plain) = string_end(text, at)?;
    sink.key(at, end, plain);
    let colon = skip_blanks(text, end);
    if text.get(colon) != Some(&b':') {
        return Err(colon);
    }
    Ok(skip_blanks(text, colon + 1))
}

/// Behind the closing quote of the string that starts at `at`, and whether it holds no escape.
fn string_end(text: &[u8], at: usize) -> Result<(usize, bool), usize> {
    let mut at = at + 1;
    let mut plain = true;
    loop {
        at += run_length(&text[at..]);
        match text.get(at) {
            Some(b'"') => return Ok((at + 1, plain)),
            Some(b'\\') => {
                plain = false;
                at = match text.get(at + 1) {
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at + 2,
                    Some(b'u') => {
                        let digits = text.get(at + 2..at + 6).ok_or(text.len())?;
                        if !digits.iter().all(u8::is_ascii_hexdigit) {
                            return Err(at);
                        }
                        at + 6
                    }
                    _ => return Err(at),
                };
            }
            _ => return Err(at),
        }
    }
}

/// How many bytes at the start are neither a quote, a backslash nor a control character.
fn run_length(text: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let is_zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let mut at = 0;
    // Eight bytes at a time.
    while let Some(chunk) = text.get(at..at + 8).and_then(|chunk| <[u8; 8]>::try_from(chunk).ok()) {
        let word = u64::from_le_bytes(chunk);
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
        let quote = is_zero(word ^ (ONES * u64::from(b'"')));
        let escape = is_zero(word ^ (ONES * u64::from(b'\\')));
        let hits = control | quote | escape;
        if hits != 0 {
            // Borrows can only raise bits above a true hit, so the lowest one is true.
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    at + text[at..].iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1f)).count()
}

fn number_end(text: &[u8], at: usize) -> Result<usize, usize> {
    let digits = |mut at: usize| {
        let start = at;
        while text.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        if at == start { Err(at) } else { Ok(at) }
    };
    let mut at = if text[at] == b'-' { at + 1 } else { at };
    at = if text.get(at) == Some(&b'0') { at + 1 } else { digits(at)? };
    if text.get(at) == Some(&b'.') {
        at = digits(at + 1)?;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        at = digits(at + 1 + sign)?;
    }
    Ok(at)
}
