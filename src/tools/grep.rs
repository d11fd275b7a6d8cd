//! grep: lines of files that match a pattern. Owns the order of the steps and how the answer is shown;
//! which files there are is `fs::walk`'s, how one is searched `grep::file`'s.

mod collect;
mod file;
pub mod matches;
mod query;
pub mod replace;

use std::borrow::Cow;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use grep_regex::RegexMatcher;
use grep_searcher::Searcher;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::context::Context;
use crate::error::{self, Code, Error, Fault};
use crate::fs::walk::{Dialect, Entry, Event, Verdict, Visit, Walk};
use crate::fs::{Kind, path};
use crate::message::{Base64, Content};
use crate::tool::arguments::Text;
use crate::tool::truncate::{self, MAX_GREP_LINE, Truncation};
use crate::tool::{Example, Outcome, Tool};
use collect::Collected;
use file::{File, Found, Stop};
use matches::Matches;
use query::Query;
use replace::FileEdits;

/// Matches reported when no limit is given.
pub const DEFAULT_LIMIT: u64 = 100;

/// Bytes of findings that may be held ahead of the order.
const AHEAD: usize = 16 * 1024 * 1024;

/// Ignore files beside git's, the one that decides first in front.
const DIALECT: Dialect = Dialect { own_files: &[".rgignore", ".ignore"], git_everywhere: false };

/// The grep tool.
pub struct Grep;

/// Arguments of grep.
#[derive(Debug, clap::Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// Regular expression to search for; given by -e, the first operand is PATH
    #[arg(value_name = "PATTERN")]
    #[schemars(required, description = "Regular expression (Rust syntax) to search for, line by line")]
    pattern: Option<String>,
    /// File or directory to search [default: the current directory]
    #[arg(value_name = "PATH")]
    #[schemars(description = "File or directory to search (default: the working directory)")]
    path: Option<PathBuf>,
    /// Only files that match this glob, or not when it starts with `!`; can be repeated
    #[arg(short, long, value_name = "GLOB", allow_hyphen_values = true)]
    #[serde(default, deserialize_with = "one_glob")]
    #[schemars(
        with = "Option<String>",
        description = "Only files whose path below the search directory matches, such as `*.ts` or `src/**`; \
                                 with `!` in front, only others"
    )]
    glob: Vec<String>,
    /// Ignore case
    #[arg(short, long)]
    #[serde(default)]
    #[schemars(description = "Ignore case (default: false)")]
    ignore_case: bool,
    /// Take the pattern for plain text
    #[arg(short = 'F', long)]
    #[serde(default)]
    #[schemars(description = "Take the pattern for plain text, not a regular expression (default: false)")]
    literal: bool,
    /// Lines to show before and behind each match
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[schemars(description = "Lines to show before and behind each match (default: 0)")]
    context: Option<f64>,
    /// Matching lines at most
    #[arg(long, value_name = "N", allow_negative_numbers = true, help = format!("Matching lines at most [default: {DEFAULT_LIMIT}; with --replace all]"))]
    #[schemars(description = format!("Matching lines at most (default: {DEFAULT_LIMIT})"))]
    limit: Option<f64>,
}

/// What the command line alone can set.
#[derive(Debug, Default, clap::Args)]
pub struct Options {
    /// A pattern; can be repeated, and a line that matches any of them matches
    #[arg(short = 'e', long = "pattern", value_name = "PATTERN", allow_hyphen_values = true)]
    patterns: Vec<String>,
    /// Print edits for pi-edit --args -, one line a file: each match becomes TEMPLATE ($1, ${name}, $$)
    #[arg(long, value_name = "TEMPLATE", allow_hyphen_values = true)]
    replace: Option<Text>,
    /// Let matches span lines
    #[arg(short = 'U', long)]
    multiline: bool,
    /// Only files of this type, such as rust or py (`!py`: others); can be repeated
    #[arg(short, long = "type", value_name = "TYPE")]
    types: Vec<String>,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundMatches {
    /// The directory searched: in front of a path it makes one that the caller can open.
    root: String,
    /// The exact bytes of `root` in base64, when it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    root_base64: Option<Base64>,
    /// The matching lines, by path and then by line.
    matches: Matches,
    /// The limit, when there are more matches than that.
    #[serde(skip_serializing_if = "Option::is_none")]
    match_limit_reached: Option<u64>,
    /// Whether the text for the model shows some lines only in part.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    lines_truncated: bool,
    /// Whether the text for the model shows fewer matches than `matches`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    truncated: bool,
    /// What could not be searched, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    errors: Vec<String>,
}

/// What programs read.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Structured {
    /// The matches.
    Matches(FoundMatches),
    /// With --replace and `-o result`: the documents that are else printed one by one.
    Edits {
        /// The edits of each file.
        files: Vec<Box<RawValue>>,
    },
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
    match_limit_reached: Option<u64>,
    /// Whether a line of the text was cut.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    lines_truncated: bool,
}

