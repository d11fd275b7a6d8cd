//! The recorded cases: reading them, laying out their input, counting how they went.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use pi_toolbox::cancel::Cancel;
use pi_toolbox::context::{Context, Environment};
use pi_toolbox::fs::Local;
use pi_toolbox::session::script_json::{Document, Value};

use super::compare;
use super::rules::Rules;

/// The clock of the tests, in milliseconds.
const NOW: u64 = 1_777_957_505_555;
const NOW_ISO: &str = "2026-05-05T05:05:05.555Z";
const NOW_IN_NAMES: &str = "2026-05-05T05-05-05-555Z";

/// Answers a case with JSON text in the form of its `expect`.
pub(super) type Run = fn(&Case<'_>) -> Vec<u8>;

/// One case with its input laid out in a fresh directory.
pub(super) struct Case<'v> {
    /// Its name.
    pub(super) name: String,
    /// The whole case.
    pub(super) value: Value<'v>,
    /// `{{DIR}}`: holds `session.jsonl` where the case has an input.
    pub(super) dir: tempfile::TempDir,
    /// How many `{{IDn}}` a migration has used up.
    input: Option<Vec<u8>>,
}

impl<'v> Case<'v> {
    /// The input's file.
    pub(super) fn file(&self) -> PathBuf {
        self.dir().join("session.jsonl")
    }

    /// `{{DIR}}`, without symbolic links.
    pub(super) fn dir(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    /// The input's bytes.
    pub(super) fn input(&self) -> &[u8] {
        self.input.as_deref().unwrap_or_default()
    }

    /// Lays the input out anew.
    pub(super) fn reset(&self) {
        if let Some(input) = &self.input {
            std::fs::write(self.file(), input).unwrap();
        }
    }

    /// A member of `args`.
    pub(super) fn arg(&self, name: &str) -> Option<Value<'v>> {
        self.value.get("args").and_then(|args| args.get(name))
    }

    /// Whether hashes and counts are wanted instead of lists.
    pub(super) fn is_hashed(&self) -> bool {
        self.arg("hash").is_some_and(Value::is_truthy)
    }

    /// A context with the vectors' home, directory and clock.
    pub(super) fn context(&self) -> Context {
        let cwd = self.dir().join("cwd");
        std::fs::create_dir_all(&cwd).unwrap();
        let environment: Environment = [("HOME", "/home/tester"), ("TZ", "UTC")].into_iter().collect();
        Context {
            cwd,
            home: Some(PathBuf::from("/home/tester")),
            temp_dir: self.dir(),
            backend: Arc::new(Local::new(&environment)),
            environment: Arc::new(environment),
            cancel: Cancel::new(),
            session: None,
            now,
        }
    }

    /// Puts the vectors' placeholders where our own paths and times stand.
    pub(super) fn with_placeholders(&self, text: &[u8]) -> Vec<u8> {
        let dir = self.dir().to_str().unwrap().to_owned();
        let encoded = dir[1..].replace('/', "-");
        let mut text = String::from_utf8(text.to_vec()).unwrap();
        for (ours, theirs) in [
            (format!("{dir}/cwd"), "{{CWD}}"),
            (format!("{encoded}-cwd"), "{{CWD-ENCODED}}"),
            (dir, "{{DIR}}"),
            (encoded, "{{DIR-ENCODED}}"),
            (NOW_ISO.to_owned(), "{{TS}}"),
            (NOW_IN_NAMES.to_owned(), "{{FTS}}"),
            (NOW.to_string(), "{{TSMS}}"),
        ] {
            text = text.replace(&ours, theirs);
        }
        text.into_bytes()
    }
}

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(NOW)
}

/// How the cases of an operation went.
#[derive(Default)]
pub(super) struct Outcome {
    operation: String,
    cases: usize,
    failures: Vec<String>,
    departures: usize,
    /// Cases of other layers, by reason.
    skipped: BTreeMap<&'static str, usize>,
}

impl Outcome {
    /// Prints the summary and fails the test where a case failed.
    #[track_caller]
    pub(super) fn report(self) {
        println!(
            "vectors sessions: {} cases, {} failed, {} departures ({})",
            self.cases,
            self.failures.len(),
            self.departures,
            self.operation
        );
        for (reason, count) in &self.skipped {
            println!("not for this layer: {count} cases of {} ({reason})", self.operation);
        }
        self.failures.iter().for_each(|failure| println!("{failure}"));
        assert!(self.cases > 0, "no case of {}", self.operation);
        assert!(self.failures.is_empty(), "{} of {} failed", self.failures.len(), self.cases);
    }
}

