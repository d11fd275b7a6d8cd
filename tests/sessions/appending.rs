//! Appending as a library: what was written is there, whole, whoever else writes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pi_toolbox::cancel::Cancel;
use pi_toolbox::context::{Context, Environment};
use pi_toolbox::fs::Local;
use pi_toolbox::session::{
    Appender, Draft, Error, Ids, Leaf, Options, Place as Where, Position, Reason, Session, load,
    model_messages,
};

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"demo1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/tmp"}"#;

struct Place {
    dir: tempfile::TempDir,
    context: Context,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let environment: Environment = [("HOME", "/home/tester")].into_iter().collect();
        let context = Context {
            cwd: dir.path().to_owned(),
            home: None,
            temp_dir: dir.path().to_owned(),
            backend: Arc::new(Local::new(&environment)),
            environment: Arc::new(environment),
            cancel: Cancel::new(),
            session: None,
            now: std::time::SystemTime::now,
        };
        Self { dir, context }
    }

    fn file(&self, content: &str) -> PathBuf {
        let path = self.dir.path().join("s.jsonl");
        std::fs::write(&path, content).unwrap();
        path
    }

    fn appender(&self, path: &Path) -> Appender {
        Appender::open(path, &self.context, options()).unwrap()
    }

    fn session(&self, path: &Path) -> Session {
        Session::open(path, &self.context, options()).unwrap()
    }

    fn ids(&self, path: &Path) -> Vec<String> {
        let loaded = load::load(path, &self.context).unwrap().unwrap();
        (0..loaded.tree.len()).map(|at| loaded.tree.id(at).unwrap().into_lossy().into_owned()).collect()
    }

    fn contexts(&self, path: &Path) -> Vec<String> {
        let session = self.session(path);
        let messages = model_messages::model_messages(&session.projection().unwrap().messages);
        messages.into_iter().map(|message| String::from_utf8(message.raw).unwrap()).collect()
    }
}

fn options() -> Options {
    Options { sync: false, ids: Ids::default() }
}

fn message(id: &str, parent: Option<&str>, text: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:01.000Z","message":{{"role":"user","content":"{text}","timestamp":1}}}}"#
    )
}

