//! pi-session-show: show the tree of a session.

use std::process::ExitCode;

use pi_toolbox::cli;
use pi_toolbox::cli::session::show::Show;

fn main() -> ExitCode {
    cli::run_tool::<Show>()
}
