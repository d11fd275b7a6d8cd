//! find: entries of a tree whose path matches a glob. Owns what matches and how it is shown; which
//! entries there are at all is `fs::walk`'s.

pub mod paths;
mod pattern;

use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::error::{Code, Error, Fault};
use crate::fs::walk::{Dialect, Entry, Event, Visit, Walk};
use crate::fs::{Kind, path};
use crate::message::{Base64, Content};
use crate::tool::listing::Listing;
use crate::tool::truncate::{self, Truncation};
use crate::tool::{Example, Outcome, Tool};
use paths::{LossyPath, Paths};
use pattern::Pattern;

/// Results listed when no limit is given.
pub const DEFAULT_LIMIT: u64 = 1000;

/// Bytes of paths that may be found ahead of the order.
const AHEAD: usize = 1024 * 1024;

/// Ignore files beside git's, the one that decides first in front.
const DIALECT: Dialect = Dialect { own_files: &[".fdignore", ".ignore"], git_everywhere: true };

/// The find tool.
pub struct Find;

/// Arguments of find.
#[derive(Debug, clap::Args, Deserialize, JsonSchema)]
pub struct Input {
    /// Glob: without a slash it matches names at any depth, with one the path below DIR
    #[arg(value_name = "GLOB")]
    #[schemars(description = "Glob such as `*.ts`, `src/**/*.test.ts` or `**/docs/*`. Without a slash it \
                              matches names at any depth, with one the path below the search directory. \
                              Without capitals it ignores case")]
    pattern: String,
    /// Directory to search [default: the current one]
    #[arg(value_name = "DIR")]
    #[schemars(description = "Directory to search (default: the working directory)")]
    path: Option<PathBuf>,
    /// Results at most
    #[arg(long, value_name = "N", allow_negative_numbers = true, help = format!("Results at most [default: {DEFAULT_LIMIT}; with -0 all]"))]
    #[schemars(description = format!("Results at most (default: {DEFAULT_LIMIT})"))]
    limit: Option<f64>,
}

/// What the command line alone can set.
#[derive(Debug, Default, clap::Args)]
pub struct Options {
    /// Print each path raw, DIR in front, with a NUL behind it: for xargs -0
    #[arg(short = '0', long)]
    print0: bool,
    /// Only entries of this type
    #[arg(short = 't', long = "type", value_name = "TYPE", value_enum)]
    kind: Option<Type>,
}

/// Types to choose by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Type {
    /// Regular files
    #[value(name = "f", alias = "file")]
    File,
    /// Directories
    #[value(name = "d", alias = "dir")]
    Dir,
    /// Symbolic links
    #[value(name = "l", alias = "symlink")]
    Symlink,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundPaths {
    /// The directory searched: in front of a path it makes one that the caller can open.
    root: String,
    /// The exact bytes of `root` in base64, when it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    root_base64: Option<Base64>,
    /// Paths below `root` in the order of their bytes, component by component; directories end with a
    /// slash. What is not UTF-8 is replaced by U+FFFD.
    paths: Paths,
    /// The exact bytes of those paths that are not UTF-8.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    lossy_paths: Vec<LossyPath>,
    /// The limit, when there are more results than that.
    #[serde(skip_serializing_if = "Option::is_none")]
    result_limit_reached: Option<u64>,
    /// Whether the text for the model holds fewer results than `paths`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    truncated: bool,
}

/// What a user interface shows beside the text.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// What was kept of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncation: Option<Truncation>,
    /// The limit, when it was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    result_limit_reached: Option<u64>,
}

impl Tool for Find {
    type Input = Input;
    type Options = Options;
    type Details = Details;
    type Structured = FoundPaths;

    const NAME: &'static str = "find";
    const TITLE: &'static str = "Find files";
    const ABOUT: &'static str = "find files by glob, ignore files respected";
    const PROMPT_SNIPPET: &'static str = "Find files and directories by glob, ignore files respected";
    const EXAMPLES: &'static [Example] = &[
        Example { purpose: "Tests of one package", command: "pi-find 'src/**/*.test.ts' packages/core" },
        Example {
            purpose: "Count lines, whatever the names hold",
            command: "pi-find -0 '*.rs' | xargs -0 wc -l",
        },
        Example { purpose: "The paths, one per line", command: "pi-find '*.md' | jq -r '.paths[]'" },
    ];
    const EXIT_STATUS: &'static [(&'static str, &'static str)] = &[
        ("0", "done, whether or not anything was found"),
        ("1", "the job failed, or a directory could not be read and the rest is printed"),
        ("2", "bad usage or arguments"),
    ];

    fn description() -> String {
        format!(
            "Find files and directories by glob, in sorted order. Hidden ones are included; what \
             .gitignore, .ignore and .fdignore name and the inside of .git are not. Paths are relative to \
             the search directory; directories end with `/`. At most {DEFAULT_LIMIT} results (see limit) \
             and {} of text.",
            truncate::format_size(truncate::MAX_BYTES)
        )
    }

    fn run(input: Input, options: &Options, context: &Context) -> Result<Outcome<Self>, Error> {
        context.cancel.check()?;
        let typed = input.path.filter(|path| !path.as_os_str().is_empty());
        let root = path::resolve(typed.as_deref().unwrap_or(Path::new(".")), context);
        check_directory(&root, context)?;
        let pattern = Pattern::new(&input.pattern, &root).map_err(FindError::Pattern)?;
        let limit = match input.limit {
            Some(limit) => limit.max(1.0) as u64,
            None if options.print0 => u64::MAX,
            None => DEFAULT_LIMIT,
        };

        let mut search =
            Search { paths: Paths::default(), left: limit, is_over: false, warnings: Vec::new() };
        let matching = Matching { pattern, kind: options.kind };
        let walk = Walk { root: &root, dialect: DIALECT, ahead: AHEAD, threads: 0 };
        walk.run(&matching, context, &mut |event| search.take(event))?;
        context.cancel.check()?;

        let shown_root = shown_root(typed.as_deref(), &root, context);
        let reached = search.is_over.then_some(limit);
        if options.print0 {
            return Ok(raw_outcome(search, reached, typed.is_none(), &shown_root));
        }
        Ok(outcome(search, reached, &shown_root))
    }
}

