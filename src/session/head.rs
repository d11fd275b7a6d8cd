//! The few members of an entry that make the tree, picked out of its line in one pass.

use super::key::{self, Key, Keys};
use super::kind::{EntryType, Role};
use super::scan::{self, Kind, Sink};
use super::script_date;
use super::script_json::Document;
use super::script_text;

/// Where a member's value lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    kind: Kind,
    start: usize,
    end: usize,
    plain: bool,
}

impl Place {
    fn raw(self, line: &[u8]) -> &[u8] {
        &line[self.start..self.end]
    }

    /// A scalar's value as a time; arrays and objects are none.
    pub(super) fn time(self, line: &[u8]) -> f64 {
        match self.kind {
            Kind::Array | Kind::Object => f64::NAN,
            _ => Document::parse(self.raw(line))
                .map_or(f64::NAN, |found| script_date::time_value(Some(found.root()))),
        }
    }

    /// A number's value.
    pub(super) fn number(self, line: &[u8]) -> Option<f64> {
        (self.kind == Kind::Number).then(|| script_text::number(self.raw(line)))
    }

    pub(super) fn key(self, line: &[u8], keys: &mut Keys, unique: u64) -> Option<Key> {
        keys.value(self.kind, self.raw(line), self.plain, unique)
    }
}

/// The members that make the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) root: Kind,
    pub(super) entry_type: EntryType,
    pub(super) role: Role,
    pub(super) id: Option<Place>,
    pub(super) parent: Option<Place>,
    /// The entry's own time.
    pub(super) time: Option<Place>,
    /// The time of its message.
    pub(super) message_time: Option<Place>,
    root_span: (usize, usize),
    is_truthy: bool,
}

impl Head {
    /// Reads the first value of a line; also gives where it ends. The error is the offset of what cannot
    /// be there.
    pub(super) fn scan(line: &[u8]) -> Result<(Self, usize), usize> {
        let mut picker = Picker {
            line,
            depth: 0,
            member: Member::Other,
            in_message: false,
            head: Self {
                root: Kind::Null,
                entry_type: EntryType::Untyped,
                role: Role::None,
                id: None,
                parent: None,
                time: None,
                message_time: None,
                root_span: (0, 0),
                is_truthy: true,
            },
        };
        let end = scan::walk(line, &mut picker)?;
        let mut head = picker.head;
        head.is_truthy = match head.root {
            Kind::Null | Kind::False => false,
            Kind::Number => script_text::number(&line[head.root_span.0..head.root_span.1]) != 0.0,
            Kind::String => head.root_span.1 - head.root_span.0 > 2,
            _ => true,
        };
        Ok((head, end))
    }

    /// Reads a line that is one value and nothing else.
    pub(super) fn scan_line(line: &[u8]) -> Result<Self, usize> {
        let (head, end) = Self::scan(line)?;
        let at = scan::skip_blanks(line, end);
        if at < line.len() { Err(at) } else { Ok(head) }
    }

    /// Whether pi keeps the value: JavaScript takes it for true.
    pub(super) fn is_kept(&self) -> bool {
        self.is_truthy
    }

    pub(super) fn looks_like_an_entry(&self) -> bool {
        // A tool call inside a message has a type and an id, too.
        let hangs_somewhere = self.parent.is_some() || self.entry_type == EntryType::Session;
        self.entry_type != EntryType::Untyped && self.has_text_id() && hangs_somewhere
    }

    pub(super) fn has_text_id(&self) -> bool {
        self.id.is_some_and(|id| id.kind == Kind::String)
    }

    pub(super) fn keys(&self, line: &[u8], keys: &mut Keys, unique: u64) -> Option<(Key, Key)> {
        let mut key = |place: Option<Place>, unique| {
            place.map_or(Some(key::UNDEFINED), |place| place.key(line, keys, unique))
        };
        Some((key(self.id, unique * 2)?, key(self.parent, unique * 2 + 1)?))
    }
}

