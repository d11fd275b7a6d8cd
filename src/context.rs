//! What a call may know of its process: the only place that asks for environment, cwd, home and clock.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::cancel::Cancel;
use crate::fs::{Backend, Local};

/// Everything a tool needs from outside its arguments. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    /// The tool's working directory: relative paths resolve against it. Absolute.
    pub cwd: PathBuf,
    /// The user's home directory, for `~`.
    pub home: Option<PathBuf>,
    /// Where temporary files go (`TMPDIR`, else `/tmp`).
    pub temp_dir: PathBuf,
    /// The environment that child processes inherit.
    pub environment: Arc<Environment>,
    /// Set when the call should stop.
    pub cancel: Cancel,
    /// Where files and processes live.
    pub backend: Arc<dyn Backend>,
    /// The running agent, when the call belongs to one.
    pub session: Option<Arc<Session>>,
    /// The clock for time stamps in messages.
    pub now: fn() -> SystemTime,
}

/// The agent session a tool call belongs to; `bash` shows it to its command as `PI_*` variables.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// Session id (`PI_SESSION_ID`).
    pub id: Option<String>,
    /// Session file (`PI_SESSION_FILE`); absent for a session in memory.
    pub file: Option<PathBuf>,
    /// Thinking level in force (`PI_REASONING_LEVEL`).
    pub thinking_level: Option<String>,
    /// The model that made the call.
    pub model: Option<Model>,
}

/// What a tool may know of the model it works for.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Provider name (`PI_PROVIDER`).
    pub provider: String,
    /// Model id (`PI_MODEL`).
    pub id: String,
    /// Whether the model takes images.
    pub takes_images: bool,
}

impl Context {
    /// The context of this process; `cwd` (from `-C`) is taken relative to the process's own.
    pub fn from_process(cwd: Option<&Path>) -> Self {
        let environment = Environment(std::env::vars_os().collect());
        let own_cwd = process_cwd(&environment);
        let home = environment.get("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let temp_dir = environment.temp_dir();
        Self {
            cwd: cwd.map_or_else(|| own_cwd.clone(), |cwd| own_cwd.join(cwd)),
            home,
            temp_dir,
            backend: Arc::new(Local::new(&environment)),
            environment: Arc::new(environment),
            cancel: Cancel::new(),
            session: None,
            now: SystemTime::now,
        }
    }

    /// The words of the command line, the command's own name first.
    pub fn arguments(&self) -> Vec<OsString> {
        std::env::args_os().collect()
    }

    /// The same context with another working directory.
    pub fn in_dir(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = cwd.into();
        self
    }
}

/// The variables of the process at start, in the order the system gave them.
#[derive(Clone, Debug, Default)]
pub struct Environment(Vec<(OsString, OsString)>);

impl Environment {
    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_os_str())
    }

    /// Where temporary files go: `TMPDIR`, else `/tmp`.
    pub fn temp_dir(&self) -> PathBuf {
        let named = self.get("TMPDIR").map(PathBuf::from).filter(|dir| dir.is_absolute());
        named.unwrap_or_else(|| PathBuf::from("/tmp"))
    }

    /// All variables.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(key, value)| (key.as_os_str(), value.as_os_str()))
    }
}

impl<K: Into<OsString>, V: Into<OsString>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        Self(variables.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

/// Bytes no other process can guess, for names of temporary files.
pub fn random_hex() -> io::Result<String> {
    let mut bytes = [0_u8; 8];
    let mut source = std::fs::File::open("/dev/urandom")?;
    io::Read::read_exact(&mut source, &mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The working directory, by the name the shell knows it under when it has been removed.
fn process_cwd(environment: &Environment) -> PathBuf {
    std::env::current_dir()
        .ok()
        .or_else(|| environment.get("PWD").map(PathBuf::from).filter(|dir| dir.is_absolute()))
        .unwrap_or_else(|| PathBuf::from("/"))
}
