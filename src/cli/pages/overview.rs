//! The page of the whole toolbox, pi-toolbox(7): the command contract in words.

use crate::error::Code;
use crate::tool::Example;
use crate::tool::declaration::schema_of;

/// The NAME line.
pub const ABOUT: &str = "the tools of the pi coding agent as small Unix commands";

/// What the toolbox is.
pub const DESCRIPTION: &[&str] = &[
    "Each command does one thing that a coding agent, a person or a shell script needs. It prints one JSON \
     value per job on standard output, speaks to people on standard error, and leaves with an exit status \
     that means something. Nothing asks questions, and nothing uses the network.",
    "The commands are the built-in tools of the pi coding agent with its formats and limits, made for pipes. \
     The library behind them is the crate `pi_toolbox`.",
];

/// A part of the contract: its title and paragraphs.
pub struct Section {
    /// The heading.
    pub title: &'static str,
    /// Its paragraphs.
    pub paragraphs: &'static [&'static str],
}

/// The contract that every command keeps.
pub const CONTRACT: &[Section] = &[
    Section {
        title: "OUTPUT",
        paragraphs: &[
            "One job gives one line of JSON: the tool's structured content. `-o result` prints the whole \
             result instead, with the content a model reads, the details a user interface shows, and whether \
             it is an error. `-o text` prints the model's text as it is, for people and pagers. On a terminal \
             JSON is laid out and coloured; in a pipe it never is.",
            "A job that failed is one line as well: `{\"error\": {\"code\": …, \"message\": …}}`, with the facts \
             of the case as further members. The message also goes to standard error, and the exit status is \
             not 0. Nothing else is printed on standard output.",
            "Paths are bytes. A name that is not UTF-8 appears in a readable form, and its bytes beside it in \
             base64.",
        ],
    },
    Section {
        title: "ARGUMENTS",
        paragraphs: &[
            "A job can be given in three ways that mean the same: as flags; as JSON with `--args JSON` or \
             `--args @FILE`, the arguments of a tool call as a model writes them; or as a stream with \
             `--args -`, where every JSON value on standard input is a job and gets its answer at once, so \
             that a command can serve as a co-process. The exit status of a stream is its worst one.",
            "JSON arguments are read with the leniency that models need: numbers given as text, null for what \
             is absent, and half surrogate pairs are accepted.",
            "`--schema` prints the tool's declaration: name, title, description, inputSchema, outputSchema, \
             promptSnippet, promptGuidelines. `-C DIR` resolves relative paths against DIR. In paths, a \
             leading `~` and `file://` are understood, and so is the `@` that models put in front.",
        ],
    },
    Section {
        title: "SIGNALS",
        paragraphs: &[
            "Interrupt and termination stop a job between two steps, never inside one: a file holds its old \
             content or its new, child processes are ended, locks are released, and the command dies of the \
             signal. A closed standard output ends a command quietly.",
        ],
    },
];

/// Exit statuses shared by the commands.
pub const EXIT_STATUSES: &[(&str, &str)] = &[
    ("0", "Done. pi-find(1) that finds nothing is done, too."),
    ("1", "The job failed, an edit did not apply, or pi-grep(1) found nothing."),
    ("2", "Bad usage or bad arguments: nothing was touched. For pi-grep(1), any error."),
    ("124", "pi-bash(1): the command ran into its timeout."),
    ("125", "pi-bash(1): the command could not be run."),
    (
        "128+N",
        "Signal N ended the command. pi-bash(1) otherwise leaves with the status of the command it ran.",
    ),
];

/// Variables that every command knows.
pub const ENVIRONMENT: &[(&str, &str)] = &[
    (
        "PI_OUTPUT",
        "What to print when `-o` does not say: `json`, `result` or `text`. Pipes between the commands need JSON: \
         give `-o json` where the variable may say otherwise.",
    ),
    ("NO_COLOR", "When set and not empty, JSON on a terminal is not coloured."),
    ("TERM", "When `dumb`, the same."),
    ("HOME", "What `~` in a path stands for."),
    ("TMPDIR", "Where temporary files go; `/tmp` when it is not set."),
    ("XDG_RUNTIME_DIR", "Where the locks are kept; a private directory in `TMPDIR` when it is not set."),
];

/// Files that commands share.
pub const FILES: &[(&str, &str)] = &[
    ("$XDG_RUNTIME_DIR/pi/locks", "One lock file per file that is being written."),
    ("$TMPDIR/pi-bash-*.log", "Output of a command that was too long for the answer, which names the file."),
];

/// Pipes to copy.
pub const PIPES: &[Example] = &[
    Example {
        purpose: "Rename a call in a whole tree, and show a diff for every file",
        command: "pi-grep 'old_name\\((\\w*)\\)' src --replace 'new_name($1)' |\n  pi-edit --args - | jq -r .diff",
    },
    Example {
        purpose: "See first what would change",
        command: "pi-grep 'old_name' src --replace 'new_name' |\n  pi-edit --dry-run --args - | jq -r .diff",
    },
    Example {
        purpose: "Count the lines of every file found, whatever its name",
        command: "pi-find -0 '*.rs' src | xargs -0 wc -l",
    },
    Example {
        purpose: "List the files that mention a word",
        command: "pi-grep TODO | jq -r '[.matches[].path] | unique[]'",
    },
    Example {
        purpose: "Go through a log page by page, as a model would",
        command: "pi-read --offset 2001 server.log -o text",
    },
    Example {
        purpose: "Run a command with a deadline and act on how it ended",
        command: "pi-bash --timeout 60 'make check' | jq '{exit_code, timed_out}'",
    },
];

/// How the tools differ from pi's, grouped; the cases are in `tests/departures.json`.
pub const COMPATIBILITY: &[&str] = &[
    "Names, arguments, limits, texts and results of the tools are those of pi 1.6, held to recordings of it. \
     They differ where pi's order is random, where a quirk of its runtime shows, or where it can lose data:",
    "Files are replaced as a whole and under a lock that holds across processes, so that neither a crash, a \
     full disk nor a second writer costs a byte. An old text of nothing but blanks is matched exactly. A \
     message that a text was not found goes on to say which lines are closest.",
    "pi-read does not show a byte order mark, takes a fraction of a line number for the whole line and a \
     negative limit for none, quotes the path in a command it suggests, and refuses to wait for pipes and \
     devices unless it is told for how long. A name that exists as typed wins over its tidied form.",
    "pi-find and pi-grep list and match in the order of the paths, leave out what lies inside .git, keep odd \
     names whole (blanks at the end, line breaks, bytes that are not UTF-8), show lines with U+2028, and go on \
     past a file they cannot read. pi-ls lists names that are not UTF-8.",
    "pi-bash gives the size of a long last line right, leaves PATH as it is, ends what a command started when \
     it is itself killed, and waits at most five seconds for background jobs that go on writing after the \
     shell has exited.",
    "The words of system errors differ; their symbols (ENOENT and the like) do not. Encoded images differ in \
     their bytes, not in their size or type.",
];

/// See also.
pub const SEE_ALSO: &[(&str, &str)] = &[("jq", "1"), ("rg", "1"), ("xargs", "1")];

/// The error codes and their meaning.
pub fn error_codes() -> Vec<(String, String)> {
    let schema = schema_of::<Code>();
    let codes = schema.get("oneOf").and_then(serde_json::Value::as_array).into_iter().flatten();
    codes
        .filter_map(|code| {
            let text = |key| code.get(key).and_then(serde_json::Value::as_str).map(str::to_owned);
            Some((text("const")?, text("description")?))
        })
        .collect()
}
