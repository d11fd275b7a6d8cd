//! The command pi-session-check: everything that is wrong with a session file, and a mended copy of it.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::one_line;
use super::repair::{self, Repair};
use super::show::unreadable;
use super::target::{self, Target};
use crate::context::Context;
use crate::error::Error;
use crate::session::script_json::Value;
use crate::session::{self, Diagnostic, EntryType, Loaded, Role, Tree, storage};
use crate::tool::{Example, Outcome, Tool};

/// The command pi-session-check, as a tool, so that it keeps the contract of all commands.
pub struct Check;

/// Arguments of pi-session-check.
#[derive(Debug, clap::Args, Deserialize, JsonSchema)]
pub struct Input {
    #[command(flatten)]
    #[serde(flatten)]
    target: Target,
    /// Write a mended copy to OUT, which must not exist; the session itself is never changed
    #[arg(long, value_name = "OUT")]
    repair: Option<PathBuf>,
}

/// What the command line alone can set.
#[derive(Debug, Default, clap::Args)]
pub struct Options {}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Checked {
    /// Whether nothing is wrong.
    ok: bool,
    /// What is wrong.
    problems: Vec<Problem>,
    /// With --repair: the mended copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    repair: Option<Repair>,
}

/// One thing that is wrong.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Problem {
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    /// The entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// What it is, for programs.
    kind: Kind,
    /// What it means, for people.
    message: String,
}

/// What a problem is.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
enum Kind {
    /// A finding of the loader.
    Load(#[schemars(with = "String")] session::Reason),
    /// One that only a check makes.
    Check(Finding),
}

#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Finding {
    /// A tool call that no result answers.
    CallWithoutResult,
    /// The working directory is gone or cannot be read.
    UnreadableCwd,
}

impl Tool for Check {
    type Input = Input;
    type Options = Options;
    type Details = ();
    type Structured = Checked;

    const NAME: &'static str = "session-check";
    const TITLE: &'static str = "Check a session";
    const ABOUT: &'static str = "find what is wrong with a session file";
    const PROMPT_SNIPPET: &'static str = "Find what is wrong with a session file";
    const EXAMPLES: &'static [Example] = &[
        Example { purpose: "Check a session", command: "pi-session-check s.jsonl -o text" },
        Example {
            purpose: "Get back what a crash has cut off from the path",
            command: "pi-session-check s.jsonl --repair mended.jsonl | jq -c '.repair.steps[]'",
        },
    ];
    const EXIT_STATUS: &'static [(&'static str, &'static str)] = &[
        ("0", "nothing is wrong, or a mended copy was written"),
        ("1", "something is wrong, or the check failed; then stdout holds one line {\"error\": …}"),
        ("2", "bad usage or arguments; nothing was touched"),
    ];

    fn description() -> String {
        "Find what is wrong with a session file: lines that cannot be read, entries whose parent is missing, \
         cycles, ids used twice, labels, edits and compactions that point at nothing, tool calls without a \
         result, a working directory that is gone."
            .to_owned()
    }

    fn run(input: Input, _options: &Options, context: &Context) -> Result<Outcome<Self>, Error> {
        let file = target::find(&input.target, context)?;
        let loaded = session::load(&file, context)?
            .ok_or_else(|| session::Error::NotASession { path: file.clone() })?;
        let mut problems: Vec<Problem> = Vec::new();
        problems.extend(loaded.diagnostics.iter().map(Problem::from));
        problems.extend(loaded.tree.diagnostics().iter().map(Problem::from));
        problems.extend(in_entries(&loaded.tree).map_err(|source| unreadable(&file, source))?);
        problems.extend(cwd(&loaded, context));
        let repair = match &input.repair {
            Some(out) => Some(repair::write(&loaded, &context.cwd.join(out))?),
            None => None,
        };
        let checked = Checked { ok: problems.is_empty(), problems, repair };
        let status = u8::from(!checked.ok && checked.repair.is_none());
        Ok(Outcome { status, ..Outcome::new(Vec::new(), checked) })
    }

    fn draw(checked: &Checked, _color: bool, out: &mut dyn io::Write) -> io::Result<()> {
        const LIMIT: usize = 200;
        for problem in &checked.problems {
            let place = match (problem.line, &problem.id) {
                (Some(line), _) => format!("line {line}: "),
                (None, Some(id)) => format!("entry {}: ", one_line::of(id, LIMIT)),
                (None, None) => String::new(),
            };
            writeln!(out, "{place}{}", one_line::of(&problem.message, LIMIT))?;
        }
        if checked.ok {
            writeln!(out, "ok")?;
        }
        checked.repair.as_ref().map_or(Ok(()), |repair| repair.draw(out))
    }
}

