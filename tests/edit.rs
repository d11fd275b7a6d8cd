//! pi-edit as a command: the field cases, each flag and exit status once, streams, and all-or-nothing.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde::Deserialize;
use serde_json::{Value, json};

use super::harness::{Answer, World};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Edited {
    path: String,
    path_base64: Option<String>,
    replaced: usize,
    first_changed_line: usize,
    diff: String,
    patch: String,
    effect: String,
    #[serde(default)]
    dry_run: bool,
}

fn edits<const N: usize>(path: &str, pairs: [(&str, &str); N]) -> Value {
    let edits: Vec<Value> = pairs.iter().map(|(old, new)| json!({"oldText": old, "newText": new})).collect();
    json!({"path": path, "edits": edits})
}

fn edit<const N: usize>(world: &World, path: &str, pairs: [(&str, &str); N]) -> Answer {
    world.command("pi-edit").json(edits(path, pairs)).run()
}

fn stream(documents: &[Value]) -> String {
    documents.iter().map(|document| format!("{document}\n")).collect()
}

#[track_caller]
fn codes(answer: &Answer) -> Vec<String> {
    let code = |line: Value| line["error"]["code"].as_str().unwrap_or("done").to_owned();
    answer.lines::<Value>().into_iter().map(code).collect()
}

#[test]
fn e01_mixed_line_endings_keep_untouched_lines() {
    let world = World::new();
    world.file("m.txt", "alpha\r\nbeta\ngamma\r\ndelta");
    edit(&world, "m.txt", [("beta", "beta1\nbeta2"), ("gamma", "g1\ng2"), ("delta", "D")]).ok();
    assert_eq!(world.text("m.txt"), "alpha\r\nbeta1\nbeta2\ng1\r\ng2\r\nD");
}

#[test]
fn e02_a_byte_order_mark_neither_hides_the_first_line_nor_gets_lost() {
    let world = World::new();
    world.file("b.yml", "\u{feff}port: 80\nhost: h\n");
    edit(&world, "b.yml", [("port: 80\nhost", "port: 81\nhost")]).ok();
    assert_eq!(world.text("b.yml"), "\u{feff}port: 81\nhost: h\n");
}

#[test]
fn e04_lone_carriage_returns_as_data_stay() {
    let world = World::new();
    world.file("cr.log", "p 10%\rp 50%\rdone\nnext\n");
    edit(&world, "cr.log", [("next", "NEXT")]).ok();
    assert_eq!(world.text("cr.log"), "p 10%\rp 50%\rdone\nNEXT\n");
    edit(&world, "cr.log", [("p 50%", "p 50%\np 60%")]).ok();
    assert_eq!(world.text("cr.log"), "p 10%\rp 50%\np 60%\rdone\nNEXT\n");
}

#[test]
fn e05_dollar_sequences_in_the_new_text_are_text() {
    let world = World::new();
    world.file("d.txt", "x=OLD;\n");
    edit(&world, "d.txt", [("OLD", "$$ $& $` $' $1")]).ok();
    assert_eq!(world.text("d.txt"), "x=$$ $& $` $' $1;\n");
}

#[test]
fn e07_full_width_characters_match_their_plain_forms() {
    let world = World::new();
    world.file("fw.txt", "ＡＢＣ ok\n");
    edit(&world, "fw.txt", [("ABC ok", "ABC no")]).ok();
    assert_eq!(world.text("fw.txt"), "ABC no\n");
}

#[test]
fn e08_a_look_alike_makes_the_old_text_ambiguous() {
    let world = World::new();
    world.file("u.txt", "it’s\nit's\n");
    let answer = edit(&world, "u.txt", [("it's", "x")]);
    let error = answer.json::<Value>()["error"].clone();
    assert_eq!((&error["count"], &error["lines"]), (&json!(2), &json!([1, 2])), "{}", answer.report());
    answer.fails(1, "not_unique", "Found 2 occurrences of the text in u.txt.");
    assert_eq!(world.text("u.txt"), "it’s\nit's\n");
}

