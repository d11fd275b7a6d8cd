//! The command pi-session-append: entries in, the lines they became out.

mod draft;

use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Command, FromArgMatches};
use schemars::JsonSchema;
use serde::Serialize;

use super::target::{self, Target};
use crate::cli::command::{Stop, after_help};
use crate::cli::jobs::{Documents, worse};
use crate::cli::output::{Format, Output};
use crate::cli::signal::{self, Pipe};
use crate::cli::stdin::Stdin;
use crate::cli::terminal::Color;
use crate::context::Context;
use crate::error::{Code, Error};
use crate::fs::path;
use crate::message::Base64;
use crate::session::{self, Appender, Draft, Ids, load};
use crate::tool::declaration::schema_of;
use crate::tool::{Declaration, Example};
use draft::NewEntries;

const NAME: &str = "pi-session-append";
/// What `--parent` calls the place before any entry; the leaf that pi-session-branch prints there.
const ROOT: &str = "null";
const FAILED: u8 = 1;
const BAD: u8 = 2;

/// The exit statuses of pi-session-append and their meaning.
pub const EXIT_STATUS: &[(&str, &str)] = &[
    ("0", "everything was appended, nothing being something, too"),
    ("1", "an entry could not be written, or there is no such session"),
    ("2", "bad usage, or a document that is no entry; those beside it were appended"),
];

/// The shape of what pi-session-append prints, one line an entry.
pub const PRINTS: &str = "{type, id, parentId, timestamp, …}";

/// Command lines to copy.
pub const EXAMPLES: &[Example] = &[
    Example {
        purpose: "Begin a session with a prompt",
        command: "pi-session-append chat.jsonl --user 'What is in this folder?'",
    },
    Example {
        purpose: "Store a model's reply and the answers to its tool calls",
        command: "pi-session-append chat.jsonl < reply.json\npi-call < reply.json | pi-session-append chat.jsonl",
    },
    Example {
        purpose: "Say something else instead of an earlier prompt",
        command: "leaf=$(pi-session-branch chat.jsonl 5e3f01aa -o text)\npi-session-append chat.jsonl --parent \"$leaf\" --user 'Look again'",
    },
    Example {
        purpose: "Bookmark the entry just written",
        command: "id=$(pi-session-append chat.jsonl --user 'Ship it' -o text)\npi-session-append chat.jsonl --label \"$id=release\"",
    },
];

/// A document on standard input.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Document {
    /// A message: a member of the conversation.
    Message {
        /// Who speaks.
        role: String,
    },
    /// An entry as it stands in a session file.
    #[serde(rename_all = "camelCase")]
    Entry {
        /// What kind of entry it is.
        r#type: String,
        /// Its id, which no other may have; made when it is missing.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The entry it hangs under; the leaf when it is missing.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_id: Option<String>,
    },
}

/// An entry as it is printed: its line in the file, whatever else that holds.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Printed {
    /// What kind of entry it is.
    #[serde(rename = "type")]
    pub entry_type: String,
    /// Its id.
    pub id: String,
    /// When it was written.
    pub timestamp: String,
}

/// What is printed of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Print {
    /// The line, as it stands in the file
    Json,
    /// The id
    Text,
}

#[derive(clap::Args)]
struct Line {
    /// Session file, session id, or the beginning of an id. A file that does not exist is begun, and
    /// so is an empty one
    #[arg(value_name = "FILE|ID", required_unless_present_any = ["import", "schema"])]
    session: Option<PathBuf>,
    #[command(flatten)]
    entries: NewEntries,
    /// Hang the first entry under the entry ID, or with null under none [default: under the last of the file]
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// Do not begin a session where none is
    #[arg(long)]
    no_create: bool,
    /// Do not wait for the disk before an entry is acknowledged
    #[arg(long)]
    no_sync: bool,
    /// Copy the session in FILE into the directory of sessions and say where it is; append nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["session", "parent", "no_create", "NewEntries"])]
    import: Option<PathBuf>,
    /// Look ids up in DIR, and import into it [default: $PI_CODING_AGENT_SESSION_DIR, the setting
    /// sessionDir, or the directory of the working directory's sessions]
    #[arg(long, value_name = "DIR")]
    session_dir: Option<String>,
    /// What to print of each entry
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    output: Option<Print>,
    /// Print what documents are taken and what is printed, as JSON Schema, and leave
    #[arg(long)]
    schema: bool,
    /// Resolve relative paths against DIR, which a session begun here works in
    #[arg(short = 'C', value_name = "DIR")]
    directory: Option<PathBuf>,
    /// When to colour and lay out JSON for people
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    color: Color,
}

