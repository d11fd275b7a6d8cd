//! Truncation: what is kept is the head or tail of the text, whole lines, within both limits.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pi_toolbox::tool::truncate::{self, CUT_LINE_SUFFIX, Limit, Limits, Truncation};

fuzz_target!(|input: (&str, u8, u8)| {
    let (text, lines, bytes) = input;
    let limits = Limits { lines: lines.into(), bytes: bytes.into() };

    let head = truncate::head(text, limits);
    counts_hold(&head, text, limits);
    assert!(text.starts_with(&head.content));
    let rest = &text[head.content.len()..];
    assert!(rest.is_empty() || rest.starts_with('\n') || head.content.is_empty());

    let tail = truncate::tail(text, limits);
    counts_hold(&tail, text, limits);
    let body = if tail.truncated { text.strip_suffix('\n').unwrap_or(text) } else { text };
    assert!(text.ends_with(&tail.content) || body.ends_with(&tail.content));
    let before = &body[..body.len().saturating_sub(tail.content.len())];
    assert!(tail.last_line_partial || tail.content.is_empty() || before.is_empty() || before.ends_with('\n'));

    let (line, is_cut) = truncate::line(text, bytes.into());
    let kept = if is_cut { line.strip_suffix(CUT_LINE_SUFFIX).unwrap() } else { &line };
    assert!(text.starts_with(kept) && (is_cut || kept == text));
    assert!(kept.encode_utf16().count() <= bytes.into() || !is_cut);
});

fn counts_hold(record: &Truncation, text: &str, limits: Limits) {
    assert_eq!(record.truncated, record.truncated_by.is_some());
    assert_eq!(record.total_bytes, text.len() as u64);
    assert_eq!(record.total_lines, text.lines().count() as u64);
    assert_eq!(record.output_bytes, record.content.len() as u64);
    if !record.truncated {
        assert_eq!(record.content, text);
        return;
    }
    assert!(record.output_bytes <= limits.bytes);
    assert!(record.output_lines <= limits.lines);
    if record.truncated_by == Some(Limit::Bytes) {
        assert!(record.total_bytes > limits.bytes);
    }
}
