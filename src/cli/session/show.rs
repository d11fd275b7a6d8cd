//! The command pi-session-show: the tree of a session, or the part of it that is asked for.

use std::collections::HashSet;
use std::io;
use std::num::NonZeroUsize;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;

use super::glance::{Glance, PREVIEW};
use super::listing::{Form, Listing};
use super::target::{self, Target};
use super::{draw, warnings};
use crate::context::Context;
use crate::error::{Code, Error};
use crate::session::rows::Row;
use crate::session::{self, EntryType, Index, Leaf, Loaded, Tree, header, load, path_end, script_date};
use crate::tool::{Example, Outcome, Tool};

/// The command pi-session-show, as a tool, so that it keeps the contract of all commands.
pub struct Show;

/// Arguments of pi-session-show.
#[derive(Debug, clap::Args, Deserialize, JsonSchema)]
pub struct Input {
    #[command(flatten)]
    #[serde(flatten)]
    target: Target,
    /// Only the entries on the path to the leaf
    #[arg(long)]
    #[serde(default)]
    path: bool,
    /// Take this entry for the leaf [default: the last one of the file]
    #[arg(long, value_name = "ID")]
    leaf: Option<String>,
    /// Only entries of these types
    #[arg(long = "type", value_name = "TYPE,...", value_delimiter = ',')]
    #[serde(default, rename = "type")]
    types: Vec<String>,
    /// Only messages of these roles
    #[arg(long = "role", value_name = "ROLE,...", value_delimiter = ',')]
    #[serde(default, rename = "role")]
    roles: Vec<String>,
    /// Only entries written at TIME or later, such as 2026-12-01 or 2026-12-01T09:30:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only entries in which somebody said, thought, called or read TEXT; case does not matter
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Only the last N of them
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<NonZeroUsize>,
    /// Say how many there are, and leave the entries out
    #[arg(long)]
    #[serde(default)]
    count: bool,
    /// Nest the branches of a fork in the entry they hang under
    #[arg(long)]
    #[serde(default)]
    nested: bool,
}

/// What the command line alone can set.
#[derive(Debug, Default, clap::Args)]
pub struct Options {}

impl Tool for Show {
    type Input = Input;
    type Options = Options;
    type Details = ();
    type Structured = Listing;

    const NAME: &'static str = "session-show";
    const TITLE: &'static str = "Show a session";
    const ABOUT: &'static str = "show the tree of a session";
    const PROMPT_SNIPPET: &'static str = "Show the entries of a session";
    const EXAMPLES: &'static [Example] = &[
        Example { purpose: "Look at a session as a tree", command: "pi-session-show 0198c2 -o text | less" },
        Example {
            purpose: "Read what was said last, however long the session is",
            command: "pi-session-show s.jsonl --path --limit 20 | jq -r '.entries[] | .text // empty'",
        },
        Example {
            purpose: "List the forks",
            command: "pi-session-show s.jsonl | jq -c '.entries[] | select(.children > 1)'",
        },
        Example {
            purpose: "Count the tool results that speak of an error",
            command: "pi-session-show s.jsonl --role toolResult --search error --count | jq .count",
        },
    ];

    fn description() -> String {
        format!(
            "Show the entries of a session in the order of its tree: every entry behind its parent, with its \
             depth. Of an entry's text the first {PREVIEW} characters are shown, on one line. Reading changes \
             nothing; what had to be skipped or mended is reported."
        )
    }

    fn run(input: Input, _options: &Options, context: &Context) -> Result<Outcome<Self>, Error> {
        let form = input.form()?;
        let since = input.since.as_deref().map(time).transpose()?;
        let file = target::find(&input.target, context)?;
        let wanted = input.search.as_ref().map(|text| text.to_lowercase());
        let is_end = input.wants_only_the_end();
        let end = if is_end { end_of(&file, &input, context)? } else { None };
        let gather = |kind: EntryType, line: &[u8]| Glance::of(kind, line, wanted.as_deref());
        let (loaded, glances) = match end {
            Some(loaded) => {
                let glances = glances(&loaded.tree, gather).map_err(|source| unreadable(&file, source))?;
                (loaded, glances)
            }
            None => session::load::load_with(&file, context, gather)?
                .ok_or_else(|| session::Error::NotASession { path: file.clone() })?,
        };
        let leaf = leaf(&loaded.tree, input.leaf.as_deref())?;
        let path = loaded.tree.path(leaf);
        let mut rows = loaded.tree.rows().map_err(|source| unreadable(&file, source))?;
        if input.path {
            rows = along(&path, &rows, loaded.tree.len());
        }
        let is_filtered = input.filter(&mut rows, &loaded.tree, &glances, since);
        let mut found = Vec::new();
        if !is_end {
            found.clone_from(&loaded.diagnostics);
            found.extend(loaded.tree.diagnostics());
        }
        let warnings = warnings::of(&found);
        let listing = Listing::new(loaded, glances, rows, &path, found, form)
            .map_err(|source| unreadable(&file, source))?
            .drawn_flat(is_filtered || input.path)
            .of_the_end_only(is_end);
        let mut outcome = Outcome::new(Vec::new(), listing);
        outcome.warnings = warnings;
        Ok(outcome)
    }

    fn draw(listing: &Listing, color: bool, out: &mut dyn io::Write) -> io::Result<()> {
        draw::tree(listing, color, out)
    }
}

