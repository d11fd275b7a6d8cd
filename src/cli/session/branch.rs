//! session-branch: going to another place of a session's tree (pi's /tree). The command pi-session-branch;
//! no model calls it.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::target::{self, Target};
use crate::context::Context;
use crate::error::{Code, Error};
use crate::session::{self, Navigation, Session, Summary};
use crate::tool::{Example, Outcome, Tool};

/// The command pi-session-branch, as a tool, so that it keeps the contract of all commands.
pub struct Branch;

/// Arguments of pi-session-branch.
#[derive(Debug, clap::Args, Deserialize, JsonSchema)]
pub struct Input {
    #[command(flatten)]
    #[serde(flatten)]
    target: Target,
    /// Entry to go to. From a message of the user's one goes on before it, from any other entry behind it
    #[arg(value_name = "ENTRY")]
    entry: Option<String>,
    /// Go before any entry
    #[arg(long, conflicts_with = "entry")]
    #[serde(default)]
    root: bool,
    /// Say there what the branch that is left was about; with - the text is all of standard input
    #[arg(long, value_name = "TEXT|-", allow_hyphen_values = true)]
    #[schemars(description = "Say there what the branch that is left was about")]
    summary: Option<String>,
    /// Label the summary, or without one the entry gone to
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    label: Option<String>,
    /// The summary from standard input.
    #[arg(skip)]
    #[serde(skip)]
    piped: Option<Vec<u8>>,
}

/// What the command line alone can set.
#[derive(Debug, Default, clap::Args)]
pub struct Options {}

/// Where one is now.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Branched {
    /// The entry that the next one is to hang under; null before any.
    #[schemars(required, schema_with = "id_or_null")]
    leaf_id: Option<String>,
    /// The text of the message gone to, to be changed and sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    editor_text: Option<String>,
    /// The summary's entry, as it stands in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    summary_entry: Option<Box<RawValue>>,
    /// The label's entry, as it stands in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    label_entry: Option<Box<RawValue>>,
}

/// The id of an entry, or null for none.
pub(super) fn id_or_null(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"anyOf": [{"type": "string"}, {"type": "null"}]})
}

impl Tool for Branch {
    type Input = Input;
    type Options = Options;
    type Details = ();
    type Structured = Branched;

    const NAME: &'static str = "session-branch";
    const TITLE: &'static str = "Branch session";
    const ABOUT: &'static str = "go to another place of a session's tree";
    const PROMPT_SNIPPET: &'static str = "Go to another place of a session's tree";
    const EXAMPLES: &'static [Example] = &[
        Example {
            purpose: "Change a prompt and go on from there",
            command: "pi-session-branch chat.jsonl 5e3f01aa | jq -r .editor_text",
        },
        Example {
            purpose: "Hang the next message there",
            command: "leaf=$(pi-session-branch chat.jsonl 5e3f01aa -o text)\npi-session-append chat.jsonl --parent \"$leaf\" --user 'Once more'",
        },
        Example {
            purpose: "Give a branch up, and leave a note of what it was",
            command: "pi-session-branch chat.jsonl 5e3f01aa --summary 'Tried a cache; too slow.'",
        },
    ];

    fn description() -> String {
        "Go to another place of a session's tree, as pi's /tree does. A message of the user's or an \
         extension's is gone before, and its text comes back to be changed; any other entry is gone behind.\n\n\
         Where one is is not kept in the file until something is appended: hand `leaf_id` to \
         `pi-session-append --parent`, which takes null, too. With `--summary` or `--label` an entry is \
         appended at once; it is then the leaf, and the last of the file, under which anybody goes on."
            .to_owned()
    }

    fn complete(input: &mut Input, _options: &Options) -> Result<(), String> {
        if input.entry.is_none() && !input.root {
            return Err("name the entry to go to, or say --root".to_owned());
        }
        Ok(())
    }

    fn stdin_argument(input: &mut Input) -> Option<&mut Vec<u8>> {
        let is_piped = input.summary.as_deref() == Some("-");
        is_piped.then(|| input.piped.get_or_insert_default())
    }

    fn run(input: Input, _options: &Options, context: &Context) -> Result<Outcome<Self>, Error> {
        let summary = match input.piped {
            Some(piped) => Some(String::from_utf8_lossy(&piped).into_owned()),
            None => input.summary,
        };
        let target = match (input.entry, input.root) {
            (Some(entry), false) => Some(entry),
            (None, true) => None,
            _ => return Err(Error::new(Code::InvalidArguments, "give either an entry or root")),
        };
        if target.is_none() && summary.is_none() && input.label.is_some() {
            return Err(Error::new(Code::InvalidArguments, "before any entry there is nothing to label"));
        }
        let file = target::find(&input.target, context)?;
        let mut session = Session::open(&file, context, session::Options::default())?;
        let left = session.leaf_id();
        let Navigation { leaf_id, editor_text } = match &target {
            Some(entry) => session.navigate(entry)?,
            None => {
                session.reset_leaf();
                Navigation { leaf_id: None, editor_text: None }
            }
        };
        context.cancel.check()?;
        let mut labelled = target;
        let mut summary_entry = None;
        if let Some(text) = summary {
            match &left {
                Some(left) => session.branch(left)?,
                None => session.reset_leaf(),
            }
            let summary = Summary { text: &text, ..Summary::default() };
            let appended = session.branch_with_summary(leaf_id.as_deref(), &summary)?;
            labelled = Some(appended.id);
            summary_entry = Some(as_json(appended.line)?);
        }
        let label_entry = match (&input.label, labelled) {
            (Some(label), Some(target)) => Some(as_json(session.label(&target, Some(label))?.line)?),
            _ => None,
        };
        let leaf_id = session.leaf_id();
        let text = leaf_id.clone().unwrap_or_else(|| "null".to_owned());
        Ok(Outcome::text(text, Branched { leaf_id, editor_text, summary_entry, label_entry }))
    }
}

fn as_json(line: Vec<u8>) -> Result<Box<RawValue>, Error> {
    let line = String::from_utf8_lossy(&line).into_owned();
    RawValue::from_string(line).map_err(|error| Error::new(Code::Io, error.to_string()))
}
