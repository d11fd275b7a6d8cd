//! pi-session-export: write a session as one HTML page or as Markdown.

use std::process::ExitCode;

use pi_toolbox::cli;

fn main() -> ExitCode {
    cli::session::export::run()
}
