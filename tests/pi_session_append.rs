//! pi-session-append: what was acknowledged is there, whole, whoever else writes.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use nix::unistd::geteuid;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::harness::{Run, World, bin_dir};
use crate::session_file::{HEADER, context_of, message, opened, real_sessions, session};

fn append<'w>(world: &'w World, file: &str) -> Run<'w> {
    world.command("pi-session-append").arg(file)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    id: String,
    parent_id: Option<String>,
}

fn lines_of(file: &Path) -> Vec<Line> {
    let text = fs::read_to_string(file).unwrap();
    text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn s01_missing_line_break_does_not_glue_the_next_entry() {
    let world = World::new();
    let (a, b) = (message("a", None, "one"), message("b", Some("a"), "two"));
    world.file("s.jsonl", format!("{HEADER}\n{a}"));
    append(&world, "s.jsonl").stdin(b.as_str()).run().ok().stdout_is(format!("{b}\n"));
    assert_eq!(world.text("s.jsonl"), session(&[&a, &b]));
}

#[test]
fn s02_half_written_entry_does_not_swallow_the_next() {
    let world = World::new();
    let (a, b) = (message("a", None, "one"), message("b", Some("a"), "two"));
    let torn = format!("{HEADER}\n{a}\n{}", &message("x", Some("a"), "lost")[..40]);
    world.file("s.jsonl", &torn);
    append(&world, "s.jsonl").stdin(b.as_str()).run().ok().stdout_is(format!("{b}\n"));
    assert_eq!(world.text("s.jsonl"), format!("{torn}\n{b}\n"));
    let answer = append(&world, "s.jsonl").args(["--user", "three"]).run().ok();
    assert_eq!(answer.json::<Line>().parent_id.as_deref(), Some("b"));
}

#[test]
fn s05_what_is_no_session_is_refused_and_left_alone() {
    let world = World::new();
    for content in ["my notes\n".to_owned(), message("a", None, "hi") + "\n"] {
        let file = world.file("n.jsonl", &content);
        let refusal = format!("Session file is not a valid pi session: {}", file.display());
        let run = append(&world, "n.jsonl").stdin(message("b", None, "x"));
        run.run().fails(1, "unsupported_file", &refusal);
        append(&world, "n.jsonl").stdin("").run().fails(1, "unsupported_file", &refusal);
        assert_eq!(world.text("n.jsonl"), content);
    }
}

#[test]
fn s10_an_import_overwrites_nothing_and_leaves_nothing_when_it_fails() {
    let world = World::new();
    let sessions = world.path("sessions");
    let import = |file: &str| {
        let run = world.command("pi-session-append").args(["--import", file]);
        run.env("PI_CODING_AGENT_SESSION_DIR", &sessions).run()
    };
    let old = session(&[&message("a", None, "old")]);
    world.file("sessions/2026_demo1.jsonl", &old);
    world.file("in/2026_demo1.jsonl", "junk\n");
    import("in/2026_demo1.jsonl").fails(1, "unsupported_file", "not a valid pi session");
    import("in/missing.jsonl").fails(1, "not_found", "ENOENT");
    assert_eq!(fs::read_dir(&sessions).unwrap().count(), 1);

    let new = session(&[&message("a", None, "new")]);
    world.file("in/2026_demo1.jsonl", &new);
    let taken: Value = import("in/2026_demo1.jsonl").ok().json();
    let path = Path::new(taken["path"].as_str().unwrap());
    assert!(path.starts_with(&sessions) && path.to_str().unwrap().ends_with("Z_demo1.jsonl"), "{taken}");
    assert_eq!(taken["id"], "demo1");
    assert_eq!(fs::read_to_string(path).unwrap(), new);
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(world.text("sessions/2026_demo1.jsonl"), old);

    // A header that wants out of the directory does not get its way.
    world.file("in/evil", session(&[]).replace("demo1", "../../evil"));
    let evil: Value = import("in/evil").ok().json();
    assert_eq!(Path::new(evil["path"].as_str().unwrap()).parent(), Some(&*sessions));
    let named = import("in/2026_demo1.jsonl").ok();
    assert_eq!(fs::read_dir(&sessions).unwrap().count(), 4, "{}", named.report());
}

#[test]
fn a_file_that_does_not_exist_is_begun() {
    let world = World::new();
    fs::create_dir(world.path("there")).unwrap();
    let run = append(&world, "s.jsonl").args(["-C", "there", "--user", "hi", "--name", " a\nb "]);
    let ids: Vec<Line> = run.run().ok().lines();
    let file = world.path("there/s.jsonl");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let header: Value = serde_json::from_str(world.text("there/s.jsonl").lines().next().unwrap()).unwrap();
    assert_eq!((&header["version"], &header["cwd"]), (&json!(3), &json!(world.path("there"))));
    assert_eq!((ids[0].parent_id.as_deref(), ids[1].parent_id.as_deref()), (None, Some(&*ids[0].id)));
    let opened = opened(&file);
    assert_eq!(opened.tree().name().unwrap().as_deref(), Some("a b"));
    assert!(opened.diagnostics().is_empty());

    // As mktemp leaves it.
    world.file("empty.jsonl", "");
    append(&world, "empty.jsonl").args(["--user", "hi"]).run().ok();
    assert_eq!(context_of(&world.path("empty.jsonl")).len(), 1);

    let answer = append(&world, "no.jsonl").args(["--no-create", "--user", "hi"]).run();
    answer.fails(1, "not_found", "ENOENT");
    append(&world, "no.jsonl").stdin("{}").run().status(2);
    append(&world, "0000").args(["--user", "hi"]).run().fails(1, "not_found", "No session found");
    assert!(!world.path("no.jsonl").exists());
}

#[test]
fn what_an_entry_brings_is_kept_byte_for_byte() {
    let world = World::new();
    let odd = r#"{"zz":1.0,"type":"future","id":"a","parentId":null,"timestamp":"t","big":12345678901234567890,"s":"\ud83d","d":[1e400],"\u0061":1,"a":2}"#;
    let reply = r#"{"x":1.00,"role":"assistant","content":[{"type":"text","text":"half \ud83d"}],"n":1E400}"#;
    let answer = append(&world, "s.jsonl").stdin(format!(" {odd}\t{reply}\n")).run().ok();
    let printed = String::from_utf8(answer.stdout).unwrap();
    assert_eq!(printed.lines().next(), Some(odd));
    assert!(printed.ends_with(&format!("\"message\":{reply}}}\n")), "{printed}");
    assert_eq!(world.text("s.jsonl").split_once('\n').unwrap().1, printed);
}

#[test]
fn a_bad_document_costs_only_itself() {
    let world = World::new();
    world.file("s.jsonl", session(&[&message("a", None, "one")]));
    let documents = [
        r#"{"role":"user","content":"x"}"#,
        "rubbish",
        r#"{"content":"no role"}"#,
        r#"{"type":"session","id":"s"}"#,
        r#"{"type":"future","id":"a"}"#,
        r#"{"role":"assistant","content":[],"stopReason":"pending"}"#,
        "[]",
        r#"{"type":"future","id":"z"}"#,
        r#"{"type":"future","parentId":"a","#,
    ];
    let answer = append(&world, "s.jsonl").stdin(documents.join("\n")).run().status(2);
    let answers: Vec<Value> = answer.lines();
    let is_entry: Vec<bool> = answers.iter().map(|answer| answer["type"].is_string()).collect();
    assert_eq!(is_entry, [true, false, false, false, false, false, false, true, false]);
    assert!(
        answers.iter().zip(is_entry).all(|(answer, is)| is || answer["error"]["code"] == "invalid_arguments")
    );
    assert_eq!(lines_of(&world.path("s.jsonl")).len(), 3);
    assert_eq!(answers[7]["parentId"], answers[0]["id"]);
}

#[test]
fn an_id_is_compared_with_all_of_a_long_file() {
    let world = World::new();
    let long = message("b", Some("a"), &"x".repeat(300_000));
    world.file("s.jsonl", session(&[&message("a", None, "one"), &long]));
    let documents = r#"{"type":"future","id":"a"} {"type":"future","id":"c"} {"type":"future","id":"c"}"#;
    let answer = append(&world, "s.jsonl").stdin(documents).run().status(2);
    let answers: Vec<Value> = answer.lines();
    assert_eq!((&answers[1]["id"], &answers[1]["parentId"]), (&json!("c"), &json!("b")));
    assert!(answers[0]["error"].is_object() && answers[2]["error"].is_object());
    assert_eq!(lines_of(&world.path("s.jsonl")).len(), 3);
}

#[test]
fn flags_say_what_to_append() {
    let world = World::new();
    world.file("s.jsonl", session(&[&message("a", None, "one"), &message("b", Some("a"), "two")]));
    let one = |run: Run<'_>| run.run().ok().json::<Value>();
    let label = one(append(&world, "s.jsonl").args(["--label", "a=x=y"]));
    assert_eq!(
        (&label["targetId"], &label["label"], &label["parentId"]),
        (&json!("a"), &json!("x=y"), &json!("b"))
    );
    let cleared = one(append(&world, "s.jsonl").args(["--label", "a="]));
    assert_eq!(cleared.get("label"), None);
    let piped = one(append(&world, "s.jsonl").args(["--user", "-"]).stdin("one\ntwo"));
    assert_eq!(piped["message"]["content"], "one\ntwo");
    let custom = one(append(&world, "s.jsonl").args(["--custom", "todo", "--data", "[1.0]"]));
    assert_eq!((&custom["customType"], &custom["data"]), (&json!("todo"), &json!([1.0])));
    let stream =
        append(&world, "s.jsonl").args(["--custom", "todo"]).stdin("{\"type\":\"x\"}\n2\n").run().ok();
    let stream: Vec<Value> = stream.lines();
    assert_eq!((&stream[0]["data"], &stream[1]["data"]), (&json!({"type": "x"}), &json!(2)));
    let hung = one(append(&world, "s.jsonl").args(["--parent", "a", "--user", "x"]));
    assert_eq!(hung["parentId"], "a");
    let root = one(append(&world, "s.jsonl").args(["--parent", "null", "--user", "x", "--no-sync"]));
    assert_eq!(root["parentId"], Value::Null);
    let id = append(&world, "s.jsonl").args(["--user", "x", "-o", "text"]).run().ok();
    assert_eq!(id.stdout, format!("{}\n", lines_of(&world.path("s.jsonl")).last().unwrap().id).into_bytes());

    let before = world.text("s.jsonl");
    for wrong in [["--label", "gone=x"], ["--parent", "gone"]] {
        let run = append(&world, "s.jsonl").args(wrong).args(["--user", "x"]);
        run.run().fails(1, "not_found", "Entry gone not found");
    }
    append(&world, "s.jsonl").args(["--label", "a"]).run().status(2);
    append(&world, "s.jsonl").args(["--data", "1"]).run().status(2);
    append(&world, "s.jsonl").args(["--custom", "t", "--data", "{"]).run().fails(
        2,
        "invalid_arguments",
        "JSON",
    );
    append(&world, "s.jsonl").args(["--import", "s.jsonl"]).run().status(2);
    world.command("pi-session-append").run().status(2);
    append(&world, "s.jsonl").stdin("").run().ok().stdout_is("");
    assert_eq!(world.text("s.jsonl"), before);
}

#[test]
fn a_session_is_found_by_its_id() {
    let world = World::new();
    world.file("sessions/2026_demo1.jsonl", session(&[]).replace("/tmp", world.dir().to_str().unwrap()));
    let run = append(&world, "dem").args(["--session-dir", "sessions", "--user", "hi"]);
    run.run().ok();
    assert_eq!(lines_of(&world.path("sessions/2026_demo1.jsonl")).len(), 1);
}

#[test]
fn what_is_printed_is_what_the_schema_promises() {
    let world = World::new();
    let declaration: Value = world.command("pi-session-append").arg("--schema").run().ok().json();
    let takes = jsonschema::validator_for(&declaration["inputSchema"]).unwrap();
    let prints = jsonschema::validator_for(&declaration["outputSchema"]).unwrap();
    for document in [json!({"role": "user", "content": "x"}), json!({"type": "label", "targetId": "a"})] {
        assert!(takes.is_valid(&document));
        let answer = append(&world, "s.jsonl").stdin(document.to_string()).run().ok();
        assert!(prints.is_valid(&answer.json::<Value>()), "{}", answer.report());
    }
    assert!(!takes.is_valid(&json!({"content": "x"})));
}

#[test]
fn a_read_only_session_is_refused() {
    let world = World::new();
    let content = session(&[&message("a", None, "one")]);
    let file = world.file("s.jsonl", &content);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    let run = as_plain_user(&world).args(["s.jsonl", "--user", "x"]);
    run.run().fails(1, "permission_denied", &format!("EACCES: permission denied, open '{}'", file.display()));
    assert_eq!(world.text("s.jsonl"), content);
}

#[test]
fn what_is_no_regular_file_is_refused_without_waiting() {
    let world = World::new();
    nix::unistd::mkfifo(&world.path("p.jsonl"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    append(&world, "p.jsonl").args(["--user", "x"]).run().status(1);
    assert!(fs::metadata(world.path("p.jsonl")).unwrap().file_type().is_fifo());
    append(&world, ".").args(["--user", "x"]).run().status(1);
    append(&world, "no/s.jsonl").args(["--user", "x"]).run().fails(1, "not_found", "ENOENT");
    symlink("s.jsonl", world.path("link.jsonl")).unwrap();
    world.file("s.jsonl", session(&[]));
    append(&world, "link.jsonl").args(["--user", "x"]).run().ok();
    assert!(world.path("link.jsonl").is_symlink());
    assert_eq!(lines_of(&world.path("s.jsonl")).len(), 1);
}

#[test]
fn where_there_is_no_room_the_session_stays_as_it_was() {
    let world = World::new();
    let content = session(&[&message("a", None, &"x".repeat(900))]);
    world.file("s.jsonl", &content);
    let script = r#"ulimit -f 2; pi-session-append s.jsonl; echo "$?" >&2; pi-session-append new.jsonl"#;
    let large = format!(r#"{{"role":"user","content":"{}"}}"#, "y".repeat(5000));
    let documents = format!("{large}\n{}\n", r#"{"role":"user","content":"small"}"#);
    world.file("in", &documents);
    let answer =
        world.script(&script.replace(".jsonl;", ".jsonl < in;").replace("new.jsonl", "new.jsonl < in")).run();
    let answers: Vec<Value> = answer.lines();
    let codes: Vec<&Value> = answers.iter().map(|answer| &answer["error"]["code"]).collect();
    assert_eq!(
        codes,
        [&json!("no_space"), &Value::Null, &json!("no_space"), &Value::Null],
        "{}",
        answer.report()
    );
    assert!(world.text("s.jsonl").starts_with(&content));
    for (file, entries) in [("s.jsonl", 2), ("new.jsonl", 1)] {
        assert_eq!(lines_of(&world.path(file)).len(), entries);
        assert!(opened(&world.path(file)).diagnostics().is_empty());
    }
    world.file("in", &large);
    world.script("ulimit -f 2; pi-session-append none.jsonl < in").run().fails(1, "no_space", "write");
    assert!(!world.path("none.jsonl").exists());
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    let world = World::new();
    let answer = world.script("yes '{\"role\":\"user\",\"content\":\"x\"}' | head -200 | pi-session-append s.jsonl --no-sync | head -1; echo ${PIPESTATUS[2]}").run().ok();
    let printed = String::from_utf8(answer.stdout).unwrap();
    assert!(["0", "141"].contains(&printed.lines().last().unwrap()), "{printed}");
    assert!(!lines_of(&world.path("s.jsonl")).is_empty());
}

#[test]
fn a_request_to_stop_ends_a_coprocess_between_two_entries() {
    let world = World::new();
    let mut writer = Writer::start(&world, "s.jsonl");
    let first = writer.append("one").unwrap();
    let pid = nix::unistd::Pid::from_raw(i32::try_from(writer.child.id()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    let status = writer.child.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(15));
    assert_eq!(lines_of(&world.path("s.jsonl"))[0].id, first);
}

#[test]
fn a_writer_keeps_its_own_leaf_while_others_append() {
    let world = World::new();
    let file = world.file("s.jsonl", session(&[&message("a", None, "one")]));
    let mut held = Writer::start(&world, "s.jsonl");
    let mine = held.append("mine").unwrap();
    let theirs: Line = append(&world, "s.jsonl").args(["--user", "theirs"]).run().ok().json();
    let next = held.append("mine again").unwrap();
    let lines = lines_of(&file);
    let parents: Vec<Option<&str>> = lines.iter().map(|line| line.parent_id.as_deref()).collect();
    assert_eq!(parents, [None, Some("a"), Some(&*mine), Some(&*mine)]);
    assert_eq!((&lines[2].id, &lines[3].id), (&theirs.id, &next));
    held.end();
}

#[test]
fn sixteen_writers_lose_nothing_and_steal_no_leaf() {
    let world = World::new();
    let acknowledged = all_at_once(16, |writer| {
        let mut process = Writer::start(&world, "s.jsonl");
        let ids = (0..500).map(|number| process.append(&format!("{writer}/{number}")).unwrap()).collect();
        process.end();
        ids
    });
    let file = world.path("s.jsonl");
    assert_eq!(fs::read_to_string(&file).unwrap().matches(r#""type":"session""#).count(), 1);
    let mut lines = BTreeMap::new();
    for line in lines_of(&file) {
        assert!(lines.insert(line.id, line.parent_id).is_none(), "an id is there twice");
    }
    assert_eq!(lines.len(), 8000);
    for ids in acknowledged {
        assert!(lines.contains_key(&ids[0]));
        for pair in ids.windows(2) {
            assert_eq!(lines[&pair[1]].as_ref(), Some(&pair[0]), "a writer goes on under its own entry");
        }
    }
}

#[test]
fn writers_that_are_killed_lose_nothing_they_acknowledged() {
    let world = World::new();
    let acknowledged = all_at_once(16, |writer| {
        let mut random = 0x9E37_79B9_7F4A_7C15 ^ (writer as u64 + 1);
        let mut ids: Vec<String> = Vec::new();
        for life in 0..6 {
            let mut process = Writer::start(&world, "s.jsonl");
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            for number in 0..random % 12 {
                ids.extend(process.append(&format!("{writer}/{life}/{number}")));
            }
            // One more is under way; it may come to be there or not, but nobody was told.
            process.send("killed");
            for _ in 0..random >> 48 {
                std::hint::spin_loop();
            }
            process.child.kill().unwrap();
            process.child.wait().unwrap();
            ids.extend(process.acknowledgement());
        }
        ids
    });
    let text = fs::read_to_string(world.path("s.jsonl")).unwrap();
    assert_eq!(text.matches(r#""type":"session""#).count(), 1);
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for line in text.lines().skip(1).filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
        *count.entry(line.id).or_default() += 1;
    }
    for id in acknowledged.into_iter().flatten() {
        assert_eq!(count.get(&id), Some(&1), "{id} was acknowledged");
    }
    append(&world, "s.jsonl").args(["--user", "after"]).run().ok();
}

#[test]
fn real_sessions_keep_every_byte_through_append_and_fork() {
    for source in real_sessions() {
        let world = World::new();
        let before = fs::read_to_string(&source).unwrap();
        let file = world.file("s.jsonl", &before);
        append(&world, "s.jsonl").args(["--user", "one more"]).run().ok();
        let after = world.text("s.jsonl");
        assert!(after.starts_with(&before), "{}", source.display());
        let fork = |words: &[&str]| world.command("pi-session-fork").arg("s.jsonl").args(words).run().ok();
        fork(&["--cwd", ".", "--to", "copy.jsonl"]);
        let entries = |text: &str| -> Vec<String> { text.lines().skip(1).map(str::to_owned).collect() };
        assert_eq!(entries(&world.text("copy.jsonl")), readable(&after), "{}", source.display());
        fork(&["--to", "clone.jsonl"]);
        let known: Vec<String> = entries(&after).iter().map(|line| without_links(line)).collect();
        for line in entries(&world.text("clone.jsonl")) {
            let is_label = line.contains(r#""type":"label""#);
            assert!(is_label || known.contains(&without_links(&line)), "{}: {line}", source.display());
        }
        assert_eq!(context_of(&world.path("clone.jsonl")), context_of(&file), "{}", source.display());
    }
}

/// The entries' lines that are JSON.
fn readable(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .skip(1)
        .filter(|line| serde_json::from_str::<&serde_json::value::RawValue>(line).is_ok());
    lines.map(str::to_owned).collect()
}

/// A line without what a fork may change in it.
fn without_links(line: &str) -> String {
    let links = regex::Regex::new(r#""(parentId|firstKeptEntryId)":("[^"]*"|null)"#).unwrap();
    links.replace_all(line, "").into_owned()
}

/// What each of the writers, all working at the same time, gives back.
fn all_at_once(writers: usize, work: impl Fn(usize) -> Vec<String> + Sync) -> Vec<Vec<String>> {
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..writers).map(|writer| scope.spawn(move || work(writer))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// The command as a co-process.
struct Writer {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Writer {
    fn start(world: &World, file: &str) -> Self {
        let mut command = append(world, file).arg("--no-sync").into_std();
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { stdin: child.stdin.take(), child, stdout }
    }

    fn send(&mut self, text: &str) {
        let message = format!("{}\n", json!({"role": "user", "content": text, "timestamp": 1}));
        self.stdin.as_mut().unwrap().write_all(message.as_bytes()).unwrap();
    }

    /// The id of the entry that was written; none when the process ended before it said so.
    fn acknowledgement(&mut self) -> Option<String> {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.ends_with('\n').then(|| serde_json::from_str::<Line>(&line).unwrap().id)
    }

    fn append(&mut self, text: &str) -> Option<String> {
        self.send(text);
        self.acknowledgement()
    }

    fn end(mut self) {
        drop(self.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

/// The command as a user whom permissions bind, and who owns everything in the world so far.
fn as_plain_user(world: &World) -> Run<'_> {
    const PLAIN_USER: &str = "65534";
    if !geteuid().is_root() {
        return world.command("pi-session-append");
    }
    // The build directory may be closed to others.
    let program = world.dir().with_file_name("pi-session-append");
    fs::copy(bin_dir().join("pi-session-append"), &program).unwrap();
    let owner = format!("{PLAIN_USER}:{PLAIN_USER}");
    world.program("chown").args(["-R", &owner]).arg(world.dir().join("..")).run().ok();
    world
        .program("setpriv")
        .args(["--reuid", PLAIN_USER, "--regid", PLAIN_USER, "--clear-groups"])
        .arg(program)
}
