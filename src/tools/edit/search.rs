//! A file in the view that an edit is looked up in, as much of it as matters, and the search there.
//! Owns which parts of a file need a view at all, and the way from a view to the lines of the file.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memmem, memrchr};

use super::fuzzy;
use super::matching::{Edit, LINES_SHOWN};
use super::view::{self, Line};

/// About this much of a file is taken or left at once.
const BLOCK: usize = if cfg!(test) { 8 } else { 64 * 1024 };
/// With more edits than this, looking for the parts that matter costs more than viewing everything.
const FILTERED_EDITS: usize = 16;

/// How a file is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Line breaks as LF.
    Exact,
    /// The same, with bytes that are not UTF-8 as U+FFFD.
    Lossy,
    /// In its fuzzy form.
    Fuzzy,
}

/// A place in a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// Where its line starts, in bytes of the file.
    pub line_start: usize,
    /// How far into the line, as the view shows it.
    pub column: usize,
}

/// The occurrences of a text.
#[derive(Debug, Default)]
pub struct Hits {
    /// How many there are, counted without overlaps.
    pub count: usize,
    /// Where they start and end: all of them, or the first few when one is wanted.
    pub places: Vec<(Spot, Spot)>,
    /// Whether this is the one that makes up the whole of the line asked for.
    pub is_whole_line: bool,
}

/// A file as matching sees it: the parts in which an old text can be.
pub struct View<'a> {
    bytes: &'a [u8],
    regions: Vec<Region<'a>>,
    last_mark: Cell<Option<Mark>>,
}

/// Whole lines of the file, and what the view shows for them.
struct Region<'a> {
    lines: Range<usize>,
    text: Cow<'a, [u8]>,
}

impl<'a> View<'a> {
    /// A view of `bytes` that can be searched for `edits`.
    pub fn new(bytes: &'a [u8], kind: Kind, edits: &[Edit]) -> Self {
        let is_same = match kind {
            Kind::Exact => memchr(b'\r', bytes).is_none(),
            Kind::Lossy => false,
            Kind::Fuzzy => fuzzy::is_plain(bytes),
        };
        let is_filtered = !is_same && edits.len() <= FILTERED_EDITS;
        let whole = || std::iter::once(0..bytes.len()).collect();
        let parts = if is_filtered { parts(bytes, kind, edits) } else { whole() };
        let region = |lines: Range<usize>| {
            let part = &bytes[lines.clone()];
            let text = match kind {
                _ if is_same => Cow::Borrowed(part),
                Kind::Exact => view::with_lf(part),
                Kind::Lossy => view::lossy_with_lf(part),
                Kind::Fuzzy => fuzzy::fuzzy(part),
            };
            Region { lines, text }
        };
        Self { bytes, regions: parts.into_iter().map(region).collect(), last_mark: Cell::new(None) }
    }

    /// Whether the view is the file itself.
    pub fn is_plain(&self) -> bool {
        let whole = |region: &Region<'_>| region.lines == (0..self.bytes.len());
        matches!(self.regions.as_slice(), [only] if whole(only) && matches!(only.text, Cow::Borrowed(_)))
    }

    /// Looks for `old`, which is the old text of `edit` or its fuzzy form.
    pub fn search(&self, old: &[u8], edit: &Edit) -> Hits {
        let mut hits = Hits::default();
        let Some(line) = edit.line else {
            for region in &self.regions {
                let tracer = Tracer::at_start_of(region, self.bytes);
                collect(tracer, 0..region.text.len(), old, edit.all, &mut hits);
            }
            return hits;
        };
        let Some(mark) = self.mark(line.get()) else { return hits };
        let region = &self.regions[mark.region];
        let (text, from) = (&region.text, mark.in_text);
        let line_end = memchr(b'\n', &text[from..]).map_or(text.len(), |length| from + length);
        // What starts on the line may end at most that far behind it.
        let reach = text.len().min(line_end + old.len());
        let tracer =
            Tracer { bytes: self.bytes, region, seen: from, text_line: from, line_start: mark.in_file };
        collect(tracer, from..reach, old, edit.all, &mut hits);
        let is_whole = text[from..].starts_with(old)
            && (old.ends_with(b"\n") || text.get(from + old.len()).is_none_or(|&next| next == b'\n'));
        if is_whole && !edit.all {
            hits.places.truncate(1);
            hits = Hits { count: 1, is_whole_line: true, ..hits };
        }
        hits
    }

    /// Finds the start of a line; quick when lines are asked for in ascending order.
    fn mark(&self, line: usize) -> Option<Mark> {
        let last = self.last_mark.get().filter(|mark| mark.line <= line);
        let (known_line, known) = last.map_or((1, 0), |mark| (mark.line, mark.in_file));
        let in_file = view::below(self.bytes, known, line - known_line)?;
        let region = self.regions.iter().position(|region| region.lines.contains(&in_file))?;
        let Region { lines, text } = &self.regions[region];
        let nearer = last.filter(|mark| mark.region == region);
        let (known, known_in_text) = nearer.map_or((lines.start, 0), |mark| (mark.in_file, mark.in_text));
        let in_text = view::below(text, known_in_text, view::count_breaks(&self.bytes[known..in_file]))?;
        let mark = Mark { line, in_file, region, in_text };
        self.last_mark.set(Some(mark));
        Some(mark)
    }
}

