//! pi-session-fork: make a session of its own out of another one.

use std::process::ExitCode;

use pi_toolbox::cli;
use pi_toolbox::cli::session::fork::Fork;

fn main() -> ExitCode {
    cli::run_tool::<Fork>()
}
