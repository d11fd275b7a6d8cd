//! One page that needs nothing else: the session's lines as inert data, and a script of ours that draws them.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::outline::Outline;
use super::source::{self, Item};
use super::{Failure, Subject, inert};
use crate::session::diagnostic::Diagnostic;
use crate::session::script_json::Document;
use crate::session::stats::{Share, Stats};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(
    "\"use strict\";\n",
    include_str!("code.js"),
    include_str!("markdown.js"),
    include_str!("entry.js"),
    include_str!("tree.js"),
    include_str!("page.js"),
);
/// How much of the session one block of data holds; the page parses a block when something of it is shown.
const BLOCK: usize = 512 * 1024;

/// What the page knows before it reads any line.
#[derive(Serialize)]
struct Summary<'s> {
    file: String,
    name: Option<String>,
    id: &'s str,
    cwd: &'s str,
    started: Option<String>,
    parent: Option<&'s str>,
    /// The entry to open at, by number; -1 where there is none.
    leaf: i64,
    stats: Stats,
    shares: Vec<Share>,
    diagnostics: Vec<String>,
    entries: Vec<Listed<'s>>,
}

#[derive(Serialize)]
struct Listed<'s> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'s str>,
    #[serde(flatten)]
    outline: &'s Outline,
}

/// A piece of the file that is no plain line.
#[derive(Default, Serialize)]
struct Odd<'b> {
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<std::borrow::Cow<'b, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'b str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file64: Option<String>,
}

/// Writes the page.
pub(super) fn write(subject: &Subject, program: &str, out: &mut dyn Write) -> Result<(), Failure> {
    let mut rest = PAGE;
    // Slots are filled in one pass over the template, so that no text of a session is taken for a slot.
    while let Some((before, after)) = rest.split_once("{{") {
        out.write_all(before.as_bytes())?;
        let (slot, after) = after.split_once("}}").unwrap_or((after, ""));
        match slot {
            "policy" => out.write_all(policy().as_bytes())?,
            "program" => out.write_all(escaped(program).as_bytes())?,
            "title" => out.write_all(escaped(&subject.title()?).as_bytes())?,
            "style" => out.write_all(STYLE.as_bytes())?,
            "script" => out.write_all(SCRIPT.as_bytes())?,
            _ => data(subject, out)?,
        }
        rest = after;
    }
    Ok(out.write_all(rest.as_bytes())?)
}

/// Only our own style and script, by their hashes; nothing from anywhere else.
fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

/// Text for an attribute or a title.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn data(subject: &Subject, out: &mut dyn Write) -> Result<(), Failure> {
    out.write_all(b"<script type=\"application/json\" id=\"session\">")?;
    inert::write(&summary(subject)?, out)?;
    out.write_all(b"</script>\n")?;
    let mut blocks = Blocks { out, entries: 0, filled: None };
    source::each(subject, &mut |item| Ok(blocks.item(item)?))?;
    Ok(blocks.end()?)
}

fn summary(subject: &Subject) -> Result<Summary<'_>, Failure> {
    let (loaded, tree) = (&subject.loaded, &subject.loaded.tree);
    let reading = |source| subject.reading(source);
    let listed = |(index, outline)| Listed {
        id: tree.id(index).map(|id| id.into_lossy().into_owned()),
        parent: tree.parent(index),
        label: tree.label(index).map(|label| label.text.as_str()),
        outline,
    };
    let header = Document::parse(loaded.header.raw()).ok();
    let started = header.as_ref().and_then(|header| header.root().get("timestamp")?.lossy());
    let diagnostics = loaded.diagnostics.iter().chain(&tree.diagnostics()).map(in_words).collect();
    Ok(Summary {
        file: subject.file_name(),
        name: tree.name().map_err(reading)?,
        id: &loaded.header.id,
        cwd: &loaded.header.cwd,
        started: started.map(std::borrow::Cow::into_owned),
        parent: loaded.header.parent_session.as_deref(),
        leaf: subject.leaf.map_or(-1, |leaf| leaf as i64),
        stats: tree.stats().map_err(reading)?,
        shares: tree.shares().map_err(reading)?,
        diagnostics,
        entries: subject.outlines.iter().enumerate().map(listed).collect(),
    })
}

fn in_words(found: &Diagnostic) -> String {
    match (found.line, &found.id) {
        (Some(line), _) => format!("Line {line}: {}", found.message),
        (None, Some(id)) => format!("Entry {id}: {}", found.message),
        (None, None) => found.message.clone(),
    }
}

/// The blocks of data: arrays of pieces, each block with the number of its first entry.
struct Blocks<'o> {
    out: &'o mut dyn Write,
    entries: usize,
    /// What the open block holds so far.
    filled: Option<usize>,
}

impl Blocks<'_> {
    fn item(&mut self, item: Item<'_>) -> io::Result<()> {
        let bytes = match item {
            Item::Line(bytes) | Item::Entry(bytes) | Item::Other(bytes) => bytes,
        };
        match self.filled {
            Some(filled) if filled < BLOCK => self.out.write_all(b",\n")?,
            _ => {
                self.end()?;
                let first = self.entries;
                write!(
                    self.out,
                    "<script type=\"application/json\" class=\"lines\" data-first=\"{first}\">["
                )?;
            }
        }
        self.filled = Some(self.filled.filter(|filled| *filled < BLOCK).unwrap_or(0) + bytes.len());
        self.entries += usize::from(!matches!(item, Item::Other(_)));
        let text = std::str::from_utf8(bytes);
        let base64 = |bytes: &[u8]| Some(STANDARD.encode(bytes));
        match (item, text) {
            (Item::Line(_), Ok(text)) => inert::write(text, self.out),
            (Item::Line(_), Err(_)) => {
                let file64 = base64(&[bytes, b"\n"].concat());
                let entry = Some(String::from_utf8_lossy(bytes));
                inert::write(&Odd { entry, file64, ..Odd::default() }, self.out)
            }
            (Item::Entry(_), _) => {
                inert::write(&Odd { entry: Some(String::from_utf8_lossy(bytes)), ..Odd::default() }, self.out)
            }
            (Item::Other(_), Ok(text)) => inert::write(&Odd { file: Some(text), ..Odd::default() }, self.out),
            (Item::Other(_), Err(_)) => {
                inert::write(&Odd { file64: base64(bytes), ..Odd::default() }, self.out)
            }
        }
    }

    fn end(&mut self) -> io::Result<()> {
        if self.filled.take().is_some() {
            self.out.write_all(b"]</script>\n")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_texts_cannot_end_their_elements() {
        for (text, end) in [(SCRIPT, "</script"), (SCRIPT, "<!--"), (STYLE, "</style")] {
            assert!(!text.to_lowercase().contains(end), "{end}");
        }
    }

    #[test]
    fn nothing_is_ever_parsed_as_html() {
        for word in
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "srcdoc"]
        {
            assert!(!SCRIPT.contains(word), "{word}");
        }
    }
}
