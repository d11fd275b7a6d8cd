//! session-fork: a session of its own out of another one (pi's /fork and /clone). The command
//! pi-session-fork; no model calls it.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::branch::id_or_null;
use super::target::{self, Target};
use crate::context::Context;
use crate::error::{Code, Error};
use crate::fs::path;
use crate::message::Base64;
use crate::session::{self, Fork as Forked, Place, Position, Session, fork_from, storage};
use crate::tool::{Example, Outcome, Tool};

/// The command pi-session-fork, as a tool, so that it keeps the contract of all commands.
pub struct Fork;

/// Arguments of pi-session-fork.
#[derive(Debug, clap::Args, Deserialize, JsonSchema)]
pub struct Input {
    #[command(flatten)]
    #[serde(flatten)]
    target: Target,
    /// Fork before this message of the user's, whose text comes back
    #[arg(long, value_name = "ID", conflicts_with = "at")]
    before: Option<String>,
    /// Fork behind this entry and keep it [default: the last of the file]
    #[arg(long, value_name = "ID")]
    at: Option<String>,
    /// Copy all branches, for work in DIR
    #[arg(long, value_name = "DIR", conflicts_with_all = ["before", "at"])]
    cwd: Option<String>,
    /// Write FILE, which must not exist [default: a file of its own beside the session, in --session-dir, or
    /// for --cwd in the directory of DIR's sessions]
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
}

/// What the command line alone can set.
#[derive(Debug, Default, clap::Args)]
pub struct Options {}

/// The new session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NewSession {
    /// Its file.
    path: String,
    /// The same in raw bytes, where they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    path_base64: Option<Base64>,
    /// Its id.
    id: String,
    /// The file it was forked from.
    parent_session: String,
    /// The entry that its next one hangs under; null when it has none yet.
    #[schemars(required, schema_with = "id_or_null")]
    leaf_id: Option<String>,
    /// How many entries it has.
    entries: usize,
    /// The text of the message it was forked before, to be changed and sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    editor_text: Option<String>,
}

impl Tool for Fork {
    type Input = Input;
    type Options = Options;
    type Details = ();
    type Structured = NewSession;

    const NAME: &'static str = "session-fork";
    const TITLE: &'static str = "Fork session";
    const ABOUT: &'static str = "make a session of its own out of another one";
    const PROMPT_SNIPPET: &'static str = "Make a session of its own out of another one";
    const EXAMPLES: &'static [Example] = &[
        Example { purpose: "Go on in a copy", command: "copy=$(pi-session-fork chat.jsonl -o text)" },
        Example {
            purpose: "Ask an earlier question differently, in a session of its own",
            command: "pi-session-fork chat.jsonl --before 5e3f01aa --to other.jsonl | jq -r .editor_text",
        },
        Example {
            purpose: "Take a session along into another folder",
            command: "pi-session-fork 019df689 --cwd ~/src/other",
        },
    ];

    fn description() -> String {
        "Make a session of its own out of the path to an entry, as pi's /fork and /clone do: by default a \
         copy of the path to the last entry of the file. Entries keep their ids and bytes; labels come at the \
         end, and compactions that began at one begin at the entry behind it. The session itself stays as it \
         is, and the new one names it as its parent."
            .to_owned()
    }

    fn run(input: Input, _options: &Options, context: &Context) -> Result<Outcome<Self>, Error> {
        let source = target::find(&input.target, context)?;
        let session_dir = input.target.session_dir.as_deref();
        let file = input.to.map(|to| Place::File(path::resolve(&to, context)));
        let options = session::Options::default();
        let directory = |context: &Context| Place::Directory(target::directory(session_dir, context).path);
        let forked = match (input.cwd, input.before, input.at) {
            (Some(cwd), None, None) => {
                let there = match session_dir {
                    Some(_) => context.clone(),
                    None => context.clone().in_dir(storage::resolve(&cwd, context)),
                };
                let place = file.unwrap_or_else(|| directory(&there));
                let session = fork_from(&source, &cwd, &place, None, context, options)?;
                Forked { session, editor_text: None }
            }
            (None, before, at) if before.is_none() || at.is_none() => {
                let mut session = Session::open(&source, context, options)?;
                if let Some(place) = file.or_else(|| session_dir.map(|_| directory(context))) {
                    session.place_forks(&place)?;
                }
                let (position, entry) = match before {
                    Some(before) => (Position::Before, Some(before)),
                    None => (Position::At, at.or_else(|| session.leaf_id())),
                };
                context.cancel.check()?;
                let mut forked = session.fork(&entry.unwrap_or_default(), position)?;
                // Whoever forks before the first message is told of a file, too.
                forked.session.store()?;
                forked
            }
            _ => {
                let message = "before, at and cwd ask for different forks; give one of them";
                return Err(Error::new(Code::InvalidArguments, message));
            }
        };
        Ok(outcome(forked))
    }
}

fn outcome(forked: Forked) -> Outcome<Fork> {
    let Forked { session, editor_text } = forked;
    let file = session.file().unwrap_or(std::path::Path::new(""));
    let shown = file.to_string_lossy().into_owned();
    let is_lossy = file.to_str().is_none();
    let raw_text = is_lossy.then(|| path::bytes(file).to_vec());
    let structured = NewSession {
        path: shown.clone(),
        path_base64: is_lossy.then(|| Base64::encode(path::bytes(file))),
        id: session.header().id.clone(),
        parent_session: session.header().parent_session.clone().unwrap_or_default(),
        leaf_id: session.leaf_id(),
        entries: session.tree().len(),
        editor_text,
    };
    let mut outcome = Outcome::text(shown, structured);
    outcome.raw_text = raw_text;
    outcome
}
