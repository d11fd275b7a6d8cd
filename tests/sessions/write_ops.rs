//! The operations that write: open (migration), branched, forkFrom, fork, navigate, export.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use pi_toolbox::session::script_json::Value;
use pi_toolbox::session::script_text::quoted;
use pi_toolbox::session::{Ids, Index, Leaf, Options, Place, Position, Session, fork_from};

use super::case::Case;
use super::read_ops::{Json, array, failure, number, object, optional, undefined, with_migrated_ids};

/// Ids that are the vectors' placeholders.
pub(super) fn options() -> Options {
    let entries = AtomicUsize::new(1);
    let sessions = AtomicUsize::new(1);
    let ids = Ids::new(
        move |_| Ok(format!("{{{{ID{}}}}}", entries.fetch_add(1, Ordering::Relaxed))),
        move |_| Ok(format!("{{{{SID{}}}}}", sessions.fetch_add(1, Ordering::Relaxed))),
    );
    Options { sync: false, ids }
}

/// Ids that go on where a migration stopped.
fn options_after(count: usize) -> Options {
    let entries = AtomicUsize::new(count + 1);
    let ids = Ids::new(
        move |_| Ok(format!("{{{{ID{}}}}}", entries.fetch_add(1, Ordering::Relaxed))),
        move |_| Ok("{{SID1}}".to_owned()),
    );
    Options { sync: false, ids }
}

fn opened(case: &Case<'_>) -> (Session, usize) {
    let session = Session::open(&case.file(), &case.context(), options()).unwrap();
    let is_numbered = session.tree().id(0).is_some_and(|id| id.as_bytes() == b"00000001");
    let count = if is_numbered { session.tree().len() } else { 0 };
    (Session::open(&case.file(), &case.context(), options_after(count)).unwrap(), count)
}

fn text(value: &str) -> Json {
    quoted(value)
}

pub(super) fn lossy(bytes: &[u8]) -> Json {
    quoted(&String::from_utf8_lossy(bytes))
}

fn ids_of(session: &Session) -> Json {
    array((0..session.tree().len()).map(|index| optional(session.tree().id(index))))
}

pub(super) fn leaf_of(session: &Session) -> Json {
    match session.leaf_id() {
        Some(id) => text(&id),
        None if session.is_leaf_nameless() => undefined(),
        None => b"null".to_vec(),
    }
}

fn distinct(session: &Session) -> usize {
    let ids = (0..session.tree().len())
        .map(|index| session.tree().id(index).map(|id| id.into_lossy().into_owned()));
    ids.collect::<std::collections::BTreeSet<_>>().len()
}

fn file_after(case: &Case<'_>) -> Json {
    let after = std::fs::read(case.file()).unwrap();
    if after == case.input() { text("unchanged") } else { object(&[("rewritten", lossy(&after))]) }
}

pub(super) fn open(case: &Case<'_>) -> Json {
    let mut session = match Session::open(&case.file(), &case.context(), options()) {
        Ok(session) => session,
        Err(error) => return failure(&error),
    };
    if let Some(cwd) = case.arg("cwdOverride").and_then(Value::lossy) {
        session.set_cwd(&cwd);
    }
    let untouched = std::fs::read(case.file()).unwrap() == case.input();
    assert!(untouched, "{}: reading changed the file", case.name);
    session.prepare().unwrap();
    let tree = session.tree();
    let kinds = (0..tree.len()).map(|index| {
        tree.entry(index).unwrap().root().get("type").map_or_else(undefined, |kind| kind.raw().to_vec())
    });
    let types = if case.is_hashed() {
        let mut counts = std::collections::BTreeMap::<String, usize>::new();
        for kind in kinds {
            *counts.entry(serde_json::from_slice(&kind).unwrap()).or_default() += 1;
        }
        serde_json::to_vec(&counts).unwrap()
    } else {
        array(kinds)
    };
    let is_numbered = tree.id(0).is_some_and(|id| id.as_bytes() == b"00000001");
    let answer = object(&[
        ("sessionId", text(&session.header().id)),
        ("cwd", text(session.cwd().to_str().unwrap())),
        ("sessionDir", text(session.directory().to_str().unwrap())),
        ("leafId", leaf_of(&session)),
        ("lines", number(tree.len())),
        ("distinctIds", number(distinct(&session))),
        ("ids", ids_of(&session)),
        ("types", types),
        ("header", session.header().raw().to_vec()),
        ("name", tree.name().unwrap().map_or_else(undefined, |name| text(&name))),
        ("fileAfter", file_after(case)),
    ]);
    with_migrated_ids(tree.len(), is_numbered, answer)
}

