//! Where the old texts lie in a file. Owns the choice of the view, uniqueness and the check for
//! overlaps; refuses to guess between two places.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::num::NonZeroUsize;

use memchr::memmem;

use super::search::{Hits, Kind, Spot, View};
use super::{fuzzy, view};

/// Lines of occurrences named in an error.
pub(super) const LINES_SHOWN: usize = 5;

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

    /// What stands for the old text in the fuzzy view. `None` for blanks, which would match anywhere, and
    /// for bytes that are not UTF-8, which mean themselves: those are only ever found as they stand.
    pub fn fuzzy_form(&self) -> Option<Cow<'_, [u8]>> {
        std::str::from_utf8(&self.old).ok()?;
        Some(fuzzy::fuzzy(&self.old)).filter(|form| !form.is_empty())
    }
}

/// Where the edits go.
#[derive(Debug, PartialEq, Eq)]
pub struct Matches {
    /// The view in which all of them were found.
    pub kind: Kind,
    /// The places, in the order of the file.
    pub found: Vec<Found>,
}

/// A place where an edit goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Index of the edit.
    pub edit: usize,
    /// The first place of the old text.
    pub start: Spot,
    /// Behind the old text.
    pub end: Spot,
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

/// Finds the place of every edit in `bytes`, a file without its byte order mark. All are looked up
/// in the text as it is, never in the outcome of an earlier edit.
pub fn find(bytes: &[u8], edits: &[Edit]) -> Result<Matches, Mismatch> {
    let kind = exact_kind(edits);
    let exact = find_exact(bytes, edits);
    let fuzzy = LazyCell::new(|| View::new(bytes, Kind::Fuzzy, edits));
    let is_there = |hits: &Hits| !hits.places.is_empty();
    let is_fuzzy =
        edits.iter().zip(&exact).any(|(edit, hits)| !is_there(hits) && is_there(&find_fuzzy(&fuzzy, edit)));
    let mut found = Vec::new();
    for (index, (edit, exact)) in edits.iter().zip(exact).enumerate() {
        let hits = if is_fuzzy { find_fuzzy(&fuzzy, edit) } else { exact };
        if !is_there(&hits) {
            return Err(absent(index, edit, bytes));
        }
        if !edit.all && !hits.is_whole_line {
            let is_counted = is_fuzzy || (is_plain(edit) && fuzzy.is_plain());
            let look_alikes = if is_counted { Hits::default() } else { find_fuzzy(&fuzzy, edit) };
            let most = if look_alikes.count > hits.count { &look_alikes } else { &hits };
            if most.count > 1 {
                let lines = lines_of(most, bytes);
                return Err(Mismatch::Several { edit: index, count: most.count, lines });
            }
        }
        found.extend(hits.places.into_iter().map(|(start, end)| Found { edit: index, start, end }));
    }
    found.sort_by_key(|found| found.start);
    if let Some([first, second]) = found.array_windows().find(|[first, second]| first.end > second.start) {
        return Err(Mismatch::Overlap { first: first.edit, second: second.edit });
    }
    Ok(Matches { kind: if is_fuzzy { Kind::Fuzzy } else { kind }, found })
}

/// A model that was shown U+FFFD for a stray byte sends it back; other edits see the byte itself.
fn exact_kind(edits: &[Edit]) -> Kind {
    let is_lossy = edits.iter().any(|edit| memmem::find(&edit.old, view::REPLACEMENT).is_some());
    if is_lossy { Kind::Lossy } else { Kind::Exact }
}

fn find_exact(bytes: &[u8], edits: &[Edit]) -> Vec<Hits> {
    let view = View::new(bytes, exact_kind(edits), edits);
    edits.iter().map(|edit| view.search(&edit.old, edit)).collect()
}

/// Looks an edit up in the fuzzy view: as it stands, else in its own fuzzy form. Look-alikes count
/// either way.
fn find_fuzzy(view: &View<'_>, edit: &Edit) -> Hits {
    let verbatim = view.search(&edit.old, edit);
    match edit.fuzzy_form() {
        Some(form) if *form != edit.old => {
            let hits = view.search(&form, edit);
            if verbatim.places.is_empty() {
                hits
            } else {
                Hits { count: verbatim.count.max(hits.count), ..verbatim }
            }
        }
        _ => verbatim,
    }
}

fn is_plain(edit: &Edit) -> bool {
    matches!(fuzzy::fuzzy(&edit.old), Cow::Borrowed(_))
}

fn absent(index: usize, edit: &Edit, bytes: &[u8]) -> Mismatch {
    let Some(line) = edit.line else { return Mismatch::None { edit: index } };
    let anywhere = [Edit { line: None, all: false, ..edit.clone() }];
    let exact = find_exact(bytes, &anywhere).pop().filter(|hits| hits.count > 0);
    let hits = exact.unwrap_or_else(|| find_fuzzy(&View::new(bytes, Kind::Fuzzy, &anywhere), &anywhere[0]));
    match hits.count {
        0 => Mismatch::None { edit: index },
        count => {
            let lines = lines_of(&hits, bytes);
            Mismatch::NotOnLine { edit: index, line: line.get(), count, lines }
        }
    }
}

/// The lines, counted from 1, on which the first few hits start.
fn lines_of(hits: &Hits, bytes: &[u8]) -> Vec<usize> {
    let (mut line, mut counted_to) = (1, 0);
    let shown = hits.places.iter().take(LINES_SHOWN);
    shown
        .map(|(start, _)| {
            line += view::count_breaks(&bytes[counted_to..start.line_start]);
            counted_to = start.line_start;
            line
        })
        .collect()
}
