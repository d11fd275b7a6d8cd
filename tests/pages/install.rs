//! The Makefile: `make install` puts commands, pages and completions where a system looks for them.

use std::process::Command as Process;

use pi_toolbox::cli::pages;

use super::in_repository;
use crate::harness::{World, bin_dir};

#[test]
fn pages_and_commands_are_installed_and_removed() {
    let world = World::new();
    make(&world, "install");
    let mut expected: Vec<String> = pages::all()
        .iter()
        .flat_map(|page| {
            let name = page.name();
            [
                format!("bin/{name}"),
                format!("share/man/man1/{name}.1"),
                format!("share/bash-completion/completions/{name}"),
                format!("share/zsh/site-functions/_{name}"),
                format!("share/fish/vendor_completions.d/{name}.fish"),
            ]
        })
        .chain(["share/man/man7/pi-toolbox.7".to_owned()])
        .collect();
    expected.sort();
    assert_eq!(files(&world), expected);
    let version = format!("pi-ls {}\n", env!("CARGO_PKG_VERSION"));
    world.program(world.path("bin/pi-ls")).arg("--version").run().ok().stdout_is(version);

    make(&world, "uninstall");
    assert_eq!(files(&world), Vec::<String>::new());
}

/// Installs the commands that stand built already into the working directory of `world`.
#[track_caller]
fn make(world: &World, target: &str) {
    let output = Process::new("make")
        .arg(target)
        .arg(format!("PREFIX={}", world.dir().display()))
        .arg(format!("BUILT={}", bin_dir().display()))
        .args(["CARGO=true", "DESTDIR="])
        .current_dir(in_repository("."))
        .output()
        .unwrap_or_else(|error| panic!("make: {error}; install the package make"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn files(world: &World) -> Vec<String> {
    world.tree().into_iter().filter(|name| !world.path(name).is_dir()).collect()
}
