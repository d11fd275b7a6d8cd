//! pi-find.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::harness::World;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Found {
    root: String,
    root_base64: Option<String>,
    paths: Vec<String>,
    #[serde(default)]
    lossy_paths: Vec<Lossy>,
    result_limit_reached: Option<u64>,
    #[serde(default)]
    truncated: bool,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lossy {
    index: usize,
    path_base64: String,
}

#[track_caller]
fn paths(world: &World, arguments: Value) -> Vec<String> {
    world.command("pi-find").json(arguments).run().ok().json::<Found>().paths
}

fn world_of(files: &[&str]) -> World {
    let world = World::new();
    for file in files {
        world.file(file, "hit\n");
    }
    world
}

#[test]
fn f01_a_path_pattern_is_anchored_at_the_search_directory() {
    let world = world_of(&["lib/a.rs", "lib/in/b.rs", "old/lib/c.rs"]);
    assert_eq!(paths(&world, json!({"pattern": "lib/*.rs"})), ["lib/a.rs"]);
    assert_eq!(paths(&world, json!({"pattern": "lib/**/*.rs"})), ["lib/a.rs", "lib/in/b.rs"]);
    assert_eq!(paths(&world, json!({"pattern": "**/lib/*.rs"})), ["lib/a.rs", "old/lib/c.rs"]);
}

#[test]
fn f02_a_leading_dot_slash_in_the_pattern_finds_the_same() {
    let world = world_of(&["lib/a.rs"]);
    assert_eq!(paths(&world, json!({"pattern": "./lib/*.rs"})), ["lib/a.rs"]);
}

#[test]
fn f04_rules_of_a_folder_do_not_reach_its_sibling() {
    let world = world_of(&["s/a/1.x", "s/b/2.x"]);
    world.file("s/a/.gitignore", "*.x\n");
    world.script("git init -q").run().ok();
    assert_eq!(paths(&world, json!({"pattern": "*.x"})), ["s/b/2.x"]);
}

#[test]
fn f05_rules_of_an_outer_repository_do_not_reach_a_nested_one() {
    let world = world_of(&["in/n.log"]);
    world.file(".gitignore", "*.log\nin/\n");
    world.script("git init -q; git -C in init -q").run().ok();
    assert_eq!(paths(&world, json!({"pattern": "*.log", "path": "in"})), ["n.log"]);
}

#[test]
fn f08_a_pattern_that_begins_with_a_dash_is_a_pattern() {
    let world = world_of(&["d.txt"]);
    let text = "No files found matching pattern\n";
    world.command("pi-find").args(["-o", "text", "--", "-x"]).run().ok().stdout_is(text);
    assert_eq!(paths(&world, json!({"pattern": "-x"})), [""; 0]);
}

#[test]
fn f13_every_start_directory_reports_what_git_lists() {
    let world = world_of(&["w/build/f", "w/build/s/f", "w/build/s/build/g", "build/h"]);
    world.file(".gitignore", "build/\n!/w/build/\n");
    world.script("git init -q").run().ok();
    for directory in [".", "w", "w/build", "w/build/s"] {
        let git =
            world.script(&format!("cd {directory}; git ls-files -co --exclude-standard | LC_ALL=C sort"));
        let listed = String::from_utf8(git.run().ok().stdout).unwrap();
        let found: Found = world.command("pi-find").args(["-t", "f", "*", directory]).run().ok().json();
        assert_eq!(found.paths, listed.lines().collect::<Vec<_>>(), "{directory}");
    }
}

#[test]
fn f16_a_name_that_is_not_utf8_spoils_nothing() {
    let world = world_of(&["ok.txt"]);
    world.script("printf x > $'t\\xfe.txt'").run().ok();
    world.command("pi-find").arg("*.txt").run().ok().json_is(json!({
        "root": ".",
        "paths": ["ok.txt", "t\u{fffd}.txt"],
        "lossy_paths": [{"index": 1, "path_base64": "dP4udHh0"}],
    }));
    let text = world.command("pi-find").args(["*.txt", "-o", "text"]).run().ok();
    assert_eq!(text.stdout, b"ok.txt\nt\xfe.txt\n");
    world.script("pi-find -0 '*.txt' | xargs -0 cat").run().ok().stdout_is("hit\nx");
}

#[test]
fn f17_brackets_in_a_folder_name_are_no_class() {
    let world = world_of(&["r/[slug]/v.rs"]);
    assert_eq!(paths(&world, json!({"pattern": "*.rs", "path": "r/[slug]"})), ["v.rs"]);
    assert_eq!(paths(&world, json!({"pattern": "r/[[]slug[]]/*.rs"})), ["r/[slug]/v.rs"]);
}

#[test]
fn f19_a_search_from_the_root_keeps_the_first_part_of_paths() {
    let world = World::new();
    assert_eq!(paths(&world, json!({"pattern": "etc/passwd", "path": "/"})), ["etc/passwd"]);
    world.command("pi-find").args(["-0", "etc/passwd", "/"]).run().ok().stdout_is("/etc/passwd\0");
}

