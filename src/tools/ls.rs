//! ls: the entries of one directory. Owns what is listed and how it is shown; never looks deeper.

mod order;
mod stamp;

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::error::{self, Code, Error, Fault};
use crate::fs::{DirEntry, Kind, path};
use crate::message::{Base64, Content};
use crate::tool::listing::Listing;
use crate::tool::truncate::{self, Truncation};
use crate::tool::{Example, Outcome, Tool};

/// Entries listed when no limit is given.
pub const DEFAULT_LIMIT: u64 = 500;

/// The ls tool.
pub struct Ls;

/// Arguments of ls.
#[derive(Debug, clap::Args, Deserialize, JsonSchema)]
pub struct Input {
    /// Directory to list [default: the current one]
    #[arg(value_name = "DIR")]
    path: Option<PathBuf>,
    /// Entries to list at most
    #[arg(long, value_name = "N", allow_negative_numbers = true, help = format!("Entries to list at most [default: {DEFAULT_LIMIT}]"))]
    #[schemars(description = format!("Entries to list at most (default: {DEFAULT_LIMIT})"))]
    limit: Option<f64>,
}

/// What the command line alone can set.
#[derive(Debug, Default, clap::Args)]
pub struct Options {
    /// Add size and time of the last change to each entry
    #[arg(short, long)]
    long: bool,
}

/// What is in a directory.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listed {
    /// The directory, as named in the call.
    path: String,
    /// Its entries, in alphabetical order without regard to case.
    entries: Vec<Entry>,
    /// The limit, when there are more entries than that.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry_limit_reached: Option<u64>,
    /// Whether the text for the model holds fewer entries than `entries`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    truncated: bool,
}

/// One entry.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Entry {
    /// Its name; what is not UTF-8 in it is replaced by U+FFFD.
    name: String,
    /// The exact bytes of the name in base64, when it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    name_base64: Option<Base64>,
    /// What it is; a link is a symlink, whatever it points to.
    #[serde(rename = "type")]
    kind: Kind,
    /// Where a symlink points, as written in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// What a symlink leads to in the end; absent when it is broken.
    #[serde(skip_serializing_if = "Option::is_none")]
    target_type: Option<Kind>,
    /// Size in bytes, with --long.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// Time of the last change of content (RFC 3339, UTC), with --long.
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
}

/// What a user interface shows beside the text.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// What was kept of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncation: Option<Truncation>,
    /// The limit, when it was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry_limit_reached: Option<u64>,
}

impl Tool for Ls {
    type Input = Input;
    type Options = Options;
    type Details = Details;
    type Structured = Listed;

    const NAME: &'static str = "ls";
    const TITLE: &'static str = "List directory";
    const ABOUT: &'static str = "list the entries of a directory with their types";
    const PROMPT_SNIPPET: &'static str = "List the entries of a directory";
    const EXAMPLES: &'static [Example] = &[
        Example {
            purpose: "The names of the directories in src, links to directories included",
            command: "pi-ls src | jq -r '.entries[] | select([.type, .target_type] | index(\"dir\")) | .name'",
        },
        Example { purpose: "The largest file here", command: "pi-ls --long | jq '.entries | max_by(.size)'" },
        Example {
            purpose: "Links that lead nowhere",
            command: "pi-ls | jq '.entries[] | select(.target and (.target_type | not))'",
        },
    ];

    fn description() -> String {
        format!(
            "List a directory: one name per line in alphabetical order, dotfiles included, `/` behind \
             directories. At most {DEFAULT_LIMIT} entries (see limit) and {} of text.",
            truncate::format_size(truncate::MAX_BYTES)
        )
    }

    fn run(input: Input, options: &Options, context: &Context) -> Result<Outcome<Self>, Error> {
        context.cancel.check()?;
        let typed = input.path.filter(|path| !path.as_os_str().is_empty()).unwrap_or_else(|| ".".into());
        let limit = input.limit.map_or(DEFAULT_LIMIT, |limit| limit.max(1.0) as u64);
        let directory = path::resolve(&typed, context);
        let mut names = read(&directory, context)?;
        order::sort(&mut names);

        let mut listing = Listing::default();
        let mut entries = Vec::new();
        let mut shown = 0;
        let mut entry_limit_reached = None;
        for name in &names {
            context.cancel.check()?;
            // pi: what cannot be shown any more counts, even if it is a broken link that never would be.
            if shown == limit {
                entry_limit_reached = Some(limit);
                break;
            }
            let looked = look(name, &directory, options.long, context);
            if let Some(line) = looked.line {
                listing.line(&line);
                shown += 1;
            }
            entries.push(looked.entry);
        }

        let notices = entry_limit_reached.map(|limit| {
            format!("{limit} entries limit reached. Use limit={} for more", limit.saturating_mul(2))
        });
        let is_empty = listing.is_empty() && entry_limit_reached.is_none();
        let text = listing.finish(notices.into_iter().collect(), 1);
        let content = if is_empty { "(empty directory)".to_owned() } else { text.text };
        let listed = Listed {
            path: typed.to_string_lossy().into_owned(),
            entries,
            entry_limit_reached,
            truncated: text.truncation.is_some(),
        };
        let details = Details { truncation: text.truncation, entry_limit_reached };
        let has_details = details.truncation.is_some() || entry_limit_reached.is_some();
        let mut outcome =
            Outcome::new(vec![Content::text(content)], listed).with_details(has_details.then_some(details));
        outcome.raw_text = text.raw;
        Ok(outcome)
    }
}

