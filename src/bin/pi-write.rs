//! pi-write: the write tool as a command.

use std::process::ExitCode;

use pi_toolbox::cli;
use pi_toolbox::tools::write::Write;

fn main() -> ExitCode {
    cli::run_tool::<Write>()
}
