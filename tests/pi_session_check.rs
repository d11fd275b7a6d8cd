//! pi-session-check: what it finds, and the mended copy.

use serde_json::{Value, json};

use crate::harness::World;
use crate::pi_session_show::{message, session};

#[test]
fn a_sound_session_is_ok() {
    let world = World::new();
    world.file("s.jsonl", session(&[message("a", None, "one")]));
    world.command("pi-session-check").arg("s.jsonl").run().ok().json_is(json!({"ok": true, "problems": []}));
}

#[test]
fn every_kind_of_damage_is_found() {
    let world = World::new();
    let lines = [
        message("a", None, "one"),
        "no json".to_owned(),
        message("b", Some("gone"), "orphan"),
        message("a", Some("b"), "again"),
        message("c", Some("d"), "cycle"),
        message("d", Some("c"), "cycle"),
        r#"{"type":"label","id":"l","parentId":"a","targetId":"nowhere","label":"x"}"#.to_owned(),
        r#"{"type":"message","id":"e","parentId":"l","message":{"role":"assistant","content":[{"type":"toolCall","id":"t","name":"ls","arguments":{}}]}}"#.to_owned(),
    ];
    world.file("s.jsonl", session(&lines).replace("/tmp", "/nonexistent"));
    let checked: Value = world.command("pi-session-check").arg("s.jsonl").run().status(1).json();
    let mut kinds: Vec<_> = checked["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| problem["kind"].as_str().unwrap())
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    let expected = [
        "call_without_result",
        "cycle",
        "dangling_target",
        "duplicate_id",
        "not_json",
        "orphan",
        "unreadable_cwd",
    ];
    assert_eq!(kinds, expected);
    let declared: Value = world.command("pi-session-check").arg("--schema").run().ok().json();
    assert!(jsonschema::is_valid(&declared["outputSchema"], &checked), "{checked}");
}

#[test]
fn a_mended_copy_has_what_was_cut_off_on_the_path_again() {
    let world = World::new();
    let lost = message("x", Some("a"), "lost")[..40].to_owned();
    let damaged = session(&[message("a", None, "one"), lost, message("b", Some("x"), "two")]);
    world.file("s.jsonl", &damaged);
    let run = || world.command("pi-session-check").args(["s.jsonl", "--repair", "new.jsonl"]).run();
    let checked: Value = run().status(0).json();
    assert_eq!((&checked["ok"], &checked["repair"]["entries"]), (&json!(false), &json!(2)));
    assert_eq!(
        world.text("new.jsonl"),
        session(&[message("a", None, "one"), message("b", Some("a"), "two")])
    );
    assert_eq!(world.text("s.jsonl"), damaged);
    world.command("pi-session-check").arg("new.jsonl").run().ok();
    run().fails(1, "io", "create");
}
