//! A session as a document to read: a page for a browser, or Markdown.
//!
//! Nothing of a session is trusted: no line of it can run as script or become active HTML.

mod html;
mod inert;
mod markdown;
mod outline;
mod source;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::error::Error;
use super::load::{self, Loaded};
use super::tree::Index;
use crate::context::Context;
use outline::Outline;

/// A session to write down, opened.
pub struct Subject {
    path: PathBuf,
    loaded: Loaded,
    outlines: Vec<Outline>,
    leaf: Option<Index>,
    context: Context,
}

/// Why a document could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The session could not be read.
    #[error(transparent)]
    Session(#[from] Error),
    /// The document could not be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

impl Subject {
    /// Reads the session in `path`; `leaf` names the entry to end at in place of the session's own leaf.
    pub fn open(path: &Path, leaf: Option<&str>, context: &Context) -> Result<Self, Error> {
        let found = load::load_with(path, context, |_, line| Outline::of(line))?;
        let (loaded, outlines) = found.ok_or_else(|| Error::NotASession { path: path.to_owned() })?;
        let leaf = match leaf {
            None => loaded.tree.len().checked_sub(1),
            Some(id) => Some(loaded.tree.find(id).ok_or_else(|| Error::NoEntry { id: id.to_owned() })?),
        };
        Ok(Self { path: path.to_owned(), loaded, outlines, leaf, context: context.clone() })
    }

    /// How many entries the session has, on all branches.
    pub fn entries(&self) -> usize {
        self.loaded.tree.len()
    }

    /// Writes one self-contained HTML page. It holds the file byte for byte, and opens at the leaf.
    pub fn write_html(&self, program: &str, out: &mut dyn Write) -> Result<(), Failure> {
        html::write(self, program, out)
    }

    /// Writes Markdown: the path to the leaf, or with `all` every branch.
    pub fn write_markdown(&self, all: bool, out: &mut dyn Write) -> Result<(), Failure> {
        markdown::write(self, all, out)
    }

    /// The session's file name, readable.
    fn file_name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn title(&self) -> Result<String, Failure> {
        let name = self.loaded.tree.name().map_err(|source| self.reading(source))?;
        Ok(name.unwrap_or_else(|| self.file_name()))
    }

    fn reading(&self, source: io::Error) -> Failure {
        Error::io("read", &self.path, source).into()
    }
}
