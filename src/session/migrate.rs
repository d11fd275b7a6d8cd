//! Sessions of version 1 and 2 as version 3: in memory for readers, on disk once somebody writes.
//!
//! Lines are edited, not re-written: what the migration does not touch keeps its bytes. The ids of
//! version 1 are the entries' numbers, so that every reader sees the same ones.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use super::append::Writer;
use super::diagnostic::{Diagnostic, Reason};
use super::error::Error;
use super::head::Head;
use super::header::{Header, VERSION};
use super::kind::{EntryType, Role};
use super::line;
use super::load::{self, Loaded};
use super::scan::Kind;
use super::script_json::{Document, Value};
use super::splice::Splice;
use super::store::Store;
use super::tree::Tree;
use crate::context::Context;
use crate::fs;

/// A migrated file: its lines, the header first.
pub(super) struct Migrated {
    pub(super) lines: Vec<Vec<u8>>,
    diagnostics: Vec<Diagnostic>,
}

/// Loads a session of an older version.
pub(super) fn load(bytes: &[u8], path: &Path) -> Result<Loaded, Error> {
    let Migrated { lines, mut diagnostics } = migrate(bytes, path)?;
    let too_large = || Error::TooLarge { path: path.to_owned() };
    let not_a_session = || Error::NotASession { path: path.to_owned() };
    let header = lines.first().and_then(|line| Header::parse(line)).ok_or_else(not_a_session)?;
    let mut tree = Tree::new(Store::default());
    for line in &lines[1..] {
        let head = Head::scan_line(line).map_err(|_| not_a_session())?;
        if head.entry_type == EntryType::Session {
            continue;
        }
        let location = tree.store.push(line).ok_or_else(too_large)?;
        tree.push(line, &head, location).ok_or_else(too_large)?;
    }
    let message = "an older version; shown as the current one, rewritten when it is next appended to";
    diagnostics.insert(0, Diagnostic::at_line(1, Reason::OldVersion, message));
    Ok(Loaded { header, tree, diagnostics, end: bytes.len() as u64, is_migrated: true })
}

/// Rewrites the session in `path` as version 3 while nobody appends. The old file stays as `<path>.bak`,
/// unless there is one already.
pub(super) fn on_disk(path: &Path, context: &Context) -> Result<(), Error> {
    let _editors = context.backend.lock(path, &context.cancel).map_err(|error| match error {
        fs::lock::Error::Aborted => Error::Aborted,
        fs::lock::Error::Io { path, source } => Error::Io { step: "lock", path, source },
    })?;
    let mut writer = Writer::open(path)?;
    let (mut locked, _) = writer.lock(&context.cancel)?;
    let bytes = locked.read_from(0)?;
    let is_old = bytes
        .split(|byte| *byte == b'\n')
        .find_map(Header::parse)
        .is_some_and(|header| header.version() < f64::from(VERSION));
    if !is_old {
        // Another process was first.
        return Ok(());
    }
    let mut lines = migrate(&bytes, path)?.lines.join(&b"\n"[..]);
    lines.push(b'\n');
    keep_old(path, &bytes)?;
    context.backend.replace(path, &[&lines], None, &context.cancel).map_err(|error| match error {
        fs::replace::Error::Aborted => Error::Aborted,
        fs::replace::Error::Changed { path } => Error::Replaced { path },
        fs::replace::Error::Unsupported { path, .. } => Error::NotASession { path },
        fs::replace::Error::Io { step, path, source } => Error::Io { step, path, source },
    })
}

/// The old file under a name of its own: whole or not at all, and the first one stays. A copy, as a second
/// name for the file would share the fate of the first.
fn keep_old(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let mut backup = path.as_os_str().to_owned();
    backup.push(".bak");
    let backup = Path::new(&backup);
    let io = |source| Error::io("write", backup, source);
    let mut copy = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new("/"))).map_err(io)?;
    copy.write_all(bytes).and_then(|()| copy.as_file().sync_all()).map_err(io)?;
    match copy.persist_noclobber(backup) {
        Err(error) if error.error.kind() != std::io::ErrorKind::AlreadyExists => Err(io(error.error)),
        _ => Ok(()),
    }
}

