//! What is to be appended: entries that flags spell out, and documents that are messages or entries.

use crate::cli::jobs;
use crate::cli::stdin::Stdin;
use crate::context::Context;
use crate::error::{Code, Error};
use crate::session::{Draft, Entry, script_date};

/// The flags that say what to append.
#[derive(clap::Args)]
pub(super) struct NewEntries {
    /// Name the session; an empty TEXT takes its name away
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    name: Option<String>,
    /// Append a message of the user's; with - its text is all of standard input
    #[arg(long, value_name = "TEXT|-", allow_hyphen_values = true)]
    user: Option<String>,
    /// Append the state of an extension: --data, or each JSON value on standard input
    #[arg(long, value_name = "TYPE")]
    custom: Option<String>,
    /// What --custom stores
    #[arg(long, value_name = "JSON", requires = "custom", allow_hyphen_values = true)]
    data: Option<String>,
    /// Label the entry ID; an empty TEXT takes its label away. May be repeated
    #[arg(long, value_name = "ID=TEXT", value_parser = parse_label, allow_hyphen_values = true)]
    label: Vec<Label>,
}

/// A label and the entry it goes to.
#[derive(Clone, Debug)]
struct Label {
    target: String,
    text: String,
}

impl NewEntries {
    /// The entries that the flags spell out, in the order of the fields.
    pub(super) fn drafts(&self, context: &Context) -> Result<Vec<Draft>, Error> {
        let mut drafts: Vec<Draft> = self.name.iter().map(|name| Draft::session_info(name)).collect();
        if let Some(text) = &self.user {
            let now = script_date::milliseconds((context.now)());
            drafts.push(Draft::user(&given_or_piped(text, "--user", context)?, now)?);
        }
        if let (Some(custom_type), Some(data)) = (&self.custom, &self.data) {
            drafts.push(Draft::custom(custom_type, Some(data.as_bytes()))?);
        }
        drafts.extend(self.label.iter().map(|label| {
            Draft::label(&label.target, Some(label.text.as_str()).filter(|text| !text.is_empty()))
        }));
        Ok(drafts)
    }

    /// Whether standard input holds documents; `drafts` are what the flags spell out.
    pub(super) fn reads_stream(&self, drafts: &[Draft]) -> bool {
        drafts.is_empty() || (self.custom.is_some() && self.data.is_none())
    }

    /// The entry that a document asks for.
    pub(super) fn draft_of(&self, document: &[u8]) -> Result<Draft, Error> {
        if let Some(custom_type) = &self.custom {
            return Ok(Draft::custom(custom_type, Some(document))?);
        }
        let entry = Entry::parse(document);
        let has = |name| entry.as_ref().is_ok_and(|entry| entry.root().get(name).is_some());
        match (&entry, has("type"), has("role")) {
            (Err(invalid), ..) => bad(invalid.to_string()),
            (_, true, _) => Ok(Draft::whole(document)?),
            (_, _, true) => Ok(Draft::message(document)?),
            _ => bad("neither a message (it has a role) nor an entry (it has a type)".to_owned()),
        }
    }

    /// The entries that get labels.
    pub(super) fn labelled(&self) -> impl Iterator<Item = &str> {
        self.label.iter().map(|label| label.target.as_str())
    }
}

fn bad(message: String) -> Result<Draft, Error> {
    Err(Error::new(Code::InvalidArguments, message))
}

fn parse_label(words: &str) -> Result<Label, String> {
    match words.split_once('=') {
        Some((target, text)) if !target.is_empty() => {
            Ok(Label { target: target.to_owned(), text: text.to_owned() })
        }
        _ => Err("give the entry's id and the label: ID=TEXT".to_owned()),
    }
}

/// A text given on the command line, or `-` for standard input as it is.
fn given_or_piped(text: &str, flag: &str, context: &Context) -> Result<String, Error> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut piped = Vec::new();
    jobs::read_all(&mut Stdin::piped(&format!("{flag} -"), &context.cancel)?, &mut piped, context)?;
    Ok(String::from_utf8_lossy(&piped).into_owned())
}