#[test]
fn e10_mode_and_symlink_survive() {
    let world = World::new();
    let script = world.file("run.sh", "#!/bin/sh\necho a\n");
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("run.sh", world.path("l.sh")).unwrap();
    edit(&world, "l.sh", [("echo a", "echo b")]).ok();
    assert_eq!(world.text("run.sh"), "#!/bin/sh\necho b\n");
    assert_eq!(script.metadata().unwrap().permissions().mode() & 0o7777, 0o755);
    assert!(world.path("l.sh").symlink_metadata().unwrap().is_symlink());
}

#[test]
fn e11_a_missing_or_forbidden_file_is_reported_by_the_systems_word() {
    let world = World::new();
    edit(&world, "absent.txt", [("x", "y")]).fails(
        1,
        "not_found",
        "Could not edit file: absent.txt. Error code: ENOENT.",
    );
    assert!(world.tree().is_empty());
    world.file("file", "x\n");
    edit(&world, "file/below", [("x", "y")]).fails(1, "not_directory", "Error code: ENOTDIR.");
    std::fs::create_dir(world.path("dir")).unwrap();
    edit(&world, "dir", [("x", "y")]).fails(1, "is_directory", "Error code: EISDIR.");
    if nix::unistd::geteuid().is_root() {
        // Nothing is forbidden to root, except what the system itself guards.
        return;
    }
    let locked = world.file("ro.txt", "x\n");
    std::fs::set_permissions(&locked, PermissionsExt::from_mode(0o000)).unwrap();
    edit(&world, "ro.txt", [("x", "y")]).fails(1, "permission_denied", "Error code: EACCES.");
}

#[test]
fn e13_two_edits_of_one_file_by_two_names_both_last() {
    let world = World::new();
    std::os::unix::fs::symlink("c.txt", world.path("alias.txt")).unwrap();
    for _ in 0..20 {
        world.file("c.txt", "a=1\nb=1\n");
        let start = |path, old, new| {
            let command = world.command("pi-edit").json(edits(path, [(old, new)])).into_std();
            let mut command = command;
            command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
        };
        let both = [start("c.txt", "a=1", "a=2"), start("alias.txt", "b=1", "b=2")];
        for mut child in both {
            assert!(child.wait().unwrap().success());
        }
        assert_eq!(world.text("c.txt"), "a=2\nb=2\n");
    }
}

#[test]
fn e14_a_new_text_that_ends_in_a_break_fits_a_crlf_file() {
    let world = World::new();
    world.file("w.ini", "k = v\r\nend\r\n");
    edit(&world, "w.ini", [("k = v\n", "k = w\n")]).ok();
    assert_eq!(world.text("w.ini"), "k = w\r\nend\r\n");
}

#[test]
fn e16_the_diff_leaves_out_the_unchanged_middle() {
    let world = World::new();
    let lines: String = (1..=500).map(|n| format!("    {n}\n")).collect();
    world.file("n.txt", lines);
    let answer = edit(&world, "n.txt", [("    3\n", "    new\n    3\n"), ("    490\n", "    END\n")]).ok();
    let Edited { diff, .. } = answer.json();
    let rows: Vec<&str> = diff.lines().collect();
    assert!(rows.len() < 30, "{diff}");
    assert_eq!(rows.iter().filter(|row| row.trim() == "...").count(), 2, "{diff}");
    assert!(rows.contains(&"+  3     new"), "{diff}");
}

