//! A mended copy of a session: every entry that can be read, each on a line of its own, and on the path again.

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::one_line;
use crate::error::Error;
use crate::session::{self, Index, Loaded, Reason, Tree, script_text};

/// What was written.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Repair {
    /// The new file.
    path: String,
    /// How many entries it holds.
    entries: usize,
    /// What is different there.
    steps: Vec<Step>,
}

/// One difference.
#[derive(Debug, Serialize, JsonSchema)]
struct Step {
    /// The line of the session, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    /// The entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// What was done.
    message: String,
}

/// Writes the copy; an existing file is left alone and is an error.
pub(super) fn write(loaded: &Loaded, out: &Path) -> Result<Repair, Error> {
    let fail = |step| move |source| session::Error::Io { step, path: out.to_owned(), source };
    let file =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(out).map_err(fail("create"))?;
    let written = copy(loaded, &mut BufWriter::new(&file), out)
        .and_then(|repair| file.sync_all().map(|()| repair))
        .map_err(fail("write"));
    if written.is_err() {
        let _ = std::fs::remove_file(out);
    }
    Ok(written?)
}

impl Repair {
    pub(super) fn draw(&self, out: &mut dyn io::Write) -> io::Result<()> {
        const LIMIT: usize = 200;
        for step in &self.steps {
            let place = step.line.map(|line| format!("line {line}: ")).unwrap_or_default();
            writeln!(out, "mended: {place}{}", one_line::of(&step.message, LIMIT))?;
        }
        writeln!(out, "{} entries written to {}", self.entries, one_line::of(&self.path, LIMIT))
    }
}

fn copy(loaded: &Loaded, out: &mut impl Write, path: &Path) -> io::Result<Repair> {
    let tree = &loaded.tree;
    let mut steps: Vec<Step> = loaded
        .diagnostics
        .iter()
        .map(|found| Step { line: found.line, id: found.id.clone(), message: found.message.clone() })
        .collect();
    let cut: HashSet<String> = tree
        .diagnostics()
        .into_iter()
        .filter(|found| found.reason == Reason::Cycle)
        .filter_map(|found| found.id)
        .collect();
    let mut entries = 0;
    let mut last: Option<(Index, String)> = None;
    out.write_all(loaded.header.raw())?;
    out.write_all(b"\n")?;
    for index in 0..tree.len() {
        let line = tree.line(index)?;
        let id = tree.id(index).map(|id| id.into_lossy().into_owned());
        let mut note = |message: String| {
            steps.push(Step { line: tree.line_number(index), id: id.clone(), message });
        };
        let Some(own) = id.as_deref() else {
            note("left out: it has no id".to_owned());
            continue;
        };
        if tree.find(own) != Some(index) {
            note("left out: a later entry has the same id".to_owned());
            continue;
        }
        let parent = tree.parent_id(index).filter(|parent| !parent.as_bytes().is_empty());
        let is_orphan = parent.is_some() && tree.parent(index).is_none();
        if is_orphan || cut.contains(own) {
            let before = last.as_ref().filter(|_| is_orphan).map(|(_, id)| id.as_str());
            note(match before {
                Some(before) => {
                    format!("its parent is missing; it hangs under the entry before it, {before}")
                }
                None => "it is a root now".to_owned(),
            });
            out.write_all(&with_parent(tree, index, before)?)?;
        } else {
            out.write_all(&line)?;
        }
        out.write_all(b"\n")?;
        entries += 1;
        last = Some((index, own.to_owned()));
    }
    out.flush()?;
    Ok(Repair { path: path.to_string_lossy().into_owned(), entries, steps })
}

/// An entry's line with another parent, and all else as it was.
fn with_parent(tree: &Tree, index: Index, parent: Option<&str>) -> io::Result<Vec<u8>> {
    let entry = tree.entry(index)?;
    let Some(place) = entry.root().get("parentId").map(|parent| parent.span()) else {
        return Ok(entry.raw().to_vec());
    };
    let parent = parent.map_or_else(|| b"null".to_vec(), script_text::quoted);
    Ok([&entry.raw()[..place.start], &parent, &entry.raw()[place.end..]].concat())
}
