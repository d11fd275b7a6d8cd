//! The supervisor as its parent sees it: start it, hear what it has to say, give it its one order.

mod child;

use std::fs::File;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{SigSet, SigmaskHow};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, fork};

use crate::fs::process::plan::Plan;
use crate::fs::process::{Command, PIPE};
use child::{Descriptors, Message, Order};

/// A supervisor process; when dropped without an order it ends everything.
pub(super) struct Supervisor {
    pid: Pid,
    /// `None` once it has said its last word or been given its order.
    link: Option<UnixStream>,
    command: Option<Pid>,
    has_exited: bool,
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
    /// It is gone.
    Lost,
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
                Ok((Self { pid: child, link: Some(link), command: None, has_exited: false }, reader))
            }
            ForkResult::Child => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// The descriptor that is readable when there is an event.
    pub(super) fn events(&self) -> Option<BorrowedFd<'_>> {
        self.link.as_ref().map(AsFd::as_fd)
    }

    /// The next event, if one has come.
    pub(super) fn next_event(&mut self) -> Option<Event> {
        let mut message = [0; Message::LEN];
        match self.link.as_mut()?.read(&mut message) {
            Ok(Message::LEN) => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                return None;
            }
            _ => {
                self.link = None;
                self.kill_group();
                return Some(Event::Lost);
            }
        }
        match Message::from_bytes(message) {
            (Message::STARTED, pid) => {
                self.command = Some(Pid::from_raw(pid));
                None
            }
            (Message::EXITED, status) => {
                self.has_exited = true;
                Some(Event::Exited(shell_status(ExitStatus::from_raw(status))))
            }
            (Message::NOT_ENTERED, errno) => Some(Event::NotEntered(io::Error::from_raw_os_error(errno))),
            (_, errno) => Some(Event::NotStarted(io::Error::from_raw_os_error(errno))),
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

    fn order(&mut self, order: u8) {
        if let Some(link) = &self.link {
            // Not `write`: a supervisor that has left already must not cost this process a SIGPIPE.
            // SAFETY: the buffer is one byte long and alive.
            unsafe { libc::send(link.as_raw_fd(), (&raw const order).cast(), 1, libc::MSG_NOSIGNAL) };
            self.wait();
            self.link = None;
        }
    }

    /// The supervisor was killed: the kernel ends the command itself, this what is in its group.
    fn kill_group(&mut self) {
        if let Some(command) = self.command.filter(|_| !self.has_exited) {
            let _ = nix::sys::signal::killpg(command, nix::sys::signal::Signal::SIGKILL);
        }
    }

    fn wait(&self) {
        while waitpid(self.pid, None) == Err(Errno::EINTR) {}
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The status a shell would show.
fn shell_status(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// A writer that is ahead waits less often; where the system has no room for that, so be it.
fn enlarge(pipe: &impl AsFd) {
    #[cfg(target_os = "linux")]
    let _ = fcntl(pipe, FcntlArg::F_SETPIPE_SZ(PIPE as i32));
}