#[test]
fn thirty_two_processes_edit_one_file_and_no_edit_is_lost() {
    const PROCESSES: usize = 32;
    let world = World::new();
    std::os::unix::fs::symlink("shared.txt", world.path("alias.txt")).unwrap();
    for round in 0..4 {
        let lines: String = (0..PROCESSES).map(|n| format!("<{n}> old\n")).collect();
        world.file("shared.txt", lines);
        let start = |n: usize| {
            let path = if n.is_multiple_of(2) { "shared.txt" } else { "alias.txt" };
            let pair = [(format!("<{n}> old"), format!("<{n}> new"))];
            let arguments = edits(path, [(pair[0].0.as_str(), pair[0].1.as_str())]);
            let mut command = world.command("pi-edit").json(arguments).into_std();
            command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
        };
        let children: Vec<_> = (0..PROCESSES).map(start).collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        let expected: String = (0..PROCESSES).map(|n| format!("<{n}> new\n")).collect();
        assert_eq!(world.text("shared.txt"), expected, "round {round}");
    }
}

#[test]
fn the_answer_says_what_was_done() {
    let world = World::new();
    world.file("a.txt", "one\ntwo\n");
    let answer = world.command("pi-edit").args(["a.txt", "--old", "two", "--new", "2"]).run().ok();
    let edited: Edited = answer.json();
    assert_eq!(edited.path, "a.txt");
    assert_eq!(edited.path_base64, None);
    assert_eq!((edited.replaced, edited.first_changed_line), (1, 2));
    assert_eq!(edited.diff, " 1 one\n-2 two\n+2 2");
    assert_eq!(edited.patch, "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
    assert_eq!(edited.effect, "updated");
    assert!(!edited.dry_run);
    assert_eq!(world.text("a.txt"), "one\n2\n");
}

#[test]
fn the_patch_applies() {
    let world = World::new();
    let lines: String = (1..=80).map(|n| format!("line {n}\n")).collect();
    world.file("a.txt", format!("{lines}end"));
    world.file("copy/a.txt", format!("{lines}end"));
    let answer = edit(&world, "a.txt", [("line 2\n", ""), ("line 50", "L\nM"), ("end", "END")]).ok();
    let Edited { patch, .. } = answer.json();
    world.file("p.diff", patch);
    world.script("cd copy && patch -p0 < ../p.diff").run().status(0);
    assert_eq!(world.text("copy/a.txt"), world.text("a.txt"));
}

#[test]
fn old_and_new_come_in_pairs() {
    let world = World::new();
    world.file("a.txt", "--x\ny\n");
    let pairs = ["a.txt", "--old", "--x", "--new", "-1", "--old", "y", "--new", ""];
    world.command("pi-edit").args(pairs).run().ok();
    assert_eq!(world.text("a.txt"), "-1\n\n");
    let uneven = ["a.txt", "--old", "a", "--new", "b", "--old", "c"];
    world.command("pi-edit").args(uneven).run().fails(2, "invalid_arguments", "2 --old and 1 --new");
    let vague = ["a.txt", "--all", "--old", "a", "--new", "b", "--old", "c", "--new", "d"];
    world.command("pi-edit").args(vague).run().fails(2, "invalid_arguments", "a single --old");
    world.command("pi-edit").arg("a.txt").run().status(2).stderr_has("--old");
}

#[test]
fn flags_take_bytes_that_are_not_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    world.file("a.bin", b"\xfe \xff \x80\n");
    let bytes = std::ffi::OsStr::from_bytes;
    let run = world.command("pi-edit").arg("a.bin").arg("--old").arg(bytes(b"\xff")).arg("--new");
    run.arg(bytes(b"\xfd")).run().ok();
    assert_eq!(world.bytes("a.bin"), b"\xfe \xfd \x80\n");
}

#[test]
fn new_stdin_takes_the_new_text_from_a_pipe() {
    let world = World::new();
    world.file("page", "<@BODY@>\n");
    let run = world.command("pi-edit").args(["page", "--old", "@BODY@", "--new-stdin"]);
    run.stdin("one\ntwo\n").run().ok();
    assert_eq!(world.text("page"), "<one\ntwo\n>\n");
    let both = ["page", "--old", "one", "--new", "x", "--new-stdin"];
    world.command("pi-edit").args(both).run().fails(2, "invalid_arguments", "cannot be used with");
}