pub(super) fn usage(case: &Case<'_>) -> Json {
    let (session, _) = opened(case);
    let mut stats = serde_json::to_value(session.tree().stats().unwrap()).unwrap();
    stats["sessionId"] = session.header().id.clone().into();
    object(&[
        ("breakdown", serde_json::to_vec(&session.tree().shares().unwrap()).unwrap()),
        ("stats", serde_json::to_vec(&stats).unwrap()),
    ])
}

pub(super) fn fork_messages(case: &Case<'_>) -> Json {
    let (session, count) = opened(case);
    let points = serde_json::to_vec(&session.fork_points().unwrap()).unwrap();
    with_migrated_ids(count, count > 0, object(&[("messages", points)]))
}

/// The id a leaf in `args` stands for.
fn leaf_id(session: &Session, leaf: Value<'_>, count: usize) -> Option<String> {
    let name = leaf.lossy()?.into_owned();
    let number = name.strip_prefix("{{ID").and_then(|rest| rest.strip_suffix("}}"));
    match number.filter(|_| count > 0) {
        Some(number) => Some(format!("{:08x}", number.parse::<u32>().unwrap())),
        None if name == "<leaf>" => session.leaf_id(),
        None => Some(name),
    }
}

pub(super) fn branched(case: &Case<'_>) -> Json {
    let mut answers = Vec::new();
    for leaf in case.arg("leaves").unwrap().elements() {
        case.reset();
        let (session, count) = opened(case);
        let id = leaf_id(&session, leaf, count).unwrap();
        let answer = match session.branched(&id) {
            Err(error) => failure(&error),
            Ok(branched) => {
                let file = branched.file().unwrap().to_owned();
                let name = file.file_name().unwrap().to_str().unwrap();
                let in_memory = branched.lines(branched.header().raw()).unwrap();
                let mut members = vec![
                    (
                        "fileNameMatchesHeader",
                        name.ends_with(&format!("_{}.jsonl", branched.header().id)).to_string().into_bytes(),
                    ),
                    ("written", branched.is_stored().to_string().into_bytes()),
                    ("leafId", leaf_of(&branched)),
                    ("text", lossy(&in_memory)),
                ];
                if branched.is_stored() {
                    let on_disk = std::fs::read(&file).unwrap();
                    members.push(("sameOnDisk", (on_disk == in_memory).to_string().into_bytes()));
                    std::fs::remove_file(file).unwrap();
                }
                with_migrated_ids(count, count > 0, object(&members))
            }
        };
        answers.push(answer);
    }
    object(&[("leaves", array(answers))])
}

pub(super) fn export_jsonl(case: &Case<'_>) -> Json {
    let (session, count) = opened(case);
    let leaf: Option<Index> = match case.arg("leaf") {
        None => session.leaf(),
        Some(leaf) => match leaf_id(&session, leaf, count) {
            None => session.tree().resolve(Leaf::Root),
            Some(id) => session.tree().find(&id),
        },
    };
    let exported = session.export(leaf).unwrap();
    with_migrated_ids(count, count > 0, object(&[("text", lossy(&exported))]))
}

