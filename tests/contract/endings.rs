//! How a command ends when its reader leaves, its disk is full, or somebody asks it to stop.

use std::io::pipe;
use std::os::unix::process::ExitStatusExt as _;

use nix::sys::signal::Signal;

use super::{SUBJECTS, world};
use crate::coprocess::Coprocess;

const KILLED_BY_SIGPIPE: i32 = 141;

#[test]
fn u01_a_closed_reader_ends_every_command_quietly() {
    for subject in SUBJECTS {
        let world = world();
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let run = subject.run(&world).json((subject.good)()).run_into(writer);
        run.status(KILLED_BY_SIGPIPE).stderr_is("");
    }
}

#[test]
fn u01_a_closed_reader_is_no_panic_when_the_parent_ignores_the_signal() {
    for subject in SUBJECTS {
        let world = world();
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let run = world.script(r#"trap "" PIPE; exec "$0" --args "$1""#);
        let run = run.arg(subject.command).arg((subject.good)().to_string()).run_into(writer);
        run.status(KILLED_BY_SIGPIPE).stderr_is("");
    }
}

#[test]
fn an_answer_that_does_not_fit_on_the_disk_is_a_clear_error() {
    for subject in SUBJECTS {
        let world = world();
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let run = subject.run(&world).json((subject.good)()).run_into(full);
        let status = match subject.command {
            "pi-bash" => 125,
            "pi-grep" => 2,
            _ => 1,
        };
        run.status(status).stderr_has("ENOSPC").stderr_has("standard output");
    }
}

#[test]
fn a_request_to_stop_ends_the_wait_for_the_next_document() {
    for subject in SUBJECTS {
        for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            let world = world();
            let mut command = Coprocess::start(subject.run(&world).args(["--args", "-"]));
            command.send(&(subject.fails)().to_string());
            command.answer();
            command.signal(signal);
            // By the signal itself, so that a shell's loop around the command stops too.
            assert_eq!(command.wait().signal(), Some(signal as i32), "{}", subject.command);
        }
    }
}

#[test]
fn a_signal_that_the_parent_ignores_stays_ignored() {
    for subject in SUBJECTS {
        let world = world();
        let script = r#"trap "" INT HUP; exec "$0" --args -"#;
        let mut command = Coprocess::start(world.script(script).arg(subject.command));
        command.send(&(subject.fails)().to_string());
        command.answer();
        command.signal(Signal::SIGINT);
        command.signal(Signal::SIGHUP);
        command.send(&(subject.good)().to_string());
        command.answer();
        assert_eq!(command.end(), subject.failure.0, "{}", subject.command);
    }
}