fn lines(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn s01_missing_line_break_does_not_glue_the_next_entry() {
    let place = Place::new();
    let path = place.file(&format!("{HEADER}\n{}", message("a", None, "one")));
    let draft = Draft::whole(message("b", Some("a"), "two").as_bytes()).unwrap();
    place.appender(&path).append(&draft).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let expected = lines(&[HEADER, &message("a", None, "one"), &message("b", Some("a"), "two")]);
    assert_eq!(text, expected);
}

#[test]
fn s02_half_written_entry_costs_only_itself_and_readers_change_nothing() {
    let place = Place::new();
    let torn = &message("x", Some("a"), "lost")[..40];
    let content = format!("{HEADER}\n{}\n{torn}", message("a", None, "one"));
    let path = place.file(&content);
    let session = place.session(&path);
    assert_eq!(session.leaf_id().as_deref(), Some("a"));
    assert_eq!(session.diagnostics()[0].reason, Reason::Torn);
    assert_eq!(session.diagnostics()[0].line, Some(3));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
    let written = place.appender(&path).append(&Draft::user("two", 1).unwrap()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, format!("{content}\n{}\n", String::from_utf8(written.line).unwrap()));
    assert_eq!(place.ids(&path), ["a", &written.id]);
}

#[test]
fn s04_run_of_nul_bytes_does_not_end_the_load() {
    let place = Place::new();
    let nul = "\0".repeat(300);
    let path =
        place.file(&lines(&[HEADER, &message("a", None, "one"), &nul, &message("b", Some("a"), "two")]));
    assert_eq!(place.ids(&path), ["a", "b"]);
    assert_eq!(place.session(&path).diagnostics().len(), 1);
    // The crash may also have taken the line break.
    let path = place.file(&format!("{HEADER}\n{nul}{}\n", message("a", None, "one")));
    assert_eq!(place.ids(&path), ["a"]);
}

#[test]
fn s05_what_is_no_session_is_refused_and_left_alone() {
    let place = Place::new();
    for content in ["my notes\n".to_owned(), message("a", None, "hi") + "\n"] {
        let path = place.file(&content);
        let appender = Appender::open(&path, &place.context, options());
        assert!(matches!(appender, Err(Error::NotASession { .. })));
        let session = Session::open(&path, &place.context, options());
        assert!(matches!(session, Err(Error::NotASession { .. })));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
    }
}

#[test]
fn s07_fork_has_one_header_and_leaves_its_parent_alone() {
    let place = Place::new();
    let content = lines(&[HEADER, &message("a", None, "one")]);
    let path = place.file(&content);
    let mut fork = place.session(&path).fork("a", Position::At).unwrap().session;
    fork.append(&Draft::user("two", 1).unwrap()).unwrap();
    let forked = std::fs::read_to_string(fork.file().unwrap()).unwrap();
    assert_eq!(forked.matches(r#""type":"session""#).count(), 1);
    assert_ne!(fork.header().id, "demo1");
    assert_eq!(fork.header().parent_session.as_deref(), path.to_str());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
}

#[test]
fn s08_fork_keeps_the_compaction_boundary() {
    let place = Place::new();
    let compaction = r#"{"type":"compaction","id":"k","parentId":"b","timestamp":"2026-01-01T00:00:02.000Z","summary":"sum","firstKeptEntryId":"b","tokensBefore":1}"#;
    let path = place.file(&lines(&[
        HEADER,
        &message("a", None, "one"),
        &message("b", Some("a"), "two"),
        compaction,
        &message("c", Some("k"), "three"),
    ]));
    let fork = place.session(&path).fork("c", Position::At).unwrap().session;
    let context = place.contexts(fork.file().unwrap());
    assert_eq!(context, place.contexts(&path));
    assert_eq!(context.len(), 3);
    assert!(!context.concat().contains("one"));
}

#[test]
fn s13_null_content_counts_as_empty() {
    let place = Place::new();
    let null = r#"{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01Z","message":{"role":"assistant","content":null,"timestamp":1}}"#;
    let path = place.file(&lines(&[HEADER, null, &message("b", Some("a"), "hi")]));
    let context = place.contexts(&path);
    assert_eq!(context[0], r#"{"role":"assistant","content":[],"timestamp":1}"#);
    assert_eq!(context.len(), 2);
}

#[test]
fn s16_line_separator_in_a_text_ends_no_line() {
    let place = Place::new();
    let path = place.file(
        &lines(&[HEADER, &message("a", None, "x\u{2028}y\r"), &message("b", Some("a"), "two")])
            .replace("y\r", "y"),
    );
    assert_eq!(place.ids(&path), ["a", "b"]);
}

#[test]
fn s17_deep_branches_take_linear_time() {
    let place = Place::new();
    let mut content = lines(&[HEADER, &message("0", None, "s")]);
    for number in 1..=60_000_u32 {
        content += &message(&number.to_string(), Some(&(number - 1).to_string()), "m");
        content.push('\n');
    }
    let path = place.file(&content);
    let session = place.session(&path);
    assert_eq!(session.projection().unwrap().messages.len(), 60_001);
    assert_eq!(session.tree().rows().unwrap().last().unwrap().depth, 60_000);
}

#[test]
fn glued_entries_are_both_there_and_reported() {
    let place = Place::new();
    let glued = message("a", None, "one") + &message("b", Some("a"), "two");
    let half = message("x", Some("b"), "lost")[..70].to_owned() + &message("c", Some("b"), "three");
    let path = place.file(&lines(&[HEADER, &glued, &half]));
    assert_eq!(place.ids(&path), ["a", "b", "c"]);
    let session = place.session(&path);
    let reasons: Vec<_> = session.diagnostics().iter().map(|found| (found.line, found.reason)).collect();
    assert_eq!(reasons, [(Some(2), Reason::Glued), (Some(3), Reason::Glued)]);
}

#[test]
fn cycles_and_duplicates_end_in_diagnostics() {
    let place = Place::new();
    let path = place.file(&lines(&[
        HEADER,
        &message("a", Some("b"), "1"),
        &message("b", Some("a"), "2"),
        &message("c", Some("gone"), "3"),
        &message("d", Some("d"), "4"),
        &message("c", Some("b"), "5"),
    ]));
    let session = place.session(&path);
    let mut found: Vec<_> =
        session.tree().diagnostics().iter().map(|found| (found.id.clone().unwrap(), found.reason)).collect();
    found.sort_by_key(|(id, _)| id.clone());
    let expected =
        [("a", Reason::Cycle), ("c", Reason::DuplicateId), ("c", Reason::Orphan), ("d", Reason::Cycle)];
    assert_eq!(found, expected.map(|(id, reason)| (id.to_owned(), reason)));
    assert_eq!(session.path().len(), 3);
    assert!(session.tree().rows().unwrap().len() < 10);
    assert_eq!(session.tree().path(session.tree().resolve(Leaf::Id("d"))).len(), 1);
}

#[test]
fn many_writers_lose_nothing_and_steal_no_leaf() {
    let place = Place::new();
    let path = place.file(&lines(&[HEADER, &message("a", None, "one")]));
    const WRITERS: usize = 8;
    const EACH: usize = 50;
    let written: Vec<Vec<String>> = std::thread::scope(|scope| {
        let work = |writer: usize| {
            let (path, place) = (&path, &place);
            move || {
                let draft = |number: usize| Draft::user(&format!("{writer}/{number}"), 1).unwrap();
                if writer.is_multiple_of(2) {
                    let mut appender = place.appender(path);
                    (0..EACH).map(|number| appender.append(&draft(number)).unwrap().id).collect()
                } else {
                    let mut session = place.session(path);
                    (0..EACH).map(|number| session.append(&draft(number)).unwrap().id).collect::<Vec<_>>()
                }
            }
        };
        let threads: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(work(writer))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let ids = place.ids(&path);
    assert_eq!(ids.len(), WRITERS * EACH + 1);
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    let session = place.session(&path);
    assert!(session.diagnostics().is_empty());
    for chain in written {
        for pair in chain.windows(2) {
            let entry = session.tree().find(&pair[1]).unwrap();
            let parent = session.tree().parent_id(entry).unwrap().into_lossy().into_owned();
            assert_eq!(parent, pair[0], "a writer keeps its own leaf");
        }
    }
}

#[test]
fn appender_finds_the_leaf_behind_long_and_broken_lines() {
    let place = Place::new();
    let first = message("a", None, &"w".repeat(800_000));
    let long = message("long", Some("a"), &"x".repeat(300_000));
    let path = place.file(&lines(&[HEADER, &first, &long, "{broken", "", &"y".repeat(100_000)]));
    let written = place.appender(&path).append(&Draft::user("two", 1).unwrap()).unwrap();
    assert!(String::from_utf8(written.line).unwrap().contains(r#""parentId":"long""#));
    assert_eq!(written.id.len(), 16, "an id that nobody compared is a long one");
    let path = place.file(&format!("{HEADER}\n"));
    let first = place.appender(&path).append(&Draft::user("one", 1).unwrap()).unwrap();
    assert!(String::from_utf8(first.line).unwrap().contains(r#""parentId":null"#));
    assert_eq!(first.id.len(), 8);
}

#[test]
fn migration_keeps_the_old_file_once_and_its_bytes() {
    let place = Place::new();
    let header = r#"{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/tmp","n":12345678901234567890}"#;
    let entry = r#"{"type":"message","timestamp":"t","message":{"role":"user","content":"\ud800","x":1.0,"timestamp":1}}"#;
    let old = lines(&[header, entry]);
    let path = place.file(&old);
    let before = place.ids(&path);
    place.appender(&path).append(&Draft::user("two", 1).unwrap()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with(&header.replace("7890}", "7890,\"version\":3}")));
    assert!(text.contains(r#""content":"\ud800","x":1.0,"timestamp":1},"id":"00000001","parentId":null}"#));
    assert_eq!(place.ids(&path)[..1], before[..], "ids are the ones a reader saw");
    let backup = path.with_extension("jsonl.bak");
    assert_eq!(std::fs::read_to_string(&backup).unwrap(), old);
    std::fs::write(&path, lines(&[header])).unwrap();
    place.appender(&path).append(&Draft::user("x", 1).unwrap()).unwrap();
    assert_eq!(std::fs::read_to_string(&backup).unwrap(), old, "the first one stays");
}

#[test]
fn session_reopens_a_file_that_another_process_migrated() {
    let place = Place::new();
    let header =
        r#"{"type":"session","version":2,"id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/tmp"}"#;
    let path = place.file(&lines(&[header, &message("a", None, "one")]));
    let mut ours = place.session(&path);
    let theirs = place.appender(&path).append(&Draft::user("theirs", 1).unwrap()).unwrap();
    let mine = ours.append(&Draft::user("mine", 1).unwrap()).unwrap();
    assert_eq!(place.ids(&path), ["a".to_owned(), theirs.id, mine.id.clone()]);
    let entry = ours.tree().find(&mine.id).unwrap();
    assert_eq!(ours.tree().parent_id(entry).unwrap().into_lossy(), "a", "the leaf is not stolen");
}

#[test]
fn new_session_files_are_private_and_never_overwrite() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let directory = place.dir.path().join("sessions");
    let mut session = Session::create("/tmp", &directory, &place.context, options()).unwrap();
    session.append(&Draft::model_change("p", "m")).unwrap();
    let file = session.file().unwrap().to_owned();
    assert!(!file.exists());
    std::fs::write(&file, "in the way").unwrap();
    let refused = session.append(&Draft::user("hi", 1).unwrap());
    assert!(matches!(refused, Err(Error::Io { .. })));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "in the way");
    std::fs::remove_file(&file).unwrap();
    session.append(&Draft::user("hi", 1).unwrap()).unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(place.ids(&file).len(), 2);
}

#[test]
fn unknown_fields_survive_append_fork_and_copy_byte_for_byte() {
    let place = Place::new();
    let odd = r#"{"zz":1.0,"type":"future","id":"a","parentId":null,"timestamp":"t","big":12345678901234567890,"s":"\ud83d","d":[1e400]}"#;
    let path = place.file(&lines(&[HEADER, odd, &message("b", Some("a"), "two")]));
    let session = place.session(&path);
    let fork = session.fork("b", Position::At).unwrap().session;
    let forked = std::fs::read_to_string(fork.file().unwrap()).unwrap();
    assert_eq!(forked.lines().nth(1), Some(odd));
    let copy = pi_toolbox::session::fork_from(
        &path,
        "/x",
        &Where::Directory(place.dir.path().join("f")),
        None,
        &place.context,
        options(),
    );
    let copied = std::fs::read_to_string(copy.unwrap().file().unwrap()).unwrap();
    assert_eq!(copied.lines().nth(1), Some(odd));
    assert!(String::from_utf8(session.export(session.leaf()).unwrap()).unwrap().contains(odd));
}

/// Entries that hang under any earlier one, under none, or under nothing.
fn tree_of(choices: &[u8]) -> String {
    let mut content = format!("{HEADER}\n");
    for (at, choice) in choices.iter().enumerate() {
        let parent = match *choice as usize {
            0 => None,
            1 => Some("gone".to_owned()),
            choice => Some((choice % (at + 2)).to_string()),
        };
        content += &message(&at.to_string(), parent.as_deref(), "x");
        content.push('\n');
    }
    content
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 200, ..Default::default() })]
    #[test]
    fn the_end_of_a_path_is_the_end_of_the_path(choices in proptest::collection::vec(0_u8..40, 1..30), limit in 1_usize..12) {
        let place = Place::new();
        let path = place.file(&tree_of(&choices));
        let session = place.session(&path);
        let whole: Vec<Vec<u8>> =
            session.path().iter().map(|at| session.tree().line(*at).unwrap().into_owned()).collect();
        if let Some(end) = pi_toolbox::session::path_end(&path, limit, &place.context).unwrap() {
            let end: Vec<Vec<u8>> = end.iter().map(|entry| entry.raw().to_vec()).collect();
            proptest::prop_assert_eq!(&end[..], &whole[whole.len().saturating_sub(limit)..]);
        }
    }
}

#[test]
fn the_end_of_a_path_is_found_behind_long_lines() {
    let place = Place::new();
    let long = message("b", Some("a"), &"x".repeat(300_000));
    let path = place.file(&lines(&[
        HEADER,
        &message("a", None, "1"),
        &long,
        &message("z", None, "?"),
        &message("c", Some("b"), "3"),
    ]));
    let ids = |limit| {
        let end = pi_toolbox::session::path_end(&path, limit, &place.context).unwrap().unwrap();
        end.iter()
            .map(|entry| entry.root().get("id").unwrap().lossy().unwrap().into_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (ids(2), ids(9)),
        (vec!["b".to_owned(), "c".to_owned()], vec!["a".to_owned(), "b".to_owned(), "c".to_owned()])
    );
}