impl Tool for Grep {
    type Input = Input;
    type Options = Options;
    type Details = Details;
    type Structured = Structured;

    const NAME: &'static str = "grep";
    const TITLE: &'static str = "Search contents";
    const ABOUT: &'static str = "search the contents of files, ignore files respected";
    const PROMPT_SNIPPET: &'static str = "Search file contents by regular expression, ignore files respected";
    const EXAMPLES: &'static [Example] = &[
        Example { purpose: "Where a function is defined", command: "pi-grep 'fn parse\\b' src --type rust" },
        Example {
            purpose: "Files that hold a text, whatever is in it",
            command: "pi-grep -F 'a[0].b' --limit 1e6 | jq -r '[.matches[].path] | unique[]'",
        },
        Example {
            purpose: "Rename a call everywhere, and see what changed",
            command: "pi-grep 'old_name\\((\\w*)\\)' src --replace 'new_name($1)' | pi-edit --args - | jq -r .diff",
        },
    ];
    const EXIT_STATUS: &'static [(&'static str, &'static str)] = &[
        ("0", "something was found"),
        ("1", "nothing was found"),
        ("2", "an error; if only some files could not be searched, what the others hold is printed"),
    ];
    const FAILURE_STATUS: u8 = 2;

    fn description() -> String {
        format!(
            "Search the contents of files for a regular expression, line by line. Lines come as \
             `FILE:LINE: text`, in sorted order. Hidden files are searched; binary files, what .gitignore \
             and .ignore name, and the inside of .git are not. At most {DEFAULT_LIMIT} matches (see limit) \
             and {} of text; long lines are cut to {MAX_GREP_LINE} characters.",
            truncate::format_size(truncate::MAX_BYTES)
        )
    }

    fn complete(input: &mut Input, options: &Options) -> Result<(), String> {
        if options.patterns.is_empty() {
            return input.pattern.as_ref().map(|_| ()).ok_or("give a PATTERN".to_owned());
        }
        if input.path.is_some() {
            return Err("with -e the only operand is PATH".to_owned());
        }
        input.path = input.pattern.take().map(PathBuf::from);
        Ok(())
    }

    fn run(input: Input, options: &Options, context: &Context) -> Result<Outcome<Self>, Error> {
        context.cancel.check()?;
        let query = Query::new(&input, options)?;
        let limit = match input.limit {
            Some(_) => query::whole(input.limit).max(1),
            None if query.replacement.is_some() => u64::MAX,
            None => DEFAULT_LIMIT,
        };
        let place = Place::new(input.path, context)?;
        let mut collected = Collected::new(limit);
        let enough = AtomicBool::new(false);
        let is_unseen = AtomicBool::new(false);
        let search =
            Search { query: &query, place: &place, context, limit, enough: &enough, is_unseen: &is_unseen };
        match place.kind {
            Kind::Dir => search.directory(&mut collected)?,
            _ => search.named_file(&mut collected),
        }
        context.cancel.check()?;
        Ok(outcome(collected, &place, query.replacement.is_some()))
    }
}

/// Why a search could not be made.
#[derive(Debug, thiserror::Error)]
enum PlaceError {
    #[error("Path not found: {}", .0.display())]
    NotFound(PathBuf),
    #[error("{}, stat '{}'", error::describe(.1), .0.display())]
    Unreachable(PathBuf, io::Error),
    #[error("{} is a {}; only regular files and directories can be searched", .0.display(), .1.noun())]
    Special(PathBuf, Kind),
}

