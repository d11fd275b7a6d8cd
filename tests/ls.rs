//! pi-ls.

use serde::Deserialize;
use serde_json::json;

use crate::harness::World;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    path: String,
    entries: Vec<Entry>,
    entry_limit_reached: Option<u64>,
    #[serde(default)]
    truncated: bool,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    name_base64: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    target: Option<String>,
    target_type: Option<String>,
    size: Option<u64>,
    modified: Option<String>,
}

fn names(listed: &Listed) -> Vec<&str> {
    listed.entries.iter().map(|entry| entry.name.as_str()).collect()
}

#[test]
fn every_kind_of_entry_is_told_apart() {
    let world = World::new();
    world.file("dir/x", "");
    world.file("file", "1234");
    for (target, link) in [("file", "to-file"), ("dir", "to-dir"), ("gone", "to-nothing")] {
        std::os::unix::fs::symlink(target, world.path(link)).unwrap();
    }
    world.script("mkfifo pipe").run().ok();
    world.command("pi-ls").run().ok().json_is(json!({
        "path": ".",
        "entries": [
            {"name": "dir", "type": "dir"},
            {"name": "file", "type": "file"},
            {"name": "pipe", "type": "fifo"},
            {"name": "to-dir", "type": "symlink", "target": "dir", "target_type": "dir"},
            {"name": "to-file", "type": "symlink", "target": "file", "target_type": "file"},
            {"name": "to-nothing", "type": "symlink", "target": "gone"},
        ],
    }));
    let text = "dir/\nfile\npipe\nto-dir/\nto-file\n";
    world.command("pi-ls").args(["-o", "text"]).run().ok().stdout_is(text);
}

#[test]
fn long_adds_size_and_time_in_utc() {
    let world = World::new();
    world.file("f", "12345");
    world.script("TZ=America/New_York touch -d '2024-02-29T23:30:00-05:00' f").run().ok();
    world.command("pi-ls").arg("--long").run().ok().json_is(json!({
        "path": ".",
        "entries": [{"name": "f", "type": "file", "size": 5, "modified": "2024-03-01T04:30:00Z"}],
    }));
}

#[test]
fn limit_says_that_there_is_more() {
    let world = World::new();
    for name in ["a", "b", "c"] {
        world.file(name, "");
    }
    let listed: Listed = world.command("pi-ls").args(["--limit", "2"]).run().ok().json();
    assert_eq!((names(&listed), listed.entry_limit_reached), (vec!["a", "b"], Some(2)));
    let listed: Listed = world.command("pi-ls").args(["--limit", "3"]).run().ok().json();
    assert_eq!((names(&listed), listed.entry_limit_reached), (vec!["a", "b", "c"], None));
    let text = "a\n\n[1 entries limit reached. Use limit=2 for more]\n";
    world.command("pi-ls").args(["--limit", "-5", "-o", "text"]).run().ok().stdout_is(text);
}

#[test]
fn the_text_is_cut_at_its_limit_and_the_list_is_not() {
    let world = World::new();
    for number in 0..300 {
        world.file(format!("{}{number:03}", "n".repeat(197)), "");
    }
    let listed: Listed = world.command("pi-ls").run().ok().json();
    assert_eq!((listed.entries.len(), listed.truncated), (300, true));
}

#[test]
fn a_directory_that_is_not_one_is_an_error() {
    let world = World::new();
    world.file("f", "");
    world.command("pi-ls").arg("gone").run().fails(1, "not_found", "Path not found: ");
    world.command("pi-ls").arg("f").run().fails(1, "not_directory", "Not a directory: ");
    world.command("pi-ls").arg("--frob").run().fails(2, "invalid_arguments", "--frob");
}

#[test]
fn f16_a_name_that_is_not_utf8_spoils_nothing() {
    let world = World::new();
    world.script("printf x > $'t\\xfe.txt'; touch ok.txt").run().ok();
    let answer = world.command("pi-ls").args(["-o", "text"]).run().ok();
    assert_eq!(answer.stdout, b"ok.txt\nt\xfe.txt\n");
    let listed: Listed = world.command("pi-ls").run().ok().json();
    assert_eq!(names(&listed), ["ok.txt", "t\u{fffd}.txt"]);
    assert_eq!(listed.entries[0].name_base64, None);
    assert_eq!(listed.entries[1].name_base64.as_deref(), Some("dP4udHh0"));
}

#[test]
fn f19_the_root_is_listed_without_doubled_slashes() {
    let world = World::new();
    let answer = world.command("pi-ls").json(json!({"path": "/", "limit": 2})).args(["-o", "text"]).run();
    let text = String::from_utf8(answer.ok().stdout).unwrap();
    assert_eq!(text.lines().filter(|line| line.trim_end_matches('/').contains('/')).count(), 0, "{text}");
    assert!(!text.contains("//"), "{text}");
}

#[test]
fn f20_a_named_pipe_is_only_listed() {
    let world = World::new();
    world.script("mkfifo p").run().ok();
    world.command("pi-ls").args(["-o", "text"]).run().ok().stdout_is("p\n");
}
