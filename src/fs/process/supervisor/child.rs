//! The supervisor itself, and the command until it is another program.
//!
//! All of this runs in a forked copy of a process that may have threads: nothing here may allocate,
//! lock or panic. Only async-signal-safe calls, on memory made before the fork.

use std::io;
use std::ptr;

use libc::{c_int, pid_t};

use crate::fs::process::orphans;
use crate::fs::process::plan::Plan;

/// Where the supervisor's end of the link is kept.
const LINK: c_int = 3;
/// Whether orphans come to the supervisor.
const ADOPTS: bool = cfg!(target_os = "linux");
/// How long it waits for killed processes to be gone.
const KILL_SECONDS: i64 = 3;
/// How long it sleeps between two looks at them.
const KILL_PAUSE_NANOSECONDS: i64 = 20_000_000;

/// The descriptors to start with.
#[derive(Clone, Copy)]
pub(super) struct Descriptors {
    pub(super) null: c_int,
    pub(super) output: c_int,
    pub(super) link: c_int,
}

/// What the supervisor says to its parent: a kind and a number.
pub(super) struct Message;

impl Message {
    pub(super) const LEN: usize = 8;
    /// The process id of the command.
    pub(super) const STARTED: i32 = 1;
    /// The error number of `chdir`.
    pub(super) const NOT_ENTERED: i32 = 2;
    /// The error number of `execve`, or of what comes before it.
    pub(super) const NOT_STARTED: i32 = 3;
    /// The exit status of the command, when it left something behind. When it did not, the supervisor
    /// has nothing to stay for and exits with that status itself.
    pub(super) const EXITED: i32 = 4;

    pub(super) fn from_bytes([a, b, c, d, e, f, g, h]: [u8; Self::LEN]) -> (i32, i32) {
        (i32::from_ne_bytes([a, b, c, d]), i32::from_ne_bytes([e, f, g, h]))
    }

    fn to_bytes(kind: i32, value: i32) -> [u8; Self::LEN] {
        let ([a, b, c, d], [e, f, g, h]) = (kind.to_ne_bytes(), value.to_ne_bytes());
        [a, b, c, d, e, f, g, h]
    }
}

/// What the parent tells the supervisor; the end of the link means [`Order::KILL`].
pub(super) struct Order;

impl Order {
    /// End everything.
    pub(super) const KILL: u8 = b'k';
    /// Leave everything as it is.
    pub(super) const DETACH: u8 = b'd';
}

/// The life of the supervisor.
///
/// # Safety
/// For a process that was forked just now with all signals blocked, and for nothing else.
pub(super) unsafe fn supervise(plan: &Plan, descriptors: Descriptors) -> ! {
    // SAFETY: system calls on valid arguments; see the head of this file.
    unsafe {
        // A session of its own: a signal to the parent's group or from its terminal is not for it.
        libc::setsid();
        if arrange(descriptors).is_none() {
            tell(descriptors.link, Message::NOT_STARTED, errno());
            libc::_exit(0);
        }
        adopt_orphans();
        notice_exits();
        let status = match start_command(plan) {
            -1 => {
                tell(LINK, Message::NOT_STARTED, errno());
                0
            }
            command => watch(command),
        };
        libc::_exit(status)
    }
}

/// The process id of the command, which is another program by then, or -1.
#[cfg(target_os = "linux")]
unsafe fn start_command(plan: &Plan) -> pid_t {
    /// More than the few calls before `execve` need, aligned as a stack must be.
    type Stack = [u128; 2048];
    extern "C" fn start(plan: *mut libc::c_void) -> c_int {
        // SAFETY: `plan` is the one given to `clone`, and the parent waits until it is done with.
        unsafe { become_command(&*plan.cast::<Plan>()) }
    }
    let mut stack = std::mem::MaybeUninit::<Stack>::uninit();
    // SAFETY: as in `supervise`. The memory is shared, as a copy of it is what makes a fork slow, but
    // not the stack; and until the child is another program this process stands still.
    unsafe {
        let top = stack.as_mut_ptr().add(1).cast();
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        libc::clone(start, top, flags, ptr::from_ref(plan).cast_mut().cast())
    }
}

/// The process id of the command, or -1.
#[cfg(not(target_os = "linux"))]
unsafe fn start_command(plan: &Plan) -> pid_t {
    // SAFETY: as in `supervise`.
    match unsafe { libc::fork() } {
        0 => unsafe { become_command(plan) },
        command => command,
    }
}

/// 0 is empty, 1 and 2 are the output, 3 is the link; no other descriptor of the parent stays open.
unsafe fn arrange(descriptors: Descriptors) -> Option<()> {
    // Out of the way first: the given numbers may be any.
    const HIGH: c_int = 10;
    // SAFETY: as in `supervise`.
    unsafe {
        let [null, output, link] = [descriptors.null, descriptors.output, descriptors.link]
            .map(|descriptor| libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, HIGH));
        let pairs = [(null, 0), (output, 1), (output, 2), (link, LINK)];
        if pairs.iter().any(|&(from, to)| from == -1 || libc::dup2(from, to) == -1) {
            return None;
        }
        libc::fcntl(LINK, libc::F_SETFD, libc::FD_CLOEXEC);
        close_from(LINK + 1);
    }
    Some(())
}

unsafe fn close_from(first: c_int) {
    // SAFETY: as in `supervise`.
    unsafe {
        #[cfg(target_os = "linux")]
        if libc::syscall(libc::SYS_close_range, first, c_int::MAX, 0) == 0 {
            return;
        }
        const MOST: libc::rlim_t = 65_536;
        let mut limit = libc::rlimit { rlim_cur: MOST, rlim_max: MOST };
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        for descriptor in first..limit.rlim_cur.min(MOST) as c_int {
            libc::close(descriptor);
        }
    }
}

