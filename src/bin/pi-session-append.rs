//! pi-session-append: append messages and other entries to a session.

use std::process::ExitCode;

use pi_toolbox::cli;

fn main() -> ExitCode {
    cli::session::append::run()
}
