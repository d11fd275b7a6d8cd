//! The command pi-session-export: a session as a document, into a file or onto standard output.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::error::ErrorKind;
use clap::{Args, Command, FromArgMatches};
use serde::Serialize;

use super::target::{self, Target};
use crate::cli::command::{Stop, after_help};
use crate::cli::output::{Format, Output};
use crate::cli::signal::{self, Pipe};
use crate::cli::terminal::{self, Color};
use crate::context::{Context, Environment};
use crate::error::{self, Code, Error};
use crate::fs::path;
use crate::session::export::{Failure, Subject};
use crate::tool::Example;

const NAME: &str = "pi-session-export";
const FAILED: u8 = 1;
const BAD_USAGE: u8 = 2;

/// The exit statuses of pi-session-export and their meaning.
pub const EXIT_STATUS: &[(&str, &str)] = &[
    ("0", "the document is written"),
    ("1", "there is no such session, or the document could not be written"),
    ("2", "bad usage; nothing was touched"),
];

/// The shape of what pi-session-export prints.
pub const PRINTS: &str = "{path, path_base64?, format, bytes, entries}";

/// Command lines to copy.
pub const EXAMPLES: &[Example] = &[
    Example {
        purpose: "Make a page of a session and open it",
        command: "xdg-open \"$(pi-session-export 0198a2c4 -o text)\"",
    },
    Example {
        purpose: "Read a session as Markdown",
        command: "pi-session-export session.jsonl -o md | less",
    },
    Example {
        purpose: "Write every branch as Markdown",
        command: "pi-session-export session.jsonl --all --to session.md",
    },
];

#[derive(clap::Args)]
struct Line {
    #[command(flatten)]
    target: Target,
    /// File to write, - for standard output [default: pi-session-NAME.html or .md in the working directory]
    #[arg(long, value_name = "OUT")]
    to: Option<PathBuf>,
    /// What to write [default: md when OUT ends with .md, else html]
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<Document>,
    /// Write every branch, not only the path to the leaf (a page always holds every branch)
    #[arg(long)]
    all: bool,
    /// End at the entry ID in place of the session's own leaf
    #[arg(long, value_name = "ID")]
    leaf: Option<String>,
    /// What to print: the report, the path of the file written, or in place of a file the document itself
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    output: Option<Printed>,
    /// Resolve relative paths against DIR
    #[arg(short = 'C', value_name = "DIR")]
    directory: Option<PathBuf>,
    /// When to colour and lay out JSON for people
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
enum Document {
    /// One self-contained page
    Html,
    /// Markdown
    Md,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Printed {
    /// One line of JSON about the file written
    Json,
    /// The path of the file written
    Text,
    /// The page: short for --format html --to -
    Html,
    /// The Markdown: short for --format md --to -
    Md,
}

/// Where the document goes.
enum Place {
    Stdout,
    File { named: PathBuf, path: PathBuf },
}

/// What a command line asks for.
struct Plan {
    document: Document,
    place: Option<PathBuf>,
    to_stdout: bool,
    format: Format,
}

#[derive(Serialize)]
struct Report {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_base64: Option<String>,
    format: Document,
    bytes: u64,
    entries: usize,
}

/// The clap definition of pi-session-export: the one source of help, man page and completions.
pub fn command() -> Command {
    Line::augment_args(Command::new(NAME))
        .about("Write a session as one HTML page or as Markdown")
        .long_about(
            "Write a session as one HTML page or as Markdown.\n\nThe page needs nothing but a browser and no \
             network. It shows the tree of all entries with search and filters, and the chosen path with \
             Markdown, highlighted code, foldable tool calls, diffs and pictures; every entry has an address \
             of its own, and the session's file can be taken out of it again byte for byte. Nothing of a \
             session can run as script in it, or become active HTML in the Markdown.",
        )
        .version(env!("CARGO_PKG_VERSION"))
        .max_term_width(100)
        .after_help(after_help(EXAMPLES, EXIT_STATUS))
}

/// The whole life of pi-session-export.
pub fn run() -> ExitCode {
    let context = Context::from_process(None);
    signal::prepare(&context.cancel, Pipe::Default);
    let words = context.arguments();
    let stop = |error| Stop(error, words.clone()).report(NAME, BAD_USAGE, &context.environment);
    let line = command().try_get_matches_from(&words).and_then(|matches| Line::from_arg_matches(&matches));
    let planned = line.and_then(|line| line.plan(&context.environment).map(|plan| (line, plan)));
    let (line, plan) = match planned {
        Ok(planned) => planned,
        Err(error) => return stop(error),
    };
    let mut output = Output::new(NAME.to_owned(), plan.format, line.color, &context.environment);
    let there = match &line.directory {
        Some(directory) => context.clone().in_dir(context.cwd.join(directory)),
        None => context.clone(),
    };
    let status = match line.export(plan, &there, &mut output) {
        Ok(Ok(())) => Ok(0),
        Ok(Err(error)) => output.failure(&error).map(|()| FAILED),
        Err(lost) => Err(lost),
    };
    let status = status.unwrap_or_else(|error| output.lost(&error, FAILED));
    signal::finish(&context.cancel);
    ExitCode::from(status)
}

impl Line {
    fn plan(&self, environment: &Environment) -> Result<Plan, clap::Error> {
        let refuse = |kind, message: String| Err(command().error(kind, message));
        let printed = match self.output {
            Some(printed) => printed,
            None => match Format::from_environment(environment) {
                Ok(Format::Text) => Printed::Text,
                Ok(Format::Json | Format::Result) => Printed::Json,
                Err(message) => return refuse(ErrorKind::InvalidValue, message),
            },
        };
        let whole = match printed {
            Printed::Html => Some(Document::Html),
            Printed::Md => Some(Document::Md),
            Printed::Json | Printed::Text => None,
        };
        let is_dash = self.to.as_deref() == Some(Path::new("-"));
        if whole.is_some() && self.to.is_some() && !is_dash {
            let message =
                "-o html and -o md print the document; leave out --to, or name the format with --format";
            return refuse(ErrorKind::ArgumentConflict, message.to_owned());
        }
        if whole.is_some() && self.format.is_some_and(|format| Some(format) != whole) {
            return refuse(ErrorKind::ArgumentConflict, "--format and -o name different formats".to_owned());
        }
        let extension = self.to.as_deref().and_then(Path::extension);
        let is_md = extension.is_some_and(|extension| extension == "md" || extension == "markdown");
        let document = whole.or(self.format).unwrap_or(if is_md { Document::Md } else { Document::Html });
        let to_stdout = whole.is_some() || is_dash;
        let format = if to_stdout || printed == Printed::Text { Format::Text } else { Format::Json };
        Ok(Plan { document, place: self.to.clone(), to_stdout, format })
    }

