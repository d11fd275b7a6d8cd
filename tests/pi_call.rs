//! pi-call: the tool calls of a message, run side by side, answered in call order.

use std::io::pipe;
use std::os::unix::process::ExitStatusExt as _;

use nix::sys::signal::Signal;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::coprocess::Coprocess;
use crate::harness::{Answer, World};

/// A line of output, as strict as a session that stores it.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ToolResult {
    role: String,
    tool_call_id: String,
    tool_name: String,
    content: Vec<Text>,
    details: Option<Value>,
    is_error: bool,
    duration_ms: Option<u64>,
    timestamp: u64,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Text {
    r#type: String,
    text: String,
}

impl ToolResult {
    fn text(&self) -> &str {
        &self.content[0].text
    }
}

#[test]
fn results_are_messages_in_call_order() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let calls = [
        // The first cannot end before the last has: they run at the same time.
        call("1", "bash", json!({"command": "until test -e go; do sleep 0.01; done; echo slow"})),
        call("2", "read", json!({"path": "a.txt"})),
        call("3", "bash", json!({"command": "exit 3"})),
        call("4", "bash", json!({"command": "touch go"})),
    ];
    let results = answered(world.command("pi-call").stdin(message(&calls)).run().ok());
    let ids: Vec<_> = results.iter().map(|result| result.tool_call_id.as_str()).collect();
    assert_eq!(ids, ["1", "2", "3", "4"]);
    let texts: Vec<_> = results.iter().map(ToolResult::text).collect();
    assert_eq!(texts[..2], ["slow\n", "one\n"]);
    assert!(texts[2].ends_with("Command exited with code 3"), "{texts:?}");
    let failed: Vec<_> = results.iter().map(|result| result.is_error).collect();
    assert_eq!(failed, [false, false, true, false]);
    for result in &results {
        assert_eq!(result.role, "toolResult");
        assert!(result.duration_ms.is_some());
        assert!(result.timestamp > 1_600_000_000_000);
    }
    assert_eq!(results[0].tool_name, "bash");
}

#[test]
fn an_answer_is_there_as_soon_as_it_and_all_before_it_are() {
    let world = World::new();
    let calls = [
        call("1", "bash", json!({"command": "echo first"})),
        call("2", "bash", json!({"command": "until test -e go; do sleep 0.01; done"})),
    ];
    let mut command = Coprocess::start(world.command("pi-call"));
    command.send(&message(&calls));
    assert_eq!(command.answer()["toolCallId"], "1");
    world.file("go", "");
    assert_eq!(command.answer()["toolCallId"], "2");
    assert_eq!(command.end(), 0);
}

#[test]
fn several_messages_are_answered_one_after_another() {
    let world = World::new();
    let mut command = Coprocess::start(world.command("pi-call"));
    for id in ["1", "2"] {
        command.send(&message(&[call(id, "ls", json!({}))]));
        assert_eq!(command.answer()["toolCallId"], id);
    }
    command.send("[]\n");
    command.send(&call("3", "ls", json!({})).to_string());
    assert_eq!(command.answer()["toolCallId"], "3");
    assert_eq!(command.end(), 0);
}

#[test]
fn e13_writes_to_one_file_under_any_name_happen_in_call_order() {
    let world = World::new();
    world.file("folder/a.txt", "0");
    std::os::unix::fs::symlink("folder/a.txt", world.path("alias")).unwrap();
    let names = ["folder/a.txt", "alias", "./folder/../folder/a.txt", "@alias"];
    for _ in 0..10 {
        std::fs::write(world.path("alias"), "0").unwrap();
        let edits: Vec<_> = (0..40)
            .map(|step| {
                let edits = json!([{"oldText": step.to_string(), "newText": (step + 1).to_string()}]);
                // Any of the forms in which a model sends edits.
                let edits = if step % 2 == 0 { edits } else { json!(edits.to_string()) };
                call(&step.to_string(), "edit", json!({"path": names[step % names.len()], "edits": edits}))
            })
            .chain([call("last", "edit", json!({"path": "alias", "oldText": "40", "newText": "done"}))])
            .collect();
        let results = answered(world.command("pi-call").stdin(message(&edits)).run().ok());
        let failed: Vec<_> = results.iter().filter(|result| result.is_error).collect();
        assert!(failed.is_empty(), "{failed:?}");
        assert_eq!(world.text("folder/a.txt"), "done");
    }
}

#[test]
fn writes_to_a_file_that_is_not_there_yet_queue_too() {
    let world = World::new();
    std::fs::create_dir(world.path("folder")).unwrap();
    std::os::unix::fs::symlink("folder", world.path("link")).unwrap();
    let content = |last: &str| format!("{last}{}", "x".repeat(200_000));
    for round in 0..10 {
        let path = |step: usize| format!("{}/new-{round}/a.txt", ["folder", "link"][step % 2]);
        let writes: Vec<_> = (0..12)
            .map(|step| {
                call("w", "write", json!({"path": path(step), "content": content(&step.to_string())}))
            })
            .collect();
        answered(world.command("pi-call").stdin(message(&writes)).run().ok());
        assert!(world.text(path(0)).starts_with("11x"));
    }
}

