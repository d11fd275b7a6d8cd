//! The house rules that a compiler does not know: what only one place may do, and which way arrows point.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

/// Who may know whom: a module and the modules it may use. Nothing uses `bin`.
const LAYERS: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("json", &[]),
    ("cancel", &["error"]),
    ("message", &["error"]),
    ("context", &["error", "cancel", "fs"]),
    ("fs", &["error", "cancel", "context"]),
    ("tool", &["error", "cancel", "context", "fs", "json", "message"]),
    ("session", &["error", "cancel", "context", "fs", "json", "message"]),
    ("tools", &["error", "cancel", "context", "fs", "json", "message", "tool"]),
    ("cli", &["error", "cancel", "context", "fs", "json", "message", "session", "tool", "tools"]),
    ("bin", &["cli", "tools"]),
];

/// The files that hold `unsafe` code, each place with its SAFETY comment.
const UNSAFE: &[&str] = &["src/cli/signal.rs", "src/fs/process"];

#[test]
fn only_the_commands_print() {
    nowhere_but(&["src/cli", "src/bin"], r"\b(e?print(ln)?|dbg)!|\b(stdout|stderr)\(\)");
}

#[test]
fn only_the_commands_exit() {
    nowhere_but(&["src/cli", "src/bin"], r"\bprocess::(exit|abort)\b");
    // A forked child must leave without the parent's exit handlers.
    nowhere_but(&["src/fs/process"], r"\b_exit\(");
}

#[test]
fn only_the_context_asks_for_the_environment() {
    nowhere_but(
        &["src/context.rs"],
        r"\benv::(var|args|current_|set_|remove_|home_dir|temp_dir)|\benviron\b",
    );
}

#[test]
fn only_fs_process_starts_processes() {
    nowhere_but(
        &["src/fs/process"],
        r"\bstd::process::(Command|\{[^}]*Command)|\b(libc|unistd)::[^;]*\bv?fork\b|\bexecv[pe]*\(|\bposix_spawn",
    );
}

#[test]
fn only_fs_process_and_signals_kill() {
    nowhere_but(&["src/fs/process", "src/cli/signal.rs"], r"\bkillpg?\(|\braise\(");
}

