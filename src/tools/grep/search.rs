//! The search of a place: each file in turn, by several threads, until there is enough.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use grep_regex::RegexMatcher;
use grep_searcher::Searcher;

use super::collect::Collected;
use super::file::{self, File, Found, Stop};
use super::place::Place;
use super::query::Query;
use crate::context::Context;
use crate::error::{self, Error};
use crate::fs::Kind;
use crate::fs::walk::{Dialect, Entry, Event, Verdict, Visit, Walk};

/// Bytes of findings that may be held ahead of the order.
const AHEAD: usize = 16 * 1024 * 1024;

/// Ignore files beside git's, the one that decides first in front.
const DIALECT: Dialect = Dialect { own_files: &[".rgignore", ".ignore"], git_everywhere: false };

/// Searches `place`. What it gives is in `collected`, also when the call was cancelled.
pub(super) fn search(
    query: &Query,
    place: &Place,
    context: &Context,
    collected: &mut Collected<'_>,
) -> Result<(), Error> {
    let search = Search {
        query,
        place,
        context,
        limit: collected.limit,
        enough: AtomicBool::new(false),
        is_unseen: AtomicBool::new(collected.text.is_full()),
    };
    match place.kind {
        Kind::Dir => search.directory(collected)?,
        _ => search.named_file(collected),
    }
    Ok(())
}

/// A search under way.
struct Search<'a> {
    query: &'a Query,
    place: &'a Place,
    context: &'a Context,
    limit: u64,
    /// Set when nothing more is wanted.
    enough: AtomicBool,
    /// Set when no further line of the text can be seen.
    is_unseen: AtomicBool,
}

/// What a thread searches with.
type Worker = (Searcher, RegexMatcher);

impl Search<'_> {
    fn directory(&self, collected: &mut Collected<'_>) -> Result<(), Error> {
        let walk = Walk { root: &self.place.path, dialect: DIALECT, ahead: AHEAD, threads: 0 };
        walk.run(self, self.context, &mut |event| {
            let flow = match event {
                Event::Unreadable(unreadable) => {
                    collected.problems.push(unreadable.to_string());
                    ControlFlow::Continue(())
                }
                Event::Found(files) => {
                    files.into_iter().try_for_each(|(path, found)| collected.take(path, found))
                }
            };
            self.is_unseen.store(collected.text.is_full(), Ordering::Relaxed);
            self.enough.store(flow.is_break(), Ordering::Relaxed);
            flow
        })?;
        // What was found in this file went over the limit: search it again for as much as is wanted.
        if let Some((relative, left)) = collected.partly.take() {
            self.enough.store(false, Ordering::Relaxed);
            let path = self.place.path.join(&relative);
            if let Some(found) = self.file(&mut self.worker(), &path, &relative, left) {
                collected.add(found);
            }
        }
        Ok(())
    }

    fn named_file(&self, collected: &mut Collected<'_>) {
        let Place { path, named, .. } = self.place;
        let shown = Path::new(named.file_name().unwrap_or(named.as_os_str()));
        let mut worker = (self.query.searcher_of_named(), self.query.matcher.clone());
        let most = self.limit.saturating_add(1);
        let Some(found) = self.file(&mut worker, path, shown, most) else { return };
        if collected.take(shown.to_owned(), found).is_break()
            && let Some((_, left)) = collected.partly.take()
            && let Some(found) = self.file(&mut worker, path, shown, left)
        {
            collected.add(found);
        }
    }

    /// Searches a file; `None` if it is gone.
    fn file(&self, (searcher, matcher): &mut Worker, path: &Path, shown: &Path, most: u64) -> Option<Found> {
        let source = match self.context.backend.open(path) {
            Ok(source) => source,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                let named = self.place.named(shown);
                let problem = format!("{}, open '{}'", error::describe(&error), named.display());
                return Some(Found { problem: Some(problem), ..Found::default() });
            }
        };
        let is_unseen = self.is_unseen.load(Ordering::Relaxed);
        let file = File { shown, place: self.place, most, is_unseen };
        let stop = Stop { cancel: &self.context.cancel, enough: &self.enough };
        Some(file::search(self.query, matcher, searcher, source, &file, stop))
    }
}

impl Visit for Search<'_> {
    type Worker = Worker;
    type Found = Vec<(std::path::PathBuf, Found)>;
    const IS_CHEAP: bool = false;

    fn worker(&self) -> Worker {
        (self.query.searcher(), self.query.matcher.clone())
    }

    fn verdict(&self, relative: &Path, is_dir: bool) -> Verdict {
        self.query.verdict(relative, is_dir)
    }

    fn visit(&self, worker: &mut Worker, entry: &Entry<'_>, files: &mut Self::Found) {
        if entry.kind == Kind::File
            && let Some(found) = self.file(worker, entry.path, entry.relative, self.limit.saturating_add(1))
            && (found.count > 0 || found.problem.is_some())
        {
            files.push((entry.relative.to_owned(), found));
        }
    }

    /// So much is held ahead of the order as would fill the limit, but not more than memory allows.
    fn weight(&self, files: &Self::Found) -> usize {
        let of_limit = AHEAD as u64 / self.limit.saturating_add(1);
        let weights = files.iter().map(|(_, found)| {
            let of_limit = usize::try_from(found.count.saturating_mul(of_limit)).unwrap_or(usize::MAX);
            (found.records.json().len() + found.text.held() + size_of::<Found>()).max(of_limit)
        });
        weights.fold(0, usize::saturating_add)
    }
}
