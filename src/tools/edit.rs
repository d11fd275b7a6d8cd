//! edit: exact-text replacements in one file, all or none. Owns the arguments, the answer and the order
//! of the steps: lock, read, work out with its diff, and only then replace the file.

mod batch;
pub mod diff;
pub mod error;
mod file;
pub mod flags;
pub mod fuzzy;
pub mod matching;
pub mod myers;
pub mod nearest;
pub mod plan;
mod repair;
pub mod search;
pub mod splice;
#[cfg(test)]
mod tests;
pub mod view;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::context::Context;
use crate::error::Error;
use crate::fs::path;
use crate::message::Base64;
use crate::tool::arguments::Text;
use crate::tool::{Example, Outcome, Tool};
use flags::Flags;
use plan::Plan;

/// The edit tool.
pub struct Edit;

/// Arguments of edit.
#[derive(Debug, clap::Args, Deserialize, JsonSchema)]
pub struct Input {
    /// File to edit
    #[arg(value_name = "FILE")]
    path: PathBuf,
    /// The replacements; each is looked up in the file as it is before the call, and none may overlap
    #[arg(skip)]
    edits: Vec<Replace>,
    /// The path's bytes, for a name that is not UTF-8: what pi-grep prints goes in as it comes out.
    #[arg(skip)]
    #[serde(default)]
    #[schemars(skip)]
    path_base64: Option<Base64>,
    #[command(flatten)]
    #[serde(skip)]
    flags: Flags,
}

/// One replacement.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Replace {
    /// The text to replace, with its white space and line breaks; long enough to occur only once
    old_text: Text,
    /// The text that takes its place
    new_text: Text,
    /// Take the occurrence that starts on this line, counted from 1
    #[serde(default)]
    line: Option<NonZeroUsize>,
    /// Replace every occurrence
    #[serde(default)]
    all: bool,
}

/// What the command line alone can set.
#[derive(Debug, Default, clap::Args)]
pub struct Options {
    /// Work everything out and print the diff, but write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// With --args -: apply all documents of the stream or none
    #[arg(long)]
    pub atomic: bool,
}

/// What an edit did.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Edited {
    /// The file, as named in the call.
    path: String,
    /// The bytes of a name that is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    path_base64: Option<Base64>,
    /// Places replaced.
    replaced: usize,
    /// The first line of the new content that differs from the old.
    first_changed_line: usize,
    /// The change by numbered lines.
    diff: String,
    /// The change as a unified patch.
    patch: String,
    /// What became of the file.
    effect: Effect,
    /// Whether the file was only looked at.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
}

/// What became of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Its content changed.
    Updated,
    /// It is as it was: a dry run.
    Unchanged,
}

/// What a user interface shows (pi's names).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    diff: String,
    patch: String,
    first_changed_line: usize,
}

impl Tool for Edit {
    type Input = Input;
    type Options = Options;
    type Details = Details;
    type Structured = Edited;

