//! Running a command with everything it starts under control: own session, deadline, no survivors.
//!
//! A small supervisor process stands between this one and the command: it adopts what the command
//! orphans, so that it can end all of it, and it does so by itself when this process dies, `kill -9`
//! included. What a command leaves running when it ends by itself is left running.

mod orphans;
mod plan;
mod supervisor;

use std::ffi::OsString;
use std::io::{self, PipeReader, Read};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::cancel::Cancel;
use crate::error::{Code, Fault, describe};
use supervisor::{Event, Supervisor};

/// How long the output of what outlives the command must be quiet for the call to end.
const QUIET: Duration = Duration::from_millis(100);
/// How long such output is taken when the command has no timeout.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes read at once, at first and once a command writes much: most never touch the larger block.
const BLOCKS: [usize; 2] = [4 * 1024, 128 * 1024];
/// What a pipe holds at most; more than that after the end comes from something that got away.
const PIPE: usize = 1024 * 1024;
/// How often a wait asks for a cancellation that cannot wake it.
const BLIND_WAIT: Duration = Duration::from_millis(50);

/// What to run.
#[derive(Clone, Debug)]
pub struct Command {
    /// The program, an absolute path.
    pub program: PathBuf,
    /// Its arguments, without its own name.
    pub arguments: Vec<OsString>,
    /// Its working directory.
    pub cwd: PathBuf,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// When it must have ended.
    pub timeout: Option<Duration>,
}

/// Takes stdout and stderr of a command in arrival order, as they come.
pub trait Output {
    /// Takes the next bytes.
    fn write(&mut self, bytes: &[u8]);

    /// When [`Output::tick`] should be called, whether output comes or not.
    fn due(&self) -> Option<Instant> {
        None
    }

    /// The time that [`Output::due`] named has come.
    fn tick(&mut self) {}
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Why the wait was over.
    pub cause: Cause,
    /// The exit of the command itself; absent when it was killed with the rest.
    pub exit: Option<Exit>,
    /// From start to end of the call.
    pub wall_time: Duration,
}

/// The exit of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Its status; 128 + N when signal N killed it.
    pub status: u8,
    /// How long after the start.
    pub after: Duration,
}

/// Why the wait for a command was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It exited.
    Exited,
    /// It exited, but what it left behind was still writing when the patience for that ran out.
    Abandoned,
    /// Its time was up; everything it had started is gone.
    TimedOut,
    /// The call was cancelled; everything it had started is gone.
    Cancelled,
}

/// Why a command did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its working directory could not be entered.
    #[error("{}, chdir '{}'", describe(.source), .cwd.display())]
    Enter {
        /// The directory.
        cwd: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The program could not be run.
    #[error("{}, spawn '{}'", describe(.source), .program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Fault for StartError {
    fn code(&self) -> Code {
        Code::NotStarted
    }
}

/// See [`crate::fs::Backend::run`].
pub fn run(command: &Command, output: &mut dyn Output, cancel: &Cancel) -> Result<Ended, StartError> {
    let started = Instant::now();
    let spawn_error = |source| StartError::Spawn { program: command.program.clone(), source };
    let (supervisor, pipe) = Supervisor::start(command).map_err(spawn_error)?;
    let mut watch = Watch {
        started,
        deadline: command.timeout.and_then(|timeout| started.checked_add(timeout)),
        supervisor,
        pipe: Some(pipe),
        block: vec![0; BLOCKS[0]],
        exit: None,
        last_sign: started,
    };
    let cause = watch.until_over(output, cancel).map_err(|failure| match failure {
        Failure::Enter(source) => StartError::Enter { cwd: command.cwd.clone(), source },
        Failure::Spawn(source) => spawn_error(source),
    })?;
    match cause {
        Cause::Exited | Cause::Abandoned => watch.supervisor.detach(),
        Cause::TimedOut | Cause::Cancelled => {
            watch.supervisor.kill();
            watch.drain(output);
        }
    }
    Ok(Ended { cause, exit: watch.exit, wall_time: started.elapsed() })
}

/// A running command.
struct Watch {
    started: Instant,
    deadline: Option<Instant>,
    supervisor: Supervisor,
    /// Its output, until the end of that.
    pipe: Option<PipeReader>,
    block: Vec<u8>,
    exit: Option<Exit>,
    /// When it last wrote or exited.
    last_sign: Instant,
}

enum Failure {
    Enter(io::Error),
    Spawn(io::Error),
}

#[derive(Default)]
struct Ready {
    output: bool,
    event: bool,
}