#[test]
fn line_picks_one_occurrence() {
    let world = World::new();
    world.file("a.txt", "x = 1\ny\nx = 1\nx = 1 + x = 1\n");
    world.command("pi-edit").args(["a.txt", "--old", "x = 1", "--new", "z", "--line", "3"]).run().ok();
    assert_eq!(world.text("a.txt"), "x = 1\ny\nz\nx = 1 + x = 1\n");

    let run = world.command("pi-edit").args(["a.txt", "--old", "x = 1", "--new", "z", "--line", "2"]).run();
    let error = run.json::<Value>()["error"].clone();
    assert_eq!((&error["count"], &error["lines"]), (&json!(3), &json!([1, 4, 4])), "{error}");
    run.fails(1, "no_match", "It does not start on line 2, but on lines 1, 4.");

    let run = world.command("pi-edit").args(["a.txt", "--old", "x = 1", "--new", "z", "--line", "4"]).run();
    run.fails(1, "not_unique", "Found 2 occurrences");
    world.command("pi-edit").args(["a.txt", "--old", "x", "--new", "z", "--line", "0"]).run().status(2);
}

#[test]
fn line_takes_whole_lines_as_grep_prints_them_even_if_they_have_look_alikes() {
    let world = World::new();
    world.file("a.txt", "it’s  \nit's\nit's\r\nit's x\n");
    let documents = json!({"path": "a.txt", "edits": [
        {"oldText": "it's", "newText": "A", "line": 2},
        {"oldText": "it's", "newText": "B", "line": 3},
        {"oldText": "it's x", "newText": "C", "line": 4},
    ]});
    world.command("pi-edit").args(["--args", "-"]).stdin(documents.to_string()).run().ok();
    assert_eq!(world.text("a.txt"), "it’s  \nA\nB\r\nC\n");
}

#[test]
fn all_replaces_every_occurrence_that_does_not_overlap() {
    let world = World::new();
    world.file("a.txt", "aaa a\naa\n");
    let answer = world.command("pi-edit").args(["a.txt", "--old", "aa", "--new", "b", "--all"]).run().ok();
    assert_eq!(answer.json::<Edited>().replaced, 2);
    assert_eq!(world.text("a.txt"), "ba a\nb\n");
    let fuzzy = json!({"path": "q.txt", "edits": [{"oldText": "\"q\"", "newText": "Q", "all": true}]});
    world.file("q.txt", "“q” „q‟ \nx \n");
    world.command("pi-edit").json(fuzzy).run().ok();
    assert_eq!(world.text("q.txt"), "Q Q\nx \n");
}

#[test]
fn dry_run_shows_and_does_not_write() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let run = world.command("pi-edit").args(["a.txt", "--old", "one", "--new", "two", "--dry-run"]);
    let edited: Edited = run.run().ok().json();
    assert_eq!((edited.effect.as_str(), edited.dry_run), ("unchanged", true));
    assert_eq!(edited.diff, "-1 one\n+1 two");
    assert_eq!(world.text("a.txt"), "one\n");
    let text = ["-o", "text", "a.txt", "--old", "one", "--new", "two", "--dry-run"];
    world
        .command("pi-edit")
        .args(text)
        .run()
        .ok()
        .stdout_is("Would replace 1 block(s) in a.txt; nothing was written.\n");
}

