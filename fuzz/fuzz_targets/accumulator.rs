//! The accumulator: the same whatever the pieces; within its limits; the log holds every byte.

#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use pi_toolbox::tool::accumulator::{Accumulator, Finished, MAX_FULL_BYTES};
use pi_toolbox::tool::truncate::{MAX_BYTES, MAX_LINES};

#[derive(Debug, arbitrary::Arbitrary)]
struct Input<'a> {
    /// Texts, each so many times over.
    parts: Vec<(&'a [u8], u16)>,
    piece: u16,
}

static LOGS: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("pi-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
});

fuzz_target!(|input: Input| {
    let bytes: Vec<u8> =
        input.parts.iter().flat_map(|(text, times)| text.repeat(usize::from(*times))).collect();
    if bytes.len() > 4 * MAX_FULL_BYTES {
        return;
    }
    let whole = collect([bytes.as_slice()]);
    let pieces = collect(bytes.chunks(usize::from(input.piece) + 1));
    assert_eq!(whole.truncation, pieces.truncation);
    assert_eq!(whole.full, pieces.full);
    assert_eq!(whole.last_line_bytes, pieces.last_line_bytes);

    assert!(whole.truncation.output_bytes <= MAX_BYTES && whole.truncation.output_lines <= MAX_LINES);
    assert!(whole.full.len() <= MAX_FULL_BYTES + 100);
    assert_eq!(whole.log.is_some(), whole.truncation.truncated || whole.full_is_cut);
    for finished in [whole, pieces] {
        if let Some(log) = finished.log {
            let log = log.unwrap();
            assert!(std::fs::read(&log).unwrap() == bytes, "the log holds every byte");
            std::fs::remove_file(log).unwrap();
        }
    }
});

fn collect<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Finished {
    let mut accumulator = Accumulator::new(&LOGS, "pi-fuzz");
    pieces.into_iter().for_each(|piece| accumulator.push(piece));
    accumulator.finish()
}
