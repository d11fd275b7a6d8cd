//! Properties of the whole: edits against a naive model of the rules, and what must hold for any bytes.

use icu_normalizer::ComposingNormalizer;
use proptest::prelude::*;
use proptest::sample::select;

use super::error::Cause;
use super::matching::{Edit, Mismatch};
use super::plan::Plan;
use super::view::{lossy_with_lf, with_lf};

/// What the rules say of edits, without any care for time, memory or line endings.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Text(String),
    None(usize),
    Several(usize),
    Overlap,
    Unchanged,
}

fn model(text: &str, edits: &[Edit]) -> Verdict {
    let old: Vec<String> = edits.iter().map(|edit| String::from_utf8(edit.old.clone()).unwrap()).collect();
    let new = |index: usize| String::from_utf8(edits[index].new.clone()).unwrap();
    let fuzzy = model_form(text);
    let in_fuzzy = |old: &str| {
        let form = model_form(old);
        fuzzy
            .find(old)
            .map(|at| (at, old.len()))
            .or_else(|| fuzzy.find(&form).filter(|_| !form.is_empty()).map(|at| (at, form.len())))
    };
    let is_fuzzy = old.iter().any(|old| !text.contains(old) && in_fuzzy(old).is_some());
    let base = if is_fuzzy { &fuzzy } else { text };
    let mut places = Vec::new();
    for (index, old) in old.iter().enumerate() {
        let place = if is_fuzzy { in_fuzzy(old) } else { text.find(old).map(|at| (at, old.len())) };
        let Some((at, length)) = place else { return Verdict::None(index) };
        let form = model_form(old);
        let look_alikes = if form.is_empty() { 0 } else { fuzzy.matches(&form).count() };
        let count =
            base.matches(old.as_str()).count().max(fuzzy.matches(old.as_str()).count()).max(look_alikes);
        if count > 1 {
            return Verdict::Several(count);
        }
        places.push((at, length, index));
    }
    places.sort_by_key(|place| place.0);
    if places.windows(2).any(|pair| pair[0].0 + pair[0].1 > pair[1].0) {
        return Verdict::Overlap;
    }
    // Lines that no edit touches come from the text, the others from the view.
    let mut result = String::new();
    let mut start = 0;
    for (line, original) in base.split('\n').zip(text.split('\n')) {
        let content_end = start + line.len();
        let end = base.len().min(content_end + 1);
        let touching = places.iter().filter(|(from, length, _)| *from < end && from + length > start);
        let mut copied = start;
        let mut is_touched = false;
        for &(from, length, index) in touching {
            is_touched = true;
            if from >= start {
                result.push_str(&base[copied..from]);
                result.push_str(&new(index));
            }
            copied = (from + length).min(end);
        }
        match is_touched {
            true => result.push_str(&base[copied..end]),
            false => {
                result.push_str(original);
                result.push_str(&base[content_end..end]);
            }
        }
        start = end;
    }
    if result == text { Verdict::Unchanged } else { Verdict::Text(result) }
}

