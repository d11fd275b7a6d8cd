//! Manual pages, completions and the README are made from the commands' definitions and checked
//! against them. `UPDATE_PAGES=1 cargo test pages` writes them anew.

mod completions;
mod install;
mod manual;
mod mdoc;
mod readme;

use std::path::{Path, PathBuf};

/// A file of the repository.
fn in_repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Compares a committed file with what it should hold, or writes it when asked to.
#[track_caller]
fn is_committed(name: &str, expected: &str) {
    let path = in_repository(name);
    if std::env::var_os("UPDATE_PAGES").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, expected).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let difference = similar::TextDiff::from_lines(committed.as_str(), expected);
    assert!(
        committed == expected,
        "{name} is out of date; write it anew with `UPDATE_PAGES=1 cargo test pages`\n{}",
        difference.unified_diff().header("committed", "from the code")
    );
}

/// Checks that a folder holds the files that were made for it and no others.
#[track_caller]
fn holds_only(folder: &str, mut expected: Vec<String>) {
    let mut present: Vec<String> = std::fs::read_dir(in_repository(folder))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    present.sort();
    expected.sort();
    assert_eq!(present, expected, "in {folder}");
}
