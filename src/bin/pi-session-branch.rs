//! pi-session-branch: go to another place of a session's tree.

use std::process::ExitCode;

use pi_toolbox::cli;
use pi_toolbox::cli::session::branch::Branch;

fn main() -> ExitCode {
    cli::run_tool::<Branch>()
}
