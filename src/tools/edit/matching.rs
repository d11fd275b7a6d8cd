//! Where the old texts lie in a file. Owns finding, uniqueness and the check for overlaps; refuses to
//! guess between two places.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::num::NonZeroUsize;
use std::ops::Range;

use memchr::{memchr, memmem};

use super::view::{self, Exact, Line};

/// Lines of occurrences named in an error.
const LINES_SHOWN: usize = 5;

/// One replacement asked for. Both texts have their line breaks as LF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What to look for; not empty.
    pub old: Vec<u8>,
    /// What to put there.
    pub new: Vec<u8>,
    /// Only what starts on this line counts.
    pub line: Option<NonZeroUsize>,
    /// Whether every occurrence is meant.
    pub all: bool,
}

impl Edit {
    /// An edit from texts with any line breaks.
    pub fn new(old: &[u8], new: &[u8]) -> Self {
        let [old, new] = [old, new].map(|text| view::with_lf(text).into_owned());
        Self { old, new, line: None, all: false }
    }
}

/// Where the edits go, in the order of the file.
#[derive(Debug, PartialEq, Eq)]
pub enum Matches {
    /// Every old text is there as it stands; places are bytes of the file.
    Exact(Vec<Found<usize>>),
    /// At least one is there in the fuzzy view only: all were looked up in that.
    Fuzzy(Vec<Found<Spot>>),
}

/// A place where an edit goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found<P> {
    /// Index of the edit.
    pub edit: usize,
    /// The first place of the old text.
    pub start: P,
    /// Behind the old text.
    pub end: P,
}

/// A place in the fuzzy view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// Where its line starts, in bytes of the file.
    pub line_start: usize,
    /// How far into the line's fuzzy form.
    pub column: usize,
}

/// Why the edits have no places.
#[derive(Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// No occurrence.
    None {
        /// Index of the edit.
        edit: usize,
    },
    /// There are occurrences, but none on the line asked for.
    NotOnLine {
        /// Index of the edit.
        edit: usize,
        /// The line asked for.
        line: usize,
        /// How many there are elsewhere.
        count: usize,
        /// The lines of the first few.
        lines: Vec<usize>,
    },
    /// More than one occurrence.
    Several {
        /// Index of the edit.
        edit: usize,
        /// How many; counted in the fuzzy view.
        count: usize,
        /// The lines of the first few.
        lines: Vec<usize>,
    },
    /// Two edits touch the same text.
    Overlap {
        /// Index of the edit that starts first.
        first: usize,
        /// Index of the other one.
        second: usize,
    },
}

impl Matches {
    /// How many places there are.
    pub fn count(&self) -> usize {
        match self {
            Self::Exact(found) => found.len(),
            Self::Fuzzy(found) => found.len(),
        }
    }
}

/// Finds the place of every edit in `bytes`, a file without its byte order mark. All are looked up
/// in the text as it is, never in the outcome of an earlier edit.
pub fn find(bytes: &[u8], edits: &[Edit]) -> Result<Matches, Mismatch> {
    let exact = find_exact(bytes, edits);
    let fuzzy = LazyCell::new(|| view::fuzzy(bytes));
    let is_fuzzy = edits
        .iter()
        .zip(&exact)
        .any(|(edit, hits)| hits.ranges.is_empty() && !find_fuzzy(&fuzzy, edit).ranges.is_empty());
    let mut found = Vec::new();
    for (index, (edit, exact)) in edits.iter().zip(exact).enumerate() {
        let (text, hits) = if is_fuzzy { (&**fuzzy, find_fuzzy(&fuzzy, edit)) } else { (bytes, exact) };
        if hits.ranges.is_empty() {
            return Err(absent(index, edit, bytes, &fuzzy));
        }
        if !edit.all && !hits.is_whole_line {
            if hits.count > 1 {
                return Err(several(index, &hits, text));
            }
            let is_counted = is_fuzzy || (matches!(*fuzzy, Cow::Borrowed(_)) && is_plain(edit));
            let look_alikes = if is_counted { Hits::default() } else { find_fuzzy(&fuzzy, edit) };
            if look_alikes.count > 1 {
                return Err(several(index, &look_alikes, &fuzzy));
            }
        }
        found.extend(hits.ranges.into_iter().map(|Range { start, end }| Found { edit: index, start, end }));
    }
    found.sort_by_key(|found| found.start);
    if let Some([first, second]) = found.array_windows().find(|[first, second]| first.end > second.start) {
        return Err(Mismatch::Overlap { first: first.edit, second: second.edit });
    }
    Ok(if is_fuzzy { Matches::Fuzzy(in_lines(bytes, &fuzzy, &found)) } else { Matches::Exact(found) })
}

/// The occurrences of one old text.
#[derive(Default)]
struct Hits {
    /// How many there are.
    count: usize,
    /// Where they lie: all of them, or the first few when one is wanted.
    ranges: Vec<Range<usize>>,
    /// Whether this is the one that makes up the whole of the line asked for.
    is_whole_line: bool,
}

fn find_exact(bytes: &[u8], edits: &[Edit]) -> Vec<Hits> {
    // A model that was shown U+FFFD for a stray byte sends it back; other edits see the byte itself.
    let is_lossy = edits.iter().any(|edit| memmem::find(&edit.old, "\u{fffd}".as_bytes()).is_some());
    let view = Exact::new(bytes, is_lossy);
    let mut lines = LineStarts::of(&view.text);
    let mut all: Vec<Hits> = edits.iter().map(|edit| search(&mut lines, &edit.old, edit)).collect();
    if matches!(view.text, Cow::Owned(_)) {
        let ranges = all.iter().flat_map(|hits| &hits.ranges);
        let mut places: Vec<usize> = ranges.flat_map(|range| [range.start, range.end]).collect();
        places.sort_unstable();
        places.dedup();
        let in_file = view.to_bytes(&places);
        let to_file = |place| places.binary_search(&place).map_or(place, |index| in_file[index]);
        for range in all.iter_mut().flat_map(|hits| &mut hits.ranges) {
            *range = to_file(range.start)..to_file(range.end);
        }
    }
    all
}

