//! What is printed: one line per job, in the format asked for, and nothing else.

use serde_json::Value;

use super::{SUBJECTS, USAGE, timeless, world};

#[test]
fn json_is_one_line_and_the_default() {
    for subject in SUBJECTS {
        let world = world();
        let answer = subject.run(&world).json((subject.good)()).run().ok();
        assert!(answer.stdout.ends_with(b"\n"), "{}", answer.report());
        let plain = timeless(answer.json());
        let asked = subject.answer(|_, run| run.json((subject.good)()).args(["-o", "json"]));
        assert_eq!(plain, asked, "{}", subject.command);
    }
}

#[test]
fn result_holds_the_structured_content_and_the_text() {
    for subject in SUBJECTS {
        let result = subject.answer(|_, run| run.json((subject.good)()).args(["-o", "result"]));
        let json = subject.answer(|_, run| run.json((subject.good)()));
        assert_eq!(result["structuredContent"], json, "{}", subject.command);
        assert_eq!(result["isError"], false, "{}", subject.command);
        let world = world();
        let text = subject.run(&world).json((subject.good)()).args(["-o", "text"]).run().ok();
        let expected = result["content"][0]["text"].as_str().unwrap();
        let ended = if expected.ends_with('\n') { "" } else { "\n" };
        text.stdout_is(format!("{expected}{ended}"));
    }
}

#[test]
fn the_environment_sets_the_default_format_and_a_flag_beats_it() {
    for subject in SUBJECTS {
        let flag = subject.answer(|_, run| run.json((subject.good)()).args(["-o", "result"]));
        let variable = subject.answer(|_, run| run.json((subject.good)()).env("PI_OUTPUT", "result"));
        assert_eq!(flag, variable, "{}", subject.command);
        let both = subject
            .answer(|_, run| run.json((subject.good)()).env("PI_OUTPUT", "text").arg("--output=result"));
        assert_eq!(flag, both, "{}", subject.command);
        let empty = subject.answer(|_, run| run.json((subject.good)()).env("PI_OUTPUT", ""));
        assert_eq!(empty, subject.answer(|_, run| run.json((subject.good)())), "{}", subject.command);
    }
}

#[test]
fn a_bad_default_format_is_bad_usage_and_nothing_is_done() {
    for subject in SUBJECTS {
        let world = world();
        let before = world.tree();
        let run = subject.run(&world).json((subject.good)()).env("PI_OUTPUT", "yaml").run();
        run.fails(USAGE, "invalid_arguments", "PI_OUTPUT is 'yaml'");
        assert_eq!(world.tree(), before, "{}", subject.command);
    }
}

#[test]
fn a_failed_job_is_one_line_with_its_code_and_the_message_on_stderr() {
    for subject in SUBJECTS {
        let (status, code) = subject.failure;
        let world = world();
        let run = subject.run(&world).json((subject.fails)()).run();
        if subject.command == "pi-bash" {
            // What a command has printed is not lost with its time: the value comes as usual.
            let value: Value = run.status(status).json();
            assert_eq!(value["timed_out"], true);
        } else {
            run.fails(status, code, "").stderr_has(&format!("{}: ", subject.command));
        }
    }
}

#[test]
fn a_failed_job_as_result_and_as_text() {
    for subject in SUBJECTS {
        let world = world();
        let run = subject.run(&world).json((subject.fails)()).args(["-o", "result"]).run();
        let result: Value = run.status(subject.failure.0).json();
        assert_eq!(result["isError"], true, "{}", subject.command);
        if subject.command != "pi-bash" {
            let run = subject.run(&world).json((subject.fails)()).args(["-o", "text"]).run();
            run.status(subject.failure.0).stdout_is("");
        }
    }
}

#[test]
fn bad_usage_is_a_line_on_stdout_too_unless_text_is_wanted() {
    for subject in SUBJECTS {
        let world = world();
        let run = subject.run(&world).arg("--no-such-flag").run();
        run.fails(USAGE, "invalid_arguments", "unexpected argument '--no-such-flag'");
        let run = subject.run(&world).args(["-Z"]).args(subject.flags).run();
        run.fails(USAGE, "invalid_arguments", "unexpected argument '-Z'");
        let run = subject.run(&world).args(["--no-such-flag", "-o", "text"]).run();
        run.status(USAGE).stdout_is("").stderr_has("--no-such-flag");
        let run = subject.run(&world).args(["-o", "yaml"]).run();
        let line: Value = run.status(USAGE).stderr_has("invalid value 'yaml'").json();
        assert_eq!(line["error"]["code"], "invalid_arguments", "{}", subject.command);
    }
}

#[test]
fn help_and_version_are_what_was_asked_for() {
    for subject in SUBJECTS {
        let world = world();
        let help = subject.run(&world).arg("--help").run().ok();
        let text = String::from_utf8_lossy(&help.stdout).into_owned();
        for part in ["Usage: ", "Examples:\n", "Exit status:\n"] {
            assert!(text.contains(part), "{part}{}", help.report());
        }
        let version = format!("{} {}\n", subject.command, env!("CARGO_PKG_VERSION"));
        subject.run(&world).arg("--version").run().ok().stdout_is(version);
    }
}
