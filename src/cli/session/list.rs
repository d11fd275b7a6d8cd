//! The command pi-session-list: the sessions of a working directory, of all, or of directories by name.

use std::io;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{one_line, target};
use crate::context::Context;
use crate::error::Error;
use crate::session::{Info, script_date, storage};
use crate::tool::{Example, Outcome, Tool};

/// Characters of a first message that are shown.
const PREVIEW: usize = 200;
/// Characters of a name or message in a row of the table.
const CELL: usize = 60;

/// The command pi-session-list, as a tool, so that it keeps the contract of all commands.
pub struct List;

/// Arguments of pi-session-list.
#[derive(Debug, clap::Args, Deserialize, JsonSchema)]
pub struct Input {
    /// The sessions of all working directories
    #[arg(long, conflicts_with_all = ["dirs", "session_dir"])]
    #[serde(default)]
    all: bool,
    /// The sessions in DIR, whatever working directory they belong to; may be given several times
    #[arg(long = "dir", value_name = "DIR")]
    #[serde(default, rename = "dir")]
    dirs: Vec<PathBuf>,
    /// Where the sessions of the working directory are [default: $PI_CODING_AGENT_SESSION_DIR, the
    /// setting sessionDir, or the working directory's own place below the agent directory]
    #[arg(long, value_name = "DIR", conflicts_with = "dirs")]
    #[serde(rename = "sessionDir")]
    session_dir: Option<String>,
    /// Only sessions whose name or talk holds TEXT; case does not matter
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Only the N most recently active
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<NonZeroUsize>,
}

/// What the command line alone can set.
#[derive(Debug, Default, clap::Args)]
pub struct Options {}

/// The sessions, the most recently active first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Sessions(pub Vec<Listed>);

/// One session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listed {
    /// Its file.
    pub path: String,
    /// The same in raw bytes, where they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_base64: Option<String>,
    /// Its id.
    pub id: String,
    /// Its working directory, as stored.
    pub cwd: String,
    /// Its display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The file it was forked from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
    /// When it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// When it was last active.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// How many messages it holds, on all branches.
    pub message_count: usize,
    /// The beginning of what the user said first, as one line.
    pub first_message: String,
}

impl Tool for List {
    type Input = Input;
    type Options = Options;
    type Details = ();
    type Structured = Sessions;

    const NAME: &'static str = "session-list";
    const TITLE: &'static str = "List sessions";
    const ABOUT: &'static str = "list the sessions of a directory, the most recently active first";
    const PROMPT_SNIPPET: &'static str = "List sessions";
    const EXAMPLES: &'static [Example] = &[
        Example { purpose: "See what was worked on here", command: "pi-session-list -o text" },
        Example {
            purpose: "Show the session that was active last",
            command: r#"pi-session-show "$(pi-session-list -n 1 | jq -r '.[].path')" -o text"#,
        },
        Example {
            purpose: "Find a talk about parsers in any working directory",
            command: "pi-session-list --all --search parser | jq -r '.[] | .cwd + \" \" + .id'",
        },
    ];

    fn description() -> String {
        format!(
            "List the sessions of the working directory, the most recently active first. Of the first message \
             {PREVIEW} characters are shown. Files that hold no session are left out; a file that can be \
             reached by several ways is listed once."
        )
    }

    fn run(input: Input, _options: &Options, context: &Context) -> Result<Outcome<Self>, Error> {
        let with_texts = input.search.is_some();
        let mut infos = if input.all {
            storage::list_all(&storage::agent_directory(context), with_texts, context)?
        } else if input.dirs.is_empty() {
            let directory = target::directory(input.session_dir.as_deref(), context);
            directory.list(Some(&context.cwd), with_texts, context)?
        } else {
            let directories: Vec<_> = input.dirs.iter().map(|dir| context.cwd.join(dir)).collect();
            storage::list_directories(&directories, with_texts, context)?
        };
        if let Some(wanted) = input.search.map(|text| text.to_lowercase()) {
            let holds = |text: Option<&str>| text.is_some_and(|text| text.to_lowercase().contains(&wanted));
            infos.retain(|info| holds(info.name.as_deref()) || holds(info.all_messages_text.as_deref()));
        }
        infos.truncate(input.limit.map_or(usize::MAX, NonZeroUsize::get));
        Ok(Outcome::new(Vec::new(), Sessions(infos.into_iter().map(Listed::from).collect())))
    }

    fn draw(sessions: &Sessions, _color: bool, out: &mut dyn io::Write) -> io::Result<()> {
        sessions.0.iter().try_for_each(|session| session.row(out))
    }
}

impl Listed {
    /// One line, whatever the session's name holds.
    fn row(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let modified = self.modified.as_deref().unwrap_or_default();
        let minute = modified.get(..16).unwrap_or(modified).replace('T', " ");
        let title = self.name.as_deref().unwrap_or(&self.first_message);
        let (id, title) = (one_line::of(&self.id, CELL), one_line::of(title, CELL));
        let cwd = one_line::of(&self.cwd, CELL);
        writeln!(out, "{minute:<16}  {id:<36}  {:>5}  {title}  {cwd}", self.message_count)
    }
}

impl From<Info> for Listed {
    fn from(info: Info) -> Self {
        let time = |time: f64| time.is_finite().then(|| script_date::to_iso(time as i64));
        Self {
            path: info.path.to_string_lossy().into_owned(),
            path_base64: base64_of(&info.path),
            id: info.id,
            cwd: info.cwd,
            name: info.name,
            parent_session: info.parent_session_path,
            created: time(info.created),
            modified: time(info.modified),
            message_count: info.message_count,
            first_message: one_line::of(&info.first_message, PREVIEW),
        }
    }
}

/// A path's bytes, where they are not UTF-8.
fn base64_of(path: &Path) -> Option<String> {
    path.to_str().is_none().then(|| STANDARD.encode(path.as_os_str().as_bytes()))
}