#[test]
fn f20_a_named_pipe_is_only_listed() {
    let world = world_of(&["t.txt"]);
    world.script("mkfifo p").run().ok();
    assert_eq!(paths(&world, json!({"pattern": "*"})), ["p", "t.txt"]);
}

#[test]
fn null_ended_output_names_paths_from_the_callers_directory() {
    let world = world_of(&["-rf", "d/a b\nc", "d/e"]);
    let names = |arguments: &[&str]| world.command("pi-find").args(arguments).run().ok().stdout;
    assert_eq!(names(&["-0", "--", "-*"]), b"./-rf\0");
    assert_eq!(names(&["-0", "*", "d"]), b"d/a b\nc\0d/e\0");
    assert_eq!(names(&["--print0", "*", "d/"]), b"d/a b\nc\0d/e\0");
    assert_eq!(names(&["-0", "nothing"]), b"");
    assert_eq!(names(&["-0", "e", "-C", "d"]), b"./e\0");
}

#[test]
fn null_ended_output_has_no_limit_unless_one_is_given() {
    let world = World::new();
    for number in 0..1100 {
        world.file(format!("{number:04}"), "");
    }
    let all = world.command("pi-find").args(["-0", "*"]).run().ok().stdout;
    assert_eq!(all.split(|byte| *byte == 0).count(), 1101);
    let some = world.command("pi-find").args(["-0", "*", "--limit", "2"]).run().status(0);
    some.stdout_is("./0000\0./0001\0").stderr_has("more than 2 results");
    let found: Found = world.command("pi-find").arg("*").run().ok().json();
    assert_eq!((found.paths.len(), found.result_limit_reached), (1000, Some(1000)));
}

#[test]
fn limit_is_announced_only_when_there_is_more() {
    let world = world_of(&["a", "b", "c"]);
    let found =
        |limit: &str| world.command("pi-find").args(["*", "--limit", limit]).run().ok().json::<Found>();
    assert_eq!((found("3").paths.len(), found("3").result_limit_reached), (3, None));
    assert_eq!((found("2").paths, found("2").result_limit_reached), (vec!["a".into(), "b".into()], Some(2)));
    assert_eq!((found("-1").paths.len(), found("-1").result_limit_reached), (1, Some(1)));
}

#[test]
fn a_type_can_be_asked_for() {
    let world = world_of(&["d/f"]);
    std::os::unix::fs::symlink("d/f", world.path("l")).unwrap();
    let of_type =
        |kind: &str| world.command("pi-find").args(["*", "--type", kind]).run().ok().json::<Found>().paths;
    assert_eq!(
        (of_type("f"), of_type("d"), of_type("l")),
        (vec!["d/f".into()], vec!["d/".into()], vec!["l".into()])
    );
}

#[test]
fn bad_arguments_and_places_are_errors() {
    let world = world_of(&["f"]);
    world.command("pi-find").args(["*", "gone"]).run().fails(1, "not_found", "Path not found: ");
    world.command("pi-find").args(["*", "f"]).run().fails(1, "not_directory", "Not a directory: ");
    world.command("pi-find").arg("{a,b").run().fails(2, "invalid_pattern", "'{a,b'");
    world.command("pi-find").run().fails(2, "invalid_arguments", "required arguments");
}

#[test]
fn a_directory_that_cannot_be_read_is_a_warning_and_a_status() {
    let world = world_of(&["a.txt", "z.txt"]);
    // Nobody can list a directory whose path is too long, not even the superuser.
    let nest = "d=$(printf 'd%.0s' {1..250}); for i in {1..20}; do mkdir $d; cd $d; done; touch x.txt";
    world.script(nest).run().ok();
    let answer = world.command("pi-find").arg("*.txt").run().status(1);
    let answer = answer.stderr_has("pi-find: ENAMETOOLONG: file name too long, scandir '");
    assert_eq!(answer.json::<Found>().paths, ["a.txt", "z.txt"]);
}

#[test]
fn the_same_is_printed_every_time() {
    let world = World::new();
    for number in 0..2000 {
        world.file(format!("{}/{}/f{number}.rs", number % 13, number % 7), "");
    }
    let run = || world.command("pi-find").args(["*.rs", "--limit", "700"]).run().ok().stdout;
    let first = run();
    for _ in 0..5 {
        assert_eq!(run(), first);
    }
}

#[test]
fn braces_in_an_ignore_file_are_characters_as_in_git() {
    let world = world_of(&["a", "b", "{a,b}", "c}d"]);
    world.file(".gitignore", "{a,b}\n[{c]}d\n");
    world.script("git init -q").run().ok();
    let git = world.script("git ls-files -co --exclude-standard").run().stdout;
    let git: Vec<_> = String::from_utf8(git).unwrap().lines().map(str::to_owned).collect();
    let found: Found = world.command("pi-find").args(["-t", "f", "*"]).run().json();
    assert_eq!(found.paths, git);
    assert!(git.contains(&"a".to_owned()) && !git.contains(&"{a,b}".to_owned()));
}
