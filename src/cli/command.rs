//! The command line of a tool: built from its `Input` and `Options`, read into a plain plan.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::Common;
use super::output::{Format, Output};
use super::terminal::Color;
use crate::context::Environment;
use crate::error::{Code, Error};
use crate::tool::{Example, Tool};

/// What a command line asks for.
pub(super) struct Line<T: Tool> {
    pub(super) format: Format,
    pub(super) color: Color,
    pub(super) schema: bool,
    pub(super) directory: Option<PathBuf>,
    pub(super) jobs: Jobs<T::Input>,
    pub(super) options: T::Options,
}

/// Where the arguments of the jobs come from.
pub(super) enum Jobs<I> {
    /// From the flags: one job.
    Flags(I),
    /// JSON on the command line.
    Json(OsString),
    /// A file with JSON values.
    File(PathBuf),
    /// A stream of JSON values on stdin.
    Stdin,
    /// `--schema` asked for none.
    None,
}

/// Why there is no plan.
pub(super) struct Stop(pub(super) clap::Error, pub(super) Vec<OsString>);

/// The clap definition of a tool's command: the one source of help, man page and completions.
pub fn of<T: Tool>() -> Command {
    let command = T::Options::augment_args(T::Input::augment_args(Command::new(format!("pi-{}", T::NAME))));
    // The doc comments of the argument structs would otherwise pass for the command's description.
    Common::augment_args(command)
        .about(capitalised(T::ABOUT))
        .long_about(None)
        .version(env!("CARGO_PKG_VERSION"))
        .max_term_width(100)
        .after_help(after_help(T::EXAMPLES, &exit_statuses::<T>()))
}

/// The exit statuses of a tool's command: common ones first.
pub fn exit_statuses<T: Tool>() -> Vec<(&'static str, &'static str)> {
    if T::EXIT_STATUS.is_empty() {
        vec![
            ("0", "done"),
            ("1", "the job failed; stdout holds one line {\"error\": …}"),
            ("2", "bad usage or arguments; nothing was touched"),
        ]
    } else {
        T::EXIT_STATUS.to_vec()
    }
}

pub(super) fn parse<T: Tool>(words: Vec<OsString>, environment: &Environment) -> Result<Line<T>, Stop> {
    let mut command = of::<T>();
    let by_json = asks_for_json(&words);
    if by_json {
        command = command.mut_args(|argument| argument.required(false));
    }
    let stop = |error: clap::Error| Stop(error, words.clone());
    let mut matches = command.try_get_matches_from_mut(&words).map_err(stop)?;
    let common = Common::from_arg_matches_mut(&mut matches).map_err(stop)?;
    let format = match common.output {
        Some(format) => format,
        None => Format::from_environment(environment)
            .map_err(|message| stop(command.error(clap::error::ErrorKind::InvalidValue, message)))?,
    };
    let given_by_flag = common.args.as_ref().and_then(|_| first_flag_of::<T::Input>(&matches));
    let options = T::Options::from_arg_matches_mut(&mut matches).map_err(stop)?;
    let jobs = match (common.args, given_by_flag) {
        (Some(_), Some(flag)) => {
            let message = format!("--args holds all arguments of the call; leave out '{flag}'");
            return Err(stop(command.error(clap::error::ErrorKind::ArgumentConflict, message)));
        }
        (Some(json), None) => Jobs::from_args(json),
        (None, _) if common.schema => Jobs::None,
        (None, _) => {
            let mut input = T::Input::from_arg_matches_mut(&mut matches).map_err(stop)?;
            T::complete(&mut input, &options)
                .map_err(|message| stop(command.error(clap::error::ErrorKind::ValueValidation, message)))?;
            Jobs::Flags(input)
        }
    };
    Ok(Line {
        format,
        color: common.color,
        schema: common.schema,
        directory: common.directory,
        jobs,
        options,
    })
}

impl<I> Jobs<I> {
    fn from_args(json: OsString) -> Self {
        match json.to_str() {
            Some("-") => Self::Stdin,
            Some(text) if text.starts_with('@') => Self::File(PathBuf::from(&text[1..])),
            _ => Self::Json(json),
        }
    }
}

impl Stop {
    /// Shows help, version or the usage error; gives the exit status.
    pub(super) fn report(self, name: &str, usage_status: u8, environment: &Environment) -> ExitCode {
        let Self(error, words) = self;
        if !error.use_stderr() {
            return match error.print() {
                Ok(()) => ExitCode::SUCCESS,
                Err(_) => ExitCode::FAILURE,
            };
        }
        // clap's first paragraph: the fault, and on lines of their own what it is about.
        let shown = error.to_string();
        let (fault, usage) = shown.split_once("\n\n").unwrap_or((&shown, ""));
        let message = fault.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        let message = message.strip_prefix("error: ").unwrap_or(&message);
        let mut output = Output::new(name.to_owned(), Format::Json, Color::Never, environment);
        output.message(&format!("{message}\n\n{}", usage.trim_end()));
        if !std::io::stdout().is_terminal() && !wants_text(&words, environment) {
            let _ = output.failure_line(&Error::new(Code::InvalidArguments, message));
        }
        let _ = std::io::stderr().flush();
        ExitCode::from(usage_status)
    }
}

/// Whether the words hand the arguments over as JSON (or want none), so that no flag is required.
fn asks_for_json(words: &[OsString]) -> bool {
    words
        .iter()
        .skip(1)
        .take_while(|word| *word != "--")
        .any(|word| word == "--args" || word == "--schema" || word.to_string_lossy().starts_with("--args="))
}

/// Whether a command line that could not be read wanted text and not JSON.
fn wants_text(words: &[OsString], environment: &Environment) -> bool {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    words.iter().any(|word| word == "-otext" || word == "-o=text" || word == "--output=text")
        || words.windows(2).any(|pair| (pair[0] == "-o" || pair[0] == "--output") && pair[1] == "text")
        || environment.get("PI_OUTPUT").is_some_and(|format| format == "text")
}

/// The first flag of the tool's own arguments that the command line gave.
fn first_flag_of<I: Args>(matches: &ArgMatches) -> Option<String> {
    let own = I::augment_args(Command::new("own"));
    own.get_arguments()
        .find(|argument| {
            let id = argument.get_id().as_str();
            matches.ids().any(|known| known.as_str() == id)
                && matches.value_source(id) == Some(ValueSource::CommandLine)
        })
        .map(|argument| argument.get_long().map_or_else(|| argument.to_string(), |long| format!("--{long}")))
}

/// What stands below the options: examples to copy, and the exit statuses.
pub(super) fn after_help(examples: &[Example], exit_statuses: &[(&str, &str)]) -> String {
    let mut text = String::from("Examples:\n");
    for example in examples {
        let _ = writeln!(text, "  # {}\n  {}", example.purpose, example.command);
    }
    text.push_str("\nExit status:\n");
    for (status, meaning) in exit_statuses {
        let _ = writeln!(text, "  {status:<5} {meaning}");
    }
    text
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