fn model_form(text: &str) -> String {
    let normal = ComposingNormalizer::new_nfkc().normalize(text);
    let lines = normal.split('\n').map(|line| {
        let line = line.trim_end_matches(|c: char| c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}'));
        line.replace(['‘', '’', '‚', '‛'], "'")
            .replace(['“', '”', '„', '‟'], "\"")
            .replace(['‐', '‑', '–', '—', '−'], "-")
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn verdict(content: &[u8], edits: &[Edit]) -> Verdict {
    match Plan::new(content, edits) {
        Ok(plan) => {
            Verdict::Text(String::from_utf8(with_lf(&plan.pieces(content).concat()).into_owned()).unwrap())
        }
        Err(Cause::Unchanged) => Verdict::Unchanged,
        Err(Cause::Mismatch(Mismatch::None { edit }, _)) => Verdict::None(edit),
        Err(Cause::Mismatch(Mismatch::Several { count, .. }, _)) => Verdict::Several(count),
        Err(Cause::Mismatch(Mismatch::Overlap { .. }, _)) => Verdict::Overlap,
        Err(other) => panic!("{other:?}"),
    }
}

/// Text of few different pieces, so that they repeat, look alike and meet line breaks.
fn pieces(most: usize) -> impl Strategy<Value = String> {
    let piece = select(vec![
        "a", "b", "ab", "x1", "'", "’", "\"", "“", "-", "—", " ", "\u{a0}", "\t", "é", "e\u{301}", "ﬁ", "fi",
        "Ａ", "A", "数", "\u{feff}", "\u{85}", "\n", "\n", "\r\n", "\r",
    ]);
    prop::collection::vec(piece, 0..most).prop_map(|pieces| pieces.concat())
}

/// A content, and edits of which most are cut out of it.
fn jobs() -> impl Strategy<Value = (String, Vec<(String, String)>)> {
    let cut = (any::<prop::sample::Index>(), 1..12_usize, pieces(4), any::<bool>());
    (pieces(60), prop::collection::vec((cut, pieces(5)), 1..4)).prop_map(|(content, cuts)| {
        let marks: Vec<usize> = content.char_indices().map(|(at, _)| at).chain([content.len()]).collect();
        let edits = cuts.into_iter().map(|((index, length, other, is_fuzzy), new)| {
            let from = index.index(marks.len());
            let old = &content[marks[from]..marks[(from + length).min(marks.len() - 1)]];
            let old = if old.is_empty() {
                other
            } else if is_fuzzy {
                model_form(std::str::from_utf8(&with_lf(old.as_bytes())).unwrap())
            } else {
                old.to_owned()
            };
            (if old.is_empty() { "a".to_owned() } else { old }, new)
        });
        let edits = edits.collect();
        (content, edits)
    })
}

fn edits_of(pairs: &[(String, String)]) -> Vec<Edit> {
    pairs.iter().map(|(old, new)| Edit::new(old.as_bytes(), new.as_bytes())).collect()
}

/// Applies a unified patch to a text whose line breaks are LF.
fn patched(text: &str, patch: &str) -> String {
    let old: Vec<&str> = text.split_inclusive('\n').collect();
    let mut result = String::new();
    let mut at = 0;
    let mut rows = patch.split_inclusive('\n').skip(2).peekable();
    while let Some(row) = rows.next() {
        if let Some(range) = row.strip_prefix("@@ -") {
            let (start, rest) = range.split_once(',').unwrap();
            let count: usize = rest.split_once(' ').unwrap().0.parse().unwrap();
            let start = start.parse::<usize>().unwrap() - usize::from(count > 0);
            old[at..start].iter().for_each(|line| result.push_str(line));
            at = start;
            continue;
        }
        let is_cut = rows.next_if(|next| next.starts_with('\\')).is_some();
        let line = if is_cut { row[1..].strip_suffix('\n').unwrap() } else { &row[1..] };
        if !row.starts_with('+') {
            assert_eq!(old[at], line);
            at += 1;
        }
        if !row.starts_with('-') {
            result.push_str(line);
        }
    }
    old[at..].iter().for_each(|line| result.push_str(line));
    result
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn an_edit_is_a_replacement_in_the_text_with_lf((content, pairs) in jobs()) {
        let edits = edits_of(&pairs);
        let body = content.strip_prefix('\u{feff}').unwrap_or(&content);
        let text = String::from_utf8(with_lf(body.as_bytes()).into_owned()).unwrap();
        let mark = if body.len() < content.len() { "\u{feff}" } else { "" };
        let expected = match model(&text, &edits) {
            Verdict::Text(text) => Verdict::Text(format!("{mark}{text}")),
            other => other,
        };
        prop_assert_eq!(verdict(content.as_bytes(), &edits), expected);
    }

    #[test]
    fn the_patch_leads_from_the_old_text_to_the_new((content, pairs) in jobs()) {
        let content = content.trim_start_matches('\u{feff}').as_bytes();
        if let Ok(plan) = Plan::new(content, &edits_of(&pairs)) {
            let text = |bytes: &[u8]| String::from_utf8(with_lf(bytes).into_owned()).unwrap();
            let new = text(&plan.pieces(content).concat());
            prop_assert_eq!(patched(&text(content), &plan.diff.patch("f")), new);
        }
    }

    #[test]
    fn lines_before_and_behind_keep_their_bytes(
        before in pieces(20), behind in pieces(20), stray in any::<[u8; 3]>(), new in pieces(4),
    ) {
        let content = [before.as_bytes(), &stray, b"\nZ unique\n", &stray, behind.as_bytes()].concat();
        let edits = [Edit::new(b"Z unique", [b"Y", new.as_bytes()].concat().as_slice())];
        let result = Plan::new(&content, &edits).unwrap().pieces(&content).concat();
        let (front, back) = (before.len() + 4, behind.len() + 4);
        prop_assert_eq!(&result[..front], &content[..front]);
        prop_assert_eq!(&result[result.len() - back..], &content[content.len() - back..]);
    }

    #[test]
    fn a_fuzzy_edit_keeps_stray_bytes_of_its_line(before in "[a-c]{0,4}", stray in 0x80..=0xFF_u8, more in any::<bool>()) {
        let stray: &[u8] = if more { &[stray, stray] } else { &[stray] };
        prop_assume!(std::str::from_utf8(stray).is_err());
        let content = [before.as_bytes(), stray, "\u{fffd}“q”".as_bytes(), stray, b"  \n"].concat();
        let result = Plan::new(&content, &[Edit::new(b"\"q\"", b"Q")]).unwrap().pieces(&content).concat();
        prop_assert_eq!(result, [before.as_bytes(), stray, "\u{fffd}Q".as_bytes(), stray, b"\n"].concat());
    }

    #[test]
    fn a_stray_byte_shown_as_fffd_is_replaced_alone(before in pieces(8), stray in 0xF8..=0xFF_u8) {
        let content = [b"x", before.as_bytes(), &[stray], b"\r\n", &[stray], b"!"].concat();
        let result = Plan::new(&content, &[Edit::new("\u{fffd}!".as_bytes(), b"?")]).unwrap().pieces(&content).concat();
        prop_assert_eq!(result, [b"x", before.as_bytes(), &[stray], b"\r\n?"].concat());
    }

    #[test]
    fn all_replaces_as_often_as_the_text_is_there(content in pieces(60), old in "[ab’\n]{1,2}") {
        let edit = Edit { all: true, ..Edit::new(old.as_bytes(), b"<new>") };
        let body = content.trim_start_matches('\u{feff}');
        let text = String::from_utf8(with_lf(body.as_bytes()).into_owned()).unwrap();
        let count = text.matches(&old).count();
        if count == 0 {
            return Ok(());
        }
        let plan = Plan::new(body.as_bytes(), &[edit]).unwrap();
        prop_assert_eq!(plan.count, count);
        let result = plan.pieces(body.as_bytes()).concat();
        prop_assert_eq!(with_lf(&result).into_owned(), text.replace(&old, "<new>").into_bytes());
    }

    #[test]
    fn a_whole_line_is_found_by_its_number(content in pieces(60), index in any::<prop::sample::Index>()) {
        let content = content.trim_start_matches('\u{feff}').as_bytes();
        let text = lossy_with_lf(content).into_owned();
        let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
        let at = index.index(lines.len());
        if lines[at].is_empty() {
            return Ok(());
        }
        let edit = Edit { line: std::num::NonZeroUsize::new(at + 1), ..Edit::new(lines[at], b"<new>") };
        let result = Plan::new(content, &[edit]).unwrap().pieces(content).concat();
        lines[at] = b"<new>";
        prop_assert_eq!(with_lf(&result).into_owned(), lines.join(&b'\n'));
    }

    #[test]
    fn any_bytes_are_edited_or_refused(
        content in prop::collection::vec(select(b"ab \n\r\xff\xe2\x80\x9c\xef\xbb\xbf\xcc\x81".to_vec()), 0..60),
        edits in prop::collection::vec(
            (prop::collection::vec(select(b"ab \n\r\xff\xe2\x80\x9c\"".to_vec()), 0..5), "[a\n]{0,3}", 0..6_usize, any::<bool>()),
            0..4,
        ),
    ) {
        let edits: Vec<Edit> = edits.into_iter().map(|(old, new, line, all)| Edit {
            line: std::num::NonZeroUsize::new(line),
            all,
            ..Edit::new(&old, new.as_bytes())
        }).collect();
        match Plan::new(&content, &edits) {
            Ok(plan) => {
                prop_assert_ne!(plan.pieces(&content).concat(), content);
                prop_assert!(!plan.diff.numbered().is_empty() && plan.diff.first_changed_line() > 0);
            }
            Err(cause) => {
                let error = super::error::Error { path: "f".to_owned(), edits: edits.len(), cause };
                prop_assert!(!crate::error::Error::from(error).message.is_empty());
            }
        }
    }
}
