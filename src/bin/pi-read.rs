//! pi-read: the read tool as a command.

use std::process::ExitCode;

use pi_toolbox::cli;
use pi_toolbox::tools::read::Read;

fn main() -> ExitCode {
    cli::run_tool::<Read>()
}
