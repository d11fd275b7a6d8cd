//! The answer: what programs, models and user interfaces read of what was collected.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::value::RawValue;

use super::Grep;
use super::collect::{Collected, Kept};
use super::matches::{Matches, Records};
use super::place::Place;
use super::replace::FileEdits;
use crate::error::Error;
use crate::fs::path;
use crate::message::{Base64, Content};
use crate::tool::truncate::{MAX_GREP_LINE, Truncation};
use crate::tool::{Outcome, Written};

/// What programs read.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Structured {
    /// The matches.
    Matches(FoundMatches),
    /// With --replace and `-o result`: the documents that are else printed one by one.
    Edits {
        /// The edits of each file.
        files: Vec<Box<RawValue>>,
    },
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundMatches {
    #[serde(flatten)]
    start: Start,
    /// The matching lines, by path and then by line.
    matches: Matches,
    #[serde(flatten)]
    end: End,
}

/// What stands before the matches.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Start {
    /// The directory searched: in front of a path it makes one that the caller can open.
    root: String,
    /// The exact bytes of `root` in base64, when it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    root_base64: Option<Base64>,
}

/// What stands behind the matches.
#[derive(Debug, Serialize, JsonSchema)]
pub struct End {
    /// The limit, when there are more matches than that.
    #[serde(skip_serializing_if = "Option::is_none")]
    match_limit_reached: Option<u64>,
    /// Whether the text for the model shows some lines only in part.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    lines_truncated: bool,
    /// Whether the text for the model shows fewer matches than `matches`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    truncated: bool,
    /// What could not be searched, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    errors: Vec<String>,
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
    match_limit_reached: Option<u64>,
    /// Whether a line of the text was cut.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    lines_truncated: bool,
}

impl Start {
    fn of(place: &Place) -> Self {
        let root = place.root();
        Self {
            root: root.to_string_lossy().into_owned(),
            root_base64: root.to_str().is_none().then(|| Base64::encode(path::bytes(&root))),
        }
    }
}

impl End {
    fn of(collected: &Collected<'_>) -> Self {
        Self {
            match_limit_reached: collected.is_over.then_some(collected.limit),
            lines_truncated: collected.has_cut_lines,
            truncated: collected.text.is_over(),
            errors: collected.problems.clone(),
        }
    }
}

/// The JSON up to the first match.
pub(super) fn opening(place: &Place) -> serde_json::Result<Vec<u8>> {
    let mut json = serde_json::to_vec(&Start::of(place))?;
    json.pop();
    json.extend_from_slice(br#","matches":["#);
    Ok(json)
}

/// The JSON behind the last match.
fn ending(end: &End) -> serde_json::Result<Vec<u8>> {
    let members = serde_json::to_vec(end)?;
    let comma: &[u8] = if members == b"{}" { b"" } else { b"," };
    Ok([b"]", comma, &members[1..], b"\n"].concat())
}

/// Completes what has been written.
pub(super) fn written(collected: Collected<'_>, is_replacing: bool) -> std::io::Result<Written> {
    let status = collected.status();
    let ending = if is_replacing { Vec::new() } else { ending(&End::of(&collected))? };
    if let Kept::Written(stream) = collected.records {
        stream.finish(&ending)?;
    }
    Ok(Written { status, warnings: collected.problems })
}

/// The answer to a call that was not written while it went on.
pub(super) fn outcome(
    collected: Collected<'_>,
    place: &Place,
    is_replacing: bool,
) -> Result<Outcome<Grep>, Error> {
    let end = End::of(&collected);
    let status = collected.status();
    let reached = end.match_limit_reached;
    let (notices, before) = notices(&collected);
    let is_empty = collected.text.is_empty();
    let text = collected.text.finish(notices, before);
    let records = match collected.records {
        Kept::Held(records) => records,
        Kept::Written(_) => Vec::new(),
    };
    let documents = if is_replacing { Some(documents(&records)?) } else { None };
    let details = Details {
        truncation: text.truncation,
        match_limit_reached: reached,
        lines_truncated: end.lines_truncated,
    };
    let has_details = details.truncation.is_some() || reached.is_some() || details.lines_truncated;
    let structured = match &documents {
        Some(files) => Structured::Edits { files: files.clone() },
        None => Structured::Matches(FoundMatches { start: Start::of(place), matches: Matches(records), end }),
    };
    let nothing = if is_empty { "No matches found" } else { "" };
    let mut outcome = Outcome::new(vec![Content::text(format!("{nothing}{}", text.text))], structured)
        .with_details(has_details.then_some(details));
    outcome.raw_text = text.raw;
    outcome.documents = documents;
    outcome.status = status;
    outcome.warnings = collected.problems;
    Ok(outcome)
}

/// What the text says at its end, and how much of that comes before the byte limit's notice.
fn notices(collected: &Collected<'_>) -> (Vec<String>, usize) {
    let mut notices = Vec::new();
    if collected.is_over {
        let (limit, more) = (collected.limit, collected.limit.saturating_mul(2));
        notices.push(format!("{limit} matches limit reached. Use limit={more} for more, or refine pattern"));
    }
    let before = notices.len();
    if collected.has_cut_lines {
        notices
            .push(format!("Some lines truncated to {MAX_GREP_LINE} chars. Use read tool to see full lines"));
    }
    if let Some(first) = collected.problems.first() {
        notices.push(match collected.problems.len() {
            1 => format!("Not searched: {first}"),
            count => format!("Not searched: {first}, and {} more", count - 1),
        });
    }
    (notices, before)
}

fn documents(records: &[Records]) -> Result<Vec<Box<RawValue>>, Error> {
    let documents = records.iter().flat_map(Records::iter).map(serde_json::from_slice::<Box<RawValue>>);
    documents.collect::<Result<_, _>>().map_err(|error| Error::new(crate::error::Code::Io, error.to_string()))
}

impl JsonSchema for Structured {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Structured".into()
    }

    /// The matches; or, with --replace, the edits of one file, or of all in `files`.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "the schema is what is wanted")]
        struct Edits {
            /// With --replace and -o result: the edits of each file.
            files: Vec<FileEdits>,
        }
        schemars::json_schema!({
            "type": "object",
            "anyOf": [
                generator.subschema_for::<FoundMatches>(),
                generator.subschema_for::<FileEdits>(),
                generator.subschema_for::<Edits>(),
            ],
        })
    }
}
