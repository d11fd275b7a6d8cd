//! What a program reads of a match, written out by the threads that found it.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::{Error as _, SerializeSeq as _};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::message::Base64;
use crate::tool::listing::decoded;
use crate::tool::truncate;

/// Bytes of a line that a program is given at most.
pub const MAX_LINE: usize = 64 * 1024;

/// Matches in their final form, by path and then by line.
#[derive(Debug, Default)]
pub struct Matches(pub(super) Vec<Records>);

/// What one file gave, as JSON values with commas between them.
#[derive(Debug, Default)]
pub struct Records {
    json: Vec<u8>,
    ends: Vec<usize>,
}

impl Records {
    /// Adds a value.
    pub(super) fn push(&mut self, value: &impl Serialize) -> serde_json::Result<()> {
        if !self.ends.is_empty() {
            self.json.push(b',');
        }
        serde_json::to_writer(&mut self.json, value)?;
        self.ends.push(self.json.len());
        Ok(())
    }

    /// The values and the commas between them.
    pub(super) fn json(&self) -> &[u8] {
        &self.json
    }

    /// The values.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|end| end + 1));
        starts.zip(&self.ends).map(|(start, end)| &self.json[start..*end])
    }
}

/// One matching line (with --multiline, neighbouring lines that matches touch).
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Match<'a> {
    /// The file, relative to `root`; what is not UTF-8 is replaced by U+FFFD.
    pub(super) path: Cow<'a, str>,
    /// The exact bytes of the path in base64, when it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path_base64: Option<Base64>,
    /// The line's number, counted from 1.
    pub(super) line_number: u64,
    /// The line, without its line break.
    #[serde(flatten)]
    pub(super) text: Text<'a>,
    /// The matches in it, as far as they begin in the part of the line that is shown.
    pub(super) submatches: Vec<Submatch<'a>>,
    /// With context: lines before it that no other match shows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub(super) before: Vec<Line<'a>>,
    /// With context: lines behind it, up to the next match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub(super) after: Vec<Line<'a>>,
}

/// A line shown for context.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Line<'a> {
    /// The line's number, counted from 1.
    pub(super) line_number: u64,
    /// The line, without its line break.
    #[serde(flatten)]
    pub(super) text: Text<'a>,
}

/// The text of a line.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Text<'a> {
    /// The line without its line break, its first 64 KiB if it is longer; what is not UTF-8 is replaced
    /// by U+FFFD.
    line: Cow<'a, str>,
    /// The exact bytes of that in base64, when it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    line_base64: Option<Base64>,
    /// Whether the line is longer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    line_truncated: bool,
}

/// One match in a line.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Submatch<'a> {
    /// Where it starts, in bytes from the start of the line.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
    /// What matched.
    pub(super) text: Cow<'a, str>,
}

impl<'a> Text<'a> {
    pub(super) fn of(line: &'a [u8]) -> Self {
        let cut = if line.len() > MAX_LINE { cut(line) } else { line };
        let text = decoded(cut);
        let line_base64 = matches!(text, Cow::Owned(_)).then(|| Base64::encode(cut));
        Self { line: text, line_base64, line_truncated: cut.len() < line.len() }
    }

    /// The same with text of its own.
    pub(super) fn into_owned(self) -> Text<'static> {
        Text {
            line: Cow::Owned(self.line.into_owned()),
            line_base64: self.line_base64,
            line_truncated: self.line_truncated,
        }
    }
}

impl Match<'_> {
    /// The same with text of its own.
    pub(super) fn into_owned(self) -> Match<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        let own_line = |line: Line<'_>| Line { line_number: line.line_number, text: line.text.into_owned() };
        Match {
            path: own(self.path),
            path_base64: self.path_base64,
            line_number: self.line_number,
            text: self.text.into_owned(),
            submatches: self
                .submatches
                .into_iter()
                .map(|part| Submatch { start: part.start, end: part.end, text: own(part.text) })
                .collect(),
            before: self.before.into_iter().map(own_line).collect(),
            after: self.after.into_iter().map(own_line).collect(),
        }
    }
}

impl Serialize for Matches {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for record in self.0.iter().flat_map(Records::iter) {
            let record: &RawValue = serde_json::from_slice(record).map_err(S::Error::custom)?;
            list.serialize_element(record)?;
        }
        list.end()
    }
}

impl JsonSchema for Matches {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Matches".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<Match<'static>>::json_schema(generator)
    }
}

/// The start of a line that is too long, up to a whole character.
fn cut(line: &[u8]) -> &[u8] {
    match std::str::from_utf8(&line[..MAX_LINE]) {
        Ok(text) => text.as_bytes(),
        Err(error) => match std::str::from_utf8(line) {
            Ok(text) => &line[..truncate::floor_boundary(text, MAX_LINE)],
            Err(_) => &line[..error.valid_up_to().max(MAX_LINE - 3)],
        },
    }
}
