//! A fresh folder, home and temp dir per test, and commands run in them with nothing inherited.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use serde::de::DeserializeOwned;
use serde_json::Value;

/// A world of its own for one test; gone when dropped.
pub struct World {
    root: tempfile::TempDir,
}

impl World {
    pub fn new() -> Self {
        let root = tempfile::Builder::new().prefix("pi-test-").tempdir().unwrap();
        for dir in ["work", "home", "tmp", "run"] {
            std::fs::create_dir(root.path().join(dir)).unwrap();
        }
        Self { root }
    }

    /// The working directory of the commands.
    pub fn dir(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("work")
    }

    pub fn home(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("home")
    }

    pub fn temp(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("tmp")
    }

    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir().join(name)
    }

    /// Makes a file, parents included.
    pub fn file(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    #[track_caller]
    pub fn bytes(&self, name: impl AsRef<Path>) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    #[track_caller]
    pub fn text(&self, name: impl AsRef<Path>) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    /// Everything below the working directory, for failure reports and for "nothing was left".
    pub fn tree(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![self.dir()];
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
                let path = entry.path();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    open.push(path.clone());
                }
                found.push(path.strip_prefix(self.dir()).unwrap().to_string_lossy().into_owned());
            }
        }
        found.sort();
        found
    }

    /// A command of this project, by name.
    pub fn command(&self, name: &str) -> Run<'_> {
        let mut run = self.program(bin_dir().join(name));
        run.shown = name.to_owned();
        run
    }

    /// Any program.
    pub fn program(&self, program: impl AsRef<OsStr>) -> Run<'_> {
        let mut command = Command::new(&program);
        command.current_dir(self.dir()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.home()).env("TMPDIR", self.temp()).env("LANG", "C.UTF-8");
        command.env("XDG_RUNTIME_DIR", self.root.path().canonicalize().unwrap().join("run"));
        Run { world: self, command, shown: program.as_ref().to_string_lossy().into_owned(), stdin: None }
    }

    /// A shell script in which the commands of this project are on PATH.
    pub fn script(&self, script: &str) -> Run<'_> {
        let mut path = OsString::from(bin_dir());
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        self.program("bash").arg("-c").arg(script).env("PATH", path)
    }
}

/// Where the built commands are.
pub fn bin_dir() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_pi-read")).parent().unwrap().to_owned()
}

/// A command about to run.
pub struct Run<'w> {
    world: &'w World,
    command: Command,
    shown: String,
    stdin: Option<Vec<u8>>,
}

impl Run<'_> {
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        let _ = write!(self.shown, " {:?}", arg.as_ref());
        self.command.arg(arg);
        self
    }

    pub fn args<A: AsRef<OsStr>>(self, args: impl IntoIterator<Item = A>) -> Self {
        args.into_iter().fold(self, Run::arg)
    }

    /// The arguments as a model would send them.
    pub fn json(self, arguments: Value) -> Self {
        self.arg("--args").arg(arguments.to_string())
    }

    pub fn stdin(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(text.into());
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// The prepared `std` command, for tests that need the child itself.
    pub fn into_std(self) -> Command {
        self.command
    }

    /// Runs to the end.
    #[track_caller]
    pub fn run(self) -> Answer {
        self.run_into(Stdio::piped())
    }

    /// Runs to the end with its standard output going there.
    #[track_caller]
    pub fn run_into(mut self, stdout: impl Into<Stdio>) -> Answer {
        self.command.stdin(if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        self.command.stdout(stdout).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap_or_else(|error| panic!("{}: {error}", self.shown));
        // What it was given of pipes is its own now: nobody else may keep them open.
        self.command.stdout(Stdio::null());
        let writer = self.stdin.take().zip(child.stdin.take()).map(|(text, mut pipe)| {
            std::thread::spawn(move || {
                let _ = pipe.write_all(&text);
            })
        });
        let output = child.wait_with_output().unwrap();
        if let Some(writer) = writer {
            writer.join().unwrap();
        }
        let report = format!(
            "\ncommand: {}\nstatus: {:?}\nstdout: {}\nstderr: {}\ntree: {:?}\n",
            self.shown,
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
            self.world.tree(),
        );
        Answer { status: output.status, stdout: output.stdout, stderr: output.stderr, report }
    }
}

/// What a command did.
pub struct Answer {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    report: String,
}

impl Answer {
    /// Checks the exit status; 128 + N when signal N killed the command.
    #[track_caller]
    pub fn status(self, expected: i32) -> Self {
        let status = self.status.code().or(self.status.signal().map(|signal| 128 + signal));
        assert_eq!(status, Some(expected), "{}", self.report);
        self
    }

    /// Checks success, and that nobody was told anything.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert!(self.stderr.is_empty(), "words on stderr{}", self.report);
        self.status(0)
    }

    #[track_caller]
    pub fn stdout_is(self, expected: impl AsRef<[u8]>) -> Self {
        assert_eq!(
            String::from_utf8_lossy(&self.stdout),
            String::from_utf8_lossy(expected.as_ref()),
            "{}",
            self.report
        );
        self
    }

    #[track_caller]
    pub fn stderr_is(self, expected: &str) -> Self {
        assert_eq!(String::from_utf8_lossy(&self.stderr), expected, "{}", self.report);
        self
    }

    #[track_caller]
    pub fn stderr_has(self, part: &str) -> Self {
        assert!(String::from_utf8_lossy(&self.stderr).contains(part), "no {part:?} on stderr{}", self.report);
        self
    }

    /// The one line of JSON on stdout, into a strict type.
    #[track_caller]
    pub fn json<T: DeserializeOwned>(&self) -> T {
        let lines = self.lines::<T>();
        let [value] = <[T; 1]>::try_from(lines)
            .unwrap_or_else(|lines: Vec<T>| panic!("{} lines of JSON, not one{}", lines.len(), self.report));
        value
    }

    /// The one line of JSON on stdout, compared as a whole.
    #[track_caller]
    pub fn json_is(self, expected: Value) -> Self {
        let value: Value = self.json();
        assert_eq!(value, expected, "{}", self.report);
        self
    }

    /// The lines of JSON on stdout.
    #[track_caller]
    pub fn lines<T: DeserializeOwned>(&self) -> Vec<T> {
        let text = std::str::from_utf8(&self.stdout).unwrap_or_else(|_| panic!("not UTF-8{}", self.report));
        text.lines()
            .map(|line| {
                serde_json::from_str(line)
                    .unwrap_or_else(|error| panic!("{error} in {line:?}{}", self.report))
            })
            .collect()
    }

    /// Checks a failed job: its exit status, its error line on stdout, the same message on stderr.
    #[track_caller]
    pub fn fails(self, status: i32, code: &str, part: &str) -> Self {
        let value: Value = self.json();
        let error = &value["error"];
        assert_eq!(error["code"], code, "{}", self.report);
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.contains(part), "no {part:?} in the message{}", self.report);
        assert!(String::from_utf8_lossy(&self.stderr).contains(message), "not on stderr{}", self.report);
        self.status(status)
    }

    /// Everything about the run, for messages of further assertions.
    pub fn report(&self) -> &str {
        &self.report
    }
}
