//! The edits as flags of the command.

use std::num::NonZeroUsize;

use super::Replace;
use crate::tool::arguments::Text;

/// Pairs of `--old` and `--new`, and what a single pair can be told besides.
#[derive(Debug, Default, clap::Args)]
pub struct Flags {
    /// Text to replace; --old and --new can be repeated, in pairs
    #[arg(long, value_name = "TEXT", required = true, allow_hyphen_values = true)]
    old: Vec<Text>,
    /// Text that takes its place, one for each --old
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    new: Vec<Text>,
    /// Take the new text from standard input, its last line break included
    #[arg(long, conflicts_with = "new")]
    pub(super) new_stdin: bool,
    /// Take the occurrence of the only --old that starts on line N
    #[arg(long, value_name = "N")]
    line: Option<NonZeroUsize>,
    /// Replace every occurrence of the only --old
    #[arg(long)]
    all: bool,
}

impl Flags {
    /// The edits that the flags ask for; a new text still to be read from standard input is empty.
    pub(super) fn take_edits(&mut self) -> Result<Vec<Replace>, String> {
        let (old, mut new) = (std::mem::take(&mut self.old), std::mem::take(&mut self.new));
        if self.new_stdin {
            new.push(Text::default());
        }
        if old.len() != new.len() {
            let source = if self.new_stdin { "--new-stdin" } else { "--new" };
            let (old, new) = (old.len(), new.len());
            return Err(format!("every --old needs its --new: there are {old} --old and {new} {source}"));
        }
        let &mut Self { line, all, .. } = self;
        if old.len() > 1 && (line.is_some() || all) {
            return Err("--line and --all go with a single --old".to_owned());
        }
        let pairs = old.into_iter().zip(new);
        Ok(pairs.map(|(old_text, new_text)| Replace { old_text, new_text, line, all }).collect())
    }
}
