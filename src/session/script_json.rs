//! JSON as JavaScript reads and writes it, over the original bytes.
//!
//! A [`Document`] is a flat list of where each value lies in its text; nothing is copied or converted
//! until asked for, and nesting costs memory, never stack. [`Value::stringify`] writes what
//! `JSON.stringify(JSON.parse(text))` gives: doubles, the last of duplicate names in the first one's
//! place, array-index names first, lone surrogates as escapes.

use std::borrow::Cow;

use super::scan::{self, Kind, Sink};
use super::script_text::{self, Text};

/// A parsed text: the places of all its values.
#[derive(Debug)]
pub struct Document<'t> {
    text: Cow<'t, [u8]>,
    nodes: Vec<Node>,
}

/// One value or name: its bytes and the number of the node behind its last descendant.
#[derive(Clone, Copy, Debug)]
struct Node {
    kind: Kind,
    plain: bool,
    start: usize,
    end: usize,
    next: usize,
}

/// The text is not JSON; `at` is the first byte that cannot be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not JSON: unexpected byte {at}")]
pub struct Invalid {
    /// Offset in the text.
    pub at: usize,
}

impl<'t> Document<'t> {
    /// Parses a text that is one value.
    pub fn parse(text: impl Into<Cow<'t, [u8]>>) -> Result<Self, Invalid> {
        let text = text.into();
        let mut tape = Tape::default();
        let end = scan::walk(&text, &mut tape).map_err(|at| Invalid { at })?;
        let at = scan::skip_blanks(&text, end);
        if at < text.len() { Err(Invalid { at }) } else { Ok(Self { text, nodes: tape.nodes }) }
    }

    /// The value itself.
    pub fn root(&self) -> Value<'_> {
        Value { text: &self.text, nodes: &self.nodes, at: 0 }
    }

    /// The bytes it was parsed from.
    pub fn raw(&self) -> &[u8] {
        &self.text
    }
}

#[derive(Default)]
struct Tape {
    nodes: Vec<Node>,
    open: Vec<usize>,
}

impl Tape {
    fn push(&mut self, kind: Kind, start: usize, end: usize, plain: bool) {
        let next = self.nodes.len() + 1;
        self.nodes.push(Node { kind, plain, start, end, next });
    }
}

impl Sink for Tape {
    fn open(&mut self, kind: Kind, at: usize) {
        self.open.push(self.nodes.len());
        self.push(kind, at, at, true);
    }

    fn close(&mut self, end: usize) {
        let next = self.nodes.len();
        if let Some(container) = self.open.pop().and_then(|open| self.nodes.get_mut(open)) {
            container.end = end;
            container.next = next;
        }
    }

    fn key(&mut self, start: usize, end: usize, plain: bool) {
        self.push(Kind::String, start, end, plain);
    }

    fn scalar(&mut self, kind: Kind, start: usize, end: usize, plain: bool) {
        self.push(kind, start, end, plain);
    }
}

/// A value inside a document. Cheap to copy.
#[derive(Clone, Copy)]
pub struct Value<'d> {
    text: &'d [u8],
    nodes: &'d [Node],
    at: usize,
}

impl<'d> Value<'d> {
    fn node(self) -> Node {
        self.nodes[self.at]
    }

    fn with(self, at: usize) -> Self {
        Self { at, ..self }
    }

    /// What it is.
    pub fn kind(self) -> Kind {
        self.node().kind
    }

