//! write: a whole file at once. Owns the order of the steps; how a file is replaced is `fs`'s.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::error::{self, Code, Error, Fault};
use crate::fs::{Kind, path};
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
    /// The same in raw bytes, where they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_base64: Option<String>,
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
        let lock = context.backend.lock(&file, &context.cancel)?;
        context.cancel.check()?;
        make_parent(&file, context)?;
        let effect = effect_of(&file, &content, context);
        if effect != Effect::Unchanged {
            context.backend.replace(&file, &[&content], None, &context.cancel)?;
        }
        drop(lock);
        Ok(written(&input.path, content.len() as u64, effect))
    }
}

fn written(path: &Path, bytes: u64, effect: Effect) -> Outcome<Write> {
    const DONE: &str = "Successfully wrote to ";
    let shown = path.to_string_lossy().into_owned();
    let raw = path::bytes(path);
    let is_lossy = path.to_str().is_none();
    let path_base64 = is_lossy.then(|| STANDARD.encode(raw));
    let text = format!("{DONE}{shown}");
    let mut outcome = Outcome::text(text, Written { path: shown, path_base64, bytes, effect });
    outcome.raw_text = is_lossy.then(|| [DONE.as_bytes(), raw].concat());
    outcome
}

/// A parent directory could not be made.
#[derive(Debug, thiserror::Error)]
#[error("{}, mkdir '{}'{}", error::describe(.source), .path.display(), self.hint())]
struct ParentError {
    path: PathBuf,
    source: io::Error,
}

impl ParentError {
    /// Something has the name of the directory, and it is no directory.
    fn is_taken(&self) -> bool {
        self.source.kind() == io::ErrorKind::AlreadyExists
    }

    fn hint(&self) -> &'static str {
        if self.is_taken() { " (it is not a directory)" } else { "" }
    }
}

impl Fault for ParentError {
    fn code(&self) -> Code {
        if self.is_taken() { Code::NotDirectory } else { error::code_of(&self.source) }
    }
}

fn make_parent(file: &Path, context: &Context) -> Result<(), ParentError> {
    let Some(parent) = file.parent() else { return Ok(()) };
    context.backend.create_dir_all(parent).map_err(|source| ParentError { path: parent.to_owned(), source })
}

/// What writing will do. A file that holds the content already is left alone, be it read-only; one
/// that cannot be compared is written.
fn effect_of(file: &Path, content: &[u8], context: &Context) -> Effect {
    match context.backend.metadata(file) {
        Ok(found) if found.kind == Kind::File && found.len == content.len() as u64 => {
            if has_content(file, content, context).unwrap_or(false) {
                Effect::Unchanged
            } else {
                Effect::Updated
            }
        }
        Ok(_) => Effect::Updated,
        Err(_) => Effect::Created,
    }
}

fn has_content(file: &Path, content: &[u8], context: &Context) -> io::Result<bool> {
    let mut source = context.backend.open(file)?;
    let mut block = vec![0; 64 * 1024];
    let mut rest = content;
    loop {
        match source.read(&mut block) {
            Ok(0) => return Ok(rest.is_empty()),
            Ok(count) => match rest.strip_prefix(&block[..count]) {
                Some(after) => rest = after,
                None => return Ok(false),
            },
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
