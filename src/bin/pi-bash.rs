//! pi-bash: the bash tool as a command.

use std::process::ExitCode;
use std::sync::Arc;

use pi_toolbox::cli;
use pi_toolbox::tools::bash::Bash;

fn main() -> ExitCode {
    cli::run_tool_with::<Bash>(|options| {
        if options.stream {
            options.observer = Some(Arc::new(cli::LiveCopy::to_stderr()));
        }
    })
}
