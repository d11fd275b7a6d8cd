//! What a batch does when tools break, threads are scarce, or the reader is gone.

use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};

use super::*;
use crate::tool::format::Effects;
use crate::tools::{self, Declared};

#[test]
fn a_tool_that_breaks_is_an_error_result_and_costs_no_other() {
    let breaking = Entry { prepare: |_| Ok(Box::new(|_| panic!("bad {}", 7))), ..tool("break") };
    let tools = [breaking, tool("fine")];
    let results = run(&tools, &["break", "fine"], &context());
    assert!(results[0].is_error && results[0].duration_ms.is_none());
    assert_eq!(
        text(&results[0]),
        "The tool break broke down (bad 7). That is a fault of the tool, not of the call."
    );
    assert_eq!(text(&results[1]), "ran");
}

#[test]
fn after_a_cancel_nothing_starts_and_all_are_answered() {
    let context = context();
    context.cancel.cancel();
    let results = run(&[tool("fine")], &["fine", "absent", "fine"], &context);
    assert_eq!(results.len(), 3);
    for result in results {
        assert_eq!((text(&result), result.duration_ms), ("Operation aborted", None));
    }
}

#[test]
fn an_answer_that_cannot_be_handed_on_cancels_the_rest() {
    let context = context();
    let request = request(&["fine"; 50]);
    let one = NonZeroUsize::MIN;
    let batch = Batch { tools: &[tool("fine")], parallel: one, context: &context };
    let mut handed = 0;
    let gone = batch.run(&request, |_| {
        handed += 1;
        Err(io::ErrorKind::BrokenPipe.into())
    });
    assert_eq!(gone.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    assert_eq!(handed, 1);
    assert!(context.cancel.is_cancelled());
}

#[test]
fn no_more_calls_run_at_a_time_than_allowed() {
    static RUNNING: AtomicUsize = AtomicUsize::new(0);
    static TOO_MANY: AtomicBool = AtomicBool::new(false);
    let counting = Entry {
        prepare: |_| {
            Ok(Box::new(|_| {
                if RUNNING.fetch_add(1, Ordering::SeqCst) >= 3 {
                    TOO_MANY.store(true, Ordering::SeqCst);
                }
                thread::yield_now();
                RUNNING.fetch_sub(1, Ordering::SeqCst);
                ToolResult::default()
            }))
        },
        ..tool("count")
    };
    let context = context();
    let three = NonZeroUsize::new(3).unwrap();
    let batch = Batch { tools: &[counting], parallel: three, context: &context };
    let mut handed = 0;
    batch
        .run(&request(&["count"; 200]), |_| {
            handed += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!(handed, 200);
    assert!(!TOO_MANY.load(Ordering::SeqCst));
}

#[test]
fn calls_share_a_lane_when_they_write_one_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), "").unwrap();
    std::os::unix::fs::symlink("a", folder.path().join("link")).unwrap();
    let context = context().in_dir(folder.path());
    let batch = Batch { tools: tools::ALL, parallel: PARALLEL, context: &context };
    let calls = [
        ("write", json!({"path": "a"})),
        ("read", json!({"path": "a"})),
        ("edit", json!({"path": "./link"})),
        ("write", json!({"path": "new/b"})),
        ("bash", json!({"command": "echo > a"})),
        ("write", json!({"path": 7})),
        ("edit", json!({"path": "@new//b"})),
        ("write", json!({"content": "no path"})),
        ("write", json!({"path": "7"})),
        ("dig", json!({"path": "a"})),
    ];
    let calls: Vec<_> = calls.into_iter().map(|(name, arguments)| call(name, arguments)).collect();
    let lanes = [vec![0, 2], vec![1], vec![3, 6], vec![4], vec![5, 8], vec![7], vec![9]];
    assert_eq!(batch.lanes(&calls), lanes);
}

fn tool(name: &'static str) -> Entry {
    Entry {
        declared: Declared { name, effects: Effects::Reads, ..tools::DECLARED[0] },
        prepare: |_| {
            Ok(Box::new(|_| ToolResult {
                content: vec![crate::message::Content::text("ran")],
                ..ToolResult::default()
            }))
        },
        ..tools::ALL[0]
    }
}

fn context() -> Context {
    Context { cancel: crate::cancel::Cancel::new(), ..Context::from_process(None) }
}

fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall { id: "id".to_owned(), name: name.to_owned(), arguments, arguments_error: None }
}

fn request(names: &[&str]) -> Request {
    Request { calls: names.iter().map(|name| call(name, json!({}))).collect(), is_cut: false }
}

fn run(tools: &[Entry], names: &[&str], context: &Context) -> Vec<ToolResultMessage> {
    let mut results = Vec::new();
    let batch = Batch { tools, parallel: PARALLEL, context };
    let handed = batch.run(&request(names), |result| {
        results.push(result.clone());
        Ok(())
    });
    handed.unwrap();
    results
}

fn text(result: &ToolResultMessage) -> &str {
    match result.content.as_slice() {
        [crate::message::Content::Text { text }] => text,
        other => panic!("{other:?}"),
    }
}
