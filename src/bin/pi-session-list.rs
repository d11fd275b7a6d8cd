//! pi-session-list: list the sessions of a directory, the most recently active first.

use std::process::ExitCode;

use pi_toolbox::cli;
use pi_toolbox::cli::session::list::List;

fn main() -> ExitCode {
    cli::run_tool::<List>()
}
