//! Tolerant JSON: mending changes no length, valid JSON keeps its value, and a stream of values is
//! cut into the same values however it arrives.

#![no_main]

use std::io::BufReader;

use libfuzzer_sys::fuzz_target;
use pi_toolbox::json::{self, Stream};

fuzz_target!(|input: (&[u8], u8)| {
    let (text, capacity) = input;
    let mended = json::mend_surrogates(text);
    assert_eq!(mended.len(), text.len());
    assert_eq!(json::mend_surrogates(&mended), mended);
    if let Ok(value) = serde_json::from_slice::<serde_json::Value>(text) {
        assert_eq!(json::parse(text).unwrap(), value);
        if value.is_object() || value.is_array() || value.is_string() {
            let texts = texts(&[text, b"\n", text].concat(), 7);
            assert_eq!(texts.len(), 2);
            assert!(
                texts.iter().all(|text| serde_json::from_slice::<serde_json::Value>(text).unwrap() == value)
            );
        }
    }
    assert_eq!(texts(text, usize::from(capacity) + 1), texts(text, 1 << 16));
    let joined =
        |texts: Vec<Vec<u8>>| texts.concat().into_iter().filter(|b| !b.is_ascii_whitespace()).count();
    assert_eq!(joined(texts(text, 64)), text.iter().filter(|byte| !byte.is_ascii_whitespace()).count());
});

fn texts(bytes: &[u8], capacity: usize) -> Vec<Vec<u8>> {
    let mut stream = Stream::new(BufReader::with_capacity(capacity, bytes));
    std::iter::from_fn(|| stream.next_text().unwrap()).collect()
}
