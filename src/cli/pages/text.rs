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

/// pi-session-append.
pub const SESSION_APPEND: Text = Text {
    description: &[
        "The first entry hangs under the last one of the file, or where `--parent` says, and each further one \
         under the one before it, unless it names its parent itself. Any number of processes may append to \
         one session at once: every line is whole, and each process goes on under its own entries.",
        "An entry is one write under a lock, behind a line break where a crash left none, and printed when \
         the disk has it. How long this takes does not depend on the session's length. Only an entry that \
         brings its id along, `--parent` and `--label` have a long file read, once.",
        "A document that is no message and no entry is answered by a line with the error, and the others are \
         appended. A file that is not a session is refused. One of an older version is brought up to date \
         first, and its old content kept beside it.",
    ],
    environment: SESSION_VARIABLES,
    files: &[("FILE.bak", "What FILE held before it was brought up to date.")],
    see_also: &[("pi-session-branch", "1"), ("pi-session-fork", "1"), ("pi-call", "1"), ("jq", "1")],
};

/// pi-session-branch.
pub const SESSION_BRANCH: Text = Text {
    description: &[
        "Nothing is taken away: the branch that was left stays in the file, and one can go back to it.",
    ],
    environment: SESSION_VARIABLES,
    files: &[],
    see_also: &[("pi-session-append", "1"), ("pi-session-fork", "1")],
};

/// pi-session-fork.
pub const SESSION_FORK: Text = Text {
    description: &[
        "Where nothing was said before the message, the new session is empty but for its header. The file is \
         readable by its owner alone, and no file is overwritten.",
    ],
    environment: SESSION_VARIABLES,
    files: &[],
    see_also: &[("pi-session-branch", "1"), ("pi-session-append", "1")],
};

/// pi-session-show.
pub const SESSION_SHOW: Text = Text {
    description: &[
        "Entries stand in the order of the tree: the root first, the branches of a fork by their time. With \
         `--nested`, the branches of a fork are lists in the entry they hang under; after 64 forks one inside \
         the other, what follows is flat.",
        "`--path` and `--limit` together, without another filter, read only the end of the file, however long \
         it is. What the whole file would have to be read for is left out then: statistics, the name, depth, \
         number of children, lines, labels set elsewhere, and diagnostics.",
        "With `-o text` the tree is drawn: `*` is on the path to the leaf, `o` is not.",
    ],
    environment: SESSION_VARIABLES,
    files: SESSION_FILES,
    see_also: &[
        ("pi-session-list", "1"),
        ("pi-session-context", "1"),
        ("pi-session-check", "1"),
        ("jq", "1"),
    ],
};

/// pi-session-list.
pub const SESSION_LIST: Text = Text {
    description: &[
        "With `-o text`, each session is one row: last activity (UTC), id, messages, title, directory.",
    ],
    environment: SESSION_VARIABLES,
    files: SESSION_FILES,
    see_also: &[("pi-session-show", "1"), ("jq", "1")],
};

/// pi-session-context.
pub const SESSION_CONTEXT: Text = Text {
    description: &[
        "With `--llm`, messages have the roles user, assistant and toolResult only; all system messages \
         together make the prompt.",
        "The number of tokens is exact only right behind a reply; it is an estimate for what came later.",
    ],
    environment: SESSION_VARIABLES,
    files: SESSION_FILES,
    see_also: &[("pi-session-show", "1"), ("pi-tools", "1"), ("jq", "1")],
};

/// pi-session-check.
pub const SESSION_CHECK: Text = Text {
    description: &[
        "A mended copy holds every entry that can be read. Entries glued on one line get lines of their own, \
         an entry whose parent is missing hangs under the one before it, a cycle is cut, and of several \
         entries with one id the last is kept. All else keeps its bytes. Dangling pointers and calls without \
         results do no harm and stay.",
    ],
    environment: SESSION_VARIABLES,
    files: SESSION_FILES,
    see_also: &[("pi-session-show", "1"), ("jq", "1")],
};

const SESSION_VARIABLES: &[(&str, &str)] = &[
    ("PI_CODING_AGENT_SESSION_DIR", "Where sessions are, unless `--session-dir` says so."),
    ("PI_CODING_AGENT_DIR", "The agent directory; `~/.pi/agent` where the variable is not set."),
];

const SESSION_FILES: &[(&str, &str)] = &[
    (".pi/settings.json", "The project's settings; `sessionDir` says where sessions are."),
    ("~/.pi/agent/settings.json", "The user's settings, where the project's have no `sessionDir`."),
    ("~/.pi/agent/sessions", "Sessions, in a directory for each working directory."),
];

const LOCKS: (&str, &str) = (
    "$XDG_RUNTIME_DIR/pi/locks",
    "One lock file per file that is being written; a directory of the user's under `TMPDIR` where the \
     variable is not set.",
);