#[test]
fn a02_one_failing_call_costs_no_other() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let calls = [
        call("1", "bash", json!({"command": "grep nope a.txt"})),
        call("2", "teleport", json!({})),
        call("3", "read", json!({"limit": 3})),
        call("4", "bash", json!({"command": "echo ok"})),
        call("5", "read", json!({"path": "a.txt", "limit": "1"})),
    ];
    let results = answered(world.command("pi-call").stdin(message(&calls)).run().ok());
    let summary: Vec<_> =
        results.iter().map(|result| (result.is_error, result.duration_ms.is_some())).collect();
    assert_eq!(summary, [(true, true), (true, false), (true, false), (false, true), (false, true)]);
    assert_eq!(results[1].text(), "Tool teleport not found");
    assert_eq!(results[1].details, Some(json!({})));
    let invalid = "Validation failed for tool \"read\":\n  - path: missing\n\nReceived arguments:\n{\n  \"limit\": 3\n}";
    assert_eq!(results[2].text(), invalid);
    assert_eq!(results[3].text(), "ok\n");
}

#[test]
fn a04_broken_arguments_are_quoted_and_not_run() {
    let world = World::new();
    let mut broken = call("1", "write", json!({}));
    broken["argumentsError"] =
        json!("expected ',' at 12\n\nReceived arguments:\n{\"path\":\"a\" \"content\":\"b\"}");
    let results = answered(world.command("pi-call").stdin(message(&[broken])).run().ok());
    let expected = "Invalid arguments for tool \"write\": expected ',' at 12\n\nReceived arguments:\n\
                    {\"path\":\"a\" \"content\":\"b\"}";
    assert_eq!(results[0].text(), expected);
    assert!(results[0].is_error && results[0].duration_ms.is_none());
    assert!(world.tree().is_empty());
}

#[test]
fn a07_calls_of_a_reply_that_was_cut_off_fail_without_running() {
    let world = World::new();
    let calls = [call("1", "write", json!({"path": "a", "content": "half"})), call("2", "ls", json!({}))];
    let cut = json!({"role": "assistant", "stopReason": "length", "content": calls});
    let results = answered(world.command("pi-call").stdin(cut.to_string()).run().ok());
    assert_eq!(results.len(), 2);
    for result in results {
        assert!(result.is_error && result.duration_ms.is_none());
        assert!(result.text().contains("output limit"), "{result:?}");
        assert_eq!(result.details, Some(json!({})));
    }
    assert!(world.tree().is_empty());
}

#[test]
fn a_reply_that_failed_is_neither_run_nor_answered() {
    for reason in ["error", "aborted", "pending"] {
        let world = World::new();
        let calls = [call("1", "write", json!({"path": "a", "content": "x"}))];
        let failed = json!({"role": "assistant", "stopReason": reason, "content": calls});
        let run = world.command("pi-call").stdin(failed.to_string()).run();
        run.fails(2, "invalid_arguments", &format!("stopReason \"{reason}\""));
        assert!(world.tree().is_empty());
    }
}

