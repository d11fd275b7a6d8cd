//! What a command prints: one line of JSON a job on stdout, words for people on stderr.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::os::fd::AsFd;

use serde::Serialize;
use serde_json::value::RawValue;

use super::json_style::Colored;
use super::terminal::{self, Color};
use crate::context::Environment;
use crate::error::{Error, describe};
use crate::json;
use crate::message::{Content, ToolResult};
use crate::tool::{Outcome, Tool};

/// What to print of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// The structured content, one line of JSON
    Json,
    /// The whole result object: content, details, structuredContent, isError
    Result,
    /// The text a model would read, raw
    Text,
}

impl Format {
    /// The default format: `PI_OUTPUT`, else JSON. `Err` says what is wrong with the variable.
    pub(super) fn from_environment(environment: &Environment) -> Result<Self, String> {
        match environment.get("PI_OUTPUT").map(|value| value.to_string_lossy()) {
            None => Ok(Self::Json),
            Some(value) => match value.as_ref() {
                "" | "json" => Ok(Self::Json),
                "result" => Ok(Self::Result),
                "text" => Ok(Self::Text),
                other => Err(format!("PI_OUTPUT is '{other}'; it takes json, result or text")),
            },
        }
    }
}

/// The two streams of a command.
pub struct Output {
    command: String,
    format: Format,
    style: Style,
    stdout: BufWriter<StdoutLock<'static>>,
    to_terminal: bool,
}

#[derive(Clone, Copy)]
enum Style {
    /// One line.
    Line,
    /// Laid out.
    Pretty,
    /// Laid out and coloured.
    Colored,
}

impl Output {
    /// The output of the command `command`.
    pub fn new(command: String, format: Format, color: Color, environment: &Environment) -> Self {
        let stdout = io::stdout().lock();
        let to_terminal = stdout.is_terminal();
        let style = match (color.is_on(to_terminal, environment), to_terminal) {
            (true, _) => Style::Colored,
            (false, true) => Style::Pretty,
            (false, false) => Style::Line,
        };
        Self { command, format, style, stdout: BufWriter::with_capacity(64 * 1024, stdout), to_terminal }
    }

    /// Prints one value as JSON.
    pub fn value<V: Serialize + ?Sized>(&mut self, value: &V) -> io::Result<()> {
        match self.style {
            Style::Line => serde_json::to_writer(&mut self.stdout, value)?,
            // By way of a value, so that parts which come as finished JSON are laid out, too.
            Style::Pretty => {
                serde_json::to_writer_pretty(&mut self.stdout, &serde_json::to_value(value)?)?;
            }
            Style::Colored => {
                let mut writer = serde_json::Serializer::with_formatter(&mut self.stdout, Colored::default());
                serde_json::to_value(value)?.serialize(&mut writer)?;
            }
        }
        self.stdout.write_all(b"\n")?;
        self.stdout.flush()
    }

    /// Prints a JSON text as it stands, which must hold no line breaks; on a terminal it is laid out.
    pub(super) fn json(&mut self, text: &[u8]) -> io::Result<()> {
        match (self.style, json::parse(text)) {
            (Style::Pretty | Style::Colored, Ok(value)) => self.value(&value),
            _ => self.bytes_line(text),
        }
    }

    /// Prints a line as it is.
    pub(super) fn bytes_line(&mut self, line: &[u8]) -> io::Result<()> {
        self.stdout.write_all(line)?;
        self.stdout.write_all(b"\n")?;
        self.stdout.flush()
    }

    /// Whether exactly the structured content is printed, one line a value.
    pub(super) fn is_plain_json(&self) -> bool {
        self.format == Format::Json && matches!(self.style, Style::Line)
    }

    /// Lets a job write its answer itself, from any thread.
    pub(super) fn streamed<R>(
        &mut self,
        job: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<R>,
    ) -> io::Result<R> {
        self.stdout.flush()?;
        let stdout = File::from(self.stdout.get_ref().as_fd().try_clone_to_owned()?);
        let mut out = BufWriter::with_capacity(64 * 1024, stdout);
        let result = job(&mut out)?;
        out.flush()?;
        Ok(result)
    }