/// The clap definition of pi-session-append: the one source of help, man page and completions.
pub fn command() -> Command {
    Line::augment_args(Command::new(NAME))
        .about("Append messages and other entries to a session")
        .long_about(ABOUT)
        .version(env!("CARGO_PKG_VERSION"))
        .max_term_width(100)
        .after_help(after_help(EXAMPLES, EXIT_STATUS))
}

const ABOUT: &str = "Append messages and other entries to a session.\n\nStandard input holds JSON values, one after \
                     another: messages, which have a role, and entries, which have a type. Of id, parentId and \
                     timestamp an entry gets what it lacks; all else stays byte for byte. Flags can say what to append \
                     in place of standard input: a name, a user message, an extension's state, labels, in this order. \
                     Each entry that has been written is printed, as soon as it is safe.";

/// The whole life of pi-session-append.
pub fn run() -> ExitCode {
    let context = Context::from_process(None);
    signal::prepare(&context.cancel, Pipe::Default);
    let words = context.arguments();
    let line = command().try_get_matches_from(&words).and_then(|matches| Line::from_arg_matches(&matches));
    let line = line.and_then(|line| Ok((line.format(&context)?, line)));
    let (format, line) = match line {
        Ok(line) => line,
        Err(error) => return Stop(error, words).report(NAME, BAD, &context.environment),
    };
    let mut output = Output::new(NAME.to_owned(), format, line.color, &context.environment);
    let there = match &line.directory {
        Some(directory) => context.clone().in_dir(context.cwd.join(directory)),
        None => context.clone(),
    };
    let status = line.answer(format, &there, &mut output);
    let status = status.unwrap_or_else(|error| output.lost(&error, FAILED));
    signal::finish(&context.cancel);
    ExitCode::from(status)
}

impl Line {
    fn format(&self, context: &Context) -> Result<Format, clap::Error> {
        match self.output {
            Some(Print::Json) => Ok(Format::Json),
            Some(Print::Text) => Ok(Format::Text),
            None => match Format::from_environment(&context.environment) {
                // There is no more to a result than the entry.
                Ok(Format::Result) => Ok(Format::Json),
                Ok(format) => Ok(format),
                Err(message) => Err(command().error(clap::error::ErrorKind::InvalidValue, message)),
            },
        }
    }

    /// Appends everything; the worst exit status. `Err`: an answer could not be written.
    fn answer(&self, format: Format, context: &Context, output: &mut Output) -> io::Result<u8> {
        if self.schema {
            return output.value(&declaration()).map(|()| 0);
        }
        if let Some(file) = &self.import {
            return match self.imported(file, context) {
                Ok(imported) if format == Format::Text => {
                    output.bytes_line(path::bytes(&imported.path)).map(|()| 0)
                }
                Ok(imported) => output.value(&Imported::from(&imported)).map(|()| 0),
                Err(error) => refuse(&error, output),
            };
        }
        let opened = self.entries.drafts(context).and_then(|drafts| Ok((drafts, self.appender(context)?)));
        let (drafts, appender) = match opened {
            Ok(opened) => opened,
            Err(error) => return refuse(&error, output),
        };
        let mut answers = Answers { appender, format, output, worst: 0 };
        let reads_stdin = self.entries.reads_stream(&drafts);
        drafts.iter().try_for_each(|draft| answers.append(draft))?;
        if reads_stdin {
            let stdin = match Stdin::piped(NAME, &context.cancel) {
                Ok(stdin) => stdin,
                Err(error) => return refuse(&error, answers.output),
            };
            for text in Documents::new(BufReader::new(stdin), context) {
                match text.and_then(|text| self.entries.draft_of(text.trim_ascii())) {
                    Ok(draft) => answers.append(&draft)?,
                    Err(error) => answers.refuse(&error)?,
                }
            }
        }
        Ok(answers.worst)
    }

