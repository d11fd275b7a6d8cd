//! What only a manual page says of a command: the paragraphs behind the tool's own description.
//!
//! Words between backticks are set as typed text. Limits are not repeated here: the description that
//! comes first is formatted from their constants.

/// The words of one page.
pub struct Text {
    /// Paragraphs that follow the tool's description.
    pub description: &'static [&'static str],
    /// Variables that matter to this command beside the common ones.
    pub environment: &'static [(&'static str, &'static str)],
    /// Files the command makes or reads beside those it is told.
    pub files: &'static [(&'static str, &'static str)],
    /// Pages to read next: name and section.
    pub see_also: &'static [(&'static str, &'static str)],
}

/// pi-read.
pub const READ: Text = Text {
    description: &[
        "Lines are counted from 1 and end at a line feed; a carriage return is content. Bytes that are not \
         UTF-8 appear as U+FFFD.",
        "Memory use does not depend on the size of the file or of its lines. A regular file is read up to \
         the size it had when it was opened, so that a growing log has an end; a pipe or a device is read \
         until it ends or `--timeout` is over.",
    ],
    environment: &[],
    files: &[],
    see_also: &[("pi-grep", "1"), ("pi-ls", "1"), ("sed", "1"), ("head", "1")],
};

/// pi-write.
pub const WRITE: Text = Text {
    description: &[
        "The file is replaced in one step: a reader sees the old content or the new, whatever happens to \
         the writer. Mode, owner and extended attributes are kept as far as the system permits, and \
         symbolic links are followed. A file with several hard links, or in a directory that may not be \
         written, is written in place.",
        "Writers of one file wait for each other, whatever name they use for it and whatever process they \
         run in.",
    ],
    environment: &[],
    files: &[LOCKS],
    see_also: &[("pi-edit", "1"), ("tee", "1")],
};

/// pi-edit.
pub const EDIT: Text = Text {
    description: &[
        "When a text is not found as it stands, it is looked up once more with those differences set aside \
         that models make: compatibility forms of characters, white space at the end of lines, and \
         typographic quotes, dashes and spaces. Only the lines that an edit touches are rewritten. All \
         other bytes stay: line endings, a byte order mark, and what is not UTF-8.",
        "In an edit, `line` picks the occurrence that starts on that line, and `all` replaces every \
         occurrence. Such edits are what pi-grep(1) prints with `--replace`; pipe them into \
         `pi-edit --args -`, and with `--atomic` either all files change or none does.",
        "A file that changes while an edit is under way is matched anew, or refused with the code \
         `conflict`. What another program wrote is not overwritten unseen.",
    ],
    environment: &[],
    files: &[LOCKS],
    see_also: &[("pi-grep", "1"), ("pi-write", "1"), ("patch", "1"), ("sed", "1")],
};

/// pi-bash.
pub const BASH: Text = Text {
    description: &[
        "There is no timeout unless one is given. When it is over, or pi-bash is interrupted or killed, the \
         whole group is killed. The call ends soon after the shell does, even if a quiet child in the \
         background still holds its output open.",
        "The exit status is the command's own. A command can also leave with 124 itself: `timed_out` in \
         the answer tells the two apart.",
    ],
    environment: &[
        ("AI_AGENT, PI_CODING_AGENT", "Set for the command, to `pi` and `true`."),
        (
            "PI_SESSION_ID, PI_SESSION_FILE, PI_PROVIDER, PI_MODEL, PI_REASONING_LEVEL",
            "Set for the command when it runs for an agent's session, and removed otherwise.",
        ),
    ],
    files: &[(
        "$TMPDIR/pi-bash-*.log",
        "The whole output, readable by its owner alone, when the answer could not hold it. The answer names it.",
    )],
    see_also: &[("bash", "1"), ("timeout", "1"), ("env", "1")],
};

/// pi-ls.
pub const LS: Text = Text {
    description: &[
        "The order is that of a dictionary, without regard to case. A link is listed as such, with its \
         target; one that leads nowhere is listed, too.",
    ],
    environment: &[],
    files: &[],
    see_also: &[("pi-find", "1"), ("ls", "1")],
};

/// pi-find.
pub const FIND: Text = Text {
    description: &[
        "A pattern without a slash is compared with the last part of a name, at any depth; one with a slash \
         with the path from the search directory on. An all-lower-case pattern ignores case.",
        "Finding nothing is no failure. For names that hold blanks or line breaks, `-0` feeds xargs(1).",
    ],
    environment: &[],
    files: &[],
    see_also: &[("pi-grep", "1"), ("pi-ls", "1"), ("fd", "1"), ("find", "1"), ("xargs", "1")],
};

/// pi-grep.
pub const GREP: Text = Text {
    description: &[
        "Regular expressions, ignore files and the recognition of binary files are those of rg(1); no \
         configuration of the user's is read. Matches come in the order of paths and lines, whatever the \
         threads did, and the search stops when the limit is reached.",
        "With `--replace`, every file with matches gives one document of edits in place of the matches: the \
         arguments of pi-edit(1). In the template, `$1` and `${name}` stand for what a group matched, and \
         `$$` for a dollar sign.",
    ],
    environment: &[],
    files: &[],
    see_also: &[("pi-edit", "1"), ("pi-find", "1"), ("pi-read", "1"), ("rg", "1"), ("grep", "1")],
};

/// pi-tools.
pub const TOOLS: Text = Text {
    description: &["A declaration is what a model must know of a tool to call it."],
    environment: &[],
    files: &[],
    see_also: &[("pi-call", "1"), ("jq", "1")],
};

/// pi-call.
pub const CALL: Text = Text {
    description: &[
        "The calls run side by side; calls that write the same file wait for each other in the order of the \
         message. The answers come in that order too. A call of an unknown tool, or with unusable \
         arguments, gets an answer that says so.",
    ],
    environment: &[],
    files: &[],
    see_also: &[("pi-tools", "1"), ("pi-bash", "1"), ("jq", "1")],
};

/// pi-session-export.
pub const SESSION_EXPORT: Text = Text {
    description: &[
        "`--format` and `--to` say what is written and where; `-o` says what is printed. `-o json`, the \
         default, prints one line about the file that was written, `-o text` its path alone. `-o html` and \
         `-o md` print the document itself and write no file: they are short for `--format` with `--to -`. A \
         failure is then told on standard error alone, as with `-o text`.",
        "The file is replaced in one step, and never is it the session. The page opens at the leaf; what is \
         behind the `#` of its address chooses otherwise: `entry=ID`, `filter=NAME` (`default`, `no-tools`, \
         `user`, `labelled`, `all`) and `search=WORDS`. In the page, `/` goes to the search.",
        "In Markdown, what users and models wrote stays Markdown. `<` and links to anything but the web are \
         escaped where they are not certainly code.",
    ],
    environment: &[],
    files: &[LOCKS],
    see_also: &[("jq", "1"), ("less", "1")],
};

const LOCKS: (&str, &str) = (
    "$XDG_RUNTIME_DIR/pi/locks",
    "One lock file per file that is being written; a directory of the user's under `TMPDIR` where the \
     variable is not set.",
);
