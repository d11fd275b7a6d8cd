//! Ignore rules: which files hold them, where they count, and which one decides.
//!
//! The tool's own ignore files come before `.gitignore`, then `.git/info/exclude`, then the user's
//! global excludes; among files of one kind the nearest decides. Git's rules end at the root of the
//! nearest repository.

use std::borrow::Cow;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::global;
use crate::context::Context;
use crate::fs::{DirEntry, Kind};

/// Rule files above this size are not believed to be any.
const MAX_RULES: u64 = 16 * 1024 * 1024;

/// Which ignore files count.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The tool's own ignore files, the one that decides first in front.
    pub own_files: &'static [&'static str],
    /// Whether git's rules count outside of repositories, too.
    pub git_everywhere: bool,
}

/// What all rules of a walk have in common.
pub(super) struct Tree<'a> {
    dialect: Dialect,
    context: &'a Context,
    /// The user's excludes for all repositories, read when first needed.
    global: OnceLock<String>,
}

/// The rules for the entries of a directory; directories without rules share their parent's.
pub(super) struct Rules {
    parent: Option<Arc<Rules>>,
    /// Rules from the own file of that index.
    own: Vec<(usize, Gitignore)>,
    /// One more than the largest such index here or above.
    own_kinds: usize,
    git: Option<Gitignore>,
    /// Present in a repository's root, where rules of git end.
    repository: Option<Repository>,
    /// Whether git's rules count here.
    git_counts: bool,
}

/// Rules for a whole repository.
struct Repository {
    exclude: Option<Gitignore>,
    global: Option<Gitignore>,
}

/// Rule files that a directory has.
#[derive(Default)]
struct Present {
    own: Vec<usize>,
    git: bool,
    repository: bool,
}

const REPOSITORY_MARKS: [&str; 2] = [".git", ".jj"];

impl<'a> Tree<'a> {
    pub(super) fn new(dialect: Dialect, context: &'a Context) -> Self {
        Self { dialect, context, global: OnceLock::new() }
    }

    /// The rules that directories above `root` have for it. Whether they ignore `root` itself is not
    /// asked: it was named.
    pub(super) fn above(&self, root: &Path) -> Arc<Rules> {
        let base = Rules {
            parent: None,
            own: Vec::new(),
            own_kinds: 0,
            git: None,
            repository: self.dialect.git_everywhere.then(|| self.repository(root, None)),
            git_counts: self.dialect.git_everywhere,
        };
        let mut above: Vec<_> =
            root.ancestors().skip(1).map(|directory| (directory, self.probe(directory))).collect();
        let repository = above.iter().position(|(_, present)| present.repository);
        for (distance, (_, present)) in above.iter_mut().enumerate() {
            present.git &= repository.map_or(self.dialect.git_everywhere, |root| distance <= root);
            present.repository &= Some(distance) == repository;
        }
        above
            .iter()
            .rev()
            .fold(Arc::new(base), |rules, (directory, present)| self.with(&rules, directory, present))
    }

    /// The rules for the entries of `directory`, which are those of `parent` and its own.
    pub(super) fn below(&self, parent: &Arc<Rules>, directory: &Path, entries: &[DirEntry]) -> Arc<Rules> {
        let mut present = Present::default();
        for entry in entries {
            let Some(name) = entry.name.to_str().filter(|name| name.starts_with('.')) else { continue };
            if entry.kind != Kind::Dir {
                present.git |= name == ".gitignore";
                present.own.extend(self.dialect.own_files.iter().position(|own| *own == name));
            }
            present.repository |= REPOSITORY_MARKS.contains(&name);
        }
        present.git &= present.repository || parent.git_counts;
        self.with(parent, directory, &present)
    }

    fn with(&self, parent: &Arc<Rules>, directory: &Path, present: &Present) -> Arc<Rules> {
        if present.own.is_empty() && !present.git && !present.repository {
            return Arc::clone(parent);
        }
        let read = |name: &str| self.read(&directory.join(name)).and_then(|text| compile(directory, &text));
        let own =
            present.own.iter().filter_map(|index| Some((*index, read(self.dialect.own_files[*index])?)));
        let own: Vec<_> = own.collect();
        Arc::new(Rules {
            own_kinds: own.iter().map(|(index, _)| index + 1).fold(parent.own_kinds, usize::max),
            own,
            git: present.git.then(|| read(".gitignore")).flatten(),
            repository: present
                .repository
                .then(|| self.repository(directory, self.read(&self.exclude_file(directory)))),
            git_counts: parent.git_counts || present.repository,
            parent: Some(Arc::clone(parent)),
        })
    }