unsafe fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    // SAFETY: as in `supervise`.
    unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
        libc::prctl(libc::PR_SET_NAME, c"pi-supervisor".as_ptr());
    }
}

/// Lets the exit of a child end a wait.
unsafe fn notice_exits() {
    extern "C" fn notice(_: c_int) {}
    // SAFETY: as in `supervise`; an all-zero sigaction is a valid one.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = notice as extern "C" fn(c_int) as libc::sighandler_t;
        libc::sigaction(libc::SIGCHLD, &action, ptr::null_mut());
    }
}

unsafe fn become_command(plan: &Plan) -> ! {
    // SAFETY: as in `supervise`; the pointers of the plan are null-terminated arrays of C strings.
    unsafe {
        // No controlling terminal: who wants to ask something there fails at once and does not wait.
        libc::setsid();
        #[cfg(target_os = "linux")]
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        const LAST_SIGNAL: c_int = 64;
        for signal in 1..=LAST_SIGNAL {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, ptr::null_mut());
        if libc::chdir(plan.cwd.as_ptr()) == -1 {
            tell(LINK, Message::NOT_ENTERED, errno());
            libc::_exit(127);
        }
        libc::execve(plan.program.as_ptr(), plan.arguments.as_ptr(), plan.environment.as_ptr());
        tell(LINK, Message::NOT_STARTED, errno());
        libc::_exit(127)
    }
}

/// Until nothing is left, or there is an order. The exit status of the command.
unsafe fn watch(command: pid_t) -> c_int {
    // SAFETY: as in `supervise`.
    unsafe {
        tell(LINK, Message::STARTED, command);
        // The end of the output must be seen when all others have closed it.
        libc::dup2(0, 1);
        libc::dup2(0, 2);
        libc::chdir(c"/".as_ptr());
        let mut exit = None;
        loop {
            let was_running = exit.is_none();
            let is_empty = reap(|pid, status| {
                if pid == command {
                    exit = Some(shell_status(status));
                }
            });
            match exit {
                Some(status) if is_empty && ADOPTS => return status,
                Some(status) if was_running => {
                    tell(LINK, Message::EXITED, status);
                    libc::shutdown(LINK, libc::SHUT_WR);
                }
                _ => {}
            }
            match wait_for_order() {
                None => continue,
                Some(Order::DETACH) => {}
                Some(_) => kill_all(command, exit.is_none()),
            }
            return 0;
        }
    }
}

/// The status a shell would show.
fn shell_status(status: c_int) -> c_int {
    if libc::WIFSIGNALED(status) { 128 + libc::WTERMSIG(status) } else { libc::WEXITSTATUS(status) }
}

/// Takes leave of all children that are dead; whether there are no others.
unsafe fn reap(mut dead: impl FnMut(pid_t, c_int)) -> bool {
    loop {
        let mut status = 0;
        // SAFETY: as in `supervise`.
        match unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) } {
            0 => return false,
            -1 => return true,
            pid => dead(pid, status),
        }
    }
}

/// Waits for an order or for the exit of a child, which is `None`.
unsafe fn wait_for_order() -> Option<u8> {
    // SAFETY: as in `supervise`; the set is initialised by FD_ZERO and LINK is below FD_SETSIZE.
    unsafe {
        let mut readable: libc::fd_set = std::mem::zeroed();
        libc::FD_ZERO(&mut readable);
        libc::FD_SET(LINK, &mut readable);
        if wait(&mut readable, ptr::null()) <= 0 {
            return None;
        }
        let mut order = Order::KILL;
        match libc::read(LINK, (&raw mut order).cast(), 1) {
            1 => Some(order),
            _ => Some(Order::KILL),
        }
    }
}

unsafe fn kill_all(command: pid_t, is_running: bool) {
    // SAFETY: as in `supervise`; `command` is a process group of ours as long as it has a member.
    unsafe {
        if is_running || !ADOPTS {
            // The whole group in one step: no fork gets away.
            libc::kill(-command, libc::SIGKILL);
        }
        let until = seconds() + KILL_SECONDS;
        while !reap(|_, _| ()) && seconds() <= until {
            // Each round orphans what the dead had started; it comes here and is found in the next.
            orphans::kill_children(command);
            let pause = libc::timespec { tv_sec: 0, tv_nsec: KILL_PAUSE_NANOSECONDS };
            if !reap(|_, _| ()) {
                wait(ptr::null_mut(), &pause);
            }
        }
    }
}

/// Waits with SIGCHLD let through, and only here.
unsafe fn wait(readable: *mut libc::fd_set, timeout: *const libc::timespec) -> c_int {
    // SAFETY: as in `supervise`; all pointers are null or valid for the call.
    unsafe {
        let mut mask: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut mask);
        libc::sigdelset(&mut mask, libc::SIGCHLD);
        libc::pselect(LINK + 1, readable, ptr::null_mut(), ptr::null_mut(), timeout, &mask)
    }
}

unsafe fn tell(link: c_int, kind: i32, value: i32) {
    let message = Message::to_bytes(kind, value);
    // SAFETY: as in `supervise`; the buffer is as long as said.
    unsafe { libc::send(link, message.as_ptr().cast(), message.len(), libc::MSG_NOSIGNAL) };
}

fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

fn seconds() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the struct is valid for the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec
}
