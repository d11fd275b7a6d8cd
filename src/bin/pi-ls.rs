//! pi-ls: the ls tool as a command.

use std::process::ExitCode;

use pi_toolbox::cli;
use pi_toolbox::tools::ls::Ls;

fn main() -> ExitCode {
    cli::run_tool::<Ls>()
}