#[test]
fn what_is_no_message_is_refused_before_anything_runs() {
    let bad = [
        ("", "standard input is empty"),
        ("rubbish", "not valid JSON"),
        (r#"{"role":"user","content":[]}"#, "role is \"user\""),
        (r#"{"role":"assistant"}"#, "list of blocks"),
        (
            r#"[{"type":"toolCall","id":"1","name":"write","arguments":{"path":"a","content":""}},{"name":"ls"}]"#,
            "content[1] is no tool call: missing field `id`",
        ),
    ];
    for (text, part) in bad {
        let world = World::new();
        world.command("pi-call").stdin(text).run().fails(2, "invalid_arguments", part);
        assert!(world.tree().is_empty(), "{text}");
    }
}

#[test]
fn a_message_without_calls_has_no_answer() {
    let world = World::new();
    let text =
        json!({"role": "assistant", "stopReason": "stop", "content": [{"type": "text", "text": "done"}]});
    world.command("pi-call").stdin(text.to_string()).run().ok().stdout_is("");
}

#[test]
fn w04_half_a_surrogate_pair_in_a_message_is_accepted() {
    let world = World::new();
    let text = r#"{"type":"toolCall","id":"1","name":"write","arguments":{"path":"s","content":"a\ud83dz"}}"#;
    assert!(!answered(world.command("pi-call").stdin(text).run().ok())[0].is_error);
    assert_eq!(world.text("s"), "a\u{fffd}z");
}

#[test]
fn tools_that_are_not_allowed_are_not_found() {
    let world = World::new();
    let calls = [call("1", "write", json!({"path": "a", "content": "x"})), call("2", "ls", json!({}))];
    let run = world.command("pi-call").args(["--tools", "read,ls"]).stdin(message(&calls)).run().ok();
    let results = answered(run);
    assert_eq!(results[0].text(), "Tool write not found");
    assert_eq!(results[1].text(), "(empty directory)");
    let run = world.command("pi-call").args(["--tools", "read,dig"]).stdin(message(&calls)).run();
    run.fails(2, "unknown_tool", "no tool is called 'dig'");
}

#[test]
fn one_job_at_a_time_runs_in_call_order() {
    let world = World::new();
    let calls: Vec<_> =
        (0..5).map(|step| call("c", "bash", json!({"command": format!("echo {step} >> order")}))).collect();
    answered(world.command("pi-call").args(["--jobs", "1"]).stdin(message(&calls)).run().ok());
    assert_eq!(world.text("order"), "0\n1\n2\n3\n4\n");
    world.command("pi-call").args(["--jobs", "0"]).run().fails(2, "invalid_arguments", "--jobs");
}

#[test]
fn dash_c_is_where_the_tools_work() {
    let world = World::new();
    world.file("folder/a.txt", "below\n");
    let calls =
        [call("1", "read", json!({"path": "a.txt"})), call("2", "bash", json!({"command": "cat a.txt"}))];
    let run = world.command("pi-call").args(["-C", "folder"]).stdin(message(&calls)).run().ok();
    assert!(answered(run).iter().all(|result| result.text() == "below\n"));
}

#[test]
fn a01_a_request_to_stop_leaves_no_call_without_an_answer() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let world = World::new();
        let calls = [
            call("1", "bash", json!({"command": "echo begun; touch started; sleep 600; touch never"})),
            call("2", "bash", json!({"command": "touch never"})),
            call("3", "read", json!({"path": "started"})),
        ];
        let mut command = Coprocess::start(world.command("pi-call").args(["--jobs", "1"]));
        command.send(&message(&calls));
        await_file(&world, "started");
        command.signal(signal);
        let running = command.answer();
        assert_eq!(running["content"][0]["text"], "begun\n\n\nCommand aborted");
        assert!(running["durationMs"].is_u64());
        for id in ["2", "3"] {
            let result = command.answer();
            assert_eq!(result["toolCallId"], id);
            assert_eq!(result["content"][0]["text"], "Operation aborted");
            assert_eq!(result["isError"], true);
            assert_eq!(result.get("durationMs"), None);
        }
        assert_eq!(command.wait().signal(), Some(signal as i32));
        assert!(!world.path("never").exists());
    }
}

#[test]
fn a_request_to_stop_ends_the_wait_for_a_message() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let world = World::new();
        let mut command = Coprocess::start(world.command("pi-call"));
        command.send(&call("1", "ls", json!({})).to_string());
        command.answer();
        command.signal(signal);
        assert_eq!(command.wait().signal(), Some(signal as i32));
    }
}

#[test]
fn u01_a_reader_that_leaves_ends_what_still_runs_quietly() {
    let world = World::new();
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let calls = [
        call("1", "bash", json!({"command": "until test -e running; do sleep 0.01; done"})),
        call("2", "bash", json!({"command": "touch running; sleep 600; touch never"})),
    ];
    let run = world.command("pi-call").stdin(message(&calls)).run_into(writer);
    run.status(141).stderr_is("");
    assert!(!world.path("never").exists());
}

#[test]
fn answers_that_do_not_fit_on_the_disk_are_a_clear_error() {
    let world = World::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let run = world.command("pi-call").stdin(message(&[call("1", "ls", json!({}))])).run_into(full);
    run.status(1).stderr_has("ENOSPC").stderr_has("standard output");
}

#[test]
fn bad_usage_is_a_line_on_stdout_too() {
    let world = World::new();
    world.command("pi-call").arg("--no-such-flag").run().fails(2, "invalid_arguments", "unexpected argument");
    world.command("pi-call").arg("reply.json").run().fails(2, "invalid_arguments", "unexpected argument");
    let help = world.command("pi-call").arg("--help").run().ok();
    let text = String::from_utf8_lossy(&help.stdout).into_owned();
    assert!(text.contains("Exit status:\n") && text.contains("Examples:\n"), "{text}");
}

fn call(id: &str, name: &str, arguments: Value) -> Value {
    json!({"type": "toolCall", "id": id, "name": name, "arguments": arguments})
}

/// The message of a model that says something and calls tools.
fn message(calls: &[Value]) -> String {
    let content: Vec<_> =
        [json!({"type": "text", "text": "let me see"})].iter().chain(calls).cloned().collect();
    json!({"role": "assistant", "stopReason": "toolUse", "content": content}).to_string()
}

#[track_caller]
fn answered(run: Answer) -> Vec<ToolResult> {
    run.lines()
}

/// Waits until a command under test has made a file. Nobody tells a stranger of that, so it has to look.
#[track_caller]
fn await_file(world: &World, name: &str) {
    for _ in 0..6000 {
        if world.path(name).exists() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("{name} never came");
}
