//! pi-session-check: find what is wrong with a session file.

use std::process::ExitCode;

use pi_toolbox::cli;
use pi_toolbox::cli::session::check::Check;

fn main() -> ExitCode {
    cli::run_tool::<Check>()
}
