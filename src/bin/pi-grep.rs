//! pi-grep: the grep tool as a command.

use std::process::ExitCode;

use pi_toolbox::cli;
use pi_toolbox::tools::grep::Grep;

fn main() -> ExitCode {
    cli::run_tool::<Grep>()
}
