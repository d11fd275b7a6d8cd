//! Finding: a text that is there is found, what is found is the text, and no place is guessed.

#![no_main]

use std::num::NonZeroUsize;

use libfuzzer_sys::fuzz_target;
use pi_toolbox::tools::edit::matching::{self, Edit, Matches, Mismatch};
use pi_toolbox::tools::edit::search::{Kind, Spot};
use pi_toolbox::tools::edit::view;

#[derive(Debug, arbitrary::Arbitrary)]
struct Input<'a> {
    content: &'a [u8],
    /// Old texts: slices of the content, or texts of their own.
    olds: Vec<(u8, u8, Option<&'a [u8]>)>,
    line: Option<NonZeroUsize>,
    all: bool,
}

fuzz_target!(|input: Input| {
    let content = view::with_lf(input.content).into_owned();
    let slice = |start: u8, length: u8| {
        let start = usize::from(start).min(content.len());
        &content[start..(start + usize::from(length)).min(content.len())]
    };
    let edits: Vec<_> = input
        .olds
        .iter()
        .map(|&(start, length, own)| Edit {
            line: input.line,
            all: input.all,
            ..Edit::new(own.unwrap_or_else(|| slice(start, length)), b"new")
        })
        .filter(|edit| !edit.old.is_empty())
        .collect();
    if edits.is_empty() {
        return;
    }
    match matching::find(input.content, &edits) {
        Ok(Matches { kind: Kind::Exact, found }) => {
            for place in &found {
                let there = view::with_lf(&input.content[byte(place.start)..byte(place.end)]);
                assert!(there == edits[place.edit].old || std::str::from_utf8(input.content).is_err());
            }
            assert!(found.windows(2).all(|pair| pair[0].end <= pair[1].start));
            covers_every_edit(found.iter().map(|place| place.edit), &edits, input.all);
        }
        Ok(Matches { found, .. }) => {
            assert!(found.windows(2).all(|pair| pair[0].end <= pair[1].start));
            covers_every_edit(found.iter().map(|place| place.edit), &edits, input.all);
        }
        Err(Mismatch::None { edit }) => {
            let old = &edits[edit].old;
            assert!(!content.windows(old.len()).any(|window| window == old), "it is there");
        }
        Err(Mismatch::Several { edit, count, lines }) => {
            assert!(edit < edits.len() && count > 1 && !lines.is_empty() && lines.len() <= count);
        }
        Err(Mismatch::NotOnLine { edit, line, lines, .. }) => {
            assert!(edit < edits.len() && !lines.contains(&line));
        }
        Err(Mismatch::Overlap { first, second }) => assert!(first != second || input.all),
    }
});

fn covers_every_edit(found: impl Iterator<Item = usize>, edits: &[Edit], all: bool) {
    let mut found: Vec<_> = found.collect();
    found.sort_unstable();
    if all {
        found.dedup();
    }
    assert!(found.into_iter().eq(0..edits.len()), "one place for each edit");
}

/// A place in the exact view, where a column is a number of bytes.
fn byte(spot: Spot) -> usize {
    spot.line_start + spot.column
}
