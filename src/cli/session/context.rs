//! The command pi-session-context: what a model is to see of a session.

use std::io;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use super::listing::raw;
use super::one_line;
use super::show::{leaf, unreadable};
use super::target::{self, Target};
use super::warnings;
use crate::context::Context;
use crate::error::{Code, Error};
use crate::session::entry::Entry;
use crate::session::model_messages::model_messages;
use crate::session::projection::{CurrentModel, Message};
use crate::session::script_json::Value;
use crate::session::{self, Role, checkpoint};
use crate::tool::format::Format;
use crate::tool::{Example, Outcome, Tool};
use crate::tools;

/// Characters of a message in the text for people.
const PREVIEW: usize = 300;

/// The command pi-session-context, as a tool, so that it keeps the contract of all commands.
pub struct SessionContext;

/// Arguments of pi-session-context.
#[derive(Debug, clap::Args, Deserialize, JsonSchema)]
pub struct Input {
    #[command(flatten)]
    #[serde(flatten)]
    target: Target,
    /// Take this entry for the leaf [default: the last one of the file]
    #[arg(long, value_name = "ID")]
    leaf: Option<String>,
    /// Give the messages in the form a model API takes, and the system prompt as text
    #[arg(long)]
    #[serde(default)]
    llm: bool,
    /// With --llm: give the declarations of the tools, too; the session's own, else the built-in ones
    #[arg(long, requires = "llm")]
    #[serde(default)]
    tools: bool,
}

/// What the command line alone can set.
#[derive(Debug, Default, clap::Args)]
pub struct Options {}

/// What a model is to see.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Projected {
    /// With --llm: the system prompt.
    #[serde(rename = "systemPrompt", skip_serializing_if = "Option::is_none")]
    system_prompt: Option<String>,
    /// The messages, as stored.
    #[schemars(with = "Vec<Map<String, Json>>")]
    messages: Vec<Box<RawValue>>,
    /// With --tools: the declarations of the tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Map<String, Json>>>")]
    tools: Option<Vec<Box<RawValue>>>,
    /// The model used last: provider and modelId.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Json>>")]
    model: Option<CurrentModel>,
    /// The thinking level in force.
    thinking_level: String,
    /// Tokens in the context, about: what the provider counted with the last whole reply, and one for every
    /// four bytes of the messages behind it.
    tokens: u64,
}

impl Tool for SessionContext {
    type Input = Input;
    type Options = Options;
    type Details = ();
    type Structured = Projected;

