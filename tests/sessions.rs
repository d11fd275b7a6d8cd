//! Sessions against what pi 1.6.0 recorded: one test per operation, over the synthetic and the real files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod appending;
mod case;
mod compare;
mod read_ops;
mod rules;
mod script_ops;
mod sha256;
mod storage_ops;
mod write_ops;

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

#[test]
fn vectors_sessions_open() {
    vectors("open", write_ops::open);
}

#[test]
fn vectors_sessions_usage() {
    vectors("usage", write_ops::usage);
}

#[test]
fn vectors_sessions_fork_messages() {
    vectors("forkMessages", write_ops::fork_messages);
}

#[test]
fn vectors_sessions_branched() {
    vectors("branched", write_ops::branched);
}

#[test]
fn vectors_sessions_export_jsonl() {
    vectors("exportJsonl", write_ops::export_jsonl);
}

#[test]
fn vectors_sessions_fork_from() {
    vectors("forkFrom", write_ops::fork_from_op);
}

#[test]
fn vectors_sessions_fork() {
    vectors("fork", write_ops::fork);
}

#[test]
fn vectors_sessions_navigate() {
    vectors("navigate", write_ops::navigate);
}

#[test]
fn vectors_sessions_script() {
    vectors("script", script_ops::script);
}

#[test]
fn vectors_sessions_info() {
    vectors("info", storage_ops::info);
}

#[test]
fn vectors_sessions_list() {
    vectors("list", storage_ops::list_op);
}

#[test]
fn vectors_sessions_find_most_recent() {
    vectors("findMostRecent", storage_ops::find_most_recent);
}

#[test]
fn vectors_sessions_find_by_id() {
    vectors("findById", storage_ops::find_by_id);
}

#[test]
fn vectors_sessions_continue_recent() {
    vectors("continueRecent", storage_ops::continue_recent);
}

#[test]
fn vectors_sessions_resolve() {
    vectors("resolve", storage_ops::resolve);
}

#[test]
fn vectors_sessions_session_dir() {
    vectors("sessionDir", storage_ops::session_dir);
}

#[test]
fn vectors_sessions_missing_cwd() {
    vectors("missingCwd", storage_ops::missing_cwd);
}

#[test]
fn vectors_sessions_have_no_operation_that_nobody_runs() {
    let run = [
        "load",
        "parse",
        "header",
        "tree",
        "path",
        "branch",
        "children",
        "state",
        "contextEntries",
        "projection",
        "llm",
        "open",
        "usage",
        "forkMessages",
        "branched",
        "exportJsonl",
        "forkFrom",
        "fork",
        "navigate",
        "script",
        "info",
        "list",
        "findMostRecent",
        "findById",
        "continueRecent",
        "resolve",
        "sessionDir",
        "missingCwd",
    ];
    for (operation, (others, all)) in case::operations() {
        if others > 0 {
            println!("not for this layer: {others} of {all} cases of {operation}");
        }
        assert!(others == all || run.contains(&&*operation), "nobody runs {operation}");
    }
}
