//! Paths that were found: raw bytes in one block, shown to programs as text.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use crate::message::Base64;

/// Paths behind one another, each with a NUL at its end.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Paths(Vec<u8>);

impl Paths {
    /// Adds a path; a directory gets its slash.
    pub(super) fn push(&mut self, path: &[u8], is_dir: bool) {
        self.0.extend_from_slice(path);
        self.0.extend_from_slice(if is_dir { b"/\0" } else { b"\0" });
    }

    /// Adds the first `limit` of other paths; how many there were.
    pub(super) fn append(&mut self, other: &Self, limit: u64) -> u64 {
        let mut ends = memchr::memchr_iter(0, &other.0);
        let mut end = 0;
        let mut count = 0;
        for at in ends.by_ref().take(usize::try_from(limit).unwrap_or(usize::MAX)) {
            end = at + 1;
            count += 1;
        }
        self.0.extend_from_slice(&other.0[..end]);
        count + ends.count() as u64
    }

    /// Their bytes.
    pub(super) fn weight(&self) -> usize {
        self.0.len()
    }

    /// The paths.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let paths = self.0.strip_suffix(b"\0");
        paths.into_iter().flat_map(|paths| paths.split(|byte| *byte == 0))
    }

    /// The paths that are not UTF-8.
    pub(super) fn lossy(&self) -> Vec<LossyPath> {
        if std::str::from_utf8(&self.0).is_ok() {
            return Vec::new();
        }
        let paths = self.iter().enumerate().filter(|(_, path)| std::str::from_utf8(path).is_err());
        paths.map(|(index, path)| LossyPath { index, path_base64: Base64::encode(path) }).collect()
    }
}

/// The bytes of a path that is not UTF-8.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LossyPath {
    /// Its index in `paths`.
    index: usize,
    /// Its exact bytes in base64.
    path_base64: Base64,
}

impl Serialize for Paths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(String::from_utf8_lossy))
    }
}

impl JsonSchema for Paths {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Paths".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<String>::json_schema(generator)
    }
}