/// Why a search could not be made.
#[derive(Debug, thiserror::Error)]
enum FindError {
    #[error("Path not found: {}", .0.display())]
    NotFound(PathBuf),
    #[error("Not a directory: {}. To search in a file, use grep", .0.display())]
    NotDirectory(PathBuf),
    #[error("{0}")]
    Pattern(globset::Error),
}

impl Fault for FindError {
    fn code(&self) -> Code {
        match self {
            Self::NotFound(_) => Code::NotFound,
            Self::NotDirectory(_) => Code::NotDirectory,
            Self::Pattern(_) => Code::InvalidPattern,
        }
    }
}

fn check_directory(root: &Path, context: &Context) -> Result<(), FindError> {
    match context.backend.metadata(root) {
        Ok(metadata) if metadata.kind == Kind::Dir => Ok(()),
        Ok(_) => Err(FindError::NotDirectory(root.to_owned())),
        Err(_) => Err(FindError::NotFound(root.to_owned())),
    }
}

/// The search directory as named, if it can be opened under that name; else where it is.
fn shown_root(typed: Option<&Path>, root: &Path, context: &Context) -> PathBuf {
    let typed = typed.unwrap_or(Path::new("."));
    let is_literal = context.backend.metadata(&context.cwd.join(typed)).is_ok();
    if is_literal { typed.to_owned() } else { root.to_owned() }
}

/// What matches.
struct Matching {
    pattern: Pattern,
    kind: Option<Type>,
}

impl Visit for Matching {
    type Worker = ();
    type Found = Paths;
    const IS_CHEAP: bool = true;

    fn worker(&self) {}

    fn enters(&self, relative: &Path) -> bool {
        self.pattern.reaches_below(relative)
    }

    fn visit(&self, (): &mut (), entry: &Entry<'_>, found: &mut Paths) {
        let is_of_kind = match self.kind {
            None => true,
            Some(Type::File) => entry.kind == Kind::File,
            Some(Type::Dir) => entry.kind == Kind::Dir,
            Some(Type::Symlink) => entry.kind == Kind::Symlink,
        };
        if is_of_kind && self.pattern.matches(entry.relative) {
            found.push(path::bytes(entry.relative), entry.kind == Kind::Dir);
        }
    }

    fn weight(&self, found: &Paths) -> usize {
        found.weight()
    }
}

/// What came out so far.
struct Search {
    paths: Paths,
    left: u64,
    is_over: bool,
    warnings: Vec<String>,
}

impl Search {
    fn take(&mut self, event: Event<Paths>) -> ControlFlow<()> {
        match event {
            Event::Unreadable(unreadable) => self.warnings.push(unreadable.to_string()),
            Event::Found(paths) => {
                let count = self.paths.append(&paths, self.left);
                self.is_over = count > self.left;
                self.left = self.left.saturating_sub(count);
            }
        }
        if self.is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn status(&self) -> u8 {
        u8::from(!self.warnings.is_empty())
    }
}

fn outcome(search: Search, reached: Option<u64>, root: &Path) -> Outcome<Find> {
    let mut listing = Listing::default();
    search.paths.iter().for_each(|path| listing.line(path));
    let notice = |limit: u64| {
        let more = limit.saturating_mul(2);
        format!("{limit} results limit reached. Use limit={more} for more, or refine pattern")
    };
    let is_empty = listing.is_empty();
    let text = listing.finish(reached.map(notice).into_iter().collect(), 1);
    let content = if is_empty { "No files found matching pattern".to_owned() } else { text.text };
    let status = search.status();
    let found = FoundPaths {
        root: root.to_string_lossy().into_owned(),
        root_base64: root.to_str().is_none().then(|| Base64::encode(path::bytes(root))),
        lossy_paths: search.paths.lossy(),
        paths: search.paths,
        result_limit_reached: reached,
        truncated: text.truncation.is_some(),
    };
    let details = Details { truncation: text.truncation, result_limit_reached: reached };
    let has_details = details.truncation.is_some() || reached.is_some();
    let mut outcome =
        Outcome::new(vec![Content::text(content)], found).with_details(has_details.then_some(details));
    outcome.raw_text = text.raw;
    outcome.warnings = search.warnings;
    outcome.status = status;
    outcome
}

/// The paths as bytes for other commands. `./` stands in front where no directory was named, so that
/// none can be taken for an option.
fn raw_outcome(search: Search, reached: Option<u64>, is_unnamed: bool, root: &Path) -> Outcome<Find> {
    let mut prefix = if is_unnamed { b"./".to_vec() } else { root.as_os_str().as_bytes().to_vec() };
    if !prefix.ends_with(b"/") {
        prefix.push(b'/');
    }
    let mut bytes = Vec::new();
    for path in search.paths.iter() {
        bytes.extend_from_slice(&prefix);
        bytes.extend_from_slice(path);
        bytes.push(0);
    }
    let mut outcome = outcome(search, reached, root);
    if let Some(limit) = reached {
        outcome.warnings.push(format!("there are more than {limit} results"));
    }
    outcome.verbatim = Some(bytes);
    outcome
}
