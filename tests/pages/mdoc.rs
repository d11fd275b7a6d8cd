//! Text as mdoc(7), the language of manual pages. Only what our pages need.

use std::fmt::Write as _;

/// A page being written.
pub(super) struct Mdoc {
    text: String,
}

impl Mdoc {
    /// A page with its head and its NAME section.
    pub(super) fn new(name: &str, section: &str, about: &str, date: &str) -> Self {
        let title = name.to_uppercase();
        let version = env!("CARGO_PKG_VERSION");
        let text = format!(
            ".\\\" Made from the definition of the commands by tests/pages.rs; do not edit.\n\
             .Dd {date}\n.Dt {title} {section}\n.Os pi-toolbox {version}\n\
             .Sh NAME\n.Nm {name}\n.Nd {}\n",
            escaped(about)
        );
        Self { text }
    }

    pub(super) fn section(&mut self, title: &str) {
        let _ = writeln!(self.text, ".Sh {title}");
    }

    pub(super) fn subsection(&mut self, title: &str) {
        let _ = writeln!(self.text, ".Ss {title}");
    }

    /// Paragraphs of prose.
    pub(super) fn paragraphs<'a>(&mut self, paragraphs: impl IntoIterator<Item = &'a str>) {
        for (index, paragraph) in paragraphs.into_iter().enumerate() {
            if index > 0 {
                self.paragraph_break();
            }
            self.prose(paragraph);
        }
    }

    /// Prose, one sentence a line.
    pub(super) fn prose(&mut self, text: &str) {
        for sentence in sentences(text) {
            let line = marked(sentence);
            let guard = if line.starts_with(['.', '\'']) { "\\&" } else { "" };
            let _ = writeln!(self.text, "{guard}{line}");
        }
    }

    /// Terms with their meaning.
    pub(super) fn terms<'a>(&mut self, terms: impl IntoIterator<Item = (&'a str, &'a str)>) {
        self.list(|page| {
            for (term, meaning) in terms {
                page.item(&["Sy", term]);
                page.prose(meaning);
            }
        });
    }

    /// A line of macros and their arguments.
    pub(super) fn macros(&mut self, words: &[&str]) {
        let _ = writeln!(self.text, ".{}", macro_line(words));
    }

    /// The blank line between two paragraphs.
    pub(super) fn paragraph_break(&mut self) {
        self.text.push_str(".Pp\n");
    }

    /// A list of items that `fill` adds.
    pub(super) fn list(&mut self, fill: impl FnOnce(&mut Self)) {
        self.text.push_str(".Bl -tag -width Ds\n");
        fill(self);
        self.text.push_str(".El\n");
    }

    /// The head of a list's item: macros and words.
    pub(super) fn item(&mut self, words: &[&str]) {
        let _ = writeln!(self.text, ".It {}", macro_line(words));
    }

    /// Typed text, line by line.
    pub(super) fn code(&mut self, code: &str) {
        self.text.push_str(".Bd -literal -offset indent\n");
        for line in code.lines() {
            let guard = if line.starts_with(['.', '\'']) { "\\&" } else { "" };
            let _ = writeln!(self.text, "{guard}{}", escaped(line));
        }
        self.text.push_str(".Ed\n");
    }

    /// A shape of JSON: typed text that may be broken between words.
    pub(super) fn shape(&mut self, shape: &str) {
        let _ = writeln!(self.text, ".Bd -ragged -offset indent\n\\fB{}\\fP\n.Ed", escaped(shape));
    }

    /// References to other pages.
    pub(super) fn see_also(&mut self, pages: &[(&str, &str)]) {
        self.section("SEE ALSO");
        let mut pages = pages.to_vec();
        pages.sort_by_key(|(name, section)| (*section, *name));
        for (index, (name, section)) in pages.iter().enumerate() {
            let comma = if index + 1 < pages.len() { " ," } else { "" };
            let _ = writeln!(self.text, ".Xr {name} {section}{comma}");
        }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}

fn macro_line(words: &[&str]) -> String {
    let words = words.iter().map(|word| if is_macro(word) { (*word).to_owned() } else { argument(word) });
    words.collect::<Vec<_>>().join(" ")
}

/// The macros that our pages use; all other words are text.
fn is_macro(word: &str) -> bool {
    matches!(word, "Nm" | "Fl" | "Ar" | "Sy" | "Op" | "Cm" | ",")
}

/// A macro's argument: quoted, and never taken for a macro.
fn argument(word: &str) -> String {
    format!("\"{}\"", escaped(word).replace('"', "\\(dq"))
}

/// Prose with the words between backticks in bold.
fn marked(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts
        .map(|(index, part)| match index % 2 {
            0 => escaped(part),
            _ => format!("\\fB{}\\fP", escaped(part)),
        })
        .collect()
}

/// Text that means itself. Hyphens stay hyphens that can be searched for and copied.
fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, letter| {
        match letter {
            '\\' => out.push_str("\\e"),
            '-' => out.push_str("\\-"),
            '\'' => out.push_str("\\(aq"),
            '`' => out.push_str("\\(ga"),
            '^' => out.push_str("\\(ha"),
            '~' => out.push_str("\\(ti"),
            // Readable in every locale.
            '…' => out.push_str("..."),
            letter if letter.is_ascii() => out.push(letter),
            letter => {
                let _ = write!(out, "\\[u{:04X}]", u32::from(letter));
            }
        }
        out
    })
}

/// The sentences of a paragraph: cut behind a full stop that a blank and a capital letter follow.
fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while let Some(end) = end_of_sentence(rest) {
        found.push(rest[..end].trim_end());
        rest = rest[end..].trim_start();
    }
    found.push(rest);
    found.retain(|sentence| !sentence.is_empty());
    found
}

fn end_of_sentence(text: &str) -> Option<usize> {
    text.match_indices(['.', '?', '!', '\n']).map(|(at, _)| at + 1).find(|&end| {
        let starts_new = |c: char| c.is_uppercase() || c == '`';
        text[..end].ends_with('\n')
            || (text[end..].starts_with(' ') && text[end..].trim_start().starts_with(starts_new))
    })
}

#[test]
fn pages_text_means_itself() {
    let mut page = Mdoc::new("pi-x", "1", "do it", "December 1, 2026");
    page.section("DESCRIPTION");
    page.prose("A `--flag` it's ~/x. \\d stays. Then …\n'quoted'");
    page.macros(&["Op", "Fl", "o"]);
    let expected =
        "A \\fB\\-\\-flag\\fP it\\(aqs \\(ti/x. \\ed stays.\nThen ...\n\\(aqquoted\\(aq\n.Op Fl \"o\"\n";
    assert!(page.finish().ends_with(expected));
}
