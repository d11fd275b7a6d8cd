//! pi-session-context: show what a model is to see of a session.

use std::process::ExitCode;

use pi_toolbox::cli;
use pi_toolbox::cli::session::context::SessionContext;

fn main() -> ExitCode {
    cli::run_tool::<SessionContext>()
}
