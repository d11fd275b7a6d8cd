//! pi-bash: the bash tool as a command.

use std::process::ExitCode;

use pi_toolbox::cli;
use pi_toolbox::tools::bash::Bash;

fn main() -> ExitCode {
    cli::run_tool::<Bash>()
}
