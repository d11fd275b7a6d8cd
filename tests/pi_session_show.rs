//! pi-session-show: the tree as JSON and as a drawing, what is left out, and files that are odd.

use serde_json::{Value, json};

use crate::harness::World;

pub const HEADER: &str =
    r#"{"type":"session","version":3,"id":"demo1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/tmp"}"#;

/// A user message.
pub fn message(id: &str, parent: Option<&str>, text: &str) -> String {
    json!({
        "type": "message", "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:01.000Z",
        "message": {"role": "user", "content": text, "timestamp": 1},
    })
    .to_string()
}

/// A session of these lines.
pub fn session(lines: &[String]) -> String {
    [&[HEADER.to_owned()], lines].concat().join("\n") + "\n"
}

fn forked() -> String {
    session(&[
        message("a", None, "one"),
        message("b", Some("a"), "left"),
        message("c", Some("b"), "more"),
        message("d", Some("a"), "right"),
        r#"{"type":"label","id":"l","parentId":"d","timestamp":"2026-01-02T00:00:00.000Z","targetId":"b","label":"x"}"#
            .to_owned(),
    ])
}

fn ids(shown: &Value) -> Vec<&str> {
    shown["entries"].as_array().unwrap().iter().map(|entry| entry["id"].as_str().unwrap()).collect()
}

#[test]
fn entries_are_flat_in_the_order_of_the_tree() {
    let world = World::new();
    world.file("s.jsonl", forked());
    let shown: Value = world.command("pi-session-show").arg("s.jsonl").run().ok().json();
    assert_eq!(ids(&shown), ["a", "b", "c", "d", "l"]);
    assert_eq!(shown["leaf_id"], "l");
    assert_eq!(shown["header"]["id"], "demo1");
    assert_eq!(shown["stats"]["total_messages"], 4);
    let expected = json!({
        "id": "b", "parent_id": "a", "depth": 1, "type": "message", "role": "user", "text": "left", "label": "x",
        "on_path": false, "children": 1, "timestamp": "2026-01-01T00:00:01.000Z", "line": 3,
    });
    assert_eq!(shown["entries"][1], expected);
}

#[test]
fn filters_choose_entries() {
    let world = World::new();
    world.file("s.jsonl", forked());
    let chosen = |words: &[&str]| {
        let shown: Value = world.command("pi-session-show").arg("s.jsonl").args(words).run().ok().json();
        ids(&shown).join("")
    };
    assert_eq!(chosen(&["--path"]), "adl");
    assert_eq!(chosen(&["--path", "--leaf", "c"]), "abc");
    assert_eq!(chosen(&["--path", "--limit", "2"]), "dl");
    assert_eq!(chosen(&["--type", "label,compaction"]), "l");
    assert_eq!(chosen(&["--role", "user"]), "abcd");
    assert_eq!(chosen(&["--role", "user", "--limit", "2"]), "cd");
    assert_eq!(chosen(&["--since", "2026-01-02"]), "l");
    assert_eq!(chosen(&["--search", "RIGHT"]), "d");
    world.command("pi-session-show").args(["s.jsonl", "--leaf", "nope"]).run().fails(
        1,
        "not_found",
        "Entry nope not found",
    );
    world.command("pi-session-show").args(["s.jsonl", "--since", "soon"]).run().fails(
        2,
        "invalid_arguments",
        "'soon' is no time",
    );
}

#[test]
fn nested_branches_hang_in_the_entry_of_their_fork() {
    let world = World::new();
    world.file("s.jsonl", forked());
    let shown: Value = world.command("pi-session-show").args(["s.jsonl", "--nested"]).run().ok().json();
    let branches = &shown["branches"][0][0]["branches"];
    assert_eq!(shown["branches"][0][0]["id"], "a");
    assert_eq!((&branches[0][1]["id"], &branches[1][1]["id"]), (&json!("c"), &json!("l")));
}

