//! What manual pages, completions and the README's table are made of: one [`Page`] per command.
//!
//! Everything that the clap definition, the tool's constants and its schemas say is taken from
//! there; [`text`] adds what only a page says, [`overview`] the page of the whole toolbox.

pub mod overview;
mod shape;
pub mod text;

use clap::builder::StyledStr;
use clap::{ArgAction, Command};

use crate::cli::session::append;
use crate::cli::session::branch::Branch;
use crate::cli::session::check::Check;
use crate::cli::session::context::SessionContext;
use crate::cli::session::fork::Fork;
use crate::cli::session::list::List;
use crate::cli::session::show::Show;
use crate::cli::{call, command};
use crate::tool::{Declaration, Example, Tool};
use crate::tools::bash::Bash;
use crate::tools::declare::Declare;
use crate::tools::edit::Edit;
use crate::tools::find::Find;
use crate::tools::grep::Grep;
use crate::tools::ls::Ls;
use crate::tools::read::Read;
use crate::tools::write::Write;
use text::Text;

/// All that the documentation says of one command.
pub struct Page {
    /// The clap definition: name, arguments, options.
    pub command: Command,
    /// The NAME line: lower case, no full stop.
    pub about: String,
    /// What the command does, paragraph by paragraph.
    pub description: Vec<String>,
    /// What one line of its output looks like.
    pub prints: String,
    /// The members of that line and their meaning; empty where the line is no object.
    pub members: Vec<(String, String)>,
    /// Exit statuses and their meaning.
    pub exit_statuses: Vec<(&'static str, &'static str)>,
    /// Command lines to copy.
    pub examples: &'static [Example],
    /// What only the page says.
    pub text: &'static Text,
}

/// The pages of all commands, in the order of the table.
pub fn all() -> Vec<Page> {
    vec![
        Page::of::<Read>(&text::READ),
        Page::of::<Write>(&text::WRITE),
        Page::of::<Edit>(&text::EDIT),
        Page::of::<Bash>(&text::BASH),
        Page::of::<Ls>(&text::LS),
        Page::of::<Find>(&text::FIND),
        Page::of::<Grep>(&text::GREP),
        Page::of::<Declare>(&text::TOOLS),
        Page::new(call::command(), call::PRINTS, call::EXIT_STATUS, call::EXAMPLES, &text::CALL),
        Page::new(
            append::command(),
            append::PRINTS,
            append::EXIT_STATUS,
            append::EXAMPLES,
            &text::SESSION_APPEND,
        ),
        Page::of::<Branch>(&text::SESSION_BRANCH),
        Page::of::<Fork>(&text::SESSION_FORK),
        Page::of::<Show>(&text::SESSION_SHOW),
        Page::of::<List>(&text::SESSION_LIST),
        Page::of::<SessionContext>(&text::SESSION_CONTEXT),
        Page::of::<Check>(&text::SESSION_CHECK),
    ]
}

impl Page {
    /// The page of a command that is no tool; NAME and what it does come from the clap definition.
    pub fn new(
        command: Command,
        prints: &str,
        exit_statuses: &[(&'static str, &'static str)],
        examples: &'static [Example],
        text: &'static Text,
    ) -> Self {
        let words = |text: Option<&StyledStr>| text.map(ToString::to_string).unwrap_or_default();
        let about = words(command.get_about());
        let whole = words(command.get_long_about());
        let is_news = |paragraph: &&str| !paragraph.is_empty() && paragraph.trim_end_matches('.') != about;
        let paragraphs = whole.split("\n\n").filter(is_news);
        Self {
            about: in_mid_sentence(&about),
            description: paragraphs.chain(text.description.iter().copied()).map(str::to_owned).collect(),
            prints: prints.to_owned(),
            members: Vec::new(),
            exit_statuses: exit_statuses.to_vec(),
            examples,
            text,
            command,
        }
    }

    /// The page of a tool's command.
    fn of<T: Tool>(text: &'static Text) -> Self {
        let declaration = Declaration::of::<T>();
        let paragraphs = [declaration.description].into_iter();
        let paragraphs = paragraphs.chain(text.description.iter().map(|paragraph| (*paragraph).to_owned()));
        Self {
            command: command::of::<T>(),
            about: T::ABOUT.to_owned(),
            description: paragraphs.filter(|paragraph| !paragraph.is_empty()).collect(),
            prints: shape::of(&declaration.output_schema),
            members: shape::members(&declaration.output_schema),
            exit_statuses: command::exit_statuses::<T>(),
            examples: T::EXAMPLES,
            text,
        }
    }

    /// The command's name.
    pub fn name(&self) -> &str {
        self.command.get_name()
    }

    /// The command with its positional arguments, as the table shows it: `pi-write FILE`.
    pub fn usage(&self) -> String {
        let operands = self.command.get_positionals().map(|operand| {
            let name = operand.get_value_names().unwrap_or_default().join(" ");
            let more = if matches!(operand.get_action(), ArgAction::Append) { " ..." } else { "" };
            let name = format!("{name}{more}");
            if operand.is_required_set() { name } else { format!("[{name}]") }
        });
        [self.name().to_owned()].into_iter().chain(operands).collect::<Vec<_>>().join(" ")
    }
}

/// A help line the way a NAME line wants it: no capital at the start, no full stop.
fn in_mid_sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
