//! Walking a tree: ignore rules respected, in parallel, always in the same order, stopping early.
//!
//! The order is that of the components' bytes, a directory before what is in it. Several threads work
//! on the smallest parts that are left, and what they find is handed on in order, so that a caller who
//! has seen enough can stop the whole walk, and nearly nothing was done that it did not need. Memory
//! holds the frontier (directories seen and not yet listed) and a bounded amount of what was found
//! ahead of the order, never the tree.

mod global;
mod rules;
mod schedule;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::context::Context;
use crate::error::{self, Code, Fault};
use crate::fs::{DirEntry, Kind};
pub use rules::Dialect;
use rules::{Rules, Tree};
use schedule::{Key, Schedule};

/// Files handed to one thread at a time.
const BATCH: usize = 12;

/// What looks at the entries of a walk. Shared by the threads; each has a [`Visit::Worker`] of its own.
pub trait Visit: Sync {
    /// What a thread keeps between entries (buffers, caches).
    type Worker;
    /// What is found in a row of neighbouring entries.
    type Found: Default + Send;
    /// Whether looking at an entry costs next to nothing, so that it is done while listing. Only then
    /// directories are visited, too.
    const IS_CHEAP: bool;

    /// What a new thread starts with.
    fn worker(&self) -> Self::Worker;

    /// Whether an entry is in or out, whatever ignore rules say.
    fn verdict(&self, _relative: &Path, _is_dir: bool) -> Verdict {
        Verdict::Rules
    }

    /// Whether a directory that is not ignored can hold anything of interest.
    fn enters(&self, _relative: &Path) -> bool {
        true
    }

    /// Looks at an entry and adds to what was found in this row.
    fn visit(&self, worker: &mut Self::Worker, entry: &Entry<'_>, found: &mut Self::Found);

    /// How much memory was found: 0 for nothing, and nothing is handed on then.
    fn weight(&self, found: &Self::Found) -> usize;
}

/// Whether an entry is part of the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is, even if ignored.
    In,
    /// It is not.
    Out,
    /// The ignore rules decide.
    Rules,
}

/// One entry of a walk.
#[derive(Debug)]
pub struct Entry<'a> {
    /// Where it is, without links above it.
    pub path: &'a Path,
    /// The same from the root of the walk on.
    pub relative: &'a Path,
    /// What it is, a link being a link.
    pub kind: Kind,
}

/// What a walk hands on, in order.
#[derive(Debug)]
pub enum Event<F> {
    /// Something was found.
    Found(F),
    /// A directory could not be listed.
    Unreadable(Unreadable),
}

/// A directory could not be listed.
#[derive(Debug, thiserror::Error)]
#[error("{}, scandir '{}'", error::describe(.source), .path.display())]
pub struct Unreadable {
    /// The directory.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl Fault for Unreadable {
    fn code(&self) -> Code {
        error::code_of(&self.source)
    }
}

/// A walk to make.
pub struct Walk<'a> {
    /// The directory to start at; a link to one will do. It is not itself an entry.
    pub root: &'a Path,
    /// Which ignore files count, and where.
    pub dialect: Dialect,
    /// How much may be found ahead of the order before threads wait, by [`Visit::weight`].
    pub ahead: usize,
    /// Threads at most; 0 for as many as the machine runs at once. A small tree is walked by one.
    pub threads: usize,
}

impl Walk<'_> {
    /// Walks, handing what is found to `sink` until it breaks or the call is cancelled. Fails only
    /// when the root itself cannot be reached.
    pub fn run<V: Visit>(
        &self,
        visit: &V,
        context: &Context,
        sink: &mut (dyn FnMut(Event<V::Found>) -> ControlFlow<()> + Send),
    ) -> Result<(), Unreadable> {
        let unreadable = |source| Unreadable { path: self.root.to_owned(), source };
        let root = context.backend.canonicalize(self.root).map_err(unreadable)?;
        let tree = Tree::new(self.dialect, context);
        let rules = tree.above(&root);
        let lister = Lister { visit, context, tree, root: &root };
        let first = Directory { relative: PathBuf::new(), rules };
        let schedule = Schedule::new(Key::of(Path::new("")), Task::List(first), self.ahead, sink);
        schedule.run(
            self.threads,
            &context.cancel,
            || visit.worker(),
            |task, worker, out| {
                lister.perform(task, worker, out);
            },
        );
        Ok(())
    }
}

/// A directory to list.
struct Directory {
    relative: PathBuf,
    rules: Arc<Rules>,
}

/// What the threads do.
enum Task {
    List(Directory),
    Visit(Batch),
}

/// Neighbouring entries of one directory to visit.
struct Batch {
    directory: Arc<PathBuf>,
    entries: Vec<DirEntry>,
}

type Out<'a, F> = schedule::Out<'a, Task, Event<F>>;

struct Lister<'a, V> {
    visit: &'a V,
    context: &'a Context,
    tree: Tree<'a>,
    root: &'a Path,
}