#[test]
fn the_tree_is_drawn_with_leaf_and_label() {
    let world = World::new();
    world.file("s.jsonl", forked());
    let drawing = "session demo1 /tmp\n* a user one\n|\\\n| o b (\"x\") user left\n| o c user more\n\
                   * d user right\n* l (leaf) label b x\n";
    world.command("pi-session-show").args(["s.jsonl", "-o", "text"]).run().ok().stdout_is(drawing);
    let colored = world.command("pi-session-show").args(["s.jsonl", "-o", "text", "--color", "always"]).run();
    assert!(String::from_utf8_lossy(&colored.stdout).contains("\x1b[33ma\x1b[m"), "{}", colored.report());
}

#[test]
fn what_is_printed_fits_the_schema() {
    let world = World::new();
    world.file("s.jsonl", forked());
    world.file("empty.jsonl", session(&[]));
    let declared: Value = world.command("pi-session-show").arg("--schema").run().ok().json();
    let validator = jsonschema::validator_for(&declared["outputSchema"]).unwrap();
    for words in [&["s.jsonl"][..], &["s.jsonl", "--nested"], &["s.jsonl", "--count"], &["empty.jsonl"]] {
        let shown: Value = world.command("pi-session-show").args(words).run().ok().json();
        assert!(validator.is_valid(&shown), "{shown}");
    }
}

#[test]
fn a_session_is_found_by_the_beginning_of_its_id() {
    let world = World::new();
    world.file("there/2026_demo1.jsonl", session(&[]).replace("/tmp", world.dir().to_str().unwrap()));
    let run = || world.command("pi-session-show").arg("dem");
    run().args(["--session-dir", "there", "-o", "text"]).run().status(0);
    run().env("PI_CODING_AGENT_SESSION_DIR", "there").run().status(0);
    run().run().fails(1, "not_found", "No session found matching 'dem'");
}

#[test]
fn s02_a_reader_leaves_a_torn_file_as_it_is() {
    let world = World::new();
    let torn = session(&[message("a", None, "one")]) + &message("x", Some("a"), "lost")[..40];
    world.file("s.jsonl", &torn);
    let shown = world.command("pi-session-show").arg("s.jsonl").run().status(0);
    assert_eq!(shown.json::<Value>()["diagnostics"][0]["reason"], "torn");
    shown.stderr_has("pi-session-show: line 3: ");
    assert_eq!(world.text("s.jsonl"), torn);
}

#[test]
fn s05_a_file_that_is_no_session_is_an_error_and_stays() {
    let world = World::new();
    for (name, text) in [("n.jsonl", "my notes\n".to_owned()), ("h.jsonl", message("a", None, "hi") + "\n")] {
        world.file(name, &text);
        let run = world.command("pi-session-show").arg(name).run();
        run.fails(1, "unsupported_file", "not a valid pi session");
        assert_eq!(world.text(name), text);
    }
}

#[test]
fn s16_only_a_line_feed_ends_a_line() {
    let world = World::new();
    let lines = [message("a", None, "x\u{2028}y"), message("b", Some("a"), "two") + "\r"];
    world.file("s.jsonl", session(&lines));
    let shown: Value = world.command("pi-session-show").args(["s.jsonl", "--count"]).run().ok().json();
    assert_eq!((&shown["count"], &shown["stats"]["total_messages"]), (&json!(2), &json!(2)));
    assert_eq!(shown.get("entries"), None);
}

#[test]
fn names_texts_and_ids_bring_no_control_characters_into_the_drawing() {
    let world = World::new();
    let name =
        r#"{"type":"session_info","id":"n\u001b[2J","parentId":"a","name":"one\ntwo\u001b]0;pwn\u0007"}"#;
    world.file("s.jsonl", session(&[message("a", None, "x\u{1b}[31my\rz"), name.to_owned()]));
    let drawn = world.command("pi-session-show").args(["s.jsonl", "-o", "text"]).run().ok();
    assert!(drawn.stdout.iter().all(|byte| *byte == b'\n' || *byte >= b' '), "{}", drawn.report());
    assert_eq!(drawn.stdout.iter().filter(|byte| **byte == b'\n').count(), 3, "{}", drawn.report());
}