impl Watch {
    fn until_over(&mut self, output: &mut dyn Output, cancel: &Cancel) -> Result<Cause, Failure> {
        loop {
            // The clock is read before the look at the pipe: silence since then is real silence.
            let now = Instant::now();
            let wake = [self.over_at(), output.due()].into_iter().flatten().min();
            let ready = self.wait(wake.map(|wake| wake.saturating_duration_since(now)), cancel);
            if ready.output {
                self.read(output);
            }
            if ready.event {
                self.take_event()?;
            }
            if output.due().is_some_and(|due| due <= Instant::now()) {
                output.tick();
            }
            if cancel.is_cancelled() {
                return Ok(Cause::Cancelled);
            }
            if let Some(cause) = self.cause(now, ready.output) {
                return Ok(cause);
            }
        }
    }

    /// Why the wait is over at `now`, if it is.
    fn cause(&self, now: Instant, is_writing: bool) -> Option<Cause> {
        let has_passed = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if self.exit.is_some() && (self.pipe.is_none() || (!is_writing && self.last_sign + QUIET <= now)) {
            return Some(Cause::Exited);
        }
        if has_passed(self.deadline) {
            return Some(Cause::TimedOut);
        }
        has_passed(self.patience_ends()).then_some(Cause::Abandoned)
    }

    /// The next time at which the wait can be over without another event.
    fn over_at(&self) -> Option<Instant> {
        let quiet_at = self.exit.map(|_| self.last_sign + QUIET);
        [self.deadline, self.patience_ends(), quiet_at].into_iter().flatten().min()
    }

    fn patience_ends(&self) -> Option<Instant> {
        let exit = self.exit.filter(|_| self.deadline.is_none())?;
        Some(self.started + exit.after + PATIENCE)
    }

    fn wait(&self, timeout: Option<Duration>, cancel: &Cancel) -> Ready {
        let wake = cancel.wake_fd();
        let timeout = match wake {
            Some(_) => timeout,
            None => Some(timeout.map_or(BLIND_WAIT, |timeout| timeout.min(BLIND_WAIT))),
        };
        let timeout = timeout.map_or(PollTimeout::NONE, |timeout| {
            PollTimeout::try_from(timeout.as_nanos().div_ceil(1_000_000)).unwrap_or(PollTimeout::MAX)
        });
        let readable = |fd| (fd, PollFlags::POLLIN);
        let pipe = self.pipe.as_ref().map(AsFd::as_fd);
        let fds = [pipe.map(readable), self.supervisor.events(), wake.map(readable)];
        let mut polled: Vec<PollFd<'_>> =
            fds.iter().flatten().map(|(fd, events)| PollFd::new(*fd, *events)).collect();
        // An interrupted wait is one that found nothing.
        if poll(&mut polled, timeout).unwrap_or(0) <= 0 {
            return Ready::default();
        }
        // `None` stands for an event that nix has no name for, as is the end of a supervisor's words.
        let mut found = polled.iter().map(|fd| fd.any().unwrap_or(true));
        let mut is_ready = |is_polled: bool| is_polled && found.next().unwrap_or(false);
        Ready { output: is_ready(fds[0].is_some()), event: is_ready(fds[1].is_some()) }
    }

    /// Hands on what has come; the count of bytes.
    fn read(&mut self, output: &mut dyn Output) -> usize {
        let Some(pipe) = &mut self.pipe else { return 0 };
        match pipe.read(&mut self.block) {
            Ok(0) => self.pipe = None,
            Ok(count) => {
                self.last_sign = Instant::now();
                output.write(&self.block[..count]);
                if count == self.block.len() {
                    self.block.resize(BLOCKS[1], 0);
                }
                return count;
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => self.pipe = None,
        }
        0
    }

    fn take_event(&mut self) -> Result<(), Failure> {
        let status = match self.supervisor.next_event() {
            None => return Ok(()),
            Some(Event::NotEntered(source)) => return Err(Failure::Enter(source)),
            Some(Event::NotStarted(source)) => return Err(Failure::Spawn(source)),
            Some(Event::Exited(status)) => status,
        };
        self.last_sign = Instant::now();
        self.exit = Some(Exit { status, after: self.last_sign - self.started });
        Ok(())
    }

    /// Takes what is in the pipe, now that nobody writes any more.
    fn drain(&mut self, output: &mut dyn Output) {
        let mut taken = 0;
        while taken < PIPE {
            match self.read(output) {
                0 => return,
                count => taken += count,
            }
        }
    }
}

#[cfg(test)]
mod tests;
