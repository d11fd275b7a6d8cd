//! The length of a text as it will be once decoded, without decoding it.

/// Counts the bytes of UTF-8 that a stream of bytes decodes to, U+FFFD standing for what is invalid.
/// Equals `String::from_utf8_lossy(all).len()` however the stream is cut into blocks.
#[derive(Debug, Default)]
pub(super) struct Length {
    bytes: u64,
    /// The beginning of a character that the last block left open.
    open: [u8; 4],
    open_len: usize,
}

const REPLACEMENT: u64 = char::REPLACEMENT_CHARACTER.len_utf8() as u64;

impl Length {
    pub(super) fn push(&mut self, block: &[u8]) {
        let mut rest = block;
        while self.open_len > 0
            && let Some((&byte, tail)) = rest.split_first()
        {
            self.open[self.open_len] = byte;
            match std::str::from_utf8(&self.open[..=self.open_len]) {
                Ok(character) => {
                    self.bytes += character.len() as u64;
                    self.open_len = 0;
                    rest = tail;
                }
                Err(error) if error.error_len().is_none() => {
                    self.open_len += 1;
                    rest = tail;
                }
                // The byte does not go on with the character: it starts something of its own.
                Err(_) => self.close(),
            }
        }
        while let Err(error) = std::str::from_utf8(rest) {
            self.bytes += error.valid_up_to() as u64;
            let bad = &rest[error.valid_up_to()..];
            match error.error_len() {
                Some(len) => {
                    self.bytes += REPLACEMENT;
                    rest = &bad[len..];
                }
                None => {
                    self.open[..bad.len()].copy_from_slice(bad);
                    self.open_len = bad.len();
                    return;
                }
            }
        }
        self.bytes += rest.len() as u64;
    }

    /// Nothing follows: a character left open is invalid.
    pub(super) fn close(&mut self) {
        if self.open_len > 0 {
            self.bytes += REPLACEMENT;
            self.open_len = 0;
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn length_is_that_of_the_lossy_text_for_any_cut(
            bytes in proptest::collection::vec(
                prop_oneof![
                    Just(b'a'), Just(b'\n'), Just(0xe2), Just(0x82), Just(0xac), Just(0xf0), Just(0x9f),
                    Just(0x98), Just(0x80), Just(0xed), Just(0xa0), Just(0xff), any::<u8>(),
                ],
                0..64,
            ),
            cut in 1_usize..9,
        ) {
            let mut length = Length::default();
            bytes.chunks(cut).for_each(|block| length.push(block));
            length.close();
            prop_assert_eq!(length.bytes(), String::from_utf8_lossy(&bytes).len() as u64);
        }
    }
}
