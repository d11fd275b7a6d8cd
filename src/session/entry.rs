//! One entry: the bytes of its line, which are the truth, and a view on them.

use std::borrow::Cow;

use super::script_json::{Document, Invalid, Value};

/// An entry's line.
#[derive(Debug)]
pub struct Entry<'s>(Document<'s>);

impl<'s> Entry<'s> {
    /// Takes a line that is one JSON value.
    pub fn parse(line: impl Into<Cow<'s, [u8]>>) -> Result<Self, Invalid> {
        Document::parse(line).map(Self)
    }

    /// The bytes of the line, without its line break.
    pub fn raw(&self) -> &[u8] {
        self.0.raw()
    }

    /// The line as a value.
    pub fn root(&self) -> Value<'_> {
        self.0.root()
    }
}

impl<'s> From<Document<'s>> for Entry<'s> {
    fn from(document: Document<'s>) -> Self {
        Self(document)
    }
}
