//! bash: one shell command, to its end. Owns what a command is given and how its end is told; running
//! it is `fs::process`'s, keeping its output the accumulator's.

mod answer;
mod observer;
mod shell;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::error::{Code, Error, Fault};
use crate::fs::process::{Cause, Ended};
use crate::tool::accumulator::MAX_FULL_BYTES;
use crate::tool::arguments::Text;
use crate::tool::truncate::{MAX_BYTES, MAX_LINES, Truncation, format_size};
use crate::tool::{Example, Outcome, Tool};
use observer::Collector;
pub use observer::Observer;

/// Seconds a timeout may have at most: what pi's timers can hold.
pub const MAX_TIMEOUT: f64 = 2_147_483.647;
/// The highest status pi-bash leaves with: 255 would stop xargs.
const HIGHEST_STATUS: u8 = 254;
/// The exit status for a command that ran out of time, as timeout(1) has it.
const TIMED_OUT: u8 = 124;
const LOG_PREFIX: &str = "pi-bash";

/// The bash tool.
pub struct Bash;

/// Arguments of bash.
#[derive(Debug, clap::Args, Deserialize, JsonSchema)]
pub struct Input {
    /// Shell command to run
    #[arg(value_name = "COMMAND")]
    command: Text,
    /// Seconds after which the command and all it started are killed; no limit if left out
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    timeout: Option<f64>,
}

/// What the command line or an embedding program can set.
#[derive(Debug, Default, clap::Args)]
pub struct Options {
    /// Shell to use: a path, or a name on PATH [default: /bin/bash, else bash, else sh]
    #[arg(long, value_name = "SHELL")]
    pub shell: Option<PathBuf>,
    /// Commands to run first, on a line of their own in the same shell
    #[arg(long, value_name = "COMMANDS", allow_hyphen_values = true)]
    pub prefix: Option<OsString>,
    /// Copy the output to standard error as it comes
    #[arg(long)]
    pub stream: bool,
    /// Tell the command nothing of the agent's session it runs in
    // Hidden: a call from the command line belongs to no session.
    #[arg(long, hide = true)]
    pub hide_session: bool,
    /// Who sees the output as it comes.
    #[arg(skip)]
    pub observer: Option<Arc<dyn Observer>>,
}

/// What a command did.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Ran {
    /// Standard output and standard error, in the order they were written; of more than 1 MiB the
    /// first and last half.
    pub output: String,
    /// Whether the middle of the output was left out.
    pub truncated: bool,
    /// File with all output, when a model is not shown all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_output_path: Option<String>,
    /// Exit status: 128 + N when signal N killed the command, 124 when it ran out of time.
    pub exit_code: u8,
    /// Seconds from start to end.
    pub wall_time_seconds: f64,
    /// Whether the command ran out of time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
}

/// What a user interface shows beside the text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// What was left out of the text.
    pub truncation: Truncation,
    /// File with all output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_output_path: Option<String>,
}

impl Tool for Bash {
    type Input = Input;
    type Options = Options;
    type Details = Details;
    type Structured = Ran;

    const NAME: &'static str = "bash";
    const TITLE: &'static str = "Run command";
    const ABOUT: &'static str = "run a shell command, bounded in time and output, with all it starts";
    const PROMPT_SNIPPET: &'static str =
        "Run shell commands: builds, tests, git, anything without a tool of its own";
    const PROMPT_GUIDELINES: &'static [&'static str] =
        &["Commands find the session they run in, and its model, in the variables PI_SESSION_ID, \
         PI_SESSION_FILE, PI_PROVIDER, PI_MODEL and PI_REASONING_LEVEL."];
    const EXAMPLES: &'static [Example] = &[
        Example {
            purpose: "Run the tests, five minutes at most",
            command: "pi-bash --timeout 300 'make test'",
        },
        Example {
            purpose: "Watch while it runs, keep the answer",
            command: "pi-bash --stream 'make' >answer.json",
        },
        Example {
            purpose: "Just the output, as the command gave it",
            command: "pi-bash 'git log --oneline' | jq -rj .output",
        },
    ];
    const EXIT_STATUS: &'static [(&'static str, &'static str)] = &[
        ("N", "the command's own exit status; 254 for 255, which would stop xargs (exit_code tells)"),
        ("128+N", "signal N killed the command"),
        ("124", "the command ran out of time"),
        ("125", "the command could not be started; stdout holds one line {\"error\": …}"),
        ("2", "bad usage or arguments; nothing was run"),
    ];
    const FAILURE_STATUS: u8 = 125;
    const OUTLIVES_PIPES: bool = true;

    fn description() -> String {
        format!(
            "Run a command in a shell, in the working directory. Standard input is empty. The answer is \
             standard output and standard error together: the last {MAX_LINES} lines or {}, whichever is \
             less; all of a longer output is kept in a file whose path is given. A timeout in seconds \
             kills the command and everything it started.",
            format_size(MAX_BYTES)
        )
    }

    fn run(input: Input, options: &Options, context: &Context) -> Result<Outcome<Self>, Error> {
        let timeout = input.timeout.map(checked).transpose()?;
        let command = shell::command(input.command.0, timeout, options, context)?;
        let mut collector = Collector::new(&context.temp_dir, options.observer.as_deref());
        let ended = if context.cancel.is_cancelled() {
            Ended { cause: Cause::Cancelled, exit: None, wall_time: Duration::ZERO }
        } else {
            context.backend.run(&command, &mut collector, &context.cancel)?
        };
        Ok(answer::outcome(collector.finish(), ended, input.timeout, context))
    }
}

/// Why a command was not run.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Not a time one can wait.
    #[error("Invalid timeout: must be a finite number of seconds")]
    Timeout,
    /// Longer than a timer can hold.
    #[error("Invalid timeout: maximum is {MAX_TIMEOUT} seconds")]
    LongTimeout,
    /// A NUL byte ends an argument; what stands behind it would be lost.
    #[error("The command holds a NUL byte, and no program can be given one; write \\0 or $'\\0' instead")]
    Nul,
    /// There is no directory to run it in.
    #[error("Working directory does not exist: {}\nCannot execute bash commands.", .0.display())]
    NoDirectory(PathBuf),
    /// What should be the directory is something else.
    #[error("Working directory is not a directory: {}\nCannot execute bash commands.", .0.display())]
    NotDirectory(PathBuf),
    /// The shell asked for is not there.
    #[error("Custom shell path not found: {}", .0.display())]
    NoSuchShell(PathBuf),
    /// No shell is there.
    #[error("No shell found: neither /bin/bash, nor bash or sh on PATH; name one with --shell")]
    NoShell,
}

impl Fault for Refusal {
    fn code(&self) -> Code {
        match self {
            Self::Timeout | Self::LongTimeout | Self::Nul => Code::InvalidArguments,
            Self::NoDirectory(_) | Self::NotDirectory(_) | Self::NoSuchShell(_) | Self::NoShell => {
                Code::NotStarted
            }
        }
    }
}

fn checked(seconds: f64) -> Result<Duration, Refusal> {
    if !seconds.is_finite() || seconds <= 0.0 {
        return Err(Refusal::Timeout);
    }
    if seconds > MAX_TIMEOUT {
        return Err(Refusal::LongTimeout);
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// The doc comment of [`Ran::output`] names the limit that the accumulator keeps.
const _: () = assert!(MAX_FULL_BYTES == 1024 * 1024);

#[cfg(test)]
mod tests;