/// Why a directory could not be listed; the texts are pi's.
#[derive(Debug, thiserror::Error)]
enum ListError {
    #[error("Path not found: {}", .0.display())]
    NotFound(PathBuf),
    #[error("Not a directory: {}", .0.display())]
    NotDirectory(PathBuf),
    #[error("Cannot read directory: {}, scandir '{}'", error::describe(.1), .0.display())]
    Unreadable(PathBuf, io::Error),
}

impl Fault for ListError {
    fn code(&self) -> Code {
        match self {
            Self::NotFound(_) => Code::NotFound,
            Self::NotDirectory(_) => Code::NotDirectory,
            Self::Unreadable(_, source) => error::code_of(source),
        }
    }
}

fn read(directory: &Path, context: &Context) -> Result<Vec<DirEntry>, ListError> {
    match context.backend.metadata(directory) {
        Ok(metadata) if metadata.kind == Kind::Dir => {}
        Ok(_) => return Err(ListError::NotDirectory(directory.to_owned())),
        Err(source) if is_absent(&source) => return Err(ListError::NotFound(directory.to_owned())),
        Err(source) => return Err(ListError::Unreadable(directory.to_owned(), source)),
    }
    context.backend.read_dir(directory).map_err(|source| ListError::Unreadable(directory.to_owned(), source))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error::code_of(error), Code::NotFound | Code::NotDirectory)
}

/// An entry after a look at it.
struct Looked {
    entry: Entry,
    /// Its line in the text; none when nothing can be said of what it leads to.
    line: Option<Vec<u8>>,
}

fn look(found: &DirEntry, directory: &Path, long: bool, context: &Context) -> Looked {
    let at = directory.join(&found.name);
    let own =
        (long || found.kind == Kind::Unknown).then(|| context.backend.symlink_metadata(&at).ok()).flatten();
    let kind = match found.kind {
        Kind::Unknown => own.as_ref().map_or(Kind::Unknown, |own| own.kind),
        known => known,
    };
    let led_to = match &own {
        Some(own) if kind != Kind::Symlink => Some(own.kind),
        _ => context.backend.metadata(&at).ok().map(|metadata| metadata.kind),
    };
    let is_link = kind == Kind::Symlink;
    let target = is_link.then(|| context.backend.read_link(&at).ok()).flatten();
    let size_and_time = own.filter(|_| long);
    let (name, name_base64) = text_and_bytes(&found.name);
    Looked {
        line: led_to.map(|led_to| {
            let slash: &[u8] = if led_to == Kind::Dir { b"/" } else { b"" };
            [found.name.as_bytes(), slash].concat()
        }),
        entry: Entry {
            name,
            name_base64,
            kind,
            target: target.map(|target| target.to_string_lossy().into_owned()),
            target_type: led_to.filter(|_| is_link),
            size: size_and_time.as_ref().map(|own| own.len),
            modified: size_and_time.and_then(|own| own.modified).map(stamp::rfc3339),
        },
    }
}

/// A name as text, and its bytes where the text is not the whole truth.
fn text_and_bytes(name: &OsStr) -> (String, Option<Base64>) {
    match name.to_str() {
        Some(text) => (text.to_owned(), None),
        None => (name.to_string_lossy().into_owned(), Some(Base64::encode(name.as_bytes()))),
    }
}