    fn repository(&self, root: &Path, exclude: Option<String>) -> Repository {
        let global = self.global.get_or_init(|| {
            global::excludes_file(self.context, |path| self.read(path))
                .and_then(|path| self.read(&path))
                .unwrap_or_default()
        });
        Repository { exclude: exclude.and_then(|text| compile(root, &text)), global: compile(root, global) }
    }

    /// `info/exclude` of the repository at `root`; a linked worktree uses its main repository's.
    fn exclude_file(&self, root: &Path) -> PathBuf {
        let mut git = root.join(".git");
        if let Some(pointer) = self.read(&git)
            && let Some(target) = pointer.trim_end().strip_prefix("gitdir: ")
        {
            git = root.join(target);
            if let Some(common) = self.read(&git.join("commondir")) {
                git = git.join(common.trim_end());
            }
        }
        git.join("info/exclude")
    }

    /// What a directory has, asked by name: one above the root may be too large to list.
    fn probe(&self, directory: &Path) -> Present {
        let has = |name: &str| self.context.backend.metadata(&directory.join(name)).is_ok();
        Present {
            own: (0..self.dialect.own_files.len())
                .filter(|index| has(self.dialect.own_files[*index]))
                .collect(),
            git: has(".gitignore"),
            repository: REPOSITORY_MARKS.into_iter().any(has),
        }
    }

    fn read(&self, path: &Path) -> Option<String> {
        let source = self.context.backend.open(path).ok()?;
        if source.metadata().ok()?.kind != Kind::File {
            return None;
        }
        let mut text = Vec::new();
        source.take(MAX_RULES).read_to_end(&mut text).ok()?;
        Some(String::from_utf8_lossy(&text).into_owned())
    }
}

impl Rules {
    /// Whether an entry of the directory these rules are for is ignored.
    pub(super) fn ignore(&self, path: &Path, is_dir: bool) -> bool {
        self.own_verdict(path, is_dir).or_else(|| self.git_verdict(path, is_dir)).unwrap_or(false)
    }

    fn own_verdict(&self, path: &Path, is_dir: bool) -> Option<bool> {
        (0..self.own_kinds).find_map(|index| {
            let files = self.chain().flat_map(|rules| &rules.own).filter(|(own, _)| *own == index);
            files.map(|(_, rules)| rules).find_map(|rules| verdict(rules, path, is_dir))
        })
    }

    fn git_verdict(&self, path: &Path, is_dir: bool) -> Option<bool> {
        if !self.git_counts {
            return None;
        }
        for rules in self.chain() {
            if let Some(verdict) = rules.git.as_ref().and_then(|git| verdict(git, path, is_dir)) {
                return Some(verdict);
            }
            if let Some(repository) = &rules.repository {
                let whole = [&repository.exclude, &repository.global].into_iter().flatten();
                return whole.into_iter().find_map(|rules| verdict(rules, path, is_dir));
            }
        }
        None
    }

    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |rules| rules.parent.as_deref())
    }
}

fn verdict(rules: &Gitignore, path: &Path, is_dir: bool) -> Option<bool> {
    match rules.matched(path, is_dir) {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    }
}

/// A rule with its braces escaped: to git they are characters like any other, to the glob library alternatives.
fn with_plain_braces(line: &str) -> Cow<'_, str> {
    if !line.contains(['{', '}']) {
        return Cow::Borrowed(line);
    }
    let (mut plain, mut is_escaped, mut in_class) = (String::with_capacity(line.len() + 4), false, false);
    for character in line.chars() {
        if matches!(character, '{' | '}') && !is_escaped && !in_class {
            plain.push('\\');
        }
        in_class = !is_escaped && (character == '[' || (in_class && character != ']'));
        is_escaped = character == '\\' && !is_escaped;
        plain.push(character);
    }
    Cow::Owned(plain)
}

/// Rules from a text, for paths below `root`; a line that is no rule is passed over, as git does.
fn compile(root: &Path, text: &str) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(root);
    for line in text.strip_prefix('\u{feff}').unwrap_or(text).lines() {
        let _ = builder.add_line(None, &with_plain_braces(line));
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}