impl From<&Diagnostic> for Problem {
    fn from(found: &Diagnostic) -> Self {
        Self {
            line: found.line,
            id: found.id.clone(),
            kind: Kind::Load(found.reason),
            message: found.message.clone(),
        }
    }
}

/// Pointers at entries that are not there, and calls that nothing answers.
fn in_entries(tree: &Tree) -> io::Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let mut calls: Vec<(usize, String)> = Vec::new();
    let mut answered: HashSet<String> = HashSet::new();
    let mut known: HashMap<String, bool> = HashMap::new();
    for index in 0..tree.len() {
        let (kind, role) = (tree.entry_type(index), tree.role(index));
        let pointer = match (kind, role) {
            (EntryType::Label | EntryType::ContextEdit, _) => "targetId",
            (EntryType::Compaction, _) => "firstKeptEntryId",
            (EntryType::Message, Role::Assistant | Role::ToolResult) => "",
            _ => continue,
        };
        let entry = tree.entry(index)?;
        let root = entry.root();
        let message = root.get("message");
        if let Some(target) = root.get(pointer).and_then(Value::lossy) {
            let target = target.into_owned();
            if !*known.entry(target.clone()).or_insert_with(|| tree.find(&target).is_some()) {
                let kind = Kind::Load(session::Reason::DanglingTarget);
                let text = format!("{pointer} is {target}, which is not in the file");
                problems.push(Problem::of(tree, index, kind, text));
            }
        }
        match role {
            Role::Assistant => {
                let blocks = message.and_then(|message| message.get("content"));
                let blocks = blocks.into_iter().flat_map(Value::elements);
                let is_call =
                    |block: &Value<'_>| block.get("type").is_some_and(|kind| kind.is_str("toolCall"));
                let ids = blocks.filter(is_call).filter_map(|call| call.get("id")?.lossy());
                calls.extend(ids.map(|id| (index, id.into_owned())));
            }
            Role::ToolResult => {
                let id = message.and_then(|message| message.get("toolCallId")?.lossy());
                answered.extend(id.map(|id| id.into_owned()));
            }
            _ => {}
        }
    }
    for (index, call) in calls.into_iter().filter(|(_, call)| !answered.contains(call)) {
        let kind = Kind::Check(Finding::CallWithoutResult);
        problems.push(Problem::of(tree, index, kind, format!("no result answers the tool call {call}")));
    }
    Ok(problems)
}

impl Problem {
    fn of(tree: &Tree, index: usize, kind: Kind, message: String) -> Self {
        let id = tree.id(index).map(|id| id.into_lossy().into_owned());
        Self { line: tree.line_number(index), id, kind, message }
    }
}

fn cwd(loaded: &Loaded, context: &Context) -> Option<Problem> {
    let cwd = &loaded.header.cwd;
    let path: &Path = &storage::resolve(cwd, context);
    let trouble = match context.backend.read_dir(path) {
        _ if cwd.is_empty() => "the header names no working directory".to_owned(),
        Ok(_) => return None,
        Err(error) => format!("{}, the working directory '{cwd}'", crate::error::describe(&error)),
    };
    Some(Problem { line: None, id: None, kind: Kind::Check(Finding::UnreadableCwd), message: trouble })
}
