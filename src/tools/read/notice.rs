//! The text a model reads, and the notice at its end that says how to go on.

use std::fmt::Write as _;
use std::path::Path;

use super::lines::Selected;
use crate::fs::path;
use crate::tool::truncate::{Limit, MAX_BYTES, format_size};

/// The chosen text with a notice of what was left out, if anything was.
pub(super) fn with_notice(selected: &Selected, file: &Path, stopped_after: Option<f64>) -> String {
    let mut notices = Vec::new();
    notices.extend(left_out(selected, file));
    notices.extend(stopped_after.map(|seconds| format!("Stopped after {seconds} seconds, before the end.")));
    let content = &selected.text.content;
    match notices.as_slice() {
        [] => content.clone(),
        notices if selected.text.first_line_exceeds_limit => format!("[{}]", notices.join(". ")),
        notices => format!("{content}\n\n[{}]", notices.join(" ")),
    }
}

fn left_out(selected: &Selected, file: &Path) -> Option<String> {
    let Selected { first_line, file_lines, lines_left, text, .. } = selected;
    let max_bytes = format_size(MAX_BYTES);
    if text.first_line_exceeds_limit {
        return Some(format!(
            "Line {first_line} is {}, exceeds {max_bytes} limit. Use bash: sed -n '{first_line}p' {} | head -c {MAX_BYTES}",
            format_size(selected.first_line_bytes),
            quoted(file),
        ));
    }
    if text.truncated {
        let next = first_line + text.output_lines;
        let limit = match text.truncated_by {
            Some(Limit::Bytes) => format!(" ({max_bytes} limit)"),
            _ => String::new(),
        };
        let last = next - 1;
        return Some(format!(
            "Showing lines {first_line}-{last} of {file_lines}{limit}. Use offset={next} to continue."
        ));
    }
    let next = file_lines - lines_left + 1;
    (*lines_left > 0).then(|| format!("{lines_left} more lines in file. Use offset={next} to continue."))
}

/// A path as a shell takes it, quoted only where that is needed.
fn quoted(file: &Path) -> String {
    let bytes = path::bytes(file);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./,:+@%=-".contains(&byte);
    // sed would take it for an option.
    let dot = if bytes.first() == Some(&b'-') { "./" } else { "" };
    match file.to_str() {
        Some(text) if !bytes.is_empty() && bytes.iter().copied().all(is_plain) => format!("{dot}{text}"),
        Some(text) if !text.contains(char::is_control) => format!("'{dot}{}'", text.replace('\'', r"'\''")),
        _ => {
            let mut escaped = format!("$'{dot}");
            for &byte in bytes {
                match byte {
                    b'\'' | b'\\' => escaped.extend(['\\', char::from(byte)]),
                    b' '..=b'~' => escaped.push(char::from(byte)),
                    _ => {
                        let _ = write!(escaped, "\\{byte:03o}");
                    }
                }
            }
            escaped + "'"
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn paths_are_quoted_as_a_shell_needs_it() {
        let cases: [(&[u8], &str); 6] = [
            (b"src/a-b.rs", "src/a-b.rs"),
            (b"-n", "./-n"),
            (b"a b; rm $HOME", "'a b; rm $HOME'"),
            (b"it's", r"'it'\''s'"),
            ("naïve".as_bytes(), "'naïve'"),
            (b"\xffx'\n", r"$'\377x\'\012'"),
        ];
        for (name, shown) in cases {
            assert_eq!(quoted(Path::new(OsStr::from_bytes(name))), shown);
        }
    }
}
