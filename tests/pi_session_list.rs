//! pi-session-list: which sessions are listed, and that each takes one row.

use serde_json::Value;

use crate::harness::World;
use crate::pi_session_show::{message, session};

#[test]
fn the_sessions_of_the_working_directory_are_listed() {
    let world = World::new();
    let here = session(&[message("a", None, "hello\nthere")]).replace("/tmp", world.dir().to_str().unwrap());
    world.file("there/a.jsonl", here);
    world.file("there/b.jsonl", session(&[]).replace("demo1", "other"));
    world.file("there/c.jsonl", "no session\n");
    let listed: Vec<Value> =
        world.command("pi-session-list").args(["--session-dir", "there"]).run().ok().json();
    assert_eq!(listed.len(), 1);
    assert_eq!((&listed[0]["id"], &listed[0]["message_count"]), (&"demo1".into(), &1.into()));
    assert_eq!(listed[0]["first_message"], "hello there");
    let all: Vec<Value> = world.command("pi-session-list").args(["--dir", "there"]).run().ok().json();
    assert_eq!(all.len(), 2);
    let found: Vec<Value> =
        world.command("pi-session-list").args(["--dir", "there", "--search", "HELLO"]).run().ok().json();
    assert_eq!(found.len(), 1);
    world.command("pi-session-list").run().ok().stdout_is("[]\n");
}

#[test]
fn s14_a_name_with_line_breaks_and_escapes_is_one_row() {
    let world = World::new();
    let name = r#"{"type":"session_info","id":"n","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","name":"one\ntwo\u001b]0;pwn\u0007"}"#;
    world.file("there/a.jsonl", session(&[name.to_owned()]));
    let rows = world.command("pi-session-list").args(["--dir", "there", "-o", "text"]).run().ok();
    let text = String::from_utf8_lossy(&rows.stdout);
    assert_eq!(text.lines().count(), 1, "{}", rows.report());
    assert!(text.contains("one two") && !text.contains(['\x1b', '\x07']), "{}", rows.report());
}

#[test]
fn s20_a_session_behind_a_linked_directory_is_listed_once() {
    let world = World::new();
    world.file("real/s.jsonl", session(&[]));
    std::os::unix::fs::symlink("real", world.path("lk")).unwrap();
    for words in [&["--dir", "lk"][..], &["--dir", "lk", "--dir", "real"]] {
        let listed: Vec<Value> = world.command("pi-session-list").args(words).run().ok().json();
        assert_eq!(listed.len(), 1, "{words:?}");
    }
}
