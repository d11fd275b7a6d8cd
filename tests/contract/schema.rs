//! `--schema`: what a command says of its arguments and answers is valid, and it is true.

use serde_json::{Value, json};

use super::{SUBJECTS, world};

#[test]
fn declarations_are_complete_and_their_schemas_valid() {
    for subject in SUBJECTS {
        let world = world();
        let declaration: Value = subject.run(&world).arg("--schema").run().ok().json();
        let members: Vec<_> = declaration.as_object().unwrap().keys().collect();
        let expected = [
            "name",
            "title",
            "description",
            "inputSchema",
            "outputSchema",
            "promptSnippet",
            "promptGuidelines",
        ];
        assert_eq!(members, expected, "{}", subject.command);
        assert_eq!(format!("pi-{}", declaration["name"].as_str().unwrap()), subject.command);
        for text in ["title", "description", "promptSnippet"] {
            assert_ne!(declaration[text], "", "{}: {text}", subject.command);
        }
        for schema in ["inputSchema", "outputSchema"] {
            jsonschema::meta::validate(&declaration[schema])
                .unwrap_or_else(|error| panic!("{} {schema}: {error}", subject.command));
        }
        assert_eq!(declaration["inputSchema"]["type"], "object", "{}", subject.command);
    }
}

#[test]
fn what_the_commands_are_sent_fits_their_input_schema() {
    for subject in SUBJECTS {
        validate(subject.command, "inputSchema", &(subject.good)());
        validate(subject.command, "inputSchema", &(subject.fails)());
    }
}

#[test]
fn what_the_commands_print_fits_their_output_schema() {
    for subject in SUBJECTS {
        let answer = subject.answer(|_, run| run.json((subject.good)()));
        // The time was taken out for comparing; any number will do.
        let answer = match answer {
            Value::Object(mut members) if subject.command == "pi-bash" => {
                members.insert("wall_time_seconds".to_owned(), json!(0.5));
                Value::Object(members)
            }
            other => other,
        };
        validate(subject.command, "outputSchema", &answer);
    }
}

#[test]
fn rarer_answers_fit_their_output_schema_too() {
    let picture =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let world = world();
    let decoded = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, picture).unwrap();
    world.file("dot.png", decoded);
    std::os::unix::fs::symlink("nowhere", world.path("broken")).unwrap();
    for name in ["b.txt", "c.txt"] {
        world.file(name, "one\n".repeat(3));
    }
    let not_utf8 = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"odd\xff.txt");
    std::fs::write(world.path(not_utf8), "one odd\n").unwrap();
    let jobs: &[(&str, &[&str])] = &[
        ("pi-read", &["dot.png"]),
        ("pi-read", &["a.txt", "--offset", "2"]),
        ("pi-write", &["a.txt", "--content", "one\ntwo\nthree\n"]),
        ("pi-write", &["a.txt", "--content", "one\n"]),
        ("pi-edit", &["a.txt", "--old", "one", "--new", "uno", "--dry-run"]),
        ("pi-bash", &["seq 100000; seq 100000; seq 100000"]),
        ("pi-bash", &["exit 3"]),
        ("pi-bash", &["sleep 60", "--timeout", "0.1"]),
        ("pi-ls", &["--limit", "2"]),
        ("pi-ls", &["--long"]),
        ("pi-find", &["*.txt", "--limit", "1"]),
        ("pi-find", &["*"]),
        ("pi-find", &["absent"]),
        ("pi-grep", &["one", "--context", "1"]),
        ("pi-grep", &["one", "--limit", "1"]),
        ("pi-grep", &["absent"]),
        ("pi-tools", &[]),
        ("pi-tools", &["--format", "google"]),
        ("pi-tools", &["--format", "mcp"]),
    ];
    for (command, arguments) in jobs {
        let run = world.command(command).args(*arguments).run();
        let answers: Vec<Value> = run.lines();
        assert!(answers.iter().all(|answer| answer.get("error").is_none()), "{}", run.report());
        assert!(!answers.is_empty(), "{}", run.report());
        answers.iter().for_each(|answer| validate(command, "outputSchema", answer));
    }
}

#[track_caller]
fn validate(command: &str, schema: &str, value: &Value) {
    let world = world();
    let declaration: Value = world.command(command).arg("--schema").run().ok().json();
    let validator = jsonschema::validator_for(&declaration[schema]).unwrap();
    if let Err(error) = validator.validate(value) {
        panic!("{command}: {error} at {}\n{value}\n{}", error.instance_path(), declaration[schema]);
    }
}
