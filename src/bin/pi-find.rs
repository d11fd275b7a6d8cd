//! pi-find: the find tool as a command.

use std::process::ExitCode;

use pi_toolbox::cli;
use pi_toolbox::tools::find::Find;

fn main() -> ExitCode {
    cli::run_tool::<Find>()
}
