//! Sessions against what pi 1.6.0 recorded: one test per operation, over the synthetic and the real files.

mod case;
mod compare;
mod read_ops;
mod rules;
mod sha256;

use case::Run;

/// Runs every recorded case of an operation and says how it went.
fn vectors(operation: &str, run: Run) {
    case::run_all(operation, run).report();
}

#[test]
fn vectors_sessions_load() {
    vectors("load", read_ops::load);
}

#[test]
fn vectors_sessions_parse() {
    vectors("parse", read_ops::parse);
}

#[test]
fn vectors_sessions_header() {
    vectors("header", read_ops::header);
}

#[test]
fn vectors_sessions_tree() {
    vectors("tree", read_ops::tree);
}

#[test]
fn vectors_sessions_path() {
    vectors("path", read_ops::path);
}

#[test]
fn vectors_sessions_branch() {
    vectors("branch", read_ops::branch);
}

#[test]
fn vectors_sessions_children() {
    vectors("children", read_ops::children);
}

#[test]
fn vectors_sessions_state() {
    vectors("state", read_ops::state);
}

#[test]
fn vectors_sessions_context_entries() {
    vectors("contextEntries", read_ops::context_entries);
}

#[test]
fn vectors_sessions_projection() {
    vectors("projection", read_ops::projection);
}

#[test]
fn vectors_sessions_llm() {
    vectors("llm", read_ops::llm);
}