    const NAME: &'static str = "session-context";
    const TITLE: &'static str = "Show a session's context";
    const ABOUT: &'static str = "show what a model is to see of a session";
    const PROMPT_SNIPPET: &'static str = "Show what a model is to see of a session";
    const EXAMPLES: &'static [Example] = &[
        Example {
            purpose: "See how full the context is",
            command: "pi-session-context s.jsonl | jq '{tokens, messages: (.messages | length)}'",
        },
        Example {
            purpose: "Make the input of a model request",
            command: "pi-session-context s.jsonl --llm --tools > request.json",
        },
        Example {
            purpose: "See what the model saw at an earlier entry",
            command: "pi-session-context s.jsonl --leaf 4be1f0c2 -o text",
        },
    ];

    fn description() -> String {
        "Show the messages on the path to the leaf with compaction and context edits applied: what a model is \
         to see next. Messages keep their bytes, members that nobody knows included."
            .to_owned()
    }

    fn run(input: Input, _options: &Options, context: &Context) -> Result<Outcome<Self>, Error> {
        if input.tools && !input.llm {
            return Err(Error::new(Code::InvalidArguments, "--tools goes with --llm"));
        }
        let file = target::find(&input.target, context)?;
        let loaded = session::load(&file, context)?
            .ok_or_else(|| session::Error::NotASession { path: file.clone() })?;
        let path = loaded.tree.path(leaf(&loaded.tree, input.leaf.as_deref())?);
        let projection = loaded.tree.project(&path).map_err(|source| unreadable(&file, source))?;
        let tokens = tokens(&projection.messages);
        let (mut system_prompt, mut tools) = (None, None);
        let messages = if input.llm {
            let system = checkpoint::system_message(&projection.messages, 0);
            let system = system.and_then(|message| Entry::parse(message).ok());
            let system = system.as_ref().map(Entry::root);
            system_prompt = system.map(prompt).filter(|prompt| !prompt.is_empty());
            tools = input.tools.then(|| declarations(system));
            let mut messages = model_messages(&projection.messages);
            messages.retain(|message| message.role != Role::System);
            messages
        } else {
            projection.messages
        };
        let messages: Result<Vec<_>, _> = messages.iter().map(|message| raw(&message.raw)).collect();
        let projected = Projected {
            system_prompt,
            messages: messages.map_err(|source| unreadable(&file, source.into()))?,
            tools,
            model: projection.model,
            thinking_level: projection.thinking_level,
            tokens,
        };
        let mut outcome = Outcome::new(Vec::new(), projected);
        outcome.warnings = warnings::of(&loaded.diagnostics);
        Ok(outcome)
    }

    fn draw(projected: &Projected, _color: bool, out: &mut dyn io::Write) -> io::Result<()> {
        for message in &projected.messages {
            let Ok(entry) = Entry::parse(message.get().as_bytes()) else { continue };
            let root = entry.root();
            let role = root.get("role").and_then(Value::lossy).unwrap_or_default();
            let text = ["content", "summary", "command"].into_iter().find_map(|name| root.get(name));
            let text = text.map(words).unwrap_or_default();
            writeln!(out, "{}: {}", one_line::of(&role, PREVIEW), one_line::of(&text, PREVIEW))?;
        }
        Ok(())
    }
}

/// A content as text: its texts, and the names of the tools it calls.
fn words(content: Value<'_>) -> String {
    if let Some(text) = content.lossy() {
        return text.into_owned();
    }
    let word = |block: Value<'_>| {
        let found = ["text", "name", "thinking"].into_iter().find_map(|name| block.get(name));
        found.and_then(Value::lossy).map(|text| text.into_owned())
    };
    content.elements().filter_map(word).collect::<Vec<_>>().join(" ")
}

/// The system prompt as a model reads it: the content, then the sections, a blank line between them.
fn prompt(system: Value<'_>) -> String {
    let content = system.get("content").and_then(Value::lossy);
    let sections = system.get("sections").into_iter().flat_map(Value::members);
    let sections = sections.filter_map(|(_, section)| section.lossy());
    let parts: Vec<_> = content.into_iter().chain(sections).filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// The session's own declarations, else those of the built-in tools.
fn declarations(system: Option<Value<'_>>) -> Vec<Box<RawValue>> {
    let stored = system.and_then(|system| system.get("toolsAdded")).into_iter().flat_map(Value::elements);
    let stored: Vec<_> = stored.filter_map(|tool| raw(tool.raw()).ok()).collect();
    if !stored.is_empty() {
        return stored;
    }
    let built_in = tools::DECLARED.iter().map(|tool| tool.declaration_in(Format::Pi));
    built_in.filter_map(|tool| serde_json::value::to_raw_value(&tool).ok()).collect()
}

/// See [`Projected::tokens`].
fn tokens(messages: &[Message]) -> u64 {
    const BYTES: usize = 4;
    let mut behind = 0;
    for message in messages.iter().rev() {
        if message.role == Role::Assistant
            && let Some(counted) = counted(&message.raw)
        {
            return counted + behind;
        }
        behind += message.raw.len().div_ceil(BYTES) as u64;
    }
    behind
}

/// The provider's count for a whole reply.
fn counted(message: &[u8]) -> Option<u64> {
    let entry = Entry::parse(message).ok()?;
    let root = entry.root();
    let is_broken = root.get("stopReason").is_some_and(|why| why.is_str("error") || why.is_str("aborted"));
    let total = root.get("usage")?.get("totalTokens")?.number().filter(|total| *total > 0.0);
    total.filter(|_| !is_broken).map(|total| total as u64)
}