impl<V: Visit> Lister<'_, V> {
    fn perform(&self, task: Task, worker: &mut V::Worker, out: &mut Out<'_, V::Found>) {
        match task {
            Task::List(directory) => self.list(&directory, worker, out),
            Task::Visit(batch) => self.visit_batch(&batch, worker, out),
        }
    }

    fn list(&self, directory: &Directory, worker: &mut V::Worker, out: &mut Out<'_, V::Found>) {
        let path = self.absolute(&directory.relative);
        let mut entries = match self.context.backend.read_dir(&path) {
            Ok(entries) => entries,
            Err(source) => {
                out.found(
                    Key::inside(&directory.relative),
                    Event::Unreadable(Unreadable { path, source }),
                    1,
                );
                return;
            }
        };
        entries.sort_unstable_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
        let rules = self.tree.below(&directory.rules, &path, &entries);
        let mut row = Row::new(Arc::new(directory.relative.clone()));
        let mut place = Place { path, relative: directory.relative.clone() };
        for mut entry in entries {
            place.push(&entry.name);
            if entry.kind == Kind::Unknown {
                let looked = self.context.backend.symlink_metadata(&place.path);
                entry.kind = looked.map_or(Kind::Unknown, |metadata| metadata.kind);
            }
            let is_dir = entry.kind == Kind::Dir;
            let is_in = match self.visit.verdict(&place.relative, is_dir) {
                Verdict::In => true,
                Verdict::Out => false,
                Verdict::Rules => !rules.ignore(&place.path, is_dir),
            };
            if is_in {
                if V::IS_CHEAP {
                    let visited = Entry { path: &place.path, relative: &place.relative, kind: entry.kind };
                    row.key.get_or_insert_with(|| Key::of(&place.relative));
                    self.visit.visit(worker, &visited, &mut row.found);
                }
                if is_dir {
                    self.finish(&mut row, out);
                    if entry.name != ".git" && self.visit.enters(&place.relative) {
                        let below = Directory { relative: place.relative.clone(), rules: Arc::clone(&rules) };
                        out.task(Key::of(&place.relative), Task::List(below));
                    }
                } else if !V::IS_CHEAP {
                    row.key.get_or_insert_with(|| Key::of(&place.relative));
                    row.entries.push(entry);
                    if row.entries.len() == BATCH {
                        self.finish(&mut row, out);
                    }
                }
            }
            place.pop();
        }
        self.finish(&mut row, out);
    }

    fn absolute(&self, relative: &Path) -> PathBuf {
        // Joining nothing would put a slash at the end.
        if relative.as_os_str().is_empty() { self.root.to_owned() } else { self.root.join(relative) }
    }

    /// Hands on what is in the row, and empties it.
    fn finish(&self, row: &mut Row<V::Found>, out: &mut Out<'_, V::Found>) {
        let Some(key) = row.key.take() else { return };
        let found = std::mem::take(&mut row.found);
        let weight = self.visit.weight(&found);
        if weight > 0 {
            out.found(key, Event::Found(found), weight);
        } else if !row.entries.is_empty() {
            let entries = std::mem::take(&mut row.entries);
            out.task(key, Task::Visit(Batch { directory: Arc::clone(&row.directory), entries }));
        }
    }

    fn visit_batch(&self, batch: &Batch, worker: &mut V::Worker, out: &mut Out<'_, V::Found>) {
        let mut found = V::Found::default();
        let mut place =
            Place { path: self.absolute(&batch.directory), relative: batch.directory.as_ref().clone() };
        let first = batch.entries.first().map(|entry| Key::of(&place.relative.join(&entry.name)));
        for entry in &batch.entries {
            if self.context.cancel.is_cancelled() || out.is_stopped() {
                return;
            }
            place.push(&entry.name);
            let visited = Entry { path: &place.path, relative: &place.relative, kind: entry.kind };
            self.visit.visit(worker, &visited, &mut found);
            place.pop();
        }
        let weight = self.visit.weight(&found);
        if let Some(key) = first.filter(|_| weight > 0) {
            out.found(key, Event::Found(found), weight);
        }
    }
}

/// A row of entries between two directories, in the making.
struct Row<F> {
    directory: Arc<PathBuf>,
    key: Option<Key>,
    entries: Vec<DirEntry>,
    found: F,
}

impl<F: Default> Row<F> {
    fn new(directory: Arc<PathBuf>) -> Self {
        Self { directory, key: None, entries: Vec::new(), found: F::default() }
    }
}

/// A path and the same from the root on, moving from entry to entry without new memory.
struct Place {
    path: PathBuf,
    relative: PathBuf,
}

impl Place {
    fn push(&mut self, name: &OsString) {
        self.path.push(name);
        self.relative.push(name);
    }

    fn pop(&mut self) {
        self.path.pop();
        self.relative.pop();
    }
}