    fn appender(&self, context: &Context) -> Result<Appender, Error> {
        let words = Target {
            file_or_id: self.session.clone().unwrap_or_default(),
            session_dir: self.session_dir.clone(),
        };
        let file = target::find(&words, context)?;
        let parent = self.parent.as_deref().filter(|parent| *parent != ROOT);
        let named: Vec<&str> = parent.into_iter().chain(self.entries.labelled()).collect();
        if !named.is_empty() {
            check_entries(&file, &named, context)?;
        }
        let options = session::Options { sync: !self.no_sync, ids: Ids::default() };
        let open = if self.no_create { Appender::open } else { Appender::open_or_create };
        let mut appender = open(&file, context, options)?;
        if self.parent.is_some() {
            appender.set_leaf(parent);
        }
        Ok(appender)
    }

    fn imported(&self, file: &Path, context: &Context) -> Result<session::import::Imported, Error> {
        let directory = target::directory(self.session_dir.as_deref(), context);
        Ok(directory.import(&path::resolve(file, context), !self.no_sync, context)?)
    }
}

/// An entry that the command line names must be there: a slip of the pen would make an orphan.
fn check_entries(file: &Path, ids: &[&str], context: &Context) -> Result<(), Error> {
    let loaded = load::load(file, context)?;
    let is_there = |id: &str| loaded.as_ref().is_some_and(|loaded| loaded.tree.find(id).is_some());
    match ids.iter().find(|id| !is_there(id)) {
        Some(missing) => Err(session::Error::NoEntry { id: (*missing).to_owned() }.into()),
        None => Ok(()),
    }
}

/// Appends one after another and says so.
struct Answers<'o> {
    appender: Appender,
    format: Format,
    output: &'o mut Output,
    /// The worst exit status so far.
    worst: u8,
}

impl Answers<'_> {
    fn append(&mut self, draft: &Draft) -> io::Result<()> {
        match self.appender.append(draft) {
            Ok(written) if self.format == Format::Text => self.output.bytes_line(written.id.as_bytes()),
            Ok(written) => self.output.json(&written.line),
            Err(error) => self.refuse(&error.into()),
        }
    }

    fn refuse(&mut self, error: &Error) -> io::Result<()> {
        self.worst = worse(self.worst, refuse(error, self.output)?);
        Ok(())
    }
}

fn refuse(error: &Error, output: &mut Output) -> io::Result<u8> {
    output.failure(error)?;
    Ok(if error.code == Code::InvalidArguments { BAD } else { FAILED })
}

/// Where an imported session is.
#[derive(Debug, Serialize)]
struct Imported<'i> {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_base64: Option<Base64>,
    id: &'i str,
}

impl<'i> From<&'i session::import::Imported> for Imported<'i> {
    fn from(imported: &'i session::import::Imported) -> Self {
        let file = &imported.path;
        Self {
            path: file.to_string_lossy().into_owned(),
            path_base64: file.to_str().is_none().then(|| Base64::encode(path::bytes(file))),
            id: &imported.header.id,
        }
    }
}

fn declaration() -> Declaration {
    Declaration {
        name: "session-append",
        title: "Append to session",
        description: ABOUT.to_owned(),
        input_schema: schema_of::<Document>(),
        output_schema: schema_of::<Printed>(),
        prompt_snippet: "Append messages and other entries to a session",
        prompt_guidelines: &[],
    }
}
