//! Where sessions live: directories named after working directories, and file names.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use icu_collator::options::CollatorOptions;
use icu_collator::{Collator, CollatorBorrowed};

use super::error::Error;
use super::header::{self, Header};
use super::list::{self, Info};
use super::script_date;
use crate::context::Context;
use crate::fs::Kind;
pub use crate::fs::path::absolute;

/// A directory of sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    /// Where it is.
    pub path: PathBuf,
    /// Chosen by the user: it holds the sessions of many working directories, so they are told apart by
    /// their headers.
    pub is_custom: bool,
}

impl Directory {
    /// The directory in force: `flag` (`--session-dir`) before `PI_CODING_AGENT_SESSION_DIR` before
    /// `setting` (`sessionDir`) before the agent directory's own for this working directory.
    pub fn choose(flag: Option<&str>, setting: Option<&str>, cwd: &Path, context: &Context) -> Self {
        let variable =
            context.environment.get("PI_CODING_AGENT_SESSION_DIR").and_then(|value| value.to_str());
        let chosen = [flag, variable, setting].into_iter().flatten().find(|path| !path.is_empty());
        match chosen {
            Some(path) => Self { path: resolve(path, context), is_custom: true },
            None => Self { path: default_directory(cwd, &agent_directory(context)), is_custom: false },
        }
    }

    /// The sessions in it that belong to a working directory, the most recently active first. With
    /// `with_texts` also what was said in them.
    pub fn list(&self, cwd: Option<&Path>, with_texts: bool, context: &Context) -> Result<Vec<Info>, Error> {
        let mut found = list::infos(&files(&self.path, context)?, with_texts, context)?;
        if let Some(cwd) = cwd.filter(|_| self.is_custom) {
            found.retain(|info| belongs(&info.cwd, cwd, context));
        }
        Ok(found)
    }

    /// The file in it that was changed last; in a directory of the user's own only those of `cwd` count.
    pub fn most_recent(&self, cwd: Option<&Path>, context: &Context) -> Option<PathBuf> {
        let mut newest: Option<(SystemTime, PathBuf)> = None;
        let mut files = files(&self.path, context).unwrap_or_default();
        files.sort();
        for file in files {
            let Some(header) = header_of(&file, context) else { continue };
            if cwd.is_some_and(|cwd| !belongs(&header.cwd, cwd, context)) {
                continue;
            }
            let modified = context.backend.metadata(&file).ok().and_then(|found| found.modified);
            let modified = modified.unwrap_or(SystemTime::UNIX_EPOCH);
            if newest.as_ref().is_none_or(|(time, _)| *time < modified) {
                newest = Some((modified, file));
            }
        }
        newest.map(|(_, file)| file)
    }

    /// The session to go on with in a working directory.
    pub fn continue_recent(&self, cwd: &Path, context: &Context) -> Option<PathBuf> {
        self.most_recent(Some(cwd).filter(|_| self.is_custom), context)
    }

    /// The file of the session with exactly this id.
    pub fn find(&self, id: &str, cwd: &Path, context: &Context) -> Option<PathBuf> {
        let files = files(&self.path, context).ok()?;
        files.into_iter().find(|file| {
            header_of(file, context).is_some_and(|header| {
                header.id == id && (!self.is_custom || belongs(&header.cwd, cwd, context))
            })
        })
    }
}

/// The sessions of all working directories, the most recently active first.
pub fn list_all(agent_directory: &Path, with_texts: bool, context: &Context) -> Result<Vec<Info>, Error> {
    let root = agent_directory.join("sessions");
    let names = context.backend.read_dir(&root).unwrap_or_default();
    let directories = names.into_iter().filter(|entry| entry.kind != Kind::File);
    list_directories(&directories.map(|entry| root.join(entry.name)).collect::<Vec<_>>(), with_texts, context)
}

/// The sessions of several directories as one list. A file that is reached twice, through a link or
/// because a directory was named twice, appears once.
pub fn list_directories(
    directories: &[PathBuf],
    with_texts: bool,
    context: &Context,
) -> Result<Vec<Info>, Error> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for directory in directories {
        let files = files(directory, context).unwrap_or_default();
        found.extend(
            files.into_iter().filter(|file| {
                seen.insert(context.backend.canonicalize(file).unwrap_or_else(|_| file.clone()))
            }),
        );
    }
    list::infos(&found, with_texts, context)
}

