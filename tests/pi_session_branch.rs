//! pi-session-branch: where a next entry would go, and what is written on the way.

use serde_json::{Value, json};

use crate::harness::{Run, World};
use crate::session_file::{context_of, message, opened, session};

/// a ← b ← c, the user's messages, with a reply behind a.
fn world() -> World {
    let world = World::new();
    let reply = r#"{"type":"message","id":"r","parentId":"a","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"assistant","content":[]}}"#;
    let text = session(&[
        &message("a", None, "one"),
        reply,
        &message("b", Some("r"), "two"),
        &message("c", Some("b"), "three"),
    ]);
    world.file("s.jsonl", text);
    world
}

fn branch<'w>(world: &'w World, words: &[&str]) -> Run<'w> {
    world.command("pi-session-branch").arg("s.jsonl").args(words)
}

#[test]
fn the_leaf_moves_and_the_file_stays_as_it_is() {
    let world = world();
    let before = world.text("s.jsonl");
    branch(&world, &["b"]).run().ok().json_is(json!({"leaf_id": "r", "editor_text": "two"}));
    branch(&world, &["r"]).run().ok().json_is(json!({"leaf_id": "r"}));
    branch(&world, &["a"]).run().ok().json_is(json!({"leaf_id": null, "editor_text": "one"}));
    branch(&world, &["c"]).run().ok().json_is(json!({"leaf_id": "c"}));
    branch(&world, &["--root"]).run().ok().json_is(json!({"leaf_id": null}));
    branch(&world, &["gone"]).run().fails(1, "not_found", "Entry gone not found");
    branch(&world, &["a", "--root"]).run().status(2);
    branch(&world, &[]).run().status(2);
    branch(&world, &["--root", "--label", "x"]).run().fails(2, "invalid_arguments", "nothing to label");
    assert_eq!(world.text("s.jsonl"), before);
}

#[test]
fn the_next_entry_hangs_where_one_went() {
    let world = world();
    for (words, parent) in [("b", json!("r")), ("--root", Value::Null)] {
        let script = format!(
            "pi-session-append s.jsonl --parent \"$(pi-session-branch s.jsonl {words} -o text)\" --user new"
        );
        assert_eq!(world.script(&script).run().ok().json::<Value>()["parentId"], parent);
    }
    assert_eq!(context_of(&world.path("s.jsonl")).len(), 1);
}

#[test]
fn a_summary_and_a_label_are_written_and_lead() {
    let world = world();
    let run = branch(&world, &["b", "--summary", "-", "--label", "retry"]).stdin("was slow");
    let answer: Value = run.run().ok().json();
    let (summary, label) = (&answer["summary_entry"], &answer["label_entry"]);
    assert_eq!(
        (&summary["fromId"], &summary["parentId"], &summary["summary"]),
        (&json!("c"), &json!("r"), &json!("was slow"))
    );
    assert_eq!((&label["targetId"], &label["parentId"]), (&summary["id"], &summary["id"]));
    assert_eq!((&answer["leaf_id"], &answer["editor_text"]), (&label["id"], &json!("two")));
    let session = opened(&world.path("s.jsonl"));
    assert_eq!(session.leaf_id().as_deref(), label["id"].as_str());
    assert_eq!(session.path().len(), 4);

    let answer: Value = branch(&world, &["--root", "--summary", "all of it"]).run().ok().json();
    assert_eq!(
        (&answer["summary_entry"]["parentId"], &answer["summary_entry"]["fromId"]),
        (&Value::Null, &label["id"])
    );
    let answer: Value = branch(&world, &["r", "--label", "here"]).run().ok().json();
    assert_eq!(
        (&answer["label_entry"]["targetId"], &answer["label_entry"]["parentId"]),
        (&json!("r"), &json!("r"))
    );
}

#[test]
fn arguments_come_as_json_too_and_answers_fit_the_schema() {
    let world = world();
    let declaration: Value = world.command("pi-session-branch").arg("--schema").run().ok().json();
    let prints = jsonschema::validator_for(&declaration["outputSchema"]).unwrap();
    let arguments =
        [json!({"session": "s.jsonl", "entry": "b"}), json!({"session": "s.jsonl", "root": true})];
    let stream: String = arguments.iter().map(Value::to_string).collect();
    let answers: Vec<Value> =
        world.command("pi-session-branch").args(["--args", "-"]).stdin(stream).run().ok().lines();
    assert_eq!(answers, [json!({"leaf_id": "r", "editor_text": "two"}), json!({"leaf_id": null})]);
    assert!(answers.iter().all(|answer| prints.is_valid(answer)));
    let both = json!({"session": "s.jsonl", "entry": "b", "root": true});
    world.command("pi-session-branch").json(both).run().fails(2, "invalid_arguments", "either");
}

#[test]
fn what_is_no_session_is_refused() {
    let world = World::new();
    world.file("s.jsonl", "my notes\n");
    branch(&world, &["a", "--label", "x"]).run().fails(1, "unsupported_file", "not a valid pi session");
    assert_eq!(world.text("s.jsonl"), "my notes\n");
}
