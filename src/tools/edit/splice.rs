//! From places to bytes: what is put where, with which line breaks. Everything outside stays as it is.

use memchr::{memchr, memrchr};

use super::fuzzy;
use super::matching::{Edit, Found, Matches};
use super::search::{Kind, Spot};
use super::view::{self, Line};

/// Bytes `start..end` of the file give way to `with`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The first byte that goes.
    pub start: usize,
    /// Behind the last one.
    pub end: usize,
    /// What comes.
    pub with: Vec<u8>,
}

/// The replacements that carry out `edits` at `matches`, in the order of the file; those that would
/// change nothing but line endings are left out.
pub fn replacements(bytes: &[u8], edits: &[Edit], matches: &Matches) -> Vec<Replacement> {
    let mut replacements = match matches.kind {
        Kind::Exact | Kind::Lossy => exact(bytes, edits, matches),
        Kind::Fuzzy => rewritten_lines(bytes, edits, &matches.found),
    };
    replacements.retain(|one| view::with_lf(&one.with) != view::with_lf(&bytes[one.start..one.end]));
    part_breaks(bytes, &mut replacements);
    replacements
}

/// The new content as parts of the old one and of the replacements, nothing copied.
pub fn pieces<'a>(bytes: &'a [u8], replacements: &'a [Replacement]) -> Vec<&'a [u8]> {
    let mut kept_from = 0;
    let mut pieces = Vec::with_capacity(2 * replacements.len() + 1);
    for Replacement { start, end, with } in replacements {
        pieces.push(&bytes[kept_from..*start]);
        pieces.push(with.as_slice());
        kept_from = *end;
    }
    pieces.push(&bytes[kept_from..]);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn exact(bytes: &[u8], edits: &[Edit], matches: &Matches) -> Vec<Replacement> {
    let place = |spot| match matches.kind {
        Kind::Lossy => place_of_shown(bytes, spot),
        _ => spot.line_start + spot.column,
    };
    let found = matches.found.iter().map(|found| (found.edit, place(found.start), place(found.end)));
    found
        .map(|(edit, start, end)| Replacement {
            start,
            end,
            with: with_endings_of(bytes, start, &edits[edit].new),
        })
        .collect()
}

/// The place in the file for one in a line that is shown with U+FFFD for stray bytes.
fn place_of_shown(bytes: &[u8], Spot { line_start, column }: Spot) -> usize {
    let end = Line::at(bytes, line_start).map_or(line_start, |line| line.end);
    let (mut place, mut left) = (line_start, column);
    for chunk in bytes[line_start..end].utf8_chunks() {
        if left <= chunk.valid().len() {
            break;
        }
        let shown = if chunk.invalid().is_empty() { 0 } else { view::REPLACEMENT.len() };
        left -= chunk.valid().len() + shown;
        place += chunk.valid().len() + chunk.invalid().len();
    }
    place + left
}

/// The lines that an edit touches are rewritten from their fuzzy form, as pi does.
fn rewritten_lines(bytes: &[u8], edits: &[Edit], found: &[Found]) -> Vec<Replacement> {
    let mut replacements: Vec<Replacement> = Vec::new();
    // Where the old text before ended, while its last line is still being rewritten.
    let mut open: Option<Spot> = None;
    for (index, &Found { edit, start, end }) in found.iter().enumerate() {
        let mut with = match open.take() {
            Some(from) => FuzzyLine::at(bytes, start.line_start).part(from.column, start.column),
            None => FuzzyLine::at(bytes, start.line_start).part(0, start.column),
        };
        with.extend(with_endings_of(bytes, start.line_start, &edits[edit].new));
        let next = found.get(index + 1).map(|next| next.start.line_start);
        let line = FuzzyLine::at(bytes, end.line_start);
        let end = match end.column {
            // The old text ends with a line break: the line below is not touched.
            0 => end.line_start,
            _ if next == Some(end.line_start) => {
                open = Some(end);
                end.line_start
            }
            column => {
                with.extend(line.part(column, line.fuzzy.len()));
                line.end
            }
        };
        replacements.push(Replacement { start: start.line_start, end, with });
    }
    replacements
}

struct FuzzyLine<'a> {
    content: &'a [u8],
    fuzzy: std::borrow::Cow<'a, [u8]>,
    end: usize,
}