impl Fault for PlaceError {
    fn code(&self) -> Code {
        match self {
            Self::NotFound(_) => Code::NotFound,
            Self::Unreachable(_, source) => error::code_of(source),
            Self::Special(..) => Code::UnsupportedFile,
        }
    }
}

/// Where to search.
struct Place {
    /// The file or directory.
    path: PathBuf,
    /// The same as the caller can name it.
    named: PathBuf,
    kind: Kind,
}

impl Place {
    fn new(typed: Option<PathBuf>, context: &Context) -> Result<Self, PlaceError> {
        let typed = typed.filter(|path| !path.as_os_str().is_empty()).unwrap_or_else(|| ".".into());
        let path = path::resolve(&typed, context);
        let kind = match context.backend.metadata(&path) {
            Ok(metadata) => metadata.kind,
            Err(source) => {
                return Err(match error::code_of(&source) {
                    Code::NotFound | Code::NotDirectory => PlaceError::NotFound(path),
                    _ => PlaceError::Unreachable(path, source),
                });
            }
        };
        if !matches!(kind, Kind::Dir | Kind::File) {
            return Err(PlaceError::Special(path, kind));
        }
        let is_literal = context.backend.metadata(&context.cwd.join(&typed)).is_ok();
        let named = if is_literal { typed } else { path.clone() };
        Ok(Self { path, named, kind })
    }

    /// The directory that shown paths are relative to, as the caller can name it.
    fn root(&self) -> Cow<'_, Path> {
        match self.kind {
            Kind::Dir => Cow::Borrowed(&self.named),
            _ => match self.named.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => Cow::Borrowed(parent),
                _ => Cow::Borrowed(Path::new(".")),
            },
        }
    }

    /// A file of the walk as the caller can name it.
    fn named(&self, relative: &Path) -> PathBuf {
        if self.named == Path::new(".") { relative.to_owned() } else { self.named.join(relative) }
    }
}

/// A search under way.
struct Search<'a> {
    query: &'a Query,
    place: &'a Place,
    context: &'a Context,
    limit: u64,
    /// Set when nothing more is wanted.
    enough: &'a AtomicBool,
    /// Set when no further line of the text can be seen.
    is_unseen: &'a AtomicBool,
}

impl Search<'_> {
    fn directory(&self, collected: &mut Collected) -> Result<(), Error> {
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
        self.enough.store(false, Ordering::Relaxed);
        // What was found in this file went over the limit: search it again for as much as is wanted.
        if let Some((relative, left)) = collected.partly.take() {
            let path = self.place.path.join(&relative);
            let mut worker = self.worker();
            if let Some(found) = self.file(&mut worker, &path, &relative, &self.place.named(&relative), left)
            {
                collected.add(found);
            }
        }
        Ok(())
    }

    fn named_file(&self, collected: &mut Collected) {
        let Place { path, named, .. } = self.place;
        let shown = Path::new(named.file_name().unwrap_or(named.as_os_str()));
        let mut worker = (self.query.searcher_of_named(), self.query.matcher.clone());
        let most = self.limit.saturating_add(1);
        let Some(found) = self.file(&mut worker, path, shown, named, most) else { return };
        if collected.take(shown.to_owned(), found).is_break()
            && let Some(found) = self.file(&mut worker, path, shown, named, self.limit)
        {
            collected.add(found);
        }
    }

    /// Searches a file; `None` if it is gone.
    fn file(
        &self,
        (searcher, matcher): &mut (Searcher, RegexMatcher),
        path: &Path,
        shown: &Path,
        named: &Path,
        most: u64,
    ) -> Option<Found> {
        let source = match self.context.backend.open(path) {
            Ok(source) => source,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                let problem = format!("{}, open '{}'", error::describe(&error), named.display());
                return Some(Found { problem: Some(problem), ..Found::default() });
            }
        };
        let file = File { shown, named, most, is_unseen: self.is_unseen.load(Ordering::Relaxed) };
        let stop = Stop { cancel: &self.context.cancel, enough: self.enough };
        Some(file::search(self.query, matcher, searcher, source, &file, stop))
    }
}