/// A line start, in the file and in the view.
#[derive(Clone, Copy)]
struct Mark {
    line: usize,
    in_file: usize,
    region: usize,
    in_text: usize,
}

/// Adds the occurrences of `old` in a part of a region's text.
fn collect(mut tracer: Tracer<'_, '_>, part: Range<usize>, old: &[u8], all: bool, hits: &mut Hits) {
    for at in memmem::find_iter(&tracer.region.text[part.clone()], old) {
        hits.count += 1;
        if all || hits.count <= LINES_SHOWN {
            let start = part.start + at;
            hits.places.push((tracer.spot(start), tracer.spot(start + old.len())));
        }
    }
}

/// Leads from places in a region's text to the lines of the file; the places come in ascending order.
struct Tracer<'v, 'a> {
    bytes: &'a [u8],
    region: &'v Region<'a>,
    seen: usize,
    text_line: usize,
    line_start: usize,
}

impl<'v, 'a> Tracer<'v, 'a> {
    fn at_start_of(region: &'v Region<'a>, bytes: &'a [u8]) -> Self {
        Self { bytes, region, seen: 0, text_line: 0, line_start: region.lines.start }
    }

    fn spot(&mut self, place: usize) -> Spot {
        let text = &self.region.text;
        if let Some(last) = memrchr(b'\n', &text[self.seen..place]) {
            let start = self.seen + last + 1;
            self.line_start = match text {
                Cow::Borrowed(_) => self.region.lines.start + start,
                Cow::Owned(_) => {
                    let breaks = memchr_iter(b'\n', &text[self.text_line..start]).count();
                    view::below(self.bytes, self.line_start, breaks).unwrap_or(self.region.lines.end)
                }
            };
            self.text_line = start;
        }
        self.seen = place;
        Spot { line_start: self.line_start, column: place - self.text_line }
    }
}

/// The parts of a file, in whole lines, in which one of the old texts can be.
fn parts(bytes: &[u8], kind: Kind, edits: &[Edit]) -> Vec<Range<usize>> {
    let breaks = |edit: &Edit| memchr_iter(b'\n', &edit.old).count();
    let around = |range: Range<usize>, lines: usize| {
        view::above(bytes, range.start, lines)..view::below(bytes, range.end, lines).unwrap_or(bytes.len())
    };
    let (anywhere, on_lines): (Vec<&Edit>, Vec<&Edit>) = edits.iter().partition(|edit| edit.line.is_none());
    let lines = on_lines.iter().filter_map(|edit| {
        let start = view::below(bytes, 0, edit.line?.get() - 1)?;
        Some(around(start..start, breaks(edit) + 1))
    });
    let mut parts: Vec<Range<usize>> = lines.collect();
    let reach = anywhere.iter().map(|edit| breaks(edit)).max().unwrap_or_default();
    let clues: Option<Vec<Clue>> = anywhere.iter().map(|edit| Clue::of(edit, kind)).collect();
    let mut at = 0;
    while at < bytes.len() && !anywhere.is_empty() {
        let end = if bytes.len() - at <= BLOCK { bytes.len() } else { Line::around(bytes, at + BLOCK).next };
        let block = &bytes[at..end];
        let hides = kind == Kind::Fuzzy && clues.is_some() && fuzzy::may_hide_words(block);
        if hides || clues.as_ref().is_none_or(|clues| clues.iter().any(|clue| clue.is_in(block))) {
            parts.push(around(at..end, reach));
        }
        at = end;
    }
    merged(parts)
}

fn merged(mut parts: Vec<Range<usize>>) -> Vec<Range<usize>> {
    parts.sort_by_key(|part| part.start);
    parts.dedup_by(|next, last| {
        let touches = next.start <= last.end;
        if touches {
            last.end = last.end.max(next.end);
        }
        touches
    });
    parts
}

/// Bytes of which one at least is there wherever an old text is.
struct Clue(Vec<memmem::Finder<'static>>);

impl Clue {
    /// `None` if there is nothing to go by.
    fn of(edit: &Edit, kind: Kind) -> Option<Self> {
        let form = edit.fuzzy_form().filter(|_| kind == Kind::Fuzzy);
        let runs =
            [Some(edit.old.as_slice()), form.as_deref()].into_iter().flatten().map(|form| match kind {
                Kind::Exact => longest(form, |byte| byte != b'\n'),
                Kind::Lossy => longest(form, |byte| byte != b'\n' && byte.is_ascii()),
                Kind::Fuzzy => longest(form, |byte| byte.is_ascii_alphanumeric()),
            });
        runs.map(|run| Some(memmem::Finder::new(run?).into_owned())).collect::<Option<_>>().map(Self)
    }

    fn is_in(&self, block: &[u8]) -> bool {
        self.0.iter().any(|finder| finder.find(block).is_some())
    }
}

/// The longest run of bytes of a kind.
fn longest(text: &[u8], is_of_kind: impl Fn(u8) -> bool) -> Option<&[u8]> {
    text.split(|&byte| !is_of_kind(byte)).max_by_key(|run| run.len()).filter(|run| !run.is_empty())
}
