//! What a tool is: its name, arguments, result and declaration, and the one way to call it.

pub mod accumulator;
pub mod arguments;
pub mod declaration;
pub mod format;
pub mod listing;
pub mod truncate;

use std::io;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::context::Context;
use crate::error::Error;
use crate::message::{Content, ToolResult};
pub use declaration::Declaration;

/// A tool: a pure description plus [`Tool::run`]. Implemented by a unit struct per tool.
pub trait Tool {
    /// What a model sends and the command's flags say; its doc comments are help and schema at once.
    type Input: clap::Args + DeserializeOwned + JsonSchema;
    /// What only the command line or an embedding program can set; no model ever does.
    type Options: clap::Args + Default;
    /// What a user interface shows beside the text (pi's `details`).
    type Details: Serialize;
    /// What a program reads: the line a command prints.
    type Structured: Serialize + JsonSchema;

    /// The tool's name; the command is `pi-` and this.
    const NAME: &'static str;
    /// A short title for lists.
    const TITLE: &'static str;
    /// The command's NAME line: lower case, no full stop.
    const ABOUT: &'static str;
    /// The line in the system prompt that says the tool exists.
    const PROMPT_SNIPPET: &'static str;
    /// Rules for the system prompt that come with the tool.
    const PROMPT_GUIDELINES: &'static [&'static str] = &[];
    /// Examples for `--help` and the man page: what it does, the command.
    const EXAMPLES: &'static [Example];
    /// Exit statuses beyond the common 0, 1 and 2.
    const EXIT_STATUS: &'static [(&'static str, &'static str)] = &[];
    /// The status of the command when the job fails.
    const FAILURE_STATUS: u8 = 1;
    /// The status of the command when the arguments are unusable.
    const USAGE_STATUS: u8 = 2;
    /// Whether the tool keeps children or jobs alive while a pipe is written, so that a closed pipe
    /// must be an error to handle and not the end of the process.
    const OUTLIVES_PIPES: bool = false;

    /// The description for the model; limits are formatted from their constants.
    fn description() -> String;

    /// Repairs that come before validation (an argument in an old or careless form).
    fn repair(arguments: Value) -> Value {
        arguments
    }

    /// Completes arguments given as flags, where several flags make one argument.
    fn complete(_input: &mut Self::Input, _options: &Self::Options) -> Result<(), String> {
        Ok(())
    }

    /// Where standard input goes when the flags leave it to supply an argument.
    fn stdin_argument(_input: &mut Self::Input) -> Option<&mut Vec<u8>> {
        None
    }

    /// Does the job.
    fn run(input: Self::Input, options: &Self::Options, context: &Context) -> Result<Outcome<Self>, Error>;

    /// Whether [`Tool::run_into`] is to be used where only the structured content is printed.
    const STREAMS: bool = false;

    /// Does the job as [`Tool::run`] does, but writes the structured content (or the documents) while it
    /// goes on, so that an answer of any size takes no memory. After a byte has been written the job no
    /// longer fails: what is written is completed. `Err` outside: writing failed.
    fn run_into(
        input: Self::Input,
        options: &Self::Options,
        context: &Context,
        out: &mut (dyn io::Write + Send),
    ) -> io::Result<Result<Written, Error>> {
        let outcome = match Self::run(input, options, context) {
            Ok(outcome) => outcome,
            Err(error) => return Ok(Err(error)),
        };
        serde_json::to_writer(&mut *out, &outcome.structured)?;
        out.write_all(b"\n")?;
        Ok(Ok(Written { status: outcome.status, warnings: outcome.warnings }))
    }

    /// Writes the answer for people, when the content is left empty: what `-o text` prints. It holds no
    /// control characters, but colours when `color` says so.
    fn draw(_answer: &Self::Structured, _color: bool, _out: &mut dyn io::Write) -> io::Result<()> {
        Ok(())
    }

    /// Whether the options ask for all documents of a stream to succeed or fail as one.
    fn is_all_or_nothing(_options: &Self::Options) -> bool {
        false
    }

    /// Does the jobs of a stream as one; an answer for each document, in order. Only called when
    /// [`Tool::is_all_or_nothing`] says so.
    fn run_all(
        inputs: Vec<Result<Self::Input, Error>>,
        options: &Self::Options,
        context: &Context,
    ) -> Vec<Result<Outcome<Self>, Error>> {
        inputs.into_iter().map(|input| Self::run(input?, options, context)).collect()
    }
}

/// One line of a command's EXAMPLES.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// What it does, a sentence without a full stop.
    pub purpose: &'static str,
    /// The command line.
    pub command: &'static str,
}

/// What a call that did its job gives back.
pub struct Outcome<T: Tool + ?Sized> {
    /// What a model reads.
    pub content: Vec<Content>,
    /// What a user interface shows beside it.
    pub details: Option<T::Details>,
    /// What a program reads.
    pub structured: T::Structured,
    /// Whether the model should take the result for a failure.
    pub is_error: bool,
    /// The exit status of the command.
    pub status: u8,
    /// The text with the raw bytes of names that are not UTF-8, where `content` had to be lossy.
    pub raw_text: Option<Vec<u8>>,
    /// Documents that the command prints, one per line, in place of the structured content.
    pub documents: Option<Vec<Box<RawValue>>>,
    /// Bytes that the command prints as they are, in place of all else, whatever the format.
    pub verbatim: Option<Vec<u8>>,
    /// What could not be done without failing the whole job; for people, on stderr.
    pub warnings: Vec<String>,
}

/// What is left to say of a job whose answer has been written.
#[derive(Debug, Default)]
pub struct Written {
    /// The exit status of the command.
    pub status: u8,
    /// What could not be done without failing the whole job; for people, on stderr.
    pub warnings: Vec<String>,
}

impl<T: Tool + ?Sized> Outcome<T> {
    /// A success with one text block.
    pub fn text(text: impl Into<String>, structured: T::Structured) -> Self {
        Self::new(vec![Content::text(text)], structured)
    }

    /// A success.
    pub fn new(content: Vec<Content>, structured: T::Structured) -> Self {
        Self {
            content,
            details: None,
            structured,
            is_error: false,
            status: 0,
            raw_text: None,
            documents: None,
            verbatim: None,
            warnings: Vec::new(),
        }
    }

    /// The same with details.
    pub fn with_details(mut self, details: Option<T::Details>) -> Self {
        self.details = details;
        self
    }
}

/// Calls a tool with arguments as a model sent them: repair, validation, coercion, the job. Never
/// panics and never fails: what goes wrong is an error result.
pub fn call<T: Tool>(arguments: Value, options: &T::Options, context: &Context) -> ToolResult {
    match arguments::read::<T>(arguments) {
        Ok(input) => answer::<T>(input, options, context),
        Err(invalid) => ToolResult::failure(&invalid.into()),
    }
}

/// Does the job of a call whose arguments fit; what goes wrong is an error result.
pub fn answer<T: Tool>(input: T::Input, options: &T::Options, context: &Context) -> ToolResult {
    let outcome = context.cancel.check().and_then(|()| T::run(input, options, context));
    outcome.map_or_else(|error| ToolResult::failure(&error), ToolResult::from)
}

impl<T: Tool> From<Outcome<T>> for ToolResult {
    fn from(outcome: Outcome<T>) -> Self {
        Self {
            content: outcome.content,
            details: outcome.details.and_then(|details| serde_json::to_value(details).ok()),
            structured_content: serde_json::to_value(&outcome.structured).ok(),
            is_error: outcome.is_error,
        }
    }
}
