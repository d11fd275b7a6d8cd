//! pi-grep, and the renaming of a call with pi-edit.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::harness::World;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Found {
    root: String,
    root_base64: Option<String>,
    matches: Vec<Match>,
    match_limit_reached: Option<u64>,
    #[serde(default)]
    lines_truncated: bool,
    #[serde(default)]
    truncated: bool,
    #[serde(default)]
    errors: Vec<String>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Match {
    path: String,
    path_base64: Option<String>,
    line_number: u64,
    line: String,
    line_base64: Option<String>,
    #[serde(default)]
    line_truncated: bool,
    submatches: Vec<Submatch>,
    #[serde(default)]
    before: Vec<Line>,
    #[serde(default)]
    after: Vec<Line>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Submatch {
    start: usize,
    end: usize,
    text: String,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    line_number: u64,
    line: String,
    line_base64: Option<String>,
}

fn world_of(files: &[(&str, &str)]) -> World {
    let world = World::new();
    for (file, content) in files {
        world.file(file, content);
    }
    world
}

/// The model's text of a call.
#[track_caller]
fn text(world: &World, arguments: Value) -> String {
    let run = world.command("pi-grep").json(arguments).args(["-o", "text"]).run();
    String::from_utf8(run.stdout).unwrap()
}

/// The matches as `path:line`.
#[track_caller]
fn places(world: &World, arguments: &[&str]) -> Vec<String> {
    let found: Found = world.command("pi-grep").args(arguments).run().json();
    found.matches.iter().map(|found| format!("{}:{}", found.path, found.line_number)).collect()
}

#[test]
fn f02_a_leading_dot_slash_in_the_glob_finds_the_same() {
    let world = world_of(&[("lib/a.rs", "hit\n")]);
    assert_eq!(text(&world, json!({"pattern": "hit", "glob": "./lib/*.rs"})), "lib/a.rs:1: hit\n");
}

#[test]
fn f05_rules_of_an_outer_repository_do_not_reach_a_nested_one() {
    let world = world_of(&[("in/n.log", "hit\n"), (".gitignore", "*.log\nin/\n")]);
    world.script("git init -q; git -C in init -q").run().ok();
    assert_eq!(places(&world, &["hit", "in"]), ["n.log:1"]);
    assert_eq!(places(&world, &["hit"]), [""; 0]);
}

#[test]
fn f07_the_glob_is_taken_from_the_path_even_through_a_link() {
    let world = world_of(&[("repo/m/a.js", "hit\n"), ("repo/a.js", "hit\n")]);
    std::os::unix::fs::symlink("repo", world.path("lk")).unwrap();
    for path in ["repo", "lk"] {
        let arguments = json!({"pattern": "hit", "path": path, "glob": "m/*.js"});
        assert_eq!(text(&world, arguments), "m/a.js:1: hit\n");
    }
}

#[test]
fn f08_a_pattern_that_begins_with_a_dash_is_a_pattern() {
    let world = world_of(&[("d.txt", "--files here\n")]);
    assert_eq!(text(&world, json!({"pattern": "--files"})), "d.txt:1: --files here\n");
    assert_eq!(places(&world, &["-e", "--files"]), ["d.txt:1"]);
    assert_eq!(places(&world, &["--", "--files"]), ["d.txt:1"]);
}

#[test]
fn f10_a_lone_carriage_return_does_not_shift_line_numbers() {
    let world = world_of(&[("c.txt", "one\rtwo\nthree\n")]);
    let arguments = json!({"pattern": "three", "context": 1, "path": "c.txt"});
    assert_eq!(text(&world, arguments), "c.txt-1- one\rtwo\nc.txt:2: three\n");
}

#[test]
fn f11_cutting_a_long_line_keeps_characters_whole() {
    let world = World::new();
    world.file("e.txt", format!("{}{}\n", "k".repeat(497), "😀".repeat(10)));
    let text = text(&world, json!({"pattern": "kk", "path": "e.txt"}));
    assert!(text.starts_with("e.txt:1: kkk"));
    assert!(text.contains("kkk😀... [truncated]\n\n[Some lines truncated to 500 chars."), "{text}");
}

#[test]
fn f13_every_start_directory_reports_what_git_lists() {
    let files = ["w/build/f", "w/build/s/f", "w/build/s/build/g", "build/h"].map(|file| (file, "needle\n"));
    let world = world_of(&files);
    world.file(".gitignore", "build/\n!/w/build/\n");
    world.script("git init -q").run().ok();
    for directory in [".", "w", "w/build", "w/build/s"] {
        let script =
            format!("cd {directory}; git ls-files -co --exclude-standard | grep -v ignore | sed s/$/:1/");
        let listed = String::from_utf8(world.script(&script).run().ok().stdout).unwrap();
        assert_eq!(places(&world, &["needle", directory]), listed.lines().collect::<Vec<_>>(), "{directory}");
    }
}

#[test]
fn f14_a_rule_of_a_parent_counts_in_a_subfolder() {
    let world = world_of(&[("lib/gen/k.txt", "zork\n"), (".gitignore", "**/gen/*\n")]);
    world.script("git init -q").run().ok();
    assert_eq!(places(&world, &["zork"]), [""; 0]);
    assert_eq!(places(&world, &["zork", "-C", "lib"]), [""; 0]);
}

#[test]
fn f16_a_name_that_is_not_utf8_spoils_nothing() {
    let world = world_of(&[("ok.txt", "x\n")]);
    world.script("printf 'x\\n' > $'t\\xfe.txt'").run().ok();
    let found: Found = world.command("pi-grep").arg("^x$").run().ok().json();
    let paths: Vec<_> = found.matches.iter().map(|m| (m.path.as_str(), m.path_base64.as_deref())).collect();
    assert_eq!(paths, [("ok.txt", None), ("t\u{fffd}.txt", Some("dP4udHh0"))]);
    let raw = world.command("pi-grep").args(["^x$", "-o", "text"]).run().ok().stdout;
    assert_eq!(raw, b"ok.txt:1: x\nt\xfe.txt:1: x\n");
}

#[test]
fn f20_a_named_pipe_in_the_tree_blocks_nothing_and_is_refused_by_name() {
    let world = world_of(&[("t.txt", "test\n")]);
    world.script("mkfifo p").run().ok();
    assert_eq!(places(&world, &["test"]), ["t.txt:1"]);
    let run = world.command("pi-grep").args(["test", "p"]).run();
    run.fails(2, "unsupported_file", "is a named pipe; only regular files");
}

#[test]
fn a_match_says_where_it_is() {
    let world = world_of(&[("d/a.txt", "one\n\ttwo two\n")]);
    world.command("pi-grep").args(["t(w)o", "d"]).run().ok().json_is(json!({
        "root": "d",
        "matches": [{
            "path": "a.txt",
            "line_number": 2,
            "line": "\ttwo two",
            "submatches": [{"start": 1, "end": 4, "text": "two"}, {"start": 5, "end": 8, "text": "two"}],
        }],
    }));
    let found: Found = world.command("pi-grep").args(["one", "d/a.txt"]).run().ok().json();
    assert_eq!((found.root.as_str(), found.matches[0].path.as_str()), ("d", "a.txt"));
}

#[test]
fn context_gives_every_line_once() {
    let world = world_of(&[("n", "1\n2\n3x\n4\n5x\n6\n7\n8\n9\n10x\n")]);
    let found: Found = world.command("pi-grep").args(["x", "--context", "2"]).run().ok().json();
    let numbers = |lines: &[Line]| lines.iter().map(|line| line.line_number).collect::<Vec<_>>();
    let shown: Vec<_> =
        found.matches.iter().map(|m| (numbers(&m.before), m.line_number, numbers(&m.after))).collect();
    assert_eq!(shown, [(vec![1, 2], 3, vec![4]), (vec![], 5, vec![6, 7]), (vec![8, 9], 10, vec![])]);
}

#[test]
fn bytes_that_are_not_utf8_are_in_the_line_too() {
    let world = World::new();
    world.file("b", b"a\xffhit\n");
    let found: Found = world.command("pi-grep").arg("hit").run().ok().json();
    assert_eq!(
        (found.matches[0].line.as_str(), found.matches[0].line_base64.as_deref()),
        ("a\u{fffd}hit", Some("Yf9oaXQ="))
    );
    assert_eq!(found.matches[0].submatches, [Submatch { start: 2, end: 5, text: "hit".into() }]);
}

#[test]
fn a_very_long_line_is_cut_for_programs_too() {
    let world = World::new();
    world.file("l", format!("x{}hit\n", "é".repeat(40_000)));
    let found: Found = world.command("pi-grep").arg("é+hit|x").run().ok().json();
    let only = &found.matches[0];
    assert_eq!((only.line.len(), only.line_truncated, only.submatches.len()), (65_535, true, 2));
    assert!(found.lines_truncated);
}

#[test]
fn a_line_that_no_memory_should_hold_is_an_error_of_its_file_alone() {
    let world = world_of(&[("b", "hit\n")]);
    world.script("head -c 20000000 /dev/zero | tr '\\0' x > a").run().ok();
    let answer =
        world.command("pi-grep").arg("hit").run().status(2).stderr_has("'a' has a line of more than 16.0MB");
    let found: Found = answer.json();
    assert_eq!((found.matches.len(), found.errors.len()), (1, 1));
}

#[test]
fn limit_stops_and_says_so_only_when_there_is_more() {
    let world = world_of(&[("a", "hit\nhit\n"), ("b", "hit\n"), ("c", "no\n")]);
    let found =
        |limit: &str| -> Found { world.command("pi-grep").args(["hit", "--limit", limit]).run().ok().json() };
    for (limit, count, reached) in [("3", 3, None), ("2", 2, Some(2)), ("1", 1, Some(1)), ("0", 1, Some(1))] {
        assert_eq!(
            (found(limit).matches.len(), found(limit).match_limit_reached),
            (count, reached),
            "{limit}"
        );
    }
    assert_eq!(found("1e30").matches.len(), 3);
    let only: Found = world.command("pi-grep").args(["hit", "a", "--limit", "1"]).run().ok().json();
    assert_eq!((only.matches.len(), only.match_limit_reached), (1, Some(1)));
}

#[test]
fn statuses_are_those_of_grep() {
    let world = world_of(&[("a", "hit\n")]);
    world.command("pi-grep").arg("hit").run().status(0);
    let none = world.command("pi-grep").args(["none", "-o", "text"]).run().status(1);
    none.stdout_is("No matches found\n");
    world.command("pi-grep").args(["hit", "gone"]).run().fails(2, "not_found", "Path not found: ");
    world.command("pi-grep").arg("(").run().fails(2, "invalid_pattern", "unclosed group");
    world.command("pi-grep").args(["x", "-g", "[a"]).run().fails(
        2,
        "invalid_pattern",
        "error parsing glob '[a'",
    );
    world.command("pi-grep").arg("a\\nb").run().fails(2, "invalid_pattern", "--multiline");
    world.command("pi-grep").run().fails(2, "invalid_arguments", "give a PATTERN");
    world.command("pi-grep").args(["x", "--type", "nonsense"]).run().fails(
        2,
        "invalid_arguments",
        "nonsense",
    );
}

#[test]
fn case_literal_globs_types_and_several_patterns() {
    let world = world_of(&[("a.rs", "Foo\nf.o\n"), ("b.py", "foo\nbar\n"), ("c/d.rs", "bar\n")]);
    assert_eq!(places(&world, &["-i", "FOO"]), ["a.rs:1", "b.py:1"]);
    assert_eq!(places(&world, &["--ignore-case", "FOO"]), ["a.rs:1", "b.py:1"]);
    assert_eq!(places(&world, &["-F", "f.o"]), ["a.rs:2"]);
    assert_eq!(places(&world, &["--literal", "f.o"]), ["a.rs:2"]);
    assert_eq!(places(&world, &["-e", "foo", "--pattern", "bar"]), ["b.py:1", "b.py:2", "c/d.rs:1"]);
    assert_eq!(places(&world, &["-e", "foo", "-e", "bar", "c"]), ["d.rs:1"]);
    assert_eq!(places(&world, &[".", "--glob", "*.rs", "-g", "!c"]), ["a.rs:1", "a.rs:2"]);
    assert_eq!(places(&world, &["bar", "--type", "py"]), ["b.py:2"]);
    assert_eq!(places(&world, &["bar", "-t", "!py"]), ["c/d.rs:1"]);
}

#[test]
fn multiline_matches_span_lines() {
    let world = world_of(&[("a", "x\nfoo(\n  1)\ny\n")]);
    let found: Found = world.command("pi-grep").args(["-U", "foo\\(\\s*1"]).run().ok().json();
    let only = &found.matches[0];
    assert_eq!((only.line_number, only.line.as_str()), (2, "foo(\n  1)"));
    assert_eq!(only.submatches, [Submatch { start: 0, end: 8, text: "foo(\n  1".into() }]);
    let text = world.command("pi-grep").args(["--multiline", "foo\\(\\s*1", "-o", "text"]).run().ok();
    text.stdout_is("a:2: foo(\na:3:   1)\n");
}

#[test]
fn what_is_written_while_searching_is_what_a_result_holds() {
    let world = World::new();
    for number in 0..400 {
        world.file(format!("{}/f{number}", number % 17), format!("hit {number}\nmiss\nhit\n"));
    }
    for arguments in [
        &["hit"][..],
        &["hit", "--limit", "1e9", "--context", "1"],
        &["hit", "--limit", "777"],
        &["none"],
        &["hit", "--replace", "new"],
        &["hit", "--replace", "new", "--limit", "3"],
    ] {
        let written = world.command("pi-grep").args(arguments).run();
        let result: Value = world.command("pi-grep").args(arguments).args(["-o", "result"]).run().json();
        let content = &result["structuredContent"];
        match content.get("files") {
            Some(files) => assert_eq!(&Value::Array(written.lines()), files, "{arguments:?}"),
            None => assert_eq!(&written.json::<Value>(), content, "{arguments:?}"),
        }
    }
}

#[test]
fn a_reader_that_leaves_ends_the_search_without_a_word() {
    let world = World::new();
    for number in 0..200 {
        world.file(format!("{number}"), "hit\n".repeat(500));
    }
    let script = "pi-grep hit --limit 1e9 | head -c 9; echo \" ${PIPESTATUS[0]}\"";
    world.script(script).run().ok().stdout_is("{\"root\":\" 141\n");
}

#[test]
fn the_same_is_printed_every_time() {
    let world = World::new();
    for number in 0..2000 {
        world.file(format!("{}/{}/f{number}", number % 13, number % 7), "hit\n".repeat(number % 5));
    }
    for limit in ["100", "1e6"] {
        let run = || world.command("pi-grep").args(["hit", "--limit", limit]).run().ok().stdout;
        let first = run();
        for _ in 0..5 {
            assert!(run() == first, "limit {limit}");
        }
    }
}

#[test]
fn replace_prints_a_call_of_edit_for_each_file() {
    let world = world_of(&[
        ("src/a.rs", "fn old(a) {}\r\n\r\nold(b) old(c)\n\nold\n"),
        ("src/b.rs", "old(x)\nold(old)\n"),
        ("src/c.rs", "nothing\n"),
    ]);
    let run = world
        .command("pi-grep")
        .args(["old\\((?<what>\\w*)\\)", "src", "--replace", "new($what, $$1)"])
        .run();
    assert_eq!(
        run.ok().lines::<Value>(),
        [
            json!({"path": "src/a.rs", "edits": [
                {"oldText": "fn old(a) {}", "newText": "fn new(a, $1) {}", "line": 1},
                {"oldText": "old(b) old(c)", "newText": "new(b, $1) new(c, $1)", "line": 3},
            ]}),
            json!({"path": "src/b.rs", "edits": [
                {"oldText": "old(x)", "newText": "new(x, $1)", "line": 1},
                {"oldText": "old(old)", "newText": "new(old, $1)", "line": 2},
            ]}),
        ]
    );
    let text = world.command("pi-grep").args(["x", "src/b.rs", "--replace", "y", "-o", "text"]).run();
    text.ok().stdout_is("src/b.rs:1:\n-old(x)\n+old(y)\n");
}

#[test]
fn replace_leaves_line_breaks_and_unchanged_lines_alone() {
    let edits = |content: &str, arguments: &[&str]| -> Vec<Value> {
        let world = world_of(&[("f", content)]);
        let lines = world.command("pi-grep").args(arguments).run().lines::<Value>();
        lines.iter().flat_map(|line| line["edits"].as_array().unwrap().clone()).collect()
    };
    let edit = |old: &str, new: &str, line: u64| json!({"oldText": old, "newText": new, "line": line});
    assert_eq!(edits("a b\r\n", &["b\\s*$", "--replace", "c"]), [edit("a b", "a c", 1)]);
    assert_eq!(edits("a\n\nb\n", &["^$", "--replace", "x"]), [edit("\n", "x\n", 2)]);
    assert_eq!(edits("same\nother\n", &["same|other", "--replace", "same"]), [edit("other", "same", 2)]);
    assert_eq!(edits("a\nb\nc\n", &["-U", "a\\nb", "--replace", "d"]), [edit("a\nb", "d", 1)]);
    assert_eq!(edits("a\nb\nc\n", &["-U", "b\\n", "--replace", ""]), [edit("b\n", "", 2)]);
    assert_eq!(edits("a\na\nc\n", &["-U", "^a$", "--replace", "b"]), [edit("a\na", "b\nb", 1)]);
}

#[test]
fn replace_refuses_what_it_could_not_give_back() {
    let world = World::new();
    world.file("latin", b"hit \xe9\n");
    world.file("utf16", b"\xff\xfeh\0i\0t\0\n\0");
    world.file("binary", [b"hit\n".as_slice(), b"filler\n".repeat(20_000).as_slice(), b"\0"].concat());
    world.file("mixed", b"hit\n\xe9\n");
    let answer = world.command("pi-grep").args(["hit", "--replace", "x"]).run().status(2);
    let answer = answer.stderr_has("'latin' is left alone: line 1 is not UTF-8");
    let answer = answer.stderr_has("'utf16' is left alone: it is UTF-16");
    let answer = answer.stderr_has("'binary' is left alone: it is binary");
    assert_eq!(
        answer.lines::<Value>(),
        [json!({"path": "mixed", "edits": [{"oldText": "hit", "newText": "x", "line": 1}]})]
    );
    let unknown = world.command("pi-grep").args(["hit", "--replace", "$1"]).run();
    unknown.fails(2, "invalid_arguments", "the template names $1");
}

#[test]
fn renaming_a_call_across_a_tree() {
    let world = world_of(&[
        ("src/a.rs", "fn old_name(a: u8) {}\r\nfn b() { old_name(1); old_name(2) }\r\n"),
        ("src/deep/b.rs", "// old_name\nold_name(3)\nold_name(3)\n"),
        ("src/ignored.log", "old_name(4)\n"),
        (".gitignore", "*.log\n"),
        ("src/c.rs", "unrelated\n"),
    ]);
    world.script("git init -q").run().ok();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/rename.sh");
    let rename = |old: &str| world.script(&format!("{} '{old}' 'new_name($1)' src", script.display())).run();
    let diffs = rename("old_name\\(([^)]*)\\)").ok();
    let diffs = String::from_utf8(diffs.stdout).unwrap();
    assert!(diffs.contains("new_name(a: u8)") && diffs.contains("new_name(3)"), "{diffs}");
    assert_eq!(world.text("src/a.rs"), "fn new_name(a: u8) {}\r\nfn b() { new_name(1); new_name(2) }\r\n");
    assert_eq!(world.text("src/deep/b.rs"), "// old_name\nnew_name(3)\nnew_name(3)\n");
    assert_eq!(world.text("src/ignored.log"), "old_name(4)\n");
    rename("old_name\\(([^)]*)\\)").status(1).stderr_has("nothing to rename");
    rename("(").status(2).stderr_has("unclosed group");
}
