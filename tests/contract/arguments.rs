//! Arguments come in three ways and mean the same; what a model writes carelessly is still understood.

use serde_json::{Map, Value, json};

use super::{SUBJECTS, Subject, USAGE, world};

#[test]
fn flags_and_json_from_everywhere_mean_the_same() {
    for subject in SUBJECTS {
        let good = (subject.good)();
        let by_flags = subject.answer(|_, run| run.args(subject.flags));
        assert_eq!(by_flags, subject.answer(|_, run| run.json(good.clone())), "{}", subject.command);
        let text = good.to_string();
        let by_file = subject.answer(|world, run| {
            world.file(".call.json", &text);
            run.args(["--args", "@.call.json"])
        });
        assert_eq!(by_flags, by_file, "{}", subject.command);
        let by_stdin = subject.answer(|_, run| run.args(["--args", "-"]).stdin(text.as_str()));
        assert_eq!(by_flags, by_stdin, "{}", subject.command);
        let joined = subject.answer(|_, run| run.arg(format!("--args={text}")));
        assert_eq!(by_flags, joined, "{}", subject.command);
    }
}

#[test]
fn json_and_flags_together_are_bad_usage() {
    for subject in SUBJECTS {
        let world = world();
        let run = subject.run(&world).json((subject.good)()).args(subject.flags).run();
        run.fails(USAGE, "invalid_arguments", "--args holds all arguments");
    }
}

#[test]
fn a_file_of_arguments_that_is_not_there_is_named() {
    for subject in SUBJECTS {
        let world = world();
        let run = subject.run(&world).args(["--args", "@gone.json"]).run();
        run.fails(USAGE, "invalid_arguments", "ENOENT").stderr_has("gone.json");
    }
}

#[test]
fn relative_paths_start_where_dash_c_says() {
    let below = [
        ("pi-read", json!({"path": "a.txt"}), json!("one below\n")),
        ("pi-bash", json!({"command": "cat a.txt"}), json!("one below\n")),
        ("pi-find", json!({"pattern": "*"}), json!(["a.txt"])),
        ("pi-grep", json!({"pattern": "one below"}), json!("a.txt")),
        ("pi-ls", json!({}), json!("a.txt")),
    ];
    for (command, arguments, expected) in below {
        let world = world();
        let answer: Value = world.command(command).json(arguments).args(["-C", "folder"]).run().ok().json();
        let at = ["", "/output", "/paths", "/matches/0/path", "/entries/0/name"];
        let found = at.iter().any(|at| answer.pointer(at) == Some(&expected));
        assert!(found, "{command}: {answer}");
    }
    let world = world();
    let written = json!({"path": "new.txt", "content": "x"});
    world.command("pi-write").json(written).args(["-C", "folder"]).run().ok();
    assert_eq!(world.text("folder/new.txt"), "x");
    let edited = json!({"path": "a.txt", "edits": [{"oldText": "below", "newText": "above"}]});
    world.command("pi-edit").json(edited).arg("-C").arg(world.path("folder")).run().ok();
    assert_eq!(world.text("folder/a.txt"), "one above\n");
}

#[test]
fn w04_half_a_surrogate_pair_does_not_cost_the_call() {
    for subject in SUBJECTS {
        // The parser sees the whole object, also the members that the tool does not know.
        let half = |good: &str| format!(r#"{{"note":"a\ud83dz",{}"#, &good[1..]);
        let text = half(&(subject.good)().to_string());
        let mended = subject.answer(|_, run| run.args(["--args", &text]));
        assert_eq!(mended, subject.answer(|_, run| run.json((subject.good)())), "{}", subject.command);
    }
    let world = world();
    let text = r#"{"path":"s.txt","content":"a\ud83dz\ud83d\ude00"}"#;
    world.command("pi-write").args(["--args", text]).run().ok();
    assert_eq!(world.text("s.txt"), "a\u{fffd}z😀");
}

#[test]
fn a14_numbers_as_strings_and_null_for_nothing_are_understood() {
    for subject in SUBJECTS {
        let schema = input_schema(subject);
        let good = (subject.good)();
        let plain = subject.answer(|_, run| run.json(good.clone()));
        let nulls = with(&good, &schema, |property| match property["type"] {
            _ if property["is_required"] == true => None,
            _ => Some(Value::Null),
        });
        assert_eq!(plain, subject.answer(|_, run| run.json(nulls)), "{} with nulls", subject.command);
        let by_number = with(&good, &schema, |property| is_number(property).then(|| json!(1)));
        let by_text = with(&good, &schema, |property| is_number(property).then(|| json!("1")));
        let numbers = subject.answer(|_, run| run.json(by_number));
        assert_eq!(numbers, subject.answer(|_, run| run.json(by_text)), "{} by text", subject.command);
    }
}

#[test]
fn arguments_that_do_not_fit_say_where() {
    for subject in SUBJECTS {
        let name = subject.command.trim_start_matches("pi-");
        let world = world();
        let run = subject.run(&world).args(["--args", "[]"]).run();
        let message = format!("Validation failed for tool \"{name}\":\n  - root: expected object, got array");
        run.fails(USAGE, "invalid_arguments", &message);
    }
}

/// The arguments with a value for every property not given that `value` has one for.
fn with(good: &Value, schema: &Value, value: impl Fn(&Value) -> Option<Value>) -> Value {
    let mut arguments: Map<String, Value> = good.as_object().unwrap().clone();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, property) in schema["properties"].as_object().unwrap() {
        let mut property = property.clone();
        property["is_required"] = required.contains(&json!(name)).into();
        if let Some(value) = value(&property).filter(|_| !arguments.contains_key(name)) {
            arguments.insert(name.clone(), value);
        }
    }
    Value::Object(arguments)
}

fn is_number(property: &Value) -> bool {
    property["type"] == "number" || property["type"] == "integer"
}

fn input_schema(subject: &Subject) -> Value {
    let world = world();
    let declaration: Value = subject.run(&world).arg("--schema").run().ok().json();
    declaration["inputSchema"].clone()
}
