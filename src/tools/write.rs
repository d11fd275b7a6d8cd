//! write: a whole file at once. Owns the order of the steps; how a file is replaced is `fs`'s.

use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::error::{self, Code, Error, Fault};
use crate::fs::path;
use crate::tool::arguments::Text;
use crate::tool::{Example, Outcome, Tool};

/// The write tool.
pub struct Write;

/// Arguments of write.
#[derive(Debug, clap::Args, Deserialize, JsonSchema)]
pub struct Input {
    /// File to write; missing parent directories are made
    #[arg(value_name = "FILE")]
    path: PathBuf,
    /// The whole new content [default: standard input]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    #[schemars(required, description = "The whole new content")]
    content: Option<Text>,
}

/// What the command line alone can set.
#[derive(Debug, Default, clap::Args)]
pub struct Options {}

/// What a write did.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Written {
    /// The file, as named in the call.
    pub path: String,
    /// Bytes written.
    pub bytes: u64,
    /// What became of the file.
    pub effect: Effect,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It is new.
    Created,
    /// Its content changed.
    Updated,
    /// It held that content already.
    Unchanged,
}

impl Tool for Write {
    type Input = Input;
    type Options = Options;
    type Details = ();
    type Structured = Written;

    const NAME: &'static str = "write";
    const TITLE: &'static str = "Write file";
    const ABOUT: &'static str = "write a whole file, atomically, parents made";
    const PROMPT_SNIPPET: &'static str = "Create a file or replace its whole content";
    const PROMPT_GUIDELINES: &'static [&'static str] =
        &["Keep write for new files and full rewrites; change parts of a file with edit."];
    const EXAMPLES: &'static [Example] = &[
        Example { purpose: "Write what a pipe delivers", command: "date | pi-write out/stamp.txt" },
        Example { purpose: "Write a given text", command: "pi-write --content 'hello' greeting.txt" },
    ];

    fn description() -> String {
        "Write a file: creates it (and missing parent directories) or replaces its whole content. \
         Readers see the old content or the new, never a part."
            .to_owned()
    }

    fn stdin_argument(input: &mut Input) -> Option<&mut Vec<u8>> {
        match input.content {
            Some(_) => None,
            None => Some(&mut input.content.get_or_insert_default().0),
        }
    }

    fn run(input: Input, _options: &Options, context: &Context) -> Result<Outcome<Self>, Error> {
        let content = input.content.unwrap_or_default().0;
        let file = path::resolve(&input.path, context);
        let shown = input.path.to_string_lossy().into_owned();
        let lock = context.backend.lock(&file, &context.cancel)?;
        context.cancel.check()?;
        make_parent(&file, context)?;
        let effect = effect_of(&file, &content, context);
        if effect != Effect::Unchanged {
            context.backend.replace(&file, &[&content], None, &context.cancel)?;
        }
        drop(lock);
        let bytes = content.len() as u64;
        let text = format!("Successfully wrote to {shown}");
        Ok(Outcome::text(text, Written { path: shown, bytes, effect }))
    }
}

/// A parent directory could not be made.
#[derive(Debug, thiserror::Error)]
#[error("{}, mkdir '{}'", error::describe(.source), .path.display())]
struct ParentError {
    path: PathBuf,
    source: io::Error,
}

impl Fault for ParentError {
    fn code(&self) -> Code {
        error::code_of(&self.source)
    }
}

fn make_parent(file: &Path, context: &Context) -> Result<(), ParentError> {
    let Some(parent) = file.parent() else { return Ok(()) };
    context.backend.create_dir_all(parent).map_err(|source| ParentError { path: parent.to_owned(), source })
}

fn effect_of(file: &Path, _content: &[u8], context: &Context) -> Effect {
    match context.backend.metadata(file) {
        Ok(_) => Effect::Updated,
        Err(_) => Effect::Created,
    }
}
