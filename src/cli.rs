//! The command contract, once for every command: arguments, output, errors, exit status, signals.

pub mod call;
pub mod command;
mod jobs;
mod json_style;
mod live;
mod output;
pub mod pages;
pub mod session;
mod signal;
mod stdin;
mod terminal;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

pub use live::LiveCopy;
pub use output::{Format, Output};
pub use signal::Pipe;

use crate::context::Context;
use crate::error::{Code, Error};
use crate::tool::{Declaration, Tool};

/// The options that every tool command has.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Common options")]
pub struct Common {
    /// What to print: the structured content, the whole result, or the text a model reads
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    pub output: Option<Format>,
    /// The tool call's arguments as JSON: a value, @FILE, or - for a stream of values on stdin
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    pub args: Option<OsString>,
    /// Print the tool's declaration and leave
    #[arg(long)]
    pub schema: bool,
    /// Resolve relative paths against DIR
    #[arg(short = 'C', value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// When to colour and lay out JSON for people
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = terminal::Color::Auto)]
    pub color: terminal::Color,
}

/// The whole life of a tool command.
pub fn run_tool<T: Tool>() -> ExitCode {
    run_tool_with::<T>(|_| ())
}

/// The same for a tool with options that no flag can set: `complete` sets them.
pub fn run_tool_with<T: Tool>(complete: impl FnOnce(&mut T::Options)) -> ExitCode {
    let context = Context::from_process(None);
    signal::prepare(&context.cancel, if T::OUTLIVES_PIPES { Pipe::Ignore } else { Pipe::Default });
    let mut line = match command::parse::<T>(context.arguments(), &context.environment) {
        Ok(line) => line,
        Err(stop) => return stop.report(&format!("pi-{}", T::NAME), T::USAGE_STATUS, &context.environment),
    };
    complete(&mut line.options);
    let mut output = Output::new(format!("pi-{}", T::NAME), line.format, line.color, &context.environment);
    let status = if line.schema {
        output.value(&Declaration::of::<T>()).map(|()| 0)
    } else {
        let context = match line.directory {
            Some(directory) => context.clone().in_dir(context.cwd.join(directory)),
            None => context.clone(),
        };
        jobs::run::<T>(line.jobs, &line.options, &context, &mut output)
    };
    let status = status.unwrap_or_else(|error| output.lost(&error, T::FAILURE_STATUS));
    signal::finish(&context.cancel);
    ExitCode::from(status)
}

/// The exit status of a failed call.
fn status_of<T: Tool>(error: &Error) -> u8 {
    match error.code {
        Code::InvalidArguments | Code::InvalidPattern | Code::UnknownTool => T::USAGE_STATUS,
        _ => T::FAILURE_STATUS,
    }
}
