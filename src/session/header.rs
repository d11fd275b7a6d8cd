//! The first line of a session file: who the session is and where it runs.

use std::io::Read;
use std::path::Path;

use super::error::Error;
use super::scan::Kind;
use super::script_json::Document;
use super::script_text;

/// The version this library writes.
pub const VERSION: u32 = 3;
/// How far discovery looks for a header.
pub const SCAN_LIMIT: usize = 1024 * 1024;

/// A header. Like an entry it keeps its line; what is asked for is read out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    raw: Vec<u8>,
    /// The session's id.
    pub id: String,
    /// The working directory, as stored; empty when it is no string.
    pub cwd: String,
    /// The file this session was forked from.
    pub parent_session: Option<String>,
}

impl Header {
    /// A header for a new session.
    pub fn new(id: &str, timestamp: &str, cwd: &str, parent_session: Option<&str>) -> Self {
        let mut raw = format!(r#"{{"type":"session","version":{VERSION},"id":"#).into_bytes();
        script_text::write(&id.into(), &mut raw);
        raw.extend_from_slice(b",\"timestamp\":");
        script_text::write(&timestamp.into(), &mut raw);
        raw.extend_from_slice(b",\"cwd\":");
        script_text::write(&cwd.into(), &mut raw);
        if let Some(parent) = parent_session {
            raw.extend_from_slice(b",\"parentSession\":");
            script_text::write(&parent.into(), &mut raw);
        }
        raw.push(b'}');
        let parent_session = parent_session.map(str::to_owned);
        Self { raw, id: id.to_owned(), cwd: cwd.to_owned(), parent_session }
    }

    /// Takes a line for a header when pi would: an object of type `session` with a string as its id.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let document = Document::parse(line).ok()?;
        let root = document.root();
        root.get("type").filter(|kind| kind.is_str("session"))?;
        let text = |name| root.get(name).and_then(|value| value.lossy()).map(|text| text.into_owned());
        Some(Self {
            raw: line.to_vec(),
            id: text("id")?,
            cwd: text("cwd").unwrap_or_default(),
            parent_session: text("parentSession"),
        })
    }

    /// The line, without its line break.
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// The version as JavaScript compares it; NaN when it is no number.
    pub fn version(&self) -> f64 {
        let Ok(document) = Document::parse(&self.raw[..]) else { return f64::NAN };
        match document.root().get("version") {
            None => 1.0,
            Some(value) => match value.kind() {
                Kind::Null => 1.0,
                Kind::False => 0.0,
                Kind::True => 1.0,
                Kind::Number => value.number().unwrap_or(f64::NAN),
                Kind::String => {
                    let text = value.lossy().unwrap_or_default();
                    let text = text.trim();
                    if text.is_empty() { 0.0 } else { text.parse().unwrap_or(f64::NAN) }
                }
                Kind::Array | Kind::Object => f64::NAN,
            },
        }
    }

    /// Whether the time is stored as a text, as it should be.
    pub(super) fn is_time_a_text(&self) -> bool {
        let time = |document: Document<'_>| document.root().get("timestamp").map(|time| time.kind());
        Document::parse(&self.raw[..]).ok().and_then(time) == Some(Kind::String)
    }

    /// When the session began, in milliseconds since 1970; NaN when it does not say.
    pub fn time(&self) -> f64 {
        Document::parse(&self.raw[..])
            .map_or(f64::NAN, |document| super::script_date::time_value(document.root().get("timestamp")))
    }
}

/// Reads as much of a file as it takes to find the header: the first line that is a value.
/// `None` when that is no header.
pub fn scan(source: &mut dyn Read, path: &Path) -> Result<Option<Header>, Error> {
    let io = |source| Error::io("read", path, source);
    let mut buffer = Vec::new();
    let mut start = 0;
    loop {
        let had = buffer.len();
        let count = Read::take(&mut *source, 4096.max(had as u64).min((SCAN_LIMIT + 1 - had) as u64))
            .read_to_end(&mut buffer)
            .map_err(io)?;
        let limited = &buffer[..buffer.len().min(SCAN_LIMIT)];
        while let Some(length) = memchr::memchr(b'\n', &limited[start..]) {
            if let Some(found) = first_value(&limited[start..start + length]) {
                return Ok(found);
            }
            start += length + 1;
        }
        if buffer.len() > SCAN_LIMIT {
            return Err(Error::HeaderTooFar { path: path.to_owned() });
        }
        if count == 0 {
            return Ok(first_value(&limited[start..]).flatten());
        }
    }
}

/// The header on a line, if the line holds a value at all.
fn first_value(line: &[u8]) -> Option<Option<Header>> {
    let document = Document::parse(line).ok()?;
    document.root().is_truthy().then(|| Header::parse(line))
}
