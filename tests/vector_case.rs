//! A recorded case: what its folder holds before, what is called, and what has to come out.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub name: String,
    pub tool: String,
    pub args: Value,
    #[serde(default)]
    pub setup: Vec<Entry>,
    #[serde(default)]
    pub env: Map<String, Value>,
    pub cwd: Option<String>,
    #[serde(default)]
    pub options: Map<String, Value>,
    pub ctx: Option<Session>,
    pub abort_ms: Option<u64>,
    pub requires: Option<Requirement>,
    #[serde(default)]
    pub skip_validation: bool,
    #[serde(default)]
    pub unordered: bool,
    pub expect: Expect,
    #[serde(default)]
    pub files_after: Vec<After>,
    /// For people.
    #[serde(rename = "note")]
    pub _note: Option<String>,
}

impl Case {
    /// The name by which failures and departures are listed.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.tool, self.name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Requirement {
    Nonroot,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    pub session_id: Option<String>,
    pub session_file: Option<PathBuf>,
    pub thinking_level: Option<String>,
    pub model: Option<Model>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    pub provider: String,
    pub id: String,
    pub input: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    pub content: Option<Value>,
    pub details: Option<Value>,
    #[serde(rename = "structuredContent")]
    pub structured_content: Option<Value>,
    #[serde(rename = "isError", default)]
    pub is_error: bool,
    pub error: Option<Value>,
    pub error_regex: Option<String>,
    pub text_regex: Option<String>,
    pub image: Option<Pixels>,
    pub tmpfile: Option<TempFile>,
    /// Not looked at: our tests measure no time, the benchmarks do.
    #[serde(rename = "max_seconds")]
    pub _max_seconds: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Pixels {
    pub width: u32,
    pub height: u32,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TempFile {
    pub bytes: u64,
    pub sha256: String,
    pub mode: String,
}

/// A file as it has to be after the call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct After {
    pub path: String,
    pub content: Option<String>,
    pub base64: Option<String>,
    pub sha256: Option<String>,
    pub bytes: Option<u64>,
    pub mode: Option<String>,
    pub symlink: Option<String>,
    #[serde(default)]
    pub absent: bool,
    #[serde(default)]
    pub dir: bool,
}

/// A file as it is before the call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    path: Option<String>,
    path_base64: Option<String>,
    #[serde(default)]
    dir: bool,
    #[serde(default)]
    git_init: bool,
    symlink: Option<String>,
    hardlink: Option<String>,
    many: Option<Many>,
    mode: Option<String>,
    #[serde(flatten)]
    text: Text,
}

#[derive(Debug, Default, Deserialize)]
struct Text {
    content: Option<String>,
    base64: Option<String>,
    repeat: Option<Repeat>,
    numbered: Option<Numbered>,
    parts: Option<Vec<Text>>,
}

#[derive(Debug, Deserialize)]
struct Repeat {
    text: String,
    count: usize,
}

#[derive(Debug, Deserialize)]
struct Numbered {
    prefix: String,
    from: u64,
    to: u64,
    suffix: String,
}

#[derive(Debug, Deserialize)]
struct Many {
    prefix: String,
    from: u64,
    to: u64,
    suffix: String,
    #[serde(default)]
    pad: usize,
    #[serde(default)]
    content: String,
}

/// The folders of a case; gone when dropped.
pub struct Place {
    root: tempfile::TempDir,
    pub cwd: PathBuf,
    pub home: PathBuf,
    pub temp: PathBuf,
    pub runtime: PathBuf,
}

impl Place {
    /// Fresh folders that hold what the case wants to find.
    pub fn of(case: &Case) -> Self {
        // Small letters only: an absolute glob ignores case unless it holds a capital.
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("pi-vector-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let root = tempfile::Builder::new().prefix(&name).rand_bytes(0).tempdir().unwrap();
        let real = root.path().canonicalize().unwrap();
        let folder = |name: &str| {
            let path = real.join(name);
            std::fs::create_dir(&path).unwrap();
            path
        };
        let place = Self {
            cwd: folder("work"),
            home: folder("home"),
            temp: folder("tmp"),
            runtime: folder("run"),
            root,
        };
        std::fs::set_permissions(&place.runtime, PermissionsExt::from_mode(0o700)).unwrap();
        case.setup.iter().for_each(|entry| place.lay(entry));
        place
    }

    /// The folder of all the others.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// Puts the two directories in for their placeholders, and spells numbers and repetitions out.
    pub fn fill_in(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill_in_text(text)),
            Value::Array(items) => items.iter().map(|item| self.fill_in(item)).collect(),
            Value::Object(object) => match object.get("$repeat") {
                Some(repeat) => {
                    let Repeat { text, count } = Repeat::deserialize(repeat).unwrap();
                    Value::String(text.repeat(count))
                }
                None => object.iter().map(|(key, member)| (key.clone(), self.fill_in(member))).collect(),
            },
            other => other.clone(),
        }
    }

    pub fn fill_in_text(&self, text: &str) -> String {
        text.replace("{{CWD}}", self.cwd.to_str().unwrap()).replace("{{HOME}}", self.home.to_str().unwrap())
    }

    /// Where a path of the case lies.
    pub fn path(&self, path: &str) -> PathBuf {
        self.cwd.join(self.fill_in_text(path))
    }

    fn lay(&self, entry: &Entry) {
        let path = match &entry.path_base64 {
            Some(raw) => self.cwd.join(OsString::from_vec(STANDARD.decode(raw).unwrap())),
            None => self.path(entry.path.as_ref().unwrap()),
        };
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        if entry.git_init {
            git_init(&path);
        } else if entry.dir {
            std::fs::create_dir_all(&path).unwrap();
        } else if let Some(target) = &entry.symlink {
            symlink(self.fill_in_text(target), &path).unwrap();
        } else if let Some(existing) = &entry.hardlink {
            std::fs::hard_link(self.path(existing), &path).unwrap();
        } else if let Some(many) = &entry.many {
            many.lay_in(&path);
        } else {
            std::fs::write(&path, entry.text.bytes()).unwrap();
        }
        if let Some(mode) = &entry.mode {
            let mode = u32::from_str_radix(mode, 8).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        }
    }
}

impl Drop for Place {
    /// Folders that a case has made unreadable must not outlive it.
    fn drop(&mut self) {
        let _ = Command::new("chmod").args(["-R", "u+rwX"]).arg(self.root()).output();
    }
}

fn git_init(path: &Path) {
    let init = Command::new("git").args(["init", "-q", "-b", "main", "--template="]).arg(path).status();
    assert!(init.is_ok_and(|status| status.success()), "git is needed: apt-get install git");
}

impl Many {
    fn lay_in(&self, folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        for number in self.from..=self.to {
            let name = format!("{}{number:0width$}{}", self.prefix, self.suffix, width = self.pad);
            std::fs::write(folder.join(name), &self.content).unwrap();
        }
    }
}

impl Text {
    fn bytes(&self) -> Vec<u8> {
        if let Some(text) = &self.content {
            text.clone().into_bytes()
        } else if let Some(encoded) = &self.base64 {
            STANDARD.decode(encoded).unwrap()
        } else if let Some(Repeat { text, count }) = &self.repeat {
            text.repeat(*count).into_bytes()
        } else if let Some(Numbered { prefix, from, to, suffix }) = &self.numbered {
            (*from..=*to).map(|number| format!("{prefix}{number}{suffix}")).collect::<String>().into_bytes()
        } else {
            self.parts.iter().flatten().flat_map(Text::bytes).collect()
        }
    }
}
