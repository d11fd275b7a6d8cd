//! The command contract, held against every command that is a tool: one table, the same tests for all.
//! What pi-call has of it is in `pi_call.rs`.

mod arguments;
mod endings;
mod output;
mod schema;
mod stream;
mod terminal;

use serde_json::{Value, json};

use crate::harness::{Run, World};

/// A command and jobs for it, in a world as [`world`] makes it.
struct Subject {
    command: &'static str,
    /// Arguments of a job that goes well.
    good: fn() -> Value,
    /// The same job by flags.
    flags: &'static [&'static str],
    /// Arguments of a job that fails, its status and code.
    fails: fn() -> Value,
    failure: (i32, &'static str),
}

const SUBJECTS: &[Subject] = &[
    Subject {
        command: "pi-read",
        good: || json!({"path": "a.txt", "limit": 1}),
        flags: &["a.txt", "--limit", "1"],
        fails: || json!({"path": "absent"}),
        failure: (1, "not_found"),
    },
    Subject {
        command: "pi-write",
        good: || json!({"path": "new.txt", "content": "text"}),
        flags: &["new.txt", "--content", "text"],
        fails: || json!({"path": "folder", "content": "text"}),
        failure: (1, "is_directory"),
    },
    Subject {
        command: "pi-edit",
        good: || json!({"path": "a.txt", "edits": [{"oldText": "one", "newText": "uno"}]}),
        flags: &["a.txt", "--old", "one", "--new", "uno"],
        fails: || json!({"path": "a.txt", "edits": [{"oldText": "absent", "newText": "x"}]}),
        failure: (1, "no_match"),
    },
    Subject {
        command: "pi-bash",
        good: || json!({"command": "cat a.txt"}),
        flags: &["cat a.txt"],
        fails: || json!({"command": "sleep 60", "timeout": 0.1}),
        failure: (124, "timed_out"),
    },
    Subject {
        command: "pi-ls",
        good: || json!({"path": "folder"}),
        flags: &["folder"],
        fails: || json!({"path": "absent"}),
        failure: (1, "not_found"),
    },
    Subject {
        command: "pi-find",
        good: || json!({"pattern": "*.txt"}),
        flags: &["*.txt"],
        fails: || json!({"pattern": "*", "path": "absent"}),
        failure: (1, "not_found"),
    },
    Subject {
        command: "pi-grep",
        good: || json!({"pattern": "one", "path": "a.txt"}),
        flags: &["one", "a.txt"],
        fails: || json!({"pattern": "one", "path": "absent"}),
        failure: (2, "not_found"),
    },
    Subject {
        command: "pi-tools",
        good: || json!({"names": ["write"]}),
        flags: &["write"],
        fails: || json!({"names": ["write", "dig"]}),
        failure: (2, "unknown_tool"),
    },
];

/// The status of bad usage and bad arguments, the same for all.
const USAGE: i32 = 2;

/// What the jobs of the table work on.
fn world() -> World {
    let world = World::new();
    world.file("a.txt", "one\ntwo\nthree\n");
    world.file("folder/a.txt", "one below\n");
    world
}

impl Subject {
    /// The command about to run in that world.
    fn run<'w>(&self, world: &'w World) -> Run<'w> {
        world.command(self.command)
    }

    /// The whole answer to the good job, asked for in that way, in a world of its own.
    #[track_caller]
    fn answer(&self, ask: impl for<'w> FnOnce(&'w World, Run<'w>) -> Run<'w>) -> Value {
        let world = world();
        let run = ask(&world, self.run(&world));
        timeless(run.run().ok().json())
    }
}

/// An answer without the time it took.
fn timeless(mut answer: Value) -> Value {
    for at in ["", "/structuredContent"] {
        if let Some(Value::Object(members)) = answer.pointer_mut(at) {
            members.remove("wall_time_seconds");
        }
    }
    answer
}
