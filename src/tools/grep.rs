//! grep: lines of files that match a pattern. Owns the arguments and the order of the steps;
//! which files there are is `fs::walk`'s.

pub mod answer;
mod collect;
mod file;
pub mod matches;
mod place;
mod query;
pub mod replace;
mod search;

use std::io::{self, Write};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use crate::context::Context;
use crate::error::Error;
use crate::tool::arguments::Text;
use crate::tool::truncate::{self, MAX_GREP_LINE};
use crate::tool::{Example, Outcome, Tool, Written};
use answer::{Details, Structured};
use collect::{Collected, Kept, Stream};
use place::Place;
use query::Query;

/// Matches reported when no limit is given.
pub const DEFAULT_LIMIT: u64 = 100;

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
    const STREAMS: bool = true;

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
        let plan = Plan::new(input, options, context)?;
        let mut collected = Collected::new(plan.limit, Kept::Held(Vec::new()));
        search::search(&plan.query, &plan.place, context, &mut collected)?;
        context.cancel.check()?;
        answer::outcome(collected, &plan.place, plan.is_replacing())
    }

    fn run_into(
        input: Input,
        options: &Options,
        context: &Context,
        out: &mut (dyn Write + Send),
    ) -> io::Result<Result<Written, Error>> {
        let plan = match Plan::new(input, options, context) {
            Ok(plan) => plan,
            Err(error) => return Ok(Err(error)),
        };
        let stream = match plan.is_replacing() {
            true => Stream::lines(out),
            false => Stream::list(out, answer::opening(&plan.place)?),
        };
        let mut collected = Collected::new(plan.limit, Kept::Written(stream));
        let searched = search::search(&plan.query, &plan.place, context, &mut collected);
        if let Err(error) = searched.and_then(|()| context.cancel.check()) {
            if !collected.has_begun() {
                return Ok(Err(error));
            }
            collected.problems.push(error.message);
        }
        answer::written(collected, plan.is_replacing()).map(Ok)
    }
}

/// A call's arguments, understood.
struct Plan {
    query: Query,
    place: Place,
    limit: u64,
}

impl Plan {
    fn new(input: Input, options: &Options, context: &Context) -> Result<Self, Error> {
        context.cancel.check()?;
        let query = Query::new(&input, options)?;
        let limit = match input.limit {
            Some(_) => query::whole(input.limit).max(1),
            None if query.replacement.is_some() => u64::MAX,
            None => DEFAULT_LIMIT,
        };
        let place = Place::new(input.path, context)?;
        Ok(Self { query, place, limit })
    }

    fn is_replacing(&self) -> bool {
        self.query.replacement.is_some()
    }
}

/// The glob of a tool call, which is one.
fn one_glob<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Option::<String>::deserialize(deserializer).map(|glob| glob.into_iter().collect())
}
