//! What is searched for, and in which files: patterns, globs and types, read once.

use std::cell::RefCell;
use std::path::Path;

use grep_matcher::{Captures, Matcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::Match;
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};

use super::{Input, Options};
use crate::error::{Code, Fault};
use crate::fs::walk::Verdict;

/// The longest line that is searched; one that does not fit makes its file an error.
pub(super) const MAX_LINE: usize = 16 * 1024 * 1024;
/// The largest file that is searched across lines: it has to be in memory as a whole.
const MAX_MULTILINE_FILE: usize = 256 * 1024 * 1024;
/// Lines of context at most: more are of no use to anyone and would have to be kept in memory.
const MAX_CONTEXT: u64 = 10_000;

/// A search, ready to be made.
pub(super) struct Query {
    pub(super) matcher: RegexMatcher,
    pub(super) context: u64,
    pub(super) is_multiline: bool,
    pub(super) replacement: Option<Vec<u8>>,
    globs: Override,
    types: Option<Types>,
}

/// Why the arguments make no search.
#[derive(Debug, thiserror::Error)]
pub(super) enum QueryError {
    #[error("{0}")]
    Regex(grep_regex::Error),
    #[error("{0}. Lines are matched one by one; pi-grep --multiline matches across them")]
    LineBreak(grep_regex::Error),
    #[error("{0}")]
    Glob(ignore::Error),
    #[error("{0}: `rg --type-list` shows the types there are")]
    Type(ignore::Error),
    #[error("the template names {0}, and the pattern has no such group; for the character itself write $$")]
    Group(String),
}

impl Fault for QueryError {
    fn code(&self) -> Code {
        match self {
            Self::Regex(_) | Self::LineBreak(_) | Self::Glob(_) => Code::InvalidPattern,
            Self::Type(_) | Self::Group(_) => Code::InvalidArguments,
        }
    }
}

impl Query {
    pub(super) fn new(input: &Input, options: &Options) -> Result<Self, QueryError> {
        let matcher = matcher(input, options)?;
        let replacement = options.replace.as_ref().map(|template| template.0.clone());
        if let Some(template) = &replacement {
            check_groups(template, &matcher)?;
        }
        Ok(Self {
            matcher,
            context: if replacement.is_some() { 0 } else { whole(input.context).min(MAX_CONTEXT) },
            is_multiline: options.multiline,
            replacement,
            globs: globs(&input.glob).map_err(QueryError::Glob)?,
            types: types(&options.types).map_err(QueryError::Type)?,
        })
    }

    /// A searcher for files that were not named but came up in a directory.
    pub(super) fn searcher(&self) -> Searcher {
        let context = usize::try_from(self.context).unwrap_or(usize::MAX);
        SearcherBuilder::new()
            .line_number(true)
            .before_context(context)
            .after_context(context)
            .multi_line(self.is_multiline)
            .heap_limit(Some(if self.is_multiline { MAX_MULTILINE_FILE } else { MAX_LINE }))
            .binary_detection(BinaryDetection::quit(0))
            .build()
    }

    /// A searcher for a file that was named: it is searched whatever is in it, but binary files are
    /// not rewritten.
    pub(super) fn searcher_of_named(&self) -> Searcher {
        let mut searcher = self.searcher();
        if self.replacement.is_none() {
            searcher.set_binary_detection(BinaryDetection::none());
        }
        searcher
    }

    /// What globs and types say of an entry of the walk.
    pub(super) fn verdict(&self, relative: &Path, is_dir: bool) -> Verdict {
        match self.globs.matched(relative, is_dir) {
            Match::Ignore(_) => Verdict::Out,
            Match::Whitelist(_) => Verdict::In,
            Match::None => match self.types.as_ref().map(|types| types.matched(relative, is_dir)) {
                Some(Match::Ignore(_)) => Verdict::Out,
                _ => Verdict::Rules,
            },
        }
    }
}

/// A number as models send it, rounded down; below zero is zero.
pub(super) fn whole(number: Option<f64>) -> u64 {
    number.map_or(0, |number| number as u64)
}

fn matcher(input: &Input, options: &Options) -> Result<RegexMatcher, QueryError> {
    let mut builder = RegexMatcherBuilder::new();
    builder.multi_line(true).case_insensitive(input.ignore_case).fixed_strings(input.literal);
    if !options.multiline {
        builder.line_terminator(Some(b'\n'));
    }
    let patterns: Vec<_> = input.pattern.iter().chain(&options.patterns).collect();
    builder.build_many(&patterns).map_err(|error| match error.kind() {
        grep_regex::ErrorKind::NotAllowed(_) => QueryError::LineBreak(error),
        _ => QueryError::Regex(error),
    })
}

fn globs(globs: &[String]) -> Result<Override, ignore::Error> {
    let mut builder = OverrideBuilder::new("");
    for glob in globs {
        let (not, mut glob) = glob.strip_prefix('!').map_or(("", glob.as_str()), |rest| ("!", rest));
        let mut is_anchored = "";
        while let Some(rest) = glob.strip_prefix("./") {
            (is_anchored, glob) = ("/", rest);
        }
        builder.add(&format!("{not}{is_anchored}{glob}"))?;
    }
    builder.build()
}

fn types(names: &[String]) -> Result<Option<Types>, ignore::Error> {
    if names.is_empty() {
        return Ok(None);
    }
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    for name in names {
        match name.strip_prefix('!') {
            Some(name) => builder.negate(name),
            None => builder.select(name),
        };
    }
    builder.build().map(Some)
}

/// Refuses a template with a group that would always be empty.
fn check_groups(template: &[u8], matcher: &RegexMatcher) -> Result<(), QueryError> {
    let asked = Asked { count: matcher.capture_count(), unknown: RefCell::new(None) };
    let index_of = |name: &str| {
        let index = matcher.capture_index(name);
        if index.is_none() {
            asked.unknown.borrow_mut().get_or_insert_with(|| name.to_owned());
        }
        index
    };
    asked.interpolate(index_of, b"", template, &mut Vec::new());
    match asked.unknown.into_inner() {
        Some(group) => Err(QueryError::Group(format!("${group}"))),
        None => Ok(()),
    }
}

/// Captures that note what is asked of them and is not there.
struct Asked {
    count: usize,
    unknown: RefCell<Option<String>>,
}

impl Captures for Asked {
    fn len(&self) -> usize {
        self.count
    }

    fn get(&self, index: usize) -> Option<grep_matcher::Match> {
        if index >= self.count {
            self.unknown.borrow_mut().get_or_insert_with(|| index.to_string());
        }
        None
    }
}

/// The captures of one match written into a template.
pub(super) fn fill(
    template: &[u8],
    matcher: &RegexMatcher,
    captures: &impl Captures,
    text: &[u8],
    filled: &mut Vec<u8>,
) {
    captures.interpolate(|name| matcher.capture_index(name), text, template, filled);
}