/// The agent's directory: `PI_CODING_AGENT_DIR`, else `~/.pi/agent`.
pub fn agent_directory(context: &Context) -> PathBuf {
    let variable = context.environment.get("PI_CODING_AGENT_DIR").and_then(|value| value.to_str());
    match variable.filter(|path| !path.is_empty()) {
        Some(path) => resolve(path, context),
        None => context.home.as_deref().unwrap_or(Path::new("/")).join(".pi/agent"),
    }
}

/// The directory of a working directory's sessions, when nobody chose another one.
pub fn default_directory(cwd: &Path, agent_directory: &Path) -> PathBuf {
    let cwd = cwd.to_string_lossy();
    let name = cwd.strip_prefix(['/', '\\']).unwrap_or(&cwd).replace(['/', '\\', ':'], "-");
    agent_directory.join("sessions").join(format!("--{name}--"))
}

/// The name of a session's file.
pub fn file_name(id: &str, now: i64) -> String {
    format!("{}_{id}.jsonl", script_date::to_iso(now).replace([':', '.'], "-"))
}

/// A stored session whose working directory is gone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "Stored session working directory does not exist: {}\nSession file: {}\nCurrent working directory: {}",
    .cwd.display(), .file.display(), .here.display()
)]
pub struct MissingCwd {
    cwd: PathBuf,
    file: PathBuf,
    here: PathBuf,
}

impl MissingCwd {
    /// The question to a user.
    pub fn prompt(&self) -> String {
        format!("Session cwd does not exist: {}", self.cwd.display())
    }

    /// The answers a user has, each with its value; none means to give up.
    pub fn choices(&self) -> [(String, Option<&'static str>); 3] {
        let here = self.here.display();
        [
            (format!("Continue in {here} (asks again next time)"), Some("continue")),
            (format!("Fork into {here} (new session ID, original kept)"), Some("fork")),
            ("Cancel".to_owned(), None),
        ]
    }
}

/// Whether a stored session's working directory is gone; `here` is where one could go on instead.
pub fn missing_cwd(cwd: &Path, file: Option<&Path>, here: &Path, context: &Context) -> Option<MissingCwd> {
    let file = file?;
    if cwd.as_os_str().is_empty() || context.backend.metadata(cwd).is_ok() {
        return None;
    }
    Some(MissingCwd { cwd: cwd.to_owned(), file: file.to_owned(), here: here.to_owned() })
}

/// A path as written in a header or on the command line: `~`, `file://` and relative ones made absolute.
pub fn resolve(path: &str, context: &Context) -> PathBuf {
    absolute(&expand(path, context), context)
}

pub(super) fn expand(path: &str, context: &Context) -> PathBuf {
    if let Some(url) = path.strip_prefix("file://") {
        return decoded(url.find('/').map_or("/", |slash| &url[slash..]));
    }
    match (&context.home, path.strip_prefix('~')) {
        (Some(home), Some("")) => home.clone(),
        (Some(home), Some(rest)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(path),
    }
}

/// Percent escapes as bytes.
fn decoded(path: &str) -> PathBuf {
    let bytes = path.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = (bytes[at] == b'%').then(|| path.get(at + 1..at + 3)).flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    OsString::from_vec(out).into()
}

fn belongs(stored: &str, cwd: &Path, context: &Context) -> bool {
    !stored.is_empty() && resolve(stored, context) == cwd
}

/// The session files of a directory; none when there is no directory.
fn files(directory: &Path, context: &Context) -> Result<Vec<PathBuf>, Error> {
    let entries = match context.backend.read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(Error::io("read", directory, source)),
    };
    let is_session = |name: &OsString| name.as_encoded_bytes().ends_with(b".jsonl");
    let named = entries.into_iter().filter(|entry| entry.kind != Kind::Dir && is_session(&entry.name));
    Ok(named.map(|entry| directory.join(entry.name)).collect())
}

fn header_of(file: &Path, context: &Context) -> Option<Header> {
    let mut source = context.backend.open(file).ok()?;
    source.metadata().ok().filter(|metadata| metadata.kind == Kind::File)?;
    header::scan(&mut *source, file).ok().flatten()
}

/// The order of names that people expect.
pub(super) fn by_name(left: &Path, right: &Path) -> Ordering {
    thread_local! {
        static COLLATOR: Option<CollatorBorrowed<'static>> =
            Collator::try_new(Default::default(), CollatorOptions::default()).ok();
    }
    let (left, right) = (left.to_string_lossy(), right.to_string_lossy());
    let collated =
        COLLATOR.with(|collator| collator.as_ref().map(|collator| collator.compare(&left, &right)));
    collated.unwrap_or(Ordering::Equal).then_with(|| left.cmp(&right))
}