    /// Prints warnings.
    pub(super) fn warn(&mut self, warnings: &[String]) {
        for warning in warnings {
            self.message(warning);
        }
    }

    /// Prints a result in the format asked for, and its warnings.
    pub(super) fn outcome<T: Tool>(&mut self, outcome: &Outcome<T>) -> io::Result<()> {
        self.warn(&outcome.warnings);
        if let Some(bytes) = &outcome.verbatim {
            self.stdout.write_all(bytes)?;
            return self.stdout.flush();
        }
        match (self.format, &outcome.documents) {
            (Format::Text, _) if outcome.content.is_empty() => {
                let color = matches!(self.style, Style::Colored);
                T::draw(&outcome.structured, color, &mut self.stdout)?;
                self.stdout.flush()
            }
            (Format::Text, _) => self.text(&outcome.content, outcome.raw_text.as_deref()),
            (Format::Json, Some(documents)) => {
                documents.iter().try_for_each(|document| self.value::<RawValue>(document))
            }
            (Format::Json, None) => self.value(&outcome.structured),
            (Format::Result, _) => self.value(&Whole {
                content: &drawn(outcome)?,
                details: outcome.details.as_ref(),
                structured_content: &outcome.structured,
                is_error: outcome.is_error,
            }),
        }
    }

    /// Prints the failure of a job, on both streams.
    pub fn failure(&mut self, error: &Error) -> io::Result<()> {
        self.message(&error.message);
        self.failure_line(error)
    }

    pub(super) fn failure_line(&mut self, error: &Error) -> io::Result<()> {
        #[derive(Serialize)]
        struct Failed<'a> {
            error: &'a Error,
        }
        match self.format {
            Format::Json => self.value(&Failed { error }),
            Format::Result => self.value(&ToolResult::failure(error)),
            Format::Text => Ok(()),
        }
    }

    /// Says something to people.
    pub fn message(&mut self, message: &str) {
        let _ = writeln!(io::stderr().lock(), "{}: {}", self.command, terminal::printable(message));
    }

    /// The answer could not be written: says so unless the reader simply left. The exit status.
    pub(super) fn lost(&mut self, error: &io::Error, failure_status: u8) -> u8 {
        const KILLED_BY_SIGPIPE: u8 = 141;
        if error.kind() == io::ErrorKind::BrokenPipe {
            return KILLED_BY_SIGPIPE;
        }
        self.message(&format!("{}, write to standard output", describe(error)));
        failure_status
    }

    fn text(&mut self, content: &[Content], raw: Option<&[u8]>) -> io::Result<()> {
        let joined;
        let text = match raw {
            Some(raw) => raw,
            None => {
                let blocks = content.iter().filter_map(|block| match block {
                    Content::Text { text } => Some(text.as_str()),
                    Content::Image { .. } => None,
                });
                joined = blocks.collect::<Vec<_>>().join("\n");
                joined.as_bytes()
            }
        };
        if self.to_terminal {
            self.stdout.write_all(&terminal::without_controls(text))?;
        } else {
            self.stdout.write_all(text)?;
        }
        if !text.is_empty() && !text.ends_with(b"\n") {
            self.stdout.write_all(b"\n")?;
        }
        self.stdout.flush()
    }
}

/// The content, or the drawing in its place.
fn drawn<T: Tool>(outcome: &Outcome<T>) -> io::Result<Cow<'_, [Content]>> {
    if !outcome.content.is_empty() {
        return Ok(Cow::Borrowed(&outcome.content));
    }
    let mut text = Vec::new();
    T::draw(&outcome.structured, false, &mut text)?;
    let text = String::from_utf8_lossy(&text);
    Ok(if text.is_empty() { Cow::default() } else { Cow::Owned(vec![Content::text(text)]) })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Whole<'a, D, S> {
    content: &'a [Content],
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a D>,
    structured_content: &'a S,
    is_error: bool,
}