    /// Writes the document; the outer error: standard output is lost.
    fn export(&self, plan: Plan, context: &Context, output: &mut Output) -> io::Result<Result<(), Error>> {
        let source = match target::find(&self.target, context) {
            Ok(source) => source,
            Err(error) => return Ok(Err(error)),
        };
        let subject = match Subject::open(&source, self.leaf.as_deref(), context) {
            Ok(subject) => subject,
            Err(error) => return Ok(Err(error.into())),
        };
        let (named, file) = match plan.place(&source, context) {
            Place::Stdout => return self.print(plan.document, &subject, output),
            Place::File { named, path } => (named, path),
        };
        let mut bytes = Vec::new();
        let written = self
            .write(plan.document, &subject, &mut bytes)
            .map_err(|failure| in_general(failure, &file))
            .and_then(|()| store(&source, &file, &bytes, context));
        if let Err(error) = written {
            return Ok(Err(error));
        }
        let report = Report {
            path: named.to_string_lossy().into_owned(),
            path_base64: named.to_str().is_none().then(|| STANDARD.encode(path::bytes(&named))),
            format: plan.document,
            bytes: bytes.len() as u64,
            entries: subject.entries(),
        };
        match plan.format {
            Format::Text => output.streamed(|out| out.write_all(&[path::bytes(&named), b"\n"].concat()))?,
            Format::Json | Format::Result => output.value(&report)?,
        }
        Ok(Ok(()))
    }

    fn write(&self, document: Document, subject: &Subject, out: &mut dyn Write) -> Result<(), Failure> {
        match document {
            Document::Html => {
                subject.write_html(concat!("pi-session-export ", env!("CARGO_PKG_VERSION")), out)
            }
            Document::Md => subject.write_markdown(self.all, out),
        }
    }

    /// The document on standard output; a terminal is kept from obeying it.
    fn print(
        &self,
        document: Document,
        subject: &Subject,
        output: &mut Output,
    ) -> io::Result<Result<(), Error>> {
        let is_terminal = io::stdout().is_terminal();
        output.streamed(|out| {
            let mut held = Vec::new();
            let out: &mut dyn Write = out;
            let written = match is_terminal {
                true => self.write(document, subject, &mut held),
                false => self.write(document, subject, out),
            };
            match written {
                Ok(()) => out.write_all(&terminal::without_controls(&held)).map(Ok),
                Err(Failure::Write(lost)) => Err(lost),
                Err(Failure::Session(error)) => Ok(Err(error.into())),
            }
        })
    }
}

impl Plan {
    /// The file to write: the one named, else one named after the session in the working directory.
    fn place(&self, source: &Path, context: &Context) -> Place {
        if self.to_stdout {
            return Place::Stdout;
        }
        if let Some(named) = &self.place {
            return Place::File { named: named.clone(), path: path::resolve(named, context) };
        }
        let mut name = std::ffi::OsString::from("pi-session-");
        name.push(source.file_stem().unwrap_or_default());
        name.push(match self.document {
            Document::Html => ".html",
            Document::Md => ".md",
        });
        let path = context.cwd.join(&name);
        Place::File { named: path.clone(), path }
    }
}

/// Puts the document in its place; never in that of the session.
fn store(source: &Path, file: &Path, bytes: &[u8], context: &Context) -> Result<(), Error> {
    let backend = &context.backend;
    let lock = backend.lock(file, &context.cancel)?;
    let is_source = match (backend.metadata(source), backend.metadata(file)) {
        (Ok(source), Ok(file)) => source.version == file.version,
        _ => false,
    };
    if is_source {
        let message = format!("'{}' is the session itself; name another file", file.display());
        return Err(Error::new(Code::InvalidArguments, message));
    }
    backend.replace(file, &[bytes], None, &context.cancel)?;
    drop(lock);
    Ok(())
}

fn in_general(failure: Failure, file: &Path) -> Error {
    match failure {
        Failure::Session(error) => error.into(),
        Failure::Write(source) => {
            let message = format!("{}, write '{}'", error::describe(&source), file.display());
            Error::new(error::code_of(&source), message)
        }
    }
}
