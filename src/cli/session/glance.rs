//! What a list shows of one entry, taken from its line in a single pass: a million of them fit into memory.

use super::one_line;
use crate::session::kind::EntryType;
use crate::session::scan::{self, Kind, Sink};
use crate::session::script_text;

/// Characters of an entry's text that a list shows.
pub(super) const PREVIEW: usize = 80;
/// Bytes of a string's JSON text that are sure to hold that many characters.
const ENOUGH: usize = PREVIEW * 12;

/// The beginning of an entry's text, its time, and what it counts for.
#[derive(Debug, Default)]
pub(super) struct Glance {
    /// The time stamp, then the text.
    words: Box<str>,
    /// How long the time stamp is.
    stamp: u8,
    /// Tool calls in it.
    pub(super) calls: u32,
    /// What it cost.
    pub(super) usage: Option<Box<Usage>>,
    /// Whether it holds the text that is searched for.
    pub(super) is_match: bool,
}

/// Tokens and cost of one entry.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Usage {
    pub(super) input: f64,
    pub(super) output: f64,
    pub(super) cache_read: f64,
    pub(super) cache_write: f64,
    pub(super) cost: f64,
}

impl Glance {
    /// Looks at an entry's line; `wanted` is a text to search for, in lower case.
    pub(super) fn of(entry_type: EntryType, line: &[u8], wanted: Option<&str>) -> Self {
        let mut picker = Picker { line, wanted, ..Picker::default() };
        // What is no JSON has been left out by the loader.
        let _ = scan::walk(line, &mut picker);
        let stamp = picker.stamp.map_or(&b""[..], |stamp| stamp.inside(line));
        let stamp = std::str::from_utf8(stamp).ok().filter(|stamp| stamp.len() <= 64).unwrap_or_default();
        let mut words = String::with_capacity(stamp.len() + PREVIEW + 8);
        words.push_str(stamp);
        picker.preview(entry_type, &mut words);
        Self {
            stamp: stamp.len() as u8,
            words: words.into_boxed_str(),
            calls: picker.calls,
            usage: picker.usage.map(Box::new),
            is_match: picker.is_match,
        }
    }

    /// When it was written, as stored.
    pub(super) fn timestamp(&self) -> Option<&str> {
        Some(&self.words[..usize::from(self.stamp)]).filter(|stamp| !stamp.is_empty())
    }

    /// The beginning of its text, as one line.
    pub(super) fn text(&self) -> Option<&str> {
        Some(&self.words[usize::from(self.stamp)..]).filter(|text| !text.is_empty())
    }
}

/// The members that matter, wherever they stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Name {
    #[default]
    Other,
    /// Not a member: a place in an array.
    Element,
    Arguments,
    CacheRead,
    CacheWrite,
    Command,
    Content,
    Cost,
    CustomType,
    Data,
    Id,
    Input,
    Label,
    Message,
    ModelId,
    Named,
    Output,
    Provider,
    Summary,
    TargetId,
    Text,
    Thinking,
    ThinkingLevel,
    Timestamp,
    Total,
    Type,
    Usage,
}

impl Name {
    fn of(name: &[u8]) -> Self {
        match name {
            b"arguments" => Self::Arguments,
            b"cacheRead" => Self::CacheRead,
            b"cacheWrite" => Self::CacheWrite,
            b"command" => Self::Command,
            b"content" => Self::Content,
            b"cost" => Self::Cost,
            b"customType" => Self::CustomType,
            b"data" => Self::Data,
            b"id" | b"parentId" => Self::Id,
            b"input" => Self::Input,
            b"label" => Self::Label,
            b"message" => Self::Message,
            b"model" | b"modelId" => Self::ModelId,
            b"name" => Self::Named,
            b"output" => Self::Output,
            b"provider" => Self::Provider,
            b"summary" => Self::Summary,
            b"targetId" => Self::TargetId,
            b"text" => Self::Text,
            b"thinking" => Self::Thinking,
            b"thinkingLevel" => Self::ThinkingLevel,
            b"timestamp" => Self::Timestamp,
            b"total" => Self::Total,
            b"type" => Self::Type,
            b"usage" => Self::Usage,
            _ => Self::Other,
        }
    }
}

/// Where a value lies in the line.
#[derive(Clone, Copy, Debug)]
struct Place {
    start: usize,
    end: usize,
    plain: bool,
}

impl Place {
    /// A string without its quotes.
    fn inside(self, line: &[u8]) -> &[u8] {
        &line[self.start + 1..self.end - 1]
    }

    /// Appends the beginning of a string.
    fn append(self, line: &[u8], out: &mut String) {
        let inside = self.inside(line);
        let cut =
            if inside.len() > ENOUGH { whole_characters(&inside[..ENOUGH], self.plain) } else { inside };
        let text = script_text::decode(cut, self.plain).into_lossy();
        one_line::append(&text, PREVIEW, cut.len() < inside.len(), out);
    }
}