#[test]
fn unsafe_code_is_rare_and_says_why_it_is_sound() {
    let pattern = Regex::new(r"\bunsafe\s*(\{|fn\b|impl\b|extern\b)").unwrap();
    // What a function asks of its caller stands where it is called; its own steps are blocks again.
    let declares = Regex::new(r"\bunsafe fn\b").unwrap();
    let mut faults = Vec::new();
    for source in sources() {
        let lines: Vec<_> = source.text.lines().collect();
        for (number, line) in source.code.lines().enumerate().filter(|(_, line)| pattern.is_match(line)) {
            let above = lines[..number].iter().rev();
            let comment = above.take_while(|line| !line.trim().is_empty()).take(8);
            if !source.is_under(UNSAFE) {
                faults.push(format!("{}:{}: unsafe code here: {line}", source.name, number + 1));
            } else if !declares.is_match(line)
                && !comment.into_iter().any(|line| line.contains("// SAFETY: "))
            {
                faults.push(format!("{}:{}: no SAFETY comment: {line}", source.name, number + 1));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn arrows_between_layers_point_down() {
    let arrow = Regex::new(r"\b(?:crate|pi_toolbox)::(?:\{([^}]*)\}|(\w+))").unwrap();
    let layers: BTreeMap<_, _> = LAYERS.iter().copied().collect();
    let mut faults = Vec::new();
    for source in sources() {
        let Some(allowed) = layers.get(source.layer()) else {
            // The crate's root only lists the layers.
            if source.name != "src/lib.rs" {
                faults.push(format!("{} belongs to no layer; add it to LAYERS", source.name));
            }
            continue;
        };
        for found in arrow.captures_iter(&source.code) {
            let targets = found.get(1).or(found.get(2)).map_or("", |targets| targets.as_str());
            for target in
                targets.split(',').map(|target| target.trim().split("::").next().unwrap_or_default())
            {
                let is_fine = target.is_empty() || target == source.layer() || allowed.contains(&target);
                if layers.contains_key(target) && !is_fine {
                    faults.push(format!("{} uses {target}", source.name));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_file_says_what_it_owns() {
    let silent: Vec<_> = sources().iter().filter(|source| !source.text.starts_with("//! ")).collect();
    assert!(silent.is_empty(), "no `//!` head: {:?}", names(&silent));
}

#[test]
fn a_command_is_named_in_its_first_line() {
    for source in sources().iter().filter(|source| source.layer() == "bin") {
        let name = Path::new(&source.name).file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(source.text.starts_with(&format!("//! {name}: ")), "{} does not name itself", source.name);
    }
}

#[test]
fn modules_have_names_that_say_something() {
    let vague = ["mod", "util", "utils", "helper", "helpers", "common", "misc", "manager", "core"];
    let named_so: Vec<_> = sources()
        .into_iter()
        .filter(|source| {
            Path::new(&source.name).iter().any(|part| {
                let part = part.to_string_lossy();
                vague.contains(&part.trim_end_matches(".rs"))
            })
        })
        .collect();
    assert!(named_so.is_empty(), "{:?}", names(&named_so));
}

#[test]
fn nothing_is_left_for_later() {
    let later =
        Regex::new(r"//.*\b(TODO|FIXME|XXX|HACK)\b|\b(todo|unimplemented)!|\(owner fills in\)").unwrap();
    let dead = Regex::new(r"allow\((dead_code|unused|clippy::all)").unwrap();
    let mut faults = Vec::new();
    for source in sources() {
        for (number, line) in source.text.lines().enumerate() {
            if later.is_match(line) || dead.is_match(line) {
                faults.push(format!("{}:{}: {}", source.name, number + 1, line.trim()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn nothing_committed_knows_where_it_was_made() {
    let here =
        Regex::new(r"/work/(main|shared)|/tmp/wt/|registry[-.]proxy|localhost:\d+/(index|simple)").unwrap();
    let faults: Vec<_> = committed()
        .into_iter()
        .filter(|name| !name.starts_with("tests/vectors/") && name != "tests/tidy.rs")
        .filter(|name| std::fs::read_to_string(root().join(name)).is_ok_and(|text| here.is_match(&text)))
        .collect();
    assert!(faults.is_empty(), "{faults:?}");
}

/// A file of the library or the commands.
struct Source {
    /// Its path in the repository.
    name: String,
    text: String,
    /// The text with comments, strings and tests blanked out, line by line as long as before.
    code: String,
}

impl Source {
    /// The module below the crate's root that it belongs to.
    fn layer(&self) -> &str {
        let inner = self.name.trim_start_matches("src/").trim_end_matches(".rs");
        inner.split('/').next().unwrap_or(inner)
    }

    /// Whether it is one of the files, or in one of the modules, that are named without `.rs`.
    fn is_under(&self, places: &[&str]) -> bool {
        places.iter().any(|place| {
            let rest = self.name.strip_prefix(place);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || rest == ".rs")
        })
    }
}

#[track_caller]
fn nowhere_but(places: &[&str], pattern: &str) {
    let pattern = Regex::new(pattern).unwrap();
    let mut faults = Vec::new();
    for source in sources().iter().filter(|source| !source.is_under(places)) {
        for (number, line) in source.code.lines().enumerate().filter(|(_, line)| pattern.is_match(line)) {
            faults.push(format!("{}:{}: {}", source.name, number + 1, line.trim()));
        }
    }
    assert!(faults.is_empty(), "only in {places:?}:\n{}", faults.join("\n"));
}

/// All sources but the files that hold nothing but unit tests.
fn sources() -> &'static [Source] {
    static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(read_sources);
    &SOURCES
}

fn read_sources() -> Vec<Source> {
    let mut files = Vec::new();
    collect(&root().join("src"), &mut files);
    files.retain(|file| !file.ends_with("tests.rs"));
    assert!(files.len() > 20, "the sources are not where they were");
    let source = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        Source { name, code: code_of(&text), text }
    };
    files.into_iter().map(source).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Blanks comments, string and character literals, and everything from the unit tests on.
fn code_of(text: &str) -> String {
    let tests = Regex::new(r"(?m)^#\[cfg\(test\)\]\nmod \w+ \{").unwrap();
    let text = tests.find(text).map_or(text, |tests| &text[..tests.start()]);
    let no_code = Regex::new(
        r###"(?x) //[^\n]* | r\#+"(?s:.*?)"\#+ | "(?:[^"\\]|\\(?s:.))*" | '(?:[^'\\\n]|\\[^\n]|\\u\{\w+\})' "###,
    );
    let blank = |found: &regex::Captures| found[0].replace(|c| c != '\n', " ");
    no_code.unwrap().replace_all(text, blank).into_owned()
}

fn committed() -> Vec<String> {
    let list =
        std::process::Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output().unwrap();
    let names = String::from_utf8(list.stdout).unwrap();
    names.split_terminator('\0').map(str::to_owned).collect()
}

fn names<'a>(sources: &[&'a Source]) -> Vec<&'a str> {
    sources.iter().map(|source| source.name.as_str()).collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn what_is_no_code_is_blanked() {
    let code = code_of(
        "let a = \"print!(\\\"\"; // dbg!(\nlet q = '\"'; exit();\n#[cfg(test)]\nmod tests {\n fork(); }",
    );
    assert!(!code.contains("print!") && !code.contains("dbg!") && !code.contains("fork"), "{code}");
    assert!(code.contains("exit();"), "{code}");
    assert_eq!(code.lines().count(), 2);
}