#[test]
fn each_failure_has_its_code_and_its_status() {
    let world = World::new();
    world.file("a.txt", "one two\n");
    edit(&world, "a.txt", [("three", "x")]).fails(1, "no_match", "Could not find the exact text in a.txt.");
    edit(&world, "a.txt", [("o", "x")]).fails(1, "not_unique", "Found 2 occurrences");
    edit(&world, "a.txt", [("one two", "x"), ("two", "y")]).fails(
        1,
        "overlap",
        "edits[0] and edits[1] overlap",
    );
    edit(&world, "a.txt", [("one", "one")]).fails(1, "unchanged", "No changes made to a.txt.");
    edit(&world, "a.txt", [("", "x")]).fails(2, "invalid_arguments", "oldText must not be empty in a.txt.");
    edit(&world, "a.txt", []).fails(2, "invalid_arguments", "edits must contain at least one replacement.");
    world.command("pi-edit").json(json!({"path": "a.txt"})).run().fails(
        2,
        "invalid_arguments",
        "edits: missing",
    );
    assert_eq!(world.text("a.txt"), "one two\n");
}

#[test]
fn a_text_that_is_not_there_is_answered_with_what_comes_nearest() {
    let world = World::new();
    world.file("m.rs", "fn main() {\n    let total = 0;\n    println!(\"{}\", total);\n}\nlast");
    let closest = |old: &str| {
        let answer = edit(&world, "m.rs", [(old, "x")]).status(1);
        let error = answer.json::<Value>()["error"].clone();
        assert_eq!(error["code"], "no_match", "{error}");
        error["closest"].clone()
    };
    let place = |start: usize, end: usize, reason: &str| json!({"start_line": start, "end_line": end, "reason": reason});
    assert_eq!(closest("main() {\n  let total = 0;"), place(1, 2, "indentation"));
    assert_eq!(closest("let  total=0"), place(2, 2, "white_space"));
    assert_eq!(closest("println!('{}', total)"), place(3, 3, "quotes"));
    assert_eq!(closest("LET TOTAL"), place(2, 2, "case"));
    assert_eq!(closest("}\nlast\n"), place(4, 5, "line_ending"));
    assert_eq!(closest("    let total = 1;\n    println!(\"{}\", total);\n"), place(2, 3, "text"));
    assert_eq!(closest("nothing of the kind"), Value::Null);
}

#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let world = World::new();
    nix::unistd::mkfifo(&world.path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    edit(&world, "pipe", [("x", "y")]).fails(
        1,
        "unsupported_file",
        "It is a named pipe, not a regular file.",
    );
    edit(&world, "/dev/null", [("x", "y")]).fails(1, "unsupported_file", "character device");
}

#[test]
fn a_name_that_is_not_utf8_goes_in_by_its_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    let name = std::ffi::OsStr::from_bytes(b"n\xff.txt");
    world.file(name, "one\n");
    let arguments = json!({"path": "n\u{fffd}.txt", "path_base64": "bv8udHh0",
        "edits": [{"oldText": "one", "newText": "two"}]});
    let edited: Edited = world.command("pi-edit").json(arguments).run().ok().json();
    assert_eq!((edited.path.as_str(), edited.path_base64.as_deref()), ("n\u{fffd}.txt", Some("bv8udHh0")));
    assert_eq!(world.text(name), "two\n");
    let broken = json!({"path": "n", "path_base64": "*", "edits": [{"oldText": "one", "newText": "two"}]});
    world.command("pi-edit").json(broken).run().fails(2, "invalid_arguments", "path_base64");
}

#[test]
fn a_stream_is_answered_line_by_line_and_goes_on_after_a_failure() {
    let world = World::new();
    world.file("a.txt", "one\n");
    world.file("b.txt", "two\n");
    let documents = stream(&[
        edits("a.txt", [("one", "1")]),
        edits("a.txt", [("one", "2")]),
        edits("b.txt", [("two", "2")]),
    ]);
    let answer = world.command("pi-edit").args(["--args", "-"]).stdin(documents).run().status(1);
    assert_eq!(codes(&answer), ["done", "no_match", "done"]);
    assert_eq!((world.text("a.txt"), world.text("b.txt")), ("1\n".to_owned(), "2\n".to_owned()));
}

