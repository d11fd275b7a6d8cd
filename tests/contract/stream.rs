//! `--args -`: a stream of arguments, one answer line each, so that a command can serve as a co-process.

use serde_json::Value;

use super::{SUBJECTS, USAGE, timeless, world};
use crate::coprocess::Coprocess;

#[test]
fn each_document_is_answered_before_the_next_is_sent() {
    for subject in SUBJECTS {
        let world = world();
        let mut command = Coprocess::start(subject.run(&world).args(["--args", "-"]));
        let first = (subject.good)().to_string();
        command.send(&format!("{first}\n"));
        assert!(command.answer().get("error").is_none(), "{}", subject.command);
        // No line break behind it: the last bracket completes a document.
        command.send(&(subject.fails)().to_string());
        let failed = command.answer();
        assert!(
            failed.get("error").is_some() || failed["timed_out"] == true,
            "{}: {failed}",
            subject.command
        );
        command.send("\n\n  rubbish\n");
        assert_eq!(command.answer()["error"]["code"], "invalid_arguments", "{}", subject.command);
        assert_eq!(command.end(), USAGE, "{}", subject.command);
    }
}

#[test]
fn the_worst_status_is_the_commands() {
    for subject in SUBJECTS {
        let (good, fails) = ((subject.good)().to_string(), (subject.fails)().to_string());
        let streams = [
            (String::new(), 0, 0),
            (good.clone(), 1, 0),
            (format!("{fails}\n{fails}"), 2, subject.failure.0),
            (format!("{fails}\nnonsense\n{fails}"), 3, USAGE),
        ];
        for (text, lines, status) in streams {
            let world = world();
            let run = subject.run(&world).args(["--args", "-"]).stdin(text).run().status(status);
            assert_eq!(run.lines::<Value>().len(), lines, "{}", run.report());
        }
    }
}

#[test]
fn documents_in_a_file_are_a_stream_too() {
    for subject in SUBJECTS {
        let world = world();
        let twice = format!("{}{}", (subject.fails)(), (subject.fails)());
        world.file(".calls.json", twice);
        let run = subject.run(&world).args(["--args", "@.calls.json"]).run().status(subject.failure.0);
        assert_eq!(run.lines::<Value>().len(), 2, "{}", run.report());
    }
}

#[test]
fn bad_json_costs_its_own_document_only() {
    for subject in SUBJECTS {
        let good = (subject.good)().to_string();
        let world = world();
        let run = subject.run(&world).args(["--args", "-"]).stdin(format!("{{\"a\":}}\n{good}\n")).run();
        let answers: Vec<Value> = run.status(USAGE).lines();
        assert_eq!(answers[0]["error"]["code"], "invalid_arguments", "{}", subject.command);
        let alone = subject.answer(|_, run| run.json((subject.good)()));
        assert_eq!(timeless(answers[1].clone()), alone, "{}", subject.command);
    }
}

#[test]
fn a_document_cut_off_by_the_end_is_bad() {
    for subject in SUBJECTS {
        let good = (subject.good)().to_string();
        let world = world();
        let before = world.tree();
        let run = subject.run(&world).args(["--args", "-"]).stdin(&good[..good.len() - 1]).run();
        run.fails(USAGE, "invalid_arguments", "not valid JSON");
        assert_eq!(world.tree(), before, "{}", subject.command);
    }
}
