//! Strings and numbers as JavaScript has them: UTF-16 in spirit (WTF-8 here), and IEEE doubles.

use std::borrow::Cow;

/// The characters of a JavaScript string as WTF-8: UTF-8, where a lone surrogate takes its three bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Text<'t>(Cow<'t, [u8]>);

impl<'t> Text<'t> {
    /// The WTF-8 bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// As UTF-8, each lone surrogate replaced by U+FFFD.
    pub fn into_lossy(self) -> Cow<'t, str> {
        match self.0 {
            Cow::Borrowed(bytes) => from_wtf8(bytes),
            Cow::Owned(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Cow::Owned(text),
                Err(error) => Cow::Owned(from_wtf8(error.as_bytes()).into_owned()),
            },
        }
    }

    /// Without the white space JavaScript's `trim` takes off.
    pub fn trim(&self) -> &[u8] {
        trim(&self.0)
    }
}

impl<'t> From<&'t str> for Text<'t> {
    fn from(text: &'t str) -> Self {
        Self(Cow::Borrowed(text.as_bytes()))
    }
}

impl From<Vec<u8>> for Text<'_> {
    fn from(wtf8: Vec<u8>) -> Self {
        Self(Cow::Owned(wtf8))
    }
}

/// The inside of a JSON string; bytes that are not UTF-8 become U+FFFD, as when pi reads the file.
pub fn decode(inside: &[u8], plain: bool) -> Text<'_> {
    let inside = match std::str::from_utf8(inside) {
        Ok(_) if plain => return Text(Cow::Borrowed(inside)),
        Ok(_) => Cow::Borrowed(inside),
        Err(_) => Cow::Owned(String::from_utf8_lossy(inside).into_owned().into_bytes()),
    };
    if plain {
        return Text(inside);
    }
    let mut out = Vec::with_capacity(inside.len());
    let mut rest: &[u8] = &inside;
    while let Some(escape) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..escape]);
        let (unit, used) = unescape(&rest[escape..]);
        rest = &rest[escape + used..];
        push_unit(unit, &mut out);
    }
    out.extend_from_slice(rest);
    Text(Cow::Owned(out))
}

/// The code unit an escape stands for and the escape's length.
fn unescape(text: &[u8]) -> (u16, usize) {
    match text.get(1) {
        Some(b'u') => {
            let digits = text.get(2..6).and_then(|digits| std::str::from_utf8(digits).ok());
            (digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()).unwrap_or(0xFFFD), 6)
        }
        Some(b'b') => (8, 2),
        Some(b'f') => (12, 2),
        Some(b'n') => (10, 2),
        Some(b'r') => (13, 2),
        Some(b't') => (9, 2),
        Some(&other) => (u16::from(other), 2),
        None => (0xFFFD, 1),
    }
}

/// Appends a code unit; the second half of a pair joins the first.
fn push_unit(unit: u16, out: &mut Vec<u8>) {
    let scalar = match (unit, high_surrogate_at_end(out)) {
        (0xDC00..=0xDFFF, Some(high)) => {
            out.truncate(out.len() - 3);
            0x10000 + ((u32::from(high) - 0xD800) << 10) + (u32::from(unit) - 0xDC00)
        }
        _ => u32::from(unit),
    };
    match char::from_u32(scalar) {
        Some(scalar) => out.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes()),
        None => out.extend_from_slice(&[
            0xE0 | (unit >> 12) as u8,
            0x80 | (unit >> 6 & 0x3F) as u8,
            0x80 | (unit & 0x3F) as u8,
        ]),
    }
}

fn high_surrogate_at_end(text: &[u8]) -> Option<u16> {
    let [.., 0xED, second, third] = text else { return None };
    matches!(second, 0xA0..=0xAF)
        .then(|| 0xD000 | (u16::from(*second & 0x3F) << 6) | u16::from(*third & 0x3F))
}

fn from_wtf8(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            // Three bytes of a lone surrogate become the three bytes of U+FFFD.
            let mut mended = bytes.to_vec();
            let mut at = 0;
            while at + 2 < mended.len() {
                if mended[at] == 0xED && mended[at + 1] >= 0xA0 {
                    mended[at..at + 3].copy_from_slice("\u{fffd}".as_bytes());
                }
                at += 1;
            }
            Cow::Owned(String::from_utf8_lossy(&mended).into_owned())
        }
    }
}