impl Input {
    fn form(&self) -> Result<Form, Error> {
        let filters = self.path
            || self.limit.is_some()
            || self.since.is_some()
            || self.search.is_some()
            || !(self.types.is_empty() && self.roles.is_empty());
        match (self.count, self.nested) {
            (true, true) => Err(Error::new(Code::InvalidArguments, "--count leaves nothing to nest")),
            (false, true) if filters => Err(Error::new(
                Code::InvalidArguments,
                "--nested shows the whole tree; leave out --path, --type, --role, --since, --search and --limit",
            )),
            (true, false) => Ok(Form::Count),
            (false, true) => Ok(Form::Nested),
            (false, false) => Ok(Form::Flat),
        }
    }

    /// Whether the last entries of the current path are wanted and nothing else, so that the beginning
    /// of the file need not be read.
    fn wants_only_the_end(&self) -> bool {
        let filters = self.since.is_some()
            || self.search.is_some()
            || !(self.types.is_empty() && self.roles.is_empty());
        self.path && self.limit.is_some() && self.leaf.is_none() && !filters && !self.count
    }

    /// Drops the rows that nobody asked for; whether any filter was given.
    fn filter(&self, rows: &mut Vec<Row>, tree: &Tree, glances: &[Glance], since: Option<f64>) -> bool {
        let all = rows.len();
        if !self.types.is_empty() {
            rows.retain(|row| {
                let kind = tree.entry_type(row.index);
                self.types.iter().any(|name| match kind.name() {
                    Some(known) => known == name,
                    None => member(tree, row.index, &["type"]).as_ref() == Some(name),
                })
            });
        }
        if !self.roles.is_empty() {
            rows.retain(|row| {
                let role = tree.role(row.index);
                self.roles.iter().any(|name| match role.name() {
                    Some(known) => known == name,
                    None => {
                        role != session::Role::None
                            && member(tree, row.index, &["message", "role"]).as_ref() == Some(name)
                    }
                })
            });
        }
        if self.search.is_some() {
            rows.retain(|row| glances[row.index].is_match);
        }
        if let Some(since) = since {
            let is_later = |stamp: &str| script_date::parse(stamp) >= since;
            rows.retain(|row| glances[row.index].timestamp().is_some_and(is_later));
        }
        if let Some(limit) = self.limit.filter(|limit| limit.get() < rows.len()) {
            let mut latest: Vec<Index> = rows.iter().map(|row| row.index).collect();
            let first = latest.len() - limit.get();
            latest.select_nth_unstable(first);
            let latest: HashSet<Index> = latest.split_off(first).into_iter().collect();
            rows.retain(|row| latest.contains(&row.index));
        }
        rows.len() < all
    }
}

/// The entry that `--leaf` names; an unknown one is an error, unlike in pi.
pub(super) fn leaf(tree: &Tree, named: Option<&str>) -> Result<Option<Index>, Error> {
    match named {
        None => Ok(tree.resolve(Leaf::Current)),
        Some(id) => match tree.find(id) {
            Some(index) => Ok(Some(index)),
            None => Err(session::Error::NoEntry { id: id.to_owned() }.into()),
        },
    }
}

/// A string inside an entry.
pub(super) fn member(tree: &Tree, index: Index, names: &[&str]) -> Option<String> {
    let entry = tree.entry(index).ok()?;
    let value = names.iter().try_fold(entry.root(), |value, name| value.get(name))?;
    value.lossy().map(|text| text.into_owned())
}

pub(super) fn unreadable(file: &Path, source: io::Error) -> Error {
    session::Error::Io { step: "read", path: file.to_owned(), source }.into()
}

/// The end of the path as a small session of its own; `None` when only the whole file can tell.
fn end_of(file: &Path, input: &Input, context: &Context) -> Result<Option<Loaded>, Error> {
    let limit = input.limit.map_or(usize::MAX, NonZeroUsize::get);
    let Some(entries) = path_end(file, limit, context)? else { return Ok(None) };
    let mut source = context.backend.open(file).map_err(|source| unreadable(file, source))?;
    let Some(header) = header::scan(&mut *source, file)? else { return Ok(None) };
    let lines = entries.iter().map(|entry| entry.raw());
    let mut bytes = Vec::new();
    for line in std::iter::once(header.raw()).chain(lines) {
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
    }
    Ok(Some(load::load_bytes(&bytes, file, context)?))
}

fn glances(tree: &Tree, gather: impl Fn(EntryType, &[u8]) -> Glance) -> io::Result<Vec<Glance>> {
    (0..tree.len()).map(|index| Ok(gather(tree.entry_type(index), &tree.line(index)?))).collect()
}

/// The rows of a path, which even a cycle has.
fn along(path: &[Index], rows: &[Row], count: usize) -> Vec<Row> {
    let mut children = vec![0; count];
    for row in rows {
        children[row.index] = row.children;
    }
    let row = |(depth, index): (usize, &Index)| Row {
        index: *index,
        depth: depth as u32,
        children: children[*index],
    };
    path.iter().enumerate().map(row).collect()
}

fn time(text: &str) -> Result<f64, Error> {
    let time = script_date::parse(text);
    if time.is_nan() {
        let message = format!("'{text}' is no time; write it like 2026-12-01 or 2026-12-01T09:30:00Z");
        return Err(Error::new(Code::InvalidArguments, message));
    }
    Ok(time)
}
