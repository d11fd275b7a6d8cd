//! pi-session-fork: sessions of their own, and the one they come from left alone.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{Answer, World};
use crate::session_file::{context_of, message, session};

fn fork(world: &World, words: &[&str]) -> Answer {
    world.command("pi-session-fork").arg("s.jsonl").args(words).run()
}

#[test]
fn s07_fork_before_the_first_reply_has_one_header_and_leaves_its_parent_alone() {
    let world = World::new();
    let content = session(&[&message("a", None, "one")]);
    let source = world.file("s.jsonl", &content);
    let forked: Value = fork(&world, &["--to", "f.jsonl"]).ok().json();
    let expected = json!({"path": world.path("f.jsonl"), "id": forked["id"], "parent_session": source, "leaf_id": "a", "entries": 1});
    assert_eq!(forked, expected);
    assert_ne!(forked["id"], "demo1");
    let run = world.command("pi-session-append").arg("f.jsonl").stdin(message("b", Some("a"), "two"));
    run.run().ok();
    let text = world.text("f.jsonl");
    assert_eq!((text.matches(r#""type":"session""#).count(), text.lines().count()), (1, 3));
    assert_eq!(world.text("s.jsonl"), content);

    let empty: Value = fork(&world, &["--before", "a", "--to", "e.jsonl"]).ok().json();
    assert_eq!(
        (&empty["leaf_id"], &empty["entries"], &empty["editor_text"]),
        (&Value::Null, &json!(0), &json!("one"))
    );
    world.command("pi-session-append").args(["e.jsonl", "--user", "other"]).run().ok();
    let text = world.text("e.jsonl");
    assert_eq!((text.matches(r#""type":"session""#).count(), text.lines().count()), (1, 2));
    assert!(text.contains(&format!(r#""parentSession":"{}""#, source.display())));
    assert_eq!(world.text("s.jsonl"), content);
}

#[test]
fn s08_fork_keeps_the_compaction_boundary() {
    let world = World::new();
    let compaction = r#"{"type":"compaction","id":"k","parentId":"b","timestamp":"2026-01-01T00:00:02.000Z","summary":"sum","firstKeptEntryId":"b","tokensBefore":9}"#;
    let entries = [
        message("a", None, "one"),
        message("b", Some("a"), "two"),
        compaction.to_owned(),
        message("c", Some("k"), "three"),
    ];
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let source = world.file("s.jsonl", session(&entries));
    fork(&world, &["--at", "c", "--to", "f.jsonl"]).ok();
    let context = context_of(&world.path("f.jsonl"));
    assert_eq!(context.len(), 3, "summary, b, c");
    assert_eq!(context, context_of(&source));
}

#[test]
fn a_fork_goes_where_it_is_told() {
    let world = World::new();
    let source =
        world.file("s.jsonl", session(&[&message("a", None, "one"), &message("b", Some("a"), "two")]));
    let place = |words: &[&str]| -> String {
        fork(&world, words).ok().json::<Value>()["path"].as_str().unwrap().to_owned()
    };
    let beside = place(&[]);
    assert_eq!(Path::new(&beside).parent(), source.parent());
    assert_eq!(fs::metadata(&beside).unwrap().permissions().mode() & 0o777, 0o600);
    let told = place(&["--at", "a", "--session-dir", "new/dir"]);
    assert_eq!(Path::new(&told).parent(), Some(&*world.path("new/dir")));
    let text = fork(&world, &["--before", "b", "--to", "t.jsonl", "-o", "text"]).ok();
    text.stdout_is(format!("{}\n", world.path("t.jsonl").display()));
    fork(&world, &["--to", "t.jsonl"]).fails(1, "io", "EEXIST");
    fork(&world, &["--at", "gone"]).fails(2, "invalid_arguments", "Invalid entry ID for forking");
    fork(&world, &["--at", "a", "--before", "b"]).status(2);
    world.file("s.jsonl", "my notes\n");
    fork(&world, &[]).fails(1, "unsupported_file", "not a valid pi session");
    fork(&world, &["--cwd", "."]).fails(1, "unsupported_file", "Cannot fork");
}

#[test]
fn a_fork_for_another_folder_takes_every_branch_along() {
    let world = World::new();
    let entries =
        [message("a", None, "one"), message("b", Some("a"), "two"), message("c", Some("a"), "three")];
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    world.file("s.jsonl", session(&entries));
    let forked: Value = fork(&world, &["--cwd", "other"]).ok().json();
    let path = Path::new(forked["path"].as_str().unwrap()).to_owned();
    let encoded = world.path("other").to_str().unwrap().trim_start_matches('/').replace('/', "-");
    assert_eq!(path.parent(), Some(&*world.home().join(format!(".pi/agent/sessions/--{encoded}--"))));
    let text = fs::read_to_string(path).unwrap();
    let (header, rest) = text.split_once('\n').unwrap();
    assert_eq!(serde_json::from_str::<Value>(header).unwrap()["cwd"], json!(world.path("other")));
    assert_eq!(rest.lines().collect::<Vec<_>>(), entries);
    assert_eq!((&forked["entries"], &forked["leaf_id"]), (&json!(3), &json!("c")));
}

#[test]
fn arguments_come_as_json_too_and_answers_fit_the_schema() {
    let world = World::new();
    world.file("s.jsonl", session(&[&message("a", None, "one")]));
    let declaration: Value = world.command("pi-session-fork").arg("--schema").run().ok().json();
    let prints = jsonschema::validator_for(&declaration["outputSchema"]).unwrap();
    for arguments in [json!({"session": "s.jsonl"}), json!({"session": "s.jsonl", "before": "a"})] {
        let answer: Value = world.command("pi-session-fork").json(arguments).run().ok().json();
        assert!(prints.is_valid(&answer), "{answer}");
    }
    let both = json!({"session": "s.jsonl", "before": "a", "cwd": "x"});
    world.command("pi-session-fork").json(both).run().fails(2, "invalid_arguments", "different forks");
}