pub(super) fn fork_from_op(case: &Case<'_>) -> Json {
    let context = case.context();
    let target = case.arg("targetCwd").unwrap().lossy().unwrap();
    let id = case.arg("id").and_then(Value::lossy);
    let place = Place::Directory(case.dir().join("forks"));
    match fork_from(&case.file(), &target, &place, id.as_deref(), &context, options()) {
        Err(error) => failure(&error),
        Ok(forked) => {
            let file = forked.file().unwrap();
            let unchanged = std::fs::read(case.file()).unwrap() == case.input();
            object(&[
                ("sourceAfter", text(if unchanged { "unchanged" } else { "changed" })),
                ("file", text(file.file_name().unwrap().to_str().unwrap())),
                ("cwd", text(forked.cwd().to_str().unwrap())),
                ("leafId", leaf_of(&forked)),
                ("distinctIds", number(distinct(&forked))),
                ("text", lossy(&std::fs::read(file).unwrap())),
            ])
        }
    }
}

pub(super) fn fork(case: &Case<'_>) -> Json {
    let mode = case.arg("mode").and_then(Value::lossy).unwrap_or_default().into_owned();
    let mut answers = Vec::new();
    for fork in case.arg("forks").unwrap().elements() {
        case.reset();
        let context = case.context();
        let session = match &*mode {
            "memory" => Session::from_lines("/srv/proj", case.input(), &context, options()).unwrap(),
            "unsaved" => {
                let mut session =
                    Session::create("/srv/proj", &case.dir().join("sessions"), &context, options()).unwrap();
                session.append(&pi_toolbox::session::Draft::model_change("p", "m")).unwrap();
                session
            }
            _ => Session::open(&case.file(), &context, options()).unwrap(),
        };
        let arguments: Vec<String> = fork.elements().map(|part| part.lossy().unwrap().into_owned()).collect();
        let entry = match &*arguments[0] {
            "<first>" => session.tree().id(0).unwrap().into_lossy().into_owned(),
            id => id.to_owned(),
        };
        let position =
            if arguments.get(1).is_some_and(|word| word == "at") { Position::At } else { Position::Before };
        answers.push(match session.fork(&entry, position) {
            Err(error) => failure(&error),
            Ok(forked) => {
                let mut result = vec![("cancelled", b"false".to_vec())];
                result.extend(forked.editor_text.map(|found| ("selectedText", text(&found))));
                let session_file = session.file().map(Path::to_owned);
                let mut start =
                    vec![("cwd", text(session.cwd().to_str().unwrap())), ("reason", text("fork"))];
                start.extend(session_file.map(|file| ("previousSessionFile", text(file.to_str().unwrap()))));
                let forked = forked.session;
                let file = forked.file().map(|file| text(file.file_name().unwrap().to_str().unwrap()));
                let written = forked.is_stored();
                if written {
                    std::fs::remove_file(forked.file().unwrap()).unwrap();
                }
                object(&[
                    ("result", object(&result)),
                    ("start", array([object(&start)])),
                    ("leafId", leaf_of(&forked)),
                    ("header", forked.header().raw().to_vec()),
                    ("entries", ids_of(&forked)),
                    ("file", file.unwrap_or_else(|| b"null".to_vec())),
                    ("written", written.to_string().into_bytes()),
                ])
            }
        });
    }
    object(&[("forks", array(answers))])
}

/// Without a summary; summaries need a model and belong to the compaction layer.
pub(super) fn navigate(case: &Case<'_>) -> Json {
    let mut answers = Vec::new();
    for nav in case.arg("navs").unwrap().elements() {
        case.reset();
        let mut session = Session::open(&case.file(), &case.context(), options()).unwrap();
        let target = nav.get("target").unwrap().lossy().unwrap();
        answers.push(match session.navigate(&target) {
            Err(error) => {
                let message = quoted(&error.to_string());
                object(&[("error", message), ("leafId", leaf_of(&session))])
            }
            Ok(found) => {
                let mut result = vec![];
                result.extend(found.editor_text.map(|found| ("editorText", text(&found))));
                result.push(("cancelled", b"false".to_vec()));
                object(&[
                    ("result", object(&result)),
                    ("summaryEntryId", undefined()),
                    ("requests", number(0)),
                    ("leafId", leaf_of(&session)),
                    ("appended", array([])),
                ])
            }
        });
    }
    object(&[("navs", array(answers))])
}