#[test]
fn atomic_applies_all_documents_and_those_of_one_file_one_after_another() {
    let world = World::new();
    world.file("a.txt", "one\n");
    world.file("b.txt", "two\n");
    std::os::unix::fs::symlink("a.txt", world.path("alias.txt")).unwrap();
    let documents = stream(&[
        edits("b.txt", [("two", "2")]),
        edits("a.txt", [("one", "1")]),
        edits("alias.txt", [("1", "uno")]),
    ]);
    let answer = world.command("pi-edit").args(["--atomic", "--args", "-"]).stdin(documents).run().ok();
    let done: Vec<Edited> = answer.lines();
    assert_eq!(done.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(), ["b.txt", "a.txt", "alias.txt"]);
    assert_eq!(done[2].diff, "-1 1\n+1 uno");
    assert_eq!((world.text("a.txt"), world.text("b.txt")), ("uno\n".to_owned(), "2\n".to_owned()));
}

#[test]
fn atomic_writes_nothing_when_one_document_fails() {
    let world = World::new();
    world.file("a.txt", "one\n");
    world.file("b.txt", "two\n");
    let good = edits("a.txt", [("one", "1")]);
    let atomic =
        |documents: String| world.command("pi-edit").args(["--atomic", "--args", "-"]).stdin(documents).run();

    let answer =
        atomic(stream(&[good.clone(), edits("b.txt", [("none", "x")]), edits("c.txt", [("x", "y")])]));
    assert_eq!(codes(&answer), ["not_applied", "no_match", "not_found"]);
    assert_eq!(answer.lines::<Value>()[0]["error"]["failed_document"], 2);
    let _ = answer.status(1);

    let answer = atomic(stream(&[good.clone(), json!({"path": "b.txt"})]));
    assert_eq!(codes(&answer), ["not_applied", "invalid_arguments"]);
    let _ = answer.status(2);

    let answer = atomic(format!("{good}\n{{\"path\": \"b.txt\", \"ed"));
    assert_eq!(codes(&answer), ["not_applied", "invalid_arguments"]);
    assert_eq!((world.text("a.txt"), world.text("b.txt")), ("one\n".to_owned(), "two\n".to_owned()));

    let dry = ["--atomic", "--dry-run", "--args", "-"];
    let answer = world.command("pi-edit").args(dry).stdin(stream(&[good])).run().ok();
    assert!(answer.json::<Edited>().dry_run);
    assert_eq!(world.text("a.txt"), "one\n");
}

#[test]
fn atomic_puts_back_what_was_written_before_a_write_failed() {
    let world = World::new();
    world.file("a.txt", "one\n");
    world.file("b.txt", "two\n");
    // The second file cannot grow beyond the limit that the first keeps.
    let big = "x".repeat(64 * 1024);
    let documents = stream(&[edits("a.txt", [("one", "1")]), edits("b.txt", [("two", &big)])]);
    world.file("in.jsonl", documents);
    let script = "trap '' XFSZ; ulimit -f 8; pi-edit --atomic --args @in.jsonl";
    let answer = world.script(script).run();
    assert_eq!(codes(&answer), ["not_applied", "no_space"], "{}", answer.report());
    let _ = answer.status(1);
    assert!(
        (world.text("a.txt"), world.text("b.txt")) == ("one\n".to_owned(), "two\n".to_owned()),
        "not put back"
    );
    assert_eq!(world.tree(), ["a.txt", "b.txt", "in.jsonl"]);
}

#[test]
fn atomic_takes_more_files_than_a_shell_lets_be_open() {
    let world = World::new();
    let names: Vec<String> = (0..40).map(|n| format!("{n}.txt")).collect();
    let documents = names.iter().map(|name| {
        world.file(name, "one\n");
        edits(name, [("one", "two")])
    });
    world.file("in.jsonl", stream(&documents.collect::<Vec<_>>()));
    world.script("ulimit -Sn 32; pi-edit --atomic --args @in.jsonl").run().ok();
    assert!(names.iter().all(|name| world.text(name) == "two\n"));
}
