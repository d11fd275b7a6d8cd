//! pi-session-context: the projection, the request made of it, and messages whose bytes survive.

use serde_json::{Value, json};

use crate::harness::World;
use crate::pi_session_show::{message, session};

fn texts(shown: &Value) -> Vec<&Value> {
    shown["messages"].as_array().unwrap().iter().map(|message| &message["content"]).collect()
}

#[test]
fn unknown_members_and_their_spelling_survive() {
    let world = World::new();
    let own = r#"{"role":"user","content":"hi","z":1.0,"a":12345678901234567890123,"s":"\ud800"}"#;
    let line = format!(r#"{{"type":"message","id":"a","parentId":null,"message":{own}}}"#);
    world.file("s.jsonl", session(&[line]));
    let shown = world.command("pi-session-context").arg("s.jsonl").run().ok();
    assert!(String::from_utf8_lossy(&shown.stdout).contains(own), "{}", shown.report());
}

#[test]
fn a_request_has_the_prompt_and_the_tools_beside_the_messages() {
    let world = World::new();
    let system = r#"{"type":"message","id":"s","parentId":null,"message":{"role":"system","content":"Be kind.","sections":{"x":"And brief."},"toolsAdded":[{"name":"t"}]}}"#;
    let reply = r#"{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":[],"provider":"p","model":"m","stopReason":"stop","usage":{"totalTokens":7}}}"#;
    world.file("s.jsonl", session(&[system.to_owned(), message("a", Some("s"), "hi"), reply.to_owned()]));
    let run = |words: &[&str]| -> Value {
        world.command("pi-session-context").arg("s.jsonl").args(words).run().ok().json()
    };
    let request = run(&["--llm", "--tools"]);
    assert_eq!(request["systemPrompt"], "Be kind.\n\nAnd brief.");
    assert_eq!(request["tools"], json!([{"name": "t"}]));
    assert_eq!(request["messages"].as_array().unwrap().len(), 2);
    assert_eq!((&request["tokens"], &request["model"]["modelId"]), (&json!(7), &json!("m")));
    assert_eq!(texts(&run(&["--leaf", "a"])).len(), 2);
    assert_eq!(run(&[])["messages"].as_array().unwrap().len(), 3);
}

#[test]
fn what_is_printed_fits_the_schema() {
    let world = World::new();
    world.file("s.jsonl", session(&[message("a", None, "hi")]));
    let declared: Value = world.command("pi-session-context").arg("--schema").run().ok().json();
    let validator = jsonschema::validator_for(&declared["outputSchema"]).unwrap();
    let shown: Value =
        world.command("pi-session-context").args(["s.jsonl", "--llm", "--tools"]).run().ok().json();
    assert!(validator.is_valid(&shown), "{shown}");
    assert_eq!(shown["tools"].as_array().unwrap().len(), pi_toolbox::tools::ALL.len());
}

#[test]
fn s04_a_run_of_nul_bytes_does_not_end_the_load() {
    let world = World::new();
    let lines = [message("a", None, "one"), "\0".repeat(300), message("b", Some("a"), "two")];
    world.file("s.jsonl", session(&lines));
    let shown = world.command("pi-session-context").arg("s.jsonl").run().status(0);
    assert_eq!(texts(&shown.json()), ["one", "two"]);
    shown.stderr_has("pi-session-context: line 3: ");
}

#[test]
fn s13_content_that_is_null_counts_as_empty() {
    let world = World::new();
    let null = r#"{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01Z","message":{"role":"assistant","content":null,"timestamp":1}}"#;
    world.file("s.jsonl", session(&[null.to_owned(), message("b", Some("a"), "hi")]));
    let shown: Value = world.command("pi-session-context").arg("s.jsonl").run().ok().json();
    assert_eq!(texts(&shown), [&json!([]), &json!("hi")]);
}

#[test]
fn s17_a_path_of_sixty_thousand_entries_is_shown_whole() {
    let world = World::new();
    let line = |number: usize| {
        let parent = number.checked_sub(1).map(|parent| parent.to_string());
        message(&number.to_string(), parent.as_deref(), "m")
    };
    world.file("s.jsonl", session(&(0..60_000).map(line).collect::<Vec<_>>()));
    let shown: Value = world.command("pi-session-context").arg("s.jsonl").run().ok().json();
    assert_eq!(shown["messages"].as_array().unwrap().len(), 60_000);
}