impl<'a> FuzzyLine<'a> {
    fn at(bytes: &'a [u8], start: usize) -> Self {
        let end = Line::at(bytes, start).map_or(start, |line| line.end);
        let content = &bytes[start..end];
        Self { content, fuzzy: fuzzy::fuzzy_line(content), end }
    }

    fn part(&self, from: usize, to: usize) -> Vec<u8> {
        fuzzy::restored(self.content, &self.fuzzy, from, to)
    }
}

/// `text` with the line breaks of the line that holds the place `at`.
fn with_endings_of(bytes: &[u8], at: usize, text: &[u8]) -> Vec<u8> {
    if memchr(b'\n', text).is_none() {
        return text.to_vec();
    }
    match ending_at(bytes, at) {
        b"\n" => text.to_vec(),
        ending => {
            let mut result = Vec::with_capacity(text.len() + text.len() / 16);
            let mut lines = text.split(|&byte| byte == b'\n');
            result.extend_from_slice(lines.next().unwrap_or_default());
            for line in lines {
                result.extend_from_slice(ending);
                result.extend_from_slice(line);
            }
            result
        }
    }
}

/// The line ending at a place: of its own line, of the line before when it has none. A lone CR is
/// data, unless the file has no LF at all.
fn ending_at(bytes: &[u8], at: usize) -> &'static [u8] {
    let lf = memchr(b'\n', &bytes[at..]).map(|length| at + length).or_else(|| memrchr(b'\n', &bytes[..at]));
    match lf {
        Some(lf) if bytes[..lf].ends_with(b"\r") => b"\r\n",
        Some(_) => b"\n",
        None if memchr(b'\r', bytes).is_some() => b"\r",
        None => b"\n",
    }
}

/// Where a CR now stands right before an LF though they were two line breaks, another LF keeps them two.
fn part_breaks(bytes: &[u8], replacements: &mut [Replacement]) {
    let (mut last, mut kept_from) = (None, 0);
    for index in 0..replacements.len() {
        let next_start = replacements.get(index + 1).map(|next| next.start);
        let Replacement { start, end, with } = &mut replacements[index];
        if *start > kept_from {
            last = Some(bytes[*start - 1]);
        }
        if last == Some(b'\r') && with.first() == Some(&b'\n') {
            with.insert(0, b'\n');
        }
        last = with.last().copied().or(last);
        if next_start != Some(*end) && last == Some(b'\r') && bytes.get(*end) == Some(&b'\n') {
            with.push(b'\n');
        }
        kept_from = *end;
    }
}

#[cfg(test)]
mod tests {
    use super::super::matching;
    use super::*;

    fn edited(content: &str, pairs: &[(&str, &str)]) -> String {
        let edits: Vec<Edit> =
            pairs.iter().map(|(old, new)| Edit::new(old.as_bytes(), new.as_bytes())).collect();
        let matches = matching::find(content.as_bytes(), &edits).unwrap();
        let replacements = replacements(content.as_bytes(), &edits, &matches);
        String::from_utf8(pieces(content.as_bytes(), &replacements).concat()).unwrap()
    }

    #[test]
    fn new_breaks_are_those_of_the_line_where_the_range_starts() {
        assert_eq!(
            edited("a\r\nb\nc", &[("a", "1\n2"), ("b", "3\n4"), ("c", "5\n6")]),
            "1\r\n2\r\n3\n4\n5\n6"
        );
        assert_eq!(edited("a\r\nb", &[("b", "1\n2")]), "a\r\n1\r\n2");
        assert_eq!(edited("a\rb", &[("b", "1\n2")]), "a\r1\r2");
        assert_eq!(edited("a\rb\r\n", &[("a", "1\n2")]), "1\r\n2\rb\r\n");
        assert_eq!(edited("a", &[("a", "1\n2")]), "1\n2");
    }

    #[test]
    fn two_breaks_never_become_one() {
        assert_eq!(edited("x\rY\nz\n", &[("Y", "")]), "x\r\n\nz\n");
        assert_eq!(edited("x\rYZ\n", &[("Y", ""), ("Z", "")]), "x\r\n\n");
        assert_eq!(edited("x\rY\n", &[("Y", "\n1")]), "x\r\n\n1\n");
    }

    #[test]
    fn an_edit_without_effect_does_not_even_change_line_endings() {
        assert_eq!(edited("a\r\nb\nc\nd\n", &[("a\nb\nc", "a\nb\nc"), ("d", "D")]), "a\r\nb\nc\nD\n");
    }
}
