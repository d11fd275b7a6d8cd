//! On a terminal JSON is laid out and coloured; nowhere else, unless asked for.

use std::io::Read as _;
use std::process::Stdio;

use serde_json::Value;

use super::{SUBJECTS, Subject, world};
use crate::harness::Run;

#[test]
fn a_terminal_gets_json_laid_out_and_coloured() {
    for subject in SUBJECTS {
        let shown = on_terminal(subject, |run| run.env("TERM", "xterm"));
        assert!(shown.contains("\x1b["), "{}: {shown:?}", subject.command);
        let plain = on_terminal(subject, |run| run.env("TERM", "xterm").env("NO_COLOR", "1"));
        let answer: Value = serde_json::from_str(&plain).unwrap_or_else(|error| panic!("{error}: {plain:?}"));
        assert_eq!(without_escapes(&shown).lines().count(), plain.lines().count(), "{}", subject.command);
        if answer.is_object() {
            assert!(plain.lines().count() > 1, "{}: {plain:?}", subject.command);
        }
    }
}

#[test]
fn no_color_a_dumb_terminal_and_color_never_leave_it_plain() {
    for subject in SUBJECTS {
        let asks: [fn(Run<'_>) -> Run<'_>; 3] = [
            |run| run.env("TERM", "xterm").env("NO_COLOR", "1"),
            |run| run.env("TERM", "dumb"),
            |run| run.env("TERM", "xterm").arg("--color=never"),
        ];
        for ask in asks {
            let shown = on_terminal(subject, ask);
            assert!(!shown.contains('\x1b'), "{}: {shown:?}", subject.command);
        }
        // A flag says more than a variable.
        let shown = on_terminal(subject, |run| run.env("NO_COLOR", "1").arg("--color=always"));
        assert!(shown.contains("\x1b["), "{}: {shown:?}", subject.command);
    }
}

#[test]
fn a_pipe_gets_one_plain_line_unless_colour_is_asked_for() {
    for subject in SUBJECTS {
        let world = world();
        let run = subject.run(&world).json((subject.good)()).env("TERM", "xterm").run().ok();
        assert_eq!(run.lines::<Value>().len(), 1);
        assert!(!run.stdout.contains(&0x1b), "{}", run.report());
        let run = subject.run(&world).json((subject.fails)()).arg("--color=always").run();
        assert!(run.stdout.windows(2).any(|pair| pair == b"\x1b["), "{}", run.report());
    }
}

/// What a terminal receives of the good job's answer.
fn on_terminal(subject: &Subject, ask: impl for<'w> FnOnce(Run<'w>) -> Run<'w>) -> String {
    let world = world();
    let terminal = nix::pty::openpty(None, None).unwrap();
    let mut command = ask(subject.run(&world).json((subject.good)())).into_std();
    let mut child =
        command.stdin(Stdio::null()).stdout(terminal.slave).stderr(Stdio::null()).spawn().unwrap();
    // Ours of the terminal's ends would keep the reading below from ending.
    drop(command);
    let mut shown = Vec::new();
    let mut master = std::fs::File::from(terminal.master);
    // A terminal whose other end is closed answers EIO and not the end of a file.
    let _ = master.read_to_end(&mut shown);
    assert_eq!(child.wait().unwrap().code(), Some(0), "{}", subject.command);
    String::from_utf8(shown).unwrap().replace("\r\n", "\n")
}

fn without_escapes(text: &str) -> String {
    regex::Regex::new("\x1b\\[[0-9;]*m").unwrap().replace_all(text, "").into_owned()
}