/// The lines of a session as version 3.
pub(super) fn migrate(bytes: &[u8], path: &Path) -> Result<Migrated, Error> {
    let mut diagnostics = Vec::new();
    let mut values = Vec::new();
    let mut number = 0;
    let mut source = bytes;
    line::each(&mut source, &mut |line| {
        number += 1;
        let mut found = Vec::new();
        load::pieces(number, line.offset, line.text, &mut diagnostics, &mut found);
        diagnostics.extend(found.iter().filter_map(|piece| load::finding(number, &piece.head)));
        values.extend(found.into_iter().map(|piece| (piece.text.to_vec(), piece.head)));
        std::ops::ControlFlow::Continue(())
    })
    .map_err(|source| Error::io("read", path, source))?;
    let header = values.first().and_then(|(line, _)| Header::parse(line));
    let version = header.map_or(f64::from(VERSION), |header| header.version());
    let mut ids = Ids::default();
    let lines = values
        .iter()
        .enumerate()
        .map(|(index, (line, head))| edit(index, line, head, version, &mut ids))
        .collect();
    Ok(Migrated { lines, diagnostics })
}

/// The ids given so far, by the number of the value in the file (the header is 0).
#[derive(Default)]
struct Ids {
    by_value: BTreeMap<usize, String>,
    count: u32,
    last: Option<String>,
}

fn edit(index: usize, line: &[u8], head: &Head, version: f64, ids: &mut Ids) -> Vec<u8> {
    let Some(document) = Document::parse(line).ok().filter(|_| head.root == Kind::Object) else {
        return line.to_vec();
    };
    let root = document.root();
    let mut splice = Splice::new(root);
    if head.entry_type == EntryType::Session {
        splice.set("version", VERSION.to_string().as_bytes());
        return splice.finish();
    }
    if version < 2.0 {
        number(index, &mut splice, ids);
        if head.entry_type == EntryType::Compaction {
            point_to_id(root, &mut splice, ids);
        }
    }
    if head.entry_type == EntryType::Message && head.role == Role::Unknown {
        rename_hook_message(root, &mut splice);
    }
    splice.finish()
}

fn number(index: usize, splice: &mut Splice<'_>, ids: &mut Ids) {
    ids.count += 1;
    let id = format!("{:08x}", ids.count);
    splice.set("id", format!("\"{id}\"").as_bytes());
    match ids.last.replace(id.clone()) {
        Some(parent) => splice.set("parentId", format!("\"{parent}\"").as_bytes()),
        None => splice.set("parentId", b"null"),
    }
    ids.by_value.insert(index, id);
}

/// `firstKeptEntryIndex` becomes `firstKeptEntryId`, when the entry of that number has its id by now.
fn point_to_id(root: Value<'_>, splice: &mut Splice<'_>, ids: &Ids) {
    let Some(kept) = root.get("firstKeptEntryIndex").and_then(|index| index.number()) else { return };
    // pi: only a whole number from 1 on names an entry; any number is taken away.
    let id = (kept >= 1.0 && kept.fract() == 0.0).then(|| ids.by_value.get(&(kept as usize))).flatten();
    if let Some(id) = id {
        splice.set("firstKeptEntryId", format!("\"{id}\"").as_bytes());
    }
    splice.remove("firstKeptEntryIndex");
}

fn rename_hook_message(root: Value<'_>, splice: &mut Splice<'_>) {
    let message = root.get("message").filter(|message| message.kind() == Kind::Object);
    let Some(message) = message else { return };
    if message.get("role").is_some_and(|role| role.is_str("hookMessage")) {
        let mut inner = Splice::new(message);
        inner.set("role", b"\"custom\"");
        splice.set("message", &inner.finish());
    }
}
