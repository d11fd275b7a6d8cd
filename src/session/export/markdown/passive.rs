//! Foreign text in a Markdown file: it stays what it is, and none of it becomes HTML or a link that runs.

use std::io::{self, Write};

/// Text in a fence that is longer than any run of backticks in it.
pub(super) fn fence(text: &str, language: &str, out: &mut dyn Write) -> io::Result<()> {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    // A lone carriage return would be a line ending of its own.
    let text = text.replace("\r\n", "\n").replace('\r', "\u{240d}");
    let feed = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    write!(out, "\n{fence}{language}\n{text}{feed}{fence}\n")
}

/// Text on one line in which no character means anything.
pub(super) fn plain(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split(|letter: char| letter.is_whitespace() || letter.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        for letter in word.chars() {
            match letter {
                '<' => line.push_str("&lt;"),
                '&' => line.push_str("&amp;"),
                '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '!' => line.extend(['\\', letter]),
                _ => line.push(letter),
            }
        }
    }
    line
}

/// Markdown as it was written, but for what could be active: `<` and links to anything but the web are
/// escaped. Where it is certain that a text is code, it stays as it is; where it is not, it is escaped.
pub(super) fn passive(text: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    let mut state = State::default();
    for line in text.replace("\r\n", "\n").split(['\n', '\r']) {
        writeln!(out, "{}", state.line(line))?;
    }
    match state.fence {
        Some(fence) => writeln!(out, "{}", fence.0.to_string().repeat(fence.1)),
        None => Ok(()),
    }
}

/// What Markdown takes for blank; a line with anything else goes on with its paragraph.
const BLANK: [char; 2] = [' ', '\t'];

#[derive(Default)]
struct State {
    /// The fence that is open: its character and length.
    fence: Option<(char, usize)>,
    /// An odd fence was seen: where code begins and ends is not certain any more.
    is_unsure: bool,
    /// A backtick in this paragraph still looks for its partner.
    is_open: bool,
}

impl State {
    fn line(&mut self, line: &str) -> String {
        let run = fence_of(line);
        if let Some((mark, length)) = self.fence {
            let closes = run.is_some_and(|run| {
                run.mark == mark && run.length >= length && run.info.trim_matches(BLANK).is_empty()
            });
            if closes {
                self.fence = None;
            }
            return line.to_owned();
        }
        if line.trim_matches(BLANK).is_empty() {
            self.is_open = false;
            return line.to_owned();
        }
        match run {
            Some(run) if run.is_at_start && !self.is_unsure => {
                self.is_open = false;
                if run.mark == '~' || !run.info.contains('`') {
                    self.fence = Some((run.mark, run.length));
                    return [&line[..run.length], &escape(run.info)].concat();
                }
            }
            Some(_) => self.is_unsure = true,
            // A fence inside a list or a quote.
            None => self.is_unsure |= line.contains("```") || line.contains("~~~"),
        }
        self.spans(line)
    }

    /// A line with its code spans left alone, where it is certain that they are spans.
    fn spans(&mut self, line: &str) -> String {
        // A table cuts spans into cells, and a backslash may hide a backtick.
        let is_odd = self.is_unsure || self.is_open || line.contains('|') || line.contains("\\`");
        let mut done = String::with_capacity(line.len());
        let mut rest = line;
        while let Some(start) = rest.find('`') {
            let length = rest[start..].len() - rest[start..].trim_start_matches('`').len();
            let behind = &rest[start + length..];
            let Some(end) = partner(behind, length) else {
                self.is_open = true;
                break;
            };
            done.push_str(&escape(&rest[..start]));
            let span = &rest[start..start + length + end + length];
            done.push_str(&if is_odd { escape(span) } else { span.to_owned() });
            rest = &behind[end + length..];
        }
        if line.contains("\\`") {
            self.is_open = true;
        }
        done + &escape(rest)
    }
}

struct Fence<'l> {
    mark: char,
    length: usize,
    info: &'l str,
    is_at_start: bool,
}

fn fence_of(line: &str) -> Option<Fence<'_>> {
    let inner = line.trim_start_matches(' ');
    let mark = inner.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let info = inner.trim_start_matches(mark);
    let length = inner.len() - info.len();
    let indent = line.len() - inner.len();
    (length >= 3 && indent <= 3).then_some(Fence { mark, length, info, is_at_start: indent == 0 })
}

/// Where the run of exactly that many backticks begins.
fn partner(text: &str, length: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        let start = at + found;
        let run = text[start..].len() - text[start..].trim_start_matches('`').len();
        if run == length {
            return Some(start);
        }
        at = start + run;
    }
    None
}

/// Escapes what could be HTML or a link to something else than the web.
fn escape(text: &str) -> String {
    let mut done = String::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        let rest = &text[at + letter.len_utf8()..];
        match letter {
            '<' => done.push_str("&lt;"),
            ']' if rest.starts_with(':') => done.push_str("\\]"),
            ']' if rest.starts_with('(') && !is_harmless(&rest[1..]) => done.push_str("\\]"),
            '\0' => done.push('\u{fffd}'),
            _ => done.push(letter),
        }
    }
    done
}

/// Whether a link's target is an address on the web, or a name without any scheme.
fn is_harmless(target: &str) -> bool {
    let target = target.split([')', ' ']).next().unwrap_or_default();
    let is_web = ["http://", "https://", "mailto:"].iter().any(|scheme| target.starts_with(scheme));
    is_web
        || !(target.is_empty()
            || target.contains([':', '&', '\\', '<', '\t'])
            || target.contains(char::is_control))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        passive(text, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn fences_are_longer_than_what_they_hold() {
        let mut out = Vec::new();
        fence("a\n`````\n</details>", "x", &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "\n``````x\na\n`````\n</details>\n``````\n");
    }

    #[test]
    fn code_stays_and_html_does_not() {
        for (text, expected) in [
            ("a <b>", "\na &lt;b>\n"),
            ("`Vec<u8>` and <i>", "\n`Vec<u8>` and &lt;i>\n"),
            ("```rs\nVec<u8>\n```\n<b>", "\n```rs\nVec<u8>\n```\n&lt;b>\n"),
            ("```\n<b>", "\n```\n<b>\n```\n"),
            (
                "[a](javascript:x) [b](https://c) [d](e.rs)",
                "\n[a\\](javascript:x) [b](https://c) [d](e.rs)\n",
            ),
            ("[a]: javascript:x", "\n[a\\]: javascript:x\n"),
        ] {
            assert_eq!(written(text), expected, "{text}");
        }
    }

    #[test]
    fn what_may_be_code_or_not_is_escaped() {
        for text in [
            "a ` b\n` <script> `",
            "`a | <script> ` | b",
            "\\`a <script> `",
            "  ```\n```\n<script>",
            "- a\n  ```\n<script>",
            "> ```\n<script>",
            "``` `\n<script>",
            "`` a ` <script>",
            "```\na\n    ```\n```\n<script>",
            "`\n\u{c}\n` <script> `",
            "```\na\n```\u{c}\n```\n<script>",
            "[a](\njavascript:x) <script>",
        ] {
            assert!(!written(text).contains("<script"), "{text}");
        }
    }
}
