//! pi-tools: print the declarations of the tools for a model or a protocol.

use std::process::ExitCode;

use pi_toolbox::cli;
use pi_toolbox::tools::declare::Declare;

fn main() -> ExitCode {
    cli::run_tool::<Declare>()
}
