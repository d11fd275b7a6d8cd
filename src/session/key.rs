//! Ids as JavaScript compares them, each distinct one stored once and known by a small number.

use std::hash::{BuildHasher, Hasher, RandomState};

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
    /// Their bytes with a tag for their kind before each, one after another.
    bytes: Vec<u8>,
    /// Where each one ends in `bytes`.
    ends: Vec<u32>,
    /// A hash table with open addressing: a few bits of the hash, then key + 1; 0 is a free slot.
    slots: Vec<u32>,
    hasher: RandomState,
    /// The id met last: the next entry's parent, most of the time.
    last: Key,
}

/// Bits of a slot that hold the key; the others save a look at the bytes.
const KEY_BITS: u32 = 26;
const KEY_MASK: u32 = (1 << KEY_BITS) - 1;

impl Keys {
    pub(super) fn new() -> Self {
        let mut keys = Self {
            bytes: Vec::new(),
            ends: Vec::new(),
            slots: vec![0; 64],
            hasher: RandomState::new(),
            last: UNDEFINED,
        };
        for tag in *b"u0fsz" {
            keys.intern(tag, b"");
        }
        keys
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The key of a string.
    pub(super) fn text(&mut self, text: &[u8]) -> Option<Key> {
        self.intern(b's', text)
    }

    /// The key of a string, if it is known.
    pub(super) fn find(&self, text: &[u8]) -> Option<Key> {
        self.slot(b's', text).ok()
    }

    /// The key of a JSON value; `unique` keeps arrays and objects apart, as JavaScript does. `None`
    /// when the table is full.
    pub(super) fn value(&mut self, kind: Kind, raw: &[u8], plain: bool, unique: u64) -> Option<Key> {
        match kind {
            Kind::Null => Some(NULL),
            Kind::False => Some(FALSE),
            Kind::True => self.intern(b't', b""),
            Kind::String if raw.len() == 2 => Some(EMPTY),
            Kind::String => {
                let inside = &raw[1..raw.len() - 1];
                if plain && inside.is_ascii() {
                    return self.text(inside);
                }
                self.text(script_text::decode(inside, plain).as_bytes())
            }
            Kind::Number => match script_text::number(raw) {
                0.0 => Some(ZERO),
                number => self.intern(b'n', &number.to_bits().to_le_bytes()),
            },
            Kind::Array | Kind::Object => self.intern(b'o', &unique.to_le_bytes()),
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

    fn is(&self, key: Key, tag: u8, text: &[u8]) -> bool {
        matches!(self.tagged(key), [found, rest @ ..] if *found == tag && rest == text)
    }

    fn intern(&mut self, tag: u8, text: &[u8]) -> Option<Key> {
        if !self.ends.is_empty() && self.is(self.last, tag, text) {
            return Some(self.last);
        }
        let key = match self.slot(tag, text) {
            Ok(key) => key,
            Err((free, bits)) => {
                let end = u32::try_from(self.bytes.len() + 1 + text.len()).ok()?;
                let key = u32::try_from(self.ends.len()).ok().filter(|key| *key < KEY_MASK)?;
                self.bytes.push(tag);
                self.bytes.extend_from_slice(text);
                self.ends.push(end);
                self.slots[free] = bits | (key + 1);
                if self.ends.len() * 4 > self.slots.len() * 3 {
                    self.grow();
                }
                key
            }
        };
        self.last = key;
        Some(key)
    }

    /// The key with these bytes, or the slot it would take and the bits of the hash that go there.
    fn slot(&self, tag: u8, text: &[u8]) -> Result<Key, (usize, u32)> {
        let mask = self.slots.len() - 1;
        let hash = self.hash(tag, text);
        let bits = slot_bits(hash);
        let mut at = hash as usize & mask;
        loop {
            match self.slots[at] {
                0 => return Err((at, bits)),
                taken if taken & !KEY_MASK == bits && self.is((taken & KEY_MASK) - 1, tag, text) => {
                    return Ok((taken & KEY_MASK) - 1);
                }
                _ => at = (at + 1) & mask,
            }
        }
    }

    fn hash(&self, tag: u8, text: &[u8]) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(text);
        hasher.write_u8(tag);
        hasher.finish()
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        self.slots = Vec::new();
        let mut slots = vec![0; mask + 1];
        for key in 0..self.ends.len() as Key {
            let tagged = self.tagged(key);
            let hash = self.hash(tagged[0], &tagged[1..]);
            let mut at = hash as usize & mask;
            while slots[at] != 0 {
                at = (at + 1) & mask;
            }
            slots[at] = slot_bits(hash) | (key + 1);
        }
        self.slots = slots;
    }
}

/// The highest bits of a hash, where a slot keeps them.
fn slot_bits(hash: u64) -> u32 {
    (hash >> 32) as u32 & !KEY_MASK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_id_has_one_number_and_kinds_do_not_mix() {
        let mut keys = Keys::new();
        let names: Vec<String> = (0..5_000).map(|number| format!("{number:08x}")).collect();
        let numbers: Vec<Key> = names.iter().map(|name| keys.text(name.as_bytes()).unwrap()).collect();
        for (name, number) in names.iter().zip(&numbers) {
            assert_eq!(keys.find(name.as_bytes()), Some(*number));
            assert_eq!(keys.text(name.as_bytes()), Some(*number));
        }
        assert_eq!(keys.value(Kind::String, b"\"\"", true, 0), Some(EMPTY));
        assert_eq!(keys.value(Kind::Number, b"-0.0", true, 0), Some(ZERO));
        assert_ne!(keys.value(Kind::Number, b"1", true, 0), keys.value(Kind::String, b"\"1\"", true, 0));
        assert_eq!(keys.value(Kind::Number, b"1", true, 0), keys.value(Kind::Number, b"1.0", true, 0));
        assert_ne!(keys.value(Kind::Object, b"{}", true, 1), keys.value(Kind::Object, b"{}", true, 2));
        assert_eq!(keys.find(b"nope"), None);
    }
}
