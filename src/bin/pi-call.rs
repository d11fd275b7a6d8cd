//! pi-call: run the tool calls of an assistant message, in parallel.

use std::process::ExitCode;

use pi_toolbox::cli;

fn main() -> ExitCode {
    cli::call::run()
}