/// How deep members are told apart: a block in a message's content.
const DEPTH: usize = 4;

#[derive(Default)]
struct Picker<'l> {
    line: &'l [u8],
    wanted: Option<&'l str>,
    depth: usize,
    /// The members that lead to the value that comes next; the first is at 1.
    names: [Name; DEPTH + 1],
    /// The name of the member met last, at any depth.
    last: Name,
    stamp: Option<Place>,
    text: Option<Place>,
    thinking: Option<Place>,
    call: Option<Place>,
    arguments: Option<Place>,
    arguments_start: usize,
    /// Strings that stand directly in the entry or its message.
    words: [Option<Place>; 8],
    calls: u32,
    usage: Option<Usage>,
    is_match: bool,
}

/// Members with a place in [`Picker::words`].
const WORDS: [Name; 8] = [
    Name::Command,
    Name::CustomType,
    Name::Label,
    Name::ModelId,
    Name::Named,
    Name::Provider,
    Name::Summary,
    Name::TargetId,
];

impl Picker<'_> {
    fn word(&self, name: Name) -> Option<Place> {
        WORDS.iter().position(|word| *word == name).and_then(|at| self.words[at])
    }

    /// The text an entry is shown by.
    fn preview(&self, entry_type: EntryType, out: &mut String) {
        let mut join = |names: &[Name], between: char| {
            let found = names.iter().filter_map(|name| self.word(*name));
            for (number, place) in found.enumerate() {
                if number > 0 {
                    out.push(between);
                }
                place.append(self.line, out);
            }
        };
        match entry_type {
            EntryType::ModelChange | EntryType::Usage => join(&[Name::Provider, Name::ModelId], '/'),
            EntryType::Label => join(&[Name::TargetId, Name::Label], ' '),
            EntryType::ContextEdit => join(&[Name::TargetId], ' '),
            EntryType::SessionInfo => join(&[Name::Named], ' '),
            EntryType::Custom => join(&[Name::CustomType], ' '),
            _ => self.spoken(out),
        }
    }

    fn spoken(&self, out: &mut String) {
        let whole = self.text.or(self.word(Name::Summary)).or(self.word(Name::Command));
        match (whole, self.call, self.thinking) {
            (Some(text), _, _) => text.append(self.line, out),
            (None, Some(name), _) => {
                name.append(self.line, out);
                if let Some(Place { start, end, .. }) = self.arguments {
                    let arguments = whole_characters(&self.line[start..end.min(start + ENOUGH)], true);
                    out.push(' ');
                    let is_cut = arguments.len() < end - start;
                    one_line::append(&String::from_utf8_lossy(arguments), PREVIEW, is_cut, out);
                }
            }
            (None, None, Some(thought)) => thought.append(self.line, out),
            (None, None, None) => {
                if let Some(word) = self.word(Name::CustomType) {
                    word.append(self.line, out);
                }
            }
        }
    }

    fn string(&mut self, place: Place) {
        use Name::{Content, Element, Message, Text, Thinking, Timestamp, Type};
        let line = self.line;
        match &self.names[1..=self.depth.min(DEPTH)] {
            [Timestamp] => self.stamp = Some(place),
            [Content] | [Message, Content] | [Content, Element, Text] | [Message, Content, Element, Text] => {
                let is_blank = script_text::trim(place.inside(line)).is_empty();
                self.text = self.text.or((!is_blank).then_some(place));
            }
            [Message, Content, Element, Thinking] => self.thinking = self.thinking.or(Some(place)),
            [Message, Content, Element, Name::Named] => self.call = self.call.or(Some(place)),
            [Message, Content, Element, Type] if place.inside(line) == b"toolCall" => self.calls += 1,
            [Name::ThinkingLevel] => self.text = Some(place),
            [name] | [Message, name] => {
                if let Some(at) = WORDS.iter().position(|word| word == name) {
                    self.words[at] = Some(place);
                }
            }
            _ => {}
        }
    }

    fn number(&mut self, place: Place) {
        let names = match &self.names[1..=self.depth.min(DEPTH)] {
            [Name::Message, names @ ..] => names,
            names => names,
        };
        let [Name::Usage, names @ ..] = names else { return };
        let usage = self.usage.get_or_insert_default();
        let place = &self.line[place.start..place.end];
        let number = || script_text::number(place);
        match names {
            [Name::Input] => usage.input = number(),
            [Name::Output] => usage.output = number(),
            [Name::CacheRead] => usage.cache_read = number(),
            [Name::CacheWrite] => usage.cache_write = number(),
            [Name::Cost, Name::Total] => usage.cost = number(),
            _ => {}
        }
    }

    /// What people wrote or read is searched; ids, times and pictures are not.
    fn search(&mut self, place: Place) {
        let Some(wanted) = self.wanted.filter(|_| !self.is_match) else { return };
        if matches!(self.last, Name::Id | Name::Timestamp | Name::Data | Name::Type) {
            return;
        }
        let text = script_text::decode(place.inside(self.line), place.plain).into_lossy();
        self.is_match = text.to_lowercase().contains(wanted);
    }
}

