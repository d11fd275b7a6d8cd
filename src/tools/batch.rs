//! batch: the tool calls of one assistant message, run side by side, answered in call order.
//!
//! Calls that write the same file, under whatever name, queue in call order; everything else runs in
//! parallel (seed: lecture 10). Every call gets exactly one answer, also when the batch is cancelled.

pub mod request;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Instant, UNIX_EPOCH};

use crate::context::Context;
use crate::error::{Code, Fault};
use crate::fs::path;
use crate::message::{ToolCall, ToolResult, ToolResultMessage, ToolResultRole};
use crate::tools::Entry;
use request::Request;

/// How many calls run at the same time unless told otherwise.
pub const PARALLEL: NonZeroUsize = match NonZeroUsize::new(32) {
    Some(count) => count,
    None => NonZeroUsize::MIN,
};

/// How to run calls.
pub struct Batch<'a> {
    /// The tools that may be called.
    pub tools: &'a [Entry],
    /// How many calls may run at the same time.
    pub parallel: NonZeroUsize,
    /// What the tools may know.
    pub context: &'a Context,
}

impl Batch<'_> {
    /// Runs the calls of a message and hands each answer on as soon as it and all before it are there.
    /// When handing on fails, the calls that still run are cancelled and the first failure is returned.
    pub fn run(
        &self,
        request: &Request,
        answer: impl FnMut(&ToolResultMessage) -> io::Result<()>,
    ) -> io::Result<()> {
        let lanes = self.lanes(&request.calls);
        let next_lane = AtomicUsize::new(0);
        let (sender, receiver) = channel();
        let work = &|sender: Sender<(usize, ToolResultMessage)>| {
            while let Some(lane) = lanes.get(next_lane.fetch_add(1, Ordering::Relaxed)) {
                for &index in lane {
                    let result = self.result_of(&request.calls[index], request.is_cut);
                    // It only fails when nobody receives any more, and then nobody misses it.
                    let _ = sender.send((index, result));
                }
            }
        };
        thread::scope(|scope| {
            let start = |sender| thread::Builder::new().spawn_scoped(scope, move || work(sender));
            let wanted = self.parallel.get().min(lanes.len());
            let started = (0..wanted).take_while(|_| start(sender.clone()).is_ok()).count();
            if started == 0 {
                // The system grants no thread: one call after another, then.
                work(sender);
            } else {
                drop(sender);
            }
            self.hand_on(receiver, answer)
        })
    }

    /// Hands the answers on in call order, however they come in.
    fn hand_on(
        &self,
        receiver: Receiver<(usize, ToolResultMessage)>,
        mut answer: impl FnMut(&ToolResultMessage) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut early = BTreeMap::new();
        let mut next = 0;
        let mut handed = Ok(());
        for (index, result) in receiver {
            early.insert(index, result);
            while let Some(result) = early.remove(&next) {
                next += 1;
                if handed.is_ok() {
                    handed = answer(&result);
                    if handed.is_err() {
                        self.context.cancel.cancel();
                    }
                }
            }
        }
        handed
    }

    /// The calls by index, in lanes: one after another within a lane, lanes beside each other.
    fn lanes(&self, calls: &[ToolCall]) -> Vec<Vec<usize>> {
        let mut lanes: Vec<Vec<usize>> = Vec::new();
        let mut lane_of_file = HashMap::new();
        for (index, call) in calls.iter().enumerate() {
            match self.written_file(call) {
                None => lanes.push(vec![index]),
                Some(file) => {
                    let lane = *lane_of_file.entry(file).or_insert(lanes.len());
                    match lanes.get_mut(lane) {
                        Some(lane) => lane.push(index),
                        None => lanes.push(vec![index]),
                    }
                }
            }
        }
        lanes
    }

    /// The file that a call writes, without links.
    fn written_file(&self, call: &ToolCall) -> Option<PathBuf> {
        let typed = self.tool(&call.name)?.written_path(&call.arguments)?;
        let file = path::resolve(Path::new(&typed), self.context);
        Some(real_path(&file, self.context))
    }

    fn tool(&self, name: &str) -> Option<&Entry> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    fn result_of(&self, call: &ToolCall, is_cut: bool) -> ToolResultMessage {
        let ran = self.prepare(call, is_cut).map(|tool| self.run_one(tool, call));
        let (result, duration_ms) = match ran {
            Ok((result, milliseconds)) => (result, milliseconds),
            Err(refused) => (ToolResult::failure(&refused.into()), None),
        };
        ToolResultMessage {
            role: ToolResultRole::ToolResult,
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            content: result.content,
            details: result.details,
            is_error: result.is_error,
            duration_ms,
            timestamp: milliseconds_since_1970(self.context),
        }
    }

    /// What can be said of a call without its tool; the first fault counts.
    fn prepare(&self, call: &ToolCall, is_cut: bool) -> Result<&Entry, Refused> {
        if self.context.cancel.is_cancelled() {
            return Err(Refused::Aborted);
        }
        if is_cut {
            return Err(Refused::Cut);
        }
        let Some(tool) = self.tool(&call.name) else {
            return Err(Refused::UnknownTool { name: call.name.clone() });
        };
        match &call.arguments_error {
            Some(reason) => Err(Refused::Arguments { name: call.name.clone(), reason: reason.clone() }),
            None => Ok(tool),
        }
    }

    /// The result and the time inside the tool in milliseconds; no time where it did not get that far.
    fn run_one(&self, tool: &Entry, call: &ToolCall) -> (ToolResult, Option<u64>) {
        let attempt = catch_unwind(AssertUnwindSafe(|| match tool.prepare(call.arguments.clone()) {
            Err(invalid) => (ToolResult::failure(&invalid), None),
            Ok(job) => {
                let started = Instant::now();
                let result = job(self.context);
                (result, u64::try_from(started.elapsed().as_millis()).ok())
            }
        }));
        attempt.unwrap_or_else(|panic| {
            let reason = panic_message(panic.as_ref()).to_owned();
            (ToolResult::failure(&Refused::Panicked { name: call.name.clone(), reason }.into()), None)
        })
    }
}

/// Why a call has no result of its tool's.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error("Operation aborted")]
    Aborted,
    #[error(
        "The output limit cut this reply off, so none of its tool calls was run: the arguments may be \
         incomplete. Send the call again in full, in smaller parts if it is long."
    )]
    Cut,
    #[error("Tool {name} not found")]
    UnknownTool { name: String },
    #[error("Invalid arguments for tool \"{name}\": {reason}")]
    Arguments { name: String, reason: String },
    #[error("The tool {name} broke down ({reason}). That is a fault of the tool, not of the call.")]
    Panicked { name: String, reason: String },
}

impl Fault for Refused {
    fn code(&self) -> Code {
        match self {
            Self::Aborted => Code::Aborted,
            Self::UnknownTool { .. } => Code::UnknownTool,
            Self::Cut | Self::Arguments { .. } => Code::InvalidArguments,
            Self::Panicked { .. } => Code::Io,
        }
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason given")
}

/// The path without links; of a file that is not there yet, the place where it would be made.
fn real_path(file: &Path, context: &Context) -> PathBuf {
    match (context.backend.canonicalize(file), file.parent(), file.file_name()) {
        (Ok(real), ..) => real,
        (Err(_), Some(parent), Some(name)) => real_path(parent, context).join(name),
        _ => file.to_owned(),
    }
}

fn milliseconds_since_1970(context: &Context) -> u64 {
    let since = (context.now)().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
