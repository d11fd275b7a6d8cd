//! Changing members of an object while all its other bytes stay as they are.

use std::ops::Range;

use super::script_json::Value;
use super::script_text;

/// An object under change.
pub(super) struct Splice<'d> {
    object: Value<'d>,
    edits: Vec<(Range<usize>, Vec<u8>)>,
    added: Vec<u8>,
    /// Members that stay, of those the text has.
    kept: usize,
}

impl<'d> Splice<'d> {
    pub(super) fn new(object: Value<'d>) -> Self {
        Self { object, edits: Vec::new(), added: Vec::new(), kept: object.members().count() }
    }

    /// Gives a member a value: in its place, or behind all others when it is new.
    pub(super) fn set(&mut self, name: &str, value: &[u8]) {
        match self.object.get(name) {
            Some(old) => self.edits.push((old.span(), value.to_vec())),
            None => {
                self.added.push(b',');
                self.added.extend_from_slice(&script_text::quoted(name));
                self.added.push(b':');
                self.added.extend_from_slice(value);
            }
        }
    }

    /// Takes a member out, all of several.
    pub(super) fn remove(&mut self, name: &str) {
        let members: Vec<_> = self.object.members().collect();
        let mut first_kept = false;
        for (at, (key, value)) in members.iter().enumerate() {
            if !key.is_str(name) {
                first_kept = true;
                continue;
            }
            self.kept -= 1;
            // With the comma before it, or behind it when nothing that stays stands before it.
            let start = if first_kept { members[at - 1].1.span().end } else { key.span().start };
            let end = match members.get(at + 1) {
                Some((next, _)) if !first_kept => next.span().start,
                _ => value.span().end,
            };
            self.edits.push((start..end, Vec::new()));
        }
    }

    /// The object as changed.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let span = self.object.span();
        let raw = self.object.raw();
        self.edits.sort_by_key(|(range, _)| range.start);
        let mut out = Vec::with_capacity(raw.len() + self.added.len() + 32);
        let mut done = span.start;
        for (range, new) in &self.edits {
            out.extend_from_slice(&raw[done - span.start..range.start - span.start]);
            out.extend_from_slice(new);
            done = range.end;
        }
        let added = if self.kept == 0 { self.added.strip_prefix(b",").unwrap_or(&[]) } else { &self.added };
        let end = raw.len() - 1;
        out.extend_from_slice(&raw[done - span.start..end]);
        out.extend_from_slice(added);
        out.push(b'}');
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::script_json::Document;
    use super::*;

    fn changed(text: &str, change: impl FnOnce(&mut Splice<'_>)) -> String {
        let document = Document::parse(text.as_bytes()).unwrap();
        let mut splice = Splice::new(document.root());
        change(&mut splice);
        String::from_utf8(splice.finish()).unwrap()
    }

    #[test]
    fn only_the_named_members_change() {
        let text = r#"{ "a" : 1.0 , "b":[1e400], "c":2 }"#;
        assert_eq!(changed(text, |s| s.set("b", b"x")), r#"{ "a" : 1.0 , "b":x, "c":2 }"#);
        assert_eq!(changed(text, |s| s.set("d", b"x")), r#"{ "a" : 1.0 , "b":[1e400], "c":2 ,"d":x}"#);
        assert_eq!(changed(text, |s| s.remove("a")), r#"{ "b":[1e400], "c":2 }"#);
        assert_eq!(changed(text, |s| s.remove("b")), r#"{ "a" : 1.0, "c":2 }"#);
        assert_eq!(changed(text, |s| s.remove("c")), r#"{ "a" : 1.0 , "b":[1e400] }"#);
        assert_eq!(changed("{}", |s| s.set("a", b"1")), r#"{"a":1}"#);
        assert_eq!(
            changed(r#"{"a":1}"#, |s| {
                s.remove("a");
                s.set("b", b"2")
            }),
            r#"{"b":2}"#
        );
        assert_eq!(changed(r#"{"a":1,"a":2,"b":3}"#, |s| s.remove("a")), r#"{"b":3}"#);
    }
}