    const NAME: &'static str = "edit";
    const TITLE: &'static str = "Edit file";
    const ABOUT: &'static str = "replace exact texts in a file, all or none";
    const PROMPT_SNIPPET: &'static str =
        "Change parts of a file: each edit replaces one exact text, several edits go in one call";
    const PROMPT_GUIDELINES: &'static [&'static str] = &[
        "Put all changes to one file into the edits of a single edit call.",
        "Keep each oldText short: just enough lines to be found once in the file.",
    ];
    const EXAMPLES: &'static [Example] = &[
        Example {
            purpose: "Replace a text that occurs once",
            command: "pi-edit app.ini --old 'port = 80' --new 'port = 81'",
        },
        Example {
            purpose: "See what would change",
            command: "pi-edit app.ini --dry-run --all --old foo --new bar | jq -r .diff",
        },
        Example {
            purpose: "Put a file in the place of a marker",
            command: "pi-edit page.html --old '@BODY@' --new-stdin < body.html",
        },
        Example {
            purpose: "Rename over a tree, in all files or in none",
            command: "pi-grep 'old_name' src --replace 'new_name' | pi-edit --atomic --args - | jq -r .diff",
        },
    ];

    fn description() -> String {
        "Edit one file by exact text replacement. Every edits[].oldText must occur exactly once in the file as it \
         is before the call (or say which with line, or all); edits must not overlap. Either all edits apply or \
         none. Trailing white space, typographic quotes, dashes and spaces are matched leniently; line endings of \
         the file are kept."
            .to_owned()
    }

    fn repair(arguments: Value) -> Value {
        repair::repair(arguments)
    }

    fn complete(input: &mut Input, _options: &Options) -> Result<(), String> {
        input.edits = input.flags.take_edits()?;
        Ok(())
    }

    fn stdin_argument(input: &mut Input) -> Option<&mut Vec<u8>> {
        let is_wanted = input.flags.new_stdin;
        input.edits.first_mut().filter(|_| is_wanted).map(|edit| &mut edit.new_text.0)
    }

    fn run(input: Input, options: &Options, context: &Context) -> Result<Outcome<Self>, Error> {
        let job = Job::new(input, context)?;
        let lock = context.backend.lock(&job.file, &context.cancel)?;
        let plan = file::edit(&job, options.dry_run, context)?;
        drop(lock);
        Ok(job.outcome(&plan, options.dry_run))
    }

    fn is_all_or_nothing(options: &Options) -> bool {
        options.atomic
    }

    fn run_all(
        inputs: Vec<Result<Input, Error>>,
        options: &Options,
        context: &Context,
    ) -> Vec<Result<Outcome<Self>, Error>> {
        batch::run(inputs, options, context)
    }
}

/// A call made ready: the file found, line breaks unified.
#[derive(Debug)]
pub struct Job {
    /// The file as named in the call.
    typed: PathBuf,
    /// Where that is.
    file: PathBuf,
    edits: Vec<matching::Edit>,
}

impl Job {
    fn new(input: Input, context: &Context) -> Result<Self, Error> {
        let typed = match input.path_base64 {
            None => input.path,
            Some(encoded) => match STANDARD.decode(&encoded.0) {
                Ok(bytes) => PathBuf::from(OsString::from_vec(bytes)),
                Err(error) => return Err(error::BadPath(error).into()),
            },
        };
        let edits = input.edits.into_iter().map(|edit| matching::Edit {
            line: edit.line,
            all: edit.all,
            ..matching::Edit::new(&edit.old_text.0, &edit.new_text.0)
        });
        let job = Self { file: path::resolve(&typed, context), edits: edits.collect(), typed };
        Plan::check(&job.edits).map_err(|cause| job.error(cause))?;
        Ok(job)
    }

    fn shown(&self) -> String {
        self.typed.to_string_lossy().into_owned()
    }

    fn error(&self, cause: error::Cause) -> error::Error {
        error::Error { path: self.shown(), edits: self.edits.len(), cause }
    }

    fn outcome(&self, plan: &Plan, dry_run: bool) -> Outcome<Edit> {
        let path = self.shown();
        let text = match dry_run {
            false => format!("Successfully replaced {} block(s) in {path}.", plan.count),
            true => format!("Would replace {} block(s) in {path}; nothing was written.", plan.count),
        };
        let (diff, patch) = (plan.diff.numbered(), plan.diff.patch(&path));
        let first_changed_line = plan.diff.first_changed_line();
        let details = Details { diff: diff.clone(), patch: patch.clone(), first_changed_line };
        let path_base64 = self.typed.to_str().is_none().then(|| Base64::encode(path::bytes(&self.typed)));
        let effect = if dry_run { Effect::Unchanged } else { Effect::Updated };
        let edited = Edited {
            path,
            path_base64,
            replaced: plan.count,
            first_changed_line,
            diff,
            patch,
            effect,
            dry_run,
        };
        Outcome::text(text, edited).with_details(Some(details))
    }
}
