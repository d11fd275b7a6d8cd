//! What a list shows of a session, read in one pass without holding it, many sessions at a time.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::{Serialize, Serializer};

use super::error::Error;
use super::head::Head;
use super::header::Header;
use super::kind::{EntryType, Role};
use super::line;
use super::load;
use super::script_date;
use super::script_json::{Document, Value};
use super::script_text;
use super::storage;
use crate::context::Context;

/// What a list shows in place of a first message.
const NO_MESSAGES: &str = "(no messages)";

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Info {
    /// Its file.
    pub path: PathBuf,
    /// Its id.
    pub id: String,
    /// Its working directory, as stored.
    pub cwd: String,
    /// Its display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The file it was forked from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_session_path: Option<String>,
    /// When it began, in milliseconds since 1970; NaN (`null`) when it does not say.
    #[serde(serialize_with = "iso")]
    pub created: f64,
    /// When it was last active.
    #[serde(serialize_with = "iso")]
    pub modified: f64,
    /// How many messages it holds, on all branches.
    pub message_count: usize,
    /// The first thing the user said.
    pub first_message: String,
    /// All that user and model said, for searching; absent when nobody asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all_messages_text: Option<String>,
}

/// The infos of session files, the most recently active first; what is no session is left out.
/// `with_texts` also gathers what was said, which takes memory in proportion.
pub fn infos(files: &[PathBuf], with_texts: bool, context: &Context) -> Result<Vec<Info>, Error> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::with_capacity(files.len()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(files.len());
    let work = || {
        let mut own = Vec::new();
        let mut buffer = Vec::new();
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            if context.cancel.is_cancelled() {
                break;
            }
            own.extend(info_in(&mut buffer, file, with_texts, context).ok().flatten());
        }
        found.lock().unwrap_or_else(PoisonError::into_inner).extend(own);
    };
    std::thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(work);
        }
        work();
    });
    if context.cancel.is_cancelled() {
        return Err(Error::Aborted);
    }
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by(|left: &Info, right| {
        let by_activity = right.modified.partial_cmp(&left.modified).unwrap_or(std::cmp::Ordering::Equal);
        // pi: equally active sessions stand in reverse order of their names.
        by_activity.then_with(|| storage::by_name(&right.path, &left.path))
    });
    Ok(found)
}

/// The info of one file; `None` when it is no session.
pub fn info(file: &Path, context: &Context) -> io::Result<Option<Info>> {
    info_in(&mut Vec::new(), file, true, context)
}

fn info_in(
    buffer: &mut Vec<u8>,
    file: &Path,
    with_texts: bool,
    context: &Context,
) -> io::Result<Option<Info>> {
    let mut source = context.backend.open(file)?;
    let metadata = source.metadata()?;
    if metadata.kind != crate::fs::Kind::File {
        return Ok(None);
    }
    let modified = metadata.modified.map_or(f64::NAN, |time| script_date::milliseconds(time) as f64);
    Ok(read(buffer, &mut *source, with_texts)?.map(|gathered| gathered.finish(file, modified)))
}

fn read(buffer: &mut Vec<u8>, source: &mut dyn Read, with_texts: bool) -> io::Result<Option<Gathered>> {
    let mut gathered: Option<Gathered> = None;
    let mut is_session = true;
    let mut diagnostics = Vec::new();
    line::each_in(buffer, source, &mut |line| {
        let mut found = Vec::new();
        load::pieces(0, line.offset, line.text, &mut diagnostics, &mut found);
        for piece in found {
            match &mut gathered {
                Some(gathered) => gathered.take(piece.text, &piece.head),
                None => match Header::parse(piece.text) {
                    Some(header) => gathered = Some(Gathered::new(header, with_texts)),
                    None => is_session = false,
                },
            }
        }
        diagnostics.clear();
        if is_session { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(gathered.filter(|_| is_session))
}

/// What has been read of a session so far.
struct Gathered {
    header: Header,
    name: Option<String>,
    messages: usize,
    first: Option<String>,
    texts: Option<Vec<String>>,
    active: f64,
}

impl Gathered {
    fn new(header: Header, with_texts: bool) -> Self {
        let texts = with_texts.then(Vec::new);
        Self { header, name: None, messages: 0, first: None, texts, active: f64::NAN }
    }

    fn take(&mut self, line: &[u8], head: &Head) {
        match (head.entry_type, head.role) {
            (EntryType::SessionInfo, _) => {
                let Ok(document) = Document::parse(line) else { return };
                let name = document.root().get("name").and_then(Value::lossy).unwrap_or_default();
                let name = String::from_utf8_lossy(script_text::trim(name.as_bytes())).into_owned();
                self.name = Some(name).filter(|name| !name.is_empty());
            }
            (EntryType::Message, role) => {
                self.messages += 1;
                if matches!(role, Role::User | Role::Assistant) {
                    let stored = head.message_time.and_then(|time| time.number(line));
                    let written = || head.time.map_or(f64::NAN, |time| time.time(line));
                    self.active = self.active.max(stored.unwrap_or_else(written));
                    if self.texts.is_some() || (role == Role::User && self.first.is_none()) {
                        self.take_text(line, role);
                    }
                }
            }
            _ => {}
        }
    }

    fn take_text(&mut self, line: &[u8], role: Role) {
        let Ok(document) = Document::parse(line) else { return };
        let Some(message) = document.root().get("message") else { return };
        let text = message.get("content").map(joined_text).unwrap_or_default();
        if text.is_empty() {
            return;
        }
        if role == Role::User && self.first.is_none() {
            self.first = Some(text.clone());
        }
        self.texts.iter_mut().for_each(|texts| texts.push(text.clone()));
    }

    fn finish(self, path: &Path, file_modified: f64) -> Info {
        let created = self.header.time();
        // pi: only a header time that is a text stands in for missing activity.
        let fallback = if self.header.is_time_a_text() { created } else { f64::NAN };
        let modified =
            [self.active, fallback, file_modified].into_iter().find(|time| !time.is_nan() && *time > 0.0);
        Info {
            path: path.to_owned(),
            id: self.header.id,
            cwd: self.header.cwd,
            name: self.name,
            parent_session_path: self.header.parent_session,
            created,
            modified: modified.unwrap_or(f64::NAN),
            message_count: self.messages,
            first_message: self.first.unwrap_or_else(|| NO_MESSAGES.to_owned()),
            all_messages_text: self.texts.map(|texts| texts.join(" ")),
        }
    }
}

/// The text of a content, its blocks apart.
fn joined_text(content: Value<'_>) -> String {
    match content.lossy() {
        Some(text) => text.into_owned(),
        None => {
            let blocks =
                content.elements().filter(|block| block.get("type").is_some_and(|kind| kind.is_str("text")));
            let texts = blocks.map(|block| block.get("text").and_then(Value::lossy).unwrap_or_default());
            texts.collect::<Vec<_>>().join(" ")
        }
    }
}

fn iso<S: Serializer>(time: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if time.is_nan() {
        serializer.serialize_none()
    } else {
        serializer.serialize_str(&script_date::to_iso(*time as i64))
    }
}