    /// Its bytes, as they stand in the text.
    pub fn raw(self) -> &'d [u8] {
        &self.text[self.node().start..self.node().end]
    }

    /// Where its bytes stand in the text.
    pub fn span(self) -> std::ops::Range<usize> {
        self.node().start..self.node().end
    }

    /// The members of an object in the order of the text, duplicates included: name, value.
    pub fn members(self) -> impl Iterator<Item = (Self, Self)> {
        let end = if self.kind() == Kind::Object { self.node().next } else { self.at + 1 };
        let mut at = self.at + 1;
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let (name, value) = (self.with(at), self.with(at + 1));
                at = value.node().next;
                (name, value)
            })
        })
    }

    /// The elements of an array; nothing for any other value.
    pub fn elements(self) -> impl Iterator<Item = Self> {
        let end = if self.kind() == Kind::Array { self.node().next } else { self.at + 1 };
        let mut at = self.at + 1;
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let value = self.with(at);
                at = value.node().next;
                value
            })
        })
    }

    /// The member of that name; the last one of several.
    pub fn get(self, name: &str) -> Option<Self> {
        self.members().filter(|(key, _)| key.is_str(name)).last().map(|(_, value)| value)
    }

    /// Whether it is this string.
    pub fn is_str(self, other: &str) -> bool {
        let node = self.node();
        node.kind == Kind::String
            && if node.plain {
                &self.text[node.start + 1..node.end - 1] == other.as_bytes()
            } else {
                self.text().is_some_and(|text| text.as_bytes() == other.as_bytes())
            }
    }

    /// The characters of a string.
    pub fn text(self) -> Option<Text<'d>> {
        let node = self.node();
        let inside = || &self.text[node.start + 1..node.end - 1];
        (node.kind == Kind::String).then(|| script_text::decode(inside(), node.plain))
    }

    /// The characters of a string, lone surrogates replaced.
    pub fn lossy(self) -> Option<Cow<'d, str>> {
        self.text().map(Text::into_lossy)
    }

    /// A number, as a double.
    pub fn number(self) -> Option<f64> {
        (self.kind() == Kind::Number).then(|| script_text::number(self.raw()))
    }

    /// Whether JavaScript takes it for true.
    pub fn is_truthy(self) -> bool {
        match self.kind() {
            Kind::Null | Kind::False => false,
            Kind::True | Kind::Array | Kind::Object => true,
            Kind::Number => self.number().is_some_and(|number| number != 0.0),
            Kind::String => self.raw().len() > 2,
        }
    }

    /// The members as a JavaScript object has them.
    fn properties(self) -> Vec<(Self, Self)> {
        let mut found: Vec<(Self, Self)> = self.members().collect();
        if found.len() > 1 {
            let names: Vec<_> = found.iter().map(|(name, _)| name.text().unwrap_or_default()).collect();
            let mut first = std::collections::HashMap::with_capacity(names.len());
            let mut kept: Vec<(Option<u32>, usize)> = Vec::with_capacity(names.len());
            let mut last: Vec<usize> = (0..names.len()).collect();
            for (at, name) in names.iter().enumerate() {
                let place = *first.entry(name.as_bytes()).or_insert(at);
                last[place] = at;
                if place == at {
                    kept.push((array_index(name.as_bytes()), at));
                }
            }
            kept.sort_by_key(|(index, _)| index.map_or(u64::MAX, u64::from));
            found = kept.into_iter().map(|(_, at)| (found[at].0, found[last[at]].1)).collect();
        }
        found
    }

    /// Appends what `JSON.stringify` makes of it.
    pub fn stringify(self, out: &mut Vec<u8>) {
        enum Open<'d> {
            Array(usize, usize),
            Object(std::vec::IntoIter<(Value<'d>, Value<'d>)>),
        }
        let mut open: Vec<Open<'d>> = Vec::new();
        let mut value = self;
        loop {
            match value.kind() {
                Kind::Array => {
                    out.push(b'[');
                    open.push(Open::Array(value.at + 1, value.node().next));
                }
                Kind::Object => {
                    out.push(b'{');
                    open.push(Open::Object(value.properties().into_iter()));
                }
                Kind::Number => script_text::write_number(script_text::number(value.raw()), out),
                Kind::String => script_text::write(&value.text().unwrap_or_default(), out),
                Kind::Null | Kind::True | Kind::False => out.extend_from_slice(value.raw()),
            }
            // On to the next value, closing what has none left.
            value = loop {
                let is_first = matches!(out.last(), Some(b'[' | b'{'));
                match open.last_mut() {
                    None => return,
                    Some(Open::Array(at, end)) if *at < *end => {
                        let element = self.with(*at);
                        *at = element.node().next;
                        if !is_first {
                            out.push(b',');
                        }
                        break element;
                    }
                    Some(Open::Array(..)) => out.push(b']'),
                    Some(Open::Object(members)) => match members.next() {
                        Some((name, member)) => {
                            if !is_first {
                                out.push(b',');
                            }
                            script_text::write(&name.text().unwrap_or_default(), out);
                            out.push(b':');
                            break member;
                        }
                        None => out.push(b'}'),
                    },
                }
                open.pop();
            };
        }
    }

    /// [`Value::stringify`] into a new buffer.
    pub fn to_script_json(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.raw().len());
        self.stringify(&mut out);
        out
    }
}

impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.raw()))
    }
}

/// The number a property name is an array index for: those come first, ascending.
fn array_index(name: &[u8]) -> Option<u32> {
    let canonical = name == b"0" || name.first().is_some_and(|first| (b'1'..=b'9').contains(first));
    let number: u32 = std::str::from_utf8(name).ok().filter(|_| canonical)?.parse().ok()?;
    (number < u32::MAX).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(text: &str) -> String {
        let document = Document::parse(text.as_bytes()).unwrap();
        String::from_utf8(document.root().to_script_json()).unwrap()
    }

    #[test]
    fn writes_what_javascript_writes() {
        for (text, expected) in [
            (
                "[1.0,1e400,-0,12345678901234567890,1e21,1e-7,0.000001,123e-20]",
                "[1,null,0,12345678901234567000,1e+21,1e-7,0.000001,1.23e-18]",
            ),
            (r#"{"b":1,"a":2,"b":3}"#, r#"{"b":3,"a":2}"#),
            (
                r#"{"z":1,"10":2,"9":3,"01":4,"4294967295":5}"#,
                r#"{"9":3,"10":2,"z":1,"01":4,"4294967295":5}"#,
            ),
            (
                r#"["\ud800","\ud83d\ude00","\u2028","\u0001\u007f\/"]"#,
                "[\"\\ud800\",\"😀\",\"\u{2028}\",\"\\u0001\u{7f}/\"]",
            ),
            (" [ ] ", "[]"),
            (r#"{"a":[[],{}],"":"["}"#, r#"{"a":[[],{}],"":"["}"#),
            (r#"["[",1,"{",{"{":"{","b":2}]"#, r#"["[",1,"{",{"{":"{","b":2}]"#),
        ] {
            assert_eq!(through(text), expected, "{text}");
        }
    }

    #[test]
    fn refuses_what_javascript_refuses() {
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "01",
            "1.",
            "+1",
            "\"\t\"",
            "\"\\x\"",
            "nul",
            "[1] 2",
            "\u{feff}1",
            "\u{a0}1",
            "{a:1}",
            "-",
            "1e",
            "\"\\u12g4\"",
        ] {
            assert!(Document::parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn nesting_far_beyond_the_stack_is_read_and_written() {
        let deep = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        assert_eq!(through(&deep), deep);
    }

    proptest::proptest! {
        #[test]
        fn agrees_with_serde_json_on_what_is_json(text in "[\\[\\]{}\",:0-9a-z.eE\\\\ +-]{0,24}") {
            let ours = Document::parse(text.as_bytes()).is_ok();
            let theirs = serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok();
            proptest::prop_assert_eq!(ours, theirs);
        }
    }
}
