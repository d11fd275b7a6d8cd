//! A command as a co-process: written to and read from in turn, and asked to stop.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::harness::Run;

/// So long may an answer take on a machine that is busy with other things; none comes near it.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running command; killed when dropped.
pub struct Coprocess {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Coprocess {
    #[track_caller]
    pub fn start(run: Run<'_>) -> Self {
        let mut command = run.into_std();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines() {
                if line.is_ok_and(|line| sender.send(line).is_err()) {
                    break;
                }
            }
        });
        Self { stdin: child.stdin.take(), child, lines }
    }

    /// Writes text to its standard input.
    #[track_caller]
    pub fn send(&mut self, text: &str) {
        self.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// The next line of its standard output.
    #[track_caller]
    pub fn answer(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("no answer");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
    }

    /// Closes its standard input; its exit status when it has read that.
    #[track_caller]
    pub fn end(mut self) -> i32 {
        self.stdin = None;
        self.wait().code().expect("killed")
    }

    /// How it ended, having printed nothing more.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        let more = self.lines.recv_timeout(PATIENCE);
        assert_eq!(more, Err(std::sync::mpsc::RecvTimeoutError::Disconnected));
        self.child.wait().unwrap()
    }
}

impl Drop for Coprocess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
