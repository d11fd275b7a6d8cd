//! The supervisor as its parent sees it: start it, hear what it has to say, give it its one order.

mod child;

use std::fs::File;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::PollFlags;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, killpg};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork};

use crate::fs::process::plan::Plan;
use crate::fs::process::{Command, PIPE};
use child::{Descriptors, Message, Order};

/// The supervisor has said all it has to say before there is an order. What it says before that
/// wakes nobody: a needless wake-up is a good part of what a short command costs.
#[cfg(target_os = "linux")]
const END_OF_WORDS: PollFlags = PollFlags::from_bits_retain(libc::POLLRDHUP);
#[cfg(not(target_os = "linux"))]
const END_OF_WORDS: PollFlags = PollFlags::POLLIN;

/// A supervisor process; when dropped without an order it ends everything.
pub(super) struct Supervisor {
    pid: Pid,
    link: UnixStream,
    command: Option<Pid>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The command runs.
    Running,
    /// The command has exited and left something behind.
    Exited,
    /// The supervisor is gone.
    Over,
}

/// What a supervisor says.
#[derive(Debug)]
pub(super) enum Event {
    /// The working directory could not be entered.
    NotEntered(io::Error),
    /// The program could not be run.
    NotStarted(io::Error),
    /// The command exited; 128 + N when signal N killed it.
    Exited(u8),
}

impl Supervisor {
    /// Starts a command under a supervisor; its output comes through the pipe.
    pub(super) fn start(command: &Command) -> io::Result<(Self, PipeReader)> {
        let plan = Plan::new(command)?;
        let null = File::open("/dev/null")?;
        let (reader, writer) = io::pipe()?;
        fcntl(&reader, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        enlarge(&writer);
        let (link, supervisors_link) = UnixStream::pair()?;
        link.set_nonblocking(true)?;
        let descriptors = Descriptors {
            null: null.as_raw_fd(),
            output: writer.as_raw_fd(),
            link: supervisors_link.as_raw_fd(),
        };
        // No handler of ours may run in the child: it shares descriptors with this process.
        let mask = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
        // SAFETY: the child calls `supervise` alone, which does async-signal-safe things only, on
        // memory that is ready, and never returns.
        let forked = unsafe {
            let forked = fork();
            if let Ok(ForkResult::Child) = forked {
                child::supervise(&plan, descriptors);
            }
            forked
        };
        mask.thread_set_mask()?;
        match forked? {
            ForkResult::Parent { child } => {
                Ok((Self { pid: child, link, command: None, state: State::Running }, reader))
            }
            ForkResult::Child => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// The descriptor and the poll events that tell of an event.
    pub(super) fn events(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        (self.state == State::Running).then(|| (self.link.as_fd(), END_OF_WORDS))
    }

    /// The event, if one has come.
    pub(super) fn next_event(&mut self) -> Option<Event> {
        loop {
            let mut message = [0; Message::LEN];
            match self.link.read(&mut message) {
                Ok(Message::LEN) => {}
                Ok(_) => return Some(self.last_event()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return None,
            }
            match Message::from_bytes(message) {
                (Message::STARTED, pid) => self.command = Some(Pid::from_raw(pid)),
                (Message::EXITED, status) => {
                    self.state = State::Exited;
                    return Some(Event::Exited(status as u8));
                }
                (Message::NOT_ENTERED, errno) => return Some(Event::NotEntered(system_error(errno))),
                (_, errno) => return Some(Event::NotStarted(system_error(errno))),
            }
        }
    }

    /// Ends everything the command started, and waits for that.
    pub(super) fn kill(&mut self) {
        self.order(Order::KILL);
    }

    /// Lets live what the command left behind.
    pub(super) fn detach(&mut self) {
        self.order(Order::DETACH);
    }

    /// The supervisor left without a word: its exit status is the command's, and nothing is left.
    fn last_event(&mut self) -> Event {
        match self.wait() {
            Ok(WaitStatus::Exited(_, status)) => Event::Exited(status as u8),
            _ => {
                // Somebody killed it. The kernel ends the command itself then, this the others.
                if let Some(command) = self.command {
                    let _ = killpg(command, Signal::SIGKILL);
                }
                Event::Exited(128 + Signal::SIGKILL as u8)
            }
        }
    }

    fn order(&mut self, order: u8) {
        if self.state != State::Over {
            // Not `write`: a supervisor that has left already must not cost this process a SIGPIPE.
            // SAFETY: the buffer is one byte long and alive.
            unsafe { libc::send(self.link.as_raw_fd(), (&raw const order).cast(), 1, libc::MSG_NOSIGNAL) };
            let _ = self.wait();
        }
    }

    fn wait(&mut self) -> nix::Result<WaitStatus> {
        self.state = State::Over;
        loop {
            match waitpid(self.pid, None) {
                Err(Errno::EINTR) => {}
                result => return result,
            }
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.kill();
    }
}

fn system_error(errno: i32) -> io::Error {
    io::Error::from_raw_os_error(errno)
}

/// A writer that is ahead waits less often; where the system has no room for that, so be it.
fn enlarge(pipe: &impl AsFd) {
    #[cfg(target_os = "linux")]
    let _ = fcntl(pipe, FcntlArg::F_SETPIPE_SZ(PIPE as i32));
}
