//! Signals: a polite request to stop becomes a cancelled call; a closed pipe ends small commands.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, raise, sigaction};

use crate::cancel::Cancel;

/// What a closed pipe does to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipe {
    /// It ends the process at once, as it does other small commands.
    Default,
    /// Writing gives an error: something else is alive that must be ended first.
    Ignore,
}

static CANCEL: OnceLock<Cancel> = OnceLock::new();
static PARENT_IGNORED_SIGPIPE: AtomicBool = AtomicBool::new(false);

/// Runs before Rust's start-up code, which ignores SIGPIPE and so hides what the parent wanted.
#[used]
#[unsafe(link_section = ".init_array")]
static NOTE_SIGPIPE: extern "C" fn() = {
    extern "C" fn note() {
        // SAFETY: reading one's own signal disposition has no preconditions; all-zero is a valid sigaction.
        let ignored = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGPIPE, std::ptr::null(), &mut action) == 0
                && action.sa_sigaction == libc::SIG_IGN
        };
        PARENT_IGNORED_SIGPIPE.store(ignored, Ordering::Relaxed);
    }
    note
};

/// Lets INT, TERM and HUP cancel the call, and settles SIGPIPE and the file-size limit's signal.
pub(super) fn prepare(cancel: &Cancel, pipe: Pipe) {
    let _ = CANCEL.set(cancel.clone());
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        if !is_ignored(signal) {
            set(signal, SigHandler::Handler(on_signal));
        }
    }
    // A write over the limit gives EFBIG, which can be reported, and does not kill mid-write.
    set(Signal::SIGXFSZ, SigHandler::SigIgn);
    if pipe == Pipe::Default && !PARENT_IGNORED_SIGPIPE.load(Ordering::Relaxed) {
        set(Signal::SIGPIPE, SigHandler::SigDfl);
    }
}

/// Ends as the signal that cancelled the call would have: the caller's shell then stops its loop.
pub(super) fn finish(cancel: &Cancel) {
    if let Some(signal) = cancel.signal().and_then(|number| Signal::try_from(number).ok()) {
        set(signal, SigHandler::SigDfl);
        let _ = raise(signal);
    }
}

/// The first request cancels; a second one of the same kind does not wait any longer.
extern "C" fn on_signal(number: i32) {
    if let Some(cancel) = CANCEL.get() {
        if let (true, Ok(signal)) = (cancel.is_cancelled(), Signal::try_from(number)) {
            set(signal, SigHandler::SigDfl);
            let _ = raise(signal);
        }
        cancel.cancel_by_signal(number);
    }
}

fn set(signal: Signal, handler: SigHandler) {
    // No SA_RESTART: a blocked read must return, so that its loop can look at the flag.
    let action = SigAction::new(handler, SaFlags::empty(), SigSet::empty());
    // SAFETY: the only handler installed, `on_signal`, does async-signal-safe things alone: atomics,
    // one write to an eventfd, sigaction and raise.
    let _ = unsafe { sigaction(signal, &action) };
}

/// `nohup` and background jobs of simple shells ignore signals on purpose.
fn is_ignored(signal: Signal) -> bool {
    // SAFETY: as in `NOTE_SIGPIPE`.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal as i32, std::ptr::null(), &mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}