impl Sink for Picker<'_> {
    fn open(&mut self, kind: Kind, at: usize) {
        if self.depth == DEPTH && self.names[DEPTH] == Name::Arguments && self.arguments.is_none() {
            self.arguments_start = at;
        }
        self.depth += 1;
        if let Some(name) = self.names.get_mut(self.depth) {
            *name = if kind == Kind::Array { Name::Element } else { Name::Other };
        }
    }

    fn close(&mut self, end: usize) {
        self.depth -= 1;
        if self.depth == DEPTH && self.names[DEPTH] == Name::Arguments && self.arguments.is_none() {
            self.arguments = Some(Place { start: self.arguments_start, end, plain: true });
        }
    }

    fn key(&mut self, start: usize, end: usize, plain: bool) {
        if self.depth > DEPTH && self.wanted.is_none() {
            return;
        }
        let inside = &self.line[start + 1..end - 1];
        let name = match plain {
            true => Name::of(inside),
            false => Name::of(script_text::decode(inside, false).as_bytes()),
        };
        self.last = name;
        if let Some(place) = self.names.get_mut(self.depth) {
            *place = name;
        }
    }

    fn scalar(&mut self, kind: Kind, start: usize, end: usize, plain: bool) {
        let place = Place { start, end, plain };
        match kind {
            Kind::String => {
                if self.depth <= DEPTH {
                    self.string(place);
                }
                self.search(place);
            }
            Kind::Number if self.depth <= DEPTH => self.number(place),
            _ => {}
        }
    }
}

/// A beginning of a string's JSON text without the character or the escape that its end cuts through.
fn whole_characters(text: &[u8], plain: bool) -> &[u8] {
    let text = match std::str::from_utf8(text) {
        Err(error) if error.error_len().is_none() => &text[..error.valid_up_to()],
        _ => text,
    };
    let mut at = 0;
    while let Some(found) = (!plain).then(|| memchr::memchr(b'\\', &text[at..])).flatten() {
        let start = at + found;
        at = start + if text.get(start + 1) == Some(&b'u') { 6 } else { 2 };
        if at > text.len() {
            return &text[..start];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glance(line: &str) -> Glance {
        Glance::of(EntryType::Message, line.as_bytes(), Some("needle"))
    }

    #[test]
    fn text_comes_before_calls_and_calls_before_thoughts() {
        let block = |text: &str| {
            format!(
                r#"{{"type":"message","timestamp":"T","message":{{"content":[{{"type":"thinking","thinking":"hm"}},{text}{{"type":"toolCall","name":"read","arguments":{{"path":"a\nb"}}}}],"usage":{{"input":1,"output":2,"cost":{{"total":0.5}}}}}}}}"#
            )
        };
        let spoken = glance(&block(r#"{"type":"text","text":" see\nthis"},"#));
        assert_eq!((spoken.timestamp(), spoken.text()), (Some("T"), Some("see this")));
        let silent = glance(&block(""));
        assert_eq!(silent.text(), Some(r#"read {"path":"a\nb"}"#));
        assert_eq!(silent.calls, 1);
        let usage = Usage { input: 1.0, output: 2.0, cost: 0.5, ..Usage::default() };
        assert_eq!(silent.usage.as_deref(), Some(&usage));
        assert!(!silent.is_match);
    }

    #[test]
    fn a_long_text_is_cut_between_characters_and_escapes() {
        for tail in ["\\ud83d\\ude00", "\\u00e9", "é", "\\n", "x"] {
            for lead in 0..13 {
                let text = format!("{}{}", "y".repeat(lead), tail.repeat(2_000));
                let found = glance(&format!(r#"{{"message":{{"content":"{text}"}}}}"#));
                let shown = found.text().unwrap_or_default();
                assert!(!shown.contains('\u{fffd}') && shown.chars().count() <= PREVIEW + 1, "{shown}");
                assert!(shown.ends_with('…'), "{shown}");
            }
        }
    }

    #[test]
    fn a_search_looks_into_texts_and_arguments_only() {
        assert!(glance(r#"{"message":{"content":[{"arguments":{"deep":[{"x":"a NEEDLE"}]}}]}}"#).is_match);
        assert!(glance(r#"{"label":"Needl\u0065"}"#).is_match);
        assert!(
            !glance(r#"{"id":"needle","message":{"content":[{"type":"image","data":"needle"}]}}"#).is_match
        );
    }
}
