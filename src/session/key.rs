//! Ids as JavaScript compares them, each distinct one stored once and known by a small number.

use std::hash::{BuildHasher, RandomState};

use super::scan::Kind;
use super::script_text::{self, Text};

/// The number of a distinct id. The first few stand for what is no real id, false in JavaScript's eyes.
pub type Key = u32;

/// There is no such member.
pub const UNDEFINED: Key = 0;
/// `null`: the parent of a root.
pub const NULL: Key = 1;
const FALSE: Key = 2;
const EMPTY: Key = 3;
const ZERO: Key = 4;

/// Whether a key can name a parent: JavaScript takes it for true.
pub const fn is_truthy(key: Key) -> bool {
    key > ZERO
}

/// All distinct ids of a session.
pub(super) struct Keys {
    /// Their tagged bytes, one after another.
    bytes: Vec<u8>,
    /// Where each one ends in `bytes`.
    ends: Vec<u32>,
    /// A hash table with open addressing: key + 1, or 0 for a free slot.
    slots: Vec<u32>,
    hasher: RandomState,
}

impl Keys {
    pub(super) fn new() -> Self {
        let mut keys =
            Self { bytes: Vec::new(), ends: Vec::new(), slots: vec![0; 64], hasher: RandomState::new() };
        for tagged in [&b"u"[..], b"0", b"f", b"s", b"z"] {
            keys.intern_tagged(tagged);
        }
        keys
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The key of a string.
    pub(super) fn text(&mut self, text: &[u8]) -> Option<Key> {
        self.intern_tagged(&[b"s", text].concat())
    }

    /// The key of a string, if it is known.
    pub(super) fn find(&self, text: &[u8]) -> Option<Key> {
        self.slot(&[b"s", text].concat()).ok()
    }

    /// The key of a JSON value; `unique` keeps arrays and objects apart, as JavaScript does. `None`
    /// when the table is full.
    pub(super) fn value(&mut self, kind: Kind, raw: &[u8], plain: bool, unique: u64) -> Option<Key> {
        match kind {
            Kind::Null => Some(NULL),
            Kind::False => Some(FALSE),
            Kind::True => self.intern_tagged(b"t"),
            Kind::String if raw.len() == 2 => Some(EMPTY),
            Kind::String => {
                let text = script_text::decode(&raw[1..raw.len() - 1], plain);
                self.text(text.as_bytes())
            }
            Kind::Number => match script_text::number(raw) {
                0.0 => Some(ZERO),
                number => self.intern_tagged(&[b"n", &number.to_bits().to_le_bytes()[..]].concat()),
            },
            Kind::Array | Kind::Object => self.intern_tagged(&[b"o", &unique.to_le_bytes()[..]].concat()),
        }
    }

    /// The characters of a string id; `None` for anything else.
    pub(super) fn text_of(&self, key: Key) -> Option<Text<'static>> {
        self.tagged(key).strip_prefix(b"s").map(|text| Text::from(text.to_vec()))
    }

    /// An id as JSON text; `None` for one that is missing, or that no entry can refer to.
    pub(super) fn json_of(&self, key: Key) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        match self.tagged(key) {
            [b's', text @ ..] => script_text::write(&Text::from(text.to_vec()), &mut out),
            [b'n', bits @ ..] => {
                let bits = u64::from_le_bytes(bits.try_into().ok()?);
                script_text::write_number(f64::from_bits(bits), &mut out);
            }
            b"0" => out.extend_from_slice(b"null"),
            b"f" => out.extend_from_slice(b"false"),
            b"t" => out.extend_from_slice(b"true"),
            b"z" => out.push(b'0'),
            _ => return None,
        }
        Some(out)
    }

    fn tagged(&self, key: Key) -> &[u8] {
        let key = key as usize;
        let start = if key == 0 { 0 } else { self.ends[key - 1] as usize };
        &self.bytes[start..self.ends[key] as usize]
    }

    fn intern_tagged(&mut self, tagged: &[u8]) -> Option<Key> {
        let free = match self.slot(tagged) {
            Ok(key) => return Some(key),
            Err(free) => free,
        };
        let end = u32::try_from(self.bytes.len() + tagged.len()).ok()?;
        let key = u32::try_from(self.ends.len()).ok()?;
        self.bytes.extend_from_slice(tagged);
        self.ends.push(end);
        self.slots[free] = key + 1;
        if self.ends.len() * 4 > self.slots.len() * 3 {
            self.grow();
        }
        Some(key)
    }

    /// The key with these bytes, or the slot it would take.
    fn slot(&self, tagged: &[u8]) -> Result<Key, usize> {
        let mask = self.slots.len() - 1;
        let mut at = self.hasher.hash_one(tagged) as usize & mask;
        loop {
            match self.slots[at] {
                0 => return Err(at),
                taken if self.tagged(taken - 1) == tagged => return Ok(taken - 1),
                _ => at = (at + 1) & mask,
            }
        }
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        self.slots = Vec::new();
        let mut slots = vec![0; mask + 1];
        for key in 0..self.ends.len() as Key {
            let mut at = self.hasher.hash_one(self.tagged(key)) as usize & mask;
            while slots[at] != 0 {
                at = (at + 1) & mask;
            }
            slots[at] = key + 1;
        }
        self.slots = slots;
    }
}