impl Visit for Search<'_> {
    type Worker = (Searcher, RegexMatcher);
    type Found = Vec<(PathBuf, Found)>;
    const IS_CHEAP: bool = false;

    fn worker(&self) -> Self::Worker {
        (self.query.searcher(), self.query.matcher.clone())
    }

    fn verdict(&self, relative: &Path, is_dir: bool) -> Verdict {
        self.query.verdict(relative, is_dir)
    }

    fn visit(&self, worker: &mut Self::Worker, entry: &Entry<'_>, files: &mut Self::Found) {
        if entry.kind != Kind::File {
            return;
        }
        let named = self.place.named(entry.relative);
        let most = self.limit.saturating_add(1);
        if let Some(found) = self.file(worker, entry.path, entry.relative, &named, most)
            && (found.count > 0 || found.problem.is_some())
        {
            files.push((entry.relative.to_owned(), found));
        }
    }

    /// So much is held ahead of the order as would fill the limit, but not more than memory allows.
    fn weight(&self, files: &Self::Found) -> usize {
        let of_limit = AHEAD as u64 / self.limit.saturating_add(1);
        let weights = files.iter().map(|(_, found)| {
            let matches: usize = found.matches.iter().map(|record| record.get().len()).sum();
            let document = found.document.as_ref().map_or(0, |document| document.get().len());
            let of_limit = usize::try_from(found.count.saturating_mul(of_limit)).unwrap_or(usize::MAX);
            (matches + document + found.text.held() + size_of::<Found>()).max(of_limit)
        });
        weights.fold(0, usize::saturating_add)
    }
}

fn outcome(collected: Collected, place: &Place, is_replacing: bool) -> Outcome<Grep> {
    let reached = collected.is_over.then_some(collected.limit);
    let mut notices = Vec::new();
    if let Some(limit) = reached {
        let more = limit.saturating_mul(2);
        notices.push(format!("{limit} matches limit reached. Use limit={more} for more, or refine pattern"));
    }
    let before = notices.len();
    if collected.has_cut_lines {
        notices
            .push(format!("Some lines truncated to {MAX_GREP_LINE} chars. Use read tool to see full lines"));
    }
    if let Some(first) = collected.problems.first() {
        notices.push(match collected.problems.len() {
            1 => format!("Not searched: {first}"),
            count => format!("Not searched: {first}, and {} more", count - 1),
        });
    }
    let is_empty = collected.text.is_empty();
    let text = collected.text.finish(notices, before);
    let nothing = if is_empty { "No matches found" } else { "" };
    let root = place.root();
    let has_problems = !collected.problems.is_empty();
    let structured = match is_replacing {
        true => Structured::Edits { files: collected.documents.clone() },
        false => Structured::Matches(FoundMatches {
            root: root.to_string_lossy().into_owned(),
            root_base64: root.to_str().is_none().then(|| Base64::encode(path::bytes(&root))),
            matches: collected.matches,
            match_limit_reached: reached,
            lines_truncated: collected.has_cut_lines,
            truncated: text.truncation.is_some(),
            errors: collected.problems.clone(),
        }),
    };
    let details = Details {
        truncation: text.truncation,
        match_limit_reached: reached,
        lines_truncated: collected.has_cut_lines,
    };
    let has_details = details.truncation.is_some() || reached.is_some() || details.lines_truncated;
    let mut outcome = Outcome::new(vec![Content::text(format!("{nothing}{}", text.text))], structured)
        .with_details(has_details.then_some(details));
    outcome.raw_text = text.raw;
    outcome.documents = is_replacing.then_some(collected.documents);
    outcome.status = match (has_problems, collected.count) {
        (true, _) => 2,
        (false, 0) => 1,
        (false, _) => 0,
    };
    outcome.warnings = collected.problems;
    outcome
}

/// The glob of a tool call, which is one.
fn one_glob<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Option::<String>::deserialize(deserializer).map(|glob| glob.into_iter().collect())
}

impl JsonSchema for Structured {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Structured".into()
    }

    /// The matches; or, with --replace, the edits of one file, or of all in `files`.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "the schema is what is wanted")]
        struct Edits {
            /// With --replace and -o result: the edits of each file.
            files: Vec<FileEdits>,
        }
        schemars::json_schema!({
            "type": "object",
            "anyOf": [
                generator.subschema_for::<FoundMatches>(),
                generator.subschema_for::<FileEdits>(),
                generator.subschema_for::<Edits>(),
            ],
        })
    }
}
