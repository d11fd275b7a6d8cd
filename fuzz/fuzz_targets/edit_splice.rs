//! Splicing: the outcome, its line endings set aside, is that of replacing in the text without them;
//! bytes outside the replaced ones stay.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pi_toolbox::tools::edit::matching::{self, Edit, Matches};
use pi_toolbox::tools::edit::plan::Plan;
use pi_toolbox::tools::edit::search::{Kind, Spot};
use pi_toolbox::tools::edit::{splice, view};

#[derive(Debug, arbitrary::Arbitrary)]
struct Input<'a> {
    content: &'a str,
    edits: Vec<(u8, u8, &'a str)>,
    all: bool,
}

fuzz_target!(|input: Input| {
    let content = input.content.as_bytes();
    let text = view::with_lf(content).into_owned();
    let edits: Vec<_> = input
        .edits
        .iter()
        .map(|&(start, length, new)| {
            let start = usize::from(start).min(text.len());
            let end = (start + usize::from(length)).min(text.len());
            Edit { all: input.all, ..Edit::new(&text[start..end], new.as_bytes()) }
        })
        .filter(|edit| !edit.old.is_empty())
        .collect();
    if edits.is_empty() || content.starts_with(view::BOM) {
        return;
    }
    let Ok(matches) = matching::find(content, &edits) else { return };
    let replacements = splice::replacements(content, &edits, &matches);
    let outcome = splice::pieces(content, &replacements).concat();

    let mut kept_from = 0;
    let mut rest = outcome.as_slice();
    for replacement in &replacements {
        assert!(kept_from <= replacement.start && replacement.start <= replacement.end);
        rest = rest.strip_prefix(&content[kept_from..replacement.start]).expect("bytes before an edit stay");
        rest = rest.strip_prefix(replacement.with.as_slice()).expect("what comes is what was asked for");
        kept_from = replacement.end;
    }
    assert_eq!(rest, &content[kept_from..], "bytes behind the last edit stay");

    if let Matches { kind: Kind::Exact, found } = &matches {
        let mut expected = Vec::new();
        let mut from = 0;
        for place in found {
            let [before, old] =
                [&content[from..byte(place.start)], &content[byte(place.start)..byte(place.end)]];
            expected.extend_from_slice(&view::with_lf(before));
            assert_eq!(view::with_lf(old), edits[place.edit].old.as_slice());
            expected.extend_from_slice(&edits[place.edit].new);
            from = byte(place.end);
        }
        expected.extend_from_slice(&view::with_lf(&content[from..]));
        assert_eq!(view::with_lf(&outcome), expected.as_slice(), "as replacing in the text with LF alone");
    }
    if let Ok(plan) = Plan::new(content, &edits) {
        assert_eq!(plan.pieces(content).concat(), outcome);
        assert!(plan.diff.first_changed_line() >= 1);
        assert!(plan.diff.patch("f").starts_with("--- f\n+++ f\n"));
    }
});

/// A place in the exact view, where a column is a number of bytes.
fn byte(spot: Spot) -> usize {
    spot.line_start + spot.column
}
