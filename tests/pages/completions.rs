//! completions/: what bash, zsh and fish offer behind a command's name.

use std::process::Command as Process;

use clap_complete::Shell;
use pi_toolbox::cli::pages::{self, Page};

use super::{holds_only, is_committed};

#[test]
fn pages_of_completions_are_up_to_date() {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let scripts = scripts(shell);
        for (name, script) in &scripts {
            is_committed(&format!("completions/{shell}/{name}"), script);
        }
        holds_only(&format!("completions/{shell}"), scripts.into_iter().map(|(name, _)| name).collect());
    }
}

#[test]
fn pages_of_completions_are_read_by_bash() {
    let source_all = "for f; do . \"$f\" || exit; done; complete -p pi-ls >/dev/null";
    is_read_by(Shell::Bash, &["--norc", "-u", "-c", source_all, "-"]);
}

#[test]
fn pages_of_completions_are_read_by_zsh() {
    is_read_by(Shell::Zsh, &["-f", "-c", "for f; do zsh -n \"$f\" || exit; done", "-"]);
}

#[test]
fn pages_of_completions_are_read_by_fish() {
    is_read_by(Shell::Fish, &["--no-config", "-c", "for f in $argv; fish --no-execute $f; or exit 1; end"]);
}

/// The scripts of all commands under the names by which the shell looks for them.
fn scripts(shell: Shell) -> Vec<(String, String)> {
    let script = |page: &Page| {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut page.command.clone(), page.name(), &mut script);
        String::from_utf8(script).unwrap()
    };
    let name = |page: &Page| match shell {
        Shell::Zsh => format!("_{}", page.name()),
        Shell::Fish => format!("{}.fish", page.name()),
        _ => page.name().to_owned(),
    };
    pages::all().iter().map(|page| (name(page), script(page))).collect()
}

/// Checks that the shell, whose package has its name, goes through all scripts without a word.
#[track_caller]
fn is_read_by(shell: Shell, arguments: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let scripts = scripts(shell);
    for (name, script) in &scripts {
        std::fs::write(folder.path().join(name), script).unwrap();
    }
    let output = Process::new(shell.to_string())
        .args(arguments)
        .args(scripts.iter().map(|(name, _)| format!("./{name}")))
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .output()
        .unwrap_or_else(|error| panic!("{shell}: {error}; install the package {shell}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{}: {said}", output.status);
}
