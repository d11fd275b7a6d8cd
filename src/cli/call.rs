//! The command pi-call: the tool calls of assistant messages on standard input, run and answered.

use std::io::{self, BufReader};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Command, FromArgMatches};

use super::command::{Stop, after_help};
use super::jobs::Documents;
use super::output::{Format, Output};
use super::signal::{self, Pipe};
use super::stdin::Stdin;
use super::terminal::Color;
use crate::context::Context;
use crate::error::Error;
use crate::tool::Example;
use crate::tools::batch::request::{Request, Unusable};
use crate::tools::batch::{Batch, PARALLEL};
use crate::tools::{self, declare};

const NAME: &str = "pi-call";
const BAD_MESSAGE: u8 = 2;
const UNWRITTEN: u8 = 1;

/// The exit statuses of pi-call and their meaning.
pub const EXIT_STATUS: &[(&str, &str)] = &[
    ("0", "every call has its answer, an error result being one"),
    ("1", "the answers could not be written"),
    ("2", "bad usage, or a message whose calls cannot be run; none of them was"),
];

/// The shape of what pi-call prints, one line a call.
pub const PRINTS: &str = "{role: \"toolResult\", toolCallId, toolName, content: [...], details?, isError, \
                          durationMs?, timestamp}";

/// Command lines to copy.
pub const EXAMPLES: &[Example] = &[
    Example {
        purpose: "Answer the tool calls of a model's reply",
        command: "pi-call < reply.json > answers.jsonl",
    },
    Example {
        purpose: "Let a model look, but not touch",
        command: "pi-call -C project --tools read,ls,find,grep < reply.json",
    },
    Example {
        purpose: "Run the calls of a reply in Anthropic's form",
        command: r#"jq '{role, content: [.content[] | if .type == "tool_use" then {type: "toolCall", id, name, arguments: .input} else . end]}' reply.json | pi-call"#,
    },
    Example {
        purpose: "Send the answers back in that form",
        command: r#"pi-call < reply.json | jq -s '{role: "user", content: map({type: "tool_result", tool_use_id: .toolCallId, is_error: .isError, content: [.content[] | select(.type == "text") | {type, text}]})}'"#,
    },
    Example {
        purpose: "Make a single call by hand",
        command: r#"echo '{"type":"toolCall","id":"1","name":"ls","arguments":{}}' | pi-call"#,
    },
];

#[derive(clap::Args)]
struct Line {
    /// Tools that may be called; any other is answered as not found [default: all]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    tools: Vec<String>,
    /// Calls that run at the same time; those that write one file always queue
    #[arg(short, long, value_name = "N", default_value_t = PARALLEL)]
    jobs: NonZeroUsize,
    /// Resolve relative paths against DIR
    #[arg(short = 'C', value_name = "DIR")]
    directory: Option<PathBuf>,
    /// When to colour and lay out JSON for people
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    color: Color,
}

/// The clap definition of pi-call: the one source of help, man page and completions.
pub fn command() -> Command {
    Line::augment_args(Command::new(NAME))
        .about("Run the tool calls of an assistant message, in parallel")
        .long_about(
            "Run the tool calls of an assistant message, in parallel.\n\nStandard input holds the message as \
             JSON; a toolCall block or an array of them will do, and so will several messages one after \
             another. Each call is answered by one toolResult message on a line of its own, in call order, \
             as soon as it and all before it are done.",
        )
        .version(env!("CARGO_PKG_VERSION"))
        .max_term_width(100)
        .after_help(after_help(EXAMPLES, EXIT_STATUS))
}

/// The whole life of pi-call.
pub fn run() -> ExitCode {
    let context = Context::from_process(None);
    // Commands that still run must be ended when the reader leaves, so a closed pipe has to be noticed.
    signal::prepare(&context.cancel, Pipe::Ignore);
    let words = context.arguments();
    let line = command().try_get_matches_from(&words).and_then(|matches| Line::from_arg_matches(&matches));
    let line = match line {
        Ok(line) => line,
        Err(error) => return Stop(error, words).report(NAME, BAD_MESSAGE, &context.environment),
    };
    let mut output = Output::new(NAME.to_owned(), Format::Json, line.color, &context.environment);
    let status = line.answer(&context, &mut output).unwrap_or_else(|error| output.lost(&error, UNWRITTEN));
    signal::finish(&context.cancel);
    ExitCode::from(status)
}

impl Line {
    /// Answers all messages; the worst exit status. `Err`: an answer could not be written.
    fn answer(self, context: &Context, output: &mut Output) -> io::Result<u8> {
        let tools = match declare::chosen(&self.tools) {
            Ok(chosen) => chosen.iter().filter_map(|tool| tools::named(tool.name)).collect::<Vec<_>>(),
            Err(unknown) => return refuse(&unknown.into(), output),
        };
        let stdin = match Stdin::piped(NAME, &context.cancel) {
            Ok(stdin) => stdin,
            Err(error) => return refuse(&error, output),
        };
        let there = match self.directory {
            Some(directory) => context.clone().in_dir(context.cwd.join(directory)),
            None => context.clone(),
        };
        let batch = Batch { tools: &tools, parallel: self.jobs, context: &there };
        let mut status = None;
        for text in Documents::new(BufReader::new(stdin), context) {
            match text.and_then(|text| Ok(Request::read(&text)?)) {
                Ok(request) => {
                    batch.run(&request, |message| output.value(message))?;
                    status = status.or(Some(0));
                }
                Err(error) => status = Some(refuse(&error, output)?),
            }
        }
        match status {
            Some(status) => Ok(status),
            None if context.cancel.is_cancelled() => Ok(0),
            None => refuse(&Unusable::Missing.into(), output),
        }
    }
}

fn refuse(error: &Error, output: &mut Output) -> io::Result<u8> {
    output.failure(error).map(|()| BAD_MESSAGE)
}