/// Runs all cases of an operation.
pub(super) fn run_all(operation: &str, run: Run) -> Outcome {
    let departures = departures();
    let mut outcome = Outcome { operation: operation.to_owned(), ..Outcome::default() };
    for path in files() {
        let bytes = std::fs::read(&path).unwrap();
        let document = Document::parse(&bytes[..]).unwrap();
        for value in document.root().elements().filter(|case| case.get("op").unwrap().is_str(operation)) {
            let case = lay_out(value, path.parent().unwrap());
            if let Some(reason) = other_layer(value) {
                *outcome.skipped.entry(reason).or_default() += 1;
                continue;
            }
            let stem = path.file_name().unwrap().to_str().unwrap().split('.').next().unwrap();
            outcome.cases += 1;
            let actual = case.with_placeholders(&run(&case));
            let actual = Document::parse(&actual[..]).unwrap_or_else(|error| {
                panic!("{}: {error}: {}", case.name, String::from_utf8_lossy(&actual))
            });
            let mut rules = Rules::new(operation, case.input());
            let difference =
                compare::difference(actual.root(), value.get("expect").unwrap(), "$", &mut rules);
            let id = format!("{stem}/{}", case.name);
            match (difference, departures.contains_key(&id)) {
                (None, false) => outcome.departures += usize::from(!rules.applied.is_empty()),
                (Some(_), true) => outcome.departures += 1,
                (Some(difference), false) => outcome.failures.push(format!("{id}: {difference}")),
                (None, true) => outcome.failures.push(format!("{id}: departs no longer")),
            }
        }
    }
    outcome
}

/// Why a case is not run here.
pub(super) fn other_layer(case: Value<'_>) -> Option<&'static str> {
    const COMPACTION: [&str; 12] = [
        "estimate",
        "prepare",
        "findCutPoint",
        "summarize",
        "serialize",
        "collect",
        "prepareBranch",
        "estimateContext",
        "contextUsage",
        "estimateTokens",
        "fileLists",
        "shouldCompact",
    ];
    let operation = case.get("op").unwrap().lossy().unwrap();
    let navs = case.get("args").and_then(|args| args.get("navs"));
    let summarizes = |nav: Value<'_>| {
        nav.get("options").and_then(|options| options.get("summarize")).is_some_and(Value::is_truthy)
    };
    if COMPACTION.contains(&&*operation) {
        Some("token estimates, cut points and summaries belong to the compaction layer")
    } else if operation == "cli" {
        Some("the program's own behaviour is tested with the program")
    } else if navs.is_some_and(|navs| navs.elements().any(summarizes)) {
        Some("a summary asks a model")
    } else {
        None
    }
}

/// Every operation of the vectors with how many of its cases are not for this layer, and all of them.
pub(super) fn operations() -> BTreeMap<String, (usize, usize)> {
    let mut found = BTreeMap::<String, (usize, usize)>::new();
    for path in files() {
        let bytes = std::fs::read(&path).unwrap();
        for case in Document::parse(&bytes[..]).unwrap().root().elements() {
            let counts = found.entry(case.get("op").unwrap().lossy().unwrap().into_owned()).or_default();
            counts.0 += usize::from(other_layer(case).is_some());
            counts.1 += 1;
        }
    }
    found
}

/// The departures by case, each with its reason.
fn departures() -> BTreeMap<String, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/departures-sessions.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The vector files: ours, the real sessions where they are, and those of `PI_VECTORS_EXTRA`.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("tests/vectors/sessions")];
    let real = std::env::var_os("PI_REAL_SESSIONS")
        .map_or_else(|| root.join("../shared/vectors/real-sessions"), PathBuf::from);
    if real.is_dir() {
        folders.push(real);
    } else {
        println!("real sessions skipped: {} is not there", real.display());
    }
    if let Some(extra) = std::env::var_os("PI_VECTORS_EXTRA").map(PathBuf::from) {
        folders.extend(
            ["sessions", "real-sessions"].map(|kind| extra.join(kind)).into_iter().filter(|dir| dir.is_dir()),
        );
    }
    let mut files: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    files
}

fn lay_out<'v>(value: Value<'v>, folder: &Path) -> Case<'v> {
    let name = value.get("name").unwrap().lossy().unwrap().into_owned();
    let input = if let Some(text) = value.get("session") {
        Some(text.text().unwrap().as_bytes().to_vec())
    } else if let Some(parts) = value.get("sessionParts") {
        Some(joined(parts))
    } else if let Some(encoded) = value.get("sessionBase64") {
        let encoded = encoded.lossy().unwrap().into_owned();
        Some(base64::engine::general_purpose::STANDARD.decode(encoded).unwrap())
    } else {
        value.get("file").map(|file| std::fs::read(folder.join(&*file.lossy().unwrap())).unwrap())
    };
    let case = Case { name, value, dir: tempfile::tempdir().unwrap(), input };
    case.reset();
    case
}

/// Texts and repeated texts as one.
pub(super) fn joined(parts: Value<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in parts.elements() {
        match part.get("repeat") {
            Some(repeat) => {
                let times = part.get("times").unwrap().number().unwrap() as usize;
                bytes.extend(repeat.text().unwrap().as_bytes().repeat(times));
            }
            None => bytes.extend_from_slice(part.text().unwrap().as_bytes()),
        }
    }
    bytes
}
