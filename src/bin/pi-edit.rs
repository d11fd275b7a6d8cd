//! pi-edit: the edit tool as a command.

use std::process::ExitCode;

use pi_toolbox::cli;
use pi_toolbox::tools::edit::Edit;

fn main() -> ExitCode {
    cli::run_tool::<Edit>()
}