/// Appends a string as `JSON.stringify` writes it.
pub fn write(text: &Text<'_>, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut done = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let surrogate = byte == 0xED && bytes.get(at + 1).is_some_and(|second| *second >= 0xA0);
        if byte >= 0x20 && byte != b'"' && byte != b'\\' && !surrogate {
            continue;
        }
        out.extend_from_slice(&bytes[done..at]);
        done = at + 1;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            8 => out.extend_from_slice(b"\\b"),
            9 => out.extend_from_slice(b"\\t"),
            10 => out.extend_from_slice(b"\\n"),
            12 => out.extend_from_slice(b"\\f"),
            13 => out.extend_from_slice(b"\\r"),
            0xED => {
                let unit = 0xD000
                    | (u16::from(bytes[at + 1] & 0x3F) << 6)
                    | u16::from(bytes.get(at + 2).copied().unwrap_or(0x80) & 0x3F);
                out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
                done = at + 3;
            }
            control => out.extend_from_slice(format!("\\u{control:04x}").as_bytes()),
        }
    }
    out.extend_from_slice(&bytes[done.min(bytes.len())..]);
    out.push(b'"');
}

/// A string as JSON text.
pub fn quoted(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 2);
    write(&Text::from(text), &mut out);
    out
}

/// The double a JSON number stands for.
pub fn number(raw: &[u8]) -> f64 {
    std::str::from_utf8(raw).ok().and_then(|raw| raw.parse().ok()).unwrap_or(f64::NAN)
}

/// Appends a double as `JSON.stringify` writes it: shortest digits, `null` where JSON has no number.
pub fn write_number(number: f64, out: &mut Vec<u8>) {
    if !number.is_finite() {
        return out.extend_from_slice(b"null");
    }
    if number == 0.0 {
        return out.push(b'0');
    }
    let scientific = format!("{:e}", number.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    // The point stands behind this many digits.
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;
    let count = digits.len() as i32;
    if number < 0.0 {
        out.push(b'-');
    }
    let text = match point {
        _ if count <= point && point <= 21 => format!("{digits}{}", "0".repeat((point - count) as usize)),
        1..=21 => format!("{}.{}", &digits[..point as usize], &digits[point as usize..]),
        -5..=0 => format!("0.{}{digits}", "0".repeat(-point as usize)),
        _ => {
            let sign = if point > 0 { '+' } else { '-' };
            let fraction = if count > 1 { format!(".{}", &digits[1..]) } else { String::new() };
            format!("{}{fraction}e{sign}{}", &digits[..1], (point - 1).abs())
        }
    };
    out.extend_from_slice(text.as_bytes());
}

/// Takes off the white space that JavaScript's `trim` takes off. Works on any UTF-8 or WTF-8 bytes.
pub fn trim(mut text: &[u8]) -> &[u8] {
    while let Some(used) = blank_at_start(text) {
        text = &text[used..];
    }
    while let Some(used) = blank_at_end(text) {
        text = &text[..text.len() - used];
    }
    text
}

fn blank_at_start(text: &[u8]) -> Option<usize> {
    BLANKS.iter().find(|blank| text.starts_with(blank.as_bytes())).map(|blank| blank.len())
}

fn blank_at_end(text: &[u8]) -> Option<usize> {
    BLANKS.iter().find(|blank| text.ends_with(blank.as_bytes())).map(|blank| blank.len())
}

const BLANKS: [&str; 25] = [
    " ", "\n", "\r", "\t", "\u{b}", "\u{c}", "\u{a0}", "\u{feff}", "\u{1680}", "\u{2000}", "\u{2001}",
    "\u{2002}", "\u{2003}", "\u{2004}", "\u{2005}", "\u{2006}", "\u{2007}", "\u{2008}", "\u{2009}",
    "\u{200a}", "\u{2028}", "\u{2029}", "\u{202f}", "\u{205f}", "\u{3000}",
];