/// Looks an edit up in the fuzzy view: as it stands, else in its own fuzzy form. Look-alikes count
/// either way.
fn find_fuzzy(fuzzy: &[u8], edit: &Edit) -> Hits {
    let mut lines = LineStarts::of(fuzzy);
    let verbatim = search(&mut lines, &edit.old, edit);
    match fuzzy_form(&edit.old) {
        Some(form) if *form != edit.old => {
            let hits = search(&mut lines, &form, edit);
            if verbatim.ranges.is_empty() {
                hits
            } else {
                Hits { count: verbatim.count.max(hits.count), ..verbatim }
            }
        }
        _ => verbatim,
    }
}

/// What stands for an old text in the fuzzy view. `None` for blanks, which would match anywhere, and
/// for bytes that are not UTF-8, which mean themselves: those are only ever found as they stand.
fn fuzzy_form(old: &[u8]) -> Option<Cow<'_, [u8]>> {
    std::str::from_utf8(old).ok()?;
    Some(view::fuzzy(old)).filter(|form| !form.is_empty())
}

fn is_plain(edit: &Edit) -> bool {
    matches!(view::fuzzy(&edit.old), Cow::Borrowed(_))
}

fn search(lines: &mut LineStarts<'_>, old: &[u8], edit: &Edit) -> Hits {
    let Some(line) = edit.line else {
        return collect(lines.text, 0, old, edit.all);
    };
    let Some(start) = lines.start_of(line.get()) else { return Hits::default() };
    let text = lines.text;
    let line_end = memchr(b'\n', &text[start..]).map_or(text.len(), |length| start + length);
    let reach = text.len().min(line_end + old.len());
    let mut hits = collect(&text[..reach], start, old, edit.all);
    let is_whole = |range: &Range<usize>| {
        range.start == start
            && (old.ends_with(b"\n") || text.get(range.end).is_none_or(|&next| next == b'\n'))
    };
    if !edit.all && hits.ranges.first().is_some_and(is_whole) {
        hits = Hits { count: 1, is_whole_line: true, ranges: hits.ranges[..1].to_vec() };
    }
    hits
}

/// The occurrences of `old` from `from` on that do not overlap.
fn collect(text: &[u8], from: usize, old: &[u8], all: bool) -> Hits {
    let mut hits = Hits::default();
    for start in memmem::find_iter(&text[from..], old).map(|at| from + at) {
        hits.count += 1;
        if all || hits.count <= LINES_SHOWN {
            hits.ranges.push(start..start + old.len());
        }
    }
    hits
}

/// Finds line starts; cheap when they are asked for in ascending order.
struct LineStarts<'t> {
    text: &'t [u8],
    line: usize,
    start: usize,
}

impl<'t> LineStarts<'t> {
    fn of(text: &'t [u8]) -> Self {
        Self { text, line: 1, start: 0 }
    }

    fn start_of(&mut self, line: usize) -> Option<usize> {
        if line < self.line {
            (self.line, self.start) = (1, 0);
        }
        self.start = view::below(self.text, self.start, line - self.line)?;
        self.line = line;
        Some(self.start)
    }
}

fn absent(index: usize, edit: &Edit, bytes: &[u8], fuzzy: &[u8]) -> Mismatch {
    let Some(line) = edit.line else { return Mismatch::None { edit: index } };
    let anywhere = Edit { line: None, all: false, ..edit.clone() };
    let exact = find_exact(bytes, std::slice::from_ref(&anywhere)).pop().unwrap_or_default();
    let (hits, text) = if exact.count > 0 { (exact, bytes) } else { (find_fuzzy(fuzzy, &anywhere), fuzzy) };
    match hits.count {
        0 => Mismatch::None { edit: index },
        count => {
            let lines = lines_of(&hits, text);
            Mismatch::NotOnLine { edit: index, line: line.get(), count, lines }
        }
    }
}

fn several(edit: usize, hits: &Hits, text: &[u8]) -> Mismatch {
    Mismatch::Several { edit, count: hits.count, lines: lines_of(hits, text) }
}

/// The lines, counted from 1, on which the first few hits start.
fn lines_of(hits: &Hits, text: &[u8]) -> Vec<usize> {
    let (mut line, mut counted_to) = (1, 0);
    let shown = hits.ranges.iter().take(LINES_SHOWN);
    shown
        .map(|range| {
            line += view::count_breaks(&text[counted_to..range.start]);
            counted_to = range.start;
            line
        })
        .collect()
}

/// From places in the fuzzy view to places in the lines of the file.
fn in_lines(bytes: &[u8], fuzzy: &[u8], found: &[Found<usize>]) -> Vec<Found<Spot>> {
    let (mut line_start, mut fuzzy_start) = (0, 0);
    let mut spot = |place: usize| {
        let start = Line::around(fuzzy, place).start;
        let breaks = view::count_breaks(&fuzzy[fuzzy_start..start]);
        line_start = view::below(bytes, line_start, breaks).unwrap_or(bytes.len());
        fuzzy_start = start;
        Spot { line_start, column: place - start }
    };
    let places = found.iter();
    places.map(|&Found { edit, start, end }| Found { edit, start: spot(start), end: spot(end) }).collect()
}
