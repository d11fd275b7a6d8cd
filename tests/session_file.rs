//! Session files for tests, and what they mean to the library.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use pi_toolbox::context::Context;
use pi_toolbox::session::{Options, Session, model_messages};

pub const HEADER: &str =
    r#"{"type":"session","version":3,"id":"demo1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/tmp"}"#;

/// The line of a user message.
pub fn message(id: &str, parent: Option<&str>, text: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:01.000Z","message":{{"role":"user","content":"{text}","timestamp":1}}}}"#
    )
}

/// A session file's text.
pub fn session(entries: &[&str]) -> String {
    [HEADER].iter().chain(entries).map(|line| format!("{line}\n")).collect()
}

/// What a model would be sent at the leaf: the messages' JSON texts.
#[track_caller]
pub fn context_of(file: &Path) -> Vec<String> {
    let session = opened(file);
    let messages = model_messages::model_messages(&session.projection().unwrap().messages);
    messages.into_iter().map(|message| String::from_utf8(message.raw).unwrap()).collect()
}

#[track_caller]
pub fn opened(file: &Path) -> Session {
    Session::open(file, &Context::from_process(None), Options::default()).unwrap()
}

/// Recorded session files of the current version; none where they are not at hand, and it is said so.
pub fn real_sessions() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/vectors/real-sessions");
    let folder = std::env::var_os("PI_REAL_SESSIONS").map_or(folder, PathBuf::from);
    let Ok(names) = std::fs::read_dir(&folder) else {
        let _ = writeln!(std::io::stdout(), "not tested: there is no {}", folder.display());
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = names.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| {
        let is_session = file.extension().is_some_and(|extension| extension == "jsonl");
        is_session && std::fs::read_to_string(file).unwrap_or_default().contains(r#""version":3"#)
    });
    files.sort();
    files
}