/// Which member's value comes next.
#[derive(Clone, Copy, PartialEq)]
enum Member {
    Type,
    Id,
    Parent,
    Message,
    Role,
    Time,
    MessageTime,
    Other,
}

struct Picker<'l> {
    line: &'l [u8],
    depth: usize,
    member: Member,
    /// Inside the object that is the value of `message`.
    in_message: bool,
    head: Head,
}

impl Picker<'_> {
    fn value(&mut self, kind: Kind, start: usize, end: usize, plain: bool) {
        if self.member == Member::Other {
            return;
        }
        let place = Place { kind, start, end, plain };
        let line = self.line;
        match std::mem::replace(&mut self.member, Member::Other) {
            Member::Type if self.depth == 1 => {
                self.head.entry_type = match kind {
                    Kind::String => characters(line, start, end, plain, EntryType::named),
                    _ => EntryType::Untyped,
                };
            }
            Member::Id if self.depth == 1 => self.head.id = Some(place),
            Member::Parent if self.depth == 1 => self.head.parent = Some(place),
            Member::Time if self.depth == 1 => self.head.time = Some(place),
            Member::MessageTime if self.depth == 2 => self.head.message_time = Some(place),
            Member::Message if self.depth == 1 => {
                self.head.role = Role::None;
                self.head.message_time = None;
            }
            Member::Role if self.depth == 2 => {
                self.head.role = match kind {
                    Kind::String => characters(line, start, end, plain, Role::named),
                    _ => Role::None,
                };
            }
            _ => {}
        }
    }
}

/// What a string's characters mean. Without escapes they are compared as they stand: bytes that are not
/// UTF-8 are in no name.
fn characters<T>(line: &[u8], start: usize, end: usize, plain: bool, meaning: impl Fn(&[u8]) -> T) -> T {
    let inside = &line[start + 1..end - 1];
    if plain { meaning(inside) } else { meaning(script_text::decode(inside, plain).as_bytes()) }
}

impl Sink for Picker<'_> {
    fn open(&mut self, kind: Kind, at: usize) {
        if self.depth == 0 {
            self.head.root = kind;
        }
        let is_message = self.depth == 1 && self.member == Member::Message && kind == Kind::Object;
        // The end of an array or object matters to nobody who asks for an id or a type.
        self.value(kind, at, at, true);
        self.in_message |= is_message;
        self.depth += 1;
    }

    fn close(&mut self, _end: usize) {
        self.depth -= 1;
        self.in_message &= self.depth > 1;
    }

    fn key(&mut self, start: usize, end: usize, plain: bool) {
        if self.depth > 2 || (self.depth == 2 && !self.in_message) {
            return;
        }
        let depth = self.depth;
        self.member = characters(self.line, start, end, plain, |name| match (depth, name) {
            (1, b"type") => Member::Type,
            (1, b"id") => Member::Id,
            (1, b"parentId") => Member::Parent,
            (1, b"message") => Member::Message,
            (1, b"timestamp") => Member::Time,
            (2, b"role") => Member::Role,
            (2, b"timestamp") => Member::MessageTime,
            _ => Member::Other,
        });
    }

    fn scalar(&mut self, kind: Kind, start: usize, end: usize, plain: bool) {
        if self.depth == 0 {
            self.head.root = kind;
            self.head.root_span = (start, end);
        }
        self.value(kind, start, end, plain);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_duplicate_members_counts_and_nested_ones_do_not() {
        let line = br#"{"data":{"id":"no","role":"user"},"typ\u0065":"label","message":{"role":"user","x":[{"role":"system"}],"r":{"role":"custom"}},"type":"message","id":7,"id":"yes","parentId":null}"#;
        let head = Head::scan_line(line).unwrap();
        assert_eq!((head.entry_type, head.role), (EntryType::Message, Role::User));
        assert_eq!(head.id.unwrap().raw(line), b"\"yes\"");
        assert_eq!(Head::scan_line(br#"{"message":{"role":"user"},"message":[]}"#).unwrap().role, Role::None);
    }
}
